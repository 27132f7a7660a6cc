"""Streams and automata in Python: the verdict about an automaton, and the least budgets of streams."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.answers import Standing
from paramverify.api.arguments import between
from paramverify.api.reading import Bound, Read
from paramverify.api.results import BudgetReport, VerifyReport
from paramverify.automata.cases import StreamCase
from paramverify.automata.reading import AutomatonFile
from paramverify.automata.tight import Budgets, find_budgets, lengths_of, with_losses
from paramverify.automata.verification import verify
from paramverify.errors import InputError, located
from paramverify.portfolio.session import Options
from paramverify.reports import automata, automaton_budgets
from paramverify.reports.automaton_budgets import BudgetSubject


@dataclass(frozen=True, eq=False, repr=False)
class StreamBudgetReport(BudgetReport):
    """The least budgets of streams, as multiples of ε: see `budget`.

    `multiple` is enough for streams of every length and every ε; it is infinite if no multiple is, and None
    if none is known. No multiple below `multiple_lower` is enough for every ε; None if no such number is
    known. `exact` tells whether all that was asked for is exact. Where entries have few values, it is about
    multiples that are enough for every ε: at one ε less may be enough. `lengths` has for each number of
    inputs both numbers, the lower one first. `ratio` and `epsilon` are None, because the budgets are
    functions of ε.
    """

    multiple: ExactNumber | None = None
    multiple_lower: ExactNumber | None = None
    exact: bool = False
    lengths: Mapping[int, tuple[ExactNumber | None, ExactNumber]] = field(default_factory=dict)

    def _table(self) -> list[tuple[str, str]]:
        return [] if self.multiple is None else [("multiple", str(self.multiple))]


def verify_file(read: Read, options: Options) -> VerifyReport:
    """Decides an automaton of a file."""
    file = read.content
    assert isinstance(file, AutomatonFile)
    del options
    with located(file=str(read.path)):
        report = verify(file.automaton)

    def evidence() -> dict[str, Any]:
        if report.standing is Standing.UNKNOWN:
            raise InputError("there is no evidence for an automaton that is undecided")
        return automata.evidence_document(report, read.path, read.text)

    return VerifyReport(
        kind=read.kind,
        lines=tuple(automata.lines(report)),
        document=automata.document(report),
        seconds=report.seconds,
        status=report.standing,
        reason=report.reason,
        result=report,
        _evidence=evidence,
    )


def stream_budget(
    read: Read, options: Options, length: int | str | None, epsilon: Bound | None
) -> StreamBudgetReport:
    """Finds the least budgets of an automaton, or of a case about streams."""
    started = time.perf_counter()
    asked = () if length is None else lengths_of(str(length), "length")
    number = None if epsilon is None else between("epsilon", epsilon)
    subject = _subject(read)
    until = time.monotonic() + options.seconds
    found = find_budgets(subject.automaton, subject.compared, asked, number, until)
    found = with_losses(found, until)

    def evidence() -> dict[str, Any]:
        document = subject.evidence(found)
        if document is None:
            raise InputError("there is no evidence for these budgets: nothing is known")
        return document

    return StreamBudgetReport(
        kind=read.kind,
        lines=(*automaton_budgets.lines(found), *subject.warnings(found)),
        document=automaton_budgets.document(found),
        seconds=time.perf_counter() - started,
        result=found,
        multiple=_multiple(found),
        multiple_lower=ExactNumber(found.lower) if found.told_apart or found.exact else None,
        exact=found.complete,
        lengths={
            entry.inputs: (
                ExactNumber(found.least(entry)) if found.told_apart or found.is_tight(entry) else None,
                ExactNumber(found.enough(entry)),
            )
            for entry in found.shown
        },
        _evidence=evidence,
    )


def _multiple(found: Budgets) -> ExactNumber | None:
    known = found.multiple is not None or found.standing is Standing.VIOLATED
    return ExactNumber(found.multiple) if known else None


def _subject(read: Read) -> BudgetSubject:
    if isinstance(read.content, StreamCase):
        return BudgetSubject.of_case(read.content)
    assert isinstance(read.content, AutomatonFile)
    return BudgetSubject(read.content.automaton, Path(read.path), read.text)
