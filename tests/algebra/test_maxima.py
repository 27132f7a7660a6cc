"""The suprema of quotients of high degree, between bounds, against fractions on a grid."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import fmpz_poly

from paramverify.algebra.real_roots import MAX_SIZE, near_best, suprema


def hill(degree: int) -> tuple[list[int], list[int]]:
    """The coefficients of a quotient on (0, 1) that is largest inside, at an irrational number."""
    top = [0] * degree + [(-1) ** k * binomial for k, binomial in enumerate(row(degree + 1))]
    bottom = [3, 1, *[0] * (2 * degree - 1), 2]
    return top, bottom


def row(n: int) -> list[int]:
    """The binomial coefficients (n over k)."""
    found = [1]
    for k in range(n):
        found.append(found[-1] * (n - k) // (k + 1))
    return found


def at(coefficients: list[int], x: Fraction) -> Fraction:
    """The value of a polynomial."""
    return sum((c * x**k for k, c in enumerate(coefficients)), Fraction(0))


@pytest.mark.parametrize(("degree", "is_written"), [(2, True), (3, True), (30, False)])
def test_high_degrees_have_bounds(degree: int, is_written: bool) -> None:
    """Where a value would have too large a polynomial it is enclosed; no number of a grid is above it."""
    top, bottom = hill(degree)
    found = suprema(fmpz_poly(top), fmpz_poly(bottom), Fraction(0), Fraction(1))
    assert (found.value is not None) == (found.upper is None) == is_written
    grid = [Fraction(k, 60) for k in range(1, 60)]
    largest = max(at(top, x) / at(bottom, x) for x in grid)
    if found.value is not None:
        assert found.value.upper >= largest
        return
    assert found.upper is not None
    assert all(place.factor.degree() * len(bottom) > MAX_SIZE for place in found.places)
    x, value = near_best(fmpz_poly(top), fmpz_poly(bottom), found.places)
    assert value == at(top, x) / at(bottom, x)
    assert largest <= found.upper
    assert value <= found.upper <= value * (1 + Fraction(1, 10**6))
    assert largest <= value * (1 + Fraction(1, 10**6))
