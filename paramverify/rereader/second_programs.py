"""A second reading of programs: from the text to how likely each output is, at one point of the domain.

The text is parsed by Python's parser, under a whitelist of its own, and never executed; `second_runs` goes
through it path by path. Standard library only, and no code of the first reader.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import Any

from ..kernel.noise_regions import Region, RegionSums, Terms, VariableLaw, add_terms
from ..kernel.strict_reading import Rejected, UnreadCase, counted
from .second_definitions import program_written_out
from .second_numbers import Calculator, Finer, Value, meaning, meaning_of
from .second_outputs import Breaks, Limits, OutputName, both, has_form, leading, weights
from .second_runs import ProgramRuns, ProgramText, Rows
from .second_trees import BUILT_IN, statements
from .second_values import Entry, PowerSum, exponents, plain, rate, whole

MAX_OUTCOMES = 10_000
WITHOUT_SUMS = {"gauss": "Gaussian noise", "discrete_gaussian": "discrete Gaussian noise"}
NAMED = "#outputs"  # the key of a table that has the names of outputs which the evidence gives
UNIT = Fraction(5, 7)  # stands for eps itself where only exp(-eps/d) may be left in the end

DRAWS = (
    "flip",
    "uniform",
    "choice",
    "binomial",
    "geometric",
    "one_sided_geometric",
    "laplace",
    "exponential",
    "gauss",
    "discrete_gaussian",
)
_WORDS = (*DRAWS, *BUILT_IN, "exp", "output", "stop")
_KNOWN = (
    *(ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Expr, ast.Pass),
    *(ast.Assign, ast.AugAssign, ast.If, ast.For, ast.While, ast.Break, ast.Continue),
    *(ast.Constant, ast.Name, ast.List, ast.Tuple, ast.Dict, ast.Call, ast.Subscript, ast.Slice),
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp),
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.USub, ast.UAdd, ast.Not),
    *(ast.And, ast.Or, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq, ast.In, ast.NotIn),
    *(ast.Load, ast.Store),
)


@lru_cache(maxsize=8)
def parsed(text: str, calls: tuple[str, ...] = (), inputs: tuple[str, ...] = ()) -> ProgramText:
    """Returns a program with these inputs, which may call mechanisms of these names.

    Raises:
        Unread: something that is not on the whitelist.
    """
    return whitelisted(statements(text), calls, inputs)


def whitelisted(
    body: Sequence[ast.stmt], calls: tuple[str, ...] = (), inputs: tuple[str, ...] = ()
) -> ProgramText:
    """Returns a program of statements, which may call mechanisms of these names."""
    functions = {s.name: s for s in body if isinstance(s, ast.FunctionDef)}
    for node in (node for statement in body for node in ast.walk(statement)):
        line = getattr(node, "lineno", 0)
        if not isinstance(node, _KNOWN):
            raise UnreadCase(f"line {line} of the program has {type(node).__name__}")
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            if node.keywords or name not in (*functions, *_WORDS, *calls):
                raise UnreadCase(f"line {line} of the program calls what this reader does not know")
        if isinstance(node, (ast.For, ast.While)) and node.orelse:
            raise UnreadCase(f"line {line} of the program has a loop with else")
    return ProgramText([s for s in body if not isinstance(s, ast.FunctionDef)], functions, inputs)


class InputPlaces:
    """`[mechanism.inputs]`: the values of each place, or an expression for each."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self.lengths: dict[str, int | None] = {}
        self.answers: list[Sequence[Value]] = []
        self.queries: list[Any] = []
        for name, given in table.items():
            if isinstance(given, dict):
                length = given.get("length")
                self.answers += [values_of(given["values"])] * (1 if length is None else length)
            else:
                length = len(given) if isinstance(given, list) else None
                self.queries += given if isinstance(given, list) else [given]
            self.lengths[name] = length

    def names(self, given: Sequence[Value]) -> dict[str, Entry]:
        """Returns the variables of a program at its start."""
        found: dict[str, Entry] = {}
        values = list(given)
        for name, length in self.lengths.items():
            own, values = values[: length or 1], values[length or 1 :]
            found[name] = own[0] if length is None else own
        return found


def values_of(given: Any) -> list[Value]:
    """Returns the values of an entry: a list, or a range in words."""
    if isinstance(given, list):
        return [meaning_of(v) for v in given]
    low, high = (int(end) for end in given.split(".."))
    return [Fraction(k) for k in range(low, high + 1)]


