"""Variables that stand for a logarithm of another one: `eps = −ln(x)/step`, between polynomials in x.

The interval of x is cut into cells. On a cell [a, b] with a > 0 let v = 1 − x/b, so 0 ≤ v ≤ 1 − a/b. Then

    ln(1/x) = ln(1/b) + Σ_{i≥1} vⁱ/i,   and   0 ≤ Σ_{i≥n} vⁱ/i ≤ vⁿ/(n·(1 − v)) ≤ vⁿ·b/(n·a).

So ln(1/x) = low + Σ_{i<n} vⁱ/i + r·(high − low + vⁿ·b/(n·a)) with some r in [0, 1], where ln(1/b) is between
low and high: what is shown for all r in [0, 1] is true. From there on the variable stands for r.

On a cell (0, b] let t = ln(1/x). Where t ≥ T ≥ M and B ≥ T^M·e^(−T), x·t^M = t^M·e^(−t) ≤ B, for t^M·e^(−t)
falls for t ≥ M. With u = 1/t in (0, 1/T] that is x = r·B·u^M with some r in (0, 1]. A polynomial of degree m
in t times u^m > 0 is a polynomial in r and u; from there on x stands for r, and the other variable for u.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from .evidence_polynomials import ONE, Poly, add, constant, degree, number, plus, times
from .proof_goals import Context, Goal, Tie
from .rounded_constants import PRECISIONS, encloses_log, exp_bounds, log_bounds
from .strict_reading import Rejected

Show = Callable[[Goal, Any], None]  # checks a proof inside of a proof

MAX_TERMS = 1_000
MAX_POWER = 500


def logarithm_rule(goal: Goal, proof: Any, show: Show, context: Context) -> None:
    """Checks a proof cell by cell."""
    tie = next((t for t in goal.ties if t.name == proof["variable"]), None)
    if tie is None:
        raise Rejected(f"no variable {proof['variable']!r:.40} that stands for a logarithm")
    low, high = goal.box[tie.variable]
    cuts = [number(cut) for cut in proof["cuts"]]
    ends = [low, *cuts, high]
    if len(proof["parts"]) != len(ends) - 1 or any(
        a > b or (a == b and low < high) for a, b in pairwise(ends)
    ):
        raise Rejected("the cells do not follow each other")
    if not low >= 0 or high > 1:
        raise Rejected("a logarithm is taken of numbers in (0, 1] only")
    for (a, b), part in zip(pairwise(ends), proof["parts"], strict=True):
        cell = replace(
            goal,
            box={**goal.box, tie.variable: (a, b)},
            open=goal.open
            - {(tie.variable, side) for side, end in enumerate((a, b)) if end != (low, high)[side]},
            ties=tuple(t for t in goal.ties if t != tie),
        )
        reduced = _near_zero(cell, tie, b, part) if "power" in part else _between(cell, tie, (a, b), part)
        show(reduced, part["proof"])


def _between(goal: Goal, tie: Tie, cell: tuple[Fraction, Fraction], part: Any) -> Goal:
    """Returns the goal with the logarithm between two polynomials on a cell."""
    (a, b), terms = cell, part["terms"]
    low, high = (number(end) for end in part["enclosure"])
    if not 1 <= terms <= MAX_TERMS or not a > 0:
        raise Rejected("a cell that ends at 0, or no number of terms")
    if b == 1 and not low <= 0 <= high:
        raise Rejected("ln(1) is 0")
    if not encloses_log(1 / b, low, high):
        raise Rejected(f"ln({1 / b}) is not shown to be in the interval")
    width = len(goal.names)
    x, r = goal.variable(tie.variable), goal.variable(tie.name)
    v = plus(constant(ONE, width), x, -1 / b)
    total, power_of_v = constant(low, width), constant(ONE, width)
    for i in range(1, terms):
        power_of_v = times(power_of_v, v)
        total = plus(total, power_of_v, Fraction(1, i))
    rest = plus(constant(high - low, width), times(power_of_v, v), b / (terms * a))
    image = plus({}, plus(total, times(r, rest)), 1 / tie.step)
    unit = Fraction(0), ONE
    return replace(goal, box={**goal.box, tie.name: unit}).replaced(tie.name, image, unit)


def _near_zero(goal: Goal, tie: Tie, b: Fraction, part: Any) -> Goal:
    """Returns the goal on (0, b], in r and u = 1/ln(1/x)."""
    least, exponent, bound = number(part["least"]), part["power"], number(part["bound"])
    if not (0 <= exponent <= MAX_POWER and 0 < least <= 1000 and least >= exponent and 0 < b < 1):
        raise Rejected("no bounds of a logarithm near 0")
    if not any(least <= log_bounds(1 / b, bits)[0] for bits in PRECISIONS[:2]):
        raise Rejected("ln(1/x) is not shown to be as large")
    if bound * exp_bounds(least, 2 * int(least) + 20)[0] < least**exponent:
        raise Rejected("x is not shown to be as small")
    names = goal.names
    u, r = names.index(tie.name), names.index(tie.variable)

    def image(poly: Poly) -> Poly:
        most = degree(poly, u)
        found: Poly = {}
        for monomial, c in poly.items():
            x, t = monomial[r], monomial[u]
            key = list(monomial)
            key[u] = exponent * x + most - t
            add(found, tuple(key), c * bound**x / tie.step**t)
        return found

    box = {**goal.box, tie.variable: (Fraction(0), ONE), tie.name: (Fraction(0), 1 / least)}
    conditions = tuple(c and (image(c[0]), c[1]) for c in goal.conditions)
    ends = (goal.open - {(tie.variable, 1)}) | {(tie.variable, 0), (tie.name, 0)}
    return replace(goal, poly=image(goal.poly), box=box, conditions=conditions, open=ends)
