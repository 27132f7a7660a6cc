"""Comparisons of values: the runs split where a value depends on noise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor

from paramverify.errors import InputError, ProgramError, SizeError
from paramverify.models.names import as_value
from paramverify.models.programs import arithmetic
from paramverify.models.programs.measure import Linear
from paramverify.models.programs.syntax import Place
from paramverify.models.programs.values import Dead, ProgramState, Symbol, Value, mapped, resolved
from paramverify.models.programs.zones import ZERO, Bound, Number, Zone

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
        left, right = map(_number, pair)
        if isinstance(left, tuple) and isinstance(right, tuple) and word in ("==", "!="):
            same, other = self.same(place, (left, right), state)
            return (same, other) if word == "==" else (other, same)
        self.check_kinds(place, left, right)
        if isinstance(left, Symbol) or isinstance(right, Symbol):
            raise self.error("a parameter cannot be compared: its value is not known", place)
        if isinstance(left, Linear) or isinstance(right, Linear):
            if isinstance(left, (str, tuple, Dead)) or isinstance(right, (str, tuple, Dead)):
                raise self.error("noise is compared with a number", place)
            value = arithmetic.apply("-", [left, right])
            if isinstance(value, Linear):
                return self.compared(place, word, value, state)
            return self.ordered(place, word, (value, Fraction(0)), state)
        try:
            return ([state], []) if arithmetic.holds(word, left, right) else ([], [state])
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
                reason = f'a number is compared with the label "{label}": write {label} without quotes'
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
                reason = "this comparison of several noisy numbers is not covered"
                hint = "; x > y + 1 is, and x + y > 1 where x and y are in no other comparison"
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
            raise self.error("a parameter cannot be used here", place)
        if not isinstance(value, Linear):
            return [(state, value)]
        numbers = self.numbers(value, state)
        if numbers is None:
            if all(state.measure.whole[name] for name in value.names):
                hint = "it may have any value; write clamp(value, lo, hi) if the value is to be released"
            else:
                hint = (
                    "continuous noise has too many values; compare it, such as x >= 0, or draw geometric(a)"
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
            raise SizeError(f"a number with noise has more than {MAX_VALUES:,} values")
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
        found: Found = [(s, _number(now(value, s))) for s in yes]
        return found + [(s, arithmetic.apply("neg", [now(value, s)])) for s in no]

    def clamped(self, place: Place, given: Sequence[Value], state: ProgramState) -> Found:
        """Returns the nearest number between two ends."""
        value, low, high = map(_number, given)
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


def _number(value: Value) -> Value:
    return Fraction(value) if isinstance(value, bool) else value


def _equal_slopes(value: Linear, state: ProgramState) -> Iterator[tuple[int, int]]:
    for k, (first, slope) in enumerate(value.slopes):
        for second, other in value.slopes[k + 1 :]:
            if slope == other and state.measure.whole[first] == state.measure.whole[second]:
                yield first, second


def _ends(zones: Iterable[Zone], pair: Bound) -> tuple[int, int] | None:
    """Returns the least and the largest difference of two variables in zones; None: there is none."""
    ends: list[Number] = []
    for zone in zones:
        bounds = dict(zone)
        if pair not in bounds or pair[::-1] not in bounds:
            return None
        ends += [bounds[pair], -bounds[pair[::-1]]]
    return ceil(min(ends)), floor(max(ends))
