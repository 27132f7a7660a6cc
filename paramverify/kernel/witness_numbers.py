"""The numbers of a witness: they are read, compared with each other, and have signs that are decided exactly.

Only the document is used: that a case gives these numbers is checked with the case.

A number is written as people read it: a rational; or a formula in one constant, between two rationals. The
constant is E = exp(q), or ln(b), or t. The first two are transcendental: a polynomial in them is zero only if
it is the zero polynomial, and other signs are decided by enclosures.

At an algebraic point the coordinates, and all numbers, are polynomials in t, where t is the only root of a
`minimal` polynomial in an interval, by Descartes' rule of signs for Bernstein coefficients. A polynomial is
reduced by the minimal polynomial: if the rest is zero, it vanishes at the point. Otherwise its sign is the
one that the Bernstein coefficients of the rest show on the interval, which is halved until they do. Nothing
here needs the minimal polynomial to be irreducible: if it is not, the only consequence is that a value may be
refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from .claim_evidence import check_fails_at
from .evidence_polynomials import ONE, Poly, constant, degree, evaluate, number, parse, plus, power, times
from .proof_goals import Goal, WrittenClaim, bernstein
from .proof_rules import modular
from .rounded_constants import sign_in_exp, sign_of_logs
from .strict_reading import Misformed, Rejected, placed

# --- constants --------------------------------------------------------------------------------------

MAX_DEGREE = 200  # of a minimal polynomial
MAX_HALVINGS = 1_000
T: Poly = {(1,): ONE}  # the constant alone


@dataclass(frozen=True)
class Exponential:
    """E = exp(exponent)."""

    exponent: Fraction

    def sign(self, poly: Poly) -> int:
        """Returns the sign of a polynomial in the constant: -1, 0 or 1; raises Rejected if none is found."""
        return sign_in_exp({x[0]: c for x, c in poly.items()}, self.exponent)


@dataclass(frozen=True)
class Logarithm:
    """ln(base)."""

    base: Fraction

    def sign(self, poly: Poly) -> int:
        """Returns the sign of a polynomial in the constant, as above."""
        return sign_of_logs(poly, [self.base])


@dataclass(frozen=True)
class RootPoint:
    """t, the only root of `minimal` between two rationals, and a point whose coordinates are in t."""

    minimal: Poly
    ends: tuple[Fraction, Fraction]
    coordinates: Mapping[str, Poly]

    def sign(self, poly: Poly) -> int:
        """Returns the sign of a polynomial in the constant, as above."""
        value = modular(T, [poly], self.minimal)
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


Constant = Exponential | Logarithm | RootPoint


def _entries(value: Poly, low: Fraction, high: Fraction) -> list[int]:
    return bernstein(Goal(("t",), {}, {"t": (low, high)}, ()), value).entries


def _isolates(poly: Poly, low: Fraction, high: Fraction) -> bool:
    """Tells whether a polynomial is shown to have exactly one root in an interval, by Descartes' rule."""
    if not low < high:
        return False
    signs = [entry > 0 for entry in _entries(poly, low, high) if entry]
    ends = evaluate(poly, [low]) and evaluate(poly, [high])
    return bool(ends) and sum(a != b for a, b in pairwise(signs)) == 1


def read_place(data: Mapping[str, Any]) -> RootPoint:
    """Reads an algebraic point of evidence.

    Raises:
        Rejected: its interval is not shown to have exactly one root.
    """
    minimal = parse(data["minimal"], ("t",))
    low, high = (number(end) for end in data["interval"])
    if degree(minimal, 0) > MAX_DEGREE or not _isolates(minimal, low, high):
        raise Rejected("the minimal polynomial is not shown to have exactly one root in the interval")
    coordinates = {
        name: modular(T, [parse(text, ("t",))], minimal) for name, text in data["coordinates"].items()
    }
    return RootPoint(minimal, (low, high), coordinates)


