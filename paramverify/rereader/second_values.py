"""The values of programs at one point, for the second reader: Python's own where it can, exact numbers else.

Parameters beside their exponentials, for the second reader: rationals near their values at a point.

Claims and probabilities are polynomials in x_eps and eps. Equal ones have equal values whatever number is put
in for eps. One that is near its value shows on which side of a bound a probability is.

Standard library only, and no code of the first reader.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..kernel.rounded_constants import UNIT, ln
from ..kernel.strict_reading import UnreadCase

# --- second ties ------------------------------------------------------------------------------------


DIGITS = 20  # of a number near a logarithm; its error is far below every difference that matters


def near_log(value: Fraction) -> Fraction:
    """Returns a rational near ln(value) for value > 1, so that ln(b^k) is k times ln(b)."""
    for k in range(value.numerator.bit_length(), 1, -1):
        top, bottom = _root(value.numerator, k), _root(value.denominator, k)
        if top and bottom:
            return k * near_log(Fraction(top, bottom))
    return Fraction(round(Fraction(ln(value)[0], UNIT) * 10**DIGITS), 10**DIGITS)


def _root(value: int, k: int) -> int:
    """Returns the k-th root of a positive whole number, 0 if that is not whole."""
    low, high = 1, 1 << (value.bit_length() // k + 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**k <= value else (low, middle - 1)
    return low if low**k == value else 0


def without_logarithms(formula: str) -> str:
    """Returns a formula with a number near it in the place of each `ln(b)`."""
    return re.sub(r"ln\(([0-9]+(?:/[0-9]+)?)\)", lambda m: f"({near_log(Fraction(m[1]))})", formula)


# --- second values ----------------------------------------------------------------------------------

MAX_SIZE = 20_000  # bits of a number, entries of a list

Entry = Any  # Fraction, bool, str, list, Noisy or Multiple


@dataclass(frozen=True)
class NoisyNumber:
    """A number that depends on noise: constant + Σ slope·variable, no slope zero."""

    slopes: Mapping[int, Fraction]
    constant: Fraction


@dataclass(frozen=True)
class PowerSum:
    """A number that depends on parameters of the domain (0, ∞): Σ factor·Π name^power."""

    parts: Mapping[tuple[tuple[str, int], ...], Fraction]  # {(("eps", −1),): 2} for 2/eps

    @staticmethod
    def variable(name: str) -> PowerSum:
        """Returns what stands for a parameter."""
        return PowerSum({((name, 1),): Fraction(1)})

    @staticmethod
    def of(parts: Mapping[tuple[tuple[str, int], ...], Fraction]) -> Fraction | PowerSum:
        """Returns the number, a plain one where nothing else is left."""
        kept = {key: c for key, c in parts.items() if c}
        return PowerSum(kept) if kept.keys() - {()} else kept.get((), Fraction(0))

    @staticmethod
    def parts_of(value: Fraction | PowerSum) -> Mapping[tuple[tuple[str, int], ...], Fraction]:
        """Returns the parts of any number."""
        return value.parts if isinstance(value, PowerSum) else {(): value}


PLAIN: Mapping[str, Callable[[Fraction, Fraction], Any]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
}


def calculated(word: str, left: Entry, right: Entry) -> Entry:
    """Returns `left word right`, where the word is the name of a class of `ast`.

    Raises:
        Unread: it has no value here.
    """
    if isinstance(left, list) or isinstance(right, list):
        return _of_lists(word, left, right)
    left, right = number(left), number(right)
    if isinstance(left, NoisyNumber) or isinstance(right, NoisyNumber):
        return _noisy(word, left, right)
    if isinstance(left, PowerSum) or isinstance(right, PowerSum):
        return _multiple(word, left, right)
    if word == "Pow":
        if right.denominator != 1 or abs(right) > 1_000 or _bits(left) * abs(right) > MAX_SIZE:
            raise UnreadCase("a power that is not computed")
        return Fraction(left ** int(right))
    found = Fraction(PLAIN[word](left, right))
    if _bits(found) > MAX_SIZE:
        raise UnreadCase("a number that is too large")
    return found


def number(value: Entry) -> Any:
    """Returns a number; truth counts as 0 and 1."""
    if isinstance(value, bool):
        return Fraction(value)
    if isinstance(value, (str, list)):
        raise UnreadCase("a number is needed")
    return value


def plain(value: Entry) -> Fraction:
    """Returns a number without noise, whose value is known."""
    found = number(value)
    if not isinstance(found, Fraction):
        raise UnreadCase("a number without noise is needed")
    return found


def whole(value: Entry) -> int:
    """Returns a whole number."""
    found = plain(value)
    if found.denominator != 1:
        raise UnreadCase("a whole number is needed")
    return int(found)


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _of_lists(word: str, left: Entry, right: Entry) -> list[Entry]:
    if word == "Add" and isinstance(left, list) and isinstance(right, list):
        found = left + right
    elif word == "Mult":
        items, times = (left, right) if isinstance(left, list) else (right, left)
        if len(items) * whole(times) > MAX_SIZE:
            raise UnreadCase("a list that is too long")
        found = items * whole(times)
    else:
        raise UnreadCase("this operation on lists")
    if len(found) > MAX_SIZE:
        raise UnreadCase("a list that is too long")
    return found


def _noisy(word: str, left: Any, right: Any) -> Entry:
    if word in ("Add", "Sub"):
        sign = 1 if word == "Add" else -1
        slopes, constant = _linear(left)
        found = dict(slopes)
        more, other = _linear(right)
        for v, s in more.items():
            found[v] = found.get(v, Fraction(0)) + sign * s
        return _kept(found, constant + sign * other)
    if word == "Mult" and isinstance(left, Fraction):
        left, right = right, left
    if word in ("Mult", "Div") and isinstance(left, NoisyNumber) and isinstance(right, Fraction):
        by = right if word == "Mult" else 1 / right
        return _kept({v: s * by for v, s in left.slopes.items()}, left.constant * by)
    raise UnreadCase("this operation on noise")


def _linear(value: Any) -> tuple[Mapping[int, Fraction], Fraction]:
    if isinstance(value, NoisyNumber):
        return value.slopes, value.constant
    return {}, plain(value)


def _kept(slopes: Mapping[int, Fraction], constant: Fraction) -> NoisyNumber | Fraction:
    kept = {v: s for v, s in slopes.items() if s}
    return NoisyNumber(kept, constant) if kept else constant


def _multiple(word: str, left: Any, right: Any) -> Fraction | PowerSum:
    if word == "Pow" and isinstance(left, PowerSum) and isinstance(right, Fraction):
        times = whole(right)
        if abs(times) > 20:
            raise UnreadCase("a large power of a parameter")
        found: Any = Fraction(1)
        for _ in range(abs(times)):
            found = calculated("Mult", found, left)
        return found if times >= 0 else _multiple("Div", Fraction(1), found)
    first, second = PowerSum.parts_of(left), PowerSum.parts_of(right)
    total: dict[tuple[tuple[str, int], ...], Fraction] = {}
    if word in ("Add", "Sub"):
        total |= first
        for key, c in second.items():
            total[key] = total.get(key, Fraction(0)) + (c if word == "Add" else -c)
        return PowerSum.of(total)
    if word == "Div" and len(second) == 1:
        ((key, c),) = second.items()
        second = {tuple((name, -p) for name, p in key): 1 / c}
    elif word != "Mult":
        raise UnreadCase("this operation on a parameter")
    for one, a in first.items():
        for other, b in second.items():
            powers = dict(one)
            for name, p in other:
                powers[name] = powers.get(name, 0) + p
            key = tuple(sorted((name, p) for name, p in powers.items() if p))
            total[key] = total.get(key, Fraction(0)) + a * b
    return PowerSum.of(total)


def exponents(value: Entry) -> dict[str, Fraction]:
    """Returns the factors of the parameters in what stands in `exp(...)`, "" for a number.

    Raises:
        Unread: it is no sum of numbers and of multiples of them.
    """
    found: dict[str, Fraction] = {}
    given = number(value)
    if isinstance(given, NoisyNumber):
        raise UnreadCase("exp of noise")
    for key, c in PowerSum.parts_of(given).items():
        if key and (len(key) > 1 or key[0][1] != 1):
            raise UnreadCase("exp of a power of a parameter")
        found[key[0][0] if key else ""] = c
    return found


def rate(scale: Entry) -> tuple[Fraction, str]:
    """Returns 1/scale as a multiple of a parameter, and its name; "" for a number."""
    found = calculated("Div", Fraction(1), scale)
    parts = exponents(found)
    if len(parts) != 1:
        raise UnreadCase("the scale of noise is a sum")
    ((name, factor),) = parts.items()
    if factor <= 0:
        raise UnreadCase("a scale that is not positive")
    return factor, name


def with_two_names(variables: Mapping[str, Any]) -> list[list[Any]]:
    """Returns the lists that are reached in two ways, from one variable or from several."""
    reached, twice = set[int](), list[list[Any]]()

    def visit(value: Any) -> None:
        if not isinstance(value, list):
            return
        if id(value) in reached:
            twice.append(value)
            return
        reached.add(id(value))
        for part in value:
            visit(part)

    for value in variables.values():
        visit(value)
    return twice


def shown(value: Entry) -> str:
    """Returns a released value in words: True is not 1, and a label that could be a number has quotes."""
    if isinstance(value, list):
        return "[" + ", ".join(map(shown, value)) + "]"
    if isinstance(value, str):
        return value if _bare(value) else _quoted(value)
    return str(value)


def _bare(label: str) -> bool:
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
    return (
        label not in ("", "True", "False")
        and label[0] in letters
        and set(label) <= {*letters, *"0123456789 .-"}
        and label[-1] != " "
    )


def _quoted(label: str) -> str:
    """Returns a text as JSON writes it, in ASCII."""
    short = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
    found = ""
    for c in label:
        if c in short:
            found += short[c]
        elif " " <= c <= "~":
            found += c
        else:
            units = c.encode("utf-16-be", "surrogatepass")
            found += "".join(f"\\u{units[k]:02x}{units[k + 1]:02x}" for k in range(0, len(units), 2))
    return f'"{found}"'
