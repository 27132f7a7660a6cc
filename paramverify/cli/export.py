"""`paramverify export CASE`: the claims of a case as files for another solver."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from paramverify.cli import _output
from paramverify.cli._collections import export_collection
from paramverify.cli._common import (
    CLAIMS,
    functions_as_cases,
    json_option,
    print_json,
    time_limit,
    timeout_option,
    write_text,
)
from paramverify.cli._exits import Exit
from paramverify.cli._settings import set_option, settings
from paramverify.errors import InputError
from paramverify.formats.smtlib_scripts import read_script
from paramverify.kernel.strict_reading import counted
from paramverify.portfolio.obligations import require_possible
from paramverify.privacy.cases import load
from paramverify.reports import exported_files, json_documents
from paramverify.reports.exported_files import FORMULAS, SUFFIXES, ExportedFile
from paramverify.scripts.benchmark_families import information
from paramverify.simplify.step_names import parse_steps

LISTED = (520, "Write the claims of a case as files for another solver.")

NAMES = re.compile(r"\s*\|[^|]*\||[^,\s][^,]*")  # with commas between them; a symbol in bars may have some
LICENSE = "https://creativecommons.org/licenses/by/4.0/"


@click.command("export")
@set_option
@click.argument(
    "cases", metavar="CASE", nargs=-1, required=True, type=click.Path(), callback=functions_as_cases
)
@click.option("--to", "target", type=click.Choice(list(SUFFIXES)), help="Write this format.")
@click.option(
    "--collection",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write benchmarks for SMT solvers to this folder, from all cases and folders, each "
    "with its status and a grade of difficulty.",
)
@click.option(
    "--license",
    "license_",
    metavar="TEXT",
    default=LICENSE,
    show_default=True,
    help="State this license in the benchmarks.",
)
@click.option(
    "--category",
    type=click.Choice(["industrial", "crafted", "random", "check"]),
    default="industrial",
    show_default=True,
    help="State this category in the benchmarks.",
)
@click.option(
    "--claim",
    "number",
    type=click.IntRange(min=1),
    help="Write only this claim of a case, or question of a script, counted from 1.",
)
@click.option("--together", is_flag=True, help="Write one file about all claims, instead of one for each.")
@click.option(
    "--free",
    metavar="NAMES",
    help="Leave these parameters free, comma-separated, so that the solver answers with a condition on them.",
)
@click.option(
    "-o", "--output", type=click.Path(file_okay=False, path_type=Path), help="Write the files to this folder."
)
@click.option(
    "--encoding",
    type=click.Choice([CLAIMS, *FORMULAS]),
    default=CLAIMS,
    show_default=True,
    help="Write claims, or one formula for SMT solvers about all sequences or all sets of outputs at once.",
)
@click.option(
    "--status",
    "stated",
    is_flag=True,
    help="Decide each claim first, and state its status, source, license and category in smtlib2 files.",
)
@click.option(
    "--simplify",
    "steps",
    metavar="STEPS",
    help="Write what these simplification steps leave of each claim, and what they replaced: 'default' "
    "for what "
    "backends get in `verify`, or names of steps.",
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
    """Write the claims of a case as files for another solver.

    \b
    Example:
      paramverify export case.toml --to smtlib2 -o claims

    For smtlib2, each file asks whether some prior violates a claim, so `unsat` means that the claim is true.
    For qepcad and redlog, each file asks whether the claim is true for every prior. Without -o, the command
    prints the file if there is only one.

    With --encoding monolithic, each file has the formula of the published Algorithm 1, which is about all
    sequences of one length, for one direction of a secret pair. With --encoding sums, which is for cases with
    a delta, each file is about all sets of outputs, for one direction and one length.

    With --simplify, each file is about one part that simplification leaves of a claim, and states in a
    comment what was replaced. A claim is true if all its parts are true. If a claim has no file,
    simplification has proved it already.

    CASE may also be an SMT-LIB script (.smt2). For qepcad and redlog, each file then asks whether a question
    of the script has no solution: `true` means unsat, `false` means sat.

    With --collection, the command makes a family of benchmarks from many cases, and --timeout is the limit
    for each case.
    """
    if collection is not None:
        others = (target, number, free, output, stated, settings())
        if any(others) or steps is not None or together or encoding != CLAIMS:
            raise click.UsageError(
                "--collection goes only with --license, --category, --timeout, --memory and --json: "
                "leave the other options out"
            )
        return export_collection(cases, collection, timeout, (license_, category), as_json)
    if target is None:
        raise click.UsageError("Missing option '--to'. Choose from: " + ", ".join(SUFFIXES))
    if stated and (target != "smtlib2" or together or encoding != CLAIMS):
        raise click.UsageError(
            "--status needs --to smtlib2 with one file per claim: leave --together and --encoding out"
        )
    if steps is not None and (together or free or stated or encoding != CLAIMS):
        raise click.UsageError(
            "--simplify writes one file per part: leave --together, --free, --status and --encoding out"
        )
    if len(cases) > 1:
        raise click.UsageError("several cases are given: name one, or add --collection DIR")
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
    parameters = list(dict.fromkeys(map(str.strip, NAMES.findall(free or ""))))
    whole = encoding != CLAIMS
    if together and number is not None:
        raise click.UsageError("--together and --claim exclude each other: leave one of them out")
    if parameters and target == "smtlib2":
        raise click.UsageError("--free needs a format with quantifiers: write --to qepcad or --to redlog")
    if whole and (together or target != "smtlib2"):
        raise click.UsageError(f"--encoding {encoding} needs --to smtlib2 without --together")
    stem = Path(case).stem
    condition: dict[str, str] = {}
    if Path(case).suffix == ".smt2":
        if together or words or steps is not None or whole or settings():
            raise click.UsageError(
                f"{case} is an SMT-LIB script, for which only --to, --claim, --free and -o work: "
                "leave the other options out"
            )
        files, what = exported_files.questions(read_script(Path(case)), target, parameters), "questions"
    else:
        loaded = load(case, settings=settings())
        model = loaded.model
        require_possible(model)
        condition = json_documents.side_condition(model)
        files = (
            exported_files.formulas(model, FORMULAS[encoding], number)
            if whole
            else exported_files.simplified(model, target, stem, number, parse_steps(steps))
            if steps is not None
            else exported_files.claims(model, target, parameters, stem, together=together)
        )
        if words:
            about, side = information(loaded.title, *words), exported_files.condition_of(model)
            stated = partial(exported_files.stated, stem=stem, about=about, condition=side)
            files = [replace(file, text=partial(stated, file.claim)) for file in files]
        what = "formulas" if whole else "claims"
    if number is not None and steps is None:
        if number > len(files):
            raise InputError(f"--claim {number}: there are only {len(files)} {what}")
        files = files[number - 1 : number]
    if output is None and len(files) != 1:
        others = "--claim N, --together or " if what == "claims" else "--claim N or "
        parts, add = ("parts of claims", "") if steps is not None else (what, others)
        raise InputError(f"there are {len(files)} {parts}, but only one can be printed: add {add}-o DIR")
    told = _write(files, stem, SUFFIXES[target], output, as_json)
    if as_json:
        print_json({"files": told} | condition)
    elif output is not None:
        click.echo(f"{counted(len(told), 'file')} in {output}")
    return Exit.HOLDS


def _write(
    files: Sequence[ExportedFile], stem: str, suffix: str, output: Path | None, as_json: bool
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
