"""The constant E = exp(q) between rationals, by Taylor series with proved remainders."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

from .polynomials import (
    ONE,
)
from .strict import Rejected as Rejected

TERMS = (10, 30, 100, 300, 1000)  # of the exponential series, one after the other


@lru_cache(maxsize=200)
def exp_bounds(q: Fraction, terms: int) -> tuple[Fraction, Fraction]:
    """Returns bounds of exp(q) for q > 0 by Taylor's series; the rest is below a geometric series.

    Σ_{i≥n} qⁱ/i! ≤ qⁿ/n! · 1/(1 − q/(n+1)) where q < n + 1.
    """
    total, term, n = Fraction(0), ONE, 0
    while n < terms or q >= n + 1:
        total += term
        n += 1
        term = term * q / n
    return total, total + term / (1 - q / (n + 1))


def encloses_exp(q: Fraction, low: Fraction, high: Fraction) -> bool:
    """Tells whether low ≤ exp(q) ≤ high is shown by at most 1000 terms."""
    if not 0 < q <= 1000:
        return False
    for terms in TERMS:
        below, above = exp_bounds(q, terms)
        if low <= below and above <= high:
            return True
        if above < low or high < below:
            return False
    return False


def sign_in_exp(coefficients: Mapping[int, Fraction], exponent: Fraction | None) -> int:
    """Returns the sign of Σ c·E^power at E = exp(exponent), by enclosures that are refined."""
    coefficients = {power: c for power, c in coefficients.items() if c}
    if not coefficients.keys() - {0}:
        total = sum(coefficients.values())
        return (total > 0) - (total < 0)
    if exponent is None or not 0 < exponent <= 1000:
        raise Rejected("the exponent of the constant is out of range")
    for terms in TERMS:
        ends = exp_bounds(exponent, terms)
        low = sum(c * ends[c < 0] ** power for power, c in coefficients.items())
        high = sum(c * ends[c > 0] ** power for power, c in coefficients.items())
        if low > 0 or high < 0:
            return 1 if low > 0 else -1
    raise Rejected("the sign of a polynomial in exp is not decided by 1000 terms")