def check_place(claim: WrittenClaim, witness: Mapping[str, Any]) -> None:
    """Checks that a claim fails at the algebraic point of a witness, in its domain.

    Raises:
        Rejected: it does not fail there, the point is not in the domain, or something is malformed.
    """
    place = read_place(witness["algebraic"])
    if claim.exponent is not None or claim.goal.ties:
        raise Rejected("an algebraic point for a claim with exp or a logarithm")

    def sign(poly: Poly) -> int:
        return place.sign(modular(poly, [place.coordinates[n] for n in claim.goal.names], place.minimal))

    check_fails_at(claim, place.coordinates.keys(), sign)
    _check_told(place, witness["parameters"])


def _check_told(place: RootPoint, told: Mapping[str, Any]) -> None:
    """Checks the coordinates as people read them: rationals, or only roots of polynomials in intervals."""
    if told.keys() != place.coordinates.keys():
        raise Misformed("these are not the coordinates of the point", "witness", "parameters")
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
            raise Misformed("this is not the coordinate of the point", "witness", "parameters", name)


# --- values -----------------------------------------------------------------------------------------

RATIONAL = r"-?[0-9]+(?:/[0-9]+)?"
MAX_POWER = 10_000


@dataclass(frozen=True)
class Value:
    """A quotient of polynomials in a constant, its denominator positive; a rational is in no constant."""

    top: Poly
    bottom: Poly
    of: Constant | None = None

    def minus(self, other: Value) -> Value:
        """Returns the difference."""
        top = plus(times(self.top, other.bottom), times(other.top, self.bottom), -ONE)
        return Value(top, times(self.bottom, other.bottom), self._common(other))

    def by(self, other: Value) -> Value:
        """Returns the product."""
        return Value(times(self.top, other.top), times(self.bottom, other.bottom), self._common(other))

    def to(self, exponent: int) -> Value:
        """Returns the power with an exponent of at least 1."""
        return Value(power(self.top, exponent), power(self.bottom, exponent), self.of)

    def _common(self, other: Value) -> Constant | None:
        """Returns the constant of both; one of them may be a number without it."""
        one, two = (v.of if any(map(any, (*v.top, *v.bottom))) else None for v in (self, other))
        if one and two and one != two:
            raise Rejected("numbers in two constants")
        return one or two

    def sign(self) -> int:
        """Returns -1, 0 or 1."""
        if self.of:
            return self.of.sign(self.top)
        total = sum(self.top.values())
        return (total > 0) - (total < 0)


def rational(value: Fraction | int) -> Value:
    """Returns a rational number."""
    return Value(constant(Fraction(value), 1), constant(ONE, 1))


def read_value(data: Any, of: Constant | None, *path: str | int) -> Value:
    """Reads a number of a witness; of one with a formula, the rationals must be on both sides of it.

    `of` is the constant of the claim, if it has one.

    Raises:
        Rejected: it is none.
    """
    if isinstance(data, str):
        return rational(number(data))
    with placed("witness", *path):
        value = _formula(data["exact"], of)
        low, high = (rational(number(data[name])) for name in ("lower", "upper"))
        if value.minus(low).sign() < 0 or value.minus(high).sign() > 0:
            raise Rejected("the number does not lie between its bounds")
    return value


def _formula(text: str, of: Constant | None) -> Value:
    if isinstance(of, RootPoint):
        return Value(parse(text, ("t",)), constant(ONE, 1), of)
    logarithms = set(re.findall(r"ln\(([0-9]+(?:/[0-9]+)?)\)", text))
    if len(logarithms) > 1:
        raise Rejected("a formula with two logarithms")
    for argument in logarithms:
        if number(argument) <= 1:
            raise Rejected("a logarithm of a number that is not above 1")
        return _quotient(text.replace(f"ln({argument})", "E"), Logarithm(number(argument)))
    if not isinstance(of, Exponential):
        raise Rejected("a formula with exp, but the claim has no constant")
    match = re.fullmatch(rf"(?:({RATIONAL})\*)?exp\(({RATIONAL})\)", text)
    if match:
        exponent = number(match[2]) / of.exponent
        if exponent.denominator != 1 or abs(exponent) > MAX_POWER:
            raise Rejected("an exponent that is no multiple of the constant's")
        factor, one = constant(number(match[1] or "1"), 1), constant(ONE, 1)
        high: Poly = {(abs(int(exponent)),): ONE}
        return Value(times(factor, high), one, of) if exponent > 0 else Value(factor, high, of)
    body, _, tail = text.partition(" with E = exp(")
    if not tail.endswith(")") or number(tail[:-1]) != of.exponent:
        raise Rejected("not a formula in the constant of the claim")
    return _quotient(body, of)


