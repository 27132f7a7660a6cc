"""Series of 1,000 days: what sequences of every length prove, and violations that are continued."""

from __future__ import annotations

from fractions import Fraction

import pytest

from paramverify import loads

DAYS = """
[parameters]
p = "[3/10, 1/2]"
[mechanism]
kind = "time_series"
states = ["ill", "well"]
truth = "3/4"
initial = {{ ill = "1/2", well = "1/2" }}
[mechanism.transitions.ill]
ill = "1 - p"
well = "p"
[mechanism.transitions.well]
ill = "p"
well = "1 - p"
[neighbours]
differ = "one"
[privacy]
ratio = "{ratio}"
length = {length}
"""


def shares(word: tuple[str, ...], p: Fraction) -> list[Fraction]:
    """Returns the probability of a word from each state on the first day, by the forward recursion."""
    found = []
    for first in (0, 1):
        weights = [Fraction(int(state == first)) for state in (0, 1)]
        for output in word:
            seen = [
                weights[s] * (Fraction(3, 4) if ("ill", "well")[s] == output else Fraction(1, 4))
                for s in (0, 1)
            ]
            weights = [seen[0] * (1 - p) + seen[1] * p, seen[0] * p + seen[1] * (1 - p)]
        found.append(sum(weights, Fraction(0)))
    return found


@pytest.mark.slow
def test_a_thousand_days_are_proved_by_all_lengths() -> None:
    """What is private for every length is private for 1,000 days, and a note says so."""
    report = loads(DAYS.format(ratio=6, length=1000)).verify()
    assert report.status == "holds"
    assert any("sequences of every length" in note for note in report.notes)


@pytest.mark.slow
def test_a_short_violation_is_continued() -> None:
    """The witness has 1,000 outputs, and the forward recursion gives it a ratio above the bound."""
    report = loads(DAYS.format(ratio="11/5", length=1000)).verify()
    assert report.status == "violated"
    witness = report.to_dict()["witness"]
    word = tuple(witness["observations"])
    assert len(word) == 1000
    left, right = shares(word, Fraction(witness["parameters"]["p"]))
    assert max(left / right, right / left) > Fraction(11, 5)


SLOWLY = """
[parameters]
p = "(1/10, 2/5]"
[mechanism]
kind = "time_series"
states = ["ill", "well"]
observations = ["yes", "no"]
initial = {{ ill = "1/2", well = "1/2" }}
[mechanism.transitions]
well = {{ well = "1" }}
ill = {{ well = "1 - p", ill = "p" }}
[mechanism.emissions]
well = {{ no = "1" }}
ill = {{ yes = "2/5", no = "3/5" }}
[neighbours]
differ = "one"
[privacy]
ratio = 20
length = {length}
"""


@pytest.mark.slow
def test_few_sequences_with_long_polynomials_are_many() -> None:
    """Of each length there are fewer vectors than letters, but with polynomials of that degree."""
    report = loads(SLOWLY.format(length=1000)).verify()
    assert report.status == "violated"
    word = report.to_dict()["witness"]["observations"]
    assert len(word) == 1000
    assert "yes" in word  # which is impossible for a well person


def test_the_time_is_looked_at_while_sequences_are_counted() -> None:
    """An end of the time is an answer, and no error, whatever the length."""
    report = loads(SLOWLY.format(length=1000)).verify(timeout=0.02)
    assert report.status == "unknown"
    assert "time" in str(report)
