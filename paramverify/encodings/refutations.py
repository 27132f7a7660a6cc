"""Exact refutations: from a point near a violation of a claim to a point of its domain where it fails."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import fmpq, fmpq_poly

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import Point, Polynomial, substitute, value_at
from paramverify.algebra.segments import negative_between, towards
from paramverify.claims import Claim

Confirm = Callable[[Point], Point | None]
"""Given a point where the claim at hand fails, returns one where the original claim fails, or None."""

_STEPS_INWARD = (1, 2, 4, 8, 16, 32, 64, 128)  # a point is moved inside by 2**-k of the way
_DIRECTIONS = (Fraction(1, 2), Fraction(3, 7))


def refuter(claim: Claim) -> Confirm:
    """Returns the function that turns a point where f < 0, or nearly so, into one of D where f < 0 exactly.

    A point on an open end, or where a factor that was divided out vanishes, is moved inside: first by simple
    steps, then to where f < 0 on the line. `E` is taken as the number that it stands for.
    """
    domain = claim.domain
    inner = [
        {name: i.lower + (i.upper - i.lower) * ratio for name, i in domain.box.items()}
        for ratio in _DIRECTIONS
    ]
    simple = {name: interval.simplest() for name, interval in domain.box.items()}

    def confirm(point: Point) -> Point | None:
        start = {**simple, **point}
        if fails_at(claim, start):
            return start
        for target in inner:
            for k in _STEPS_INWARD:
                moved = towards(start, target, Fraction(1, 2**k))
                if fails_at(claim, moved):
                    return moved
        crossings = (p for target in inner for p in negative_between(claim.polynomial, start, target))
        return next((crossing for crossing in crossings if fails_at(claim, crossing)), None)

    return confirm


def fails_at(claim: Claim, point: Point) -> bool:
    """Tells exactly whether a point is in the domain and f < 0 there, `E` being the number it stands for."""
    if sign_at_point(claim.domain, claim.polynomial, point) >= 0:
        return False
    return in_domain(claim.domain, point)


def in_domain(domain: Domain, point: Point) -> bool:
    """Tells exactly whether a point is in the domain; of `E` only its constraints are looked at."""
    for name, interval in domain.box.items():
        if not (name == GENERATOR and domain.constant) and point[name] not in interval:
            return False
    for constraint in domain.constraints:
        sign = sign_at_point(domain, constraint.polynomial, point)
        if sign < 0 or (constraint.strict and sign == 0):
            return False
    return True


def sign_at_point(domain: Domain, polynomial: Polynomial, point: Point) -> int:
    """Returns the sign at a point, `E` being the number it stands for."""
    if domain.constant is None:
        value = value_at(polynomial, point)
        return (value > 0) - (value < 0)
    rest = substitute(polynomial, {name: v for name, v in point.items() if name != GENERATOR})
    coefficients = [fmpq(0)] * (int(rest.degrees()[-1]) + 1)
    for monomial, coefficient in rest.to_dict().items():
        coefficients[int(monomial[-1])] = coefficient
    return domain.constant.sign(fmpq_poly(coefficients))
