"""The simplest rational of an interval, by the Stern–Brocot tree."""

from __future__ import annotations

from fractions import Fraction


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
