"""Streams whose entries have few values: how much of the budget for any numbers they need.

If an entry differs by `reach` at most, W(δ) ≤ reach·W for all differences, because W(δ) is homogeneous. So
reach·W·ε is enough. That less is not enough shows a gap (`gaps`). Between both a budget is decided where the
ways are finitely many: each one is a finite program, for all pairs of streams together.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from paramverify.answers import Standing
from paramverify.automata.cases import StreamCase
from paramverify.automata.evaluating import way_case
from paramverify.automata.examples import MOST_STEPS, WIDTH, candidates
from paramverify.automata.gaps import Gap, Widest, all_streams, near_pairs, reads
from paramverify.automata.one_place import OneReport, exceeding
from paramverify.automata.orders import Graph
from paramverify.automata.programs import Streams, released, streams_within
from paramverify.automata.verification import Report
from paramverify.automata.ways import Way
from paramverify.errors import LimitError
from paramverify.portfolio.session import Options
from paramverify.privacy.verification import verify as verify_case
from paramverify.verdicts import Holds

FOR_GAPS = 5.0  # seconds
MOST_WAYS = 100
MOST_PAIRS = 200  # of streams, on one way


def widest_gap(case: StreamCase, report: Report | OneReport, options: Options) -> Gap | None:
    """Returns the widest gap that was found between streams of a case with few values.

    Where no multiple is enough for any numbers, only one that exceeds the budget of the case is looked for.
    """
    if case.values is None or not case.reach or report.confused:
        return None
    known = report.multiple
    goal = None if known is None else known * case.reach
    until = time.monotonic() + min(FOR_GAPS, options.seconds / 4)
    found = Widest(case.automaton, near_pairs(case.values, case.reach), case.one, goal, until)
    for way in _ways(report):
        if found.over or (goal is None and found.size > case.budget.multiple):
            break
        found.look(way.steps, _starts(case, way))
    for steps in all_ways(report.graph) or ():
        if found.over:
            break
        signs = [int(case.automaton.state_of(case.automaton.transitions[k]).reads) for k in steps]
        found.look(steps, _starts(case, Way(steps, tuple(signs), Fraction(0), ({}, {}))))
    return found.best


def _ways(report: Report | OneReport) -> Iterator[Way]:
    """Yields ways that cost."""
    if isinstance(report, OneReport):
        ways = exceeding(report.graph, Fraction(0), MOST_STEPS)
    else:
        ways = candidates(report, Fraction(0))
    for _, way in ways:
        yield way


def _starts(case: StreamCase, way: Way) -> Iterator[Streams]:
    """Yields streams of the values of a case in the direction of the differences of a way."""
    assert case.values is not None
    for start in dict.fromkeys((Fraction(0), min(case.values), max(case.values))):
        for signs in (way.signs, tuple(-sign for sign in way.signs)):
            turned = replace(way, signs=signs)
            found = streams_within(case.automaton, turned, 0, (case.values, case.reach), start)
            if found is not None and not (case.one and _differing(found) > 1):
                yield found


def _differing(given: Streams) -> int:
    return sum(a != b for a, b in zip(given.first, given.second, strict=True))


def all_ways(graph: Graph) -> list[tuple[int, ...]] | None:
    """Returns all ways of an automaton without cycles; None if there are too many, or cycles."""
    if any(map(graph.repeats, range(len(graph.edges)))):
        return None
    waiting: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    for node, steps in waiting:
        for number in graph.leaving[node]:
            edge = graph.edges[number]
            waiting.append((edge.target, (*steps, edge.transition)))
        if len(waiting) > MOST_WAYS:
            return None
    return [steps for _, steps in waiting[1:]]


def decided_by_all(case: StreamCase, graph: Graph, options: Options) -> Standing | None:
    """Decides a case with finitely many ways by the engine for programs; None where that does not.

    Private: for each way and each pair of streams, for every ε.
    """
    ways, until = all_ways(graph), time.monotonic() + options.seconds
    if ways is None or case.values is None or any(released(case.automaton, steps) for steps in ways):
        return None
    pairs = near_pairs(case.values, case.reach)
    for steps in ways:
        given = all_streams(pairs, reads(case.automaton, steps), case.one, MOST_PAIRS)
        if given is None:
            return None
        apart = [streams for streams in given if streams.first != streams.second]
        if apart and not _holds(case, steps, apart, replace(options, seconds=until - time.monotonic())):
            return None
    return Standing.HOLDS


def _holds(case: StreamCase, steps: tuple[int, ...], given: list[Streams], options: Options) -> bool:
    every = way_case(case.automaton, steps, given, case.budget, WIDTH) if options.seconds > 0 else None
    if every is None:
        return False
    try:
        return isinstance(verify_case(every, options).verdict, Holds)
    except LimitError:
        return False
