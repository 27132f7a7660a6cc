"""Claims about domains with equations: what is beside them must not break the exact procedures."""

from __future__ import annotations

import pytest
from claim_tools import make

from paramverify.answers import FailsAt, Open, Proved
from paramverify.exact.branching import decide_exactly
from paramverify.exact.irrational_violations import algebraic_violation
from paramverify.formats.refutations import fails_at_algebraic


@pytest.mark.parametrize("fixed", ["1", "[1, 1]"])
def test_a_parameter_with_one_value_beside_an_equation(fixed: str) -> None:
    """A violation at √2 is found although another parameter of the equation has one value only."""
    claim = make("1 - x", {"x": "[0, 2]", "g": fixed}, ["x**2*g == 2"])
    found = algebraic_violation(claim)
    assert found is not None
    assert not isinstance(found, dict)
    assert fails_at_algebraic(claim, found)


@pytest.mark.parametrize("power", [400])
def test_coefficients_beyond_floats(power: int) -> None:
    """Numbers that are no floats end a search in floats, and nothing else."""
    box = {"x": "[-1, 1]", "y": "[0, 1]"}
    equation = f"10**{power}*x**2 + y**2/10**{power} == 1/7"
    multiple = make(f"y/7 - 10**{power}*x**2*y - y**3/10**{power}", box, [equation])
    assert isinstance(decide_exactly(multiple), Proved)
    assert isinstance(decide_exactly(make("x*y", box, [equation])), (Open, FailsAt))
    algebraic_violation(make("x*y", box, [equation]))


def test_a_constraint_with_too_many_coefficients() -> None:
    """A constraint in so many parameters that its coefficients do not fit ends no run out of memory."""
    names = [f"a{k}" for k in range(30)]
    claim = make(
        " + ".join(names) + " - 1",
        dict.fromkeys(names, "[0, 1]"),
        [" + ".join(f"{n}**2" for n in names) + " == 1"],
    )
    assert isinstance(decide_exactly(claim), Open)
    empty = make("-1", dict.fromkeys(names, "[0, 1]"), [" + ".join(f"{n}**2" for n in names) + " == 1"])
    assert isinstance(decide_exactly(empty), Open)
