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

LISTED = (430, "Check evidence again, without any solver.")


@click.command("check")
@click.argument("evidence", type=click.Path(path_type=Path))
@click.option(
    "--case", "case", type=click.Path(), help="Require that the evidence settles all claims of this case."
)
@click.option(
    "--verified", is_flag=True, help="Replay the proofs with the checker that is proved correct in Coq."
)
@click.option(
    "--require-certificates",
    "required",
    is_flag=True,
    help="Accept only evidence that does not rest on the word of a solver.",
)
@set_option
@json_option
@whole_timeout_option
def command(evidence: Path, case: str | None, verified: bool, required: bool, as_json: bool) -> int:
    """Check evidence again, without any solver.

    \b
    Example:
      paramverify check proof.json --case case.toml

    With --case, the command derives the claims from the case again, sequence by sequence, and compares them
    with the claims that the evidence proves. If the evidence was made with -D, give the same -D here.
    --verified needs the program that `make -C proofs` builds, and reports what that program does not support.

    Exit codes: 0 if the evidence is accepted; 1 if it is rejected; 2 if the file is not evidence; 3 if
    --verified does not support a part of it, or if a proof rests on the word of a solver and
    --require-certificates is given.
    """
    if settings() and not case:
        raise click.UsageError("-D sets values of a case, but no case is given: add --case")
    text = evidence_checks.read_text(evidence)
    _output.found(["  The evidence is not accepted, because the check did not finish."], {"accepted": False})
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
