"""Python functions as mechanisms with a delta."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from paramverify import SetWitness, flip, mechanism
from paramverify.errors import InputError


def coins(x: int, r: Any) -> int:
    """Two randomised responses of one record; the sum is seen."""
    first = x if flip(r) else 1 - x
    second = x if flip(r) else 1 - x
    return first + second


def made(delta: str) -> Any:
    """The function as a mechanism with ratio 3 and this delta."""
    return mechanism(
        inputs={"x": {"values": "0..1"}},
        parameters={"r": "[1/2, 3/4]"},
        neighbours={"differ": "each"},
        ratio=3,
        delta=delta,
    )(coins)


def test_a_function_with_a_delta() -> None:
    """At r = 3/4 the sum 0 has 9/16 against 1/16, so the least delta is 3/8."""
    assert made("3/8").verify().verdict == "private"
    report = made("37/100").verify()
    assert report.verdict == "not private"
    witness = report.witness
    assert isinstance(witness, SetWitness)
    assert (witness.outputs, witness.parameters) == ((("0",),), {"r": Fraction(3, 4)})
    assert witness.probabilities == (Fraction(9, 16), Fraction(1, 16))
    assert witness.beyond == Fraction(3, 8) > witness.delta == Fraction(37, 100)
    assert report.run is None
    assert repr(witness).startswith("<SetWitness: 1 outputs, '0' against '1', beyond 3/8")
    assert "not private: ratio = 3, delta = 37/100." in str(report)
    with pytest.raises(InputError, match="needs no delta"):
        made("3/8").budget()
