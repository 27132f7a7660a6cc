"""Exponentials and logarithms between two numbers, with proved rounding.

The constant E = exp(q) is enclosed between rationals by Taylor's series; what is left out of the series is
bounded by a geometric series.

All other numbers are computed with whole numbers: a number x is known by `low` and `high` with
low ≤ x·2^BITS ≤ high. All sums are of terms that are at least 0. Each term is rounded down for `low` and up
for `high`, and the rest of a series, again bounded by a geometric series, is added to `high` only.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

from .evidence_polynomials import (
    ONE,
)
from .strict_reading import Rejected as Rejected

# --- the constant E = exp(q), between rationals -----------------------------------------------------

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


# --- logarithms and exponentials, between whole numbers ---------------------------------------------

BITS = 192
UNIT = 1 << BITS
HALVINGS = 6  # of the argument of an exponential, before its series
MOST = 10_000  # the largest exponent; e to the power of less than −MOST is between 0 and 2^−BITS

Ends = tuple[int, int]


def down(value: Fraction) -> int:
    """Returns ⌊value·2^BITS⌋."""
    return (value.numerator << BITS) // value.denominator


def up(value: Fraction) -> int:
    """Returns ⌈value·2^BITS⌉."""
    return -((-value.numerator << BITS) // value.denominator)


def times(factor: Fraction | int, value: int, upwards: bool) -> int:
    """Returns factor·value, rounded to a whole number."""
    top, bottom = (factor, 1) if isinstance(factor, int) else (factor.numerator, factor.denominator)
    return -((-top * value) // bottom) if upwards else top * value // bottom


def product(left: int, right: int, upwards: bool) -> int:
    """Returns the product of two numbers at 2^BITS, rounded."""
    return -((-left * right) >> BITS) if upwards else (left * right) >> BITS


def _artanh(z: Fraction) -> Ends:
    """Returns bounds of Σ z^(2j+1)/(2j+1) = artanh(z), for 0 ≤ z ≤ 1/3.

    From the term j on the rest is at most z^(2j+1)/(2j+1)·(1 + z² + z⁴ + ...) ≤ 9/8 of that term.
    """
    low, high = down(z), up(z)
    squares = product(low, low, False), product(high, high, True)
    below, above, j = 0, 0, 0
    while low:
        below += low // (2 * j + 1)
        above += -(-high // (2 * j + 1))
        low, high = product(low, squares[0], False), product(high, squares[1], True)
        j += 1
    return below, above + 2 * high


_THIRD = _artanh(Fraction(1, 3))
LN2: Ends = 2 * _THIRD[0], 2 * _THIRD[1]  # ln 2 = 2·artanh(1/3)


@lru_cache(maxsize=20_000)
def ln(value: Fraction) -> Ends:
    """Returns bounds of ln(value) for value > 0.

    With value = 2^k·m and 2/3 < m ≤ 4/3, ln m = ±2·artanh(z) for z = |m − 1|/(m + 1) ≤ 1/5.
    """
    if value <= 0:
        raise Rejected("the logarithm of a number that is not positive")
    k = value.numerator.bit_length() - value.denominator.bit_length()
    m = value / 2**k if k >= 0 else value * 2**-k
    while 3 * m > 4:
        m, k = m / 2, k + 1
    while 3 * m <= 2:
        m, k = m * 2, k - 1
    low, high = _artanh(abs(m - 1) / (m + 1))
    low, high = (2 * low, 2 * high) if m >= 1 else (-2 * high, -2 * low)
    ends = sorted((k * LN2[0], k * LN2[1]))
    return low + ends[0], high + ends[1]


def exp(low: int, high: int) -> Ends:
    """Returns bounds of exp(x) for low ≤ x·2^BITS ≤ high."""
    return _exp(low)[0], _exp(high)[1]


@lru_cache(maxsize=20_000)
def _exp(at: int) -> Ends:
    """Returns bounds of exp(at/2^BITS).

    With at = k·ln 2 + t and t ≥ 0, exp(t) = exp(t/2^HALVINGS)^(2^HALVINGS). Terms of the series of exp(s),
    s < 1/2, are at most half of those before: the rest is at most twice its first term.
    """
    if at < -MOST << BITS:
        return 0, 1
    if at > MOST << BITS:
        raise Rejected("an exponent is too large")
    k = at // (LN2[1] if at >= 0 else LN2[0])
    rest = at - k * LN2[1 if k >= 0 else 0], at - k * LN2[0 if k >= 0 else 1]
    found = []
    for end, t in enumerate(rest):
        upwards = bool(end)
        s = -(-t >> HALVINGS) if upwards else t >> HALVINGS
        total, term, j = 0, UNIT, 0
        while term > upwards:
            total += term
            j += 1
            term = product(term, s, upwards)
            term = -(-term // j) if upwards else term // j
        total += 2 * term if upwards else 0
        for _ in range(HALVINGS):
            total = product(total, total, upwards)
        found.append(_shifted(total, k, upwards))
    return found[0], found[1]


def _shifted(value: int, k: int, upwards: bool) -> int:
    """Returns value·2^k, rounded."""
    if k >= 0:
        return value << k
    return -(-value >> -k) if upwards else value >> -k
