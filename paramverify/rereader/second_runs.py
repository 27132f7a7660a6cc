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
from typing import Any

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
from .second_values import Entry, NoisyNumber, calculated, number, plain, shown, whole

# --- the ways through a program where chance or noise decides, for the second reader ----------------

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

    def listed(self, value: Entry) -> list[Entry]:
        if not isinstance(value, list):
            raise UnreadCase("a list is needed")
        return value

    def compared(self, word: str, left: Entry, right: Entry) -> bool:
        """Compares two values; where noise decides, each result that is possible is a way of its own."""
        if isinstance(left, list) and isinstance(right, list) and word in ("==", "!="):
            same = len(left) == len(right) and all(map(self.compared, ["=="] * len(left), left, right))
            return same == (word == "==")
        if isinstance(left, (str, list)) or isinstance(right, (str, list)):
            if word not in ("==", "!="):
                raise UnreadCase("an order of labels or lists")
            return (type(left) is type(right) and left == right) == (word == "==")
        found = calculated("Sub", left, right)
        if isinstance(found, NoisyNumber):
            return bool(self.go(lambda: self.ways(word, found)))
        sign = plain(found)
        return {
            "<": sign < 0,
            "<=": sign <= 0,
            ">": sign > 0,
            ">=": sign >= 0,
            "==": sign == 0,
            "!=": sign != 0,
        }[word]

    def ways(self, word: str, value: NoisyNumber) -> list[ValueWay]:
        """Returns the ways on where a value with noise is compared with zero."""
        yes, no = {
            "<": (["<"], [">="]),
            "<=": (["<="], [">"]),
            ">": ([">"], ["<="]),
            ">=": ([">="], ["<"]),
            "==": (["=="], ["<", ">"]),
            "!=": (["<", ">"], ["=="]),
        }[word]
        found = []
        for result, parts in ((True, yes), (False, no)):
            for part in parts:
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
MAX_TURNS = 2_000  # of one loop
MAX_CLAMPED = 64

_SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


class _Stop(Exception):
    pass


class _Return(Exception):
    def __init__(self, value: Entry) -> None:
        self.value = value


@dataclass(frozen=True)
class ProgramText:
    """A program that is called: its statements, its functions, and the names of its arguments."""

    body: Sequence[ast.stmt]
    functions: dict[str, ast.FunctionDef]
    inputs: tuple[str, ...]

    @property
    def tells(self) -> bool:
        """Whether it has `output(...)`; a call of it then gives a list."""
        nodes = (node for statement in self.body for node in ast.walk(statement))
        return any(isinstance(n, ast.Name) and n.id == "output" for n in nodes)


Rows = Callable[[Sequence[Entry]], Sequence[tuple[Entry, Fraction]]]  # what arguments lead to, how likely


