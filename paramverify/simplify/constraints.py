"""Steps that use up a constraint: equations, and bounds of one variable by the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

from paramverify.algebra.domains import Constraint, Interval
from paramverify.algebra.polynomials import (
    Point,
    Polynomial,
    constant_value,
    is_constant,
    primitive,
    rational,
    substitute,
    value_at,
    variables,
)
from paramverify.algebra.signs import Sign, sign_on
from paramverify.claims import Claim
from paramverify.evidence import certificates
from paramverify.evidence.certificates import Proof
from paramverify.formats.refutations import fails_at, refuter
from paramverify.simplify.reductions import AT_LEAST_ZERO, Guarantee, Premise, Reduction, live_constraints

MAX_STRETCHED = 100_000  # Bernstein coefficients of a polynomial after a change of variables


def empty_step(claim: Claim) -> Reduction | None:
    """A constraint that fails on the whole box leaves no point, so the claim holds."""
    for index, constraint in live_constraints(claim.domain):
        sign = sign_on(constraint.polynomial, claim.domain)
        if sign is Sign.NEGATIVE or (constraint.strict and sign in (Sign.NONPOSITIVE, Sign.ZERO)):
            return Reduction("empty", Guarantee.EXACT, (), partial(_nowhere, index))
    return None


def _nowhere(index: int, proofs: Sequence[Proof]) -> Proof:
    return certificates.tree([certificates.outside(index)])


def equation_step(claim: Claim) -> Reduction | None:
    """Constraints g ≥ 0 and −g ≥ 0, with g = a·(x − u) for a number a, replace the variable x by u."""
    domain = claim.domain
    live = live_constraints(domain)
    for i, first in live:
        for j, second in live:
            if i < j and _opposite(first.polynomial, second.polynomial):
                if first.strict or second.strict:
                    return Reduction("equations", Guarantee.EXACT, (), partial(_impossible, i, j))
                for name in variables(first.polynomial):
                    bound = _bound(first.polynomial, name)
                    if bound:
                        return _eliminated(claim, name, bound[1], i, j)
    return None


def _impossible(i: int, j: int, proofs: Sequence[Proof]) -> Proof:
    return certificates.contradiction(i, j)


def _opposite(left: Polynomial, right: Polynomial) -> bool:
    return bool(left) and bool(primitive(left)[1] == -primitive(right)[1])


def _bound(polynomial: Polynomial, name: str) -> tuple[Fraction, Polynomial] | None:
    """Returns (a, u) if the polynomial is a·(x − u) with a number a and u without x."""
    slope = polynomial.derivative(name)
    if not slope or not is_constant(slope):
        return None
    a = constant_value(slope)
    return a, substitute(polynomial, {name: Fraction(0)}) / rational(-a)


def _eliminated(claim: Claim, name: str, value: Polynomial, i: int, j: int) -> Reduction:
    domain, ring = claim.domain, claim.domain.ring
    interval = domain.box[name]
    room = (
        Constraint(value - ring.number(interval.lower), not interval.lower_closed, ""),
        Constraint(ring.number(interval.upper) - value, not interval.upper_closed, ""),
    )
    reduced = _replaced(claim, name, image=value, interval=interval, used={i, j}, more=room)

    lift = _inside(claim, reduced, name, value)

    return Reduction(
        "equations",
        Guarantee.EXACT,
        (Premise(reduced, lift),),
        lambda proofs: certificates.eliminate(name, i, j, proofs[0]),
    )


def stretch_step(claim: Claim) -> Reduction | None:
    """A constraint that bounds x by a polynomial u in other variables is turned into an interval.

    With x = e + (u − e)·x', where e is the other end of x, x runs from e to u as x' runs from 0 to 1. What is
    left of the constraint is ±(u − e) ≥ 0. So p + q ≤ 1 in the unit square becomes p = (1 − q)·p', a box.
    Exact where the box's own bound beyond u is implied; only such variables are taken.
    """
    domain = claim.domain
    for index, constraint in live_constraints(domain):
        names = variables(constraint.polynomial)
        degrees = dict(zip(domain.ring.names, map(int, claim.polynomial.degrees()), strict=True))
        for name in sorted(names, key=lambda n: degrees[n]):
            bound = _bound(constraint.polynomial, name)
            if bound and (reduction := _stretched(claim, name, index, *bound)):
                return reduction
    return None


def _stretched(claim: Claim, name: str, index: int, a: Fraction, bound: Polynomial) -> Reduction | None:
    domain, ring = claim.domain, claim.domain.ring
    interval, strict = domain.box[name], domain.constraints[index].strict
    below = a < 0  # x ≤ u
    near, far = (interval.lower, interval.upper) if below else (interval.upper, interval.lower)
    implied = ring.number(far) - bound if below else bound - ring.number(far)
    if sign_on(implied, domain) not in AT_LEAST_ZERO:
        return None
    reach = bound - ring.number(near)
    image = ring.number(near) + reach * ring.variable(name)
    closed = interval.lower_closed if below else interval.upper_closed
    # Where the other end is open, or the constraint strict, there is no x with u = e.
    room = Constraint(reach if below else -reach, strict or not closed, "")
    unit = Interval(Fraction(0), Fraction(1), closed, not strict)
    if _size_after(claim.polynomial, name, bound) > MAX_STRETCHED:
        return None
    reduced = _replaced(claim, name, image=image, interval=unit, used={index}, more=(room,))

    lift = _inside(claim, reduced, name, image)

    return Reduction(
        "stretch",
        Guarantee.EXACT,
        (Premise(reduced, lift),),
        lambda proofs: certificates.stretch(name, index, proofs[0]),
    )


def _inside(claim: Claim, reduced: Claim, name: str, image: Polynomial) -> Callable[[Point], Point]:
    """Returns the lift that replaces a variable by its image.

    The reduced domain is simpler than the claim's, so there a point is moved until the claim fails.
    """
    base = {n: interval.simplest() for n, interval in reduced.domain.box.items()}

    def complete(point: Point) -> Point:
        point = {**base, **point}
        return {**point, name: value_at(image, point)}

    def accept(point: Point) -> Point | None:
        lifted = complete(point)
        return lifted if fails_at(claim, lifted) else None

    confirm = refuter(reduced, accept)
    return lambda point: confirm(point) or complete(point)


def _size_after(polynomial: Polynomial, name: str, bound: Polynomial) -> int:
    """Returns how many Bernstein coefficients there may be after x is replaced by a multiple of the bound."""
    names = [str(n) for n in polynomial.context().names()]
    steps = int(polynomial.degrees()[names.index(name)])
    size = 1
    for own, more in zip(polynomial.degrees(), bound.degrees(), strict=True):
        size *= int(own) + steps * int(more) + 1
    return size


def _replaced(
    claim: Claim,
    name: str,
    image: Polynomial,
    interval: Interval,
    used: set[int],
    more: tuple[Constraint, ...],
) -> Claim:
    """Returns the claim with a variable replaced, used constraints made trivial, and new ones appended."""
    domain = claim.domain
    images = [image if n == name else domain.ring.variable(n) for n in domain.ring.names]
    trivial = Constraint(domain.ring.number(1), False, "")
    constraints = tuple(
        trivial if k in used else replace(c, polynomial=c.polynomial.compose(*images))
        for k, c in enumerate(domain.constraints)
    )
    box = {**domain.box, name: interval}
    reduced = replace(domain, box=box, constraints=(*constraints, *more))
    return replace(claim, polynomial=claim.polynomial.compose(*images), domain=reduced)
