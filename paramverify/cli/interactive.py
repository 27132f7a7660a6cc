"""`paramverify interactive FILE`: differential noninterference of an interactive system."""

from __future__ import annotations

from pathlib import Path

import click

from paramverify.cli._answers import Files, Typed, answered, printed
from paramverify.cli._common import (
    OUTPUT_FILE,
    case_argument,
    json_option,
    print_json,
    session_option,
    timeout_option,
    write_text,
)
from paramverify.cli._exits import Exit
from paramverify.cli._settings import settings
from paramverify.subjects.kinds import InteractiveSubject
from paramverify.subjects.questions import Show, Verify
from paramverify.subjects.results import ShowFacts

LISTED = (130, "Decide differential noninterference of an interactive system.")

WRITE = "Write the evidence to this file, for `paramverify check`."
POINTS = "Report what follows for inputs that differ in up to this many data points."
EVERY = "Prove a budget for every number of slots and points, all data and all functions at once."
PICTURE = "Write a graph of the system in DOT to this file, without deciding anything."


@click.command("interactive")
@case_argument
@json_option
@timeout_option
@session_option
@click.option("--evidence", "evidence", type=OUTPUT_FILE, help=WRITE)
@click.option("--points", type=click.IntRange(0, 1_000), help=POINTS)
@click.option("--every", "every", is_flag=True, help=EVERY)
@click.option("--dot", "picture", type=OUTPUT_FILE, help=PICTURE)
def command(
    case: str,
    as_json: bool,
    timeout: float,
    backends: str | None,
    strategy: str | None,
    confirm: int,
    evidence: Path | None,
    points: int | None,
    every: bool,
    picture: Path | None,
) -> int:
    """Decide differential noninterference of an interactive system.

    \b
    Example:
      paramverify interactive system.toml --evidence proof.json

    The answer is a proof, or two inputs and an observation that violate the bound.

    Exit codes: 0 if the system is private, 1 if it is not private, 3 if that is undecided.
    """
    typed = Typed(as_json, timeout, backends, strategy, confirm)
    if every and (picture or points is not None):
        raise click.UsageError(
            "--every covers every number of slots and points: leave --dot and --points out"
        )
    if every and settings():
        raise click.UsageError("--every covers all values: leave -D out")
    if picture:
        if evidence:
            raise click.UsageError("--dot decides nothing, so there is no evidence: leave --evidence out")
        result = answered(case, Show(graph=True), typed, subject=InteractiveSubject())
        write_text(picture, result.of(ShowFacts).text or "")
        if as_json:
            print_json({"states": len(result.found.system.states), "picture": str(picture)})
        return Exit.HOLDS
    question = Verify(evidence=evidence is not None, points=points, every=every)
    return printed(answered(case, question, typed, Files(evidence), subject=InteractiveSubject()), as_json)
