"""Budgets of streams by value; entries of few values, beside brute force and the engine for programs."""

from __future__ import annotations

import copy
import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import exp, log
from pathlib import Path
from typing import Any

import pytest
from automaton_oracle import random_automaton, ways
from engine_documents import own

from paramverify.answers import Standing
from paramverify.automata.automaton import Automaton
from paramverify.automata.automaton_evidence import gap as gap_data
from paramverify.automata.automaton_evidence import machine
from paramverify.automata.stored_values import explore
from paramverify.automata.stream_cases import StreamBudget, StreamCase, load, read_budget
from paramverify.automata.stream_verdicts import WIDTH, StreamVerdict, decide
from paramverify.automata.way_costs import Way
from paramverify.automata.way_programs import Gap, Streams, Widest, chances, near_pairs, reads
from paramverify.errors import CaseError, InputError
from paramverify.files import standing_in
from paramverify.kernel.automaton_runs import machine as read_machine
from paramverify.kernel.automaton_ways import entries_of
from paramverify.kernel.automaton_ways import gap as checked_gap
from paramverify.kernel.documents import check_document
from paramverify.kernel.strict_reading import Rejected
from paramverify.portfolio.session import Options
from paramverify.reports.stream_reports import stream_evidence_document, stream_lines
from paramverify.rereader.second_streams import compare_stream

OPTIONS = Options(seconds=60)
SVT = """T = laplace(2 / eps)
for x in stream(values=VALUES):
    if x + laplace(4 / eps) >= T:
        output("above")
        stop
    output("below")
"""
TWICE = """t = laplace(1 / eps)
n = 0
for x in stream(values=VALUES):
    n += 1
    if x + laplace(1 / eps) >= t:
        output("above")
    else:
        output("below")
    if n == 2:
        stop
"""


def text_of(values: str, epsilon: str, neighbours: str = 'differ = "each"', program: str = SVT) -> str:
    """A case file."""
    return f"""[parameters]
eps = "(0, oo)"
c = "3/2"
d = 2
[mechanism]
kind = "program"
source = '''
{program.replace("VALUES", values)}'''
[neighbours]
{neighbours}
[privacy]
epsilon = "{epsilon}"
length = "all"
"""


def read(text: str) -> StreamCase:
    """The case of a text."""
    path = Path("budget.toml")
    with standing_in(path, text.encode()):
        return load(path)


def found(*given: str) -> StreamVerdict:
    """What is found of a case with these values, this budget and these neighbours."""
    return decide(read(text_of(*given)), OPTIONS)


BUDGETS = {
    "eps": (1, 0),
    "c*eps": ("3/2", 0),
    "eps + 0": (1, 0),
    "eps + eps": (2, 0),
    "2*eps/3 + eps/4": ("11/12", 0),
    "(1+1)*eps": (2, 0),
    "eps*c/d": ("3/4", 0),
    "(eps + eps/2)*d - eps": (2, 0),
    "-(-eps)": (1, 0),
    "0": (0, 0),
    "eps - eps": (0, 0),
    "eps + 1": (1, 1),
    "c + d*eps": (2, "3/2"),
    "0.5*eps": ("1/2", 0),
    "1/2 + eps/2": ("1/2", "1/2"),
    "d**2*eps": (4, 0),
}


@pytest.mark.parametrize("text", BUDGETS)
def test_budgets_by_value(text: str) -> None:
    """Both readers read a budget that is linear in the parameter, in every way of writing it."""
    multiple, plus = map(Fraction, BUDGETS[text])
    case = text_of('"real"', text)
    verdict = decide(read(case), OPTIONS)
    assert (verdict.case.budget.multiple, verdict.case.budget.plus) == (multiple, plus)
    assert verdict.standing is (Standing.HOLDS if multiple >= 1 else Standing.VIOLATED)
    document = stream_evidence_document(verdict)
    assert document is not None
    assert check_document(document).accepted
    assert "agree" in compare_stream(document, case, Path())
    with pytest.raises(Rejected):
        compare_stream(document, text_of('"real"', f"{text} + 1/1000"), Path())
    with pytest.raises(Rejected):
        compare_stream(document, text_of('"real"', f"{text} + eps/1000"), Path())


