"""Least budgets of cases about streams: beside brute force and exact losses, and their evidence."""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from automaton_documents import corners, cost
from automaton_oracle import random_text, ways
from engine_documents import own
from stream_programs import EPSILON, HEADER, chances, random_laplace, unrolled, written_out

from paramverify.answers import Standing
from paramverify.automata.automaton_evidence import machine
from paramverify.automata.least_stream_budgets import Budgets, find_budgets
from paramverify.automata.stream_cases import StreamBudget, StreamCase, load
from paramverify.automata.stream_verdicts import WIDTH, decide
from paramverify.automata.way_costs import Way
from paramverify.automata.way_programs import chances as exactly
from paramverify.automata.way_programs import largest, reads
from paramverify.errors import CaseError, InputError
from paramverify.files import standing_in
from paramverify.kernel.documents import check_document
from paramverify.kernel.ledger import Demanded
from paramverify.kernel.strict_reading import Rejected
from paramverify.models.model import Model
from paramverify.portfolio.session import Options
from paramverify.reports.stream_reports import BudgetSubject, budget_document, budget_lines
from paramverify.reports.stream_reports import stream_evidence_document as stream_evidence
from paramverify.rereader.second_streams import compare_stream

ASKED = (1, 2, 3)
CASE = """[parameters]
eps = "(0, oo)"
{about}
[neighbours]
differ = "{differ}"
by = {by}
[privacy]
epsilon = "eps"
length = "all"
"""


def program(text: str, values: str = '"real"') -> str:
    """The mechanism of a case, with these values of entries."""
    stream = HEADER.replace('"real"', values)
    return f"[mechanism]\nkind = 'program'\nsource = '''\n{text.replace(HEADER, stream)}'''\n"


def case_of(about: str, differ: str = "each", by: int = 1) -> StreamCase:
    """A case about streams."""
    path = Path("stream.toml")
    with standing_in(path, CASE.format(about=about, differ=differ, by=by).encode()):
        return load(path)


def of_file(text: str, differ: str, by: int) -> StreamCase:
    """A case with the automaton of this text in a file."""
    with standing_in(Path("a.dipa"), text.encode()):
        return case_of('[automaton]\nfile = "a.dipa"\n', differ, by)


def budgets(case: StreamCase, asked: tuple[int, ...] = ASKED) -> Budgets:
    """What is found of a case."""
    return find_budgets(case.automaton, case.compared, asked, None, math.inf)


def evidence(case: StreamCase, found: Budgets) -> dict[str, Any] | None:
    """The evidence as it is written."""
    told = BudgetSubject.of_case(case).evidence(found)
    return None if told is None else dict(json.loads(json.dumps(told)))


def demanded(case: StreamCase) -> Demanded:
    """What the kernel compares with a case."""
    return Demanded(engine={"automaton": machine(case.automaton)})


def differences(data: dict[str, Any], steps: tuple[int, ...], one: bool) -> Iterator[tuple[int, ...]]:
    """Differences of two streams: each entry by 1, or one of them."""
    for signs in corners(data, steps):
        if not one:
            yield signs
        for place, sign in enumerate(signs if one else ()):
            if sign:
                yield tuple(sign if k == place else 0 for k in range(len(signs)))


def worst(case: StreamCase, inputs: int, steps: int) -> Fraction:
    """The largest cost of ways that read at most so many inputs: all shifts and differences are tried."""
    data = machine(case.automaton)
    found = [Fraction(0)]
    for way in ways(case.automaton, steps):
        read = sum(data["states"][data["transitions"][n]["source"]]["reads"] for n in way)
        if read <= inputs:
            found += [cost(data, way, signs) for signs in differences(data, way, case.one)]
    return max(found) * case.reach


