"""Running a program on random draws, many runs at once: the program itself, and not its analysis.

This shares the tree of the program with `running.py`, and nothing else. Runs in which all lists have the same
lengths are one `Group`; it is split where runs part, and joined again where they meet. Numbers are exact. So
a sample tests the analysis, and an implementation can be tested against the program.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from paramverify.errors import InputError, located
from paramverify.models.programs import drawn_noise
from paramverify.models.programs.arguments import (
    asked_at,
    constant_of,
    entries_of,
    named_arguments,
    result_of,
)
from paramverify.models.programs.columns import Column, Rationals, distinct, is_plain, packed, taken
from paramverify.models.programs.drawn_noise import whole
from paramverify.models.programs.groups import Group, VariableKey, merged
from paramverify.models.programs.runs import Plain
from paramverify.models.programs.sampled_values import Found, SampledValues, check_index
from paramverify.models.programs.syntax import (
    Ask,
    Assign,
    Call,
    CalledRow,
    For,
    If,
    Jump,
    Output,
    Program,
    Return,
    Statement,
    While,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_TURNS = 4_000  # of a while loop
RESULT = "#result"


@dataclass
class _LeavingGroups:
    """The groups that leave a block, by the way in which they do."""

    end: list[Group] = field(default_factory=list)
    breaks: list[Group] = field(default_factory=list)
    continues: list[Group] = field(default_factory=list)
    returns: list[Group] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class RunOutcomes:
    """What the runs told: the different sequences of outputs, and which of them each run has."""

    outputs: tuple[tuple[Plain, ...], ...]
    which: NDArray[np.int64]


@dataclass(eq=False)
class ProgramSampler(SampledValues):
    """Runs one program."""

    finished: list[Group] = field(default_factory=list)

    def run(self, inputs: Mapping[str, Column], size: int) -> RunOutcomes:
        """Returns the outputs of `size` runs; an input is a number, a label, or a tuple of them.

        Raises:
            ProgramError: a run has no value at some place. LimitError: it is too much work.
        """
        import numpy as np

        self.inputs = tuple(inputs)
        start = Group(np.arange(size), {VariableKey(0, name): value for name, value in inputs.items()})
        self.finished = []
        self.finished += self.block(self.program.body, [start]).end
        known: dict[Hashable, int] = {}
        outputs: list[tuple[Plain, ...]] = []
        which = np.zeros(size, dtype=np.int64)
        for group in self.finished:
            for told, runs in _told(group):
                place = known.setdefault(_typed(told), len(known))
                outputs += [told] * (place == len(outputs))
                which[runs] = place
        return RunOutcomes(tuple(outputs), which)

    def block(self, statements: Sequence[Statement], groups: list[Group]) -> _LeavingGroups:
        left = _LeavingGroups()
        for statement in statements:
            if not groups:
                break
            found = self.statement(statement, groups)
            groups = merged(found.end)
            left.breaks += found.breaks
            left.continues += found.continues
            left.returns += found.returns
        left.end = groups
        return left

    def statement(self, statement: Statement, groups: list[Group]) -> _LeavingGroups:
        match statement:
            case Assign():
                return _LeavingGroups([r for g in groups for r in self.assigned(statement, g)])
            case Output():
                return _LeavingGroups([r for g in groups for r in self.told(statement, g)])
            case Return(value, _) if self.depth:
                pairs = [pair for g in groups for pair in self.values(value, g)]
                return _LeavingGroups(returns=[g.with_value(self.key(RESULT), c) for g, c in pairs])
            case Return():
                self.finished += [r for g in groups for r in self.told(statement, g)]
                return _LeavingGroups()
            case If(test, then, otherwise):
                splits = [self.test(test, g) for g in groups]
                yes, no = ([g for split in splits for g in split[k]] for k in (0, 1))
                return _together([self.block(then, merged(yes)), self.block(otherwise, merged(no))])
            case For():
                return _together([self.loop(statement, g) for g in groups])
            case While():
                return self.turns(statement, groups)
            case Jump("break", _):
                return _LeavingGroups(breaks=groups)
            case Jump("continue", _):
                return _LeavingGroups(continues=groups)
            case Jump():
                self.finished += groups
                return _LeavingGroups()

    def told(self, statement: Output | Return, group: Group) -> list[Group]:
        return [Group(g.runs, g.values, (*g.outputs, c)) for g, c in self.values(statement.value, group)]

    def assigned(self, statement: Assign, group: Group) -> list[Group]:
        if not statement.indices:
            return [self.bound(statement, g, c) for g, c in self.values(statement.value, group)]
        key = self.key(statement.names[0])
        if key not in group.values:
            raise self.no_value(key.name, statement.place)
        given = self.all((statement.value, *statement.indices), group)
        found = []
        for g, (value, *indices) in self.apart(given, range(1, 1 + len(statement.indices))):
            try:
                where = [whole(k, "an index") for k in indices]
                found.append(g.with_value(key, _entered(g.values[key], where, value)))
            except InputError as error:
                raise self.error(error.reason, statement.place) from None
        return found

    def bound(self, statement: Assign | For, group: Group, value: Column) -> Group:
        """Returns the group with the names of an assignment set."""
        names = statement.names
        if len(names) == 1:
            return group.with_value(self.key(names[0]), value)
        if not isinstance(value, tuple) or len(value) != len(names):
            raise self.error(f"{len(names)} values are needed here", statement.place)
        for name, entry in zip(names, value, strict=True):
            group = group.with_value(self.key(name), entry)
        return group

    def called(self, call: Call, group: Group) -> Found:
        """Runs a function of the program."""
        function = self.program.functions[call.name]
        if len(call.arguments) != len(function.parameters):
            raise self.error(f"{call.name} has {len(function.parameters)} parameters", call.place)
        ready = self.all(call.arguments, group) if call.arguments else [(group, [])]
        self.depth += 1
        result, groups = self.key(RESULT), []
        for inside, given in ready:
            for name, column in zip(function.parameters, given, strict=True):
                inside = inside.with_value(self.key(name), column)
            groups.append(inside)
        left = self.block(function.body, merged(groups))
        self.depth -= 1
        if left.end:
            raise self.error(f"{call.name} may end without return", function.place)
        return [(g.without(result.depth), g.values[result]) for g in merged(left.returns)]

    def asked(self, node: Ask, group: Group) -> Found:
        """Runs a mechanism that the program calls: another program by itself, or a draw."""
        callee = self.program.calls[node.name]
        found: Found = []
        with asked_at(self.program, node):
            ready = self.all(node.arguments, group) if node.arguments else [(group, [])]
            if isinstance(callee, CalledRow):
                entries = [(g, entries_of(node.name, tuple(given), callee.count)) for g, given in ready]
                for g, plain in self.apart(entries):
                    row = callee.at(tuple(constant_of(node.name, v) for v in plain), self.symbols)
                    values, shares = [v for v, _ in row], [p for _, p in row]
                    found.append((g, drawn_noise.choice(values, shares, self.rng, g.size)))
                return found
            for g, given in ready:
                names = named_arguments(callee, node, tuple(given))
                run = ProgramSampler(callee.program, self.symbols, self.rng)
                with located(key=callee.key, anchored=True):
                    found += _results(callee.program, node.name, run.run(names, g.size), g)
        return found

    def loop(self, statement: For, group: Group) -> _LeavingGroups:
        left = _LeavingGroups()
        for start, values in self.values(statement.values, group):
            if not isinstance(values, tuple):
                raise self.error("a list or a range is needed here", statement.place)
            plain = all(map(is_plain, values))
            key = self.key(f"#{statement.place.line}:{statement.place.column}")
            groups = [start if plain else start.with_value(key, values)]
            for k in range(len(values)):
                inside = [self.bound(statement, g, (values if plain else g.values[key])[k]) for g in groups]
                found = self.block(statement.body, inside)
                groups = merged([*found.end, *found.continues])
                left.end += found.breaks
                left.returns += found.returns
                if not groups:
                    break
            left.end = [g.forgetting([key]) for g in (*left.end, *groups)]
        return left

    def turns(self, statement: While, groups: list[Group]) -> _LeavingGroups:
        left = _LeavingGroups()
        for _ in range(MAX_TURNS):
            splits = [self.test(statement.test, g) for g in groups]
            left.end += [g for _, no in splits for g in no]
            going = merged([g for yes, _ in splits for g in yes])
            if not going:
                return left
            found = self.block(statement.body, going)
            groups = merged([*found.end, *found.continues])
            left.end += found.breaks
            left.returns += found.returns
        raise self.error(f"this loop goes on for more than {MAX_TURNS:,} turns", statement.place)


def _results(program: Program, name: str, outcomes: RunOutcomes, group: Group) -> Found:
    """Returns the values that runs of a program give which is called."""
    import numpy as np

    values = [result_of(program, name, told) for told in outcomes.outputs]
    plain = [v for v in values if not isinstance(v, tuple)]
    if len(plain) == len(values):
        return [(group, taken(packed(plain), outcomes.which))]
    parts = [(value, np.flatnonzero(outcomes.which == k)) for k, value in enumerate(values)]
    return [(group.taken(where), value) for value, where in parts if len(where)]


def _together(parts: Sequence[_LeavingGroups]) -> _LeavingGroups:
    total = _LeavingGroups()
    for part in parts:
        total.end += part.end
        total.breaks += part.breaks
        total.continues += part.continues
        total.returns += part.returns
    return total


def _entered(inside: Column, where: Sequence[int], value: Column) -> Column:
    """Returns a list with another value at one place."""
    if not where:
        return value
    if not isinstance(inside, tuple):
        raise InputError("a list is needed here")
    check_index(where[0], inside)
    entries = list(inside)
    entries[where[0]] = _entered(entries[where[0]], where[1:], value)
    return tuple(entries)


def _told(group: Group) -> Iterator[tuple[tuple[Plain, ...], NDArray[np.int64]]]:
    """Yields the different outputs of a group, each with its runs."""
    import numpy as np

    code = np.zeros(group.size, dtype=np.int64)
    for column in _arrays(group.outputs):
        values, which = distinct(column)
        _, code = np.unique(code * len(values) + which, return_inverse=True)
    order = np.argsort(code, kind="stable")
    for places in np.split(order, np.flatnonzero(np.diff(code[order])) + 1):
        yield tuple(_at(c, int(places[0])) for c in group.outputs), group.runs[places]


def _arrays(column: Column) -> Iterator[Column]:
    if isinstance(column, tuple):
        for entry in column:
            yield from _arrays(entry)
    elif not is_plain(column):
        yield column


def _at(column: Column, k: int) -> Plain:
    """Returns the value in one run."""
    if isinstance(column, tuple):
        return tuple(_at(c, k) for c in column)
    if isinstance(column, Rationals):
        return Fraction(int(column.numerators[k]), column.denominator)
    found: Plain = column if is_plain(column) else column[k : k + 1].tolist()[0]
    return found


def _typed(value: Plain | tuple[Plain, ...]) -> Hashable:
    """Returns a value so that True is not 1."""
    return tuple(map(_typed, value)) if isinstance(value, tuple) else (type(value), value)
