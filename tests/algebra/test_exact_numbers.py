"""Exact numbers as Python numbers, against fractions, sympy and mpmath at many digits."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
import sympy
from flint import fmpq_poly, fmpz_poly
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf
from strategies import FEW

from paramverify.algebra.constants import ExpConstant
from paramverify.algebra.exact_numbers import ExactNumber, RationalNumber
from paramverify.algebra.real_roots import isolate
from paramverify.algebra.reals import Real
from paramverify.errors import LimitError, UnsupportedError

X = sympy.Symbol("x")
DIGITS = 80
HALF = ExpConstant(Fraction(1, 2))
ONE = fmpq_poly([1])


def roots(*coefficients: int) -> list[ExactNumber]:
    """Returns the real roots of a polynomial, the constant coefficient first."""
    return [ExactNumber(r) for r in isolate(fmpz_poly(list(coefficients)), Fraction(-100), Fraction(100))]


def exponential(
    *coefficients: int, of: Fraction = Fraction(1, 2), over: tuple[int, ...] = (1,)
) -> ExactNumber:
    """Returns a quotient of polynomials in exp(of)."""
    return ExactNumber(Real.of(fmpq_poly(list(coefficients)), fmpq_poly(list(over)), ExpConstant(of)))


ROOT2 = roots(-2, 0, 1)[1]
CUBIC = roots(-1, -1, 0, 1)[0]
E = exponential(0, 1, of=Fraction(1))

VALUES: list[tuple[ExactNumber, Any]] = [
    (ExactNumber(Fraction(24, 7)), sympy.Rational(24, 7)),
    (ExactNumber(-3), sympy.Integer(-3)),
    (ROOT2, sympy.sqrt(2)),
    (roots(-2, 0, 1)[0], -sympy.sqrt(2)),
    (roots(-19, 0, 100)[1], sympy.sqrt(19) / 10),
    (roots(-1, -1, 1)[1], (1 + sympy.sqrt(5)) / 2),
    (roots(-1, -1, 1)[0], (1 - sympy.sqrt(5)) / 2),
    (CUBIC, sympy.rootof(X**3 - X - 1, 0)),
    (roots(1, -3, 0, 1)[1], sympy.rootof(X**3 - 3 * X + 1, 1)),
    (exponential(0, 1), sympy.exp(sympy.Rational(1, 2))),
    (exponential(-1, 0, 3), 3 * sympy.exp(1) - 1),
    (exponential(1, over=(2, 1)), 1 / (sympy.exp(sympy.Rational(1, 2)) + 2)),
    (ExactNumber.ln(ExactNumber(2)), sympy.log(2)),
    (ExactNumber.ln(ROOT2), sympy.log(2) / 2),
    (ExactNumber.ln(exponential(0, 2)), sympy.log(2) + sympy.Rational(1, 2)),
]


@cache
def digits(value: Any) -> mpf:
    """Returns a number of sympy with many digits, by mpmath."""
    with mp.workdps(DIGITS):
        return mpf(str(sympy.N(value, DIGITS)))


@pytest.mark.parametrize(("number", "value"), VALUES, ids=lambda v: str(v))
def test_a_number_is_what_sympy_says(number: ExactNumber, value: Any) -> None:
    """Its float is the nearest one, its enclosure has the number inside, and sympy takes it over exactly."""
    many = digits(value)
    assert float(number) == float(many)
    with mp.workdps(DIGITS):
        low, high = (mpf(end.numerator) / end.denominator for end in number.enclosure(200))
        assert low - mpf(10) ** -70 <= many <= high + mpf(10) ** -70
        assert high - low < mpf(10) ** -50
    assert abs(sympy.N(sympy.sympify(number) - value, 60)) < 1e-55
    text = str(number)
    if not text.startswith("root of"):
        assert sympy.simplify(sympy.sympify(text) - value) == 0
    assert "\n" not in repr(number)


@pytest.mark.slow
@pytest.mark.parametrize("left", range(len(VALUES)))
def test_the_order_is_that_of_the_digits(left: int) -> None:
    """Two numbers of any kinds compare as 80 digits of them do; equal ones have equal hashes."""
    a, first = VALUES[left]
    for right, (b, second) in enumerate(VALUES):
        with mp.workdps(DIGITS):
            difference = digits(first) - digits(second)
        sign = 0 if left == right or abs(difference) < mpf(10) ** -60 else (1 if difference > 0 else -1)
        assert (a == b) == (sign == 0)
        assert (a < b) == (sign < 0)
        assert (a <= b) == (sign <= 0)
        assert (a > b) == (sign > 0)
        assert (a >= b) == (sign >= 0)
        assert (hash(a) == hash(b)) or sign


@pytest.mark.slow
@pytest.mark.parametrize("operation", [operator.add, operator.sub, operator.mul, operator.truediv])
def test_algebraic_numbers_are_a_field(operation: Callable[[Any, Any], Any]) -> None:
    """Sums, differences, products and quotients of algebraic numbers are those of 80 digits, and exact."""
    back = {operator.add: operator.sub, operator.sub: operator.add, operator.mul: operator.truediv}
    for (a, first), (b, second) in product(VALUES[:9], repeat=2):
        found = operation(a, b)
        low, high = found.enclosure(250)
        with mp.workdps(DIGITS):
            wanted = operation(digits(first), digits(second))
            assert abs(mpf(low.numerator) / low.denominator - wanted) < mpf(10) ** -60
            assert abs(mpf(high.numerator) / high.denominator - wanted) < mpf(10) ** -60
        assert back.get(operation, operator.mul)(found, b) == a


@pytest.mark.parametrize("number", [v for v, _ in VALUES], ids=str)
@pytest.mark.parametrize("other", [3, Fraction(-2, 7)])
def test_arithmetic_with_rationals(number: ExactNumber, other: Any) -> None:
    """Every kind has sums, products and quotients with rationals; logarithms have fewer, and say so."""
    value = float(number)
    if str(number) == "ln(sqrt(2))":
        with pytest.raises(UnsupportedError, match="cannot be represented exactly"):
            number + other
        return
    assert float(number + other) == pytest.approx(value + other)
    assert float(other - number) == pytest.approx(other - value)
    assert number + other - other == number
    if "ln" not in str(number):
        assert float(number * other) == pytest.approx(value * other)
        assert float(other / number) == pytest.approx(other / value)
        assert number * other / other == number
        assert number**-2 == 1 / (number * number)
    elif other == 3:
        assert float(number * 3) == pytest.approx(3 * value)
    else:
        with pytest.raises(UnsupportedError, match="cannot be represented exactly"):
            number * other


def test_rational_numbers_are_rational() -> None:
    """They are numbers.Rational, so Fraction reads them; others say that they are not rational."""
    eight = ExactNumber(8)
    assert isinstance(eight, RationalNumber)
    assert eight == 8 == Fraction(8) == eight
    assert Fraction(eight / 3) == Fraction(8, 3)
    assert {eight: 1}[8] == {8: 1}[eight] == 1
    assert (str(eight), repr(eight)) == ("8", "ExactNumber(8)")
    assert (Fraction(1, 2) + eight, eight - Fraction(1, 2)) == (Fraction(17, 2), Fraction(15, 2))
    assert ROOT2**2 == 2
    assert Fraction(ROOT2**2) == 2
    with pytest.raises(TypeError):
        Fraction(ROOT2)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match=r"sqrt\(2\) is not rational"):
        _ = ROOT2.fraction
    with pytest.raises(ZeroDivisionError):
        eight / 0


def test_floats_are_the_binary_numbers_that_they_are() -> None:
    """One tenth is no float; nan is equal to nothing and in no order; infinity is beyond all."""
    tenth, nan = ExactNumber(Fraction(1, 10)), float("nan")
    assert tenth != 0.1
    assert tenth < 0.1
    assert ExactNumber(0.1) == 0.1 == ExactNumber(0.1)
    assert ExactNumber(0.1) == Fraction(0.1)
    assert ExactNumber(0.5) == 0.5
    assert hash(ExactNumber(0.1)) == hash(0.1)
    for number in (tenth, ROOT2, E, ExactNumber.ln(E + 1), ExactNumber(None)):
        assert number != nan
        assert not any(f(number, nan) for f in (operator.lt, operator.le, operator.gt, operator.ge))
        assert number > -math.inf
        assert number <= math.inf
        assert (number == math.inf) == number.is_infinite
    assert math.sqrt(2) != ROOT2
    assert math.nextafter(math.sqrt(2), 0) < ROOT2 < math.sqrt(2)
    with pytest.raises(ValueError, match="cannot be represented exactly"):
        ExactNumber(nan)
    assert isinstance(ROOT2 + 0.5, float)
    assert 0.5 * math.sqrt(2) == 0.5 * ROOT2


def test_infinity() -> None:
    """It is a float's infinity, has a logarithm, and no arithmetic."""
    infinite = ExactNumber(None)
    assert infinite == math.inf == float(infinite)
    assert hash(infinite) == hash(math.inf)
    assert infinite > 10**400
    assert ExactNumber.ln(infinite) == infinite
    assert (str(infinite), repr(infinite)) == ("infinity", "ExactNumber(infinity)")
    with pytest.raises(UnsupportedError, match="infinity is not supported in calculations"):
        infinite - infinite
    with pytest.raises(ValueError, match="infinity"):
        infinite.enclosure()


