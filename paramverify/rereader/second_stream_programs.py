"""A second reading of programs over streams: one turn, for given answers of its comparisons.

The program runs on Python's own tree. Standard library only, and no code of the first reader.
"""

from __future__ import annotations

import ast
import json
import operator
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

from ..kernel.strict_reading import Rejected, UnreadCase
from .second_values import with_two_names

# --- second stream values ---------------------------------------------------------------------------

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


# --- a second reading of programs over streams: one turn, for given answers of its comparisons ------

MAX_STEPS = 20_000


class Finish(Exception):
    """The run is over."""


class LoopContinues(Exception):
    """The inner loop goes on, or the turn does."""


class Leave(Exception):
    """The inner loop is over."""


@dataclass
class TurnSegment:
    """What comes between two draws: guards in the order of the run, outputs, and who stores the sample."""

    kind: NoisyEntry | None
    guards: list[tuple[str, bool]] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    second: NoisyEntry | None = None
    stored: set[str] = field(default_factory=set)


class ProgramTurn(StreamEvaluator):
    """One turn of the program, with given answers for its comparisons; further ones are asked by `more`."""

    program: StreamProgram

    def __init__(self, program: StreamProgram, start: dict[str, Any] | None, answers: Sequence[bool]) -> None:
        self.program, self.answers, self.asked = program, list(answers), 0
        self.inside = start is not None
        self.own: dict[str, Any] = dict(start or {})
        self.segments = [TurnSegment(None)]
        self.steps, self.over = 0, False

    def go(self) -> ProgramTurn:
        try:
            self.body(self.program.loop.body if self.inside else self.program.first)
        except (Finish, Leave):
            self.over = True
        except LoopContinues:
            pass
        if self.inside and not self.over and not any(s.kind and s.kind.entry for s in self.segments):
            self.draw(NoisyEntry(Fraction(0), 1, (Fraction(1),)))
        self.shut()
        return self

    def after(self) -> dict[str, Any]:
        def undrawn(value: Any) -> bool:
            return any(map(undrawn, value)) if isinstance(value, list) else isinstance(value, NoisyEntry)

        return {name: value for name, value in self.own.items() if not undrawn(value)}

    # --- statements -----------------------------------------------------------------------------------

    def body(self, statements: Sequence[ast.stmt]) -> None:
        for s in statements:
            self.steps += 1
            if self.steps > MAX_STEPS:
                raise UnreadCase("a turn of the stream is too long")
            self.one(s)

    def one(self, s: ast.stmt) -> None:
        match s:
            case ast.Pass():
                return
            case ast.Continue():
                raise LoopContinues
            case ast.Break():
                raise Leave
            case ast.Return(value):
                if value is not None:
                    self.tell(self.of(value))
                raise Finish
            case ast.Expr(ast.Name("stop")) | ast.Expr(ast.Call(ast.Name("stop"))):
                raise Finish
            case ast.Expr(ast.Call(ast.Name("output"), [value])):
                self.tell(self.of(value))
            case ast.If(test, then, otherwise):
                self.body(then if self.truth(test) else otherwise)
            case ast.While(test, inner):
                while self.truth(test) and self.turned(inner):
                    self.steps += 1
                    if self.steps > MAX_STEPS:
                        raise UnreadCase("a loop is too long")
            case ast.For(target, values, inner):
                listed = self.of(values)
                if not isinstance(listed, list):
                    raise Rejected("a loop over what is no list")
                for value in listed:
                    self.assign(target, value)
                    if not self.turned(inner):
                        break
            case ast.Assign([target], ast.Tuple(parts)):
                self.assign(target, [self.of(part) for part in parts])
            case ast.Assign([target], value):
                self.assign(target, self.of(value))
            case ast.AugAssign(target, op, value):
                read = ast.parse(ast.unparse(target), mode="eval").body
                self.assign(target, self.calculated(op, self.of(read), self.of(value)))
            case _:
                raise UnreadCase(f"line {s.lineno} of the program")

    def turned(self, inner: Sequence[ast.stmt]) -> bool:
        try:
            self.body(inner)
        except LoopContinues:
            return True
        except Leave:
            return False
        return True

    def assign(self, target: ast.expr, value: Any) -> None:
        match target:
            case ast.Name(name):
                self.put(name, [], value)
            case ast.Tuple(parts) | ast.List(parts):
                if any(isinstance(p, ast.Subscript) for p in parts):
                    raise UnreadCase("entries of lists that are assigned together")
                for part, own in zip(parts, value, strict=True):
                    self.assign(part, own)
            case ast.Subscript():
                path: list[int] = []
                while isinstance(target, ast.Subscript):
                    path.insert(0, int(self.of(target.slice)))
                    target = target.value
                if not isinstance(target, ast.Name):
                    raise UnreadCase("what is assigned has no name")
                self.put(target.id, path, value)
            case _:
                raise UnreadCase("what is assigned has no name")

    def put(self, name: str, path: list[int], value: Any) -> None:
        """Assigns, without noise first, and then draws all noise in the value in its order."""
        waiting: list[tuple[list[int], NoisyEntry]] = []

        def cleared(part: Any, at: list[int]) -> Any:
            if isinstance(part, list):
                clear = [cleared(own, [*at, k]) for k, own in enumerate(part)]
                return part if all(map(operator.is_, clear, part)) else clear
            if isinstance(part, NoisyEntry) and part.rates:
                waiting.append((at, part))
                return Fraction(0)
            return part

        self.write(name, path, cleared(value, path))
        for at, noise in waiting:
            self.draw(noise)
            self.write(name, at, LastDraw())

        def check(part: Any, called: str) -> None:
            if isinstance(part, list):
                for k, own in enumerate(part):
                    check(own, f"{called}[{k}]")
            elif isinstance(part, Old) and part.name != called:
                raise Rejected(f"{called} keeps the value of {part.name}")

        check(self.own[name], name)

    def write(self, name: str, path: list[int], value: Any) -> None:
        if name in (*self.program.constants, self.program.entry if self.inside else ""):
            raise Rejected(f"{name} is assigned")
        if not path:
            self.own[name] = value
            return
        part = self.own[name]
        shared = {id(found) for found in with_two_names(self.own)}
        for k in [*path[:-1], None]:
            if id(part) in shared:
                raise UnreadCase("a list that has two names is changed")
            part = part if k is None else part[k]
        part = self.own[name] = list(self.own[name])
        for k in path[:-1]:
            part[k] = list(part[k])
            part = part[k]
        part[path[-1]] = value

    # --- noise ----------------------------------------------------------------------------------------

    def draw(self, noise: NoisyEntry) -> LastDraw:
        if len(noise.rates) != 1 or noise.entry not in (0, 1):
            raise Rejected("a draw has one noise, and one entry at most")
        if noise.entry and any(s.kind and s.kind.entry for s in self.segments):
            raise Rejected("an entry is drawn twice")
        self.shut()
        self.segments.append(TurnSegment(noise))
        return LastDraw()

    def shut(self) -> None:
        def old(value: Any, name: str) -> Any:
            if isinstance(value, list):
                entries = [old(own, f"{name}[{k}]") for k, own in enumerate(value)]
                return value if all(map(operator.is_, entries, value)) else entries
            if isinstance(value, LastDraw):
                self.segments[-1].stored.add(name)
                return Old(name)
            return value

        if any(map(noise_in, with_two_names(self.own))):
            raise UnreadCase("a list with noise has two names")
        self.own = {name: old(value, name) for name, value in self.own.items()}

    def known(self, value: Any, before: set[str]) -> Any:
        """What was the last draw until now is one of before, if it has a name."""
        stored = self.segments[-2].stored
        if isinstance(value, LastDraw) and before:
            return Old(min(stored, key=list(self.own).index) if len(stored) == 1 else self._first(stored))
        return value

    def _first(self, stored: set[str]) -> str:
        raise UnreadCase(
            f"one draw has the names {', '.join(sorted(stored))}, and is compared with another draw"
        )

    def order(self, left: Any, op: ast.cmpop, right: Any) -> bool:
        """Compares noise."""
        if not isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
            raise Rejected("noise is compared for equality")
        fresh = [isinstance(v, NoisyEntry) for v in (left, right)]
        if all(fresh):
            raise Rejected("two draws are compared, none of which has a name")
        if any(fresh):
            self.draw(left if fresh[0] else right)
            other = self.known(right if fresh[0] else left, self.segments[-2].stored)
            left, right = (LastDraw(), other) if fresh[0] else (other, LastDraw())
        match left, right:
            case LastDraw(), Old(name):
                first = True
            case Old(name), LastDraw():
                first = False
            case _:
                raise Rejected("noise is compared with what is no kept noise")
        now = self.segments[-1]
        above = dict(now.guards).get(name)
        if above is None:
            above = self.answers[self.asked] if self.asked < len(self.answers) else True
            if self.asked >= len(self.answers):
                self.answers.append(True)
            self.asked += 1
            now.guards.append((name, above))
        larger = above if first else not above
        return larger if isinstance(op, (ast.Gt, ast.GtE)) else not larger

    def tell(self, value: Any) -> None:
        now = self.segments[-1]
        if isinstance(value, NoisyEntry):
            again = value.entry and any(s.kind and s.kind.entry for s in self.segments)
            if again:
                own = now.kind and now.kind.entry and len(value.rates) == 1
                if not own or now.second not in (None, value):
                    raise Rejected("a second noise of an entry is put out too late")
                now.second = value
                now.told.append(NUMBERS[1])
                return
            value = self.draw(value)
        if isinstance(value, LastDraw):
            self.segments[-1].told.append(NUMBERS[0])
            return
        now.told.append(word(value))


