"""`paramverify export CASE`: the claims of a case as files for another solver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from paramverify.claims import Claim
from paramverify.cli import _output
from paramverify.cli._common import case_argument, json_option, print_json, whole_timeout_option, write_text
from paramverify.cli._exits import Exit
from paramverify.encodings.choice import listed_claims
from paramverify.errors import InputError, LimitError
from paramverify.formats import qepcad, redlog
from paramverify.formats.conditions import question
from paramverify.formats.smtlib import script
from paramverify.portfolio.obligations import require_possible
from paramverify.privacy.cases import load

BITS = 64  # precision of the rational enclosure of exp(q)
SUFFIXES = {"smtlib2": "smt2", "qepcad": "qepcad", "redlog": "red"}


@click.command("export")
@case_argument
@click.option("--to", "target", type=click.Choice(list(SUFFIXES)), required=True, help="The format.")
@click.option("--claim", "number", type=click.IntRange(min=1), help="Only this claim, counted from 1.")
@click.option("--together", is_flag=True, help="One file about all claims, instead of one for each.")
@click.option(
    "--free",
    metavar="NAMES",
    help="Comma-separated parameters that are left free: the answer is a condition on them.",
)
@click.option(
    "-o", "--output", type=click.Path(file_okay=False, path_type=Path), help="Folder for the files."
)
@json_option
@whole_timeout_option
def command(
    case: str,
    target: str,
    number: int | None,
    together: bool,
    free: str | None,
    output: Path | None,
    as_json: bool,
) -> int:
    """Write the claims of a case for another solver.

    For smtlib2 each file says that some prior violates the claim: `unsat` means that it holds. For qepcad and
    redlog it asks whether the claim holds for every prior. Without -o one file goes to standard output.
    """
    model = load(case).model
    require_possible(model)
    claims = list(listed_claims(model))
    if together and number is not None:
        raise click.UsageError("--together and --claim exclude each other")
    if number is not None and number > len(claims):
        raise InputError(f"there are {len(claims)} claims only")
    parameters = [name.strip() for name in (free or "").split(",") if name.strip()]
    if parameters and target == "smtlib2":
        raise click.UsageError("--free needs a format with quantifiers: qepcad or redlog")
    stem = Path(case).stem
    groups: list[tuple[int | None, list[Claim]]] = [(k, [claim]) for k, claim in enumerate(claims, 1)]
    if together and claims:
        groups = [(None, claims)]
    elif number is not None:
        groups = groups[number - 1 : number]
    if output is None and len(groups) != 1:
        raise InputError(
            f"there are {len(groups)} claims: choose one with --claim, --together, or a folder with -o"
        )
    files = []
    for k, group in groups:
        entry = {"claims": len(group)} if k is None else {"claim": k, "origin": _origin(group[0])}
        text = _text(group, target, parameters, stem)
        if output is None:
            files.append({**entry, "text": text})
            if not as_json:
                click.echo(text, nl=False)
            continue
        output.mkdir(parents=True, exist_ok=True)
        path = output / f"{stem if k is None else f'{stem}-{k}'}.{SUFFIXES[target]}"
        write_text(path, text)
        files.append({**entry, "file": str(path)})
        _output.add("files", files[-1], f"written: {path}")
    if as_json:
        print_json({"files": files})
    elif output is not None:
        click.echo(f"{len(files)} files in {output}")
    return Exit.HOLDS


def _origin(claim: Claim) -> str:
    return str(claim.origins[0]) if claim.origins else "the model"


def _text(claims: Sequence[Claim], target: str, free: Sequence[str], stem: str) -> str:
    """Returns the file about these claims, at least one, which share their domain."""
    domain = claims[0].domain.enclose(BITS)
    enclosed = [replace(claim, domain=domain) for claim in claims]
    lines = [f"{stem}: {_origin(claims[0])}" if len(claims) == 1 else f"{stem}: all {len(claims)} claims"]
    if domain.constant:
        yes, no = ("unsat", "sat") if target == "smtlib2" else ("true", "false")
        lines.append(
            f"E encloses exp({domain.constant.exponent}): {yes} is a proof, {no} refutes the enclosure only."
        )
    if any(claim.domain is not claims[0].domain for claim in claims):
        raise InputError("--together needs claims about one domain, and a claim with < or > has its own")
    title = "\n".join(lines)
    try:
        if target == "smtlib2":
            return script(enclosed[0], name=title, others=enclosed[1:])
        asked = question([claim.polynomial for claim in enclosed], domain, free)
        return qepcad.script(asked, title) if target == "qepcad" else redlog.script(asked, title)
    except LimitError as error:
        raise InputError(str(error)) from None