@pytest.mark.slow
@pytest.mark.parametrize(("differ", "geometric"), [("each", True), ("one", False), ("one", True)])
def test_files_beside_all_shifts(differ: str, geometric: bool) -> None:
    """The multiple of a length is the largest cost of its ways, with `by` times as much."""
    compared = 0
    for seed in range(30):
        by = 1 + seed % 3
        try:
            case = of_file(random_text(random.Random(seed), geometric), differ, by)
            found = budgets(case, (1, 2))
        except InputError:
            continue
        silent = any(not state.reads for state in case.automaton.states[:-1])
        for length in found.shown:
            told, true = found.enough(length), worst(case, length.inputs, 3)
            assert true <= told, seed
            if not silent and length.inputs <= 2:
                assert told == true, seed
            assert found.is_tight(length) or not found.told_apart
        assert found.multiple is None or found.multiple >= found.enough(found.shown[-1])
        if found.multiple is None and differ == "each":
            assert found.standing in (Standing.VIOLATED, Standing.UNKNOWN)
        told_evidence = evidence(case, found)
        assert told_evidence is not None
        report = check_document(told_evidence)
        assert report.accepted, (seed, report.lines)
        assert report.status == "budget"
        for length in found.shown if found.told_apart else ():
            said = f"length {length.inputs}: {found.enough(length)} times epsilon is enough"
            assert any(line.startswith(said) for line in report.lines)
            assert not found.least(length) or f"{said}, and no less is" in report.lines
            forged = copy.deepcopy(told_evidence)
            entry = own(forged)["lengths"]["budgets"][length.inputs]
            entry |= {"multiple": str(length.multiple - Fraction(1, 100))}
            entry.pop("least", None)
            assert not check_document(forged).accepted, seed
        compared += 1
    assert compared > 10


@pytest.mark.slow
@pytest.mark.parametrize("differ", ["each", "one"])
def test_programs_beside_all_shifts(differ: str) -> None:
    """The multiples of random programs are those of brute force, and streams of numbers come near to them."""
    near = 0
    for seed in range(14):
        text = random_laplace(random.Random(seed))
        case = case_of(program(text), differ, 1 + seed % 2)
        found = budgets(case, (1, 2))
        silent = 2 if "u = " in text else 1
        for length in found.shown:
            if length.inputs == 1 or "laplace(2 / eps)" not in text:
                assert found.enough(length) == worst(case, length.inputs, silent + length.inputs), seed
        if length.way is not None and found.told_apart and seed % 3 == 0:
            epsilon = Fraction(3)
            loss = largest(case.automaton, length.way, WIDTH, epsilon, math.inf, case.reach)
            if loss is not None:
                apart = zip(loss.chances.streams.first, loss.chances.streams.second, strict=True)
                assert {abs(a - b) for a, b in apart} <= {0, case.reach}
                assert loss.low <= found.enough(length) * epsilon
                near += loss.low > Fraction(9, 10) * found.enough(length) * epsilon
    assert near >= 2


@pytest.mark.slow
@pytest.mark.parametrize(("values", "differ"), [('"-1..1"', "one"), ("[0, 1/2]", "each")])
def test_few_values_beside_exact_losses(values: str, differ: str) -> None:
    """No loss of streams of these values exceeds the multiple, and that of a gap tends to the lower bound."""
    for seed in (4,) if differ == "each" else (3, 4):
        text = random_laplace(random.Random(seed))
        by = 2 if values == "[-1, 1]" else 1
        case = case_of(program(text, values), differ, by)
        found = budgets(case, (2,))
        (length,) = found.shown
        assert found.least(length) <= found.enough(length)
        assert case.values is not None
        streams = list(product(case.values, repeat=2))
        likely = {stream: outputs(text, streams[0], stream) for stream in streams}
        for one, other in product(streams, repeat=2):
            apart = [abs(a - b) for a, b in zip(one, other, strict=True)]
            if max(apart) > by or (differ == "one" and sum(d > 0 for d in apart) > 1) or one == other:
                continue
            loss = max(math.log(likely[one][word] / likely[other][word]) for word in likely[one])
            assert loss <= found.enough(length) * EPSILON + 1e-9
        gap = found.gaps.get(2)
        if gap is not None:
            way = Way(gap.steps, (), Fraction(100), ({}, {}))
            exact = exactly(case.automaton, way, gap.streams, WIDTH)
            assert exact is not None
            tends = exact.loss(Fraction(400), math.inf)
            assert tends is not None
            assert abs(tends.low / 400 - found.least(length)) < Fraction(1, 40)
        told = evidence(case, found)
        assert told is not None
        report = check_document(told)
        assert report.accepted, report.lines


