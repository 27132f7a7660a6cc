"""Witnesses at algebraic points: coordinates are polynomials in t, one root of a polynomial in an interval.

A polynomial whose value, reduced by the minimal polynomial, is zero vanishes at the point. Another value has
the sign that its Bernstein coefficients show on the interval, which is halved until they do. Nothing here
needs the minimal polynomial to be irreducible: where it is not, a value may only be refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from .convexity import modular
from .goals import Goal, WrittenClaim, bernstein
from .polynomials import Poly, constant, degree, evaluate, number, parse, plus, times
from .strict import Misformed, Rejected
from .values import is_true

MAX_DEGREE = 200  # of a minimal polynomial
MAX_HALVINGS = 1_000
ONE = Fraction(1)
COMPARISON = ("relation", "left", "right", "difference", "fails")
OUTPUT = ("probabilities", "ratio", "bound", "exceeds")
KEYS = {
    *("claim", "parameters", "algebraic", "number", "statement", "secrets", "observations", "distance"),
    *COMPARISON,
    *OUTPUT,
}


@dataclass(frozen=True)
class RootPoint:
    """A point: the only root of `minimal` between two rationals, and coordinates as polynomials in it."""

    minimal: Poly
    ends: tuple[Fraction, Fraction]
    coordinates: Mapping[str, Poly]

    def value(self, poly: Poly, names: Sequence[str]) -> Poly:
        """Returns the value of a polynomial, reduced."""
        return modular(poly, [self.coordinates[name] for name in names], self.minimal)

    def sign(self, value: Poly) -> int:
        """Returns the sign of a reduced value: -1, 0 or 1.

        Raises:
            Rejected: it was not found.
        """
        if not value:
            return 0
        low, high = self.ends
        below = evaluate(self.minimal, [low]) > 0
        for _ in range(MAX_HALVINGS):
            entries = _entries(value, low, high)
            if min(entries) > 0 or max(entries) < 0:
                return 1 if entries[0] > 0 else -1
            middle = (low + high) / 2
            at = evaluate(self.minimal, [middle])
            if not at:
                exact = evaluate(value, [middle])
                return (exact > 0) - (exact < 0)
            low, high = (middle, high) if (at > 0) == below else (low, middle)
        raise Rejected("the sign of a value at an algebraic point is not shown")


def _entries(value: Poly, low: Fraction, high: Fraction) -> Sequence[Fraction | int]:
    return bernstein(Goal(("t",), {}, {"t": (low, high)}, ()), value).entries


def _isolates(poly: Poly, low: Fraction, high: Fraction) -> bool:
    """Tells whether a polynomial is shown to have exactly one root in an interval, by Descartes' rule."""
    if not low < high or degree(poly, 0) < 1:
        return False
    signs = [entry > 0 for entry in _entries(poly, low, high) if entry]
    ends = evaluate(poly, [low]) and evaluate(poly, [high])
    return bool(ends) and sum(a != b for a, b in pairwise(signs)) == 1


def read_place(data: Mapping[str, Any]) -> RootPoint:
    """Reads a point of evidence.

    Raises:
        Rejected: its interval is not shown to have exactly one root.
    """
    minimal = parse(data["minimal"], ("t",))
    low, high = (number(end) for end in data["interval"])
    if degree(minimal, 0) > MAX_DEGREE or not _isolates(minimal, low, high):
        raise Rejected("the minimal polynomial is not shown to have exactly one root in the interval")
    coordinates = {}
    for name, text in data["coordinates"].items():
        coordinates[name] = modular({(1,): ONE}, [parse(text, ("t",))], minimal)
    return RootPoint(minimal, (low, high), coordinates)


