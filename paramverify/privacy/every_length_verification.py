"""Verification for sequences of every length: an invariant cone, a violation, or a loop without a budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from paramverify.answers import Decision, End, Open, Proved, Refuted
from paramverify.claims import Claim
from paramverify.encodings import cone_certificates
from paramverify.encodings.at_points import find_violation
from paramverify.encodings.every_length import for_every_length
from paramverify.encodings.no_budget import no_budget
from paramverify.evidence.witnesses import Witness, evaluate, find_witness
from paramverify.models.model import Model
from paramverify.portfolio.session import Session
from paramverify.verdicts import Holds, Unknown, Verdict, Violated

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Found:
    """The verdict, the claims that were decided, and a certificate for `checker.cones` where there is one."""

    verdict: Verdict
    claims: tuple[Claim, ...] = ()
    decisions: tuple[Decision, ...] = ()
    certificate: dict[str, Any] | None = None


def verify_all_lengths(model: Model, session: Session, progress: Progress | None = None) -> Found:
    """Decides whether the model is private for sequences of every length; its obligations must be proved.

    A short violation at a simple prior is looked for first, then a loop word on which one side outgrows the
    other, so that no budget is enough; then a cone that contains every v_ω and on which the claims hold.
    Sound, and not complete: the answer may be unknown.

    Raises:
        TimeLimitError: the session's time is over before there is an answer.
    """
    violation = find_violation(model, check=session.in_time)
    if violation:
        witness = evaluate(model, *violation)
        if witness.exceeds:
            return Found(Violated(witness))
    loop = no_budget(model, session.in_time)
    if loop:
        point = dict(loop.point)
        bound = evaluate(model, loop.origin(model, 1), point).bound.enclosure()[1]
        witness = evaluate(model, loop.origin(model, loop.beyond(bound)), point)
        if witness.exceeds:
            return Found(Violated(witness), certificate=cone_certificates.no_budget(model, loop))
    reason = "no invariant cone was found, and no violation either"
    for attempt in for_every_length(model, session.in_time):
        decisions: list[Decision] = []
        for claim in attempt.claims:
            decision = session.decide(claim)
            decisions.append(decision)
            if progress:
                progress(len(decisions), len(attempt.claims))
            if not isinstance(decision.answer, Proved):
                break
        last = decisions[-1].answer if decisions else Open(End.GAVE_UP, reason)
        if all(isinstance(d.answer, Proved) for d in decisions):
            certificate = cone_certificates.every_length(attempt, [d.proof for d in decisions])
            return Found(Holds(tuple(decisions)), attempt.claims, tuple(decisions), certificate)
        if isinstance(last, Refuted) and attempt.exact:
            found = _witness(model, attempt.claims[len(decisions) - 1], last)
            if found:
                return Found(Violated(found), attempt.claims, tuple(decisions))
        if isinstance(last, Open):
            reason = f"a claim about an invariant cone stayed open: {last.detail}"
    return Found(Unknown(End.GAVE_UP, reason))


def _witness(model: Model, claim: Claim, refuted: Refuted) -> Witness | None:
    """Returns the witness of a refuted claim about one sequence, told by the case's own model."""
    return find_witness(model, claim, refuted.point) if claim.origins else None
