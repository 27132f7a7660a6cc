"""Witnesses that are not the worst ones say so, and those of impossible outputs are no special cases."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import pytest

from paramverify import loads

PROGRAM = """
[parameters]
{parameters}
[mechanism]
kind = "program"
source = '''
{source}
'''
[mechanism.inputs]
n = {{ values = "0..{most}" }}
[neighbours]
differ = "one"
[privacy]
ratio = "{ratio}"
"""


def case(source: str, parameters: str = "", most: int = 1, ratio: str = "2") -> str:
    """Returns the text of a case of a program."""
    return PROGRAM.format(source=source, parameters=parameters, most=most, ratio=ratio)


NOTE = "the largest ratio is at least twice that of this witness: `paramverify budget` finds it"
THREE = (
    "a = flip(1/10 if n == 0 else 1/4)\nb = flip(1/100 if n == 0 else 1/4)\noutput(2 if b else 1 if a else 0)"
)
MIXED = "if flip(p):\n    output(n)\nelse:\n    output(uniform(0, 1))"


@pytest.mark.parametrize(
    "text",
    [
        case(THREE),
        case(MIXED, 'p = "[1/10, 99/100]"', ratio="9/8"),
        case(MIXED, 'p = "[1/3, 9/10]"'),
    ],
)
def test_a_weak_witness_names_the_command_for_the_worst(text: str) -> None:
    """Where the note stands the budget is at least twice the ratio of the witness, and only there."""
    found = loads(text).verify()
    assert found.verdict == "not private"
    assert found.witness is not None
    largest = loads(text).budget().ratio
    ratio = found.witness.ratio
    weak = largest >= 2 * ratio
    assert (NOTE in found.notes) == weak


@pytest.mark.parametrize("ends", ["[0, 1]", "(0, 1]", "[0, 1)", "[1/2, 1]"])
def test_an_impossible_output_is_shown_inside(ends: str) -> None:
    """The point is between the ends of the parameters, if the output is impossible there, too."""
    found = loads(case("output(n if flip(p) else 7)", f'p = "{ends}"')).verify()
    assert found.witness is not None
    assert found.witness.ratio == inf
    low, high = (Fraction(end) for end in ends.strip("[]()").split(","))
    assert low < found.witness.parameters["p"] < high


def test_an_end_stays_if_nothing_else_is_impossible() -> None:
    """Only at p = 1 the output 1 is impossible under 0."""
    found = loads(case("output(n if flip(p) else uniform(0, 1))", 'p = "[1/2, 1]"', ratio="10**9")).verify()
    assert found.witness is not None
    ratio = found.witness.ratio
    assert (ratio == inf) == (found.witness.parameters["p"] == 1)
