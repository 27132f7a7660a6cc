"""`verify FILE.dipa`: an automaton over streams, for some multiple of epsilon and streams of every length."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from paramverify.answers import Standing
from paramverify.automata.reading import MAX_BYTES, read_automaton
from paramverify.automata.verification import verify
from paramverify.cli._common import print_json, say, time_limit, write_json
from paramverify.cli._exits import STATUS_CODES, Exit
from paramverify.cli._settings import settings
from paramverify.errors import located
from paramverify.files import read_file
from paramverify.reports import automata
from paramverify.reports.pictures.automata import dot

SUFFIX = ".dipa"
WHY = {
    "budgets": "its verdict tells the multiple of epsilon",
    "encoding": "it has no formula for Z3",
    "cluster": "it is decided here",
    "backends": "no solver is asked",
    "strategy": "no solver is asked",
    "confirm": "no solver is asked",
}


def verify_automaton(path: str, timeout: float, as_json: bool, evidence: Path | None, **others: Any) -> int:
    """Decides an automaton, prints the verdict, writes the evidence if asked, and returns the exit code."""
    for name in (name for name, given in others.items() if given):
        raise click.UsageError(
            f"{path} is an automaton: leave --{name} out, {WHY.get(name, 'it is for cases')}"
        )
    _no_settings(path)
    with time_limit(timeout) as lift, located(file=path):
        content = read_file(Path(path), MAX_BYTES, "an automaton")
        report = verify(read_automaton(Path(path)))
        if evidence and report.standing is not Standing.UNKNOWN:
            lift()
            write_json(evidence, automata.evidence_document(report, Path(path), content), indent=1)
    if as_json:
        print_json(automata.document(report))
    else:
        for line in automata.lines(report):
            say(line)
    if evidence and report.standing is Standing.UNKNOWN:
        click.echo("no evidence was written: there is none for an automaton that is undecided", err=True)
    return STATUS_CODES[report.standing]


def show_automaton(path: str, graph: bool, as_json: bool) -> int:
    """Prints the automaton as a graph, with the ways that leak if it is private for no multiple."""
    if not graph:
        raise click.UsageError(f"{path} is an automaton, which is shown as a graph only: give --graph")
    _no_settings(path)
    automaton = read_automaton(Path(path))
    with located(file=path):
        text = dot(automaton, verify(automaton).family)
    if as_json:
        print_json({"graph": text})
    else:
        click.echo(text, nl=False)
    return Exit.HOLDS


def _no_settings(path: str) -> None:
    if settings():
        raise click.UsageError(f"{path} is an automaton, and has no definitions for -D")
