"""Sparse vector, noisy max and families with priors: least deltas by brute force over all sets of outputs.

Nothing here but fractions: worlds, noise and sets are listed, and series of noise without ends are summed.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations, product
from math import comb

import pytest
from calling_tools import called
from conftest import ROOT

CASES = ROOT / "cases" / "approximate"
HALF = Fraction(1, 2)
NOISE = [[HALF ** abs(o - f) * (1 if o in (0, 2) else HALF) / (1 + HALF) for o in range(3)] for f in range(3)]

SIXTHS = [[int(6 * share) for share in row] for row in NOISE]

Row = Sequence[Fraction]


def expected(name: str) -> Fraction:
    """The least delta that a case expects."""
    return Fraction(tomllib.loads((CASES / f"{name}.toml").read_text(encoding="utf-8"))["expect"]["delta"])


def needed(one: Row, other: Row, ratio: Fraction) -> Fraction:
    """The least delta over all sets of outputs, in both directions, set by set."""
    sets = list(chain.from_iterable(combinations(range(len(one)), n) for n in range(len(one) + 1)))
    return max(
        sum((p[k] for k in chosen), Fraction(0)) - ratio * sum((q[k] for k in chosen), Fraction(0))
        for chosen in sets
        for p, q in ((one, other), (other, one))
    )


def largest(given: Sequence[int]) -> list[Fraction]:
    """Noisy max with ties that are broken at random: how likely each index is."""
    found = [0] * len(given)
    for noisy in product(range(3), repeat=len(given)):
        chance = 60  # a multiple of all numbers of best answers
        for f, o in zip(given, noisy, strict=True):
            chance *= SIXTHS[f][o]
        best = [k for k, o in enumerate(noisy) if o == max(noisy)]
        for k in best:
            found[k] += chance // len(best)
    return [Fraction(share, 60 * 6 ** len(given)) for share in found]


def two(p: Fraction, n: int) -> Fraction:
    """How likely n of two people are ill."""
    return comb(2, n) * p**n * (1 - p) ** (2 - n)


def ill(
    first: Mapping[int, Fraction], others: Sequence[Fraction], rows: Mapping[tuple[int, ...], Row]
) -> Row:
    """The outputs of noisy max: weights of the first count, and independent diseases of two people each."""
    total = sum(first.values(), Fraction(0))
    found = [Fraction(0)] * (1 + len(others))
    for counts in product(range(3), repeat=len(others)):
        chance = Fraction(1)
        for p, n in zip(others, counts, strict=True):
            chance *= two(p, n)
        for a, weight in first.items():
            for k, share in enumerate(rows[a, *counts]):
                found[k] += weight * chance * share / total
    return found


@pytest.fixture(scope="module")
def three() -> dict[tuple[int, ...], Row]:
    """Noisy max of three answers."""
    return {given: largest(given) for given in product(range(3), repeat=3)}


def grid(steps: int) -> Iterator[tuple[Fraction, Fraction]]:
    """Pairs of probabilities."""
    return product([Fraction(k, steps) for k in range(1, steps)], repeat=2)


def test_noisy_max_with_independent_diseases(three: dict[tuple[int, ...], Row]) -> None:
    """The least delta is the limit at pA = pB = pC = 1, and no prior of a grid needs more."""
    ratio, least = Fraction(3, 2), expected("noisy-max-independent")

    def at(p: Fraction, b: Fraction, c: Fraction) -> Fraction:
        weights = {n: two(p, n) for n in range(3)}
        some, few = ({n: weights[n] for n in kept} for kept in ((1, 2), (0, 1)))
        return needed(ill(some, (b, c), three), ill(few, (b, c), three), ratio)

    end = Fraction(10**9 - 1, 10**9)
    assert least - Fraction(1, 10**7) < at(end, end, end) < least == Fraction(1, 18)
    assert max(at(p, b, b) for p, b in grid(6)) < least


def test_noisy_max_in_a_family(three: dict[tuple[int, ...], Row]) -> None:
    """The certified bounds hold: a prior needs nearly the upper one, and none of a grid needs more."""
    low, high = Fraction("0.142320472432"), Fraction("0.142320472999")

    def at(b: Fraction, c: Fraction) -> Fraction:
        both = (ill({2: Fraction(1)}, (b, c), three), ill({0: Fraction(1)}, (b, c), three))
        return needed(*both, Fraction(2))

    best = Fraction(1098252, 1331845)
    assert low <= at(best, best) <= high
    assert max(at(b, c) for b, c in grid(12)) < low


@pytest.mark.slow
def test_noisy_max_of_five_diseases() -> None:
    """The least delta is that of p2 = 0, exactly."""
    rows = {given: largest(given) for given in product((0, 2), *[range(3)] * 4)}
    known = (Fraction(3, 10), Fraction(2, 5), HALF)

    def at(p: Fraction) -> Fraction:
        sides = [ill({n: Fraction(1)}, (p, *known), rows) for n in (2, 0)]
        return needed(*sides, Fraction(2))

    least = Fraction(10001837, 64800000)  # of `budget --delta-for "ln(2)"`
    assert at(Fraction(0)) == least > max(at(HALF), at(Fraction(1)))


def test_counts_in_a_family() -> None:
    """Both are ill or none: two rows of the noise, with truncated noise and with noise without ends."""
    assert needed(NOISE[2], NOISE[0], Fraction(2)) == expected("geometric-contagious")

    def at(a: Fraction) -> Fraction:
        tail = [1 / (1 + a), (1 - a) / (1 + a) * a, a**2 / (1 + a)]  # 0 and below, 1, 2 and above
        return needed(tail, tail[::-1], Fraction(2))

    least = expected("family-delta")
    assert at(HALF) == least
    assert max(at(Fraction(k, 20)) for k in range(11, 20)) < least
    # Where delta = 1/10 is enough: 20·a² + a − 9 is zero there, and at most that is needed above it.
    low, high = Fraction(646, 1000), Fraction(647, 1000)
    assert at(low) > Fraction(1, 10) > at(high)
    assert 20 * low**2 + low < 9 < 20 * high**2 + high


def vector(given: Sequence[int], a: Fraction) -> list[Fraction]:
    """Sparse vector with answers from -1 to 1: stops at each index, or never.

    In the tails of the threshold t each chance is c + d·u with u = a^|t|. So a product is a polynomial in u,
    and the sum over t is that of geometric series.
    """
    scale = (1 - a**2) / (1 + a**2)

    def reaches(m: int) -> Fraction:  # noise is at least m
        return a**m / (1 + a) if m > 0 else 1 - a ** (1 - m) / (1 + a)

    found: list[Fraction] = []
    for stop in range(len(given) + 1):
        total = Fraction(0)
        for t in (-1, 0, 1):
            chance = scale * a ** (2 * abs(t))
            for k, x in enumerate(given[: stop + 1]):
                chance *= reaches(t - x) if k == stop else 1 - reaches(t - x)
            total += chance
        for above in (True, False):  # t from 2 on, and t from -2 down
            poly = [Fraction(1)]
            for k, x in enumerate(given[: stop + 1]):
                share = a**-x / (1 + a) if above else a ** (1 + x) / (1 + a)
                low, high = (Fraction(0), share) if above else (Fraction(1), -share)
                c, d = (low, high) if k == stop else (1 - low, -high)
                poly = [c * p + d * q for p, q in zip([*poly, 0], [0, *poly], strict=True)]
            total += scale * sum(
                (p * a ** (2 * (2 + n)) / (1 - a ** (2 + n)) for n, p in enumerate(poly)), Fraction(0)
            )
        found.append(total)
    assert sum(found) == 1
    return found


def most(a: Fraction) -> Fraction:
    """What sparse vector of two answers needs for the ratio 2, over all neighbours."""
    rows = {given: vector(given, a) for given in product((-1, 0, 1), repeat=2)}
    return max(
        needed(rows[x], rows[y], Fraction(2))
        for x, y in combinations(rows, 2)
        if all(abs(v - w) <= 1 for v, w in zip(x, y, strict=True))
    )


@pytest.mark.slow
def test_sparse_vector() -> None:
    """The least delta from alpha = 1/2 on is that of 1/2; the map changes where brute force does."""
    least = expected("sparse-vector-delta")
    assert most(HALF) == least
    assert most(Fraction(9, 10)) < most(Fraction(3, 5)) < least
    bounds = Fraction(6, 11), Fraction(11, 20)
    assert most(bounds[0]) > Fraction(1, 10) > most(bounds[1])
    below, above = json.loads(called("synthesize", str(CASES / "sparse-vector-map.toml"), "--json").out)[
        "parts"
    ]
    assert [below["verdict"], above["verdict"]] == ["not private", "private"]
    assert below["upper"] == above["lower"]
    assert bounds[0] < Fraction(below["upper"]["lower"]) <= Fraction(below["upper"]["upper"]) < bounds[1]
