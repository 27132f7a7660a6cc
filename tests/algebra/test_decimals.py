"""Rounded logarithms of rationals, against mpmath."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest

from paramverify.algebra.rationals import logarithm


@pytest.mark.parametrize(
    "value",
    [
        1 + Fraction(1, 10**15),
        1 - Fraction(1, 10**12),
        1 + Fraction(7, 10**200),
        Fraction(3, 2) + Fraction(1, 3**4000),
        Fraction(1, 2),
        Fraction(2),
        Fraction(10**300, 7),
        Fraction(3, 10**700),
        Fraction(11**900, 13),
    ],
)
def test_logarithms_have_all_their_digits(value: Fraction) -> None:
    """Near 1 and far from it the relative error is that of a float."""
    with mpmath.workdps(250):
        exactly = mpmath.log(mpmath.mpf(value.numerator) / value.denominator)
        assert abs(logarithm(value) / exactly - 1) < 1e-14