@pytest.mark.parametrize("fixed", ['c = { in = "[2, 2]" }', 'c = "[2, 2]"', "c = 2.0", 'c = { in = "2" }'])
def test_parameters_that_are_numbers(fixed: str) -> None:
    """Both readers take a parameter that is one number, however it is written."""
    text = text_of('"real"', "c * eps").replace('c = "3/2"', fixed)
    document = stream_evidence_document(decide(read(text), OPTIONS))
    assert document is not None
    assert own(document)["claim"]["multiple"] == "2"
    assert "agree" in compare_stream(document, text, Path())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("eps**2", "a multiple of eps is needed, such as 5/4 * eps, or with a number added"),
        ("eps^2", "a multiple of eps is needed, such as 5/4 * eps, or with a number added"),
        ("1/eps", "a multiple of eps is needed"),
        ("eps + ln(2)", "a multiple of eps is needed"),
        ("exp(eps)", "a multiple of eps is needed"),
        ("-eps", "a budget is 0 or more"),
        ("eps - 1", "a budget is 0 or more"),
        ("f * eps", "a multiple of eps is needed"),
    ],
)
def test_what_is_no_budget(text: str, reason: str) -> None:
    """What is not linear is refused, with what a budget may be; a negative one too."""
    with pytest.raises(InputError) as error:
        read_budget(text, "eps", {"c": Fraction(2)})
    assert reason in str(error.value)


@pytest.mark.parametrize(
    "text", [text for text in BUDGETS if "**" in text] + ["c**2*eps/9", "2**2*eps + 1/2**3"]
)
def test_powers_are_named(text: str) -> None:
    """Where `^` is all that is wrong, what to write instead is a budget; elsewhere what a budget may be."""
    constants = {"c": Fraction(3), "d": Fraction(2)}
    budget = read_budget(text, "eps", constants)
    with pytest.raises(InputError) as error:
        read_budget(text.replace("**", "^"), "eps", constants)
    assert "write ** for a power, not ^" in str(error.value)
    assert read_budget(error.value.mend.removeprefix("write "), "eps", constants) == budget
    with pytest.raises(InputError, match="a multiple of eps is needed"):
        read_budget(f"({text})*eps".replace("**", "^"), "eps", constants)


GOES_ON = SVT.replace("        stop\n", "")


@pytest.mark.slow
@pytest.mark.parametrize("program", [SVT, TWICE, GOES_ON])
def test_why_no_streams_were_looked_for(program: str) -> None:
    """Where a sequence of words begins with another one, no streams are tried; the reason says so."""
    told = found("[0, 1/3]", "1/8*eps", 'differ = "each"', program)
    assert (told.standing, told.report.confused) == (Standing.VIOLATED, None)
    twice = 'output("above")\n        output("above")'
    confused = program.replace('output("below")', 'output("above")').replace('output("above")', twice, 1)
    verdict = found("[0, 1/3]", "1/8*eps", 'differ = "each"', confused)
    assert verdict.report.confused
    assert verdict.standing is Standing.UNKNOWN
    assert (
        stream_lines(verdict)[1]
        == "  no streams were examined, because the outputs do not reveal which path the run took."
    )


def test_a_number_that_is_added() -> None:
    """It helps for small eps only: too small a multiple is exceeded where eps is large."""
    assert read_budget("1/2", "eps", {}) == StreamBudget(Fraction(0), Fraction(1, 2))
    verdict = found('"real"', "eps/2 + 3")
    assert verdict.standing is Standing.VIOLATED
    assert verdict.example is not None
    assert verdict.example.witness.ratio is not None
    assert found('"real"', "eps + 3").standing is Standing.HOLDS
    assert "epsilon = 1/2*eps + 3." in stream_lines(verdict)[0]


@pytest.mark.parametrize(
    ("values", "neighbours"),
    [("[7]", 'differ = "each"'), ("[0, 2]", 'differ = "one"'), ('"0..5"', 'differ = "each"\nby = 0')],
)
def test_entries_that_cannot_differ(values: str, neighbours: str) -> None:
    """No two values are near enough: a verdict would be about nothing, so the case is refused."""
    for program in (SVT, SVT.replace("        stop\n", "")):
        with pytest.raises(CaseError) as refused:
            read(text_of(values, "0", neighbours, program))
        assert refused.value.key.startswith("neighbours")


