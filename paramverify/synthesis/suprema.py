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
from typing import Any

from flint import fmpq_poly

from paramverify.algebra.budgets import Epsilon
from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domain_branches import Branch
from paramverify.algebra.polynomials import key, primitive, substitute
from paramverify.algebra.rationals import at_least, at_most, simplest_between
from paramverify.algebra.real_roots import RealRoot, exact, near_best, suprema
from paramverify.algebra.reals import Real
from paramverify.answers import Decision, Open, Proved, Refuted
from paramverify.claims import Claim, Origin
from paramverify.evidence.witnesses import Evaluated
from paramverify.exact.univariate import fails_without_witness
from paramverify.models.model import OnDomain
from paramverify.models.model_evaluation import Values
from paramverify.portfolio.session import Session
from paramverify.synthesis.beside import ClosureLimit
from paramverify.synthesis.numbers import Value, middle, order
from paramverify.synthesis.paths import INFINITE, limit_at
from paramverify.synthesis.proofs import BoundProof
from paramverify.synthesis.quotients import (
    Bound,
    BranchQuotient,
    Place,
    Quotient,
    as_polynomials,
    coprime,
    inside,
    integral_pair,
    place_of,
    sampled,
)

MAX_FACES = 2_000  # faces of the box on which an exact maximum is looked for
UNBOUNDED = Fraction(10) ** 15  # a ratio beyond which the search for an upper bound gives up
TRIES = 4  # times that the largest ratio found is tried as an upper bound, beside bisection


@dataclass(frozen=True, eq=False)
class TightBudget:
    """The supremum of the ratio, and where it is reached or approached.

    One of three: `value`, an exact real number (`infinite` false); `infinite`; or `lower ≤ sup ≤ upper`, both
    certified. `attained` is True only if a point of the domain reaches it, False only if none does; without
    `outputs` a point has it as a limit, to which outputs come near: it is not attained. `place` is a point of
    the closure, `origin` the secrets and the output. `decisions` are proofs of the upper bound for single
    quotients, `proof` is that for all claims of the case. `witness` has the supremum as its ratio, or the
    lower bound; if no rational prior reaches it, `approached` are witnesses with growing ratios. `beside` is
    what the case's bound is there, for a relative ratio. `loop` is a document for `checker.cone_evidence`.
    """

    lower: Fraction
    upper: Fraction | None
    origin: Origin
    place: Place
    value: Value | None = None
    attained: bool | None = None
    infinite: bool = False
    decisions: tuple[Decision, ...] = ()
    witness: Evaluated | None = None
    approached: tuple[Evaluated, ...] = ()
    proof: BoundProof | None = None
    loop: Mapping[str, Any] | None = None
    beside: ClosureLimit | None = None
    outputs: bool = True

    @staticmethod
    def zero(origin: Origin) -> TightBudget:
        """Returns the supremum of a ratio that is zero wherever it was looked at."""
        return TightBudget(Fraction(0), Fraction(0), origin, {}, exact(Fraction(0)))

    @staticmethod
    def without_limit(origin: Origin, place: Place, attained: bool | None = None) -> TightBudget:
        """Returns that there is no supremum: ratios grow without limit, or the right side is zero."""
        return TightBudget(Fraction(0), None, origin, place, attained=attained, infinite=True)

    def __str__(self) -> str:
        """Returns the ratio, exact or by its bounds: `3`, `infinity`, `between 2 and 3`."""
        if self.infinite:
            return "infinity"
        if self.value is not None:
            return self.value.describe() if isinstance(self.value, Real) else str(self.value)
        least = at_least(self.lower, 12)
        return f"at least {least}" if self.upper is None else f"between {least} and {at_most(self.upper, 12)}"

    def __repr__(self) -> str:
        return f"<TightBudget: ratio {self}>"

    @property
    def epsilon(self) -> Epsilon:
        """The logarithm of the ratio, or what its bounds tell of it."""
        if self.infinite or self.upper == 0:
            return Epsilon(None, None, False)
        return Epsilon.between(self.lower, self.upper) if self.value is None else Epsilon.of(self.value)

    @property
    def bound(self) -> Bound | None:
        """The supremum as a number with which claims can be written, or the least upper bound known of it."""
        return self.value if isinstance(self.value, Real) else self.upper


