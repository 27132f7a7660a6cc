"""A document of evidence as a whole: which statements belong together, and what they show.

The claims of a case are `claim` statements, or `parts` or `average` statements about one direction each. An
engine has one statement of its own kind, and the comparisons, sums or claims that it needs beside it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from . import (
    automaton_checks,
    claim_statements,
    composition_evidence,
    cone_evidence,
    direction_statements,
    enclosed_evidence,
    evidence_shapes,
    formula_evidence,
    interval_evidence,
    region_evidence,
    script_evidence,
    slot_evidence,
    unwinding_evidence,
    worst_pair_evidence,
)
from .claim_evidence import MALFORMED
from .ledger import Ask, Demanded, Evidence, KernelReport, Statement
from .strict_reading import Misformed, Rejected, check, counted, one_of, read, record, shown

ALONE = "not shown by this document alone: "  # begins the lines of checkers about what the case has to show
BUDGET = "budget"  # key of a document whose claims have another bound than the case
CLAIMS, PARTS, AVERAGE = "claims", "parts", "average"  # kinds of documents without an engine
PRIVATE = {"holds": "private", "violated": "not private", "unknown": "undecided"}
CLAIMED = {"holds": "true", "violated": "false", "unknown": "undecided"}
TOLD = {
    "violated": "a violation",
    region_evidence.STATUS: "a region map",
    interval_evidence.STATUS: "exact intervals",
    BUDGET: "a budget",
    composition_evidence.STATUS: "a composition",
}

RULES: dict[str, Callable[[Evidence, Statement], KernelReport]] = {
    "automaton": automaton_checks.show,
    "cells": region_evidence.show,
    "composition": composition_evidence.show,
    "cone": cone_evidence.show,
    "formulas": formula_evidence.show,
    "line": interval_evidence.show,
    "paths": enclosed_evidence.show,
    "script": script_evidence.show,
    "slots": slot_evidence.show,
    "unwinding": unwinding_evidence.show,
}
# What may stand beside the statement of an engine, and in a document without one.
BESIDE = {
    "cells": {"parts", "obligation"},
    "cone": {"comparison", "obligation"},
    "formulas": {"comparison"},
    "line": {"obligation"},
    "paths": {"obligation"},
    "script": {"claim"},
    "unwinding": {"comparison", "obligation"},
    CLAIMS: {"claim", "lemma", "obligation"},
    PARTS: {"parts", "obligation"},
    AVERAGE: {"average", "obligation"},
}
WITNESSES = {"claim": CLAIMS, "set": PARTS, "average": AVERAGE}
BUDGETS = {"bound": CLAIMS, "delta": PARTS, "ratio": PARTS, "kl": AVERAGE, "zcdp": AVERAGE}
# The kinds of documents that may show what a case demands.
SHOWS = {"claims": {CLAIMS}, "stated": {"cells", "line"}, "directions": {PARTS, AVERAGE, "cells"}}
# With which kinds of documents something may be said besides.
_OF_OUTPUTS = {CLAIMS, PARTS, AVERAGE, "cells", "cone", "line"}
_OF_CASES = _OF_OUTPUTS | RULES.keys() - {"composition", "script"}  # those have cases in their statements
BELONGS = {
    "case": _OF_CASES,
    "points": _OF_CASES,
    "windows": {CLAIMS},
    "reduction": {CLAIMS},
    "side_condition": _OF_OUTPUTS,
    "outputs": _OF_OUTPUTS,
}
FORM, COMPARISON = "form", "comparison"
UNITS = {"slots": FORM, "unwinding": COMPARISON}  # what is counted in documents of engines, if not claims
# What the documents of engines say together, but for those that give a verdict.
STATUSES = {
    "cells": (evidence_shapes.MAP,),
    "line": (evidence_shapes.MAP,),
    "composition": (evidence_shapes.BOUNDS,),
    "script": (evidence_shapes.ANSWERS,),
    "automaton": (evidence_shapes.HOLDS, evidence_shapes.VIOLATED, evidence_shapes.BOUNDS),
    "slots": (evidence_shapes.HOLDS,),
}
_HEAD = record({}, {"format": one_of(evidence_shapes.FORMAT), "version": one_of(evidence_shapes.VERSION)})
LEFT_OUT = "the noise and the bound of the case"  # of what is shown about slots in general, with a case too
# What a document alone does not show, by its kind or status; the case is needed.
_CLAIMS_OF_CASE = ("the claims, where they come from, the obligations and the side condition with the case",)
_OF_MAP = ("the claims, the domain, the obligations and the side condition with the case",)
NOT_COMPARED = {
    "cone": ("the model, its bound and lengths, and the side condition with the case",),
    "cells": _OF_MAP,
    "line": _OF_MAP,
    "automaton": ("the automaton with the file",),
    "formulas": formula_evidence.NOT_COMPARED,
    "paths": ("the ways through the program, the bounds and the obligations with the case",),
    "slots": ("what the program does with the case",),  # its noise and its bound never are: see `LEFT_OUT`
    "script": ("the claims, and the assertions at its models, with the script",),
    "unwinding": ("the system, the bound and the obligations with the case",),
    BUDGET: ("the claims, the bound and the side condition with the case", "the witnesses with the model"),
    "violated": ("the claim with the case", "the secrets, the output and the numbers with the model"),
    "holds": _CLAIMS_OF_CASE,
    "unknown": _CLAIMS_OF_CASE,
}


def check_form(document: Any) -> None:
    """Raises Misformed unless a document has the form of evidence; one of another format is named as such."""
    if isinstance(document, dict):
        check({name: document[name] for name in ("format", "version") if name in document}, _HEAD)
    check(document, evidence_shapes.ENVELOPE)


def engine_of(document: Mapping[str, Any]) -> Statement | None:
    """Returns the statement of an engine, if a document has one."""
    return next((s for s in document["statements"] if s["kind"] in RULES), None)


def kind_of(document: Mapping[str, Any]) -> str:
    """Returns what a document is about: the kind of its engine, or that of the claims of its case."""
    engine = engine_of(document)
    if engine is not None:
        return str(engine["kind"])
    for statement in document["statements"]:
        if statement["kind"] in (PARTS, AVERAGE):
            return str(statement["kind"])
    if "witness" in document:
        return WITNESSES[document["witness"]["kind"]]
    return BUDGETS[document[BUDGET]["kind"]] if BUDGET in document else CLAIMS


def numbers(document: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], int]]:
    """Yields the numbers of domains that a document names, each with the way to what is about the domain."""
    found: dict[tuple[str | int, ...], Mapping[str, Any]]
    found = {("statements", place): each for place, each in enumerate(document["statements"])}
    found["witness", "claim"] = document.get("witness", {}).get("claim", {})
    found["reduction",] = document.get("reduction", {})
    yield from ((path, each["domain"]) for path, each in found.items() if "domain" in each)


def no_evidence(text: str) -> str:
    """Returns why a text is no evidence of any kind; "" for what says that it is some, right or wrong."""
    try:
        data = json.loads(text, parse_int=str)
    except RecursionError:
        return ""  # which is told where it is read
    except ValueError as error:
        return f"this is not evidence: not JSON: {error!s:.200}"
    if not isinstance(data, dict):
        return f"this is not evidence: it must be an object, not {shown(data)}"
    form = data.get("format")
    if not (isinstance(form, str) and form.startswith("paramverify-")):
        return "this is not evidence: it has no `format` such as 'paramverify-evidence'"
    return ""


def check_text(text: str) -> KernelReport:
    """Checks evidence in itself, and the numbers of a witness with each other."""
    try:
        document = read(text)
    except Rejected as error:
        return KernelReport(False, (f"rejected: {error}",))
    report = check_document(document)
    if not report.accepted:
        return report
    if BUDGET in document:
        line, missing = _budget(document[BUDGET]), NOT_COMPARED[BUDGET]
        status = BUDGET if says_budget(document) else report.status
        report = replace(report, lines=(*report.lines, line), status=status, not_compared=missing)
    return with_missing(report, kind_of(document))


def check_document(
    document: Any, demanded: Demanded | None = None, ask: Ask | None = None, rows: Any = None
) -> KernelReport:
    """Checks a document, and compares it with what a case demands, if that is given; see `Evidence`.

    What is not of the form of evidence gives a report that is not accepted.
    """
    try:
        check_form(document)
        return shown_by(Evidence(document, demanded, ask, rows))
    except Rejected as error:
        return KernelReport(False, (f"rejected: {error}",))
    except MALFORMED as error:
        return KernelReport(False, (f"rejected: malformed document: {error!r:.200}",))


def shown_by(about: Evidence) -> KernelReport:
    """Returns what a document shows.

    Raises:
        Rejected: it does not show what it says.
    """
    document = about.document
    check_together(document)
    kind, engine = kind_of(document), engine_of(document)
    if kind == CLAIMS and about.demanded.directions is not None:
        says = "witness" in document or any(about.of("claim", "lemma"))
        kind = CLAIMS if says else PARTS  # nothing says of which form the claims are that are not there
    _check_demanded(about, kind, engine)
    if engine is not None:
        if "witness" in document:
            raise Misformed("the statement of an engine must contain its own witness", "witness")
        if kind != "script":
            about.check_obligations()
        own = about.obligations
        report = _by_engine(about, engine)
        about.check_points([engine["domain"]] if "domain" in engine else range(len(document["domains"])))
        is_map = document["status"] == evidence_shapes.MAP
        report = replace(
            report,
            lines=(*report.lines, *own.lines),
            proved=report.proved + (0 if is_map else own.proved),
            trusted=report.trusted + own.trusted,
            solvers=tuple(sorted(own.solvers.union(report.solvers))),
            unit=UNITS.get(kind, report.unit),
        )
    elif kind == CLAIMS:
        report = claim_statements.show(about)
    else:
        report = direction_statements.show(about, kind)
    report = replace(report, side_condition=document.get("side_condition", report.side_condition))
    if report.accepted and "reduction" in document:
        return replace(report, lines=(*report.lines, worst_pair_evidence.show(about, document["reduction"])))
    return report


def _by_engine(about: Evidence, engine: Statement) -> KernelReport:
    """Returns what the statement of an engine shows; places in it are told from the whole document."""
    try:
        return RULES[engine["kind"]](about, engine)
    except Misformed as error:
        if error.path[:1] not in (["statements"], ["domains"], ["status"]):
            error.path[:0] = ["statements", about.document["statements"].index(engine)]
        raise


def check_together(document: Mapping[str, Any]) -> None:
    """Raises Misformed where statements, or what is said besides, do not belong together."""
    engines = [k for k, s in enumerate(document["statements"]) if s["kind"] in RULES]
    kind = kind_of(document)
    for path, number in numbers(document):
        if number >= len(document["domains"]):
            raise Misformed(f"there is no domain number {number}", *path, "domain")
    if len(engines) > 1:
        raise Misformed("a document must have exactly one engine", "statements", engines[1])
    known = BESIDE.get(kind, set()) | ({kind} if engines else set())
    for place, statement in enumerate(document["statements"]):
        if statement["kind"] not in known:
            raise Misformed(f"this does not belong to a document about {kind}", "statements", place)
    if "witness" in document and not engines and WITNESSES[document["witness"]["kind"]] != kind:
        raise Misformed(f"this does not belong to a document about {kind}", "witness")
    if BUDGET in document:
        about = BUDGETS[document[BUDGET]["kind"]]
        if kind != about and not (kind == "cone" and about == CLAIMS):
            raise Misformed(f"this does not belong to a document about {kind}", BUDGET)
        _check_budget(document, kind)
    for name, kinds in BELONGS.items():
        if name in document and kind not in kinds:
            raise Misformed(f"this does not belong to a document about {kind}", name)
    own = STATUSES.get(kind, evidence_shapes.VERDICTS)
    if document["status"] not in own:
        raise Misformed(f"must be {' or '.join(map(repr, own))} in a document about {kind}", "status")
    if not engines and ("witness" in document) != (document["status"] == evidence_shapes.VIOLATED):
        raise Misformed("a witness is required with the status violated, and only then", "status")


def number_of_budget(document: Mapping[str, Any]) -> Any:
    """Returns the number that a document with a budget says to be enough, as it is written; None for none."""
    return next((n for name in ("enough", "bound", "bounds") if (n := document[BUDGET].get(name))), None)


def says_budget(document: Mapping[str, Any]) -> bool:
    """Tells whether a budget says something: by a number, by a witness, or by a loop (there is none)."""
    stated = number_of_budget(document) or document[BUDGET]["witnesses"] or engine_of(document)
    return bool(stated)


def _check_budget(document: Mapping[str, Any], kind: str) -> None:
    """Raises Misformed unless a budget belongs to its claims.

    A number is enough where they hold, and only there. Claims about a divergence are about that number.
    """
    number, stated = number_of_budget(document), document[BUDGET]
    if (number is not None) != (document["status"] == evidence_shapes.HOLDS):
        raise Misformed("a budget must have a number exactly if the claims hold there", "status")
    if kind != AVERAGE:
        return
    claims = [statement for statement in document["statements"] if statement["kind"] == AVERAGE]
    claims += [document["witness"]["claim"]] if "witness" in document else []
    for claim in claims:
        if claim["of"] != stated["kind"]:
            raise Misformed("the claims are about another divergence than the case", BUDGET, "kind")
        if number is not None and claim["bound"] != [number, []]:
            raise Misformed("the claims have another bound than the case", BUDGET, "enough")


def _check_demanded(about: Evidence, kind: str, engine: Statement | None) -> None:
    """Raises Rejected unless a document of a kind, and its engine, may show what the case demands."""
    if any(getattr(about.demanded, name) is not None and kind not in kinds for name, kinds in SHOWS.items()):
        raise Rejected("the evidence is about something other than the case")
    for name, value in about.demanded.engine.items():
        if engine is None:
            raise Rejected("the evidence is about something other than the case")
        own = about.written(engine["domain"]) if name == "domain" and "domain" in engine else engine.get(name)
        if own != value:
            raise Rejected(f"the evidence has another {'bound' if name == 'ratio' else name} than the case")


def with_missing(report: KernelReport, kind: str) -> KernelReport:
    """Returns a report on a document of a kind alone, with what that does not show by itself."""
    missing = report.not_compared or NOT_COMPARED.get(kind) or NOT_COMPARED.get(report.status, ())
    told_ = tuple(line.removeprefix(ALONE) for line in report.lines if line.startswith(ALONE))
    return replace(report, not_compared=(*missing, *told_))


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
    alone = [formula_evidence.NOT_COMPARED, *(NOT_COMPARED[status] for status in CLAIMED)]
    claims = claimed or any(report.not_compared[: len(words)] == words for words in alone)
    words = CLAIMED if claims or report.unit == FORM else PRIVATE
    return words.get(report.status, report.status)


def budget_line(report: KernelReport) -> str:
    """Returns what a report says of a budget: its number, where it is reached, or that there is none."""
    return next((line.removeprefix("budget: ") for line in report.lines if line.startswith("budget: ")), "")


def counts_of(report: KernelReport) -> str:
    """Returns how many claims, or whatever is counted, are settled in which way, and on whose word.

    Where nothing is counted, an interactive system is shown by a family or by costs, which are named.
    """
    names = f" ({', '.join(map(shown, report.solvers))})" if report.solvers else ""
    trusted = f"{report.trusted} trusted to solvers{names}"
    if report.accepted and report.unit in UNITS.values() and not (report.proved or report.trusted):
        return report.lines[0]
    if report.accepted and report.status == region_evidence.STATUS:
        true = counted(report.proved - report.refuted, "cell")
        settled = f"{true} where the claims are true, {report.refuted} where one is false"
        return f"{settled}, {report.open} undecided; {trusted}"
    if report.accepted and report.unit == "formula":
        true = counted(report.proved + report.trusted - report.refuted, "formula")
        return f"{true} true, {report.refuted} false, {report.open} undecided; {trusted}"
    by_witness = report.status == "violated" and any(line.startswith("witness: ") for line in report.lines)
    unit = "cell" if report.status == region_evidence.STATUS else report.unit
    how = "shown" if unit in ("cell", "formula", "part") else "proved"
    begin, other = ("shown by the witness; ", "other ") if report.accepted and by_witness else ("", "")
    return f"{begin}{counted(report.proved, other + unit)} {how}, {trusted}, {report.open} open"


def verdict_line(report: KernelReport, claimed: bool = False, about: str = "") -> str:
    """Returns what was shown, on whose word, and what was not compared, in one line; see `verdict_of`.

    `about` says of what, where a case was compared.
    """
    counts = counts_of(report)
    if not report.accepted:
        return f"REJECTED: {counts}"
    word = verdict_of(report, claimed)
    if report.unit == FORM:
        counts = f"proved; {LEFT_OUT} are not looked at"
        word = "a statement about slots in general"
    status = TOLD.get(report.status, word)
    if word == "true" and not claimed:
        none = not (report.proved or report.trusted)
        status = "there is no claim" if none else f"the {report.unit}s are true"
    status += about
    if not report.not_compared and (told := budget_line(report)):
        status += f": {told}"
    if report.trusted and report.status == "holds":
        status += f", on the word of {', '.join(map(shown, report.solvers)) or 'solvers'}"
    if report.side_condition and report.status != "violated":  # a violation is one without it too
        status += f", on a side condition ({report.side_condition})"
    if report.proved or report.trusted or report.open or report.status != "violated":
        status += f": {counts}"
    if not report.not_compared:
        return f"checked: {status}"
    alone = "checked as far as it can be without the case"
    return f"{alone}: {status}; not compared (give --case): {'; '.join(report.not_compared)}"
