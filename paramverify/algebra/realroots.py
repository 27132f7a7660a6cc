"""Exact isolation of the real roots of univariate polynomials with rational coefficients.

A polynomial is factored over the rationals; linear factors give rational roots exactly, and the roots of
every other irreducible factor are simple and irrational, so they are never at a rational cut. They are
isolated by Descartes' rule of signs on bisected intervals ([CollinsAkritas76]): the number of sign variations
of the Bernstein coefficients on an interval is at least the number of roots inside, and differs from it by an
even number; so 0 means none and 1 means exactly one. Bisection ends for square-free polynomials (the one- and
two-circle theorems).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cmp_to_key
from typing import Protocol, Self, TypeVar

from flint import fmpq, fmpq_mat, fmpz, fmpz_poly

from paramverify.algebra.decimals import nearest
from paramverify.algebra.polynomials import Polynomial, rational
from paramverify.algebra.reals import show_polynomial
from paramverify.algebra.shifts import SHIFT, bernstein_entries, on_unit, weighted
from paramverify.errors import DefectError


class Isolated(Protocol):
    """A real number between two rationals, which can be brought together; equal ends are the number."""

    @property
    def lower(self) -> Fraction:
        """At most the number."""

    @property
    def upper(self) -> Fraction:
        """At least the number."""

    @property
    def is_rational(self) -> bool:
        """Whether the ends are equal."""

    def halved(self) -> Self:
        """Returns the same number in an interval of half the width."""


AnyRoot = TypeVar("AnyRoot", bound=Isolated)


@dataclass(frozen=True)
class RealRoot:
    """A real root of an irreducible primitive polynomial.

    Either `lower == upper` is the root, a rational; or the root is irrational, lower < root < upper, and
    `factor` has no other root in the closed interval. `multiplicity` is that in the isolated polynomial.
    """

    factor: fmpz_poly
    multiplicity: int
    lower: Fraction
    upper: Fraction

    @property
    def is_rational(self) -> bool:
        """Whether the root is a rational number."""
        return self.lower == self.upper

    def precise(self, bits: int = 64) -> RealRoot:
        """Returns the root in an enclosure that is no wider than the root over 2^bits."""
        if self.is_rational:
            return self
        root = self
        while root.lower <= 0 <= root.upper:  # the root is not 0, which is rational
            root = root.refined(max(-root.lower, root.upper) / 4)
        return root.refined(min(abs(root.lower), abs(root.upper)) / 2**bits)

    def middle(self) -> Fraction:
        """Returns the number if it is rational, otherwise a rational next to it, relative to its size."""
        small = self.precise()
        return (small.lower + small.upper) / 2

    def __float__(self) -> float:
        return nearest(self.middle())

    def __str__(self) -> str:
        """Returns the number in words: `3/2`, or `≈ 1.41421 (a root of x^2 - 2)`."""
        if self.is_rational:
            return str(rational(self.lower))
        return f"≈ {float(self):.12g} (a root of {show_polynomial(self.factor, 'x')})"

    def __repr__(self) -> str:
        return f"RealRoot({self})"

    def halved(self) -> RealRoot:
        """Returns the same root in an interval of half the width."""
        if self.is_rational:
            return self
        middle = (self.lower + self.upper) / 2
        # The one root inside is simple, so the factor has opposite signs at the ends and is not zero there.
        if sign_at(self.factor, middle) == sign_at(self.factor, self.lower):
            return replace(self, lower=middle)
        return replace(self, upper=middle)

    def refined(self, width: Fraction) -> RealRoot:
        """Returns the same root in an interval that is at most so wide."""
        root = self
        while root.upper - root.lower > width:
            root = root.halved()
        return root


def rational_root(value: Fraction) -> RealRoot:
    """Returns a rational number as the simple root of a linear polynomial."""
    factor = fmpz_poly([-value.numerator, value.denominator])
    return RealRoot(factor, 1, value, value)


def around(value: Fraction | RealRoot) -> tuple[Fraction, Fraction]:
    """Returns rationals near a number and on both sides of it; equal ones if it is rational."""
    if isinstance(value, Fraction):
        return value, value
    close = value.precise()
    return close.lower, close.upper


def power(root: RealRoot, exponent: int) -> RealRoot:
    """Returns a positive root to the power of a positive whole number.

    The matrix C of the factor has its roots as eigenvalues, so C^n has their n-th powers.
    """
    if root.is_rational:
        return rational_root(root.lower**exponent)
    degree = int(root.factor.degree())
    top = root.factor[degree]
    rows = [[fmpq(int(i == j + 1)) for j in range(degree)] for i in range(degree)]
    for i, row in enumerate(rows):
        row[-1] = -fmpq(root.factor[i], top)
    matrix = fmpq_mat(rows)
    raised = matrix
    for _ in range(exponent - 1):
        raised = raised * matrix
    polynomial = fmpz_poly(raised.charpoly().numer())
    while True:
        found = isolate(polynomial, max(root.lower, Fraction(0)) ** exponent, root.upper**exponent)
        if len(found) == 1:
            return found[0]
        root = root.halved()


def univariate(polynomial: Polynomial) -> fmpz_poly:
    """Returns the primitive integer polynomial that is a positive multiple of one in at most one variable.

    Raises:
        ValueError: more than one variable occurs.
    """
    degrees = [int(d) for d in polynomial.degrees()]
    axes = [k for k, d in enumerate(degrees) if d > 0]
    if len(axes) > 1:
        raise ValueError(f"{polynomial} is not univariate")
    axis = axes[0] if axes else None
    scale = fmpz(1)
    terms = polynomial.to_dict()
    for coefficient in terms.values():
        scale = scale.lcm(coefficient.q)
    coefficients = [fmpz(0)] * (degrees[axis] + 1 if axis is not None else 1)
    for monomial, coefficient in terms.items():
        coefficients[int(monomial[axis]) if axis is not None else 0] = (coefficient * scale).p
    result = fmpz_poly(coefficients)
    content = abs(result.content()) if result else fmpz(1)
    return result // content if content > 1 else result


def sign_at(polynomial: fmpz_poly, point: Fraction) -> int:
    """Returns the sign -1, 0 or 1 of the value at a rational point."""
    value = polynomial(rational(point))
    return (value > 0) - (value < 0)


def isolate(polynomial: fmpz_poly, lower: Fraction, upper: Fraction) -> list[RealRoot]:
    """Returns the roots in the closed interval in increasing order, in pairwise disjoint intervals.

    Rational roots are recognised exactly. The intervals of irrational roots lie in [lower, upper].

    Raises:
        ValueError: the zero polynomial.
    """
    if not polynomial:
        raise ValueError("every number is a root of the zero polynomial")
    roots: list[RealRoot] = []
    for factor, multiplicity in polynomial.factor()[1]:
        if factor.degree() == 1:
            root = Fraction(-int(factor[0]), int(factor[1]))
            if lower <= root <= upper:
                roots.append(RealRoot(factor, int(multiplicity), root, root))
        elif lower < upper:
            roots += [RealRoot(factor, int(multiplicity), a, b) for a, b in _intervals(factor, lower, upper)]
    return apart(roots)


def variations(polynomial: fmpz_poly) -> int:
    """Returns the sign variations of the Bernstein coefficients on the unit interval."""
    count, last = 0, 0
    for coefficient in weighted(polynomial):
        sign = (coefficient > 0) - (coefficient < 0)
        if sign and last and sign != last:
            count += 1
        last = sign or last
    return count


def bernstein_coefficients(polynomial: fmpz_poly, lower: Fraction, upper: Fraction) -> list[int]:
    """Returns the Bernstein coefficients on an interval, times one positive number."""
    return [int(entry) for entry in bernstein_entries(polynomial, lower, upper)[0]]


def _intervals(factor: fmpz_poly, lower: Fraction, upper: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Returns isolating intervals for an irreducible factor of degree at least 2."""
    found: list[tuple[Fraction, Fraction]] = []
    pending = [(on_unit(factor, lower, upper), lower, upper)]
    while pending:
        current, low, high = pending.pop()
        count = variations(current)
        if count == 1:
            found.append((low, high))
        elif count > 1:
            middle = (low + high) / 2
            degree = current.degree()
            # 2^d·f(t/2) is f on the lower half; shifted by one it is f on the upper half.
            half = fmpz_poly([current[i] << (degree - i) for i in range(degree + 1)])
            pending += [(half, low, middle), (half(SHIFT), middle, high)]
    return found


