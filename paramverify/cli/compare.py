"""`paramverify compare CASES...`: every backend, with and without simplification, on every claim."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import ceil
from pathlib import Path
from typing import Any

import click

from paramverify.cli import _output
from paramverify.cli._cluster import cluster_option, executor
from paramverify.cli._common import (
    SECONDS,
    json_option,
    memory_limit,
    memory_option,
    print_json,
    say,
    time_limit,
    write_text,
)
from paramverify.cli._exits import Exit
from paramverify.cli._settings import set_option, settings
from paramverify.comparison.comparing import Comparison
from paramverify.comparison.comparison_results import ResultsFile
from paramverify.comparison.comparison_runs import Advance, CompareOptions, run
from paramverify.comparison.comparison_summary import ComparisonSummary
from paramverify.encodings import sequences, sets
from paramverify.encodings.choice import names as encodings_known
from paramverify.kernel.strict_reading import counted
from paramverify.processes.attempts import split_names
from paramverify.reports import comparison_reports
from paramverify.reports.comparison_files import RESULTS, document_of, write_files

LISTED = (510, "Compare backends and encodings on many cases.")


@click.command("compare")
@click.argument("cases", metavar="CASES...", nargs=-1, required=True, type=click.Path())
@click.option(
    "--backends",
    metavar="NAMES",
    help="Run these backends, comma-separated; by default all that are installed.",
)
@click.option(
    "--encodings",
    metavar="NAMES",
    help=f"Derive claims by these encodings, comma-separated, of: {', '.join(encodings_known())}. By default "
    f"{sequences.ENCODING.name}, or {sets.ENCODING.name} for a case with a delta, which list every "
    "comparison.",
)
@click.option(
    "--timeout",
    type=SECONDS,
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="Stop each attempt, and the reading of each file, after this many seconds of wall-clock time.",
)
@memory_option
@cluster_option
@set_option
@click.option(
    "--repeat", type=click.IntRange(min=1), default=1, metavar="N", help="Make each attempt N times."
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1, max=256),
    default=1,
    metavar="N",
    help="Run N attempts in parallel; their times are then measured on a busy machine.",
)
@click.option(
    "--raw",
    is_flag=True,
    help="Pass claims to solvers unsimplified only, so that every claim counts in the scores.",
)
@click.option(
    "--results",
    "others",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    multiple=True,
    help="Add results of other tools from this CSV file with columns case, tool, status, wall, cpu; "
    "repeatable.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("comparison"),
    show_default=True,
    help="Write results, summary and plots to this folder.",
)
@json_option
def command(
    cases: tuple[str, ...],
    backends: str | None,
    encodings: str | None,
    timeout: float,
    repeat: int,
    jobs: int,
    raw: bool,
    others: tuple[Path, ...],
    output: Path,
    as_json: bool,
) -> int:
    """Compare backends and encodings on many cases.

    \b
    Example:
      paramverify compare case.toml --backends z3,cvc5 -o comparison

    CASES are case files, SMT-LIB scripts (.smt2) about reals, and folders with both. Every backend tries
    every claim, with and without simplification. The command saves each result in results.jsonl at once; if
    you run it again, it makes only the attempts that have no result there. After Ctrl-C, the tables cover the
    claims for which every attempt was made.

    Exit codes: 0 done, 1 a disagreement or a wrong answer, 2 bad input or usage, 130 interrupted.
    """
    work = executor()
    choice = CompareOptions(
        _names(backends, "--backends"),
        timeout,
        memory_limit(),
        repeat,
        beside=not work.is_here,
        jobs=jobs,
        raw=raw,
    )
    asked = Comparison.of(
        cases,
        choice,
        _names(encodings, "--encodings"),
        others,
        lambda path: _reading(path, timeout),
        settings(),
    )
    _output.lift()
    with ResultsFile(output / RESULTS) as results:
        if before := asked.done(results):
            click.echo(f"{before} of {len(asked.attempts)} attempts have results in {results.path}", err=True)
        if left := len(asked.attempts) - before:
            minutes = ceil(left * timeout / (jobs if work.is_here else work.width) / 60)
            click.echo(f"{counted(left, 'attempt')} to make, which takes at most {minutes:,} min", err=True)
        try:
            with _progress() as shown:

                def progress(made: Advance) -> None:
                    _output.found(*_so_far(made, results.path))
                    shown(made)

                records = run(asked.attempts, asked.choice, results, progress, work)
        except KeyboardInterrupt:
            click.echo(
                f"interrupted: {asked.done(results)} of {len(asked.attempts)} results are saved in "
                f"{results.path}; run the same command again to continue",
                err=True,
            )
            if made := asked.so_far(results):
                _tell(made, output, as_json)
            else:
                click.echo(
                    "Nothing to compare yet: for each claim, some attempts have not been made.", err=True
                )
            return Exit.INTERRUPTED
    return _tell(asked.summary(records), output, as_json)


def _tell(made: ComparisonSummary, output: Path, as_json: bool) -> int:
    """Writes the files of a comparison and prints what it says; returns the exit code."""
    if not as_json:  # before the plots, which take some seconds
        for line in [*comparison_reports.lines(document_of(made)), *comparison_reports.claim_lines(made), ""]:
            say(line)
    document, notes = write_files(made, output, write_text)
    alarm = comparison_reports.alarm(made.judgement)
    if as_json:
        print_json(document)
    else:
        for line in notes:
            say(line)
    for line in alarm:
        click.secho(line, fg="red", bold=True, err=True)
    return Exit.VIOLATED if made.judgement.alarming else Exit.HOLDS


def _names(text: str | None, option: str) -> tuple[str, ...]:
    if text is None:
        return ()
    names = tuple(dict.fromkeys(split_names(text)))
    if not names:
        raise click.UsageError(f"{option} names nothing: give at least one name")
    return names


@contextmanager
def _reading(path: Path, seconds: float) -> Iterator[None]:
    """Gives a file the time of one attempt to be read, and its claims to be derived."""
    _output.limit_step(seconds)
    _output.found([f"  The command was reading {path} when it ended."], {"reading": str(path)})
    with time_limit(seconds, seconds):
        yield


def _so_far(made: Advance, path: Path) -> tuple[list[str], dict[str, Any]]:
    kept = f"{made.done} of {made.total} results are saved in {path}"
    document = {"done": made.done, "total": made.total, "kept_in": str(path)}
    return [f"  {kept}; run the same command again to continue"], document


EVERY = 60.0  # seconds between lines of progress, if standard error is not a terminal


def _lines_of_progress() -> Callable[[Advance], None]:
    """Returns a function that prints a line of progress on standard error from time to time."""
    last = time.monotonic()

    def show(made: Advance) -> None:
        nonlocal last
        if time.monotonic() - last >= EVERY and made.done < made.total:
            last = time.monotonic()
            left = "" if made.seconds_left is None else f", {duration(made.seconds_left)} left"
            click.echo(f"{made.done} of {made.total} attempts made{left}", err=True)

    return show


@contextmanager
def _progress() -> Iterator[Callable[[Advance], None]]:
    """Gives a function that shows progress on standard error: a bar on a terminal, and else some lines."""
    if not sys.stderr.isatty():
        yield _lines_of_progress()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
        TextColumn("{task.description}"),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, left="")

        def show(progress: Advance) -> None:
            left = "" if progress.seconds_left is None else f"{duration(progress.seconds_left)} left"
            bar.update(
                task, completed=progress.done, total=progress.total, description=progress.now, left=left
            )

        yield show


def duration(seconds: float) -> str:
    """Returns a time in words: `≈ 40 s`, `≈ 12 min`, `≈ 3.5 h`."""
    if seconds < 90:
        return f"≈ {ceil(seconds)} s"
    if seconds < 5400:
        return f"≈ {seconds / 60:.0f} min"
    return f"≈ {seconds / 3600:.1f} h"
