"""Above threshold with the adversary of the paper: pairs of answers that differ by at most one each time.

The probabilities are summed up here from the truncated geometric noise of section 3.2 of [L], with fractions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import product

import pytest
from conftest import ROOT

from paramverify.algebra.polynomials import RationalFunction
from paramverify.logic.formula_budgets import least_delta
from paramverify.logic.formula_families import check_property
from paramverify.logic.formula_grammar import read_property
from paramverify.logic.logic_cases import load
from paramverify.logic.probability_comparisons import SchedulerChoice
from paramverify.logic.property_checking import LogicSession
from paramverify.portfolio.session import Session

FOLDER = ROOT / "cases" / "logic"
E = (Fraction(2718281828, 10**9), Fraction(2718281829, 10**9))  # e lies between


def noisy(ratio: Fraction, value: int, top: int) -> list[Fraction]:
    """The truncated geometric mechanism over 0..top."""
    middle = [(1 - ratio) / (1 + ratio) * ratio ** abs(y - value) for y in range(top + 1)]
    middle[0], middle[top] = ratio**value / (1 + ratio), ratio ** (top - value) / (1 + ratio)
    assert sum(middle) == 1
    return middle


@cache
def below(answer: int, threshold: int, top: int) -> Fraction:
    """The probability that a noisy answer is below a noisy threshold."""
    return sum(noisy(Fraction(1, 2), answer, top)[:threshold], Fraction(0))


@cache
def released(threshold: int, answers: tuple[int, ...], top: int) -> Fraction:
    """The probability of bot for all answers but the last, and of top there."""
    total = Fraction(0)
    for drawn, weight in enumerate(noisy(Fraction(1, 4), threshold, top)):
        for answer in answers[:-1]:
            weight *= below(answer, drawn, top)
        total += weight * (1 - below(answers[-1], drawn, top))
    return total


def pairs(top: int) -> list[tuple[int, int]]:
    """The actions: answers that differ by at most one."""
    return [(m, n) for m in range(top + 1) for n in range(top + 1) if abs(m - n) <= 1]


def words(
    queries: int, top: int, first: Sequence[tuple[int, int]]
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The answers of both sides to some queries."""
    for word in product(first, *[pairs(top)] * (queries - 1)):
        yield tuple(m for m, _ in word), tuple(n for _, n in word)


def extreme(threshold: int, first: int, later: int, largest: bool) -> Fraction:
    """The extreme probability of bot and then top, for answers that may depend on the noisy threshold."""
    choose = max if largest else min
    total = Fraction(0)
    for drawn, weight in enumerate(noisy(Fraction(1, 4), threshold, 5)):
        if later == 0:
            total += weight * (1 - below(first, drawn, 5))
            continue
        stay = choose(below(r, drawn, 5) for r in range(6))
        end = choose(1 - below(r, drawn, 5) for r in range(6))
        total += weight * below(first, drawn, 5) * stay ** (later - 1) * end
    return total


@pytest.mark.parametrize("later", [0, 1, 2])
def test_one_pair(later: int, session: Session) -> None:
    """For t3r5 and t3r4 the least δ at ε = 0 is that of the worst word; by Prop. 2 that of the extremes."""
    case = load(FOLDER / "above-threshold-two-copies-one-pair.toml")
    one = RationalFunction.of(case.chain.domain.ring.number(1))
    found = read_property(f"D{{0, 1}}[ X (bot U={later} top) ]")
    exact = least_delta(LogicSession(case, session, SchedulerChoice.EXACT), found, one)
    assert exact.value is not None
    worst = max(abs(released(3, a, 5) - released(3, b, 5)) for a, b in words(later + 1, 5, [(5, 4)]))
    assert exact.value.rational == worst
    wide = least_delta(LogicSession(case, session, SchedulerChoice.SUFFICIENT), found, one)
    assert wide.value is not None
    assert wide.value.rational == max(
        extreme(3, r, later, True) - extreme(3, s, later, False) for r, s in ((5, 4), (4, 5))
    )
    assert wide.value.rational <= Fraction(17, 100)


@pytest.mark.slow
def test_all_neighbours(session: Session) -> None:
    """At ε = 1 the least δ for all neighbours is that of the worst pair of words."""
    later = 1
    case = load(FOLDER / "above-threshold-two-copies.toml")
    ratio = RationalFunction.of(case.chain.domain.ring.variable("E"))
    found = read_property(f"D{{1, 1}}[ X (bot U={later} top) ]")
    least = least_delta(LogicSession(case, session, SchedulerChoice.EXACT), found, ratio)
    low, high = max(
        (released(t, a, 5) - E[1] * released(t, b, 5), released(t, a, 5) - E[0] * released(t, b, 5))
        for t in range(6)
        for a, b in words(later + 1, 5, pairs(5))
    )
    assert low <= least.lower
    assert least.upper is not None
    assert least.upper <= high


@pytest.mark.slow
def test_the_worst_words(session: Session) -> None:
    """The violation at δ = 0.1632 has the answers 4, 4, 5 against 5, 5, 4, with their probabilities."""
    case = load(FOLDER / "above-threshold-two-copies.toml")
    example = check_property(LogicSession(case, session), case.properties["too_small"]).counterexample
    assert example is not None
    assert example.probabilities is not None
    left, right = released(5, (4, 4, 5), 5), released(5, (5, 5, 4), 5)
    assert [p.rational for p in example.probabilities] == [left, right]
    assert (left, right) == (Fraction(8916269, 35389440), Fraction(462049, 14155776))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "queries"), [("first", 1), ("second", 2), ("third", 3)])
def test_as_it_is_drawn(name: str, queries: int, session: Session) -> None:
    """Figure 6 with its steps and the range 0..2: the least δ at ε = 0 is that of the worst word."""
    case = load(FOLDER / "above-threshold-figure-6.toml")
    one = RationalFunction.of(case.chain.domain.ring.number(1))
    least = least_delta(LogicSession(case, session, SchedulerChoice.EXACT), case.properties[name], one)
    assert least.value is not None
    assert least.value.rational == max(
        released(t, a, 2) - released(t, b, 2) for t in range(3) for a, b in words(queries, 2, pairs(2))
    )
