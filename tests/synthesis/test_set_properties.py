"""What must be so of the least δ as a function of ε, on random cases: total variation, convexity, duality."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest
from set_oracle import drawn, points

from paramverify.portfolio.session import Options, Session
from paramverify.synthesis.least_sets import least_bound
from paramverify.synthesis.set_curve import CurvePoint, curve
from paramverify.synthesis.set_needs import NeedKind

PRECISION = Fraction(1, 10**9)


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
