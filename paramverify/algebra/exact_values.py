"""Finite exact real numbers of four kinds, and what is asked of them: arithmetic, comparison, text.

Comparisons are decided, never rounded. Two values of one kind are compared in that kind. A rational, an
irrational algebraic number, and an irrational quotient of polynomials in exp(g) are never equal: the last one
is transcendental [Lindemann82]. Nor is ln x, which is kept only where it is irrational, equal to a rational.
So shrinking enclosures tell them apart. Whether ln x and a quotient in exp(g) are equal is no theorem: where
their enclosures do not part, that is said.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpq, fmpq_poly

from paramverify.algebra import root_arithmetic as roots
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
from paramverify.algebra.number_texts import algebraic_text, exponential_text
from paramverify.algebra.polynomials import rational as flint_rational
from paramverify.algebra.realroots import RealRoot, rational_root
from paramverify.algebra.realroots import compare as compare_roots
from paramverify.algebra.reals import Real
from paramverify.errors import LimitError, UnsupportedError

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
    raise LimitError(f"{text(left)} and {text(right)} are too near to each other to be compared")


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
    raise LimitError(f"{text(value)} is too near to 0 to be rounded")


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
                below, above = (arb(flint_rational(end)).log() for end in (low, high))
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
            return simplest(roots.add(_root(left), _root(right)))
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
            return simplest(roots.multiply(_root(left), _root(right)))
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
            return simplest(roots.inverse(value))
        case Real():
            return Real.of(value.denominator, value.numerator, value.constant)
    raise UnsupportedError(f"1/({text(value)}) is no number that is exact here: use float(...)")


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
        raise ValueError(f"{text(value)} has no logarithm: it is not above 0")
    if isinstance(value, Logarithm):
        raise UnsupportedError(f"ln({text(value)}) is no number that is exact here")
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
            raise UnsupportedError(f"{' and '.join(c.name for c in constants)} are in no common number here")
        first, second = (_over(value, constants[0]) for value in (left, right))
        return first, second
    common = generator(c.exponent for c in constants if isinstance(c, ExpConstant))
    first, second = (_over(value, common) for value in (left, right))
    return first, second


def _over(value: Fraction | Real, common: Transcendental | None) -> Real:
    if isinstance(value, Fraction):
        return Real(fmpq_poly([flint_rational(value)]), fmpq_poly([1]), common)
    if common is None or value.constant is None or value.constant == common:
        return Real(value.numerator, value.denominator, common)
    if not (isinstance(common, ExpConstant) and isinstance(value.constant, ExpConstant)):
        return value
    power = int(value.constant.exponent / common.exponent)
    gaps = fmpq_poly([fmpq(0)] * power + [fmpq(1)])
    return Real(value.numerator(gaps), value.denominator(gaps), common)


def _beyond(left: Finite, right: Finite, sign: str) -> UnsupportedError:
    told = f"({text(left)}) {sign} ({text(right)})"
    return UnsupportedError(f"{told} is no number that is exact here: use float(...)")


def text(value: Finite) -> str:
    match value:
        case Fraction():
            return str(flint_rational(value))  # flint writes numbers of any length
        case RealRoot():
            return algebraic_text(value)
        case Logarithm():
            return f"ln({text(value.argument)})"
    return exponential_text(value)
