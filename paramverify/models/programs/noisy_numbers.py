"""Numbers with noise.

Random draws, arithmetic, comparisons that split the runs, and numbers that are put out.

Numbers with noise that are put out: they stay alive, and at the end they are coordinates of the output.

At the end of a run its numbers are `o = B·v + c` for the noise v that is alive. With B invertible,
`w = B⁻¹·o` says the same as o, and `w = v + B⁻¹·c`: the weight of w is that of v, moved. So two inputs are
compared as functions of w, and each w is an output.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, comb, floor

from paramverify.algebra.expressions import Expression, Name, Operation, RationalConstant
from paramverify.algebra.expressions import Node as Tree
from paramverify.algebra.polynomials import RationalFunction, Ring, to_rational_function
from paramverify.errors import FinerError, InputError, ProgramError, SizeError, UnsupportedError
from paramverify.models.context import Checks
from paramverify.models.names import as_value
from paramverify.models.programs.noise_densities import Bases, DiscreteGauss, Gauss
from paramverify.models.programs.noise_terms import ZERO, Bound, Pieces, Zone
from paramverify.models.programs.noise_terms import Number as NoiseNumber
from paramverify.models.programs.program_syntax import Apply, Choice, Place
from paramverify.models.programs.run_states import (
    Dead,
    Hole,
    Linear,
    Measure,
    Outputs,
    ProgramState,
    Put,
    Symbol,
    Value,
    fewer,
    mapped,
    resolved,
    turned,
)

MAX_BITS = 10_000  # size of a number
MAX_ITEMS = 10_000  # entries of a list

_ORDER: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def symbol(name: str) -> Symbol:
    """Returns a parameter as a value."""
    return Symbol(Name(name, 0))


def tree_of(value: Fraction | Symbol) -> Tree:
    """Returns the expression of a number or symbol."""
    return value.tree if isinstance(value, Symbol) else RationalConstant(value, 0)


def holds(word: str, left: Value, right: Value) -> bool:
    """Compares two plain values.

    Raises:
        InputError: an order between values that have none.
    """
    if word in ("==", "!="):
        return (left == right) == (word == "==")
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return _ORDER[word](left, right)
    raise InputError(f"{word} can only compare numbers")


def apply(word: str, given: Sequence[Value]) -> Value:
    """Applies an operator to values.

    Raises:
        InputError: what is not covered, with the reason.
    """
    values = [Fraction(v) if isinstance(v, bool) else v for v in given]
    if any(isinstance(v, Dead) for v in values):
        raise InputError("a forgotten value was read")
    if word == "+" and all(isinstance(v, tuple) for v in values):
        joined = tuple(entry for v in values if isinstance(v, tuple) for entry in v)
        return _bounded(joined)
    if word == "*" and any(isinstance(v, tuple) for v in values):
        return _repeated(values)
    if any(isinstance(v, (str, tuple)) for v in values):
        raise InputError(f"{_WORDS.get(word, word)} needs numbers{_instead(word, values)}")
    if any(isinstance(v, Symbol) for v in values):
        return _symbolic(word, values)
    if any(isinstance(v, Linear) for v in values):
        return _noisy(word, values)
    return _number(word, [v for v in values if isinstance(v, Fraction)])


def _instead(word: str, values: Sequence[Value]) -> str:
    """Returns what to write instead of arithmetic on lists and labels."""
    if any(isinstance(v, tuple) for v in values):
        return ", not a list: work on its entries in a loop, for example, for v in q: output(v + laplace(1))"
    return "; labels cannot be joined" if word == "+" else ""


ONLY_IN_ARGUMENTS = "use it only in the arguments of noise, flip or choice"
_WORDS = {"neg": "a minus sign"}
# Other programs can output noise: see `expression_values.released`.
IN_OUTPUT = "this output contains noise, which a program with gauss or discrete_gaussian cannot output"


def _bounded(values: tuple[Value, ...]) -> tuple[Value, ...]:
    if len(values) > MAX_ITEMS:
        raise InputError(f"the list has more than {MAX_ITEMS:,} entries")
    return values


def _repeated(values: Sequence[Value]) -> Value:
    left, right = values
    items, times = (left, right) if isinstance(left, tuple) else (right, left)
    if not isinstance(items, tuple) or not isinstance(times, Fraction) or times.denominator != 1:
        raise InputError("a list can only be multiplied by a whole number")
    if len(items) * max(0, int(times)) > MAX_ITEMS:
        raise InputError(f"the list has more than {MAX_ITEMS:,} entries")
    return items * int(times)


def _symbolic(word: str, values: Sequence[Value]) -> Value:
    if any(isinstance(v, Linear) for v in values):
        raise InputError(
            "noise and a parameter cannot be combined in one number; use parameters only as "
            "arguments of the noise"
        )
    trees = tuple(tree_of(v) for v in values if isinstance(v, (Fraction, Symbol)))
    if word == "-":
        return Symbol(Operation("+", (trees[0], Operation("neg", (trees[1],), 0)), 0))
    if word in ("+", "*", "/", "**", "neg", "exp"):
        return Symbol(Operation(word, trees, 0))
    raise InputError(f"{word} needs numbers, but a parameter or exp(...) is not a number")


def _noisy(word: str, values: Sequence[Value]) -> Value:
    numbers = [v for v in values if isinstance(v, (Fraction, Linear))]
    if word == "neg":
        return _scaled(numbers[0], Fraction(-1))
    left, right = numbers
    if word in ("+", "-"):
        sign = Fraction(1 if word == "+" else -1)
        if isinstance(left, Linear):
            return left.plus(right, sign)
        return _plus(_scaled(right, sign), left)
    if word == "*" and not (isinstance(left, Linear) and isinstance(right, Linear)):
        noise, by = (left, right) if isinstance(left, Linear) else (right, left)
        assert isinstance(by, Fraction)
        return _scaled(noise, by)
    if word == "/" and isinstance(right, Fraction):
        if not right:
            raise InputError("division by zero")
        return _scaled(left, 1 / right)
    if word == "*":
        raise InputError(
            "the product of two noisy numbers is not supported; you may add, subtract and compare them"
        )
    what = "division by noise" if word == "/" else f"{word} with noise"
    whole = ": draw whole noise, such as geometric(a)" if word == "//" and right == 1 else ""
    raise InputError(
        f"{what} is not supported{whole}; noise supports + and -, * and / by a number, and comparisons"
    )


def _scaled(value: Fraction | Linear, by: Fraction) -> Fraction | Linear:
    if isinstance(value, Linear):
        return value.scaled(by) if by else Fraction(0)
    return value * by


def _plus(value: Fraction | Linear, number: Fraction | Linear) -> Value:
    assert isinstance(number, Fraction)
    return value.plus(number) if isinstance(value, Linear) else value + number


def _number(word: str, values: Sequence[Fraction]) -> Value:
    match word:
        case "neg":
            return -values[0]
        case "+":
            return _small(values[0] + values[1])
        case "-":
            return _small(values[0] - values[1])
        case "*":
            return _small(values[0] * values[1])
        case "/" | "//" | "%":
            return _divided(word, *values)
        case "**":
            return _power(*values)
        case "exp":
            return (
                Fraction(1)
                if not values[0]
                else Symbol(Operation("exp", (RationalConstant(values[0], 0),), 0))
            )
    raise InputError(f"{word} is not supported")


def _divided(word: str, left: Fraction, right: Fraction) -> Value:
    if not right:
        raise InputError("division by zero")
    if word == "/":
        return _small(left / right)
    return Fraction(left // right) if word == "//" else left % right


def _power(base: Fraction, exponent: Fraction) -> Value:
    if exponent.denominator != 1 or abs(exponent) > 1_000:
        raise InputError("an exponent must be a whole number up to 1,000")
    if not base and exponent < 0:
        raise InputError("division by zero")
    bits = max(base.numerator.bit_length(), base.denominator.bit_length()) * abs(int(exponent))
    if bits > MAX_BITS:
        raise InputError("the number is too large")
    return Fraction(base ** int(exponent))


def _small(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise InputError("the number is too large")
    return value


MAX_VALUES = 1_000  # values of one number with noise that are told apart
MAX_CLAMPED = 64  # values between the bounds of clamp up to which each is a case of its own

Found = list[tuple[ProgramState, Value]]
Split = tuple[list[ProgramState], list[ProgramState]]  # where it is true, and where it is false


def now(value: Value, state: ProgramState) -> Value:
    """Returns a value by the noise that the state has now."""
    return mapped(value, lambda v: resolved(v, state.aliases)) if state.aliases else value


@dataclass(frozen=True)
class Comparing:
    """Compares values of one program, whose text is for messages."""

    text: str

    def error(self, reason: str, place: Place) -> ProgramError:
        """Returns an error that points at a place."""
        return ProgramError(reason, self.text, *place)

    def ordered(self, place: Place, word: str, pair: tuple[Value, Value], state: ProgramState) -> Split:
        """Compares two values."""
        left, right = map(_compared_number, pair)
        if isinstance(left, tuple) and isinstance(right, tuple) and word in ("==", "!="):
            same, other = self.same(place, (left, right), state)
            return (same, other) if word == "==" else (other, same)
        self.check_kinds(place, left, right)
        if isinstance(left, Symbol) or isinstance(right, Symbol):
            raise self.error(f"a parameter or exp(...) cannot be compared; {ONLY_IN_ARGUMENTS}", place)
        if isinstance(left, Linear) or isinstance(right, Linear):
            if isinstance(left, (str, tuple, Dead)) or isinstance(right, (str, tuple, Dead)):
                raise self.error("noise can only be compared with a number", place)
            value = apply("-", [left, right])
            if isinstance(value, Linear):
                return self.compared(place, word, value, state)
            return self.ordered(place, word, (value, Fraction(0)), state)
        try:
            return ([state], []) if holds(word, left, right) else ([], [state])
        except InputError as error:
            raise self.error(error.reason, place) from None

    def check_kinds(self, place: Place, left: Value, right: Value) -> None:
        """Refuses to compare a number with a label that looks like one: that they differ surprises people."""
        for label, other in ((left, right), (right, left)):
            if (
                isinstance(label, str)
                and isinstance(other, (Fraction, Linear))
                and isinstance(as_value(label), Fraction)
            ):
                reason = (
                    f'a number is compared with the label "{label}", which never equals it: write '
                    f"{label} without quotes"
                )
                raise self.error(reason, place)

    def same(self, place: Place, pair: tuple[Sequence[Value], Sequence[Value]], state: ProgramState) -> Split:
        """Compares two lists, entry by entry."""
        left, right = pair
        if len(left) != len(right):
            return [], [state]
        going: list[ProgramState] = [state]
        other: list[ProgramState] = []
        for entries in zip(left, right, strict=True):
            splits = [self.ordered(place, "==", (now(entries[0], s), now(entries[1], s)), s) for s in going]
            going = [s for yes, _ in splits for s in yes]
            other += [s for _, no in splits for s in no]
        return going, other

    def compared(self, place: Place, word: str, value: Linear, state: ProgramState) -> Split:
        """Splits the runs by the comparison of a number with noise with zero.

        The number is told by the noise of this state: who has it from before another comparison asks `now`.
        """
        assert state.measure.whole.keys() >= set(value.names)
        if word in ("==", "!="):
            below, rest = self.compared(place, "<", value, state)
            equal: list[ProgramState] = []
            other = below
            for s in rest:
                above, same = self.compared(place, ">", self._linear(value, s), s)
                other = [*other, *above]
                equal += same
            if not state.measure.whole[value.slopes[0][0]]:
                equal = []  # two values of continuous noise are never the same
            return (equal, other) if word == "==" else (other, equal)
        if word in (">", ">="):
            turned = value.scaled(Fraction(-1))
            assert isinstance(turned, Linear)
            return self.compared(place, "<" if word == ">" else "<=", turned, state)
        state, value = self._reduced(place, value, state)
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

    def _linear(self, value: Linear, state: ProgramState) -> Linear:
        found = resolved(value, state.aliases)
        assert isinstance(found, Linear)
        return found

    def _reduced(self, place: Place, value: Linear, state: ProgramState) -> tuple[ProgramState, Linear]:
        """Makes sums of noise one variable, until a comparison with zero is a bound of a zone."""
        value = self._linear(value, state)
        while state.measure.bounds(value, False) is None:
            pair = next(_equal_slopes(value, state), None)
            found = state.measure.summed(*pair) if pair else None
            if found is None:
                reason = "this comparison of several noisy numbers is not supported"
                hint = "; x > y + 1 is supported, and so is x + y > 1 if x and y occur in no other comparison"
                if not state.measure.bases.sums:
                    hint = (
                        "; x > y + 1 is supported, but sums are not if a program draws from gauss or "
                        "discrete_gaussian. For independent gauss(a) + gauss(b), write gauss(c) with "
                        "c**2 = a**2 + b**2, such as gauss(5) for gauss(3) + gauss(4)"
                    )
                raise self.error(reason + hint, place)
            measure, total, gone, kept = found
            one = Fraction(1)
            alias = Linear(((kept, -one), (total, one)))
            state = replace(state, measure=measure, aliases={**state.aliases, gone: alias})
            value = self._linear(value, state)
        return state, value

    def finite(self, place: Place, value: Value, state: ProgramState, reason: str) -> Found:
        """Tells the values of a number with noise apart, where they are finitely many.

        Raises:
            ProgramError: they are not.
        """
        if isinstance(value, tuple):
            found: list[tuple[ProgramState, tuple[Value, ...]]] = [(state, ())]
            for entry in value:
                found = [
                    (after, (*known, v))
                    for s, known in found
                    for after, v in self.finite(place, now(entry, s), s, reason)
                ]
            return [(s, v) for s, v in found]
        if isinstance(value, Symbol):
            raise self.error(f"a parameter or exp(...) cannot be used here; {ONLY_IN_ARGUMENTS}", place)
        if not isinstance(value, Linear):
            return [(state, value)]
        numbers = self.numbers(value, state)
        if numbers is None:
            if all(state.measure.whole[name] for name in value.names):
                hint = (
                    "the noise is unbounded; write clamp(value, lo, hi) to release the value with "
                    "finitely many outcomes"
                )
            else:
                noise = "laplace(b) or geometric(a)" if reason == IN_OUTPUT else "geometric(a)"
                hint = (
                    f"continuous noise has infinitely many values; compare it, as in x >= 0, or draw {noise}"
                )
            raise self.error(f"{reason}: {hint}", place)
        found_values: Found = []
        for number in numbers:
            exact = value.plus(-number)
            assert isinstance(exact, Linear)
            yes, _ = self.compared(place, "==", exact, state)
            found_values += [(s, number) for s in yes]
        return found_values

    def numbers(self, value: Linear, state: ProgramState) -> list[Fraction] | None:
        """Returns the values that a multiple of whole noise, or of a difference, may have; None: too many.

        They are in order, and some of them may be impossible.
        """
        (name, slope), *more = value.slopes
        other = more[0][0] if more else ZERO
        if len(more) > 1 or (more and more[0][1] != -slope):
            return None
        if not all(state.measure.whole[n] for n in value.names):
            return None
        pair = (name, other)
        known = [e for factor in state.measure.factors for e in [_ends(factor, pair)] if e]
        if not known:
            return None
        low, high = min(known, key=lambda e: e[1] - e[0])
        if high - low > MAX_VALUES:
            raise SizeError(
                f"a noisy number has more than {MAX_VALUES:,} values; clamp it to a smaller range"
            )
        return sorted(slope * k + value.constant for k in range(low, high + 1))

    def extreme(self, place: Place, word: str, values: Sequence[Value], state: ProgramState) -> Found:
        """Returns the `max` or `min` of values, the first one of several."""
        found: Found = [(state, values[0])]
        for value in values[1:]:
            found = [pair for s, best in found for pair in self._better(place, word, (best, value), s)]
        return found

    def _better(self, place: Place, word: str, pair: tuple[Value, Value], state: ProgramState) -> Found:
        first, second = (now(v, state) for v in pair)
        yes, no = self.ordered(place, ">=" if word == "max" else "<=", (first, second), state)
        return [*((s, now(first, s)) for s in yes), *((s, now(second, s)) for s in no)]

    def magnitude(self, place: Place, value: Value, state: ProgramState) -> Found:
        """Returns the absolute value of a number."""
        yes, no = self.ordered(place, ">=", (value, Fraction(0)), state)
        found: Found = [(s, _compared_number(now(value, s))) for s in yes]
        return found + [(s, apply("neg", [now(value, s)])) for s in no]

    def clamped(self, place: Place, given: Sequence[Value], state: ProgramState) -> Found:
        """Returns the nearest number between two ends."""
        value, low, high = map(_compared_number, given)
        if not isinstance(low, Fraction) or not isinstance(high, Fraction) or low > high:
            raise self.error("clamp needs two numbers lo <= hi without noise", place)
        below, rest = self.ordered(place, "<=", (value, low), state)
        found: Found = [(s, low) for s in below]
        for s in rest:
            above, between = self.ordered(place, ">=", (now(value, s), high), s)
            found += [(a, high) for a in above]
            for b in between:
                inner = now(value, b)
                few = isinstance(inner, Linear) and ceil(high) - floor(low) <= MAX_CLAMPED
                if few and isinstance(inner, Linear) and self.numbers(inner, b):
                    found += self.finite(place, inner, b, "")
                else:
                    found.append((b, inner))
        return found


def _compared_number(value: Value) -> Value:
    return Fraction(value) if isinstance(value, bool) else value


def _equal_slopes(value: Linear, state: ProgramState) -> Iterator[tuple[int, int]]:
    for k, (first, slope) in enumerate(value.slopes):
        for second, other in value.slopes[k + 1 :]:
            if slope == other and state.measure.whole[first] == state.measure.whole[second]:
                yield first, second


def _ends(zones: Iterable[Zone], pair: Bound) -> tuple[int, int] | None:
    """Returns the least and the largest difference of two variables in zones; None: there is none."""
    ends: list[NoiseNumber] = []
    for zone in zones:
        bounds = dict(zone)
        if pair not in bounds or pair[::-1] not in bounds:
            return None
        ends += [bounds[pair], -bounds[pair[::-1]]]
    return ceil(min(ends)), floor(max(ends))


MAX_OUTCOMES = 10_000  # values of a finite random choice


@dataclass(frozen=True, eq=False)
class ProgramDrawing:
    """Draws for a program, whose text is for messages; `rates` are the parameters of the domain (0, ∞)."""

    text: str
    checks: Checks
    bases: Bases
    rates: tuple[str, ...]

    def draw(self, node: Apply, given: Sequence[Value], state: ProgramState) -> Found:
        """Returns what a draw leads to.

        Raises:
            ProgramError: arguments that are no parameters of the noise at every point of the domain.
        """
        try:
            match node.operator:
                case "flip":
                    share = self._probability(given[0], "the probability of flip")
                    return self._split(state, [(True, share), (False, self._one - share)])
                case "uniform":
                    return self._uniform(given, state)
                case "binomial":
                    return self._binomial(given, state)
                case "geometric" | "one_sided_geometric":
                    return self._geometric(given[0], node.operator == "geometric", state)
                case "gauss" | "discrete_gaussian":
                    return self._gauss(node.operator, given[0], state)
            return self._laplace(given[0], node.operator == "laplace", state)
        except InputError as error:
            raise self._at(error, node.place) from None

    def choose(self, node: Choice, shares: Sequence[Value], state: ProgramState) -> Found:
        """Returns the values of `choice`."""
        try:
            functions = [self._function(v) for v in shares]
            names = [repr(v) if isinstance(v, str) else str(v) for v, _ in node.table]  # "1" is not 1
            self.checks.distribution(dict(zip(names, functions, strict=True)), "choice")
        except InputError as error:
            raise self._at(error, node.place) from None
        return self._split(state, [(v, f) for (v, _), f in zip(node.table, functions, strict=True)])

    def _at(self, error: InputError, place: Place) -> InputError:
        if isinstance(error, (ProgramError, FinerError)):
            return error
        return ProgramError(error.reason, self.text, *place)

    @property
    def _one(self) -> RationalFunction:
        return RationalFunction.of(self.checks.ring.number(1))

    def _number(self, value: Fraction | int) -> RationalFunction:
        return RationalFunction.of(self.checks.ring.number(value))

    def _split(self, state: ProgramState, outcomes: Sequence[tuple[Value, RationalFunction]]) -> Found:
        return [
            (replace(state, measure=state.measure.times(self.bases.coefficient(share))), value)
            for value, share in outcomes
            if share.numerator
        ]

    def _function(self, value: Value) -> RationalFunction:
        """Returns the rational function of a number or an expression in parameters."""
        if not isinstance(value, (Fraction, Symbol)):
            what = "a noisy number" if isinstance(value, Linear) else "this"
            raise InputError(f"this must be a number or an expression over parameters, but {what} is neither")
        return self.checks.function(Expression("the argument", tree_of(value)))

    def _probability(self, value: Value, what: str) -> RationalFunction:
        found = self._function(value)
        if isinstance(value, Fraction) and not 0 <= value <= 1:
            raise InputError(f"{what} is {value}, but must be between 0 and 1")
        self.checks.nonnegative(found.numerator * found.denominator, what)
        rest = self._one - found
        self.checks.nonnegative(rest.numerator * rest.denominator, what, "is above 1")
        return found

    def _uniform(self, given: Sequence[Value], state: ProgramState) -> Found:
        low, high = (_whole(v, "uniform") for v in given)
        if low > high:
            raise InputError("uniform needs lo <= hi")
        count = high - low + 1
        if count > MAX_OUTCOMES:
            raise InputError(f"uniform has more than {MAX_OUTCOMES:,} values; choose a smaller range")
        share = self._number(Fraction(1, count))
        return self._split(state, [(Fraction(v), share) for v in range(low, high + 1)])

    def _binomial(self, given: Sequence[Value], state: ProgramState) -> Found:
        number = _whole(given[0], "binomial")
        if not 0 <= number <= 1_000:
            raise InputError("the number of trials of binomial must be between 0 and 1,000")
        p = self._probability(given[1], "the probability of binomial")
        q = self._one - p
        return self._split(
            state,
            [
                (Fraction(k), self._number(comb(number, k)) * p**k * q ** (number - k))
                for k in range(number + 1)
            ],
        )

    def _geometric(self, value: Value, two_sided: bool, state: ProgramState) -> Found:
        alpha = self._function(value)
        what = "the ratio of geometric noise"
        try:
            for part, told in ((alpha, what), (self._one - alpha, f"1 minus {what}")):
                if not part.numerator or (
                    self.checks.positive(part.numerator * part.denominator, told)
                    != part.numerator * part.denominator
                ):
                    raise InputError(f"{what} must lie strictly between 0 and 1")
        except InputError as error:  # the argument is often taken for a scale, or for a budget
            mend = (
                "geometric(a) takes the ratio a = Pr(k + 1) / Pr(k); for a budget epsilon, write "
                "geometric(exp(-epsilon))"
            )
            error.retell(error.reason, mend)
            raise
        name = state.measure.fresh
        return self._noise(state, name, self.bases.geometric(name, alpha, two_sided), True)

    def _laplace(self, value: Value, two_sided: bool, state: ProgramState) -> Found:
        rate, unit = self.rate(value)
        if self.bases.unit_name is None:
            self.bases.unit_name = unit
        elif self.bases.unit_name != unit:
            words = [f"a multiple of 1/{u}" if u else "a number" for u in (self.bases.unit_name, unit)]
            reason = (
                f"continuous noise must have scales of one kind, but one scale is {words[0]} and "
                f"this one is {words[1]}"
            )
            raise InputError(reason)
        name = state.measure.fresh
        return self._noise(state, name, self.bases.laplace(name, rate, two_sided), False)

    def _gauss(self, word: str, value: Value, state: ProgramState) -> Found:
        if not isinstance(value, Fraction):
            raise InputError(f"the standard deviation of {word} must be a number without noise, such as 3/2")
        if value <= 0:
            raise InputError(f"the standard deviation of {word} must be positive")
        name = state.measure.fresh
        density = DiscreteGauss(value) if word == "discrete_gaussian" else Gauss(value)
        return self._noise(state, name, self.bases.enclosed(name, density), density.whole)

    def _noise(self, state: ProgramState, name: int, pieces: Pieces, whole: bool) -> Found:
        measure = state.measure.with_noise(pieces, name, whole)
        return [(replace(state, measure=measure), Linear(((name, Fraction(1)),)))]

    def rate(self, value: Value) -> tuple[Fraction, str]:
        """Returns 1 / scale as a multiple of 1, or of a parameter of the domain (0, ∞), and its name.

        Raises:
            InputError: the scale is no such number.
        """
        if isinstance(value, Fraction):
            if value <= 0:
                raise InputError("the scale of this noise must be positive")
            return 1 / value, ""
        if isinstance(value, Symbol):
            for name in self.rates:
                rate = _multiple_of_inverse(value, name)
                if rate is not None:
                    if rate <= 0:
                        raise InputError("the scale of this noise must be positive")
                    return rate, name
            hint = (
                f"2 / {self.rates[0]}"
                if self.rates
                else 'a number divided by a parameter such as eps = "(0, oo)"'
            )
            ends = (
                ""
                if self.rates
                else 'bound such a parameter by constraints = ["1 <= eps <= 2"] in [parameters]'
            )
            raise InputError(f"the scale of this noise must be a number, or {hint}", mend=ends)
        raise InputError("the scale of this noise must be a number without noise")


def _multiple_of_inverse(value: Symbol, name: str) -> Fraction | None:
    """Returns k where the value is 1 / (k · name), or None."""
    ring = Ring((name,))
    try:
        found = to_rational_function(Expression("the argument", value.tree), ring)
    except InputError:
        return None
    variable = ring.variable(name)
    product = RationalFunction.of(variable) * found
    if product.numerator.is_constant() and product.denominator.is_constant() and product.numerator:
        scale = product.numerator.leading_coefficient() / product.denominator.leading_coefficient()
        return 1 / Fraction(int(scale.p), int(scale.q))
    return None


def _whole(value: Value, what: str) -> int:
    if isinstance(value, Fraction) and value.denominator == 1:
        return int(value)
    raise InputError(
        f"{what} needs whole numbers, without noise and without parameters that have no fixed value"
    )


Row = tuple[Fraction, ...]


def put(
    comparing: Comparing, place: Place, value: Value, state: ProgramState
) -> list[tuple[ProgramState, Put]]:
    """Returns an output without its noise, where that has few values; else the noise stays alive.

    Raises:
        ProgramError: the value is no output, such as a parameter.
    """
    if isinstance(value, tuple):
        found: list[tuple[ProgramState, tuple[Put, ...]]] = [(state, ())]
        for entry in value:
            found = [
                (after, (*known, told))
                for s, known in found
                for after, told in put(comparing, place, now(entry, s), s)
            ]
        return [(s, told) for s, told in found]
    if not isinstance(value, Linear):
        return [(s, _plain(v)) for s, v in comparing.finite(place, value, state, "")]
    if _has_few(comparing, value, state):
        return [(s, _plain(v)) for s, v in comparing.finite(place, value, state, "")]
    return [(state.releasing(value), Hole(len(state.released)))]


def _has_few(comparing: Comparing, value: Linear, state: ProgramState) -> bool:
    try:
        return comparing.numbers(value, state) is not None
    except SizeError:
        return False


def _plain(value: Value) -> Put:
    assert isinstance(value, (Fraction, str, bool))
    return value


def holes(outputs: Outputs) -> list[int]:
    """Returns the numbers with noise in an output, in their order."""
    found: list[int] = []
    for value in outputs:
        if isinstance(value, Hole):
            found.append(value.number)
        elif isinstance(value, tuple):
            found += holes(value)
    return found


def filled(outputs: Outputs, values: Mapping[int, Put]) -> Outputs:
    """Returns an output with other values in the place of numbers with noise."""

    def entry(value: Put) -> Put:
        if isinstance(value, Hole):
            return values[value.number]
        return filled(value, values) if isinstance(value, tuple) else value

    return tuple(map(entry, outputs))


@dataclass(frozen=True)
class NumberForm:
    """What the numbers of an output are: `Σ rows[k][i]·w_i`, for `pivots`; the others follow from these.

    The coordinate w_i is a whole number plus `parts[i]` where `whole[i]`, else any number. `after[k]` gives
    the k-th number by those of `pivots`, and a constant.
    """

    rows: tuple[Row, ...]
    whole: tuple[bool, ...]
    parts: tuple[Fraction, ...]
    pivots: tuple[int, ...]
    after: tuple[tuple[Row, Fraction], ...]

    @property
    def shape(self) -> tuple[object, ...]:
        """What outputs that may be the same have to have in common; without it they are refused."""
        return self.rows, self.whole, self.pivots, tuple(row for row, _ in self.after)

    @property
    def inverse(self) -> tuple[Row, ...]:
        """The coordinates, each by the numbers of `pivots`."""
        found = inverse(tuple(self.rows[k] for k in self.pivots))
        assert found is not None
        return found


def formed(released: Sequence[Linear], measure: Measure) -> tuple[NumberForm, Measure]:
    """Returns the form of numbers, and the measure of their coordinates, which are numbered from 1.

    Raises:
        UnsupportedError: more noise is in the numbers than they tell.
    """
    rows, measure = turned(*fewer(released, measure))
    order = {name: k + 1 for k, name in enumerate(dict.fromkeys(n for r in rows for n in r.names))}
    table = tuple(tuple(dict(r.slopes).get(n, Fraction(0)) for n in order) for r in rows)
    for row in table:
        if len({measure.whole[n] for n, k in zip(order, row, strict=True) if k}) > 1:
            raise UnsupportedError(
                "an output adds noise on whole numbers and continuous noise; draw only laplace, only "
                "geometric, or output the two as separate values"
            )
    pivots = _independent(table)
    if len(pivots) < len(order):
        raise UnsupportedError("an output adds noises that the outputs cannot separate")
    back = inverse(tuple(table[k] for k in pivots))
    assert back is not None
    parts: list[Fraction] = []
    for name, entries in zip(order, back, strict=True):
        by = sum((e * rows[k].constant for e, k in zip(entries, pivots, strict=True)), Fraction(0))
        part = by - by.__floor__() if measure.whole[name] else Fraction(0)
        parts.append(part)
        measure = measure.moved(name, by - part) if by != part else measure
    after = tuple(
        _after(k, table, [rows[p] for p in pivots], (pivots, rows[k].constant)) for k in range(len(rows))
    )
    whole = tuple(measure.whole[n] for n in order)
    return NumberForm(table, whole, tuple(parts), pivots, after), measure.renamed(order)


def _after(
    number: int, table: Sequence[Row], known: Sequence[Linear], told: tuple[tuple[int, ...], Fraction]
) -> tuple[Row, Fraction]:
    """Returns a number of the output by those of the pivots, and the constant."""
    pivots, constant = told
    back = inverse(tuple(table[k] for k in pivots))
    assert back is not None
    row = tuple(
        sum((a * back[i][k] for i, a in enumerate(table[number])), Fraction(0)) for k in range(len(pivots))
    )
    return row, constant - sum((a * v.constant for a, v in zip(row, known, strict=True)), Fraction(0))


def _independent(table: Sequence[Row]) -> tuple[int, ...]:
    """Returns the first rows that are linearly independent, and of which all others are sums."""
    found: list[int] = []
    reduced: list[list[Fraction]] = []
    for number, row in enumerate(table):
        rest = list(row)
        for known in reduced:
            lead = next(i for i, a in enumerate(known) if a)
            if rest[lead]:
                by = rest[lead] / known[lead]
                rest = [a - by * b for a, b in zip(rest, known, strict=True)]
        if any(rest):
            reduced.append(rest)
            found.append(number)
    return tuple(found)


def inverse(matrix: Sequence[Row]) -> tuple[Row, ...] | None:
    """Returns the inverse of a square matrix; None where there is none."""
    size = len(matrix)
    rows = [[*row, *(Fraction(i == k) for k in range(size))] for i, row in enumerate(matrix)]
    for i in range(size):
        lead = next((k for k in range(i, size) if rows[k][i]), None)
        if lead is None:
            return None
        rows[i], rows[lead] = rows[lead], rows[i]
        rows[i] = [a / rows[i][i] for a in rows[i]]
        for k in range(size):
            if k != i and rows[k][i]:
                by = rows[k][i]
                rows[k] = [a - by * b for a, b in zip(rows[k], rows[i], strict=True)]
    return tuple(tuple(row[size:]) for row in rows)


def fixed(name: int, measure: Measure) -> Measure:
    """Returns the measure with one more variable, which is 0."""
    point: Pieces = {(((ZERO, name), 0), ((name, ZERO), 0)): measure.unit}
    return measure.with_noise(point, name, whole=True)
