"""Whether a prior of the domain reaches the supremum of the ratio: with a point, with a proof, or open.

With c the supremum, a point with left > 0 reaches it iff `f = c·b − a` is zero there, for left and right are
a and b times a common factor, which is not zero where left > 0. (If the supremum is infinite, f = b.)

What the bound of a case is where the ratio comes near to it: only where it is above 1 is it tight.

Under two secrets the probabilities of all outputs sum to 1, so some ratio is at least 1 at every point.
Where the bound tends to 1, the largest ratio does so too, and the supremum of ratio/bound is 1 whatever the
bound is elsewhere: 1/alpha**50 is 1 at alpha = 1, and so is 1/alpha. Where the bound b is above 1 and
ratio/bound tends to 1, no c·b with c < 1 and no power b^k with k < 1 is a bound.

Witnesses of a budget: a prior that reaches the ratio, or priors whose ratios grow towards it.

Whether outputs reach a largest ratio, or only come near to it: the ratio of densities may be a limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Literal

from flint import fmpq_poly

from paramverify.algebra.domain_branches import Branch, where
from paramverify.algebra.domains import Constraint, Domain, Interval, contains, number_at
from paramverify.algebra.polynomials import Polynomial, substitute, variables
from paramverify.algebra.reals import Real
from paramverify.algebra.signs import Sign, sign_on
from paramverify.answers import Proved, Refuted
from paramverify.bounds import ClosureLimit, Place
from paramverify.claims import AllOutputs, Origin, nowhere
from paramverify.divergences import MaxDivergence
from paramverify.errors import InputError
from paramverify.evidence.witnesses import Evaluated, ExactWitness, divergence_at, evaluate
from paramverify.exact.branching import decide_exactly
from paramverify.exact.procedure_outcomes import RemainingWork
from paramverify.models.model import Model, OnDomain
from paramverify.synthesis.paths import somewhere, towards
from paramverify.synthesis.quotients import Bound, Quotient, RatioBounds, as_polynomials
from paramverify.synthesis.ratio_suprema import SupremumSearch

Point = dict[str, Fraction]

WORK = RemainingWork(boxes=300, coefficients=500_000)  # what a strict claim may cost: tens of milliseconds
MAX_FACES = 1_000
_APART = (Sign.POSITIVE, Sign.NEGATIVE)
_ONE_SIGN = (Sign.NONNEGATIVE, Sign.NONPOSITIVE)


def reaching(search: SupremumSearch, bound: Bound | None) -> Point | Literal[False] | None:
    """Returns a point of the domain where left > 0 and left = bound·right; infinity is the bound None.

    False if it is proved that there is none, None if it is not decided. That the bound is nowhere exceeded
    must have been proved.
    """
    quotient = search.total or search.whole
    one = quotient.left * 0 + 1
    top, bottom = as_polynomials(bound, search.model) if bound is not None else (one, one * 0)
    answers = []
    for part in search.parts:
        found = zeros(part.branch, part.b * top - part.a * bottom, part.left)
        if isinstance(found, dict):
            return part.branch.lift(found)
        answers.append(found)
    if all(answer is False for answer in answers):
        return False
    return _strict(quotient, search.model, top, bottom)


def zeros(branch: Branch, f: Polynomial, positive: Polynomial) -> Point | Literal[False] | None:
    """Returns a point of a branch where f = 0 and the other polynomial is not; False if there is none."""
    if not positive:
        return False
    if not f:
        return somewhere(branch, positive)
    settled = True
    for factor, _ in f.factor()[1]:
        sign = sign_on(factor, branch.domain)
        if sign in _APART:
            continue
        if sign in _ONE_SIGN:
            found = _on_faces(branch, factor, positive)
        else:
            found = _on_solutions(branch, factor, positive)
        if isinstance(found, dict):
            return found
        settled = settled and found is False
    return False if settled else None


def _on_faces(branch: Branch, factor: Polynomial, positive: Polynomial) -> Point | Literal[False] | None:
    """Looks at the faces of the box that belong to it, for a polynomial that has one weak sign.

    Every point of the box lies in the relative interior of one face. There the polynomial is zero either
    everywhere or nowhere, because the Bernstein coefficients of the face have one weak sign, too.
    """
    domain = branch.domain
    choices: list[tuple[Fraction | None, ...]] = []
    names = [n for n in variables(factor) if n in branch.free]
    if len(names) < len(variables(factor)):
        return None
    for name in names:
        interval = domain.box[name]
        ends = ((interval.lower, interval.lower_closed), (interval.upper, interval.upper_closed))
        choices.append((None, *(value for value, closed in ends if closed)))
    size = 1
    for choice in choices:
        size *= len(choice)
    if size > MAX_FACES:
        return None
    settled = True
    for pattern in product(*choices):
        fixed = {n: v for n, v in zip(names, pattern, strict=True) if v is not None}
        if substitute(factor, fixed):
            continue
        rest = substitute(positive, fixed)
        box = {n: Interval(v, v, True, True) for n, v in fixed.items()}
        face = replace(branch, domain=replace(domain, box={**domain.box, **box}))
        found = somewhere(face, rest) if rest else None
        if found is not None:
            return found
        settled = settled and not rest
    return False if settled else None


def _on_solutions(branch: Branch, factor: Polynomial, positive: Polynomial) -> Point | Literal[False] | None:
    settled = True
    for part in where(branch, factor):
        rest = part.restrict(positive)
        found = somewhere(part, rest) if rest else None
        if found is not None:
            return {n: v for n, v in part.lift(found).items() if n in branch.free} | {
                n: i.lower for n, i in branch.domain.box.items() if n not in branch.free
            }
        settled = settled and not rest
    return False if settled else None


def _strict(
    quotient: Quotient, model: OnDomain, top: Polynomial, bottom: Polynomial
) -> Point | Literal[False] | None:
    """Decides the claim that the domain has no point with left > 0 and left ≥ bound·right."""
    gap = quotient.left * bottom - quotient.right * top
    more = (Constraint(quotient.left, True, ""), Constraint(gap, False, ""))
    domain: Domain = replace(model.domain, constraints=(*model.domain.constraints, *more))
    answer = decide_exactly(nowhere(domain), replace(WORK))
    if isinstance(answer, Refuted):
        return {n: v for n, v in answer.point.items() if n in domain.ring.parameters}
    return False if isinstance(answer, Proved) else None


def beside(model: Model, origin: Origin, place: Place) -> ClosureLimit:
    """Returns the bound of a model for a pair of secrets at a place of the closure."""
    if any(not root.is_rational for root in place.values()):
        return ClosureLimit(place, None)
    box = model.domain.box
    if model.domain.constraints and not place.keys() >= set(model.domain.ring.parameters):
        return ClosureLimit(place, None)
    point = {name: box[name].simplest() for name in model.domain.ring.parameters}
    point |= {name: root.lower for name, root in place.items()}
    ratio, constant = _bound(model, origin).ratio, model.domain.constant
    top, bottom = (number_at(f, point) for f in (ratio.numerator, ratio.denominator))
    above, below = (Real(f, fmpq_poly([1]), constant).sign() for f in (top, bottom))
    if not below:
        return ClosureLimit(place, None, grows=bool(above))
    return ClosureLimit(
        place, Real.of(top, bottom, constant) if below > 0 else Real.of(-top, -bottom, constant)
    )


def _bound(model: Model, origin: Origin) -> MaxDivergence:
    """Returns the bound of the two secrets of an origin."""
    if not model.measure.distances:
        return model.ratio_bound()
    wanted = {origin.left, origin.right}
    return model.ratio_bound(next(p.distance for p in model.pairs if {p.left, p.right} == wanted))


def is_one(value: object) -> bool:
    """Tells whether an exact supremum is 1."""
    if isinstance(value, Real):
        return value.rational == 1
    return value is not None and getattr(value, "lower", None) == getattr(value, "upper", None) == Fraction(1)


def rational_point(place: Place) -> dict[str, Fraction] | None:
    """Returns the place as a point, or None where it has an irrational coordinate."""
    if any(not root.is_rational for root in place.values()):
        return None
    return {name: root.lower for name, root in place.items()}


@dataclass(frozen=True, eq=False)
class Witnesses:
    """Evaluates witnesses of a model, whose domain has these parts; `relative` to its own bound, or not.

    A ratio is near to a budget if it differs by at most the `precision`, relatively.
    """

    model: Model
    parts: Sequence[Branch]
    precision: Fraction
    relative: bool

    def at(self, origin: Origin, point: Mapping[str, Fraction]) -> Evaluated | None:
        """Returns the probabilities at a point, completed where it lacks parameters; None without a ratio."""
        box = self.model.domain.box
        full = {n: point.get(n, box[n].simplest()) for n in self.model.domain.ring.parameters}
        try:
            if isinstance(origin, AllOutputs):
                return divergence_at(self.model, origin, full)
            found = evaluate(self.model, origin, full)
        except InputError:
            return None  # outside of the domain, or a secret is impossible there
        return found if found.probabilities[0].sign() > 0 else None

    def ratio(self, witness: Evaluated) -> Real | None:
        """Returns the ratio of a witness, relative to the bound where that was asked for."""
        ratio = witness.ratio
        return ratio / witness.bound if ratio is not None and self.relative else ratio

    def shown(self, best: RatioBounds) -> RatioBounds:
        """Returns the budget with the witness of its lower bound, or a sequence of them."""
        if best.witness is not None:
            return best
        found: list[Evaluated] = []
        point = rational_point(best.place)
        at_place = self.at(best.origin, point) if point is not None else None
        if at_place is not None:
            found.append(at_place)
        if best.infinite or best.value is not None:
            tries = [found, *self._sequences(best)]
            found = max(tries, key=lambda ws: self._nearness(ws, best))
            return replace(best, approached=tuple(found))
        return replace(best, witness=found[-1] if found else None)

    def _sequences(self, best: RatioBounds) -> Iterator[list[Evaluated]]:
        """Yields sequences of witnesses with growing ratios, until one comes near enough."""
        for branch in self.parts:
            for points in towards(branch, best.place):
                found = self._growing(best, points)
                yield found
                if found and self._near(found[-1], best):
                    return

    def _growing(self, best: RatioBounds, points: Iterable[Mapping[str, Fraction]]) -> list[Evaluated]:
        found: list[Evaluated] = []
        for point in points:
            witness = self.at(best.origin, point)
            ratio = self.ratio(witness) if witness else None
            if witness is None or ratio is None:
                continue
            last = self.ratio(found[-1]) if found else None
            if last is None or (ratio - last).sign() > 0:
                found.append(witness)
                if self._near(witness, best):
                    break
        return found

    def _near(self, witness: Evaluated, best: RatioBounds) -> bool:
        ratio = self.ratio(witness)
        if ratio is None:
            return True
        low = ratio.enclosure()[0]
        return low >= 1 / self.precision if best.infinite else low >= (1 - self.precision) * best.low

    def _nearness(self, found: Sequence[Evaluated], best: RatioBounds) -> tuple[bool, Fraction]:
        ratio = self.ratio(found[-1]) if found else None
        return bool(found) and self._near(found[-1], best), ratio.enclosure()[0] if ratio else Fraction(0)


def by_outputs(model: Model, found: RatioBounds) -> RatioBounds:
    """Returns a budget that is attained only if a set of outputs that are possible has its ratio."""
    if not found.attained or not model.hmm.densities:
        return found
    witness = found.witness
    if not isinstance(witness, ExactWitness):
        point = {name: root.lower for name, root in found.place.items() if root.is_rational}
        if len(point) < len(model.domain.ring.parameters) or not contains(model.domain, point):
            return replace(found, attained=None)
        witness = evaluate(model, found.origin, point)
    reached = _reached(model, found, witness)
    if reached:
        return found
    near = replace(found.beside, reached=False) if found.beside else None
    return replace(found, attained=reached, outputs=reached is not False, beside=near)


def _reached(model: Model, found: RatioBounds, witness: ExactWitness) -> bool | None:
    """Tells whether the ratio of a witness, or the same one of another output, is that of a set."""
    answers = [witness.reached]
    if answers[0] is False and len(witness.observations) == 1:
        for name in model.hmm.observations:
            if name in model.hmm.spreads:  # where the ratio may be the same for many outputs
                answers.append(None)
                continue
            other = evaluate(model, replace(found.origin, observations=(name,)), witness.parameters)
            left, right = other.probabilities
            same = right if witness.ratio is None else left - witness.ratio * right
            if left.sign() > 0 and same.sign() == 0:
                answers.append(other.reached)
    return True if True in answers else None if None in answers else False
