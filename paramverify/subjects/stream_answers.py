"""The answers about automata and about streams of every length."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.answers import WORST, Standing
from paramverify.automata.automaton import AutomatonFile
from paramverify.automata.least_stream_budgets import Budgets, find_budgets, lengths_of, with_losses
from paramverify.automata.stream_cases import StreamCase
from paramverify.automata.stream_verdicts import AutomatonReport, StreamVerdict, decide, find_example
from paramverify.automata.stream_verdicts import verify as verify_multiples
from paramverify.bounds import AnyBounds, Bounds
from paramverify.errors import InputError, TimeLimitError
from paramverify.files import read_file
from paramverify.kernel.strict_reading import counted
from paramverify.portfolio.session import Options
from paramverify.reports import stream_reports
from paramverify.reports.pictures.dot_graphs import automaton_dot
from paramverify.reports.stream_reports import BudgetSubject
from paramverify.subjects.questions import Budget, Explain, Show, Verify
from paramverify.subjects.results import Result, ShowFacts
from paramverify.subjects.subject import CaseFile, Watch
from paramverify.subjects.written_numbers import multiple, positive, split

FOR_SEARCH = 0.8  # of the time limit; the rest is for what is said


def verify_automaton(file: CaseFile, asked: Verify, options: Options, watch: Watch) -> Result:
    """Decides whether some multiple of ε is enough; with `budgets`, which of these are."""
    if asked.evidence and asked.budgets:
        raise InputError("evidence is for all multiples: leave the budgets out", key="--budgets")
    until = time.monotonic() + options.seconds
    text = _bytes(file)
    found = verify_multiples(_automaton(file).automaton)
    if asked.budgets is not None:
        left = replace(options, seconds=until - time.monotonic())
        return _multiples(found, asked.budgets, left, watch)
    known = found.standing is not Standing.UNKNOWN
    return Result(
        stream_reports.automaton_lines(found),
        stream_reports.automaton_document(found),
        seconds=found.seconds,
        standing=found.standing,
        ending=found.standing,
        reason=found.reason,
        found=found,
        evidence=(lambda: stream_reports.automaton_evidence_document(found, file.path, text))
        if known
        else None,
        no_evidence="for an automaton that is undecided",
    )


def _multiples(found: AutomatonReport, budgets: str, options: Options, watch: Watch) -> Result:
    """Says for each of several multiples of ε whether it is enough."""
    until = time.monotonic() + options.seconds
    standings: list[Standing] = []
    listed: list[dict[str, Any]] = []
    lines: list[str] = []
    for asked in map(multiple, split(budgets)):
        standing, looked = found.standing_of(asked), None
        if standing is Standing.VIOLATED:
            watch.violated(Standing.VIOLATED.of_case)
            looked = find_example(found, asked, replace(options, seconds=until - time.monotonic()))
        standings.append(standing)
        listed.append(stream_reports.multiple_document(found, asked, looked))
        about = stream_reports.multiple_lines(found, asked, looked)
        lines += about
        watch.entry("budgets", listed[-1], f"  {about[0]}")
    worst = next(standing for standing in WORST if standing in standings)
    document = {"status": worst.value, "verdict": worst.of_case, "budgets": listed}
    return Result(lines, document, standing=worst, ending=worst, found=found)


def verify_case(file: CaseFile, asked: Verify, options: Options, watch: Watch) -> Result:
    """Decides a case about streams; a violation counts also if there is no time for an example."""
    del asked
    known: list[StreamVerdict] = []

    def violated(verdict: StreamVerdict) -> None:
        """Keeps a violation before an example is looked for."""
        known[:] = [verdict]
        watch.violated(Standing.VIOLATED.of_case)
        watch.found(stream_reports.stream_lines(verdict), stream_reports.stream_document(verdict))
        watch.evidence(stream_reports.stream_evidence_document(verdict))

    case = _case(file)
    try:
        verdict = decide(case, options, violated)
    except TimeLimitError:
        if not known:
            raise
        verdict = known[0]  # only an example is missing
    document, example = stream_reports.stream_document(verdict), verdict.example
    evidence = stream_reports.stream_evidence_document(verdict)
    return Result(
        stream_reports.stream_lines(verdict),
        document,
        seconds=verdict.seconds,
        standing=verdict.standing,
        ending=verdict.standing,
        reason=str(document.get("reason", "")),
        witness=example.witness if example else None,
        found=verdict,
        evidence=None if evidence is None else lambda: evidence,
        no_evidence="for this verdict about streams",
    )


def budget(file: CaseFile, asked: Budget, options: Options, watch: Watch) -> Result:
    """Finds the least multiples of ε: for every length, and for those of `length`, at `epsilon`."""
    started = time.perf_counter()
    until = time.monotonic() + options.seconds * FOR_SEARCH
    lengths = lengths_of(asked.length, "--length") if asked.length else ()
    at = positive(asked.epsilon, "--epsilon") if asked.epsilon else None
    subject = _subject(file)

    def tell(found: Budgets) -> None:
        """Keeps what is known until now, and its evidence."""
        watch.found(stream_reports.budget_lines(found), stream_reports.budget_document(found))
        watch.evidence(subject.evidence(found))

    found = find_budgets(subject.automaton, subject.compared, lengths, at, until, found=tell)
    found = with_losses(found, until)
    evidence = subject.evidence(found)
    what = "of which nothing is known" if subject.case else "that is undecided"
    return Result(
        [*stream_reports.budget_lines(found), *subject.warnings(found)],
        stream_reports.budget_document(found),
        seconds=time.perf_counter() - started,
        ending=Standing.HOLDS if found.complete else Standing.UNKNOWN,
        bounds=tuple(_bounds(found)),
        found=found,
        evidence=None if evidence is None else lambda: evidence,
        no_evidence=f"for an automaton {what}",
    )


def _bounds(found: Budgets) -> list[AnyBounds]:
    known = found.multiple is not None or found.standing is Standing.VIOLATED
    lower = ExactNumber(found.lower) if found.told_apart or found.exact else None
    bounds: list[AnyBounds] = [Bounds("multiple", lower, ExactNumber(found.multiple) if known else None)]
    for entry in found.shown:
        apart = found.told_apart or found.is_tight(entry)
        least = ExactNumber(found.least(entry)) if apart else None
        bounds.append(Bounds(f"length {entry.inputs}", least, ExactNumber(found.enough(entry))))
    return bounds


def explain(file: CaseFile, asked: Explain, options: Options, watch: Watch) -> Result:
    """Says what was understood of a case about streams."""
    from paramverify.reports.case_explanations import lines, stream_understood

    del asked, options, watch
    found = stream_understood(_case(file), file.tables)
    return Result(lines(found), found.document(), found=found)


def show(file: CaseFile, asked: Show, options: Options, watch: Watch) -> Result:
    """Returns the size of an automaton, and the automaton as a graph with the ways that leak."""
    del options, watch
    of_file = file.path.suffix == ".dipa"
    what: AutomatonFile | StreamCase = _automaton(file) if of_file else _case(file)
    automaton = what.automaton
    counts = [len(automaton.states), len(automaton.variables), len(automaton.transitions)]
    sizes = dict(zip(("states", "variables", "transitions"), counts, strict=True))
    words = ", ".join(counted(n, name.removesuffix("s")) for name, n in sizes.items())
    if not asked.graph:
        lines = (
            f"{what.title or 'automaton'}: {words}; `--graph` (in Python `graph()`) shows them as a graph",
        )
        facts = ShowFacts(graph=lambda: automaton_dot(automaton, verify_multiples(automaton).family))
        return Result(lines, {"title": what.title, **sizes}, found=automaton, facts=facts)
    report = verify_multiples(automaton)
    text = automaton_dot(automaton, report.family)
    document: dict[str, Any] = {"graph": text}
    remarks: tuple[str, ...] = ()
    if of_file:
        document["ends"] = [state.name for state in report.graph.ends]
        remarks = tuple(line.strip() for line in stream_reports.ends_lines(automaton, report.graph))
    facts = ShowFacts(text, graph=lambda: text)
    return Result(text.splitlines(), document, found=automaton, remarks=remarks, facts=facts)


def _subject(file: CaseFile) -> BudgetSubject:
    """Returns what a file is about."""
    if file.path.suffix != ".dipa":
        return BudgetSubject.of_case(_case(file))
    return BudgetSubject(_automaton(file).automaton, file.path, _bytes(file))


def _automaton(file: CaseFile) -> AutomatonFile:
    found: AutomatonFile = file.content()
    return found


def _case(file: CaseFile) -> StreamCase:
    found: StreamCase = file.content()
    return found


def _bytes(file: CaseFile) -> bytes:
    from paramverify.automata.automaton import MAX_BYTES

    with file.as_file():
        return read_file(file.path, MAX_BYTES, "an automaton")
