"""What a direction of a secret pair needs at one point: the least δ for an ε, or the least ratio for a δ.

Largest values over sets of outputs along one parameter, exact: on intervals, and on the edges of a box.

A quotient of polynomials in one parameter, where it is positive, is largest at an end of the interval or at a
root of its derivative; and it has no limit where only its denominator vanishes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import combinations, islice, pairwise, product

from flint import fmpq_poly, fmpz_poly

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Interval, number_at
from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.algebra.polynomials import (
    Point,
    Polynomial,
    RationalFunction,
    rational,
    substitute,
    value_at,
)
from paramverify.algebra.rationals import simplest_between
from paramverify.algebra.real_roots import (
    RealRoot,
    apart,
    between,
    compare,
    exact,
    isolate,
    rational_root,
    sign_of,
    univariate,
    value_of,
)
from paramverify.algebra.reals import Real
from paramverify.bounds import Bounds
from paramverify.claims import AllOutputs
from paramverify.divergences import PositiveParts
from paramverify.encodings.output_sums import PairOutcomes
from paramverify.evidence.witnesses import ExactSetWitness
from paramverify.models.model import Model, divergence_of
from paramverify.synthesis.quotients import coprime, integral_pair


class NeedKind(StrEnum):
    """What is looked for."""

    DELTA = "delta"
    RATIO = "ratio"


SetBounds = Bounds[ExactSetWitness, Fraction]  # proved: a number that is enough, for all claims


def needed_at(kind: NeedKind, model: Model, direction: PairOutcomes, point: Point) -> SetBounds | None:
    """Returns what one direction needs at a point; None where a secret is impossible there.

    None as well where the bound has no value, which may be so at an end of the domain: 1/alpha at alpha = 0.
    """
    measure, constant = divergence_of(model, PositiveParts), model.domain.constant
    total = number_at(direction.total, point)
    one = fmpq_poly([1])
    given = measure.ratio if kind is NeedKind.DELTA else measure.delta
    if Real.of(total, one, constant).sign() <= 0 or not number_at(given.denominator, point):
        return None
    shares = direction.at(point)
    place = {n: exact(v) for n, v in point.items() if n != GENERATOR}

    def found(value: Real | None) -> SetBounds:
        number = ExactNumber(value)
        origin = AllOutputs(direction.left, direction.right, length=direction.length)
        return SetBounds(kind.value, number, number, True, origin=origin, place=place)

    def real(function: RationalFunction) -> Real:
        top, bottom = (number_at(f, point) for f in (function.numerator, function.denominator))
        return Real.of(top, bottom, constant)

    def worst(c: Real) -> tuple[fmpq_poly, fmpq_poly]:
        """Returns the sums over the outputs with p > c·q."""
        chosen = [
            (p, q)
            for p, q in shares
            if Real.of(p * c.denominator - q * c.numerator, one, constant).sign() > 0
        ]
        return sum((p for p, _ in chosen), fmpq_poly()), sum((q for _, q in chosen), fmpq_poly())

    if kind is NeedKind.DELTA:
        c = real(measure.ratio)
        p, q = worst(c)
        top, bottom = p * c.denominator - q * c.numerator, total * c.denominator
        return found(Real.of(top, bottom, constant))
    delta, c = real(measure.delta), Real.of(one, one, constant)
    while True:  # each round takes the best ratio for the set that is worst for the last one (Newton)
        p, q = worst(c)
        top, bottom = p * delta.denominator - total * delta.numerator, q * delta.denominator
        if Real.of(top, one, constant).sign() <= 0:
            return found(c)
        if not bottom:
            return found(None)
        more = Real.of(top, bottom, constant)
        if (more - c).sign() <= 0:
            return found(c)
        c = more


def is_more(first: SetBounds, second: SetBounds) -> bool:
    """Tells whether the first bound is known to be larger."""
    if first.infinite or second.infinite:
        return first.infinite and not second.infinite
    one, other = first.number, second.number
    if isinstance(one, Real) and isinstance(other, Real):
        return (one - other).sign() > 0
    if isinstance(one, RealRoot) and isinstance(other, RealRoot):
        return compare(one, other) > 0
    return first.low > second.low


def number_of(best: SetBounds) -> Fraction | Real | None:
    """Returns the lower end if it is a number with which claims can be written."""
    number = best.number
    if isinstance(number, RealRoot):
        return number.lower if number.is_rational else None
    return number


def real_of(best: SetBounds, model: Model) -> Real:
    """Returns the lower end as a number in E; a rational number stands for one that is irrational."""
    number = best.number
    if isinstance(number, Real):
        return number
    return Real.of(fmpq_poly([rational(best.low)]), fmpq_poly([1]), model.domain.constant)


MAX_EDGES = 64
MAX_ORDERED = 24  # outputs whose order by their ratios is followed along an edge

Parts = Callable[[frozenset[int]], tuple[Polynomial, Polynomial]]


@dataclass(frozen=True, eq=False)
class Peak:
    """A largest value, or None for infinity, and a place with all parameters where it is, or nearly."""

    value: RealRoot | None
    place: Mapping[str, RealRoot]
    chosen: frozenset[int]


def peaks_on_interval(
    top: fmpz_poly, bottom: fmpz_poly, interval: Interval
) -> tuple[RealRoot | None, list[RealRoot]] | None:
    """Returns the supremum of top/bottom where it is positive, and all its places; None where it never is.

    `bottom` is nowhere negative on the interval, and not zero. The value None is infinity.
    """
    inner = interval.simplest()
    top, bottom = coprime(top, bottom, inner) if top else (top, bottom)
    if not top:
        return None
    lower, upper = interval.lower, interval.upper
    if bottom(rational(inner)) < 0:
        top, bottom = -top, -bottom
    poles = isolate(bottom, lower, upper) if bottom.degree() > 0 else []
    # At a pole inside that changes the sign of the denominator, what was divided out did so too.
    turning = [p for p in poles if p.multiplicity % 2 and not (p.is_rational and p.lower in (lower, upper))]
    endless = turning or [pole for pole in poles if sign_of(top, pole) > 0]
    if endless:
        return None, endless
    places = [exact(lower), exact(upper)]
    slope = top.derivative() * bottom - top * bottom.derivative()
    if slope and lower < upper:
        places += isolate(slope, lower, upper)
    elif lower < upper:
        places.append(exact(simplest_between(lower, upper)))
    known = [p for p in places if sign_of(bottom, p) > 0 and sign_of(top, p) > 0]
    found = [(value_of(top, bottom, place), place) for place in known]
    if not found:
        return None
    best = found[0][0]
    for value, _ in found[1:]:
        best = value if compare(value, best) > 0 else best
    return best, [place for value, place in found if compare(value, best) == 0]


def edges(box: Mapping[str, Interval]) -> Iterator[tuple[str, dict[str, Fraction]]]:
    """Yields the edges of a box: the parameter that runs, and the ends at which the others are."""
    free = [name for name, interval in box.items() if not interval.is_point]
    fixed = {name: interval.lower for name, interval in box.items() if interval.is_point}
    found = (
        (name, {**fixed, **dict(zip([n for n in free if n != name], ends, strict=True))})
        for name in free
        for ends in product(*((box[n].lower, box[n].upper) for n in free if n != name))
    )
    yield from islice(found, MAX_EDGES)


def cells(polynomials: Sequence[Polynomial], name: str, interval: Interval) -> Iterator[Fraction]:
    """Yields a rational in each part of an interval between neighbouring roots of univariate polynomials."""
    factors: dict[str, fmpz_poly] = {}
    for polynomial in polynomials:
        if polynomial and polynomial.total_degree() > 0:
            for factor, _ in univariate(polynomial).factor()[1]:
                factors[str(factor)] = factor
    roots = [root for f in factors.values() for root in isolate(f, interval.lower, interval.upper)]
    ends = (interval.lower, interval.upper)
    inner = [root for root in apart(roots) if not (root.is_rational and root.lower in ends)]
    for left, right in pairwise([rational_root(ends[0]), *inner, rational_root(ends[1])]):
        yield simplest_between(*between(left, right))


def restricted(
    outputs: Sequence[tuple[Polynomial, Polynomial]], fixed: Mapping[str, Fraction]
) -> list[tuple[Polynomial, Polynomial]]:
    """Returns both probabilities of each output on an edge."""
    return [(substitute(p, fixed), substitute(q, fixed)) for p, q in outputs]


def sets_by_signs(
    terms: Sequence[Polynomial], name: str, interval: Interval, at: Mapping[str, Fraction]
) -> set[frozenset[int]]:
    """Returns the sets of terms that are positive together, somewhere in an interval."""
    found = set()
    for value in cells(terms, name, interval):
        point = {**at, name: value}
        found.add(frozenset(k for k, t in enumerate(terms) if value_at(t, point) > 0))
    return found


def sets_by_order(
    outputs: Sequence[tuple[Polynomial, Polynomial]],
    name: str,
    interval: Interval,
    at: Mapping[str, Fraction],
) -> set[frozenset[int]] | None:
    """Returns all sets {i : pᵢ > c·qᵢ} for any c ≥ 0, anywhere in an interval; None for too many outputs."""
    if len(outputs) > MAX_ORDERED:
        return None
    crossings = [p * s - r * q for (p, q), (r, s) in combinations(outputs, 2)]
    alone = [part for pair in outputs for part in pair]
    found = set()
    for value in cells([*crossings, *alone], name, interval):
        point = {**at, name: value}
        shares = [(value_at(p, point), value_at(q, point)) for p, q in outputs]
        ratios = {k: (p / q if q else None) for k, (p, q) in enumerate(shares) if p}
        endless = frozenset(k for k, ratio in ratios.items() if ratio is None)
        found.add(endless)
        known = {k: ratio for k, ratio in ratios.items() if ratio is not None}
        for least in set(known.values()):
            found.add(endless | {k for k, ratio in known.items() if ratio >= least})
    return found


def largest_on_edge(
    chosen: Sequence[frozenset[int]],
    parts: Parts,
    name: str,
    interval: Interval,
    fixed: Mapping[str, Fraction],
) -> list[Peak]:
    """Returns the largest value over some sets on an edge, once for each place; nothing if not positive."""
    best: list[Peak] = []
    corner = {n: exact(v) for n, v in fixed.items()}
    for each in chosen:
        top, bottom = parts(each)
        if not top or not bottom:
            if top and not bottom and value_at(top, {**fixed, name: interval.simplest()}) > 0:
                return [Peak(None, {**corner, name: exact(interval.simplest())}, each)]
            continue
        found = peaks_on_interval(*integral_pair(top, bottom, name), interval)
        if found is None:
            continue
        value, places = found
        peaks = [Peak(value, {**corner, name: place}, each) for place in places]
        if value is None:
            return peaks
        before = best[0].value if best else None
        sign = compare(value, before) if before is not None else 1
        best = peaks if sign > 0 else best + peaks if sign == 0 else best
    return best
