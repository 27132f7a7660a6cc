"""Exact real numbers as Python numbers.

Rational, algebraic, made of exp(q), and infinity; with their arithmetic and text.

Sums, products and quotients of algebraic numbers, exact: each again a root of its minimal polynomial.

A number α that is a root of f is given by f and an interval without another root of f (`real_roots`). For a
rational q the numbers α + q, q·α and 1/α are roots of f(x − q), f(x/q) and the reversal of f. For two such
numbers, α + β is a root of Res_y(f(y), g(x − y)), and α·β one of Res_y(f(y), y^n·g(x/y)) with n the degree
of g ([Cohen93], chapter 4).

Finite exact real numbers of four kinds, and what is asked of them: arithmetic, comparison, text.

Comparisons are decided, never rounded. Two values of one kind are compared in that kind. A rational, an
irrational algebraic number, and an irrational quotient of polynomials in exp(g) are never equal: the last one
is transcendental [Lindemann82]. Nor is ln x, which is kept only where it is irrational, equal to a rational.
So shrinking enclosures tell them apart. Whether ln x and a quotient in exp(g) are equal is no theorem: where
their enclosures do not part, that is said.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import floor, lcm
from typing import Any, SupportsFloat

from flint import Ordering, arb, fmpq, fmpq_mpoly_ctx, fmpq_poly, fmpz, fmpz_poly

from paramverify.algebra.constants import (
    MAX_PRECISION,
    ExpConstant,
    LogConstant,
    Transcendental,
    generator,
    lower_bound,
    upper_bound,
    working_precision,
)
from paramverify.algebra.polynomials import Polynomial, fraction, rational
from paramverify.algebra.rationals import decimal_text, relation
from paramverify.algebra.real_roots import RealRoot, isolate, rational_root
from paramverify.algebra.real_roots import compare as compare_roots
from paramverify.algebra.reals import Real, show_polynomial
from paramverify.errors import LimitError, UnsupportedError

Ends = tuple[Fraction, Fraction]


def shifted(root: RealRoot, by: Fraction) -> RealRoot:
    """Returns α + q."""
    if root.is_rational:
        return rational_root(root.lower + by)
    moved = fmpq_poly(root.factor)(fmpq_poly([rational(-by), 1]))
    return RealRoot(_primitive(moved), 1, root.lower + by, root.upper + by)


def scaled(root: RealRoot, by: Fraction) -> RealRoot:
    """Returns q·α."""
    if root.is_rational or by == 0:
        return rational_root(root.lower * by if by else Fraction(0))
    moved = fmpq_poly(root.factor)(fmpq_poly([0, 1 / rational(by)]))
    low, high = sorted((root.lower * by, root.upper * by))
    return RealRoot(_primitive(moved), 1, low, high)


def inverse_root(root: RealRoot) -> RealRoot:
    """Returns 1/α.

    Raises:
        ZeroDivisionError: α is 0.
    """
    if root.is_rational:
        return rational_root(1 / root.lower)
    while root.lower <= 0 <= root.upper:  # an irrational number is not 0, so halving ends
        root = root.halved()
    degree = int(root.factor.degree())
    turned = fmpq_poly([root.factor[degree - k] for k in range(degree + 1)])
    return RealRoot(_primitive(turned), 1, 1 / root.upper, 1 / root.lower)


def add_roots(left: RealRoot, right: RealRoot) -> RealRoot:
    """Returns α + β."""
    if right.is_rational:
        return shifted(left, right.lower)
    if left.is_rational:
        return shifted(right, left.lower)

    def ends(a: RealRoot, b: RealRoot) -> Ends:
        return a.lower + b.lower, a.upper + b.upper

    x, y, lift = _plane()
    return _the_root(lift(left.factor).resultant(_at(right.factor, x - y, x), "y"), left, right, ends)


def multiply_roots(left: RealRoot, right: RealRoot) -> RealRoot:
    """Returns α·β."""
    if right.is_rational:
        return scaled(left, right.lower)
    if left.is_rational:
        return scaled(right, left.lower)

    def ends(a: RealRoot, b: RealRoot) -> Ends:
        found = [p * q for p in (a.lower, a.upper) for q in (b.lower, b.upper)]
        return min(found), max(found)

    x, y, lift = _plane()
    degree = int(right.factor.degree())
    turned = sum((fmpq(c) * x**k * y ** (degree - k) for k, c in enumerate(right.factor.coeffs())), 0 * x)
    return _the_root(lift(left.factor).resultant(turned, "y"), left, right, ends)


def _plane() -> tuple[Polynomial, Polynomial, Callable[[fmpz_poly], Polynomial]]:
    """Returns x and y, and what makes a polynomial one in y."""
    context = fmpq_mpoly_ctx.get(("x", "y"), Ordering.lex)

    def lift(polynomial: fmpz_poly) -> Polynomial:
        return context.from_dict({(0, k): fmpq(c) for k, c in enumerate(polynomial.coeffs())})

    return context.gen(0), context.gen(1), lift


def _at(polynomial: fmpz_poly, argument: Polynomial, zero: Polynomial) -> Polynomial:
    total = 0 * zero
    for coefficient in polynomial.coeffs()[::-1]:
        total = total * argument + fmpq(coefficient)
    return total


def _the_root(
    resultant: Polynomial, left: RealRoot, right: RealRoot, ends: Callable[[RealRoot, RealRoot], Ends]
) -> RealRoot:
    """Returns the root of a polynomial in x that lies between the ends, however near they come."""
    parts = [fmpq(0)] * (int(resultant.degrees()[0]) + 1)
    for monomial, coefficient in resultant.to_dict().items():
        parts[int(monomial[0])] = coefficient
    polynomial = _primitive(fmpq_poly(parts))
    while True:
        low, high = ends(left, right)
        found = isolate(polynomial, low, high)
        if len(found) == 1:
            one = found[0]
            return RealRoot(one.factor, 1, one.lower, one.upper)
        left, right = left.halved(), right.halved()


def _primitive(polynomial: fmpq_poly) -> fmpz_poly:
    """Returns the multiple with whole coefficients, no common divisor, and a positive leading coefficient."""
    parts = [fraction(c) for c in polynomial.coeffs()]
    scale = lcm(*(c.denominator for c in parts))
    whole = fmpz_poly([int(c * scale) for c in parts])
    whole = whole // whole.content()
    return -whole if whole.leading_coefficient() < 0 else whole


LONGEST = 128  # bits of a discriminant whose square factors are looked for


def algebraic_text(root: RealRoot) -> str:
    """Returns an irrational number: `(1 + sqrt(5))/2`, or `root of x^3 - x - 1 between 1 and 2`."""
    if root.factor.degree() == 2:
        found = _quadratic(root)
        if found:
            return found
    low, high = _ends(root)
    polynomial = show_polynomial(root.factor, "x").replace(" 1*", " ")
    return f"root of {polynomial} between {low} and {high}"


def exponential_text(value: Real) -> str:
    """Returns an irrational quotient of polynomials in exp(g), with each power of it as `exp(q)`."""
    if not isinstance(value.constant, ExpConstant):
        return str(value)
    exponent = value.constant.exponent
    top, bottom = value.numerator, value.denominator
    shared = min(_lowest(top), _lowest(bottom))
    if shared == _lowest(bottom) == int(bottom.degree()):  # one term: each exponent of the top minus its own
        return _sum(top / bottom[shared], exponent, shared)
    scale = lcm(*(fraction(c).denominator for p in (top, bottom) for c in p.coeffs()))
    above, below = (_sum(p * scale, exponent, 0) for p in (top, bottom))
    above, below = (f"({part})" if " " in part or "*" in part else part for part in (above, below))
    return f"{above}/{below}"


def _lowest(polynomial: fmpq_poly) -> int:
    return next((k for k, c in enumerate(polynomial.coeffs()) if c), 0)


def _sum(polynomial: fmpq_poly, exponent: Fraction, less: int) -> str:
    terms = []
    for k in range(int(polynomial.degree()), -1, -1):
        factor, power = fraction(polynomial[k]), exponent * (k - less)
        if factor:
            size = abs(factor)
            name = f"exp({power})" if power else ""
            shown = "*".join([*([str(size)] if size != 1 or not name else []), *([name] if name else [])])
            terms += ["-" if factor < 0 else "+", shown]
    first = "-" if terms[0] == "-" else ""
    return first + " ".join(terms[1:])


def _quadratic(root: RealRoot) -> str:
    """Returns a root of a·x² + b·x + c in radicals; nothing where the numbers are too large."""
    c, b, a = (int(root.factor[k]) for k in range(3))
    whole = b * b - 4 * a * c
    if whole.bit_length() > LONGEST:
        return ""
    square, rest = 1, 1
    for prime, power in fmpz(whole).factor():
        square *= int(prime) ** (int(power) // 2)
        rest *= int(prime) ** (int(power) % 2)
    middle, size = Fraction(-b, 2 * a), Fraction(square, 2 * abs(a))
    while root.lower <= middle <= root.upper:
        root = root.halved()
    if root.upper < middle:
        size = -size
    bottom = lcm(middle.denominator, size.denominator)
    first, factor = int(middle * bottom), int(size * bottom)
    radical = f"sqrt({rest})" if abs(factor) == 1 else f"{abs(factor)}*sqrt({rest})"
    if first:
        radical = f"{first} {'-' if factor < 0 else '+'} {radical}"
        return f"({radical})/{bottom}" if bottom != 1 else radical
    radical = f"-{radical}" if factor < 0 else radical
    return f"{radical}/{bottom}" if bottom != 1 else radical


def _ends(root: RealRoot) -> tuple[Fraction, Fraction]:
    """Returns short fractions between which the polynomial has this root and no other."""
    scale = 1
    while True:
        small = root.refined(Fraction(1, 4 * scale))
        low = Fraction(floor(small.lower * scale), scale)
        high = low + Fraction(1, scale)
        while high < small.upper:
            high += Fraction(1, scale)
        if len(isolate(root.factor, low, high)) == 1:
            return low, high
        scale *= 10


def in_sympy(value: Fraction | RealRoot | Real) -> Any:
    """Returns a number as an expression of sympy, exactly."""
    import sympy

    if isinstance(value, Fraction):
        return sympy.Rational(value.numerator, value.denominator)
    if isinstance(value, RealRoot):
        parts = [sympy.Integer(int(c)) for c in value.factor.coeffs()[::-1]]
        bound = max(abs(int(c)) for c in value.factor.coeffs()) + 1  # Cauchy's bound on all roots
        below = isolate(value.factor, Fraction(-bound), value.lower)
        return sympy.rootof(sympy.Poly(parts, sympy.Symbol("x")), len(below))
    assert value.constant is not None
    number = value.constant
    if isinstance(number, ExpConstant):
        generator = sympy.exp(in_sympy(number.exponent))
    else:
        generator = sympy.log(in_sympy(number.base))

    def total(polynomial: fmpq_poly) -> Any:
        terms = (in_sympy(fraction(c)) * generator**k for k, c in enumerate(polynomial.coeffs()))
        return sympy.Add(*terms)

    return total(value.numerator) / total(value.denominator)


FIRST_BITS = 64


@dataclass(frozen=True, eq=False)
class Logarithm:
    """ln x for a positive x, where that is irrational."""

    argument: Fraction | RealRoot | Real


Finite = Fraction | RealRoot | Real | Logarithm


# --- comparison ------------------------------------------------------------------------------------------


def compare(left: Finite, right: Finite) -> int:
    match left, right:
        case Fraction(), Fraction():
            return (left > right) - (left < right)
        case RealRoot(), RealRoot():
            return compare_roots(left, right)
        case Real(), Real():
            return _difference(left, right).sign()
        case Logarithm(), Logarithm():
            return compare(left.argument, right.argument)
    for (low, high), (least, most) in zip(enclosures(left), enclosures(right), strict=False):
        if high < least or most < low:
            return -1 if high < least else 1
    raise LimitError(f"{text(left)} and {text(right)} are too close to each other to be compared")


def _difference(left: Real, right: Real) -> Real:
    first, second = _alike(left, right)
    return first - second


def hash_of(value: Finite) -> int:
    match value:
        case Fraction():
            return hash(value)
        case RealRoot():
            return hash(tuple(int(c) for c in value.factor.coeffs()))
        case Logarithm():
            return hash(("ln", hash_of(value.argument)))
    if not isinstance(value.constant, ExpConstant):
        return hash(value.describe())
    parts = [value.numerator.coeffs(), value.denominator.coeffs()]
    step = math.gcd(*(k for part in parts for k, c in enumerate(part) if c))  # E^step is the least generator
    told = tuple(tuple(str(c) for c in part[::step]) for part in parts)
    return hash((value.constant.exponent * step, told))


def enclosures(value: Finite) -> Iterator[tuple[Fraction, Fraction]]:
    """Yields enclosures that shrink, up to the largest precision."""
    bits = FIRST_BITS
    while bits <= MAX_PRECISION:
        yield enclosure(value, bits)
        bits *= 2


def precise(value: Finite, bits: int) -> tuple[Fraction, Fraction]:
    """Returns an enclosure that is no wider than the number over 2^bits, so it has the sign of it.

    Raises:
        LimitError: the number is too near to 0.
    """
    for low, high in enclosures(value):
        if high - low <= min(abs(low), abs(high)) / 2**bits:
            return low, high
    raise LimitError(f"{text(value)} is too close to 0 to be rounded")


def enclosure(value: Finite, bits: int) -> tuple[Fraction, Fraction]:
    match value:
        case Fraction():
            return value, value
        case RealRoot():
            small = value.precise(bits)
            return small.lower, small.upper
        case Logarithm():
            low, high = enclosure(value.argument, bits)
            while low <= 0:  # the number is positive
                bits *= 2
                low, high = enclosure(value.argument, bits)
            with working_precision(bits):
                below, above = (arb(rational(end)).log() for end in (low, high))
                return lower_bound(below), upper_bound(above)
    while True:
        try:
            return value.enclosure(bits)
        except ValueError:  # the enclosure of the denominator still has 0 in it
            bits *= 2


# --- arithmetic ------------------------------------------------------------------------------------------


def add(left: Finite, right: Finite) -> Finite:
    match left, right:
        case Fraction(), Fraction():
            return left + right
        case (Fraction() | RealRoot(), Fraction() | RealRoot()):
            return simplest(add_roots(_root(left), _root(right)))
        case (Fraction() | Real(), Fraction() | Real()):
            first, second = _alike(left, right)
            return simplest(first - Real(-second.numerator, second.denominator, second.constant))
        case Logarithm(), Logarithm():
            return logarithm(multiply(left.argument, right.argument))
        case (Logarithm(), Fraction()) | (Fraction(), Logarithm()):
            log, number = (left, right) if isinstance(left, Logarithm) else (right, left)
            assert isinstance(log, Logarithm)
            assert isinstance(number, Fraction)
            return logarithm(multiply(log.argument, _exp(number)))
    raise _beyond(left, right, "+")


def multiply(left: Finite, right: Finite) -> Finite:
    match left, right:
        case Fraction(), Fraction():
            return left * right
        case (Fraction() | RealRoot(), Fraction() | RealRoot()):
            return simplest(multiply_roots(_root(left), _root(right)))
        case (Fraction() | Real(), Fraction() | Real()):
            first, second = _alike(left, right)
            return simplest(first * second)
        case (Logarithm(), Fraction()) | (Fraction(), Logarithm()):
            log, number = (left, right) if isinstance(left, Logarithm) else (right, left)
            assert isinstance(log, Logarithm)
            assert isinstance(number, Fraction)
            if number.denominator == 1:
                return logarithm(raised(log.argument, int(number)))
    raise _beyond(left, right, "*")


def negative(value: Finite) -> Finite:
    return multiply(Fraction(-1), value)


def inverse(value: Finite) -> Finite:
    match value:
        case Fraction():
            return 1 / value
        case RealRoot():
            return simplest(inverse_root(value))
        case Real():
            return Real.of(value.denominator, value.numerator, value.constant)
    raise UnsupportedError(f"1/({text(value)}) cannot be represented exactly: use float(...)")


def simplest(value: RealRoot | Real) -> Fraction | RealRoot | Real:
    """Returns a number in the simplest kind that has it."""
    if isinstance(value, RealRoot):
        return value.lower if value.is_rational else value
    reduced = Real.of(value.numerator, value.denominator, value.constant)
    return reduced if reduced.rational is None else reduced.rational


def raised(value: Finite, power: int) -> Finite:
    """Returns a whole power."""
    total: Finite = Fraction(1)
    for bit in bin(abs(power))[2:]:
        total = multiply(total, total)
        total = multiply(total, value) if bit == "1" else total
    return total if power >= 0 else inverse(total)


def logarithm(value: Finite) -> Finite:
    """Returns ln x, a rational number where x is exp(q).

    Raises:
        ValueError: x is not positive.
        UnsupportedError: x is a logarithm.
    """
    if compare(value, Fraction(0)) <= 0:
        raise ValueError(f"{text(value)} has no logarithm, because it is not above 0")
    if isinstance(value, Logarithm):
        raise UnsupportedError(f"ln({text(value)}) cannot be represented exactly: use float(...)")
    if value == 1:
        return Fraction(0)
    if isinstance(value, Real) and value.describe().startswith("exp("):
        assert isinstance(value.constant, ExpConstant)
        return value.constant.exponent * (int(value.numerator.degree()) - int(value.denominator.degree()))
    return Logarithm(value)


def _root(value: Fraction | RealRoot) -> RealRoot:
    return rational_root(value) if isinstance(value, Fraction) else value


def _exp(power: Fraction) -> Fraction | Real:
    if not power:
        return Fraction(1)
    constant = ExpConstant(abs(power))
    top, bottom = fmpq_poly([0, 1]), fmpq_poly([1])
    return Real(top, bottom, constant) if power > 0 else Real(bottom, top, constant)


def _alike(left: Fraction | Real, right: Fraction | Real) -> tuple[Real, Real]:
    """Returns two numbers over one generator."""
    constants = [v.constant for v in (left, right) if isinstance(v, Real) and v.constant]
    if any(isinstance(c, LogConstant) for c in constants):
        if len(set(constants)) > 1:
            raise UnsupportedError(
                f"a number with both {' and '.join(c.name for c in constants)} cannot be represented exactly"
            )
        first, second = (_over(value, constants[0]) for value in (left, right))
        return first, second
    common = generator(c.exponent for c in constants if isinstance(c, ExpConstant))
    first, second = (_over(value, common) for value in (left, right))
    return first, second


def _over(value: Fraction | Real, common: Transcendental | None) -> Real:
    if isinstance(value, Fraction):
        return Real(fmpq_poly([rational(value)]), fmpq_poly([1]), common)
    if common is None or value.constant is None or value.constant == common:
        return Real(value.numerator, value.denominator, common)
    if not (isinstance(common, ExpConstant) and isinstance(value.constant, ExpConstant)):
        return value
    power = int(value.constant.exponent / common.exponent)
    gaps = fmpq_poly([fmpq(0)] * power + [fmpq(1)])
    return Real(value.numerator(gaps), value.denominator(gaps), common)


def _beyond(left: Finite, right: Finite, sign: str) -> UnsupportedError:
    told = f"({text(left)}) {sign} ({text(right)})"
    return UnsupportedError(f"{told} cannot be represented exactly: use float(...)")


def text(value: Finite) -> str:
    match value:
        case Fraction():
            return str(rational(value))  # flint writes numbers of any length
        case RealRoot():
            return algebraic_text(value)
        case Logarithm():
            return f"ln({text(value.argument)})"
    return exponential_text(value)


DIGITS = 12  # of the decimal in a `repr`
PRECISE = 64  # bits of the number that it rounds, relative to its size


class ExactNumber:
    """An exact real number: rational, algebraic, a quotient of exponentials, a logarithm, or infinity.

    You can compare it with the numbers of Python, for example `x == 8` or `x < Fraction(1, 3)`. A float
    counts as the binary number that it is, so `x == 0.1` is False if x is one tenth. Equal numbers have equal
    hashes, except for numbers of sympy. `float(x)` is the nearest float, and `str(x)` is the exact number as
    text. `Fraction(x)` is the number if it is rational, and raises `TypeError` otherwise.

    `+`, `-`, `*`, `/` and whole powers are exact. With a float, the result is a float.

    Raises:
        UnsupportedError: The result of an operation is not such a number, as for sqrt(2) + exp(1).
        LimitError: Two numbers are too near to each other to be compared.

    Examples:
        >>> from fractions import Fraction
        >>> from paramverify import ExactNumber
        >>> x = ExactNumber(Fraction(1, 3))
        >>> x + 1, x < 0.5
        (ExactNumber(4/3 ≈ 1.33333333333), True)
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

        Args:
            value (ExactNumber): The number.

        Returns:
            The exact logarithm.

        Raises:
            ValueError: The number is not positive.
        """
        found = value._value
        return value if found is None else ExactNumber(logarithm(found))

    # --- what it is ------------------------------------------------------------------------------------

    @property
    def is_rational(self) -> bool:
        """Whether the number is rational; then `Fraction(x)` is this number."""
        return isinstance(self._value, Fraction)

    @property
    def is_infinite(self) -> bool:
        """Whether the number is infinity."""
        return self._value is None

    @property
    def fraction(self) -> Fraction:
        """The number as a fraction.

        Raises:
            ValueError: The number is not rational.
        """
        if not isinstance(self._value, Fraction):
            raise ValueError(f"{self} is not rational: use float(...) or enclosure(...)")
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
        """Returns the numerator and the denominator.

        Raises:
            ValueError: The number is not rational.
        """
        return self.fraction.as_integer_ratio()

    def enclosure(self, bits: int = 64) -> tuple[Fraction, Fraction]:
        """Returns two fractions a and b with a ≤ x ≤ b.

        Args:
            bits (int): The precision in bits; more bits make the interval smaller.

        Returns:
            The fractions a and b.

        Raises:
            ValueError: The number is infinite.
        """
        if self._value is None:
            raise ValueError("infinity has no enclosure")
        return enclosure(self._value, bits)

    def __float__(self) -> float:
        if self._value is None:
            return math.inf
        for low, high in enclosures(self._value):
            if float(low) == float(high):
                return float(low)
        raise LimitError(f"{self} is too close to the middle of two floats to be rounded")

    def __bool__(self) -> bool:
        return self._value != 0

    def __str__(self) -> str:
        if self._value is None:
            return "infinity"
        return text(self._value)

    def __repr__(self) -> str:
        if self._value is None or (isinstance(self._value, Fraction) and self._value.denominator == 1):
            return f"ExactNumber({self})"
        low, high = precise(self._value, PRECISE)
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
        return hash(math.inf) if self._value is None else hash_of(self._value)

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
        return 1 if self._value is None else compare(self._value, other)

    # --- arithmetic ------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Any:
        return self._with(other, add, lambda a, b: a + b)

    def __radd__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: add(b, a), lambda a, b: b + a)

    def __sub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: add(a, negative(b)), lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: add(b, negative(a)), lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        return self._with(other, multiply, lambda a, b: a * b)

    def __rmul__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: multiply(b, a), lambda a, b: b * a)

    def __truediv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: multiply(a, inverse(b)), lambda a, b: a / b)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: multiply(b, inverse(a)), lambda a, b: b / a)

    def __pow__(self, power: Any) -> Any:
        """Returns a whole power; with a float it is a float."""
        if isinstance(power, float):
            return float(self) ** power
        if not isinstance(power, int):
            return NotImplemented
        return ExactNumber(raised(self._finite(), power))

    def __neg__(self) -> ExactNumber:
        return ExactNumber(negative(self._finite()))

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
            raise UnsupportedError("infinity is not supported in calculations")
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


def finite(number: ExactNumber) -> Finite | None:
    """Returns the number in the simplest kind that has it; None for infinity."""
    return number._value


def _value_of(value: object) -> Finite | None:
    """Returns a number of this package or of Python, in the simplest kind that has it; None is infinity."""
    if value is None:
        return None
    if isinstance(value, (RealRoot, Real)):
        return simplest(value)
    if isinstance(value, Logarithm):
        return value
    found = _other(value)
    if found is NotImplemented:
        raise TypeError(f"{value!r} is not a number")
    if isinstance(found, float):
        if found == math.inf:
            return None
        raise ValueError(f"{value!r} cannot be represented exactly")
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
