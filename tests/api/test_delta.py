"""Python functions as mechanisms with a delta."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from paramverify import SetWitness, flip, load, mechanism
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
    assert repr(witness).startswith("<SetWitness: 1 output, '0' against '1', beyond 3/8")
    assert "not private: ratio = 3, delta = 37/100." in str(report)
    with pytest.raises(InputError, match="needs no delta"):
        made("3/8").budget()


COINS = """
[parameters]
r = "[1/2, 3/4]"

[mechanism]
kind = "program"
source = '''
first = x if flip(r) else 1 - x
return first + x if flip(r) else first + 1 - x
'''

[mechanism.inputs]
x = { values = "0..1" }

[neighbours]
differ = "each"

[privacy]
ratio = 3
delta = "1/3"
"""


def test_with_another_delta(tmp_path: Path) -> None:
    """At r = 3/4 the ratio c needs the delta (9 - c)/16; another ratio keeps the delta."""
    path = tmp_path / "coins.toml"
    path.write_text(COINS, encoding="utf-8")
    case = load(path)
    assert case.verify().verdict == "not private"
    assert case.with_(delta="3/8").verify().verdict == "private"
    assert case.with_(ratio=5).verify().verdict == "private"
    assert case.with_(budget="ln(7/2)").verify().verdict == "not private"
    assert case.with_(ratio=5, delta=Fraction(24, 100)).verify().verdict == "not private"
    assert case.with_(ratio=9, delta=0).budget().ratio == 9
    with pytest.raises(InputError, match="give one of epsilon and ratio"):
        case.with_(epsilon=1, ratio=2, delta=0)
    with pytest.raises(InputError, match=r"from 0 to 1"):
        case.with_(delta=2)