class DrawRules:
    """What draws, scales and `exp` mean at a point; all noise with a density has scales of one kind."""

    def __init__(self, at: Calculator) -> None:
        self.at = at
        self.unit: str | None = None
        self.sums = RegionSums(Fraction(1), self.power)

    def power(self, exponent: Fraction) -> Fraction:
        """Returns e^(exponent·unit)."""
        return self.at.exp_of_sum({self.unit or "": exponent})

    def exp(self, value: Entry) -> Fraction:
        """Returns exp of a number without noise."""
        return self.at.exp_of_sum(exponents(value))

    def __call__(self, name: str, given: Sequence[Entry]) -> VariableLaw | Sequence[tuple[Entry, Fraction]]:
        """Returns the outcomes of a draw with their probabilities, or the distribution of unbounded noise."""
        match name, given:
            case "flip", [p]:
                chance = plain(p)
                return _checked([(True, chance), (False, 1 - chance)])
            case "uniform", [low, high]:
                values = range(whole(low), whole(high) + 1)
                if len(values) > MAX_OUTCOMES:
                    raise UnreadCase("a draw with too many outcomes")
                return _checked([(Fraction(k), Fraction(1, len(values))) for k in values])
            case "binomial", [n, p]:
                count, chance = whole(n), plain(p)
                rows = [
                    (Fraction(k), comb(count, k) * chance**k * (1 - chance) ** (count - k))
                    for k in range(count + 1)
                ]
                return _checked(rows)
            case "choice", _:
                half = len(given) // 2
                return _checked([(v, plain(p)) for v, p in zip(given[:half], given[half:], strict=True)])
            case "geometric" | "one_sided_geometric", [ratio]:
                a = plain(ratio)
                if not 0 < a < 1:
                    raise ValueError("the ratio of geometric noise is not between 0 and 1")
                return VariableLaw(True, name == "geometric", a)
            case "laplace" | "exponential", [scale]:
                slope, unit = rate(scale)
                if self.unit not in (None, unit):
                    raise UnreadCase("scales of two kinds")
                self.unit = unit
                self.sums.unit = plain(self.at.values.get(unit, UNIT)) if unit else Fraction(1)
                return VariableLaw(False, name == "laplace", slope)
        known = WITHOUT_SUMS.get(name)
        raise UnreadCase(known or f"{name} with {counted(len(given), 'argument')}")


def _checked(rows: list[tuple[Entry, Fraction]]) -> list[tuple[Entry, Fraction]]:
    if sum(p for _, p in rows) != 1 or any(p < 0 for _, p in rows):
        raise ValueError("the probabilities of a draw are none")
    return rows


def no_reader(table: Mapping[str, Any], at: Calculator) -> Any:
    """Reads no kind but programs: `second_mechanisms` gives what reads the others."""
    raise UnreadCase("a program that calls a mechanism of another kind")


def _rows(process: Any) -> Rows:
    """Returns what the arguments of a mechanism of another kind lead to, and how likely."""

    def rows(given: Sequence[Entry]) -> list[tuple[Entry, Fraction]]:
        entries = [e for value in given for e in (value if isinstance(value, list) else [value])]
        values = tuple(Fraction(e) if isinstance(e, bool) else e for e in entries)
        pairs = zip(values, process.answers, strict=True)
        if not all(isinstance(v, (Fraction, str)) and v in answers for v, answers in pairs):
            raise UnreadCase("an argument that a mechanism does not take")
        return [(meaning(name), chance) for (name,), chance in process.words(values, 1).items()]

    return rows


def program_text(table: Mapping[str, Any], at: Calculator, calls: Collection[str] = ()) -> ProgramText:
    """Returns the program of a table, which may call mechanisms of these names."""
    source = program_written_out(table["source"], at.definitions)
    return parsed(source, tuple(calls), tuple(table["inputs"]))


def runs_of(
    text: ProgramText, at: Calculator, draws: DrawRules, called: dict[str, ProgramText | Rows] | None = None
) -> ProgramRuns:
    """Returns what runs a program at a point, where parameters of the domain (0, ∞) are variables."""
    parameters: dict[str, Entry] = dict(at.values)
    parameters |= {name: PowerSum.variable(name) for name in at.steps}
    return ProgramRuns(
        text=text,
        called=called or {},
        parameters=parameters,
        draw=draws,
        exp=draws.exp,
        sums=draws.sums,
    )