def _quotient(body: str, of: Constant) -> Value:
    """Reads a quotient of polynomials in E, which stands for the constant."""
    head, quotient, rest = body.partition(")/(")
    parts = (head[1:], rest[:-1]) if quotient else (body, "1")
    # flint writes a first coefficient that is negative in brackets.
    top, bottom = (parse(re.sub(rf"\(({RATIONAL})\)", r"\1", part), ("E",)) for part in parts)
    if of.sign(bottom) <= 0:
        raise Rejected("the denominator is not positive")
    return Value(top, bottom, of)


# --- told -------------------------------------------------------------------------------------------

OUTPUT = ("probabilities", "ratio", "bound")
INEQUALITY = ("relation", "left", "right", "difference", "fails")
MAX_ORDER = 10_000  # of a Rényi divergence: powers of this are computed
MOMENT = ("secrets", "length", "order", "moment", "bound", "exceeds", "largest")
SUM = ("secrets", "length", "measure", "moment", "bound", "exceeds", "largest")  # of one without an order
# What is known of a witness at an algebraic point.
_ALGEBRAIC = {
    *("claim", "parameters", "algebraic", "number", "statement", "secrets", "observations", "distance"),
    *(*OUTPUT, "exceeds", *INEQUALITY),
}


def check_numbers(witness: Mapping[str, Any]) -> None:
    """Checks the numbers of a witness of a violation against each other, as far as it has them.

    Raises:
        Rejected: they contradict each other, or do not say that something is violated.
    """
    algebraic, compared = "algebraic" in witness, "relation" in witness
    of = read_place(witness["algebraic"]) if algebraic else constant_of(witness["claim"].get("constant"))
    if algebraic and (more := witness.keys() - _ALGEBRAIC):
        raise Misformed("not for an algebraic point", "witness", min(more))
    output = (*OUTPUT, "exceeds") if algebraic or "exceeds" in witness else OUTPUT
    both = (_sum_of(witness) if "moment" in witness else output, INEQUALITY)
    for names in (INEQUALITY if compared else output,) if algebraic else both:
        missing = [name for name in names if name not in witness]
        if missing and (algebraic or len(missing) < len(names)):
            raise Misformed(f"the key {missing[0]!r} is missing", "witness")
    if "moment" in witness:
        _check_moment(witness, of)
    if "probabilities" in witness and not (algebraic and compared):
        _check_ratio(witness, of)
    if compared:
        _check_comparison(witness, of)
    if "within" in witness:
        _check_within(witness["within"])
    _check_names(witness)


def _check_within(told: Any) -> None:
    """Checks numbers of a set beside a witness, as far as enclosures go: chances, and their quotient."""
    numbers = (*told["probabilities"], told["ratio"])
    (p, most), (q, r), ratio = ((x, x) if isinstance(x, str) else (x["lower"], x["upper"]) for x in numbers)
    p, most, q, r = map(number, (p, most, q, r))
    agrees = q <= 0 < most
    if told["ratio"] != "infinity":
        agrees = number(ratio[0]) * q <= most and p <= number(ratio[1]) * r
    if not agrees or min(most, r) < 0 or max(p, q) > 1:
        raise Misformed("not the quotient of two probabilities", "witness", "within")


def constant_of(exponent: str | None) -> Exponential | None:
    """Returns the constant of a claim with an exponent as it is written, if it has one."""
    if exponent is not None and number(exponent) <= 0:
        raise Misformed("not positive", "witness", "claim", "constant")
    return None if exponent is None else Exponential(number(exponent))


def _check_names(witness: Mapping[str, Any]) -> None:
    """Checks the names and the counts of a witness, as far as they say something about each other."""
    secrets, two = witness.get("secrets"), "ratio" in witness or "moment" in witness
    if (
        secrets is not None
        and len(secrets) != (2 if two else 1)
        and {"probabilities", "moment"} & witness.keys()
    ):
        raise Misformed(f"not {'two names' if two else 'one name'}", "witness", "secrets")
    if secrets is not None and two and secrets[0] == secrets[1]:
        raise Misformed("twice the same", "witness", "secrets")