def test_numbers_of_other_kinds() -> None:
    """Truth values, huge whole numbers, decimals, and scalars of numpy and sympy, on both sides."""
    one, huge = ExactNumber(1), ExactNumber(10**400)
    assert one == True  # noqa: E712
    assert huge == 10**400 == huge
    assert huge > 1e308
    assert hash(huge) == hash(10**400)
    with pytest.raises(OverflowError):
        float(huge)
    assert ExactNumber(Fraction(1, 4)) == Decimal("0.25")
    assert one != Decimal("nan")
    for kind in (np.float64, np.float32, np.int64, np.longdouble):
        assert kind(1) == one == kind(1)
        assert kind(2) > one
        assert kind(1) < ROOT2
        assert kind(1) < ROOT2
    assert np.float32(0.1) == ExactNumber(np.float32(0.1))
    assert np.float32(0.1) != ExactNumber(0.1)
    assert sympy.Rational(1, 3) == ExactNumber(Fraction(1, 3)) == sympy.Rational(1, 3)
    assert sympy.Integer(8) == ExactNumber(8)
    assert (ROOT2 == "1") is False
    assert ROOT2 != None  # noqa: E711
    with pytest.raises(TypeError):
        _ = ROOT2 < "2"  # type: ignore[operator]
    with pytest.raises(TypeError, match="is not a number"):
        ExactNumber("2")  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("digit", [20, 120])
