"""Violating priors: a simplest one, the worst one, and the one nearest to a given prior.

Distances are in the maximum norm: the distance of two priors is the most by which a parameter differs. A
ball is then a box, so that "no prior within this distance violates the case" is a set of claims like any
other, and what is proved of it is a certified bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from itertools import chain
from math import inf
from typing import TypeGuard

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Domain, Interval, check_names, tied_in
from paramverify.algebra.polynomials import Point, variables
from paramverify.algebra.rationals import simplest_between
from paramverify.algebra.real_roots import RealRoot, around
from paramverify.algebra.reals import Real
from paramverify.answers import Decision, Open, Proved
from paramverify.claims import Claim
from paramverify.divergences import Average
from paramverify.encodings.choice import claims_of
from paramverify.errors import InputError, UnsupportedError
from paramverify.evidence.witness import AnyWitness
from paramverify.evidence.witnesses import (
    Evaluated,
    evaluate_either,
    find_witness,
)
from paramverify.models.model import TOGETHER, AnyModel, Model, is_about, need_privacy, refuse_tied
from paramverify.portfolio.session import Session
from paramverify.privacy.loss_verification import verify_losses
from paramverify.privacy.verification import decide_with_witness
from paramverify.synthesis.budget import tight_budget
from paramverify.synthesis.case_budget import has_parametric_bound
from paramverify.synthesis.intervals import StatusInterval
from paramverify.synthesis.loss_values import mattering
from paramverify.synthesis.maps import Status
from paramverify.synthesis.paths import points_towards
from paramverify.synthesis.projection import project
from paramverify.synthesis.quotients import RatioBounds, middle
from paramverify.synthesis.vanishing import corrected
from paramverify.verdicts import Holds, Unknown, Violated

Progress = Callable[[int, int], None]

TOLERANCE = Fraction(1, 10**6)
STEPS = 200  # bisections, or rational priors that are tried nearer and nearer to the worst one


class Objective(StrEnum):
    """Which violating prior is wanted."""

    SIMPLEST = "simplest"
    RATIO = "ratio"  # with the largest ratio
    NEAREST = "nearest"  # to a given point


@dataclass(frozen=True, eq=False)
class Violating:
    """A violating prior with its two probabilities; or none, where `complete` says that none exists.

    `decisions` are how the claims were settled, where they were. `supremum` is the largest ratio over all
    priors where the worst one was asked for; `relative` says that it is divided by the case's bound. Where
    the nearest one was asked for, no prior at a distance smaller than `nearer` violates the case, and
    `distance` is that of the witness.
    """

    witness: AnyWitness | None
    complete: bool
    reason: str = ""
    decisions: tuple[Decision, ...] = ()
    supremum: RatioBounds | None = None
    relative: bool = False
    nearer: Fraction | None = None
    distance: Fraction | None = None


def violating_prior(
    model: AnyModel,
    session: Session,
    objective: Objective = Objective.SIMPLEST,
    near: Mapping[str, Fraction] | None = None,
    tolerance: Fraction = TOLERANCE,
    *,
    progress: Progress | None = None,
) -> Violating:
    """Returns the violating prior that is asked for, see `simplest`, `worst` and `nearest` (to `near`).

    Raises:
        InputError: the largest ratio of a case that is not about privacy, or a point that does not fit.
    """
    match objective:
        case Objective.SIMPLEST:
            return simplest(model, session, progress)
        case Objective.RATIO:
            asked = need_privacy(model, "--objective ratio", "leave the objective out", events=TOGETHER)
            if is_about(asked, Average):
                name = asked.measure.key
                reason = (
                    f"--objective ratio requires claims, which {name} does not have: use `budget` to "
                    "find the largest"
                )
                raise InputError(reason, key=f"privacy.{name}")
            return worst(asked, session, tolerance, progress)
        case Objective.NEAREST:
            refuse_tied(model, "--objective nearest")
            return nearest(model, session, near or {}, tolerance, progress)


def simplest(model: AnyModel, session: Session, progress: Progress | None = None) -> Violating:
    """Returns a violating prior with small denominators.

    With one free parameter it has the smallest denominator of all violating priors, and the smallest absolute
    numerator among those. With more, or with one that stands beside its exponential, it is the simplest of
    those that were found for the violated claims.
    """
    if _is_loss(model):
        return _of_loss(model, session)
    claims = claims_of(model)
    free = free_parameters(model.domain, claims)
    tied = any(tied_in(c.domain.ring, c.polynomial) for c in claims)
    if len(free) == 1 and not tied and not any(claim.domain.constraints for claim in claims):
        parts: tuple[StatusInterval, ...] = ()
        with suppress(UnsupportedError):
            parts = corrected(model, session, project(claims, model.domain, free[0])).parts
        found = [part for part in parts if part.status is Status.VIOLATING]
        values = [value for part in found if (value := simplest_in(part)) is not None]
        if values:
            value = min(values, key=lambda v: (v.denominator, abs(v.numerator)))
            point = {n: i.simplest() for n, i in model.domain.box.items() if n != GENERATOR}
            return Violating(witness_at(model, claims, {**point, free[0]: value}), True)
    witnesses, decisions = list[AnyWitness](), list[Decision]()
    for claim in claims:
        decision, witness = decide_with_witness(session, model, claim)
        decisions.append(decision)
        if witness:
            witnesses.append(witness)
        if progress:
            progress(len(decisions), len(claims))
    best = min(witnesses, key=_length, default=None)
    return _answer(best, decisions)


def _length(witness: AnyWitness) -> float:
    """Returns how long the coordinates of a witness are; rational points come first."""
    return sum(v.denominator if isinstance(v, Fraction) else inf for v in witness.parameters.values())


def _is_loss(model: AnyModel) -> TypeGuard[Model]:
    """Tells whether a model has no claims: they are proved and refuted by enclosures."""
    return is_about(model, Average)


def _of_loss(model: Model, session: Session) -> Violating:
    """Returns a prior with too large a loss, or what is known instead."""
    refuse_tied(model, "synthesize")
    verdict = verify_losses(session, model).verdict
    match verdict:
        case Violated():
            return Violating(verdict.witness, True)
        case Holds():
            return Violating(None, True)
        case Unknown():
            return Violating(None, False, verdict.detail)


def _answer(best: AnyWitness | None, decisions: Sequence[Decision]) -> Violating:
    answers = [d.answer for d in decisions]
    doubt = next((a.detail for a in answers if isinstance(a, Open)), "")
    complete = best is not None or all(isinstance(a, Proved) for a in answers)
    return Violating(best, complete, doubt, tuple(decisions))


def free_parameters(domain: Domain, claims: Sequence[Claim]) -> tuple[str, ...]:
    """Returns the parameters that matter: those of claims and constraints that have more than one value."""
    used = {n for claim in claims for n in variables(claim.polynomial)}
    used.update(n for c in domain.constraints for n in variables(c.polynomial))
    used.update(u.variable for u in domain.ring.tied if u.name in used)
    names = (n for n in domain.ring.parameters if n not in domain.ring.outputs)
    return tuple(n for n in names if n in used and not domain.box[n].is_point)


def simplest_in(part: StatusInterval) -> Fraction | None:
    """Returns the rational of a part with the smallest denominator; None for one irrational point."""
    lower, upper = part.lower, part.upper
    if part.is_point:
        return lower.lower if lower.is_rational else None
    ends = [
        r.lower
        for r, closed in ((lower, part.lower_closed), (upper, part.upper_closed))
        if closed and r.is_rational
    ]
    while True:
        # The part lies in this interval, so the simplest of the interval is the part's if the part has it.
        value = simplest_between(lower.lower, upper.upper)
        if value in part:
            return min([value, *ends], key=lambda v: (v.denominator, abs(v.numerator)))
        lower, upper = lower.halved(), upper.halved()


def witness_at(model: AnyModel, claims: Sequence[Claim], point: Point) -> AnyWitness:
    """Returns the witness of a claim that fails at a point of the domain, the one with the most.

    Raises:
        InputError: no claim fails there.
    """
    here = {name: Interval(value, value, True, True) for name, value in point.items()}
    narrow = [replace(c, domain=replace(c.domain, box={**c.domain.box, **here})) for c in claims]
    found = [w for claim in narrow if (w := find_witness(model, claim, point)) is not None]
    if not found:
        raise InputError(
            f"every claim of the case is true at {', '.join(f'{n} = {v}' for n, v in point.items())}"
        )
    return max(found, key=lambda witness: witness.size)


# --- the worst prior ---------------------------------------------------------------------------------


def worst(
    model: Model, session: Session, tolerance: Fraction = TOLERANCE, progress: Progress | None = None
) -> Violating:
    """Returns a rational prior whose ratio is at least (1 − tolerance) times the supremum over all priors.

    Where the case's bound has parameters, it is about the ratio divided by the bound. The supremum is that of
    `tight_budget`, which is exact or has certified bounds; the witness is evaluated exactly.
    """
    relative = has_parametric_bound(model)
    found = tight_budget(model, session, tolerance / 2, relative)
    best: Evaluated | None = None
    known = [w.parameters for w in (*found.approached, *([found.witness] if found.witness else []))]
    for point in chain(points_towards(found.place, model.domain), known):
        try:
            witness = evaluate_either(model, found.origin, point)
        except InputError:
            continue  # outside the constraints, or a secret is impossible there
        if best is None or _above(_value(witness, relative), _value(best, relative)):
            best = witness
        if witness.exceeds and _reaches(witness, found, relative, tolerance):
            break
    if best is None or not best.exceeds:
        return replace(simplest(model, session, progress), supremum=found, relative=relative)
    reached = _reaches(best, found, relative, tolerance)
    reason = "" if reached else "only bounds of the supremum are known"
    decisions = found.proof.decisions if found.proof else ()
    return Violating(best, reached, reason=reason, decisions=decisions, supremum=found, relative=relative)


def _value(witness: Evaluated, relative: bool) -> Real | None:
    ratio = witness.ratio
    return ratio / witness.bound if ratio is not None and relative else ratio


def _above(left: Real | None, right: Real | None) -> bool:
    return right is not None and (left is None or (left - right).sign() > 0)


def _reaches(witness: Evaluated, found: RatioBounds, relative: bool, tolerance: Fraction) -> bool:
    value = _value(witness, relative)
    if value is None or found.infinite:
        return value is None or value.enclosure()[0] > 1 / tolerance
    return found.high is not None and value.enclosure()[0] >= (1 - tolerance) * found.high


# --- the nearest prior -------------------------------------------------------------------------------


def nearest(
    model: AnyModel,
    session: Session,
    start: Mapping[str, Fraction],
    tolerance: Fraction = TOLERANCE,
    progress: Progress | None = None,
) -> Violating:
    """Returns a violating prior that is nearly nearest to a given point, which need not be in the domain.

    With d the infimum of the distances of violating priors to the point in the maximum norm, it is certified
    that `nearer` ≤ d ≤ `distance`; if the limits allow, `distance` − `nearer` ≤ tolerance · `distance`, or
    `distance` is at most the square of the tolerance.

    Raises:
        InputError: the point does not give the parameters that matter, or gives one that does not exist.
    """
    claims = mattering(model) if _is_loss(model) else claims_of(model)
    around = _Around(model, session, claims, _center(model, claims, start))
    best = around.within(None)
    if best.witness is None:
        return best
    nearer, farthest = Fraction(0), around.distance(best.witness.parameters)
    reason = ""

    def is_close() -> bool:
        return farthest - nearer <= tolerance * max(farthest, tolerance)

    for step in range(STEPS):
        if is_close():
            break
        # The first trial is the point itself.
        trial = simplest_between(*middle(nearer, farthest)) if step else Fraction(0)
        found = around.within(trial)
        if found.witness:
            best, farthest = found, around.distance(found.witness.parameters)
        elif found.complete:
            nearer = trial
        else:
            reason = found.reason
            break
        if progress:
            progress(step + 1, STEPS)
    return replace(best, complete=is_close(), reason=reason, nearer=nearer, distance=farthest)


def _center(model: AnyModel, claims: Sequence[Claim], start: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """Returns the values that a point gives to parameters with more than one value.

    Raises:
        InputError: the point does not give the parameters that matter, or gives one that does not exist.
    """
    names = [n for n in model.domain.ring.parameters if not model.domain.box[n].is_point]
    check_names(model.domain.ring, start)
    missing = [n for n in free_parameters(model.domain, claims) if n not in start]
    if missing:
        raise InputError(f"the point of --near has no value for {', '.join(missing)}")
    return {n: start[n] for n in names if n in start}


@dataclass(frozen=True, eq=False)
class _Around:
    """The violating priors around a point."""

    model: AnyModel
    session: Session
    claims: Sequence[Claim]
    center: Mapping[str, Fraction]

    def distance(self, point: Mapping[str, Fraction | RealRoot]) -> Fraction:
        """Returns the distance to the point in the maximum norm; a little more if it is irrational."""
        ends = [(around(point[n]), value) for n, value in self.center.items()]
        return max((max(high - v, v - low) for (low, high), v in ends), default=Fraction(0))

    def within(self, radius: Fraction | None) -> Violating:
        """Looks for a violating prior within a closed ball, or anywhere."""
        decisions: list[Decision] = []
        if _is_loss(self.model):
            whole = self.model.domain
            own = whole if radius is None else _ball(whole, self.center, radius)
            return _of_loss(replace(self.model, domain=own), self.session) if own else Violating(None, True)
        for claim in self.claims:
            part = claim.domain if radius is None else _ball(claim.domain, self.center, radius)
            if part is None:
                return Violating(None, True)
            decision, witness = decide_with_witness(self.session, self.model, replace(claim, domain=part))
            if witness:
                return Violating(witness, True)
            decisions.append(decision)
        return _answer(None, decisions)


def _ball(domain: Domain, center: Mapping[str, Fraction], radius: Fraction) -> Domain | None:
    """Returns the part of the domain within a distance, or None if its box is empty."""
    box = dict(domain.box)
    for name, value in center.items():
        interval = box[name]
        low, high = value - radius, value + radius
        lower, lower_closed = interval.lower, interval.lower_closed
        upper, upper_closed = interval.upper, interval.upper_closed
        if low > lower:
            lower, lower_closed = low, True
        if high < upper:
            upper, upper_closed = high, True
        if lower > upper or (lower == upper and not (lower_closed and upper_closed)):
            return None
        box[name] = Interval(lower, upper, lower_closed, upper_closed)
    return replace(domain, box=box)
