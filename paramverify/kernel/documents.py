"""Evidence of any kind: checked by the module that its format names, and what it does not show by itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from . import (
    automaton_checks,
    claim_evidence,
    composition_evidence,
    cone_evidence,
    enclosed_evidence,
    evidence_shapes,
    formula_evidence,
    interval_evidence,
    loss_evidence,
    region_evidence,
    script_evidence,
    set_evidence,
    slot_evidence,
    unwinding_evidence,
    witness_numbers,
    worst_pair_evidence,
)
from .claim_evidence import KernelReport
from .strict_reading import Rejected, check, counted, read, shown

ALONE = "not shown by this document alone: "  # begins the lines of checkers about what the case has to show
BUDGET = "budget"  # key of a document whose claims have another bound than the case
PRIVATE = {"holds": "private", "violated": "not private", "unknown": "undecided"}
CLAIMED = {"holds": "true", "violated": "false", "unknown": "undecided"}
TOLD = {
    "violated": "a violation",
    "region map": "a region map",
    interval_evidence.STATUS: "exact intervals",
    BUDGET: "a budget",
    composition_evidence.STATUS: "a composition",
}

CHECKERS: dict[str, Callable[[Any], KernelReport]] = {
    module.FORMAT: module.check_document
    for module in (
        *(
            automaton_checks,
            claim_evidence,
            composition_evidence,
            cone_evidence,
            formula_evidence,
            enclosed_evidence,
            slot_evidence,
        ),
        *(
            interval_evidence,
            loss_evidence,
            region_evidence,
            script_evidence,
            set_evidence,
            unwinding_evidence,
        ),
    )
}
# What a document alone does not show, by its format or status; the case is needed.
NOT_COMPARED = {
    cone_evidence.FORMAT: ("the model and the side condition with the case",),
    region_evidence.FORMAT: ("the claims, the domain, the obligations and the side condition with the case",),
    interval_evidence.FORMAT: (
        "the claims, the domain, the obligations and the side condition with the case",
    ),
    automaton_checks.FORMAT: ("the automaton with the file",),
    formula_evidence.FORMAT: formula_evidence.NOT_COMPARED,
    enclosed_evidence.FORMAT: ("the ways through the program, the bounds and the obligations with the case",),
    slot_evidence.FORMAT: ("what the program does with the case",),
    script_evidence.FORMAT: ("the claims, and the assertions at its models, with the script",),
    unwinding_evidence.FORMAT: ("the system, the bound and the obligations with the case",),
    BUDGET: ("the claims, the bound and the side condition with the case", "the witnesses with the model"),
    "violated": ("the claim with the case", "the secrets, the output and the numbers with the model"),
    "holds": ("the claims, where they come from, the obligations and the side condition with the case",),
    "unknown": ("the claims, where they come from, the obligations and the side condition with the case",),
}


def read_document(text: str) -> dict[str, Any]:
    """Returns a document of one of the known forms.

    Raises:
        Rejected: it is none.
    """
    document: dict[str, Any] = read(text)
    check(document, evidence_shapes.FORM)
    return document


def no_evidence(text: str) -> str:
    """Returns why a text is no evidence of any kind; "" for what says that it is some, right or wrong."""
    try:
        data = json.loads(text, parse_int=str)
    except RecursionError:
        return ""  # which is told where it is read
    except ValueError as error:
        return f"this is no evidence: not JSON: {error!s:.200}"
    if not isinstance(data, dict):
        return f"this is no evidence: it must be an object, not {shown(data)}"
    form = data.get("format")
    if not (isinstance(form, str) and form.startswith("paramverify-")):
        return "this is no evidence: it has no `format` such as 'paramverify-evidence'"
    return ""


def check_text(text: str) -> KernelReport:
    """Checks evidence in itself, by the rules of its format, and the numbers of a witness with each other."""
    try:
        document = read_document(text)
        report = _checked({name: value for name, value in document.items() if name != BUDGET})
    except Rejected as error:
        return KernelReport(False, (f"rejected: {error}",))
    report = replace(report, not_compared=report.not_compared or _of_streams(document))
    if BUDGET not in document or not report.accepted:
        return with_missing(report, document["format"])
    line = _budget(document[BUDGET])
    missing = NOT_COMPARED[BUDGET]
    report = replace(report, lines=(*report.lines, line), status=BUDGET, not_compared=missing)
    return with_missing(report, document["format"])


def with_missing(report: KernelReport, form: str) -> KernelReport:
    """Returns a report on a document of a format alone, with what that does not show by itself."""
    missing = report.not_compared or NOT_COMPARED.get(form) or NOT_COMPARED.get(report.status, ())
    told_ = tuple(line.removeprefix(ALONE) for line in report.lines if line.startswith(ALONE))
    return replace(report, not_compared=(*missing, *told_))


def _of_streams(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns what is not compared of evidence that says which streams are compared."""
    if document["format"] != automaton_checks.FORMAT or not {"claim", "streams"} & document.keys():
        return ()
    budget = ", the budget" * ("claim" in document)
    return (f"the automaton{budget} and the streams with the file",)


