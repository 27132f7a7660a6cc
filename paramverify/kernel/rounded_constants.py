"""Exponentials and logarithms between two numbers, with proved rounding.

The constant E = exp(q) is enclosed between rationals by Taylor's series; what is left out of the series is
bounded by a geometric series.

All other numbers are computed with whole numbers: a number x is known by `low` and `high` with
low ≤ x·2^BITS ≤ high. All sums are of terms that are at least 0. Each term is rounded down for `low` and up
for `high`, and the rest of a series, again bounded by a geometric series, is added to `high` only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

from .evidence_polynomials import ONE, Poly
from .strict_reading import Rejected

# --- between rationals ------------------------------------------------------------------------------

TERMS = (10, 30, 100, 300, 1000)  # of the exponential series, one after the other
PRECISIONS = (64, 256, 1024, 4096)  # bits of logarithms, one after the other

Interval = tuple[Fraction, Fraction]


@lru_cache(maxsize=200)
def exp_bounds(q: Fraction, terms: int) -> tuple[Fraction, Fraction]:
    """Returns bounds of exp(q) for q ≥ 0 by Taylor's series; the rest is below a geometric series.

    Σ_{i≥n} qⁱ/i! ≤ qⁿ/n! · 1/(1 − q/(n+1)) where q < n + 1.
    """
    total, term, n = Fraction(0), ONE, 0
    while n < terms or q >= n + 1:
        total += term
        n += 1
        term = term * q / n
    return total, total + term / (1 - q / (n + 1))


def log_bounds(value: Fraction, bits: int) -> Interval:
    """Returns bounds of ln(value) for value > 0; they are not negative for value ≥ 1."""
    low, high = ln(value, bits)
    return Fraction(low, 1 << bits), Fraction(high, 1 << bits)


def encloses_exp(q: Fraction, low: Fraction, high: Fraction) -> bool:
    """Tells whether low ≤ exp(q) ≤ high is shown by at most 1000 terms."""
    return 0 <= q <= 1000 and _encloses(low, high, (exp_bounds(q, terms) for terms in TERMS))


def encloses_log(value: Fraction, low: Fraction, high: Fraction) -> bool:
    """Tells whether low ≤ ln(value) ≤ high is shown."""
    return _encloses(low, high, (log_bounds(value, bits) for bits in PRECISIONS))


def _encloses(low: Fraction, high: Fraction, bounds: Iterable[Interval]) -> bool:
    for below, above in bounds:
        if low <= below and above <= high:
            return True
        if above < low or high < below:
            return False
    return False


def sign_in_exp(coefficients: Mapping[int, Fraction], exponent: Fraction | None) -> int:
    """Returns the sign of Σ c·E^power at E = exp(exponent), which is 1 for the exponent 0."""
    poly: Poly = {(power,): c for power, c in coefficients.items() if c}
    if exponent == 0:
        poly = {(0,): sum(poly.values(), Fraction(0))}
    elif poly.keys() - {(0,)} and (exponent is None or not 0 < exponent <= 1000):
        raise Rejected("the exponent of the constant is out of range")
    return _sign(poly, ([exp_bounds(exponent or ONE, terms)] for terms in TERMS))


def sign_of_logs(poly: Poly, values: Sequence[Fraction]) -> int:
    """Returns the sign of a polynomial at the logarithms of numbers that are at least 1."""
    return _sign(poly, ([log_bounds(value, bits) for value in values] for bits in PRECISIONS))


def _sign(poly: Poly, bounds: Iterable[Sequence[Interval]]) -> int:
    """Returns the sign at numbers that are not negative, by closer and closer bounds of these."""
    if not any(map(any, poly)):
        total = sum(poly.values())
        return (total > 0) - (total < 0)
    for ends in bounds:
        low = high = Fraction(0)
        for powers, c in poly.items():
            sides = [c, c]
            for (below, above), power in zip(ends, powers, strict=True):
                sides = [sides[0] * below**power, sides[1] * above**power]
            low, high = low + min(sides), high + max(sides)
        if low > 0 or high < 0:
            return 1 if low > 0 else -1
    raise Rejected("the sign of a polynomial in exp or a logarithm is not decided")


# --- between whole numbers ---------------------------------------------------------------------------

BITS = 192
UNIT = 1 << BITS
HALVINGS = 6  # of the argument of an exponential, before its series
MOST = 10_000  # the largest exponent; e to the power of less than −MOST is between 0 and 2^−BITS

Ends = tuple[int, int]


def down(value: Fraction, bits: int = BITS) -> int:
    """Returns ⌊value·2^bits⌋."""
    return (value.numerator << bits) // value.denominator


def up(value: Fraction, bits: int = BITS) -> int:
    """Returns ⌈value·2^bits⌉."""
    return -((-value.numerator << bits) // value.denominator)


def times(factor: Fraction | int, value: int, upwards: bool) -> int:
    """Returns factor·value, rounded to a whole number."""
    top, bottom = factor.numerator * value, factor.denominator
    return -(-top // bottom) if upwards else top // bottom


def product(left: int, right: int, upwards: bool, bits: int = BITS) -> int:
    """Returns the product of two numbers at 2^bits, rounded."""
    return -((-left * right) >> bits) if upwards else (left * right) >> bits


@lru_cache(maxsize=200)
def _artanh(z: Fraction, bits: int) -> Ends:
    """Returns bounds of Σ z^(2j+1)/(2j+1) = artanh(z), for 0 ≤ z ≤ 1/3.

    From the term j on the rest is at most z^(2j+1)/(2j+1)·(1 + z² + z⁴ + ...) ≤ 9/8 of that term.
    """
    low, high = down(z, bits), up(z, bits)
    squares = product(low, low, False, bits), product(high, high, True, bits)
    below, above, j = 0, 0, 0
    while low:
        below += low // (2 * j + 1)
        above += -(-high // (2 * j + 1))
        low, high = product(low, squares[0], False, bits), product(high, squares[1], True, bits)
        j += 1
    return below, above + 2 * high


def _ln2(bits: int) -> Ends:
    """Returns bounds of ln 2 = 2·artanh(1/3)."""
    low, high = _artanh(Fraction(1, 3), bits)
    return 2 * low, 2 * high


LN2 = _ln2(BITS)


@lru_cache(maxsize=20_000)
def ln(value: Fraction, bits: int = BITS) -> Ends:
    """Returns bounds of ln(value)·2^bits for value > 0.

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
    low, high = _artanh(abs(m - 1) / (m + 1), bits)
    low, high = (2 * low, 2 * high) if m >= 1 else (-2 * high, -2 * low)
    ends = sorted(k * end for end in _ln2(bits))
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
