"""`paramverify check EVIDENCE`: replays certificates and witnesses, without any solver."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from paramverify.checker import every, unwinding
from paramverify.checker.claims import Report
from paramverify.checker.documents import BUDGET, check_text, read_document, verdict_line, verdict_of
from paramverify.checker.second_look import SecondLook, with_second_look
from paramverify.checker.strict import Rejected
from paramverify.cli import _output
from paramverify.cli._common import json_option, print_json, say, whole_timeout_option
from paramverify.cli._exits import Exit
from paramverify.cli._settings import set_option, settings
from paramverify.errors import EvidenceError, located
from paramverify.files import read_file
from paramverify.models.settings import differently_set
from paramverify.portfolio.obligations import require_possible

LISTED = (50, "Re-check evidence without any solver.")

MAX_BYTES = 1_000_000_000
SHOWN = 20


@click.command("check")
@click.argument("evidence", type=click.Path(path_type=Path))
@click.option("--case", "case", type=click.Path(), help="The evidence must settle all claims of this case.")
@set_option
@json_option
@whole_timeout_option
def command(evidence: Path, case: str | None, as_json: bool) -> int:
    """Re-check evidence without any solver.

    With --case the claims are derived from the case again, sequence by sequence, and must be the ones that
    are proved. What -D set for the evidence has to be set here too. Exit code 0 if the evidence is accepted,
    1 if it is rejected.
    """
    if settings() and not case:
        raise click.UsageError("-D is about a case: give --case too")
    text = _read(evidence)
    _output.found(["  nothing is accepted: the check did not end"], {"accepted": False})
    report, look, claimed = _with_case(text, case) if case else (check_text(text), None, False)
    accepted = report.accepted
    if as_json:
        print_json(_document(report, look, claimed))
        return Exit.HOLDS if accepted else Exit.VIOLATED
    second = "" if look is None else look.line if look.agrees else f"rejected: {look.line}"
    lines = [line for line in report.lines if line != second]
    for line in lines[:SHOWN]:
        say(line)
    if len(lines) > SHOWN:
        say(f"... and {len(lines) - SHOWN} more")
    if second:
        say(second)
    say(verdict_line(report, claimed))
    return Exit.HOLDS if accepted else Exit.VIOLATED


def _read(path: Path, what: str = "evidence") -> str:
    with located(file=str(path)):
        try:
            return read_file(path, MAX_BYTES, what, EvidenceError, piped=True).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise EvidenceError("not UTF-8 text") from None


def _with_case(text: str, path: str) -> tuple[Report, SecondLook | None, bool]:
    """Checks evidence against a case; tells too whether that is true or false, rather than private or not."""
    content = _read(Path(path), "a case file")
    try:
        document = read_document(text)
    except Rejected as error:
        return Report(False, (f"rejected: {error}",)), None, False
    other = differently_set(document, settings())
    if other:
        return Report(False, (f"rejected: {other}",)), None, False
    if "formula" in document.get("witness", {}):
        reason = "no check derives a witness against a formula from its model: leave out --case"
        raise EvidenceError(reason, key="witness.formula")
    if document["format"] == unwinding.FORMAT:
        from paramverify.interactive.cases import load as load_system
        from paramverify.interactive.certificates import check_with_case as check_with_system

        bounded = (
            not {"tight", "growth", "witness"} & document.keys()
        )  # what may come from a budget needs none
        report = check_with_system(document, load_system(path, bounded=bounded, settings=settings()))
        return *with_second_look(report, document, content, settings=settings()), False
    if document["format"] == every.FORMAT:
        from paramverify.interactive.every import read_program

        program, title, digest = read_program(path)
        report = every.check_document(document, program.document())
        if report.accepted and document.get("case") != {"title": title, "digest": digest}:
            report = Report(False, ("rejected: the evidence belongs to another case file",))
        return *with_second_look(report, document, content), False
    from paramverify.models.inequality import Inequality
    from paramverify.privacy.cases import load
    from paramverify.reports.budget_evidence import check_budget
    from paramverify.reports.evidence import check_with_case

    loaded = load(path, settings=settings())
    require_possible(loaded.model)
    if BUDGET in document:
        report = check_budget(document, loaded, check_with_case)
        bound = document[BUDGET].get("bounds") or document[BUDGET]["bound"]
    else:
        report, bound = check_with_case(text, loaded), None
    claimed = BUDGET not in document and isinstance(loaded.model, Inequality)
    folder = Path(path).parent
    look = with_second_look(report, document, content, bound, folder=folder, settings=settings())
    return *look, claimed


def _document(report: Report, look: SecondLook | None, claimed: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "status": "accepted" if report.accepted else "rejected",
        "proved": report.proved,
        "trusted": report.trusted,
        "solvers": list(report.solvers),
        "open": report.open,
        "lines": list(report.lines),
    }
    if report.accepted:
        found |= {"verdict": verdict_of(report, claimed), "shown": report.status}
        found["not_compared"] = list(report.not_compared)
        if report.side_condition:
            found["side_condition"] = report.side_condition
    if look is not None and look.line:
        found["second_reading"] = {"compared": look.compared, "agrees": look.agrees, "words": look.line}
    return found
