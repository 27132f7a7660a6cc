"""The rules of proofs: each reduces a goal to smaller ones or to a computation, and says why that is enough.

A proof shows `f ≥ 0 on D`, where D is the set of points of a box that satisfy some constraints `g ≥ 0` or
`g > 0`. Nearly all rules prove it on the closure of the box, which is more. Wherever a goal "is shown" below,
the document has a proof of it, to which the same rules apply:

constant      f is a number that is not negative.
fixed         a variable whose interval is one point is replaced by it.
factors       f = c·∏ gᵢ^mᵢ; an even power is a square, for an odd one ±gᵢ ≥ 0 is shown, and the signs
              multiply to +.
sum           f = Σ gᵢ and each gᵢ ≥ 0 is shown.
ends          f is linear, or shown to be concave, in x: it is smallest at an end, and both ends are shown.
monotone      ∂f/∂x ≥ 0 is shown, and f ≥ 0 at the lower end of x (or ≤ 0 and the upper end).
quadratic     f = a·x² + b·x + c with a ≥ 0, c ≥ 0 and 4·a·c − b² ≥ 0 shown.
bernstein     a tree of cuts of the box. At a leaf all Bernstein coefficients of f are ≥ 0, and f is never
              below the least of them; or those of a constraint show that no point of D is there; or another
              proof for that part is given. At a step `low` or `high`, the coefficients of ∂f/∂x show that f
              rises (or falls) with x on this part: it is smallest on the face where x is at that end, and
              the tree goes on there, without the constraints that mention x.
convex        the Hessian is positive semidefinite on the box, so f lies above each tangent plane, and one
              tangent plane is ≥ 0 on the box. Its point may be algebraic if f vanishes there, and each
              slope vanishes or points into the box.
constraint    f = c·g + r with c ≥ 0, a constraint g, and r ≥ 0 shown.
divide        a constraint g = h·k where ±k > 0 on the box gives the constraint ±h.
contradiction two constraints say g ≥ 0 and −g ≥ 0 (up to positive numbers), one strictly: D is empty.
stretch       a constraint bounds x by a polynomial u in other variables: x runs from its other end to u as x'
              runs over [0, 1].
eliminate     two constraints say that x equals a polynomial in other variables.
product       f = g(u), u a product of powers of x or 1 − x, and g ≥ 0 is shown on the values of u.
blowup        near a vertex, the box is the union of the cones in which one of some distances is largest.
enclose       E stands for exp(q); a rational interval is shown to contain it.
exponential   f is a number in which only E = exp(q) occurs; it is enclosed until its sign shows.
logarithm     eps stands for −ln(x)/step; on cells of x it is between polynomials, see `tied_variables`.
squares       m·f = S for a sum of terms S and a multiplier m, which is 1 or a sum of terms, see below.
vanish        a constraint g ≥ 0 with −g = Σ cᵢ·gᵢ² and cᵢ > 0: at the points of D all gᵢ are zero.
lemma         the same statement (up to a positive number) is proved elsewhere in the document.
solver        not checked: the answer of a solver, which is reported as trusted.

A term of `squares` is a product of polynomials that are not negative on D, times a sum of squares with
coefficients that are not negative. The polynomials are `["low", x, a]` for x − a, where a is at most the
lower end of x; `["high", x, b]` for b − x, where b is at least the upper end; and `["constraint", k]`. So
S ≥ 0 and m ≥ 0 on D. The identity proves f ≥ 0 on D in two cases besides m = 1:

1. m > 0 on D: one term of m has factors that are positive on D, and the square of a number.
2. No constraint is used, m is not the zero polynomial, and no variable of m is fixed at one point. Then
   m·f ≥ 0 on the box, m > 0 on a dense part of it, and f is continuous. If no end of a box is used either,
   the same is true of all real numbers in the place of the box.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

from .evidence_polynomials import (
    ONE,
    Condition,
    Poly,
    by_powers,
    constant,
    degree,
    derivative,
    evaluate,
    number,
    parse,
    plus,
    power,
    ratio,
    times,
)
from .product_substitution import product_goal
from .proof_goals import BernsteinCoefficients, Context, Goal, bernstein
from .proof_trees import follow
from .rounded_constants import encloses_exp, sign_in_exp
from .strict_reading import Rejected
from .tied_variables import Show, logarithm_rule

# --- moves ------------------------------------------------------------------------------------------


def bound_of(goal: Goal, name: str, poly: Poly) -> tuple[Fraction, Poly]:
    """Returns (a, u) where the polynomial is a·(x − u) with a number a and u without x."""
    parts = by_powers(poly, goal.axis(name))
    if max(parts, default=0) != 1 or any(map(any, parts[1])):
        raise Rejected(f"a constraint is not linear in {name} with a number as its coefficient")
    (a,) = parts[1].values()
    return a, plus({}, parts.get(0, {}), -1 / a)


def stretch_rule(goal: Goal, proof: Any, show: Show, context: Context) -> None:
    name, index = proof["variable"], proof["constraint"]
    poly, strict = goal.condition(index)
    a, u = bound_of(goal, name, poly)
    side, sign = (0, ONE) if a < 0 else (1, -ONE)
    # The constraint says x ≤ u (where a < 0) or x ≥ u, and the box bounds x on the other side, by e. So every
    # point of D has x = e + (u − e)·x' with some x' in [0, 1], and ±(u − e) ≥ 0. Where e is open or the
    # constraint strict, x ≠ e or x ≠ u; in both cases u ≠ e, so that x' is not 0 or not 1.
    e = constant(goal.box[name][side], len(goal.names))
    reach, open_end = plus(u, e, -ONE), (name, side) in goal.open
    conditions = (*goal.conditions[:index], None, *goal.conditions[index + 1 :])
    kept = replace(goal, conditions=conditions)
    new = kept.replaced(name, plus(e, times(reach, goal.variable(name))), (Fraction(0), ONE))
    room = (plus({}, reach, sign), strict or open_end)
    excluded = {(name, end) for end, out in enumerate((open_end, strict)) if out}
    new = replace(new, conditions=(*new.conditions, room), open=new.open | excluded)
    show(new, proof["proof"])


def eliminate_rule(goal: Goal, proof: Any, show: Show, context: Context) -> None:
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
    show(replace(new, conditions=(*new.conditions, *room)), proof["proof"])


def blowup_rule(goal: Goal, proof: Any, show: Show, context: Context) -> None:
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
        distance = plus(goal.variable(largest, 1 / way), constant(end / way, width), -ONE)
        for name in corner.keys() - {largest}:
            reach = goal.variable(name, ends[name][1])
            image = plus(times(reach, distance), constant(ends[name][0], width))
            new = new.replaced(name, image, (Fraction(0), ONE))
        show(new, part)


def product_rule(goal: Goal, proof: Any, show: Show, context: Context) -> None:
    show(product_goal(goal, proof), proof["proof"])


# --- convex polynomials: a positive semidefinite Hessian, and a point where f is least --------------


def convex_rule(
    goal: Goal, proof: Any, show: Show, context: Context, form: BernsteinCoefficients | None = None
) -> None:
    form = form or bernstein(goal, goal.poly)
    if not semidefinite(hessian(form)):
        raise Rejected("the polynomial is not shown to be convex")
    # On a face, the polynomial may mention fewer variables than the form that was cut down to it.
    names = [name for name in form.names if degree(goal.poly, goal.axis(name))]
    texts = {name: proof["point"].get(name, "0") for name in names}
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


# --- squares ----------------------------------------------------------------------------------------

MAX_SIDES = 256  # of one product; nothing else bounds its degree
MAX_PRODUCT = 10_000  # terms of one product of sides, before those of one monomial are added


def squares_rule(goal: Goal, proof: Any, show: Show, context: Context) -> None:
    total, _ = _sum(goal, proof["terms"])
    product = goal.poly
    if "multiplier" in proof:
        multiplier, positive = _sum(goal, proof["multiplier"])
        product = times(multiplier, goal.poly)
        if not positive:
            sides = [side for term in (*proof["terms"], *proof["multiplier"]) for side in term["product"]]
            _check_dense(goal, multiplier, {side[0] for side in sides})
    if total != product:
        raise Rejected("the sum of squares differs from the polynomial")


def vanish_rule(goal: Goal, proof: Any, show: Show, context: Context) -> None:
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
    show(replace(goal, conditions=(*goal.conditions, *more)), proof["proof"])


def contradiction_rule(goal: Goal, proof: Any, show: Show, context: Context) -> None:
    (left, strict), (right, also) = (goal.condition(index) for index in proof["constraints"])
    quotient = ratio(left, right)
    if quotient is None or quotient > 0 or not (strict or also):
        raise Rejected("the constraints do not contradict each other")


def _check_dense(goal: Goal, multiplier: Poly, sides: set[str]) -> None:
    """Returns if the multiplier, which is at least zero, is positive on a dense part of the box.

    `sides` are the kinds of all polynomials that are used as factors.
    """
    if "constraint" in sides or not multiplier:
        raise Rejected("the multiplier is not shown to be positive")
    for axis, name in enumerate(goal.names):
        if sides and degree(multiplier, axis):
            goal.axis(name)
            low, high = goal.box[name]
            if low == high:
                raise Rejected(f"the multiplier mentions {name}, which has one value only")


def _sum(goal: Goal, terms: Any) -> tuple[Poly, bool]:
    """Returns a sum of terms, and whether one of them is positive on D."""
    total, found = Poly(), False
    for term in terms:
        product, positive = constant(ONE, len(goal.names)), True
        if len(term["product"]) > MAX_SIDES:
            raise Rejected(f"a product of more than {MAX_SIDES} polynomials is not checked")
        for side in term["product"]:
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
            found |= positive and c > 0 and bool(g) and not any(map(any, g))
        total = plus(total, times(product, inner))
    return total, found


def _side(goal: Goal, side: Any) -> Condition:
    """Returns a polynomial that is at least zero on D, and whether it is shown to be positive there."""
    if side[0] == "constraint":
        return goal.condition(side[1])
    name, end = side[1], number(side[2])
    goal.axis(name)
    upper = {"low": 0, "high": 1}[side[0]]
    sign = -ONE if upper else ONE
    room = sign * (goal.box[name][upper] - end)
    if room < 0:
        raise Rejected(f"{name} is not shown to be on one side of {end}")
    poly = plus(goal.variable(name, sign), constant(end, len(goal.names)), -sign)
    return poly, room > 0 or (name, upper) in goal.open


# --- rules ------------------------------------------------------------------------------------------

MAX_DEPTH = 60  # proofs inside proofs


def prove(goal: Goal, proof: Any, context: Context, depth: int = 0) -> None:
    """Returns if the proof, which has the form that `evidence_shapes` gives, shows the goal.

    Raises:
        Rejected: it does not.
    """
    if depth > MAX_DEPTH:
        raise Rejected("proofs are nested too deeply")
    # The other rules move a variable and keep the others; what is tied to it would move, too.
    if proof["kind"] not in AT_POINTS and goal.tied:
        raise Rejected(f"a proof of the kind {proof['kind']!r} cannot be about a logarithm")

    def show(other: Goal, inner: Any) -> None:
        prove(other, inner, context, depth + 1)

    RULES[proof["kind"]](goal, proof, show, context)


def constant_rule(goal: Goal, proof: Any, show: Show, context: Context) -> None:
    if any(any(x) or c < 0 for x, c in goal.poly.items()):
        raise Rejected("the polynomial is not a number that is at least zero")


def fixed_rule(goal: Goal, proof: Any, show: Show, context: Context) -> None:
    name = proof["variable"]
    goal.axis(name)
    low, high = goal.box[name]
    if low != high:
        raise Rejected(f"{name} is not fixed")
    # The variable stays in the list of names, but occurs nowhere any more.
    show(goal.replaced(name, constant(low, len(goal.names)), (low, high)), proof["proof"])


def factors_rule(goal: Goal, proof: Any, show: Show, context: Context) -> None:
    total = constant(number(proof["constant"]), len(goal.names))
    positive = number(proof["constant"]) >= 0
    premises = []
    degrees = [0] * len(goal.names)
    for item in proof["factors"]:
        poly, times_over = parse(item["factor"], goal.names), item["multiplicity"]
        if times_over < 1:
            raise Rejected("a multiplicity must be a positive whole number")
        degrees = [e + times_over * degree(poly, k) for k, e in enumerate(degrees)]
        # Every factor mentions a variable, so the degrees bound the number of multiplications.
        if not any(map(any, poly)) or any(e > degree(goal.poly, k) for k, e in enumerate(degrees)):
            raise Rejected("the product of the factors differs from the polynomial")
        place = goal.names, item["factor"], times_over
        if place not in context.powers:
            context.powers[place] = power(poly, times_over)
        total = times(total, context.powers[place])
        if times_over % 2:
            sign = {"+": 1, "-": -1}[item["sign"]]
            positive ^= sign < 0
            premises.append((goal.about(plus({}, poly, Fraction(sign))), item["proof"]))
    if total != goal.poly:
        raise Rejected("the product of the factors differs from the polynomial")
    if not positive:
        raise Rejected("the signs of the factors make the product negative")
    for premise, part in premises:
        show(premise, part)


def sum_rule(goal: Goal, proof: Any, show: Show, context: Context) -> None:
    parts = [(parse(part["polynomial"], goal.names), part["proof"]) for part in proof["parts"]]
    total: Poly = {}
    for poly, _ in parts:
        total = plus(total, poly)
    if total != goal.poly:
        raise Rejected("the sum of the parts differs from the polynomial")
    for poly, part in parts:
        show(goal.about(poly), part)


def ends_rule(goal: Goal, proof: Any, show: Show, context: Context) -> None:
    name = proof["variable"]
    axis = goal.axis(name)
    if degree(goal.poly, axis) > 1:
        second = derivative(derivative(goal.poly, axis), axis)
        show(goal.without(name, plus({}, second, Fraction(-1))), proof["concave"])
    for upper, key in enumerate(("lower", "upper")):
        # Along x, f is at least the smaller one of its values at the ends. (Concavity is needed on the whole
        # line between them, so it is shown without the conditions that mention x.)
        show(goal.at_end(name, upper), proof[key])


def monotone_rule(goal: Goal, proof: Any, show: Show, context: Context) -> None:
    name, upper = proof["variable"], proof["end"] == "upper"
    slope = plus({}, derivative(goal.poly, goal.axis(name)), -ONE if upper else ONE)
    # The derivative must have its sign on the whole line from the point to the end.
    show(goal.without(name, slope), proof["derivative"])
    show(goal.at_end(name, upper), proof["proof"])


def quadratic_rule(goal: Goal, proof: Any, show: Show, context: Context) -> None:
    name = proof["variable"]
    parts = by_powers(goal.poly, goal.axis(name))
    if max(parts, default=0) != 2:
        raise Rejected(f"the polynomial is not quadratic in {name}")
    c, b, a = (parts.get(power, {}) for power in range(3))
    # Where a > 0, 4·a·f = (2·a·x + b)² + (4·a·c − b²) ≥ 0; where a = 0, also b = 0, and f = c.
    discriminant = plus(plus({}, times(a, c), Fraction(4)), times(b, b), -ONE)
    for key, part in (("leading", a), ("constant", c), ("discriminant", discriminant)):
        show(goal.without(name, part), proof[key])


Formed = tuple[Goal, BernsteinCoefficients]  # a part of the box, with the form of the polynomial there


def bernstein_rule(goal: Goal, proof: Any, show: Show, context: Context) -> None:
    """Follows the tree: a part has its Bernstein form, which is cut with it, and not computed again."""

    def step(part: Formed, token: Any) -> Iterable[Formed]:
        here, form = part
        if token == "+":
            if min(form.entries) < 0:
                raise Rejected("a Bernstein coefficient is negative at a leaf")
            return ()
        if isinstance(token, dict):
            if token["kind"] == "convex":
                convex_rule(here, token, show, context, form)
            else:
                show(here, token)
            return ()
        if token[0] == "outside":
            poly, strict = here.condition(token[1])
            opposite = plus({}, poly, -ONE)
            if negative_on(here, opposite) or not (strict or positive_on(here, opposite)):
                raise Rejected("a constraint is not shown to fail at a leaf")
            return ()
        if token[0] in ("low", "high"):
            name, upper = token[1], token[0] == "high"
            if name not in form.names:
                raise Rejected(f"the polynomial does not mention {name!r:.40}")
            # f is monotone along the axis, so on this part it is at least its value on that face.
            steps = form.slope(name).entries
            if max(steps) > 0 if upper else min(steps) < 0:
                raise Rejected(f"the polynomial is not shown to be monotone in {name}")
            return ((here.at_end(name, upper), form.end(name, upper)),)
        if token[0] != "cut":
            raise Rejected(f"unknown entry of a tree: {token!r:.40}")
        name, (low, high) = token[1], here.cut(token[1], number(token[2]))
        start, end = here.box[name]
        ratio_of = (low.box[name][1] - start) / (end - start)
        forms = form.cut(name, ratio_of) if name in form.names else (form, form)
        return ((low, forms[0]), (high, forms[1]))

    follow(proof["tree"], (goal, bernstein(goal, goal.poly)), step)


def constraint_rule(goal: Goal, proof: Any, show: Show, context: Context) -> None:
    poly, _ = goal.condition(proof["constraint"])
    factor = number(proof["factor"])
    if factor < 0:
        raise Rejected("a constraint is used with a negative factor")
    show(goal.about(plus(goal.poly, poly, -factor)), proof["proof"])


def divide_rule(goal: Goal, proof: Any, show: Show, context: Context) -> None:
    poly, strict = goal.condition(proof["constraint"])
    factor, cofactor = (parse(proof[key], goal.names) for key in ("factor", "cofactor"))
    sign = Fraction({"+": 1, "-": -1}[proof["sign"]])
    if times(factor, cofactor) != poly:
        raise Rejected("the product of the factors differs from the constraint")
    if not positive_on(goal, plus({}, cofactor, sign)):
        raise Rejected("a factor of a constraint is not shown to be positive")
    more = (plus({}, factor, sign), strict)
    show(replace(goal, conditions=(*goal.conditions, more)), proof["proof"])


def enclose_rule(goal: Goal, proof: Any, show: Show, context: Context) -> None:
    if context.exponent is None or "E" in goal.box:
        raise Rejected("there is no constant to enclose")
    low, high = (number(end) for end in proof["interval"])
    if not encloses_exp(context.exponent, low, high):
        raise Rejected(f"exp({context.exponent}) is not shown to be in the interval")
    show(replace(goal, box={**goal.box, "E": (low, high)}), proof["proof"])


def exponential_rule(goal: Goal, proof: Any, show: Show, context: Context) -> None:
    if context.exponent is None or "E" in goal.box:
        raise Rejected("there is no constant that stands for itself")
    if any(any(x[:-1]) for x in goal.poly):
        raise Rejected("another variable than the constant occurs")
    if sign_in_exp({x[-1]: c for x, c in goal.poly.items()}, context.exponent) < 0:
        raise Rejected("the number is negative")


def lemma_rule(goal: Goal, proof: Any, show: Show, context: Context) -> None:
    known = context.lemmas.get(proof["name"])
    if known is None:
        raise Rejected(f"no lemma {proof['name']!r:.40} is proved before this place")
    context.used.add(proof["name"])
    lemma = known.goal
    quotient = ratio(goal.poly, lemma.poly)
    # With E in neither box, both are about the same number exp(q).
    same = lemma.names == goal.names and lemma.box.keys() == goal.box.keys()
    same = same and known.exponent == context.exponent and lemma.ties == goal.ties
    inside = same and all(
        low <= goal.box[name][0] and goal.box[name][1] <= high for name, (low, high) in lemma.box.items()
    )
    # An end that the lemma leaves out must be out of the goal's box too.
    inside = inside and all(
        end in goal.open or lemma.box[end[0]][end[1]] != goal.box[end[0]][end[1]] for end in lemma.open
    )
    inside = inside and all(condition in goal.conditions for condition in lemma.conditions)
    if not inside or not (quotient and quotient > 0):
        raise Rejected(f"the lemma {proof['name']!r:.40} proves something else")


def solver_rule(goal: Goal, proof: Any, show: Show, context: Context) -> None:
    name, version = proof["solver"], proof["version"]
    if not name:
        raise Rejected("a trusted answer must name the solver and its version")
    context.trusted.add(f"{name} {version}".strip())


AT_POINTS = (
    *("constant", "factors", "sum", "constraint", "contradiction", "enclose", "logarithm", "lemma", "solver"),
    *("squares", "vanish"),
)

RULES: dict[str, Callable[[Goal, Any, Show, Context], None]] = {
    "constant": constant_rule,
    "fixed": fixed_rule,
    "factors": factors_rule,
    "sum": sum_rule,
    "ends": ends_rule,
    "monotone": monotone_rule,
    "quadratic": quadratic_rule,
    "bernstein": bernstein_rule,
    "convex": convex_rule,
    "constraint": constraint_rule,
    "divide": divide_rule,
    "contradiction": contradiction_rule,
    "stretch": stretch_rule,
    "eliminate": eliminate_rule,
    "product": product_rule,
    "blowup": blowup_rule,
    "enclose": enclose_rule,
    "exponential": exponential_rule,
    "logarithm": logarithm_rule,
    "squares": squares_rule,
    "vanish": vanish_rule,
    "lemma": lemma_rule,
    "solver": solver_rule,
}
