"""Far tails: what a witness and a budget tell about tiny probabilities, and the ends of delta."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import pytest
from enclosed_programs import case_of

from paramverify.answers import Standing
from paramverify.evidence.enclosed_witnesses import LEAST, EnclosureWitness, near
from paramverify.portfolio.session import Session
from paramverify.privacy.verification import verify
from paramverify.synthesis.least_enclosed import LeastTarget, least_enclosed
from paramverify.verdicts import Violated


def witness(source: str, **privacy: Any) -> EnclosureWitness:
    """Returns the witness of a violation."""
    verdict = verify(case_of(source, 1, "0..1", privacy=privacy or {"epsilon": "1"})).verdict
    assert isinstance(verdict, Violated)
    assert isinstance(verdict.witness, EnclosureWitness)
    return verdict.witness


@pytest.mark.parametrize("place", [8, 14, 38, 100])
def test_tails_are_told_with_digits(place: int) -> None:
    """The ends of 1 − Φ(place) are near it and show the violation, however small it is."""
    found = witness(f"output(q[0] + gauss(1) > {place})")
    with mpmath.workdps(60):
        exact = [
            Fraction(mpmath.nstr(mpmath.erfc(mpmath.mpf(p) / mpmath.sqrt(2)) / 2, 50))
            for p in (place - 1, place)
        ]
    for value, (low, high) in zip(exact, found.probabilities, strict=True):
        assert low <= value * (1 + Fraction(1, 10**40))
        assert value * (1 - Fraction(1, 10**40)) <= high
        assert high - low < value / 10**15
    low, high = found.ratio
    assert low is not None
    assert high is not None
    assert low <= exact[0] / exact[1] <= high
    assert found.bound[1] < low


def test_a_possible_output_is_not_called_impossible() -> None:
    """A probability that is only known to be tiny has a ratio with a lower end alone, in text and JSON."""
    tiny = "T = gauss(1)\noutput(q[0] + gauss(1) > T and T > 15 - 15*q[0])"
    found = witness(tiny)
    (low, _), (least, most) = found.probabilities
    assert least == 0 < most
    assert found.ratio == (low / most, None)
    assert "is at least " in found.lines()[0]
    assert found.document()["ratio"]["upper"] == "unknown"
    never = witness("output(q[0] == 1 and gauss(1) > 0)")
    assert never.ratio == (None, None)
    assert "is possible under '1' and impossible under '0'" in never.lines()[0]
    assert never.document()["ratio"] == "infinity"


def test_numbers_beyond_all_sizes() -> None:
    """exp(−10¹⁷) is told as a number between 0 and a small one; budgets have a lower end then."""
    source = "output(q[0] + gauss(1/1000000000) > 1/2)"
    assert witness(source).probabilities[1] == (0, LEAST)
    case = case_of(source, 1, "0..1")
    found = least_enclosed(Session(), case.model, LeastTarget.RATIO, Fraction(1, 1000))
    assert found.high is None
    assert not found.infinite
    assert found.low > 1 / LEAST / 2


def test_few_bits_show_the_violation() -> None:
    """The rounded ends show what the balls show, with 16 bits too."""
    ratio = Fraction(mpmath.nstr(mpmath.ncdf(0.5) / 0.5, 12))
    source = "output(q[0] + gauss(2) > 0)"
    more: dict[str, Any] = {"privacy": {"ratio": str(ratio - Fraction(1, 10**11))}}
    verdict = verify(case_of(source, 1, "0..1", mechanism={"bits": 16}, **more)).verdict
    if isinstance(verdict, Violated):
        assert isinstance(verdict.witness, EnclosureWitness)
        low = verdict.witness.ratio[0]
        assert low is not None
        assert low > verdict.witness.bound[1]


def test_ends_are_rounded_outwards() -> None:
    """Rounded ends keep what they enclose, and nearly all digits of it."""
    low, high = Fraction(1, 3**90), Fraction(2, 3**90)
    least, most = near((low, high), 20)
    assert low * (1 - Fraction(1, 2**39)) <= least <= low
    assert high <= most <= high * (1 + Fraction(1, 2**39))


def test_delta_one() -> None:
    """No set of outputs is more likely than 1, also where an output is impossible on one side."""
    for source in ("output(q[0] == 1 and gauss(1) > 0)", "output(q[0] + gauss(1/1000) > 1/2)"):
        case = case_of(source, 1, "0..1", privacy={"epsilon": "0", "delta": "1"})
        assert verify(case).status is Standing.HOLDS
        found = least_enclosed(Session(), case.model, LeastTarget.RATIO_FOR, Fraction(1, 1000))
        assert (found.low, found.high) == (1, 1)
