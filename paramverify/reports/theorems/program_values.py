"""Values of programs in the theories, at a point: `proofs/theories/Values.v` says the same for all points."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb

from paramverify.models.programs.runs import Put

MAX_WAYS = 20_000  # that are followed in Coq, for all inputs
MAX_NUMBER = 10**6  # numbers of programs are small, so that Coq counts with them


@dataclass(frozen=True)
class TheoremNumber:
    """A number in the parameters, by its value at the point."""

    value: Fraction


Data = int | bool | str | TheoremNumber | tuple["Data", ...]
Way = tuple[Data, Fraction]  # a value, and how likely it is at the point


class Wrong(Exception):
    """A value that there is none of, in the theories."""


def kind_of(value: Data) -> object:
    """Returns what tells a value apart: True is not 1."""
    return tuple(map(kind_of, value)) if isinstance(value, tuple) else (type(value).__name__, value)


def data_of(value: Fraction | str | bool) -> Data:
    """Returns a constant as a value."""
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else TheoremNumber(value)
    return value


def put_out(value: Data) -> Put:
    """Returns a value as outputs of programs have it."""
    if isinstance(value, tuple):
        return tuple(map(put_out, value))
    assert not isinstance(value, TheoremNumber)
    return Fraction(value) if isinstance(value, int) and not isinstance(value, bool) else value


def is_share(value: Data) -> bool:
    """Tells whether a value is a number in the parameters, or has one in it."""
    return isinstance(value, TheoremNumber) or (isinstance(value, tuple) and any(map(is_share, value)))


def share_of(value: Data) -> TheoremNumber | None:
    """Returns a number as one in the parameters; None: it is no number."""
    if isinstance(value, (bool, int)):
        return TheoremNumber(Fraction(value))
    return value if isinstance(value, TheoremNumber) else None


def truth_of(value: Data) -> bool | None:
    """Tells whether a value counts as true; None: that is not known."""
    return None if isinstance(value, TheoremNumber) else bool(value)


def needed(found: bool | None) -> bool:
    """Returns what is known of a condition."""
    if found is None:
        raise Wrong("a condition on a number in the parameters")
    return found


def _whole(value: Data) -> int:
    if not isinstance(value, int):
        raise Wrong("a whole number is needed here")
    return int(value)


def _list(value: Data) -> tuple[Data, ...]:
    if not isinstance(value, tuple):
        raise Wrong("a list is needed here")
    return value


def _same(a: Data, b: Data) -> bool:
    if isinstance(a, TheoremNumber) or isinstance(b, TheoremNumber):
        raise Wrong("a comparison of numbers in the parameters")
    if isinstance(a, tuple) and isinstance(b, tuple):
        found = [_same(x, y) for x, y in zip(a, b, strict=False)]
        if len(a) != len(b) and (any(map(is_share, a)) or any(map(is_share, b))):
            raise Wrong("a comparison of numbers in the parameters")
        return len(a) == len(b) and all(found)
    return a == b


_WHOLE: Mapping[str, Callable[[int, int], int]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_REAL: Mapping[str, Callable[[Fraction, Fraction], Fraction]] = {
    **{"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv},
    **{"**": lambda a, b: a ** int(b)},
}
_ORDERS: Mapping[str, Callable[[int, int], bool]] = {
    **{"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
}
DRAWS = ("flip", "uniform", "binomial")


def applied(word: str, given: Sequence[Data]) -> Data:
    """Applies an operator, as `applied` of the theory does."""
    if word not in ("==", "!=", "<=", ">="):
        word = word.removesuffix("=")
    match word, given:
        case "+", [tuple() as a, tuple() as b]:
            return (*a, *b)
        case "neg", [a]:
            return applied("-", [0, a])
        case "+" | "-" | "*" | "/" | "**", [a, b]:
            return _arithmetic(word, a, b)
        case "//" | "%", [a, b]:
            x, y = _whole(a), _whole(b)
            if not y:
                raise Wrong("division by zero")
            return x // y if word == "//" else x % y
        case "==" | "!=", [a, b]:
            return _same(a, b) == (word == "==")
        case "<" | "<=" | ">" | ">=", [a, b]:
            return _ORDERS[word](_whole(a), _whole(b))
        case "not", [a]:
            return not needed(truth_of(a))
        case "in" | "not in", [a, b]:
            found = [_same(a, entry) for entry in _list(b)]
            return any(found) == (word == "in")
        case "index", [a, k]:
            values, at = _list(a), _whole(k)
            if not -len(values) <= at < len(values):
                raise Wrong("an entry that a list does not have")
            return values[at]
        case "slice", [a, *ends]:
            start, *end = map(_whole, ends)
            return _list(a)[start : end[0]] if end else _list(a)[start:]
        case "len", [a]:
            return len(_list(a))
        case "sum", [a]:
            total: Data = 0
            for entry in _list(a):
                total = applied("+", [total, entry])
            return total
        case ("min" | "max") as word, _:
            return _extreme(word, _list(given[0]) if len(given) == 1 else given)
        case "clamp", [x, low, high]:
            return _extreme("max", [low, _extreme("min", [high, x])])
        case "abs", [a] if not isinstance(a, bool):
            return abs(_whole(a))
        case "range", _:
            return tuple(range(*map(_whole, given)))
    raise Wrong(word)


def _arithmetic(word: str, a: Data, b: Data) -> Data:
    if isinstance(a, int) and isinstance(b, int):
        if word in _WHOLE:
            return _small(_WHOLE[word](a, b))
        if word == "/" and b:
            return a // b if a % b == 0 else TheoremNumber(Fraction(a, b))
        if word == "**" and b >= 0 and (abs(a) <= 1 or b < 64):
            return _small(a**b)
        if word == "**" and b > -64 and a:
            return TheoremNumber(Fraction(a) ** b)
        raise Wrong("division by zero, or a large power")
    first, second = share_of(a), share_of(b)
    if first is None or second is None or (word == "**" and not (isinstance(b, int) and abs(b) < 64)):
        raise Wrong(word)
    if (word == "/" and not second.value) or (word == "**" and second.value < 0 and not first.value):
        raise Wrong("division by zero")
    return TheoremNumber(_REAL[word](first.value, second.value))


def _small(value: int) -> int:
    if abs(value) > MAX_NUMBER:
        raise Wrong("a large number")
    return int(value)


def _extreme(word: str, given: Sequence[Data]) -> int:
    if not given or any(isinstance(v, bool) or not isinstance(v, int) for v in given):
        raise Wrong(f"{word} of something else than whole numbers")
    values = [int(v) for v in given if isinstance(v, int)]
    return max(values) if word == "max" else min(values)


def drawn(word: str, given: Sequence[Data]) -> list[Way]:
    """Returns the outcomes of a draw."""
    if word == "uniform":
        low, high = map(_whole, given)
        if low > high:
            raise Wrong("a draw of nothing")
        if high - low > MAX_WAYS:
            raise Wrong("a draw with very many outcomes")
        return [(k, Fraction(1, high - low + 1)) for k in range(low, high + 1)]
    found = share_of(given[-1])
    if found is None:
        raise Wrong("a probability")
    p = found.value
    if word == "flip":
        return [(True, p), (False, 1 - p)]
    count = _whole(given[0])
    if not 0 <= count <= MAX_WAYS:
        raise Wrong("a draw with very many outcomes")
    return [(k, comb(count, k) * p**k * (1 - p) ** (count - k)) for k in range(count + 1)]


def clamped(noise: str, given: Sequence[Data]) -> list[Way]:
    """Returns the outcomes of noise inside of clamp."""
    center, ratio, low, high = (given[0], share_of(given[1]), *map(_whole, given[2:]))
    if ratio is None or high < low or high - low > MAX_WAYS:
        raise Wrong("clamp")
    x = _whole(center)
    if max(map(abs, (x, low, high))) > 1_000:
        raise Wrong("a large number")
    if noise == "geometric" and ratio.value == -1:
        raise Wrong("division by zero")
    reached = [
        Fraction(1),
        *(_at_least(noise, ratio.value, k - x) for k in range(low + 1, high + 1)),
        Fraction(0),
    ]
    return [(low + k, reached[k] - reached[k + 1]) for k in range(high - low + 1)]


def _at_least(noise: str, a: Fraction, d: int) -> Fraction:
    """Returns how likely noise is d or more."""
    if noise == "one_sided_geometric":
        return a**d if d >= 0 else Fraction(1)
    return a**d / (1 + a) if d >= 0 else 1 - a ** (1 - d) / (1 + a)
