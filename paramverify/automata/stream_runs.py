"""One turn of a stream program, for given outcomes of its comparisons: what it draws, compares and puts out.

A turn is cut into segments: each begins with a draw, and has all that follows until the next one. Only the
last draw can be compared: with values that variables keep. So a segment is a transition of an automaton.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from paramverify.automata.automaton import SAMPLE, SECOND
from paramverify.automata.stream_values import (
    Sample,
    StoredSample,
    StreamExpressions,
    Sum,
    Unit,
    Value,
    has_noise,
)
from paramverify.errors import ProgramError
from paramverify.models.programs.syntax import (
    Assign,
    For,
    If,
    Jump,
    Node,
    Output,
    Place,
    Return,
    Statement,
    While,
)

MAX_STEPS = 10_000  # statements of one turn
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class _Ended(Exception):
    """The run has ended."""


class _LoopLeft(Exception):
    """A loop is left, or goes on."""


@dataclass
class Segment:
    """A draw, and what comes after it until the next one.

    `before` is how many comparisons were decided before the draw. `guards` says for each kept value with
    which the sample was compared whether the sample lies above. `stored` are the variables that keep it.
    """

    draw: Sum | None
    place: Place
    before: int
    guards: dict[str, bool] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    second: Sum | None = None
    stored: frozenset[str] = frozenset()


class StreamTurn(StreamExpressions):
    """Runs statements once; comparisons come out as `given` says, and after these as "above"."""

    def __init__(
        self,
        text: str,
        parameters: Mapping[str, Value],
        start: Mapping[str, Value],
        entry: str,
        given: Sequence[bool],
    ) -> None:
        super().__init__(text, {**parameters, **start})
        self.fixed = frozenset(parameters) | ({entry} if entry else frozenset())
        if entry:
            self.values[entry] = Sum(Fraction(0), reads=True)
        self.entry = entry
        self.given, self.decisions = tuple(given), list[bool]()
        self.segments = [Segment(None, Place(1, 0), 0)]
        self.names: dict[int, str] = {}  # of samples of earlier segments that are kept
        self.steps, self.place = 0, Place(1, 0)
        self.read = self.ended = False
        self.undrawn: dict[str, Place] = {}  # variables with an entry without noise: where they got it
        self.gone: Mapping[str, Place] = {}  # those of earlier turns

    def run(self, body: Sequence[Statement], place: Place) -> StreamTurn:
        """Runs the statements; a turn that does not draw its entry draws it in the end, for nothing."""
        self.place = place
        try:
            self.block(body)
        except _LoopLeft:
            pass  # the loop over the stream goes on
        except _Ended:
            self.ended = True
        if self.entry and not self.ended and not self.read:
            self.draw(Sum(Fraction(0), True, Fraction(1)), place)
        self.close()
        return self

    def left(self) -> tuple[tuple[str, Value], ...]:
        """Returns the variables after the turn; sums that were not drawn are about its entry, and gone."""
        own = {name: v for name, v in self.values.items() if name not in self.fixed}
        return tuple(sorted((n, v) for n, v in own.items() if not _undrawn(v)))

    def lost(self) -> dict[str, Place]:
        """Returns the variables that have an entry without noise after the turn, and where they got it."""
        return {n: place for n, place in self.undrawn.items() if _undrawn(self.values[n])}

    def missing(self, name: str, place: Place) -> ProgramError:
        """Returns the error about a variable without a value; one that had an entry of another turn."""
        if name not in self.gone:
            return super().missing(name, place)
        reason = f"{name} depends on an entry: an entry is compared or put out with noise, in its own turn"
        return self.refuse(f"{reason}; it is not kept, or added to another entry", self.gone[name])

    # --- statements -----------------------------------------------------------------------------------

    def block(self, body: Sequence[Statement]) -> None:
        for statement in body:
            self.steps += 1
            if self.steps > MAX_STEPS:
                raise self.refuse(f"one turn has more than {MAX_STEPS:,} steps", statement.place)
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        match statement:
            case Assign():
                self.assign(statement)
            case If(test, then, otherwise, _):
                self.block(then if self.truth(test) else otherwise)
            case While(test, body, _):
                while self.truth(test):
                    if not self.turn(body):
                        break
            case For(names, values, body, place):
                listed = self.value(values)
                if not isinstance(listed, tuple):
                    raise self.refuse("a loop runs through a list or a range", place)
                for entry in listed:
                    self.several(names, entry, place)
                    if not self.turn(body):
                        break
            case Jump("stop", _):
                raise _Ended
            case Jump(word, _):
                raise _LoopLeft(word)
            case Output(value, _) | Return(value, _):
                self.output(value)
                if isinstance(statement, Return):
                    raise _Ended

    def turn(self, body: Sequence[Statement]) -> bool:
        """Runs the body of an inner loop once; False if it is left."""
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise self.refuse(f"one turn has more than {MAX_STEPS:,} steps", self.place)
        try:
            self.block(body)
        except _LoopLeft as left:
            return left.args != ("break",)
        return True

    def assign(self, statement: Assign) -> None:
        value = self.value(statement.value)
        if not statement.indices:
            self.several(statement.names, value, statement.place)
            return
        name = statement.names[0]
        path = []
        for node in statement.indices:
            number = self.value(node)
            if not isinstance(number, Fraction) or number.denominator != 1:
                raise self.refuse("an index is a whole number", node.place)
            path.append(int(number))
        self.keep(name, path, value, statement.place)

    def several(self, names: Sequence[str], value: Value, place: Place) -> None:
        if len(names) == 1:
            self.keep(names[0], [], value, place)
            return
        if not isinstance(value, tuple) or len(value) != len(names):
            raise self.refuse("this gives another number of values than there are names", place)
        for name, part in zip(names, value, strict=True):
            self.keep(name, [], part, place)

    def keep(self, name: str, path: Sequence[int], value: Value, place: Place) -> None:
        """Assigns a value; sums with noise in it are drawn, one after another."""
        if name in self.fixed:
            raise self.refuse(f"{name} is no variable: choose another name", place)
        found = self.put(name, path, _without_draws(value), place)
        for inner, drawn in list(_draws(value, found)):
            self.put(name, inner, self.draw(drawn, place), place)
        self.check(name, self.values[name], place)
        if _undrawn(self.values[name]):
            self.undrawn[name] = place

    def put(self, name: str, path: Sequence[int], value: Value, place: Place) -> tuple[int, ...]:
        """Puts a value into a variable, or into an entry of it; returns the place, counted from the start."""
        if not path:
            self.values[name] = value
            return ()
        found: list[int] = []

        def replaced(whole: Value, rest: Sequence[int]) -> Value:
            if not rest:
                return value
            if not isinstance(whole, tuple) or not -len(whole) <= rest[0] < len(whole):
                raise self.refuse(f"{name} has no such entry", place)
            number = rest[0] % len(whole)
            found.append(number)
            return (*whole[:number], replaced(whole[number], rest[1:]), *whole[number + 1 :])

        if name not in self.values:
            raise self.refuse(f"{name} has no value here", place)
        self.values[name] = replaced(self.values[name], path)
        return tuple(found)

    def check(self, name: str, value: Value, place: Place) -> None:
        """Checks that a noisy value is kept under the name that it got when it was the last one drawn."""
        if isinstance(value, tuple):
            for k, inner in enumerate(value):
                self.check(f"{name}[{k}]", inner, place)
        elif (isinstance(value, StoredSample) and value.name != name) or self.is_old(value):
            reason = "other noise was drawn since this noisy value got its first name: use that name here"
            raise self.refuse(reason, place)

    def is_old(self, value: Value) -> bool:
        return isinstance(value, Sample) and value.number != len(self.segments) - 1

    # --- noise ----------------------------------------------------------------------------------------

    def draw(self, drawn: Sum, place: Place) -> Sample:
        """Draws a sum: a new segment begins."""
        if drawn.rate is None:
            reason = "an entry of the stream is compared and put out with noise only: x + laplace(4 / eps)"
            raise self.refuse(reason, place)
        if drawn.reads and self.read:
            reason = "the entry has noise already: give that a name, or put a second one out at once"
            raise self.refuse(reason, place)
        self.read = self.read or drawn.reads
        self.close()
        self.segments.append(Segment(drawn, place, len(self.decisions)))
        return Sample(len(self.segments) - 1)

    def close(self) -> None:
        """Ends a segment: what keeps its sample keeps it by its own name from now on."""
        number, stored = len(self.segments) - 1, set[str]()

        def kept(name: str, value: Value) -> Value:
            if isinstance(value, tuple):
                return tuple(kept(f"{name}[{k}]", inner) for k, inner in enumerate(value))
            if value == Sample(number):
                stored.add(name)
                self.names.setdefault(number, name)
                return StoredSample(name)
            return value

        self.values = {n: v if n in self.fixed else kept(n, v) for n, v in self.values.items()}
        self.segments[-1].stored = frozenset(stored)

    def decide(self, left: Value, word: str, right: Value, place: Place) -> bool:
        """Compares the last sample with a kept one."""
        if word in ("==", "!="):
            raise self.refuse("noise is equal to nothing: compare it with < or >=", place)
        if isinstance(left, Sum) and isinstance(right, Sum):
            raise self.refuse("noise is compared with a value that has a name: t = laplace(4 / eps)", place)
        if isinstance(left, Sum):
            left = self.draw(left, place)
            right = self.by_name(right)
        elif isinstance(right, Sum):
            right = self.draw(right, place)
            left = self.by_name(left)
        if self.is_old(left) or self.is_old(right):
            raise self.refuse("this value was drawn before: compare it at once", place)
        pairs = ((left, right), (right, left))
        kept = next((b.name for a, b in pairs if isinstance(a, Sample) and isinstance(b, StoredSample)), None)
        if kept is None:
            if has_noise(left) and has_noise(right):
                reason = "only the noise that was drawn last is compared, with a value that was drawn before"
            else:
                number = next((v for v in (left, right) if isinstance(v, Fraction)), Fraction(5))
                name = next((n for n, v in self.values.items() if v == number and type(v) is Fraction), "t")
                reason = (
                    "noise is compared with noisy values, not with numbers: "
                    f"draw the threshold before the loop, {name} = {number} + laplace(2 / eps)"
                )
            raise self.refuse(reason, place)
        guards = self.segments[-1].guards
        if kept not in guards:
            known = len(self.decisions)
            guards[kept] = self.given[known] if known < len(self.given) else True
            self.decisions.append(guards[kept])
        return guards[kept] is ((word in (">", ">=")) is isinstance(left, Sample))

    def by_name(self, value: Value) -> Value:
        """Returns a sample that was the last one until now by its name."""
        if isinstance(value, Sample) and value.number in self.names:
            return StoredSample(self.names[value.number])
        return value

    def output(self, node: Node) -> None:
        """Adds an output: a word, or the number that was drawn last."""
        value, now = self.value(node), self.segments[-1]
        if isinstance(value, Unit):
            raise self.refuse("a parameter is no output", node.place)
        if not has_noise(value):
            now.words.append(shown(value))
            return
        if isinstance(value, Sum) and value.rate is not None and value.reads and self.read:
            if now.draw is None or not now.draw.reads or now.second not in (None, value):
                reason = "put out the second noise of an entry before other noise is drawn"
                raise self.refuse(reason, node.place)
            now.second = value
            now.words.append(SECOND)
            return
        if isinstance(value, Sum):
            value = self.draw(value, node.place)
        if not isinstance(value, Sample):
            reason = "put out a noisy number before the next noise is drawn, and alone, not in a list"
            raise self.refuse(reason, node.place)
        self.segments[-1].words.append(SAMPLE)


def shown(value: Value) -> str:
    """Returns a word of the output; different values have different words, and none is that of a number."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, str):
        plain = _WORD.fullmatch(value) and value not in ("True", "False", SAMPLE)
        return value if plain else json.dumps(value)
    return str(value)


def _undrawn(value: Value) -> bool:
    return any(map(_undrawn, value)) if isinstance(value, tuple) else isinstance(value, Sum)


def _without_draws(value: Value) -> Value:
    """Returns a value with 0 for sums with noise, which are drawn later."""
    if isinstance(value, tuple):
        return tuple(map(_without_draws, value))
    return Fraction(0) if isinstance(value, Sum) and value.rate is not None else value


def _draws(value: Value, path: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Sum]]:
    if isinstance(value, tuple):
        for k, inner in enumerate(value):
            yield from _draws(inner, (*path, k))
    elif isinstance(value, Sum) and value.rate is not None:
        yield path, value
