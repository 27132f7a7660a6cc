"""Rational numbers: as decimals of any size, and the simplest one of an interval."""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import inf, isfinite, log, log1p

_SAFE = Fraction(10**300)
FLOAT = 15  # digits that every float has


def decimal_text(value: Fraction, digits: int = 6) -> str:
    """Returns a number rounded to so many digits, as the format `g` writes it; only 0 is written as 0."""
    if value == 0 or (digits <= FLOAT and 1 / _SAFE < abs(value) < _SAFE):
        return f"{float(value):.{digits}g}"
    exact = Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN)
    rounded = exact.divide(Decimal(value.numerator), Decimal(value.denominator))
    return str(rounded.normalize(exact)).replace("E", "e")


def rounded(value: Fraction | float, digits: int = 6) -> str:
    """Returns a number with so many digits: as it is where these are all of it, else behind `≈`.

    Every rounded number that people read is written by this function. What is only bounded is not: see
    `at_least` and `at_most`. A float is what its own shortest text says, and measured times are not rounded.
    """
    exact = value if isinstance(value, Fraction) else Fraction(repr(value)) if isfinite(value) else None
    if exact is None:
        return f"{value:g}"
    told = decimal_text(exact, digits)
    return told if Fraction(told) == exact else f"≈ {told}"


def relation(value: Fraction | float, digits: int = 6) -> str:
    """Returns the same behind a relation sign: `= 0.5`, or `≈ 0.693147`."""
    told = rounded(value, digits)
    return told if told.startswith("≈") else f"= {told}"


def at_least(value: Fraction, digits: int = 6) -> str:
    """Returns a number that a value is not below, with so many digits, for a bound from below."""
    return _towards(value, digits, ROUND_FLOOR)


def at_most(value: Fraction, digits: int = 6) -> str:
    """Returns a number that a value does not exceed, with so many digits, for a bound from above."""
    return _towards(value, digits, ROUND_CEILING)


def raised(value: Fraction, digits: int = 6) -> str:
    """Returns a number as `rounded` does, but rounded up: a least bound that is copied stays a bound."""
    told = at_most(value, digits)
    return told if Fraction(told) == value else f"≈ {told}"


def _towards(value: Fraction, digits: int, rounding: str) -> str:
    exact = Context(prec=digits, rounding=rounding, Emax=MAX_EMAX, Emin=MIN_EMIN)
    rounded = exact.divide(Decimal(value.numerator), Decimal(value.denominator))
    # Where the nearest number is the same one, it is written as everywhere else.
    near = decimal_text(value, digits)
    return near if Decimal(near) == rounded else decimal_text(Fraction(rounded), digits)


def nearest(value: Fraction) -> float:
    """Returns the float next to a number, infinite where it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def logarithm(value: Fraction) -> float:
    """Returns the natural logarithm of a positive number, rounded; also where it is near 0."""
    if Fraction(1, 2) < value < 2:  # here the difference of two logarithms has lost its digits
        return log1p(float(value - 1))
    if 1 / _SAFE < value < _SAFE:
        return log(float(value))
    return log(value.numerator) - log(value.denominator)


def percent(value: float) -> str:
    """Returns a share of one as it was given: `99.9%` for 0.999."""
    return f"{100 * value:.12g}%"


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """Returns the rational with the smallest denominator in the open interval (low, high).

    Among those with that denominator it has the smallest absolute numerator.

    Raises:
        ValueError: low is not smaller than high.
    """
    if not low < high:
        raise ValueError(f"no rational strictly between {low} and {high}")
    if low < 0 < high:
        return Fraction(0)
    if high <= 0:
        return -simplest_between(-high, -low)
    # Continued fraction of both ends while their whole parts agree.
    whole: list[int] = []
    while True:
        floor = low.numerator // low.denominator
        if floor + 1 < high:
            whole.append(floor + 1)
            break
        if low == floor:  # then high <= floor + 1: take floor + 1/n with the smallest n
            gap = 1 / (high - floor)
            whole += [floor, gap.numerator // gap.denominator + 1]
            break
        whole.append(floor)
        # both ends lie in [floor, floor + 1]: go on with the reciprocals of the rests, in reverse order
        low, high = 1 / (high - floor), 1 / (low - floor)
    result = Fraction(whole.pop())
    while whole:
        result = whole.pop() + 1 / result
    return result
