"""Checks evidence without trusting the rest of the package: the standard library and other checkers only.

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
blowup        near a vertex, the box is the union of the cones in which one of some distances is largest.
enclose       E stands for exp(q); a rational interval is shown to contain it.
exponential   f is a number in which only E = exp(q) occurs; it is enclosed until its sign shows.
lemma         the same statement (up to a positive number) is proved elsewhere in the document.
solver        not checked: somebody else's answer, reported as trusted.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise, product
from math import comb, lcm
from typing import Any

from paramverify.checker import shapes
from paramverify.checker.strict import Misformed, check, plain, read, shown
from paramverify.checker.strict import Rejected as Rejected

FORMAT, VERSION = "paramverify-evidence", 1
MAX_DEPTH = 60  # proofs inside proofs
MAX_COEFFICIENTS = 2_000_000  # of one Bernstein form, or terms of one product
MAX_EXPONENT = 10_000
MAX_DIGITS = 200_000
TERMS = (10, 30, 100, 300, 1000)  # of the exponential series, one after the other

Poly = dict[tuple[int, ...], Fraction]
Box = dict[str, tuple[Fraction, Fraction]]
Condition = tuple[Poly, bool]


# --- numbers and polynomials ------------------------------------------------------------------------


def integer(text: str) -> int:
    """Reads digits; in pieces, since Python bounds the length of one conversion."""
    if not re.fullmatch(r"[0-9]+", text) or len(text) > MAX_DIGITS:
        raise Rejected(f"not a whole number: {text[:40]!r}")
    value = 0
    for start in range(0, len(text), 4000):
        piece = text[start : start + 4000]
        value = value * 10 ** len(piece) + int(piece)
    return value


def number(text: Any) -> Fraction:
    """Reads an exact rational such as `-3/2`."""
    if not isinstance(text, str):
        raise Rejected(f"a number must be a string, not {text!r:.40}")
    top, slash, bottom = text.removeprefix("-").partition("/")
    denominator = integer(bottom) if slash else 1
    if not denominator:
        raise Rejected("a denominator is zero")
    value = Fraction(integer(top), denominator)
    return -value if text.startswith("-") else value


def parse(text: Any, names: Sequence[str]) -> Poly:
    """Reads a polynomial such as `3/2*p^2*q - p + 1`."""
    if not isinstance(text, str):
        raise Rejected(f"a polynomial must be a string, not {text!r:.40}")
    pieces = re.split(r" ([+-]) ", text.removeprefix("-"))
    signs = ["-" if text.startswith("-") else "+", *pieces[1::2]]
    result: Poly = {}
    for sign, term in zip(signs, pieces[::2], strict=True):
        coefficient, exponents = Fraction(1 if sign == "+" else -1), [0] * len(names)
        for part in term.split("*"):
            name, power, exponent = part.partition("^")
            if name in names:
                exponents[names.index(name)] += integer(exponent) if power else 1
                if max(exponents) > MAX_EXPONENT:
                    raise Rejected(f"an exponent is larger than {MAX_EXPONENT}")
            elif part.startswith("-"):
                raise Rejected(f"not a polynomial: {text[:60]!r}")
            else:
                coefficient *= number(part)
        add(result, tuple(exponents), coefficient)
    return result


def add(target: Poly, exponents: tuple[int, ...], coefficient: Fraction) -> None:
    """Adds one term to a polynomial in place."""
    total = target.get(exponents, 0) + coefficient
    if total:
        target[exponents] = Fraction(total)
    else:
        target.pop(exponents, None)


def plus(left: Poly, right: Poly, factor: Fraction = Fraction(1)) -> Poly:
    """Returns left + factor·right."""
    result = dict(left)
    for exponents, coefficient in right.items():
        add(result, exponents, coefficient * factor)
    return result


def times(left: Poly, right: Poly) -> Poly:
    """Returns the product, computed with whole numbers."""
    if len(left) * len(right) > 20 * MAX_COEFFICIENTS:
        raise Rejected("a product is too large to be checked")
    (a, p), (b, q) = whole(left), whole(right)
    result: dict[tuple[int, ...], int] = {}
    for x, c in a.items():
        for y, d in b.items():
            key = tuple(map(int.__add__, x, y))
            result[key] = result.get(key, 0) + c * d
    return {key: Fraction(value, p * q) for key, value in result.items() if value}


def whole(poly: Poly) -> tuple[dict[tuple[int, ...], int], int]:
    """Returns whole coefficients and the positive number they were multiplied by."""
    scale = lcm(*(c.denominator for c in poly.values()))
    return {x: c.numerator * (scale // c.denominator) for x, c in poly.items()}, scale


def constant(value: Fraction, width: int) -> Poly:
    """Returns a number as a polynomial in so many variables."""
    return {(0,) * width: value} if value else {}


def degree(poly: Poly, axis: int) -> int:
    """Returns the degree in one variable."""
    return max((x[axis] for x in poly), default=0)


def derivative(poly: Poly, axis: int) -> Poly:
    """Returns the partial derivative."""
    return {(*x[:axis], x[axis] - 1, *x[axis + 1 :]): c * x[axis] for x, c in poly.items() if x[axis]}


def compose(poly: Poly, axis: int, image: Poly) -> Poly:
    """Returns the polynomial with one variable replaced by a polynomial, by Horner's rule."""
    rows: dict[int, Poly] = {}
    for x, c in poly.items():
        rows.setdefault(x[axis], {})[(*x[:axis], 0, *x[axis + 1 :])] = c
    result: Poly = {}
    for k in range(degree(poly, axis), -1, -1):
        result = times(result, image) if result else result
        result = plus(result, rows.get(k, {}))
    return result


