"""The numbers that a supremum can be, and how they are compared."""

from __future__ import annotations

from fractions import Fraction

from paramverify.algebra.polynomials import rational
from paramverify.algebra.real_roots import RealRoot, compare
from paramverify.algebra.reals import Real
from paramverify.bounds import Value


def middle(lower: Fraction, upper: Fraction) -> tuple[Fraction, Fraction]:
    """Returns the ends of the middle quarter of an interval."""
    return lower + (upper - lower) * 3 / 8, lower + (upper - lower) * 5 / 8


def order(left: Value, right: Value) -> int:
    """Returns -1, 0 or 1 as the first number is smaller than, equal to, or greater than the second.

    With a constant `E` every exact supremum is rational or a `Real`, so the two kinds can be compared.
    """
    if isinstance(left, RealRoot) and isinstance(right, RealRoot):
        return compare(left, right)
    return (_real(left, right) - _real(right, left)).sign()


def _real(value: Value, other: Value) -> Real:
    if isinstance(value, Real):
        return value
    assert isinstance(other, Real)
    one = other.denominator * 0 + 1
    return Real.of(one * rational(value.lower), one, other.constant)
