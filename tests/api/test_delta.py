"""Python functions as mechanisms with a delta."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from case_texts import program_case

from paramverify import SetWitness, check, flip, load, mechanism
from paramverify.errors import InputError

CASES = Path(__file__).parents[2] / "cases" / "approximate"


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
    with pytest.raises(InputError, match="requires a case without delta"):
        made("3/8").budget()


def test_least_bounds_of_a_function() -> None:
    """At r = 3/4 the sum 0 has 9/16 against 1/16: 9/16 − 3/16 = 3/8, and (9/16 − 1/4)/(1/16) = 5."""
    function = made("1/2")
    found = function.budget(delta_for="ln(3)")
    assert (found.delta, found.lower, found.upper) == (Fraction(3, 8),) * 3
    assert (found.ratio, found.epsilon, found.attained) == (None, None, True)
    assert found.witness.probabilities == (Fraction(9, 16), Fraction(1, 16))
    ratio = function.budget(epsilon_for="1/4")
    assert (ratio.ratio, str(ratio.epsilon), ratio.delta) == (5, "ln(5)", None)
    for report, lower in ((found, Fraction(37, 100)), (ratio, Fraction(1, 5))):
        assert check(report.evidence()).accepted
        assert report.to_dict()["witness"]["secrets"] == ["0", "1"]
        assert lower < report.lower
    assert function.budget(delta_for=0).delta == Fraction(1, 2)  # the total variation distance


@pytest.mark.slow
def test_what_has_no_least_bound() -> None:
    """Two at once, a delta of 0, a case of another kind; names are those of the arguments."""
    case = load(CASES / "noisy-max.toml")
    for options, words in (
        ({"delta_for": 1, "epsilon_for": "1/2"}, "^delta_for and epsilon_for exclude each other"),
        ({"epsilon_for": 0}, "^[^:]*: epsilon_for: a delta above 0"),
        ({"delta_for": "x"}, "^[^:]*: delta_for: epsilon must be a sum of numbers"),
    ):
        with pytest.raises(InputError, match=words):
            case.budget(**options)
    with pytest.raises(InputError, match="does not apply to this case"):
        load(CASES.parent / "retransmission-bound.toml").budget(delta_for=1)
    found = load(CASES.parent / "divergences" / "shuffled-total-variation.toml").budget()
    assert found.delta == Fraction(5, 16)


COINS = program_case(
    """first = x if flip(r) else 1 - x
return first + x if flip(r) else first + 1 - x""",
    'x = { values = "0..1" }',
    ('ratio = 3\ndelta = "1/3"'),
    parameters='r = "[1/2, 3/4]"',
)


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
    with pytest.raises(InputError, match="epsilon and ratio exclude each other: give one of them"):
        case.with_(epsilon=1, ratio=2, delta=0)
    with pytest.raises(InputError, match=r"from 0 to 1"):
        case.with_(delta=2)
