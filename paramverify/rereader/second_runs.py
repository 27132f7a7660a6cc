"""Runs a program once for each way through it, for the second reader.

A run that comes to a place with several ways takes one and notes the others; each of these is later a run of
its own, from the start. A run goes through the tree of Python's own parser, statement by statement, with one
input. At each draw with finitely many outcomes, and at each comparison that noise decides, it takes one way,
and other runs take the others. Unbounded noise is a variable: a run knows the region of the noise that takes
it. What a run has told at its end gets the probability of its region.

Standard library only, and no code of the first reader.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

from ..kernel.noise_regions import (
    Kinds,
    Region,
    RegionSums,
    VariableLaw,
    add_terms,
    ends_of,
    limited,
    possible,
)
from ..kernel.strict_reading import UnreadCase
from .second_trees import BUILT_IN, NOT, Interpreter, Stop, listed
from .second_values import Entry, NoisyNumber, calculated, plain, shown, whole

# --- the ways through a program where chance or noise decides, for the second reader ----------------

Key = TypeVar("Key")

MAX_VALUES = 1_000  # of a number with noise that is told apart


@dataclass(frozen=True)
class ValueWay:
    """One way on: the value there, its probability, and the region of the noise."""

    value: Any
    weight: Fraction
    region: Region


@dataclass(kw_only=True)
class Ways:
    """Where a run is: on which `trail`, at which `place` of it, with which noise in which region."""

    trail: list[ValueWay] = field(default_factory=list)
    place: int = 0
    pending: list[list[ValueWay]] = field(default_factory=list)
    weight: Fraction = Fraction(1)
    region: Region = field(default_factory=dict)
    kinds: list[VariableLaw] = field(default_factory=list)
    noisy: bool = False  # whether outputs with noise have names

    def go(self, ways: Callable[[], Sequence[ValueWay]]) -> Any:
        """Takes the next way, and notes the others the first time."""
        if self.place == len(self.trail):
            found = ways()
            if not found:
                raise UnreadCase("a comparison that no value decides")
            self.pending += [[*self.trail, way] for way in found[1:]]
            self.trail.append(found[0])
        way = self.trail[self.place]
        self.place += 1
        self.weight *= way.weight
        self.region = way.region
        return way.value

    def drawn(self, outcomes: Sequence[tuple[Entry, Fraction]]) -> Entry:
        """Takes one of the outcomes of a draw, each of which is a way."""
        region = self.region
        return self.go(lambda: [ValueWay(v, p, region) for v, p in outcomes if p])

    def decided(self, word: str, value: NoisyNumber) -> bool:
        """Tells how a value with noise compares with zero: each result that is possible is a way."""
        return bool(self.go(lambda: self.ways(word, value)))

    def ways(self, word: str, value: NoisyNumber) -> list[ValueWay]:
        """Returns the ways on where a value with noise is compared with zero."""
        found = []
        for result, sign in ((True, word), (False, NOT[word])):
            for part in ("<", ">") if sign == "!=" else (sign,):
                region = self.inside(value, part)
                if region is not None:
                    found.append(ValueWay(result, Fraction(1), region))
        return found

    def inside(self, value: NoisyNumber, word: str) -> Region | None:
        """Returns the part of the region where a value is below, above or equal to zero."""
        whole_only = all(self.kinds[v].whole for v in value.slopes)
        if word == "==" and not whole_only:
            return None
        region: Region | None = self.region
        sides = {"<": [1], "<=": [1], ">": [-1], ">=": [-1], "==": [1, -1]}[word]
        for side in sides:
            slopes = {v: s * side for v, s in value.slopes.items()}
            if region is not None:
                region = limited(region, self.kinds, slopes, -value.constant * side, word in "<>")
        return region if region is not None and possible(region, self.kinds) else None

    def told_apart(self, value: Entry, most: int = MAX_VALUES) -> Entry:
        """Returns a value without noise: each whole number that a bounded value may be is a way."""
        if not isinstance(value, NoisyNumber) or not _is_whole(value, self.kinds):
            return value
        return self.go(lambda: self.values_of(value, most))

    def values_of(self, value: NoisyNumber, most: int) -> list[ValueWay]:
        low, high = ends_of(self.region, self.kinds, value.slopes)
        if low is None or high is None or high - low > most:
            return [ValueWay(value, Fraction(1), self.region)]
        found = []
        for k in range(int(low), int(high) + 1):
            region = self.inside(NoisyNumber(value.slopes, Fraction(-k)), "==")
            if region is not None:
                found.append(ValueWay(value.constant + k, Fraction(1), region))
        return found

    def released(self, value: Entry) -> Entry:
        """Returns what an output says."""
        if isinstance(value, list):
            return [self.released(entry) for entry in value]
        found = self.told_apart(value)
        if isinstance(found, NoisyNumber) and self.noisy:
            return found
        if not isinstance(found, (bool, str, Fraction)):
            raise UnreadCase("an output with noise or with a parameter")
        return found


def _is_whole(value: NoisyNumber, kinds: Kinds) -> bool:
    return value.constant.denominator == 1 and all(
        kinds[v].whole and s.denominator == 1 for v, s in value.slopes.items()
    )


# --- runs a program once for each way through it, for the second reader -----------------------------

MAX_RUNS = 20_000  # of one input
MAX_STEPS = 1_000_000  # expressions, at one point
MAX_CLAMPED = 64


class _Return(Exception):
    def __init__(self, value: Entry) -> None:
        self.value = value


@dataclass(frozen=True)
class ProgramText:
    """A program: its statements, its functions, and the names of its arguments where it is called."""

    body: Sequence[ast.stmt]
    functions: dict[str, ast.FunctionDef]
    inputs: tuple[str, ...] = ()

    @property
    def tells(self) -> bool:
        """Whether it has `output(...)`; a call of it then gives a list."""
        nodes = (node for statement in self.body for node in ast.walk(statement))
        return any(isinstance(n, ast.Name) and n.id == "output" for n in nodes)


Rows = Callable[[Sequence[Entry]], Sequence[tuple[Entry, Fraction]]]  # what arguments lead to, how likely


@dataclass(kw_only=True)
class ProgramRuns(Ways, Interpreter):
    """All runs of a program; `draw` gives the outcomes of a draw, or the distribution of noise."""

    text: ProgramText
    called: dict[str, ProgramText | Rows] = field(default_factory=dict)  # the mechanisms that are called
    parameters: dict[str, Entry]
    draw: Callable[[str, Sequence[Entry]], VariableLaw | Sequence[tuple[Entry, Fraction]]]
    exp: Callable[[Entry], Fraction]
    sums: RegionSums
    steps: int = 0
    names: dict[str, Entry] = field(default_factory=dict)  # the variables of the function that runs
    in_function: bool = False
    told: list[Entry] = field(default_factory=list)

    def distribution(self, given: Callable[[], dict[str, Entry]]) -> dict[str, Fraction]:
        """Returns how likely each output is, in words, where `given` makes the input."""
        return self.chances(given, lambda: self.words)

    def chances(self, given: Callable[[], dict[str, Entry]], key: Callable[[], Key]) -> dict[Key, Fraction]:
        """Returns how likely the runs with each key are, which is asked for at the end of each.

        Raises:
            Unread: there are too many ways, or a run does what this reader does not know.
        """
        found: dict[Key, Any] = {}
        for _ in self.every(given):
            chance = self.sums.chance(self.region, self.kinds)
            add_terms(found.setdefault(key(), {}), {at: c * self.weight for at, c in chance.items()})
        numbers = {name: self.sums.number(terms) for name, terms in found.items()}
        if sum(numbers.values()) != 1:
            raise ValueError("the probabilities of the paths do not sum to 1")
        return {name: chance for name, chance in numbers.items() if chance}

    @property
    def words(self) -> str:
        """What the run has put out, in words."""
        return ", ".join(map(shown, self.told)) or "(no output)"

    def every(self, given: Callable[[], dict[str, Entry]]) -> Iterator[None]:
        """Goes through all runs, and stops at the end of each."""
        self.pending, count = [[]], 0
        while self.pending:
            count += 1
            if count > MAX_RUNS:
                raise UnreadCase(f"the program has more than {MAX_RUNS:,} paths for one input")
            self.trail = self.pending.pop()
            self.place, self.weight, self.region = 0, Fraction(1), {}
            self.kinds, self.told, self.names = [], [], given()
            with suppress(Stop):
                self.block(self.text.body)
            yield

    # --- statements ---------------------------------------------------------------------------------

    def statement(self, tree: ast.stmt) -> None:
        try:
            super().statement(tree)
        except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
            raise UnreadCase(f"line {tree.lineno} fails: {error!s:.80}") from None

    def count(self) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise UnreadCase(f"its paths take more than {MAX_STEPS:,} steps")

    def tell(self, value: Entry) -> None:
        self.told.append(self.released(value))

    def returned(self, value: Entry | None) -> None:
        if self.in_function and value is not None:
            raise _Return(value)
        super().returned(value)

    def place_of(self, target: ast.expr) -> tuple[Any, Any]:
        """Returns what holds a variable or an entry, and its name or number there."""
        match target:
            case ast.Name(name):
                return self.names, name
            case ast.Subscript(base, where):
                return listed(self.of(base)), self.index(where)
        raise UnreadCase(f"line {target.lineno} assigns to {type(target).__name__}")

    def store(self, target: ast.expr, value: Entry) -> None:
        holder, key = self.place_of(target)
        holder[key] = value

    def augment(self, target: ast.expr, word: str, value: ast.expr) -> None:
        holder, key = self.place_of(target)
        before = holder[key]
        if isinstance(before, list):
            raise UnreadCase("a list that is made longer in place")
        holder[key] = self.calculated(word, before, self.of(value))

    # --- expressions --------------------------------------------------------------------------------

    def of(self, tree: ast.expr) -> Entry:
        self.count()
        return super().of(tree)

    def name(self, name: str) -> Entry:
        return self.names[name] if name in self.names else self.parameters[name]

    def index(self, where: ast.expr) -> int:
        return whole(self.told_apart(self.of(where)))

    def truth(self, value: Entry) -> bool:
        if not isinstance(value, (bool, Fraction, str, list)):
            raise UnreadCase("noise or a parameter as a condition")
        return bool(value)

    def compared(self, word: str, left: Entry, right: Entry) -> bool:
        if isinstance(left, NoisyNumber) or isinstance(right, NoisyNumber):
            found = calculated("Sub", left, right)
            if isinstance(found, NoisyNumber):
                return self.decided(word, found)
        return super().compared(word, left, right)

    def call(self, name: str, arguments: Sequence[ast.expr]) -> Entry:
        if name == "choice":
            (table,) = arguments
            assert isinstance(table, ast.Dict)
            return self.sampled(name, [self.of(e) for e in (*table.keys, *table.values) if e is not None])
        return super().call(name, arguments)

    def applied(self, name: str, given: Sequence[Entry]) -> Entry:
        if name in self.text.functions:
            return self.function(self.text.functions[name], given)
        if name in self.called:
            return self.asked(self.called[name], [self.known(value) for value in given])
        if name == "exp" and len(given) == 1:
            return self.exp(given[0])
        if name not in BUILT_IN:
            return self.sampled(name, given)
        found = super().applied(name, given)
        if name == "clamp" and plain(given[2]) - plain(given[1]) <= MAX_CLAMPED:
            return self.told_apart(found, MAX_CLAMPED)
        return found

    def function(self, tree: ast.FunctionDef, given: Sequence[Entry]) -> Entry:
        before = self.names, self.in_function
        self.names = {a.arg: v for a, v in zip(tree.args.args, given, strict=True)}
        self.in_function = True
        try:
            self.block(tree.body)
        except _Return as found:
            return found.value
        finally:
            self.names, self.in_function = before
        raise ValueError("a function ends without return")

    def asked(self, callee: ProgramText | Rows, given: Sequence[Entry]) -> Entry:
        """Calls a mechanism: a program goes on in this run, with variables and outputs of its own."""
        if not isinstance(callee, ProgramText):
            return self.drawn(callee(given))
        before = self.told, self.text, self.names, self.in_function
        self.told, self.text, self.in_function = [], callee, False
        self.names = dict(zip(callee.inputs, given, strict=True))
        try:
            with suppress(Stop):
                self.block(callee.body)
            found = self.told
        finally:
            self.told, self.text, self.names, self.in_function = before
        return found if callee.tells else found[0]

    def known(self, value: Entry) -> Entry:
        """Returns an argument without noise."""
        if isinstance(value, list):
            return [self.known(entry) for entry in value]
        return self.told_apart(value)

    def sampled(self, name: str, given: Sequence[Entry]) -> Entry:
        """Draws: one way for each outcome, or a new variable."""
        found = self.draw(name, given)
        if not isinstance(found, VariableLaw):
            return self.drawn(found)
        v = len(self.kinds)
        self.kinds.append(found)
        if not found.two_sided:
            self.region = {**self.region, ((v, Fraction(-1)),): Fraction(0)}
        return NoisyNumber({v: Fraction(1)}, Fraction(0))
