"""Automata over streams: shipped ones, the conditions of the literature, random ones against brute force."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import islice
from pathlib import Path

import pytest
from automaton_oracle import least_cost, random_automaton, signs_of, ways, worst_cost
from conftest import ROOT

from paramverify.answers import Standing
from paramverify.automata.automaton import Automaton, parse_automaton, read_automaton
from paramverify.automata.stream_cases import StreamBudget
from paramverify.automata.stream_verdicts import WIDTH, AutomatonReport, find_example, verify
from paramverify.automata.unbounded_ways import KINDS
from paramverify.automata.way_costs import cost
from paramverify.automata.way_programs import case_of_all, streams
from paramverify.errors import InputError
from paramverify.files import standing_in
from paramverify.kernel.documents import check_document
from paramverify.portfolio.session import Options
from paramverify.privacy.cases import load
from paramverify.privacy.verification import verify as verify_case
from paramverify.reports.stream_reports import automaton_evidence_document

SHIPPED = {
    "sparse-vector": ("1", True),
    "sparse-vector-three": ("1", True),
    "sparse-vector-geometric": ("1", True),
    "numeric-sparse-vector": ("1", True),
    "two-ranges": ("1", True),
    "min-max-three": ("1", False),
    "sparse-vector-never-stops": ("leaking pair", False),
    "sparse-vector-new-threshold": ("leaking cycle", False),
    "numeric-sparse-vector-same-noise": ("privacy-violating path", False),
    "every-number": ("disclosing cycle", False),
}

START = "(q1, 1/4, 0): x := insample; output oa; goto q2\n"


def below(stay: str, leave: str) -> str:
    """A test whether a sample is below x: goes to the first state if so, else to the second one."""
    return (
        f"if (insample < x) then output oa; goto {stay} elseif (insample >= x) then output ob; goto {leave}"
    )


def above(stay: str, leave: str) -> str:
    """A test whether a sample is above x."""
    return (
        f"if (insample >= x) then output oa; goto {stay} elseif (insample < x) then output ob; goto {leave}"
    )


KNOWN = {  # bodies after START, and a kind, or the multiple with whether it is known to be the least one
    "two loops in one state": (
        f"(q2, 1/4, 0): {above('q2', 'q2')}",
        "leaking pair",
    ),
    "a loop below, then a loop above": (
        f"(q2, 1/4, 0): {below('q2', 'q3')}\n(q3, 1/4, 0): {above('q3', 'q4')}",
        "leaking pair",
    ),
    "a loop below, then another one below": (
        f"(q2, 1/4, 0): {below('q2', 'q3')}\n(q3, 1/4, 0): {below('q3', 'q4')}",
        ("3/2", True),
    ),
    "a loop above x, then one below a value that is less": (
        "(q2, 1/4, 0): if (insample >= x) then output oa; goto q2 elseif (insample < x) then x := insample; "
        "output ob; goto q3\n"
        f"(q3, 1/5, 1): {below('q3', 'q4')}",
        "leaking pair",
    ),
    "a new value in between": (
        f"(q2, 1/4, 0): {below('q2', 'q3')}\n"
        "(q3, 1/4, 0): x := insample; output oa; goto q4\n"
        f"(q4, 1/4, 0): {above('q4', 'q5')}",
        ("2", True),
    ),
    "a bound that is less than the sum of the rates": (  # of three samples in a row one or two agree
        "(q2, 1/4, 9): if (insample >= x) then y := insample; output oa; goto q3\n"
        "(q3, 1/4, 0): if (insample < y && insample >= x) then output oa; goto q4",
        ("1/2", True),
    ),
    "a running maximum": (
        "(q2, 1/2, 0): if (insample >= x) then x := insample; output ob; goto q2",
        "leaking cycle",
    ),
    "a value beside a released one": (
        "(q2, 1/4, 0): x := insample; output insample; goto q3\n"
        "(q3, 1/2, 0): if (insample < x) then x := insample; output oa; goto q4\n"
        "(q4, 1/2, 0): if (insample < x) then output ob; goto q4",
        "privacy-violating path",
    ),
    "a second sample again and again": (
        "(q2, 1/4, 0, 1/3, 0): output insample'; goto q2",
        "disclosing cycle",
    ),
}
# States that read nothing: nothing can be learned of inputs that are not read.
SILENT = """(q1:non-input, 1/4, 0): x := insample; output oa; goto q2
(q2:non-input, 1/4, 0): if (insample < x) then output ob; goto q2
  elseif (insample >= x) then output oc; goto q3
