"""Exact real numbers: quotients of polynomials in `E = exp(g)`, or rationals."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq_poly, fmpz_poly

from paramverify.algebra.constants import (
    GENERATOR,
    MAX_PRECISION,
    ExpConstant,
    LogConstant,
    Transcendental,
    lower_bound,
    upper_bound,
    working_precision,
)
from paramverify.algebra.polynomials import rational
from paramverify.algebra.rationals import nearest
from paramverify.errors import LimitError


@dataclass(frozen=True, eq=False)
class Real:
    """An exact real number: a quotient of polynomials in `E = exp(g)` or ln(b), or of rationals.

    The denominator is positive.
    """

    numerator: fmpq_poly
    denominator: fmpq_poly
    constant: Transcendental | None = None

    @staticmethod
    def of(numerator: fmpq_poly, denominator: fmpq_poly, constant: Transcendental | None) -> Real:
        """Returns the quotient in lowest terms; the denominator must be positive."""
        common = numerator.gcd(denominator) if numerator else denominator
        top, bottom = numerator // common, denominator // common
        negative = constant.sign(bottom) < 0 if constant else bottom[0] < 0
        scale = bottom.leading_coefficient()
        if negative != (scale < 0):
            scale = -scale
        return Real(top / scale, bottom / scale, constant)

    @property
    def rational(self) -> Fraction | None:
        """The value where it is rational, else None; the constant is transcendental: lowest terms show it."""
        if self.numerator.degree() > 0 or self.denominator.degree() > 0:
            return None
        return _number(self.numerator) / _number(self.denominator)

    def sign(self) -> int:
        """Returns -1, 0 or 1, decided exactly."""
        if self.constant:
            return self.constant.sign(self.numerator)
        value = self.numerator[0]
        return (value > 0) - (value < 0)

    def enclosure(self, bits: int = 64) -> tuple[Fraction, Fraction]:
        """Returns rationals between which the value lies, at most 2**(-bits/2) apart relative to the value.

        Raises:
            LimitError: the number is too near to 0, or its denominator is.
        """
        value = self.rational
        if value is not None or self.constant is None:
            assert value is not None
            return value, value
        needed = bits // 2
        while bits <= MAX_PRECISION:
            top, bottom = (self.constant.ball(p, bits) for p in (self.numerator, self.denominator))
            with working_precision(bits):
                quotient = top / bottom  # its ends are rounded outward, to as many bits
                if bottom > 0 and quotient.rel_accuracy_bits() >= needed:
                    return lower_bound(quotient), upper_bound(quotient)
            bits *= 2
        raise LimitError(f"{self.describe()} is too close to 0 to be enclosed")

    def __sub__(self, other: Real) -> Real:
        top = self.numerator * other.denominator - other.numerator * self.denominator
        return Real.of(top, self.denominator * other.denominator, self.constant)

    def __mul__(self, other: Real) -> Real:
        return Real.of(self.numerator * other.numerator, self.denominator * other.denominator, self.constant)

    def __truediv__(self, other: Real) -> Real:
        """Divides by a number that is known to be positive."""
        return Real.of(self.numerator * other.denominator, self.denominator * other.numerator, self.constant)

    def __float__(self) -> float:
        return nearest(self.middle())

    def middle(self) -> Fraction:
        """Returns the number if it is rational, otherwise a rational next to it, relative to its size.

        Raises:
            LimitError: the number is too near to 0.
        """
        bits = 64
        while bits <= MAX_PRECISION:
            low, high = self.enclosure(bits)
            if high - low <= min(abs(low), abs(high)) / 2**60:
                return (low + high) / 2
            bits *= 2
        raise LimitError(f"{self.describe()} is too close to 0 to be rounded")

    def __str__(self) -> str:
        value = self.rational
        if value is not None:
            return str(rational(value))  # flint writes numbers of any length
        symbol = self.constant.name if isinstance(self.constant, LogConstant) else GENERATOR
        top, bottom = (show_polynomial(p, symbol) for p in (self.numerator, self.denominator))
        return top if bottom == "1" else f"({top})/({bottom})"

    def __repr__(self) -> str:
        return f"Real({self.describe()})"

    def describe(self) -> str:
        """Returns the number in words where it is not rational, with the meaning of `E`: `E = exp(1/2)`."""
        if self.rational is not None or not isinstance(self.constant, ExpConstant):
            return str(self)
        monomials = [p for p in (self.numerator, self.denominator) if _is_monomial(p)]
        if len(monomials) == 2:
            power = int(self.numerator.degree()) - int(self.denominator.degree())
            factor = Fraction(1) * _leading(self.numerator) / _leading(self.denominator)
            exponential = f"exp({self.constant.exponent * power})"
            return exponential if factor == 1 else f"{factor}*{exponential}"
        return f"{self} with {GENERATOR} = exp({self.constant.exponent})"


def show_polynomial(polynomial: fmpq_poly | fmpz_poly, variable: str) -> str:
    """Returns a univariate polynomial in words: `7*x^2 - 24`."""
    text = re.sub(r"\+ \(-([^)]*)\)", r"- \1", str(polynomial))
    return text.replace("x", variable)


def _is_monomial(polynomial: fmpq_poly) -> bool:
    return sum(bool(c) for c in polynomial.coeffs()) == 1


def _leading(polynomial: fmpq_poly) -> Fraction:
    value = polynomial.leading_coefficient()
    return Fraction(int(value.p), int(value.q))


def _number(polynomial: fmpq_poly) -> Fraction:
    value = polynomial[0]
    return Fraction(int(value.p), int(value.q))
