"""The values of expressions and their assignment.

A state splits where a value depends on a random choice or on noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from typing import Self

from paramverify.algebra.expressions import (
    Definitions,
    Expression,
    Name,
    Node,
    Operation,
    RationalConstant,
    Text,
    evaluate,
)
from paramverify.errors import DefectError, InputError, ProgramError
from paramverify.models.context import Checks
from paramverify.models.programs import noisy_numbers, run_states
from paramverify.models.programs.noise_densities import Bases
from paramverify.models.programs.noise_enclosures import FunctionBases
from paramverify.models.programs.noise_terms import Terms
from paramverify.models.programs.noisy_numbers import (
    IN_OUTPUT,
    Comparing,
    Found,
    ProgramDrawing,
    Split,
    now,
    put,
)
from paramverify.models.programs.program_reading import ENCLOSED, IN_PLACE, NOISE
from paramverify.models.programs.program_syntax import (
    Apply,
    Ask,
    Assign,
    Call,
    Choice,
    For,
    Function,
    Items,
    Literal,
    Place,
    Program,
    Statement,
    Variable,
    every_node,
    every_statement,
    nodes_of,
)
from paramverify.models.programs.program_syntax import Node as ProgramNode
from paramverify.models.programs.run_states import (
    DEAD,
    Dead,
    Linear,
    ProgramState,
    Put,
    Symbol,
    Unread,
    Value,
    read_value,
    unread,
)
from paramverify.models.programs.sampled_columns import Number as Sampled


def no_value(
    program: Program, name: str, place: Place, inputs: Collection[str], parameters: Collection[str]
) -> str:
    """Returns why a name has no value at a place of a program with these inputs and parameters."""
    function = _around(program, place)
    body = program.body if function is None else function.body
    given = inputs if function is None else function.parameters
    lines = _lines(body, name)
    if lines:
        if lines[0] >= place.line:
            return f"{name} has no value yet: it is assigned only at line {lines[0]}; assign it earlier"
        return f"{name} has no value on some paths: assign it on every path before line {lines[0]}"
    if function is not None and (name in inputs or _lines(program.body, name)):
        wanted = ", ".join((*function.parameters, name))
        return (
            f"{name} has no value inside the function {function.name}: pass it as an "
            f"argument, as in def {function.name}({wanted})"
        )
    known = sorted({*given, *parameters, *_names(body)})
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"the known names are {', '.join(known) or 'none'}"
    return f"{name} has no value here: {hint}"


def _around(program: Program, place: Place) -> Function | None:
    """Returns the function that has a place: all of them stand before the rest of the program."""
    before = [f for f in program.functions.values() if f.place.line <= place.line]
    inside = before and not (program.body and program.body[0].place.line <= place.line)
    return max(before, key=lambda f: f.place.line) if inside else None


def _lines(body: tuple[Statement, ...], name: str) -> list[int]:
    """Returns the lines that give a name a value, in their order."""
    return sorted(line for line, names in _given(body) if name in names)


def _names(body: tuple[Statement, ...]) -> set[str]:
    return {name for _, names in _given(body) for name in names if name.isidentifier()}


def _given(body: tuple[Statement, ...]) -> Iterator[tuple[int, tuple[str, ...]]]:
    for found in every_statement(body):
        if isinstance(found, For) or (isinstance(found, Assign) and not found.indices):
            yield found.place.line, found.names


_FLOATS: dict[str, Callable[..., float]] = {
    "+": lambda *terms: math.fsum(terms),
    "*": lambda *factors: math.prod(factors),
    "/": lambda a, b: a / b,
    "**": lambda a, b: a**b,
    "neg": lambda a: -a,
    "abs": abs,
    "min": min,
    "max": max,
    "exp": math.exp,
    "ln": math.log,
}


def as_values(definitions: Definitions, parameters: Mapping[str, Value]) -> dict[str, Value]:
    """Returns the definitions as values of a program: numbers and labels, or expressions in parameters."""
    numbers = {name: value for name, value in parameters.items() if isinstance(value, Fraction)}
    found: dict[str, Value] = {}
    for name, named in definitions.named.items():
        needed = named.expression.names().keys()
        if needed <= numbers.keys() and _is_rational(named.expression):
            found[name] = evaluate(named.expression, numbers)
        elif needed <= parameters.keys():
            found[name] = Symbol(named.expression.root)
    return found


def as_numbers(definitions: Definitions, values: Mapping[str, Sampled]) -> dict[str, Sampled]:
    """Returns the definitions that are numbers at a point; floats where the point has some, or by `exp`."""
    found: dict[str, Sampled] = {}
    exact = {name: value for name, value in values.items() if isinstance(value, Fraction)}
    for name, named in definitions.named.items():
        needed = named.expression.names().keys()
        if needed <= exact.keys() and _is_rational(named.expression):
            value = evaluate(named.expression, exact)
            if not isinstance(value, str):
                found[name] = Fraction(value)
        elif needed <= values.keys():
            number = _float(named.expression.root, values)
            if number is not None:
                found[name] = number
    return found


def _is_rational(expression: Expression) -> bool:
    return not any(isinstance(n, Operation) and n.operator in ("exp", "ln") for n in expression.nodes())


def _float(node: Node, values: Mapping[str, Sampled]) -> float | None:
    """Returns the value of a number; None of anything else."""
    if isinstance(node, RationalConstant):
        return float(node.value)
    if isinstance(node, Name):
        return float(values[node.name])
    if isinstance(node, Text) or node.operator not in _FLOATS:
        return None
    numbers = [_float(argument, values) for argument in node.arguments]
    return None if None in numbers else _FLOATS[node.operator](*numbers)


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
        parameters: dict[str, Value] = {n: noisy_numbers.symbol(n) for n in (*named, *rates)}
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

    def values(self, node: ProgramNode, state: ProgramState) -> Found:
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
            (read_value(state, value.place, found, inside), found)
            for found, inside in run_states.read(state.runs, value.place)
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

    def _values(self, node: ProgramNode, state: ProgramState) -> Found:
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

    def all(
        self, nodes: Sequence[ProgramNode], state: ProgramState
    ) -> list[tuple[ProgramState, list[Value]]]:
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
            raise self.error("a forgotten value was read: this is a defect", node.place)
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
                    raise self.error(
                        f"{word} of an empty list has no value; check its length first", node.place
                    )
                return self.comparing.extreme(node.place, word, values, state)
            case "abs":
                return self.comparing.magnitude(node.place, given[0], state)
            case "clamp":
                return self.comparing.clamped(node.place, given, state)
        if word in IN_PLACE:
            if isinstance(given[0], tuple):
                reason = (
                    f"{word} would change a list in place, and every other name of that list with it; "
                    f"write a = a {word[:-1]} ..."
                )
                raise self.error(reason, node.place)
            word = word[:-1]
        try:
            return [(state, self.plain(node, word, given))]
        except ProgramError as error:
            raise self.error(error.reason + run_states.told_input(state.runs), node.place) from None

    def plain(self, node: Apply, word: str, given: Sequence[Value]) -> Value:
        """Applies an operator that splits nothing."""
        try:
            return noisy_numbers.apply(word, given)
        except InputError as error:
            raise self.error(error.reason, node.place) from None

    def whole(self, node: Apply, value: Value) -> int:
        number = Fraction(value) if isinstance(value, bool) else value
        if isinstance(number, Fraction) and number.denominator == 1:
            return int(number)
        if isinstance(value, (Linear, Symbol)):
            kind = "noise" if isinstance(value, Linear) else "a parameter"
            reason = f"{kind} cannot be used here, because this must be a whole number without noise"
            raise self.error(reason, node.place)
        raise self.error("this must be a whole number", node.place)

    def listed(self, node: Apply, value: Value) -> tuple[Value, ...]:
        if isinstance(value, tuple):
            return value
        raise self.error("this must be a list", node.place)

    def range(self, node: Apply, given: Sequence[Value]) -> Value:
        numbers = [self.whole(node, v) for v in given]
        if len(numbers) == 3 and numbers[2] == 0:
            raise self.error("the step of range must not be zero", node.place)
        values = range(*numbers)
        if values[MAX_RANGE:]:  # its length may be no number of the machine
            raise self.error(f"the range has more than {MAX_RANGE:,} numbers", node.place)
        return tuple(Fraction(v) for v in values)

    def total(self, node: Apply, values: Sequence[Value]) -> Value:
        result: Value = Fraction(0)
        for value in values:
            result = self.plain(node, "+", [result, value])
        return result

    def index(self, node: Apply, given: Sequence[Value], state: ProgramState) -> Found:
        values = self.listed(node, given[0])
        found: Found = []
        for after, where in self.comparing.finite(
            node.place, given[1], state, "an index cannot be a noisy number"
        ):
            k = self.whole(node, where)
            if not -len(values) <= k < len(values):
                raise self.error(outside(k, values) + run_states.told_input(state.runs), node.place)
            if values[k] == DEAD:
                raise self.error("a forgotten value was read: this is a defect", node.place)
            found.append((after, values[k]))
        return found

    def test(self, node: ProgramNode, state: ProgramState) -> Split:
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

    def is_true(self, node: ProgramNode, value: Value) -> bool:
        """Tells whether a value counts as true: neither 0 nor an empty list or text."""
        if isinstance(value, (Linear, Symbol)):
            raise self.error("this must be a condition, such as x >= 0", node.place)
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
        reason = f"an argument of {node.name} contains noise"
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

    def released(
        self, node: ProgramNode, value: Value, state: ProgramState
    ) -> Iterator[tuple[ProgramState, Put]]:
        """Yields the values of an output; numbers with noise that have no few values stay alive."""
        for ready, (told,) in self.read_all([value], state):
            if self.drawing.bases.sums:
                yield from put(self.comparing, node.place, told, ready)
                continue
            for s, found in self.comparing.finite(node.place, told, ready, IN_OUTPUT):
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
    return f"the index {index} is out of range: the list has {count}"


def _put(value: Value, entry: Unread, told: Value) -> Value:
    if isinstance(value, tuple):
        return tuple(_put(v, entry, told) for v in value)
    return told if value == entry else value


@dataclass(frozen=True, eq=False)
class Assigner:
    """Assigns values in the states of one program."""

    evaluator: Evaluator

    def assigned(self, statement: Assign, state: ProgramState) -> list[ProgramState]:
        """Returns the states after an assignment."""
        found = []
        for after, value in self.evaluator.values(statement.value, state):
            if statement.indices:
                found += self.entered(statement, value, after)
                continue
            values = self.unpacked(statement, value)
            found.append(replace(after, values={**after.values, **values}))
        return found

    def unpacked(self, statement: Assign | For, value: Value) -> dict[str, Value]:
        """Returns the values of the names of an assignment."""
        names = statement.names
        if len(names) == 1:
            return {names[0]: value}
        if not isinstance(value, tuple) or len(value) != len(names):
            raise self.evaluator.error(
                f"the value must be a list with {len(names)} entries, one for each name", statement.place
            )
        return dict(zip(names, value, strict=True))

    def entered(self, statement: Assign, value: Value, state: ProgramState) -> list[ProgramState]:
        """Returns the states after an assignment to an entry of a list."""
        (name,) = statement.names
        if name not in state.values:
            raise self.evaluator.no_value(name, statement.place)
        found = []
        for after, where in self.evaluator.all(statement.indices, state):
            new = self.put_into(statement, after.values[name], where, value)
            found.append(replace(after, values={**after.values, name: new}))
        return found

    def put_into(self, statement: Assign, inside: Value, where: Sequence[Value], value: Value) -> Value:
        if not where:
            return value
        if inside == DEAD:
            return DEAD  # nothing reads the list that would change
        node = Apply("index", (), statement.place)
        entries = list(self.evaluator.listed(node, inside))
        k = self.evaluator.whole(node, where[0])
        if not -len(entries) <= k < len(entries):
            raise self.evaluator.error(outside(k, entries), statement.place)
        entries[k] = self.put_into(statement, entries[k], where[1:], value)
        return tuple(entries)
