"""How one output comes about.

The runs of a program on one input, event by event, with their probabilities.

The engine merges runs that cannot be told apart. Here a state keeps a trace of its draws, comparisons and
branches, and no two are merged. A run is left as soon as its outputs are no beginning of the wanted ones.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache

from paramverify.algebra.polynomials import RationalFunction
from paramverify.errors import SizeError
from paramverify.models.context import Checks
from paramverify.models.programs.expression_values import Evaluator
from paramverify.models.programs.noise_terms import Terms, plus_terms
from paramverify.models.programs.noisy_numbers import Comparing, Found, Split, now
from paramverify.models.programs.program_reading import NOISE
from paramverify.models.programs.program_running import Left, ProgramRun
from paramverify.models.programs.program_syntax import (
    Apply,
    Ask,
    Assign,
    Call,
    Choice,
    For,
    If,
    Literal,
    Node,
    Place,
    Program,
    Statement,
    While,
    every_statement,
)
from paramverify.models.programs.run_states import Input, Linear, Outputs, ProgramState, Value, pruned
from paramverify.models.programs.static_analysis import NOTHING, After, Live

OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_MARK = "\x00"  # around the number of noise, behind the name of a variable, until the whole run is known
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


@dataclass(frozen=True)
class TraceEvent:
    """What a run does at a place, in words; `key` is what it has in common with runs on other inputs.

    `starts` tells whether a step starts with it, also in the line of the one before.
    """

    key: Hashable
    place: Place
    words: str = ""
    starts: bool = False


@dataclass(frozen=True)
class BranchEvent(TraceEvent):
    """A branch that a run takes, or does not take."""

    truth: bool = True


@dataclass(frozen=True)
class TurnEvent(TraceEvent):
    """A turn of a loop; its words say what the loop gives."""


@dataclass(frozen=True)
class PartEvent(TraceEvent):
    """The outcome of a part of an expression: no line has it as its own."""


@dataclass(frozen=True)
class DrawEvent(TraceEvent):
    """Noise that a run draws: its number."""

    noise: int = 0


@dataclass(frozen=True)
class _Joined:
    """Noise that stands for the sum of two others."""

    total: int
    parts: tuple[int, int]


def keys_of(trace: Iterable[object]) -> tuple[Hashable, ...]:
    """Returns what a path has in common with one on another input."""
    return tuple(event.key for event in trace if isinstance(event, TraceEvent))


def comparison(text: str, value: Linear, word: str, state: ProgramState, line: int) -> str:
    """Returns `value word 0` in words: noise is told by a variable that has it now, or by its draw."""
    value = _expanded(now(value, state), state)
    known = _variables(state)
    constant = value.constant
    sides: tuple[list[str], list[str]] = ([], [])
    for name, slope in value.slopes:
        label, moved = known.get(name) or (_draw(text, name, state, line), Fraction(0))
        label += f"{_MARK}{name}{_MARK}" if name in known else ""
        constant -= slope * moved
        factor = "" if abs(slope) == 1 else f"{abs(slope)}*"
        sides[slope < 0].append(factor + (f"({label})" if factor and " " in label else label))
    if not sides[0]:
        sides, word, constant = (sides[1], []), _TURNED[word], -constant
    left, right = (
        " + ".join(f"({s})" if len(side) > 1 and " at " in s else s for s in side) for side in sides
    )
    if not right:
        return f"{left} {word} {-constant}"
    if not constant:
        return f"{left} {word} {right}"
    right = f"({right})" if " at " in right and len(sides[1]) == 1 else right
    return f"{left} {word} {right} {'+' if constant < 0 else '-'} {abs(constant)}"


def _expanded(value: Value, state: ProgramState) -> Linear:
    """Returns a number by the noise that was drawn: sums are told by their parts."""
    joined = {e.total: e.parts for e in state.trace if isinstance(e, _Joined)}
    assert isinstance(value, Linear)
    while True:
        total = next((name for name in value.names if name in joined), None)
        if total is None:
            return value
        slope = dict(value.slopes)[total]
        found: Linear | Fraction = Linear(value.slopes, value.constant)
        for part, times in ((total, -slope), *((part, slope) for part in joined[total])):
            one = Linear(((part, Fraction(1)),))
            found = found.plus(one, times) if isinstance(found, Linear) else one.scaled(times)
        assert isinstance(found, Linear)
        value = found


def _variables(state: ProgramState) -> dict[int, tuple[str, Fraction]]:
    """Returns for noise a variable that is it and a number, with the number."""
    found: dict[int, tuple[str, Fraction]] = {}
    pending = [(n, now(v, state)) for n, v in sorted(state.values.items()) if n.isidentifier()]
    while pending:
        name, value = pending.pop(0)
        if isinstance(value, tuple):
            pending += [(f"{name}[{k}]", entry) for k, entry in enumerate(value)]
        elif isinstance(value, Linear) and len(value.slopes) == 1 and value.slopes[0][1] == 1:
            found.setdefault(value.names[0], (name, value.constant))
    return found


def _draw(text: str, noise: int, state: ProgramState, line: int) -> str:
    """Returns the words for noise that no variable has: its call, with the line if that is not this one."""
    drawn = [event for event in state.trace if isinstance(event, DrawEvent)]
    event = next((e for e in drawn if e.noise == noise), None)
    if event is None:
        return "noise"
    call, at = segments(text).get(event.place, "the noise"), event.place.line
    alike = [e for e in drawn if e.place.line == at and segments(text).get(e.place) == call]
    apart = len({e.place for e in alike}) > 1
    if at == line and event is alike[-1] and not apart:
        return call
    return (
        f"{call} at line {at}" if len(alike) == 1 else f"draw {alike.index(event) + 1} of {call} at line {at}"
    )


def settled(words: str, trace: Iterable[object]) -> str:
    """Returns words in which noise that one line draws several times has the turn of its loop, or a number.

    `trace` is that of the whole run. So two draws that one variable has, one after the other, are told apart.
    """
    parts = words.split(_MARK)
    if len(parts) == 1:
        return words
    marks = _turns([event for event in trace if isinstance(event, TraceEvent)])
    return "".join(marks.get(int(part), "") if k % 2 else part for k, part in enumerate(parts))


def _turns(events: Iterable[TraceEvent]) -> dict[int, str]:
    """Returns what tells noise apart from other draws at the same place: `" (i = 1)"` or `" (draw 2)"`."""
    found: dict[Place, list[tuple[int, str]]] = {}
    turn = ""
    for event in events:
        if isinstance(event, TurnEvent):
            turn = event.words
        elif isinstance(event, DrawEvent):
            found.setdefault(event.place, []).append((event.noise, turn))
    marks = {}
    for drawn in found.values():
        turns = [told for _, told in drawn]
        apart = all(turns) and len(set(turns)) == len(turns)
        for number, (noise, told) in enumerate(drawn, start=1):
            if len(drawn) > 1:
                marks[noise] = f" ({told if apart else f'draw {number}'})"
    return marks


def noted(before: ProgramState, after: ProgramState, event: TraceEvent) -> ProgramState:
    """Returns a state with one more event; what was noted on the way to it is left out."""
    joined = []
    for gone, alias in after.aliases.items():
        if gone not in before.aliases:
            slopes = dict(alias.slopes)
            (kept,), (total,) = ([n for n, k in slopes.items() if k == sign] for sign in (-1, 1))
            joined.append(_Joined(total, (gone, kept)))
    return replace(after, trace=(*before.trace, *joined, event))


def last_only(before: ProgramState, after: ProgramState) -> ProgramState:
    """Returns a state whose last event says what the other new ones do."""
    new = after.trace[len(before.trace) :]
    events = [e for e in new if isinstance(e, TraceEvent)]
    kept = [e for e in new if not isinstance(e, TraceEvent)]
    return replace(after, trace=(*before.trace, *kept, *events[-1:]))


@lru_cache(maxsize=8)
def segments(text: str) -> Mapping[Place, str]:
    """Returns the text of each call in a program, by its place."""
    lines = text.split("\n")
    found: dict[Place, str] = {}
    for tree in ast.walk(ast.parse(text)):
        if isinstance(tree, ast.Call):
            column = len(lines[tree.lineno - 1].encode()[: tree.col_offset].decode())
            found[Place(tree.lineno, column)] = " ".join((ast.get_source_segment(text, tree) or "").split())
    return found


def plain(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(plain, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value)


MAX_WORK = 5_000  # steps of all runs together that are looked at

Shown = Callable[[Outputs], str]


@dataclass(frozen=True)
class Step:
    """A line of the program that a run takes: its text, and what happens there, in words.

    `taken` is the outcome of the test of an `if` or `while`. `first` is the number of its first event.
    """

    line: int
    text: str
    words: tuple[str, ...]
    first: int
    taken: bool | None = None


@dataclass(frozen=True, eq=False)
class RunPath:
    """All runs with the same draws of finite choices, outcomes of comparisons, and branches.

    `probability` is exact: that of the path with the wanted output, given the input.
    """

    keys: tuple[Hashable, ...]
    steps: tuple[Step, ...]
    probability: RationalFunction


class _Comparing(Comparing):
    """Comparisons that leave their outcome in the trace."""

    def compared(self, place: Place, word: str, value: Linear, state: ProgramState) -> Split:
        yes, no = super().compared(place, word, value, state)
        for part, truth, told in ((yes, True, word), (no, False, OPPOSITE[word])):
            words = comparison(self.text, value, told, state, place.line) if part else ""
            part[:] = [noted(state, s, TraceEvent((place, word, truth), place, words)) for s in part]
        return yes, no

    def finite(self, place: Place, value: Value, state: ProgramState, reason: str) -> Found:
        found = super().finite(place, value, state, reason)
        if not isinstance(value, Linear):
            return found
        told: Found = []
        for s, number in found:
            assert isinstance(number, Fraction)
            against = value.plus(-number)
            assert isinstance(against, Linear)
            words = comparison(self.text, against, "==", state, place.line)
            told.append((noted(state, s, TraceEvent((place, number), place, words)), number))
        return told

    def clamped(self, place: Place, given: Sequence[Value], state: ProgramState) -> Found:
        found = super().clamped(place, given, state)
        return [(s if isinstance(v, Linear) else last_only(state, s), v) for s, v in found]


class _Evaluator(Evaluator):
    """Expressions whose draws are left in the trace."""

    @property
    def comparing(self) -> Comparing:
        return _Comparing(self.program.text)

    def operation(self, node: Apply, given: list[Value], state: ProgramState) -> Found:
        found = super().operation(node, given, state)
        return [self._drawn(node, s, v) for s, v in found] if node.operator in NOISE else found

    def choice(self, node: Choice, state: ProgramState) -> Found:
        return [self._drawn(node, s, v) for s, v in super().choice(node, state)]

    def asked(self, node: Ask, state: ProgramState) -> Found:
        return [self._drawn(node, s, v) for s, v in super().asked(node, state)]

    def _drawn(
        self, node: Apply | Ask | Choice, state: ProgramState, value: Value
    ) -> tuple[ProgramState, Value]:
        place = node.place
        if isinstance(value, Linear):
            event: TraceEvent = DrawEvent((place, "noise"), place, noise=value.names[0])
        else:
            words = f"{segments(self.program.text).get(place, 'the draw')} is {plain(value)}"
            event = TraceEvent((place, value), place, words)
        return replace(state, trace=(*state.trace, event)), value


@dataclass(eq=False)
class _Paths(ProgramRun):
    """Runs that are kept apart; with `wanted`, those only that have these keys."""

    target: str | None = ""  # None: any output
    shown: Shown = str
    wanted: tuple[Hashable, ...] | None = None
    work: int = 0
    reached: int = 0  # so many of the wanted keys occur with a positive probability
    ended: dict[tuple[Hashable, ...], tuple[tuple[object, ...], Terms]] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)  # the outputs, where any is wanted
    loops: frozenset[Place] = frozenset()

    def kept(self, states: Iterable[ProgramState]) -> list[ProgramState]:
        """Returns the states that may still lead to the output, along the wanted path."""
        found = [s for s in states if self._leads_on(s)]
        self.work += len(found)
        if self.work > MAX_WORK:
            raise SizeError("too many runs have this output to list them")
        return found

    def _leads_on(self, state: ProgramState) -> bool:
        if not self._is_start(state.outputs):
            return False
        if self.wanted is None:
            return True
        keys = keys_of(state.trace)
        if keys != self.wanted[: len(keys)]:
            return False
        if len(keys) > self.reached:
            if not state.measure.without(state.measure.whole).scalar:
                return False
            self.reached = len(keys)
        return True

    def _is_start(self, outputs: Outputs) -> bool:
        """Tells whether outputs may be the first ones of the target."""
        if self.target is None or not outputs:
            return True
        told = self.shown(outputs)
        return told == self.target or self.target.startswith(f"{told}, ")

    def merged(self, states: list[ProgramState], live: Live) -> list[ProgramState]:
        after = (pruned(s, live) for s in self.kept(states))
        return [s for s in after if not s.measure.is_empty]

    def tested(self, statement: If | While, test: Node, state: ProgramState) -> Split:
        yes, no = super().tested(statement, test, state)
        return self._branch(statement, yes, True), self._branch(statement, no, False)

    def _branch(self, statement: If | While, states: list[ProgramState], truth: bool) -> list[ProgramState]:
        if isinstance(statement, While) and statement.test == Literal(True, statement.place):
            return self.kept(states)  # made by `lifted`: the test stands in the loop
        key = (statement.place, truth)
        event: TraceEvent = BranchEvent(key, statement.place, truth=truth)
        if isinstance(statement, If) and statement.part:
            event = PartEvent(("part", *key), statement.place)
        return self.kept(replace(s, trace=(*s.trace, event)) for s in states)

    def statement(self, statement: Statement, states: list[ProgramState], after: After) -> Left:
        left = super().statement(statement, states, after)
        if isinstance(statement, Assign) and statement.place in self.loops:
            left.end = self.kept(self._turn(statement, s) for s in left.end)
        return left

    def _turn(self, statement: Assign, state: ProgramState) -> ProgramState:
        given = {name: state.values[name] for name in statement.names}
        words = ", ".join(
            f"{n} = {plain(v)}" for n, v in given.items() if isinstance(v, (Fraction, str, bool))
        )
        event = TurnEvent((statement.place, "turn"), statement.place, words, starts=True)
        return replace(state, trace=(*state.trace, event))

    def called(self, statement: Assign, call: Call, state: ProgramState, after: After) -> list[ProgramState]:
        event = TraceEvent((call.place, "call"), statement.place, starts=True)
        return super().called(statement, call, replace(state, trace=(*state.trace, event)), after)

    def put(self, value: Node, state: ProgramState, place: Place) -> list[ProgramState]:
        found = super().put(value, state, place)
        if any(s.released for s in found):
            raise SizeError("runs that output noisy numbers cannot be listed")
        told = [] if isinstance(value, Literal) else [self.shown(s.outputs[-1:]) for s in found]
        words = [f"output {t}" for t in told] or [""] * len(found)
        events = [TraceEvent((place, "output"), place, w) for w in words]
        return self.kept(replace(s, trace=(*s.trace, e)) for s, e in zip(found, events, strict=True))

    def finish(self, state: ProgramState) -> None:
        terms = pruned(replace(state, values={}), NOTHING).measure.scalar
        told = self.shown(state.outputs)
        if not terms or self.target not in (None, told) or not self.kept([state]):
            return
        self.told.add(told)
        keys = keys_of(state.trace)
        trace, known = self.ended.get(keys, (state.trace, {}))
        self.ended[keys] = trace, plus_terms(known, terms)


@dataclass(frozen=True, eq=False)
class Explainer:
    """Tells how a program of a case comes to one output, which `shown` tells in words; see `outputs_of`."""

    program: Program
    names: Mapping[str, Value]
    checks: Checks
    target: str
    shown: Shown

    def paths(self, given: Input) -> list[RunPath]:
        """Returns all paths on an input to the output.

        Their probabilities sum to that of the output on this input.

        Raises:
            SizeError: more than `MAX_WORK` steps, or a path has no probability in closed form.
        """
        run = self._run(given)
        text = self.program.text
        found = [(keys, trace, terms) for keys, (trace, terms) in run.ended.items() if terms]
        bases = run.evaluator.drawing.bases
        return [RunPath(keys, _steps(text, trace), bases.function(terms)) for keys, trace, terms in found]

    def along(self, path: RunPath, given: Input) -> tuple[RationalFunction | None, int]:
        """Returns the probability of a path on another input, or None and the step at which it is impossible.

        That is the probability of the same draws, outcomes of comparisons, branches and output.

        Raises:
            SizeError: as `paths` does.
        """
        run = self._run(given, path.keys)
        if path.keys in run.ended:
            terms = run.ended[path.keys][1]
            return run.evaluator.drawing.bases.function(terms), len(path.steps)
        steps = [k for k, step in enumerate(path.steps) if step.first <= run.reached]
        return None, steps[-1] if steps else 0

    def output_along(self, path: RunPath, given: Input) -> str:
        """Returns the output that a path has on another input; "" where the input has no such path.

        Raises:
            SizeError: as `paths` does.
        """
        found = self._run(given, path.keys, any_output=True).told
        return next(iter(found)) if len(found) == 1 else ""

    def _run(
        self, given: Input, wanted: tuple[Hashable, ...] | None = None, any_output: bool = False
    ) -> _Paths:
        bodies = [self.program.body, *(f.body for f in self.program.functions.values())]
        loops = frozenset(s.place for b in bodies for s in every_statement(b) if isinstance(s, For))
        evaluator = _Evaluator.of(self.program, self.checks)
        run = _Paths(
            self.program,
            evaluator,
            (given,),
            target=None if any_output else self.target,
            shown=self.shown,
            wanted=wanted,
            loops=loops,
        )
        run.start(self.names)
        return run


def _steps(text: str, trace: Sequence[object]) -> tuple[Step, ...]:
    """Returns the lines that a run takes; what happens in one line one after the other is one step."""
    lines = text.split("\n")
    found: list[Step] = []
    events = [event for event in trace if isinstance(event, TraceEvent)]
    for number, event in enumerate(events):
        words = (settled(event.words, trace),) if event.words else ()
        line = event.place.line
        last = found[-1] if found else None
        taken = event.truth if isinstance(event, BranchEvent) else None
        fresh = event.starts and not (number and isinstance(events[number - 1], PartEvent))
        if last is not None and last.line == line and last.taken is None and not fresh:
            found[-1] = replace(last, words=(*last.words, *words), taken=taken)
        else:
            found.append(Step(line, lines[line - 1].strip(), words, number, taken))
    return tuple(found)
