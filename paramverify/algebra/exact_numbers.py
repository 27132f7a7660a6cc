"""Exact real numbers as Python numbers: rational, algebraic, made of exp(q), logarithms, and infinity."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, SupportsFloat

from paramverify.algebra import exact_values as values
from paramverify.algebra.decimals import decimal_text, relation
from paramverify.algebra.exact_values import FIRST_BITS, Finite, Logarithm
from paramverify.algebra.number_texts import in_sympy
from paramverify.algebra.realroots import RealRoot
from paramverify.algebra.reals import Real
from paramverify.errors import LimitError, UnsupportedError

DIGITS = 12  # of the decimal in a `repr`
PRECISE = 64  # bits of the number that it rounds, relative to its size


class ExactNumber:
    """An exact real number, or infinity.

    It compares with numbers of Python as they do with each other: `x == 8`, `x < Fraction(1, 3)`,
    `x == 0.5`. A float is the binary number that it is, so `x == 0.1` is False for one tenth, and `nan` is
    equal to nothing. Equal numbers have equal hashes, those of sympy excepted. `float(x)` is the nearest
    float, `str(x)` the exact number as text, and `Fraction(x)` the number where it is rational; it is a
    TypeError elsewhere.

    `+ - * /` and whole powers are exact: with rationals always, between two numbers where the result is one
    of the kinds above. With a float the result is a float.

    Raises:
        UnsupportedError: an operation whose result is none of the kinds, such as sqrt(2) + exp(1).
        LimitError: two numbers that are too near to each other to be told apart.
    """

    __slots__ = ("_value",)
    __array_ufunc__ = None  # numpy leaves operations to this class
    _value: Finite | None

    def __init__(self, value: ExactNumber | Finite | float | Decimal | None) -> None:
        found = value._value if isinstance(value, ExactNumber) else _value_of(value)
        self._value = found
        if isinstance(found, Fraction) and type(self) is ExactNumber:
            self.__class__ = RationalNumber

    @staticmethod
    def ln(value: ExactNumber) -> ExactNumber:
        """Returns the natural logarithm of a positive number, or of infinity.

        Raises:
            ValueError: the number is not positive.
        """
        found = value._value
        return value if found is None else ExactNumber(values.logarithm(found))

    # --- what it is ------------------------------------------------------------------------------------

    @property
    def is_rational(self) -> bool:
        """Whether it is a rational number; then `Fraction(x)` is that number."""
        return isinstance(self._value, Fraction)

    @property
    def is_infinite(self) -> bool:
        """Whether it is infinity."""
        return self._value is None

    @property
    def fraction(self) -> Fraction:
        """The number as a fraction.

        Raises:
            ValueError: it is not rational.
        """
        if not isinstance(self._value, Fraction):
            raise ValueError(f"{self} is not rational: float(...) and enclosure(...) give numbers near it")
        return self._value

    def _sympy_(self) -> Any:
        """Returns the number as sympy has it."""
        import sympy

        if self._value is None:
            return sympy.oo
        if isinstance(self._value, Logarithm):
            return sympy.log(in_sympy(self._value.argument))
        return in_sympy(self._value)

    def as_integer_ratio(self) -> tuple[int, int]:
        """Returns numerator and denominator; raises a ValueError where it is not rational."""
        return self.fraction.as_integer_ratio()

    def enclosure(self, bits: int = FIRST_BITS) -> tuple[Fraction, Fraction]:
        """Returns fractions a and b with a ≤ x ≤ b, which come together as the bits grow.

        Raises:
            ValueError: it is infinite.
        """
        if self._value is None:
            raise ValueError("infinity lies between no two numbers")
        return values.enclosure(self._value, bits)

    def __float__(self) -> float:
        if self._value is None:
            return math.inf
        for low, high in values.enclosures(self._value):
            if float(low) == float(high):
                return float(low)
        raise LimitError(f"{self} is too near to the middle of two floats")

    def __bool__(self) -> bool:
        return self._value != 0

    def __str__(self) -> str:
        if self._value is None:
            return "infinity"
        return values.text(self._value)

    def __repr__(self) -> str:
        if self._value is None or (isinstance(self._value, Fraction) and self._value.denominator == 1):
            return f"ExactNumber({self})"
        low, high = values.precise(self._value, PRECISE)
        if low == high:
            return f"ExactNumber({self} {relation(low, DIGITS)})"
        return f"ExactNumber({self} ≈ {decimal_text((low + high) / 2, DIGITS)})"

    # --- comparison ------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        found = _other(other)
        return NotImplemented if found is NotImplemented else self._against(found) == 0

    def __lt__(self, other: ExactNumber | SupportsFloat) -> bool:
        return self._ordered(other, lambda sign: sign < 0)

    def __le__(self, other: ExactNumber | SupportsFloat) -> bool:
        return self._ordered(other, lambda sign: sign <= 0)

    def __gt__(self, other: ExactNumber | SupportsFloat) -> bool:
        return self._ordered(other, lambda sign: sign > 0)

    def __ge__(self, other: ExactNumber | SupportsFloat) -> bool:
        return self._ordered(other, lambda sign: sign >= 0)

    def __hash__(self) -> int:
        return hash(math.inf) if self._value is None else values.hash_of(self._value)

    def _ordered(self, other: object, wanted: Callable[[int], bool]) -> bool:
        found = _other(other)
        if found is NotImplemented:
            unknown: bool = NotImplemented
            return unknown
        sign = self._against(found)
        return sign is not None and wanted(sign)

    def _against(self, other: Finite | float) -> int | None:
        """Returns -1, 0 or 1; None for a number that is none."""
        if isinstance(other, float):
            if math.isnan(other):
                return None
            own = math.inf if self._value is None else 0.0
            return (own > other) - (own < other)
        return 1 if self._value is None else values.compare(self._value, other)

    # --- arithmetic ------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Any:
        return self._with(other, values.add, lambda a, b: a + b)

    def __radd__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: values.add(b, a), lambda a, b: b + a)

    def __sub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: values.add(a, values.negative(b)), lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: values.add(b, values.negative(a)), lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        return self._with(other, values.multiply, lambda a, b: a * b)

    def __rmul__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: values.multiply(b, a), lambda a, b: b * a)

    def __truediv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: values.multiply(a, values.inverse(b)), lambda a, b: a / b)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: values.multiply(b, values.inverse(a)), lambda a, b: b / a)

    def __pow__(self, power: Any) -> Any:
        """Returns a whole power; with a float it is a float."""
        if isinstance(power, float):
            return float(self) ** power
        if not isinstance(power, int):
            return NotImplemented
        return ExactNumber(values.raised(self._finite(), power))

    def __neg__(self) -> ExactNumber:
        return ExactNumber(values.negative(self._finite()))

    def __pos__(self) -> ExactNumber:
        return self

    def __abs__(self) -> ExactNumber:
        return -self if self < 0 else self

    def _with(
        self,
        other: object,
        exact: Callable[[Finite, Finite], Finite],
        rounded: Callable[[float, float], float],
    ) -> Any:
        if isinstance(other, float):
            return rounded(float(self), float(other))
        found = _other(other)
        if found is NotImplemented:
            return NotImplemented
        if isinstance(other, ExactNumber):
            return ExactNumber(exact(self._finite(), other._finite()))
        if isinstance(found, float):  # of another type than float: infinity or nan
            return rounded(float(self), found)
        return ExactNumber(exact(self._finite(), found))

    def _finite(self) -> Finite:
        if self._value is None:
            raise UnsupportedError("infinity is no number to calculate with")
        return self._value


class RationalNumber(ExactNumber):
    """An exact number that is rational, which `Fraction` reads."""

    __slots__ = ()

    @property
    def numerator(self) -> int:
        """The numerator in lowest terms."""
        return self.fraction.numerator

    @property
    def denominator(self) -> int:
        """The denominator in lowest terms, which is positive."""
        return self.fraction.denominator


numbers.Rational.register(RationalNumber)


def _value_of(value: object) -> Finite | None:
    """Returns a number of this package or of Python, in the simplest kind that has it; None is infinity."""
    if value is None:
        return None
    if isinstance(value, (RealRoot, Real)):
        return values.simplest(value)
    if isinstance(value, Logarithm):
        return value
    found = _other(value)
    if found is NotImplemented:
        raise TypeError(f"{value!r} is no number")
    if isinstance(found, float):
        if found == math.inf:
            return None
        raise ValueError(f"{value!r} is no number that is exact here")
    exact: Finite = found
    return exact


def _other(value: object) -> Any:
    """Returns a finite number exactly; infinities and nan as float; NotImplemented for what is no number."""
    if isinstance(value, ExactNumber):
        return math.inf if value._value is None else value._value
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, (numbers.Real, Decimal)) and hasattr(value, "as_integer_ratio"):
        try:
            return Fraction(*map(int, value.as_integer_ratio()))
        except (ValueError, OverflowError):  # nan, infinity
            return float(value)
    return NotImplemented
