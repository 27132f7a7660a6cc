"""The least bound of a divergence that is no polynomial as evidence: trees that prove a number, and a point.

It is the evidence of `verify` for the case with the number that is enough, in the form `paramverify-losses`,
with `budget` besides: which divergence it is, the number that is `enough` (null: none was proved), and a
witness, which needs nearly that.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from paramverify.algebra.decimals import at_least
from paramverify.answers import Decision, Standing
from paramverify.checker import claims as checker
from paramverify.checker.documents import BUDGET
from paramverify.claims import Claim
from paramverify.errors import EvidenceError, InputError
from paramverify.evidence.losses import LossWitness
from paramverify.models.divergences import LossBound
from paramverify.models.kinds import need_privacy
from paramverify.models.model import Model
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.losses import at_bound, proofs
from paramverify.reports import documents, text
from paramverify.reports.evidence import about, check_with_case
from paramverify.reports.loss_evidence import again, evaluated, exact_witness
from paramverify.synthesis.least_loss import LeastLoss


def loss_budget_document(
    case: PrivacyCase, found: LeastLoss, obligations: tuple[tuple[Claim, Decision], ...]
) -> dict[str, Any]:
    """Returns the evidence of a least bound; the obligations of the case are proved."""
    model, measure = _asked(case)
    number = None if found.infinite else found.upper
    if number is not None and not found.proof:
        reason = "there is no evidence where two distributions are equal because of constraints"
        raise InputError(f"{reason}; write a bound into the case, and `verify --evidence` proves it")
    known = measure if number is None else at_bound(measure, number)
    status = (Standing.UNKNOWN if number is None else Standing.HOLDS).value
    witnesses = []
    if found.witness is not None:
        witness = found.witness
        origin = witness.left, witness.right, witness.length
        own = evaluated(model, measure, origin, witness.parameters, witness.order)
        witnesses.append(exact_witness(own))
    stated = {
        "kind": measure.kind.value,
        "enough": None if number is None else documents.exact(number),
        "witnesses": witnesses,
    }
    certificate = proofs(model, known, found.proof if number is not None else ())
    return {**certificate, "status": status, **about(case, obligations, status), BUDGET: stated}


def check_loss_budget(document: Mapping[str, Any], case: PrivacyCase) -> checker.KernelReport:
    """Checks such evidence against a case: its claims with the number as the bound, and the point again.

    Malformed evidence gives a report that is not accepted.
    """
    try:
        stated = document[BUDGET]
        model, measure = _asked(case)
        if stated["kind"] != measure.kind.value:
            raise EvidenceError("the case has another measure")
        number = None if stated["enough"] is None else Fraction(stated["enough"])
        if (number is not None) != (document["status"] == Standing.HOLDS):
            raise EvidenceError("a number is enough where the claims hold, and only there")
        bounded = model if number is None else replace(model, measure=at_bound(measure, number))
        rest = {name: value for name, value in document.items() if name != BUDGET}
        report = check_with_case(json.dumps(rest), replace(case, model=bounded))
        if not report.accepted:
            return report
        found = [again(model, measure, written) for written in stated["witnesses"]]
    except (ValueError, KeyError, TypeError, EvidenceError, InputError, checker.Rejected) as error:
        return checker.KernelReport(False, (f"rejected: the budget: {error!s:.200}",))
    return replace(report, lines=(*report.lines, _line(stated["kind"], number, found)), status=BUDGET)


def _asked(case: PrivacyCase) -> tuple[Model, LossBound]:
    model = need_privacy(case.model, "evidence of a least bound", together=True)
    if not isinstance(model.measure, LossBound):
        raise EvidenceError("the case has another measure")
    return model, model.measure


def _line(name: str, number: Fraction | None, found: list[LossWitness]) -> str:
    """Returns what was shown, in words."""
    told = f"budget: the least {name}"
    upper = f"is at most {documents.exact(number)}, proved" if number is not None else ""
    lower = ""
    for witness in found:
        where = f" at {text.place(witness)}" if witness.parameters else ""
        least = witness.value and max(Fraction(0), witness.value[0] / (witness.order or 1))
        lower = "is infinite" if least is None else f"is at least {at_least(least, 9)}"
        lower += f"{where} (evaluated again)"
    if not upper:
        return f"{told} {lower}; no number is proved to be enough" if lower else f"{told} is not known"
    return f"{told} {upper}" + (f"; it {lower}" if lower else "")
