"""Rules that put another variable into the place of one: for constraints, equations, cones, products.

What they say is in `rules`; `prove` checks what is left.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from .by_roots import product_goal
from .goals import Context, Goal
from .polynomials import ONE, Poly, constant, degree, derivative, plus, ratio, times
from .strict import Rejected
from .ties import Prove


def bound_of(goal: Goal, name: str, poly: Poly) -> tuple[Fraction, Poly]:
    """Returns (a, u) where the polynomial is a·(x − u) with a number a and u without x."""
    axis = goal.axis(name)
    slope = derivative(poly, axis)
    if degree(poly, axis) != 1 or any(map(any, slope)):
        raise Rejected(f"a constraint is not linear in {name} with a number as its coefficient")
    (a,) = slope.values()
    return a, plus({}, {x: c for x, c in poly.items() if not x[axis]}, -1 / a)


def stretch_rule(goal: Goal, proof: Any, context: Context, depth: int, prove: Prove) -> None:
    name, index = proof["variable"], proof["constraint"]
    poly, strict = goal.condition(index)
    a, u = bound_of(goal, name, poly)
    side, sign = (0, ONE) if a < 0 else (1, -ONE)
    # The constraint says x ≤ u (where a < 0) or x ≥ u, and the box bounds x on the other side, by e. So every
    # point of D has x = e + (u − e)·x' with some x' in [0, 1], and ±(u − e) ≥ 0. Where e is open or the
    # constraint strict, x ≠ e or x ≠ u; in both cases u ≠ e, so that x' is not 0 or not 1.
    e, axis = constant(goal.box[name][side], len(goal.names)), goal.axis(name)
    reach, open_end = plus(u, e, -ONE), (name, side) in goal.open
    variable = {tuple(int(k == axis) for k in range(len(goal.names))): ONE}
    conditions = (*goal.conditions[:index], None, *goal.conditions[index + 1 :])
    kept = replace(goal, conditions=conditions)
    new = kept.replaced(name, plus(e, times(reach, variable)), (Fraction(0), ONE))
    room = (plus({}, reach, sign), strict or open_end)
    excluded = {(name, end) for end, out in enumerate((open_end, strict)) if out}
    new = replace(new, conditions=(*new.conditions, room), open=new.open | excluded)
    prove(new, proof["proof"], context, depth)


def eliminate_rule(goal: Goal, proof: Any, context: Context, depth: int, prove: Prove) -> None:
    name, (first, second) = proof["variable"], proof["constraints"]
    left, right = goal.condition(first)[0], goal.condition(second)[0]
    quotient = ratio(left, right)
    if quotient is None or quotient > 0:
        raise Rejected("the constraints are not an equation")
    _, u = bound_of(goal, name, left)
    low, high = (constant(end, len(goal.names)) for end in goal.box[name])
    # Both constraints together say x = u, and the box says low ≤ u ≤ high.
    new = goal.replaced(name, u, goal.box[name])
    room = ((plus(u, low, -ONE), False), (plus(high, u, -ONE), False))
    prove(replace(new, conditions=(*new.conditions, *room)), proof["proof"], context, depth)


def blowup_rule(goal: Goal, proof: Any, context: Context, depth: int, prove: Prove) -> None:
    corner: dict[str, str] = proof["corner"]
    width = len(goal.names)
    if len(corner) < 2 or proof["parts"].keys() != corner.keys():
        raise Rejected("a cone is missing")
    ends: dict[str, tuple[Fraction, Fraction]] = {}  # the vertex, and the signed way to the other end
    for name, side in corner.items():
        goal.axis(name)
        low, high = goal.box[name]
        if low == high:
            raise Rejected(f"{name} has one value only")
        ends[name] = {"lower": (low, high - low), "upper": (high, low - high)}[side]
    for largest, part in proof["parts"].items():
        # Let s = (x − end)/way in [0, 1] for each variable. Where s of `largest` is largest, every other
        # one is r·s with r in [0, 1]; its variable stands for r from here on.
        new = goal
        end, way = ends[largest]
        axis = goal.axis(largest)
        unit = {tuple(int(k == axis) for k in range(width)): 1 / way}
        distance = plus(unit, constant(end / way, width), -ONE)
        for name in corner.keys() - {largest}:
            axis = goal.axis(name)
            variable = {tuple(int(k == axis) for k in range(width)): ends[name][1]}
            image = plus(times(variable, distance), constant(ends[name][0], width))
            new = new.replaced(name, image, (Fraction(0), ONE))
        prove(new, part, context, depth)


def product_rule(goal: Goal, proof: Any, context: Context, depth: int, prove: Prove) -> None:
    prove(product_goal(goal, proof), proof["proof"], context, depth)
