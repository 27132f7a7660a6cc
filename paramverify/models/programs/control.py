"""The control states of a program: where its runs may be, what they still read, and which noise is alive."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from paramverify.models.context import Checks
from paramverify.models.programs.comparing import Split
from paramverify.models.programs.evaluating import Evaluator
from paramverify.models.programs.liveness import After, Live, before
from paramverify.models.programs.merging import merged
from paramverify.models.programs.running import Left, ProgramRun
from paramverify.models.programs.runs import Input, Outputs
from paramverify.models.programs.syntax import For, If, Literal, Node, Place, Program, Statement, While
from paramverify.models.programs.values import ProgramState, Value, common, linears, settled


@dataclass(frozen=True, order=True)
class Control:
    """A control state: the line that comes next, 0 at the end, and the variables that are still read there.

    `noisy` are those of them that depend on noise; `noise` is how many noises are alive. Inputs are left out,
    and so are the variables of loops, which are written out.
    """

    line: int
    live: tuple[str, ...] = ()
    noisy: tuple[str, ...] = ()
    noise: int = 0


@dataclass(frozen=True, order=True)
class ControlEdge:
    """A step that some run takes; `label` is the outcome of a test, the output, or nothing."""

    start: Control
    end: Control
    label: str


END = Control(0)


@dataclass(eq=False)
class _Watched(ProgramRun):
    """A run that keeps the steps between control states; the trace of a state is where it comes from."""

    shown: Callable[[Outputs], str] = str
    names: frozenset[str] = frozenset()  # of the inputs
    edges: dict[ControlEdge, None] = field(default_factory=dict)

    def merged(self, states: list[ProgramState], live: Live) -> list[ProgramState]:
        ready = [s for s in (settled(s, live) for s in states) if not s.measure.is_empty]
        traces: dict[Hashable, dict[object, None]] = {}
        for s in ready:
            traces.setdefault(common(s), {}).update(dict.fromkeys(s.trace))
        return [replace(s, trace=tuple(traces[common(s)])) for s in merged(ready)]

    def block(self, statements: Sequence[Statement], states: list[ProgramState], after: After) -> Left:
        return super().block(statements, self.merged(states, before(statements, after)[0]), after)

    def statement(self, statement: Statement, states: list[ProgramState], after: After) -> Left:
        turns = isinstance(statement, (For, While))  # each turn is a step of its own
        inside = isinstance(statement, If) and statement.part
        entered = states if turns or inside else [self._at(statement.place, s) for s in states]
        return super().statement(statement, entered, after)

    def _at(self, place: Place, state: ProgramState) -> ProgramState:
        known = {n: v for n, v in state.values.items() if n.isidentifier() and n not in self.names}
        noisy = tuple(sorted(name for name, value in known.items() if linears(value)))
        here = Control(place.line, tuple(sorted(known)), noisy, len(state.measure.whole))
        self._to(here, state)
        return replace(state, trace=((here, ""),))

    def _to(self, here: Control, state: ProgramState) -> None:
        for entry in state.trace:
            assert isinstance(entry, tuple)
            start, label = entry
            self.edges[ControlEdge(start, here, label)] = None

    def tested(self, statement: If | While, test: Node, state: ProgramState) -> Split:
        if isinstance(statement, While):
            if isinstance(test, Literal):
                return super().tested(statement, test, state)  # `while True` is no step
            state = self._at(statement.place, state)
        yes, no = super().tested(statement, test, state)
        if isinstance(statement, If) and statement.part:
            return yes, no  # the statement around it has the outcome
        return [_labelled(s, "true") for s in yes], [_labelled(s, "false") for s in no]

    def put(self, value: Node, state: ProgramState, place: Place) -> list[ProgramState]:
        found = super().put(value, state, place)
        return [_labelled(s, f"output {self.shown(s.outputs[-1:])}") for s in found]

    def finish(self, state: ProgramState) -> None:
        self._to(END, state)


def _labelled(state: ProgramState, label: str) -> ProgramState:
    return replace(state, trace=tuple((entry[0], label) for entry in state.trace if isinstance(entry, tuple)))


def control_graph(
    program: Program,
    names: Mapping[str, Value],
    inputs: Sequence[Input],
    shown: Callable[[Outputs], str],
    *,
    checks: Checks,
) -> list[ControlEdge]:
    """Returns the steps between control states that runs on these inputs take; see `outputs_of`."""
    evaluator = Evaluator.of(program, checks)
    run = _Watched(program, evaluator, tuple(inputs), shown=shown, names=frozenset(names))
    run.start(names)
    return sorted(run.edges)
