"""A second reading of expressions in programs over streams, without and with noise: standard library only."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from .strict import Rejected, UnreadCase

NUMBERS = ("insample", "insample'")
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Eps:
    """A number of times eps to the power of 1 or -1."""

    times: Fraction
    power: int


@dataclass(frozen=True)
class NoisyEntry:
    """A number, the entry so many times (0 or 1), and the rates of its noise."""

    number: Fraction
    entry: int
    rates: tuple[Fraction, ...]


@dataclass(frozen=True)
class LastDraw:
    """The last draw; `Old` is one of before, by the name under which it is known."""


@dataclass(frozen=True)
class Old:
    """A kept value."""

    name: str


class ProgramNumbers(Protocol):
    """The text of a program, as expressions ask for it."""

    entry: str
    constants: dict[str, Any]

    def literal(self, node: ast.Constant) -> Fraction:
        """Returns a number that is written in the text."""


class StreamEvaluator:
    """Evaluates expressions; `order` compares noise."""

    program: ProgramNumbers
    inside: bool
    own: dict[str, Any]

    def order(self, left: Any, op: ast.cmpop, right: Any) -> bool:
        """Compares noise."""
        raise UnreadCase("noise that is compared")

    def truth(self, test: ast.expr) -> bool:
        found = self.of(test)
        if not isinstance(found, bool):
            raise Rejected("a test is neither true nor false")
        return found

    def of(self, e: ast.expr) -> Any:
        match e:
            case ast.Constant(value) if isinstance(value, (bool, str)):
                return value
            case ast.Constant():
                return self.program.literal(e)
            case ast.Name(name):
                if self.inside and name == self.program.entry:
                    return NoisyEntry(Fraction(0), 1, ())
                return self.program.constants[name] if name in self.program.constants else self.own[name]
            case ast.List(parts) | ast.Tuple(parts):
                return [self.of(p) for p in parts]
            case ast.BoolOp(op, parts):
                until = isinstance(op, ast.Or)
                return until if any(self.truth(p) is until for p in parts) else not until
            case ast.UnaryOp(ast.Not(), inner):
                return not self.truth(inner)
            case ast.UnaryOp(ast.USub(), inner):
                return self.calculated(ast.Sub(), Fraction(0), self.of(inner))
            case ast.UnaryOp(ast.UAdd(), inner):
                return self.calculated(ast.Add(), Fraction(0), self.of(inner))
            case ast.BinOp(left, op, right):
                return self.calculated(op, self.of(left), self.of(right))
            case ast.IfExp(test, then, otherwise):
                return self.of(then if self.truth(test) else otherwise)
            case ast.Subscript(value, index) if not isinstance(index, ast.Slice):
                place = self.of(index)
                if not isinstance(place, Fraction) or place.denominator != 1:
                    raise Rejected("an index is no whole number")
                return self.of(value)[int(place)]
            case ast.Compare(left, ops, others):
                values = [self.of(left)]
                for sign, other in zip(ops, others, strict=True):
                    values.append(self.of(other))
                    if not self.compared(values[-2], sign, values[-1]):
                        return False
                return True
            case ast.Call(ast.Name(name), given):
                return self.called(name, [self.of(g) for g in given])
        raise UnreadCase(f"line {e.lineno} of the program")

    def compared(self, left: Any, op: ast.cmpop, right: Any) -> bool:
        if any(isinstance(v, (NoisyEntry, LastDraw, Old)) for v in (left, right)):
            return self.order(left, op, right)
        if noise_in(left) or noise_in(right) or isinstance(left, Eps) or isinstance(right, Eps):
            raise Rejected("what is compared has noise in it")
        match op:
            case ast.Eq():
                return bool(left == right)
            case ast.NotEq():
                return bool(left != right)
            case ast.In():
                return left in right
            case ast.NotIn():
                return left not in right
            case ast.Lt() | ast.GtE():
                return bool(left < right) is isinstance(op, ast.Lt)
            case _:
                return bool(left > right) is isinstance(op, ast.Gt)

    def calculated(self, op: ast.operator, left: Any, right: Any) -> Any:
        left, right = (Fraction(v) if isinstance(v, bool) else v for v in (left, right))
        match op, left, right:
            case ast.Add(), list(), list():
                return left + right
            case ast.Mult(), Eps(), Fraction():
                return Eps(left.times * right, left.power)
            case ast.Mult(), Fraction(), Eps():
                return Eps(left * right.times, right.power)
            case ast.Div(), Eps(), Fraction():
                return Eps(left.times / right, left.power)
            case ast.Div(), Fraction(), Eps():
                return Eps(left / right.times, -right.power)
            case ((ast.Add() | ast.Sub()), (NoisyEntry() | Fraction()), (NoisyEntry() | Fraction())) if not (
                isinstance(left, Fraction) and isinstance(right, Fraction)
            ):
                one, two = (NoisyEntry(v, 0, ()) if isinstance(v, Fraction) else v for v in (left, right))
                sign = 1 if isinstance(op, ast.Add) else -1
                if sign < 0 and two.entry:
                    raise Rejected("an entry is subtracted")
                return NoisyEntry(
                    one.number + sign * two.number, one.entry + two.entry, one.rates + two.rates
                )
        if not isinstance(left, Fraction) or not isinstance(right, Fraction):
            raise Rejected("what is calculated with is no number")
        match op:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
            case ast.Div():
                return left / right
            case ast.FloorDiv():
                return Fraction(left // right)
            case ast.Mod():
                return left % right
            case ast.Pow() if right.denominator == 1 and abs(right) <= 1000:
                return left ** int(right)
        raise UnreadCase("an operator")

    def called(self, name: str, given: list[Any]) -> Any:
        if name == "laplace":
            (scale,) = given
            if not isinstance(scale, Eps) or scale.power != -1 or scale.times <= 0:
                raise Rejected("a scale is no positive number divided by the parameter")
            return NoisyEntry(Fraction(0), 0, (1 / scale.times,))
        if name == "len":
            return Fraction(len(given[0]))
        numbers = given[0] if len(given) == 1 and isinstance(given[0], list) else given
        if not all(isinstance(v, (Fraction, bool)) for v in numbers):
            raise UnreadCase(f"{name} of what is no number")
        match name, numbers:
            case "range", _:
                return [Fraction(k) for k in range(*map(int, numbers))]
            case "abs", [value]:
                return Fraction(abs(value))
            case "clamp", [value, low, high]:
                return Fraction(max(low, min(high, value)))
            case "min", _:
                return min(numbers)
            case "max", _:
                return max(numbers)
            case "sum", _:
                return sum(numbers, Fraction(0))
        raise UnreadCase(f"the function {name}")


def noise_in(value: Any) -> bool:
    return (
        any(map(noise_in, value))
        if isinstance(value, list)
        else isinstance(value, (NoisyEntry, LastDraw, Old))
    )


def word(value: Any) -> str:
    """Returns an output in words."""
    if isinstance(value, list):
        return f"[{', '.join(map(word, value))}]"
    if isinstance(value, str):
        plain = PLAIN.fullmatch(value) and value not in ("True", "False", NUMBERS[0])
        return value if plain else json.dumps(value)
    if not isinstance(value, (bool, Fraction)):
        raise Rejected("an output that is none")
    return str(value)
