"""Numbers of a witness as people read them: rationals, and formulas in E = exp(q), or in ln(b), between two.

Both are transcendental, so two quotients of polynomials in one of them are equal iff they are as polynomials;
signs are decided by enclosures.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .exponentials import sign_in_exp
from .polynomials import Poly, constant, number, parse, plus, times
from .strict import Misformed, Rejected
from .ties import sign_of_logs

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
