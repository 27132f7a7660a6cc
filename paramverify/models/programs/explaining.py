"""How one output comes about: the runs of a program on one input, each with what it does and its probability.

The engine merges runs that cannot be told apart. Here a state keeps a trace of its draws, comparisons and
branches, and no two are merged. A run is left as soon as its outputs are no beginning of the wanted ones.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from paramverify.algebra.polynomials import RationalFunction
from paramverify.errors import SizeError
from paramverify.models.context import Checks
from paramverify.models.programs.comparing import Comparing, Found, Split
from paramverify.models.programs.evaluating import Evaluator
from paramverify.models.programs.expressions import NOISE
from paramverify.models.programs.liveness import NOTHING, After, Live
from paramverify.models.programs.measure import Linear
from paramverify.models.programs.running import Left, ProgramRun
from paramverify.models.programs.runs import Input, Outputs
from paramverify.models.programs.syntax import (
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
from paramverify.models.programs.terms import Terms, plus
from paramverify.models.programs.traces import (
    OPPOSITE,
    BranchEvent,
    DrawEvent,
    PartEvent,
    TraceEvent,
    TurnEvent,
    comparison,
    keys_of,
    last_only,
    noted,
    plain,
    segments,
    settled,
)
from paramverify.models.programs.values import ProgramState, Value, pruned

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
            raise SizeError("too many runs have this output")
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
            raise SizeError("runs that put out numbers with noise are not told")
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
        self.ended[keys] = trace, plus(known, terms)


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
