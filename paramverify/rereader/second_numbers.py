"""A second reading of numbers and expressions in case files: standard library only, no code of the first one.

An expression becomes a number at once: every parameter has a rational value, and so has `E`, which stands for
exp(q) with the q of the claims. Probabilities and claims are quotients of polynomials in the parameters and E
with rational coefficients, so equal ones are equal at every rational value of E, too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ..kernel.strict_reading import UnreadCase
from .second_definitions import Interval, endless, written_out
from .second_trees import Evaluator, expression
from .second_values import PLAIN, Entry, PowerSum, exponents, plain

Value = Fraction | str


def meaning(given: Any) -> Value:
    """Returns what a name in a set of values means: a number if it is one in TOML or is spelt as one.

    Spelt as one is: perhaps a minus, digits without a zero in front, perhaps a point or slash with digits.
    """
    if isinstance(given, bool) or not isinstance(given, (str, int, Decimal)):
        raise ValueError(f"{given!r} is neither a number nor text")
    if not isinstance(given, str):
        return Fraction(given)
    whole, mark, part = given.removeprefix("-"), "", ""
    for mark in "./":
        if mark in whole:
            whole, _, part = whole.partition(mark)
            break
    else:
        mark = ""
    if not _digits(whole) or (mark and not (part.isascii() and part.isdigit())):
        return given
    if mark == "/" and part.startswith("0"):
        return given
    return Fraction(given)


def _digits(text: str) -> bool:
    return text.isascii() and text.isdigit() and (text == "0" or not text.startswith("0"))


class Finer(Exception):
    """exp(exponent · name) is no whole power of x_name = exp(−step · name): another step is needed.

    The name "" stands for 1, and exp(`exponent` of the calculator) for x_name.
    """

    def __init__(self, name: str, exponent: Fraction) -> None:
        super().__init__(f"exp({exponent}*{name}) is not a whole power")
        self.name = name
        self.exponent = exponent


@dataclass(frozen=True)
class Calculator(Evaluator):
    """Evaluates expressions at one point: `values` of names, `base` for exp(`exponent`).

    A name in `steps` is a parameter of the domain (0, ∞): the point has x_name = exp(−step · name) instead.
    In an exponent it is a variable, and so is a logarithm `ln(3/2)`. A name in `definitions` stands for a
    text.
    """

    values: Mapping[str, Value]
    exponent: Fraction | None
    base: Fraction = Fraction(1)
    steps: Mapping[str, Fraction] = field(default_factory=dict)
    definitions: Mapping[str, str] = field(default_factory=dict)
    divisors: list[Fraction] | None = None  # gets what is divided by
    in_exponent: bool = False

    def knowing(self, values: Mapping[str, Value]) -> Calculator:
        """Returns the calculator with more names."""
        return replace(self, values={**self.values, **values}, divisors=None)

    def number(self, given: Any) -> Fraction:
        """Returns the value of an expression that is a number.

        Raises:
            ValueError: it is none. Unread: this reader does not know what it means.
        """
        return self._number(self.value(given))

    def value(self, given: Any) -> Value:
        """Returns the value of an expression: a text, a number or a tree; truth counts as 0 and 1."""
        found: Entry = self.of(given if isinstance(given, ast.expr) else self.parsed(given))
        return found if isinstance(found, str) else plain(found)

    def linear(self, given: Any) -> dict[str, Fraction]:
        """Returns an exponent as multiples of parameters, of logarithms such as "ln(3/2)", and of 1 for "".

        Raises:
            Unread: it has another form.
        """
        tree = given if isinstance(given, ast.expr) else self.parsed(given)
        return exponents(replace(self, in_exponent=True).of(tree))

    def exp_of(self, given: Any) -> Fraction:
        """Returns e to the power of an expression, a sum of numbers and of whole multiples of logarithms."""
        return self.exp_of_sum(self.linear(given))

    def exp_of_sum(self, factors: Mapping[str, Fraction]) -> Fraction:
        """Returns e^(Σ factor·name), where the name "" stands for 1.

        Raises:
            Finer: the step of a parameter, or the exponent of E, has to be smaller.
        """
        found = Fraction(1)
        for name, factor in factors.items():
            if not factor:
                continue
            if logarithm := of_logarithm(name):
                found *= _power(logarithm, factor)
                continue
            step = self.steps[name] if name else -(self.exponent or 0)
            if not step or (factor / step).denominator != 1:
                raise Finer(name, factor)
            base = self._number(self.values[f"x_{name}"]) if name else self.base
            if self.divisors is not None and factor / step > 0:
                self.divisors.append(_power(base, factor / step))
            found *= _power(base, -factor / step)
        return found

    def parsed(self, given: Any) -> ast.expr:
        """Returns the tree of an expression, given as text or as a number."""
        if isinstance(given, bool) or not isinstance(given, (str, int, Decimal)):
            raise ValueError(f"{given!r:.60} is not an expression")
        text = re.sub(r"""('[^']*'|"[^"]*")|[\t\n]""", lambda m: m[1] or " ", str(given)).strip()
        return expression(written_out(text, self.definitions) if isinstance(given, str) else text)

    # --- what names, calls and numbers are

    def name(self, name: str) -> Entry:
        if name in ("true", "false"):
            return name == "true"
        if self.in_exponent and name in self.steps:
            return PowerSum.variable(name)
        if name not in self.values:
            raise ValueError(f"unknown name {name!r}")
        return self.values[name]

    def call(self, name: str, arguments: Sequence[ast.expr]) -> Entry:
        match name, arguments:
            case "exp", [exponent]:
                return self.exp_of(exponent)
            case "ln", [argument] if self.in_exponent:
                return PowerSum.variable(f"ln({self.number(argument)})")
        return super().call(name, arguments)

    def calculated(self, word: str, left: Entry, right: Entry) -> Entry:
        if isinstance(left, PowerSum) or isinstance(right, PowerSum):
            return super().calculated(word, left, right)
        left, right = self._number(left), self._number(right)
        if self.divisors is not None and word in ("Div", "Pow"):
            self.divisors.append(right if word == "Div" else left if right < 0 else Fraction(1))
        return _power(left, right) if word == "Pow" else PLAIN[word](left, right)

    @staticmethod
    def _number(value: Entry) -> Fraction:
        if isinstance(value, str):
            raise ValueError(f"the label {value!r:.60} is not a number")
        return plain(value)


