"""Compositions of finite pairs: exact numbers and bounds, against brute force over all outputs."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import comb, exp
from random import Random

import pytest
from composition_oracle import Pair, brute_delta, brute_ratio, mixed, random_pair, turned

from paramverify.algebra.constants import working_precision
from paramverify.composition.composing import (
    Component,
    Composition,
    CompositionQuestion,
    DirectedRelease,
    Fineness,
    ask,
    curve,
)
from paramverify.composition.loss_grids import (
    Above,
    Below,
    Grid,
    Lower,
    Upper,
    cells_of,
    common_root,
    composed,
    power,
    root_power,
)
from paramverify.composition.release_losses import (
    Loss,
    MassTable,
    Release,
    Response,
    SubsampledRelease,
    Turned,
)

RATIOS = [Fraction(n, 4) for n in (4, 5, 6, 8, 12, 20, 60)]
DELTAS = [Fraction(1, n) for n in (1, 2, 5, 20, 100)]
WIDTH = Fraction(1, 1000)


def table(pair: Pair) -> MassTable:
    """The release of a pair."""
    return MassTable(tuple(pair))


def component(release: Release, times: int = 1) -> Component:
    """A release with one pair."""
    return Component("release", times, (DirectedRelease.of(release),))


def bounds(releases: list[Release], step: Fraction, bits: int, tail: int = 200) -> tuple[Above, Below]:
    """Both bounds of the releases on a grid of our choice."""
    grid, upper, lower = Grid(Loss(step)), None, None
    with working_precision(bits + 128):
        for release in releases:
            cells = cells_of(release.losses(bits), grid, 60)
            above, below = Upper.of(cells, bits, tail), Lower.of(cells, bits, tail)
            upper = above if upper is None else upper.times(above)
            lower = below if lower is None else lower.times(below)
    assert upper is not None
    assert lower is not None
    return Above(grid, upper), Below(lower)


def drawn(seed: int) -> list[Pair]:
    """Up to three random pairs, at times one of them again."""
    random = Random(seed)
    found: list[Pair] = [random_pair(random) for _ in range(random.randint(1, 2))]
    return found + found[: random.randint(0, 1)]


@pytest.mark.parametrize("seed", range(12))
def test_exact_numbers_are_those_of_brute_force(seed: int) -> None:
    """δ for a ratio and the ratio for a δ are exactly those over all outputs."""
    pairs = drawn(seed)
    exact = composed([(pair, 1) for pair in pairs])
    assert exact is not None
    assert [exact.delta(ratio) for ratio in RATIOS] == [brute_delta(pairs, ratio) for ratio in RATIOS]
    assert [exact.ratio(delta) for delta in DELTAS] == [brute_ratio(pairs, delta) for delta in DELTAS]


@pytest.mark.parametrize("seed", range(16))
def test_bounds_enclose_brute_force(seed: int) -> None:
    """On coarse grids, with few bits and much clipped, δ and ε are between both bounds too."""
    pairs, random = drawn(seed), Random(seed)
    step, bits = Fraction(1, random.choice((1, 2, 7, 30, 300))), random.choice((26, 30, 40, 64))
    above, below = bounds([table(pair) for pair in pairs], step, bits, random.choice((2, 5, 20, 200)))
    for ratio in RATIOS:
        value = brute_delta(pairs, ratio)
        low, high = below.delta(Loss(ratio=ratio)), above.delta(Loss(ratio=ratio))
        assert low <= value <= high
    for delta in DELTAS:
        needed, most = brute_ratio(pairs, delta), above.epsilon(delta)
        least = below.epsilon(delta, most if most is not None else Fraction(1))
        if needed is None:
            assert most is None
        else:
            assert least is not None
            assert least <= 0 or exp(least) <= needed * (1 + 1e-12)
            assert most is None or exp(most) >= needed * (1 - 1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_finer_grids_bring_the_bounds_together(seed: int) -> None:
    """With many bits the distance of the bounds falls with the square of the step."""
    pairs = drawn(seed)
    releases: list[Release] = [table(pair) for pair in pairs]
    for ratio in RATIOS:
        gaps = []
        for step in (Fraction(1, 20), Fraction(1, 400)):
            above, below = bounds(releases, step, 96)
            gaps.append(above.delta(Loss(ratio=ratio)) - below.delta(Loss(ratio=ratio)))
        assert gaps[1] < Fraction(1, 1000)
        assert gaps[1] <= gaps[0] + Fraction(1, 10**20)


@pytest.mark.parametrize("seed", range(10))
def test_answers_within_the_precision(seed: int) -> None:
    """Mixed releases in k-fold and in both directions: the answer is exact, or encloses the exact number."""
    random = Random(seed)
    one, other = random_pair(random, 3), random_pair(random, 3)
    pairs = [one, one, other]
    composition = Composition((component(table(one), 2), component(table(other))))
    found = ask(composition, [CompositionQuestion(epsilon=Loss(ratio=ratio)) for ratio in RATIOS], WIDTH)
    assert [each.exact for each in found] == [brute_delta(pairs, ratio) for ratio in RATIOS]
    back = ask(composition, [CompositionQuestion(delta=delta) for delta in DELTAS], WIDTH)
    assert [None if each.between.infinite else each.exact for each in back] == [
        brute_ratio(pairs, delta) for delta in DELTAS
    ]


@pytest.mark.parametrize("seed", range(8))
def test_samples_are_those_of_brute_force(seed: int) -> None:
    """A subsampled release has M against Q, and Q against M; the larger δ of both directions is told."""
    random = Random(seed)
    pair, rate = random_pair(random, 3), Fraction(random.randint(1, 9), 10)
    with_person = SubsampledRelease(table(pair), rate)
    ways = DirectedRelease.of(with_person), DirectedRelease.of(Turned(with_person))
    both = [[mixed(pair, rate)] * 3, [turned(mixed(pair, rate))] * 3]
    found = ask(
        Composition((Component("sampled", 3, ways),)),
        [CompositionQuestion(epsilon=Loss(ratio=ratio)) for ratio in RATIOS],
        WIDTH,
    )
    expected = [max(brute_delta(pairs, ratio) for pairs in both) for ratio in RATIOS]
    for each, value in zip(found, expected, strict=True):
        assert each.between.lower <= value <= (each.between.upper or 1)
        assert each.between.is_within(WIDTH)
    assert any(each.exact is not None for each in found)


def test_amplification_of_pure_privacy_is_the_formula() -> None:
    """The largest loss of sampled randomised response is exactly k·ln(1 + γ(e^ε − 1)) for k releases."""
    for ratio, rate in ((Fraction(3), Fraction(1, 10)), (Fraction(9, 2), Fraction(2, 3))):
        sampled = SubsampledRelease(Response(Loss(ratio=ratio)), rate)
        for k in (1, 4):
            composition = Composition(
                (Component("s", k, (DirectedRelease.of(sampled), DirectedRelease.of(Turned(sampled)))),)
            )
            (found,) = ask(composition, [CompositionQuestion(delta=Fraction(0))], WIDTH)
            assert found.exact == (1 + rate * (ratio - 1)) ** k


def test_an_epsilon_that_is_no_logarithm_has_both_parts() -> None:
    """δ for ε = 1 is A − B·e exactly: A and B are the masses of the outputs with P > e·Q."""
    pair = [(Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4))]
    composition = Composition((component(table(pair), 2),))
    (found,) = ask(composition, [CompositionQuestion(epsilon=Loss(Fraction(1)))], WIDTH)
    assert found.parts == (Fraction(9, 16), Fraction(1, 16))
    assert found.between.lower <= Fraction(9, 16) - Fraction(271828182845904, 10**14) / 16 + Fraction(
        1, 10**14
    )
    assert found.between.is_within(Fraction(1, 10**50))


def test_many_releases_are_exact_on_a_lattice() -> None:
    """A thousand randomised responses: δ is a binomial sum, exactly."""
    k, ratio = 1000, Fraction(3)
    share = ratio / (1 + ratio)
    expected = sum(
        max(
            Fraction(0),
            comb(k, j)
            * (share**j * (1 - share) ** (k - j) - ratio**600 * share ** (k - j) * (1 - share) ** j),
        )
        for j in range(750, k + 1)
    )
    composition = Composition((component(Response(Loss(ratio=ratio)), k),))
    (found,) = ask(composition, [CompositionQuestion(epsilon=Loss(ratio=ratio**600))], WIDTH)
    assert found.exact is not None
    assert found.exact >= expected
    (again,) = ask(
        Composition((component(Response(Loss(Fraction(1))), 40),)),
        [CompositionQuestion(epsilon=Loss(Fraction(8)))],
        WIDTH,
    )
    assert again.how is not None
    assert again.how.lattice
    value = sum(
        comb(40, j) * exp(j) / (1 + exp(1)) ** 40 * max(0.0, 1 - exp(8 - (2 * j - 40))) for j in range(41)
    )
    assert abs(float(again.between.lower) - value) < 1e-12


def test_two_pairs_that_no_one_dominates() -> None:
    """The lower bound is one pair repeated, the upper one the pair of both profiles; one release is exact."""
    from paramverify.composition.case_releases import _rational

    one = [(Fraction(1, 2), Fraction(1, 10)), (Fraction(1, 2), Fraction(9, 10))]
    other = [(Fraction(1, 20), Fraction(0)), (Fraction(19, 20), Fraction(1))]
    way = _rational([one, other])
    assert not way.single
    assert len(way.pairs) == 2
    for ratio in RATIOS:
        alone = max(brute_delta([pair], ratio) for pair in (one, other))
        (found,) = ask(
            Composition((Component("a", 1, (way,)),)), [CompositionQuestion(epsilon=Loss(ratio=ratio))], WIDTH
        )
        assert found.exact == alone
        (twice,) = ask(
            Composition((Component("a", 2, (way,)),)), [CompositionQuestion(epsilon=Loss(ratio=ratio))], WIDTH
        )
        best = max(brute_delta(pairs, ratio) for pairs in ([one, one], [one, other], [other, other]))
        repeated = max(brute_delta([pair, pair], ratio) for pair in (one, other))
        assert twice.between.upper is not None
        assert best <= twice.between.upper
        assert repeated * (1 - WIDTH) <= twice.between.lower <= repeated


def test_the_curve_has_the_corners_of_brute_force() -> None:
    """A curve of few outputs has all corners, is convex, and δ is that of brute force at each and between."""
    pair = [
        (Fraction(1, 2), Fraction(1, 5)),
        (Fraction(2, 5), Fraction(3, 10)),
        (Fraction(1, 10), Fraction(1, 2)),
    ]
    found = curve(Composition((component(table(pair), 2),)), WIDTH)
    assert found.linear
    points = [(point.ratio, point.delta) for point in found.points]
    assert points == [(ratio, brute_delta([pair, pair], ratio)) for ratio, _ in points]
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(points)]
    assert slopes == sorted(slopes)
    assert points[-1][1] == 0
    for (low, d), (high, e) in pairwise(points):
        assert brute_delta([pair, pair], (low + high) / 2) == (d + e) / 2


def test_bounds_fall_and_are_convex() -> None:
    """On a grid too the upper bound falls in ε and is convex in e^ε, up to its rounding."""
    above, _ = bounds([table(random_pair(Random(5))) for _ in range(3)], Fraction(1, 50), 64)
    ratios = [Fraction(n, 10) for n in range(10, 60)]
    values = [above.delta(Loss(ratio=ratio)) for ratio in ratios]
    small = Fraction(1, 2**40)
    assert all(b <= a + small for a, b in pairwise(values))
    assert all(2 * b <= a + c + small for a, b, c in zip(values, values[1:], values[2:], strict=False))


def test_a_power_is_a_product() -> None:
    """Repeated squaring gives bounds of the same composition as one release after the other."""
    pair = random_pair(Random(3), zeros=False)
    grid = Grid(Loss(Fraction(1, 40)))
    with working_precision(192):
        one = Upper.of(cells_of(table(pair).losses(64), grid, 60), 64, 60)
        squared = Above(grid, power(one, 3, lambda: None)).delta(Loss())
        listed = Above(grid, one.times(one).times(one)).delta(Loss())
    assert abs(squared - listed) < Fraction(1, 2**30)
    assert squared >= brute_delta([pair] * 3, Fraction(1))


def test_roots() -> None:
    """Two numbers have a largest common root, or none that is found; a power is recognised exactly."""
    assert common_root(Fraction(8), Fraction(32)) == 2
    assert common_root(Fraction(9, 4), Fraction(27, 8)) == Fraction(3, 2)
    assert common_root(Fraction(2), Fraction(3)) is None
    assert root_power(Fraction(8, 27), Fraction(3, 2)) == -3
    assert root_power(Fraction(8, 26), Fraction(3, 2)) is None


def test_a_time_that_is_over_is_told() -> None:
    """Without time for a first grid there is no answer; `Fineness` says what a grid is."""
    from paramverify.composition.release_losses import Gaussian
    from paramverify.errors import LimitError

    assert Fineness(Loss(Fraction(1, 8))).bits == 128
    composition = Composition((component(Gaussian(Fraction(1))),), deadline=0.0)
    with pytest.raises(LimitError):
        ask(composition, [CompositionQuestion(epsilon=Loss(Fraction(1)))], WIDTH)
