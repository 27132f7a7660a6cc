"""Sums, products and quotients of algebraic numbers, exact: each again a root of its minimal polynomial.

A number α that is a root of f is given by f and an interval without another root of f (`realroots`). For a
rational q the numbers α + q, q·α and 1/α are roots of f(x − q), f(x/q) and the reversal of f. For two such
numbers, α + β is a root of Res_y(f(y), g(x − y)), and α·β one of Res_y(f(y), y^n·g(x/y)) with n the degree
of g ([Cohen93], chapter 4).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import lcm

from flint import Ordering, fmpq, fmpq_mpoly_ctx, fmpq_poly, fmpz_poly

from paramverify.algebra.polynomials import Polynomial, fraction, rational
from paramverify.algebra.realroots import RealRoot, isolate, rational_root

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


def inverse(root: RealRoot) -> RealRoot:
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


def add(left: RealRoot, right: RealRoot) -> RealRoot:
    """Returns α + β."""
    if right.is_rational:
        return shifted(left, right.lower)
    if left.is_rational:
        return shifted(right, left.lower)

    def ends(a: RealRoot, b: RealRoot) -> Ends:
        return a.lower + b.lower, a.upper + b.upper

    x, y, lift = _plane()
    return _the_root(lift(left.factor).resultant(_at(right.factor, x - y, x), "y"), left, right, ends)


def multiply(left: RealRoot, right: RealRoot) -> RealRoot:
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
