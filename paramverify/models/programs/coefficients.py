"""Coefficients of terms: quotients of polynomials in which powers of the variables are kept apart.

Sums and integrals of `b^v` multiply by powers of b, up and down, all the time. With those apart from the
rest, no greatest common divisor is needed for them, and for continuous noise none at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from paramverify.algebra.polynomials import Polynomial, RationalFunction, Ring, rational

Powers = tuple[int, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Coefficient:
    """The quotient `polynomial · Π x^power / denominator`; no denominator is 1."""

    ring: Ring
    polynomial: Polynomial
    powers: Powers
    denominator: Polynomial | None = None

    @staticmethod
    def number(ring: Ring, value: Fraction | int) -> Coefficient:
        """Returns a constant."""
        return Coefficient(ring, ring.number(Fraction(value)), (0,) * len(ring.names))

    @staticmethod
    def of(ring: Ring, function: RationalFunction) -> Coefficient:
        """Returns a rational function as a coefficient."""
        up, polynomial = _apart(function.numerator)
        down, denominator = _apart(function.denominator)
        powers = tuple(u - d for u, d in zip(up, down, strict=True))
        if denominator.is_constant():
            return Coefficient(ring, polynomial / denominator.leading_coefficient(), powers)
        return Coefficient(ring, polynomial, powers, denominator)

    def function(self) -> RationalFunction:
        """Returns the rational function in lowest terms."""
        up = tuple(max(k, 0) for k in self.powers)
        down = tuple(max(-k, 0) for k in self.powers)
        bottom = _monomial(self.ring, down)
        if self.denominator is not None:
            bottom = bottom * self.denominator
        return RationalFunction.of(self.polynomial * _monomial(self.ring, up), bottom)

    @property
    def text(self) -> str:
        """The same for equal quotients that are in lowest terms, as sums and products are."""
        low, polynomial = _apart(self.polynomial)
        powers = tuple(k + p for k, p in zip(low, self.powers, strict=True))
        if self.denominator is None:
            return f"{polynomial} {powers}"
        content = self.denominator.leading_coefficient()
        return f"{polynomial / content} / {self.denominator / content} {powers}"

    def __bool__(self) -> bool:
        return bool(self.polynomial)

    def __add__(self, other: Coefficient) -> Coefficient:
        if not self.polynomial:
            return other
        if not other.polynomial:
            return self
        left, right, powers = _aligned(self, other)
        if self.denominator is None and other.denominator is None:
            return Coefficient(self.ring, left + right, powers)
        if self.denominator is not None and self.denominator == other.denominator:
            return _reduced(self.ring, left + right, powers, self.denominator)
        first, second = self.denominator, other.denominator
        if first is None or second is None:
            bottom = first if second is None else second
            assert bottom is not None
            total = left + right * bottom if second is None else left * bottom + right
            return Coefficient(self.ring, total, powers, bottom)
        common = first.gcd(second)
        mine, theirs = first / common, second / common
        return _reduced(self.ring, left * theirs + right * mine, powers, first * theirs)

    def __neg__(self) -> Coefficient:
        return Coefficient(self.ring, -self.polynomial, self.powers, self.denominator)

    def __sub__(self, other: Coefficient) -> Coefficient:
        return self + (-other)

    def __mul__(self, other: Coefficient) -> Coefficient:
        powers = tuple(a + b for a, b in zip(self.powers, other.powers, strict=True))
        polynomial = self.polynomial * other.polynomial
        first, second = self.denominator, other.denominator
        if first is None and second is None:
            return Coefficient(self.ring, polynomial, powers)
        bottom = first * second if first is not None and second is not None else first or second
        assert bottom is not None
        plain = self if first is None else other if second is None else None
        if plain is not None and plain.polynomial.is_constant():  # the other one is in lowest terms
            return Coefficient(self.ring, polynomial, powers, bottom)
        return _reduced(self.ring, polynomial, powers, bottom)

    def times(self, number: Fraction) -> Coefficient:
        """Returns a multiple."""
        return Coefficient(self.ring, self.polynomial * rational(number), self.powers, self.denominator)

    def __truediv__(self, other: Coefficient) -> Coefficient:
        up, divisor = _apart(other.polynomial)
        powers = tuple(-a - b for a, b in zip(up, other.powers, strict=True))
        top = self.ring.number(1) if other.denominator is None else other.denominator
        if divisor.is_constant():
            return self * Coefficient(self.ring, top / divisor.leading_coefficient(), powers)
        return self * Coefficient(self.ring, top, powers, divisor)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Coefficient):
            return NotImplemented
        left, right, _ = _aligned(self, other)
        if self.denominator is not None:
            right = right * self.denominator
        if other.denominator is not None:
            left = left * other.denominator
        return bool(left == right)

    __hash__ = None  # type: ignore[assignment]


def _reduced(ring: Ring, polynomial: Polynomial, powers: Powers, denominator: Polynomial) -> Coefficient:
    common = polynomial.gcd(denominator)
    if not common.is_constant():
        polynomial, denominator = polynomial / common, denominator / common
    if denominator.is_constant():
        return Coefficient(ring, polynomial / denominator.leading_coefficient(), powers)
    return Coefficient(ring, polynomial, powers, denominator)


def _aligned(left: Coefficient, right: Coefficient) -> tuple[Polynomial, Polynomial, Powers]:
    """Returns the polynomials of two coefficients over the same powers of the variables, and these."""
    if left.powers == right.powers:
        return left.polynomial, right.polynomial, left.powers
    powers = tuple(min(a, b) for a, b in zip(left.powers, right.powers, strict=True))
    first, second = (
        c.polynomial
        if c.powers == powers
        else c.polynomial * _monomial(c.ring, tuple(k - p for k, p in zip(c.powers, powers, strict=True)))
        for c in (left, right)
    )
    return first, second, powers


def _apart(polynomial: Polynomial) -> tuple[Powers, Polynomial]:
    """Returns the largest powers of the variables that divide a polynomial, and what is left."""
    exponents = polynomial.monoms()
    width = len(polynomial.context().names())
    if width == 1:
        exponents = exponents[-1:]  # in falling order
    low = tuple(min(int(m[k]) for m in exponents) if exponents else 0 for k in range(width))
    if not any(low):
        return low, polynomial
    return low, polynomial / polynomial.context().from_dict({low: 1})


def _monomial(ring: Ring, powers: Powers) -> Polynomial:
    return ring.context.from_dict({powers: 1})
