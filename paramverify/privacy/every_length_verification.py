"""Verification for sequences of every length, and for lengths with too many sequences to list.

Sequences of a length for which there are too many: what all lengths together say about it.

A model that is private for sequences of every length is so for those of each length. The other way round, let
a word ω have Pr(ω|A) > c·Pr(ω|B). The probabilities of ω are the sums of those of ωa over all outputs a, so
some ωa has Pr(ωa|A) > c·Pr(ωa|B), and one that has the largest ratio does. So a violation by a short word
is continued to the length that is asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar

from paramverify.algebra.polynomials import Point, Polynomial, constant_value, is_constant, primitive
from paramverify.algebra.rationals import at_least, at_most
from paramverify.answers import Decision, End, Open, Proved, Refuted
from paramverify.claims import Claim, Origin
from paramverify.divergences import MaxDivergence
from paramverify.encodings.encoding import Candidate
from paramverify.encodings.every_length import EveryLength, for_every_length, upper_bound
from paramverify.encodings.every_length import certificate as every_length_certificate
from paramverify.encodings.point_violations import at_point, climb, find_violation
from paramverify.encodings.sequences import claim_polynomial, forward_sum, levels, steps_by_observation
from paramverify.encodings.unbounded_ratios import certificate as no_budget_certificate
from paramverify.encodings.unbounded_ratios import no_budget
from paramverify.errors import LimitError, TimeLimitError, UnsupportedError
from paramverify.evidence.divergence_witnesses import pair_of
from paramverify.evidence.witnesses import ExactWitness, evaluate, find_output
from paramverify.exact.procedure_outcomes import VERSION
from paramverify.models.context import sample_points
from paramverify.models.model import Model, is_about
from paramverify.models.model_evaluation import Numbers
from paramverify.portfolio.session import Session
from paramverify.portfolio.strategies import BUILT_IN
from paramverify.verdicts import Holds, Unknown, Verdict, Violated, violating_output

# --- every length verification ----------------------------------------------------------------------

Progress = Callable[[int, int], None]
T = TypeVar("T")

# Parts of the time that is left at their turn; all the rest is for cones.
SHARES = {"short": 0.1, "loop": 0.2, "climb": 0.3, "upper": 0.3}
STEP = 1.01  # ratios by floats that are closer to each other are not both evaluated
SHOWN = 12  # observations of a sequence that are told
INFINITE = Fraction(10**1000)


class _ShareIsOver(Exception):
    """The part of the time that one search has is over."""


@dataclass(frozen=True, eq=False)
class EveryLengthOutcome:
    """The verdict, the claims that were decided, and the certificate for `checker.cone_evidence`, if any."""

    verdict: Verdict
    claims: tuple[Claim, ...] = ()
    decisions: tuple[Decision, ...] = ()
    certificate: dict[str, Any] | None = None
    enclosed: tuple[int, int] | None = None  # divergences, and boxes on which they are
    balls: tuple[int, int] | None = None  # probabilities that were enclosed, and the bits of that
    weak: str = ""  # that another witness is much worse, in words
    note: str = ""  # the bound that proves the case in the place of its own claims, in words
    windows: tuple[tuple[str, str, int], ...] = ()  # pairs that windows prove, and how far these reach


@dataclass(eq=False)
class RatioBounds:
    """What is known of the largest ratio: the best witness, and a number that no ratio exceeds.

    `cut` tells whether a search was ended by the time, and might have found more with more of it.
    """

    best: ExactWitness | None = None
    upper: Fraction | None = None
    cut: bool = False

    def add(self, witness: ExactWitness) -> None:
        """Takes a witness if its ratio is the largest one so far, which is decided exactly."""
        if self.best is None or _ratio(witness) > _ratio(self.best):
            self.best = witness

    def words(self) -> str:
        """Returns both in words."""
        known = []
        if self.best is not None and self.best.ratio is not None:
            about = self.best
            outputs = " ".join(about.observations[:SHOWN]) + " ..." * (len(about.observations) > SHOWN)
            told = f"the largest ratio is at least {at_least(_ratio(about))}"
            count = len(about.observations)
            known.append(f"{told} (outputs {outputs}, {count} in all, {about.left} against {about.right})")
        if self.upper is not None:
            known.append(f"no ratio exceeds {at_most(self.upper)}")
        return "; ".join(known)


def verify_all_lengths(
    model: Model, session: Session, progress: Progress | None = None
) -> EveryLengthOutcome:
    """Decides whether the model is private for sequences of every length; its obligations must be proved.

    A short violation at a simple prior is looked for first, then a loop word on which one side outgrows the
    other, so that no budget is enough, then a sequence on which one side grows; then a cone that contains
    every v_ω and on which the claims hold. Sound, and not complete: the answer may be unknown, and tells the
    bounds on the largest ratio that were found.
    """
    bounds = RatioBounds()
    try:
        violation = _within(session, bounds, SHARES["short"], lambda check: _short(model, bounds, check))
        if violation:
            return EveryLengthOutcome(Violated(violation))
        bounds.cut = False  # this search is gone through again in the end
        loop = _within(session, bounds, SHARES["loop"], lambda check: no_budget(model, check))
        if loop:
            point = dict(loop.point)
            bound = evaluate(model, loop.origin(model, 1), point).bound.enclosure()[1]
            witness = evaluate(model, loop.origin(model, loop.beyond(bound)), point)
            if witness.exceeds:
                return EveryLengthOutcome(Violated(witness), certificate=no_budget_certificate(model, loop))
        violation = _within(session, bounds, SHARES["climb"], lambda check: _climb(model, bounds, check))
        if violation:
            return EveryLengthOutcome(Violated(violation))
        enough = _number(model)
        upper = _within(session, bounds, SHARES["upper"], lambda check: upper_bound(model, enough, check))
        bounds.upper = upper.ratio if upper else None
        if upper and upper.ratio <= enough:
            found, _ = _by_cones([upper.proof(session.in_time)], model, session, progress, bounds)
            if found:
                return found
        cones = for_every_length(model, session.in_time)
        found, reason = _by_cones(cones, model, session, progress, bounds)
        if found:
            return found
        violation = _short(model, bounds, session.in_time)
        if violation:
            return EveryLengthOutcome(Violated(violation))
        return EveryLengthOutcome(Unknown(End.GAVE_UP, _unknown(bounds, reason)))
    except TimeLimitError as error:
        bounds.cut = True
        return EveryLengthOutcome(Unknown(End.TIMEOUT, _unknown(bounds, str(error))))


def _unknown(bounds: RatioBounds, reason: str) -> str:
    """Returns the reason, the bounds, and whether more time may help."""
    more = "a longer --timeout does not help: all searches came to their ends"
    if bounds.cut:
        more = "whether a longer --timeout helps is not known"
    return "\n".join(filter(None, [reason, bounds.words(), more]))


def _within(
    session: Session, bounds: RatioBounds, share: float, search: Callable[[Callable[[], None]], T | None]
) -> T | None:
    """Returns what a search finds in a share of the time that is left, or None.

    Raises:
        TimeLimitError: the session's own time is over.
    """
    until = time.monotonic() + share * max(0.0, session.deadline - time.monotonic())

    def check() -> None:
        if time.monotonic() > until:
            raise _ShareIsOver

    try:
        return search(check)
    except _ShareIsOver:
        session.in_time()
        bounds.cut = True
        return None


def _short(model: Model, bounds: RatioBounds, check: Callable[[], None]) -> ExactWitness | None:
    violation = find_violation(model, check=check)
    if violation is None:
        return None
    witness = evaluate(model, *violation)
    bounds.add(witness)
    return witness if witness.exceeds else None


def _climb(model: Model, bounds: RatioBounds, check: Callable[[], None]) -> ExactWitness | None:
    """Returns a sequence with a growing ratio that is beyond the bound, evaluated exactly."""
    best = 0.0
    for found in climb(model, check):
        if found.ratio > best * STEP:
            best = found.ratio
            witness = evaluate(model, found.origin, found.point)
            bounds.add(witness)
            if witness.exceeds:
                return witness
    return None


def _by_cones(
    cones: Iterable[EveryLength],
    model: Model,
    session: Session,
    progress: Progress | None,
    bounds: RatioBounds,
) -> tuple[EveryLengthOutcome | None, str]:
    """Returns a verdict by an invariant cone, or why there is none."""
    reason = "no invariant cone was found, and no violation either"
    for attempt in cones:
        decisions: list[Decision] = []
        with closing(session.decide_each(attempt.claims)) as made:
            for decision in made:
                decisions.append(decision)
                if progress:
                    progress(len(decisions), len(attempt.claims))
                if not isinstance(decision.answer, Proved):
                    break
        last = decisions[-1].answer if decisions else Open(End.GAVE_UP, reason)
        if all(isinstance(d.answer, Proved) for d in decisions):
            certificate = every_length_certificate(attempt, [d.proof for d in decisions])
            return EveryLengthOutcome(
                Holds(tuple(decisions)), attempt.claims, tuple(decisions), certificate
            ), ""
        if isinstance(last, Refuted) and attempt.exact:
            found = _witness(model, attempt.claims[len(decisions) - 1], last)
            if found:
                return EveryLengthOutcome(Violated(found), attempt.claims, tuple(decisions)), ""
        if isinstance(last, Open):
            bounds.cut = bounds.cut or last.end is not End.GAVE_UP
            reason = f"a claim about an invariant cone stayed open: {last.detail}"
    return None, reason


def _number(model: Model) -> Fraction:
    """Returns a rational that the bound is not below where it has no parameters, else 0."""
    point = next(sample_points(model.domain), None)
    if point is None or not model.measure.variables.isdisjoint(model.domain.ring.parameters):
        return Fraction(0)
    return Numbers(model, {n: point[n] for n in model.domain.ring.parameters}).bound().enclosure()[0]


def _ratio(witness: ExactWitness) -> Fraction:
    """Returns a number that the ratio is not below; infinity is larger than all others here."""
    ratio = witness.ratio
    return ratio.enclosure()[0] if ratio is not None else INFINITE


def _witness(model: Model, claim: Claim, refuted: Refuted) -> ExactWitness | None:
    """Returns the witness of a refuted claim about one sequence, told by the case's own model."""
    origin = claim.origins[0] if claim.origins else None
    return find_output(model, claim, origin, refuted.point) if isinstance(origin, Origin) else None


