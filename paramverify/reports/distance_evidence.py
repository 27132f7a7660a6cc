"""The evidence of a budget with distances: all claims, each with the largest ratio at its distance.

The document is that of `reports.budget_evidence`, with `bounds` in place of `bound`: a numerator and a
denominator for each distance. `bound` is null then.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from paramverify.algebra.polynomials import key
from paramverify.answers import Decision, End
from paramverify.checker.documents import BUDGET
from paramverify.claims import Claim
from paramverify.models.kinds import need_privacy
from paramverify.models.measures import Metric, Pure
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.verification import PrivacyReport
from paramverify.reports import documents
from paramverify.reports.budgets import growing
from paramverify.reports.evidence import evidence_document
from paramverify.synthesis.distance_budget import DistanceBudget
from paramverify.verdicts import Holds, Unknown, Verdict, Violated


def distance_document(
    case: PrivacyCase, found: DistanceBudget, obligations: tuple[tuple[Claim, Decision], ...]
) -> dict[str, Any]:
    """Returns the evidence of a budget; the obligations of the proofs or the case are proved."""
    model = need_privacy(case.model, "the evidence of a budget", densities=True)
    witnesses = [w for part in found.parts for w in growing(part.found)]
    proofs = {part.distance: part.found.proof for part in found.parts if part.found.proof}
    bounds: dict[str, list[str]] | None = None
    claims: list[Claim] = []
    decisions: list[Decision] = []
    verdict: Verdict = Unknown(End.GAVE_UP, "no upper bound was proved at some distance")
    beyond = next((w for w in witnesses if w.exceeds), None)
    if len(proofs) == len(found.parts):
        measures: dict[Any, Pure] = {d: proof.model.measure.at(d) for d, proof in proofs.items()}
        first = next(iter(proofs.values())).model
        pairs = tuple(pair for proof in proofs.values() for pair in proof.model.pairs)
        model = replace(first, pairs=pairs, measure=Metric(measures))
        bounds = {
            str(d): [key(measure.ratio.numerator), key(measure.ratio.denominator)]
            for d, measure in measures.items()
        }
        claims = [claim for proof in proofs.values() for claim in proof.claims]
        decisions = [decision for proof in proofs.values() for decision in proof.decisions]
        verdict = Holds(tuple(decisions))
    elif beyond:
        verdict = Violated(beyond)
    report = PrivacyReport(
        verdict=verdict,
        claims=tuple(claims),
        decisions=tuple(decisions),
        domain=model.domain,
        notes=model.notes,
        seconds=0.0,
        obligations=obligations,
    )
    document = evidence_document(replace(case, model=model), report)
    stated = {"bound": None, **({"bounds": bounds} if bounds else {})}
    return document | {BUDGET: {**stated, "witnesses": [documents.evidence_of(w) for w in witnesses]}}
