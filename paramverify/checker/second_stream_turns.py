"""A second reading of programs over streams: one turn, for given answers of its comparisons.

The program runs on Python's own tree. Standard library only, and no code of the first reader.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from .second_stream_values import NUMBERS, LastDraw, NoisyEntry, Old, StreamEvaluator, noise_in, word
from .second_values import with_two_names
from .strict import Rejected, UnreadCase

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
