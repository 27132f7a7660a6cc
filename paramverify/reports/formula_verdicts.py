"""What is said of a case that was verified by Algorithm 1 of [F]: by formulas instead of claims."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from paramverify import printable
from paramverify.answers import Open, Proved
from paramverify.encodings import monolithic
from paramverify.models.model import need_privacy
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.formula_verification import FormulaReport, SettledFormula
from paramverify.reports import json_documents, sentences
from paramverify.verdicts import Holds, Violated


def lines(report: FormulaReport, case: PrivacyCase) -> Iterator[str]:
    """Returns the verdict in words."""
    first = ""
    verdict, decisions = report.verdict, [solved.decision for solved in report.solved]
    took = f"in {report.seconds:.2g} s"
    if isinstance(verdict, Holds):
        word = sentences.on_word(decisions) + sentences.on_condition(case.model)
        where = sentences.priors(case.model.domain, case)
        first = f"{report.status.of_case}{word}: {case.budget} {where}{sentences.but(case.model)}."
        yield first
        count = len(decisions)
        many = f"{count} formulas are" if count > 1 else "1 formula is"
        yield f"  Monolithic encoding: {many} unsatisfiable according to the solver, {took}."
    elif isinstance(verdict, Violated):
        yield f"{report.status.of_case}: {case.budget}."
        yield from (f"  {line}" for line in verdict.witness.lines())
        yield f"  Monolithic encoding: the witness of the solver was evaluated exactly, {took}."
    else:
        yield f"{report.status.of_case}: {case.budget}: {verdict.end.value}."
        yield f"  {verdict.detail}"
        done = sum(isinstance(decision.answer, Proved) for decision in decisions)
        yield f"  Monolithic encoding: {done} of {total(case)} formulas were found unsatisfiable."
        for solved in report.solved:
            if isinstance(solved.decision.answer, Open):
                yield f"  open: {printable.name(_about(solved))}"
                break
    yield from (f"  {line}" for line in sentences.notes(report.notes, first))


def total(case: PrivacyCase) -> int:
    """Returns how many formulas the case has: one for each length, secret pair and direction."""
    model = need_privacy(case.model, "the monolithic encoding")
    return 2 * len(model.pairs) * len(model.lengths)


def _about(solved: SettledFormula) -> str:
    return f"{solved.left} against {solved.right}, length {solved.length}"


def document(report: FormulaReport) -> dict[str, Any]:
    """Returns the verdict as JSON data."""
    decisions = [solved.decision for solved in report.solved]
    proofs = [*decisions, *(decision for _, decision in report.obligations)]
    told: dict[str, Any] = {
        "status": report.status,
        "verdict": report.status.of_case,
        "encoding": monolithic.ENCODING.name,
        "formulas": [
            {"secrets": [s.left, s.right], "length": s.length, **json_documents.decision(s.decision)}
            for s in report.solved
        ],
        "seconds": round(report.seconds, 6),
        "evidence": {"decided_by": sentences.backends_used(decisions)} | sentences.words(proofs),
        "notes": list(report.notes),
    }
    if isinstance(report.verdict, Violated):
        told["witness"] = report.verdict.witness.answer()
    elif not isinstance(report.verdict, Holds):
        told |= {"end": report.verdict.end.value, "reason": report.verdict.detail}
    return told
