"""`paramverify convert` says nothing less than what was asked."""

import json
from fractions import Fraction
from math import exp

import pytest
from calling_tools import called


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("--pure 1 --epsilon-for 1/100", "--epsilon-for"),
        ("--approximate 1,1/100 --order 2", "--order"),
        ("--renyi 2,1 --order 3 --delta-for 1", "--order"),
    ],
)
def test_what_is_not_answered_is_refused(words: str, option: str) -> None:
    """An option that a guarantee says nothing of is an error, also beside one that is answered."""
    found = called("convert", *words.split())
    assert (found.code, found.out) == (2, "")
    assert f"to {option}: leave {option} out" in found.err


def test_long_exact_numbers_are_rounded_in_text() -> None:
    """Text has a number of 400 digits behind `≈`, and JSON has all of it; short numbers stay exact."""
    words = ["convert", "--pure", "1/3**200"]
    told = called(*words).out
    assert "zCDP with rho ≈ 7.08709275e-192" in told
    assert all(len(line) < 100 for line in told.splitlines())
    (rho,) = [found["rho"] for found in json.loads(called(*words, "--json").out)["implied"] if "rho" in found]
    assert Fraction(rho) == Fraction(1, 2 * 3**400)
    assert "zCDP with rho = 1/8, by" in called("convert", "--pure", "1/2").out


def test_an_epsilon_is_a_sum_with_logarithms() -> None:
    """2·ln(2) is ln(4) exactly, and 1 + ln(2) lies between both; below 0 it is refused, however near."""
    same = [
        called("convert", "--pure", text).out.splitlines()[1:] for text in ("ln(4)", "2*ln(2)", "ln(8)-ln(2)")
    ]
    assert same[0] == same[1] == same[2]
    assert "total variation distance = 3/5" in same[0][1]
    found = json.loads(called("convert", "--pure", "1+ln(2)", "--json").out)["implied"]
    (distance,) = [Fraction(entry["distance_upper"]) for entry in found if "distance_upper" in entry]
    assert 0 <= distance - Fraction((2 * exp(1) - 1) / (2 * exp(1) + 1)) < Fraction(1, 10**12)
    for text in ("-1", "ln(1/2)", "ln(1 - 1/10**60)", "1 - ln(3)"):
        refused = called("convert", "--pure", text)
        assert (refused.code, refused.out) == (2, "")
        assert "must be at least 0" in refused.err
