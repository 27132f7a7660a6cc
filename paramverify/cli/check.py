"""`paramverify check EVIDENCE`: replays certificates and witnesses, without any solver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from paramverify.checker import claims as checker
from paramverify.checker import cones as cone_checker
from paramverify.checker import neighbours as product_checker
from paramverify.checker import regions as region_checker
from paramverify.checker import shapes, told
from paramverify.checker import unwinding as unwinding_checker
from paramverify.checker.claims import Rejected, Report
from paramverify.checker.second_look import SecondLook, with_second_look
from paramverify.checker.strict import check, read, shown
from paramverify.cli import _output
from paramverify.cli._common import json_option, print_json, say, whole_timeout_option
from paramverify.errors import EvidenceError, located
from paramverify.files import read_file
from paramverify.portfolio.possible import require_possible

RULES: dict[str, Callable[[Any], Report]] = {
    checker.FORMAT: checker.check_document,
    cone_checker.FORMAT: cone_checker.check_document,
    region_checker.FORMAT: region_checker.check_document,
    unwinding_checker.FORMAT: unwinding_checker.check_document,
}
KEY = "budget"  # of `cli._budget_evidence`, which is imported where it is used
# What a document alone does not show, by its format or status; the case is needed.
NOT_COMPARED = {
    cone_checker.FORMAT: ("the model with the case", "that its weights and its bound are nowhere negative"),
    region_checker.FORMAT: ("the claims, the domain and the obligations with the case",),
    unwinding_checker.FORMAT: ("the system, the bound and the obligations with the case",),
    KEY: ("the claims and the bound with the case", "the witnesses with the model"),
    "violated": ("the claim with the case", "the secrets, the output and the numbers with the model"),
    "holds": ("the claims, where they come from, and the obligations with the case",),
    "unknown": ("the claims, where they come from, and the obligations with the case",),
}
MAX_BYTES = 1_000_000_000
SHOWN = 20


@click.command("check")
@click.argument("evidence", type=click.Path(path_type=Path))
@click.option("--case", "case", type=click.Path(), help="The evidence must settle all claims of this case.")
@json_option
@whole_timeout_option
def command(evidence: Path, case: str | None, as_json: bool) -> int:
    """Re-check evidence without any solver.

    With --case the claims are derived from the case again, sequence by sequence, and must be the ones that
    are proved. Exit code 0 if the evidence is accepted, 1 if it is rejected.
    """
    text = _read(evidence)
    _output.found(["  nothing is accepted: the check did not end"], {"accepted": False})
    report, look = _with_case(text, case) if case else (check_alone(text), None)
    accepted = report.accepted
    if as_json:
        print_json(_document(report, look))
        return int(not accepted)
    lines = [line for line in report.lines if look is None or line != look.line]
    for line in lines[:SHOWN]:
        say(line)
    if len(lines) > SHOWN:
        say(f"... and {len(lines) - SHOWN} more")
    if look is not None and look.line and look.agrees:
        say(look.line)
    say(_verdict_line(report))
    return int(not accepted)


def _verdict_line(report: Report) -> str:
    """Returns what was shown, on whose word, and what was not compared, in one line."""
    what = "cells" if report.status == "region map" else "claims"
    names = f" ({', '.join(map(shown, report.solvers))})" if report.solvers else ""
    counts = f"{report.proved} {what} proved, {report.trusted} trusted to solvers{names}, {report.open} open"
    if not report.accepted:
        return f"REJECTED: {counts}"
    if not report.not_compared:
        return f"accepted: {report.status}: {counts}"
    alone = "accepted as far as it can be checked without the case"
    return f"{alone}: {report.status}: {counts}; not compared: {'; '.join(report.not_compared)}"


def _read(path: Path, what: str = "evidence") -> str:
    with located(file=str(path)):
        try:
            return read_file(path, MAX_BYTES, what, EvidenceError, piped=True).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise EvidenceError("not UTF-8 text") from None


def _with_case(text: str, path: str) -> tuple[Report, SecondLook | None]:
    content = _read(Path(path), "a case file")
    try:
        document = read(text)
        check(document, shapes.FORM)
    except Rejected as error:
        return Report(False, (f"rejected: {error}",)), None
    if document["format"] == unwinding_checker.FORMAT:
        from paramverify.interactive.cases import load as load_system
        from paramverify.interactive.certificates import check_with_case as check_with_system

        report = check_with_system(document, load_system(path))
        return with_second_look(report, document, content)
    from paramverify.cases import load
    from paramverify.cli._budget_evidence import check_budget
    from paramverify.reports.evidence import check_with_case

    loaded = load(path)
    require_possible(loaded.model)
    if KEY in document:
        report = check_budget(document, loaded, check_with_case)
        return with_second_look(report, document, content, document[KEY]["bound"])
    return with_second_look(check_with_case(text, loaded), document, content)


def check_alone(text: str) -> Report:
    """Checks evidence in itself, by the rules of its format, and the numbers of a witness with each other."""
    try:
        document = read(text)
        check(document, shapes.FORM)
        if KEY in document:
            from paramverify.cli._budget_evidence import without_case

            report = without_case(document, check_alone)
            return replace(report, not_compared=NOT_COMPARED[KEY]) if report.accepted else report
        report = product_checker.with_reduction(document, RULES[document["format"]](document))
        if report.accepted and document["format"] == checker.FORMAT and "witness" in document:
            told.check_numbers(document["witness"])
    except Rejected as error:
        return Report(False, (f"rejected: {error}",))
    missing = NOT_COMPARED.get(document["format"]) or NOT_COMPARED.get(report.status, ())
    return replace(report, not_compared=missing)


def _document(report: Report, look: SecondLook | None) -> dict[str, Any]:
    found: dict[str, Any] = {
        "status": "accepted" if report.accepted else "rejected",
        "proved": report.proved,
        "trusted": report.trusted,
        "solvers": list(report.solvers),
        "open": report.open,
        "lines": list(report.lines),
    }
    if report.accepted:
        found |= {"verdict": report.status, "not_compared": list(report.not_compared)}
    if look is not None and look.line:
        found["second_reading"] = {"compared": look.compared, "agrees": look.agrees, "words": look.line}
    return found
