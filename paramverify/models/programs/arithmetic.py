"""Arithmetic on the values of programs: plain numbers, numbers with noise, and expressions in parameters."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from fractions import Fraction

from paramverify.algebra.trees import Name, Operation, RationalConstant
from paramverify.algebra.trees import Node as Tree
from paramverify.errors import InputError
from paramverify.models.programs.measure import Linear
from paramverify.models.programs.values import Dead, Symbol, Value

MAX_BITS = 10_000  # size of a number
MAX_ITEMS = 10_000  # entries of a list

_ORDER: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def symbol(name: str) -> Symbol:
    """Returns a parameter as a value."""
    return Symbol(Name(name, 0))


def tree_of(value: Fraction | Symbol) -> Tree:
    """Returns the expression of a number or symbol."""
    return value.tree if isinstance(value, Symbol) else RationalConstant(value, 0)


def holds(word: str, left: Value, right: Value) -> bool:
    """Compares two plain values.

    Raises:
        InputError: an order between values that have none.
    """
    if word in ("==", "!="):
        return (left == right) == (word == "==")
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return _ORDER[word](left, right)
    raise InputError(f"{word} compares numbers")


def apply(word: str, given: Sequence[Value]) -> Value:
    """Applies an operator to values.

    Raises:
        InputError: what is not covered, with the reason.
    """
    values = [Fraction(v) if isinstance(v, bool) else v for v in given]
    if any(isinstance(v, Dead) for v in values):
        raise InputError("a value that was forgotten is read")
    if word == "+" and all(isinstance(v, tuple) for v in values):
        joined = tuple(entry for v in values if isinstance(v, tuple) for entry in v)
        return _bounded(joined)
    if word == "*" and any(isinstance(v, tuple) for v in values):
        return _repeated(values)
    if any(isinstance(v, (str, tuple)) for v in values):
        labels = "; labels are not joined" if word == "+" else ""
        raise InputError(f"{_WORDS.get(word, word)} needs numbers{labels}")
    if any(isinstance(v, Symbol) for v in values):
        return _symbolic(word, values)
    if any(isinstance(v, Linear) for v in values):
        return _noisy(word, values)
    return _number(word, [v for v in values if isinstance(v, Fraction)])


_WORDS = {"neg": "a minus sign"}


def _bounded(values: tuple[Value, ...]) -> tuple[Value, ...]:
    if len(values) > MAX_ITEMS:
        raise InputError(f"a list of more than {MAX_ITEMS:,} entries")
    return values


def _repeated(values: Sequence[Value]) -> Value:
    left, right = values
    items, times = (left, right) if isinstance(left, tuple) else (right, left)
    if not isinstance(items, tuple) or not isinstance(times, Fraction) or times.denominator != 1:
        raise InputError("a list is repeated by a whole number")
    if len(items) * max(0, int(times)) > MAX_ITEMS:
        raise InputError(f"a list of more than {MAX_ITEMS:,} entries")
    return items * int(times)


def _symbolic(word: str, values: Sequence[Value]) -> Value:
    if any(isinstance(v, Linear) for v in values):
        raise InputError(
            "noise and a parameter cannot be combined; write parameters where the noise is drawn"
        )
    trees = tuple(tree_of(v) for v in values if isinstance(v, (Fraction, Symbol)))
    if word == "-":
        return Symbol(Operation("+", (trees[0], Operation("neg", (trees[1],), 0)), 0))
    if word in ("+", "*", "/", "**", "neg", "exp"):
        return Symbol(Operation(word, trees, 0))
    raise InputError(f"{word} needs numbers; a parameter has no known value")


def _noisy(word: str, values: Sequence[Value]) -> Value:
    numbers = [v for v in values if isinstance(v, (Fraction, Linear))]
    if word == "neg":
        return _scaled(numbers[0], Fraction(-1))
    left, right = numbers
    if word in ("+", "-"):
        sign = Fraction(1 if word == "+" else -1)
        if isinstance(left, Linear):
            return left.plus(right, sign)
        return _plus(_scaled(right, sign), left)
    if word == "*" and not (isinstance(left, Linear) and isinstance(right, Linear)):
        noise, by = (left, right) if isinstance(left, Linear) else (right, left)
        assert isinstance(by, Fraction)
        return _scaled(noise, by)
    if word == "/" and isinstance(right, Fraction):
        if not right:
            raise InputError("division by zero")
        return _scaled(left, 1 / right)
    if word == "*":
        raise InputError(
            "the product of two noisy numbers is not covered; sums, differences and comparisons are"
        )
    what = "division by noise" if word == "/" else f"{word} with noise"
    raise InputError(f"{what} is not covered; + and -, * and / by a number, and comparisons are")


def _scaled(value: Fraction | Linear, by: Fraction) -> Fraction | Linear:
    if isinstance(value, Linear):
        return value.scaled(by) if by else Fraction(0)
    return value * by


def _plus(value: Fraction | Linear, number: Fraction | Linear) -> Value:
    assert isinstance(number, Fraction)
    return value.plus(number) if isinstance(value, Linear) else value + number


def _number(word: str, values: Sequence[Fraction]) -> Value:
    match word:
        case "neg":
            return -values[0]
        case "+":
            return _small(values[0] + values[1])
        case "-":
            return _small(values[0] - values[1])
        case "*":
            return _small(values[0] * values[1])
        case "/" | "//" | "%":
            return _divided(word, *values)
        case "**":
            return _power(*values)
        case "exp":
            return (
                Fraction(1)
                if not values[0]
                else Symbol(Operation("exp", (RationalConstant(values[0], 0),), 0))
            )
    raise InputError(f"{word} is not covered")


def _divided(word: str, left: Fraction, right: Fraction) -> Value:
    if not right:
        raise InputError("division by zero")
    if word == "/":
        return _small(left / right)
    return Fraction(left // right) if word == "//" else left % right


def _power(base: Fraction, exponent: Fraction) -> Value:
    if exponent.denominator != 1 or abs(exponent) > 1_000:
        raise InputError("an exponent is a whole number up to 1,000")
    if not base and exponent < 0:
        raise InputError("division by zero")
    bits = max(base.numerator.bit_length(), base.denominator.bit_length()) * abs(int(exponent))
    if bits > MAX_BITS:
        raise InputError("a number that is too large")
    return Fraction(base ** int(exponent))


def _small(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise InputError("a number that is too large")
    return value
