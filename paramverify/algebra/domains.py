"""Parameter domains, their points, and parameters that occur together with their own exponentials.

Parameters that stand beside their exponentials: `eps` beside `x_eps = exp(−step·eps)`.

At a rational x ≠ 1 such a parameter is `−ln(x)/step`, a rational multiple of ln(b) for a rational b > 1.
That is transcendental [Lindemann82], so a polynomial in it with rational coefficients is zero only
identically, and every sign at such a point is decided by enclosures.

One parameter point: values, signs and membership, exactly, with `E` as the number that it stands for.

A point gives every parameter by name; what it says besides, also about `E`, is not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import product

from flint import fmpq, fmpq_poly, fmpz

from paramverify.algebra.constants import GENERATOR, ExpConstant, LogConstant, Transcendental
from paramverify.algebra.expressions import constant
from paramverify.algebra.polynomials import (
    Point,
    Polynomial,
    Ring,
    Unbounded,
    in_generator,
    rational,
    substitute,
    value_at,
    variables,
)
from paramverify.algebra.rationals import simplest_between
from paramverify.errors import DomainError, ExpressionError, InputError, LimitError, UnsupportedError

MAX_BITS = 20_000  # of a number whose logarithm is taken


def tied_in(ring: Ring, *polynomials: Polynomial) -> tuple[Unbounded, ...]:
    """Returns the tied parameters that occur in a polynomial of the ring."""
    if not ring.tied:
        return ()
    used = {name for f in polynomials for name in variables(f)}
    return tuple(u for u in ring.tied if u.name in used)


def refuse_ties(ring: Ring, polynomials: Iterable[Polynomial], what: str) -> None:
    """Raises an UnsupportedError if something tied occurs; `what` names who knows polynomials alone."""
    for tie in tied_in(ring, *polynomials):
        reason = f"{tie.name} occurs together with {tie.meaning}, which is not a polynomial"
        raise UnsupportedError(f"{reason}, so {what} cannot express it")


def constant_at(ring: Ring, point: Point, polynomial: Polynomial | None = None) -> Transcendental | None:
    """Returns the number in which the value of a polynomial at a point is one; of all of the ring without it.

    It is the constant of the ring, or the logarithm of which what is tied is a rational multiple there.

    Raises:
        LimitError: there are two such numbers, and nobody knows whether they are algebraically independent.
    """
    found: dict[Fraction, None] = {}
    used = ring.names if polynomial is None else variables(polynomial)
    for tie in ring.tied:
        if tie.name in used and tie.variable in point and point[tie.variable] != 1:
            found[_root(point[tie.variable])[0]] = None
    numbers: list[Transcendental] = [LogConstant(base) for base in found]
    if ring.constant is not None and GENERATOR in used:
        numbers.append(ring.constant)
    if len(numbers) > 1:
        named = " and ".join(number.name for number in numbers)
        raise LimitError(f"no exact number can be computed: {named} may be algebraically dependent")
    return numbers[0] if numbers else None


def number_in_ring(ring: Ring, polynomial: Polynomial, point: Point) -> fmpq_poly:
    """Returns the value of a polynomial at a point as a polynomial in the number of `constant_at`.

    Raises:
        KeyError: the point lacks a parameter of the ring.
        LimitError: see `constant_at`.
    """
    constant_at(ring, point)
    return _number_at(ring, polynomial, point)


def _number_at(ring: Ring, polynomial: Polynomial, point: Point) -> fmpq_poly:
    rest = substitute(polynomial, {name: point[name] for name in ring.parameters})
    places = [(ring.names.index(name), factor) for name, factor in _multiples_at(ring, point).items()]
    coefficients: dict[int, fmpq] = {}
    for monomial, coefficient in rest.to_dict().items():
        power = int(monomial[-1]) if ring.constant else 0
        for place, factor in places:
            power += int(monomial[place])
            coefficient *= rational(factor) ** int(monomial[place])
        coefficients[power] = coefficients.get(power, fmpq(0)) + coefficient
    return fmpq_poly([coefficients.get(k, fmpq(0)) for k in range(max(coefficients, default=0) + 1)])


def sign_in_ring(ring: Ring, polynomial: Polynomial, point: Point) -> int:
    """Returns the sign of a polynomial at a point: -1, 0 or 1.

    Raises:
        KeyError: the point lacks a parameter of the ring.
        LimitError: two numbers of `constant_at` occur in it.
    """
    number, constant = _number_at(ring, polynomial, point), constant_at(ring, point, polynomial)
    return constant.sign(number) if constant else int(number[0] > 0) - int(number[0] < 0)


def _multiples_at(ring: Ring, point: Point) -> Mapping[str, Fraction]:
    """Returns the factor of the logarithm of `constant_at` for each tied parameter."""
    found = {}
    for tie in ring.tied:
        if tie.variable in point:
            value = point[tie.variable]
            found[tie.name] = Fraction(0) if value == 1 else _root(value)[1] / tie.step
    return found


@lru_cache(4_096)
def _root(value: Fraction) -> tuple[Fraction, int]:
    """Returns (b, k) with value = b^(−k) for 0 < value < 1, where b > 1 is no power of another rational."""
    top, bottom = value.denominator, value.numerator
    if not 0 < value < 1 or top.bit_length() > MAX_BITS:
        raise LimitError(
            "the logarithm of a parameter is computed only for numbers in (0, 1) with few digits"
        )
    for k in range(top.bit_length(), 1, -1):
        first = _exact_root(top, k)
        second = _exact_root(bottom, k) if first else 0
        if first and second:
            return Fraction(first, second), k
    return Fraction(top, bottom), 1


def _exact_root(value: int, k: int) -> int:
    """Returns the k-th root of a positive whole number if that is whole, else 0."""
    root = int(fmpz(value).root(k)) if value > 1 else 1
    return root if root**k == value else 0


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
        pair = re.fullmatch(r"\s*(\d+),(\d+)\s*", text)
        if pair and int(pair[1]) < int(pair[2]):
            mend = f'write "({pair[1]}, {pair[2]})" for an interval, or {pair[1]}.{pair[2]} for a number'
            raise DomainError(f"not an interval: {text!r}", mend=mend)
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
            raise DomainError(
                f"a parameter needs an interval with finite ends: {_bounded(match.group(2), match.group(3))}"
            )
        ends.append(constant(end))
    return Interval(ends[0], ends[1], match.group(1) == "[", match.group(4) == "]")


def _infinite(end: str) -> bool:
    return bool(re.fullmatch(r"\s*[+-]?\s*(oo|inf|infinity)\s*", end, re.IGNORECASE))


def _bounded(low: str, high: str) -> str:
    """Returns how to ask about an interval with one infinite end, or with two, without it."""
    if _infinite(low) and _infinite(high):
        return (
            "for all real numbers, verify an SMT-LIB script, or substitute p = t/(1-t**2) with t in (-1, 1)"
        )
    return "for an unbounded parameter p, substitute p = t/(1-t)"


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
            sign = sign_in_ring(self.ring, constraint.polynomial, point)
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


def number_at(polynomial: Polynomial, point: Point) -> fmpq_poly:
    """Returns the value of a polynomial at a point, as a polynomial in `E`; what is tied may not occur.

    Raises:
        KeyError: the point lacks a parameter of the ring.
    """
    names = [str(name) for name in polynomial.context().names()]
    given = {name: point[name] for name in names if name != GENERATOR and name in point}
    if len(given) < len(names) - (GENERATOR in names):
        missing = set(names) - given.keys() - {GENERATOR}
        if missing.intersection(variables(polynomial)):
            raise KeyError(*missing)
        given |= dict.fromkeys(missing, Fraction(0))
    if len(given) == len(names):
        return fmpq_poly([rational(value_at(polynomial, given))])
    return in_generator(substitute(polynomial, given))


def sign_at(domain: Domain, polynomial: Polynomial, point: Point) -> int:
    """Returns the sign of a polynomial of the domain's ring at a point: -1, 0 or 1.

    Raises:
        KeyError: the point lacks a parameter of the ring.
        LimitError: what is tied has no exact value there; see `constant_at`.
    """
    if tied_in(domain.ring, polynomial):
        return sign_in_ring(domain.ring, polynomial, point)
    if domain.constant is not None:
        return domain.constant.sign(number_at(polynomial, point))
    value = value_at(polynomial, point)
    return int(value > 0) - int(value < 0)


def contains(domain: Domain, point: Point) -> bool:
    """Tells whether a point that gives every parameter is in the domain."""
    box = {name: i for name, i in domain.box.items() if name != GENERATOR or domain.constant is None}
    if not all(name in point and point[name] in interval for name, interval in box.items()):
        return False
    for constraint in domain.constraints:
        sign = sign_at(domain, constraint.polynomial, point)
        if sign < 0 or (sign == 0 and constraint.strict):
            return False
    return True


def check_names(ring: Ring, point: Mapping[str, Fraction]) -> None:
    """Raises an InputError if a point names what is no parameter of a ring, with the names that are."""
    for name in point:
        if name not in ring.parameters:
            for unbounded in ring.unbounded:
                if name == unbounded.name:
                    reason = f"set {unbounded.variable}, which stands for {unbounded.meaning}"
                    raise InputError(f"{name} cannot be set to a number here: {reason}")
            known = ", ".join(ring.parameters) or "none"
            raise InputError(f"there is no parameter {name!r}; choose from {known}")


def in_words(point: Point) -> str:
    """Returns a point as people read it, such as `p = 1/2, q = 0`; nothing for one without parameters."""
    return ", ".join(f"{name} = {rational(value)}" for name, value in point.items())