def check_place(statement: WrittenClaim, witness: Mapping[str, Any]) -> None:
    """Checks that a claim fails at the algebraic point of a witness, in its domain.

    Raises:
        Rejected: it does not fail there, the point is not in the domain, or something is malformed.
    """
    goal = statement.goal
    place = read_place(witness["algebraic"])
    if statement.exponent is not None or goal.ties:
        raise Rejected("an algebraic point for a claim with exp or a logarithm")
    if place.coordinates.keys() != set(goal.names):
        raise Rejected(f"a point must give {', '.join(goal.names) or 'no parameter'}, and nothing else")
    for name in goal.names:
        for side, end in enumerate(goal.box[name]):
            away = plus(place.coordinates[name], constant(end, 1), -ONE)
            sign = place.sign(away) * (-1 if side else 1)
            if sign < 0 or (sign == 0 and (name, side) in goal.open):
                raise Rejected(f"the witness is outside of the domain: {name}")
    for poly, strict in filter(None, goal.conditions):
        if place.sign(place.value(poly, goal.names)) < strict:
            raise Rejected("the witness does not satisfy a constraint")
    if place.sign(place.value(goal.poly, goal.names)) >= 0:
        raise Rejected("the claim does not fail at the witness")
    _check_told(place, witness["parameters"])


def _check_told(place: RootPoint, told: Mapping[str, Any]) -> None:
    """Checks the coordinates as people read them: rationals, or only roots of polynomials in intervals."""
    if told.keys() != place.coordinates.keys():
        raise Misformed("not the coordinates of the point", "witness", "parameters")
    for name, data in told.items():
        at = place.coordinates[name]
        if isinstance(data, str):
            right = not plus(at, constant(number(data), 1), -ONE)
        else:
            low, high = number(data["lower"]), number(data["upper"])
            root = parse(data["root_of"], ("x",))
            right = _isolates(root, low, high) and not modular(root, [at], place.minimal)
            right = right and place.sign(plus(at, constant(low, 1), -ONE)) > 0
            right = right and place.sign(plus(constant(high, 1), at, -ONE)) > 0
        if not right:
            raise Misformed("not the coordinate of the point", "witness", "parameters", name)


def check_numbers(witness: Mapping[str, Any]) -> None:
    """Checks the numbers of a witness at an algebraic point against each other.

    Raises:
        Rejected: they contradict each other, or do not say that something is violated.
    """
    place = read_place(witness["algebraic"])
    if more := witness.keys() - KEYS:
        raise Misformed("not for an algebraic point", "witness", min(more))
    for name in COMPARISON if "relation" in witness else OUTPUT:
        if name not in witness:
            raise Misformed(f"the key {name!r} is missing", "witness")
    if "relation" in witness:
        left, right, difference = (_number(place, witness, name) for name in ("left", "right", "difference"))
        if plus(plus(left, right, -ONE), difference, -ONE):
            raise Misformed("not the left side minus the right side", "witness", "difference")
        if is_true(witness["relation"], place.sign(difference)) or not witness["fails"]:
            raise Misformed("the comparison is true for these sides", "witness")
        return
    left, right = (_number(place, witness, "probabilities", k) for k in (0, 1))
    for k, chance in enumerate((left, right)):
        if place.sign(chance) < 0 or place.sign(plus(chance, constant(ONE, 1), -ONE)) > 0:
            raise Misformed("not between 0 and 1", "witness", "probabilities", k)
    bound = _number(place, witness, "bound")
    if place.sign(bound) <= 0:
        raise Misformed("not positive", "witness", "bound")
    if witness["ratio"] == "infinity":
        quotient = not right and bool(left)
    else:
        ratio = _number(place, witness, "ratio")
        quotient = bool(right) and not plus(_product(place, ratio, right), left, -ONE)
    if not quotient:
        raise Misformed("not the quotient of the probabilities", "witness", "ratio")
    if place.sign(plus(left, _product(place, bound, right), -ONE)) <= 0 or not witness["exceeds"]:
        raise Misformed("the probabilities are within the bound", "witness")


def _product(place: RootPoint, left: Poly, right: Poly) -> Poly:
    return modular({(1,): ONE}, [times(left, right)], place.minimal)


def _number(place: RootPoint, witness: Mapping[str, Any], *path: str | int) -> Poly:
    """Reads a number: a rational, or a polynomial in t between two rationals; reduced."""
    data: Any = witness
    for step in path:
        data = data[step]
    if isinstance(data, str):
        return constant(number(data), 1)
    value = modular({(1,): ONE}, [parse(data["exact"], ("t",))], place.minimal)
    low, high = (constant(number(data[name]), 1) for name in ("lower", "upper"))
    if place.sign(plus(value, low, -ONE)) < 0 or place.sign(plus(high, value, -ONE)) < 0:
        raise Misformed("not between its bounds", "witness", *path)
    return value
