"""What must be so of the least δ as a function of ε, on random cases: total variation, convexity, duality."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest
from set_oracle import drawn, points

from paramverify.algebra.real_roots import RealRoot
from paramverify.divergences import MaxDivergence
from paramverify.portfolio.session import Options, Session
from paramverify.synthesis.budget import tight_budget
from paramverify.synthesis.least_sets import least_bound
from paramverify.synthesis.set_curve import CurvePoint, curve
from paramverify.synthesis.set_needs import NeedKind

PRECISION = Fraction(1, 10**9)
RATIOS = [Fraction(1), Fraction(5, 4), Fraction(3, 2), Fraction(2), Fraction(3)]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(500, 502))
def test_the_profile_of_a_random_case(seed: int) -> None:
    """δ at ε = 0 is the total variation; δ falls, and is convex in e^ε; the least ε for it gives it back."""
    found = drawn(Random(seed), seed % 2)
    with Session(Options(seconds=60)) as session:
        known = [least_bound(found.model(r, Fraction(1)), session, PRECISION, NeedKind.DELTA) for r in RATIOS]
        values = [bound.high for bound in known]
        assert all(bound.value is not None for bound in known)
        assert None not in values
        deltas = [v for v in values if v is not None]
        variation = max(
            sum(
                (abs(p - q) for p, q in zip(found.shares(0, at), found.shares(1, at), strict=True)),
                Fraction(0),
            )
            / 2
            for at in points(found.names)
        )
        assert variation <= deltas[0]
        if not found.names:
            assert variation == deltas[0]
        assert all(a >= b for a, b in pairwise(deltas))
        slopes = [(b - a) / (s - r) for (a, r), (b, s) in pairwise(zip(deltas, RATIOS, strict=True))]
        assert all(a <= b + PRECISION for a, b in pairwise(slopes))
        for delta, ratio in zip(deltas, RATIOS, strict=True):
            if 0 < delta < 1:
                back = least_bound(found.model(Fraction(1), delta), session, PRECISION, NeedKind.RATIO)
                assert back.high is not None
                assert abs(back.high - ratio) <= ratio * Fraction(1, 10**6) or back.high <= ratio


@pytest.mark.parametrize("seed", range(510, 514))
def test_delta_is_zero_from_the_tight_ratio_on(seed: int) -> None:
    """The least δ for the largest ratio of single outputs is 0, and positive below it."""
    found = drawn(Random(seed), seed % 2)
    with Session(Options(seconds=60)) as session:
        pure = found.model(Fraction(1), Fraction(1))
        tight = tight_budget(replace(pure, measure=MaxDivergence.number(pure.domain.ring, 1)), session)
        if tight.infinite or tight.low <= 1:
            return
        assert tight.high is not None
        above = least_bound(found.model(tight.high, Fraction(1)), session, PRECISION, NeedKind.DELTA)
        assert isinstance(above.value, RealRoot)
        assert above.value.lower == above.value.upper == 0
        below = least_bound(found.model((tight.low + 1) / 2, Fraction(1)), session, PRECISION, NeedKind.DELTA)
        assert below.low > 0


@pytest.mark.parametrize("seed", range(520, 524))
def test_the_corners_of_a_curve(seed: int) -> None:
    """Between corners δ is linear and that of all sets; the trade-off function is its dual, and symmetric."""
    found = drawn(Random(seed), seed % 2)
    at = {name: Fraction(1, 3) for name in found.names}
    with Session(Options(seconds=60)) as session:
        made = curve(found.model(Fraction(1), Fraction(1)), session, PRECISION, at)
    assert made.linear
    ratios = [point.ratio for point in made.points]
    between = [(a + b) / 2 for a, b in pairwise(ratios)]

    def least(ratio: Fraction) -> Fraction:
        return found.largest_delta(ratio, at)

    for point in made.points:
        assert point.delta == least(point.ratio)
    for middle, (a, b) in zip(between, pairwise(made.points), strict=True):
        assert (a.delta + b.delta) / 2 == least(middle)
    assert least(2 * ratios[-1]) == made.points[-1].delta  # no corner is missing
    inner = set(made.errors) - {(0, 1), (1, 0)}
    assert {(b, a) for a, b in inner} == inner
    for alpha, beta in made.errors:
        assert beta >= max(1 - least(c) - c * alpha for c in [*ratios, *between, ratios[-1] + 1])
    # On the side of α below β the function is given by the ratios from 1 on.
    for alpha, beta in made.errors:
        if alpha <= beta and alpha > 0:
            assert beta == max(1 - least(c) - c * alpha for c in [*ratios, ratios[-1] + 1])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(540, 542))
def test_a_curve_over_all_priors(seed: int) -> None:
    """Chords are above δ of all priors and sets, lines below it, and they are as near as is said."""
    found, random = drawn(Random(seed), 1), Random(seed)
    with Session(Options(seconds=60)) as session:
        made = curve(found.model(Fraction(1), Fraction(1)), session, Fraction(1, 100))
        assert made.linear == (made.gap == 0 and made.ends)
        assert made.gap <= Fraction(1, 100)
        last = made.points[-1].ratio
        for k in range(6):
            ratio = 1 + (last - 1) * Fraction(random.randint(0, 60), 60)
            chord = chord_at(made.points, ratio)
            line = max(p - ratio * q for p, q in made.lines)
            least = max(found.largest_delta(ratio, at) for at in points(found.names))
            assert least <= chord
            assert max(line, 0) >= chord - made.gap
            if k < 2:
                known = least_bound(found.model(ratio, Fraction(1)), session, PRECISION, NeedKind.DELTA)
                assert known.high is not None
                assert line <= known.high <= chord
                if made.linear:
                    assert known.high == chord
        for alpha, beta in made.errors:
            for point in points(found.names, 7):
                for side in (0, 1):
                    assert beta <= 1 - alpha
                    if made.linear:  # no test of any prior is below the function of all of them
                        c = Fraction(5, 4)
                        assert beta >= 1 - chord_at(made.points, c) - c * alpha
                        assert found.least_delta(side, c, point)[0] <= chord_at(made.points, c)


def chord_at(found: tuple[CurvePoint, ...], ratio: Fraction) -> Fraction:
    """The value at a ratio of the lines between points; that of the last one after it."""
    for a, b in pairwise(found):
        if ratio <= b.ratio:
            return a.delta + (b.delta - a.delta) * (ratio - a.ratio) / (b.ratio - a.ratio)
    return found[-1].delta
