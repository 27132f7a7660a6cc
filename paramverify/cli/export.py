"""`paramverify export CASE`: the claims of a case as files for another solver."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import click

from paramverify.claims import Claim
from paramverify.cli import _output
from paramverify.cli._collections import export_collection
from paramverify.cli._common import (
    CLAIMS,
    json_option,
    print_json,
    time_limit,
    timeout_option,
    write_text,
)
from paramverify.cli._exits import Exit
from paramverify.cli._settings import set_option, settings
from paramverify.encodings import monolithic, sums
from paramverify.encodings.choice import listed_claims
from paramverify.encodings.encoding import Encoding, WrittenScript
from paramverify.errors import InputError, LimitError
from paramverify.formats import elimination_scripts
from paramverify.formats.quantified_questions import question
from paramverify.formats.smtlib import script
from paramverify.models.model import AnyModel
from paramverify.portfolio.obligations import require_possible
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import load
from paramverify.reports import json_documents
from paramverify.scripts.benchmark_families import information, known_of, plain
from paramverify.simplify.chain import simplify
from paramverify.simplify.step_names import parse_steps

LISTED = (110, "Write the claims of a case for another solver.")

BITS = 64  # precision of the rational enclosure of exp(q)
STATED = 10.0  # seconds for each claim whose status is to be stated
FORMULAS = {encoding.name: encoding for encoding in (monolithic.ENCODING, sums.ENCODING)}
LICENSE = "https://creativecommons.org/licenses/by/4.0/"
SUFFIXES = {"smtlib2": "smt2", "qepcad": "qepcad", "redlog": "red"}


@dataclass(frozen=True)
class _File:
    """A file to be written: what is told of it, its number (None for the only one), and its text."""

    entry: dict[str, Any]
    number: int | None
    text: Callable[[], str]
    claim: Claim | None = None


@click.command("export")
@set_option
@click.argument("cases", metavar="CASE", nargs=-1, required=True, type=click.Path())
@click.option("--to", "target", type=click.Choice(list(SUFFIXES)), help="The format.")
@click.option(
    "--collection",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write benchmarks for SMT solvers of all these cases and folders: named, graded, with known status.",
)
@click.option(
    "--license",
    "license_",
    metavar="TEXT",
    default=LICENSE,
    show_default=True,
    help="What the benchmarks say of their license.",
)
@click.option(
    "--category",
    type=click.Choice(["industrial", "crafted", "random", "check"]),
    default="industrial",
    show_default=True,
    help="What the benchmarks say of their category.",
)
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
@click.option(
    "--status",
    "stated",
    is_flag=True,
    help="Decide each claim first; smtlib2 files then state their status, source, license and category.",
)
@click.option(
    "--simplify",
    "steps",
    metavar="STEPS",
    help="Write what simplification leaves of each claim, with what it replaced: 'default' for what solvers "
    "are asked, or names of steps.",
)
@json_option
@timeout_option
def command(
    cases: tuple[str, ...],
    target: str | None,
    collection: Path | None,
    license_: str,
    category: str,
    number: int | None,
    together: bool,
    free: str | None,
    output: Path | None,
    encoding: str,
    stated: bool,
    steps: str | None,
    as_json: bool,
    timeout: float,
) -> int:
    """Write the claims of a case for another solver.

    For smtlib2 each file says that some prior violates the claim: `unsat` means that it holds. For qepcad and
    redlog it asks whether the claim holds for every prior. Without -o one file goes to standard output.

    With --encoding monolithic each file is about all sequences of one length, for one direction of a secret
    pair: the formula of the published Algorithm 1. With --encoding sums it is about all sets of outputs of a
    case with a delta, for one direction and one length.

    With --simplify each file is about a part that simplification leaves of a claim, and says in a comment
    what was replaced. A claim holds if all its parts do; one without a file holds already.

    With --collection many cases become a family of benchmarks. --timeout is then that of each case.
    """
    if collection is not None:
        others = (target, number, free, output, stated, settings())
        if any(others) or steps is not None or together or encoding != CLAIMS:
            raise click.UsageError("--collection takes cases, --license, --category and --timeout alone")
        return export_collection(cases, collection, timeout, (license_, category), as_json)
    if target is None:
        raise click.UsageError("Missing option '--to'. Choose from: " + ", ".join(SUFFIXES))
    if stated and (target != "smtlib2" or together or encoding != CLAIMS):
        raise click.UsageError("--status is for claims, one by one, and --to smtlib2")
    if steps is not None and (together or free or stated or encoding != CLAIMS):
        raise click.UsageError("--simplify is for claims, one by one, without --free and --status")
    if len(cases) > 1:
        raise click.UsageError("several cases need --collection DIR")
    with time_limit(timeout):
        return _export(
            cases[0],
            target,
            number=number,
            together=together,
            free=free,
            output=output,
            encoding=encoding,
            words=(license_, category) if stated else None,
            steps=steps,
            as_json=as_json,
        )


def _export(
    case: str,
    target: str,
    *,
    number: int | None,
    together: bool,
    free: str | None,
    output: Path | None,
    encoding: str,
    words: tuple[str, str] | None,
    steps: str | None,
    as_json: bool,
) -> int:
    """Writes the claims of one case; `words` are license and category where the status is to be stated."""
    parameters = [name.strip() for name in (free or "").split(",") if name.strip()]
    whole = encoding != CLAIMS
    if together and number is not None:
        raise click.UsageError("--together and --claim exclude each other")
    if parameters and target == "smtlib2":
        raise click.UsageError("--free needs a format with quantifiers: qepcad or redlog")
    if whole and (together or target != "smtlib2"):
        raise click.UsageError(f"--encoding {encoding} needs --to smtlib2, and writes one formula to a file")
    loaded = load(case, settings=settings())
    model = loaded.model
    require_possible(model)
    stem = Path(case).stem
    files = (
        _formulas(model, FORMULAS[encoding], number)
        if whole
        else _simplified(model, target, stem, number, parse_steps(steps))
        if steps is not None
        else _claims(model, target, parameters, stem, together=together)
    )
    if words:
        about = information(loaded.title, *words)
        condition = json_documents.side_condition(model).get("side_condition", "")
        files = [replace(file, text=partial(_stated, file.claim, stem, about, condition)) for file in files]
    what = "formulas" if whole else "claims"
    if number is not None and steps is None:
        if number > len(files):
            raise InputError(f"there are {len(files)} {what} only")
        files = files[number - 1 : number]
    if output is None and len(files) != 1:
        others = "--claim or" if whole else "--claim, --together, or"
        choose = "name" if steps is not None else f"choose one with {others}"
        parts = "parts of claims" if steps is not None else what
        raise InputError(f"there are {len(files)} {parts}: {choose} a folder with -o")
    told = _write(files, stem, SUFFIXES[target], output, as_json)
    if as_json:
        print_json({"files": told} | json_documents.side_condition(model))
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


def _formula_text(model: AnyModel, written: WrittenScript) -> str:
    condition = json_documents.side_condition(model).get("side_condition")
    return (f"; {condition}\n" if condition else "") + written.script


def _claims(model: AnyModel, target: str, free: Sequence[str], stem: str, *, together: bool) -> list[_File]:
    claims = listed_claims(model)
    condition = json_documents.side_condition(model).get("side_condition", "")
    groups: list[tuple[int | None, list[Claim]]] = [(k, [claim]) for k, claim in enumerate(claims, 1)]
    if together and claims:
        groups = [(None, list(claims))]
    return [
        _File(
            {"claims": len(group)} if k is None else {"claim": k, "origin": _origin(group[0])},
            k,
            partial(_text, group, target, free=free, stem=stem, condition=condition),
            group[0],
        )
        for k, group in groups
    ]


def _simplified(
    model: AnyModel, target: str, stem: str, number: int | None, steps: Sequence[str] | None
) -> list[_File]:
    """Returns a file for each part that simplification leaves of each claim, or of one of them.

    Raises:
        InputError: there is no such claim, or nothing is left.
    """
    claims = listed_claims(model)
    if number is not None and number > len(claims):
        raise InputError(f"there are {len(claims)} claims only")
    condition = json_documents.side_condition(model).get("side_condition", "")
    files: list[_File] = []
    for k, claim in enumerate(claims, 1):
        # Steps move parameters one by one, which is wrong for those that are tied to each other.
        possible = () if claim.domain.ring.tied else steps
        found = simplify(claim, possible) if number in (None, k) else None
        leaves = found.leaves() if found else []
        only = ", and only then" if found and found.exact else ""
        for j, leaf in enumerate(leaves, 1):
            told = [
                f"part {j} of {len(leaves)} of claim {k}, which holds if all its parts hold{only}",
                *([f"replaced, the last one first: {leaf.told}"] if leaf.notes else []),
                *([condition] if condition else []),
            ]
            entry = {"claim": k, "part": j, "origin": _origin(claim), "replaced": leaf.told}
            about = _retold(replace(leaf.claim, origins=claim.origins))
            write = partial(_text, [about], target, free=(), stem=stem, condition="\n".join(told))
            files.append(_File(entry, len(files) + 1, write, about))
    if not files:
        raise InputError("simplification decides every claim: nothing is left to write")
    return files


def _retold(claim: Claim) -> Claim:
    """Returns a claim whose constraints are told as they are now, and not as somebody wrote them before."""
    told = (
        replace(c, text=f"{c.polynomial} {'>' if c.strict else '>='} 0") for c in claim.domain.constraints
    )
    return replace(claim, domain=replace(claim.domain, constraints=tuple(told)))


def _origin(claim: Claim) -> str:
    return str(claim.origins[0]) if claim.origins else "the model"


def _stated(claim: Claim | None, stem: str, about: Mapping[str, str], condition: str) -> str:
    """Returns the script about a claim, which is decided first."""
    assert claim is not None
    written = plain(claim)
    with Session(Options(seconds=STATED)) as session:
        status = known_of(written, session).status
    return script(written, status, name=f"{stem}: {_origin(claim)}\n{condition}", information=about)


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
        return (
            elimination_scripts.qepcad_script(asked, title)
            if target == "qepcad"
            else elimination_scripts.redlog_script(asked, title)
        )
    except LimitError as error:
        raise InputError(str(error)) from None
