"""Running a program on random draws, many runs at once: the program itself, and not its analysis.

This shares the tree of the program with `program_running.py`, and nothing else. Runs in which all lists have
the same lengths are one `Group`; it is split where runs part, and joined again where they meet. Numbers are
exact. So a sample tests the analysis, and an implementation can be tested against the program.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from paramverify.errors import InputError, ProgramError, located
from paramverify.models.programs import sampled_columns
from paramverify.models.programs.expression_values import no_value
from paramverify.models.programs.program_reading import IN_PLACE, NOISE
from paramverify.models.programs.program_running import (
    asked_at,
    constant_of,
    entries_of,
    named_arguments,
    result_of,
)
from paramverify.models.programs.program_syntax import (
    Apply,
    Ask,
    Assign,
    Call,
    CalledRow,
    Choice,
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
)
from paramverify.models.programs.run_states import Plain
from paramverify.models.programs.sampled_columns import (
    Array,
    Column,
    Group,
    Number,
    Rationals,
    VariableKey,
    applied,
    chosen,
    distinct,
    is_plain,
    merged,
    number_of,
    packed,
    taken,
    told_apart,
    truth,
    whole,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_ITEMS = 10_000  # entries of a list, and turns of a loop

Found = list[tuple[Group, Column]]
Several = list[tuple[Group, list[Column]]]


@dataclass(eq=False)
class SampledValues:
    """Evaluates expressions of a program; `symbols` are the parameters of the case at a point."""

    program: Program
    symbols: Mapping[str, Number]
    rng: np.random.Generator
    depth: int = 0  # of calls
    inputs: Collection[str] = ()  # their names, for messages
    temporary: int = 0  # values that are kept in groups, so that they are split with them

    def error(self, reason: str, place: Place) -> ProgramError:
        """Returns an error that points at a place."""
        return ProgramError(reason, self.program.text, *place)

    def key(self, name: str) -> VariableKey:
        """Returns the variable of this name in the present call."""
        return VariableKey(self.depth, name)

    def called(self, call: Call, group: Group) -> Found:
        """Runs a function of the program."""
        raise NotImplementedError

    def asked(self, node: Ask, group: Group) -> Found:
        """Runs a mechanism that the program calls."""
        raise NotImplementedError

    def values(self, node: Node, group: Group) -> Found:
        """Returns the values of an expression; the group is split where its runs part.

        Raises:
            ProgramError: it has no value in some of the runs.
        """
        try:
            match node:
                case Literal(value, _):
                    return [(group, value)]
                case Variable():
                    return [(group, self.variable(node, group))]
                case Items(items, _):
                    return [(g, tuple(given)) for g, given in self.all(items, group)]
                case Call():
                    return self.called(node, group)
                case Choice(table, _):
                    known = [value for value, _ in table]
                    return [
                        (g, sampled_columns.choice(known, [number_of(s) for s in shares], self.rng, g.size))
                        for g, shares in self.apart(self.all([p for _, p in table], group))
                    ]
                case Ask():
                    return self.asked(node, group)
                case Apply():
                    return self.applied(node, group)
        except InputError as error:
            raise error if isinstance(error, ProgramError) else self.error(error.reason, node.place) from None

    def variable(self, node: Variable, group: Group) -> Column:
        key = self.key(node.name)
        if key not in group.values:
            if node.name in self.symbols:
                return self.symbols[node.name]
            raise self.no_value(node.name, node.place)
        mask = group.values.get(key._replace(is_mask=True), True)
        if not (mask if isinstance(mask, bool) else bool(mask.all())):
            raise self.no_value(node.name, node.place)
        return group.values[key]

    def no_value(self, name: str, place: Place) -> ProgramError:
        """Returns the error about a variable that has no value in some of the runs, with what helps."""
        return self.error(no_value(self.program, name, place, self.inputs, self.symbols), place)

    def all(self, nodes: Sequence[Node], group: Group) -> Several:
        """Returns the values of several expressions, from left to right."""
        if len(nodes) == 1:
            return [(g, [c]) for g, c in self.values(nodes[0], group)]
        groups, keys = [group], []
        for node in nodes:
            self.temporary += 1
            keys.append(self.key(f"#{self.temporary}"))
            groups = [s.with_value(keys[-1], c) for g in groups for s, c in self.values(node, g)]
        self.temporary -= len(keys)
        return [(g.forgetting(keys), [g.values[k] for k in keys]) for g in groups]

    def apart(self, found: Several, places: Sequence[int] | None = None) -> Several:
        """Splits groups until the columns at these places (all, if none are given) are plain values."""
        if not found:
            return found
        for k in range(len(found[0][1])) if places is None else places:
            parts: Several = []
            for group, given in found:
                if is_plain(given[k]) or isinstance(given[k], tuple):
                    parts.append((group, given))
                    continue
                for value, where in told_apart(given[k], group.size):
                    if len(where):
                        columns = [taken(c, where) for c in given]
                        parts.append((group.taken(where), [*columns[:k], value, *columns[k + 1 :]]))
            found = parts
        return found

    def test(self, node: Node, group: Group) -> tuple[list[Group], list[Group]]:
        """Returns the runs in which a condition is true, and the others."""
        if isinstance(node, Apply) and node.operator == "not":
            yes, no = self.test(node.arguments[0], group)
            return no, yes
        if isinstance(node, Apply) and node.operator in ("and", "or"):
            going, done = [group], []
            for part in node.arguments:
                splits = [self.test(part, g) for g in going]
                kept = 0 if node.operator == "and" else 1
                going = [g for split in splits for g in split[kept]]
                done += [g for split in splits for g in split[1 - kept]]
            return (going, done) if node.operator == "and" else (done, going)
        splits = [g.split(truth(column)) for g, column in self.values(node, group)]
        return [g for yes, _ in splits for g in yes], [g for _, no in splits for g in no]

    def applied(self, node: Apply, group: Group) -> Found:
        word, arguments = node.operator, node.arguments
        if word == "if":
            sides = self.test(arguments[0], group)
            return [pair for k in (0, 1) for g in sides[k] for pair in self.values(arguments[k + 1], g)]
        if word in ("and", "or"):
            return self.deciding(node, group)
        found = self.all(arguments, group)
        if word in NOISE:
            return [
                (g, sampled_columns.draw(word, given, self.rng, g.size)) for g, given in self.apart(found)
            ]
        if word in ("index", "slice", "range", "clamp"):
            found = self.apart(found, range(0 if word == "range" else 1, len(arguments)))
        if word == "*" and any(isinstance(c, tuple) for _, given in found for c in given):
            found = self.apart(found)
        return [(g, self.operation(word, given, g.size)) for g, given in found]

    def deciding(self, node: Apply, group: Group) -> Found:
        """Returns the value of `a and b` or `a or b`: as in Python, that of the part that decides."""
        found: Found = []
        *parts, last = node.arguments
        going = [group]
        for part in parts:
            pairs, going = [pair for g in going for pair in self.values(part, g)], []
            for g, column in pairs:
                key = self.key(f"#{self.temporary + 1}")
                yes, no = g.with_value(key, column).split(truth(column))
                ends, rest = (no, yes) if node.operator == "and" else (yes, no)
                found += [(e.forgetting([key]), e.values[key]) for e in ends]
                going += [r.forgetting([key]) for r in rest]
        return found + [pair for g in going for pair in self.values(last, g)]

    def operation(self, word: str, given: Sequence[Column], size: int) -> Column:
        """Applies an operator or a function that draws nothing.

        Raises:
            InputError: the values have no such operation.
        """
        if word in IN_PLACE:
            if isinstance(given[0], tuple):
                reason = f"{word} would change a list in place, and every other name of that list with it"
                raise InputError(f"{reason}; write a = a {word[:-1]} ...")
            word = word[:-1]
        if word in _OF_LISTS:
            return _OF_LISTS[word](given, size)
        if word in ("==", "!="):
            same = _same(given[0], given[1], size)
            return same if word == "==" else _opposite(same)
        if any(isinstance(c, tuple) for c in given):
            return _on_lists(word, given)
        return applied(word, given, size)


def _listed(column: Column) -> tuple[Column, ...]:
    if not isinstance(column, tuple):
        raise InputError("this must be a list")
    return column


def _on_lists(word: str, given: Sequence[Column]) -> Column:
    if word == "+" and all(isinstance(c, tuple) for c in given):
        joined = given[0] + given[1]
    elif word == "*" and sum(isinstance(c, tuple) for c in given) == 1:
        items, times = given if isinstance(given[0], tuple) else reversed(given)
        joined = items * min(whole(times, "a list that is repeated"), MAX_ITEMS + 1)
    else:
        raise InputError(f"{'a minus sign' if word == 'neg' else word} needs numbers")
    if len(joined) > MAX_ITEMS:
        raise InputError(f"the list has more than {MAX_ITEMS:,} entries")
    return joined


def _opposite(mask: bool | Array) -> bool | Array:
    return not mask if isinstance(mask, bool) else ~mask


def _same(left: Column, right: Column, size: int) -> bool | Array:
    """Returns in which runs two values are equal; lists are, if all their entries are."""
    if isinstance(left, tuple) and isinstance(right, tuple):
        if len(left) != len(right):
            return False
        found: bool | Array = True
        for a, b in zip(left, right, strict=True):
            part = _same(a, b, size)
            found = part if found is True else found if part is True else found & part
        return found
    if isinstance(left, tuple) or isinstance(right, tuple):
        return False
    return truth(applied("==", [left, right], size))


def _in(given: Sequence[Column], size: int) -> bool | Array:
    found: bool | Array = False
    for entry in _listed(given[1]):
        part = _same(given[0], entry, size)
        found = part if found is False else found if part is False else found | part
    return found


def _index(given: Sequence[Column], size: int) -> Column:
    values, where = _listed(given[0]), whole(given[1], "an index")
    check_index(where, values)
    return values[where]


def check_index(where: int, values: Sequence[Column]) -> None:
    """Raises an InputError if a list has no such entry."""
    if not -len(values) <= where < len(values):
        count = f"{len(values)} entr{'y' if len(values) == 1 else 'ies'}"
        raise InputError(f"the index {where} is out of range: the list has {count}")


def _range(given: Sequence[Column], size: int) -> Column:
    ends = [whole(c, "range") for c in given]
    if len(ends) == 3 and not ends[2]:
        raise InputError("the step of range must not be zero")
    values = range(*ends)
    if values[MAX_ITEMS:]:  # its length may be no number of the machine
        raise InputError(f"the range has more than {MAX_ITEMS:,} numbers")
    return tuple(map(Fraction, values))


def _total(given: Sequence[Column], size: int) -> Column:
    found: Column = Fraction(0)
    for entry in _listed(given[0]):
        found = (
            _on_lists("+", [found, entry]) if isinstance(entry, tuple) else applied("+", [found, entry], size)
        )
    return found


def _extreme(word: str) -> Callable[[Sequence[Column], int], Column]:
    def found(given: Sequence[Column], size: int) -> Column:
        values = _listed(given[0]) if len(given) == 1 else tuple(given)
        if not values:
            raise InputError(f"{word} of an empty list has no value; check its length first")
        if any(isinstance(v, tuple) for v in values):
            raise InputError(f"{word} needs numbers")
        best = values[0]
        for value in values[1:]:
            best = chosen(truth(applied("<=" if word == "min" else ">=", [best, value], size)), best, value)
        return best

    return found


def _magnitude(given: Sequence[Column], size: int) -> Column:
    (value,), zero = given, Fraction(0)
    if isinstance(value, tuple):
        raise InputError("abs needs numbers")
    positive = truth(applied(">=", [value, zero], size))
    return chosen(positive, applied("+", [zero, value], size), applied("-", [zero, value], size))


def _clamped(given: Sequence[Column], size: int) -> Column:
    value, *ends = given
    if isinstance(value, tuple) or not all(is_plain(e) and not isinstance(e, str) for e in ends):
        raise InputError("clamp needs numbers")
    low, high = map(number_of, ends)
    if low > high:
        raise InputError("clamp needs two numbers lo <= hi without noise")
    number = applied("+", [Fraction(0), value], size)
    found = chosen(truth(applied(">=", [number, high], size)), high, number)
    return chosen(truth(applied("<=", [number, low], size)), low, found)


def _slice(given: Sequence[Column], size: int) -> Column:
    ends = [whole(c, "a part of a list") for c in given[1:]]
    return _listed(given[0])[slice(*ends) if ends[1:] else slice(ends[0], None)]


_OF_LISTS: dict[str, Callable[[Sequence[Column], int], Column]] = {
    "index": _index,
    "slice": _slice,
    "len": lambda given, size: Fraction(len(_listed(given[0]))),
    "range": _range,
    "sum": _total,
    "min": _extreme("min"),
    "max": _extreme("max"),
    "abs": _magnitude,
    "clamp": _clamped,
    "in": _in,
    "not in": lambda given, size: _opposite(_in(given, size)),
    "not": lambda given, size: _opposite(truth(given[0])),
}


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
            raise self.error(
                f"the value must be a list with {len(names)} entries, one for each name", statement.place
            )
        for name, entry in zip(names, value, strict=True):
            group = group.with_value(self.key(name), entry)
        return group

    def called(self, call: Call, group: Group) -> Found:
        """Runs a function of the program."""
        function = self.program.functions[call.name]
        if len(call.arguments) != len(function.parameters):
            raise self.error(f"{call.name} needs {len(function.parameters)} arguments", call.place)
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
            raise self.error(
                f"some runs of {call.name} end without return; add return ... as its last line",
                function.place,
            )
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
                    found.append((g, sampled_columns.choice(values, shares, self.rng, g.size)))
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
                raise self.error(
                    "a loop must run over a list or a range; write for k in range(n)", statement.place
                )
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
        raise self.error(
            f"this loop runs for more than {MAX_TURNS:,} turns, so it needs a bound: write for k in range(n)",
            statement.place,
        )


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
        raise InputError("this must be a list")
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
