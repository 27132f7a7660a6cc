"""Sums of squares: identities between polynomials, which are multiplied out again; and contradictions.

A term is a product of polynomials that are not negative on D, times squares with coefficients that are
not negative. The polynomials are `["low", x, a]` for x − a, where a is at most the lower end of x;
`["high", x, b]` for b − x, where b is at least the upper end; and `["constraint", k]`. So a sum S of terms
is ≥ 0 on D.

squares   m·f = S for a sum of terms S and a multiplier m, which is a sum of terms, too, or 1. It proves f ≥ 0
          on D in two cases. (1) m > 0 on D: one term of m has factors that are positive on D, and the square
          of a number. (2) No constraint is used, m is not the zero polynomial, and the variables of m have an
          inside: so m·f ≥ 0 on the box, m > 0 on a dense part of it, and f is continuous. Where no end of a
          box is used either, the same is true of all real numbers in the place of the box.
vanish    a constraint g ≥ 0 with −g = Σ cᵢ·gᵢ² and cᵢ > 0: at the points of D all gᵢ are zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from .goals import Context, Goal
from .polynomials import ONE, Condition, Poly, constant, degree, number, parse, plus, ratio, times
from .strict import Rejected as Rejected

MAX_SIDES = 256  # of one product; nothing else bounds its degree
MAX_PRODUCT = 10_000  # terms of one product of sides, before those of one monomial are added


@dataclass
class _TermSum:
    """A sum of terms; what it uses, and whether it is positive on D by one of its terms."""

    poly: Poly = field(default_factory=dict)
    box: bool = False
    constraints: bool = False
    positive: bool = False


def squares_rule(goal: Goal, proof: Any, context: Context, depth: int) -> None:
    total = _sum(goal, proof["terms"])
    product = goal.poly
    if "multiplier" in proof:
        multiplier = _sum(goal, proof["multiplier"])
        product = times(multiplier.poly, goal.poly)
        if not multiplier.positive:
            _dense(goal, multiplier, total)
    if total.poly != product:
        raise Rejected("the sum of squares is another polynomial")


def vanish_rule(goal: Goal, proof: Any, context: Context, depth: int, prove: Callable[..., None]) -> None:
    poly, _ = goal.condition(proof["constraint"])
    total, more = dict(poly), list[Condition]()
    for coefficient, text in proof["squares"]:
        c, g = number(coefficient), parse(text, goal.names)
        if c <= 0:
            raise Rejected("a square that must vanish has a coefficient that is not positive")
        total = plus(total, times(g, g), c)
        more += [(g, False), (plus({}, g, -ONE), False)]
    if total:
        raise Rejected("the constraint is no sum of squares with the other sign")
    prove(replace(goal, conditions=(*goal.conditions, *more)), proof["proof"], context, depth)


def contradiction_rule(goal: Goal, proof: Any, context: Context, depth: int) -> None:
    (left, strict), (right, also) = (goal.condition(index) for index in proof["constraints"])
    quotient = ratio(left, right)
    if quotient is None or quotient > 0 or not (strict or also):
        raise Rejected("the constraints do not contradict each other")


def _dense(goal: Goal, multiplier: _TermSum, total: _TermSum) -> None:
    """Returns if the multiplier, which is at least zero, is positive on a dense part of the box."""
    if multiplier.constraints or total.constraints or not multiplier.poly:
        raise Rejected("the multiplier is not shown to be positive")
    for axis, name in enumerate(goal.names):
        if (multiplier.box or total.box) and degree(multiplier.poly, axis):
            goal.axis(name)
            low, high = goal.box[name]
            if low == high:
                raise Rejected(f"the multiplier mentions {name}, which has one value only")


def _sum(goal: Goal, terms: Any) -> _TermSum:
    found = _TermSum()
    for term in terms:
        product, positive = constant(ONE, len(goal.names)), True
        if len(term["product"]) > MAX_SIDES:
            raise Rejected(f"a product of more than {MAX_SIDES} polynomials is not checked")
        for side in term["product"]:
            found.constraints |= side[0] == "constraint"
            found.box |= side[0] != "constraint"
            poly, strict = _side(goal, side)
            if len(product) * len(poly) > MAX_PRODUCT:
                raise Rejected("a product of sides is too large to be checked")
            product, positive = times(product, poly), positive and strict
        inner: Poly = {}
        for coefficient, text in term["squares"]:
            c, g = number(coefficient), parse(text, goal.names)
            if c < 0:
                raise Rejected("the coefficient of a square is negative")
            inner = plus(inner, times(g, g), c)
            found.positive |= positive and c > 0 and bool(g) and not any(map(any, g))
        found.poly = plus(found.poly, times(product, inner))
    return found


def _side(goal: Goal, side: Any) -> Condition:
    """Returns a polynomial that is at least zero on D, and whether it is shown to be positive there."""
    if side[0] == "constraint":
        return goal.condition(side[1])
    name, end = side[1], number(side[2])
    axis, upper = goal.axis(name), {"low": 0, "high": 1}[side[0]]
    sign = -ONE if upper else ONE
    room = sign * (goal.box[name][upper] - end)
    if room < 0:
        raise Rejected(f"{name} is not shown to be on one side of {end}")
    linear = {tuple(int(k == axis) for k in range(len(goal.names))): sign}
    poly = plus(linear, constant(Fraction(-sign * end), len(goal.names)))
    return poly, room > 0 or (name, upper) in goal.open
