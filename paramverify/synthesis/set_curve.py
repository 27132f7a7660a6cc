"""The least δ as a function of ε over all sets of outputs, and the trade-off function of [DongRS22].

At one point let P and Q be the probabilities of a set of outputs under both secrets. The least δ for the
ratio c is the largest P − c·Q over all sets, pairs and directions. Only sets of outputs with the largest p/q
count, so the points (Q, P) of these sets are enough. δ is linear in c between the slopes of their upper left
hull, and convex. A test that tells the secrets apart by the set has the errors α = Q and β = 1 − P. So the
same corners, turned, are those of the trade-off function f(α): the least β, which is the largest
1 − δ(c) − c·α over all c ([DongRS22]).

The least δ over all priors as a function of the ratio c: convex, between lines below and chords above.

Each prior θ and set S of outputs gives a line, P − c·Q, that is nowhere above δ(c), and δ is their largest
value, so it is convex. So between two ratios with known δ the chord is an upper bound. A set that is worst
at one ratio gives a line that is a lower bound at all of them. Where two such lines meet, δ is evaluated
next: if it is their value, then there is a corner, and δ is exactly these lines on both sides. Otherwise the
gap gets smaller. This is the search of [EisnerSeverance76] for the corners of a convex function.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise

from flint import fmpq_poly

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import number_at
from paramverify.algebra.polynomials import (
    RationalFunction,
    fraction,
    in_generator,
    rational,
    value_at,
    variables,
)
from paramverify.algebra.rationals import logarithm, simplest_between
from paramverify.algebra.reals import Real
from paramverify.divergences import PositiveParts
from paramverify.encodings.output_sums import PairOutcomes, outcomes
from paramverify.errors import InputError, LimitError
from paramverify.models.model import Model, divergence_of
from paramverify.portfolio.session import Session
from paramverify.synthesis.least_sets import least_bound
from paramverify.synthesis.set_needs import NeedKind, SetBounds

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
        raise InputError("the curve requires rational probabilities, but they contain exp of numbers")
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


FARTHEST = 128  # ratio beyond which no corner is looked for
MOST = 120  # ratios at which the least δ is found
FEW = 30  # the same, where the bounds are close enough and corners may be found exactly
CLOSE = Fraction(1, 2**40)  # distance of a rational prior from an algebraic one, or from an end, as a share


@dataclass(frozen=True)
class SupportLine:
    """The line c ↦ left − c·right: what one set of outputs needs at one prior, or tends to near an end."""

    left: Fraction
    right: Fraction

    def at(self, ratio: Fraction) -> Fraction:
        """Returns a number that the least δ for a ratio is not below."""
        return self.left - ratio * self.right


@dataclass(frozen=True)
class KnownDelta:
    """δ(ratio) ≤ `upper`, where `exact` it is that; `line` is a lower bound for all ratios."""

    ratio: Fraction
    upper: Fraction
    line: SupportLine
    exact: bool

    @property
    def touched(self) -> bool:
        """Whether the line has the value of δ here."""
        return self.line.at(self.ratio) == self.upper


@dataclass(frozen=True)
class DeltaEnvelope:
    """δ at some ratios, and how far chords are above `lines` at most; if it `ends`, it is constant then."""

    points: tuple[KnownDelta, ...]
    lines: tuple[SupportLine, ...]
    gap: Fraction
    ends: bool


def envelope(model: Model, session: Session, precision: Fraction) -> DeltaEnvelope:
    """Returns δ over all priors between bounds that are nowhere farther apart than `precision`, if possible.

    A gap of 0 says that the points are all corners.

    Raises:
        LimitError: no upper bound of δ was proved at a ratio, or the time is over.
    """
    return _EnvelopeSearch(model, session, precision).run()


@dataclass(eq=False)
class _EnvelopeSearch:
    model: Model
    session: Session
    precision: Fraction
    found: dict[Fraction, KnownDelta] = field(default_factory=dict)

    def run(self) -> DeltaEnvelope:
        both = [(o, o.turned) for o in outcomes(self.model)]
        self.directions = {(d.left, d.right, d.length): d for pair in both for d in pair}
        ratio = Fraction(1)
        while not _is_last(self._known(ratio)) and ratio < FARTHEST:
            ratio *= 2
        while True:
            points = [self.found[c] for c in sorted(self.found)]
            gaps = [(self._gap(a, b), a, b) for a, b in pairwise(points)]
            gap, first, second = max(gaps, key=lambda g: g[0], default=(Fraction(0), points[0], points[0]))
            exactly = 0 < gap <= self.precision and first.touched and second.touched and len(points) < FEW
            place = _meeting(first, second) if gap > self.precision or exactly else None
            if place is None or place in self.found or len(self.found) >= MOST:
                lines = tuple(dict.fromkeys(known.line for known in points))
                return DeltaEnvelope(tuple(_kept(points, gap)), lines, gap, _is_last(points[-1]))
            self._known(place)

    def _gap(self, first: KnownDelta, second: KnownDelta) -> Fraction:
        """Returns how far the chord is above the lines at most, between two ratios."""
        for known in self.found.values():
            line = known.line
            if line.at(first.ratio) == first.upper and line.at(second.ratio) == second.upper:
                return Fraction(0)
        lines = (first.line, second.line)
        slope = (second.upper - first.upper) / (second.ratio - first.ratio)

        def above(c: Fraction) -> Fraction:
            return first.upper + slope * (c - first.ratio) - max(line.at(c) for line in lines)

        return max(map(above, (first.ratio, second.ratio, _crossing(first, second))))

    def _known(self, ratio: Fraction) -> KnownDelta:
        """Finds δ at a ratio, and a line below δ that touches it there or nearly."""
        if ratio in self.found:
            return self.found[ratio]
        measure = divergence_of(self.model, PositiveParts)
        number = RationalFunction.of(self.model.domain.ring.number(ratio))
        bounded = replace(self.model, measure=replace(measure, ratio=number))
        found = least_bound(bounded, self.session, self.precision / 4, NeedKind.DELTA)
        if found.high is None:
            raise LimitError(f"no upper bound of delta was proved at the ratio {ratio}")
        exact = found.known is not None and found.known.is_rational
        self.found[ratio] = KnownDelta(ratio, found.high, self._line(found, ratio), exact)
        return self.found[ratio]

    def _line(self, found: SetBounds, ratio: Fraction) -> SupportLine:
        """Returns the line of the worst set at the prior of a bound, or at one near it."""
        best = SupportLine(Fraction(0), Fraction(0))  # the empty set
        direction = self.directions[(*found.secrets, found.length)]
        inner = {name: interval.simplest() for name, interval in self.model.domain.box.items()}
        place = {n: found.place[n].refined(CLOSE).lower if n in found.place else v for n, v in inner.items()}
        near = {name: value + (inner[name] - value) * CLOSE for name, value in place.items()}
        lines = (
            self._worst(direction, place, ratio),
            _limit(direction, near, ratio, place),
            self._worst(direction, near, ratio),
        )
        for line in lines:
            if line is not None and line.at(ratio) > best.at(ratio):
                best = line
        return best

    def _worst(
        self, direction: PairOutcomes, at: Mapping[str, Fraction], ratio: Fraction
    ) -> SupportLine | None:
        """Returns the line of the worst set at a point of the closure; None where a secret is impossible.

        At a point that the domain lacks it is the limit of such lines, so it is nowhere above δ, too.
        """
        if not self._is_near(at):
            return None
        constant, one = self.model.domain.constant, fmpq_poly([1])
        total = number_at(direction.total, at)
        if Real.of(total, one, constant).sign() <= 0:
            return None
        p, q = fmpq_poly(), fmpq_poly()
        for left, right in direction.at(at):
            more = left - right * fmpq_poly([ratio.numerator]) / ratio.denominator
            if Real.of(more, one, constant).sign() > 0:
                p, q = p + left, q + right
        return SupportLine(
            Real.of(p, total, constant).enclosure()[0], Real.of(q, total, constant).enclosure()[1]
        )

    def _is_near(self, at: Mapping[str, Fraction]) -> bool:
        """Tells whether a point of the closed box is in the closure of the domain, surely."""
        domain = self.model.domain
        return at in domain or not domain.constraints


def _limit(
    direction: PairOutcomes, near: Mapping[str, Fraction], ratio: Fraction, place: Mapping[str, Fraction]
) -> SupportLine | None:
    """Returns what the line of the set that is worst near a place tends to there, with one parameter."""
    if direction.line is None:
        return None
    name, parts = direction.line
    value, beside = rational(place[name]), rational(near[name])
    chosen = [(p, q) for p, q in parts if p(beside) > rational(ratio) * q(beside)]
    total = in_generator(direction.total)
    shares = []
    for side in (0, 1):
        top = sum((pair[side] for pair in chosen), fmpq_poly())
        common = top.gcd(total)
        bottom = (total // common)(value)
        if not bottom:
            return None
        shares.append(fraction((top // common)(value) / bottom))
    return SupportLine(*shares)


def _is_last(known: KnownDelta) -> bool:
    """Tells whether δ is constant from here on: it does not grow, and a line that touches it is flat."""
    return not known.upper or (known.touched and not known.line.right)


def _crossing(first: KnownDelta, second: KnownDelta) -> Fraction:
    """Returns the ratio at which the lines of two points meet, between both; the first one if they do not."""
    fall = first.line.right - second.line.right
    place = (first.line.left - second.line.left) / fall if fall else first.ratio
    return min(max(place, first.ratio), second.ratio)


def _meeting(first: KnownDelta, second: KnownDelta) -> Fraction | None:
    """Returns where δ is evaluated next: exactly where two lines that touch it meet, or simply between."""
    place = _crossing(first, second)
    inside = first.ratio < place < second.ratio
    if first.touched and second.touched and inside:
        return place
    if first.ratio == second.ratio:
        return None
    middle = place if inside else (first.ratio + second.ratio) / 2
    reach = min(middle - first.ratio, second.ratio - middle) / 4
    return simplest_between(middle - reach, middle + reach)


def _kept(points: list[KnownDelta], gap: Fraction) -> list[KnownDelta]:
    """Returns the points without those on the way between their neighbours, where δ is known exactly."""
    kept: list[KnownDelta] = []
    for k, point in enumerate(points):
        if gap == 0 and kept and k + 1 < len(points):
            before, after = kept[-1], points[k + 1]
            share = (point.ratio - before.ratio) / (after.ratio - before.ratio)
            if before.upper + (after.upper - before.upper) * share == point.upper:
                continue
        kept.append(point)
        if _is_last(point):
            break
    return kept
