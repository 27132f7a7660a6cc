"""The least bounds of a case whose probabilities are enclosed: ε, δ for an ε, and ε for a δ.

The largest value over finitely many directions and outputs is reached. It lies between two certified numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from flint import arb

from paramverify.algebra.constants import working_precision
from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.bounds import INFINITY, Bounds
from paramverify.claims import Origin
from paramverify.divergences import PositiveParts
from paramverify.errors import LimitError, UnsupportedError
from paramverify.evidence.enclosed_witnesses import LEAST, ends, shares
from paramverify.models.enclosed_models import EnclosedModel, EnclosedProbabilities, are_same, bits_of
from paramverify.models.model import divergence_of
from paramverify.models.priors import SecretPair
from paramverify.models.programs.noise_densities import number
from paramverify.portfolio.session import Session

MAX_HALVINGS = 200  # of an interval of ratios
LARGEST = 2**200  # ratio that is tried


class LeastTarget(Enum):
    """Which bound is the least one."""

    RATIO = "ratio"  # e^ε, of pure privacy
    DELTA = "delta"  # for the ε of the case
    RATIO_FOR = "ratio for a delta"  # e^ε, for the δ of the case


EnclosedBounds = Bounds[None, int]  # both ends follow from enclosures with so many bits


@dataclass(frozen=True, eq=False)
class _Largest:
    """The largest of some balls: numbers below and above it, None for infinity, and where it is."""

    lower: Fraction
    upper: Fraction | None
    pair: SecretPair
    outputs: tuple[int, ...]
    infinite: bool = False


def least_enclosed(
    session: Session, model: EnclosedModel, wanted: LeastTarget, width: Fraction
) -> EnclosedBounds:
    """Returns the least bound of a case, within `width` of each other if the bits of the case are enough.

    Raises:
        UnsupportedError: the bounds depend on a distance.
        TimeLimitError: the time of the session is over before anything is known.
    """
    if model.measure.distances:
        reason = "the least bound for each distance requires formulas, but these probabilities are enclosed"
        raise UnsupportedError(reason, key="neighbours.distance")
    found: EnclosedBounds | None = None
    for bits in bits_of(model.table):
        try:
            found = _with_bits(
                EnclosedProbabilities(model.table, bits, session.in_time), model, wanted, width
            )
        except LimitError:
            if found is None:
                raise
            return found
        if found.is_within(width):
            return found
    assert found is not None
    return found


def _with_bits(
    known: EnclosedProbabilities, model: EnclosedModel, wanted: LeastTarget, width: Fraction
) -> EnclosedBounds:
    with working_precision(known.encloser.precision):
        if wanted is LeastTarget.RATIO:
            largest = _largest_ratio(known, model)
        else:
            measure = divergence_of(model, PositiveParts)
            if wanted is LeastTarget.DELTA:
                largest = _largest_excess(known, model, known.number(measure.ratio))
            else:
                largest = _least_ratio(known, model, known.number(measure.delta), width)
        names = tuple(known.table.observations[k] for k in largest.outputs)
        low, high = (ExactNumber(end) for end in (largest.lower, largest.upper))
        if largest.infinite:
            low = INFINITY
        name = "delta" if wanted is LeastTarget.DELTA else "ratio"
        origin = Origin(largest.pair.left, largest.pair.right, names)
        return EnclosedBounds(name, low, high, True, origin=origin, proof=known.bits)


def _directions(model: EnclosedModel) -> Iterator[SecretPair]:
    for pair in model.pairs:
        yield pair
        yield pair.turned


def _largest_ratio(known: EnclosedProbabilities, model: EnclosedModel) -> _Largest:
    """Returns the largest quotient of two probabilities of an output."""
    best = _Largest(Fraction(0), Fraction(0), model.pairs[0], ())
    for pair in _directions(model):
        left, right = known.under(pair.pi), known.under(pair.tau)
        for k, (p, q) in enumerate(zip(left, right, strict=True)):
            high: Fraction | None
            if p.is_zero() or are_same(known.table, pair, k):
                low, high = (Fraction(1), Fraction(1)) if p > 0 else (Fraction(0), Fraction(1))
            elif q.is_zero() and p > 0:
                return _Largest(best.lower, None, pair, (k,), infinite=True)
            else:
                low, high = _quotient(p, q)
            upper = None if best.upper is None or high is None else max(best.upper, high)
            better = low > best.lower
            best = _Largest(
                max(low, best.lower), upper, pair if better else best.pair, (k,) if better else best.outputs
            )
    return best


def _quotient(p: arb, q: arb) -> tuple[Fraction, Fraction | None]:
    """Returns numbers below and above a quotient of probabilities, None for no number of a sensible size."""
    if q > 0 and p / q < number(1 / LEAST):
        return ends(p / q)
    least, most = shares(p)[0], shares(q)[1]
    return (least / most if most else Fraction(0)), None


def _largest_excess(known: EnclosedProbabilities, model: EnclosedModel, ratio: arb) -> _Largest:
    """Returns the largest sum of max(0, P − ratio · Q) of a direction."""
    best = _Largest(Fraction(0), Fraction(0), model.pairs[0], ())
    for pair in _directions(model):
        left, right = known.under(pair.pi), known.under(pair.tau)
        total, certain = arb(0), arb(0)
        positive = []
        for k, (p, q) in enumerate(zip(left, right, strict=True)):
            excess = p - ratio * q
            if excess <= 0 or (ratio >= 1 and are_same(known.table, pair, k)):
                continue
            if excess > 0:
                positive.append(k)
                total += excess
                certain += excess
            else:
                total += arb(0).union(excess.upper())
        low, high = shares(certain)[0], shares(total)[1]
        better = low > best.lower
        assert best.upper is not None
        best = _Largest(
            max(low, best.lower),
            max(high, best.upper),
            pair if better else best.pair,
            tuple(positive) if better else best.outputs,
        )
    return best


def _least_ratio(known: EnclosedProbabilities, model: EnclosedModel, delta: arb, width: Fraction) -> _Largest:
    """Returns the least ratio, at least 1, for which no excess is more than delta.

    The largest excess does not grow with the ratio, so an interval of ratios is halved.
    """
    low, high = Fraction(1), Fraction(1)
    needed = _largest_excess(known, model, arb(1))
    worst = needed
    while not _is_within(needed, delta):
        if _is_beyond(needed, delta):
            low, worst = high, needed
        high *= 2
        if high > LARGEST:
            infinite = _is_beyond(_without(known, model), delta)
            return _Largest(low, None, worst.pair, worst.outputs, infinite=infinite)
        needed = _largest_excess(known, model, number(high))
    for _ in range(MAX_HALVINGS):
        if high - low <= width * low / 2:
            break
        middle = (low + high) / 2
        needed = _largest_excess(known, model, number(middle))
        if _is_within(needed, delta):
            high = middle
        elif _is_beyond(needed, delta):
            low, worst = middle, needed
        else:
            break
    return _Largest(low, high, worst.pair, worst.outputs)


def _is_within(found: _Largest, delta: arb) -> bool:
    return found.upper is not None and bool(number(found.upper) <= delta)


def _is_beyond(found: _Largest, delta: arb) -> bool:
    return bool(number(found.lower) > delta)


def _without(known: EnclosedProbabilities, model: EnclosedModel) -> _Largest:
    """Returns the largest probability of outputs that are impossible on the other side."""
    best = _Largest(Fraction(0), None, model.pairs[0], ())
    for pair in _directions(model):
        left, right = known.under(pair.pi), known.under(pair.tau)
        only = [k for k, q in enumerate(right) if q.is_zero()]
        low = shares(sum((left[k] for k in only), arb(0)))[0]
        if low > best.lower:
            best = _Largest(low, None, pair, tuple(only))
    return best
