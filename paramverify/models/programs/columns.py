"""Values of many runs at once, exact: what a number, a truth value or a label is in each run of a group.

A column is one of: a plain value, the same in all runs; an array of truth values; `Rationals`, whole
numerators over one denominator; an array of objects, for all that fits nowhere else; or a list, as a tuple of
columns. Numbers are never rounded: where numerators could leave 64 bits, the column becomes one of objects.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import TYPE_CHECKING, Any

from paramverify.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST = 2**62  # numerators stay below
MAX_EXPONENT, MAX_BITS = 1_000, 10_000
TOO_LARGE = "a number that is too large"

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
        raise InputError("an exponent is a whole number up to 1,000")
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