def test_algebraic_numbers_that_are_near_to_each_other(digit: int) -> None:
    """sqrt(2) and a root of another polynomial next to it are told apart, and so is a rational."""
    near = Fraction(math.isqrt(2 * 10 ** (2 * digit)), 10**digit)
    assert near < ROOT2 < near + Fraction(1, 10**digit)
    assert near != ROOT2
    square = 2 + Fraction(1, 10**digit)
    (_, other) = [
        ExactNumber(r)
        for r in isolate(fmpz_poly([-square.numerator, 0, square.denominator]), Fraction(-2), Fraction(2))
    ]
    assert other > ROOT2
    assert hash(ROOT2) != hash(other)
    assert other - ROOT2 > 0
    assert other**2 - 2 == Fraction(1, 10**digit)


def test_one_number_from_several_sides() -> None:
    """A number is the same one as a root of another polynomial's factor, and over another generator."""
    (_, again) = [
        ExactNumber(r) for r in isolate(fmpz_poly([-6, 0, 5, 0, -1]), Fraction(-3, 2), Fraction(3, 2))
    ]
    assert again == ROOT2
    assert hash(again) == hash(ROOT2)
    whole, half = exponential(0, 1, of=Fraction(1)), exponential(0, 0, 1)
    assert whole == half
    assert hash(whole) == hash(half)
    assert whole - half == 0
    third = exponential(0, 1, of=Fraction(1, 3))
    assert third**3 == whole
    assert hash(third**3) == hash(whole)
    assert ExactNumber.ln(whole) == 1
    assert hash(ExactNumber.ln(ExactNumber(4))) == hash(2 * ExactNumber.ln(ExactNumber(2)))


def test_what_there_is_no_arithmetic_for() -> None:
    """It is an error that names both numbers."""
    with pytest.raises(UnsupportedError, match=r"\(sqrt\(2\)\) \+ \(exp\(1\)\)"):
        ROOT2 + E
    with pytest.raises(UnsupportedError, match="ln"):
        1 / ExactNumber.ln(ExactNumber(2))
    with pytest.raises(UnsupportedError, match="ln"):
        ExactNumber.ln(ExactNumber.ln(ExactNumber(3)))
    with pytest.raises(ValueError, match="not above 0"):
        ExactNumber.ln(ExactNumber(0))
    with pytest.raises(TypeError):
        ROOT2 + "1"
    assert issubclass(LimitError, RuntimeError)


@FEW
@given(st.fractions(), st.fractions(), st.floats())
def test_rationals_are_fractions(a: Fraction, b: Fraction, c: float) -> None:
    """All comparisons and operations of rational numbers are those of fractions, with floats too."""
    first, second = ExactNumber(a), ExactNumber(b)
    for compare in (operator.eq, operator.lt, operator.le, operator.gt, operator.ge):
        assert compare(first, second) == compare(a, b) == compare(first, b) == compare(a, second)
        assert compare(first, c) == compare(a, c)
        assert compare(c, first) == compare(c, a)
    assert (first + second, first - second, first * second) == (a + b, a - b, a * b)
    assert hash(first) == hash(a)
    assert str(first) == str(a)
    assert float(first) == float(a)
    assert (bool(first), abs(first), -first) == (bool(a), abs(a), -a)


@FEW
@given(st.fractions(-3, 3), st.integers(-4, 4), st.integers(1, 5))
def test_square_roots_compare_as_squares(a: Fraction, b: int, c: int) -> None:
    """(b + sqrt(c))/2 < a exactly if sqrt(c) < 2a - b, which squares decide."""
    whole = math.isqrt(c) ** 2 == c
    found = roots(b * b - c, -4 * b, 4)[-1] if not whole else ExactNumber(Fraction(b + math.isqrt(c), 2))
    limit = 2 * a - b
    assert (found < a) == (limit > 0 and c < limit * limit)
    assert (found == a) == (limit >= 0 and c == limit * limit)
