"""Values of many runs at once, exact.

Columns, groups of runs with the same shape, and draws of noise for them.

Values of many runs at once, exact: what a number, a truth value or a label is in each run of a group.

A column is one of: a plain value, the same in all runs; an array of truth values; `Rationals`, whole
numerators over one denominator; an array of objects, for all that fits nowhere else; or a list, as a tuple of
columns. Numbers are never rounded: where numerators could leave 64 bits, the column becomes one of objects.

Exact draws of discrete Gaussian noise for many runs at once, by Algorithms 1 to 3 of [CanonneKS20].

All that is random are whole numbers that are uniform below others, so no float has a part in it.

Drawing the noise of programs for many runs at once.

Finite choices with rational probabilities are exact: whole numbers are drawn uniformly. Other probabilities
are rounded to floats, as numpy does; discrete Gaussian noise is exact. Continuous noise comes on a grid of
about 2^-40 of its scale, so that all that is computed from it is exact: `x + y - x == y`. A comparison then
falls on the wrong side with a probability below 2^-39, and so do n of them with one below n·2^-39.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from math import frexp, gcd, lcm
from typing import TYPE_CHECKING, Any, NamedTuple

from paramverify.errors import InputError, LimitError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST = 2**62  # numerators stay below
MAX_EXPONENT, MAX_BITS = 1_000, 10_000
TOO_LARGE = "the number is too large"

Single = Fraction | float | bool | str  # a float comes from a parameter of the domain (0, ∞), or from exp
Number = Fraction | float


@dataclass(frozen=True, eq=False)
class Rationals:
    """The numbers `numerators[k] / denominator`; no numerator is beyond `bound`."""

    numerators: NDArray[np.int64]
    denominator: int
    bound: int

    def times(self, factor: int) -> NDArray[np.int64] | None:
        """Returns the numerators times a number; None where they may become too large."""
        if max(self.bound, 1) * abs(factor) >= MOST:
            return None
        return self.numerators if factor == 1 else self.numerators * factor


Array = Any  # of truth values, or of objects
Column = Any  # Single | Rationals | Array | tuple[Column, ...]


def is_plain(column: Column) -> bool:
    """Whether a column has the same value in all runs, and is no list."""
    return isinstance(column, (Fraction, float, bool, str))


def taken(column: Column, where: NDArray[Any]) -> Column:
    """Returns the column of some of the runs, by their mask or their places."""
    if isinstance(column, tuple):
        return tuple(taken(c, where) for c in column)
    if isinstance(column, Rationals):
        return Rationals(column.numerators[where], column.denominator, column.bound)
    return column if is_plain(column) else column[where]


def shape(column: Column) -> Any:
    """Returns the lengths of the lists in a column; None for what is no list."""
    return tuple(map(shape, column)) if isinstance(column, tuple) else None


def listed(column: Column, size: int) -> list[Single]:
    """Returns the value in each run."""
    if isinstance(column, Rationals):
        bottom = column.denominator
        return [Fraction(n, bottom) for n in column.numerators.tolist()]
    return [column] * size if is_plain(column) else column.tolist()


def packed(values: Sequence[Single]) -> Column:
    """Returns values, one for each run, as a column."""
    import numpy as np

    kinds = set(map(type, values))
    if kinds == {bool}:
        return np.array(values, dtype=bool)
    if kinds == {Fraction}:
        numbers = [v for v in values if isinstance(v, Fraction)]
        bottom = lcm(*{v.denominator for v in numbers})
        tops = [v.numerator * (bottom // v.denominator) for v in numbers] if bottom < MOST else [MOST]
        bound = max(map(abs, tops))
        if bound < MOST:
            return Rationals(np.array(tops, dtype=np.int64), bottom, bound)
    found = np.empty(len(values), dtype=object)
    found[:] = list(values)
    return found


def joined(columns: Sequence[Column], sizes: Sequence[int]) -> Column:
    """Returns the column of several groups of runs, one after another; lists have the same shape."""
    import numpy as np

    first = columns[0]
    if isinstance(first, tuple):
        return tuple(joined([c[k] for c in columns], sizes) for k in range(len(first)))
    if is_plain(first) and all(type(c) is type(first) and c == first for c in columns[1:]):
        return first
    if all(isinstance(c, bool) or _is_truths(c) for c in columns):
        return np.concatenate([np.broadcast_to(c, n) for c, n in zip(columns, sizes, strict=True)])
    parts = [_rationals(c) for c in columns if not isinstance(c, bool) and not _is_truths(c)]
    if len(parts) == len(columns) and all(isinstance(p, Rationals) for p in parts):
        bottom = lcm(*(p.denominator for p in parts if p))
        tops = [p.times(bottom // p.denominator) for p in parts if p]
        if all(t is not None for t in tops):
            bound = max(p.bound * (bottom // p.denominator) for p in parts if p)
            spread = [np.broadcast_to(t, n) for t, n in zip(tops, sizes, strict=True) if t is not None]
            return Rationals(np.concatenate(spread), bottom, bound)
    return packed([v for c, n in zip(columns, sizes, strict=True) for v in listed(c, n)])


def _is_truths(column: Column) -> bool:
    return not isinstance(column, (tuple, Rationals)) and not is_plain(column) and column.dtype == bool


def _rationals(column: Column) -> Rationals | None:
    """Returns numbers or truth values as rational ones; None for other values."""
    import numpy as np

    if isinstance(column, Rationals):
        return column
    if isinstance(column, (Fraction, bool)):
        number = Fraction(column)
        if abs(number.numerator) >= MOST or number.denominator >= MOST:
            return None
        return Rationals(np.array([number.numerator]), number.denominator, abs(number.numerator))
    return Rationals(column.astype(np.int64), 1, 1) if _is_truths(column) else None


def told_apart(column: Column, size: int) -> Iterator[tuple[Single, NDArray[Any]]]:
    """Yields the values of a column that is no list, each with the places of its runs."""
    import numpy as np

    if is_plain(column):
        yield column, np.arange(size)
        return
    values, which = distinct(column)
    for k, value in enumerate(values):
        yield value, np.flatnonzero(which == k)


def distinct(column: Column) -> tuple[list[Single], NDArray[np.int64]]:
    """Returns the different values of an array, and which of them each run has."""
    import numpy as np

    if isinstance(column, Rationals):
        tops, which = np.unique(column.numerators, return_inverse=True)
        return [Fraction(n, column.denominator) for n in tops.tolist()], which
    if _is_truths(column):
        return [False, True], column.astype(np.int64)
    known: dict[tuple[type, Single], int] = {}
    places = [known.setdefault((type(v), v), len(known)) for v in column.tolist()]
    return [value for _, value in known], np.array(places, dtype=np.int64)


def truth(column: Column) -> bool | Array:
    """Returns in which runs a value counts as true: it is neither 0 nor False, nor an empty list or text."""
    import numpy as np

    if is_plain(column) or isinstance(column, tuple):
        return bool(column)
    if isinstance(column, Rationals):
        return column.numerators != 0
    return column if _is_truths(column) else np.array([bool(v) for v in column.tolist()])


def chosen(mask: bool | Array, column: Column, other: Column) -> Column:
    """Returns the first column in the runs of a mask, and the second one in the others; neither is a list."""
    import numpy as np

    if isinstance(mask, bool):
        return column if mask else other
    places = np.flatnonzero(mask), np.flatnonzero(~mask)
    both = joined(
        [taken(column, places[0]), taken(other, places[1])],
        [len(p) for p in places],
    )
    order = np.argsort(np.concatenate(places), kind="stable")
    return taken(both, order)


def applied(word: str, given: Sequence[Column], size: int) -> Column:
    """Applies an operator to columns that are no lists.

    Raises:
        InputError: labels where numbers are needed, division by zero, and what else has no value.
    """
    if word not in ("==", "!="):
        _check_numbers(word, given)
    if all(is_plain(c) for c in given):
        return _exact(word)(*given)
    if len(given) == 2 and word in _FAST:
        left, right = map(_rationals, given)
        if left and right:
            found = _FAST[word](left, right, word)
            if found is not None:
                return found
    if word == "neg":
        return applied("-", [Fraction(0), *given], size)
    exact = _exact(word)
    return packed([exact(*row) for row in zip(*(listed(c, size) for c in given), strict=True)])


def _check_numbers(word: str, given: Sequence[Column]) -> None:
    for column in given:
        if isinstance(column, Rationals) or _is_truths(column):
            continue
        values = [column] if is_plain(column) else column.tolist()
        if any(isinstance(v, str) for v in values):
            raise InputError(f"{'a minus sign' if word == 'neg' else word} needs numbers")


def _common(left: Rationals, right: Rationals) -> tuple[Array, Array, int, int] | None:
    """Returns numerators over a common denominator, the denominator, and a bound of their sum."""
    bottom = lcm(left.denominator, right.denominator)
    factors = bottom // left.denominator, bottom // right.denominator
    tops = left.times(factors[0]), right.times(factors[1])
    bound = left.bound * factors[0] + right.bound * factors[1]
    if tops[0] is None or tops[1] is None or bound >= MOST:
        return None
    return tops[0], tops[1], bottom, bound


def _sum(left: Rationals, right: Rationals, word: str) -> Rationals | None:
    found = _common(left, right)
    if found is None:
        return None
    a, b, bottom, bound = found
    return Rationals(a + b if word == "+" else a - b, bottom, bound)


def _product(left: Rationals, right: Rationals, word: str) -> Rationals | None:
    if word == "/":
        if len(right.numerators) > 1 or not right.numerators[0]:
            return None  # each has a denominator of its own; or an error
        top, sign = int(right.numerators[0]), 1 if right.numerators[0] > 0 else -1
        right = Rationals(right.numerators[:1] * 0 + sign * right.denominator, abs(top), right.denominator)
    bottom, bound = left.denominator * right.denominator, left.bound * right.bound
    common = gcd(bottom, int(right.numerators[0])) if len(right.numerators) == 1 else 1
    if bound >= MOST:
        return None
    product = left.numerators * right.numerators
    return Rationals(product // common, bottom // common, bound // common + 1)


def _divided(left: Rationals, right: Rationals, word: str) -> Rationals | None:
    import numpy as np

    found = _common(left, right)
    if found is None:
        return None
    a, b, bottom, bound = found
    if not b.all():
        raise InputError("division by zero")
    return Rationals(np.floor_divide(a, b), 1, bound) if word == "//" else Rationals(a % b, bottom, bound)


def _compared(left: Rationals, right: Rationals, word: str) -> Array | None:
    found = _common(left, right)
    return None if found is None else _ORDER[word](found[0], found[1])


_ORDER: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_FAST: dict[str, Callable[[Rationals, Rationals, str], Column | None]] = {
    **dict.fromkeys(("+", "-"), _sum),
    **dict.fromkeys(("*", "/"), _product),
    **dict.fromkeys(("//", "%"), _divided),
    **dict.fromkeys(_ORDER, _compared),
}


def _exact(word: str) -> Callable[..., Single]:
    """Returns an operator on plain values; truth values count as numbers."""
    if word in _ORDER:
        return _ORDER[word]
    function = _ARITHMETIC[word]

    def on_numbers(*values: Single) -> Single:
        try:
            found: Number = function(*(Fraction(v) if isinstance(v, bool) else v for v in values))
        except OverflowError:
            raise InputError(TOO_LARGE) from None
        if isinstance(found, Fraction) and _bits(found) > MAX_BITS:
            raise InputError(TOO_LARGE)
        return found

    return on_numbers


def _exponential(value: Number) -> Number:
    from math import exp

    return Fraction(1) if value == 0 else exp(value)


def _quotient(word: str) -> Callable[[Number, Number], Number]:
    divide = {"/": operator.truediv, "//": operator.floordiv, "%": operator.mod}[word]

    def found(left: Number, right: Number) -> Number:
        if not right:
            raise InputError("division by zero")
        quotient = divide(left, right)
        return quotient if isinstance(quotient, float) else Fraction(quotient)

    return found


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(exponent, float) or exponent.denominator != 1 or abs(exponent) > MAX_EXPONENT:
        raise InputError("an exponent must be a whole number up to 1,000")
    if not base and exponent < 0:
        raise InputError("division by zero")
    if isinstance(base, Fraction):
        if _bits(base) * abs(exponent) > MAX_BITS:
            raise InputError(TOO_LARGE)
        return Fraction(base ** int(exponent))
    return float(base ** int(exponent))


_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "neg": operator.neg,
    "exp": _exponential,
    "/": _quotient("/"),
    "//": _quotient("//"),
    "%": _quotient("%"),
    "**": _power,
}


MAX_GROUPS = 10_000


class VariableKey(NamedTuple):
    """A variable: of which call, counted from outside, and its name; or the mask of runs that have set it."""

    depth: int
    name: str
    is_mask: bool = False


@dataclass(frozen=True, eq=False)
class Group:
    """Some of the runs, with their variables and what they have told so far."""

    runs: NDArray[np.int64]
    values: Mapping[VariableKey, Column]
    outputs: tuple[Column, ...] = ()

    @property
    def size(self) -> int:
        """How many runs there are."""
        return len(self.runs)

    def taken(self, where: NDArray[np.int64]) -> Group:
        """Returns some of the runs, by their places in the group."""
        if len(where) == self.size:
            return self
        values = {key: taken(column, where) for key, column in self.values.items()}
        return Group(self.runs[where], values, tuple(taken(c, where) for c in self.outputs))

    def with_value(self, key: VariableKey, column: Column) -> Group:
        """Returns the group with a variable that all runs have set."""
        values = {**self.values, key: column}
        values.pop(key._replace(is_mask=True), None)
        return replace(self, values=values)

    def forgetting(self, keys: Collection[VariableKey]) -> Group:
        """Returns the group without some variables."""
        if self.values.keys().isdisjoint(keys):
            return self
        return replace(self, values={k: c for k, c in self.values.items() if k not in keys})

    def without(self, depth: int) -> Group:
        """Returns the group without the variables of a call, and of the calls in it."""
        return replace(self, values={k: c for k, c in self.values.items() if k.depth < depth})

    def split(self, mask: bool | Array) -> tuple[list[Group], list[Group]]:
        """Returns the runs in which a mask is true, and the others; none of the groups is empty."""
        import numpy as np

        if isinstance(mask, bool):
            return ([self], []) if mask else ([], [self])
        yes, no = np.flatnonzero(mask), np.flatnonzero(~mask)
        return [self.taken(yes)] if len(yes) else [], [self.taken(no)] if len(no) else []

    def told_apart(self, column: Column) -> Iterator[tuple[Group, Single]]:
        """Yields the runs with each value of a column."""
        for value, where in told_apart(column, self.size):
            if len(where):
                yield self.taken(where), value


def merged(groups: Sequence[Group]) -> list[Group]:
    """Returns the groups with those of the same shape as one.

    A variable that not all of them have set gets a mask, which tells the runs that have.

    Raises:
        LimitError: more than `MAX_GROUPS` shapes.
    """
    if len(groups) < 2:
        return list(groups)
    found: dict[Hashable, list[Group]] = {}
    for group in groups:
        lists = tuple(sorted((key, shape(c)) for key, c in group.values.items() if isinstance(c, tuple)))
        found.setdefault((lists, shape(group.outputs)), []).append(group)
    if len(found) > MAX_GROUPS:
        raise LimitError(f"the runs of the program have more than {MAX_GROUPS:,} shapes")
    return [_joined(parts) if len(parts) > 1 else parts[0] for parts in found.values()]


def _joined(groups: Sequence[Group]) -> Group:
    import numpy as np

    sizes = [group.size for group in groups]
    values: dict[VariableKey, Column] = {}
    for key in dict.fromkeys(k for group in groups for k in group.values if not k.is_mask):
        columns = [group.values.get(key) for group in groups]
        mask = key._replace(is_mask=True)
        if any(c is None for c in columns) or any(mask in group.values for group in groups):
            values[mask] = joined([_set(group, key) for group in groups], sizes)
            there = next(k for k, c in enumerate(columns) if c is not None)
            filler = taken(columns[there], np.zeros(1, dtype=np.int64))
            columns = [taken(filler, np.zeros(n, dtype=np.int64)) if c is None else c
                       for c, n in zip(columns, sizes, strict=True)]  # fmt: skip
        values[key] = joined(columns, sizes)
    outputs = tuple(
        joined([group.outputs[k] for group in groups], sizes) for k in range(len(groups[0].outputs))
    )
    return Group(np.concatenate([group.runs for group in groups]), values, outputs)


def _set(group: Group, key: VariableKey) -> Column:
    """Returns in which runs of a group a variable is set."""
    return group.values.get(key._replace(is_mask=True), key in group.values)


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
        raise InputError(
            f"discrete Gaussian noise can be sampled only for a standard deviation {told}, "
            "given as a fraction"
        )
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


GRID = 40
LEAST_NOISE_SCALE, MOST_NOISE_SCALE = 2.0**-500, 2.0**50
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
                raise InputError("the numbers of uniform are too large")
            return wholes(rng.integers(low, high + 1, size))
        case "binomial":
            number = whole(given[0], "binomial")
            if not 0 <= number <= 1_000:
                raise InputError("the number of trials of binomial must be between 0 and 1,000")
            return wholes(
                rng.binomial(number, float(probability(given[1], "the probability of binomial")), size)
            )
        case "geometric" | "one_sided_geometric":
            ratio = number_of(given[0])
            if not 0 < ratio < 1:
                raise InputError("the ratio of geometric noise must lie strictly between 0 and 1")
            stop = float(1 - ratio)
            drawn = rng.geometric(stop, size) - 1
            if word == "geometric":  # the difference of two independent one-sided ones has this distribution
                drawn -= rng.geometric(stop, size) - 1
            return wholes(drawn)
    exact = number_of(given[0])
    if word == "discrete_gaussian":
        return wholes(discrete_gaussian(exact, rng, size))
    if not LEAST_NOISE_SCALE <= exact <= MOST_NOISE_SCALE:
        what = "not positive" if exact <= 0 else "too small" if exact < 1 else "too large"
        raise InputError(f"the scale of this noise is {what}")
    scale = float(exact)
    power = max(0, GRID - frexp(scale)[1] + 1)
    if word == "gauss":
        noise = rng.normal(0.0, scale, size)
    else:
        noise = rng.laplace(0.0, scale, size) if word == "laplace" else rng.exponential(scale, size)
    return _noise_rationals(np.rint(np.ldexp(noise, power)).astype(np.int64), 2**power)


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
            raise InputError(f"the probabilities sum to {sum(exact)} instead of 1")
        ends = np.array([int(s * bottom) for s in accumulate(exact)], dtype=np.int64)
        which = np.searchsorted(ends, rng.integers(0, bottom, size), side="right")
    else:
        total = sum(map(float, shares))
        if abs(total - 1) > 1e-9:
            raise InputError(f"the probabilities sum to {total} instead of 1")
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
        raise InputError(f"{what} must be between 0 and 1")
    return number


def number_of(value: Column) -> Number:
    """Returns a plain value as a number.

    Raises:
        InputError: it is a label or a list.
    """
    if isinstance(value, (str, tuple)):
        what = "label" if isinstance(value, str) else "list"
        raise InputError(f"this must be a number, but it is a {what}")
    number: Number = Fraction(value) if isinstance(value, bool) else value
    return number


def wholes(drawn: NDArray[np.int64]) -> Rationals:
    """Returns whole numbers as a column."""
    return _noise_rationals(drawn, 1)


def _noise_rationals(tops: NDArray[np.int64], denominator: int) -> Rationals:
    return Rationals(tops, denominator, int(max(abs(int(tops.min())), abs(int(tops.max())))))
