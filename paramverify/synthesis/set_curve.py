"""The least δ as a function of ε over all sets of outputs, and the trade-off function of [DongRS22].

At one point let P and Q be the probabilities of a set of outputs under both secrets. The least δ for the
ratio c is the largest P − c·Q over all sets, pairs and directions. Only sets of outputs with the largest p/q
count, so the points (Q, P) of these sets are enough. δ is linear in c between the slopes of their upper left
hull, and convex. A test that tells the secrets apart by the set has the errors α = Q and β = 1 − P. So the
same corners, turned, are those of the trade-off function f(α): the least β, which is the largest
1 − δ(c) − c·α over all c ([DongRS22]).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.polynomials import value_at, variables
from paramverify.algebra.rationals import logarithm
from paramverify.encodings.output_sums import PairOutcomes, outcomes
from paramverify.errors import InputError
from paramverify.models.model import Model
from paramverify.portfolio.session import Session
from paramverify.synthesis.set_envelope import DeltaEnvelope, envelope

Pair = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class CurvePoint:
    """For the ratio e^ε the least δ, or a proved upper bound of it where not `exact`."""

    ratio: Fraction
    delta: Fraction
    exact: bool = True
    sufficient: bool = False
    searched: str = ""

    @property
    def epsilon(self) -> float:
        """ε rounded."""
        return logarithm(self.ratio)


@dataclass(frozen=True)
class SetCurve:
    """The least δ at ratios from 1 on, to where it is 0 or stays constant (where it `ends`).

    `linear`: the points are the corners, and δ is linear in the ratio between them. Otherwise lines between
    the points are upper bounds, for δ is convex in the ratio, and δ is at most `gap` below them. `lines` are
    pairs (P, Q) with δ(c) ≥ P − c·Q for all ratios c, of sets of outputs at priors. `errors` are corners
    (α, β) of the trade-off function: all of them if `linear`, else those of an upper bound.
    """

    points: tuple[CurvePoint, ...]
    linear: bool
    errors: tuple[Pair, ...] = ()
    gap: Fraction = Fraction(0)
    ends: bool = True
    lines: tuple[Pair, ...] = ()


def curve(
    model: Model, session: Session, precision: Fraction, at: Mapping[str, Fraction] | None = None
) -> SetCurve:
    """Returns the curve of a model over all its priors, or at one point of the domain.

    Exact corners where all probabilities are rational numbers, or where finitely many sets at rational priors
    are the worst; else bounds that are no farther apart than `precision`, where that was reached.

    Raises:
        InputError: the point is not in the domain, or there are `exp` of numbers at it.
        LimitError: no upper bound of δ was proved at a ratio.
    """
    found = [d for o in outcomes(model) for d in (o, o.turned)]
    used = {
        n for d in found for p, q in d.outputs for n in (*variables(p), *variables(q), *variables(d.total))
    }
    if at is None and used:
        return _over_priors(envelope(model, session, precision))
    if GENERATOR in used:
        raise InputError("the probabilities have exp of numbers, so the corners are not rational")
    point = {name: interval.simplest() for name, interval in model.domain.box.items()} | dict(at or {})
    if at is not None and point not in model.domain:
        raise InputError(f"this point is not in the domain {model.domain.describe()}")
    corners = hull(pair for direction in found for pair in _tests(direction, point))
    return SetCurve(tuple(_corners(corners)), linear=True, errors=tuple((q, 1 - p) for q, p in corners))


def _tests(direction: PairOutcomes, point: Mapping[str, Fraction]) -> Iterator[Pair]:
    """Yields (Q, P) of the sets of the outputs with the largest p/q, from none to all."""
    total = value_at(direction.total, point)
    if not total:
        return
    shares = [(value_at(q, point) / total, value_at(p, point) / total) for p, q in direction.outputs]
    shares.sort(key=lambda s: (s[0] > 0, -s[1] / s[0] if s[0] else 0))
    q, p = Fraction(0), Fraction(0)
    yield q, p
    for more_q, more_p in shares:
        q, p = q + more_q, p + more_p
        yield q, p


def hull(found: Iterable[Pair]) -> list[Pair]:
    """Returns the corners of the least concave function above points, from the left; [Andrew79]."""
    highest: dict[Fraction, Fraction] = {}
    for q, p in found:
        highest[q] = max(p, highest.get(q, p))
    kept: list[Pair] = []
    for point in sorted(highest.items()):
        while len(kept) > 1 and _below(kept[-2], kept[-1], point):
            kept.pop()
        kept.append(point)
    return kept


def _below(first: Pair, middle: Pair, last: Pair) -> bool:
    """Tells whether the middle point is on or below the line through the others."""
    rise = (middle[1] - first[1]) * (last[0] - first[0])
    return rise <= (last[1] - first[1]) * (middle[0] - first[0])


def _corners(found: Sequence[Pair]) -> Iterator[CurvePoint]:
    """Yields the corners of δ = max P − c·Q for c ≥ 1."""
    slopes = {(p - r) / (q - s) for (s, r), (q, p) in pairwise(found)}
    for ratio in sorted({Fraction(1), *(c for c in slopes if c > 1)}):
        yield CurvePoint(ratio, max(p - ratio * q for q, p in found))


def _over_priors(found: DeltaEnvelope) -> SetCurve:
    """Returns the curve over all priors; its trade-off function is the largest convex one below all of them.

    A set with the probabilities P and Q is a test with the errors Q and 1 − P, and, with both secrets in
    exchange, with 1 − P and Q.
    """
    points = tuple(CurvePoint(known.ratio, known.upper, known.exact) for known in found.points)
    lines = tuple((line.left, line.right) for line in found.lines)
    tests = [(Fraction(0), Fraction(0)), (Fraction(1), Fraction(1)), *((q, p) for p, q in lines)]
    turned = [(1 - p, 1 - q) for q, p in tests]
    corners = hull([*tests, *turned])
    linear = found.gap == 0 and found.ends and all(known.touched for known in found.points)
    errors = tuple((q, 1 - p) for q, p in corners)
    return SetCurve(points, linear=linear, errors=errors, gap=found.gap, ends=found.ends, lines=lines)
