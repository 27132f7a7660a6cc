"""How likely unbounded noise is to be at most a number, with proved rounding: standard library only."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

from .logarithms import BITS, UNIT, Ends, down, exp, up
from .normal import above_normal
from .strict import Rejected

WHOLE = ("geometric", "one_sided_geometric", "discrete_gaussian")
KINDS = ("gauss", "laplace", "exponential", *WHOLE)
LARGEST = 40  # standard deviation of discrete Gaussian noise, whose weights are listed
FAR = 17  # standard deviations beyond which a Gaussian weight is below 2^−192: e^(−17²/2) < 2^−208


@dataclass(frozen=True)
class NoiseLaw:
    """A distribution: its kind, and its standard deviation, its scale, or the ratio of its weights."""

    kind: str
    number: Fraction

    @property
    def whole(self) -> bool:
        """Whether its values are whole numbers."""
        return self.kind in WHOLE

    def reach(self) -> Fraction:
        """Returns a number beyond which there is little on either side; nothing rests on how little."""
        if self.kind in ("gauss", "discrete_gaussian"):
            return Fraction(ceil(6 * self.number))
        if not self.whole:
            return 16 * self.number
        return Fraction(min(2_000, ceil(16 / (1 - self.number))))


def check_noise(noise: NoiseLaw) -> None:
    """Checks that a distribution is one.

    Raises:
        Rejected: its number is out of range.
    """
    if noise.number <= 0 or ("geometric" in noise.kind and noise.number >= 1):
        raise Rejected(f"there is no {noise.kind} noise with this number")
    if noise.kind == "discrete_gaussian" and noise.number > LARGEST:
        raise Rejected(f"discrete Gaussian noise of a standard deviation above {LARGEST}")


@lru_cache(maxsize=200_000)
def at_most(noise: NoiseLaw, x: Fraction) -> Ends:
    """Returns bounds of Pr(noise ≤ x), as whole numbers at 2^BITS."""
    if noise.kind == "gauss":
        low, high = above_normal(x / noise.number)
        return UNIT - high, UNIT - low
    if noise.kind == "discrete_gaussian":
        return _discrete(noise.number, floor(x))
    if noise.whole:
        return _geometric(noise, floor(x))
    two_sided = noise.kind == "laplace"
    if x < 0 and not two_sided:
        return 0, 0
    far = -abs(x) / noise.number
    low, high = exp(down(far), up(far))
    if two_sided:
        low, high = low >> 1, -(-high >> 1)
    return (low, high) if x < 0 else (UNIT - high, UNIT - low)


def less_than(noise: NoiseLaw, x: Fraction) -> Ends:
    """Returns bounds of Pr(noise < x)."""
    return at_most(noise, Fraction(ceil(x) - 1) if noise.whole else x)


def _geometric(noise: NoiseLaw, k: int) -> Ends:
    """Returns bounds of Pr(noise ≤ k) for weights in proportion to ratio^|k|, on one side or on both."""
    ratio, below = noise.number, Fraction(0)
    if noise.kind == "geometric":
        below = ratio ** max(0, -k) / (1 + ratio)
        value = below if k < 0 else 1 - ratio ** (k + 1) / (1 + ratio)
    else:
        value = 1 - ratio ** (k + 1) if k >= 0 else below
    return down(value), up(value)


def _discrete(sigma: Fraction, k: int) -> Ends:
    """Returns bounds of Pr(noise ≤ k) for weights in proportion to exp(−k²/(2σ²))."""
    places, lows, highs, rest = _weights(sigma)
    # All weights are at least the listed ones, and at most those with the rest on both sides.
    count = bisect_right(places, k)
    total = lows[-1], highs[-1] + 2 * rest
    least, most = (lows[count - 1], highs[count - 1]) if count else (0, 0)
    if count == len(places):  # what is above k is a part of the rest on the right
        return UNIT - -(-(rest << BITS) // total[0]) - 1, UNIT
    return (least << BITS) // total[1], min(UNIT, -(-((most + rest) << BITS) // total[0]))


@lru_cache(maxsize=64)
def _weights(sigma: Fraction) -> tuple[list[int], list[int], list[int], int]:
    """Returns whole numbers in ascending order, bounds of the sums of weights up to each, and of the rest.

    The rest on one side is at most the first weight left out over 1 − r, where r = exp(−(2K + 3)/(2σ²)) is at
    least each quotient of neighbouring weights there; K ≥ σ² makes r ≤ e^(−1) < 1/2.
    """
    last = ceil(max(FAR * sigma, sigma * sigma))

    def weight(k: int) -> Ends:
        power = -Fraction(k * k) / (2 * sigma * sigma)
        return exp(down(power), up(power))

    places = list(range(-last, last + 1))
    lows, highs, low, high = list[int](), list[int](), 0, 0
    for k in places:
        own = weight(k)
        low, high = low + own[0], high + own[1]
        lows.append(low)
        highs.append(high)
    return places, lows, highs, 2 * weight(last + 1)[1]
