"""A proposal for a number is that number: percents, decimal commas, against fractions."""

from __future__ import annotations

from fractions import Fraction

import pytest

from paramverify.algebra.expressions import proposals


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("20%", Fraction(1, 5)),
        ("1/5%", 20),
        ("3*5%", Fraction(3, 20)),
        ("1 - 5%", Fraction(19, 20)),
        ("0,5", Fraction(1, 2)),
        ("0,125", Fraction(1, 8)),
        ("12,5", Fraction(25, 2)),
        ("1,000", None),
        ("12,500", None),
        ("10%5", None),
        ("10 % (5)", None),
        ("10%n", None),
    ],
)
def test_a_mend_means_the_same_number(text: str, value: Fraction | None) -> None:
    """What may mean two numbers has no proposal."""
    found = list(proposals(text))
    if value is None:
        assert all("%" in other or "," in other for other in found)
        return
    assert found
    for other in found:
        exact = eval(other.replace("(", "(0+").replace("/", "*Fraction(1)/"), {"Fraction": Fraction})
        assert exact == pytest.approx(value)