@pytest.mark.slow
@pytest.mark.parametrize(("by", "times"), [(1, 1), (2, 2), (7, 7)])
def test_entries_that_differ_by_more(by: int, times: int) -> None:
    """The least budget is so many times larger; streams are so many times further apart."""
    neighbours = f'differ = "each"\nby = {by}'
    assert found('"real"', f"{times} * eps", neighbours).standing is Standing.HOLDS
    text = text_of('"real"', f"{times} * eps * 2/3", neighbours)
    verdict = decide(read(text), OPTIONS)
    assert (verdict.standing, verdict.known, verdict.least) == (Standing.VIOLATED, times, times)
    assert verdict.example is not None
    streams = verdict.example.streams
    assert max(abs(a - b) for a, b in zip(streams.first, streams.second, strict=True)) == by
    document = stream_evidence_document(verdict)
    assert document is not None
    assert check_document(document).accepted
    assert "agree" in compare_stream(document, text, Path())
    own(document)["claim"]["by"] = "1"
    assert by == 1 or not check_document(document).accepted
    if by > 1:
        with pytest.raises(Rejected):
            compare_stream(document, text, Path())


FEW = [
    ('"-1..1"', 'differ = "each"', 1, 1),
    ("[0, 2]", 'differ = "each"\nby = "any"', "3/2", 2),
    ("[0, 1, 5]", 'differ = "one"', "1/4", "1/4"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("values", "neighbours", "least", "known"), FEW)
def test_bounds_for_few_values(values: str, neighbours: str, least: str, known: str) -> None:
    """The bound shrinks with the largest difference; a gap shows that less is not enough, with evidence."""
    verdict = found(values, "4 * eps", neighbours)
    assert (verdict.least, verdict.known) == (Fraction(least), Fraction(known))
    assert found(values, f"{known} * eps", neighbours).standing is Standing.HOLDS
    text = text_of(values, f"{Fraction(least) / 8} * eps", neighbours)
    verdict = decide(read(text), OPTIONS)
    assert verdict.standing is Standing.VIOLATED
    document = stream_evidence_document(verdict)
    assert document is not None
    assert "agree" in compare_stream(document, text, Path())
    own(document).pop("example", None)
    own(document)["claim"]["multiple"] = str(Fraction(least) - Fraction(1, 1000))
    assert check_document(document).accepted
    for other in forged(document):
        assert not check_document(other).accepted


def forged(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Documents about gaps that show less than they claim."""
    found = [copy.deepcopy(document) for _ in range(6)]
    gaps = [own(each)["gap"] for each in found]
    own(found[0])["claim"]["multiple"] = "10"
    gaps[1]["streams"][0] = ["99" for _ in gaps[1]["streams"][0]]
    gaps[2]["streams"].reverse()
    gaps[3]["levels"] = []
    gaps[4]["point"] = ["-9" for _ in gaps[4]["point"]]
    for level in gaps[5]["levels"]:
        level[2] = [[a, b, str(Fraction(amount) * 100)] for a, b, amount in level[2]]
    return found


def height(automaton: Automaton, steps: Sequence[int], stream: Sequence[Fraction], fixed: Any) -> Fraction:
    """min Σ d·|x − c| over samples in the order of a way, by all samples among the centres."""
    left, centres, holder = iter(stream), list[Fraction](), dict[int, int]()
    order = []
    for place, number in enumerate(steps):
        step = automaton.transitions[number]
        state = automaton.states[step.source]
        centres.append(state.mean + (next(left) if state.reads else 0))
        order += [(holder[v], place) for v in step.above] + [(place, holder[v]) for v in step.below]
        holder |= dict.fromkeys(step.stored, place)
    rates = [automaton.states[automaton.transitions[n].source].rate for n in steps]
    choices = sorted({*centres, *fixed.values()})
    costs = (
        sum(r * abs(x - c) for r, x, c in zip(rates, point, centres, strict=True))
        for point in product(choices, repeat=len(steps))
        if all(point[a] <= point[b] for a, b in order) and all(point[k] == x for k, x in fixed.items())
    )
    return Fraction(min(costs))


@pytest.mark.slow
def test_gaps_by_brute_force() -> None:
    """A gap is the difference of two least exponents; the kernel finds the same number."""
    compared = 0
    for seed in range(70):
        generator = random.Random(seed)
        automaton = random_automaton(generator)
        try:
            explore(automaton)
        except InputError:
            continue
        if automaton.noise != "laplace":
            continue
        for steps in generator.sample(list(ways(automaton, 4)), 2):
            length = reads(automaton, steps)
            if not length:
                continue
            values = [Fraction(generator.randint(-3, 3), 2) for _ in range(3)]
            pairs = near_pairs(set(values), Fraction(2))
            widest = Widest(automaton, pairs, False, None, float("inf"))
            widest.look(steps, [])
            if widest.best is not None:
                compared += brute(automaton, widest.best, set(values))
    assert compared >= 12


def brute(automaton: Automaton, gap: Gap, values: set[Fraction]) -> bool:
    """Compares a gap with brute force and with the kernel."""
    steps = [automaton.transitions[number] for number in gap.steps]
    fixed = {k: gap.point[k] for k, step in enumerate(steps) if step.releases}
    second = Fraction(0)
    left = iter(zip(gap.streams.first, gap.streams.second, strict=True))
    for step in steps:
        if automaton.state_of(step).reads:
            a, b = next(left)
            second += automaton.second_rate(step) * abs(a - b)
    one = height(automaton, gap.steps, gap.streams.first, fixed)
    other = height(automaton, gap.steps, gap.streams.second, fixed)
    assert gap.size == other + second - one
    claim = {"multiple": "0", "differ": "each", "by": "2", "values": [str(v) for v in values]}
    read = read_machine(machine(automaton))
    assert checked_gap(read, gap_data(gap), entries_of(claim)) == gap.size
    return bool(fixed) or gap.size > 0


@pytest.mark.slow
def test_a_gap_is_what_losses_tend_to() -> None:
    """The loss of two streams, divided by eps, comes near to the gap as eps grows."""
    case = read(text_of("[0, 1/2]", "eps", 'differ = "each"'))
    gap = decide(case, OPTIONS).gap
    assert gap is not None
    way = Way(gap.steps, tuple([0] * len(gap.steps)), Fraction(100), ({}, {}))
    exact = chances(case.automaton, way, Streams(gap.streams.first, gap.streams.second), WIDTH)
    assert exact is not None
    loss = exact.loss(Fraction(400), float("inf"))
    assert loss is not None
    assert abs(loss.low / 400 - gap.size) < Fraction(1, 50)


def integrated(stream: Sequence[float], word: str, eps: float) -> float:
    """How likely TWICE puts out a word, by adding up over its threshold."""

    def above(distance: float) -> float:
        tail = exp(-abs(distance) * eps) / 2
        return tail if distance > 0 else 1 - tail

    total, step = 0.0, 1 / (200 * eps)
    for k in range(-6000, 6001):
        t = k * step
        chance = eps / 2 * exp(-abs(t) * eps) * step
        for x, letter in zip(stream, word, strict=False):
            chance *= above(t - x) if letter == "a" else 1 - above(t - x)
        total += chance
    return total


@pytest.mark.slow
def test_finitely_many_ways() -> None:
    """Each way is decided for all streams of the values, between a gap and the bound for any numbers."""
    verdict = found("[0, 1]", "3/2 * eps", 'differ = "each"', TWICE)
    assert (verdict.least, verdict.known, verdict.standing, verdict.by_all) == (1, 2, Standing.HOLDS, True)
    assert any("Each was decided for all streams" in line for line in stream_lines(verdict))
    assert stream_evidence_document(verdict) is None
    for eps in (0.25, 4.0):
        for word in ("aa", "ab", "ba", "bb"):
            chances = [integrated(stream, word, eps) for stream in product((0, 1), repeat=2)]
            assert log(max(chances) / min(chances)) < 1.5 * eps
    assert found("[0, 1]", "9/10 * eps", 'differ = "each"', TWICE).standing is Standing.VIOLATED
