"""Mechanisms at one point for the second reader: what may happen next in a state, and how likely it is.

A program over a stream with finite noise runs turn after turn, path by path: its loop becomes a loop over one
entry, and its variables are put out after it. Everything is a number: see `second_numbers`. Standard library
only, and no code of the first reader.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from ..kernel.strict_reading import UnreadCase
from .second_definitions import program_written_out
from .second_numbers import Calculator, Value
from .second_programs import DrawRules, InputPlaces, runs_of, values_of, whitelisted
from .second_runs import ProgramRuns
from .second_trees import statements, stream_loop
from .second_values import shown, with_two_names

# --- second processes -------------------------------------------------------------------------------

Input = tuple[Value, ...]
State = Any
Steps = list[tuple[str, State, Fraction]]  # what is observed, what comes next, how likely that is
Words = dict[tuple[str, ...], Fraction]

MAX_WAYS = 60_000
MAX_WORK = 1_000_000  # steps at one point


class Process:
    """A mechanism at one point: `start` gives weighted states of an input, `steps` what happens next.

    `answers` are the values of each answer of an input. `default_by` is how far neighbours are apart.
    """

    answers: tuple[Sequence[Value], ...]
    default_by: Any = 1
    work = 0  # steps so far

    def prepare(self, inputs: Sequence[Input]) -> None:
        """Takes all inputs that are looked at, before the first one is."""

    def start(self, given: Input) -> list[tuple[State, Fraction]]:
        """Returns where an input starts."""
        return [(given, Fraction(1))]

    def steps(self, state: State) -> Steps:
        """Returns what may happen in a state."""
        raise UnreadCase

    def limit(self, ways: int, what: str) -> None:
        """Raises UnreadCase if there are too many ways, or were too many steps."""
        if ways > MAX_WAYS or self.work > MAX_WORK:
            raise UnreadCase(f"there are too many {what}")

    def words(self, given: Input, length: int, wanted: Sequence[str] | None = None) -> Words:
        """Returns how likely each sequence of observations is, or the one that is `wanted`."""
        ways: dict[tuple[tuple[str, ...], State], Fraction] = {}
        for state, chance in self.start(given):
            add(ways, ((), state), chance)
        for k in range(length):
            grown: dict[tuple[tuple[str, ...], State], Fraction] = {}
            for (word, state), chance in ways.items():
                steps = self.steps(state)
                self.work += len(steps)
                for seen, following, share in steps:
                    if share and (wanted is None or seen == wanted[k]):
                        add(grown, ((*word, seen), following), chance * share)
            self.limit(len(grown), "sequences")
            ways = grown
        found: Words = {}
        for (word, _), chance in ways.items():
            add(found, word, chance)
        return found


class Repeated(Process):
    """A mechanism that answers several times: what is seen is how often each output is there."""

    def __init__(self, inner: Process, times: int) -> None:
        self.inner, self.times = inner, times
        self.answers, self.default_by = inner.answers, inner.default_by

    def steps(self, state: State) -> Steps:
        single = self.inner.words(state, 1)
        ways: dict[tuple[str, ...], Fraction] = {(): Fraction(1)}
        for _ in range(self.times):
            grown: dict[tuple[str, ...], Fraction] = {}
            for seen, chance in ways.items():
                for (name,), share in single.items():
                    add(grown, tuple(sorted((*seen, name))), chance * share)
            self.work += len(ways) * len(single)
            self.limit(len(grown), "counts of outputs")
            ways = grown
        return [(_counts(seen), state, chance) for seen, chance in ways.items()]


class Parts(Process):
    """Mechanisms that answer about the same data, each by itself: what is seen is a tuple."""

    def __init__(self, parts: Sequence[tuple[Process, int]]) -> None:
        self.inner = [part for part, _ in parts]
        self.sizes = [queries for _, queries in parts]
        each = zip(self.inner, self.sizes, strict=True)
        anything: Any = (None,)  # whatever is given
        split = [tuple(part.answers) or anything * size for part, size in each]
        self.answers = tuple(values for part in split for values in part) if any(self.sizes) else split[0]
        near = {part.default_by for part in self.inner}
        self.default_by = near.pop() if len(near) == 1 else None

    def steps(self, state: State) -> Steps:
        ways: list[tuple[tuple[str, ...], Fraction]] = [((), Fraction(1))]
        rest = state
        for part, size in zip(self.inner, self.sizes, strict=True):
            given, rest = (rest[:size], rest[size:]) if any(self.sizes) else (state, state)
            row = part.words(given, 1)
            ways = [((*seen, *word), p * q) for seen, p in ways for word, q in row.items()]
            self.work += len(ways)
            self.limit(len(ways), "tuples of outputs")
        found = [(_tuple(seen), state, p) for seen, p in ways]
        if len({name for name, _, _ in found}) < len(found):
            raise ValueError("two tuples of outputs with one name")
        return found


def _tuple(seen: Sequence[str]) -> str:
    """Returns the name of a tuple; an output with a comma stands in brackets."""
    return "(" + ", ".join(f"({name})" if ", " in name else name for name in seen) + ")"


def queries_of(table: Mapping[str, Any]) -> list[Any]:
    """Returns the expressions over the prior that a mechanism is applied to; none with `[neighbours]`."""
    if table["kind"] == "parts":
        return [query for part in table["parts"] for query in queries_of(part)]
    if table["kind"] == "program":
        return InputPlaces(table["inputs"]).queries
    found = table.get("queries", table.get("query", table.get("start")))
    if found is None or "inputs" in table or (isinstance(found, int) and "queries" in table):
        return []
    listed = found if isinstance(found, list) else [found]
    return [table["threshold"], *listed] if table["kind"] == "above_threshold" else listed


def _counts(seen: tuple[str, ...]) -> str:
    """Returns the name of counts: each output with how often it is there, in the order of their names."""
    return " ".join(f"{name}:{seen.count(name)}" for name in sorted(set(seen)))


def add(target: dict[Any, Fraction], key: Any, chance: Fraction) -> None:
    """Adds a chance to that of a key."""
    target[key] = target.get(key, Fraction(0)) + chance


# --- second turns -----------------------------------------------------------------------------------

GOES_ON, TURN = "#goes on", "#turn"  # names that no program has
Turned = dict[tuple[str, Any], Fraction]  # outputs in words and the variables after it, None after the end


class Streamed(Process):
    """Two copies of a program on two streams; an input is the number of the stream, 0 or 1."""

    def __init__(self, table: Mapping[str, Any], at: Calculator) -> None:
        if table.get("calls"):
            raise UnreadCase("a stream with calls of other mechanisms")
        body = statements(program_written_out(table["source"], at.definitions))
        found = stream_loop(body)
        if found is None:
            raise UnreadCase("the last statement is no loop over a stream")
        self.entry, loop, values = found
        self.answers = (values_of(at.of(values)),)
        self.at, self.known = at, dict[Any, Turned]()
        functions = [s for s in body if isinstance(s, ast.FunctionDef)]
        first = [s for s in body[:-1] if not isinstance(s, ast.FunctionDef)]
        stored = {n.id for s in first for n in ast.walk(s) if isinstance(n, ast.Name) and _is_stored(n)}
        self.names = sorted(stored - {self.entry})
        self.changes = any(  # whether lists are changed in place
            isinstance(n, ast.Subscript) and _is_stored(n) for s in body for n in ast.walk(s)
        )
        mark = ast.Assign([ast.Name(GOES_ON)], ast.Constant(True), lineno=loop.lineno)
        after = [*statements(f"output([{', '.join(self.names)}])"), mark]
        once = ast.List([ast.Constant(True)])
        turn = ast.For(ast.Name(TURN), once, [_Ending().visit(s) for s in loop.body], [])
        self.before = self._runs([*functions, *first, *after])
        self.turn = self._runs([*functions, ast.copy_location(turn, loop), *after])
        self.joint: list[tuple[Value, Value]] = []  # the entries of both streams
        self.one = False

    def told(self, given: Input) -> str:
        """Returns the name of an input."""
        return ("first stream", "second stream")[int(Fraction(given[0]))]

    def compared(self, near: Sequence[tuple[Input, Input]], differ: str) -> list[tuple[Input, Input]]:
        """Takes entries that are near each other, and whether one may differ; returns what is compared."""
        pairs = [(a[0], b[0]) for a, b in near]
        same = [(v, v) for v in self.answers[0]]
        self.joint = [*same, *pairs, *((b, a) for a, b in pairs)]
        self.one = differ == "one"
        return [((Fraction(0),), (Fraction(1),))]

    def _runs(self, body: Sequence[ast.stmt]) -> ProgramRuns:
        return runs_of(whitelisted(body), self.at, DrawRules(self.at))

    def _rows(self, runs: ProgramRuns, start: Mapping[str, Any]) -> Turned:
        def names() -> dict[str, Any]:
            return {name: _thawed(value) for name, value in start.items()}

        def key() -> tuple[str, Any]:
            if GOES_ON not in runs.names:
                return runs.words, None
            if self.changes and with_two_names({name: runs.names[name] for name in self.names}):
                raise UnreadCase("a list has two names after a turn of the stream")
            state = frozen(runs.told.pop())
            return runs.words, state

        return runs.chances(names, key)

    def start(self, given: Input) -> list[tuple[State, Fraction]]:
        """Returns the variables before the first entry."""
        rows = self._rows(self.before, {})
        return [((int(Fraction(given[0])), False, state), chance) for (_, state), chance in rows.items()]

    def steps(self, state: State) -> Steps:
        """Returns what may happen with the next pair of entries; each pair is chosen."""
        if state == "end":
            return [("end", "end", Fraction(1))]
        side, differed, before = state
        found: Steps = []
        for pair in self.joint:
            if differed and pair[0] != pair[1]:
                continue
            later = differed or (self.one and pair[0] != pair[1])
            for (told, after), chance in self._turn(before, pair[side]).items():
                target = "end" if after is None else (side, later, after)
                found.append((f"{_named(pair[0])}/{_named(pair[1])}: {told}", target, chance))
        return found

    def _turn(self, before: Any, value: Value) -> Turned:
        if (before, value) not in self.known:
            start = dict(zip(self.names, before[1:], strict=True)) | {self.entry: frozen(value)}
            self.known[before, value] = self._rows(self.turn, start)
        return self.known[before, value]


def _is_stored(node: ast.Name | ast.Subscript) -> bool:
    return isinstance(node.ctx, ast.Store)


class _Ending(ast.NodeTransformer):
    """Puts an end of the run for `break` of the loop over the stream."""

    def visit_Break(self, node: ast.Break) -> ast.AST:
        return ast.copy_location(ast.Return(None), node)

    def visit_For(self, node: ast.For) -> ast.AST:
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        return node


def _named(value: Value) -> str:
    """Returns an entry in words, with brackets around a quotient."""
    quotient = isinstance(value, Fraction) and value != int(value)
    return f"({value})" if quotient else shown(value)


def frozen(value: Any) -> Any:
    """Returns a value as something that can be a key; True is not 1."""
    if isinstance(value, list):
        return ("list", *map(frozen, value))
    return (type(value).__name__, value)


def _thawed(value: Any) -> Any:
    kind, *rest = value
    return list(map(_thawed, rest)) if kind == "list" else rest[0]
