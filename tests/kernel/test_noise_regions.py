"""Regions of noise, beside the points in them; and closed forms, beside sums of these."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp
from random import Random

import pytest

from paramverify.kernel import noise_regions
from paramverify.kernel.noise_probabilities import Form
from paramverify.kernel.noise_regions import (
    Kinds,
    Region,
    RegionSums,
    VariableLaw,
    cut,
    ends_of,
    limited,
    meets,
    parted,
    possible,
)
from paramverify.kernel.strict_reading import UnreadCase

F = Fraction
WHOLE, DENSE = VariableLaw(True, True, F(1, 2)), VariableLaw(False, True, F(1, 3))
Point = tuple[Fraction, ...]
Made = tuple[dict[int, Fraction], Fraction, bool]  # slopes, bound, and whether it is strict


def value(form: Form, at: Point) -> Fraction:
    """Returns the value of a form at a point."""
    return sum((slope * at[v] for v, slope in form), F(0))


def inside(region: Region, at: Point) -> bool:
    """Tells whether a point is in a region."""
    return all(value(form, at) <= bound for form, bound in region.items())


def points(kinds: Kinds) -> list[Point]:
    """Returns points on no border of noise with a density; whole noise has whole numbers."""
    whole, others = [F(k) for k in range(-5, 6)], [F(k, 2) + F(1, 101 + k) for k in range(-8, 9)]
    return list(
        product(*(whole if kind.whole else [x + F(n, 9973) for x in others] for n, kind in enumerate(kinds)))
    )


def made(random: Random, kinds: Kinds, slopes: list[Fraction]) -> Made:
    """Returns an inequality."""
    given = {v: random.choice(slopes) for v in range(len(kinds)) if random.random() < 0.7}
    return given, F(random.randint(-6, 8), random.choice((1, 1, 2, 3))), random.random() < 0.5


def region_of(kinds: Kinds, all_of: list[Made]) -> Region | None:
    """Returns the region of inequalities."""
    found: Region | None = {}
    for slopes, bound, strict in all_of:
        found = limited(found, kinds, slopes, bound, strict)
    return found


KINDS = [(WHOLE, WHOLE), (WHOLE, DENSE), (DENSE, DENSE), (DENSE, WHOLE)]
SLOPES = [F(n) for n in ("1", "-1", "0", "2", "-2", "1/2", "-2/3", "3")]
ONES = [F(1), F(-1), F(0)]


@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("slopes", [SLOPES, ONES], ids=["all", "ones"])
def test_regions_have_the_points_of_their_inequalities(kinds: Kinds, slopes: list[Fraction]) -> None:
    """Each has the same points: the region, what is said of one variable, its parts, and its shadow."""
    random, everywhere, seen = Random(5), points(kinds), [0, 0]
    for _ in range(18):
        given = [made(random, kinds, slopes) for _ in range(random.randint(1, 4))]
        found = region_of(kinds, given)
        told = {
            at
            for at in everywhere
            if all(
                value(tuple(s.items()), at) < b or (not strict and value(tuple(s.items()), at) == b)
                for s, b, strict in given
            )
        }
        seen[found is None] += 1
        if found is None:
            assert not told
            continue
        assert {at for at in everywhere if inside(found, at)} == told
        assert possible(found, kinds) or not told
        for v in (0, 1):
            rest, *ends = parted(found, v)
            assert all(v not in dict(form) for form in rest)
            parts = list(cut(rest, kinds, (ends[0], ends[1]), not kinds[v].whole))
            for at in everywhere:
                lows, highs = ([value(tuple(s.items()), at) + c for s, c in side] for side in ends)
                within = inside(rest, at) and all(x <= at[v] for x in lows) and all(at[v] <= x for x in highs)
                assert within == (at in told)
                here = [(low, high) for part, low, high in parts if inside(part, at)]
                assert len(here) == 1 if within else len(here) <= 1
                for low, high in here:
                    for told_end, all_ends, best in ((low, lows, max), (high, highs, min)):
                        own = told_end and value(tuple(told_end[0].items()), at) + told_end[1]
                        assert own == (best(all_ends) if all_ends else None)
            forms = [dict(form) for form in found]
            others = int(any({0, 1} <= form.keys() for form in forms))
            assert meets(found, v, {1 - v}) == (any(abs(f.get(v, F(1))) != 1 for f in forms), others)
    assert min(seen) > 2


@pytest.mark.parametrize("kinds", KINDS)
def test_multiples_of_a_form_are_one(kinds: Kinds) -> None:
    """The nearest bound is kept; what contradicts it leaves nothing, nor does a line of a density."""
    whole = kinds == (WHOLE, WHOLE)
    found: Region | None = {}
    for by, bound in ((F(1), F(5)), (F(2, 3), F(2)), (F(7), F(30)), (F(1, 5), F(9, 10)), (F(3), F(12))):
        found = limited(found, kinds, {1: -by, 0: by * 2}, bound, False)
        assert found is not None
        assert len(found) == 1
    ((form, bound),) = found.items()
    assert form == ((0, F(2)), (1, F(-1))) if whole else form == ((0, F(1)), (1, F(-1, 2)))
    assert bound / form[0][1] == F(3, 2)
    turned = {0: F(-4), 1: F(2)}
    for low, strict, left in (
        (F(-2), False, True),
        (F(-6), False, whole),
        (F(-6), True, False),
        (F(-7), False, False),
    ):
        assert (limited(found, kinds, turned, low, strict) is not None) == left, (low, strict)
    for bound, strict, left in (
        (F(1), True, True),
        (F(0), False, True),
        (F(0), True, False),
        (F(-1), False, False),
    ):
        assert limited(found, kinds, {0: F(0)}, bound, strict) == (found if left else None)
    assert limited(None, kinds, turned, F(1), False) is None


def test_the_least_and_the_largest_value() -> None:
    """Of whole noise in a region with ends, and of a region without them, or without points."""
    kinds, random, seen = (WHOLE, WHOLE), Random(9), 0
    for _ in range(80):
        given = [made(random, kinds, ONES) for _ in range(2)]
        given += [({v: F(sign)}, F(4), False) for v in (0, 1) for sign in (1, -1)]
        found = region_of(kinds, given)
        slopes = {v: F(random.choice((-1, 1))) for v in (0, 1)}
        if found is None:
            continue
        values = [value(tuple(slopes.items()), at) for at in points(kinds) if inside(found, at)]
        low, high = ends_of(found, kinds, slopes)
        assert low is not None
        assert high is not None
        if values:
            seen += 1
            assert 0 <= min(values) - low <= 1
            assert 0 <= high - max(values) <= 1
        else:
            assert low > high - 1
    assert seen > 40
    assert ends_of({((0, F(1)),): F(3)}, kinds, {0: F(2)}) == (None, 6)
    assert ends_of({((0, F(-1)),): F(3)}, kinds, {0: F(2)}) == (-6, None)
    assert ends_of({((0, F(1)),): F(3), ((0, F(-1)),): F(-4)}, kinds, {1: F(1)}) == (1, 0)


@pytest.mark.parametrize("rate", [F(1), F(1, 3), F(-2), F(5, 2), F(0)])
@pytest.mark.parametrize("power", range(5))
def test_primitives(rate: Fraction, power: int) -> None:
    """Their differences are v^power·rate^v, and their derivatives v^power·e^(rate·v)."""

    def at(p: tuple[Fraction, ...], v: int) -> Fraction:
        return sum((c * F(v) ** k for k, c in enumerate(p)), F(0))

    if rate:
        p = noise_regions._primitive(power, rate, True)
        assert all(rate * at(p, v + 1) - at(p, v) == F(v) ** power for v in range(-3, power + 4))
    p = noise_regions._primitive(power, rate, False)
    slope = tuple(k * c for k, c in enumerate(p))[1:]
    assert all(at(slope, v) + rate * at(p, v) == F(v) ** power for v in range(-3, power + 4))


def test_whole_noise_beside_noise_with_a_density(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pr(a·L + b·W ≤ c) is the sum over W of how likely L is there, for one-sided and two-sided noise."""
    unit = F(3, 4)
    for turned, a, b, c, own, other in product(
        (False, True),
        (F(1), F(-2)),
        (1, -1),
        (F(0), F(3, 2)),
        (VariableLaw(False, True, F(2)), VariableLaw(False, False, F(1))),
        (True, False),
    ):
        rate, whole = float(own.rate * unit), VariableLaw(True, other, F(1, 3))
        kinds = (whole, own) if turned else (own, whole)
        found = limited({}, kinds, {int(turned): a, 1 - turned: F(b)}, c, False)
        assert found is not None
        sums = RegionSums(unit, lambda e: F(exp(e * unit)))
        told = float(sums.number(sums.chance(found, kinds)))

        def below(x: float, rate: float = rate, own: VariableLaw = own) -> float:
            if own.two_sided:
                return exp(rate * x) / 2 if x < 0 else 1 - exp(-rate * x) / 2
            return 0.0 if x < 0 else 1 - exp(-rate * x)

        true = 0.0
        for w in range(-60 if other else 0, 61):
            end = float((c - b * w) / a)
            share = (1 / 2 if other else 2 / 3) * (1 / 3) ** abs(w)
            true += share * (below(end) if a > 0 else 1 - below(end))
        assert abs(told - true) < 1e-9, (turned, a, b, c, own, other)
    law = VariableLaw(True, False, F(1, 3))
    alone, both = (limited({}, (law,) * n, dict.fromkeys(range(n), F(1)), F(3), False) for n in (1, 2))
    assert alone is not None
    assert both is not None
    negative_binomial = sum(((k + 1) * F(4, 9) / 3**k for k in range(4)), F(0))
    assert RegionSums(unit, lambda e: F(0)).chance(both, (law, law)) == {(F(0), ()): negative_binomial}
    monkeypatch.setattr(noise_regions, "MAX_PIECES", 1)  # one side of one variable is one region
    assert RegionSums(unit, lambda e: F(0)).chance(alone, (law,)) == {(F(0), ()): F(80, 81)}
    monkeypatch.setattr(noise_regions, "MAX_PIECES", 0)
    with pytest.raises(UnreadCase, match="more than 0 regions"):
        RegionSums(unit, lambda e: F(0)).chance(alone, (law,))


