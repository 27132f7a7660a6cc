"""The rules of proofs: each reduces a goal to smaller ones or to a computation, and says why that is enough.

A proof shows `f ≥ 0 on D`, where D is the set of points of a box that satisfy some constraints `g ≥ 0` or
`g > 0`. (Nearly all rules prove it on the closure of the box, which is more.) Every rule below reduces that
to smaller goals or to a computation with whole numbers, and says why that is enough:

constant      f is a number that is not negative.
fixed         a variable whose interval is one point is replaced by it.
factors       f = c·∏ gᵢ^mᵢ; an even power is a square, for an odd one ±gᵢ ≥ 0 is shown, and the signs
              multiply to +.
sum           f = Σ gᵢ and each gᵢ ≥ 0 is shown.
ends          f is linear, or shown to be concave, in x: it is smallest at an end, and both ends are shown.
monotone      ∂f/∂x ≥ 0 is shown, and f ≥ 0 at the lower end of x (or ≤ 0 and the upper end).
quadratic     f = a·x² + b·x + c with a ≥ 0, c ≥ 0 and 4·a·c − b² ≥ 0 shown.
bernstein     a tree of cuts of the box; at a leaf all Bernstein coefficients of f are ≥ 0, or those of a
              constraint show that no point of D is there, or another proof for that part is given. The
              Bernstein basis is nonnegative on the box and sums to one, so f is an average of coefficients.
convex        the Hessian is positive semidefinite on the box, so f lies above each tangent plane, and one
              tangent plane is ≥ 0 on the box. Its point may be algebraic if f and the slopes vanish there.
constraint    f = c·g + r with c ≥ 0, a constraint g, and r ≥ 0 shown.
divide        a constraint g = h·k where ±k > 0 on the box gives the constraint ±h.
contradiction two constraints say g ≥ 0 and −g ≥ 0, one of them strictly: D is empty.
stretch       a constraint bounds x by a polynomial u in other variables: x runs from its other end to u as x'
              runs over [0, 1].
eliminate     two constraints say that x equals a polynomial in other variables.
product       f = g(u), u a product of powers of x or 1 − x, and g ≥ 0 is shown on the values of u.
blowup        near a vertex, the box is the union of the cones in which one of some distances is largest.
enclose       E stands for exp(q); a rational interval is shown to contain it.
exponential   f is a number in which only E = exp(q) occurs; it is enclosed until its sign shows.
logarithm     eps stands for −ln(x)/step; on cells of x it is between polynomials, see `ties`.
squares       m·f is a sum of squares, some multiplied by what is not negative on D; see `squares` for m.
vanish        a constraint says that a sum of squares is at most zero: each square is zero.
lemma         the same statement (up to a positive number) is proved elsewhere in the document.
solver        not checked: somebody else's answer, reported as trusted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from .convexity import convex_rule, negative_on, positive_on
from .exponentials import encloses_exp, sign_in_exp
from .goals import Context, Goal, bernstein
from .moves import blowup_rule, eliminate_rule, product_rule, stretch_rule
from .polynomials import (
    ONE,
    Poly,
    compose,
    constant,
    degree,
    derivative,
    number,
    parse,
    plus,
    power,
    ratio,
    times,
)
from .squares import contradiction_rule, squares_rule, vanish_rule
from .strict import Rejected as Rejected
from .ties import logarithm_rule

MAX_DEPTH = 60  # proofs inside proofs


def prove(goal: Goal, proof: Any, context: Context, depth: int = 0) -> None:
    """Returns if the proof shows the goal.

    Raises:
        Rejected: it does not.
    """
    if depth > MAX_DEPTH:
        raise Rejected("proofs are nested too deeply")
    if not isinstance(proof, dict):
        raise Rejected(f"a proof must be an object, not {proof!r:.40}")
    kind = proof.get("kind")
    rule = RULES.get(kind) if isinstance(kind, str) else None
    if rule is None:
        raise Rejected(f"unknown kind of proof: {kind!r:.40}")
    # The other rules move a variable and keep the others; what is tied to it would move, too.
    if kind not in AT_POINTS and goal.tied:
        raise Rejected(f"a proof of the kind {kind!r:.40} cannot be about a logarithm")
    rule(goal, proof, context, depth + 1)


def constant_rule(goal: Goal, proof: Any, context: Context, depth: int) -> None:
    if any(any(x) or c < 0 for x, c in goal.poly.items()):
        raise Rejected("the polynomial is not a number that is at least zero")


def fixed_rule(goal: Goal, proof: Any, context: Context, depth: int) -> None:
    name = proof["variable"]
    goal.axis(name)
    low, high = goal.box[name]
    if low != high:
        raise Rejected(f"{name} is not fixed")
    # The variable stays in the list of names, but occurs nowhere any more.
    prove(goal.replaced(name, constant(low, len(goal.names)), (low, high)), proof["proof"], context, depth)


def factors_rule(goal: Goal, proof: Any, context: Context, depth: int) -> None:
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
            raise Rejected("the product of the factors is another polynomial")
        place = goal.names, item["factor"], times_over
        if place not in context.powers:
            context.powers[place] = power(poly, times_over)
        total = times(total, context.powers[place])
        if times_over % 2:
            sign = {"+": 1, "-": -1}[item["sign"]]
            positive ^= sign < 0
            premises.append((goal.about(plus({}, poly, Fraction(sign))), item["proof"]))
    if total != goal.poly:
        raise Rejected("the product of the factors is another polynomial")
    if not positive:
        raise Rejected("the signs of the factors make the product negative")
    for premise, part in premises:
        prove(premise, part, context, depth)


def sum_rule(goal: Goal, proof: Any, context: Context, depth: int) -> None:
    parts = [(parse(part["polynomial"], goal.names), part["proof"]) for part in proof["parts"]]
    total: Poly = {}
    for poly, _ in parts:
        total = plus(total, poly)
    if total != goal.poly:
        raise Rejected("the parts sum to another polynomial")
    for poly, part in parts:
        prove(goal.about(poly), part, context, depth)


def ends_rule(goal: Goal, proof: Any, context: Context, depth: int) -> None:
    name = proof["variable"]
    axis = goal.axis(name)
    if degree(goal.poly, axis) > 1:
        second = derivative(derivative(goal.poly, axis), axis)
        prove(goal.without(name, plus({}, second, Fraction(-1))), proof["concave"], context, depth)
    for key, value in zip(("lower", "upper"), goal.box[name], strict=True):
        at_end = compose(goal.poly, axis, constant(value, len(goal.names)))
        # Along x, f is at least the smaller one of its values at the ends. (Concavity is needed on the whole
        # line between them, so it is shown without the conditions that mention x.)
        prove(goal.without(name, at_end), proof[key], context, depth)


def monotone_rule(goal: Goal, proof: Any, context: Context, depth: int) -> None:
    name, upper = proof["variable"], {"lower": False, "upper": True}[proof["end"]]
    axis = goal.axis(name)
    slope = plus({}, derivative(goal.poly, axis), Fraction(-1 if upper else 1))
    # The derivative must have its sign on the whole line from the point to the end.
    prove(goal.without(name, slope), proof["derivative"], context, depth)
    at_end = compose(goal.poly, axis, constant(goal.box[name][upper], len(goal.names)))
    prove(goal.without(name, at_end), proof["proof"], context, depth)


def quadratic_rule(goal: Goal, proof: Any, context: Context, depth: int) -> None:
    name = proof["variable"]
    axis = goal.axis(name)
    if degree(goal.poly, axis) != 2:
        raise Rejected(f"the polynomial is not quadratic in {name}")
    parts: list[Poly] = [{}, {}, {}]
    for x, coefficient in goal.poly.items():
        parts[x[axis]][(*x[:axis], 0, *x[axis + 1 :])] = coefficient
    c, b, a = parts
    # Where a > 0, 4·a·f = (2·a·x + b)² + (4·a·c − b²) ≥ 0; where a = 0, also b = 0, and f = c.
    discriminant = plus(times({(0,) * len(goal.names): Fraction(4)}, times(a, c)), times(b, b), -ONE)
    for key, part in (("leading", a), ("constant", c), ("discriminant", discriminant)):
        prove(goal.without(name, part), proof[key], context, depth)


def bernstein_rule(goal: Goal, proof: Any, context: Context, depth: int) -> None:
    """Follows the tree, which is written in preorder: the lower part of a cut comes first."""
    pending = [(goal, bernstein(goal, goal.poly))]
    for token in proof["tree"]:
        if not pending:
            raise Rejected("the tree has too many leaves")
        here, form = pending.pop()
        if token == "+":
            if min(form.entries) < 0:
                raise Rejected("a Bernstein coefficient is negative at a leaf")
        elif isinstance(token, dict):
            if token.get("kind") == "convex":
                convex_rule(here, token, context, depth, form)
            else:
                prove(here, token, context, depth)
        elif token[0] == "outside":
            poly, strict = here.condition(token[1])
            opposite = plus({}, poly, -ONE)
            if negative_on(here, opposite) or not (strict or positive_on(here, opposite)):
                raise Rejected("a constraint is not shown to fail at a leaf")
        elif token[0] in ("low", "high"):
            name, upper = token[1], token[0] == "high"
            if name not in form.names:
                raise Rejected(f"the polynomial does not mention {name!r:.40}")
            # f is monotone along the axis, so on this part it is at least its value on that face.
            steps = form.slope(name).entries
            if max(steps) > 0 if upper else min(steps) < 0:
                raise Rejected(f"the polynomial is not shown to be monotone in {name}")
            value = constant(here.box[name][upper], len(here.names))
            lower = here.without(name, compose(here.poly, here.axis(name), value))
            pending.append((lower, form.end(name, upper)))
        elif token[0] == "cut":
            name, at = token[1], number(token[2])
            here.axis(name)
            low, high = here.box[name]
            if not low < at < high:
                raise Rejected(f"the cut of {name} at {at} is not inside")
            forms = form.cut(name, (at - low) / (high - low)) if name in form.names else (form, form)
            pending += [(here.within(name, side, at), forms[side]) for side in (1, 0)]
        else:
            raise Rejected(f"unknown entry of a tree: {token!r:.40}")
    if pending:
        raise Rejected("a leaf of the tree is missing")


def constraint_rule(goal: Goal, proof: Any, context: Context, depth: int) -> None:
    poly, _ = goal.condition(proof["constraint"])
    factor = number(proof["factor"])
    if factor < 0:
        raise Rejected("a constraint is used with a negative factor")
    prove(goal.about(plus(goal.poly, poly, -factor)), proof["proof"], context, depth)


def divide_rule(goal: Goal, proof: Any, context: Context, depth: int) -> None:
    poly, strict = goal.condition(proof["constraint"])
    factor, cofactor = (parse(proof[key], goal.names) for key in ("factor", "cofactor"))
    sign = Fraction({"+": 1, "-": -1}[proof["sign"]])
    if times(factor, cofactor) != poly:
        raise Rejected("the product of the factors is another constraint")
    if not positive_on(goal, plus({}, cofactor, sign)):
        raise Rejected("a factor of a constraint is not shown to be positive")
    more = (plus({}, factor, sign), strict)
    prove(replace(goal, conditions=(*goal.conditions, more)), proof["proof"], context, depth)


def enclose_rule(goal: Goal, proof: Any, context: Context, depth: int) -> None:
    if context.exponent is None or "E" in goal.box or goal.names[-1:] != ("E",):
        raise Rejected("there is no constant to enclose")
    low, high = (number(end) for end in proof["interval"])
    if not encloses_exp(context.exponent, low, high):
        raise Rejected(f"exp({context.exponent}) is not shown to be in the interval")
    prove(replace(goal, box={**goal.box, "E": (low, high)}), proof["proof"], context, depth)


def exponential_rule(goal: Goal, proof: Any, context: Context, depth: int) -> None:
    if context.exponent is None or "E" in goal.box or goal.names[-1:] != ("E",):
        raise Rejected("there is no constant that stands for itself")
    if any(any(x[:-1]) for x in goal.poly):
        raise Rejected("another variable than the constant occurs")
    if sign_in_exp({x[-1]: c for x, c in goal.poly.items()}, context.exponent) < 0:
        raise Rejected("the number is negative")


def lemma_rule(goal: Goal, proof: Any, context: Context, depth: int) -> None:
    known = context.lemmas.get(proof["name"])
    if known is None:
        raise Rejected(f"no lemma {proof['name']!r:.40} before this place")
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
        raise Rejected(f"the lemma {proof['name']!r:.40} says something else")


def solver_rule(goal: Goal, proof: Any, context: Context, depth: int) -> None:
    name, version = proof["solver"], proof["version"]
    if not name:
        raise Rejected("a trusted answer must name the solver and its version")
    context.trusted.add(f"{name} {version}".strip())


AT_POINTS = (
    *("constant", "factors", "sum", "constraint", "contradiction", "enclose", "logarithm", "lemma", "solver"),
    *("squares", "vanish"),
)

RULES: dict[str, Callable[..., None]] = {
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
    "stretch": partial(stretch_rule, prove=prove),
    "eliminate": partial(eliminate_rule, prove=prove),
    "product": partial(product_rule, prove=prove),
    "blowup": partial(blowup_rule, prove=prove),
    "enclose": enclose_rule,
    "exponential": exponential_rule,
    "logarithm": partial(logarithm_rule, prove=prove),
    "squares": squares_rule,
    "vanish": partial(vanish_rule, prove=prove),
    "lemma": lemma_rule,
    "solver": solver_rule,
}
