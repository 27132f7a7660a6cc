"""Divergences at one point, between two numbers with proved rounding: standard library only.

Where the constant E = exp(q) occurs, probabilities are enclosed: a polynomial in E with rational coefficients
is 0 only if all of its coefficients are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from .exponentials import TERMS, exp_bounds, sign_in_exp
from .goals import WrittenClaim
from .logarithms import UNIT, Ends, exp, ln, product, times
from .polynomials import Poly, number
from .strict import Misformed, Rejected

SMALL = Fraction(1, 1 << 200)  # the relative width of what is enclosed
WIDE = Fraction(1, 10**9)  # how much wider a number may be told than it is enclosed
Between = tuple[Fraction, Fraction]
# How likely each output is on the left and on the right, between two numbers; (0, 0) where it is impossible.
Distribution = list[tuple[Between, Between]]


def at_point(
    polynomials: Sequence[Poly], statement: WrittenClaim, values: Mapping[str, Fraction]
) -> Distribution:
    """Returns |p|/|total| and |q|/|total| of all outputs; given are the total, and then p and q of each.

    Raises:
        Rejected: the total is 0, one is negative, they do not sum to 1, or one is not enclosed narrowly.
    """
    sizes = [_size(poly, statement, values) for poly in polynomials]
    (of_total, low, high), *others = sizes
    if not low:
        raise Rejected("the total is 0 at this point")
    if any(sign == -of_total for sign, _, _ in others):
        raise Rejected("a probability is negative at this point")
    rest = [ends for _, *ends in others]
    shares = [(a / high, b / low) for a, b in rest]
    for side in (shares[::2], shares[1::2]):
        if not sum(a for a, _ in side) <= 1 <= sum(b for _, b in side):
            raise Rejected("the probabilities do not sum to 1 at this point")
    return list(zip(shares[::2], shares[1::2], strict=True))


def _size(
    poly: Poly, statement: WrittenClaim, values: Mapping[str, Fraction]
) -> tuple[int, Fraction, Fraction]:
    """Returns the sign of f at a point, and bounds of |f|: both 0, or both above 0."""
    names = statement.goal.names
    found: dict[int, Fraction] = {}
    for x, c in poly.items():
        power = 0
        for name, e in zip(names, x, strict=True):
            if name == "E" and statement.exponent is not None:
                power = e
            else:
                c *= values[name] ** e
        found[power] = found.get(power, Fraction(0)) + c
    found = {power: c for power, c in found.items() if c}
    if not found.keys() - {0}:
        value = found.get(0, Fraction(0))
        return (value > 0) - (value < 0), abs(value), abs(value)
    exponent = statement.exponent
    sign = sign_in_exp(found, exponent)
    assert exponent is not None
    for terms in TERMS:
        ends = exp_bounds(exponent, terms)
        low = sum((c * ends[c * sign < 0] ** k for k, c in found.items()), Fraction(0)) * sign
        high = sum((c * ends[c * sign > 0] ** k for k, c in found.items()), Fraction(0)) * sign
        if low > 0 and high - low <= SMALL * low:
            return sign, low, high
    raise Rejected("a probability is not enclosed narrowly by 1000 terms")


def is_infinite(found: Distribution) -> bool:
    """Tells whether an output is possible on the left only: then all divergences are infinite."""
    return any(p[0] > 0 and not q[1] for p, q in found)


def value_of(found: Distribution, order: Fraction | None) -> Between:
    """Returns bounds of a finite divergence: of an order above 1, without one of KL."""
    total = [0, 0]
    for p, q in found:
        if p[0]:
            ends = _kl_term(p, q) if order is None else _power(p, q, order)
            total = [total[0] + ends[0], total[1] + ends[1]]
    if order is None:
        return Fraction(total[0], UNIT), Fraction(total[1], UNIT)
    if total[0] <= 0:
        raise Rejected("a sum is not shown to be above 0")
    low, high = (ln(Fraction(t, UNIT))[side] for side, t in enumerate(total))
    return Fraction(low, UNIT) / (order - 1), Fraction(high, UNIT) / (order - 1)


def _kl_term(p: Between, q: Between) -> Ends:
    """Returns bounds of p·ln(p/q)."""
    logs = ln(p[0] / q[1])[0], ln(p[1] / q[0])[1]
    sizes = (p[0].numerator * UNIT) // p[0].denominator, -((-p[1].numerator * UNIT) // p[1].denominator)
    low = min(product(a, b, False) for a in sizes for b in logs)
    return low, max(product(a, b, True) for a in sizes for b in logs)


def _power(p: Between, q: Between, order: Fraction) -> Ends:
    """Returns bounds of p^α·q^(1−α) = exp(α·ln p − (α−1)·ln q)."""
    low = times(order, ln(p[0])[0], False) - times(order - 1, ln(q[1])[1], True)
    high = times(order, ln(p[1])[1], True) - times(order - 1, ln(q[0])[0], False)
    return exp(low, high)


def check_loss(found: Distribution, witness: Mapping[str, Any], bound: Between | None) -> Between | None:
    """Checks the numbers of a witness: its divergence is as it says, and with a bound above that.

    Returns bounds of the divergence, None for infinity.

    Raises:
        Rejected: something else is true.
    """
    kl = witness["measure"] == "kl"
    if ("order" in witness) == kl:
        raise Misformed("zcdp has an order, and kl has none", "witness")
    order = None if kl else number(witness["order"])
    if order is not None and order <= 1:
        raise Misformed("not above 1", "witness", "order")
    if (witness["value"] == "infinity") != is_infinite(found):
        raise Misformed("the divergence is infinite iff an output is possible on the left only", "witness")
    if bound is not None:
        _check_told(witness["bound"], [end * (order or 1) for end in bound])
    if witness["value"] == "infinity":
        return None
    own = value_of(found, order)
    low, high = map(number, witness["value"])
    if not _is_told((low, high), own):
        raise Misformed("the divergence at this point is another number", "witness", "value")
    if bound is not None and own[0] <= bound[1] * (order or 1):
        raise Misformed("the divergence is within its bound", "witness")
    return own


def _check_told(told: Any, bound: Sequence[Fraction]) -> None:
    """Checks that a bound is told as it is: a number, or two that enclose it narrowly."""
    low, high = [number(told)] * 2 if isinstance(told, str) else map(number, told)
    if not _is_told((low, high), bound):
        raise Misformed("the bound is another number", "witness", "bound")


def _is_told(ends: Sequence[Fraction], number: Sequence[Fraction]) -> bool:
    """Tells whether ends are those of a number that is known between two others, or not much wider."""
    low, high = ends
    return (
        low <= high and low <= number[1] and number[0] <= high and high - low <= number[1] - number[0] + WIDE
    )
