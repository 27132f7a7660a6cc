"""`paramverify prove CASE`: a theorem about a case, as a file that Coq checks."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import click

import paramverify
from paramverify.answers import Standing
from paramverify.cli._common import (
    case_argument,
    json_option,
    print_json,
    say,
    session_option,
    session_options,
    time_limit,
    timeout_option,
    write_text,
)
from paramverify.cli._exits import STATUS_CODES
from paramverify.cli._settings import settings
from paramverify.cli.verify import FOR_EVIDENCE
from paramverify.privacy.cases import load
from paramverify.privacy.verification import verify
from paramverify.reports import verdicts
from paramverify.reports.evidence import check_has_evidence, evidence_document
from paramverify.reports.theorems.files import MAKEFILE, PROJECT, theorem_text
from paramverify.reports.theorems.statements import check_is_covered

LISTED = (25, "Write a theorem about a private case, which Coq checks.")
THEORIES = Path(paramverify.__file__).parent / "theories"
FOLDER = "Folder for the theorem `case.v`, the theories that it needs, and a Makefile."


@click.command("prove")
@case_argument
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help=FOLDER,
)
@json_option
@timeout_option
@session_option
def command(
    case: str,
    output: Path,
    as_json: bool,
    timeout: float,
    backends: str | None,
    strategy: str | None,
    confirm: int,
) -> int:
    """Write a theorem about a private case, which Coq checks.

    The case is verified first. DIR/case.v defines the mechanism, the prior and the secrets in words of the
    theories in DIR/theories, and states that the case is private. Its proof is the evidence of the verdict.
    Nothing needs Coq until the file is checked: by `make -C DIR`.

    Cases that are not covered, and verdicts that rest on the word of a solver, are refused with the reason.
    """
    options = replace(session_options(timeout, backends, strategy, confirm), evidence=FOR_EVIDENCE)
    with time_limit(timeout):
        began = time.monotonic()
        loaded = load(case, settings=settings())
        check_has_evidence(loaded)
        check_is_covered(loaded.model)
        report = verify(loaded, replace(options, seconds=options.seconds - (time.monotonic() - began)))
        text = ""
        if report.status is Standing.HOLDS:
            text = theorem_text(loaded, evidence_document(loaded, report))
    written = _write(output, text) if text else []
    if as_json:
        print_json({"status": report.status.value, "verdict": report.status.of_case, "files": written})
        return STATUS_CODES[report.status]
    for line in verdicts.lines(report, loaded):
        say(line)
    if not text:
        say("  There is no theorem to be written: only private cases have one.")
        return STATUS_CODES[report.status]
    say(f"written: {written[0]}")
    say(f"  Read it, and have it checked: make -C {output}")
    return STATUS_CODES[report.status]


def _write(folder: Path, text: str) -> list[str]:
    """Writes the theorem and what Coq needs to check it; returns the files."""
    theories = {f"theories/{path.name}": path.read_text() for path in sorted(THEORIES.glob("*.v"))}
    files = {"case.v": text, "Makefile": MAKEFILE, "_CoqProject": PROJECT, **theories}
    (folder / "theories").mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        write_text(folder / name, content)
    return [str(folder / name) for name in files]
