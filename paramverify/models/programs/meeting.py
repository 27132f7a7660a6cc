"""Where noises meet so that a probability is no rational function: the place and the noises, for messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from paramverify.errors import InputError, LimitError, ProgramError, SizeError
from paramverify.models.context import Checks
from paramverify.models.programs.comparing import Comparing, Split
from paramverify.models.programs.evaluating import Evaluator
from paramverify.models.programs.liveness import Live
from paramverify.models.programs.measure import Linear
from paramverify.models.programs.running import Run
from paramverify.models.programs.runs import Input
from paramverify.models.programs.syntax import (
    Apply,
    Place,
    Program,
    every_node,
    every_statement,
    nodes_of,
)
from paramverify.models.programs.traces import Drawn, segments
from paramverify.models.programs.values import State, Value, pruned

MAX_WORK = 2_000  # runs that are looked at


@dataclass(frozen=True)
class _Continuous(Drawn):
    """Continuous noise that a run draws; `words` is the discrete noise with the same rate."""


@dataclass(frozen=True)
class _Met:
    """Noises that one comparison has brought together."""

    names: frozenset[int]


class _FoundError(ProgramError):
    """The first comparison after which a probability is no rational function."""


@dataclass(frozen=True)
class _Comparing(Comparing):
    """Comparisons that look at the probability of what they lead to."""

    unit: str

    def compared(self, place: Place, word: str, value: Linear, state: State) -> Split:
        yes, no = super().compared(place, word, value, state)
        for part in (yes, no):
            part[:] = [self._looked_at(place, value, state, s) for s in part]
        return yes, no

    def _looked_at(self, place: Place, value: Linear, before: State, state: State) -> State:
        new = {n: a for n, a in state.aliases.items() if n not in before.aliases}
        joined = [_Met(frozenset((n, *a.names))) for n, a in new.items()]
        state = replace(state, trace=(*state.trace, *joined, _Met(frozenset(value.names))))
        try:
            terms = state.measure.without(state.measure.whole).scalar
        except (InputError, LimitError):
            return state  # the run that asks has come to its end: this is looked at too early
        if any(key.units for key in terms):
            noises, instead = _noises(self.text, state)
            reason = _reason(self.unit, "here", f": {noises}")
            raise _FoundError(f"{reason}, or draw discrete noise: {instead}", self.text, *place)
        return state


class _Evaluator(Evaluator):
    """Expressions that leave their continuous noise in the trace."""

    @property
    def comparing(self) -> Comparing:
        return _Comparing(self.program.text, self.drawing.bases.unit_name or "")

    def operation(self, node: Apply, given: list[Value], state: State) -> list[tuple[State, Value]]:
        found = super().operation(node, given, state)
        if node.operator not in ("laplace", "exponential"):
            return found
        rate, unit = self.drawing.rate(given[0])
        words = _discrete(node.operator, rate, unit)
        drawn: list[tuple[State, Value]] = []
        for s, value in found:
            assert isinstance(value, Linear)
            event = _Continuous((), node.place, words, noise=value.names[0])
            drawn.append((replace(s, trace=(*s.trace, event)), value))
        return drawn


@dataclass(eq=False)
class _Apart(Run):
    """Runs that are kept apart."""

    work: int = 0

    def merged(self, states: list[State], live: Live) -> list[State]:
        self.work += len(states)
        if self.work > MAX_WORK:
            raise SizeError("too many runs")
        return [s for s in (pruned(s, live) for s in states) if not s.measure.is_empty]


def meeting(program: Program, names: Mapping[str, Value], given: Input, checks: Checks) -> ProgramError:
    """Returns the error about a program with an output whose probability on an input has a factor eps.

    It points at the first comparison at which that happens, or at the first noise where many runs hide it.
    """
    run = _Apart(program, _Evaluator.of(program, checks), (given,))
    try:
        run.start(names)
    except _FoundError as error:
        return error
    except (InputError, LimitError):
        pass
    drawn = [
        node.place
        for body in (program.body, *(f.body for f in program.functions.values()))
        for statement in every_statement(body)
        for outer in nodes_of(statement)
        for node in every_node(outer)
        if isinstance(node, Apply) and node.operator in ("laplace", "exponential")
    ]
    unit = run.evaluator.drawing.bases.unit_name or ""
    return run.error(_reason(unit, "in this program", ""), min(drawn))


def _reason(unit: str, where: str, noises: str) -> str:
    """Returns what is wrong, and a mend."""
    return (
        f"the rates, or sums of rates, of noises that meet {where} are equal{noises}. A factor {unit} then "
        f'appears beside exp(-{unit}). Give {unit} a number, such as {unit} = "1/2" in [parameters]'
    )


def _noises(text: str, state: State) -> tuple[str, str]:
    """Returns the noises that the last comparison of a run brings together, and those to draw instead."""
    met = [e.names for e in state.trace if isinstance(e, _Met)]
    together: set[int] = set(met[-1])
    for _ in met:
        together = together.union(*(names for names in met if names & together))
    calls = segments(text)
    counts: dict[tuple[Place, str], int] = {}
    for event in state.trace:
        if isinstance(event, _Continuous) and event.noise in together:
            key = event.place, event.words
            counts[key] = counts.get(key, 0) + 1
    told = [
        f"{calls[place]} at line {place.line}" + (f", {times} times" if times > 1 else "")
        for (place, _), times in counts.items()
    ]
    instead = dict.fromkeys(f"{discrete} for {calls[place]}" for place, discrete in counts)
    return " and ".join(told), ", ".join(instead)


def _discrete(word: str, rate: Fraction, unit: str) -> str:
    """Returns the discrete noise with the rate of a continuous one."""
    top = unit if rate.numerator == 1 else f"{rate.numerator}*{unit}"
    bottom = "" if rate.denominator == 1 else f"/{rate.denominator}"
    return f"{'geometric' if word == 'laplace' else 'one_sided_geometric'}(exp(-{top}{bottom}))"
