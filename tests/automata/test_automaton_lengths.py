"""Budgets of automata for each length: against brute force, by the kernel, and with streams of numbers."""

from __future__ import annotations

import copy
import json
import math
import random
import sys
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from automaton_documents import corners
from automaton_oracle import order_of, random_text, ways, worst_cost
from conftest import ROOT
from engine_documents import own
from test_json_formats import mistakes

from paramverify.automata.automaton import Automaton, parse_automaton, read_automaton
from paramverify.automata.automaton_evidence import document as automaton_document
from paramverify.automata.automaton_evidence import lengths as lengths_document
from paramverify.automata.automaton_evidence import machine
from paramverify.automata.stream_costs import Lengths, by_length, verify_one
from paramverify.automata.stream_verdicts import WIDTH, AutomatonReport, verify
from paramverify.automata.way_programs import largest
from paramverify.cli.main import run
from paramverify.errors import InputError
from paramverify.kernel.documents import check_document
from paramverify.reports.stream_reports import automaton_evidence_document

CASES = ROOT / "cases" / "automata"
BRUTE = {  # steps that read nothing come first: so many
    "sparse-vector": (1, 3),
    "sparse-vector-geometric": (1, 3),
    "sparse-vector-never-stops": (1, 3),
    "numeric-sparse-vector": (1, 3),
    "numeric-sparse-vector-same-noise": (1, 3),
    "every-number": (0, 4),
    "min-max-three": (0, 3),
}


def inputs_of(automaton: Automaton, steps: tuple[int, ...]) -> int:
    """How many inputs a way reads."""
    return sum(automaton.state_of(automaton.transitions[n]).reads for n in steps)


def document_of(report: AutomatonReport, found: Lengths) -> dict[str, Any]:
    """The evidence with the budgets of lengths, as it is written to a file."""
    lengths = {"lengths": lengths_document(report.graph, found, ways=report.confused is None)}
    document = automaton_evidence_document(report, ROOT, b"", lengths)
    told: dict[str, Any] = json.loads(json.dumps(document))
    return told


@pytest.mark.parametrize("name", BRUTE)
def test_against_all_ways(name: str) -> None:
    """The budget of a length is the largest cost of the ways that read no more, over all whole shifts."""
    silent, most = BRUTE[name]
    report = verify(read_automaton(CASES / f"{name}.dipa"))
    found = by_length(report.graph, most, 60)
    every = [(inputs_of(report.automaton, w), w) for w in ways(report.automaton, silent + most)]
    costs = [(read, worst_cost(report.automaton, way)) for read, way in every]
    for entry in found.found:
        assert entry.multiple == max([c for read, c in costs if read <= entry.inputs], default=0)
        assert entry.way is None or inputs_of(report.automaton, entry.way.steps) <= entry.inputs
        assert (entry.way.cost if entry.way else 0) == entry.multiple
    assert [entry.inputs for entry in found.found] == list(range(most + 1))
    checked = check_document(document_of(report, found))
    assert checked.accepted, checked.lines
    if report.confused is None:
        last = found.found[-1].multiple
        assert f"length {most}: {last} times epsilon is enough, and no less is" in checked.lines


@pytest.mark.slow
@pytest.mark.parametrize("geometric", [False, True])
def test_random_automata(geometric: bool) -> None:
    """Budgets never fall, stay below the multiple for all, and are not less than a way costs."""
    compared = 0
    for seed in range(100):
        try:
            report = verify(parse_automaton(random_text(random.Random(seed), geometric)))
        except InputError:
            continue
        found = by_length(report.graph, 3, 60)
        multiples = [entry.multiple for entry in found.found]
        assert multiples == sorted(multiples)
        assert report.multiple is None or multiples[-1] <= report.multiple
        every = [w for w in ways(report.automaton, 3) if inputs_of(report.automaton, w)]
        for way in random.Random(seed).sample(every, min(4, len(every))):
            assert worst_cost(report.automaton, way) <= multiples[inputs_of(report.automaton, way)], seed
        if report.multiple is not None or (report.family and not report.confused):
            assert check_document(document_of(report, found)).accepted, seed
        compared += 1
    assert compared > 15


Change = Callable[[dict[str, Any]], Any]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sparse-vector", "sparse-vector-geometric", "numeric-sparse-vector"])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(3)])
def test_streams_of_numbers(name: str, epsilon: Fraction) -> None:
    """For each epsilon the losses of streams stay below the budget, and far streams come near to it."""
    report = verify(read_automaton(CASES / f"{name}.dipa"))
    entry = by_length(report.graph, 1, 60).found[1]
    assert entry.way is not None
    found = largest(report.automaton, entry.way, WIDTH, epsilon, math.inf)
    assert found is not None
    assert found.high - found.low < Fraction(1, 10**30)
    assert Fraction(19, 20) * entry.multiple * epsilon < found.low < found.high <= entry.multiple * epsilon


