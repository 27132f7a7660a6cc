"""The values of programs at one point, for the second reader: Python's own where it can, exact numbers else.

A parameter beside its exponential has a rational near its value: claims and probabilities are polynomials in
x_eps and eps. Equal ones have equal values whatever number is put in for eps. One that is near its value
shows on which side of a bound a probability is.

Standard library only, and no code of the first reader.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..kernel.rounded_constants import UNIT, ln
from ..kernel.strict_reading import UnreadCase

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


MAX_SIZE = 20_000  # bits of a number, entries of a list

Entry = Any  # Fraction, bool, str, list, Noisy or Multiple


@dataclass(frozen=True)
class NoisyNumber:
    """A number that depends on noise: constant + Σ slope·variable, no slope zero."""

    slopes: Mapping[int, Fraction]
    constant: Fraction


Product = tuple[tuple[str, int], ...]  # names with their powers


@dataclass(frozen=True)
class PowerSum:
    """A number that depends on parameters of the domain (0, ∞): Σ factor·Π name^power."""

    parts: Mapping[Product, Fraction]  # {(("eps", −1),): 2} for 2/eps

    @staticmethod
    def variable(name: str) -> PowerSum:
        """Returns what stands for a parameter."""
        return PowerSum({((name, 1),): Fraction(1)})


Part = Any  # the number of a noise, or a Product; () for what is constant

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
    if isinstance(left, (NoisyNumber, PowerSum)) or isinstance(right, (NoisyNumber, PowerSum)):
        return _of_sums(word, left, right)
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


def _of_sums(word: str, left: Any, right: Any) -> Entry:
    """Returns what a sum with noise, or one of powers of parameters, becomes."""
    if word == "Pow" and isinstance(right, Fraction):
        times = whole(right)
        if abs(times) > 20:
            raise UnreadCase("a large power of a parameter")
        found: Entry = Fraction(1)
        for _ in range(abs(times)):
            found = calculated("Mult", found, left)
        return found if times >= 0 else calculated("Div", Fraction(1), found)
    of_noise = isinstance(left, NoisyNumber) or isinstance(right, NoisyNumber)
    first, second = _parts(left, of_noise), _parts(right, of_noise)
    total: dict[Part, Fraction] = {}
    if word in ("Add", "Sub"):
        total |= first
        for key, c in second.items():
            total[key] = total.get(key, Fraction(0)) + (c if word == "Add" else -c)
    elif word == "Mult" or (word == "Div" and len(second) == 1):
        if word == "Div":
            ((key, c),) = second.items()
            second = {_product((), key, -1): 1 / c}
        for one, a in first.items():
            for other, b in second.items():
                key = _product(one, other)
                total[key] = total.get(key, Fraction(0)) + a * b
    else:
        raise UnreadCase("this operation on noise or on a parameter")
    kept = {key: c for key, c in total.items() if c}
    if not kept.keys() - {()}:
        return kept.get((), Fraction(0))
    if not of_noise:
        return PowerSum(kept)
    constant = kept.pop((), Fraction(0))
    return NoisyNumber(kept, constant)


def _parts(value: Entry, of_noise: bool = False) -> Mapping[Part, Fraction]:
    """Returns the addends of any number: one for each noise, or for each product of powers of parameters."""
    if isinstance(value, NoisyNumber):
        return {**value.slopes, (): value.constant}
    if isinstance(value, PowerSum) and not of_noise:
        return value.parts
    return {(): plain(value)}


def _product(one: Part, other: Part, sign: int = 1) -> Part:
    """Returns one·other^sign; noise has no powers, and no products but with numbers."""
    if isinstance(one, int) or isinstance(other, int):
        if (one != () and other != ()) or sign < 0:
            raise UnreadCase("this operation on noise")
        return other if one == () else one
    powers = dict(one)
    for name, p in other:
        powers[name] = powers.get(name, 0) + sign * p
    return tuple(sorted((name, p) for name, p in powers.items() if p))


def exponents(value: Entry) -> dict[str, Fraction]:
    """Returns the factors of the parameters in what stands in `exp(...)`, "" for a number.

    Raises:
        Unread: it is no sum of numbers and of multiples of them.
    """
    found: dict[str, Fraction] = {}
    given = number(value)
    for key, c in _parts(given).items():
        if isinstance(key, int) or (key and (len(key) > 1 or key[0][1] != 1)):
            raise UnreadCase("exp of a power of a parameter")
        found[key[0][0] if key else ""] = c
    return found


def rate(scale: Entry) -> tuple[Fraction, str]:
    """Returns 1/scale as a multiple of a parameter, and its name; "" for a number."""
    found = calculated("Div", Fraction(1), scale)
    ((name, factor),) = exponents(found).items()  # one, as nothing is divided by a sum
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
        return value if _bare(value) else json.dumps(value)
    return str(value)


def _bare(label: str) -> bool:
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
    return (
        label not in ("", "True", "False")
        and label[0] in letters
        and set(label) <= {*letters, *"0123456789 .-"}
        and label[-1] != " "
    )
