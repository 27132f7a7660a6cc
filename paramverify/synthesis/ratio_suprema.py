"""The supremum of one quotient of probabilities over the parameter domain.

With left = Pr(ω|left) and right = Pr(ω|right), both times both masses, the ratio is left/right where left > 0
(then both masses are positive), and sup ≤ c is the claim `c·right − left ≥ 0`, which is `verify`'s. Upper
bounds are such claims, proved on the domain as it is. Quotients in lowest terms only say where to look: a
lower bound is the ratio at a point of the domain, or a limit of such ratios. That a/b in lowest terms at a
place of the closure is such a limit follows by density on a branch of the domain that is a box (see
`algebra.domain_branches`): left and right are not zero nearly everywhere in it, and a/b is continuous where b
> 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import islice, product

from flint import fmpq_poly

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domain_branches import Branch
from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.algebra.polynomials import key, primitive, substitute
from paramverify.algebra.rationals import simplest_between
from paramverify.algebra.real_roots import RealRoot, exact, near_best, suprema
from paramverify.algebra.reals import Real
from paramverify.answers import Decision, Open, Proved, Refuted
from paramverify.bounds import INFINITY, Place, Value
from paramverify.claims import Claim, Origin
from paramverify.evidence.witnesses import Evaluated
from paramverify.exact.univariate import fails_without_witness
from paramverify.models.model import OnDomain
from paramverify.models.model_evaluation import Values
from paramverify.portfolio.session import Session
from paramverify.synthesis.paths import INFINITE, limit_at
from paramverify.synthesis.quotients import (
    Bound,
    BoundProof,
    BranchQuotient,
    Quotient,
    RatioBounds,
    as_polynomials,
    coprime,
    inside,
    integral_pair,
    order,
    place_of,
    sampled,
)
from paramverify.synthesis.supremum import Functional, supremum

MAX_FACES = 2_000  # faces of the box on which an exact maximum is looked for


@dataclass(frozen=True, eq=False)
class SupremumSearch(Functional[Evaluated, BoundProof]):
    """The supremum of left/right over the domain of a model, of which these are the branches.

    `total` is a sum of quotients that are equal in lowest terms, each times a positive number: it is positive
    where one of them is. `memory` has the decisions about claims of the model so far, by their polynomials.
    Where the supremum is at most `least`, it is not looked for more closely.
    """

    tries = 4

    model: OnDomain
    session: Session
    whole: Quotient
    precision: Fraction
    branches: Sequence[Branch]
    points: Sequence[Mapping[str, Fraction]] = ()
    memory: dict[str, Decision] = field(default_factory=dict)
    least: Fraction = Fraction(0)
    total: Quotient | None = None

    @property
    def origin(self) -> Origin:
        """The secrets and the output."""
        return self.whole.origin

    @cached_property
    def parts(self) -> list[BranchQuotient]:
        """The quotient on each branch where the left side is not zero throughout."""
        found = (BranchQuotient.of(self.total or self.whole, branch) for branch in self.branches)
        return [part for part in found if part.left]

    def at_most(self, bound: Bound) -> Decision:
        """Decides the claim left/right ≤ bound, without dividing anything out."""
        claim = self.claim(bound)
        name = key(claim.polynomial)
        if name not in self.memory:
            self.memory[name] = self.session.decide(claim)
        return self.memory[name]

    def claim(self, bound: Bound) -> Claim:
        """Returns the claim left/right ≤ bound."""
        top, bottom = as_polynomials(bound, self.model)
        _, polynomial = primitive(self.whole.right * top - self.whole.left * bottom)
        return Claim(polynomial, self.model.domain, (self.origin,))

    def number(self) -> Value | None:
        """Returns the ratio where it is one number on the whole domain, and possible at a point of it."""
        if any(part.names or not part.branch.is_box or not part.right for part in self.parts):
            return None
        values = [part.value_at({}) for part in self.parts]
        known = [value for value in values if value is not None]
        if not known or len(known) < len(values):
            return None
        best = known[0]
        for value in known[1:]:
            best = value if (value - best).sign() > 0 else best
        return best if best.rational is None else exact(best.rational)

    def supremum(self) -> RatioBounds:
        """Returns the supremum, exact where it is on an edge or at a place that is recognised."""
        best = _zero(self.origin)
        near: RatioBounds | None = None
        complete = True
        for part in self.parts:
            if part.left and not part.right and part.branch.is_box:
                place = part.full({n: exact(part.branch.domain.box[n].simplest()) for n in part.names})
                return RatioBounds.none("ratio", self.origin, place)
            if not part.branch.is_box or part.branch.domain.constant:
                complete = False
                continue
            found = self.on_edges(part)
            if found.infinite:
                return found
            complete = complete and len(part.names) <= 1  # the one edge is the whole box
            if found.value is None:
                if complete and len(self.parts) == 1:
                    return found
                complete, near = False, max(found, near or found, key=lambda f: f.low)
            else:
                best = found if prefer(found, best) else best
        if complete:
            return best
        if best.known is not None and best.known.is_rational and best.low:
            decision = self.at_most(best.low)
            if isinstance(decision.answer, Proved):
                return best
        largest, point = sampled(self.whole, self.points)
        if self.model.domain.constant:
            largest = (self.ratio_at(point) or Fraction(0)) if point else Fraction(0)
        if near is not None and near.low > max(largest, best.low):
            return self.bisect(near.low, near.place)
        if largest > best.low:
            return self.bisect(largest, place_of(point))
        return self.bisect(best.low, best.place)

    def on_edges(self, part: BranchQuotient) -> RatioBounds:
        """Returns the largest supremum over the edges of a box, which is at most that over the box."""
        box, names = part.branch.domain.box, part.names
        best = _zero(self.origin)
        if not names:
            value = part.value_at({})
            assert value is not None
            assert value.rational is not None
            ratio = exact(value.rational)
            place = part.full({n: exact(box[n].simplest()) for n in part.branch.free})
            number = ExactNumber(ratio)
            return RatioBounds("ratio", number, number, origin=self.origin, place=place)
        unwritten: list[RatioBounds] = []
        for found in self.each_edge(part):
            if found.infinite:
                return found
            if found.value is None:
                unwritten.append(found)
            else:
                best = found if prefer(found, best) else best
        return self._with_unwritten(best, unwritten)

    def _with_unwritten(self, best: RatioBounds, found: Sequence[RatioBounds]) -> RatioBounds:
        """Returns the largest of a supremum and others that are known by bounds."""
        ends = [f.high for f in found if f.high is not None and f.high > best.low]
        if not ends:
            return best
        largest = max((best, *found), key=lambda f: f.low)
        return self._between(largest.low, max(*ends, largest.low), largest.place)

    def each_edge(self, part: BranchQuotient) -> Iterator[RatioBounds]:
        """Yields the supremum on each edge of a box, once for each place of the edge that has it."""
        box, names = part.branch.domain.box, part.names
        edges = (
            (free, dict(zip([n for n in names if n != free], ends, strict=True)))
            for free in names
            for ends in product(*(sorted({box[n].lower, box[n].upper}) for n in names if n != free))
        )
        for free, fixed in islice(edges, MAX_FACES):
            yield from self._on_edge(part, free, fixed)

    def _on_edge(
        self, part: BranchQuotient, free: str, fixed: Mapping[str, Fraction]
    ) -> Iterator[RatioBounds]:
        """Yields the supremum on an edge, once for each place that has it; nothing where it is zero."""
        interval = part.branch.domain.box[free]
        top, bottom = integral_pair(substitute(part.a, fixed), substitute(part.b, fixed), free)
        if not top:
            return  # the ratio is zero here, or 0/0
        corner = {name: exact(value) for name, value in fixed.items()}

        def place(at: RealRoot) -> dict[str, RealRoot]:
            return {n: {**corner, free: at}[n] for n in part.names}

        simple = interval.simplest()
        top, bottom = coprime(top, bottom, simple) if bottom else (top, bottom)
        result = suprema(top, bottom, interval.lower, interval.upper) if bottom else None
        if result is not None and result.upper is not None:
            near, lower = near_best(top, bottom, result.places)
            full = part.full(place(exact(near)))
            upper = simplest_between(result.upper, result.upper * (1 + self.precision / 4))
            yield self._between(lower, upper, full)
            return
        if result is None or result.value is None:
            at = result.places[0] if result else exact(simple)
            yield RatioBounds.none("ratio", self.origin, part.full(place(at)))
            return
        root = result.value
        while root.lower <= 0 and not root.is_rational:
            root = root.halved()  # an irrational supremum is positive
        root = root.refined(self.precision * root.lower)
        value = ExactNumber(root)
        for at in result.places:
            within = True if inside(part, place(at)) else None
            full = part.full(place(at))
            yield RatioBounds("ratio", value, value, within, origin=self.origin, place=full)

    def _between(self, lower: Fraction, upper: Fraction | None, place: Place) -> RatioBounds:
        high = INFINITY if upper is None else ExactNumber(upper)
        return RatioBounds("ratio", ExactNumber(lower), high, origin=self.origin, place=place)

    def bisect(self, lower: Fraction, place: Place) -> RatioBounds:
        """Narrows certified bounds: a proof lowers the upper one, a refuting point raises the lower one."""
        found = supremum(self, self.session, self._between(lower, None, place), max(lower, Fraction(1)) * 2)
        if found.low > self.farthest:
            return self._beyond(found.low, found.place)
        return self.recognise(found) if found.high is not None else found

    def is_near(self, best: RatioBounds) -> bool:
        """Tells whether the bounds are near to each other, or at most the least one."""
        small = best.high is not None and best.high <= self.least
        return small or best.is_within(self.precision, self.least or self.precision)

    def enough(self, best: RatioBounds, bound: Fraction) -> RatioBounds | None:
        """Proves that a ratio is nowhere exceeded, or finds a point where it is."""
        decision = self.at_most(bound)
        if isinstance(decision.answer, Proved):
            return replace(best, upper=ExactNumber(bound))
        if isinstance(decision.answer, Refuted):
            point = {n: v for n, v in decision.answer.point.items() if n != GENERATOR}
            raised = self.ratio_at(point)
            if raised is None:
                return RatioBounds.none("ratio", self.origin, place_of(point), True)
            if raised <= best.low:
                return best
            return replace(best, lower=ExactNumber(raised), place=place_of(point))
        if fails_without_witness(self.claim(bound)):  # at an irrational point, by the exact signs there
            return replace(best, lower=ExactNumber(max(best.low, bound)))
        assert isinstance(decision.answer, Open)
        return None

    def _beyond(self, lower: Fraction, place: Place) -> RatioBounds:
        """Returns infinity if ratios tend to it at a simple place near the given one, or the lower bound."""
        for part in self.parts if not self.model.domain.constant else ():
            point = self._snapped(part, place, 16)
            if limit_at(part.branch, part.left, part.right, point) == INFINITE:
                return RatioBounds.none("ratio", self.origin, part.full(place_of(point)))
        return self._between(lower, None, place)

    def recognise(self, found: RatioBounds) -> RatioBounds:
        """Returns the exact supremum if it is the limit of ratios at a simple place near the best one.

        Nothing is guessed: the ratio there is a lower bound, and that it is an upper bound is proved.
        """
        if found.known is not None:
            return found
        seen: list[Real] = []
        for digits in (4, 8, 16, 32):
            for part in self.parts:
                point = self._snapped(part, found.place, digits)
                value = part.value_at(point)
                if value is None or value.enclosure()[1] < found.low:
                    continue
                if any((value - other).sign() == 0 for other in seen) or not self._is_limit(
                    part, point, value
                ):
                    continue
                seen.append(value)
                bound: Bound = value if value.rational is None else value.rational
                decision = self.at_most(bound)
                if isinstance(decision.answer, Proved):
                    number = ExactNumber(value)
                    return RatioBounds(
                        "ratio", number, number, origin=self.origin, place=part.full(place_of(point))
                    )
        return found

    def _snapped(self, part: BranchQuotient, place: Place, digits: int) -> dict[str, Fraction]:
        """Returns simple coordinates near those of the place, in the closed box of a branch."""
        point = {}
        for name in part.branch.free:
            interval = part.branch.domain.box[name]
            if name not in place:
                point[name] = interval.simplest()
                continue
            point[name] = interval.near(place[name].lower, place[name].upper, digits)
        return point

    def _is_limit(self, part: BranchQuotient, point: Mapping[str, Fraction], value: Real) -> bool:
        """Tells whether ratios at points of the domain tend to the value of a/b at a place."""
        if part.branch.is_box:
            return True  # by density
        if self.model.domain.constant or value.rational is None:
            return False
        return limit_at(part.branch, part.left, part.right, point) == value.rational

    def ratio_at(self, point: Mapping[str, Fraction]) -> Fraction | None:
        """Returns a lower bound of the ratio at a point of the domain, exact where it is rational.

        None stands for infinity (or 0/0): the right side is zero.
        """
        values, one = Values(self.model, point), fmpq_poly([1])
        top, bottom = (values.real(values.value(f), one) for f in (self.whole.left, self.whole.right))
        return (top / bottom).enclosure()[0] if bottom.sign() > 0 else None


def _zero(origin: Origin) -> RatioBounds:
    """Returns the supremum of a ratio that is zero wherever it was looked at."""
    return RatioBounds("ratio", ExactNumber(0), ExactNumber(0), origin=origin)


def prefer(candidate: RatioBounds, best: RatioBounds) -> bool:
    """Tells whether the first is larger, or as large and attained where the other is not."""
    assert candidate.value is not None
    assert best.value is not None
    sign = order(candidate.value, best.value)
    return sign > 0 or (sign == 0 and bool(candidate.attained) and not best.attained)
