"""Conversions between measures: nothing that they imply is below what distributions need, by brute force."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import erfc, exp, log, sqrt
from random import Random

import pytest
from random_models import random_row

from paramverify.algebra.privacy_conversions import (
    Amount,
    of_pure,
    pure_to_delta,
    pure_to_renyi,
    renyi_to_delta,
    renyi_to_epsilon,
    total_variation,
    zcdp_to_delta,
    zcdp_to_epsilon,
    zcdp_to_renyi,
)
from paramverify.errors import LimitError

RATIOS = [Fraction(1), Fraction(5, 4), Fraction(3, 2), Fraction(2), Fraction(3)]
Row = list[Fraction]


def drawn(seed: int) -> tuple[Row, Row]:
    """Two random distributions on the same outputs, none of them impossible."""
    random = Random(seed)
    size = random.randint(2, 5)
    rows = (random_row(random, size), random_row(random, size))
    one, other = ([(p + Fraction(1, 20)) / (1 + Fraction(size, 20)) for p in row] for row in rows)
    return one, other


def needed(one: Row, other: Row, ratio: Fraction) -> Fraction:
    """The least delta for a ratio, in both directions."""
    pairs = (zip(one, other, strict=True), zip(other, one, strict=True))
    return max(sum((max(Fraction(0), p - ratio * q) for p, q in pair), Fraction(0)) for pair in pairs)


def moment(one: Row, other: Row, order: int) -> Fraction:
    """The larger sum p^order · q^(1 - order): its logarithm over order - 1 is the Rényi divergence."""
    pairs = (zip(one, other, strict=True), zip(other, one, strict=True))
    return max(sum((p**order / q ** (order - 1) for p, q in pair), Fraction(0)) for pair in pairs)


@pytest.mark.parametrize("seed", range(12))
def test_what_is_implied_is_enough(seed: int) -> None:
    """Pure, Rényi and (ε, δ) guarantees of random distributions imply no less than these need."""
    one, other = drawn(seed)
    pure = max(max(p / q, q / p) for p, q in zip(one, other, strict=True))
    for ratio in RATIOS:
        delta = needed(one, other, ratio)
        assert delta <= pure_to_delta(Amount(ratio=pure), Amount(ratio=ratio)).upper
        assert needed(one, other, Fraction(1)) <= total_variation(Amount(ratio=ratio), delta).upper
        for order in (2, 3, 7):
            divergence = Amount(Fraction(log(moment(one, other, order)) / (order - 1) * (1 + 1e-12)))
            assert delta <= renyi_to_delta(Fraction(order), divergence, Amount(ratio=ratio)).upper
            assert divergence.value <= pure_to_renyi(Amount(ratio=pure), Fraction(order)).upper
            for found in renyi_to_epsilon(Fraction(order), divergence, Fraction(1, 50)):
                enough = Fraction(exp(found.upper) * (1 + 1e-12))
                assert needed(one, other, enough) <= Fraction(1, 50)


def test_randomised_response_needs_all() -> None:
    """For one bit with truth 3/4 the conversions of pure privacy are exact."""
    one, other = [Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]
    for ratio in RATIOS:
        found = pure_to_delta(Amount(ratio=Fraction(3)), Amount(ratio=ratio))
        assert found.exact == found.upper == needed(one, other, ratio)
    rho, distance = of_pure(Amount(ratio=Fraction(3)))
    assert distance.exact == needed(one, other, Fraction(1)) == Fraction(1, 2)
    assert rho.exact is None
    assert abs(float(rho.upper) - log(3) ** 2 / 2) < 1e-15
    assert next(of_pure(Amount(Fraction(1, 2)))).exact == Fraction(1, 8)


@pytest.mark.parametrize("sigma", [0.5, 1.0, 4.0])
def test_a_gaussian_needs_no_more(sigma: float) -> None:
    """The Gaussian has rho = 1/(2σ²); its exact delta is below, and the tighter epsilon gives it back."""
    rho = Fraction(1 / (2 * sigma**2))
    assert zcdp_to_renyi(rho, Fraction(5)).exact == 5 * rho
    for epsilon in (0.5, 2.0, 6.0):
        above, below = (erfc((epsilon * sigma + s / (2 * sigma)) / sqrt(2)) / 2 for s in (-1, 1))
        delta = above - exp(epsilon) * below
        found = float(zcdp_to_delta(rho, Amount(Fraction(epsilon))).upper)
        assert delta * (1 - 1e-9) <= found <= 1
        if 1e-300 < found < 0.5:
            plain, tight = zcdp_to_epsilon(rho, Fraction(found))
            assert tight.upper < plain.upper
            assert abs(float(tight.upper) - epsilon) < 1e-6


HUGE, TINY = Fraction(10) ** 400, Fraction(1, 10**400)
SIZES = (TINY, Fraction(1, 10**30), Fraction(1, 2), Fraction(10) ** 5, Fraction(10) ** 9, HUGE)


@pytest.mark.parametrize(("first", "second"), list(product(SIZES, SIZES)))
def test_numbers_of_all_sizes(first: Fraction, second: Fraction) -> None:
    """Each size gives a bound of a few thousand digits: a delta and a distance are at most 1."""
    delta = min(second, 1 - TINY)
    for found in (
        *of_pure(Amount(first)),
        pure_to_delta(Amount(first), Amount(second)),
        total_variation(Amount(first), delta),
        renyi_to_delta(1 + first, Amount(second), Amount(first)),
        zcdp_to_delta(first, Amount(second)),
        *renyi_to_epsilon(1 + first, Amount(second), delta),
        *zcdp_to_epsilon(first, delta),
    ):
        assert found.upper >= 0
        assert found.name not in ("delta", "distance") or found.upper <= 1
        assert found.exact is not None or found.upper.denominator.bit_length() < 20_000


def test_a_number_that_bits_cannot_tell_from_1() -> None:
    """There is no answer then, and no wrong one."""
    with pytest.raises(LimitError, match="too close"):
        renyi_to_epsilon(1 + TINY**10, Amount(Fraction(1, 2)), Fraction(1, 10))


def test_small_rho_has_large_orders() -> None:
    """A delta above the distance √(ρ/2) needs no epsilon; the search finds an order that shows it."""
    plain, tight = zcdp_to_epsilon(Fraction(1, 10**30), Fraction(1, 10**10))
    assert plain.upper > 0
    assert tight.upper == 0
