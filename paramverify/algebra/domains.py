"""Parameter domains: boxes with open and closed ends, and polynomial constraints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from paramverify.algebra.constants import GENERATOR, ExpConstant
from paramverify.algebra.expressions import constant
from paramverify.algebra.polynomials import (
    Point,
    Polynomial,
    Ring,
    value_at,
)
from paramverify.algebra.simplest import simplest_between
from paramverify.algebra.ties import sign_at, tied_in
from paramverify.errors import DomainError, ExpressionError

RELATIONS = ("<", "<=", ">", ">=", "==")


@dataclass(frozen=True)
class Interval:
    """A bounded interval with rational ends, each open or closed; a single point has both ends closed."""

    lower: Fraction
    upper: Fraction
    lower_closed: bool = False
    upper_closed: bool = False

    def __post_init__(self) -> None:
        single = self.lower == self.upper and self.lower_closed and self.upper_closed
        if not (self.lower < self.upper or single):
            raise DomainError(f"the interval {self} is empty")

    @property
    def is_point(self) -> bool:
        """Whether the interval has one point only."""
        return self.lower == self.upper

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, (Fraction, int)):
            return False
        above = value > self.lower or (self.lower_closed and value == self.lower)
        below = value < self.upper or (self.upper_closed and value == self.upper)
        return above and below

    def simplest(self) -> Fraction:
        """Returns the simplest rational inside, away from the ends where there is an inside."""
        return self.lower if self.is_point else simplest_between(self.lower, self.upper)

    def near(self, lower: Fraction, upper: Fraction, bits: int) -> Fraction:
        """Returns a simple rational of the closed interval near a part of it: by its width over 2**bits."""
        if self.is_point:
            return self.lower
        radius = (self.upper - self.lower) / 2**bits
        return min(max(simplest_between(lower - radius, upper + radius), self.lower), self.upper)

    def __str__(self) -> str:
        left, right = "(["[self.lower_closed], ")]"[self.upper_closed]
        return f"{left}{self.lower}, {self.upper}{right}"


def parse_interval(text: str) -> Interval:
    """Reads `(0, 1)`, `[1/10, 0.4]`, `(0, 1]`, or one number for a fixed parameter.

    Raises:
        DomainError: another form, infinite ends, or an empty interval.
        ExpressionError: an end that is not a constant expression.
    """
    match = re.fullmatch(r"\s*([\[(])([^,]*),([^,]*)([\])])\s*", text)
    if not match:
        mend = _meant(text)
        if ("," in text and not re.fullmatch(r"\s*\d+,\d+\s*", text)) or text.strip()[:1] == "[":
            mend = mend or "write for example (0, 1) or [1/10, 0.4]"
            raise DomainError(f"not an interval: {text!r}", mend=mend)
        try:
            value = constant(text)
        except ExpressionError as error:
            if not mend and (error.mend or error.reason != "syntax error"):
                raise
            reason = "neither an interval such as (0, 1) or [1/10, 0.4] nor a number"
            raise ExpressionError(reason, error.text, error.column, mend) from None
        return Interval(value, value, True, True)
    ends = []
    for end in (match.group(2), match.group(3)):
        if _infinite(end):
            raise DomainError(f"a parameter needs finite ends; {_bounded(match.group(2), match.group(3))}")
        ends.append(constant(end))
    return Interval(ends[0], ends[1], match.group(1) == "[", match.group(4) == "]")


def _infinite(end: str) -> bool:
    return bool(re.fullmatch(r"\s*[+-]?\s*(oo|inf|infinity)\s*", end, re.IGNORECASE))


def _bounded(low: str, high: str) -> str:
    """Returns how to ask about an interval with one infinite end, or with two, without it."""
    if _infinite(low) and _infinite(high):
        return "for all real numbers verify an SMT-LIB script, or substitute p = t/(1-t**2) with t in (-1, 1)"
    return "substitute p = t/(1-t) for an unbounded one"


def _meant(text: str) -> str:
    """Returns what to write for a text that says an interval in another way, if it does."""
    number = r"\s*([0-9][0-9./]*)\s*"
    between = re.fullmatch(rf"([\[(\]]?){number}(\.\.\.?|to|-|–|—|…|;|,|:){number}([\])\[]?)", text.strip())
    if between and not re.fullmatch(r"\s*\d+,\d+\s*", text):  # that is a decimal
        left, right = between[1].replace("]", "("), between[5].replace("[", ")")
        left = left or {")": "("}.get(right, "[")
        right = right or {"(": ")"}.get(left, "]")
        return f'write "{left}{between[2]}, {between[4]}{right}"'
    chain = re.fullmatch(rf"{number}(<=?)\s*[A-Za-z]\w*\s*(<=?){number}", text.strip())
    if chain:
        left, right = "(["[chain[2] == "<="], ")]"[chain[3] == "<="]
        return f'write "{left}{chain[1]}, {chain[4]}{right}"'
    return ""


@dataclass(frozen=True, eq=False)
class Constraint:
    """The condition `polynomial ≥ 0`, or `polynomial > 0` where strict, with the user's text."""

    polynomial: Polynomial
    strict: bool
    text: str

    def holds_at(self, point: Point) -> bool:
        """Tells whether a point that gives every variable of the ring satisfies the condition."""
        value = value_at(self.polynomial, point)
        return value > 0 or (value == 0 and not self.strict)