def apart(roots: Sequence[AnyRoot]) -> list[AnyRoot]:
    """Returns different roots in order, refined until no two intervals meet."""
    work = list(roots)
    while True:
        work.sort(key=lambda r: (r.lower, r.upper))
        touching = [k for k in range(len(work) - 1) if work[k].upper >= work[k + 1].lower]
        if not touching:
            return work
        # Roots are distinct numbers, so halving separates them.
        for k in {*touching, *(k + 1 for k in touching)}:
            work[k] = work[k].halved()


def compare(left: RealRoot, right: RealRoot) -> int:
    """Returns -1, 0 or 1 as the first root is smaller than, equal to, or greater than the second."""
    if left.factor == right.factor or (left.is_rational and right.is_rational):
        common = max(left.lower, right.lower) <= min(left.upper, right.upper)
        same = common and _same(left, right)
        if same:
            return 0
    while max(left.lower, right.lower) <= min(left.upper, right.upper):
        left, right = left.halved(), right.halved()
    return -1 if left.upper < right.lower else 1


def _same(left: RealRoot, right: RealRoot) -> bool:
    if left.is_rational or right.is_rational:
        return left.lower == right.lower and left.upper == right.upper
    low, high = max(left.lower, right.lower), min(left.upper, right.upper)
    return low < high and sign_at(left.factor, low) != sign_at(left.factor, high)


order = cmp_to_key(compare)


def between(left: Isolated, right: Isolated) -> tuple[Fraction, Fraction]:
    """Returns rational ends strictly between two different roots, the first one smaller, not narrower than
    half of their distance.

    Raises:
        DefectError: the roots are not in that order.
    """
    while True:
        gap = right.lower - left.upper
        if gap > 0 and (left.upper - left.lower) + (right.upper - right.lower) <= gap:
            return left.upper, right.lower
        if left.is_rational and right.is_rational:
            raise DefectError("the roots are not in increasing order")
        left, right = left.halved(), right.halved()