class StreamProgram:
    """The text of a program over a stream, and the values of its parameters."""

    def __init__(self, text: str, constants: dict[str, Any]) -> None:
        self.text, self.constants = text, constants
        try:
            body = ast.parse(text).body
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            raise UnreadCase("the text is no program") from None
        if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body = body[1:]
        match body[-1]:
            case ast.For(ast.Name(entry), ast.Call(ast.Name("stream"), [], [ast.keyword("values", values)])):
                self.entry, self.loop, self.first = entry, body[-1], body[:-1]
                self.any_number = isinstance(values, ast.Constant) and values.value == "real"
                self.values = values
            case _:
                raise Rejected("the last statement is no loop over a stream")

    def literal(self, node: ast.Constant) -> Fraction:
        written = ast.get_source_segment(self.text, node) or ""
        if not isinstance(node.value, (int, float)) or len(written) > 100:
            raise UnreadCase(f"line {node.lineno} of the program has a constant of another kind")
        return Fraction(written.replace("_", ""))

    def turns(self, start: dict[str, Any] | None, answers: Sequence[bool]) -> Iterator[ProgramTurn]:
        """Yields all turns from a start that begin with these answers."""
        waiting = [list(answers)]
        while waiting:
            given = waiting.pop()
            turn = ProgramTurn(self, start, given).go()
            for k in range(len(given), len(turn.answers)):
                waiting.append([*turn.answers[:k], False])
            yield turn
