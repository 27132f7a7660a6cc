"""Exact draws of discrete Gaussian noise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from paramverify.errors import InputError
from paramverify.models.programs.sampled_columns import discrete_gaussian


@pytest.mark.slow
@pytest.mark.parametrize("sigma", [Fraction(1, 3), Fraction(1), Fraction(355, 113), Fraction(40)])
def test_draws_have_their_probabilities(sigma: Fraction) -> None:
    """Pearson's statistic of 20,000 draws is where chance puts it, with a chance of about 1e-9 to fail."""
    size = 20_000
    drawn = discrete_gaussian(sigma, np.random.default_rng(7), size)
    weights = {k: math.exp(-k * k / (2 * float(sigma) ** 2)) for k in range(-400, 401)}
    total = sum(weights.values())
    expected = {k: size * w / total for k, w in weights.items() if size * w / total > 5}
    statistic = sum((np.count_nonzero(drawn == k) - e) ** 2 / e for k, e in expected.items())
    degrees = len(expected)
    assert statistic < degrees + 6 * math.sqrt(2 * degrees) + 18
    assert statistic > degrees - 6 * math.sqrt(2 * degrees) - 1


def test_large_fractions() -> None:
    """Numbers beyond those of the machine are drawn too."""
    sigma = Fraction(10**12 + 39, 10**12)
    drawn = discrete_gaussian(sigma, np.random.default_rng(3), 2_000)
    assert abs(drawn.mean()) < 0.2
    assert 0.9 < drawn.std() < 1.1


@pytest.mark.parametrize("sigma", [Fraction(1, 1000), Fraction(10**6), 0.5])
def test_refused_deviations(sigma: Fraction | float) -> None:
    """A standard deviation is a fraction, neither too small nor too large."""
    with pytest.raises(InputError, match="standard deviation"):
        discrete_gaussian(sigma, np.random.default_rng(1), 1)
