"""Rational points of a domain that come nearer and nearer to a place of its closure."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Domain, Interval
from paramverify.algebra.rationals import simplest_between
from paramverify.algebra.real_roots import RealRoot
from paramverify.bounds import Place

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
