"""Streams whose entries have few values: how much of the budget for any numbers they need.

If an entry differs by `reach` at most, W(δ) ≤ reach·W for all differences, because W(δ) is homogeneous. So
reach·W·ε is enough. That less is not enough shows a gap (`gaps`). Between both a budget is decided where the
ways are finitely many: each one is a finite program, for all pairs of streams together.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from paramverify.answers import Standing
from paramverify.automata.automaton import Automaton
from paramverify.automata.cases import ComparedStreams, StreamCase
from paramverify.automata.evaluating import way_case
from paramverify.automata.examples import MOST_STEPS, WIDTH, candidates
from paramverify.automata.gaps import Gap, Widest, all_streams, near_pairs, reads
from paramverify.automata.lengths import Length
from paramverify.automata.one_place import OneReport, exceeding
from paramverify.automata.orders import Graph
from paramverify.automata.programs import Streams, released, streams_within
from paramverify.automata.verification import AutomatonReport
from paramverify.automata.ways import Way
from paramverify.errors import LimitError
from paramverify.portfolio.session import Options
from paramverify.privacy.verification import verify as verify_case
from paramverify.verdicts import Holds

FOR_GAPS = 5.0  # seconds
MOST_WAYS = 100
MOST_PAIRS = 200  # of streams, on one way


_Look = Callable[[Sequence[int], Iterable[Streams]], None]


def widest_gap(
    compared: ComparedStreams,
    report: AutomatonReport | OneReport,
    seconds: float,
    beyond: Fraction | None = None,
) -> Gap | None:
    """Returns the widest gap that was found between streams of few values.

    Where no multiple is enough for any numbers, the first one `beyond` a budget will do, if that is given.
    """
    if compared.values is None or not compared.reach or report.confused:
        return None
    known = report.multiple
    goal = None if known is None else known * compared.reach
    found = _widest(report.automaton, compared, goal, seconds)
    for look in (found.first, found.look):  # the likely streams of all ways, and then all others
        for way in _ways(report):
            if found.over or (goal is None and beyond is not None and found.size > beyond):
                break
            look(way.steps, _starts(report.automaton, compared, way))
        _look_at(look, report.automaton, all_ways(report.graph) or (), compared)
    return found.best


def widest_gaps(
    graph: Graph, compared: ComparedStreams, lengths: Sequence[Length], seconds: float
) -> dict[int, Gap]:
    """Returns for each length the widest gap on ways that read no more inputs, where one was found.

    The lengths are in their order: what is found for one is known for the next one.
    """
    found: dict[int, Gap] = {}
    automaton, until = graph.automaton, time.monotonic() + seconds
    best: Gap | None = None
    for place, length in enumerate(lengths):
        left = (until - time.monotonic()) / (len(lengths) - place)
        search = _widest(automaton, compared, length.multiple * compared.reach, left)
        search.best = best
        ways = ways_within(graph, length.inputs - automaton.late)
        for look in (search.first, search.look):
            if length.way is not None and not search.over:
                look(length.way.steps, _starts(automaton, compared, length.way))
            _look_at(look, automaton, ways, compared)
        best = search.best
        if best is not None:
            found[length.inputs] = best
    return found


def _widest(automaton: Automaton, compared: ComparedStreams, goal: Fraction | None, seconds: float) -> Widest:
    until = time.monotonic() + min(FOR_GAPS, seconds)
    return Widest(automaton, near_pairs(compared.values or (), compared.reach), compared.one, goal, until)


def _look_at(
    look: _Look, automaton: Automaton, ways: Iterable[tuple[int, ...]], compared: ComparedStreams
) -> None:
    """Tries ways, in the direction in which all entries of one stream are larger."""
    for steps in ways:
        signs = [int(automaton.state_of(automaton.transitions[k]).reads) for k in steps]
        way = Way(steps, tuple(signs), Fraction(0), ({}, {}))
        look(steps, _starts(automaton, compared, way))


def _ways(report: AutomatonReport | OneReport) -> Iterator[Way]:
    """Yields ways that cost."""
    if isinstance(report, OneReport):
        ways = exceeding(report.graph, Fraction(0), MOST_STEPS)
    else:
        ways = candidates(report, Fraction(0))
    for _, way in ways:
        yield way


def _starts(automaton: Automaton, compared: ComparedStreams, way: Way) -> Iterator[Streams]:
    """Yields streams of few values in the direction of the differences of a way."""
    values = compared.values or ()
    for start in dict.fromkeys((Fraction(0), min(values), max(values))):
        for signs in (way.signs, tuple(-sign for sign in way.signs)):
            turned = replace(way, signs=signs)
            found = streams_within(automaton, turned, 0, (values, compared.reach), start)
            if found is not None and not (compared.one and _differing(found) > 1):
                yield found


def _differing(given: Streams) -> int:
    return sum(a != b for a, b in zip(given.first, given.second, strict=True))


def ways_within(graph: Graph, inputs: int) -> list[tuple[int, ...]]:
    """Returns ways that read at most so many inputs, the shortest ones first; not more than `MOST_WAYS`."""
    found: list[tuple[int, tuple[int, ...], int]] = [(0, (), 0)]
    for node, steps, read in found:
        for number in graph.leaving[node]:
            more = read + graph.automaton.state_of(graph.step(number)).reads
            if more <= inputs and len(found) <= MOST_WAYS:
                step = graph.edges[number]
                found.append((step.target, (*steps, step.transition), more))
    return [steps for _, steps, _ in found[1:]]


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
