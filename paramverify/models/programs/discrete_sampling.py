"""Exact draws of discrete Gaussian noise for many runs at once, by Algorithms 1 to 3 of [CanonneKS20].

All that is random are whole numbers that are uniform below others, so no float has a part in it.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from paramverify.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LARGEST = 2**62  # numpy draws whole numbers below
LEAST_SCALE, MOST_SCALE = Fraction(1, 100), 10_000


def discrete_gaussian(sigma: Fraction | float, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
    """Returns so many values k, each with a probability in proportion to exp(−k²/(2σ²)), exactly.

    Raises:
        InputError: a standard deviation that is no fraction, or too small or too large.
    """
    import numpy as np

    if not isinstance(sigma, Fraction) or not LEAST_SCALE <= sigma <= MOST_SCALE:
        told = f"from {LEAST_SCALE} to {MOST_SCALE:,}"
        raise InputError(f"discrete Gaussian noise is drawn with a standard deviation {told}, a fraction")
    steps = int(sigma) + 1
    found = np.zeros(size, dtype=np.int64)
    left = np.arange(size)
    while len(left):
        drawn = _discrete_laplace(steps, rng, len(left))
        # accept with exp(−(|y| − σ²/t)²/(2σ²)): with σ² = p/q that is (|y|·t·q − p)² / (2·p·q·t²)
        top, bottom = (sigma**2).numerator, (sigma**2).denominator
        own = np.abs(drawn).astype(object) * (steps * bottom) - top
        kept = _bernoulli_exp(own * own, 2 * top * bottom * steps * steps, rng)
        found[left[kept]] = drawn[kept]
        left = left[~kept]
    return found


def _discrete_laplace(steps: int, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
    """Returns values with probabilities in proportion to exp(−|k|/t), by Algorithm 2."""
    import numpy as np

    found = np.zeros(size, dtype=np.int64)
    left = np.arange(size)
    while len(left):
        part = rng.integers(0, steps, len(left))
        going = _bernoulli_exp(part.astype(object), steps, rng)
        whole = np.zeros(len(left), dtype=np.int64)
        counting = np.flatnonzero(going)
        while len(counting):
            counting = counting[_bernoulli_exp(np.ones(len(counting), dtype=object), 1, rng)]
            whole[counting] += 1
        value = part + steps * whole
        negative = rng.integers(0, 2, len(left)) == 1
        kept = going & ~(negative & (value == 0))
        found[left[kept]] = np.where(negative, -value, value)[kept]
        left = left[~kept]
    return found


def _bernoulli_exp(tops: NDArray[Any], bottom: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Returns True with probability exp(−top/bottom) for each, by Algorithm 1."""
    import numpy as np

    found = np.ones(len(tops), dtype=bool)
    wholes = np.array([int(t) // bottom for t in tops], dtype=np.int64)
    parts = np.array([int(t) % bottom for t in tops], dtype=object)
    going = np.flatnonzero(wholes > 0)
    while len(going):  # exp(−1), so often as there are wholes
        found[going] &= _fraction_exp(np.ones(len(going), dtype=object), 1, rng)
        wholes[going] -= 1
        going = going[found[going] & (wholes[going] > 0)]
    rest = np.flatnonzero(found)
    found[rest] = _fraction_exp(parts[rest], bottom, rng)
    return found


def _fraction_exp(tops: NDArray[Any], bottom: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Returns True with probability exp(−top/bottom) for each, with top ≤ bottom."""
    import numpy as np

    count = np.ones(len(tops), dtype=np.int64)  # the first k at which a draw with top/(bottom·k) fails
    going, k = np.arange(len(tops)), 1
    while len(going):
        below = _uniform(bottom * k, len(going), rng)
        going = going[below < tops[going]]
        k += 1
        count[going] = k
    odd: NDArray[np.bool_] = count % 2 == 1
    return odd


def _uniform(end: int, size: int, rng: np.random.Generator) -> NDArray[Any]:
    """Returns whole numbers that are uniform below another one, however large that is."""
    import numpy as np

    if end < LARGEST:
        return rng.integers(0, end, size).astype(object)
    bits = end.bit_length()
    found = np.zeros(size, dtype=object)
    left = np.arange(size)
    while len(left):
        drawn = np.zeros(len(left), dtype=object)
        for _ in range(0, bits, 32):
            drawn = drawn * 2**32 + rng.integers(0, 2**32, len(left)).astype(object)
        drawn = drawn % 2**bits
        kept = np.array([bool(v < end) for v in drawn], dtype=bool)
        found[left[kept]] = drawn[kept]
        left = left[~kept]
    return found
