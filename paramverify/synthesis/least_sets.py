"""The least δ for an ε, and the least ε for a δ, over all priors and all sets of outputs.

With P and Q for the probabilities of a set of outputs under two secrets, (ε, δ) privacy says P ≤ c·Q + δ with
c = e^ε. So the least δ for c is the supremum of P − c·Q over all points and sets, at least 0, and the least c
for δ that of (P − δ)/Q, at least 1.

At one point the worst set for c are the outputs with p > c·q. With one parameter finitely many sets are worst
anywhere: the signs of p − c·q, and the order of the outputs by p/q, change at finitely many points. Each
set gives one quotient of polynomials, whose largest value is exact (`set_needs`). With more parameters such
values on the edges of the box are lower bounds. Upper bounds are proved, like privacy itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice

from flint import fmpq_poly, fmpz_poly

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import contains, in_words, number_at
from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.algebra.polynomials import (
    Point,
    Polynomial,
    RationalFunction,
    substitute,
    variables,
)
from paramverify.algebra.real_roots import compare, exact, univariate
from paramverify.algebra.reals import Real
from paramverify.bounds import Place
from paramverify.claims import AllOutputs
from paramverify.divergences import PositiveParts
from paramverify.encodings.output_sums import PairOutcomes, excesses, outcomes
from paramverify.errors import DefectError, LimitError
from paramverify.evidence.witnesses import ExactSetWitness, bounds_at, sides
from paramverify.models.context import sample_points
from paramverify.models.model import Model, divergence_of
from paramverify.portfolio.session import Session
from paramverify.privacy.set_verification import decide_excesses
from paramverify.synthesis.quotients import as_polynomials
from paramverify.synthesis.set_needs import (
    NeedKind,
    Peak,
    SetBounds,
    edges,
    is_more,
    largest_on_edge,
    needed_at,
    number_of,
    real_of,
    restricted,
    sets_by_order,
    sets_by_signs,
)
from paramverify.synthesis.supremum import Functional, supremum

POINTS = 60  # simple points at which values are compared first
TRIES = 4  # times that the largest number found is tried as a bound, before bisection
DIGITS = (3, 5, 8, 12)  # binary digits of the distance at which a simpler point is tried


def least_bound(model: Model, session: Session, precision: Fraction, kind: NeedKind) -> SetBounds:
    """Returns the least δ for the ratio of an (ε, δ) model, or the least ratio e^ε for its δ."""
    return _SetHunt(model, session, precision, kind).run()


@dataclass(frozen=True)
class _TriedSet:
    """Whether a bound is proved to be enough, and a point where it is not; neither where that stays open."""

    proved: bool
    point: Point | None = None


@dataclass(eq=False)
class _SetHunt(Functional[ExactSetWitness, Fraction]):
    """The search for one bound; `floor` is what is enough at best."""

    most = 200
    farthest = Fraction(10) ** 9

    model: Model
    session: Session
    precision: Fraction
    kind: NeedKind

    def run(self) -> SetBounds:
        self.measure = divergence_of(self.model, PositiveParts)
        both = [(o, o.turned) for o in outcomes(self.model)]
        self.directions = [direction for pair in both for direction in pair]
        self.floor = Fraction(0 if self.kind is NeedKind.DELTA else 1)
        best = self._at_points()
        if best.infinite or not self._free():
            return self._told(best)
        domain = self.model.domain
        if not domain.constraints and not domain.constant:
            number = number_of(best)
            if len(self._free()) == 1 and isinstance(number, Fraction) and self._try(number).proved:
                return self._told(_settled(best))  # a simple point is the worst
            found = self._on_edges()
            best = found if found is not None and is_more(found, best) else best
            if best.infinite:
                return self._told(best)
            if len(self._free()) == 1 and found is not None and self.complete:
                return self._told(self._checked(self._whole(best, found)))
        return self._told(self._bounded(best))

    def _free(self) -> list[str]:
        """Returns the parameters that matter."""
        used: set[str] = set(self.measure.variables)
        for direction in self.directions:
            for p, q in direction.outputs:
                used |= {*variables(p), *variables(q), *variables(direction.total)}
        box = self.model.domain.box
        return [n for n in self.model.domain.ring.parameters if n in used and not box[n].is_point]

    # --- at points ---------------------------------------------------------------------------------------

    def _at_points(self) -> SetBounds:
        """Returns the largest bound that simple points of the domain need; exact without parameters."""
        first = self.directions[0]
        origin = AllOutputs(first.left, first.right, length=first.length)
        best = SetBounds(self.kind.value, ExactNumber(self.floor), origin=origin)
        most = POINTS if self._free() else 1
        for point in islice(sample_points(self.model.domain), most):
            for direction in self.directions:
                found = needed_at(self.kind, self.model, direction, point)
                if found is not None and is_more(found, best):
                    best = found
            if best.infinite:
                return best
        if self._free():
            return replace(best, upper=None)
        return replace(best, upper=best.lower, attained=True)

    # --- along edges -------------------------------------------------------------------------------------

    def _on_edges(self) -> SetBounds | None:
        """Returns the largest supremum on an edge of the box; `complete`: all sets were looked at on each."""
        self.complete = True
        best: SetBounds | None = None
        box = {n: i for n, i in self.model.domain.box.items() if i.is_point or n in self._free()}
        others = {n: i.simplest() for n, i in self.model.domain.box.items() if n not in box}
        for name, ends in edges(box):
            fixed = {**others, **ends}
            for direction in self.directions:
                self.session.in_time()
                for peak in self._peaks(direction, name, fixed):
                    found = self._of_peak(direction, peak)
                    as_much = best is not None and not is_more(best, found)
                    if best is None or is_more(found, best) or (as_much and found.attained):
                        best = found
        return best

    def _peaks(self, direction: PairOutcomes, name: str, fixed: Mapping[str, Fraction]) -> list[Peak]:
        """Returns the largest value of a direction on an edge, with its places."""
        interval = self.model.domain.box[name]
        outputs = restricted(direction.outputs, fixed)
        total, *_ = restricted([(direction.total, direction.total)], fixed)[0]
        if not total:
            return []  # a secret is impossible along the whole edge
        ratio, delta = (
            [f for pair in restricted([(g.numerator, g.denominator)], fixed) for f in pair]
            for g in (self.measure.ratio, self.measure.delta)
        )
        if self.kind is NeedKind.DELTA:
            terms = [p * ratio[1] - q * ratio[0] for p, q in outputs]
            chosen = sets_by_signs(terms, name, interval, fixed)

            def parts(each: frozenset[int]) -> tuple[Polynomial, Polynomial]:
                return sum((terms[k] for k in each), total * 0), total * ratio[1]
        else:
            found = sets_by_order(outputs, name, interval, fixed)
            if found is None:
                self.complete = False
                return []
            chosen = found

            def parts(each: frozenset[int]) -> tuple[Polynomial, Polynomial]:
                p, q = (sum((outputs[k][side] for k in each), total * 0) for side in (0, 1))
                return p * delta[1] - total * delta[0], q * delta[1]

        return largest_on_edge(sorted(chosen, key=sorted), parts, name, interval, fixed)

    def _of_peak(self, direction: PairOutcomes, peak: Peak) -> SetBounds:
        value = peak.value
        if value is not None and compare(value, exact(self.floor)) < 0:
            value = exact(self.floor)
        while value is not None and not value.is_rational and value.lower <= 0:
            value = value.halved()
        value = value and value.refined(self.precision * value.lower)
        free = self._free()
        place = {n: root for n, root in peak.place.items() if n in free or root.is_rational}
        number = ExactNumber(value)
        known = self._reaches(direction, place) or None
        origin = AllOutputs(direction.left, direction.right, length=direction.length)
        return SetBounds(self.kind.value, number, number, known, origin=origin, place=place)

    def _reaches(self, direction: PairOutcomes, place: Place) -> bool:
        """Tells whether a place is a point of the domain at which both secrets are possible."""
        box = self.model.domain.box
        if any(root.is_rational and root.lower not in box[name] for name, root in place.items()):
            return False
        point = {n: root.lower for n, root in place.items() if root.is_rational}
        if len(point) < len(place):
            rest = substitute(direction.total, point)
            return bool(rest) and not any(root.factor == f for root in place.values() for f in _factors(rest))
        full = {n: i.simplest() for n, i in box.items()} | point
        constant = self.model.domain.constant
        return Real.of(number_at(direction.total, full), fmpq_poly([1]), constant).sign() > 0

    def _whole(self, best: SetBounds, found: SetBounds) -> SetBounds:
        """Returns the bound of a domain with one parameter, of which all sets were looked at."""
        exactly = found if not is_more(best, found) else best
        return replace(exactly, upper=exactly.lower, attained=bool(exactly.attained))

    # --- proofs ------------------------------------------------------------------------------------------

    def _try(self, bound: Fraction | Real) -> _TriedSet:
        """Proves that a bound is enough, or finds a point where it is not."""
        top, bottom = as_polynomials(bound, self.model)
        number = RationalFunction.of(top, bottom)
        own = self.measure
        measure = replace(own, delta=number) if self.kind is NeedKind.DELTA else replace(own, ratio=number)
        bounded = replace(self.model, measure=measure)
        with closing(decide_excesses(excesses(bounded, self.directions[::2]), self.session)) as results:
            for found in results:
                if found.point is not None or found.tree is None:
                    return _TriedSet(False, found.point)
        return _TriedSet(True)

    def _checked(self, best: SetBounds) -> SetBounds:
        """Returns an exact bound with the number near it that is proved to be enough."""
        assert best.high is not None
        answer = self._try(best.high)
        if answer.point is not None:
            raise DefectError(f"a bound does not suffice at {in_words(answer.point)}, but no set needs more")
        if not answer.proved:
            return replace(best, lower=ExactNumber(best.low), upper=None, attained=None)
        return replace(best, proof=best.high)

    def _bounded(self, best: SetBounds) -> SetBounds:
        """Returns certified bounds, or the exact number where it is recognised and proved."""
        best = replace(best, upper=None)
        try:
            for _ in range(TRIES):
                number = number_of(best)
                answer = self._try(number) if number is not None else _TriedSet(False)
                if number is not None and answer.proved:
                    return _settled(best)
                if answer.point is None:
                    break
                best = self._raised(best, answer.point)
                if best.infinite:
                    return best
            best = _rational(best)
            first = Fraction(1) if self.kind is NeedKind.DELTA else best.low * 2
            best = supremum(self, self.session, best, first)
            return best if best.infinite else self._recognised(replace(best, attained=None))
        except LimitError:
            return replace(_rational(best), attained=None)

    def _raised(self, best: SetBounds, point: Point) -> SetBounds:
        """Returns the largest bound that a point needs, if it is more."""
        for direction in self.directions:
            found = needed_at(self.kind, self.model, direction, point)
            if found is not None and is_more(found, best):
                best = replace(found, upper=best.upper, proof=best.proof)
        return best

    def is_near(self, best: SetBounds) -> bool:
        """Tells whether the bound is exact, or known well enough."""
        return is_near(best, self.precision)

    def enough(self, best: SetBounds, bound: Fraction) -> SetBounds | None:
        """Proves that a bound is enough, or raises the lower end to what a point needs, at least."""
        try:
            answer = self._try(bound)
        except LimitError:
            return None
        if answer.proved:
            return replace(best, upper=ExactNumber(bound), proof=bound)
        more = best if answer.point is None else _rational(self._raised(best, answer.point))
        return more if more.infinite or more.low > best.low else None

    def _recognised(self, best: SetBounds) -> SetBounds:
        """Returns the exact bound if it is what a simple point near the best one needs; it is proved then."""
        box = self.model.domain.box
        seen = {best.low}
        for digits in DIGITS if best.high is not None else ():
            point = {}
            for name in self.model.domain.ring.parameters:
                root = best.place.get(name) or exact(box[name].simplest())
                point[name] = box[name].near(root.lower, root.upper, digits)
            found = self._raised(replace(best, lower=ExactNumber(self.floor)), point)
            number = number_of(found)
            if number is None or found.low in seen or not best.low <= found.low <= (best.high or 0):
                continue
            seen.add(found.low)
            if self._try(number).proved:
                return replace(_settled(found), attained=contains(self.model.domain, point) or None)
        return best

    # --- witnesses ---------------------------------------------------------------------------------------

    def _told(self, best: SetBounds) -> SetBounds:
        """Returns the bound with a set of outputs at a rational point that needs it, or nearly so."""
        point = {n: i.simplest() for n, i in self.model.domain.box.items() if n != GENERATOR}
        exactly = all(root.is_rational for root in best.place.values())
        near = {n: root.lower for n, root in best.place.items()}
        for part in (Fraction(0), *(Fraction(1, 2**k) for k in (10, 6, 3, 1))):
            at = {n: near.get(n, v) + (v - near.get(n, v)) * part for n, v in point.items()}
            if not contains(self.model.domain, at):
                continue
            needed = needed_at(self.kind, self.model, self._direction(best), at)
            if needed is not None:
                witness = self._witness(best, needed, at)
                apart = best.value is None or is_more(best, needed) or is_more(needed, best)
                known = best.attained if part or not exactly or apart else True
                return replace(best, witness=witness, attained=known)
        return best

    def _direction(self, best: SetBounds) -> PairOutcomes:
        wanted = (*best.secrets, best.length)
        return next(d for d in self.directions if (d.left, d.right, d.length) == wanted)

    def _witness(self, best: SetBounds, needed: SetBounds, point: Point) -> ExactSetWitness:
        """Returns the set of outputs that needs most at a point, in the direction of a bound."""
        found = sides(self.model, *best.secrets, length=best.length, point=point)
        ratio, delta = bounds_at(self.model, found.numbers)
        if self.kind is NeedKind.RATIO and not needed.infinite:
            ratio = real_of(needed, self.model)
        chosen = found.endless() if needed.infinite else found.beyond(ratio)
        witness = found.witness(chosen, ratio, delta)
        return replace(witness, delta=witness.beyond) if self.kind is NeedKind.DELTA else witness


def is_near(found: SetBounds, precision: Fraction) -> bool:
    """Tells whether a least bound is exact, or known well enough."""
    return found.is_within(precision, max(found.high or Fraction(0), Fraction(1)))


def _settled(best: SetBounds) -> SetBounds:
    """Returns the bounds whose lower end was proved to be enough."""
    found = replace(best, upper=best.lower)
    return replace(found, proof=found.high)


def _rational(best: SetBounds) -> SetBounds:
    """Returns the bounds with a rational lower end: the exact one belongs to a point only."""
    return best if best.infinite else replace(best, lower=ExactNumber(best.low))


def _factors(polynomial: Polynomial) -> Iterator[fmpz_poly]:
    """Yields the irreducible factors of a polynomial in one parameter."""
    if len(variables(polynomial)) == 1:
        yield from (factor for factor, _ in univariate(polynomial).factor()[1])
