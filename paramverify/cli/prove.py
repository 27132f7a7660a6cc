"""`paramverify prove CASE`: a theorem about a case, as a file that Coq checks."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

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
    write_texts,
)
from paramverify.cli._exits import STATUS_CODES
from paramverify.cli._settings import settings
from paramverify.errors import InputError
from paramverify.kernel.strict_reading import counted
from paramverify.privacy.cases import PrivacyCase, load
from paramverify.reports import json_documents, verdict_reports
from paramverify.reports.case_evidence import check_has_evidence, evidence_document
from paramverify.reports.theorems.coq_words import about_case
from paramverify.reports.theorems.theorem_files import check_has_theorem, required, theorem_files, theorem_of
from paramverify.subjects.questions import FOR_EVIDENCE, Prove
from paramverify.subjects.registry import subject_of
from paramverify.subjects.running import check_asked
from paramverify.subjects.subject import CaseFile
from paramverify.synthesis.borders import verify_beyond

LISTED = (420, "Write a theorem that a case is private, or a claim true, for Coq to check.")
THEORIES = Path(paramverify.__file__).parent / "theories"
FOLDER = "Write the theorem `case.v`, the theories that it needs, and a Makefile to this folder."


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
@click.option("--force", is_flag=True, help="Overwrite the files of another case in DIR.")
@json_option
@timeout_option
@session_option
def command(
    case: str,
    output: Path,
    force: bool,
    as_json: bool,
    timeout: float,
    backends: str | None,
    strategy: str | None,
    confirm: int,
) -> int:
    """Write a theorem that a case is private, or a claim true, for Coq to check.

    \b
    Example:
      paramverify prove case.toml -o theorem

    The command verifies the case first. DIR/case.v then defines the mechanism, the prior and the secrets with
    the theories in DIR/theories, and states that the case is private. Its proof is the evidence of the
    verdict. For a case with a [claim], the theorem states that the claim is true for all real numbers of the
    domain. You need Coq only to check the file, with `make -C DIR`.

    If a case is not supported, or its verdict rests on the word of a solver, the command fails and shows the
    reason. It also fails if DIR has the theorem of another case.
    """
    file = CaseFile(Path(case), settings())
    subject = subject_of(file)
    check_asked(subject, Prove, file)
    options = replace(session_options(timeout, backends, strategy, confirm), evidence=FOR_EVIDENCE)
    with time_limit(timeout):
        began = time.monotonic()
        loaded = load(case, settings=settings())
        check_has_evidence(loaded)
        check_has_theorem(loaded)
        report = verify_beyond(loaded, replace(options, seconds=options.seconds - (time.monotonic() - began)))
        theorem = None
        if report.status is Standing.HOLDS:
            _check_folder(output, loaded, force)
            left = replace(options, seconds=options.seconds - (time.monotonic() - began))
            theorem = theorem_of(loaded, evidence_document(loaded, report), left)
    written, replaced = _write(output, theorem.text) if theorem else ([], [])
    if as_json:
        told: dict[str, Any] = {**json_documents.standing(report.status, loaded.model), "files": written}
        told |= verdict_reports.remarks(report, loaded)
        if theorem:
            told["replaced"] = replaced
        if theorem and theorem.as_model:
            told["as_model"] = theorem.as_model
        print_json(told)
        return STATUS_CODES[report.status]
    for line in (*verdict_reports.lines(report, loaded), *verdict_reports.notes(report, loaded)):
        say(line)
    having = "true claims" if subject.of_claims else "private cases"
    if theorem is None:
        say(f"  No theorem was written, because only {having} have one.")
        return STATUS_CODES[report.status]
    say(f"written: {written[0]}")
    if replaced:
        more = f" and {counted(len(replaced) - 1, 'other file')}" if len(replaced) > 1 else ""
        say(f"  Overwritten: {replaced[0]}{more}")
    if theorem.as_model:
        say(f"  The theorem states the case as a model, not in the words of the case: {theorem.as_model}")
        say("  paramverify computed this model. Compare it with the case.")
    say(f"  Read the theorem, and let Coq check it: make -C {output}")
    return STATUS_CODES[report.status]


def _different(folder: Path, files: Mapping[str, str]) -> list[str]:
    """Returns which of some files are in a folder with other text."""
    found = {folder / name: content for name, content in files.items()}
    return [
        str(path)
        for path, content in found.items()
        if path.is_file() and path.read_text(encoding="utf-8", errors="replace") != content
    ]


def _check_folder(folder: Path, case: PrivacyCase, force: bool) -> None:
    """Checks that a folder has nothing that is of another case, unless that may be replaced.

    Raises:
        InputError: it has.
    """
    own = folder / "case.v"
    same = own.is_file() and about_case(case.digest) in own.read_text(encoding="utf-8", errors="replace")
    found = [] if same or force else _different(folder, theorem_files(required(case), THEORIES))
    if found:
        what = "this is the theorem of another case, or of another version of this case"
        reason = what if found[0] == str(own) else "this file exists already"
        raise InputError(f"{reason}; choose another folder, or add --force to overwrite it", file=found[0])


def _write(folder: Path, text: str) -> tuple[list[str], list[str]]:
    """Writes the theorem and what Coq needs to check it; returns the files, and those that are replaced."""
    files = theorem_files(text, THEORIES)
    replaced = _different(folder, files)
    made = [place for place in (folder, folder / "theories") if not place.exists()]
    (folder / "theories").mkdir(parents=True, exist_ok=True)
    try:
        write_texts({folder / name: content for name, content in files.items()})
    except BaseException:  # no file was written: no folder stays behind
        for place in reversed(made):
            with suppress(OSError):
                place.rmdir()
        raise
    return [str(folder / name) for name in files], replaced
