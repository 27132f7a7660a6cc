"""Whether a case about streams is private with its own budget, for every value of the parameter."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from paramverify.answers import Standing
from paramverify.automata.cases import StreamCase
from paramverify.automata.examples import MOST_STEPS, Entries, Example, Looked, candidates, first_example
from paramverify.automata.few_values import decided_by_all, widest_gap
from paramverify.automata.gaps import Gap
from paramverify.automata.one_place import OneReport, exceeding, verify_one
from paramverify.automata.verification import AutomatonReport, verify
from paramverify.automata.ways import Way
from paramverify.checker.strict import counted
from paramverify.portfolio.session import Options

FEW = "no violation was found with these values"
NOTHING = Looked(complete=True)  # there is nothing to look for


@dataclass(frozen=True, eq=False)
class StreamVerdict:
    """What was found of a case: its standing, and an example that exceeds the budget where there is one.

    `known` is a multiple that is enough, None if there is none or none was found. No multiple below `least`
    is enough. Where entries have few values, `gap` shows that. No multiple below `least_of_any` is enough for
    entries that are any numbers.
    """

    case: StreamCase
    standing: Standing
    report: AutomatonReport | OneReport
    example: Example | None
    seconds: float
    reason: str = ""
    gap: Gap | None = None
    by_all: bool = False  # all ways were decided, one by one
    looked: Looked | None = None  # where an example was looked for, to the end

    @property
    def known(self) -> Fraction | None:
        """A multiple that is enough, if one is known."""
        reach, found = self.case.reach, self.report.multiple
        return None if reach and found is None else reach * (found or 0)

    @property
    def least(self) -> Fraction:
        """A number so that no multiple below it is enough."""
        if self.case.values is None:
            return self.least_of_any
        return Fraction(0) if self.gap is None else self.gap.size

    @property
    def least_of_any(self) -> Fraction:
        """A number so that no multiple below it is enough for entries that are any numbers."""
        return self.report.least * self.case.reach

    @property
    def way(self) -> Way | None:
        """The way that needs `least_of_any`."""
        return self.report.way


def decide(
    case: StreamCase, options: Options, found: Callable[[StreamVerdict], None] = lambda _: None
) -> StreamVerdict:
    """Decides a case about streams.

    Private: the probabilities (or densities) of all outputs are within a factor of exp(D·ε + b), for every
    ε > 0 and streams of every length that are neighbours. Not private: as ε grows, some way needs more; and
    where entries have few values, a gap shows it or an example was evaluated exactly. `found` gets a verdict
    as soon as it is known, before an example is looked for.

    Raises:
        InputError: a guard reads what has no value, or two guards are true at once.
        LimitError: the automaton is too large.
    """
    start = time.monotonic()
    report = verify_one(case.automaton) if case.one else verify(case.automaton)
    gap = widest_gap(case.compared, report, options.seconds / 4, case.budget.multiple)
    verdict = StreamVerdict(case, Standing.UNKNOWN, report, None, 0.0, gap=gap)
    verdict = replace(verdict, standing=_standing(verdict), seconds=time.monotonic() - start)
    if verdict.standing is Standing.HOLDS:
        return verdict
    if verdict.standing is Standing.VIOLATED:
        found(verdict)
    left = replace(options, seconds=max(0.0, options.seconds - (time.monotonic() - start)))
    if verdict.standing is Standing.UNKNOWN and case.values is None:
        return verdict
    looked = _example(verdict, left) if _may_exceed(verdict) else NOTHING
    verdict = replace(verdict, looked=looked)
    if looked.example is not None:
        verdict = replace(verdict, standing=Standing.VIOLATED, example=looked.example)
    elif verdict.standing is Standing.UNKNOWN:
        left = replace(options, seconds=max(0.0, options.seconds - (time.monotonic() - start)))
        if decided_by_all(case, report.graph, left) is Standing.HOLDS:
            verdict = replace(verdict, standing=Standing.HOLDS, by_all=True)
        else:
            verdict = replace(verdict, reason=_not_found(verdict, looked))
    return replace(verdict, seconds=time.monotonic() - start)


def _standing(verdict: StreamVerdict) -> Standing:
    """Returns what both bounds say of the budget: for large ε what is added to a multiple does not count."""
    multiple, known = verdict.case.budget.multiple, verdict.known
    if known is not None and multiple >= known:
        return Standing.HOLDS
    grows = isinstance(verdict.report, AutomatonReport) and verdict.report.standing is Standing.VIOLATED
    exceeded = multiple < verdict.least or (grows and verdict.case.values is None)
    return Standing.VIOLATED if exceeded else Standing.UNKNOWN


def _may_exceed(verdict: StreamVerdict) -> bool:
    """Tells whether the budget is not enough for entries that are any numbers."""
    grows = isinstance(verdict.report, AutomatonReport) and verdict.report.standing is Standing.VIOLATED
    return grows or verdict.case.budget.multiple < verdict.least_of_any


def _not_found(verdict: StreamVerdict, looked: Looked) -> str:
    """Returns why streams of few values that exceed the budget are not known."""
    if verdict.report.confused:
        return "outputs do not tell the way, so no streams were looked for"
    if not _may_exceed(verdict):
        return "no streams were looked for, because no way is known that costs more than the budget"
    evaluated = f"{counted(looked.pairs, 'pair')} of streams, on {counted(looked.ways, 'way')}"
    over = "" if looked.complete else " before the time was over"
    return f"{FEW}: {evaluated}, were evaluated exactly{over}"


def _example(verdict: StreamVerdict, options: Options) -> Looked:
    """Looks for an example on ways that cost more than the budget."""
    case, report = verdict.case, verdict.report
    asked = case.budget.multiple / case.reach
    if isinstance(report, OneReport):
        ways = exceeding(report.graph, asked, MOST_STEPS)
    else:
        ways = candidates(report, asked)
    return first_example(case.automaton, ways, case.budget, options, Entries(case.values, case.reach))
