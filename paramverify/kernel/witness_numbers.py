"""The numbers of a witness: they are read, compared with each other, and have signs that are decided exactly.

Only the document is used: that a case gives these numbers is checked with the case.

A number is written as people read it: a rational; or a formula in E = exp(q), or in ln(b), between two
rationals. Both constants are transcendental, so two quotients of polynomials in one of them are equal iff
they are equal as polynomials. Other signs are decided by enclosures.

At an algebraic point the coordinates, and all numbers, are polynomials in t, where t is the only root of a
`minimal` polynomial in an interval, by Descartes' rule of signs for Bernstein coefficients. A polynomial is
reduced by the minimal polynomial: if the rest is zero, it vanishes at the point. Otherwise its sign is the
one that the Bernstein coefficients of the rest show on the interval, which is halved until they do. Nothing
here needs the minimal polynomial to be irreducible: if it is not, the only consequence is that a value may be
refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from .evidence_polynomials import Poly, constant, degree, evaluate, number, parse, plus, times
from .proof_goals import Goal, WrittenClaim, bernstein
from .proof_rules import modular
from .rounded_constants import sign_in_exp
from .strict_reading import Misformed, Rejected
from .tied_variables import sign_of_logs

# --- values -----------------------------------------------------------------------------------------

RATIONAL = r"-?[0-9]+(?:/[0-9]+)?"
MAX_POWER = 10_000


@dataclass(frozen=True)
class Value:
    """A quotient of polynomials in E = exp(exponent), or in ln(base), its denominator positive."""

    top: Poly
    bottom: Poly
    exponent: Fraction | None
    base: Fraction | None = None

    def minus(self, other: Value) -> Value:
        """Returns the difference."""
        top = plus(times(self.top, other.bottom), times(other.top, self.bottom), Fraction(-1))
        return Value(top, times(self.bottom, other.bottom), self.exponent, self._common(other))

    def by(self, other: Value) -> Value:
        """Returns the product."""
        top, bottom = times(self.top, other.top), times(self.bottom, other.bottom)
        return Value(top, bottom, self.exponent, self._common(other))

    def _common(self, other: Value) -> Fraction | None:
        """Returns the base of both."""
        if self.base is not None and other.base is not None and self.base != other.base:
            raise Rejected("numbers with two logarithms")
        return self.base if self.base is not None else other.base

    def sign(self) -> int:
        """Returns -1, 0 or 1."""
        if self.base is not None:
            return sign_of_logs(self.top, [self.base])
        return sign_in_exp({x[0]: c for x, c in self.top.items()}, self.exponent)


def rational(value: Fraction | int, exponent: Fraction | None = None) -> Value:
    """Returns a rational number."""
    return Value(constant(Fraction(value), 1), constant(Fraction(1), 1), exponent)


def is_true(relation: str, sign: int) -> bool:
    """Tells whether a comparison is true for a difference with this sign."""
    return {"<": sign < 0, "<=": sign <= 0, ">": sign > 0, ">=": sign >= 0, "==": sign == 0}[relation]


def read_value(data: Any, exponent: Fraction | None, *path: str | int) -> Value:
    """Reads a number of a witness; of one with a formula, the rationals must be on both sides of it.

    Raises:
        Rejected: it is none.
    """
    if isinstance(data, str):
        return rational(number(data), exponent)
    try:
        value = _formula(data["exact"], exponent)
        low, high = (rational(number(data[name])) for name in ("lower", "upper"))
        if value.minus(low).sign() < 0 or value.minus(high).sign() > 0:
            raise Rejected("not between its bounds")
    except Rejected as error:
        raise Misformed(str(error), "witness", *path) from None
    return value


def _formula(text: str, exponent: Fraction | None) -> Value:
    logarithms = set(re.findall(r"ln\(([0-9]+(?:/[0-9]+)?)\)", text))
    if logarithms:
        return _in_logarithm(text, logarithms)
    if exponent is None:
        raise Rejected("a formula with exp, but the claim has no constant")
    match = re.fullmatch(rf"(?:({RATIONAL})\*)?exp\(({RATIONAL})\)", text)
    if match:
        power = number(match[2]) / exponent
        if power.denominator != 1 or abs(power) > MAX_POWER:
            raise Rejected("an exponent that is no multiple of the constant's")
        factor = number(match[1] or "1")
        one: Poly = {(0,): Fraction(1)}
        high: Poly = {(abs(int(power)),): Fraction(1)}
        top, bottom = (high, one) if power > 0 else (one, high)
        return Value(times(constant(factor, 1), top), bottom, exponent)
    body, _, tail = text.partition(" with E = exp(")
    if not tail.endswith(")") or number(tail[:-1]) != exponent:
        raise Rejected("not a formula in the constant of the claim")
    return _quotient(body, exponent, None)


def _in_logarithm(text: str, logarithms: set[str]) -> Value:
    if len(logarithms) > 1:
        raise Rejected("a formula with two logarithms")
    (argument,) = logarithms
    base = number(argument)
    if base <= 1:
        raise Rejected("a logarithm of a number that is not above 1")
    return _quotient(text.replace(f"ln({argument})", "E"), None, base)


def _quotient(body: str, exponent: Fraction | None, base: Fraction | None) -> Value:
    """Reads a quotient of polynomials in E, which is exp(exponent) or ln(base)."""
    head, quotient, rest = body.partition(")/(")
    parts = (head[1:], rest[:-1]) if quotient else (body, "1")
    # flint writes a first coefficient that is negative in brackets.
    top, bottom = (parse(re.sub(rf"\(({RATIONAL})\)", r"\1", part), ("E",)) for part in parts)
    if Value(bottom, top, exponent, base).sign() <= 0:
        raise Rejected("the denominator is not positive")
    return Value(top, bottom, exponent, base)


# --- algebraic points -------------------------------------------------------------------------------

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


def check_algebraic_numbers(witness: Mapping[str, Any]) -> None:
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


# --- told -------------------------------------------------------------------------------------------

PRIVACY = ("probabilities", "ratio", "bound")
MAX_ORDER = 10_000  # of a Rényi divergence: powers of this are computed
MOMENT = ("secrets", "length", "order", "moment", "bound", "exceeds", "largest")
SUM = ("secrets", "length", "measure", "moment", "bound", "exceeds", "largest")  # of one without an order
INEQUALITY = ("relation", "left", "right", "difference", "fails")
WORDS = ("infinity", "undefined")  # instead of a quotient by zero


def check_numbers(witness: Mapping[str, Any]) -> None:
    """Checks the numbers of a witness of a violation against each other, as far as it has them.

    Raises:
        Rejected: they contradict each other, or do not say that something is violated.
    """
    if "algebraic" in witness:
        check_algebraic_numbers(witness)
        _check_names(witness)
        return
    exponent = number(witness["claim"]["constant"]) if "constant" in witness["claim"] else None
    if exponent is not None and exponent <= 0:
        raise Misformed("not positive", "witness", "claim", "constant")
    if "moment" in witness:
        _check_moment(witness, exponent)
    for names in (_sum_of(witness) if "moment" in witness else PRIVACY, INEQUALITY):
        given = [name for name in names if name in witness]
        if given and given != list(names):
            missing = next(name for name in names if name not in witness)
            raise Misformed(f"the key {missing!r} is missing", "witness")
    if "probabilities" in witness:
        chances = [
            read_value(p, exponent, "probabilities", k) for k, p in enumerate(witness["probabilities"])
        ]
        for k, chance in enumerate(chances):
            if chance.sign() < 0 or chance.minus(rational(1)).sign() > 0:
                raise Misformed("not between 0 and 1", "witness", "probabilities", k)
        _check_ratio(witness, chances[0], chances[1], exponent)
    if "relation" in witness:
        _check_comparison(witness, exponent)
    _check_names(witness)


def _check_names(witness: Mapping[str, Any]) -> None:
    """Checks the names and the counts of a witness, as far as they say something about each other."""
    secrets = witness.get("secrets")
    two = "ratio" in witness
    if secrets is not None and len(secrets) != (2 if two else 1) and "probabilities" in witness:
        raise Misformed(f"not {'two names' if two else 'one name'}", "witness", "secrets")
    if secrets is not None and two and secrets[0] == secrets[1]:
        raise Misformed("twice the same", "witness", "secrets")


def _check_ratio(witness: Mapping[str, Any], left: Value, right: Value, exponent: Fraction | None) -> None:
    told = witness["ratio"]
    if right.sign() == 0:
        if told != ("infinity" if left.sign() else "undefined"):
            raise Misformed("not the quotient of the probabilities", "witness", "ratio")
    elif told in WORDS or read_value(told, exponent, "ratio").by(right).minus(left).top:
        raise Misformed("not the quotient of the probabilities", "witness", "ratio")
    bound = read_value(witness["bound"], exponent, "bound")
    if bound.sign() <= 0:
        raise Misformed("not positive", "witness", "bound")
    if left.minus(bound.by(right)).sign() <= 0 or witness.get("exceeds") is False:
        raise Misformed("the probabilities are within the bound", "witness")


def _sum_of(witness: Mapping[str, Any]) -> tuple[str, ...]:
    return SUM if "measure" in witness and "order" not in witness else MOMENT


def _check_moment(witness: Mapping[str, Any], exponent: Fraction | None) -> None:
    """Checks a sum of p^order/q^(order−1): it is above its bound, and no smaller than its parts.

    That of a measure without an order has no parts that are known here.
    """
    names = _sum_of(witness)
    for name in names:
        if name not in witness:
            raise Misformed(f"the key {name!r} is missing", "witness")
    known = names == MOMENT
    order, endless = witness["order"] if known else 2, witness["moment"] == "infinity"
    if order < 2 or witness["length"] < 1 or witness["moment"] == "undefined":
        raise Misformed("not a sum of an order from 2 on", "witness")
    if order > MAX_ORDER:
        raise Misformed(f"an order above {MAX_ORDER:,}", "witness", "order")
    found = rational(0) if endless else read_value(witness["moment"], exponent, "moment")
    for k, share in enumerate(witness["largest"]):
        p, q = (read_value(v, exponent, "largest", k) for v in share["probabilities"])
        if p.sign() <= 0 or q.sign() < 0 or any(v.minus(rational(1)).sign() > 0 for v in (p, q)):
            raise Misformed("not probabilities", "witness", "largest", k)
        if not known:
            continue
        if endless != (q.sign() == 0):
            raise Misformed(
                "a sum is infinite iff an output is possible on the left only", "witness", "moment"
            )
        if not endless and found.by(_power(q, order - 1)).minus(_power(p, order)).sign() < 0:
            raise Misformed("less than one of its parts", "witness", "moment")
    bound = read_value(witness["bound"], exponent, "bound")
    if bound.sign() <= 0:
        raise Misformed("not positive", "witness", "bound")
    if not witness["largest"]:
        raise Misformed("no output", "witness", "largest")
    if not witness["exceeds"] or not (endless or found.minus(bound).sign() > 0):
        raise Misformed("the sum is within the bound", "witness")


def _power(value: Value, exponent: int) -> Value:
    found = rational(1)
    for _ in range(exponent):
        found = found.by(value)
    return found


def _check_comparison(witness: Mapping[str, Any], exponent: Fraction | None) -> None:
    left, right, difference = (read_value(witness[k], exponent, k) for k in ("left", "right", "difference"))
    if left.minus(right).minus(difference).top:
        raise Misformed("not the left side minus the right side", "witness", "difference")
    sign = difference.sign()
    if is_true(witness["relation"], sign) or not witness["fails"]:
        raise Misformed("the comparison is true for these sides", "witness")
