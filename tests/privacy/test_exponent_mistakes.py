"""What stands in `exp(...)`: numbers, fixed parameters, those of (0, oo); the rest is told at its key."""

import pytest

from paramverify import loads
from paramverify.errors import InputError

CASE = """
[parameters]
eps = "EPS"
[mechanism]
kind = "program"
source = "output(clamp(x + geometric(exp(-eps)), 0, 2))"
[mechanism.inputs]
x = { values = "0..2" }
[neighbours]
differ = "each"
[privacy]
epsilon = "BOUND"
"""


@pytest.mark.slow
@pytest.mark.parametrize("eps", ["1", "1/2"])
def test_a_parameter_that_is_fixed(eps: str) -> None:
    """With noise exp(-eps) and eps fixed, two neighbours are private with eps, and not with a little less."""
    text = CASE.replace("EPS", eps)
    assert loads(text.replace("BOUND", "eps")).verify().verdict == "private"
    assert loads(text.replace("BOUND", f"99/100*{eps}")).verify().verdict == "not private"


def test_another_parameter_is_told_at_its_key() -> None:
    """A parameter of another domain may not stand in exp, which is told with the line of the key."""
    text = (
        CASE.replace("EPS", "(0, 1)")
        .replace("exp(-eps)", "1/2")
        .replace('epsilon = "BOUND"', 'ratio = "exp(eps)"')
    )
    with pytest.raises(InputError, match=r"<text>:12: privacy.ratio: exp supports .* but eps is neither"):
        loads(text)
