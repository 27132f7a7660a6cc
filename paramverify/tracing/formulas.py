"""Exact real numbers of traced code: quotients of sums of terms c * p^k * exp(q_0 + q_1*p).

Equality is decided by the terms alone: exponentials of different exponents are linearly independent over the
rational functions of the parameters and, by the theorem of Lindemann and Weierstrass, over the numbers.
Signs are decided over the whole domain of the parameters, or the code is refused.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

Powers = tuple[tuple[str, int], ...]  # of parameters, by name
Exponent = tuple[tuple[str, Fraction], ...]  # coefficients of parameters; "" is the constant
Terms = Mapping[tuple[Powers, Exponent], Fraction]

MOST_TERMS = 2_000
MOST_POWER = 1_000
NO_EXPONENT: Exponent = ()
ONE_KEY: tuple[Powers, Exponent] = ((), ())


class Refused(BaseException):
    """Traced code that cannot be understood: the reason, with a mend; `file` and `line` may say where.

    It is no `Exception`, so that the code does not catch it by mistake. If it does, with a bare `except` or a
    `finally` that returns, `first` still has it.
    """

    first: ClassVar[Refused | None] = None  # of this run

    def __init__(self, reason: str, file: str = "", line: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.file = file
        self.line = line
        Refused.first = Refused.first or self


def _joined(left: Iterable[tuple[str, Any]], right: Iterable[tuple[str, Any]]) -> tuple[tuple[str, Any], ...]:
    found: dict[str, Any] = dict(left)
    for name, value in right:
        found[name] = found.get(name, 0) + value
    return tuple(sorted((n, v) for n, v in found.items() if v))


def _plus(left: Terms, right: Terms, factor: Fraction = Fraction(1)) -> Terms:
    found = dict(left)
    for key, value in right.items():
        total = found.get(key, Fraction(0)) + factor * value
        if total:
            found[key] = total
        else:
            found.pop(key, None)
    return found


def _times(left: Terms, right: Terms) -> Terms:
    if len(left) * len(right) > MOST_TERMS:
        raise Refused(
            "a number of this function is a formula with more than 2,000 terms: use fewer parameters"
        )
    found: dict[tuple[Powers, Exponent], Fraction] = {}
    for (powers, exponent), value in left.items():
        for (more, further), other in right.items():
            key = (_joined(powers, more), _joined(exponent, further))
            found[key] = found.get(key, Fraction(0)) + value * other
    return {key: value for key, value in found.items() if value}


@dataclass(frozen=True, eq=False)
class Formula:
    """A quotient of two sums of terms; the denominator is 1 if it is one term."""

    above: Terms
    below: Terms

    @staticmethod
    def of(value: Fraction | int) -> Formula:
        """Returns a rational number."""
        return Formula({ONE_KEY: Fraction(value)} if value else {}, {ONE_KEY: Fraction(1)})

    @staticmethod
    def parameter(name: str) -> Formula:
        """Returns a parameter."""
        return Formula({(((name, 1),), ()): Fraction(1)}, {ONE_KEY: Fraction(1)})

    @staticmethod
    def quotient(above: Terms, below: Terms) -> Formula:
        """Returns a quotient, in a simple form."""
        if not below:
            raise ZeroDivisionError("division by zero")
        if not above:
            return Formula({}, {ONE_KEY: Fraction(1)})
        if len(below) == 1:
            ((powers, exponent), value) = next(iter(below.items()))
            inverse = (tuple((n, -k) for n, k in powers), tuple((n, -q) for n, q in exponent))
            return Formula(_times(above, {inverse: 1 / value}), {ONE_KEY: Fraction(1)})
        first = min(below)
        if above.keys() == below.keys():
            factor = above[first] / below[first]
            if all(above[key] == factor * below[key] for key in below):
                return Formula.of(factor)
        scale = below[first]
        return Formula({k: v / scale for k, v in above.items()}, {k: v / scale for k, v in below.items()})

    @cached_property
    def number(self) -> Fraction | None:
        """Its value if it is a rational number; else None."""
        if not self.above:
            return Fraction(0)
        if self.above.keys() == {ONE_KEY} and self.below.keys() == {ONE_KEY}:
            return self.above[ONE_KEY] / self.below[ONE_KEY]
        return None

    @cached_property
    def names(self) -> frozenset[str]:
        """The parameters that occur."""
        keys = (*self.above, *self.below)
        return frozenset(n for powers, exponent in keys for n, _ in (*powers, *exponent) if n)

    def __add__(self, other: Formula) -> Formula:
        if self.number is not None and other.number is not None:
            return Formula.of(self.number + other.number)
        if self.below == other.below:
            return Formula.quotient(_plus(self.above, other.above), self.below)
        above = _plus(_times(self.above, other.below), _times(other.above, self.below))
        return Formula.quotient(above, _times(self.below, other.below))

    def __neg__(self) -> Formula:
        return Formula({k: -v for k, v in self.above.items()}, self.below)

    def __sub__(self, other: Formula) -> Formula:
        return self + -other

    def __mul__(self, other: Formula) -> Formula:
        if self.number is not None and other.number is not None:
            return Formula.of(self.number * other.number)
        if self.below == other.above:
            return Formula.quotient(self.above, other.below)
        if self.above == other.below:
            return Formula.quotient(other.above, self.below)
        return Formula.quotient(_times(self.above, other.above), _times(self.below, other.below))

    def __truediv__(self, other: Formula) -> Formula:
        if not other.above:
            raise ZeroDivisionError("float division by zero")
        if self.number is not None and other.number is not None:
            return Formula.of(self.number / other.number)
        return self * Formula(other.below, other.above)

    def power(self, count: int) -> Formula:
        """Returns a whole power."""
        if count < 0:
            return Formula.of(1) / self.power(-count)
        found, base = Formula.of(1), self
        while count:
            found = found * base if count % 2 else found
            count //= 2
            base = base * base if count else base
        return found

    @cached_property
    def text(self) -> str:
        """The expression in the language of case files."""
        above = _text(self.above)
        if self.below.keys() == {ONE_KEY}:
            return above
        return f"({above})/({_text(self.below)})"

    @cached_property
    def key(self) -> str:
        """A text that equal formulas share in most cases; different formulas never share it."""
        return self.text

    def value(self, point: Mapping[str, float]) -> float:
        """Returns the rounded value at a point, for a first look at a sign."""

        def total(terms: Terms) -> float:
            parts = []
            for (powers, exponent), value in terms.items():
                part = float(value) * math.exp(sum(float(q) * point.get(n, 1.0) for n, q in exponent))
                for name, count in powers:
                    part *= point[name] ** count
                parts.append(part)
            return math.fsum(parts)

        return total(self.above) / total(self.below)


def _text(terms: Terms) -> str:
    if not terms:
        return "0"
    return " + ".join(_term(powers, exponent, terms[powers, exponent]) for powers, exponent in sorted(terms))


def _term(powers: Powers, exponent: Exponent, value: Fraction) -> str:
    above: list[str] = []
    below: list[str] = []
    for name, count in powers:
        side = above if count > 0 else below
        side.append(name if abs(count) == 1 else f"{name}**{abs(count)}")
    for name, q in exponent:
        above.append(f"exp({_multiple(q, name)})")
    number = str(value) if value.denominator == 1 else f"{value}"
    text = "*".join(
        [
            *(
                [f"({number})" if value < 0 or value.denominator > 1 else number]
                if value != 1 or not above
                else []
            ),
            *above,
        ]
    )
    return text if not below else f"{text}/({'*'.join(below)})"


def _multiple(q: Fraction, name: str) -> str:
    if not name:
        return str(q)
    sign = "-" if q < 0 else ""
    above = name if abs(q.numerator) == 1 else f"{abs(q.numerator)}*{name}"
    return f"{sign}{above}" + (f"/{q.denominator}" if q.denominator > 1 else "")


def _linear(value: Formula) -> Exponent | None:
    """Returns the coefficients of a formula that is linear in the parameters, all rational; else None."""
    found: dict[str, Fraction] = {}
    if value.below.keys() != {ONE_KEY}:
        return None
    for (powers, exponent), factor in value.above.items():
        if exponent or (powers and (len(powers) > 1 or powers[0][1] != 1)):
            return None
        found[powers[0][0] if powers else ""] = factor
    return tuple(sorted((n, q) for n, q in found.items() if q))


def is_linear(value: Formula) -> bool:
    """Tells whether the exponential of a formula is one, see `exponential`."""
    return _linear(value) is not None


def exponential(value: Formula) -> Formula:
    """Returns exp of a formula.

    Raises:
        Refused: the formula is not linear in the parameters with rational coefficients.
    """
    key = _linear(value)
    if key is None:
        raise Refused(
            f"exp({value.text}) is not supported: its argument must be linear in the parameters; "
            "make another parameter of it"
        )
    return Formula({((), key): Fraction(1)}, {ONE_KEY: Fraction(1)})


def logarithm(value: Formula) -> Formula | None:
    """Returns the logarithm of a formula if it is exp of a linear one; else None."""
    if value.below.keys() == {ONE_KEY} and len(value.above) == 1:
        ((powers, exponent), factor) = next(iter(value.above.items()))
        if factor == 1 and not powers:
            found = Formula.of(0)
            for name, q in exponent:
                part = Formula.parameter(name) if name else Formula.of(1)
                found = found + Formula.of(q) * part
            return found
    return None


# --- the numbers that traced code computes with -----------------------------------------------------


class Floats:
    """How floats are read: as the decimal numbers that Python shows, or as the binary fractions they are."""

    binary: ClassVar[bool] = False

    @staticmethod
    @contextmanager
    def read_as(word: str) -> Iterator[None]:
        """Reads them as "decimal" or "binary" inside."""
        before, Floats.binary = Floats.binary, word == "binary"
        try:
            yield
        finally:
            Floats.binary = before

    @staticmethod
    def number(value: float) -> Fraction:
        """Returns the number that a finite float stands for."""
        return Fraction(value) if Floats.binary else Fraction(repr(value))


def exact(value: Any) -> Formula | None:
    """Returns a number as a formula, see `Floats`; None of others."""
    if isinstance(value, Real):
        return value.formula
    if isinstance(value, (bool, int, Fraction)):
        return Formula.of(Fraction(value))
    if isinstance(value, numbers.Integral):
        return Formula.of(int(value))
    if isinstance(value, numbers.Real):
        number = float(value)
        return Formula.of(Floats.number(number)) if math.isfinite(number) else None
    item = getattr(value, "item", None)
    if item is not None and getattr(value, "shape", None) == ():
        return exact(item())
    return None


def infinite(value: Any) -> float | None:
    """Returns a float that is infinite or no number; None of anything else."""
    if isinstance(value, numbers.Real) and not isinstance(value, (Real, int, Fraction)):
        number = float(value)
        return None if math.isfinite(number) else number
    return None


Signs = Callable[[Formula], int]


class Real:
    """What stands for a float in traced code: an exact number; `signs` decides its sign over the domain."""

    __slots__ = ("formula", "signs")

    def __init__(self, formula: Formula, signs: Signs) -> None:
        self.formula = formula
        self.signs = signs

    def _of(self, formula: Formula) -> Real:
        return Real(formula, self.signs)

    def _with(self, other: Any, operation: Callable[[Formula, Formula], Formula], native: Any) -> Any:
        found = exact(other)
        if found is not None:
            return self._of(operation(self.formula, found))
        number = infinite(other)
        if number is not None:
            return native(float(self._sign()), number)
        return NotImplemented

    def _sign(self) -> int:
        return self.signs(self.formula)

    def __add__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a + b, lambda a, b: a + b)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a - b, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: b - a, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a * b, lambda a, b: a * b)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a / b, lambda a, b: a / b)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: b / a, lambda a, b: b / a)

    def _rational(self, what: str) -> Fraction:
        number = self.formula.number
        if number is None:
            raise Refused(
                f"{what} of the exact number {self.formula.text} is not supported: make it an argument"
            )
        return number

    def __floordiv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: Formula.of(floor_of(a / b, self.signs)), lambda a, b: a // b)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: Formula.of(floor_of(b / a, self.signs)), lambda a, b: b // a)

    def __mod__(self, other: Any) -> Any:
        def rest(a: Formula, b: Formula) -> Formula:
            return a - b * Formula.of(floor_of(a / b, self.signs))

        number = infinite(other)
        if number is not None and not math.isnan(number) and self._sign() * number >= 0:
            return self  # nothing is taken off
        return self._with(other, rest, lambda a, b: a % b)

    def __rmod__(self, other: Any) -> Any:
        def rest(a: Formula, b: Formula) -> Formula:
            return b - a * Formula.of(floor_of(b / a, self.signs))

        return self._with(other, rest, lambda a, b: b % a)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        power = exact(other)
        if infinite(other) is not None:
            raise Refused("a power with an infinite exponent is not supported: test the exponent first")
        if power is None or modulus is not None:
            return NotImplemented
        return self._of(powered(self.formula, power))

    def __rpow__(self, other: Any) -> Any:
        base = exact(other)
        if infinite(other) is not None:
            raise Refused("a power of an infinite number is not supported: test the number first")
        return NotImplemented if base is None else self._of(powered(base, self.formula))

    def __neg__(self) -> Real:
        return self._of(-self.formula)

    def __pos__(self) -> Real:
        return self

    def __abs__(self) -> Real:
        return -self if self._sign() < 0 else self

    def _compared(self, other: Any, test: Callable[[int], bool], native: Any) -> Any:
        found = exact(other)
        if found is not None:
            return test(self.signs(self.formula - found))
        number = infinite(other)
        if number is not None:
            return native(0.0, number)
        return NotImplemented

    def __lt__(self, other: Any) -> Any:
        return self._compared(other, lambda s: s < 0, lambda a, b: a < b)

    def __le__(self, other: Any) -> Any:
        return self._compared(other, lambda s: s <= 0, lambda a, b: a <= b)

    def __gt__(self, other: Any) -> Any:
        return self._compared(other, lambda s: s > 0, lambda a, b: a > b)

    def __ge__(self, other: Any) -> Any:
        return self._compared(other, lambda s: s >= 0, lambda a, b: a >= b)

    def __eq__(self, other: object) -> Any:
        return self._compared(other, lambda s: s == 0, lambda a, b: a == b)

    def __ne__(self, other: object) -> Any:
        return self._compared(other, lambda s: s != 0, lambda a, b: a != b)

    def __hash__(self) -> int:
        number = self._rational("the hash")
        rounded = float(number)
        return hash(rounded if math.isfinite(rounded) and Floats.number(rounded) == number else number)

    def __bool__(self) -> bool:
        return self._sign() != 0

    def __float__(self) -> float:
        return float(self._rational("the rounded value"))

    def __floor__(self) -> int:
        return floor_of(self.formula, self.signs)

    def __ceil__(self) -> int:
        return -floor_of(-self.formula, self.signs)

    def __trunc__(self) -> int:
        return self.__floor__() if self._sign() >= 0 else self.__ceil__()

    __int__ = __trunc__

    def __round__(self, digits: int | None = None) -> Any:
        scale = Formula.of(Fraction(10) ** (digits or 0))
        twice = self.formula * scale + Formula.of(Fraction(1, 2))
        low = floor_of(twice, self.signs)
        if self.signs(twice - Formula.of(low)) == 0 and low % 2:  # halfway between two: the even one
            low -= 1
        return low if digits is None else self._of(Formula.of(low) / scale)

    def is_integer(self) -> bool:
        """Tells whether it is a whole number."""
        return self.signs(self.formula - Formula.of(floor_of(self.formula, self.signs))) == 0

    def __repr__(self) -> str:
        return repr(float(self))

    def __str__(self) -> str:
        return repr(float(self))

    def __format__(self, spec: str) -> str:
        return format(float(self), spec)

    def __copy__(self) -> Real:
        return self

    def __deepcopy__(self, memo: object) -> Real:
        return self

    # what numpy calls on each entry of an array of objects
    def exp(self) -> Real:
        """Returns its exponential."""
        return self._of(exponential(self.formula))

    def log(self) -> Real:
        """Returns its natural logarithm."""
        return self._of(natural_logarithm(self.formula))

    def floor(self) -> int:
        """Returns the largest whole number that is not larger."""
        return self.__floor__()

    def ceil(self) -> int:
        """Returns the smallest whole number that is not smaller."""
        return self.__ceil__()

    def rint(self) -> int:
        """Returns the nearest whole number."""
        found: int = self.__round__()
        return found

    def sqrt(self) -> Real:
        """Returns its square root."""
        return self._of(powered(self.formula, Formula.of(Fraction(1, 2))))

    def conjugate(self) -> Real:
        """Returns itself."""
        return self


numbers.Real.register(Real)
Real.__name__ = "float"  # in the texts of errors


def natural_logarithm(value: Formula) -> Formula:
    """Returns the logarithm of a formula.

    Raises:
        Refused: it is not linear in the parameters with rational coefficients.
    """
    found = logarithm(value)
    if found is None:
        raise Refused(
            f"log({value.text}) has no exact value here: write the decimal number, or make it an "
            "argument; only "
            "logarithms of 1, of exponentials and of uniform draws are supported"
        )
    return found


def powered(base: Formula, power: Formula) -> Formula:
    """Returns a power: a whole one, that of an exponential, or a rational root that is rational.

    Raises:
        Refused: another one.
    """
    found = exact_power(base, power)
    if found is None:
        raise Refused(
            f"({base.text}) ** ({power.text}) has no exact value here: use whole powers, "
            "or write the decimal number"
        )
    return found


def exact_power(base: Formula, power: Formula) -> Formula | None:
    """Returns the same, or None of another one."""
    count = power.number
    if count is not None and count.denominator == 1:
        if abs(count) > MOST_POWER:
            raise Refused(f"the power {count} is too large: powers up to {MOST_POWER} are supported")
        return base.power(int(count))
    logged = logarithm(base)
    if logged is not None:
        exponent = logged * power
        return exponential(exponent) if is_linear(exponent) else None
    number = base.number
    if count is not None and number is not None and number >= 0 and count.denominator <= MOST_POWER:
        above = _root(number.numerator, count.denominator)
        below = _root(number.denominator, count.denominator)
        if above is not None and below is not None and (above or count > 0):
            return exact_power(Formula.of(Fraction(above, below)), Formula.of(count.numerator))
    return None


def _root(number: int, degree: int) -> int | None:
    """Returns the root of a whole number that is not negative, if it is whole; else None."""
    low, high = 0, 1 << (number.bit_length() // degree + 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**degree <= number else (low, middle - 1)
    return low if low**degree == number else None


def floor_of(value: Formula, signs: Signs) -> int:
    """Returns the largest whole number that is not larger, which must be the same on the whole domain."""
    number = value.number
    if number is not None:
        return math.floor(number)
    guess = math.floor(value.value(dict.fromkeys(value.names, 1.0)))
    for low in (guess, guess - 1, guess + 1):
        if signs(value - Formula.of(low)) >= 0 > signs(value - Formula.of(low + 1)):
            return low
    raise Refused(
        f"the whole part of {value.text} depends on the parameters, which is not supported: make it "
        "an argument"
    )
