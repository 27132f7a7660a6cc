"""Replaying the certificate of one claim by the kernel: a certificate that it rejects is never a proof."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from paramverify.answers import Decision, End, Open, Proved
from paramverify.checker.claims import Rejected, check_claim
from paramverify.claims import Claim, to_document
from paramverify.evidence.certificates import words


def replayed(claim: Claim, certificate: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the solvers that the certificate trusts; none if it shows the claim in full.

    Raises:
        Rejected: the certificate does not show the claim, or has another shape.
    """
    if "proof" not in certificate:
        raise Rejected("a certificate has its proof under the key `proof`")
    try:
        return check_claim(to_document(claim), certificate["proof"])
    except RecursionError:
        raise Rejected("the proof is nested too deeply") from None


def as_judged(claim: Claim, decision: Decision) -> Decision:
    """Returns a decision of a backend that is not built in, as far as its certificate allows.

    One that the kernel accepts stays; one that trusts a solver makes the proof this backend's word; one that
    is rejected makes the decision open.
    """
    said = decision.answer
    if not isinstance(said, Proved) or said.certificate is None:
        return decision
    try:
        trusted = replayed(claim, said.certificate)
    except Rejected as reason:
        detail = f"it says proved, and the checker rejects its certificate: {reason}"
        return replace(decision, answer=Open(End.GAVE_UP, detail, said.transcript))
    return replace(decision, answer=replace(said, certificate=None)) if trusted else decision


def from_worker(claim: Claim, decision: Decision) -> Decision:
    """Returns a decision of a worker, as far as the kernel can replay it here.

    A certificate that the kernel accepts stays. A proof without one is the word of the worker: which solver
    it asked, if any, only the worker knows.
    """
    judged = as_judged(claim, decision)
    if isinstance(judged.answer, Proved) and judged.answer.certificate is None:
        return replace(judged, version=f"{judged.version} (as a worker says)".strip())
    return judged


def with_certificate(decision: Decision) -> Decision:
    """Returns the decision; a proof that rests on anybody's word is open, and says on whose."""
    names = words(decision)
    if not names:
        return decision
    detail = f"proved on the word of {', '.join(names)}, and a certificate is required"
    transcript = decision.answer.transcript
    return replace(decision, answer=Open(End.GAVE_UP, detail, transcript))