def read_chances(witness: Mapping[str, Any], of: Constant | None) -> tuple[Value, Value]:
    """Reads both probabilities of a witness."""
    left, right = (read_value(p, of, "probabilities", k) for k, p in enumerate(witness["probabilities"]))
    for k, chance in enumerate((left, right)):
        if chance.sign() < 0 or chance.minus(rational(1)).sign() > 0:
            raise Misformed("not between 0 and 1", "witness", "probabilities", k)
    return left, right


def read_bound(witness: Mapping[str, Any], of: Constant | None) -> Value:
    """Reads the bound of a witness, a positive number."""
    bound = read_value(witness["bound"], of, "bound")
    if bound.sign() <= 0:
        raise Misformed("not positive", "witness", "bound")
    return bound


def _check_ratio(witness: Mapping[str, Any], of: Constant | None) -> None:
    left, right = read_chances(witness, of)
    if right.sign() == 0:
        agrees = witness["ratio"] == "infinity" and left.sign() != 0
    else:
        agrees = witness["ratio"] not in ("infinity", "undefined")
        agrees = agrees and read_value(witness["ratio"], of, "ratio").by(right).minus(left).sign() == 0
    if not agrees:
        raise Misformed("not the quotient of the probabilities", "witness", "ratio")
    if left.minus(read_bound(witness, of).by(right)).sign() <= 0 or witness.get("exceeds") is False:
        raise Misformed("the probabilities are within the bound, so nothing is violated", "witness")


def _sum_of(witness: Mapping[str, Any]) -> tuple[str, ...]:
    return SUM if "measure" in witness and "order" not in witness else MOMENT


def _check_moment(witness: Mapping[str, Any], of: Constant | None) -> None:
    """Checks a sum of p^order/q^(order−1): it is above its bound, and no smaller than its parts together.

    That of a measure without an order has no parts that are known here.
    """
    known = _sum_of(witness) == MOMENT
    order, endless = witness["order"] if known else 2, witness["moment"] == "infinity"
    if order < 2 or witness["length"] < 1 or witness["moment"] == "undefined":
        raise Misformed("not a sum of an order from 2 on", "witness")
    if order > MAX_ORDER:
        raise Misformed(f"an order above {MAX_ORDER:,}", "witness", "order")
    outputs = [tuple(share["output"]) for share in witness["largest"]]
    if len({*outputs}) < len(outputs) or {*map(len, outputs)} - {witness["length"]}:
        raise Misformed("an output of another length, or one twice", "witness", "largest")
    rest = found = rational(0) if endless else read_value(witness["moment"], of, "moment")
    for k, share in enumerate(witness["largest"]):
        p, q = (read_value(v, of, "largest", k) for v in share["probabilities"])
        if p.sign() <= 0 or q.sign() < 0 or any(v.minus(rational(1)).sign() > 0 for v in (p, q)):
            raise Misformed("not probabilities", "witness", "largest", k)
        if not known:
            continue
        if endless != (q.sign() == 0):
            raise Misformed(
                "a sum is infinite iff an output is possible on the left only", "witness", "moment"
            )
        if not endless:
            rest = rest.minus(p.to(order).by(Value(q.bottom, q.top, q.of).to(order - 1)))
            if rest.sign() < 0:
                raise Misformed("less than its parts", "witness", "moment")
    bound = read_bound(witness, of)
    if not witness["largest"]:
        raise Misformed("no output", "witness", "largest")
    if not witness["exceeds"] or not (endless or found.minus(bound).sign() > 0):
        raise Misformed("the sum is within the bound, so nothing is violated", "witness")


def _check_comparison(witness: Mapping[str, Any], of: Constant | None) -> None:
    left, right, difference = (read_value(witness[k], of, k) for k in ("left", "right", "difference"))
    if left.minus(right).minus(difference).sign():
        raise Misformed("this is not the left side minus the right side", "witness", "difference")
    sign = difference.sign()
    true = {"<": sign < 0, "<=": sign <= 0, ">": sign > 0, ">=": sign >= 0, "==": sign == 0}
    if true[witness["relation"]] or not witness["fails"]:
        raise Misformed("the comparison is true for these sides, so nothing is violated", "witness")
