"""`paramverify interactive CASE`: differential noninterference of an interactive system."""

from __future__ import annotations

from pathlib import Path

import click

from paramverify.cli import _output
from paramverify.cli._common import (
    OUTPUT_FILE,
    case_argument,
    json_option,
    print_json,
    progress_bar,
    say,
    session_option,
    session_options,
    time_limit,
    timeout_option,
    write_json,
    write_text,
)
from paramverify.cli._every import every_slots
from paramverify.cli._exits import STATUS_CODES, Exit
from paramverify.cli._settings import settings
from paramverify.interactive.cases import load
from paramverify.interactive.certificates import evidence_document
from paramverify.interactive.verification import verify
from paramverify.reports import interactive
from paramverify.reports.pictures.systems import dot

LISTED = (40, "Prove differential noninterference of an interactive system, or show how it leaks.")

WRITE = "Write the evidence to this file, for `paramverify check`."
POINTS = "Say what follows for inputs that differ in up to this many data points."
EVERY = "Prove a budget of slots for every number of slots and points, all data and all functions at once."
PICTURE = "Write a picture of the system in DOT to this file, and decide nothing."


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
    """Prove differential noninterference of an interactive system, or show how it leaks."""
    if every:
        if picture or points is not None:
            raise click.UsageError("--every is about all slots at once: it takes neither --dot nor --points")
        if settings():
            raise click.UsageError("--every is about all values at once: leave -D out")
        with time_limit(timeout):
            return every_slots(case, as_json, evidence)
    options = session_options(timeout, backends, strategy, confirm)
    with time_limit(timeout) as lift, progress_bar("states, families") as progress:

        def explored(done: int, total: int) -> None:
            document = {"stage": "states", "done": done, "total": total}
            _output.found([f"  {done:,} states were explored, and {total:,} were known."], document)
            progress(done, total)

        loaded = load(case, explored, settings=settings())
        if picture:
            if evidence:
                raise click.UsageError("--dot decides nothing, so there is no evidence to write")
            write_text(picture, dot(loaded.system))
            if as_json:
                print_json({"states": len(loaded.system.states), "picture": str(picture)})
            return Exit.HOLDS
        size = len(loaded.system.states)

        def told(what: str, done: int, total: int) -> None:
            tried = f"; {done} of {total} {what} were tried" if done else ""
            document = {"states": size, "stage": what, "done": done, "total": total}
            _output.found([f"  the system has {size:,} states{tried}."], document)
            progress(done, total)

        report = verify(loaded, options, told)
        if evidence:
            lift()
            document = evidence_document(loaded, report, options)
            write_json(evidence, document)
    if as_json:
        several = {} if points is None else {"points": interactive.several(loaded, report, points)}
        print_json(interactive.document(loaded, report) | several)
        return STATUS_CODES[report.status]
    for line in interactive.all_lines(loaded, report):
        say(line)
    if points is not None:
        say(f"  {interactive.several(loaded, report, points)['statement']}")
    return STATUS_CODES[report.status]
