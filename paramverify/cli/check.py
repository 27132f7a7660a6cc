"""`paramverify check EVIDENCE`: replays certificates and witnesses, without any solver."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from paramverify.cli import _output
from paramverify.cli._common import json_option, print_json, say, whole_timeout_option
from paramverify.cli._exits import Exit
from paramverify.cli._settings import set_option, settings
from paramverify.errors import EvidenceError
from paramverify.kernel.documents import no_evidence
from paramverify.reports import evidence_checks

LISTED = (50, "Re-check evidence without any solver.")


@click.command("check")
@click.argument("evidence", type=click.Path(path_type=Path))
@click.option("--case", "case", type=click.Path(), help="The evidence must settle all claims of this case.")
@click.option(
    "--verified", is_flag=True, help="The proofs are replayed by the checker that is proved correct in Coq."
)
@click.option(
    "--require-certificates",
    "required",
    is_flag=True,
    help="Do not accept evidence that rests on the word of a solver.",
)
@set_option
@json_option
@whole_timeout_option
def command(evidence: Path, case: str | None, verified: bool, required: bool, as_json: bool) -> int:
    """Re-check evidence without any solver.

    With --case the claims are derived from the case again, sequence by sequence, and must be the ones that
    are proved. What -D set for the evidence has to be set here too. --verified needs the program that
    `make -C proofs` builds; what it does not know it says. Exit code 0 if the evidence is accepted, 1 if it
    is rejected, 2 if the file is no evidence, 3 if the proved checker does not know a part of it, or if a
    proof rests on the word of a solver and --require-certificates is given.
    """
    if settings() and not case:
        raise click.UsageError("-D is about a case: give --case too")
    text = evidence_checks.read_text(evidence)
    _output.found(["  nothing is accepted: the check did not end"], {"accepted": False})
    try:
        found = replace(evidence_checks.checked(text, case, settings(), verified), required=required)
    except EvidenceError as error:
        error.file = error.file or str(evidence)
        raise
    if not found.report.accepted and (reason := no_evidence(text)):
        raise EvidenceError(reason, file=str(evidence))
    if as_json:
        print_json(evidence_checks.document(found))
    else:
        for line in evidence_checks.lines(found):
            say(line)
    if found.unknown:
        return Exit.UNKNOWN
    return Exit.HOLDS if found.report.accepted else Exit.VIOLATED
