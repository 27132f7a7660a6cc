"""`paramverify check EVIDENCE`: replays certificates and witnesses, without any solver."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from paramverify.cli._common import json_option, print_json, timeout_option
from paramverify.errors import EvidenceError, located
from paramverify.evidence import cone_checker, product_checker, region_checker, unwinding_checker
from paramverify.evidence.checker import Report, check_text
from paramverify.portfolio.possible import require_possible

RULES: dict[str, Callable[[Any], Report]] = {
    cone_checker.FORMAT: cone_checker.check_document,
    region_checker.FORMAT: region_checker.check_document,
    unwinding_checker.FORMAT: unwinding_checker.check_document,
}
KEY = "budget"  # of `cli._budget_evidence`, which is imported where it is used
MAX_BYTES = 1_000_000_000
SHOWN = 20


@click.command("check")
@click.argument("evidence", type=click.Path(path_type=Path))
@click.option("--case", "case", type=click.Path(), help="The evidence must settle all claims of this case.")
@json_option
@timeout_option
def command(evidence: Path, case: str | None, as_json: bool, timeout: float) -> int:
    """Re-check evidence without any solver.

    With --case the claims are derived from the case again, sequence by sequence, and must be the ones that
    are proved. Exit code 0 if the evidence is accepted, 1 if it is rejected.
    """
    del timeout  # a replay has no search in it
    text = _read(evidence)
    report = _with_case(text, case) if case else _alone(text)
    accepted = report.accepted
    if as_json:
        print_json(_document(report) | ({"verdict": _status(text)} if accepted else {}))
        return int(not accepted)
    for line in report.lines[:SHOWN]:
        click.echo(line)
    if len(report.lines) > SHOWN:
        click.echo(f"... and {len(report.lines) - SHOWN} more")
    what = "cells" if accepted and _status(text) == "region map" else "claims"
    counts = f"{report.proved} {what} proved, {report.trusted} trusted to solvers, {report.open} open"
    click.echo(f"{f'accepted: {_status(text)}' if accepted else 'REJECTED'}: {counts}")
    if accepted and not case:
        click.echo("consistent in itself; that these are the claims of a case is checked with --case CASE")
    return int(not accepted)


def _read(path: Path) -> str:
    with located(file=str(path)):
        try:
            if path.stat().st_size > MAX_BYTES:
                raise EvidenceError(f"larger than {MAX_BYTES:,} bytes")
            return path.read_text(encoding="utf-8")
        except OSError as error:
            raise EvidenceError(error.strerror or "cannot be read") from None
        except UnicodeDecodeError:
            raise EvidenceError("not UTF-8 text") from None


def _with_case(text: str, path: str) -> Report:
    document = _document_of(text)
    if document.get("format") == unwinding_checker.FORMAT:
        from paramverify.interactive.cases import load as load_system
        from paramverify.interactive.certificates import subject

        expected = json.loads(json.dumps(subject(load_system(path))))
        return unwinding_checker.check_document(document, expected)
    from paramverify.cases import load
    from paramverify.cli._budget_evidence import check_budget
    from paramverify.reports.evidence import check_with_case

    loaded = load(path)
    require_possible(loaded.model)
    if KEY in document:
        return check_budget(document, loaded, check_with_case)
    return check_with_case(text, loaded)


def _alone(text: str) -> Report:
    """Checks evidence in itself, by the rules of its format."""
    document = _document_of(text)
    if KEY in document:
        from paramverify.cli._budget_evidence import without_case

        return without_case(document, _alone)
    rules = RULES.get(str(document.get("format")))
    report = rules(document) if rules else check_text(text)  # which says what is wrong
    return product_checker.with_reduction(document, report)


def _document_of(text: str) -> dict[str, Any]:
    """Returns the document, an empty one for a text that is none."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _status(text: str) -> str:
    """Returns the status of a document that was accepted."""
    document = json.loads(text)
    return KEY if KEY in document else str(document.get("status", "region map"))


def _document(report: Report) -> dict[str, Any]:
    return {
        "status": "accepted" if report.accepted else "rejected",
        "proved": report.proved,
        "trusted": report.trusted,
        "open": report.open,
        "lines": list(report.lines),
    }
