"""Automata with geometric noise: ties, what is possible, costs, and exact probabilities."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction

import pytest
from automaton_oracle import chance, random_text, ways, worst_cost
from conftest import ROOT

from paramverify.answers import Standing
from paramverify.automata.automaton import Automaton, parse_automaton
from paramverify.automata.automaton_evidence import machine
from paramverify.automata.stored_values import explore
from paramverify.automata.stream_verdicts import WIDTH, AutomatonReport, verify
from paramverify.automata.way_costs import cost
from paramverify.automata.way_programs import chances, heights, streams
from paramverify.errors import InputError
from paramverify.kernel.automaton_runs import FIRST, Order
from paramverify.kernel.automaton_runs import machine as kernel_machine
from paramverify.kernel.documents import check_document
from paramverify.reports.stream_reports import automaton_evidence_document

START = "noise geometric\n(q1, 1/4, 0): t := insample; output oa; goto q2\n"


def accepted(report: AutomatonReport) -> bool:
    """Whether the kernel accepts the evidence."""
    return check_document(json.loads(json.dumps(automaton_evidence_document(report, ROOT, b"")))).accepted


def found_ways(automaton: Automaton, most: int) -> set[tuple[int, ...]]:
    """The ways of the graph of at most so many steps."""
    graph = explore(automaton)
    found: set[tuple[int, ...]] = set()
    waiting: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    for node, steps in waiting:
        if steps:
            found.add(steps)
        if len(steps) < most:
            edges = (graph.edges[number] for number in graph.leaving[node])
            waiting += [(edge.target, (*steps, edge.transition)) for edge in edges]
    return found


def test_what_guards_leave() -> None:
    """What is left after a guard has the equal numbers that the guard does not have."""
    text = (
        "(q2, 1/4, 0): if (insample < t) then output oa; goto q2\n"
        "  elseif (insample <= t) then output ob; goto q2\n"
        "  elseif (insample > t) then output oc; goto q3 elseif (insample >= t) then output od; goto q3\n"
    )
    steps = parse_automaton(START + text).transitions[1:]
    told = [(set(s.below), set(s.above), set(s.apart), s.never) for s in steps]
    assert told[:3] == [({0}, set(), {0}, False), ({0}, {0}, set(), False), (set(), {0}, {0}, False)]
    assert [s.never for s in steps] == [False, False, False, True]
    continuous = parse_automaton((START + text).removeprefix("noise geometric\n"))
    assert [s.never for s in continuous.transitions] == [False, False, True, False, True]


def test_overlapping_guards() -> None:
    """Two guards that are both true for equal numbers only are refused with geometric noise, and not else."""
    text = "{}(q1, 1, 0): t := insample; output oa; goto q2\n(q2, 1, 0): u := insample; output oa; goto q3\n"
    text += "(q3, 1, 0): if (insample >= t && insample <= u) then output oa; goto q4 "
    text += "elseif (insample >= u && insample <= t) then output ob; goto q4\n"
    assert verify(parse_automaton(text.format(""))).standing is Standing.HOLDS
    with pytest.raises(InputError, match="two guards of q3 are true at once"):
        verify(parse_automaton(text.format("noise geometric\n")))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "noise geometric\n(q1, 1, 1/2): output oa; goto q1",
            "line 2: the mean of q1 must be a whole number",
        ),
        ("noise gauss\n(q1, 1, 0): output oa; goto q1", "line 1, column 7: laplace or geometric is expected"),
        ("(q1, 1, 0): output oa; goto q1\nnoise geometric", "line 2, column 1: ( is expected"),
    ],
)
def test_mistakes(text: str, reason: str) -> None:
    """A mistake is told with its line."""
    with pytest.raises(InputError) as caught:
        parse_automaton(text)
    assert caught.value.reason.startswith(reason)


@pytest.mark.parametrize(
    ("body", "continuous", "geometric"),
    [
        # A number that is equal to t is put out: so is t. With Laplace noise no run comes there.
        ("if (insample >= t && insample <= t) then output insample; goto q3", "0", "1/2"),
        # A loop of numbers that are all equal to t, and so to each other.
        ("if (insample >= t && insample <= t) then output oa; goto q2", "0", "leaking pair"),
        ("if (insample >= t) then output oa; goto q2", "1/2", "1/2"),
    ],
)
def test_ties(body: str, continuous: str, geometric: str) -> None:
    """Equal numbers are possible with geometric noise only."""
    text = f"{START}(q2, 1/4, 0): {body}\n"
    for read, expected in ((text.removeprefix("noise geometric\n"), continuous), (text, geometric)):
        report = verify(parse_automaton(read))
        assert str(report.multiple or (report.family.kind if report.family else 0)) == expected
        assert accepted(report)


def kernel_ways(automaton: Automaton, most: int) -> set[tuple[int, ...]]:
    """The ways that the kernel takes for possible."""
    read = kernel_machine(json.loads(json.dumps(machine(automaton))))
    found: set[tuple[int, ...]] = set()
    waiting: list[tuple[Order, tuple[int, ...]]] = [(FIRST, ())]
    for order, steps in waiting:
        if steps:
            found.add(steps)
        if len(steps) < most:
            waiting += [(after, (*steps, number)) for number, after in read.following(order)]
    return found


@pytest.mark.slow
def test_ways_that_are_possible() -> None:
    """The ways of the graph, and of the kernel, are those for whose order there are whole numbers."""
    compared = 0
    for seed in range(250):
        automaton = random_machine(seed)
        if automaton is None:
            continue
        assert found_ways(automaton, 4) == kernel_ways(automaton, 4) == set(ways(automaton, 4)), seed
        compared += 1
    assert compared > 40


def random_machine(seed: int) -> Automaton | None:
    """A random automaton with geometric noise; None where guards overlap."""
    try:
        automaton = parse_automaton(random_text(random.Random(seed), True))
        explore(automaton)
    except InputError:
        return None
    return automaton


@pytest.mark.slow
def test_random_automata_against_all_ways() -> None:
    """The kernel accepts what is found, and no way of a private automaton costs more than the multiple."""
    standings = set()
    for seed in range(25):
        automaton = random_machine(seed)
        if automaton is None:
            continue
        report = verify(automaton)
        standings.add(report.standing)
        assert report.standing is Standing.UNKNOWN or accepted(report), seed
        every = ways(automaton, 3)
        for way in random.Random(seed).sample(every, min(3, len(every))):
            assert report.multiple is None or worst_cost(automaton, way) <= report.multiple, (seed, way)
    assert {Standing.HOLDS, Standing.VIOLATED} <= standings


@pytest.mark.slow
def test_probabilities() -> None:
    """The closed form of a way is what sums over a box give, and its loss is at most its cost."""
    compared = 0
    for seed in range(60):
        automaton = random_machine(seed)
        every = [] if automaton is None else [way for way in ways(automaton, 4) if len(way) in (2, 3)]
        if automaton is None or not every:
            continue
        steps = random.Random(seed).choice(every)
        reads = [automaton.state_of(automaton.transitions[n]).reads for n in steps]
        if not any(reads):
            continue
        way = cost(automaton, steps, [int(reading) for reading in reads])
        given = streams(automaton, way, 0)
        known = chances(automaton, way, given, WIDTH)
        assert known is not None
        found = known.loss(Fraction(3), math.inf)
        put_out = heights(automaton, steps)
        first, second = (chance(automaton, steps, s, (3.0, put_out)) for s in (given.first, given.second))
        if found is None:
            assert math.log(first / second) <= 1e-4, seed
            continue
        assert math.isclose(math.log(first / second), float(found.low), rel_tol=1e-4, abs_tol=1e-4), seed
        assert found.low <= found.high <= way.cost * 3
        compared += 1
    assert compared > 10
