"""Limits of ratios along segments of the domain, and priors whose ratios come nearer to a limit.

Rational points of a domain that come nearer and nearer to a place of its closure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domain_branches import Branch
from paramverify.algebra.domains import Domain, Interval
from paramverify.algebra.polynomials import Polynomial, fraction, value_at
from paramverify.algebra.rationals import simplest_between
from paramverify.algebra.real_roots import RealRoot
from paramverify.bounds import Place
from paramverify.models.context import sample_points

INFINITE = "infinite"
TARGETS = 12  # points towards which segments go
NEAREST = 200  # a point on a segment is at most 2**-NEAREST of the way from its start


def limit_at(
    branch: Branch, left: Polynomial, right: Polynomial, start: Mapping[str, Fraction]
) -> Fraction | str | None:
    """Returns the largest limit of left/right at a place of the closed box, along segments into the branch.

    The segment start + t·(target − start), 0 < t, is in the box near t = 0, for the box is convex and has the
    target. It is in the domain and both secrets and the output are possible on it near t = 0 if the
    lowest coefficients in t of the constraints and of `left` are positive; the limit is then read off the
    lowest coefficients of left and right. None if there is no such segment, `INFINITE` for infinity.
    """
    best: Fraction | str | None = None
    for target in islice(sample_points(branch.domain), TARGETS):
        found = _limit_along(branch, left, right, start, target)
        if found == INFINITE:
            return INFINITE
        if isinstance(found, Fraction) and (not isinstance(best, Fraction) or found > best):
            best = found
    return best


def _limit_along(
    branch: Branch,
    left: Polynomial,
    right: Polynomial,
    start: Mapping[str, Fraction],
    target: Mapping[str, Fraction],
) -> Fraction | str | None:
    ring = branch.domain.ring
    if not branch.free:
        return None
    t = ring.variable(branch.free[0])
    images = [
        ring.number(start[n]) + t * ring.number(target[n] - start[n])
        if n in branch.free
        else ring.number(branch.domain.box[n].lower)
        for n in ring.names
    ]
    for constraint in branch.domain.constraints:
        _, lowest = _lowest(constraint.polynomial.compose(*images))
        if lowest < 0 or (lowest == 0 and constraint.strict):
            return None
    (order, top), (below, bottom) = (_lowest(f.compose(*images)) for f in (left, right))
    if top <= 0:
        return None
    if bottom == 0 or below > order:
        return INFINITE
    return top / bottom if below == order else Fraction(0)


def _lowest(polynomial: Polynomial) -> tuple[int, Fraction]:
    """Returns the lowest degree of a polynomial in one variable, and its coefficient; zero for zero."""
    terms = {int(sum(monomial)): coefficient for monomial, coefficient in polynomial.to_dict().items()}
    if not terms:
        return 0, Fraction(0)
    degree = min(terms)
    return degree, fraction(terms[degree])


def towards(branch: Branch, place: Mapping[str, RealRoot]) -> Iterator[Iterator[dict[str, Fraction]]]:
    """Yields sequences of points of the closed box of a branch that tend to a place, as points of the domain.

    Each goes along a segment from the place to a point of the branch; where the place is irrational, from
    rational points that come nearer to it. Then along curves that keep near an edge: all coordinates but one
    come much nearer than that one, for where a/b is 0/0 the largest limit may be one along an edge.
    """
    targets = list(islice(sample_points(branch.domain), TARGETS))
    for slow in (None, *branch.free):
        for target in targets:
            yield _along(branch, place, target, slow)


def _along(
    branch: Branch,
    place: Mapping[str, RealRoot],
    target: Mapping[str, Fraction],
    slow: str | None,
) -> Iterator[dict[str, Fraction]]:
    bits = 3
    while bits <= NEAREST:
        step = Fraction(1, 2**bits)
        point = {}
        for name in branch.free:
            interval = branch.domain.box[name]
            if name not in place:
                point[name] = target[name]
                continue
            root = place[name]
            near = root.lower
            if not root.is_rational:
                fine = root.refined(step * (interval.upper - interval.lower))
                near = simplest_between(fine.lower, fine.upper)
            reach = step if slow in (None, name) else step**3
            point[name] = near + reach * (target[name] - near)
        yield branch.lift(point)
        bits += 1 if bits < 8 else bits // 4


def points_of(branches: Iterable[Branch], most: int) -> list[dict[str, Fraction]]:
    """Returns simple points of the domain that the branches make up, with every variable of the ring."""
    found: list[dict[str, Fraction]] = []
    for branch in branches:
        for point in islice(sample_points(branch.domain), most):
            constant = {n: v for n, v in point.items() if n == GENERATOR}
            found.append({**branch.lift(point), **constant})
    return found


def somewhere(branch: Branch, polynomial: Polynomial) -> dict[str, Fraction] | None:
    """Returns a point of a branch where a polynomial in its free parameters is not zero, if one is found."""
    for point in _many(branch):
        if value_at(polynomial, point):
            return dict(point)
    return None


def _many(branch: Branch) -> Iterator[Mapping[str, Fraction]]:
    yield from islice(sample_points(branch.domain), 200)
    weights: Sequence[int] = (3, 5, 7, 11, 13, 17, 19, 23)
    for k in range(1, 60):
        point = {}
        for axis, (name, interval) in enumerate(branch.domain.box.items()):
            part = Fraction((k * weights[axis % len(weights)]) % 61, 61)
            inside = interval.lower + (interval.upper - interval.lower) * part
            point[name] = interval.simplest() if name == GENERATOR or inside not in interval else inside
        if point in branch.domain:
            yield point


STEPS = 200  # points


def points_towards(place: Place, domain: Domain) -> Iterator[dict[str, Fraction]]:
    """Yields rational points of the box nearer and nearer to a place of the closed box, the place first.

    A secret may be impossible at the place, or the place be outside of the constraints. So coordinates that
    it could keep are moved, too: all of them, and each alone.
    """
    box = {n: i for n, i in domain.box.items() if n != GENERATOR}
    base = {name: interval.simplest() for name, interval in box.items()}
    kept = {n: r.lower for n, r in place.items() if r.is_rational and r.lower in box[n]}
    whole = [name for name in kept if not box[name].is_point]
    yield base | {name: _near(root, box[name], 2) for name, root in place.items()} | kept
    for bits in range(2, STEPS):
        near = base | {name: _near(root, box[name], bits) for name, root in place.items()}
        for moved in (whole, *([name] for name in whole if len(whole) > 1)):
            yield near | {name: value for name, value in kept.items() if name not in moved}
        if len(kept) < len(place):
            yield near | kept


def _near(root: RealRoot, interval: Interval, bits: int) -> Fraction:
    """Returns a rational inside an interval near a number of its closure, but not equal to that."""
    if interval.is_point:
        return interval.lower
    radius = (interval.upper - interval.lower) / 2**bits
    near = root.refined(radius)
    low, high = max(interval.lower, near.lower - radius), min(interval.upper, near.upper + radius)
    if root.is_rational:  # on either side in turn, where there is one
        above = low == root.lower or (bits % 2 == 0 and high > root.lower)
        low, high = (root.lower, high) if above else (low, root.lower)
    return simplest_between(low, high)