def evaluate(poly: Poly, values: Sequence[Fraction]) -> Fraction:
    """Returns the value at a point."""
    total = Fraction(0)
    for x, c in poly.items():
        for value, exponent in zip(values, x, strict=True):
            c *= value**exponent
        total += c
    return total


# --- goals and Bernstein forms ----------------------------------------------------------------------


@dataclass(frozen=True)
class Goal:
    """To show: poly ≥ 0 at the points of the box that satisfy the conditions (None: dropped).

    The box is taken as closed, but for the ends named in `open`, as (variable, 0 or 1 for lower or upper).
    """

    names: tuple[str, ...]
    poly: Poly
    box: Box
    conditions: tuple[Condition | None, ...]
    open: frozenset[tuple[str, int]] = frozenset()

    def axis(self, name: str) -> int:
        """Returns the index of a variable that has an interval."""
        if name not in self.box:
            raise Rejected(f"no variable {name!r:.40}")
        return self.names.index(name)

    def condition(self, index: int | str) -> Condition:
        """Returns a condition by its index."""
        if isinstance(index, int) and 0 <= index < len(self.conditions):
            found = self.conditions[index]
            if found is not None:
                return found
        raise Rejected(f"no constraint number {index!r:.40}")

    def about(self, poly: Poly) -> Goal:
        """Returns the goal for another polynomial on the same set."""
        return replace(self, poly=poly)

    def without(self, name: str, poly: Poly) -> Goal:
        """Returns the goal for a polynomial on a set where nothing but its interval restricts a variable.

        Conditions that mention it are dropped: that makes D larger, so it is safe.
        """
        axis = self.axis(name)
        kept = tuple(c if c and not degree(c[0], axis) else None for c in self.conditions)
        return replace(self, poly=poly, conditions=kept)

    def replaced(self, name: str, image: Poly, interval: tuple[Fraction, Fraction]) -> Goal:
        """Returns the goal with a variable replaced by a polynomial, in which it has another interval."""
        axis = self.axis(name)
        conditions = tuple(c and (compose(c[0], axis, image), c[1]) for c in self.conditions)
        kept = self.open - {(name, 0), (name, 1)}
        box = {**self.box, name: interval}
        return Goal(self.names, compose(self.poly, axis, image), box, conditions, kept)

    def within(self, name: str, side: int, at: Fraction) -> Goal:
        """Returns the goal for the part of the box on one side of a cut: below (0) or above (1) it."""
        low, high = self.box[name]
        interval = (at, high) if side else (low, at)
        return replace(self, box={**self.box, name: interval}, open=self.open - {(name, 1 - side)})


