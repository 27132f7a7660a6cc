"""A second reading of programs over streams: one turn, for given answers of its comparisons.

Standard library only, and no code of the first reader.
"""

from __future__ import annotations

import ast
import json
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

from ..kernel.strict_reading import Rejected, UnreadCase
from .second_trees import GoOn, Interpreter, Leave, Stop, statements, stream_loop
from .second_values import Entry, PowerSum, plain, rate, with_two_names

MAX_STEPS = 20_000  # of one turn
Path = tuple[int, ...]  # to an entry of a list

NUMBERS = ("insample", "insample'")
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


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


def changed(value: Any, at: Path, change: Callable[[Any, Path], Any]) -> Any:
    """Returns a value whose entries are changed, each with its path; lists without a change stay the same."""
    if not isinstance(value, list):
        return change(value, at)
    entries = [changed(own, (*at, k), change) for k, own in enumerate(value)]
    return value if all(map(operator.is_, entries, value)) else entries


def called(name: str, at: Path) -> str:
    """Returns the name of an entry of a variable."""
    return name + "".join(f"[{k}]" for k in at)


def noise_in(value: Any) -> bool:
    return (
        any(map(noise_in, value))
        if isinstance(value, list)
        else isinstance(value, (NoisyEntry, LastDraw, Old))
    )


def in_words(value: Any) -> str:
    """Returns an output in words."""
    if isinstance(value, list):
        return f"[{', '.join(map(in_words, value))}]"
    if isinstance(value, str):
        is_plain = PLAIN.fullmatch(value) and value not in ("True", "False", NUMBERS[0])
        return value if is_plain else json.dumps(value)
    if not isinstance(value, (bool, Fraction)):
        raise Rejected("an output of an unknown form")
    return str(value)


@dataclass
class TurnSegment:
    """What comes between two draws: guards in the order of the run, outputs, and who stores the sample."""

    kind: NoisyEntry | None
    guards: list[tuple[str, bool]] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    second: NoisyEntry | None = None
    stored: set[str] = field(default_factory=set)

    @property
    def reads(self) -> bool:
        """Whether an entry is drawn."""
        return self.kind is not None and self.kind.entry > 0