(q3:non-input, 1/4, 0): x := insample; output insample; goto q2
"""


def told(report: AutomatonReport) -> object:
    """The kind of a family, or the multiple with whether it is the least one."""
    if report.standing is Standing.VIOLATED and report.family is not None:
        return report.family.kind
    return str(report.multiple), report.tight


def accepted(report: AutomatonReport) -> bool:
    """Whether the kernel accepts the evidence."""
    return check_document(automaton_evidence_document(report, ROOT, b"")).accepted


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_shipped(name: str) -> None:
    """Each shipped automaton has its verdict, with evidence that the kernel accepts."""
    report = verify(read_automaton(ROOT / "cases" / "automata" / f"{name}.dipa"))
    expected = SHIPPED[name]
    assert told(report) == (expected[0] if expected[0] in KINDS else expected)
    assert accepted(report)


def test_all_shipped_are_known() -> None:
    """No shipped automaton is left out."""
    assert {path.stem for path in (ROOT / "cases" / "automata").glob("*.dipa")} == set(SHIPPED)


@pytest.mark.parametrize("name", KNOWN)
def test_conditions(name: str) -> None:
    """Each condition of the literature is found where it is met, and a near miss of it is private."""
    body, expected = KNOWN[name]
    report = verify(parse_automaton(START + body))
    assert told(report) == expected
    assert accepted(report)


def test_nothing_is_read() -> None:
    """Cycles that compare, store and release cost nothing if no input is read."""
    assert told(verify(parse_automaton(SILENT))) == ("0", True)


@pytest.mark.slow
def test_outputs_that_do_not_tell_the_way() -> None:
    """Where two transitions put out the same, ways whose costs grow refute nothing; a proof stays one."""
    body, _ = KNOWN["two loops in one state"]
    report = verify(parse_automaton(START + body.replace("output ob", "output oa")))
    assert report.standing is Standing.UNKNOWN
    assert "outputs do not reveal which path the run took" in report.reason
    path = ROOT / "cases" / "automata" / "min-max-three.dipa"
    assert verify(read_automaton(path)).standing is Standing.HOLDS


@pytest.mark.parametrize("pairs", [1, 2, 3, 8])
def test_ranges_of_any_number(pairs: int) -> None:
    """With rates 1/(4·m) for 2·m thresholds, m-range costs 2·m/(4·m) and one sample of rate 1/4 twice: 1."""
    text = ""
    for k in range(2 * pairs):
        text += f"(q{k + 1}:non-input, 1/{4 * pairs}, 0): v{k} := insample; output oa; goto q{k + 2}\n"
    end = 3 * pairs + 1
    for k in range(pairs):
        state, low, high = 2 * pairs + 1 + k, f"v{2 * k}", f"v{2 * k + 1}"
        following = 2 * pairs + 1 + (k + 1) % pairs
        text += (
            f"(q{state}, 1/4, 0): "
            f"if (insample >= {low} && insample < {high}) then output ob; goto q{following} "
            f"elseif (insample >= {low} && insample >= {high}) then output oc; goto q{end} "
            f"elseif (insample < {low} && insample < {high}) then output od; goto q{end}\n"
        )
    assert told(verify(parse_automaton(text))) == ("1", True)


LOOPED = """
(q1:non-input, 1, 0): x := insample; output oa; goto q2
(q2, 3/2, 0): y := insample; output oa; goto q3
(q3, 1/4, 0): if (insample <= x && insample <= y) then output insample; goto q4
    elseif (insample > x) then output ob; goto q2
"""
UNTIGHT = """
(q1:non-input, 1/4, 0): x := insample; output oa; goto q2
(q2, 1/2, 0): if (insample > x) then output oa; goto q3
(q3:non-input, 3/2, 0): if (insample > x) then y := insample; output oa; goto q4
(q4:non-input, 1/3, 0): if (insample >= y) then x := insample; output oa; goto q4
    elseif (insample < x && insample < y) then y := insample; output ob; goto q4
