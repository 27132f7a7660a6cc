"""Bernstein coefficients in one variable by Taylor shifts: a degree of 1,000 takes milliseconds."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import comb, lcm

from flint import fmpz, fmpz_poly

SHIFT = fmpz_poly([1, 1])


def on_unit(polynomial: fmpz_poly, lower: Fraction, upper: Fraction) -> fmpz_poly:
    """Returns m^d·f(lower + (upper − lower)·t), d the degree and m the least common denominator."""
    bottom = lcm(lower.denominator, upper.denominator)
    low, width = int(lower * bottom), int((upper - lower) * bottom)
    degree = polynomial.degree()
    powers = fmpz(1)
    scaled = [fmpz(0)] * (degree + 1)
    for i in range(degree, -1, -1):
        scaled[i] = polynomial[i] * powers
        powers *= bottom
    return fmpz_poly(scaled)(fmpz_poly([low, width]))


def weighted(polynomial: fmpz_poly, degree: int | None = None) -> list[fmpz]:
    """Returns C(d,i)·b_{d−i} for the Bernstein coefficients b on the unit interval.

    C(d,i)·b_i is the coefficient of t^i in (1+t)^d·f(t/(1+t)), and that of (1+t)^{d−i} in f's reversal. d is
    the degree of f, or a larger one that is given.
    """
    d = polynomial.degree() if degree is None else degree
    shifted = fmpz_poly([polynomial[d - i] for i in range(d + 1)])(SHIFT)
    return [shifted[i] for i in range(d + 1)]


def bernstein_entries(polynomial: fmpz_poly, lower: Fraction, upper: Fraction) -> tuple[list[fmpz], fmpz]:
    """Returns whole numbers e and s > 0: the Bernstein coefficients on an interval are e_i / s."""
    degree = polynomial.degree()
    shares, scale = _shares(degree)
    found = weighted(on_unit(polynomial, lower, upper), degree)  # on a point it is a number
    bottom = lcm(lower.denominator, upper.denominator)
    return [found[degree - i] * shares[i] for i in range(degree + 1)], scale * fmpz(bottom) ** degree


@lru_cache(maxsize=64)
def _shares(degree: int) -> tuple[list[fmpz], fmpz]:
    """Returns s / C(d,i) for each i, and s: the least whole number for which they are whole."""
    scale = lcm(*(comb(degree, i) for i in range(degree + 1)))
    return [fmpz(scale // comb(degree, i)) for i in range(degree + 1)], fmpz(scale)
