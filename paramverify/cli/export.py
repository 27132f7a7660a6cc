"""`paramverify export CASE`: the claims of a case as files for another solver."""

from __future__ import annotations

from pathlib import Path

import click

from paramverify.cases import load
from paramverify.claims import Claim
from paramverify.cli._common import case_argument, json_option, print_json, timeout_option
from paramverify.encodings.sequences import sequence_claims
from paramverify.encodings.smtlib import script
from paramverify.errors import InputError, LimitError

BITS = 64  # precision of the rational enclosure of exp(q)


@click.command("export")
@case_argument
@click.option("--to", "target", type=click.Choice(["smtlib2"]), required=True, help="The format.")
@click.option("--claim", "number", type=click.IntRange(min=1), help="Only this claim, counted from 1.")
@click.option(
    "-o", "--output", type=click.Path(file_okay=False, path_type=Path), help="Folder for the files."
)
@json_option
@timeout_option
def command(
    case: str, target: str, number: int | None, output: Path | None, as_json: bool, timeout: float
) -> int:
    """Write the claims of a case for another solver.

    Each file says that some prior violates the claim: `unsat` means that the claim holds. Without -o one
    claim goes to standard output.
    """
    del target, timeout  # there is one format, and nothing is decided
    loaded = load(case)
    claims = list(enumerate(sequence_claims(loaded.model), 1))
    if number is not None:
        if number > len(claims):
            raise InputError(f"there are {len(claims)} claims only")
        claims = claims[number - 1 : number]
    stem = Path(case).stem
    if output is None:
        if len(claims) != 1:
            raise InputError(f"there are {len(claims)} claims: choose one with --claim, or a folder with -o")
        text = _text(claims[0][1], stem)
        if as_json:
            print_json({"files": [{"claim": claims[0][0], "text": text}]})
        else:
            click.echo(text, nl=False)
        return 0
    output.mkdir(parents=True, exist_ok=True)
    files = []
    for k, claim in claims:
        path = output / f"{stem}-{k}.smt2"
        path.write_text(_text(claim, stem))
        files.append({"claim": k, "origin": str(claim.origins[0]), "file": str(path)})
    if as_json:
        print_json({"files": files})
    else:
        click.echo(f"{len(files)} files in {output}")
    return 0


def _text(claim: Claim, stem: str) -> str:
    from dataclasses import replace

    constant = claim.domain.constant
    enclosed = replace(claim, domain=claim.domain.enclose(BITS))
    lines = [f"{stem}: {claim.origins[0]}"]
    if constant:
        lines.append(
            f"E encloses exp({constant.exponent}): unsat proves the claim, sat refutes the enclosure only."
        )
    try:
        return script(enclosed, name="\n".join(lines))
    except LimitError as error:
        raise InputError(str(error)) from None
