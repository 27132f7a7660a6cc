"""An epsilon that is no small multiple of what the noise needs: rational bounds on both sides decide."""

from __future__ import annotations

import re
from decimal import Context, Decimal
from fractions import Fraction

import pytest

from paramverify import loads, verify
from paramverify.errors import LimitError

CASE = """
[mechanism]
kind = "program"
source = '''
output(x + laplace({}) > 0)
output(x + laplace({}) > 0)
'''
[mechanism.inputs]
x = {{ values = "0..1" }}
[neighbours]
differ = "one"
[privacy]
{}
"""
# The tight epsilon is the sum of both rates: 3/2, 8/15 and 9/14.
PROVED = [("1.500001", "1", "2"), ("0.533334", "3", "5"), ("0.642858", "7", "2")]
REFUTED = [("1.499999", "1", "2"), ("0.533333", "3", "5"), ("0.642857", "7", "2")]


@pytest.mark.parametrize(
    ("epsilon", "scales", "answer"),
    [(e, s, a) for rows, a in ((PROVED, "private"), (REFUTED, "not private")) for e, *s in rows],
)
def test_a_ratio_beside_the_bound_decides(epsilon: str, scales: list[str], answer: str) -> None:
    """The message has a ratio on each side of e^epsilon, which decide the case as they say."""
    with pytest.raises(LimitError, match=r"^privacy\.epsilon: .* does not fit") as told:
        loads(CASE.format(*scales, f"epsilon = {epsilon}"))
    found = re.search(r"write ratio = (\S+), just below .* or (\S+), just above", str(told.value))
    assert found
    below, above = (Fraction(text) for text in found.groups())
    exact = Fraction(Context(prec=40).exp(Decimal(epsilon)))
    assert below < exact < above < below * (1 + Fraction(1, 10**9))
    ratio = found[1] if answer == "private" else found[2]
    assert verify(loads(CASE.format(*scales, f"ratio = {ratio}"))).verdict == answer


@pytest.mark.parametrize("epsilon", ["3/2", "1.25", "7/16"])
def test_what_fits_is_read(epsilon: str) -> None:
    """A small common divisor is none that is too small."""
    loads(CASE.format("1", "2", f'epsilon = "{epsilon}"'))
