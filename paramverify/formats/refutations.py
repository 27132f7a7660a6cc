"""Exact refutations: from a point near a violation of a claim to a point of its domain where it fails."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from itertools import chain

from paramverify.algebra.number_fields import AlgebraicPoint
from paramverify.algebra.points import contains, sign_at
from paramverify.algebra.polynomials import Point
from paramverify.algebra.segments import negative_between, towards
from paramverify.claims import Claim
from paramverify.errors import LimitError

Confirm = Callable[[Point], Point | None]
"""Given a point where the claim at hand fails, returns one where the original claim fails, or None."""

_STEPS_INWARD = (1, 2, 4, 8, 16, 32, 64, 128)  # a point is moved inside by 2**-k of the way
_DIRECTIONS = (Fraction(1, 2), Fraction(3, 7))


def refuter(claim: Claim, accept: Confirm | None = None) -> Confirm:
    """Returns the function that turns a point where f < 0, or nearly so, into one of D where f < 0 exactly.

    A point on an open end, or where a factor that was divided out vanishes, is moved inside: first by simple
    steps, then to where f < 0 on the line. `E` is taken as the number that it stands for. With `accept`, that
    function says instead which point of D, if any, is good enough and what is returned for it.
    """
    box = claim.domain.box
    simple = {name: interval.simplest() for name, interval in box.items()}
    accept = accept or (lambda point: point if fails_at(claim, point) else None)

    def confirm(point: Point) -> Point | None:
        start = {**simple, **point}
        inner = [{n: i.lower + (i.upper - i.lower) * ratio for n, i in box.items()} for ratio in _DIRECTIONS]
        # First only what is outside is moved: constraints may allow nothing else.
        targets = [{n: inner[0][n] if v not in box[n] else v for n, v in start.items()}, *inner]
        moved = (towards(start, target, Fraction(1, 2**k)) for target in targets for k in _STEPS_INWARD)
        lines = () if claim.domain.ring.tied else inner
        crossings = (p for target in lines for p in negative_between(claim.polynomial, start, target))
        found = map(accept, chain([start], moved, crossings))
        # Without parameters the point is empty, and still a point.
        return next((point for point in found if point is not None), None)

    return confirm


def fails_at(claim: Claim, point: Point) -> bool:
    """Tells exactly whether a point is in the domain and f < 0 there, `E` being the number it stands for.

    It is false where that cannot be told: a point that is no witness for sure is none.
    """
    with suppress(LimitError):
        return sign_at(claim.domain, claim.polynomial, point) < 0 and contains(claim.domain, point)
    return False


def fails_at_algebraic(claim: Claim, point: AlgebraicPoint) -> bool:
    """Tells exactly whether an algebraic point is in the domain and f < 0 there; no constant `E` may occur.

    False where the interval of the point does not isolate one root.
    """
    domain = claim.domain
    if domain.constant is not None or domain.ring.tied or not point.is_isolated:
        return False
    if not domain.box.keys() <= point.coordinates.keys():
        return False
    for name, interval in domain.box.items():
        for end, closed, side in (
            (interval.lower, interval.lower_closed, 1),
            (interval.upper, interval.upper_closed, -1),
        ):
            away = side * point.sign(domain.ring.variable(name) - domain.ring.number(end))
            if away < 0 or (away == 0 and not closed):
                return False
    if point.sign(claim.polynomial) >= 0:
        return False
    return all(point.sign(c.polynomial) >= c.strict for c in domain.constraints)
