"""The verdict on a case in words: its headline, its witness, and the run behind that."""

from __future__ import annotations

from typing import Any

from paramverify.answers import Decision, Standing
from paramverify.checker.strict import counted
from paramverify.models.inequality import Inequality
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.runs import told_run
from paramverify.privacy.verification import PrivacyReport
from paramverify.reports import documents, runs, text
from paramverify.verdicts import Holds, Violated


def lines(report: PrivacyReport, case: PrivacyCase) -> list[str]:
    """Returns the verdict in words, without the notes."""
    first, *more = headline(report, case)
    if isinstance(report.verdict, Violated):
        witness = report.verdict.witness
        more += [*text.witness_lines(witness), *runs.lines(told_run(case, witness))]
    return [f"{word(report, case)}: {first}", *(f"  {line}" for line in more)]


def word(report: PrivacyReport, case: PrivacyCase) -> str:
    """Returns the verdict in a few words, with what it rests on, and of larger inputs."""
    rests = ""
    if isinstance(report.verdict, Holds):
        rests = text.on_word(proofs(report)) + text.on_condition(case.model)
    beyond = ", but not for larger inputs" if report.larger else ""
    return f"{text.verdict(report.status, case.model)}{rests}{beyond}"


def notes(report: PrivacyReport, case: PrivacyCase) -> list[str]:
    """Returns the notes that the headline does not say already."""
    return [f"  {line}" for line in text.notes(report.notes, headline(report, case)[0])]


def remarks(report: PrivacyReport, case: PrivacyCase) -> dict[str, Any]:
    """Returns as JSON data the inputs that the verdict is about and larger ones, the notes, and `-D`."""
    about = {**documents.inputs(case), **documents.larger(report.larger), "notes": list(report.notes)}
    return {**about, **({"set": dict(case.settings)} if case.settings else {})}


def proofs(report: PrivacyReport) -> list[Decision]:
    """Returns all that a proof of the case rests on: the decisions of its claims and of its obligations."""
    return [*report.decisions, *(decision for _, decision in report.obligations)]


def headline(report: PrivacyReport, case: PrivacyCase) -> list[str]:
    """Returns what stands behind the word of the verdict, and what it rests on or why there is none.

    If larger inputs have a violation, it comes between both.
    """
    first, *rest = _headline(report, case)
    if not report.larger:
        return [first, *rest]
    point, *more = text.witness_lines(report.larger.witness)
    return [first, f"Not private for {report.larger.over}: {point}", *more, *rest]


def _headline(report: PrivacyReport, case: PrivacyCase) -> list[str]:
    verdict = report.verdict
    claimed = isinstance(case.model, Inequality)
    took = f"in {report.seconds:.2g} s"
    if isinstance(verdict, Holds):
        where = text.points(report.domain) if claimed else text.priors(report.domain, case)
        who = text.backends_used(report.decisions)
        count = len(report.claims)
        origins = sum(len(claim.origins) for claim in report.claims)
        merged = f", merged from {origins} comparisons," if origins > count else ""
        claims = f"{count} claim{'s' * (count != 1)}"
        if report.enclosed:
            sums, boxes = report.enclosed
            told = f"{counted(sums, 'divergence')} enclosed on {boxes:,} box{'es' * (boxes != 1)}"
            return [f"{case.budget} {where}.", f"{told} {took}, with proved rounding."]
        if report.balls:
            number, bits = report.balls
            told = f"{number:,} probabilities enclosed with {bits} bits"
            return [f"{case.budget} {where}.", f"{told} {took}, with proved rounding."]
        proved = (
            f"{claims}{merged} proved {took}: {who}." if count else f"No claim was left to prove, {took}."
        )
        return [f"{case.budget} {where}{text.but(case.model)}.", proved]
    if isinstance(verdict, Violated):
        return [f"{case.budget}."]
    return [f"{case.budget}: {verdict.end.value}.", *verdict.detail.split("\n")]


def _enclosed(report: PrivacyReport) -> dict[str, Any]:
    """Returns how many divergences or probabilities were enclosed, where there are no claims."""
    if report.balls:
        return {"enclosed": {"probabilities": report.balls[0], "bits": report.balls[1]}}
    if report.enclosed is None:
        return {}
    return {"enclosed": {"divergences": report.enclosed[0], "boxes": report.enclosed[1]}}


def document(report: PrivacyReport, case: PrivacyCase) -> dict[str, Any]:
    """Returns the verdict as JSON data, with every claim."""
    claims = []
    for number, claim in enumerate(report.claims):
        first = documents.origin(claim.origins[0]) if claim.origins else {"about": "the invariant cone"}
        entry: dict[str, Any] = {**first, "merged": len(claim.origins)}
        if number < len(report.decisions):
            entry |= documents.decision(report.decisions[number])
        else:
            entry |= {"status": "not tried", "verdict": Standing.UNKNOWN.of_claim}
        claims.append(entry)
    words = text.words(proofs(report))
    told: dict[str, Any] = {
        **documents.standing(report.status, case.model),
        "claims": claims,
        "seconds": round(report.seconds, 6),
        **_enclosed(report),
        "evidence": {"decided_by": text.backends_used(report.decisions), **words},
        **remarks(report, case),
    }
    if isinstance(report.verdict, Violated):
        found = report.verdict.witness
        told["witness"] = documents.witness(found) | runs.document(told_run(case, found))
    elif not isinstance(report.verdict, Holds):
        told |= {"end": report.verdict.end.value, "reason": report.verdict.detail}
    return told
