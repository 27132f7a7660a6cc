"""Programs over a stream with finite noise: a hidden Markov model, with entries that an adversary chooses.

What the variables have between two entries is a state. Two copies of the program read two streams; an
observation `0/1: yes` says that the entries were 0 in the first stream and 1 in the second one, and that the
program put out `yes`. Both entries are chosen, not drawn: a probability is that of the outputs, given both
streams. After `stop` the model ends, and observes `end` for ever.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from paramverify.algebra.expressions import Expression, Value
from paramverify.algebra.polynomials import RationalFunction
from paramverify.errors import CaseError, LimitError, ProgramError, located
from paramverify.models.context import Checks
from paramverify.models.hmm import HMM
from paramverify.models.mechanisms import Input, read_differ
from paramverify.models.mechanisms._queries import near_answers
from paramverify.models.priors import InitialDistribution, SecretPair
from paramverify.models.programs.output_intervals import shown_output
from paramverify.models.programs.program_running import outputs_of
from paramverify.models.programs.program_syntax import (
    Assign,
    Constant,
    For,
    If,
    Items,
    Jump,
    Literal,
    Node,
    Output,
    Place,
    Program,
    Return,
    Statement,
    Variable,
    While,
    every_statement,
)
from paramverify.models.programs.run_states import OutputInterval, Outputs, Unread, flat, key
from paramverify.models.programs.stream_loops import Stream
from paramverify.tables import Table

MAX_STATES = 2_000
END = "end"
SIDES = ("first stream", "second stream")


@dataclass(frozen=True)
class StreamState:
    """The values of the variables, in their order; True is not 1 here."""

    what: Hashable
    values: tuple[object, ...] = field(compare=False)

    @staticmethod
    def of(values: tuple[object, ...]) -> StreamState:
        """Returns the state with these values."""
        return StreamState(key(values), values)


Row = list[
    tuple[Outputs, StreamState | None, RationalFunction]
]  # outputs of a turn, the next state, the chance


@dataclass(frozen=True, eq=False)
class StreamMechanism:
    """A program over a stream whose variables have finitely many values."""

    checks: Checks
    stream: Stream
    key: str

    @property
    def queries(self) -> tuple[Expression, ...]:
        """None: the entries are chosen."""
        return ()

    @property
    def values(self) -> tuple[Fraction | str, ...]:
        """The values of an entry.

        Raises:
            ProgramError: an entry is any number.
        """
        if self.stream.values is None:
            reason = (
                'values="real" requires Laplace noise; for other noise, list the values of an entry: '
                'stream(values="-1..1")'
            )
            raise ProgramError(reason, self.stream.program.text, *self.stream.place)
        return self.stream.values

    @property
    def answers(self) -> tuple[tuple[Value, ...], ...]:
        """The possible values of one entry."""
        return (self.values,)

    def build(self, inputs: Sequence[Input]) -> tuple[HMM, list[InitialDistribution]]:
        """Not available: the entries are chosen by the adversary, not by a prior."""
        raise CaseError(
            "a program over a stream is verified for neighbouring streams; replace [prior] by [neighbours]"
        )

    def neighbours(self, table: Table) -> tuple[HMM, list[SecretPair]]:
        """Returns the model of both streams, and where it starts for the first and for the second one."""
        for word in ("pairs", "related", "distance"):
            if word in table.data:
                raise CaseError(
                    'this key is not supported for streams; write differ = "each" or "one"', key=word
                )
        with located(key=self.key, anchored=True):
            values = self.values
        differ, by = read_differ(table)
        (near,) = near_answers([values], differ, by)
        joint = [(j, k) for j in range(len(values)) for k in sorted({*near[j], j})]
        with located(key=self.key, anchored=True):
            return self._model(joint, differ == "one")

    def _model(self, joint: Sequence[tuple[int, int]], one: bool) -> tuple[HMM, list[SecretPair]]:
        """Returns the joined model; where one entry differs, a state knows whether one did already."""
        names = self._names()
        starts = [(state, chance) for told, state, chance in self._start(names) if state is not None]
        order: dict[tuple[int, bool, StreamState], int] = {}
        for side in range(2):
            for state, _ in starts:
                order.setdefault((side, False, state), len(order))
        turns: dict[StreamState, list[Row]] = {}
        found: list[list[tuple[str, tuple[int, bool, StreamState] | None, RationalFunction]]] = []
        waiting = list(order)
        for side, differed, state in waiting:
            if state not in turns:
                turns[state] = self._turn(names, state)
            row = []
            for pair in joint:
                if differed and pair[0] != pair[1]:
                    continue
                said = "/".join(_entry(self.values[k]) for k in pair)
                for told, following, chance in turns[state][pair[side]]:
                    later = differed or (one and pair[0] != pair[1])
                    target = None if following is None else (side, later, following)
                    row.append((f"{said}: {shown_output(told)}", target, chance))
            found.append(row)
            for _, target, _ in row:
                if target is not None and target not in order:
                    order[target] = len(order)
                    waiting.append(target)
            if len(order) > MAX_STATES:
                raise LimitError(self._too_many(names, {state for _, _, state in order}))
        return self._joined(found, order, starts)

    def _too_many(self, names: Sequence[str], states: Collection[StreamState]) -> str:
        """Returns why there are too many states: the variable that has most values, and its line."""
        counts = {name: len({key(state.values[k]) for state in states}) for k, name in enumerate(names)}
        name = max(counts, key=lambda n: counts[n], default="")
        lines = [
            s.place.line
            for s in every_statement(self.stream.body)
            if isinstance(s, Assign) and name in s.names
        ]
        reason = f"the variables of the program take more than {MAX_STATES:,} combinations of values"
        if not lines:
            return (
                f"{reason}; stop the loop before a count grows without limit, and clamp noise that "
                "a variable stores"
            )
        where = f"line {lines[-1]} of the program: {name} takes {counts[name]:,} values or more"
        return (
            f"{where}; stop the loop before it grows further, such as if {name} == 3: stop; "
            "clamp noise that a variable stores"
        )

    def _joined(
        self,
        found: Sequence[Sequence[tuple[str, tuple[int, bool, StreamState] | None, RationalFunction]]],
        order: dict[tuple[int, bool, StreamState], int],
        starts: Sequence[tuple[StreamState, RationalFunction]],
    ) -> tuple[HMM, list[SecretPair]]:
        observed: dict[str, int] = {}
        for row in found:
            for told, _, _ in row:
                observed.setdefault(told, len(observed))
        stops = any(target is None for row in found for _, target, _ in row)
        last = len(order)
        rows = [
            [
                (observed[told], last if target is None else order[target], chance)
                for told, target, chance in row
            ]
            for row in found
        ]
        names = [f"{SIDES[side]}: {_told(state.values)}{', differed' * late}" for side, late, state in order]
        if stops:
            rows.append([(len(observed), last, RationalFunction.of(self.checks.ring.number(1)))])
            observed[END] = len(observed)
            names.append(END)
        model = HMM.build(self.checks, names, list(observed), rows, chosen=True)
        begins = [
            InitialDistribution.of(
                {order[side, False, state]: chance for state, chance in starts}, self.checks
            )
            for side in range(2)
        ]
        return model, [SecretPair(SIDES[0], SIDES[1], begins[0], begins[1])]

    def _names(self) -> tuple[str, ...]:
        """Returns the variables that have a value before the stream, in their order.

        The loop gives the name of the entry another value in each turn: what it had before is gone.
        """
        assigned = (s for s in every_statement(self.stream.setup) if isinstance(s, Assign))
        names = dict.fromkeys(name for s in assigned for name in s.names)
        return tuple(name for name in names if name != self.stream.name)

    def _start(self, names: Sequence[str]) -> Row:
        """Returns the states before the first entry, with their chances."""
        body = (*_told_ends(self.stream.setup), self._kept(names))
        (row,) = self._outputs(body, {}, [()])
        if any(told or state is None for told, state, _ in row):
            raise self._refuse(
                "the program outputs something, or stops, before the stream begins; move that into the loop"
            )
        return row

    def _turn(self, names: Sequence[str], state: StreamState) -> list[Row]:
        """Returns what happens in a state, for each value of the entry."""
        place = self.stream.place
        before: list[Statement] = [
            Assign((name,), (), _literal(value, place), place)
            for name, value in zip(names, state.values, strict=True)
        ]
        once = For(
            ("#turn",), Items((Literal(Fraction(0), place),), place), _told_ends(self.stream.body), place
        )
        body = (*before, once, self._kept(names))
        rows = self._outputs(body, {self.stream.name: Unread(0)}, [(value,) for value in self.values])
        for told, following, _ in (entry for row in rows for entry in row):
            if len(told) > 1 or (not told and following is not None):
                reason = (
                    "each turn of the loop must output exactly one value, or nothing if it stops; write "
                    "output([a, b]) for several values"
                )
                raise self._refuse(reason)
        return rows

    def _kept(self, names: Sequence[str]) -> Statement:
        place = self.stream.place
        return Output(Items(tuple(Variable(name, place) for name in names), place), place)

    def _outputs(
        self,
        body: Sequence[Statement],
        names: Mapping[str, Unread],
        inputs: Sequence[tuple[Fraction | str, ...]],
    ) -> list[Row]:
        program: Program = replace(self.stream.program, body=tuple(body))
        rows: list[Row] = []
        for found in outputs_of(program, names, inputs, self.checks):
            row: Row = []
            for (*told, last), chance in found:  # the last one is ours: the variables, or False after a stop
                if any(isinstance(value, OutputInterval) for value in flat((*told, last))):
                    reason = (
                        "noise that is stored or output must be bounded here; write clamp(geometric(a), -2, "
                        "2)"
                    )
                    raise self._refuse(reason)
                following = StreamState.of(last) if isinstance(last, tuple) else None
                row.append((tuple(told), following, chance))
            rows.append(row)
        return rows

    def _refuse(self, reason: str) -> ProgramError:
        return ProgramError(reason, self.stream.program.text, *self.stream.place)


def _entry(value: Fraction | str) -> str:
    """Returns an entry in words; a slash stands between entries, so quotients have brackets."""
    whole = isinstance(value, str) or value.denominator == 1
    return shown_output((value,)) if whole else f"({value})"


def _told_ends(block: Sequence[Statement]) -> tuple[Statement, ...]:
    """Returns statements that put out False before each stop, so that every run has one output more."""
    return tuple(found for statement in block for found in _told_end(statement))


def _told_end(statement: Statement) -> tuple[Statement, ...]:
    match statement:
        case Jump("stop", place):
            return Output(Literal(False, place), place), statement
        case Return(value, place):
            return Output(value, place), Output(Literal(False, place), place), Jump("stop", place)
        case If(_, then, otherwise):
            return (replace(statement, then=_told_ends(then), otherwise=_told_ends(otherwise)),)
        case For() | While():
            return (replace(statement, body=_told_ends(statement.body)),)
    return (statement,)


def _literal(value: object, place: Place) -> Node:
    """Returns the expression of a value."""
    if isinstance(value, tuple):
        return Items(tuple(_literal(inner, place) for inner in value), place)
    assert isinstance(value, Constant)
    return Literal(value, place)


def _told(values: Sequence[object]) -> str:
    return ", ".join(str(value) if not isinstance(value, tuple) else f"[{_told(value)}]" for value in values)