def _checked(document: Mapping[str, Any]) -> KernelReport:
    report = worst_pair_evidence.with_statements(document, CHECKERS[document["format"]](document))
    if report.accepted and document["format"] == claim_evidence.FORMAT and "witness" in document:
        witness_numbers.check_numbers(document["witness"])
    if report.accepted and document["format"] == claim_evidence.FORMAT and _may_be_empty(document):
        return replace(report, lines=(*report.lines, formula_evidence.NO_POINT))
    return report


def _may_be_empty(document: Mapping[str, Any]) -> bool:
    """Tells whether claims may be true because their constraints contradict each other.

    Points are not checked with a claim −1 ≥ 0: of its constraints one may be what is claimed, see
    `claim_evidence`.
    """
    about = [entry["claim"] for entry in document["claims"] if entry.get("origins")]
    pointed = bool(document.get("points"))
    return document["status"] != "violated" and any(
        claim["constraints"] and (claim["polynomial"] == "-1" or not pointed) for claim in about
    )


def _budget(stated: Mapping[str, Any]) -> str:
    if "enough" in stated:
        enough = stated["enough"] or "none"
        return f"budget: the {stated['kind']} in the claims is said to be {enough}, and was not compared"
    bound = " over ".join(stated["bound"]).removesuffix(" over 1") if stated["bound"] else "none"
    return f"budget: the bound in the claims is said to be {bound}; neither it nor a witness was compared"


def verdict_of(report: KernelReport, claimed: bool = False) -> str:
    """Returns what was shown in one word: private or not; true or false of claims, or of a `claimed` case.

    Evidence that consists of claims shows these alone, until they are compared with a case.
    """
    words = CLAIMED if claimed or _claims_alone(report) else PRIVATE
    return words.get(report.status, report.status)


def _claims_alone(report: KernelReport) -> bool:
    alone = [formula_evidence.NOT_COMPARED, *(NOT_COMPARED[status] for status in CLAIMED)]
    return any(report.not_compared[: len(words)] == words for words in alone)


def verdict_line(report: KernelReport, claimed: bool = False, about: str = "") -> str:
    """Returns what was shown, on whose word, and what was not compared, in one line; see `verdict_of`.

    `about` says of what, where a case was compared.
    """
    what = counted(report.proved, "cell" if report.status == "region map" else report.unit)
    how = "shown" if report.unit == "formula" else "proved"
    names = f" ({', '.join(map(shown, report.solvers))})" if report.solvers else ""
    counts = f"{what} {how}, {report.trusted} trusted to solvers{names}, {report.open} open"
    if not report.accepted:
        return f"REJECTED: {counts}"
    word = verdict_of(report, claimed)
    status = TOLD.get(report.status, word)
    if word == "true" and not claimed:
        none = not (report.proved or report.trusted)
        status = "there is no claim" if none else f"the {report.unit}s are true"
    status += about
    if report.side_condition and report.status != "violated":  # a violation is one without it too
        status += f", on a side condition ({report.side_condition})"
    if report.proved or report.trusted or report.open or report.status != "violated":
        status += f": {counts}"
    if not report.not_compared:
        return f"checked: {status}"
    alone = "checked as far as it can be without the case"
    return f"{alone}: {status}; not compared (give --case): {'; '.join(report.not_compared)}"
