"""The normal distribution between whole numbers, with proved rounding: standard library only."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isqrt

from .logarithms import BITS, UNIT, Ends, down, exp, product, up

FARTHEST = 40  # beyond it the mass is below e^(−x²/2) < 2^−BITS


def _arctan(n: int) -> Ends:
    """Returns bounds of arctan(1/n) for n ≥ 2: an alternating series whose terms fall."""
    low, high, power, j = 0, 0, UNIT // n, 0
    above = -(-UNIT // n)
    while above > 1:
        least, most = power // (2 * j + 1), -(-above // (2 * j + 1))
        low, high = (low + least, high + most) if j % 2 == 0 else (low - most, high - least)
        power, above, j = power // (n * n), -(-above // (n * n)), j + 1
    return low - 1, high + 1


def _root_of_half_pi() -> Ends:
    """Returns bounds of √(π/2): π/2 = 8·arctan(1/5) − 2·arctan(1/239)."""
    one, other = _arctan(5), _arctan(239)
    half = 8 * one[0] - 2 * other[1], 8 * one[1] - 2 * other[0]
    return isqrt(half[0] << BITS), isqrt(half[1] << BITS) + 1


ROOT = _root_of_half_pi()


@lru_cache(maxsize=50_000)
def above_normal(x: Fraction) -> Ends:
    """Returns bounds of the mass of the standard normal distribution above x.

    For x ≥ 0 it is ½ − φ(x)·S with S = Σ x^(2n+1)/(1·3·5···(2n+1)), and φ(x) = e^(−x²/2)/√(2π). A term is
    x²/(2n+1) times that before it. Once that is at most ½, the rest is at most twice its first term.
    """
    if x < 0:
        low, high = above_normal(-x)
        return UNIT - high, UNIT - low
    # The mass above x falls, so both ends of a near number with few digits bound it.
    least, most = (x.numerator << BITS) // x.denominator, -((-x.numerator << BITS) // x.denominator)
    if x > FARTHEST:
        return 0, 1
    squared = x * x / 2
    grown = exp(down(squared), up(squared))
    # φ(x)·S = S/(2·√(π/2)·e^(x²/2)), with small relative errors
    below = (_series(least, False) << 2 * BITS) // (2 * ROOT[1] * grown[1])
    above = -((-_series(most, True) << 2 * BITS) // (2 * ROOT[0] * grown[0]))
    return max(0, (UNIT >> 1) - above), max(0, (UNIT >> 1) - below)


def _series(x: int, upwards: bool) -> int:
    squared = product(x, x, upwards)
    total, term, n = 0, x, 0
    while True:
        total += term
        n += 1
        term = product(term, squared, upwards)
        term = -(-term // (2 * n + 1)) if upwards else term // (2 * n + 1)
        if term <= 1 and 2 * squared <= (2 * n + 1) << BITS:
            return total + (2 * term if upwards else 0)