# --- sequences of a length for which there are too many: what all lengths together say about it -----

NOTE = 'the proof is for sequences of every length; with length = "all" it has evidence'

LONG = 24  # lengths below which all sequences are listed
FEW = 2_000  # vectors of one length, and
TERMS = 100_000  # in all their polynomials, that are formed to see whether there are many

StateWeights = dict[int, Fraction]  # the weights of states


def are_many(session: Session, model: Model) -> bool:
    """Tells whether there are too many sequences of half of the longest length to list all soon.

    So it is, too, where there are few of them but their polynomials are long.

    Raises:
        TimeLimitError: the time is over.
    """
    longest = max(model.lengths, default=0)
    if longest < LONG:
        return False
    terms = 0
    for level in levels(model.hmm, longest // 2):
        session.in_time()
        terms += sum(len(f) for _, vector in level for f in vector.values())
        if len(level) > FEW or terms > TERMS:
            return True
    return False


def by_every_length(session: Session, model: Model) -> EveryLengthOutcome | None:
    """Returns what sequences of every length say about those of a model; None where that is nothing."""
    hmm = model.hmm
    plain = is_about(model, MaxDivergence) and model.whole is None and model.stands_for is None
    if not plain or not model.lengths or hmm.densities or hmm.spreads or hmm.chosen:
        return None
    left = max(0.01, (session.deadline - time.monotonic()) / 2)
    try:
        with Session(replace(session.options, seconds=left, on_decision=None)) as inner:
            inner.asked = session.asked
            found = verify_all_lengths(replace(model, lengths=()), inner)
    except LimitError:
        return None
    if isinstance(found.verdict, Holds):
        return replace(found, certificate=None, note=NOTE)
    if witness := violating_output(found.verdict):
        with suppress(UnsupportedError):
            return violation_of_length(model, witness.origin, witness.parameters)
    return None


def violation_of_length(model: Model, origin: Origin, point: Point) -> EveryLengthOutcome | None:
    """Returns a violation by a continuation of a word with one of the lengths; None for a longer word."""
    length = min((n for n in model.lengths if n >= len(origin.observations)), default=None)
    if length is None:
        return None
    longer = replace(origin, observations=_continued(model, origin, point, length))
    witness = evaluate(model, longer, point)
    if not witness.exceeds:
        return None
    claim = Claim(stated(model, longer), model.domain, (longer,))
    return EveryLengthOutcome(
        Violated(witness), (claim,), (Decision(Refuted(dict(point)), BUILT_IN, VERSION),)
    )


def stated(model: Model, origin: Origin) -> Polynomial:
    """Returns the polynomial of the claim about one sequence of observations."""
    pair = pair_of(model, origin.left, origin.right)
    left, right = (forward_sum(model, start, origin.observations) for start in (pair.pi, pair.tau))
    candidate = Candidate(left * pair.tau.mass, right * pair.pi.mass, origin, pair.distance)
    return primitive(claim_polynomial(model, candidate))[1]


def _continued(model: Model, origin: Origin, point: Point, length: int) -> tuple[str, ...]:
    """Returns a word of a length that begins with another one, each output the one with the largest ratio."""
    fixed = at_point(model, point)
    pair = pair_of(fixed, origin.left, origin.right)
    steps = steps_by_observation(fixed.hmm)
    names = fixed.hmm.observations
    numbers = [[(s, t, _constant(w)) for s, t, w in own] for own in steps]
    left, right = ({s: _constant(w) for s, w in start.weights.items()} for start in (pair.pi, pair.tau))
    word = [names.index(name) for name in origin.observations]
    for observation in word:
        left, right = _moved(numbers[observation], left), _moved(numbers[observation], right)
    while len(word) < length:
        best: tuple[StateWeights, StateWeights, int] | None = None
        for observation, own in enumerate(numbers):
            a, b = _moved(own, left), _moved(own, right)
            more = sum(a.values()) * (sum(best[1].values()) if best else 0)
            if sum(a.values()) and (best is None or more > sum(best[0].values()) * sum(b.values())):
                best = a, b, observation
        if best is None:
            break
        left, right = best[0], best[1]
        word.append(best[2])
    return tuple(names[observation] for observation in word)


def _constant(polynomial: Polynomial) -> Fraction:
    """Returns a number that stands as a polynomial.

    Raises:
        UnsupportedError: the constant `E` is in it.
    """
    if not is_constant(polynomial):
        raise UnsupportedError("numbers are needed for long words, and this case has exp")
    return constant_value(polynomial)


def _moved(steps: list[tuple[int, int, Fraction]], weights: Mapping[int, Fraction]) -> StateWeights:
    found: StateWeights = {}
    for state, successor, weight in steps:
        if state in weights:
            found[successor] = found.get(successor, Fraction(0)) + weights[state] * weight
    return found
