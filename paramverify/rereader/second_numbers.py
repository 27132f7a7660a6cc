"""A second reading of numbers and expressions in case files: standard library only, no code of the first one.

An expression becomes a number at once: every parameter has a rational value, and so has `E`, which stands for
exp(q) with the q of the claims. Probabilities and claims are quotients of polynomials in the parameters and E
with rational coefficients, so equal ones are equal at every rational value of E, too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from ..kernel.strict_reading import UnreadCase
from .second_definitions import written_out

Value = Fraction | str

_ORDER: dict[type[ast.cmpop], Callable[[Fraction, Fraction], bool]] = {
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
}


def meaning(given: Any) -> Value:
    """Returns what a name in a set of values means: a number if it is one in TOML or is spelt as one.

    Spelt as one is: perhaps a minus, digits without a zero in front, perhaps a point or slash with digits.
    """
    if isinstance(given, bool) or not isinstance(given, (str, int, Decimal)):
        raise ValueError(f"{given!r} is no number and no text")
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
        super().__init__(f"exp({exponent}*{name}) is no whole power")
        self.name = name
        self.exponent = exponent


class Calculator:
    """Evaluates expressions at one point: `values` of names, `base` for exp(`exponent`).

    A name in `steps` is a parameter of the domain (0, ∞): the point has x_name = exp(−step · name) instead.
    One in `definitions` stands for a text.
    """

    def __init__(
        self,
        values: Mapping[str, Value],
        exponent: Fraction | None,
        base: Fraction,
        steps: Mapping[str, Fraction] = MappingProxyType({}),
        definitions: Mapping[str, str] = MappingProxyType({}),
        divisors: list[Fraction] | None = None,
    ) -> None:
        self.divisors = divisors  # gets what is divided by
        self.values = values
        self.exponent = exponent
        self.base = base
        self.steps = steps
        self.definitions = definitions

    def knowing(self, values: Mapping[str, Value]) -> Calculator:
        """Returns the calculator with more names."""
        known = {**self.values, **values}
        return Calculator(known, self.exponent, self.base, steps=self.steps, definitions=self.definitions)

    def number(self, given: Any) -> Fraction:
        """Returns the value of an expression that is a number.

        Raises:
            ValueError: it is none. Unread: this reader does not know what it means.
        """
        value = self.value(given)
        if isinstance(value, str):
            raise ValueError(f"{given!r:.60} is a label, not a number")
        return value

    def value(self, given: Any) -> Value:
        """Returns the value of an expression, given as text or as a number; truth counts as 0 and 1."""
        text, tree = self.parsed(given)
        return self._visit(tree, text)

    def linear(self, given: Any) -> dict[str, Fraction]:
        """Returns an expression as multiples of parameters of the domain (0, ∞), and of 1 for the name "".

        Raises:
            Unread: it has another form.
        """
        text, tree = self.parsed(given)
        return self._factors(tree, text)

    def visited(self, tree: ast.expr, text: str) -> Value:
        """Returns the value of a part of an expression, whose text is given."""
        return self._visit(tree, text)

    def exp_of_sum(self, factors: Mapping[str, Fraction]) -> Fraction:
        """Returns e^(Σ factor·name), where the name "" stands for 1.

        Raises:
            Finer: the step of a parameter, or the exponent of E, has to be smaller.
        """
        found = Fraction(1)
        for name, factor in factors.items():
            if not factor:
                continue
            step = self.steps[name] if name else -(self.exponent or 0)
            if not step or (factor / step).denominator != 1:
                raise Finer(name, factor)
            base = self.values[f"x_{name}"] if name else self.base
            assert isinstance(base, Fraction)
            power = int(-factor / step)
            if self.divisors is not None and power < 0:
                self.divisors.append(base**-power)
            found *= _power(base, power)
        return found

    def _factors(self, tree: ast.expr, text: str) -> dict[str, Fraction]:
        """Returns an exponent as multiples of parameters of the domain (0, ∞), and of 1 for the name ""."""
        if not any(isinstance(n, ast.Name) and n.id in self.steps for n in ast.walk(tree)):
            return {"": self._number(tree, text)}
        if isinstance(tree, ast.Name):
            return {tree.id: Fraction(1)}
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, (ast.USub, ast.UAdd)):
            sign = -1 if isinstance(tree.op, ast.USub) else 1
            return {n: sign * c for n, c in self._factors(tree.operand, text).items()}
        if isinstance(tree, ast.BinOp):
            first, second = self._factors(tree.left, text), self._factors(tree.right, text)
            if isinstance(tree.op, (ast.Add, ast.Sub)):
                sign = 1 if isinstance(tree.op, ast.Add) else -1
                return {
                    n: first.get(n, Fraction(0)) + sign * second.get(n, Fraction(0))
                    for n in {**first, **second}
                }
            if isinstance(tree.op, ast.Mult) and first.keys() <= {""}:
                first, second = second, first
            if isinstance(tree.op, (ast.Mult, ast.Div)) and second.keys() <= {""}:
                by = second[""] if isinstance(tree.op, ast.Mult) else 1 / second[""]
                return {n: c * by for n, c in first.items()}
        raise UnreadCase(f"the exponent {text!r:.60} has another form")

    def exp_of(self, given: Any) -> Fraction:
        """Returns e to the power of an expression, a sum of numbers and of whole multiples of logarithms."""
        text, tree = self.parsed(given)
        return self._exp_of(tree, text)

    def _exp_of(self, tree: ast.expr, text: str, times: Fraction = Fraction(1)) -> Fraction:
        """Returns e to the power of a tree times a number."""
        if not any(isinstance(n, ast.Call) and _name(n.func) == "ln" for n in ast.walk(tree)):
            return self.exp_of_sum({n: c * times for n, c in self._factors(tree, text).items()})
        if isinstance(tree, ast.Call) and len(tree.args) == 1:
            return _power(self._number(tree.args[0], text), _whole(times))
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
            return self._exp_of(tree.operand, text, -times)
        if isinstance(tree, ast.BinOp):
            left, right = tree.left, tree.right
            if isinstance(tree.op, (ast.Add, ast.Sub)):
                sign = 1 if isinstance(tree.op, ast.Add) else -1
                return self._exp_of(left, text, times) * self._exp_of(right, text, sign * times)
            if isinstance(tree.op, ast.Div) and not any(isinstance(n, ast.Call) for n in ast.walk(right)):
                return self._exp_of(left, text, times / self._number(right, text))
            if isinstance(tree.op, ast.Mult):
                for one, other in ((left, right), (right, left)):
                    if not any(isinstance(n, ast.Call) for n in ast.walk(one)):
                        return self._exp_of(other, text, times * self._number(one, text))
        raise UnreadCase(f"the budget {text!r:.60} has another form")

    def _number(self, tree: ast.expr, text: str) -> Fraction:
        value = self._visit(tree, text)
        if isinstance(value, str):
            raise ValueError(f"the label {value!r:.60} is no number")
        return value

    def _visit(self, tree: ast.expr, text: str) -> Value:
        if isinstance(tree, ast.Constant):
            written = ast.get_source_segment(text, tree) or ""
            if isinstance(tree.value, str):
                if written[1:-1] != tree.value:
                    raise ValueError(f"the label {written:.60} is not written as it is")
                return tree.value
            return Fraction(written.replace("_", ""))
        if isinstance(tree, ast.Name):
            if tree.id in ("true", "false"):
                return Fraction(tree.id == "true")
            if tree.id not in self.values:
                raise ValueError(f"unknown name {tree.id!r}")
            return self.values[tree.id]
        if isinstance(tree, ast.BoolOp):
            truths = (self._number(v, text) != 0 for v in tree.values)
            return Fraction(all(truths) if isinstance(tree.op, ast.And) else any(truths))
        if isinstance(tree, ast.Compare):
            return Fraction(self._compare(tree, text))
        if isinstance(tree, ast.UnaryOp):
            value = self._number(tree.operand, text)
            if isinstance(tree.op, ast.Not):
                return Fraction(value == 0)
            return -value if isinstance(tree.op, ast.USub) else value
        if isinstance(tree, ast.BinOp):
            return self._operation(tree, text)
        if isinstance(tree, ast.Call):
            if _name(tree.func) == "exp" and len(tree.args) == 1:
                return self.exp_of_sum(self._factors(tree.args[0], text))
            return self._call(_name(tree.func), [self._number(a, text) for a in tree.args])
        raise UnreadCase(f"{text!r:.60} has {type(tree).__name__}")

    def _operation(self, tree: ast.BinOp, text: str) -> Fraction:
        left, right = self._number(tree.left, text), self._number(tree.right, text)
        if isinstance(tree.op, ast.Add):
            return left + right
        if isinstance(tree.op, ast.Sub):
            return left - right
        if isinstance(tree.op, ast.Mult):
            return left * right
        if self.divisors is not None and isinstance(tree.op, (ast.Div, ast.Pow)):
            self.divisors.append(
                right if isinstance(tree.op, ast.Div) else left if right < 0 else Fraction(1)
            )
        if isinstance(tree.op, ast.Div):
            return left / right
        if isinstance(tree.op, ast.Pow):
            return _power(left, _whole(right))
        raise UnreadCase(f"{text!r:.60} has {type(tree.op).__name__}")

    def _compare(self, tree: ast.Compare, text: str) -> bool:
        sides = [self._visit(side, text) for side in (tree.left, *tree.comparators)]
        for relation, left, right in zip(tree.ops, sides, sides[1:], strict=False):
            if isinstance(relation, (ast.Eq, ast.NotEq)):
                true = (left == right) == isinstance(relation, ast.Eq)
            elif type(relation) in _ORDER and not isinstance(left, str) and not isinstance(right, str):
                true = _ORDER[type(relation)](left, right)
            else:
                raise ValueError(f"{text!r:.60} compares a label")
            if not true:
                return False
        return True

    def parsed(self, given: Any) -> tuple[str, ast.expr]:
        """Returns the text and the tree of an expression, given as text or as a number."""
        if isinstance(given, bool) or not isinstance(given, (str, int, Decimal)):
            raise ValueError(f"{given!r:.60} is no expression")
        text = re.sub(r"""('[^']*'|"[^"]*")|[\t\n]""", lambda m: m[1] or " ", str(given)).strip()
        return _tree(written_out(text, self.definitions) if isinstance(given, str) else text)

    def _call(self, name: str, numbers: list[Fraction]) -> Fraction:
        if name == "abs" and len(numbers) == 1:
            return abs(numbers[0])
        if name in ("min", "max") and numbers:
            return min(numbers) if name == "min" else max(numbers)
        raise UnreadCase(f"the function {name!r:.40}")