def outputs(text: str, start: tuple[Fraction, ...], stream: tuple[Fraction, ...]) -> dict[str, float]:
    """How likely the outputs of a program are for a stream, by the engine for programs."""
    other = start if start != stream else tuple(x + 1 for x in stream)
    case = unrolled(written_out(text), [stream, other])
    assert isinstance(case.model, Model)
    (state,) = case.model.pairs[0].pi.weights
    return chances(case, state)


SVT = """T = laplace(2 / eps)
for x in stream(values="real"):
    if x + laplace(4 / eps) >= T:
        output("above")
        stop
    output("below")
"""
RISING = """T = laplace(1 / eps)
n = 0
for x in stream(values="real"):
    n += 1
    y = x + laplace(4 / eps) if n < 3 else x + laplace(1 / eps)
    if y >= T:
        output("above")
        T = laplace(1 / eps)
    else:
        output("below")
    if n == 3:
        stop
"""


@pytest.mark.parametrize("change", ['differ = "one"', 'differ = "each"\nby = 2', "values=[0, 1]"])
def test_evidence_of_another_relation(change: str) -> None:
    """Both readers say that evidence is about other streams; another budget of the case does not matter."""
    about = program(SVT, '"-1..1"' if "values" in change else '"real"')
    case = case_of(about)
    text = CASE.format(about=about, differ="each", by=1)
    told = evidence(case, budgets(case))
    assert told is not None
    assert "the streams agree" in compare_stream(told, text, Path())
    assert "the streams agree" in compare_stream(told, text.replace('= "eps"', '= "7*eps"'), Path())
    old = 'values="-1..1"' if "values" in change else 'differ = "each"\nby = 1'
    assert old in text
    with pytest.raises(Rejected, match="other neighbours"):
        compare_stream(told, text.replace(old, change), Path())


def test_no_entry_can_differ() -> None:
    """Where no two values are near there is nothing to bound, and the case is refused with the reason."""
    for values, by in (("[0, 5]", 1), ('"real"', 0)):
        with pytest.raises(CaseError) as refused:
            case_of(program(SVT, values), by=by)
        assert refused.value.key.startswith("neighbours")


LEAKS = """T = laplace(2 / eps)
for x in stream(values="real"):
    if x + laplace(4 / eps) >= T:
        output("above")
    else:
        output("below")
"""


@pytest.mark.slow
def test_no_bound_for_few_values() -> None:
    """That no multiple is enough for any numbers says nothing of few values; lengths have their bounds."""
    found = budgets(case_of(program(LEAKS, '"-1..1"')))
    told = budget_document(found)
    assert (told["status"], told["infinite"], told["multiple"], found.complete) == (
        "unknown",
        False,
        None,
        False,
    )
    assert found.lower >= Fraction(3, 4)
    assert budget_lines(found)[0].startswith("streams of every length: no bound is known; no multiple below ")
    case = case_of(program(LEAKS, '"-1..1"'))
    written = evidence(case, found)
    assert written is not None
    assert {"gap", "lengths"} < own(written).keys()
    assert not {"family", "least", "proof"} & own(written).keys()
    assert check_document(written).accepted
    any_numbers = budgets(case_of(program(LEAKS)))
    assert (any_numbers.standing, any_numbers.complete) == (Standing.VIOLATED, True)


