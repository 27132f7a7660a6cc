"""`paramverify export CASE`: the claims of a case as files for another solver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import click

from paramverify.claims import Claim
from paramverify.cli import _output
from paramverify.cli._common import (
    CLAIMS,
    case_argument,
    json_option,
    print_json,
    whole_timeout_option,
    write_text,
)
from paramverify.cli._exits import Exit
from paramverify.cli._settings import settings
from paramverify.encodings import monolithic, sums
from paramverify.encodings.choice import listed_claims
from paramverify.encodings.encoding import Encoding, Written
from paramverify.errors import InputError, LimitError
from paramverify.formats import qepcad, redlog
from paramverify.formats.conditions import question
from paramverify.formats.smtlib import script
from paramverify.models.kinds import AnyModel
from paramverify.portfolio.obligations import require_possible
from paramverify.privacy.cases import load
from paramverify.reports import documents

LISTED = (110, "Write the claims of a case for another solver.")

BITS = 64  # precision of the rational enclosure of exp(q)
FORMULAS = {encoding.name: encoding for encoding in (monolithic.ENCODING, sums.ENCODING)}
SUFFIXES = {"smtlib2": "smt2", "qepcad": "qepcad", "redlog": "red"}


@dataclass(frozen=True)
class _File:
    """A file to be written: what is told of it, its number (None for the only one), and its text."""

    entry: dict[str, Any]
    number: int | None
    text: Callable[[], str]


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
@click.option(
    "--encoding",
    type=click.Choice([CLAIMS, *FORMULAS]),
    default=CLAIMS,
    show_default=True,
    help="Claims, or formulas for SMT solvers about all sequences, or all sets of outputs, at once.",
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
    encoding: str,
    as_json: bool,
) -> int:
    """Write the claims of a case for another solver.

    For smtlib2 each file says that some prior violates the claim: `unsat` means that it holds. For qepcad and
    redlog it asks whether the claim holds for every prior. Without -o one file goes to standard output.

    With --encoding monolithic each file is about all sequences of one length, for one direction of a secret
    pair: the formula of the published Algorithm 1. With --encoding sums it is about all sets of outputs of a
    case with a delta, for one direction and one length.
    """
    parameters = [name.strip() for name in (free or "").split(",") if name.strip()]
    whole = encoding != CLAIMS
    if together and number is not None:
        raise click.UsageError("--together and --claim exclude each other")
    if parameters and target == "smtlib2":
        raise click.UsageError("--free needs a format with quantifiers: qepcad or redlog")
    if whole and (together or target != "smtlib2"):
        raise click.UsageError(f"--encoding {encoding} needs --to smtlib2, and writes one formula to a file")
    model = load(case, settings=settings()).model
    require_possible(model)
    stem = Path(case).stem
    files = (
        _formulas(model, FORMULAS[encoding], number)
        if whole
        else _claims(model, target, parameters, stem, together=together)
    )
    what = "formulas" if whole else "claims"
    if number is not None:
        if number > len(files):
            raise InputError(f"there are {len(files)} {what} only")
        files = files[number - 1 : number]
    if output is None and len(files) != 1:
        others = "--claim or" if whole else "--claim, --together, or"
        raise InputError(f"there are {len(files)} {what}: choose one with {others} a folder with -o")
    told = _write(files, stem, SUFFIXES[target], output, as_json)
    if as_json:
        print_json({"files": told} | documents.side_condition(model))
    elif output is not None:
        click.echo(f"{len(told)} files in {output}")
    return Exit.HOLDS


def _write(
    files: Sequence[_File], stem: str, suffix: str, output: Path | None, as_json: bool
) -> list[dict[str, Any]]:
    """Writes the files to the folder or to standard output; returns what is told of each."""
    told: list[dict[str, Any]] = []
    for file in files:
        text = file.text()
        if output is None:
            told.append({**file.entry, "text": text})
            if not as_json:
                click.echo(text, nl=False)
            continue
        output.mkdir(parents=True, exist_ok=True)
        path = output / f"{stem if file.number is None else f'{stem}-{file.number}'}.{suffix}"
        write_text(path, text)
        told.append({**file.entry, "file": str(path)})
        _output.add("files", told[-1], f"written: {path}")
    return told


def _formulas(model: AnyModel, encoding: Encoding, most: int | None) -> list[_File]:
    scripts = encoding.scripts
    assert scripts is not None
    return [
        _File({"formula": k, "origin": written.origin}, k, partial(_formula_text, model, written))
        for k, written in enumerate(islice(scripts(model), most), 1)
    ]


def _formula_text(model: AnyModel, written: Written) -> str:
    condition = documents.side_condition(model).get("side_condition")
    return (f"; {condition}\n" if condition else "") + written.script


def _claims(model: AnyModel, target: str, free: Sequence[str], stem: str, *, together: bool) -> list[_File]:
    claims = listed_claims(model)
    condition = documents.side_condition(model).get("side_condition", "")
    groups: list[tuple[int | None, list[Claim]]] = [(k, [claim]) for k, claim in enumerate(claims, 1)]
    if together and claims:
        groups = [(None, list(claims))]
    return [
        _File(
            {"claims": len(group)} if k is None else {"claim": k, "origin": _origin(group[0])},
            k,
            partial(_text, group, target, free=free, stem=stem, condition=condition),
        )
        for k, group in groups
    ]


def _origin(claim: Claim) -> str:
    return str(claim.origins[0]) if claim.origins else "the model"


def _text(claims: Sequence[Claim], target: str, free: Sequence[str], stem: str, condition: str) -> str:
    """Returns the file about these claims, at least one, which share their domain."""
    domain = claims[0].domain.enclose(BITS)
    enclosed = [replace(claim, domain=domain) for claim in claims]
    lines = [f"{stem}: {_origin(claims[0])}" if len(claims) == 1 else f"{stem}: all {len(claims)} claims"]
    if condition:
        lines.append(condition)
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