@dataclass(frozen=True)
class Form:
    """Bernstein coefficients up to one positive factor: row-major over the axes named."""

    names: tuple[str, ...]
    degrees: tuple[int, ...]
    entries: list[int]

    def lines(self, name: str) -> tuple[int, list[slice]]:
        """Returns the degree along an axis and where each line of coefficients along that axis stands."""
        axis = self.names.index(name)
        d, stride = self.degrees[axis], 1
        for other in self.degrees[axis + 1 :]:
            stride *= other + 1
        starts = (o + i for o in range(0, len(self.entries), stride * (d + 1)) for i in range(stride))
        return d, [slice(s, s + stride * d + 1, stride) for s in starts]

    def cut(self, name: str, ratio: Fraction) -> tuple[Form, Form]:
        """Returns the forms on both sides of a cut, by de Casteljau's averages, scaled to whole numbers."""
        lower, upper = self.entries[:], self.entries[:]
        p, m = ratio.numerator, ratio.denominator
        d, lines = self.lines(name)
        for line in lines:
            row = self.entries[line]
            first, last = [row[0] * m**d], [row[-1] * m**d]
            for k in range(1, d + 1):
                row = [(m - p) * a + p * b for a, b in pairwise(row)]
                first.append(row[0] * m ** (d - k))
                last.append(row[-1] * m ** (d - k))
            lower[line], upper[line] = first, last[::-1]
        return replace(self, entries=lower), replace(self, entries=upper)

    def end(self, name: str, upper: bool) -> Form:
        """Returns the form on the face where a variable is at an end."""
        axis = self.names.index(name)
        _, lines = self.lines(name)
        entries = [self.entries[line][-1 if upper else 0] for line in lines]
        return Form(
            self.names[:axis] + self.names[axis + 1 :],
            self.degrees[:axis] + self.degrees[axis + 1 :],
            entries,
        )

    def slope(self, name: str) -> Form:
        """Returns the form of the derivative along an axis of the unit box."""
        axis = self.names.index(name)
        d, lines = self.lines(name)
        shorter = replace(self, degrees=(*self.degrees[:axis], max(d - 1, 0), *self.degrees[axis + 1 :]))
        if not d:
            return replace(self, entries=[0] * len(self.entries))
        entries = [0] * (len(self.entries) // (d + 1) * d)
        target = replace(shorter, entries=entries)
        for line, place in zip(lines, target.lines(name)[1], strict=True):
            entries[place] = [d * (b - a) for a, b in pairwise(self.entries[line])]
        return target


def bernstein(goal: Goal, poly: Poly) -> Form:
    """Returns the Bernstein coefficients of a polynomial on the box of the goal."""
    axes = [k for k in range(len(goal.names)) if degree(poly, k)]
    names, degrees = tuple(goal.names[k] for k in axes), tuple(degree(poly, k) for k in axes)
    size = 1
    for name, d in zip(names, degrees, strict=True):
        goal.axis(name)
        size *= d + 1
        if size > MAX_COEFFICIENTS:
            raise Rejected("a polynomial has too many Bernstein coefficients")
    entries = [0] * size
    for x, c in whole(poly)[0].items():
        place = 0
        for k, d in zip(axes, degrees, strict=True):
            place = place * (d + 1) + x[k]
        entries[place] = c
    form = Form(names, degrees, entries)
    for name in names:
        d, lines = form.lines(name)
        convert = converter(d, *goal.box[name])
        for line in lines:
            entries[line] = convert(entries[line])
    return form


def converter(d: int, low: Fraction, high: Fraction) -> Any:
    """Returns the map from power to Bernstein coefficients on [low, high], times a positive number.

    With low = a/m and high − low = w/m, m^d·f(x) = Σ fᵢ·m^(d−i)·(a + w·t)^i; and t^j has the Bernstein
    coefficients C(i,j)/C(d,j).
    """
    m = lcm(low.denominator, high.denominator)
    a, w = int(low * m), int((high - low) * m)
    powers = [m ** (d - i) for i in range(d + 1)]
    common = lcm(*(comb(d, j) for j in range(d + 1)))
    weights = [common // comb(d, j) for j in range(d + 1)]
    table = [[comb(i, j) for j in range(i + 1)] for i in range(d + 1)]

    def convert(row: list[int]) -> list[int]:
        shifted = [0] * (d + 1)
        for i in range(d, -1, -1):  # Horner's rule: shifted := shifted·(a + w·t) + the next coefficient
            carried = [w * c for c in shifted[:-1]]
            shifted = [a * c for c in shifted]
            shifted[0] += row[i] * powers[i]
            shifted[1:] = [x + y for x, y in zip(shifted[1:], carried, strict=True)]
        scaled = [c * weight for c, weight in zip(shifted, weights, strict=True)]
        return [sum(b * c for b, c in zip(line, scaled, strict=False)) for line in table]

    return convert


# --- the rules --------------------------------------------------------------------------------------


@dataclass
class Context:
    """What the rules may refer to, and the solvers that a proof trusts."""

    exponent: Fraction | None = None
    lemmas: dict[str, Statement] = field(default_factory=dict)
    trusted: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)


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
        poly, power = parse(item["factor"], goal.names), item["multiplicity"]
        if power < 1:
            raise Rejected("a multiplicity must be a positive whole number")
        degrees = [e + power * degree(poly, k) for k, e in enumerate(degrees)]
        # Every factor mentions a variable, so the degrees bound the number of multiplications.
        if not any(map(any, poly)) or any(e > degree(goal.poly, k) for k, e in enumerate(degrees)):
            raise Rejected("the product of the factors is another polynomial")
        for _ in range(power):
            total = times(total, poly)
        if power % 2:
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


def convex_rule(goal: Goal, proof: Any, context: Context, depth: int, form: Form | None = None) -> None:
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


ONE = Fraction(1)


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


def hessian(form: Form) -> list[list[Fraction]]:
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


def ratio(left: Poly, right: Poly) -> Fraction | None:
    """Returns c with left = c·right, for polynomials that are not zero; None if there is none."""
    if not left or left.keys() != right.keys():
        return None
    quotients = {left[x] / right[x] for x in left}
    return quotients.pop() if len(quotients) == 1 else None


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


def contradiction_rule(goal: Goal, proof: Any, context: Context, depth: int) -> None:
    (left, strict), (right, also) = (goal.condition(index) for index in proof["constraints"])
    quotient = ratio(left, right)
    if quotient is None or quotient > 0 or not (strict or also):
        raise Rejected("the constraints do not contradict each other")


def bound_of(goal: Goal, name: str, poly: Poly) -> tuple[Fraction, Poly]:
    """Returns (a, u) where the polynomial is a·(x − u) with a number a and u without x."""
    axis = goal.axis(name)
    slope = derivative(poly, axis)
    if degree(poly, axis) != 1 or any(map(any, slope)):
        raise Rejected(f"a constraint is not linear in {name} with a number as its coefficient")
    (a,) = slope.values()
    return a, plus({}, {x: c for x, c in poly.items() if not x[axis]}, -1 / a)


def stretch_rule(goal: Goal, proof: Any, context: Context, depth: int) -> None:
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


def eliminate_rule(goal: Goal, proof: Any, context: Context, depth: int) -> None:
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


def blowup_rule(goal: Goal, proof: Any, context: Context, depth: int) -> None:
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
    same = same and known.exponent == context.exponent
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


RULES = {
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
    "blowup": blowup_rule,
    "enclose": enclose_rule,
    "exponential": exponential_rule,
    "lemma": lemma_rule,
    "solver": solver_rule,
}


def exp_bounds(q: Fraction, terms: int) -> tuple[Fraction, Fraction]:
    """Returns bounds of exp(q) for q > 0 by Taylor's series; the rest is below a geometric series.

    Σ_{i≥n} qⁱ/i! ≤ qⁿ/n! · 1/(1 − q/(n+1)) where q < n + 1.
    """
    total, term, n = Fraction(0), ONE, 0
    while n < terms or q >= n + 1:
        total += term
        n += 1
        term = term * q / n
    return total, total + term / (1 - q / (n + 1))


def encloses_exp(q: Fraction, low: Fraction, high: Fraction) -> bool:
    """Tells whether low ≤ exp(q) ≤ high is shown by at most 1000 terms."""
    if not 0 < q <= 1000:
        return False
    for terms in TERMS:
        below, above = exp_bounds(q, terms)
        if low <= below and above <= high:
            return True
        if above < low or high < below:
            return False
    return False


# --- claims and documents ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Report:
    """What a check found: accepted or not, one line for each claim, and how many of which kind.

    `status` is what was shown, computed from the checked parts: holds, violated, unknown or region map.
    `solvers` are those whose word is trusted, `not_compared` says what can only be checked with the case.
    """

    accepted: bool
    lines: tuple[str, ...]
    proved: int = 0
    trusted: int = 0
    open: int = 0
    status: str = ""
    solvers: tuple[str, ...] = ()
    not_compared: tuple[str, ...] = ()


@dataclass(frozen=True)
class Statement:
    """A claim as it is written: its goal, and the exponent q where E stands for exp(q)."""

    goal: Goal
    exponent: Fraction | None


def digest(claim: Any) -> str:
    """Returns the SHA-256 digest of a claim's canonical text."""
    text = json.dumps(claim, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def read_claim(claim: Any) -> Statement:
    """Reads a claim: variables, polynomial, box, constraints, and the constant where there is one.

    Raises:
        Rejected: it is not a claim.
    """
    check(claim, shapes.CLAIM)
    try:
        return _read_claim(claim)
    except _MALFORMED as error:
        raise Rejected(f"not a claim: {error!r:.200}") from error


_MALFORMED = (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError, RecursionError)


def _read_claim(claim: Any) -> Statement:
    names = tuple(claim["variables"])
    if len(set(names)) < len(names) or not all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", n) for n in names):
        raise Rejected("the variables of a claim are not different names")
    box: Box = {}
    ends: set[tuple[str, int]] = set()
    for name, text in claim["box"].items():
        match = re.fullmatch(r"([\[(])([^, ]+), ([^, ]+)([\])])", text)
        if not match or name not in names:
            raise Rejected(f"not an interval of a variable: {name}: {text!r:.60}")
        low, high = box[name] = number(match[2]), number(match[3])
        ends |= {(name, side) for side, bracket in enumerate((match[1], match[4])) if bracket in "()"}
        if low > high or (low == high and {(name, 0), (name, 1)} & ends):
            raise Rejected(f"the interval {text} is empty")
    strict = {">": True, ">=": False}
    conditions = tuple((parse(text, names), strict[relation]) for text, relation in claim["constraints"])
    exponent = number(claim["constant"]) if "constant" in claim else None
    if set(names) - box.keys() - (set() if exponent is None else {"E"}):
        raise Rejected("a variable of a claim has no interval")
    if exponent is not None and (
        names[-1:] != ("E",) or ("E" in box and not encloses_exp(exponent, *box["E"]))
    ):
        raise Rejected(f"the interval of E is not shown to contain exp({exponent})")
    return Statement(
        Goal(names, parse(claim["polynomial"], names), box, conditions, frozenset(ends)), exponent
    )


def check_claim(claim: Any, proof: Any, lemmas: Mapping[str, Any] | None = None) -> tuple[str, ...]:
    """Checks that a proof shows a claim; returns the solvers that it trusts, none if it is replayed in full.

    `lemmas` are proved statements by name that the proof may refer to, as claims.

    Raises:
        Rejected: the proof does not show the claim, or one of them is malformed.
    """
    check(proof, shapes.proof)
    statement = read_claim(claim)
    known = {name: read_claim(lemma) for name, lemma in (lemmas or {}).items()}
    context = Context(statement.exponent, known)
    _replay(statement.goal, proof, context)
    return tuple(sorted(context.trusted))


def _replay(goal: Goal, proof: Any, context: Context) -> None:
    try:
        prove(goal, proof, context)
    except _MALFORMED as error:
        raise Rejected(f"malformed proof: {error!r:.200}") from error


def check_witness(claim: Any, point: Any) -> None:
    """Checks that a claim fails at a rational point of its domain; E is the number that it stands for.

    Raises:
        Rejected: it does not fail there, the point is not in the domain, or something is malformed.
    """
    statement = read_claim(claim)
    check(point, shapes.POINT)
    goal = statement.goal
    try:
        values = {name: number(text) for name, text in point.items()}
        free = [n for n in goal.names if not (n == "E" and statement.exponent is not None)]
        if values.keys() != set(free):
            raise Rejected(f"a point must give {', '.join(free) or 'no parameter'}, and nothing else")
        for name in free:
            low, high = goal.box[name]
            lowest, highest = (name, 0) not in goal.open, (name, 1) not in goal.open
            at = values[name]
            if not (low < at < high or (lowest and at == low) or (highest and at == high)):
                raise Rejected(f"the witness is outside of the domain: {name}")
        for poly, strict in filter(None, goal.conditions):
            found = _sign_at(statement, poly, values)
            if found < 0 or (strict and not found):
                raise Rejected("the witness does not satisfy a constraint")
        if _sign_at(statement, goal.poly, values) >= 0:
            raise Rejected("the claim does not fail at the witness")
    except _MALFORMED as error:
        raise Rejected(f"malformed witness: {error!r:.200}") from error


def _sign_at(statement: Statement, poly: Poly, values: Mapping[str, Fraction]) -> int:
    """Returns the sign at a point; a polynomial in E that is not zero is enclosed until it has a sign."""
    names = statement.goal.names
    constant_axis = names.index("E") if statement.exponent is not None else None
    coefficients: dict[int, Fraction] = {}
    for x, c in poly.items():
        power = 0 if constant_axis is None else x[constant_axis]
        for axis, exponent in enumerate(x):
            if axis != constant_axis:
                c *= values[names[axis]] ** exponent
        coefficients[power] = coefficients.get(power, Fraction(0)) + c
    return sign_in_exp(coefficients, statement.exponent)


def sign_in_exp(coefficients: Mapping[int, Fraction], exponent: Fraction | None) -> int:
    """Returns the sign of Σ c·E^power at E = exp(exponent), by enclosures that are refined."""
    coefficients = {power: c for power, c in coefficients.items() if c}
    if not coefficients.keys() - {0}:
        total = sum(coefficients.values())
        return (total > 0) - (total < 0)
    if exponent is None or not 0 < exponent <= 1000:
        raise Rejected("the exponent of the constant is out of range")
    for terms in TERMS:
        ends = exp_bounds(exponent, terms)
        low = sum(c * ends[c < 0] ** power for power, c in coefficients.items())
        high = sum(c * ends[c > 0] ** power for power, c in coefficients.items())
        if low > 0 or high < 0:
            return 1 if low > 0 else -1
    raise Rejected("the sign of a polynomial in exp is not decided by 1000 terms")


def check_document(
    document: Any,
    expected: Iterable[Any] | None = None,
    case_digest: str | None = None,
    obligations: Iterable[Any] = (),
) -> Report:
    """Checks the evidence of a whole case.

    `expected` are the claims that the case makes, derived by the caller; then the evidence must settle all of
    them. `case_digest` is the SHA-256 digest of the case file. `obligations` are those of the expected
    claims that must be settled also where a witness refutes another one.

    Malformed evidence of any kind gives a report that is not accepted.
    """
    try:
        check(document, shapes.EVIDENCE)
        return _check_document(document, expected, case_digest, obligations)
    except Rejected as error:
        return Report(False, (f"rejected: {error}",))
    except _MALFORMED as error:
        return Report(False, (f"rejected: malformed document: {error!r:.200}",))


def _check_document(
    document: Any, expected: Iterable[Any] | None, case_digest: str | None, obligations: Iterable[Any]
) -> Report:
    if case_digest is not None and document.get("case", {}).get("digest") != case_digest:
        raise Rejected("the evidence belongs to another case file")
    status = document["status"]
    if ("witness" in document) != (status == "violated"):
        raise Misformed("a witness comes with the status violated, and only with it", "status")
    wanted = None if expected is None else {digest(claim) for claim in expected}
    ledger = Ledger(_lemmas(document))
    for index, entry in enumerate(document["claims"]):
        if wanted is not None and digest(entry["claim"]) not in wanted:
            raise Rejected(f"claim {index} is not a claim of this case")
        ledger.enter(index, entry)
    check_points(document, [e["claim"] for e in document["claims"] if e.get("origins")])
    counts, settled, lines = ledger.counts, ledger.settled, ledger.lines
    accepted = not counts["rejected"]
    missing = counts["open"] or not settled or (wanted is not None and wanted - settled)
    if status == "holds" and missing:
        lines.append("rejected: a claim of the case has no proof")
        accepted = False
    if status == "unknown" and wanted is not None and not missing:
        raise Misformed("all claims of the case are proved, so it cannot be 'unknown'", "status")
    if status == "violated":
        witness = document["witness"]
        if wanted is not None and digest(witness["claim"]) not in wanted:
            raise Rejected("the witness is about a claim that the case does not make")
        check_witness(witness["claim"], witness["parameters"])
        if {digest(claim) for claim in obligations} - settled:
            raise Rejected("an obligation of the model is not proved")
        lines.append("witness: the claim fails there")
    return Report(
        accepted,
        tuple(lines),
        counts["proved"],
        counts["trusted"],
        counts["open"],
        status,
        tuple(sorted(ledger.solvers)),
    )


@dataclass
class Lemmas:
    """Lemmas by name, and the solvers that each rests on."""

    known: dict[str, Statement] = field(default_factory=dict)
    supports: dict[str, set[str]] = field(default_factory=dict)

    def solvers(self, context: Context) -> set[str]:
        """Returns the solvers that a replayed proof rests on, also by way of lemmas."""
        return context.trusted.union(*(self.supports[used] for used in context.used))


def _lemmas(document: Any) -> Lemmas:
    found = Lemmas()
    for lemma in document.get("lemmas", []):
        name, statement = lemma["name"], read_claim(lemma["claim"])
        if name in found.known:
            raise Rejected("the lemmas do not have different names")
        context = Context(statement.exponent, dict(found.known))
        _replay(statement.goal, lemma["proof"], context)
        found.known[name] = statement
        found.supports[name] = found.solvers(context)
    return found


@dataclass
class Ledger:
    """Claims of a document one after the other: how many are proved, trusted, open, rejected."""

    lemmas: Lemmas = field(default_factory=Lemmas)
    counts: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("proved", "trusted", "open", "rejected"), 0)
    )
    settled: set[str] = field(default_factory=set)
    seen: dict[str, int] = field(default_factory=dict)
    solvers: set[str] = field(default_factory=set)
    lines: list[str] = field(default_factory=list)

    def enter(self, index: int, entry: Any, what: str = "claim") -> None:
        """Replays the proof of one claim.

        Raises:
            Rejected: it is none, or was there already.
        """
        identity = digest(entry["claim"])
        if self.seen.setdefault(identity, index) != index:
            raise Rejected(f"{what} {index} is {what} {self.seen[identity]} again")
        statement = read_claim(entry["claim"])
        context = Context(statement.exponent, self.lemmas.known)
        origins = entry.get("origins", [])
        more = f" and {len(origins) - 1} more" if len(origins) > 1 else ""
        title = f"{what} {index}" + (f" ({plain(origins[0])}{more})" if origins else "")
        if entry["proof"] is None:
            self.counts["open"] += 1
            self.lines.append(f"{title}: open")
            return
        try:
            _replay(statement.goal, entry["proof"], context)
        except Rejected as error:
            self.counts["rejected"] += 1
            self.lines.append(f"{title}: rejected: {error}")
            return
        self.settled.add(identity)
        solvers = self.lemmas.solvers(context)
        self.solvers |= solvers
        self.counts["trusted" if solvers else "proved"] += 1
        trusted = ", ".join(map(shown, sorted(solvers)))
        self.lines.append(f"{title}: " + (f"trusted to {trusted}" if solvers else "proved"))


