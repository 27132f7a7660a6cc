"""The values of expressions: a state splits where the value depends on a random choice or on noise."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

from paramverify.errors import DefectError, InputError, ProgramError
from paramverify.models.context import Checks
from paramverify.models.programs import arithmetic, runs
from paramverify.models.programs.bases import Bases
from paramverify.models.programs.comparing import Comparing, Found, Split, now
from paramverify.models.programs.defined import as_values
from paramverify.models.programs.drawing import ProgramDrawing
from paramverify.models.programs.expressions import ENCLOSED, IN_PLACE, NOISE
from paramverify.models.programs.functions import FunctionBases
from paramverify.models.programs.measure import Linear
from paramverify.models.programs.releasing import put
from paramverify.models.programs.runs import Put
from paramverify.models.programs.syntax import (
    Apply,
    Ask,
    Call,
    Choice,
    Items,
    Literal,
    Node,
    Place,
    Program,
    Variable,
    every_node,
    every_statement,
    nodes_of,
)
from paramverify.models.programs.terms import Terms
from paramverify.models.programs.unknown import no_value
from paramverify.models.programs.values import DEAD, Dead, ProgramState, Symbol, Unread, Value, read, unread

MAX_RANGE = 10_000

_PASSIVE = ("index", "slice", "len")  # do not read what is in a list
Answers = Sequence[tuple[Value, Terms]]  # values with their weights

_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_CONDITIONS = (*_COMPARISONS, "not", "in", "not in")


@dataclass(frozen=True, eq=False)
class Evaluator:
    """Evaluates expressions of one program; `parameters` are those of the case, with their values."""

    program: Program
    drawing: ProgramDrawing
    parameters: Mapping[str, Value]
    inputs: Collection[str] = ()  # their names, for messages
    ask: Callable[[Ask, tuple[Value, ...]], Answers] | None = None  # what a mechanism that is called gives

    @classmethod
    def of(cls, program: Program, checks: Checks) -> Self:
        """Returns the evaluator of a program of a case; parameters that the case fixes are numbers."""
        rates = tuple(u.name for u in checks.ring.unbounded)
        named = (n for n in checks.ring.parameters if n not in checks.ring.outputs)
        parameters: dict[str, Value] = {n: arithmetic.symbol(n) for n in (*named, *rates)}
        parameters |= {n: i.lower for n, i in checks.domain.box.items() if i.is_point and n in parameters}
        parameters |= as_values(checks.definitions, parameters)
        bases = FunctionBases(checks) if is_enclosed(program) else Bases(checks)
        drawing = ProgramDrawing(program.text, checks, bases, rates)
        return cls(program, drawing, parameters)

    def error(self, reason: str, place: Place) -> ProgramError:
        """Returns an error that points at a place."""
        return ProgramError(reason, self.program.text, *place)

    @property
    def comparing(self) -> Comparing:
        """Comparisons of this program."""
        return Comparing(self.program.text)

    def values(self, node: Node, state: ProgramState) -> Found:
        """Returns the values of an expression, each with its runs; inputs in lists may be unread.

        Raises:
            ProgramError: what is not covered, or has no value.
        """
        return [
            pair
            for s, value in self._values(node, state)
            for pair in ([(s, value)] if not isinstance(value, Unread) else self.read(value, s))
        ]

    def read(self, value: Unread, state: ProgramState) -> Found:
        """Tells the values of an input apart: those of all inputs that agree with what was read."""
        return [
            (read(state, value.place, found, inside), found)
            for found, inside in runs.read(state.runs, value.place)
        ]

    def read_all(
        self, values: Sequence[Value], state: ProgramState
    ) -> list[tuple[ProgramState, list[Value]]]:
        """Returns values in which every input is read."""
        found: list[tuple[ProgramState, list[Value]]] = [(state, list(values))]
        for entry in dict.fromkeys(u for v in values for u in unread(v)):
            found = [
                (s, [_put(v, entry, told) for v in known])
                for state_, known in found
                for s, told in self.read(entry, state_)
            ]
        return found

    def _values(self, node: Node, state: ProgramState) -> Found:
        match node:
            case Literal(value, _):
                return [(state, value)]
            case Variable():
                return [(state, self.variable(node, state))]
            case Items(items, _):
                return [(s, tuple(v)) for s, v in self.all(items, state)]
            case Choice():
                return self.choice(node, state)
            case Ask():
                return self.asked(node, state)
            case Call():
                raise DefectError(f"a call of {node.name} was not lifted out of its expression")
            case Apply():
                return self.applied(node, state)

    def all(self, nodes: Sequence[Node], state: ProgramState) -> list[tuple[ProgramState, list[Value]]]:
        """Returns the values of several expressions, from left to right."""
        found: list[tuple[ProgramState, list[Value]]] = [(state, [])]
        for node in nodes:
            found = [(after, [*known, v]) for s, known in found for after, v in self.values(node, s)]
        return [(s, [now(v, s) for v in known]) for s, known in found]

    def variable(self, node: Variable, state: ProgramState) -> Value:
        if node.name in state.values:
            return now(state.values[node.name], state)
        if node.name in self.parameters:
            return self.parameters[node.name]
        raise self.no_value(node.name, node.place)

    def no_value(self, name: str, place: Place) -> ProgramError:
        """Returns the error about a variable that has no value, with what helps."""
        return self.error(no_value(self.program, name, place, self.inputs, self.parameters), place)

    def applied(self, node: Apply, state: ProgramState) -> Found:
        word = node.operator
        if word in ("and", "or"):
            return self.deciding(node, word == "and", state)
        if word in _CONDITIONS:
            yes, no = self.test(node, state)
            return [*((s, True) for s in yes), *((s, False) for s in no)]
        if word == "if":
            yes, no = self.test(node.arguments[0], state)
            return [
                *(pair for s in yes for pair in self.values(node.arguments[1], s)),
                *(pair for s in no for pair in self.values(node.arguments[2], s)),
            ]
        return [
            pair
            for s, given in self.all(node.arguments, state)
            for after, told in ([(s, given)] if word in _PASSIVE else self.read_all(given, s))
            for pair in self.operation(node, told, after)
        ]

    def operation(self, node: Apply, given: list[Value], state: ProgramState) -> Found:
        if any(isinstance(v, Dead) for v in given):
            raise self.error("a value that was forgotten is read: this is a defect", node.place)
        word = node.operator
        if word in NOISE:
            return self.drawing.draw(node, given, state)
        match word:
            case "index":
                return self.index(node, given, state)
            case "slice":
                ends = [self.whole(node, v) for v in given[1:]]
                return [
                    (state, self.listed(node, given[0])[slice(*ends) if ends[1:] else slice(ends[0], None)])
                ]
            case "len":
                return [(state, Fraction(len(self.listed(node, given[0]))))]
            case "range":
                return [(state, self.range(node, given))]
            case "sum":
                return [(state, self.total(node, self.listed(node, given[0])))]
            case "min" | "max":
                values = self.listed(node, given[0]) if len(given) == 1 else tuple(given)
                if not values:
                    raise self.error(f"{word} of an empty list", node.place)
                return self.comparing.extreme(node.place, word, values, state)
            case "abs":
                return self.comparing.magnitude(node.place, given[0], state)
            case "clamp":
                return self.comparing.clamped(node.place, given, state)
        if word in IN_PLACE:
            if isinstance(given[0], tuple):
                reason = (
                    f"{word} changes a list in place, and other names of it too; write a = a {word[:-1]} ..."
                )
                raise self.error(reason, node.place)
            word = word[:-1]
        try:
            return [(state, self.plain(node, word, given))]
        except ProgramError as error:
            raise self.error(error.reason + runs.told_input(state.runs), node.place) from None

    def plain(self, node: Apply, word: str, given: Sequence[Value]) -> Value:
        """Applies an operator that splits nothing."""
        try:
            return arithmetic.apply(word, given)
        except InputError as error:
            raise self.error(error.reason, node.place) from None

    def whole(self, node: Apply, value: Value) -> int:
        number = Fraction(value) if isinstance(value, bool) else value
        if isinstance(number, Fraction) and number.denominator == 1:
            return int(number)
        if isinstance(value, (Linear, Symbol)):
            kind = "noise" if isinstance(value, Linear) else "a parameter"
            reason = f"{kind} cannot be used here: a whole number without noise is needed"
            raise self.error(reason, node.place)
        raise self.error("a whole number is needed here", node.place)

    def listed(self, node: Apply, value: Value) -> tuple[Value, ...]:
        if isinstance(value, tuple):
            return value
        raise self.error("a list is needed here", node.place)

    def range(self, node: Apply, given: Sequence[Value]) -> Value:
        numbers = [self.whole(node, v) for v in given]
        if len(numbers) == 3 and numbers[2] == 0:
            raise self.error("range needs a step that is not zero", node.place)
        values = range(*numbers)
        if values[MAX_RANGE:]:  # its length may be no number of the machine
            raise self.error(f"a range of more than {MAX_RANGE:,} numbers", node.place)
        return tuple(Fraction(v) for v in values)

    def total(self, node: Apply, values: Sequence[Value]) -> Value:
        result: Value = Fraction(0)
        for value in values:
            result = self.plain(node, "+", [result, value])
        return result

    def index(self, node: Apply, given: Sequence[Value], state: ProgramState) -> Found:
        values = self.listed(node, given[0])
        found: Found = []
        for after, where in self.comparing.finite(node.place, given[1], state, "noise cannot be an index"):
            k = self.whole(node, where)
            if not -len(values) <= k < len(values):
                raise self.error(outside(k, values) + runs.told_input(state.runs), node.place)
            if values[k] == DEAD:
                raise self.error("a value that was forgotten is read: this is a defect", node.place)
            found.append((after, values[k]))
        return found

    def test(self, node: Node, state: ProgramState) -> Split:
        """Returns the runs in which a condition is true, and those in which it is false."""
        if isinstance(node, Apply):
            word = node.operator
            if word == "not":
                yes, no = self.test(node.arguments[0], state)
                return no, yes
            if word in ("and", "or"):
                return self.connected(node, word == "and", state)
            if word in ("in", "not in"):
                yes, no = self.contained(node, state)
                return (yes, no) if word == "in" else (no, yes)
            if word in _COMPARISONS:
                split: Split = ([], [])
                for s, given in self.all(node.arguments, state):
                    for after, (left, right) in self.read_all(given, s):
                        yes, no = self.comparing.ordered(node.place, word, (left, right), after)
                        split[0].extend(yes)
                        split[1].extend(no)
                return split
        yes, no = [], []
        for s, value in self.values(node, state):
            (yes if self.is_true(node, value) else no).append(s)
        return yes, no

    def is_true(self, node: Node, value: Value) -> bool:
        """Tells whether a value counts as true: neither 0 nor an empty list or text."""
        if isinstance(value, (Linear, Symbol)):
            raise self.error("a condition is needed here, such as x >= 0", node.place)
        return bool(value)

    def deciding(self, node: Apply, conjunction: bool, state: ProgramState) -> Found:
        """Returns the value of `a and b` or `a or b`: as in Python, that of the part that decides."""
        going, found = [state], []
        *parts, last = node.arguments
        for part in parts:
            pairs = [pair for s in going for pair in self.values(part, s)]
            found += [(s, v) for s, v in pairs if self.is_true(part, v) != conjunction]
            going = [s for s, v in pairs if self.is_true(part, v) == conjunction]
        return [*found, *(pair for s in going for pair in self.values(last, s))]

    def connected(self, node: Apply, conjunction: bool, state: ProgramState) -> Split:
        going, done = [state], []
        for part in node.arguments:
            next_going: list[ProgramState] = []
            for s in going:
                yes, no = self.test(part, s)
                next_going += yes if conjunction else no
                done += no if conjunction else yes
            going = next_going
        return (going, done) if conjunction else (done, going)

    def contained(self, node: Apply, state: ProgramState) -> Split:
        yes: list[ProgramState] = []
        no: list[ProgramState] = []
        split = [pair for s, given in self.all(node.arguments, state) for pair in self.read_all(given, s)]
        for s, (value, values) in split:
            going = [s]
            for entry in self.listed(node, values):
                rest: list[ProgramState] = []
                for g in going:
                    same, other = self.comparing.ordered(node.place, "==", (now(value, g), now(entry, g)), g)
                    yes += same
                    rest += other
                going = rest
            no += going
        return yes, no

    def choice(self, node: Choice, state: ProgramState) -> Found:
        tables = self.all([p for _, p in node.table], state)
        return [pair for s, shares in tables for pair in self.drawing.choose(node, shares, s)]

    def asked(self, node: Ask, state: ProgramState) -> Found:
        """Returns what a mechanism gives that the program calls; its noise is fresh each time.

        Raises:
            ProgramError: an argument carries noise, or the mechanism does not take it.
        """
        assert self.ask is not None
        reason = f"an argument of {node.name} carries noise"
        ready: list[tuple[ProgramState, tuple[Value, ...]]] = [
            (after, tuple(told))
            for s, given in self.all(node.arguments, state)
            for after, told in self.read_all(given, s)
        ]
        for k in range(len(node.arguments)):
            ready = [
                (after, (*given[:k], plain, *given[k + 1 :]))
                for s, given in ready
                for after, plain in (
                    [(s, given[k])]
                    if isinstance(given[k], Symbol)
                    else self.comparing.finite(node.place, now(given[k], s), s, reason)
                )
            ]
        return [
            (replace(s, measure=s.measure.weighted(weight)), value)
            for s, given in ready
            for value, weight in self.ask(node, given)
        ]

    def released(self, node: Node, value: Value, state: ProgramState) -> Iterator[tuple[ProgramState, Put]]:
        """Yields the values of an output; numbers with noise that have no few values stay alive."""
        for ready, (told,) in self.read_all([value], state):
            if self.drawing.bases.sums:
                yield from put(self.comparing, node.place, told, ready)
                continue
            for s, found in self.comparing.finite(node.place, told, ready, "this output carries noise"):
                yield from put(self.comparing, node.place, found, s)


def is_enclosed(program: Program) -> bool:
    """Tells whether a program draws noise whose probabilities have no closed form."""
    blocks = (program.body, *(f.body for f in program.functions.values()))
    return any(
        isinstance(inner, Apply) and inner.operator in ENCLOSED
        for block in blocks
        for statement in every_statement(block)
        for node in nodes_of(statement)
        for inner in every_node(node)
    )


def outside(index: int, values: Sequence[Value]) -> str:
    """Returns the words for an index that a list does not have."""
    count = f"{len(values)} {'entry' if len(values) == 1 else 'entries'}"
    return f"the index {index} is outside of the list, which has {count}"


def _put(value: Value, entry: Unread, told: Value) -> Value:
    if isinstance(value, tuple):
        return tuple(_put(v, entry, told) for v in value)
    return told if value == entry else value