"""


def test_a_value_that_each_repetition_stores_again() -> None:
    """Only the last repetition of a stored value is compared afterwards: the others cost nothing."""
    automaton = parse_automaton(LOOPED)
    report = verify(automaton)
    assert report.family is not None
    assert accepted(report)
    for count in (2, 5):
        assert worst(automaton, report.family.way(count)) >= count * report.family.gain


@pytest.mark.parametrize("seed", [None, *range(20)])
def test_rates_of_any_size(seed: int | None) -> None:
    """All rates times a number of 40 digits: all costs times that number."""
    automaton = parse_automaton(UNTIGHT) if seed is None else random_automaton(random.Random(seed))
    factor = 1 + Fraction(1, 10**40)
    scaled = replace(
        automaton,
        states=tuple(
            replace(
                s,
                rate=s.rate * factor,
                second=None if s.second is None else (s.second[0] * factor, s.second[1]),
            )
            for s in automaton.states
        ),
    )
    try:
        report, other = verify(automaton), verify(scaled)
    except InputError:
        return
    assert (other.standing, other.least) == (report.standing, report.least * factor)
    assert other.multiple == (None if report.multiple is None else report.multiple * factor)
    assert other.standing is Standing.UNKNOWN or accepted(other)


@cache
def decided(seed: int) -> tuple[Automaton, AutomatonReport] | None:
    """A random automaton with what was found of it; None where it is none."""
    automaton = random_automaton(random.Random(seed))
    try:
        return automaton, verify(automaton)
    except InputError:
        return None


def reports(count: int) -> list[tuple[int, Automaton, AutomatonReport]]:
    """The first random automata that are some."""
    found = ((seed, decided(seed)) for seed in range(10**6))
    return list(islice(((seed, *pair) for seed, pair in found if pair is not None), count))


@pytest.mark.slow
def test_random_automata_against_all_ways() -> None:
    """No way of a private automaton costs more than the multiple, and ways of a family cost what it says."""
    kinds = set()
    for seed, automaton, report in reports(30):
        assert report.standing is not Standing.UNKNOWN, seed
        assert accepted(report), seed
        kinds.add(report.standing)
        generator = random.Random(seed)
        if report.family is None:
            assert report.multiple is not None
            every = ways(automaton, 4)
            for way in generator.sample(every, min(3, len(every))):
                assert worst_cost(automaton, way) <= report.multiple, (seed, way)
            if report.way is not None and len(report.way.steps) <= 7:
                assert least_cost(automaton, report.way.steps, report.way.signs) == report.way.cost
            continue
        family = report.family
        for count in (2, 4):
            assert family.way(count) in ways_with(automaton, family.way(count)), seed
            assert worst(automaton, family.way(count)) >= family.gain * (count // family.period), seed
    assert kinds == {Standing.HOLDS, Standing.VIOLATED}


def ways_with(automaton: Automaton, way: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The ways of an automaton that has the transitions of one way only."""
    kept = tuple(s if n in way else None for n, s in enumerate(automaton.transitions))
    numbers = [n for n, s in enumerate(kept) if s is not None]
    small = Automaton(automaton.states, automaton.variables, tuple(automaton.transitions[n] for n in numbers))
    return [tuple(numbers[k] for k in found) for found in along(small, [numbers.index(n) for n in way])]


def along(automaton: Automaton, way: list[int]) -> list[tuple[int, ...]]:
    """The way itself, if it is possible: every step is looked at alone."""
    steps = tuple(automaton.transitions[n] for n in way)
    renamed = [type(s)(k, k + 1, s.output, s.above, s.below, s.stored) for k, s in enumerate(steps)]
    states = tuple(automaton.states[s.source] for s in steps) + automaton.states[:1]
    line = Automaton(states, automaton.variables, tuple(renamed))
    return [tuple(way)] if any(len(found) == len(way) for found in ways(line, len(way))) else []


def worst(automaton: Automaton, way: tuple[int, ...]) -> Fraction:
    """The worst cost of a way that may be long: by the flows of the package, which other tests compare."""
    reads = [automaton.states[automaton.transitions[n].source].reads for n in way]
    generator, best = random.Random(1), Fraction(0)
    wanted = [automaton.transitions[n] for n in way]
    guesses = [[-1 if s.below else 1 for s in wanted], [1 if s.above else -1 for s in wanted]]
    guesses += [[generator.choice((-1, 1)) for _ in way] for _ in range(15)]
    guesses += [[1 if k % 2 else -1 for k in range(len(way))], [-1 if k % 2 else 1 for k in range(len(way))]]
    for guess in guesses:
        signs = [sign if reading else 0 for sign, reading in zip(guess, reads, strict=True)]
        best = max(best, cost(automaton, way, signs).cost)
    return best


@pytest.mark.slow
def test_random_automata_against_the_engine() -> None:
    """Closed forms of programs: no multiple that is proved is exceeded, and one below a family's cost is."""
    options = Options(seconds=20)
    for seed, automaton, report in reports(6):
        if report.family is not None:
            assert find_example(report, report.family.gain * 3 / 4, options).example is not None, seed
            continue
        assert report.multiple is not None
        every = [way for way in ways(automaton, 4) if len(way) == 4] or ways(automaton, 4)
        way = random.Random(seed).choice(every)
        signs = max(signs_of(automaton, way), key=lambda found: least_cost(automaton, way, found))
        if not any(signs):
            continue
        costly = cost(automaton, way, signs)
        given = [streams(automaton, costly, 0)]
        text = case_of_all(automaton, costly.steps, given, StreamBudget(report.multiple), WIDTH)
        with standing_in(Path("way.toml"), text.encode()):
            assert verify_case(load("way.toml"), options).status is not Standing.VIOLATED, seed


def test_costs_by_flows() -> None:
    """The cost of a way by two flows is the least over all shifts."""
    for seed, automaton, _ in reports(12):
        every = [way for way in ways(automaton, 4) if len(way) == 4] or ways(automaton, 3)
        way = random.Random(seed).choice(every)
        for signs in signs_of(automaton, way)[:4]:
            assert cost(automaton, way, signs).cost == least_cost(automaton, way, signs), (seed, way, signs)