def outputs_at(table: Mapping[str, Any], at: Calculator, read: Callable[..., Any] = no_reader) -> Any:
    """Returns the function that gives, for an input, how likely each output of the program is.

    `read` reads the table of a mechanism of another kind that the program calls.
    """
    calls = table.get("calls", {})
    called = {
        name: program_text(given, at, calls) if given["kind"] == "program" else _rows(read(given, at))
        for name, given in calls.items()
    }
    runs = runs_of(program_text(table, at, calls), at, DrawRules(at), called)
    places = InputPlaces(table["inputs"])
    if table.get(NAMED):
        names, breaks = table[NAMED]
        return Numeric(runs, places.names, list(names), list(names.values()), breaks)
    return lambda given: runs.distribution(lambda: places.names(given))


class Numeric:
    """How likely named outputs with noise are: sets of numbers, and places of densities."""

    def __init__(
        self,
        runs: ProgramRuns,
        start: Callable[[Sequence[Value]], dict[str, Entry]],
        words: Sequence[str],
        names: Sequence[OutputName],
        breaks: Breaks | None,
    ) -> None:
        self.runs, self.start, self.words = runs, start, words
        self.names = [*names]
        self.breaks = breaks
        self.complete = (
            breaks is not None and not breaks.probing and not any(name.is_density for name in names)
        )
        if self.complete:  # then the sets must have nothing in common
            met = (both(one, other) for one, other in combinations(names, 2))
            self.names += [name for name in met if name is not None]
        runs.noisy = True
        self.inputs: list[Sequence[Value]] = []
        self.known: dict[Any, list[dict[Limits, Fraction]]] = {}

    def prepare(self, inputs: Sequence[Sequence[Value]]) -> None:
        """Takes all inputs of the case: what is largest far away is so for all of them together."""
        self.inputs = list(inputs)

    def __call__(self, given: Sequence[Value]) -> dict[str, Fraction]:
        """Returns the weight of each named output on an input.

        Raises:
            Rejected: the names are sets, and these overlap, or are not all outputs.
        """
        found: dict[str, Fraction] = {}
        for k, (name, words) in enumerate(zip(self.names, self.words, strict=False)):
            own = self._weights(given)[k]
            if any(own) and any(self.inputs):
                try:
                    best = leading([self._weights(each)[k] for each in (given, *self.inputs)], name)
                except UnreadCase:
                    self._leave_out(k)
                    best = None
                own = {(): own.get(best, Fraction(0))} if best is not None else {}
            if number := own.get((), Fraction(0)):
                found[words] = number
        if any(any(own.values()) for own in self._weights(given)[len(self.words) :]):
            raise Rejected("two outputs that the evidence names have a part in common")
        if self.complete and sum(found.values()) != 1:
            raise Rejected("the outputs that the evidence names are not all outputs of the program")
        return found

    def _weights(self, given: Sequence[Value]) -> list[dict[Limits, Fraction]]:
        key = tuple(given)
        if key not in self.known:
            sums = self.runs.sums
            total: list[dict[Limits, Terms]] = [{} for _ in self.names]
            for _ in self.runs.every(lambda: self.start(given)):
                told, run = list(self.runs.told), (self.runs.region, list(self.runs.kinds))
                self._look(told, run)
                for k, name in enumerate(self.names):
                    try:
                        for where, terms in weights(sums, told, run, name).items():
                            scaled = {at: c * self.runs.weight for at, c in terms.items()}
                            add_terms(total[k].setdefault(where, {}), scaled)
                    except UnreadCase:
                        self._leave_out(k)
            self.known[key] = [{} for _ in self.names]
            for k, found in enumerate(total):
                try:
                    self.known[key][k] = {where: sums.number(terms) for where, terms in found.items()}
                except Finer:
                    self._leave_out(k)
            for weight in self.known[key]:
                for where in [w for w, number in weight.items() if not number]:
                    del weight[where]
        return self.known[key]

    def _leave_out(self, k: int) -> None:
        """Leaves out an output that the evidence does not name; raises again the error of another one."""
        if self.breaks is None or not self.breaks.probing:
            raise
        self.breaks.left_out.add(self.words[k])

    def _look(self, told: Sequence[Entry], run: tuple[Region, Sequence[VariableLaw]]) -> None:
        """Looks for breaks in a run, and for an output of which no name is.

        Raises:
            Rejected: the run is possible, and no name is about an output of its form.
        """
        if self.breaks is None or self.breaks.probing or self.complete:
            return
        self.breaks.look(told, run, self.names)
        sums = self.runs.sums
        if not any(has_form(told, name) for name in self.names) and sums.number(sums.chance(*run)):
            raise Rejected("the evidence names no output of a form that the program has")