@dataclass(kw_only=True)
class ProgramRuns(Ways):
    """All runs of a program; `draw` gives the outcomes of a draw, or the distribution of noise."""

    body: Sequence[ast.stmt]
    functions: dict[str, ast.FunctionDef]
    called: dict[str, ProgramText | Rows] = field(default_factory=dict)  # the mechanisms that are called
    literals: dict[int, Fraction]  # of the numbers in the tree, by the identity of their nodes
    parameters: dict[str, Entry]
    draw: Callable[[str, Sequence[Entry]], VariableLaw | Sequence[tuple[Entry, Fraction]]]
    exp: Callable[[Entry], Fraction]
    sums: RegionSums
    steps: int = 0
    told: list[Entry] = field(default_factory=list)

    def distribution(self, given: Callable[[], dict[str, Entry]]) -> dict[str, Fraction]:
        """Returns how likely each output is, in words, where `given` makes the input.

        Raises:
            Unread: there are too many ways, or a run does what this reader does not know.
        """
        found: dict[str, Any] = {}
        for _ in self.every(given):
            name = ", ".join(map(shown, self.told)) or "(no output)"
            chance = self.sums.chance(self.region, self.kinds)
            add_terms(found.setdefault(name, {}), {key: c * self.weight for key, c in chance.items()})
        numbers = {name: self.sums.number(terms) for name, terms in found.items()}
        if sum(numbers.values()) != 1:
            raise ValueError("the probabilities of the paths do not sum to 1")
        return {name: chance for name, chance in numbers.items() if chance}

    def every(self, given: Callable[[], dict[str, Entry]]) -> Iterator[None]:
        """Goes through all runs, and stops at the end of each."""
        self.pending, count = [[]], 0
        while self.pending:
            count += 1
            if count > MAX_RUNS:
                raise UnreadCase(f"the program has more than {MAX_RUNS:,} paths for one input")
            self.trail = self.pending.pop()
            self.place, self.weight, self.region = 0, Fraction(1), {}
            self.kinds, self.told = [], []
            with suppress(_Stop):
                self.block(self.body, given())
            yield

    # --- statements ---------------------------------------------------------------------------------

    def block(self, body: Sequence[ast.stmt], names: dict[str, Entry]) -> None:
        for statement in body:
            try:
                self.statement(statement, names)
            except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
                raise UnreadCase(f"line {statement.lineno} fails: {error!s:.80}") from None

    def statement(self, tree: ast.stmt, names: dict[str, Entry]) -> None:
        self.count()
        match tree:
            case ast.Expr(ast.Call(ast.Name("output"), [value])):
                self.told.append(self.released(self.value(value, names)))
            case ast.Expr(ast.Name("stop") | ast.Call(ast.Name("stop"))):
                raise _Stop
            case ast.Expr(ast.Constant()) | ast.Pass():
                pass
            case ast.Assign([target], value):
                self.assign(target, self.value(value, names), names)
            case ast.AugAssign(target, word, value):
                self.augment(target, type(word).__name__, value, names)
            case ast.If(test, then, otherwise):
                self.block(then if self.true(test, names) else otherwise, names)
            case ast.For(target, values, body):
                with suppress(_Break):
                    for value in self.listed(self.value(values, names)):
                        self.assign(target, value, names)
                        with suppress(_Continue):
                            self.block(body, names)
            case ast.While(test, body):
                self.loop(test, body, names)
            case ast.Return(value):
                if "#function" in names and value is not None:
                    raise _Return(self.value(value, names))
                if value is not None:
                    self.told.append(self.released(self.value(value, names)))
                raise _Stop
            case ast.Break():
                raise _Break
            case ast.Continue():
                raise _Continue
            case _:
                raise UnreadCase(f"line {tree.lineno} has {type(tree).__name__}")

    def count(self) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise UnreadCase(f"its paths take more than {MAX_STEPS:,} steps")

    def loop(self, test: ast.expr, body: Sequence[ast.stmt], names: dict[str, Entry]) -> None:
        turns = 0
        with suppress(_Break):
            while self.true(test, names):
                turns += 1
                if turns > MAX_TURNS:
                    raise UnreadCase(f"a loop of more than {MAX_TURNS:,} turns")
                with suppress(_Continue):
                    self.block(body, names)

    def assign(self, target: ast.expr, value: Entry, names: dict[str, Entry]) -> None:
        match target:
            case ast.Name(name):
                names[name] = value
            case ast.Tuple(targets) | ast.List(targets):
                values = self.listed(value)
                if len(values) != len(targets):
                    raise ValueError("the numbers of names and values differ")
                for each, entry in zip(targets, list(values), strict=True):
                    self.assign(each, entry, names)
            case ast.Subscript(base, where):
                entries = self.listed(self.value(base, names))
                entries[whole(self.told_apart(self.value(where, names)))] = value
            case _:
                raise UnreadCase(f"line {target.lineno} assigns to {type(target).__name__}")

    def augment(self, target: ast.expr, word: str, value: ast.expr, names: dict[str, Entry]) -> None:
        match target:
            case ast.Name(name):
                before = self.value(target, names)
                if isinstance(before, list):
                    raise UnreadCase("a list that is made longer in place")
                names[name] = calculated(word, before, self.value(value, names))
            case ast.Subscript(base, where):
                entries = self.listed(self.value(base, names))
                k = whole(self.told_apart(self.value(where, names)))
                entries[k] = calculated(word, entries[k], self.value(value, names))
            case _:
                raise UnreadCase(f"line {target.lineno} assigns to {type(target).__name__}")

    # --- expressions --------------------------------------------------------------------------------

    def value(self, tree: ast.expr, names: dict[str, Entry]) -> Entry:
        self.count()
        match tree:
            case ast.Constant(value):
                return self.literals.get(id(tree), value)
            case ast.Name(name):
                return names[name] if name in names else self.parameters[name]
            case ast.List(items) | ast.Tuple(items):
                return [self.value(item, names) for item in items]
            case ast.BinOp(left, word, right):
                first = self.value(left, names)
                return calculated(type(word).__name__, first, self.value(right, names))
            case ast.UnaryOp(ast.Not(), operand):
                return not self.true(operand, names)
            case ast.UnaryOp(word, operand):
                sign = Fraction(-1 if isinstance(word, ast.USub) else 1)
                return calculated("Mult", sign, number(self.value(operand, names)))
            case ast.BoolOp(word, parts):
                for part in parts[:-1]:
                    found = self.value(part, names)
                    if self.truth(found) != isinstance(word, ast.And):
                        return found
                return self.value(parts[-1], names)
            case ast.Compare():
                return self.chain(tree, names)
            case ast.IfExp(test, then, otherwise):
                return self.value(then if self.true(test, names) else otherwise, names)
            case ast.Subscript(base, ast.Slice(low, high, None)):
                entries = self.listed(self.value(base, names))
                ends = [None if e is None else whole(self.value(e, names)) for e in (low, high)]
                return entries[ends[0] : ends[1]]
            case ast.Subscript(base, where):
                entries = self.listed(self.value(base, names))
                return entries[whole(self.told_apart(self.value(where, names)))]
            case ast.Call(ast.Name(name), arguments):
                return self.call(name, arguments, names)
        raise UnreadCase(f"line {tree.lineno} has {type(tree).__name__}")

    def true(self, tree: ast.expr, names: dict[str, Entry]) -> bool:
        return self.truth(self.value(tree, names))

    def truth(self, value: Entry) -> bool:
        if not isinstance(value, (bool, Fraction, str, list)):
            raise UnreadCase("noise or a parameter as a condition")
        return bool(value)

    def chain(self, tree: ast.Compare, names: dict[str, Entry]) -> bool:
        """Compares as Python does: each operand is evaluated once, and only where those before hold."""
        left = self.value(tree.left, names)
        for word, part in zip(tree.ops, tree.comparators, strict=True):
            right = self.value(part, names)
            if isinstance(word, (ast.In, ast.NotIn)):
                found = any(self.compared("==", left, e) for e in self.listed(right))
                holds = found == isinstance(word, ast.In)
            else:
                holds = self.compared(_SIGNS[type(word)], left, right)
            if not holds:
                return False
            left = right
        return True

    def call(self, name: str, arguments: Sequence[ast.expr], names: dict[str, Entry]) -> Entry:
        if name == "choice":
            (table,) = arguments
            assert isinstance(table, ast.Dict)
            keys = [self.value(k, {}) for k in table.keys if k is not None]
            return self.drawn(name, [*keys, *(self.value(v, names) for v in table.values)])
        given = [self.value(a, names) for a in arguments]
        if name in self.functions:
            return self.function(self.functions[name], given)
        if name in self.called:
            return self.asked(self.called[name], [self.known(value) for value in given])
        match name, given:
            case "len", [values]:
                return Fraction(len(self.listed(values)))
            case "sum", [values]:
                total: Entry = Fraction(0)
                for value in self.listed(values):
                    total = calculated("Add", total, value)
                return total
            case "min" | "max", [_, *_]:
                return self.best(self.listed(given[0]) if len(given) == 1 else given, name)
            case "abs", [value]:
                sign = Fraction(1 if self.compared(">=", value, Fraction(0)) else -1)
                return calculated("Mult", sign, number(value))
            case "clamp", [value, low, high]:
                return self.clamped(number(value), plain(low), plain(high))
            case "range", [_, *_]:
                values = range(*map(whole, given))
                if len(values) > 20_000:
                    raise UnreadCase("a range that is too long")
                return [Fraction(k) for k in values]
            case "exp", [value]:
                return self.exp(value)
        return self.drawn(name, given)

    def function(self, tree: ast.FunctionDef, given: Sequence[Entry]) -> Entry:
        names = {a.arg: v for a, v in zip(tree.args.args, given, strict=True)}
        try:
            self.block(tree.body, {**names, "#function": True})
        except _Return as found:
            return found.value
        raise ValueError("a function ends without return")

    def asked(self, callee: ProgramText | Rows, given: Sequence[Entry]) -> Entry:
        """Calls a mechanism: a program goes on in this run, with variables and outputs of its own."""
        if not isinstance(callee, ProgramText):
            region = self.region
            return self.go(lambda: [ValueWay(v, p, region) for v, p in callee(given) if p])
        before = self.told, self.functions
        self.told, self.functions = [], callee.functions
        try:
            with suppress(_Stop):
                self.block(callee.body, dict(zip(callee.inputs, given, strict=True)))
            found = self.told
        finally:
            self.told, self.functions = before
        return found if callee.tells else found[0]

    def known(self, value: Entry) -> Entry:
        """Returns an argument without noise."""
        if isinstance(value, list):
            return [self.known(entry) for entry in value]
        return self.told_apart(value)

    def drawn(self, name: str, given: Sequence[Entry]) -> Entry:
        """Draws: one way for each outcome, or a new variable."""
        found = self.draw(name, given)
        if not isinstance(found, VariableLaw):
            region = self.region
            return self.go(lambda: [ValueWay(v, p, region) for v, p in found if p])
        v = len(self.kinds)
        self.kinds.append(found)
        if not found.two_sided:
            self.region = {**self.region, ((v, Fraction(-1)),): Fraction(0)}
        return NoisyNumber({v: Fraction(1)}, Fraction(0))

    def best(self, values: Sequence[Entry], name: str) -> Entry:
        best = values[0]
        for value in values[1:]:
            if not self.compared(">=" if name == "max" else "<=", best, value):
                best = value
        return best

    def clamped(self, value: Entry, low: Fraction, high: Fraction) -> Entry:
        if low > high:
            raise ValueError("clamp needs lo <= hi")
        if self.compared("<=", value, low):
            return low
        if self.compared(">=", value, high):
            return high
        return self.told_apart(value, MAX_CLAMPED) if high - low <= MAX_CLAMPED else value
