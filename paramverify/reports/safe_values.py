"""What `synthesize` tells: intervals, conditions, maps and violating priors, as text, JSON and evidence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from paramverify.answers import End, Open, Standing
from paramverify.encodings.choice import claims_of, is_long
from paramverify.encodings.excesses import excesses
from paramverify.evidence.witnesses import ExactSetWitness
from paramverify.models.divergences import LossBound
from paramverify.models.model import Model
from paramverify.portfolio.obligations import Proofs, discharge
from paramverify.portfolio.session import Session
from paramverify.privacy.approximate import verify_sets, violation_document
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.every_length_verification import EveryLengthOutcome
from paramverify.privacy.larger_ranges import Larger
from paramverify.privacy.losses import verify_losses
from paramverify.privacy.runs import told_run
from paramverify.privacy.verification import PrivacyReport, levels_certificate
from paramverify.reports import documents, text
from paramverify.reports import synthesis as telling
from paramverify.reports.evidence import evidence_document
from paramverify.synthesis.safe_values import ExactCondition, Intervals, Regions
from paramverify.synthesis.violating import Objective, Violating
from paramverify.verdicts import Holds, Unknown, Verdict, Violated


@dataclass(frozen=True, eq=False)
class AnswerText:
    """An answer in words and as JSON data.

    `complete` tells whether it is what was asked for, `possible` whether some value of design parameters, if
    there are any, is private.
    """

    lines: list[str]
    document: dict[str, Any]
    complete: bool = True
    possible: bool = True


def told(
    case: PrivacyCase, found: Intervals | ExactCondition | Regions, larger: Larger | None = None
) -> AnswerText:
    """Returns what was found about the values for which a case is private, and about which inputs.

    It may not be private for `larger` ones.
    """
    answer = _told(case, found)
    who = "all neighbouring" if case.neighbours else "the priors of the case over"
    about = [f"The answer is about {who} {case.over}."] if case.over else []
    if larger:
        point, *more = text.witness_lines(larger.witness)
        about += [f"It does not hold for larger inputs. Not private for {larger.over}: {point}"]
        about += [f"  {line}" for line in more]
    document = {**answer.document, **documents.larger(larger)}
    return replace(answer, lines=[*answer.lines, *about], document=document)


def _told(case: PrivacyCase, found: Intervals | ExactCondition | Regions) -> AnswerText:
    match found:
        case Intervals():
            document = {"form": "exact", **telling.partition_document(case, found.partition, found.witnesses)}
            lines = telling.partition_lines(case, found.partition, found.witnesses)
            return _with_optimum(case, found, AnswerText(lines, document, found.complete))
        case ExactCondition():
            return _condition(case, found)
        case Regions():
            document = {"form": "region", **telling.map_document(case, found.map, found.witness)}
            lines = telling.map_lines(case, found.map, found.witness)
            if found.instead:
                document["instead"] = found.instead
                lines.insert(1, f"  {found.instead}; --exact gives them all of the time")
            return _with_optimum(case, found, AnswerText(lines, document, found.complete))


def _with_optimum(case: PrivacyCase, found: Intervals | Regions, answer: AnswerText) -> AnswerText:
    """Returns an answer with the best value of a design parameter."""
    lines, document = list(answer.lines), dict(answer.document)
    if found.optimum:
        domain = case.model.domain
        lines.append(telling.optimum_line(found.optimum, domain.constant))
        lines += telling.optimum_meaning(found.optimum, domain.ring.unbounded)
        document["optimum"] = telling.optimum_document(found.optimum, domain.constant)
    possible = not case.design or found.possible
    if not possible:
        lines.append("no value of the design parameters makes it private")
    return AnswerText(lines, document, answer.complete, possible)


def _condition(case: PrivacyCase, answer: ExactCondition) -> AnswerText:
    found, names = answer.found, ", ".join(answer.parameters)
    document: dict[str, Any] = {"form": "exact", "parameters": list(answer.parameters)}
    if isinstance(found, Open):
        reason = f"{found.end.value}: {found.detail}"
        lines = [f"no condition on {names} was found: {reason}"]
        return AnswerText(
            lines,
            document | documents.standing(Standing.UNKNOWN, case.model) | {"reason": reason},
            complete=False,
        )
    points = f"{found.checked} point{'s' * (found.checked != 1)}"
    line = telling.condition_line(case, answer.parameters, found.text)
    document |= {"condition": found.text, "checked": found.checked, **telling.given(case.model.domain)}
    return AnswerText([line, f"  on the word of QEPCAD; compared exactly at {points}"], document)


def prior(case: PrivacyCase, found: Violating, wanted: Objective) -> AnswerText:
    """Returns a violating prior, or that there is none."""
    run = told_run(case, found.witness) if found.witness else None
    document = {"form": "witness", "objective": wanted.value, **telling.violating_document(case, found, run)}
    complete = found.witness is not None or found.complete
    return AnswerText(telling.violating_lines(case, found, run), document, complete)


def prior_evidence(case: PrivacyCase, session: Session, found: Violating) -> dict[str, Any]:
    """Returns the evidence of a violating prior, or of the proof that there is none."""
    model = case.model
    _, obligations = discharge(session, model)
    if isinstance(model, Model) and (model.measure.by_sets or isinstance(model.measure, LossBound)):
        return evidence_document(case, _about_sums(session, model, found, obligations))
    verdict: Verdict = Unknown(End.GAVE_UP, found.reason)
    decisions = found.decisions
    if found.witness:
        verdict, decisions = Violated(found.witness), ()
    elif found.complete:
        verdict = Holds(decisions)
    claims, certificate = claims_of(model), None
    if isinstance(verdict, Holds) and isinstance(model, Model) and is_long(model):
        certificate = levels_certificate(model, claims, decisions)
    report = PrivacyReport(
        verdict=verdict,
        claims=claims,
        decisions=decisions,
        domain=model.domain,
        notes=model.notes,
        seconds=0.0,
        obligations=obligations,
        certificate=certificate,
    )
    return evidence_document(case, report)


def _about_sums(session: Session, model: Model, found: Violating, obligations: Proofs) -> PrivacyReport:
    """Returns the report on a set of outputs or a loss that is too large, or the proof that there is none."""
    if isinstance(found.witness, ExactSetWitness):
        witness = found.witness
        direction = (witness.left, witness.right, witness.length)
        sums = (claim for claim in excesses(model) if direction in claim.origins)
        said = EveryLengthOutcome(Violated(witness), (), (), violation_document(next(sums), witness))
    elif found.witness:
        said = EveryLengthOutcome(Violated(found.witness))
    elif isinstance(model.measure, LossBound):
        said = verify_losses(session, model)
    else:
        said = verify_sets(session, model)
    return PrivacyReport(
        verdict=said.verdict,
        claims=said.claims,
        decisions=said.decisions,
        domain=model.domain,
        notes=model.notes,
        seconds=0.0,
        obligations=obligations,
        certificate=said.certificate,
    )
