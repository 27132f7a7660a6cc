"""Bounds of how likely noise is to be at most a number, to the last bit."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import mpmath
import pytest

from paramverify.kernel import noise_probabilities as probabilities
from paramverify.kernel.noise_probabilities import (
    KINDS,
    PI,
    ROOT,
    NoiseLaw,
    _mass,
    at_most,
    check_noise,
    less_than,
)
from paramverify.kernel.rounded_constants import UNIT
from paramverify.kernel.strict_reading import Rejected

ONE = Fraction(1)


@pytest.mark.parametrize("kind", ["gauss", "laplace", "exponential", "geometric", "discrete_gaussian"])
def test_ends_of_noise(kind: str) -> None:
    """Below a whole number are the values up to the one before it; between two numbers there is none."""
    noise = NoiseLaw(kind, Fraction(1, 2))
    for x in (Fraction(-1), Fraction(-1, 2), Fraction(0), Fraction(1, 2), Fraction(1)):
        before = Fraction(math.ceil(x) - 1) if noise.whole else x
        assert less_than(noise, x) == at_most(noise, before)
        assert at_most(noise, Fraction(math.floor(x)) if noise.whole else x) == at_most(noise, x)


def test_digits_of_pi() -> None:
    """π = 16·arctan(1/5) − 4·arctan(1/239) lies between the digits and the next number."""

    def arctan(n: int, terms: int) -> Fraction:
        return sum((Fraction((-1) ** j, (2 * j + 1) * n ** (2 * j + 1)) for j in range(terms)), Fraction(0))

    low = 16 * arctan(5, 60) - 4 * arctan(239, 61)  # an even number of terms is too little
    high = 16 * arctan(5, 61) - 4 * arctan(239, 60)
    assert PI < low < high < PI + Fraction(1, 10**80)
    assert 2 * Fraction(ROOT[0], UNIT) ** 2 < low
    assert 2 * Fraction(ROOT[1], UNIT) ** 2 > high
    assert ROOT[1] - ROOT[0] <= 2


def test_numbers_at_the_ends_of_their_ranges() -> None:
    """A number is positive, a ratio is below 1, and what is listed has a standard deviation of at most 40."""
    for noise in (
        *(NoiseLaw(kind, Fraction(k)) for kind in KINDS for k in (0, -1)),
        NoiseLaw("geometric", ONE),
        NoiseLaw("one_sided_geometric", ONE),
        NoiseLaw("discrete_gaussian", Fraction(41)),
    ):
        with pytest.raises(Rejected):
            check_noise(noise)
    for noise in (
        *(NoiseLaw(kind, Fraction(1, 2)) for kind in KINDS),
        NoiseLaw("discrete_gaussian", Fraction(40)),
        NoiseLaw("gauss", Fraction(99)),
    ):
        check_noise(noise)


def test_where_cells_without_an_end_begin() -> None:
    """Six standard deviations, sixteen scales, or as much for the mean of geometric noise; or at a limit."""
    given = "gauss 5/2 15; discrete_gaussian 1/5 2; laplace 1/3 16/3; exponential 2 32; geometric 1/3 24"
    for row in f"{given}; one_sided_geometric 4/7 38; geometric 999/1000 2000".split("; "):
        kind, number, reach = row.split()
        assert NoiseLaw(kind, Fraction(number)).reach() == Fraction(reach)
    gauss, whole = NoiseLaw("gauss", ONE), NoiseLaw("geometric", Fraction(1, 2))  # 6 and 32 are their reach
    for noise, limits, ends in (
        (gauss, (None, None), [(None, -6), (-6, 0), (0, 6), (6, None)]),
        *((gauss, each, [each]) for each in ((7, None), (None, -7), (2, 2), (6, 9))),
        (gauss, (-8, 4), [(-8, -6), (-6, -1), (-1, 4)]),
        (whole, (-40, -31), [(-40, -33), (-32, -32), (-31, -31)]),
    ):
        assert probabilities._cells(noise, limits, 2) == ends  # type: ignore[arg-type]
        assert _mass(noise, (None, ONE)) == at_most(noise, ONE)
    region = [({0: 2}, 3), ({0: 1}, 4), ({0: -2}, -1), ({0: -1}, 1), ({1: 1}, 0), ({0: 1, 1: 1}, 0)]
    given = [(tuple((v, Fraction(k)) for v, k in form.items()), Fraction(b)) for form, b in region]
    assert [probabilities._limits(noise, 0, given) for noise in (gauss, whole)] == [(0.5, 1.5), (1, 1)]


PRECISE = [Fraction(n, 4) for n in (-200, -9, -4, -1, 0, 1, 3, 8, 130)]
NUMBERS = [Fraction(n) for n in ("1/100", "1/10", "1/3", "4/5", "3", "19")]


@pytest.mark.slow
@pytest.mark.parametrize("number", NUMBERS)
def test_no_rounding_is_left_out(number: Fraction) -> None:
    """With 100 digits the probabilities lie between the bounds, to the last bit of these."""
    with mpmath.workdps(100):
        n = mpmath.mpf(number.numerator) / number.denominator
        tiny = mpmath.mpf("1e-30")
        listed = {"discrete_gaussian": {k: mpmath.exp(-(k * k) / (2 * n * n)) for k in range(-500, 501)}}
        if number < 1:
            listed["geometric"] = {k: n ** abs(k) for k in range(-1000, 1001)}
            listed["one_sided_geometric"] = {k: n**k for k in range(1001)}
        known: dict[str, tuple[Fraction, Any]] = {}
        for x in PRECISE:
            at = mpmath.mpf(x.numerator) / x.denominator
            far = mpmath.exp(-abs(at) / n)
            values = {
                "gauss": mpmath.erfc(at / -n / mpmath.sqrt(2)) / 2,
                "laplace": far / 2 if x < 0 else 1 - far / 2,
                "exponential": 1 - far if x > 0 else mpmath.mpf(0),
            }
            for kind, weights in listed.items():
                values[kind] = mpmath.fsum(w for k, w in weights.items() if k <= x)
                values[kind] /= mpmath.fsum(weights.values())
            for kind, value in values.items():
                noise = NoiseLaw(kind, number)
                if kind in known and not noise.whole:
                    low, high = _mass(noise, (known[kind][0], x))
                    assert low - tiny <= (value - known[kind][1]) * UNIT <= high + tiny
                known[kind] = x, value
                low, high = at_most(noise, x)
                assert low - tiny <= value * UNIT <= high + tiny
                near = 1 if "geometric" in kind else 13_000 if kind == "gauss" else 3_000
                assert high - low <= (min(near, 6) if abs(at) > 40 * n else near)


@pytest.mark.parametrize("seed", range(8))
def test_sums_over_two_centres(seed: int) -> None:
    """Where each cell is one value, it is the sum over all pairs; what may be outside is only possible."""
    random, cells, true = Random(seed), [(Fraction(k), Fraction(k)) for k in range(3)], [Fraction(0)] * 2
    made = [[random.sample(range(k, 9), 2) for _ in cells] for k in (0, 0, 4, 4, 0, 0)]
    one, two, *row = [tuple([end(ends) * (UNIT >> 3) for ends in own] for end in (min, max)) for own in made]
    a, b = Fraction(random.choice((-1, 1, 2))), Fraction(random.choice((-2, 0, 1)))
    for i, j, k in product(range(3), range(3), (0, 1)):
        inside = max(0, min(row[0][k][i], row[1][k][j]) - max(row[2][1 - k][i], row[3][1 - k][j]))
        true[k] += Fraction(one[k][i] * two[k][j] * inside, UNIT**2) if a * i + b * j <= 1 else 0
    grids, told = [probabilities.Grid(cells, each) for each in (one, two)], [[row[::2], row[1::2]]]
    assert probabilities._total(grids, told, [((a, b), ONE)]) == (*true,)
    assert probabilities._total([probabilities.EVERYWHERE] * 2, [], [((a, ONE), ONE)]) == (0, UNIT)
    assert UNIT - 2 <= at_most(NoiseLaw("discrete_gaussian", ONE), Fraction(99))[0] < UNIT  # never all
