"""Quantifier-free conditions on parameters, and the quantified questions whose answers they are.

A condition is built of polynomial comparisons with `and`, `or` and `not`, and is evaluated exactly at
rational points. A question is `for all values of the bound parameters: if the hypotheses hold, so do the
conclusions`, with the other parameters free; it is closed if none is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from flint import fmpz_poly

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Constraint, Domain, Interval, refuse_ties
from paramverify.algebra.polynomials import (
    Point,
    Polynomial,
    Ring,
    constant_value,
    is_constant,
    primitive,
    value_at,
    variables,
)
from paramverify.algebra.rationals import simplest_between
from paramverify.algebra.real_roots import between, isolate, rational_root, univariate
from paramverify.errors import InputError, UnsupportedError

# How programs for quantifier elimination write relations; Redlog has another sign for !=.
QEPCAD_RELATIONS = {"<": "<", "<=": "<=", "=": "=", "!=": "/=", ">=": ">=", ">": ">"}


@dataclass(frozen=True, eq=False)
class PolynomialComparison:
    """A polynomial with coprime whole coefficients, compared with zero."""

    polynomial: Polynomial
    relation: str

    def holds_at(self, point: Point) -> bool:
        """Tells whether the comparison is true at a point that gives every variable of the ring."""
        return _compare(value_at(self.polynomial, point), self.relation)

    def __str__(self) -> str:
        return f"{str(self.polynomial).replace('^', '**')} {self.relation} 0"


@dataclass(frozen=True, eq=False)
class AndCondition:
    """All parts hold; without parts it is true."""

    parts: tuple[Condition, ...] = ()

    def holds_at(self, point: Point) -> bool:
        """Tells whether all parts are true at a point."""
        return all(part.holds_at(point) for part in self.parts)

    def __str__(self) -> str:
        return " and ".join(_bracketed(part) for part in self.parts) or "true"


@dataclass(frozen=True, eq=False)
class OrCondition:
    """Some part holds; without parts it is false."""

    parts: tuple[Condition, ...] = ()

    def holds_at(self, point: Point) -> bool:
        """Tells whether some part is true at a point."""
        return any(part.holds_at(point) for part in self.parts)

    def __str__(self) -> str:
        return " or ".join(_bracketed(part) for part in self.parts) or "false"


@dataclass(frozen=True, eq=False)
class NotCondition:
    """The part does not hold."""

    part: Condition

    def holds_at(self, point: Point) -> bool:
        """Tells whether the part is false at a point."""
        return not self.part.holds_at(point)

    def __str__(self) -> str:
        return f"not {_bracketed(self.part)}"


Condition = PolynomialComparison | AndCondition | OrCondition | NotCondition


def _bracketed(condition: Condition) -> str:
    simple = isinstance(condition, (PolynomialComparison, NotCondition)) or not condition.parts
    return str(condition) if simple else f"({condition})"


def truth(condition: Condition, sign: Callable[[Polynomial], int]) -> bool:
    """Tells whether a condition is true at a point at which polynomials have these signs."""
    match condition:
        case PolynomialComparison():
            return _compare(Fraction(sign(condition.polynomial)), condition.relation)
        case AndCondition():
            return all(truth(part, sign) for part in condition.parts)
        case OrCondition():
            return any(truth(part, sign) for part in condition.parts)
        case NotCondition():
            return not truth(condition.part, sign)


def in_expressions(condition: Condition) -> str:
    """Returns a simplified condition as expressions of case files; TRUE and FALSE if it is one of these."""
    if isinstance(condition, (AndCondition, OrCondition)) and not condition.parts:
        return str(condition).upper()
    return str(condition)


def _compare(value: Fraction, relation: str) -> bool:
    sign = (value > 0) - (value < 0)
    return {
        "<": sign < 0,
        "<=": sign <= 0,
        "=": sign == 0,
        "!=": sign != 0,
        ">=": sign >= 0,
        ">": sign > 0,
    }[relation]


def comparison(polynomial: Polynomial, relation: str) -> PolynomialComparison:
    """Returns the comparison of a polynomial with zero, a positive factor divided out."""
    return PolynomialComparison(primitive(polynomial)[1], relation)


def comparisons(condition: Condition) -> Iterator[PolynomialComparison]:
    """Yields the comparisons of a condition."""
    if isinstance(condition, PolynomialComparison):
        yield condition
        return
    for part in (condition.part,) if isinstance(condition, NotCondition) else condition.parts:
        yield from comparisons(part)


@dataclass(frozen=True, eq=False)
class QuantifiedImplication:
    """For all values of the bound parameters: if all hypotheses hold, so do all conclusions.

    The free parameters are meant to satisfy the assumptions, in which no other occurs.
    """

    ring: Ring
    free: tuple[str, ...]
    bound: tuple[str, ...]
    assumptions: tuple[PolynomialComparison, ...]
    hypotheses: tuple[PolynomialComparison, ...]
    conclusions: tuple[Condition, ...]
    letter: str = "v"

    @property
    def names(self) -> tuple[str, ...]:
        """All parameters that occur, the free ones first."""
        return (*self.free, *self.bound)

    def renamed(self) -> dict[str, str]:
        """Returns names for the parameters that every program accepts, such as v1, v2, ..."""
        return {name: f"{self.letter}{k}" for k, name in enumerate(self.names, 1)}


def question(
    polynomials: Sequence[Polynomial], domain: Domain, free: Sequence[str] = ()
) -> QuantifiedImplication:
    """Returns the question where all polynomials are ≥ 0 on the domain, as far as the bound parameters go.

    At a point of the free parameters that satisfies the assumptions, the question is true iff every
    polynomial is ≥ 0 at every point of the domain with these coordinates. Parameters that are mentioned
    nowhere are left out: their intervals are not empty. The bound ones are in an order that suits
    elimination from the back.

    Raises:
        InputError: a free parameter that does not exist.
        UnsupportedError: the constant `E`, without an interval for it; a parameter beside its exponential.
    """
    for name in free:
        if name not in domain.ring.parameters:
            known = ", ".join(domain.ring.parameters)
            raise InputError(f"there is no parameter {name!r}; choose from {known}")
    about = (*polynomials, *(c.polynomial for c in domain.constraints))
    refuse_ties(domain.ring, about, "a formula for quantifier elimination")
    constraints = stated_constraints(domain.constraints)
    conclusions = [comparison(f, ">=") for f in polynomials]
    mentioned = {n for c in (*constraints, *conclusions) for n in variables(c.polynomial)}
    if domain.constant and GENERATOR in mentioned and GENERATOR not in domain.box:
        raise UnsupportedError(f"exp({domain.constant.exponent}) is not an algebraic number")
    used = [name for name in domain.ring.names if name in mentioned or name in free]
    conditions = [c for name in used for c in _ends(domain.ring, name, domain.box[name])] + constraints
    about_free = [set() < set(variables(c.polynomial)) <= set(free) for c in conditions]
    bound = [name for name in used if name not in free]
    return QuantifiedImplication(
        domain.ring,
        tuple(free),
        bound=eliminable([c.polynomial for c in (*constraints, *conclusions)], bound),
        assumptions=tuple(c for c, known in zip(conditions, about_free, strict=True) if known),
        hypotheses=tuple(c for c, known in zip(conditions, about_free, strict=True) if not known),
        conclusions=tuple(conclusions),
    )


def stated_constraints(constraints: Iterable[Constraint]) -> list[PolynomialComparison]:
    """Returns constraints as comparisons: g ≥ 0 and −g ≥ 0 are one equation; what is true is left out."""
    found: list[PolynomialComparison] = []
    for constraint in constraints:
        stated = comparison(constraint.polynomial, ">" if constraint.strict else ">=")
        if is_constant(stated.polynomial) and _compare(constant_value(stated.polynomial), stated.relation):
            continue
        same = [k for k, c in enumerate(found) if c.relation == ">=" and c.polynomial == -stated.polynomial]
        if same and not constraint.strict and stated.polynomial:
            found[same[0]] = comparison(found[same[0]].polynomial, "=")
        else:
            found.append(stated)
    return found


def _ends(ring: Ring, name: str, interval: Interval) -> Iterator[PolynomialComparison]:
    variable = ring.variable(name)
    if interval.is_point:
        yield comparison(variable - ring.number(interval.lower), "=")
        return
    yield comparison(variable - ring.number(interval.lower), ">=" if interval.lower_closed else ">")
    yield comparison(variable - ring.number(interval.upper), "<=" if interval.upper_closed else "<")


def eliminable(polynomials: Sequence[Polynomial], names: Iterable[str]) -> tuple[str, ...]:
    """Returns the variables so that the last one is best eliminated first.

    As in [Brown04]: first the one of lowest degree, then the one whose terms have the lowest degree, then the
    one that occurs in fewest terms.
    """

    def weight(name: str) -> tuple[int, int, int]:
        degree = total = count = 0
        for polynomial in polynomials:
            axis = [str(n) for n in polynomial.context().names()].index(name)
            terms = [m for m in polynomial.monoms() if m[axis]]
            degree = max([degree, *(int(m[axis]) for m in terms)])
            total = max([total, *(sum(map(int, m)) for m in terms)])
            count += len(terms)
        return degree, total, count

    return tuple(sorted(names, key=weight, reverse=True))


def samples(condition: Iterable[PolynomialComparison], name: str, interval: Interval) -> Iterator[Fraction]:
    """Yields rationals of the interval that meet every truth value the comparisons have there at rationals.

    The comparisons mention no other variable. There is a point of each open piece between their zeros, then
    each zero that is rational, and ends that belong to the interval.
    """
    product = fmpz_poly([1])
    for part in condition:
        if not is_constant(part.polynomial):
            product *= univariate(part.polynomial)
    if interval.is_point:
        yield interval.lower
        return
    roots = isolate(product, interval.lower, interval.upper)
    inner = [r for r in roots if not r.is_rational or interval.lower < r.lower < interval.upper]
    first, last = rational_root(interval.lower), rational_root(interval.upper)
    for left, right in pairwise([first, *inner, last]):
        yield simplest_between(*between(left, right))
    yield from (r.lower for r in inner if r.is_rational)
    yield from (end for end in (interval.lower, interval.upper) if end in interval)


def simplified(condition: Condition) -> Condition:
    """Returns the same condition with comparisons of numbers, and repetitions of true and false, removed."""
    if isinstance(condition, PolynomialComparison):
        if not is_constant(condition.polynomial):
            return condition
        return (
            AndCondition()
            if _compare(constant_value(condition.polynomial), condition.relation)
            else OrCondition()
        )
    if isinstance(condition, NotCondition):
        return NotCondition(simplified(condition.part))
    parts = [simplified(part) for part in condition.parts]
    neutral, dominant = (
        (AndCondition, OrCondition) if isinstance(condition, AndCondition) else (OrCondition, AndCondition)
    )
    kept = tuple(p for p in parts if not (isinstance(p, neutral) and not p.parts))
    if any(isinstance(p, dominant) and not p.parts for p in kept):
        return dominant()
    return kept[0] if len(kept) == 1 else neutral(kept)