@lru_cache(maxsize=10_000)
def _tree(text: str) -> tuple[str, ast.expr]:
    try:
        return text, ast.parse(text, mode="eval").body
    except (SyntaxError, MemoryError, RecursionError):
        raise ValueError(f"{text!r:.60} is no expression") from None


def _name(tree: ast.expr) -> str:
    return tree.id if isinstance(tree, ast.Name) else ""


def _whole(value: Fraction) -> int:
    if value.denominator != 1:
        raise ValueError(f"{value} is not whole")
    return int(value)


def _power(base: Fraction, exponent: int) -> Fraction:
    if abs(exponent) > 10_000:
        raise UnreadCase("a power with a very large exponent")
    return base**exponent


def named(given: Any, known: Sequence[Value], text: bool = False) -> Value:
    """Returns the only known value that a text or a number means.

    A text means itself first, and else the number that it is spelt as (with `text` never). A number means
    itself, else the label that is spelt as it.
    """
    if isinstance(given, str):
        if given in known:
            return given
        fitting: list[Value] = (
            [] if text else [v for v in known if not isinstance(v, str) and meaning(given) == v]
        )
    else:
        number = meaning_of(given)
        fitting = [v for v in known if v == number]
        fitting = fitting or [v for v in known if isinstance(v, str) and meaning(v) == number]
    if len(fitting) != 1:
        raise ValueError(f"{given!r:.60} names {len(fitting)} of the values")
    return fitting[0]


def meaning_of(given: Any) -> Value:
    """Returns a number as it is, and what anything else means."""
    return given if isinstance(given, Fraction) else meaning(given)
