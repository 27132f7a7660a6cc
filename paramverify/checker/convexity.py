"""The rule of convex polynomials: a positive semidefinite Hessian, and a point where f is least."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from .goals import BernsteinCoefficients, Context, Goal, bernstein
from .polynomials import (
    ONE,
    Poly,
    degree,
    derivative,
    evaluate,
    number,
    parse,
    plus,
    times,
)
from .strict import Rejected as Rejected


def convex_rule(
    goal: Goal, proof: Any, context: Context, depth: int, form: BernsteinCoefficients | None = None
) -> None:
    form = form or bernstein(goal, goal.poly)
    if not semidefinite(hessian(form)):
        raise Rejected("the polynomial is not shown to be convex")
    # On a face, the polynomial may mention fewer variables than the form that was cut down to it.
    names = [name for name in form.names if degree(goal.poly, goal.axis(name))]
    texts = {name: proof["point"][name] for name in names}
    slopes = [(name, derivative(goal.poly, goal.axis(name))) for name in names]
    if "minimal" not in proof:
        point = {name: number(text) for name, text in texts.items()}
        values = [point.get(name, Fraction(0)) for name in goal.names]
        bound = evaluate(goal.poly, values)
        for name, slope in slopes:
            low, high = goal.box[name]
            if not low <= point[name] <= high:
                raise Rejected("the point of the tangent plane is outside of the box")
            steepness = evaluate(slope, values)
            bound += min(steepness * (low - point[name]), steepness * (high - point[name]))
        if bound < 0:
            raise Rejected("the tangent plane is negative somewhere in the box")
        return
    minimal = parse(proof["minimal"], ("t",))
    low, high = (number(end) for end in proof["interval"])
    if not (low < high and evaluate(minimal, [low]) * evaluate(minimal, [high]) < 0):
        raise Rejected("the minimal polynomial is not shown to have a root in the interval")
    line = Goal(("t",), {}, {"t": (low, high)}, ())
    images = {name: parse(text, ("t",)) for name, text in texts.items()}
    for name, image in images.items():
        ends = goal.box[name]
        if negative_on(line, plus(image, {(0,): -ends[0]})) or negative_on(
            line, plus({(0,): ends[1]}, image, Fraction(-1))
        ):
            raise Rejected("the point of the tangent plane is not shown to be in the box")
    coordinates = [images.get(name, {}) for name in goal.names]
    if modular(goal.poly, coordinates, minimal):
        raise Rejected("the polynomial does not vanish at the algebraic point")
    for name, slope in slopes:
        value = modular(slope, coordinates, minimal)
        ends = goal.box[name]
        at_lower = not plus(images[name], {(0,): -ends[0]}) and not negative_on(line, value)
        at_upper = not plus(images[name], {(0,): -ends[1]}) and not negative_on(line, plus({}, value, -ONE))
        # The plane f(z) + Σ sᵢ·(xᵢ − zᵢ) is at least zero on the box if each slope vanishes or points inside.
        if value and not at_lower and not at_upper:
            raise Rejected("the tangent plane is not shown to be at least zero on the box")


def negative_on(goal: Goal, poly: Poly) -> bool:
    """Tells whether a polynomial is not shown to be at least zero on the box."""
    return min(bernstein(goal, poly).entries) < 0


def positive_on(goal: Goal, poly: Poly) -> bool:
    """Tells whether a polynomial is shown to be positive at every point of the box, without its open ends.

    Each point lies inside a face, with the other variables at ends that are in the box. There the basis
    polynomials of that face are positive. A face with a positive coefficient makes all faces that contain it
    good, so it is enough to look at the smallest ones.
    """
    form = bernstein(goal, poly)
    if min(form.entries) < 0:
        return False
    inside = [[end for end in (0, 1) if (name, end) not in goal.open] for name in form.names]
    choices: list[list[int | None]] = [[*ends] or [None] for ends in inside]
    for ends in product(*choices):
        face = form
        for name, end in zip(form.names, ends, strict=True):
            face = face if end is None else face.end(name, end == 1)
        if not any(face.entries):
            return False
    return True


def hessian(form: BernsteinCoefficients) -> list[list[Fraction]]:
    """Returns a matrix that is positive semidefinite only if every Hessian matrix on the (unit) box is.

    With entries between M − R and M + R, xᵀHx ≥ xᵀMx − Σ Rᵢⱼ·|xᵢ|·|xⱼ| ≥ xᵀMx − Σᵢ (Σⱼ Rᵢⱼ)·xᵢ².
    """
    first = [form.slope(name) for name in form.names]
    ranges = [[first[i].slope(name).entries for name in form.names] for i in range(len(first))]
    matrix = [[Fraction(min(e) + max(e), 2) for e in row] for row in ranges]
    for i, row in enumerate(ranges):
        matrix[i][i] -= sum(Fraction(max(e) - min(e), 2) for e in row)
    return matrix


def semidefinite(matrix: list[list[Fraction]]) -> bool:
    """Tells whether a symmetric matrix is positive semidefinite, by elimination."""
    rows = [row[:] for row in matrix]
    for k, row in enumerate(rows):
        if row[k] < 0 or (row[k] == 0 and any(row[k:])):
            return False
        for below in rows[k + 1 :]:
            if row[k]:
                factor = below[k] / row[k]
                below[k:] = [b - factor * a for a, b in zip(row[k:], below[k:], strict=True)]
    return True


def modular(poly: Poly, coordinates: Sequence[Poly], minimal: Poly) -> Poly:
    """Returns the polynomial in t that is congruent to poly(coordinates(t)) modulo the minimal polynomial."""
    d = degree(minimal, 0)

    def reduce(value: Poly) -> Poly:
        while (top := degree(value, 0)) >= d:
            factor = value[(top,)] / minimal[(d,)]
            value = plus(value, {(x[0] + top - d,): c for x, c in minimal.items()}, -factor)
        return value

    powers: list[list[Poly]] = []
    for axis, coordinate in enumerate(coordinates):
        powers.append([{(0,): ONE}])
        for _ in range(degree(poly, axis)):
            powers[-1].append(reduce(times(powers[-1][-1], coordinate)))
    total: Poly = {}
    for x, c in poly.items():
        value: Poly = {(0,): c}
        for axis, exponent in enumerate(x):
            if exponent:
                value = reduce(times(value, powers[axis][exponent]))
        total = plus(total, value)
    return total
