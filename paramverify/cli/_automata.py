"""`verify`, `budget` and `show` of FILE.dipa: an automaton over streams, for every epsilon and length."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from paramverify.answers import Standing
from paramverify.automata.cases import load
from paramverify.automata.chances import Loss, largest
from paramverify.automata.evidence import lengths as lengths_evidence
from paramverify.automata.examples import WIDTH, Looked, find_example
from paramverify.automata.lengths import by_length
from paramverify.automata.reading import MAX_BYTES, read_automaton
from paramverify.automata.stream_verdicts import StreamVerdict, decide
from paramverify.automata.verification import Report, verify
from paramverify.cli import _output
from paramverify.cli._budgets import WORST, split
from paramverify.cli._common import print_json, say, time_limit, write_json
from paramverify.cli._exits import STATUS_CODES, Exit
from paramverify.cli._numbers import number, positive
from paramverify.cli._settings import settings
from paramverify.errors import InputError, TimeLimitError, located
from paramverify.files import read_file
from paramverify.portfolio.session import Options
from paramverify.reports import automata, automaton_budgets, streams
from paramverify.reports.automaton_budgets import Budgets
from paramverify.reports.pictures.automata import dot

ENDING = ".dipa"
MOST_INPUTS = 1000
FOR_SEARCH = 0.8  # of the time limit; the rest is for what is printed
WHY = {
    "encoding": "it has no formula for Z3",
    "cluster": "it is decided here",
    "backends": "no solver is asked",
    "strategy": "no solver is asked",
    "confirm": "no solver is asked",
}


def verify_automaton(path: str, options: Options, as_json: bool, evidence: Path | None, **others: Any) -> int:
    """Decides an automaton, prints the verdict, writes the evidence if asked, and returns the exit code."""
    budgets = others.pop("budgets")
    for name in (name for name, given in others.items() if given):
        raise click.UsageError(
            f"{path} is an automaton: leave --{name} out, {WHY.get(name, 'it is for cases')}"
        )
    if evidence and budgets:
        raise click.UsageError("--evidence is for all multiples: leave --budgets out")
    _no_settings(path)
    with time_limit(options.limit or options.seconds) as lift, located(file=path):
        until = time.monotonic() + options.seconds
        content = read_file(Path(path), MAX_BYTES, "an automaton")
        report = verify(read_automaton(Path(path)))
        if budgets is not None:
            return _multiples(report, budgets, replace(options, seconds=until - time.monotonic()), as_json)
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


def verify_stream(path: str, options: Options, as_json: bool, evidence: Path | None, **others: Any) -> int:
    """Decides a case about streams, prints the verdict, writes the evidence, and returns the exit code."""
    for name in (name for name, given in others.items() if given):
        reason = WHY.get(name, "the case has its own budget")
        raise click.UsageError(f"{path} is about streams: leave --{name} out, {reason}")
    _no_settings(path)
    known: list[StreamVerdict] = []
    written: list[dict[str, Any]] = []

    def write(verdict: StreamVerdict) -> None:
        document = streams.evidence_document(verdict) if evidence else None
        if evidence and document is not None and document not in written:
            write_json(evidence, document, indent=1)
            written.append(document)

    def violated(verdict: StreamVerdict) -> None:
        """Keeps a violation before an example is looked for."""
        known[:] = [verdict]
        _output.violated()
        _output.found(streams.lines(verdict), streams.document(verdict))
        write(verdict)

    with located(file=path):
        try:
            with time_limit(options.limit or options.seconds) as lift:
                verdict = decide(load(Path(path)), options, violated)
                lift()
        except TimeLimitError:
            if not known:
                raise
            verdict = known[0]  # only an example is missing
        write(verdict)
    if as_json:
        print_json(streams.document(verdict))
    for line in () if as_json else streams.lines(verdict):
        say(line)
    if evidence and not written:
        click.echo("no evidence was written: there is none for this verdict", err=True)
    return STATUS_CODES[verdict.standing]


def _multiples(report: Report, budgets: str, options: Options, as_json: bool) -> int:
    """Says for each of several multiples of epsilon whether it is enough; the exit code is the worst one."""
    until = time.monotonic() + options.seconds
    standings: list[Standing] = []
    listed: list[dict[str, Any]] = []
    told: list[str] = []
    for multiple in map(_multiple, split(budgets)):
        standing, looked = report.standing_of(multiple), Looked()
        if standing is Standing.VIOLATED:
            _output.violated()
            looked = find_example(report, multiple, replace(options, seconds=until - time.monotonic()))
        standings.append(standing)
        listed.append(automata.multiple_document(report, multiple, looked.example))
        lines = automata.multiple_lines(report, multiple, looked)
        told += lines
        _output.add("budgets", listed[-1], f"  {lines[0]}")
    worst = next(standing for standing in WORST if standing in standings)
    if as_json:
        print_json({"status": worst.value, "verdict": worst.of_case, "budgets": listed})
    for line in () if as_json else told:
        say(line)
    return STATUS_CODES[worst]


def _multiple(text: str) -> Fraction:
    """Returns a multiple of epsilon, such as 3/2.

    Raises:
        InputError: it is none.
    """
    return number(text, "--budgets", lambda value: value >= 0, "a multiple of epsilon such as 3/2")


def budget_automaton(
    path: str, options: Options, given: tuple[str | None, str | None], as_json: bool, evidence: Path | None
) -> int:
    """Finds the budgets of an automaton for every length and for those of `--length`, at `--epsilon`."""
    _no_settings(path)
    asked = _lengths(given[0]) if given[0] else ()
    epsilon = positive(given[1], "--epsilon") if given[1] else None
    with time_limit(options.limit or options.seconds) as lift, located(file=path):
        until = time.monotonic() + options.seconds * FOR_SEARCH
        content = read_file(Path(path), MAX_BYTES, "an automaton")
        report = verify(read_automaton(Path(path)))
        found = Budgets(report, asked, epsilon=epsilon)

        def tell() -> None:
            """Keeps what is known until now, and writes its evidence."""
            _output.found(automaton_budgets.lines(found), automaton_budgets.document(found))
            if evidence and report.standing is not Standing.UNKNOWN:
                document = automata.evidence_document(report, Path(path), content)
                if found.shown and found.lengths:
                    document["lengths"] = lengths_evidence(report.graph, found.lengths, found.exact)
                write_json(evidence, document, indent=1)

        tell()
        if asked:
            lengths = by_length(report.graph, asked[-1], until - time.monotonic())
            found = replace(found, lengths=lengths)
            tell()
        if epsilon is not None and found.exact:
            ways = [length.way for length in found.shown]
            losses: list[Loss | None] = [None] * len(ways)
            try:
                for place, way in enumerate(ways):
                    losses[place] = largest(report.automaton, way, WIDTH, epsilon, until) if way else None
            except TimeLimitError:
                lift()  # the budgets are known, and only losses are missing
            found = replace(found, losses=tuple(losses))
        lift()
    if as_json:
        print_json(automaton_budgets.document(found))
    else:
        for line in automaton_budgets.lines(found):
            say(line)
    if evidence and report.standing is Standing.UNKNOWN:
        click.echo("no evidence was written: there is none for an automaton that is undecided", err=True)
    return Exit.HOLDS if found.complete else Exit.UNKNOWN


def _lengths(text: str) -> tuple[int, ...]:
    """Returns the numbers of inputs of `--length`: `3`, or `1..4`.

    Raises:
        InputError: they are none, or too large.
    """
    match = re.fullmatch(r"\s*([0-9]{1,4})\s*(?:\.\.\s*([0-9]{1,4})\s*)?", text)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
    if first > last or last > MOST_INPUTS:
        reason = f"lengths such as 3 or 1..4 are needed, up to {MOST_INPUTS}"
        raise InputError(reason, key="--length")
    return tuple(range(first, last + 1))


def show_automaton(path: str, graph: bool, as_json: bool) -> int:
    """Prints the automaton as a graph, with the ways that leak if it is private for no multiple."""
    if not graph:
        raise click.UsageError(f"{path} is an automaton, which is shown as a graph only: give --graph")
    _no_settings(path)
    is_file = path.endswith(ENDING)
    automaton = read_automaton(Path(path)) if is_file else load(Path(path)).automaton
    with located(file=path):
        report = verify(automaton)
        text = dot(automaton, report.family)
    if as_json:
        print_json(
            {"graph": text} | ({"ends": [state.name for state in report.graph.ends]} if is_file else {})
        )
    else:
        click.echo(text, nl=False)
        for line in automata.ends_lines(automaton, report.graph) if is_file else ():
            click.echo(line.strip(), err=True)
    return Exit.HOLDS


def _no_settings(path: str) -> None:
    if settings() and path.endswith(ENDING):
        raise click.UsageError(f"{path} is an automaton, and has no definitions for -D")
    if settings():
        raise click.UsageError(f"{path}: the verdict is for every value of the parameter: leave -D out")
