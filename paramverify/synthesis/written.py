"""Exact parts of one parameter's interval as a condition of polynomials, without roots in it."""

from __future__ import annotations

from fractions import Fraction

from paramverify.algebra.polynomials import Polynomial, Ring, rational
from paramverify.algebra.real_roots import RealRoot, sign_at
from paramverify.formats.quantified_questions import (
    AndCondition,
    Condition,
    OrCondition,
    comparison,
    simplified,
)
from paramverify.synthesis.intervals import Partition
from paramverify.synthesis.maps import Status


def condition_of(found: Partition, ring: Ring) -> Condition | None:
    """Returns a condition on the parameter that is true exactly in the safe parts; None for ends with `E`.

    A root α of f in (a, b), its only one there, is written by the sign s of f before it: x ≤ α iff x ≤ a, or
    x < b and s·f(x) ≥ 0.
    """
    x = ring.variable(found.parameter)
    parts: list[Condition] = []
    whole = found.interval
    for part in found.parts:
        if part.status is not Status.SAFE:
            continue
        if not (isinstance(part.lower, RealRoot) and isinstance(part.upper, RealRoot)):
            return None
        ends: list[Condition] = []
        first = part.lower.upper == whole.lower and part.lower_closed == whole.lower_closed
        last = part.upper.lower == whole.upper and part.upper_closed == whole.upper_closed
        if not first or part.is_point:
            ends.append(_beyond(x, part.lower, 1, part.lower_closed))
        if not last or part.is_point:
            ends.append(_beyond(x, part.upper, -1, part.upper_closed))
        parts.append(AndCondition(tuple(ends)))
    return simplified(OrCondition(tuple(parts)))


def _beyond(x: Polynomial, root: RealRoot, side: int, closed: bool) -> Condition:
    """Returns the condition x ≥ α (side 1) or x ≤ α (side −1), or without equality."""
    relation = {(1, True): ">=", (1, False): ">", (-1, True): "<=", (-1, False): "<"}

    def compared(value: Fraction, way: int, equal: bool) -> Condition:
        return comparison(x - x.context().constant(rational(value)), relation[way, equal])

    if root.is_rational:
        return compared(root.lower, side, closed)
    powers = (int(c) * x**k for k, c in enumerate(root.factor.coeffs()))
    value = sum(powers, 0 * x) * sign_at(root.factor, root.lower)
    near = comparison(value, relation[-side, closed])
    away, beside = (root.upper, root.lower) if side > 0 else (root.lower, root.upper)
    return OrCondition((compared(away, side, True), AndCondition((compared(beside, side, False), near))))
