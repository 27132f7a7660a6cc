"""Checks that the numbers of a witness agree with each other: standard library, and the checker of claims.

A number is written as a rational, or as a formula in E = exp(q) with rationals between which it lies. E is
transcendental, so two quotients of polynomials in E are equal iff they are as polynomials; signs are decided
by enclosures. That a case gives these numbers is checked with the case only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .exponentials import sign_in_exp
from .polynomials import Poly, constant, number, parse, plus, times
from .strict import Misformed, Rejected

RATIONAL = r"-?[0-9]+(?:/[0-9]+)?"
PRIVACY = ("probabilities", "ratio", "bound")
INEQUALITY = ("relation", "left", "right", "difference", "fails")
WORDS = ("infinity", "undefined")  # instead of a quotient by zero
MAX_POWER = 10_000
DECIMAL = r"[0-9]+(?:\.[0-9]+)?(?:/[0-9]+)?"
PRIVATE = re.compile(rf"D\s*\{{\s*(?:({DECIMAL})|ln\(\s*({DECIMAL})\s*\))\s*,\s*({DECIMAL})\s*\}}")
PROBABILITY = re.compile(rf"P\s*(<=|>=|<|>)\s*({DECIMAL})\s*\[")


@dataclass(frozen=True)
class Value:
    """A quotient of polynomials in E, its denominator positive."""

    top: Poly
    bottom: Poly
    exponent: Fraction | None

    def minus(self, other: Value) -> Value:
        """Returns the difference."""
        top = plus(times(self.top, other.bottom), times(other.top, self.bottom), Fraction(-1))
        return Value(top, times(self.bottom, other.bottom), self.exponent)

    def by(self, other: Value) -> Value:
        """Returns the product."""
        return Value(times(self.top, other.top), times(self.bottom, other.bottom), self.exponent)

    def sign(self) -> int:
        """Returns -1, 0 or 1."""
        return sign_in_exp({x[0]: c for x, c in self.top.items()}, self.exponent)


def rational(value: Fraction | int, exponent: Fraction | None = None) -> Value:
    """Returns a rational number."""
    return Value(constant(Fraction(value), 1), constant(Fraction(1), 1), exponent)


def check_numbers(witness: Mapping[str, Any]) -> None:
    """Checks the numbers of a witness of a violation against each other, as far as it has them.

    Raises:
        Rejected: they contradict each other, or do not say that something is violated.
    """
    exponent = number(witness["claim"]["constant"]) if "constant" in witness["claim"] else None
    if exponent is not None and exponent <= 0:
        raise Misformed("not positive", "witness", "claim", "constant")
    for names in (PRIVACY, INEQUALITY):
        given = [name for name in names if name in witness]
        # A formula about one chain has probabilities and no ratio.
        if given and given != list(names) and given != ["probabilities"]:
            missing = next(name for name in names if name not in witness)
            raise Misformed(f"the key {missing!r} is missing", "witness")
    if "probabilities" in witness:
        chances = [_read(p, exponent, "probabilities", k) for k, p in enumerate(witness["probabilities"])]
        for k, chance in enumerate(chances):
            if chance.sign() < 0 or chance.minus(rational(1)).sign() > 0:
                raise Misformed("not between 0 and 1", "witness", "probabilities", k)
        if "ratio" in witness:
            _check_ratio(witness, chances[0], chances[1], exponent)
        if "formula" in witness:
            _check_formula(witness, chances, exponent)
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
    if witness.get("index", 0) < 0:
        raise Misformed("negative", "witness", "index")
    actions = witness.get("actions", ())
    if "actions" in witness and not (actions and two):
        raise Misformed("actions are those of two runs, and at least one", "witness", "actions")
    if "repeated" in witness and not 0 < witness["repeated"] <= len(actions):
        raise Misformed("not from one to the number of actions", "witness", "repeated")
    if "schedulers" in witness and two:
        raise Misformed("not for two runs", "witness", "schedulers")


def _check_formula(witness: Mapping[str, Any], chances: Sequence[Value], exponent: Fraction | None) -> None:
    """Compares the numbers in the words of a formula, where they are plain, with those of the witness."""
    private = PRIVATE.match(witness["formula"])
    if private and "ratio" in witness and "delta" not in witness:
        raise Misformed("the key 'delta' is missing", "witness")
    if private and "ratio" in witness:
        bound, delta = _read(witness["bound"], exponent, "bound"), _read(witness["delta"], exponent, "delta")
        power, ratio, more = private.groups()
        wanted = rational(_decimal(ratio), exponent) if ratio else _power(_decimal(power), exponent)
        if wanted is None or bound.minus(wanted).top:
            raise Misformed("not that of the formula", "witness", "bound")
        if delta.minus(rational(_decimal(more), exponent)).top:
            raise Misformed("not that of the formula", "witness", "delta")
    single = PROBABILITY.match(witness["formula"])
    if single and "ratio" not in witness:
        if chances[1].minus(rational(_decimal(single[2]), exponent)).top:
            raise Misformed("not the bound of the formula", "witness", "probabilities", 1)
        if _true(single[1], chances[0].minus(chances[1]).sign()):
            raise Misformed("the probability is within the bound", "witness")
    if (private and "ratio" not in witness) or (single and "ratio" in witness):
        raise Misformed("its numbers are those of another kind of formula", "witness", "formula")


def _decimal(text: str) -> Fraction:
    top, slash, bottom = text.partition("/")
    if slash and not int(bottom):
        raise Misformed("a denominator is zero", "witness", "formula")
    return Fraction(top) / (int(bottom) if slash else 1)


def _power(epsilon: Fraction, exponent: Fraction | None) -> Value | None:
    """Returns exp(epsilon) for epsilon ≥ 0; None where it is no power of the constant of the claim."""
    if not epsilon:
        return rational(1, exponent)
    power = epsilon / exponent if exponent else Fraction(1, 2)
    if power.denominator != 1 or power > MAX_POWER:
        return None
    return Value({(int(power),): Fraction(1)}, constant(Fraction(1), 1), exponent)


def _check_ratio(witness: Mapping[str, Any], left: Value, right: Value, exponent: Fraction | None) -> None:
    told = witness["ratio"]
    if right.sign() == 0:
        if told != ("infinity" if left.sign() else "undefined"):
            raise Misformed("not the quotient of the probabilities", "witness", "ratio")
    elif told in WORDS or _read(told, exponent, "ratio").by(right).minus(left).top:
        raise Misformed("not the quotient of the probabilities", "witness", "ratio")
    bound = _read(witness["bound"], exponent, "bound")
    if bound.sign() <= 0:
        raise Misformed("not positive", "witness", "bound")
    more = _read(witness["delta"], exponent, "delta") if "delta" in witness else rational(0)
    if more.sign() < 0:
        raise Misformed("negative", "witness", "delta")
    if left.minus(more).minus(bound.by(right)).sign() <= 0 or witness.get("exceeds") is False:
        raise Misformed("the probabilities are within the bound", "witness")


def _check_comparison(witness: Mapping[str, Any], exponent: Fraction | None) -> None:
    left, right, difference = (_read(witness[k], exponent, k) for k in ("left", "right", "difference"))
    if left.minus(right).minus(difference).top:
        raise Misformed("not the left side minus the right side", "witness", "difference")
    sign = difference.sign()
    if _true(witness["relation"], sign) or not witness["fails"]:
        raise Misformed("the comparison is true for these sides", "witness")


def _true(relation: str, sign: int) -> bool:
    """Tells whether a comparison is true for a difference with this sign."""
    return {"<": sign < 0, "<=": sign <= 0, ">": sign > 0, ">=": sign >= 0, "==": sign == 0}[relation]


def _read(data: Any, exponent: Fraction | None, *path: str | int) -> Value:
    """Reads a number; of one with a formula, the rationals must be on both sides of it."""
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
    head, quotient, rest = body.partition(")/(")
    parts = (head[1:], rest[:-1]) if quotient else (body, "1")
    # flint writes a first coefficient that is negative in brackets.
    top, bottom = (parse(re.sub(rf"\(({RATIONAL})\)", r"\1", part), ("E",)) for part in parts)
    value = Value(top, bottom, exponent)
    if Value(bottom, top, exponent).sign() <= 0:
        raise Rejected("the denominator is not positive")
    return value