@pytest.mark.slow
@pytest.mark.parametrize(
    ("inputs", "epsilon"), [(20, Fraction(1, 100)), (1, Fraction(1, 10**90)), (3, Fraction(90))]
)
def test_losses_where_sums_cancel(inputs: int, epsilon: Fraction) -> None:
    """As many bits are taken as the probabilities need; no loss is 0 or less, or more than the budget."""
    automaton = parse_automaton("(q1, 1/4, 0): output insample; goto q1")
    (length,) = by_length(verify(automaton).graph, inputs, 60.0).found[-1:]
    assert length.way is not None
    found = largest(automaton, length.way, WIDTH, epsilon, time.monotonic() + 60)
    assert found is not None
    assert (
        0
        < length.multiple * epsilon * Fraction(99, 100)
        < found.low
        <= found.high
        <= length.multiple * epsilon
    )


def test_an_inexact_budget_for_every_length(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """All budgets of lengths are exact, and the one for every length is not: the exit code says so."""
    path = tmp_path / "gap.dipa"
    path.write_text(
        "noise geometric\n(q1, 1/2, 0, 1/2, -1): t := insample, u := insample; output w0; goto q3\n"
        "(q2:non-input, 1/2, 2): if (insample > u) then t := insample, u := insample; output w0; goto q2\n"
        "(q3, 1/2, 0): if (insample < u) then output w0; goto q2\n"
        "elseif (insample >= t) then output w1; goto qe elseif (insample > u) then output w2; goto q2\n"
    )
    for more in ([], ["--length", "1..3"]):
        assert run(["budget", str(path), "--json", *more]) == 3
        document = json.loads(capsys.readouterr().out)
        assert document["exact"] is False
        assert document["multiple"] != document["multiple_lower"]


def ranges(count: int) -> str:
    """An automaton with a noisy interval for each of so many inputs; the sample has another rate."""
    lines = []
    for k in range(count):
        lines.append(f"(a{k}:non-input, 1/{3 + k}, 0): l{k} := insample; output o; goto b{k}")
        target = f"a{k + 1}" if k + 1 < count else "r0"
        lines.append(f"(b{k}:non-input, 1/{3 + k}, 1): h{k} := insample; output o; goto {target}")
    for k in range(count):
        lines.append(
            f"(r{k}, 1/{4 - k % 2}, 0): if (insample >= l{k} && insample < h{k}) then output i; goto r{k + 1}"
            f" elseif (insample < l{k}) then output b; goto r{(k + 1) % count}"
        )
    return "\n".join(lines) + "\n"


def worst_of_ways(automaton: Automaton, inputs: int, one: bool) -> Fraction:
    """The largest cost of ways with so many inputs, over the shifts of all samples that are compared."""
    silent = sum(not state.reads for state in automaton.states[:-1])
    data, found = machine(automaton), [Fraction(0)]
    for way in ways(automaton, silent + inputs):
        used = {k for k, n in enumerate(way) if automaton.state_of(automaton.transitions[n]).reads}
        if len(used) == inputs:
            order = order_of(automaton, way)
            kept = sorted(used | {low for low, _ in order} | {high for _, high in order})
            for signs in corners(data, way):
                single = [[s * (k == place) for k, s in enumerate(signs)] for place in used]
                found += [least_of(automaton, way, kept, order, own) for own in (single if one else [signs])]
    return max(found)


def least_of(
    automaton: Automaton,
    way: Sequence[int],
    kept: list[int],
    order: list[tuple[int, int]],
    signs: Sequence[int],
) -> Fraction:
    """The least cost over all shifts of the samples that are compared; the others stay where they are."""
    rates = [automaton.state_of(automaton.transitions[n]).rate for n in way]
    return min(
        sum((rates[k] * abs(s + signs[k]) for k, s in zip(kept, shifts, strict=True)), Fraction(0))
        for shifts in product((-1, 0, 1), repeat=len(kept))
        if all(shifts[kept.index(low)] <= shifts[kept.index(high)] for low, high in order)
    )


@pytest.mark.slow
@pytest.mark.parametrize("one", [False, True])
def test_many_values(one: bool) -> None:
    """With more than five stored values budgets are those of brute force, and the kernel accepts them."""
    automaton = parse_automaton(ranges(3))
    report = verify(automaton)
    assert max(len(node.known) for node in report.graph.nodes) == 6
    enough = verify_one(automaton).multiple if one else report.multiple
    found = by_length(report.graph, 3, 60, one=one, enough=enough)
    for entry in found.found:
        assert entry.least == entry.multiple
        if entry.inputs <= 2:
            assert entry.multiple == worst_of_ways(automaton, entry.inputs, one)
    parts = {
        "streams": {"differ": "one" if one else "each"},
        "lengths": lengths_document(report.graph, found, one=one),
    }
    assert any(len(table["variables"]) > 5 for table in parts["lengths"]["tables"])
    if not one:
        about = own(document_of(report, found))
        parts |= {name: about[name] for name in ("proof", "tables") if name in about}
    document = json.loads(json.dumps(automaton_document(automaton, "bounds", "", "", parts)))
    checked = check_document(document)
    assert checked.accepted, checked.lines
    assert (
        checked.lines[-1] == f"length 3: {found.found[-1].multiple} times epsilon is enough, and no less is"
    )
    for change in MANY_FORGED:
        forged = copy.deepcopy(document)
        tables = [t for t in own(forged)["lengths"]["tables"] if t["read"] and t.get("differed", True)]
        change(next(t for t in tables if len(t["costs"]) > 1))
        assert not check_document(forged).accepted


MANY_FORGED: tuple[Change, ...] = (
    lambda t: t["costs"].update({signs: "0" for signs in t["costs"] if set(signs) == {"0"}}),
    lambda t: t["costs"].update({"0000000": "0"}),
    lambda t: t["costs"].update({"00x000": "0"}),
    lambda t: t.update(costs={"": "0"}),
    lambda t: t.update(costs={}),
    lambda t: t.pop("costs"),
)


@pytest.mark.slow
def test_bounds_where_tables_are_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """If only some shifts are looked at, the multiples are still enough, and the others not exceeded."""
    gaps = 0
    report = verify(parse_automaton(ranges(3)))
    exact = by_length(report.graph, 3, 60)
    for entries, tried in ((3, 0), (30, 5), (100, 40)):
        monkeypatch.setattr("paramverify.automata.stream_costs.MOST_ENTRIES", entries)
        monkeypatch.setattr("paramverify.automata.stream_costs.MOST_TRIED", tried)
        found = by_length(report.graph, 3, 60, enough=report.multiple)
        for told, true in zip(found.found, exact.found, strict=True):
            assert told.least <= true.multiple <= told.multiple
            gaps += told.least < told.multiple
        assert check_document(document_of(report, found)).accepted
    assert gaps


def test_too_little_time() -> None:
    """Without time there are no budgets, or those of every length."""
    report = verify(read_automaton(CASES / "sparse-vector.dipa"))
    assert by_length(report.graph, 3, -1) == Lengths((), ())
    found = by_length(report.graph, 3, -1, enough=report.multiple)
    assert [(entry.inputs, entry.multiple, entry.least) for entry in found.found] == [
        (n, 1, 0) for n in range(4)
    ]
    checked = check_document(document_of(report, found))
    assert checked.accepted
    assert checked.lines[-1] == "length 3: 1 times epsilon is enough"


def output(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code of a command, and what it prints."""
    code = run(arguments)
    return code, capsys.readouterr().out


@pytest.mark.slow
def test_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The text, the JSON and the evidence say the same."""
    case, path = str(CASES / "sparse-vector.dipa"), str(tmp_path / "e.json")
    code, text = output(["budget", case, "--length", "1..2", "--epsilon", "2", "--evidence", path], capsys)
    first = "streams of every length: epsilon = 2, and no smaller budget is enough."
    assert (code, text.split("\n")[0]) == (0, first)
    code, printed = output(["budget", case, "--length", "1..2", "--epsilon", "2", "--json"], capsys)
    document = json.loads(printed)
    assert (code, list(mistakes(document, "budget of an automaton", "b"))) == (0, [])
    assert [entry["inputs"] for entry in document["lengths"]] == [1, 2]
    for entry in document["lengths"]:
        first, second = ([Fraction(x) for x in stream] for stream in entry["loss"]["streams"])
        assert len(first) <= entry["inputs"]
        assert all(abs(x - y) == 1 for x, y in zip(first, second, strict=True))
        assert entry["loss"]["bounds"][1] <= 2 * Fraction(entry["multiple"])
    code, text = output(["check", path, "--case", case], capsys)
    assert code == 0
    assert f"length 2: {document['lengths'][1]['multiple']} times epsilon is enough, and no less is" in text
    assert "read a second time: 3 states and 3 transitions" in text


@pytest.mark.slow
def test_command_without_a_budget(capsys: pytest.CaptureFixture[str]) -> None:
    """That there is no budget for all lengths is an answer; a budget that may be too large is none."""
    code, text = output(["budget", str(CASES / "every-number.dipa"), "--length", "3", "--json"], capsys)
    document = json.loads(text)
    assert (code, document["infinite"], document["lengths"][0]["multiple"]) == (0, True, "3")
    code, text = output(["budget", str(CASES / "min-max-three.dipa"), "--length", "2"], capsys)
    assert (code, "outputs do not reveal which path the run took" in text) == (3, True)
    for given in (["--length", "0..9999"], ["--length", "4..2"], ["--length", "x"], ["--epsilon", "0"]):
        assert run(["budget", str(CASES / "every-number.dipa"), *given]) == 2
    assert run(["budget", str(CASES / "every-number.dipa"), "--curve"]) == 2
    assert run(["budget", str(ROOT / "cases" / "geometric-neighbours.toml"), "--length", "3"]) == 2


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["1e-400", "1e308", "7.19077e308", "7.2e308", "1e309", "1e900"])
def test_losses_beyond_floats(epsilon: str, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON has floats around a loss, and null where none is so large; it has no other numbers."""
    path = str(CASES / "sparse-vector.dipa")
    code, text = output(["budget", path, "--length", "1", "--epsilon", epsilon, "--json"], capsys)
    document = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    assert (code, list(mistakes(document, "budget of an automaton", path))) == (0, [])
    low, high = document["lengths"][0]["loss"]["bounds"]
    budget = Fraction(document["lengths"][0]["multiple"]) * Fraction(document["epsilon"])
    most = Fraction(sys.float_info.max)
    assert low is None or Fraction(low) <= budget
    assert high is None or high > 0
    assert (high is None) is (budget > most)
    assert low is not None or budget > most


CONFUSED = "(q1:non-input, 1/2, 0): t := insample; output o; goto q2\n(q2{}, 1/4, 0): "
BOTH = "if (insample < t) then output a; goto q2 elseif (insample >= t) then output a; goto {}\n"
WITHOUT = {  # a file whose outputs do not tell the way, and whether 0 is enough for every length
    "nothing is read": (CONFUSED.format(":non-input") + BOTH.format("q3"), True),
    "a bound": (CONFUSED.format("") + BOTH.format("q3"), False),
    "no bound is known": (CONFUSED.format("") + BOTH.format("q2"), False),
}


@pytest.mark.parametrize("name", WITHOUT)
def test_nothing_is_below_0(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A multiple of 0 is exact, whatever outputs tell; each multiple above it is not. Both have evidence."""
    content, nothing = WITHOUT[name]
    case, path = tmp_path / "a.dipa", tmp_path / "e.json"
    case.write_text(content)
    asked = ["budget", str(case), "--length", "0..2"]
    code, text = output([*asked, "--evidence", str(path)], capsys)
    assert code == (0 if nothing else 3)
    assert ("Note: the outputs do not reveal which path the run took" in text) is not nothing
    assert text.startswith("streams of every length: 0, and no smaller budget is enough.") is nothing
    document = json.loads(output([*asked, "--json"], capsys)[1])
    assert list(mistakes(document, "budget of an automaton", name)) == []
    assert document["exact"] is nothing
    for entry in document["lengths"]:
        assert entry["tight"] is (nothing or entry["inputs"] == 0) is (entry["multiple"] == "0")
        assert entry["multiple_lower"] == ("0" if entry["tight"] else None)
    code, told = output(["check", str(path), "--case", str(case)], capsys)
    assert code == 0
    for entry in document["lengths"]:
        assert f"length {entry['inputs']}: {entry['multiple']} times epsilon is enough\n" in told
    assert "read a second time: " in told


def test_evidence_of_lengths_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where nothing is known of every length, evidence is about lengths, and about one file."""
    content, _ = WITHOUT["no bound is known"]
    case, path = tmp_path / "a.dipa", tmp_path / "e.json"
    case.write_text(content)
    assert run(["budget", str(case), "--evidence", str(path)]) == 3
    assert not path.exists()
    assert run(["budget", str(case), "--length", "0..2", "--evidence", str(path)]) == 3
    document = json.loads(path.read_text())
    assert document["status"] == "bounds"
    assert check_document(document).lines[0] == "about streams whose entries differ by 1 at most each"
    changes: list[Callable[[dict[str, Any]], Any]] = [
        lambda d: own(d)["lengths"]["budgets"][2].update(multiple="49/100"),
        lambda d: own(d)["streams"].update(differ="one"),
        lambda d: own(d)["streams"].update(by="2"),
        lambda d: own(d)["streams"].update(values=["0", "1"]),
        lambda d: d.update(status="holds"),
        lambda d: own(d)["automaton"]["states"][1].update(rate="1/5"),
        lambda d: d["case"].update(digest="0" * 64),
    ]
    for change in changes:
        changed = copy.deepcopy(document)
        change(changed)
        path.write_text(json.dumps(changed))
        assert run(["check", str(path), "--case", str(case)]) == 1
    capsys.readouterr()