class ProgramTurn(Interpreter):
    """One turn of the program, with given answers for its comparisons; the others are true."""

    chooses = False

    def __init__(self, program: StreamProgram, start: dict[str, Any] | None, answers: Sequence[bool]) -> None:
        self.program, self.answers, self.asked = program, list(answers), 0
        self.inside = start is not None
        self.own: dict[str, Any] = dict(start or {})
        self.segments = [TurnSegment(None)]
        self.steps, self.over = 0, False

    def go(self) -> ProgramTurn:
        try:
            self.block(self.program.loop.body if self.inside else self.program.first)
        except (Stop, Leave):
            self.over = True
        except GoOn:
            pass
        if self.inside and not self.over and not any(s.reads for s in self.segments):
            self.draw(NoisyEntry(Fraction(0), 1, (Fraction(1),)))
        self.shut()
        return self

    def after(self) -> dict[str, Any]:
        def undrawn(value: Any) -> bool:
            return any(map(undrawn, value)) if isinstance(value, list) else isinstance(value, NoisyEntry)

        return {name: value for name, value in self.own.items() if not undrawn(value)}

    # --- statements and expressions --------------------------------------------------------------------

    def count(self) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise UnreadCase("a turn of the stream is too long")

    def assign(self, target: ast.expr, value: Entry) -> None:
        parts = getattr(target, "elts", ())
        if any(isinstance(part, ast.Subscript) for part in parts):
            raise UnreadCase("entries of lists that are assigned together")
        super().assign(target, value)

    def store(self, target: ast.expr, value: Entry) -> None:
        path: Path = ()
        while isinstance(target, ast.Subscript):
            path = (self.index(target.slice), *path)
            target = target.value
        if not isinstance(target, ast.Name):
            raise UnreadCase("what is assigned has no name")
        self.put(target.id, path, value)

    def name(self, name: str) -> Entry:
        if self.inside and name == self.program.entry:
            return NoisyEntry(Fraction(0), 1, ())
        return self.program.constants[name] if name in self.program.constants else self.own[name]

    def truth(self, value: Entry) -> bool:
        if not isinstance(value, bool):
            raise Rejected("a test is neither true nor false")
        return value

    def compared(self, word: str, left: Entry, right: Entry) -> bool:
        if any(isinstance(v, (NoisyEntry, LastDraw, Old)) for v in (left, right)):
            return self.order(left, word, right)
        if noise_in(left) or noise_in(right) or isinstance(left, PowerSum) or isinstance(right, PowerSum):
            raise Rejected("what is compared has noise in it")
        return super().compared(word, left, right)

    def calculated(self, word: str, left: Entry, right: Entry) -> Entry:
        if not any(isinstance(v, (NoisyEntry, LastDraw, Old)) for v in (left, right)):
            return super().calculated(word, left, right)
        if word not in ("Add", "Sub") or any(isinstance(v, (LastDraw, Old)) for v in (left, right)):
            raise Rejected("what is calculated with is not a number")
        one, two = (v if isinstance(v, NoisyEntry) else NoisyEntry(plain(v), 0, ()) for v in (left, right))
        if word == "Sub" and two.entry:
            raise Rejected("an entry is subtracted")
        number = super().calculated(word, one.number, two.number)
        return NoisyEntry(number, one.entry + two.entry, one.rates + two.rates)

    def applied(self, name: str, given: Sequence[Entry]) -> Entry:
        if name != "laplace":
            return super().applied(name, given)
        (scale,) = given
        factor, parameter = rate(scale)
        if not parameter:
            raise Rejected("a scale is not a positive number divided by the parameter")
        return NoisyEntry(Fraction(0), 0, (factor,))

    def put(self, name: str, path: Path, value: Any) -> None:
        """Assigns, without noise first, and then draws all noise in the value in its order."""
        waiting: list[tuple[Path, NoisyEntry]] = []

        def cleared(part: Any, at: Path) -> Any:
            if isinstance(part, NoisyEntry) and part.rates:
                waiting.append((at, part))
                return Fraction(0)
            return part

        self.write(name, path, changed(value, path, cleared))
        for at, noise in waiting:
            self.draw(noise)
            self.write(name, at, LastDraw())

        def checked(part: Any, at: Path) -> Any:
            if isinstance(part, Old) and part.name != called(name, at):
                raise Rejected(f"{called(name, at)} keeps the value of {part.name}")
            return part

        changed(self.own[name], (), checked)

    def write(self, name: str, path: Path, value: Any) -> None:
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
        if any(s.kind is noise or (noise.entry and s.reads) for s in self.segments):
            raise Rejected("an entry, or one noise, is drawn twice")
        self.shut()
        self.segments.append(TurnSegment(noise))
        return LastDraw()

    def shut(self) -> None:
        def old(name: str, value: Any, at: Path) -> Any:
            if isinstance(value, LastDraw):
                self.segments[-1].stored.add(called(name, at))
                return Old(called(name, at))
            return value

        if any(map(noise_in, with_two_names(self.own))):
            raise UnreadCase("a list with noise has two names")
        self.own = {name: changed(value, (), partial(old, name)) for name, value in self.own.items()}

    def known(self, value: Any) -> Any:
        """What was the last draw until now is one of before, if it has a name."""
        stored = self.segments[-2].stored
        if not isinstance(value, LastDraw):
            return value
        if len(stored) > 1:
            names = ", ".join(sorted(stored))
            raise UnreadCase(f"one draw has the names {names}, and is compared with another draw")
        return Old(*stored)

    def order(self, left: Any, word: str, right: Any) -> bool:
        """Compares noise."""
        if word in ("==", "!="):
            raise Rejected("noise is compared for equality")
        fresh = [isinstance(v, NoisyEntry) for v in (left, right)]
        if any(fresh):
            self.draw(left if fresh[0] else right)
            other = self.known(right if fresh[0] else left)
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
        return larger if word in (">", ">=") else not larger

    def tell(self, value: Any) -> None:
        now = self.segments[-1]
        if isinstance(value, NoisyEntry):
            again = value.entry and any(s.reads for s in self.segments)
            if again:
                own = now.reads and len(value.rates) == 1
                if not own or now.second not in (None, value):
                    raise Rejected("a second noise of an entry is output too late")
                now.second = value
                now.told.append(NUMBERS[1])
                return
            value = self.draw(value)
        if isinstance(value, LastDraw):
            self.segments[-1].told.append(NUMBERS[0])
            return
        now.told.append(in_words(value))


class StreamProgram:
    """The text of a program over a stream, and the values of its parameters."""

    def __init__(self, text: str, constants: dict[str, Any]) -> None:
        self.constants = constants
        body = statements(text)
        found = stream_loop(body)
        if found is None:
            raise Rejected("the last statement is no loop over a stream")
        self.entry, self.loop, values = found
        self.first = body[:-1]
        self.values = ProgramTurn(self, None, ()).of(values)

    def turns(self, start: dict[str, Any] | None, answers: Sequence[bool]) -> Iterator[ProgramTurn]:
        """Yields all turns from a start that begin with these answers."""
        waiting = [list(answers)]
        while waiting:
            given = waiting.pop()
            turn = ProgramTurn(self, start, given).go()
            for k in range(len(given), len(turn.answers)):
                waiting.append([*turn.answers[:k], False])
            yield turn
