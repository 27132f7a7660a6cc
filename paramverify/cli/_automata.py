"""`verify`, `budget` and `show` of FILE.dipa: an automaton over streams, for every epsilon and length."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from paramverify.answers import Standing
from paramverify.automata.cases import load
from paramverify.automata.examples import find_example
from paramverify.automata.reading import MAX_BYTES, read_automaton
from paramverify.automata.stream_verdicts import StreamVerdict, decide
from paramverify.automata.tight import Budgets, find_budgets, lengths_of, with_losses
from paramverify.automata.verification import AutomatonReport, verify
from paramverify.cli import _output
from paramverify.cli._budgets import WORST, split
from paramverify.cli._common import print_json, say, time_limit, write_json
from paramverify.cli._exits import STATUS_CODES, Exit
from paramverify.cli._numbers import number, positive
from paramverify.cli._settings import settings
from paramverify.errors import TimeLimitError, located
from paramverify.files import read_file
from paramverify.models.settings import with_settings
from paramverify.portfolio.session import Options
from paramverify.reports import automata, automaton_budgets, streams
from paramverify.reports.automaton_budgets import BudgetSubject
from paramverify.reports.pictures.automata import dot
from paramverify.tables import read_document

ENDING = ".dipa"
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
        _output.violated(Standing.VIOLATED.of_case)
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


def _multiples(report: AutomatonReport, budgets: str, options: Options, as_json: bool) -> int:
    """Says for each of several multiples of epsilon whether it is enough; the exit code is the worst one."""
    until = time.monotonic() + options.seconds
    standings: list[Standing] = []
    listed: list[dict[str, Any]] = []
    told: list[str] = []
    for multiple in map(_multiple, split(budgets)):
        standing, looked = report.standing_of(multiple), None
        if standing is Standing.VIOLATED:
            _output.violated(Standing.VIOLATED.of_case)
            looked = find_example(report, multiple, replace(options, seconds=until - time.monotonic()))
        standings.append(standing)
        listed.append(automata.multiple_document(report, multiple, looked))
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
    """Finds the budgets of an automaton, or of a case about streams, and returns the exit code.

    They are for every length and for those of `--length`, at `--epsilon`.
    """
    _no_settings(path)
    asked = lengths_of(given[0], "--length") if given[0] else ()
    epsilon = positive(given[1], "--epsilon") if given[1] else None
    written: list[dict[str, Any]] = []
    with time_limit(options.limit or options.seconds) as lift, located(file=path):
        until = time.monotonic() + options.seconds * FOR_SEARCH
        subject = _subject(path)

        def tell(found: Budgets) -> None:
            """Keeps what is known until now, and writes its evidence."""
            _output.found(automaton_budgets.lines(found), automaton_budgets.document(found))
            document = subject.evidence(found) if evidence else None
            if evidence and document is not None:
                write_json(evidence, document, indent=1)
                written[:] = [document]

        found = find_budgets(subject.automaton, subject.compared, asked, epsilon, until, found=tell)
        found = with_losses(found, until)
        lift()
    if as_json:
        print_json(automaton_budgets.document(found))
    else:
        for line in (*automaton_budgets.lines(found), *subject.warnings(found)):
            say(line)
    if evidence and not written:
        what = "of which nothing is known" if subject.case else "that is undecided"
        click.echo(f"no evidence was written: there is none for an automaton {what}", err=True)
    return Exit.HOLDS if found.complete else Exit.UNKNOWN


def _subject(path: str) -> BudgetSubject:
    """Returns what a file is about."""
    if not path.endswith(ENDING):
        return BudgetSubject.of_case(load(Path(path)))
    content = read_file(Path(path), MAX_BYTES, "an automaton")
    return BudgetSubject(read_automaton(Path(path)), Path(path), content)


def show_automaton(path: str, graph: bool, as_json: bool) -> int:
    """Prints the automaton as a graph, with the ways that leak if it is private for no multiple."""
    if not graph:
        raise click.UsageError(f"{_what(path)}. It has no table of probabilities. {_see(path)}")
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


def _what(path: str) -> str:
    """Returns what a file is about, as the beginning of a sentence."""
    if path.endswith(ENDING):
        return f"{path} is an automaton over streams"
    written = (
        "an automaton" if load(Path(path)).in_file else "a program that reads a stream with Laplace noise"
    )
    return f"{path} is a case about {written}"


def _see(path: str) -> str:
    """Returns how to see an automaton."""
    drawn = "the automaton" if path.endswith(ENDING) else "its automaton"
    return f"Give --graph to see {drawn}. `paramverify verify {path}` prints the least budget."


def _no_settings(path: str) -> None:
    """Refuses `-D`.

    Raises:
        UsageError: something is set. InputError: it is not known in the case.
    """
    if not settings():
        return
    if path.endswith(ENDING):
        raise click.UsageError(f"{path} is an automaton. Its verdict is for every epsilon: leave -D out")
    case = load(Path(path))
    with_settings(read_document(Path(path)).data, settings())
    for name, text in settings().items():
        if name != case.parameter:
            reason = f'a case about streams takes no -D: write {name} = "{text}" into its [parameters]'
            raise click.UsageError(f"{path}: {reason}")
    raise click.UsageError(f"{path}: the verdict is for every {case.parameter} > 0: leave -D out")
