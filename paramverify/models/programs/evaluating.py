"""The values of expressions: a state splits where the value depends on a random choice or on noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor

from paramverify.errors import InputError, SizeError
from paramverify.models.programs import arithmetic
from paramverify.models.programs.drawing import Drawing
from paramverify.models.programs.measure import Linear
from paramverify.models.programs.reading import NOISE, ProgramError
from paramverify.models.programs.syntax import (
    Apply,
    Call,
    Choice,
    Items,
    Literal,
    Node,
    Place,
    Program,
    Variable,
)
from paramverify.models.programs.values import (
    DEAD,
    Dead,
    Plain,
    State,
    Symbol,
    Unread,
    Value,
    read,
    resolved,
    unread,
)
from paramverify.models.programs.zones import ZERO

MAX_RANGE = 10_000
MAX_VALUES = 1_000  # values of one number with noise that are told apart
MAX_CLAMPED = 64  # values between the bounds of clamp up to which each is a case of its own

Found = list[tuple[State, Value]]
Split = tuple[list[State], list[State]]  # where it is true, and where it is false

_PASSIVE = ("index", "slice", "len")  # do not read what is in a list
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


@dataclass(frozen=True, eq=False)
class Evaluator:
    """Evaluates expressions of one program; `symbols` are the parameters of the case."""

    program: Program
    drawing: Drawing
    symbols: frozenset[str]
    inputs: tuple[tuple[Fraction | str, ...], ...]  # the inputs that are asked for, by their places

    def error(self, reason: str, place: Place) -> ProgramError:
        """Returns an error that points at a place."""
        return ProgramError(reason, self.program.text, place)

    def values(self, node: Node, state: State) -> Found:
        """Returns the values of an expression, each with the runs that have it; inputs in lists may be unread.

        Raises:
            ProgramError: what is not covered, or has no value.
        """
        return [
            pair
            for s, value in self._values(node, state)
            for pair in ([(s, value)] if not isinstance(value, Unread) else self.read(value, s))
        ]

    def read(self, value: Unread, state: State) -> Found:
        """Tells the values of an input apart: those of the inputs that are asked for and agree with what was read."""
        known = [v for place, v in state.given if place == value.place]
        if known:
            return [(state, known[0])]
        agreeing = (given for given in self.inputs if all(given[place] == v for place, v in state.given))
        found = dict.fromkeys(given[value.place] for given in agreeing)
        return [(read(state, value.place, v), v) for v in found]

    def read_all(self, values: Sequence[Value], state: State) -> list[tuple[State, list[Value]]]:
        """Returns values in which every input is read."""
        found: list[tuple[State, list[Value]]] = [(state, list(values))]
        for entry in dict.fromkeys(u for v in values for u in unread(v)):
            found = [
                (s, [_put(v, entry, told) for v in known])
                for state_, known in found
                for s, told in self.read(entry, state_)
            ]
        return found

    def _values(self, node: Node, state: State) -> Found:
        match node:
            case Literal(value, _):
                return [(state, value)]
            case Variable():
                return [(state, self.variable(node, state))]
            case Items(items, _):
                return [(s, tuple(v)) for s, v in self.all(items, state)]
            case Choice():
                return self.choice(node, state)
            case Call():
                raise self.error(
                    "a function is called in an assignment here; give its value a name first", node.place
                )
            case Apply():
                return self.applied(node, state)

    def all(self, nodes: Sequence[Node], state: State) -> list[tuple[State, list[Value]]]:
        """Returns the values of several expressions, from left to right."""
        found: list[tuple[State, list[Value]]] = [(state, [])]
        for node in nodes:
            found = [(after, [*known, v]) for s, known in found for after, v in self.values(node, s)]
        return [(s, [self.now(v, s) for v in known]) for s, known in found]

    def now(self, value: Value, state: State) -> Value:
        """Returns a value by the noise that the state has now."""
        if isinstance(value, Linear) and state.aliases:
            return resolved(value, state.aliases)
        return value

    def variable(self, node: Variable, state: State) -> Value:
        if node.name in state.values:
            return self.now(state.values[node.name], state)
        if node.name in self.symbols:
            return arithmetic.symbol(node.name)
        known = sorted(n for n in {*state.values, *self.symbols} if n.isidentifier())
        raise self.error(f"{node.name} has no value here; known are {', '.join(known) or 'none'}", node.place)

    def applied(self, node: Apply, state: State) -> Found:
        word = node.operator
        if word in (*_COMPARISONS, "and", "or", "not", "in", "not in"):
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

    def operation(self, node: Apply, given: list[Value], state: State) -> Found:
        if any(isinstance(v, Dead) for v in given):
            raise self.error("a value that was forgotten is read: this is a defect", node.place)
        word = node.operator
        if word in NOISE:
            return self.drawing.draw(node, given, state)
        match word:
            case "index":
                return self.index(node, given, state)
            case "slice":
                return [
                    (
                        state,
                        self.listed(node, given[0])[self.whole(node, given[1]) : self.whole(node, given[2])],
                    )
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
                return self.extreme(node, word, values, state)
            case "abs":
                return self.magnitude(node, given[0], state)
            case "clamp":
                return self.clamped(node, given, state)
        return [(state, self.plain(node, word, given))]

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
            raise self.error(
                f"{kind} cannot be used here: a whole number without noise is needed", node.place
            )
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
        if len(values) > MAX_RANGE:
            raise self.error(f"a range of more than {MAX_RANGE:,} numbers", node.place)
        return tuple(Fraction(v) for v in values)

    def total(self, node: Apply, values: Sequence[Value]) -> Value:
        result: Value = Fraction(0)
        for value in values:
            result = self.plain(node, "+", [result, value])
        return result

    def index(self, node: Apply, given: Sequence[Value], state: State) -> Found:
        values = self.listed(node, given[0])
        found: Found = []
        for after, where in self.finite(node, given[1], state, "noise cannot be an index"):
            k = self.whole(node, where)
            if not -len(values) <= k < len(values):
                raise self.error(
                    f"the index {k} is outside of the list, which has {len(values)} entries", node.place
                )
            if values[k] == DEAD:
                raise self.error("a value that was forgotten is read: this is a defect", node.place)
            found.append((after, values[k]))
        return found

    def finite(self, node: Node, value: Value, state: State, reason: str) -> Found:
        """Tells the values of a number with noise apart, where they are finitely many.

        Raises:
            ProgramError: they are not.
        """
        if isinstance(value, tuple):
            found: list[tuple[State, tuple[Value, ...]]] = [(state, ())]
            for entry in value:
                found = [
                    (after, (*known, v))
                    for s, known in found
                    for after, v in self.finite(node, self.now(entry, s), s, reason)
                ]
            return [(s, v) for s, v in found]
        if isinstance(value, Symbol):
            raise self.error("a parameter cannot be used here", node.place)
        if not isinstance(value, Linear):
            return [(state, value)]
        limits = self.limits(value, state)
        if limits is None:
            hint = "; write clamp(value, lo, hi) if the value is to be released"
            raise self.error(f"{reason}: it may have any value{hint}", node.place)
        found_values: Found = []
        for number in range(limits[0], limits[1] + 1):
            exact = value.plus(Fraction(-number))
            assert isinstance(exact, Linear)
            yes, _ = self.compared(node, "==", exact, state)
            found_values += [(s, Fraction(number)) for s in yes]
        return found_values

    def limits(self, value: Linear, state: State) -> tuple[int, int] | None:
        """Returns the least and the largest value of a whole number with noise; None where there is none."""
        if len(value.slopes) != 1 or not state.measure.whole[value.slopes[0][0]]:
            return None
        ((name, slope),) = value.slopes
        if slope.denominator != 1 or value.constant.denominator != 1:
            return None
        factor = next(f for f in state.measure.factors if any(name in pair for z in f for pair, _ in z))
        ends: list[Fraction] = []
        for zone in factor:
            bounds = dict(zone)
            if (name, ZERO) not in bounds or (ZERO, name) not in bounds:
                return None
            ends += [bounds[name, ZERO], -bounds[ZERO, name]]
        values = [slope * e + value.constant for e in ends]
        if max(values) - min(values) > MAX_VALUES:
            raise SizeError(f"a number with noise has more than {MAX_VALUES:,} values")
        return int(min(values)), int(max(values))

    def extreme(self, node: Apply, word: str, values: Sequence[Value], state: State) -> Found:
        found: Found = [(state, values[0])]
        for value in values[1:]:
            found = [pair for s, best in found for pair in self.better(node, word, (best, value), s)]
        return found

    def better(self, node: Apply, word: str, pair: tuple[Value, Value], state: State) -> Found:
        first, second = (self.now(v, state) for v in pair)
        yes, no = self.ordered(node, ">=" if word == "max" else "<=", (first, second), state)
        return [*((s, self.now(first, s)) for s in yes), *((s, self.now(second, s)) for s in no)]

    def magnitude(self, node: Apply, value: Value, state: State) -> Found:
        yes, no = self.ordered(node, ">=", (value, Fraction(0)), state)
        return [
            *((s, self.now(value, s)) for s in yes),
            *((s, self.plain(node, "neg", [self.now(value, s)])) for s in no),
        ]

    def clamped(self, node: Apply, given: Sequence[Value], state: State) -> Found:
        value, low, high = given
        ends = [Fraction(e) if isinstance(e, bool) else e for e in (low, high)]
        if not all(isinstance(e, Fraction) for e in ends) or ends[0] > ends[1]:  # type: ignore[operator]
            raise self.error("clamp needs two numbers lo <= hi", node.place)
        below, rest = self.ordered(node, "<=", (value, ends[0]), state)
        found: Found = [(s, ends[0]) for s in below]
        for s in rest:
            above, between = self.ordered(node, ">=", (value, ends[1]), s)
            found += [(a, ends[1]) for a in above]
            found += [pair for b in between for pair in self.inside(node, self.now(value, b), ends, b)]
        return found

    def inside(self, node: Apply, value: Value, ends: Sequence[Value], state: State) -> Found:
        """Returns a clamped number as plain values, where these are few."""
        low, high = ends
        assert isinstance(low, Fraction)
        assert isinstance(high, Fraction)
        if isinstance(value, Linear) and self.limits(value, state) and ceil(high) - floor(low) <= MAX_CLAMPED:
            return self.finite(node, value, state, "")
        return [(state, value)]

    def test(self, node: Node, state: State) -> Split:
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
                        for mine, part in zip(
                            split, self.ordered(node, word, (left, right), after), strict=True
                        ):
                            mine.extend(part)
                return split
        yes, no = [], []
        for s, value in self.values(node, state):
            if isinstance(value, (Linear, Symbol)):
                raise self.error("a condition is needed here, such as x >= 0", node.place)
            (yes if value else no).append(s)
        return yes, no

    def connected(self, node: Apply, conjunction: bool, state: State) -> Split:
        going, done = [state], []
        for part in node.arguments:
            next_going: list[State] = []
            for s in going:
                yes, no = self.test(part, s)
                next_going += yes if conjunction else no
                done += no if conjunction else yes
            going = next_going
        return (going, done) if conjunction else (done, going)

    def contained(self, node: Apply, state: State) -> Split:
        yes: list[State] = []
        no: list[State] = []
        split = [pair for s, given in self.all(node.arguments, state) for pair in self.read_all(given, s)]
        for s, (value, values) in split:
            going = [s]
            for entry in self.listed(node, values):
                rest: list[State] = []
                for g in going:
                    same, other = self.ordered(node, "==", (self.now(value, g), self.now(entry, g)), g)
                    yes += same
                    rest += other
                going = rest
            no += going
        return yes, no

    def ordered(self, node: Node, word: str, pair: tuple[Value, Value], state: State) -> Split:
        """Compares two values."""
        left, right = (Fraction(v) if isinstance(v, bool) else v for v in pair)
        if isinstance(left, Symbol) or isinstance(right, Symbol):
            raise self.error("a parameter cannot be compared: its value is not known", node.place)
        if isinstance(left, Linear) or isinstance(right, Linear):
            if isinstance(left, (str, tuple, Dead)) or isinstance(right, (str, tuple, Dead)):
                raise self.error("noise is compared with a number", node.place)
            value = arithmetic.apply("-", [left, right])
            if isinstance(value, Linear):
                return self.compared(node, word, value, state)
            left, right = value, Fraction(0)
        try:
            return ([state], []) if arithmetic.holds(word, left, right) else ([], [state])
        except InputError as error:
            raise self.error(error.reason, node.place) from None

    def compared(self, node: Node, word: str, value: Linear, state: State) -> Split:
        """Splits the runs by the comparison of a number with noise with zero."""
        if word in ("==", "!="):
            below, rest = self.compared(node, "<", value, state)
            equal: list[State] = []
            other = below
            for s in rest:
                above, same = self.compared(node, ">", self.linear(value, s), s)
                other = [*other, *above]
                equal += same
            if not state.measure.whole[value.slopes[0][0]]:
                equal = []  # two values of continuous noise are never the same
            return (equal, other) if word == "==" else (other, equal)
        if word in (">", ">="):
            turned = value.scaled(Fraction(-1))
            assert isinstance(turned, Linear)
            return self.compared(node, "<" if word == ">" else "<=", turned, state)
        state, value = self.reduced(node, value, state)
        bounds = state.measure.bounds(value, word == "<")
        against = value.scaled(Fraction(-1))
        assert isinstance(against, Linear)
        others = state.measure.bounds(against, word == "<=")
        assert bounds is not None
        assert others is not None
        yes, no = state.measure.restricted(bounds), state.measure.restricted(others)
        return (
            [replace(state, measure=yes)] if yes else [],
            [replace(state, measure=no)] if no else [],
        )

    def linear(self, value: Linear, state: State) -> Linear:
        found = resolved(value, state.aliases)
        assert isinstance(found, Linear)
        return found

    def reduced(self, node: Node, value: Linear, state: State) -> tuple[State, Linear]:
        """Makes sums of noise one variable, until a comparison with zero is a bound of a zone."""
        value = self.linear(value, state)
        while state.measure.bounds(value, False) is None:
            pair = next(_equal_slopes(value, state), None)
            found = state.measure.summed(*pair) if pair else None
            if found is None:
                reason = "this comparison of several noisy numbers is not covered"
                hint = "; sums and differences of noise are, where each part is used once"
                raise self.error(reason + hint, node.place)
            measure, total, gone, kept = found
            one = Fraction(1)
            alias = Linear(((kept, -one), (total, one)))
            state = replace(state, measure=measure, aliases={**state.aliases, gone: alias})
            value = self.linear(value, state)
        return state, value

    def choice(self, node: Choice, state: State) -> Found:
        tables = self.all([p for _, p in node.table], state)
        return [pair for s, shares in tables for pair in self.drawing.choose(node, shares, s)]

    def released(self, node: Node, value: Value, state: State) -> Iterator[tuple[State, Plain]]:
        """Yields the plain values of an output."""
        reason = "this output carries noise"
        for ready, (told,) in self.read_all([value], state):
            for s, found in self.finite(node, told, ready, reason):
                yield s, _plain(found)


def _put(value: Value, entry: Unread, told: Value) -> Value:
    if isinstance(value, tuple):
        return tuple(_put(v, entry, told) for v in value)
    return told if value == entry else value


def _plain(value: Value) -> Plain:
    assert not isinstance(value, (Linear, Symbol, Dead, Unread))
    if isinstance(value, tuple):
        return tuple(_plain(v) for v in value)
    return value


def _equal_slopes(value: Linear, state: State) -> Iterator[tuple[int, int]]:
    for k, (first, slope) in enumerate(value.slopes):
        for second, other in value.slopes[k + 1 :]:
            if slope == other and state.measure.whole[first] == state.measure.whole[second]:
                yield first, second


Splitter = Callable[[State], Split]