@dataclass(frozen=True, eq=False)
class Domain:
    """A box over the parameters, cut down by polynomial constraints.

    `box` gives an interval for each variable of the ring, in its order. `constant` is the real number
    behind the ring's generator `E`; a domain with a constant denotes the points of the box with E equal to
    that number, and `enclose` turns it into an ordinary box that contains them.
    """

    ring: Ring
    box: Mapping[str, Interval]
    constraints: tuple[Constraint, ...] = ()

    @property
    def constant(self) -> ExpConstant | None:
        """The constant that the ring's generator stands for."""
        return self.ring.constant

    def __contains__(self, point: object) -> bool:
        if not isinstance(point, Mapping):
            return False
        inside = all(point[name] in interval for name, interval in self.box.items())
        return inside and all(self._holds_at(c, point) for c in self.constraints)

    def _holds_at(self, constraint: Constraint, point: Point) -> bool:
        if tied_in(self.ring, constraint.polynomial):
            sign = sign_at(self.ring, constraint.polynomial, point)
            return sign > 0 or (sign == 0 and not constraint.strict)
        return constraint.holds_at(point)

    def enclose(self, bits: int) -> Domain:
        """Returns the domain with `E` as an ordinary parameter between rationals that enclose its value."""
        if not self.constant:
            return self
        low, high = self.constant.enclosure(bits)
        return replace(self, box={**self.box, GENERATOR: Interval(low, high, True, True)})

    def corners(self) -> Iterable[dict[str, Fraction]]:
        """Yields the vertices of the closed box (they need not belong to the domain)."""
        ends = [sorted({i.lower, i.upper}) for i in self.box.values()]
        for values in product(*ends):
            yield dict(zip(self.box, values, strict=True))

    def range_of(self, name: str) -> str:
        """Returns where a variable lies, such as `p in (0, 1)`; for `x_eps` that is `eps in (0, oo)`."""
        i = self.box[name]
        meant = next((u for u in self.ring.unbounded if u.variable == name), None)
        if meant is None:
            return _range(name, i)
        if i.is_point:
            return f"{meant.name} = {meant.at(i.lower)}"
        left, right = "(["[i.upper_closed], ")]"[i.lower_closed]
        return f"{meant.name} in {left}{meant.at(i.upper)}, {meant.at(i.lower)}{right}"

    def describe(self) -> str:
        """Returns the domain in the user's words, such as `p in (0, 1), q in [0, 1/2], p + q <= 1`."""
        parts = [_range(name, i) for name, i in self.box.items() if name != GENERATOR]
        return ", ".join(dict.fromkeys([*parts, *(c.text for c in self.constraints)]))

    def told(self) -> str:
        """Returns the same as `describe`, with `eps in (0, oo)` for what is said of its variable `x_eps`.

        Variables that stand for outputs are left out: they are no parameters of the case.
        """
        away = (GENERATOR, *self.ring.outputs)
        parts = [self.range_of(name) for name in self.box if name not in away]
        return ", ".join(dict.fromkeys([*parts, *(c.text for c in self.constraints)]))


def _range(name: str, interval: Interval) -> str:
    return f"{name} = {interval.lower}" if interval.is_point else f"{name} in {interval}"


def box_domain(ring: Ring, box: Mapping[str, Interval]) -> Domain:
    """Returns the domain without constraints, the generator enclosed if the ring has one."""
    return Domain(ring, dict(box)).enclose(32)
