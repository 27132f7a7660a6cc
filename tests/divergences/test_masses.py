"""Divergences of masses, compared with exact sums and with a search over orders."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import pytest

from paramverify.divergences.masses import BY_KEY, chi_squared, kl, of_order, renyi, zcdp


def shares(random: Random, size: int) -> list[Fraction]:
    """Random positive masses that sum to 1."""
    parts = [random.randint(1, 60) for _ in range(size)]
    return [Fraction(part, sum(parts)) for part in parts]


def test_sums_of_whole_orders() -> None:
    """e^((α−1)·D_α) is the exact sum Σ p^α/q^(α−1), and chi-squared is that of order 2 without 1."""
    random = Random(1)
    for _ in range(40):
        p, q = shares(random, 5), shares(random, 5)
        masses = [(float(a), float(b)) for a, b in zip(p, q, strict=True)]
        for order in (2, 3, 7, 40):
            exact = sum(a**order / b ** (order - 1) for a, b in zip(p, q, strict=True))
            found = of_order(order).of(masses)
            assert found == pytest.approx(math.log(exact) / (order - 1), rel=1e-9, abs=1e-12)
        squares = sum((a - b) ** 2 / b for a, b in zip(p, q, strict=True))
        assert chi_squared(masses) == pytest.approx(float(squares), rel=1e-9)


def test_the_least_rho_is_that_of_the_worst_order() -> None:
    """It is never more than the largest D_α/α of a fine search, and hardly less; KL is the limit at 1."""
    random = Random(2)
    for _ in range(10):
        masses = [(float(a), float(b)) for a, b in zip(shares(random, 4), shares(random, 4), strict=True)]
        fine = max(renyi(masses, 1 + math.exp(k / 40)) / (1 + math.exp(k / 40)) for k in range(-400, 280))
        limit = max(fine, kl(masses))
        assert limit * (1 - 1e-3) <= zcdp(masses) <= limit * (1 + 1e-5)
        assert renyi(masses, 1 + 1e-6) == pytest.approx(kl(masses), rel=1e-4)


def test_an_outcome_on_one_side_only_is_infinitely_far() -> None:
    """p > 0 = q gives infinity, and 0 = p is no harm; equal masses have no distance."""
    for divergence in (*BY_KEY.values(), of_order(3)):
        assert divergence.of([(0.5, 1.0), (0.5, 0.0)]) == math.inf
        assert 0 < divergence.of([(1.0, 0.5), (0.0, 0.5)]) < math.inf
        assert divergence.of([(0.25, 0.25), (0.75, 0.75), (0.0, 0.0)]) == pytest.approx(0, abs=1e-12)
