"""The sign of a polynomial along a line segment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import pairwise

from flint import Ordering, fmpq_mpoly_ctx

from paramverify.algebra.polynomials import Point, Polynomial, rational
from paramverify.algebra.realroots import between, isolate, rational_root, sign_at, univariate
from paramverify.algebra.simplest import simplest_between


def towards(start: Point, target: Point, ratio: Fraction) -> dict[str, Fraction]:
    """Returns the point at this ratio of the way from the start to the target."""
    return {name: value + (target[name] - value) * ratio for name, value in start.items()}


def negative_between(polynomial: Polynomial, start: Point, target: Point) -> Iterator[Mapping[str, Fraction]]:
    """Yields a rational point of each open piece of the segment on which f < 0; none iff f ≥ 0 on all of it.

    Both points give every variable of the ring.
    """
    context = fmpq_mpoly_ctx.get(("t",), Ordering.lex)
    t = context.gen(0)
    names = [str(n) for n in polynomial.context().names()]
    images = [t * rational(target[n] - start[n]) + rational(start[n]) for n in names]
    along = univariate(polynomial.compose(*images, ctx=context))
    if not along:
        return
    first, last = rational_root(Fraction(0)), rational_root(Fraction(1))
    inner = [r for r in isolate(along, Fraction(0), Fraction(1)) if r.lower != r.upper or 0 < r.lower < 1]
    for left, right in pairwise([first, *inner, last]):
        at = simplest_between(*between(left, right))
        if sign_at(along, at) < 0:
            yield towards(start, target, at)