def test_integrals_over_exponential_noise() -> None:
    """Orders of waiting times, their sums and multiples, beside the formulas that are known for them."""
    unit = F(3, 4)
    a, b, c = (float(rate * unit) for rate in (F(1), F(2), F(5)))
    first, second, third = (VariableLaw(False, False, F(rate)) for rate in (1, 2, 5))
    cases: list[tuple[Kinds, list[dict[int, int]], Fraction, float]] = [
        ((second, first), [{0: 1, 1: -3}], F(0), 3 * b / (3 * b + a)),
        ((first, second), [{0: 1, 1: -1}], F(1), 1 - b / (a + b) * exp(-a)),
        ((first, second), [{0: 1, 1: 1}], F(2), 1 - (b * exp(-2 * a) - a * exp(-2 * b)) / (b - a)),
        ((first, first), [{0: 1, 1: 1}], F(2), 1 - exp(-2 * a) * (1 + 2 * a)),
        ((first,) * 3, [{0: 1, 1: 1, 2: 1}], F(2), 1 - exp(-2 * a) * (1 + 2 * a + (2 * a) ** 2 / 2)),
        ((first, second, third), [{0: 1, 1: -1}, {1: 1, 2: -1}], F(0), a / (a + b + c) * b / (b + c)),
        (
            (first, second, third),
            [{0: -1, 1: 1}, {0: -1, 2: 1}],
            F(0),
            1 - a / (a + b) - a / (a + c) + a / (a + b + c),
        ),
    ]
    for kinds, forms, bound, true in cases:
        found = region_of(kinds, [({v: F(s) for v, s in form.items()}, bound, False) for form in forms])
        assert found is not None
        sums = RegionSums(unit, lambda e: F(exp(e * unit)))
        assert float(sums.number(sums.chance(found, kinds))) == pytest.approx(true, abs=1e-9), forms
