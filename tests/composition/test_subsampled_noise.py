"""Several subsampled Gaussian releases, compared with Gauss-Legendre quadrature over the real line."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import erfc

import paramverify

NODES, WEIGHTS = np.polynomial.legendre.leggauss(20)
STARTS = np.linspace(-13, 15, 29)  # of pieces of the length 1
PLACES = (STARTS[:, None] + (NODES + 1) / 2).ravel()
SHARES = np.tile(WEIGHTS / 2, len(STARTS))


def largest_delta(sigma: float, rate: float, epsilon: float, times: int) -> float:
    """The larger δ of M against Q and of Q against M, with M = (1 − rate)·Q + rate·N(1, σ²).

    All releases but the last are integrated; of the last one the worst set is a half line.
    """
    shift = 1 / sigma
    without = SHARES * np.exp(-(PLACES**2) / 2) / np.sqrt(2 * np.pi)
    ratio = (1 - rate) + rate * np.exp(shift * PLACES - shift**2 / 2)

    def half_line(left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The masses of M and Q where ln(M/Q) is above a number."""
        over = np.exp(left) - (1 - rate)
        start = np.log(np.maximum(over, 1e-300) / rate) / shift + shift / 2
        start = np.where(over > 0, start, -np.inf)
        with_person, rest = (erfc((start - s) / np.sqrt(2)) / 2 for s in (shift, 0))
        return (1 - rate) * rest + rate * with_person, rest

    losses, first, second = np.zeros(1), np.ones(1), np.ones(1)
    for _ in range(times - 1):
        losses = (losses[:, None] + np.log(ratio)).ravel()
        first = (first[:, None] * without * ratio).ravel()
        second = (second[:, None] * without).ravel()
    m, q = half_line(epsilon - losses)
    there = np.sum(first * m - np.exp(epsilon) * second * q)
    m, q = half_line(-epsilon - losses)
    back = np.sum(second * (1 - q) - np.exp(epsilon) * first * (1 - m))
    return float(max(there, back))


@pytest.mark.parametrize(
    ("sigma", "rate", "epsilon", "times"),
    [("2", "1/10", "1/10", 2), ("3", "3/4", "1/5", 2), ("1", "1/2", "1", 3)],
)
def test_several_releases_of_samples(sigma: str, rate: str, epsilon: str, times: int) -> None:
    """The quadrature lies between both bounds, which are near each other."""
    found = paramverify.compose(
        f"gaussian:sigma={sigma},subsample={rate},times={times}", delta_for=epsilon, precision="1e-4"
    )
    numbers = [eval(text, {}) for text in (sigma, rate, epsilon)]
    delta = largest_delta(*numbers, times)
    assert float(found.lower) - 1e-9 <= delta <= float(found.upper) + 1e-9
    assert float(found.upper) - float(found.lower) < 1e-4
