"""The least ε for a given δ, the least δ for a given ε, and the curve of both, for a D formula.

A D formula compares pairs (p, q) of probabilities: p ≤ c·q + δ with c = e^ε. So the least δ for c is the
largest p − c·q, and the least c for δ the largest (p − δ)/q, over all pairs, and over all parameter points.
Without parameters both are exact numbers, and the curve δ(c) is piecewise linear and convex in c: its corners
are those of the upper hull of the points (−q, p). With parameters suprema are found as for budgets of cases.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from flint import fmpq, fmpq_poly

from paramverify.algebra.decimals import nearest
from paramverify.algebra.logarithms import Epsilon
from paramverify.algebra.polynomials import (
    RationalFunction,
)
from paramverify.algebra.reals import Real
from paramverify.claims import Origin
from paramverify.errors import LimitError
from paramverify.logic.compared import pairs
from paramverify.logic.numbers import in_ring, real
from paramverify.logic.quotients import (
    Pair,
    below_delta,
    delta_quotient,
    largest,
    ratio_quotient,
    rational_number,
)
from paramverify.logic.syntax import Property
from paramverify.logic.verification import LogicSession
from paramverify.models.chains.chain import Value
from paramverify.synthesis.suprema import TightBudget

SAMPLES = 16  # parts into which a curve is cut where its corners are not known
FARTHEST = Fraction(20)  # ratio at which such a curve ends


@dataclass(frozen=True, eq=False)
class Least:
    """The least δ, or the least ratio e^ε, that a formula needs; None where no budget is enough.

    Either `value` is exact, or `lower` and `upper` are certified bounds; `origin` is where it is needed.
    `sufficient` tells that extremal probabilities over all schedulers were compared ([L] Prop. 2), so that
    the least budget for query schedulers may be smaller: then it is at most `value` or `upper`. `searched`
    tells of an infinite family how far it was looked at.
    """

    value: Real | None
    lower: Fraction
    upper: Fraction | None
    origin: Origin
    infinite: bool = False
    sufficient: bool = False
    searched: str = ""

    @property
    def exact(self) -> bool:
        """Whether `value` is the least budget of the whole formula."""
        return self.value is not None and not self.sufficient and not self.searched

    def __float__(self) -> float:
        if self.infinite:
            return float("inf")
        if self.value is not None:
            return float(self.value)
        return nearest(self.upper) if self.upper is not None else float("inf")


@dataclass(frozen=True, eq=False)
class Corner:
    """A point of the curve: for the ratio e^ε the least δ, or an upper bound of it where not `exact`.

    The least δ is convex in the ratio, so the line between two points is an upper bound of it. `sufficient`
    and `searched` are those of `Least`.
    """

    ratio: Fraction
    delta: Fraction
    exact: bool = True
    sufficient: bool = False
    searched: str = ""

    @property
    def epsilon(self) -> float:
        """ε rounded."""
        return float(Epsilon.of(self.ratio).number())


def least_delta(work: LogicSession, found: Property, ratio: RationalFunction) -> Least:
    """Returns the least δ for a ratio e^ε: the supremum of p − ratio·q, at least zero."""
    candidates, searched = pairs(work, found)
    if work.chain.domain.ring.parameters:
        floor = rational_number(ratio)
        quotients = [delta_quotient(work, pair, ratio) for pair in candidates]
        best = largest(quotients, work, floor) or TightBudget(floor, floor, candidates[0].origin, {})
        return _least(best, floor, Fraction(0), any(p.sufficient for p in candidates), searched)
    ring = work.chain.domain.ring
    bound = real(ratio, ring)
    values = [(real(p.left, ring) - bound * real(p.right, ring), p) for p in _needed(candidates, work)]
    value, pair = _maximum(values)
    zero = real(fmpq(0), ring)
    if value.sign() < 0:
        value = zero
    low, high = value.enclosure()
    sufficient = pair.sufficient and value.sign() > 0
    return Least(
        value, Fraction(0) if sufficient else low, high, pair.origin, sufficient=sufficient, searched=searched
    )


def least_ratio(work: LogicSession, found: Property, delta: RationalFunction) -> Least:
    """Returns the least ratio e^ε ≥ 1 for δ: the supremum of (p − δ)/q."""
    candidates, searched = pairs(work, found)
    ring = work.chain.domain.ring
    if ring.parameters:
        quotients = []
        for pair in candidates:
            if not in_ring(pair.right, ring).numerator:
                if not below_delta(work, pair, delta):
                    return _unbounded(pair, searched)
                continue
            quotients.append(ratio_quotient(work, pair, delta))
        floor = Fraction(1)
        best = largest(quotients, work, floor) or TightBudget(floor, floor, candidates[0].origin, {})
        return _least(best, floor, floor, any(p.sufficient for p in candidates), searched)
    shift = real(delta, ring)
    values: list[tuple[Real, Pair]] = []
    for pair in _needed(candidates, work):
        top = real(pair.left, ring) - shift
        bottom = real(pair.right, ring)
        if top.sign() > 0:
            if bottom.sign() == 0:
                return _unbounded(pair, searched)
            values.append((top / bottom, pair))
    one = real(fmpq(1), ring)
    values = [v for v in values if (v[0] - one).sign() > 0]
    if not values:
        return Least(
            one,
            Fraction(1),
            upper=Fraction(1),
            origin=candidates[0].origin,
            searched=searched,
        )
    value, pair = _maximum(values)
    low, high = value.enclosure()
    return Least(
        value,
        Fraction(1) if pair.sufficient else low,
        upper=high,
        origin=pair.origin,
        sufficient=pair.sufficient,
        searched=searched,
    )


def _unbounded(pair: Pair, searched: str) -> Least:
    """Returns that a pair (p, 0) with p > δ has no ratio; by Prop. 2 only that no upper bound is known."""
    infinite = not pair.sufficient
    least = Fraction(0 if infinite else 1)
    return Least(
        None,
        least,
        upper=None,
        origin=pair.origin,
        infinite=infinite,
        sufficient=pair.sufficient,
        searched=searched,
    )


def _maximum(values: Sequence[tuple[Real, Pair]]) -> tuple[Real, Pair]:
    best = values[0]
    for found in values[1:]:
        if (found[0] - best[0]).sign() > 0:
            best = found
    return best


def _needed(candidates: Sequence[Pair], work: LogicSession) -> Sequence[Pair]:
    """Returns the pairs on the upper hull, where all probabilities are rational; all pairs otherwise."""
    return hull(candidates) if work.chain.numeric else candidates


def hull(candidates: Iterable[Pair]) -> list[Pair]:
    """Returns the pairs of which one makes p − c·q largest, for each c ≥ 0, by falling q.

    The upper left hull of the points (q, p): Andrew's monotone chain [Andrew79].
    """
    best: dict[Value, Pair] = {}
    for pair in candidates:
        if pair.right not in best or pair.left > best[pair.right].left:
            best[pair.right] = pair
    kept: list[Pair] = []
    for right in sorted(best):
        pair = best[right]
        if kept and pair.left <= kept[-1].left:
            continue  # another pair has a larger p with a smaller q
        while len(kept) > 1 and _below(kept[-2], kept[-1], pair):
            kept.pop()
        kept.append(pair)
    return kept[::-1]


def _below(first: Pair, middle: Pair, last: Pair) -> bool:
    """Tells whether the middle point is on or below the line through the two others."""
    rise = (middle.left - first.left) * (last.right - first.right)
    return bool(rise <= (last.left - first.left) * (middle.right - first.right))


def curve(work: LogicSession, found: Property) -> Iterator[Corner]:
    """Yields δ as a function of the ratio, from ratio one to where δ is zero or stays constant.

    Where all probabilities are rational numbers, these are corners, between which δ is linear in the ratio.
    Otherwise they are sample points, with certified upper bounds. The ratio rises, so what comes before a
    limit is the beginning of the curve.

    Raises:
        LimitError: no upper bound of δ was proved at a ratio.
    """
    if not work.chain.numeric or work.chain.domain.ring.parameters:
        yield from _sampled_curve(work, found)
        return
    candidates, searched = pairs(work, found)
    lines = hull(candidates)
    sufficient = any(p.sufficient for p in lines)
    ratios = {Fraction(1)}
    for first, second in pairwise(lines):
        # p − c·q and p' − c·q' meet at c = (p − p')/(q − q').
        meet = _fraction((first.left - second.left) / (first.right - second.right))
        if meet > 1:
            ratios.add(meet)
    for pair in lines:
        if pair.right > 0 and _fraction(pair.left / pair.right) > 1:
            ratios.add(_fraction(pair.left / pair.right))
    for ratio in sorted(ratios):
        delta = max(_fraction(p.left) - ratio * _fraction(p.right) for p in lines)
        bound = sufficient and delta > 0
        yield Corner(ratio, max(delta, Fraction(0)), not (bound or searched), bound, searched)
        if delta <= 0:
            break


def _sampled_curve(work: LogicSession, found: Property) -> Iterator[Corner]:
    """Yields upper bounds of δ at ratios from one to the least for δ = 0, or to `FARTHEST`."""
    ring = work.chain.domain.ring
    last = least_ratio(work, found, RationalFunction.of(ring.number(0)))
    top = FARTHEST if last.infinite or last.upper is None else min(last.upper, FARTHEST)
    for k in range(SAMPLES + 1):
        ratio = Fraction(float(top) ** (k / SAMPLES)).limit_denominator(10**4)  # any ratio will do
        least = least_delta(work, found, RationalFunction.of(ring.number(ratio)))
        if least.upper is None:
            raise LimitError(f"no upper bound of delta was proved at the ratio {ratio}")
        upper = max(least.upper, Fraction(0))
        exact = least.exact and least.lower == least.upper
        yield Corner(ratio, upper, exact, least.sufficient, least.searched)


def _fraction(value: Value) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def _least(best: TightBudget, floor: Fraction, least: Fraction, sufficient: bool, searched: str) -> Least:
    """Returns a supremum as a budget: `floor` becomes `least`, and nothing is below."""
    lower = least if sufficient else max(best.lower - floor + least, least)
    upper = None if best.upper is None else max(best.upper - floor + least, least)
    value = _rational(lower) if lower == upper else None
    return Least(
        value,
        lower,
        upper=upper,
        origin=best.origin,
        infinite=best.infinite and not sufficient,
        sufficient=sufficient and value is None,
        searched=searched,
    )


def _rational(value: Fraction) -> Real:
    return Real(fmpq_poly([fmpq(value.numerator, value.denominator)]), fmpq_poly([1]))