def of_logarithm(name: str) -> Fraction | None:
    """Returns the b of the name "ln(b)"; None for other names."""
    return Fraction(name[3:-1]) if name.startswith("ln(") else None


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1:
        raise ValueError(f"{exponent} is not whole")
    if abs(exponent) > 10_000:
        raise UnreadCase("a power with a very large exponent")
    return Fraction(base ** int(exponent))


def named(given: Any, known: Sequence[Value], text: bool = False) -> Value:
    """Returns the only known value that a text or a number means.

    A text means itself first, and else the number that it is spelt as (with `text` never). A number means
    itself, else the label that is spelt as it.
    """
    if isinstance(given, str):
        if given in known:
            return given
        fitting = [] if text else [v for v in known if meaning(given) == v]
    else:
        number = meaning_of(given)
        fitting = [v for v in known if v == number]
        fitting = fitting or [v for v in known if meaning_of(v) == number]
    if len(fitting) != 1:
        raise ValueError(f"{given!r:.60} names {len(fitting)} of the values")
    return fitting[0]


def meaning_of(given: Any) -> Value:
    """Returns a number as it is, and what anything else means."""
    return given if isinstance(given, Fraction) else meaning(given)


def interval_of(given: Any, at: Calculator) -> Interval:
    """Reads a parameter: a number, an interval, or a table with one; for (0, ∞) that of its exponential."""
    text = given["in"] if isinstance(given, dict) else given
    if endless(given):
        return Fraction(0), Fraction(1), False, False
    if not isinstance(text, str) or "," not in text:
        return at.number(text), at.number(text), True, True
    text = text.strip()
    low, high = text[1:-1].split(",")
    if high.strip().lstrip("+").strip().lower() in ("oo", "inf", "infinity"):
        raise UnreadCase("a parameter without an upper end")
    return at.number(low), at.number(high), text[0] == "[", text[-1] == "]"