def check_obligations(document: Any, wanted: Iterable[Any] | None = None) -> Ledger:
    """Checks the claims about the model itself that a document proves besides; `wanted` are the case's.

    Raises:
        Rejected: a proof fails, or they are not those of the case.
    """
    ledger = Ledger()
    for index, entry in enumerate(document.get("obligations", [])):
        ledger.enter(index, entry, "obligation")
    if ledger.counts["rejected"]:
        raise Rejected(next(line for line in ledger.lines if ": rejected: " in line))
    if wanted is not None and ledger.settled != {digest(claim) for claim in wanted}:
        raise Rejected("the obligations of the model are not those of the case")
    return ledger


def check_points(document: Any, claims: Iterable[Any]) -> None:
    """Checks that the points of a document, if it has any, are in the domain of claims.

    Raises:
        Rejected: one is not.
    """
    points = document.get("points", [])
    if not points:
        return
    domains = {digest(domain): domain for domain in ({**claim, "polynomial": "-1"} for claim in claims)}
    for k, point in enumerate(points):
        for domain in domains.values():
            try:
                check_witness(domain, point)  # the claim −1 ≥ 0 fails at each point of its domain
            except Rejected as error:
                raise Misformed(str(error), "points", k) from None


def check_text(text: str, expected: Iterable[Any] | None = None, case_digest: str | None = None) -> Report:
    """Checks evidence given as JSON text; see `check_document`."""
    try:
        document = read(text)
    except Rejected as error:
        return Report(False, (f"rejected: {error}",))
    return check_document(document, expected, case_digest)
