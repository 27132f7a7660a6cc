"""Whether a case about streams is private with its own budget, for every value of the parameter."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction

from paramverify.answers import Standing
from paramverify.automata.cases import StreamCase
from paramverify.automata.examples import MOST_STEPS, Example, candidates, first_example
from paramverify.automata.one_place import OneReport, exceeding, verify_one
from paramverify.automata.verification import Report, verify
from paramverify.automata.ways import Way
from paramverify.checker.strict import counted
from paramverify.portfolio.session import Options

FEW = "no streams of these values were found that exceed the budget"


@dataclass(frozen=True, eq=False)
class StreamVerdict:
    """What was found of a case: its standing, and an example that exceeds the budget where there is one.

    `known` is a multiple that is enough, None if there is none or none was found. No multiple below `least`
    is enough for entries that are any numbers.
    """

    case: StreamCase
    standing: Standing
    report: Report | OneReport
    example: Example | None
    seconds: float
    reason: str = ""

    @property
    def known(self) -> Fraction | None:
        """A multiple that is enough, if one is known."""
        return self.report.multiple

    @property
    def least(self) -> Fraction:
        """A number so that no multiple below it is enough, for entries that are any numbers."""
        return self.report.least

    @property
    def way(self) -> Way | None:
        """The way that needs `least`."""
        return self.report.way


def decide(case: StreamCase, options: Options) -> StreamVerdict:
    """Decides a case about streams.

    Private: the probabilities (or densities) of all outputs are within a factor of exp(D·ε), for every ε > 0
    and streams of every length that are neighbours. Not private: as ε grows, some way needs more; and where
    entries have few values, an example was evaluated exactly.

    Raises:
        InputError: a guard reads what has no value, or two guards are true at once.
        LimitError: the automaton is too large.
    """
    start = time.monotonic()
    report: Report | OneReport
    if case.one:
        report = verify_one(case.automaton)
        standing = _of_bounds(report, case.multiple)
    else:
        report = verify(case.automaton)
        standing = report.standing_of(case.multiple)
    example, reason = None, ""
    if standing is Standing.VIOLATED:
        if isinstance(report, OneReport):
            ways = exceeding(report.graph, case.multiple, MOST_STEPS)
        else:
            ways = candidates(report, case.multiple)
        looked = first_example(case.automaton, ways, case.multiple, options, case.values)
        example = looked.example
        if example is None and case.values is not None:
            evaluated = f"{counted(looked.pairs, 'pair')} of streams, on {counted(looked.ways, 'way')}"
            standing, reason = Standing.UNKNOWN, f"{FEW}; looked at exactly: {evaluated}"
    seconds = time.monotonic() - start
    return StreamVerdict(case, standing, report, example=example, seconds=seconds, reason=reason)


def _of_bounds(report: OneReport, multiple: Fraction) -> Standing:
    if multiple >= report.multiple:
        return Standing.HOLDS
    return Standing.VIOLATED if multiple < report.least else Standing.UNKNOWN
