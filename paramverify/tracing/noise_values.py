"""Numbers with noise in traced code: sums of noise, uniform draws on an interval, and their logarithms.

A comparison asks the tracer, which takes one way in this run and the other way in another one. Noise is real:
ties of continuous noise have probability 0, so `<` and `<=` mean the same there, and `==` is false.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from paramverify.tracing.formulas import (
    Floats,
    Formula,
    Real,
    exact,
    exact_power,
    exponential,
    floor_of,
    infinite,
    is_linear,
    logarithm,
    natural_logarithm,
)
from paramverify.tracing.tracer import Tracer
from paramverify.tracing.volumes import volume

DISCRETE = ("geometric", "one_sided_geometric", "discrete_gaussian")
NONNEGATIVE = ("one_sided_geometric", "exponential")
ZERO, ONE, HALF = Formula.of(0), Formula.of(1), Formula.of(Fraction(1, 2))
PI = Formula.of(Fraction(repr(math.pi)))  # how traced code shows it
FINITE = (  # how noise becomes a number of Python
    "limit the rounded number, as in k = min(max(round(x), 0), 3), and use "
    "next(v for v in range(4) if v == k) in its place"
)
MOST_PARTS = 1_000  # whole numbers between which a draw is told apart
MOST_COMPARED = 6  # uniform draws that are compared with each other; volumes take time
TINY = 1e-6  # by which rounded ends of a draw are moved outwards


class Symbol:
    """What all numbers with noise share: Python must not turn them into plain numbers by itself."""

    tracer: Tracer
    what = "a number with noise"

    def conjugate(self) -> Any:
        """Returns itself."""
        return self

    def _refuse(self, what: str) -> BaseException:
        return self.tracer.refuse(f"{self.what} cannot be {what}")

    def __float__(self) -> float:
        raise self._refuse(f"passed to a function that needs a number of Python: {FINITE}")

    def __complex__(self) -> complex:
        raise self._refuse("a complex number: use real numbers")

    def __index__(self) -> int:
        raise self._refuse(f"an index or a count: {FINITE}")

    def __int__(self) -> int:
        raise self._refuse(f"passed to a function that needs a number of Python: {FINITE}")

    def __hash__(self) -> int:
        raise self._refuse(f"a key of a dictionary or an element of a set: {FINITE}")

    def __format__(self, spec: str) -> str:
        raise self._refuse("part of a text: return the number itself, as in ('total', x)")

    def __str__(self) -> str:
        raise self._refuse("part of a text: return the number itself, as in ('total', x)")

    def __repr__(self) -> str:
        return f"<{self.what}>"

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: object) -> Any:
        return self

    def __mod__(self, other: Any) -> Any:
        raise self._refuse(f"divided with a remainder: {FINITE}")

    __rmod__ = __floordiv__ = __rfloordiv__ = __divmod__ = __rdivmod__ = __mod__

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        raise self._refuse(f"raised to a power: {FINITE}")

    __rpow__ = __pow__

    def __and__(self, other: Any) -> Any:
        raise self._refuse(f"an argument of an operator on bits: {FINITE}")

    __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __lshift__ = __rshift__ = __and__

    def __rtruediv__(self, other: Any) -> Any:
        raise self._refuse(f"a divisor: {FINITE}")


class Operand(Symbol):
    """A symbol with sums and comparisons, which each class defines once, by `_plus` and `_compared`."""

    def _plus(self, other: Any, sign: int, own: int = 1) -> Any:
        """Returns `own` times this, plus `sign` times another number; both factors are 1 or -1."""
        raise NotImplementedError

    def _compared(self, other: Any, word: str) -> Any:
        """Returns the outcome of a comparison by one of `<`, `<=`, `>` and `>=`."""
        raise NotImplementedError

    def __add__(self, other: Any) -> Any:
        return self._plus(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._plus(other, -1)

    def __rsub__(self, other: Any) -> Any:
        return self._plus(other, 1, -1)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self if self >= 0 else -self  # type: ignore[operator]

    def __lt__(self, other: Any) -> Any:
        return self._compared(other, "<")

    def __le__(self, other: Any) -> Any:
        return self._compared(other, "<=")

    def __gt__(self, other: Any) -> Any:
        return self._compared(other, ">")

    def __ge__(self, other: Any) -> Any:
        return self._compared(other, ">=")


def _sum_text(terms: Mapping[str, Fraction]) -> str:
    parts = []
    for name, factor in terms.items():
        if factor == 1:
            parts.append(name)
        elif factor == -1:
            parts.append(f"-{name}")
        else:
            parts.append(f"({factor})*{name}")
    return " + ".join(parts).replace("+ -", "- ")


@dataclass(eq=False)
class Noisy(Operand):
    """A number plus multiples of noise; `whole` tells that Python has a whole number, an int, here."""

    tracer: Tracer
    constant: Formula
    terms: Mapping[str, Fraction]  # by the name of the noise
    discrete: bool
    whole: bool

    def _new(self, constant: Formula, terms: Mapping[str, Fraction], whole: bool) -> Any:
        kept = {name: factor for name, factor in sorted(terms.items()) if factor}
        if not kept:
            number = constant.number
            if whole and number is not None and number.denominator == 1:
                return int(number)
            return Real(constant, self.tracer.signs)
        return Noisy(self.tracer, constant, kept, self.discrete, whole)

    def _plus(self, other: Any, sign: int, own: int = 1) -> Any:
        if isinstance(other, LogDraw):
            other = other.noise()
        terms = {name: own * factor for name, factor in self.terms.items()}
        constant = self.constant if own > 0 else -self.constant
        if isinstance(other, Noisy):
            if other.discrete != self.discrete:
                raise self.tracer.refuse(
                    "sums of discrete and continuous noise are not supported: use noise of one kind"
                )
            for name, factor in other.terms.items():
                terms[name] = terms.get(name, Fraction(0)) + sign * factor
            more = other.constant if sign > 0 else -other.constant
            return self._new(constant + more, terms, self.whole and other.whole)
        found = exact(other)
        if found is None:
            if isinstance(other, Symbol):
                raise self.tracer.refuse(
                    f"sums of noise and {other.what} are not supported: compare each with a number"
                )
            number = infinite(other)
            return sign * number if number is not None else NotImplemented
        return self._new(constant + (found if sign > 0 else -found), terms, self.whole and is_whole(other))

    def __mul__(self, other: Any) -> Any:
        found = exact(other)
        if found is None:
            if isinstance(other, Symbol):
                raise self.tracer.refuse(f"products of two numbers with noise are not supported: {FINITE}")
            return NotImplemented
        number = found.number
        if number is None:
            return rescaled_noise(self, found)
        terms = {name: factor * number for name, factor in self.terms.items()}
        return self._new(self.constant * found, terms, self.whole and is_whole(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        found = exact(other)
        if found is None:
            return super().__rtruediv__(other) if isinstance(other, Symbol) else NotImplemented
        if not found.above:
            raise ZeroDivisionError("float division by zero")
        quotient = self * Real(ONE / found, self.tracer.signs)
        return Noisy(self.tracer, quotient.constant, quotient.terms, self.discrete, False)

    def __neg__(self) -> Any:
        return self._new(-self.constant, {n: -f for n, f in self.terms.items()}, self.whole)

    def _compared(self, other: Any, word: str) -> Any:
        number = infinite(other)
        if number is not None:
            return {"<": number > 0.0, "<=": number >= 0.0, ">": number < 0.0, ">=": number <= 0.0}.get(
                word, word == "!="
            )
        if isinstance(other, UniformDraw):
            raise self.tracer.refuse(
                "noise compared with a uniform draw is not supported: compare each with a number"
            )
        rest = self - other
        if rest is NotImplemented:
            return NotImplemented
        if not isinstance(rest, Noisy):
            return _plain_test(self.tracer.signs(exact(rest) or ZERO), word)
        if not rest.discrete:
            if word in ("==", "!="):
                return word == "!="  # a tie has probability 0
            word = word.removesuffix("=")
        factor = next(iter(rest.terms.values()))
        if factor < 0:
            word = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(word, word)
        scaled = {name: part / factor for name, part in rest.terms.items()}
        self.check_there(rest.terms)
        left = _sum_text(scaled)
        bound = -rest.constant / Formula.of(factor)
        # one of the two orders is asked for, so that equal questions have equal texts
        if word in (">", ">=", "!="):
            word = {">": "<=", ">=": "<", "!=": "=="}[word]
            return not self._asked(left, word, bound)
        return self._asked(left, word, bound)

    def check_there(self, names: Iterable[str]) -> None:
        """Checks that nothing stands for this noise, such as its rounded value.

        Raises:
            Refused: other noise does.
        """
        for name in names:
            if name in self.tracer.gone:
                raise self.tracer.refuse(self.tracer.gone[name])

    def _asked(self, left: str, word: str, bound: Formula) -> bool:
        """Asks the tracer, if what it knows of this number in this run does not answer already."""
        opposite = {"<": ">=", "<=": ">", "==": "!="}[word]
        number, tracer = bound.number, self.tracer
        if word == "==" or number is None:
            return tracer.test(f"{left} {word} {bound.text}", f"{left} {opposite} {bound.text}")
        inside = number, word == "<="  # the number itself is below, too
        if left not in tracer.ranges:
            kind = tracer.draws[left][0] if left in tracer.draws else ""
            tracer.ranges[left] = [(Fraction(0), False) if kind in NONNEGATIVE else None, None]
        low, high = tracer.ranges[left]
        if high is not None and high <= inside:
            return True
        if low is not None and low >= inside:
            return False
        found = tracer.test(f"{left} {word} {bound.text}", f"{left} {opposite} {bound.text}")
        tracer.ranges[left][1 if found else 0] = inside
        return found

    def __eq__(self, other: object) -> Any:
        return self._compared(other, "==")

    def __ne__(self, other: object) -> Any:
        return self._compared(other, "!=")

    __hash__ = Symbol.__hash__

    def __bool__(self) -> bool:
        return bool(self != 0)

    def is_integer(self) -> bool:
        """Tells whether it is a whole number."""
        if self.on_whole_numbers:
            return True
        if not self.discrete:
            return False
        raise self.tracer.refuse("this number has a fractional part that depends on noise: compare it")

    @property
    def on_whole_numbers(self) -> bool:
        """Whether every value is a whole number."""
        number = self.constant.number
        whole = all(factor.denominator == 1 for factor in self.terms.values())
        return self.discrete and whole and number is not None and number.denominator == 1

    def _rounded(self, shift: Fraction, down: bool) -> Any:
        """Returns the floor of this plus a shift, or the ceiling."""
        if self.discrete:
            number = self.constant.number
            if number is None or any(f.denominator > 1 for f in self.terms.values()):
                raise self.tracer.refuse(
                    "rounding is not supported for fractions of noise: compare the fraction"
                )
            moved = number + shift
            low = moved.numerator // moved.denominator if down else -((-moved.numerator) // moved.denominator)
            return self._new(Formula.of(low), self.terms, True)
        raise self.tracer.refuse(
            "rounding continuous noise is supported only for one Laplace or exponential draw plus a "
            "number: round "
            "each draw, and add the rounded numbers"
        )

    def __floor__(self) -> Any:
        return floor_of_noise(self, Fraction(0)) if not self.discrete else self._rounded(Fraction(0), True)

    def __ceil__(self) -> Any:
        if self.discrete:
            return self._rounded(Fraction(0), False)
        return floor_of_noise(self, Fraction(0)) + 1  # whole values have probability 0

    def __trunc__(self) -> Any:
        if self.on_whole_numbers:
            return self._new(self.constant, self.terms, True)
        if not self.discrete:
            return _toward_zero(self.__floor__())
        return self.__floor__() if self >= 0 else self.__ceil__()

    def __round__(self, digits: int | None = None) -> Any:
        if digits:
            raise self.tracer.refuse(
                "rounding noise to decimal digits is not supported: round to a whole number, such as "
                "a number of "
                "tenths in round(10 * x), and return that"
            )
        if self.on_whole_numbers:
            return self._new(self.constant, self.terms, True)
        if self.discrete:
            raise self.tracer.refuse(
                "rounding is not supported for fractions of discrete noise: compare the fraction"
            )
        return floor_of_noise(self, Fraction(1, 2))

    # what numpy calls on each entry of an array of objects
    floor, ceil, rint = __floor__, __ceil__, __round__


def is_whole(value: Any) -> bool:
    """Tells whether Python has an int here."""
    if isinstance(value, Noisy):
        return value.whole
    return not isinstance(value, (Real, Symbol, float)) and hasattr(value, "__index__")


def _plain_test(sign: int, word: str) -> bool:
    return {
        "<": sign < 0,
        "<=": sign <= 0,
        ">": sign > 0,
        ">=": sign >= 0,
        "==": sign == 0,
        "!=": sign != 0,
    }[word]


@dataclass(eq=False)
class UniformState:
    """A uniform draw on [0, 1) in one run: the interval in which comparisons have left it."""

    low: Formula = field(default_factory=lambda: ZERO)
    high: Formula = field(default_factory=lambda: ONE)
    group: UniformGroup | None = None  # if it was compared with other draws
    used: str = ""  # by what else than comparisons
    logged: tuple[Formula, Formula] = (ONE, ZERO)  # factor and shift of W, whose logarithm was used
    logarithm: str = ""  # the name of exponential noise that is -log(W / top); see `LogDraw.noise`
    top: Formula = field(default_factory=lambda: ONE)
    scale: Formula = field(default_factory=lambda: ONE)


@dataclass(eq=False)
class UniformGroup:
    """Uniform draws that were compared with each other in this run, and the polytope in which that left them.

    Besides the intervals of the draws, `rows` has sums of multiples of draws that are below numbers.
    """

    members: list[UniformState]
    rows: list[tuple[Mapping[UniformState, Fraction], Formula]]
    volume: Formula

    @staticmethod
    def of(states: Iterable[UniformState], tracer: Tracer) -> UniformGroup:
        """Returns the one group of draws, which were independent if they had different ones."""
        made = UniformGroup([], [], ONE)
        for state in states:
            found = state.group or UniformGroup([state], [], state.high - state.low)
            if state not in made.members:
                made.members += found.members
                made.rows += found.rows
                made.volume = made.volume * found.volume
        if len(made.members) > MOST_COMPARED:
            raise tracer.refuse(
                f"more than {MOST_COMPARED} uniform draws are compared with each other, which is not "
                "supported: to shuffle, call random.shuffle"
            )
        return made

    def below(self, tracer: Tracer, factors: Mapping[UniformState, Fraction], bound: Formula) -> Formula:
        """Returns the volume of the part in which a sum is below a number."""
        rows: list[tuple[tuple[Fraction, ...], Formula]] = []
        for state in self.members:
            unit = tuple(Fraction(state is other) for other in self.members)
            rows += [(unit, state.high), (tuple(-q for q in unit), -state.low)]
        for given, limit in [*self.rows, (factors, bound)]:
            rows.append((tuple(given.get(state, Fraction(0)) for state in self.members), limit))
        key = tuple((row, limit.text) for row, limit in rows)
        if key not in tracer.volumes:
            tracer.volumes[key] = volume(rows, tracer.signs)
        return tracer.volumes[key]


class Continuous(Operand):
    """What numbers with continuous uniform draws share: their ties have probability 0."""

    __hash__ = Symbol.__hash__

    def __bool__(self) -> bool:
        return True  # 0 has probability 0

    def __ne__(self, other: object) -> Any:
        return not self == other

    def is_integer(self) -> bool:
        """Tells whether it is a whole number, which has probability 0."""
        return False

    def __ceil__(self) -> Any:
        return self.__floor__() + 1

    def __trunc__(self) -> Any:
        return _toward_zero(self.__floor__())

    def __round__(self, digits: int | None = None) -> Any:
        half = Fraction(1, 2)
        if digits is None:
            return (self + half).__floor__()
        scale = Fraction(10) ** digits
        return self.tracer.real((self * scale + half).__floor__() / scale)

    def __floor__(self) -> Any:
        raise NotImplementedError

    def __mul__(self, other: Any) -> Any:
        raise NotImplementedError

    def __neg__(self) -> Any:
        raise NotImplementedError

    def __rtruediv__(self, other: Any) -> Any:
        found = exact(other)
        return super().__rtruediv__(other) if found is None else self**-1 * Real(found, self.tracer.signs)

    def floor(self) -> Any:
        """Returns the largest whole number that is not larger; numpy calls this on entries of arrays."""
        return self.__floor__()

    def ceil(self) -> Any:
        """Returns the smallest whole number that is not smaller."""
        return self.__ceil__()

    def rint(self) -> Any:
        """Returns the nearest whole number."""
        return self.__round__()

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        power = exact(other)
        if power is None or modulus is not None:
            return super().__pow__(other, modulus)
        sign, number = self.tracer.signs(power), power.number
        if sign == 0:
            return self.tracer.real(1)
        if number == 1:
            return self
        if self < 0:
            if number is None or number.denominator > 1:
                raise self._refuse("raised to this power, because it can be negative")
            return (-self) ** other if number % 2 == 0 else -((-self) ** other)
        return FunctionOfDraw(self.tracer, self, power, ONE, ZERO)

    def sqrt(self) -> Any:
        """Returns its square root."""
        return self ** Fraction(1, 2)

    def exp(self) -> Any:
        """Returns its exponential."""
        return FunctionOfDraw(self.tracer, self, None, ONE, ZERO)

    def log(self) -> Any:
        """Returns its natural logarithm."""
        raise self._refuse("an argument of log")

    def near(self) -> tuple[float, float]:
        """Returns its least and largest value in this run, rounded."""
        raise self._refuse("rounded")


@dataclass(eq=False)
class UniformSum(Continuous):
    """A number plus multiples of independent uniform draws on [0, 1)."""

    tracer: Tracer
    terms: Mapping[UniformState, Formula]
    shift: Formula
    what = "a sum of continuous uniform draws"

    def _made(self, terms: Mapping[UniformState, Formula], shift: Formula) -> Any:
        kept = {state: factor for state, factor in terms.items() if factor.above}
        if not kept:
            return Real(shift, self.tracer.signs)
        return (UniformDraw if len(kept) == 1 else UniformSum)(self.tracer, kept, shift)

    def _plus(self, other: Any, sign: int, own: int = 1) -> Any:
        mine, more = self if own > 0 else -self, other if sign > 0 else -other
        if isinstance(more, UniformSum):
            terms = dict(mine.terms)
            for state, factor in more.terms.items():
                terms[state] = terms[state] + factor if state in terms else factor
            return self._made(terms, mine.shift + more.shift)
        found = exact(more)
        if found is None:
            if isinstance(other, Symbol):
                raise self.tracer.refuse(
                    "sums of a uniform draw and other noise are not supported: use one of them"
                )
            return NotImplemented
        return self._made(mine.terms, mine.shift + found)

    def __mul__(self, other: Any) -> Any:
        found = exact(other)
        if found is None:
            ratio = self._ratio(other)
            if ratio is not None:
                return self**2 * Real(ratio, self.tracer.signs)
            if isinstance(other, FunctionOfDraw):
                return other * self
            if isinstance(other, Symbol):
                raise self.tracer.refuse(
                    "products of a uniform draw and other noise are not supported: compare both with "
                    "numbers instead"
                )
            return NotImplemented
        return self._made({s: f * found for s, f in self.terms.items()}, self.shift * found)

    __rmul__ = __mul__

    def _ratio(self, other: Any) -> Formula | None:
        """Returns the number with which this makes another one; None if there is none."""
        if not isinstance(other, UniformSum) or self.terms.keys() != other.terms.keys():
            return None
        ratios = [other.terms[state] / factor for state, factor in self.terms.items()]
        if any((ratio - ratios[0]).above for ratio in ratios):
            return None
        return None if (other.shift - self.shift * ratios[0]).above else ratios[0]

    def __truediv__(self, other: Any) -> Any:
        found = exact(other)
        if found is None:
            return super().__rtruediv__(other) if isinstance(other, Symbol) else NotImplemented
        return self * Real(ONE / found, self.tracer.signs)

    def __neg__(self) -> Any:
        return self._made({s: -f for s, f in self.terms.items()}, -self.shift)

    def _check_unused(self) -> None:
        for state in self.terms:
            if state.used:
                raise self.tracer.refuse(
                    f"a uniform draw is compared after {state.used}, which is not supported"
                )

    def _below(self, bound: Formula) -> bool:
        """Tells whether this is below a number; both ways are taken, with their probabilities."""
        self._check_unused()
        tracer, signs = self.tracer, self.tracer.signs
        least, largest = self.ends()
        if signs(bound - least) <= 0:
            return False
        if signs(bound - largest) >= 0:
            return True
        state, factor = next(iter(self.terms.items()))
        rising, cut = signs(factor) > 0, (bound - self.shift) / factor
        factors = {s: ONE.number if s is state else (f / factor).number for s, f in self.terms.items()}
        kept = {s: q for s, q in factors.items() if q is not None}
        if len(kept) < len(factors):
            raise tracer.refuse(
                "a sum of uniform draws times different formulas is compared, which is not supported: "
                "multiply them by numbers"
            )
        group = UniformGroup.of(self.terms, tracer)
        part = cut - state.low if len(group.members) == 1 else group.below(tracer, kept, cut)
        if signs(part) <= 0 or signs(group.volume - part) <= 0:
            return (signs(part) > 0) is rising
        name = "draw" if len(kept) == 1 else "sum of draws"
        low = tracer.flip(part / group.volume, (f"{name} < {cut.text}", f"{name} >= {cut.text}"))
        group.volume = part if low else group.volume - part
        if len(kept) > 1:
            row = (kept, cut) if low else ({s: -q for s, q in kept.items()}, -cut)
            group.rows.append(row)
        elif low:
            state.high = cut
        else:
            state.low = cut
        if len(group.members) > 1:
            for member in group.members:
                member.group = group
        return low == rising

    def _compared(self, other: Any, word: str) -> Any:
        below = word[0] == "<"
        number = infinite(other)
        if number is not None:
            return (number > 0) is below
        if isinstance(other, UniformSum):
            rest = self - other
            if isinstance(rest, UniformSum):
                return rest._compared(0, word)
            return _plain_test(self.tracer.signs(rest.formula), word)
        found = exact(other)
        if found is None:
            if isinstance(other, FunctionOfDraw):
                return NotImplemented
            if isinstance(other, Symbol):
                raise self.tracer.refuse(
                    "comparing a uniform draw with other noise is not supported: compare each with a number"
                )
            return NotImplemented
        return self._below(found) is below

    def __eq__(self, other: object) -> Any:
        if isinstance(other, UniformSum):
            rest = self - other
            return isinstance(rest, Real) and self.tracer.signs(rest.formula) == 0
        return False  # equal to a number with probability 0

    __hash__ = Symbol.__hash__

    def ends(self) -> tuple[Formula, Formula]:
        """Returns the least and the largest value that the intervals of the draws in this run have."""
        least = largest = self.shift
        for state, factor in self.terms.items():
            one, other = factor * state.low, factor * state.high
            rising = self.tracer.signs(factor) > 0
            least, largest = least + (one if rising else other), largest + (other if rising else one)
        return least, largest

    def near(self) -> tuple[float, float]:
        """Returns the same, rounded."""
        least, largest = self.ends()
        if least.names or largest.names:
            raise self._refuse("rounded, because its values depend on the parameters")
        return least.value({}), largest.value({})

    def __floor__(self) -> int:
        least, largest = self.ends()
        low, high = floor_of(least, self.tracer.signs), floor_of(largest, self.tracer.signs)
        if high - low > MOST_PARTS:
            raise self.tracer.refuse(
                f"the whole part of a uniform draw has more than {MOST_PARTS} values: use randrange"
            )
        for k in range(low, high):
            if self < k + 1:
                return k
        return high


@dataclass(eq=False)
class UniformDraw(UniformSum):
    """A number plus a multiple of one uniform draw on [0, 1)."""

    what = "a continuous uniform draw"
    __hash__ = Symbol.__hash__

    @property
    def state(self) -> UniformState:
        """The draw."""
        return next(iter(self.terms))

    @property
    def factor(self) -> Formula:
        """By what the draw is multiplied."""
        return next(iter(self.terms.values()))

    def __floor__(self) -> int:
        """Returns the whole part, by one choice among all."""
        if self.state.group:
            return super().__floor__()
        self._check_unused()
        least, largest = self.ends()
        low, high = floor_of(least, self.tracer.signs), floor_of(largest, self.tracer.signs)
        if high - low > MOST_PARTS:
            raise self.tracer.refuse(f"the whole part of a uniform draw has more than {MOST_PARTS} values")
        if low == high:
            return low
        step = ONE / (largest - least)
        first, last = (Formula.of(low + 1) - least) * step, (largest - Formula.of(high)) * step
        words = [f"whole part {k}" for k in range(low, high + 1)]
        found = low + self.tracer.choose([first, *[step] * (high - low - 1), last], words)
        ends = (
            least if found == low else Formula.of(found),
            largest if found == high else Formula.of(found + 1),
        )
        one, other = ((end - self.shift) / self.factor for end in ends)
        rising = self.tracer.signs(self.factor) > 0
        self.state.low, self.state.high = (one, other) if rising else (other, one)
        return found

    def log(self) -> LogDraw:
        """Returns its natural logarithm, which has an exponential law below its largest value."""
        least, _ = self.ends()
        if self.tracer.signs(least) != 0 or self.state.group:
            raise self.tracer.refuse(
                "the logarithm of a uniform draw is supported only if its values come arbitrarily near to 0, "
                "and before it is compared with other draws: use another draw, as in "
                "math.log(random.random())"
            )
        return LogDraw(self.tracer, self, ONE, ZERO)

    def cos(self) -> Cosine:
        """Returns its cosine, of a uniform angle over whole half-turns."""
        return self._cosine(1)

    def sin(self) -> Cosine:
        """Returns its sine, which has the same law over whole turns."""
        return self._cosine(2)

    def _cosine(self, least: int) -> Cosine:
        """Returns the cosine of an angle over a multiple of `least` half-turns, from a whole one on."""
        half_turn = Formula.of(Floats.number(math.pi))  # how traced code has it
        turns, start = (self.factor / half_turn).number, (self.shift / half_turn).number
        if None in (turns, start) or turns % least or start % 1 or turns == 0:  # type: ignore[operator]
            raise self._refuse("an argument of cos or sin, except over whole turns, such as 2 * pi * u")
        if self.state.used or self.state.group or self.state.low.above or (self.state.high - ONE).above:
            raise self._refuse("an argument of cos or sin after it was used: draw twice")
        self.state.used = "its cosine"
        self.tracer.note(f"{math.pi} is read as the number pi in angles")
        return Cosine(self.tracer)


@dataclass(eq=False)
class LogDraw(Continuous):
    """`factor` * log(W) + `shift`, of a draw W that is uniform on an interval from 0."""

    tracer: Tracer
    draw: UniformDraw
    factor: Formula
    shift: Formula
    what = "the logarithm of a uniform draw"

    def _moved(self, factor: Formula, shift: Formula) -> Any:
        if not factor.above:
            return Real(shift, self.tracer.signs)
        return LogDraw(self.tracer, self.draw, factor, shift)

    def _top(self) -> Formula:
        """Returns the largest value of W in this run; comparisons may have cut its interval.

        Raises:
            Refused: the draw was used up, or comparisons have cut off the values near 0.
        """
        state = self.draw.state
        if state.used:
            raise self.tracer.refuse(
                f"a uniform draw is used after {state.used}, which is not supported: draw twice"
            )
        least, largest = self.draw.ends()
        if self.tracer.signs(least) != 0 or state.group:
            raise self.tracer.refuse(
                "the logarithm of a uniform draw is used after its draw was compared: draw twice"
            )
        return largest

    def noise(self) -> Noisy:
        """Returns the same as exponential noise: -log(W / top) has the exponential law with mean 1.

        The same draw is no longer available for comparisons.
        """
        state, shift = self.draw.state, self.shift
        if not state.logarithm:
            state.top = self._top()
            if self.factor.number is None:
                state.scale = self.factor if self.tracer.signs(self.factor) > 0 else -self.factor
            state.logarithm = self.tracer.noise("exponential", state.scale)
            state.used = "its logarithm"
            state.logged = self.draw.factor, self.draw.shift
        elif (state.logged[0] - self.draw.factor).above or (state.logged[1] - self.draw.shift).above:
            raise self.tracer.refuse(
                "two different logarithms of one uniform draw are not supported: draw twice"
            )
        multiple = (self.factor / state.scale).number
        if multiple is None:
            raise self.tracer.refuse(
                "the logarithm of a uniform draw is used with two unrelated scales: draw twice"
            )
        if (state.top - ONE).above:
            shift = shift + self.factor * natural_logarithm(state.top)
        return Noisy(self.tracer, shift, {state.logarithm: -multiple}, False, False)

    def _plus(self, other: Any, sign: int, own: int = 1) -> Any:
        mine = self if own > 0 else -self
        more = other if sign > 0 else -other
        found = exact(more)
        if found is not None:
            return mine._moved(mine.factor, mine.shift + found)
        return mine.noise() + more

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Cosine):
            return self._times_cosine(other)
        found = exact(other)
        if found is None:
            if isinstance(other, Symbol):
                raise self.tracer.refuse(f"products of two numbers with noise are not supported: {FINITE}")
            return NotImplemented
        return self._moved(self.factor * found, self.shift * found)

    __rmul__ = __mul__

    def _times_cosine(self, cosine: Cosine) -> HalfLaplace:
        state = self.draw.state
        if state.logarithm or self.shift.above or (self._top() - ONE).above or cosine.used:
            raise self.tracer.refuse(
                "a cosine is supported only times log(u) of a draw u that nothing else uses: use "
                "noise of a library"
            )
        state.used, cosine.used = "its logarithm was multiplied by a cosine", True
        return HalfLaplace(self.tracer, [], self.factor)

    def __truediv__(self, other: Any) -> Any:
        found = exact(other)
        if found is None:
            return super().__rtruediv__(other) if isinstance(other, Symbol) else NotImplemented
        return self._moved(self.factor / found, self.shift / found)

    def __neg__(self) -> Any:
        return self._moved(-self.factor, -self.shift)

    def _below(self, bound: Formula) -> bool:
        """Tells whether this is below a number: then log(W) is on one side of another one, and so is W."""
        cut = exponential((bound - self.shift) / self.factor)
        rising = self.tracer.signs(self.factor) > 0
        return bool(self.draw < Real(cut, self.tracer.signs)) is rising

    def _compared(self, other: Any, word: str) -> Any:
        below = word[0] == "<"  # a tie has probability 0
        number = infinite(other)
        if number is not None:
            return (number > 0) is below
        found = exact(other)
        if found is None or self.draw.state.logarithm:
            noise = self.noise()
            return noise < other if below else noise > other
        return self._below(found) is below

    def __eq__(self, other: object) -> Any:
        same = isinstance(other, LogDraw) and other.draw.state is self.draw.state
        return self is other or (same and self.noise() == other)

    __hash__ = Symbol.__hash__

    def __floor__(self) -> Any:
        if self.tracer.signs(self.factor) > 0:
            return -((-self).__floor__() + 1)
        top = self._top()

        def share(count: int) -> Formula:
            """Returns the number below which W lies exactly if the value is at least `count`."""
            return exponential((Formula.of(count) - self.shift) / self.factor)

        found = _first_part(self.tracer, share, top)
        self.draw.state.used = "its logarithm was rounded"
        ratio = exponential(ONE / self.factor)
        return _geometric_tail(self.tracer, found, share(found + 1) / top, ratio)

    def __round__(self, digits: int | None = None) -> Any:
        if digits:
            raise self.tracer.refuse(
                "rounding noise to decimal digits is not supported: round to a whole number, such as a "
                "number of tenths in round(10 * x), and return that"
            )
        return super().__round__()


@dataclass(eq=False)
class FunctionOfDraw(Continuous):
    """`factor` * g(`draw`) + `shift`, of a strictly monotone g: a power of a positive draw, or exp.

    A comparison with a number is one of the draw with another number, which must be exact.
    """

    tracer: Tracer
    draw: Continuous
    power: Formula | None  # None is exp
    factor: Formula
    shift: Formula

    @property
    def what(self) -> str:  # type: ignore[override]
        """What this is, for people."""
        return f"{'exp' if self.power is None else 'a power'} of {self.draw.what}"

    def _moved(self, factor: Formula, shift: Formula) -> Any:
        if not factor.above:
            return Real(shift, self.tracer.signs)
        return FunctionOfDraw(self.tracer, self.draw, self.power, factor, shift)

    def _plus(self, other: Any, sign: int, own: int = 1) -> Any:
        mine, more = self if own > 0 else -self, other if sign > 0 else -other
        found = exact(more)
        if found is not None:
            return mine._moved(mine.factor, mine.shift + found)
        if isinstance(more, FunctionOfDraw) and mine._is_multiple(more):
            return mine._moved(mine.factor + more.factor, mine.shift + more.shift)
        if isinstance(more, Symbol):
            raise self.tracer.refuse(f"sums of {self.what} and other noise are not supported")
        return NotImplemented

    def _is_multiple(self, other: FunctionOfDraw) -> bool:
        """Tells whether another one has the same function of the same draw."""
        if (self.power is None) is not (other.power is None):
            return False
        same = self.draw is other.draw or bool(self.draw == other.draw)
        return same and not (self.power is not None and other.power and (self.power - other.power).above)

    def __mul__(self, other: Any) -> Any:
        found = exact(other)
        if found is not None:
            return self._moved(self.factor * found, self.shift * found)
        if self.power is not None and not self.shift.above and isinstance(self.draw, UniformSum):
            ratio = self.draw._ratio(other)
            if ratio is not None and self.tracer.signs(ratio) > 0:
                power = self.tracer.real(self.power + ONE)
                return self.draw**power * Real(self.factor * ratio, self.tracer.signs)
        if isinstance(other, Symbol):
            raise self.tracer.refuse("products of two numbers with noise are not supported")
        return NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        found = exact(other)
        if found is None:
            return super().__rtruediv__(other) if isinstance(other, Symbol) else NotImplemented
        return self._moved(self.factor / found, self.shift / found)

    def __neg__(self) -> Any:
        return self._moved(-self.factor, -self.shift)

    def _compared(self, other: Any, word: str) -> Any:
        below = word[0] == "<"
        number = infinite(other)
        if number is not None:
            return (number > 0) is below
        signs = self.tracer.signs
        found = exact(other)
        if found is None:
            if isinstance(other, FunctionOfDraw) and self._is_multiple(other):
                rest = self - other
                if isinstance(rest, FunctionOfDraw):
                    return rest._compared(0, word)
                return _plain_test(signs(rest.formula), word)
            if isinstance(other, Symbol):
                raise self.tracer.refuse(f"comparing {self.what} with other noise is not supported")
            return NotImplemented
        bound, rising = (found - self.shift) / self.factor, signs(self.factor) > 0
        return self._inside_below(bound) is (rising is below)

    def _inside_below(self, bound: Formula) -> bool:
        """Tells whether g(draw) is below a number."""
        signs = self.tracer.signs
        if signs(bound) <= 0:
            return False  # g is positive
        cut = logarithm(bound) if self.power is None else exact_power(bound, ONE / self.power)
        if cut is not None:
            rising = self.power is None or signs(self.power) > 0
            return bool(self.draw < Real(cut, signs)) is rising
        ends = [e for e in self._ends() if e is not None]
        if len(ends) == 2 and all(signs(e - bound) >= 0 for e in ends):
            return False
        if len(ends) == 2 and all(signs(e - bound) <= 0 for e in ends):
            return True
        inverse = "logarithm" if self.power is None else f"power {(ONE / self.power).text}"
        raise self.tracer.refuse(
            f"{self.what} is compared with {bound.text}, so the draw is compared with the {inverse} of that "
            "number, which has no exact value here: compare the draw itself with a number"
        )

    def _ends(self) -> list[Formula | None]:
        """Returns g of both ends of the draw, as far as they are known."""
        if not isinstance(self.draw, UniformSum):
            return []
        if self.power is None:
            return [exponential(end) if is_linear(end) else None for end in self.draw.ends()]
        falls = self.tracer.signs(self.power) < 0
        return [None if falls and not end.above else exact_power(end, self.power) for end in self.draw.ends()]

    def __eq__(self, other: object) -> Any:
        if self is other:
            return True
        if isinstance(other, FunctionOfDraw) and self._is_multiple(other):
            rest = self - other
            return isinstance(rest, Real) and self.tracer.signs(rest.formula) == 0
        return False  # equal to a number with probability 0

    __hash__ = Symbol.__hash__

    def log(self) -> Any:
        """Returns its natural logarithm."""
        if self.shift.above or self.tracer.signs(self.factor) <= 0:
            raise self._refuse("an argument of log")
        signs = self.tracer.signs
        inner = self.draw if self.power is None else self.draw.log() * Real(self.power, signs)
        return inner + Real(natural_logarithm(self.factor), signs)

    def near(self) -> tuple[float, float]:
        """See `Continuous.near`."""
        if self.factor.names or self.shift.names or (self.power is not None and self.power.names):
            raise self._refuse("rounded, because its values depend on the parameters")
        power = None if self.power is None else self.power.value({})
        try:
            inner = [math.exp(v) if power is None else max(v, 0.0) ** power for v in self.draw.near()]
        except (OverflowError, ZeroDivisionError):
            raise self._refuse("rounded, because its values have no bound") from None
        found = sorted(self.factor.value({}) * v + self.shift.value({}) for v in inner)
        return found[0], found[1]

    def __floor__(self) -> Any:
        least, largest = self.near()
        low, high = math.floor(least - TINY), math.floor(largest + TINY)
        if high - low > MOST_PARTS:
            raise self._refuse(f"rounded, because it has more than {MOST_PARTS} whole parts")
        return next((k for k in range(low, high) if self < k + 1), high)


def _toward_zero(floor: Any) -> Any:
    """Returns a number without its fractional part, given its floor; it is whole with probability 0."""
    return floor if floor >= 0 else floor + 1


@dataclass(eq=False)
class Cosine(Symbol):
    """The cosine of a uniform angle over whole half-turns."""

    tracer: Tracer
    used: bool = False
    what = "the cosine of a uniform draw"

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, LogDraw):
            return other * self
        return self._alone()

    __rmul__ = __mul__

    def _alone(self, other: object = None) -> Any:
        raise self.tracer.refuse(
            "a cosine of a draw is supported only times the logarithm of another one: use noise of a library"
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __truediv__ = __neg__ = __abs__ = _alone
    __lt__ = __le__ = __gt__ = __ge__ = _alone


@dataclass(eq=False)
class HalfLaplace(Symbol):
    """`factor` * log(U) * cos(V), of a uniform draw U and an independent uniform angle V.

    Given cos(V), log(U) * cos(V) is exponential noise times a number, with the characteristic function
    1 / (1 + i t cos(V)), whose mean over V is 1 / sqrt(1 + t^2). The sum of two such products that are
    independent has its square, which is that of Laplace noise with scale 1.
    """

    tracer: Tracer
    used: list[bool]  # shared by all multiples of one product: not empty if it has been used
    factor: Formula
    what = "the product of a logarithm and a cosine of uniform draws"

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, HalfLaplace) or other.used is self.used or self.used or other.used:
            return self._alone()
        if (self.factor - other.factor).above and (self.factor + other.factor).above:
            return self._alone()
        self.used.append(True)
        other.used.append(True)
        size = self.factor if self.tracer.signs(self.factor) > 0 else -self.factor
        return Noisy(self.tracer, ZERO, {self.tracer.noise("laplace", size): Fraction(1)}, False, False)

    def __sub__(self, other: Any) -> Any:
        return self + other  # the law is symmetric

    def __neg__(self) -> Any:
        return HalfLaplace(self.tracer, self.used, -self.factor)

    def __mul__(self, other: Any) -> Any:
        found = exact(other)
        if found is None or not found.above:
            raise self.tracer.refuse(
                f"{self.what} is supported only times numbers other than 0: use noise of a library"
            )
        return HalfLaplace(self.tracer, self.used, self.factor * found)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        found = exact(other)
        return self * other if found is None else self * Real(ONE / found, self.tracer.signs)

    def _alone(self, other: object = None) -> Any:
        raise self.tracer.refuse(
            f"{self.what} is supported only in the sum of two independent ones of equal size: use "
            "noise of a library"
        )

    __radd__ = __rsub__ = __abs__ = __lt__ = __le__ = __gt__ = __ge__ = _alone


def _first_part(tracer: Tracer, share: Callable[[int], Formula], top: Formula) -> int:
    """Returns the largest count that the value reaches with probability 1; `share` falls with the count."""
    low = 0
    if tracer.signs(share(0) - top) >= 0:
        while tracer.signs(share(low + 1) - top) >= 0:
            low += 1
            if low > MOST_PARTS:
                break
    else:
        while tracer.signs(share(low) - top) < 0:
            low -= 1
            if low < -MOST_PARTS:
                break
    if abs(low) > MOST_PARTS:
        raise tracer.refuse("the whole part of this logarithm is too large: use a smaller scale")
    return low


def _geometric_tail(tracer: Tracer, first: int, share: Formula, ratio: Formula) -> Any:
    """Draws `first`, or more with probability `share`; then each further step has the probability `ratio`."""
    more = tracer.flip(share, (f"at least {first + 1}", f"{first}"))
    if not more:
        return first
    name = tracer.noise("one_sided_geometric", ratio)
    return Noisy(tracer, Formula.of(first + 1), {name: Fraction(1)}, True, True)


def rescaled_noise(value: Noisy, multiple: Formula) -> Any:
    """Returns `value` * `multiple`, of one continuous draw, which is used up: its scale is multiplied.

    Another product of the same draw with a rational multiple of the same formula is one of the same new draw.
    """
    tracer = value.tracer
    if len(value.terms) != 1 or value.discrete:
        reason = f"noise times {multiple.text} is not supported: draw the noise with that scale instead"
        raise tracer.refuse(reason)
    (name, factor) = next(iter(value.terms.items()))
    if name not in tracer.rescaled:
        if any(name in text for text in tracer.known):
            raise tracer.refuse(
                f"noise times {multiple.text} after the noise was compared is not supported: compare "
                "the product"
            )
        value.check_there(value.terms)
        kind, scale = tracer.draws[name]
        size = multiple if tracer.signs(multiple) > 0 else -multiple
        tracer.rescaled[name] = tracer.noise(kind, scale * size), size
        tracer.gone[name] = f"noise is used after it was multiplied by {multiple.text}: use the product only"
    made, size = tracer.rescaled[name]
    ratio = (multiple / size).number
    if ratio is None:
        raise tracer.refuse(
            f"noise times {size.text} and times {multiple.text} in one run is not supported: draw twice"
        )
    return Noisy(tracer, value.constant * multiple, {made: factor * ratio}, False, False)


def floor_of_noise(value: Noisy, shift: Fraction) -> Any:
    """Returns the whole part of `value` + `shift`, of one Laplace or exponential draw, which is used up.

    |Laplace(b)| is exponential, and floor(c + E) of an exponential E with mean b is geometric with the ratio
    exp(-1/b) from the second value on.
    """
    tracer = value.tracer
    if len(value.terms) != 1:
        raise tracer.refuse(
            "rounding a sum of several draws is not supported: round each draw, and add the rounded numbers"
        )
    (name, factor) = next(iter(value.terms.items()))
    kind, scale = tracer.draws[name]
    if kind not in ("laplace", "exponential"):
        raise tracer.refuse(f"rounding {kind} noise is not supported: compare it, or use Laplace noise")
    if any(name in text for text in tracer.known) or name in tracer.gone:
        raise tracer.refuse(
            "noise is rounded after it was compared or rounded, which is not supported: round it "
            "first, and compare "
            "the rounded number"
        )
    tracer.gone[name] = "noise is used after it was rounded: use the rounded number only"
    mean = scale * Formula.of(abs(factor))
    up = factor > 0
    if kind == "laplace":
        up = tracer.flip(HALF, ("the noise is positive", "the noise is negative"))
    start = value.constant + Formula.of(shift)
    if not up:  # floor(c - E) = -floor(-c + E) - 1, because whole values have probability 0
        start = -start
    low = floor_of(start, tracer.signs)
    share = exponential(-(Formula.of(low + 1) - start) / mean)
    found = _geometric_tail(tracer, low, share, exponential(-ONE / mean))
    return found if up else -found - 1
