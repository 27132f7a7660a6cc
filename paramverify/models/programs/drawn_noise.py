"""Drawing the noise of programs for many runs at once.

Finite choices with rational probabilities are exact: whole numbers are drawn uniformly. Other probabilities
are rounded to floats, as numpy does; discrete Gaussian noise is exact. Continuous noise comes on a grid of
about 2^-40 of its scale, so that all that is computed from it is exact: `x + y - x == y`. A comparison then
falls on the wrong side with a probability below 2^-39, and so do n of them with one below n·2^-39.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from math import frexp, lcm
from typing import TYPE_CHECKING

from paramverify.errors import InputError
from paramverify.models.programs.columns import Column, Number, Rationals, Single, packed, taken
from paramverify.models.programs.discrete_sampling import discrete_gaussian

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

GRID = 40
LEAST_SCALE, MOST_SCALE = 2.0**-500, 2.0**50
WHOLE = 2**63  # numpy draws whole numbers below


def draw(word: str, given: Sequence[Single], rng: np.random.Generator, size: int) -> Column:
    """Returns noise for so many runs.

    Raises:
        InputError: arguments that the noise has not.
    """
    import numpy as np

    match word:
        case "flip":
            share = probability(given[0], "the probability of flip")
            return choice([True, False], [share, 1 - share], rng, size)
        case "uniform":
            low, high = whole(given[0], "uniform"), whole(given[1], "uniform")
            if low > high:
                raise InputError("uniform needs lo <= hi")
            if max(abs(low), abs(high)) >= WHOLE // 4:
                raise InputError("uniform has numbers that are too large")
            return wholes(rng.integers(low, high + 1, size))
        case "binomial":
            number = whole(given[0], "binomial")
            if not 0 <= number <= 1_000:
                raise InputError("binomial needs a number of trials from 0 to 1,000")
            return wholes(
                rng.binomial(number, float(probability(given[1], "the probability of binomial")), size)
            )
        case "geometric" | "one_sided_geometric":
            ratio = number_of(given[0])
            if not 0 < ratio < 1:
                raise InputError("the ratio of geometric noise is not between 0 and 1")
            stop = float(1 - ratio)
            drawn = rng.geometric(stop, size) - 1
            if word == "geometric":  # the difference of two independent one-sided ones has this distribution
                drawn -= rng.geometric(stop, size) - 1
            return wholes(drawn)
    exact = number_of(given[0])
    if word == "discrete_gaussian":
        return wholes(discrete_gaussian(exact, rng, size))
    if not LEAST_SCALE <= exact <= MOST_SCALE:
        what = "not positive" if exact <= 0 else "too small" if exact < 1 else "too large"
        raise InputError(f"the scale of this noise is {what}")
    scale = float(exact)
    power = max(0, GRID - frexp(scale)[1] + 1)
    if word == "gauss":
        noise = rng.normal(0.0, scale, size)
    else:
        noise = rng.laplace(0.0, scale, size) if word == "laplace" else rng.exponential(scale, size)
    return _rationals(np.rint(np.ldexp(noise, power)).astype(np.int64), 2**power)


def choice(values: Sequence[Single], shares: Sequence[Number], rng: np.random.Generator, size: int) -> Column:
    """Returns one of the values for each run, with the given probabilities.

    Raises:
        InputError: these are negative, or do not sum to one.
    """
    import numpy as np

    if min(shares) < 0:
        raise InputError("a probability is negative")
    exact = [s for s in shares if isinstance(s, Fraction)]
    bottom = lcm(*(s.denominator for s in exact))
    if len(exact) == len(shares) and bottom < WHOLE:
        if sum(exact) != 1:
            raise InputError(f"the probabilities sum to {sum(exact)}, not to 1")
        ends = np.array([int(s * bottom) for s in accumulate(exact)], dtype=np.int64)
        which = np.searchsorted(ends, rng.integers(0, bottom, size), side="right")
    else:
        total = sum(map(float, shares))
        if abs(total - 1) > 1e-9:
            raise InputError(f"the probabilities sum to {total}, not to 1")
        which = rng.choice(len(shares), size, p=np.array([float(s) / total for s in shares]))
    return taken(packed(values), which)


def whole(value: Single, what: str) -> int:
    """Returns a whole number.

    Raises:
        InputError: it is none.
    """
    number = Fraction(value) if isinstance(value, bool) else value
    if isinstance(number, Fraction) and number.denominator == 1:
        return int(number)
    raise InputError(f"{what} needs whole numbers")


def probability(value: Single, what: str) -> Number:
    """Returns a number from 0 to 1.

    Raises:
        InputError: it is none.
    """
    number = number_of(value)
    if not 0 <= number <= 1:
        raise InputError(f"{what} is not between 0 and 1")
    return number


def number_of(value: Column) -> Number:
    """Returns a plain value as a number.

    Raises:
        InputError: it is a label or a list.
    """
    if isinstance(value, (str, tuple)):
        what = "label" if isinstance(value, str) else "list"
        raise InputError(f"a number is needed here, and this is a {what}")
    number: Number = Fraction(value) if isinstance(value, bool) else value
    return number


def wholes(drawn: NDArray[np.int64]) -> Rationals:
    """Returns whole numbers as a column."""
    return _rationals(drawn, 1)


def _rationals(tops: NDArray[np.int64], denominator: int) -> Rationals:
    return Rationals(tops, denominator, int(max(abs(int(tops.min())), abs(int(tops.max())))))