# Programs that go on before they read the entry of a turn, with the least multiples for 1, 2 and 3 entries.
LATE = {
    "a word of the last turn": (
        """T = laplace(2 / eps)
last = "none"
for x in stream(values="real"):
    if last == "above":
        output("above")
        stop
    if last == "below":
        output("below")
    if x + laplace(4 / eps) >= T:
        last = "above"
    else:
        last = "below"
""",
        ("0", "1/4", "1/2"),
    ),
    "a draw before the entry": (
        """k = 0
y = laplace(2 / eps)
for x in stream(values="real"):
    if k == 0:
        k = 1
        y = x + laplace(4 / eps)
        output("read")
    else:
        z = laplace(2 / eps)
        if z >= y:
            output("a")
            stop
        output("b")
""",
        ("0", "1/4", "1/4"),
    ),
    "a word before the entry": (
        """T = laplace(2 / eps)
k = 0
for x in stream(values="real"):
    if k == 0:
        output("begin")
    k = 1
    if x + laplace(4 / eps) >= T:
        output("above")
        stop
    output("below")
""",
        ("1/4", "1/2", "3/4"),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("differ", ["each", "one"])
@pytest.mark.parametrize("values", ['"real"', "[0, 1]"])
@pytest.mark.parametrize("name", LATE)
def test_what_belongs_to_the_next_entry(name: str, values: str, differ: str) -> None:
    """What a turn does before it reads its entry is not told of streams that end before this entry."""
    text, least = LATE[name]
    case = case_of(program(text.replace('"real"', values)).replace('"real"', values), differ)
    assert case.automaton.late
    found = budgets(case, (0, *ASKED))
    true = [Fraction(0), *map(Fraction, least)]
    for length, number in zip(found.shown, true, strict=True):
        if differ == "each":
            assert found.enough(length) >= number
        assert found.least(length) <= number
    assert max(map(found.least, found.shown)) > 0
    told = evidence(case, found)
    assert told is not None
    assert check_document(told, demanded(case)).accepted
    content = CASE.format(about=program(text, values).replace('"real"', values), differ=differ, by=1)
    assert "agree" in compare_stream(told, content, Path())
    del own(told)["automaton"]["late"]
    assert not check_document(told, demanded(case)).accepted
    with pytest.raises(Rejected, match="before it reads an entry"):
        compare_stream(told, content, Path())


def test_programs_that_read_first() -> None:
    """Programs that read before they put out or draw are not late: their lengths are exact."""
    for text in (SVT, RISING):
        case = case_of(program(text))
        assert not case.automaton.late
        told = evidence(case, budgets(case))
        assert told is not None
        own(told)["automaton"]["late"] = True
        assert not check_document(told).accepted
        content = CASE.format(about=program(text), differ="each", by=1)
        with pytest.raises(Rejected, match="before it reads an entry"):
            compare_stream(told, content, Path())


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in LATE if name != "a word before the entry"])
def test_examples_have_the_next_entry(name: str) -> None:
    """The streams of an example are so long that the way is one of the program."""
    case = case_of(program(LATE[name][0]))
    case = replace(case, budget=StreamBudget(Fraction(1, 8)))
    verdict = decide(case, Options(seconds=20))
    assert verdict.example is not None
    read = reads(case.automaton, verdict.example.way.steps)
    assert len(verdict.example.streams.first) == len(verdict.example.streams.second) == read + 1
    told = json.loads(json.dumps(stream_evidence(verdict)))
    assert check_document(told).accepted, check_document(told).lines
    for side in own(told)["example"]["streams"]:
        side.pop()
    assert not check_document(told).accepted


@pytest.mark.slow
@pytest.mark.parametrize(("values", "positives"), [("-1..1", 3), ("0..3", 2), ("0..1", 1)])
def test_wide_gaps_are_found(values: str, positives: int) -> None:
    """Where -1, 0 and 1 are values and means are 0, the budget is that of any numbers, and it is found.

    Of other values the ways that go on below show the least budgets of single lengths.
    """
    text = f"""T = laplace(2 / eps)
hits = 0
for x in stream(values="{values}"):
    if x + laplace(8 / eps) >= T:
        output("above")
        hits += 1
        if hits >= {positives}:
            stop
    else:
        output("below")
"""
    found = budgets(case_of(program(text)), (1, 2, 3, 4))
    assert found.multiple == Fraction(1, 2) + positives * Fraction(1, 4)
    assert found.exact or values != "-1..1"
    assert all(map(found.is_tight, found.shown))


@pytest.mark.parametrize("asked", [(), ASKED])
def test_evidence_where_outputs_do_not_tell_the_way(asked: tuple[int, ...]) -> None:
    """Ways that cost without bound show nothing there: evidence has what is shown, or there is none."""
    text = """T = laplace(2 / eps)
for x in stream(values="real"):
    if x + laplace(3 / eps) >= T:
        output("a")
    output("a")
"""
    case = case_of(program(text))
    found = budgets(case, asked)
    assert not found.told_apart
    told = evidence(case, found)
    assert (told is None) is (not asked)
    if told is not None:
        assert check_document(told, demanded(case)).accepted