@dataclass(frozen=True, eq=False)
class SupremumSearch:
    """The supremum of left/right over the domain of a model, of which these are the branches.

    `total` is a sum of quotients that are equal in lowest terms, each times a positive number: it is positive
    where one of them is. `memory` has the decisions about claims of the model so far, by their polynomials.
    Where the supremum is at most `least`, it is not looked for more closely.
    """

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

    def supremum(self) -> TightBudget:
        """Returns the supremum, exact where it is on an edge or at a place that is recognised."""
        best = TightBudget.zero(self.origin)
        near: TightBudget | None = None
        complete = True
        for part in self.parts:
            if part.left and not part.right and part.branch.is_box:
                place = part.full({n: exact(part.branch.domain.box[n].simplest()) for n in part.names})
                return TightBudget.without_limit(self.origin, place)
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
                complete, near = False, max(found, near or found, key=lambda f: f.lower)
            else:
                best = found if prefer(found, best) else best
        if complete:
            return best
        if isinstance(best.value, RealRoot) and best.value.is_rational and best.lower:
            decision = self.at_most(best.lower)
            if isinstance(decision.answer, Proved):
                return replace(best, decisions=(decision,))
        largest, point = sampled(self.whole, self.points)
        if self.model.domain.constant:
            largest = (self.ratio_at(point) or Fraction(0)) if point else Fraction(0)
        if near is not None and near.lower > max(largest, best.lower):
            return self.bisect(near.lower, near.place)
        if largest > best.lower:
            return self.bisect(largest, place_of(point))
        return self.bisect(best.lower, best.place)

    def on_edges(self, part: BranchQuotient) -> TightBudget:
        """Returns the largest supremum over the edges of a box, which is at most that over the box."""
        box, names = part.branch.domain.box, part.names
        best = TightBudget.zero(self.origin)
        if not names:
            value = part.value_at({})
            assert value is not None
            assert value.rational is not None
            ratio = exact(value.rational)
            place = part.full({n: exact(box[n].simplest()) for n in part.branch.free})
            return TightBudget(ratio.lower, ratio.lower, self.origin, place, ratio)
        unwritten: list[TightBudget] = []
        for found in self.each_edge(part):
            if found.infinite:
                return found
            if found.value is None:
                unwritten.append(found)
            else:
                best = found if prefer(found, best) else best
        return self._with_unwritten(best, unwritten)

    def _with_unwritten(self, best: TightBudget, found: Sequence[TightBudget]) -> TightBudget:
        """Returns the largest of a supremum and others that are known by bounds."""
        ends = [f.upper for f in found if f.upper is not None and f.upper > best.lower]
        if not ends:
            return best
        largest = max((best, *found), key=lambda f: f.lower)
        return TightBudget(largest.lower, max(*ends, largest.lower), self.origin, largest.place)

    def each_edge(self, part: BranchQuotient) -> Iterator[TightBudget]:
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
    ) -> Iterator[TightBudget]:
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
            yield TightBudget(lower, upper, self.origin, full)
            return
        if result is None or result.value is None:
            at = result.places[0] if result else exact(simple)
            yield TightBudget.without_limit(self.origin, part.full(place(at)))
            return
        root = result.value
        while root.lower <= 0 and not root.is_rational:
            root = root.halved()  # an irrational supremum is positive
        root = root.refined(self.precision * root.lower)
        for at in result.places:
            within = True if inside(part, place(at)) else None
            full = part.full(place(at))
            yield TightBudget(root.lower, root.upper, self.origin, full, value=root, attained=within)

    def bisect(self, lower: Fraction, place: Place) -> TightBudget:
        """Narrows certified bounds: a proof lowers the upper one, a refuting point raises the lower one."""
        upper: Fraction | None = None
        decisions: tuple[Decision, ...] = ()
        trial = max(lower, Fraction(1)) * 2
        tries = 0
        while upper is None or upper - lower > self.precision * max(lower, self.least or self.precision):
            if upper is not None and upper <= self.least:
                break
            decision = self.at_most(trial)
            if isinstance(decision.answer, Proved):
                upper, decisions = trial, (decision,)
            elif isinstance(decision.answer, Refuted):
                point = {n: v for n, v in decision.answer.point.items() if n != GENERATOR}
                raised = self.ratio_at(point)
                if raised is None:
                    return TightBudget.without_limit(self.origin, place_of(point), attained=True)
                if raised > lower:
                    lower, place = raised, place_of(point)
                if lower > UNBOUNDED:
                    return self._beyond(lower, place)
            elif fails_without_witness(self.claim(trial)):
                lower = max(lower, trial)  # at an irrational point, by the exact signs there
            else:
                assert isinstance(decision.answer, Open)
                break
            self.session.bound(TightBudget(lower, None, self.origin, place))
            if upper is not None and upper <= lower:
                break
            if upper is None:
                trial = lower * 2 if lower * 2 > trial else trial * 2
            elif tries < TRIES and lower > 0 and trial != lower:
                tries, trial = tries + 1, lower
            else:
                trial = simplest_between(*middle(lower, upper))
        found = TightBudget(lower, upper, self.origin, place, decisions=decisions)
        return self.recognise(found) if upper is not None else found

    def _beyond(self, lower: Fraction, place: Place) -> TightBudget:
        """Returns infinity if ratios tend to it at a simple place near the given one, or the lower bound."""
        for part in self.parts if not self.model.domain.constant else ():
            point = self._snapped(part, place, 16)
            if limit_at(part.branch, part.left, part.right, point) == INFINITE:
                return TightBudget.without_limit(self.origin, part.full(place_of(point)))
        return TightBudget(lower, None, self.origin, place)

    def recognise(self, found: TightBudget) -> TightBudget:
        """Returns the exact supremum if it is the limit of ratios at a simple place near the best one.

        Nothing is guessed: the ratio there is a lower bound, and that it is an upper bound is proved.
        """
        if found.lower == found.upper:
            return replace(found, value=exact(found.lower))
        seen: list[Real] = []
        for digits in (4, 8, 16, 32):
            for part in self.parts:
                point = self._snapped(part, found.place, digits)
                value = part.value_at(point)
                if value is None or value.enclosure()[1] < found.lower:
                    continue
                if any((value - other).sign() == 0 for other in seen) or not self._is_limit(
                    part, point, value
                ):
                    continue
                seen.append(value)
                bound: Bound = value if value.rational is None else value.rational
                decision = self.at_most(bound)
                if isinstance(decision.answer, Proved):
                    low, high = value.enclosure()
                    place = part.full(place_of(point))
                    number: Value = value if value.rational is None else exact(value.rational)
                    return TightBudget(low, high, self.origin, place, number, decisions=(decision,))
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


def prefer(candidate: TightBudget, best: TightBudget) -> bool:
    """Tells whether the first is larger, or as large and attained where the other is not."""
    assert candidate.value is not None
    assert best.value is not None
    sign = order(candidate.value, best.value)
    return sign > 0 or (sign == 0 and bool(candidate.attained) and not best.attained)
