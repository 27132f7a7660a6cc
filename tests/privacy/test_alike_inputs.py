"""Inputs whose labels have commas, quotes and blanks in them: no two of them share a name anywhere."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from case_texts import program_case
from tools.theorem_tools import about, case_of

from paramverify.algebra.polynomials import value_at
from paramverify.cli.main import run
from paramverify.models.mechanisms import show_input
from paramverify.models.model import Model
from paramverify.privacy.runs import control_graph
from paramverify.statistics.black_boxes import CaseInputs
from paramverify.statistics.samplers import Experiment

FIRST = ["a", "a, b", '"a', "(a", " a", ", ", '"a, b"', "a\\"]
SECOND = ["b, c", "c", 'b", c', " c", ", c", "", '"c"', ', "b, c']

CASE = program_case(
    """b = 0
if p == {one} and q == {two}:
    b = 1
if flip(1/3):
    b = 1 - b
return b""",
    ("p = {{ values = {first} }}\nq = {{ values = {second} }}"),
    'ratio = "{ratio}"',
    near="{neighbours}",
)


def text_of(one: str, two: str, neighbours: str, ratio: str) -> str:
    """Returns the case of a program that knows one input."""
    told = {"one": json.dumps(one), "two": json.dumps(two), "first": json.dumps(FIRST)}
    return CASE.format(**told, second=json.dumps(SECOND), neighbours=neighbours, ratio=ratio)


def listed(pairs: list[Any]) -> str:
    """Returns neighbours one by one."""
    return f"pairs = {json.dumps(pairs)}"


def test_every_input_has_its_own_name() -> None:
    """Different inputs of the same length have different names."""
    for count in (2, 3):
        inputs = list(product([*FIRST, *SECOND, Fraction(1, 2)], repeat=count))
        assert len({show_input(given) for given in inputs}) == len(inputs)
    assert show_input(("a", Fraction(1), "b c")) == "(a, 1, b c)"


def test_every_state_has_its_input() -> None:
    """The model keeps the input of each state, and the graph of control is about all of them."""
    text = text_of("a, b", "c", 'differ = "one"\nby = "any"', "2")
    case = case_of(text)
    assert isinstance(case.model, Model)
    hmm = case.model.hmm
    assert set(hmm.inputs) == set(product(FIRST, SECOND))
    assert list(map(show_input, hmm.inputs)) == list(hmm.states)
    for given, row in zip(hmm.inputs, hmm.steps, strict=True):
        weights = {hmm.observations[s.observation]: value_at(s.weight, {}) for s in row}
        likely, other = ("1", "0") if given == ("a, b", "c") else ("0", "1")
        assert weights[likely] == 2 * weights[other]
    once = control_graph(case)
    twice = control_graph(case_of(text.replace('"program"', '"program"\ntimes = 2')))
    assert once is not None
    assert once[1]
    assert twice == once


@pytest.mark.slow
@pytest.mark.parametrize(("one", "two"), [("a, b", "c"), ("a", "b, c"), ('"a, b"', ", c"), (", ", "")])
def test_a_run_is_about_the_inputs_that_are_compared(
    one: str, two: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The run of a witness has the probabilities of the program on both inputs, whatever these are called."""
    path = tmp_path / "case.toml"
    for other in [given for given in product(FIRST, SECOND) if given != (one, two)][::9]:
        path.write_text(text_of(one, two, listed([[[one, two], other]]), "3/2"), encoding="utf-8")
        assert run(["verify", str(path), "--json"]) == 1
        witness = json.loads(capsys.readouterr().out)["witness"]
        assert set(witness["secrets"]) == {show_input((one, two)), show_input(other)}
        assert witness["probabilities"] == ["2/3", "1/3"]
        # Both inputs part at `if`: what the one puts out with some draw, the other does not.
        assert witness["run"]["probabilities"] == ["2/3", "0"]
        assert witness["run"]["input"] == witness["secrets"][0]
        assert witness["run"]["parts_at"]["input"] == witness["secrets"][1]


@pytest.mark.slow
def test_the_second_reader_has_the_same_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second reader of cases finds each pair by its names, and none left out."""
    path, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
    path.write_text(text_of("a, b", "c", 'differ = "one"\nby = "any"', "2"), encoding="utf-8")
    assert run(["verify", str(path), "--evidence", str(evidence)]) == 0
    capsys.readouterr()
    assert run(["check", str(evidence), "--case", str(path)]) == 0
    found = re.search(r"(\d+) comparisons of probabilities have the signs", capsys.readouterr().out)
    pairs = len(FIRST) * len(SECOND) * (len(FIRST) + len(SECOND) - 2) // 2
    assert found is not None
    assert int(found[1]) == 4 * pairs


def test_sampling_is_about_the_inputs_that_are_compared() -> None:
    """What is sampled for a secret is the input of the pair."""
    case = case_of(text_of("a, b", "c", 'differ = "one"\nby = "any"', "2"))
    inputs = CaseInputs.of(case)
    assert isinstance(case.model, Model)
    for pair in case.model.pairs[::7]:
        for side in (0, 1):
            told = inputs.inputs(Experiment(pair.left, pair.right, {}), side)
            assert pair.inputs is not None
            assert list(told) == [pair.inputs[side]]


@pytest.mark.slow
def test_theorems_are_about_the_inputs_that_are_compared() -> None:
    """The pairs of a theorem are those of the case, by the places of their labels."""
    inputs = list(product(FIRST, SECOND))
    pairs = [pair for pair in pairwise(inputs) if ("a, b", "c") in pair or ("a", "b, c") in pair]
    pairs += [(("a, b", "c"), other) for other in inputs[::6]]
    for left, right in pairs:
        text = about(case_of(text_of("a, b", "c", listed([[left, right]]), "2")))
        places = {given: [sorted(FIRST).index(given[0]), sorted(SECOND).index(given[1])] for given in inputs}
        told = re.search(r"list \(world \* world\) :=\s*\[(.*)\]\.", text)
        assert told is not None
        assert sorted(
            json.loads(f"[{told[1]}]".replace("(", "[").replace(")", "]").replace(";", ","))[0]
        ) == (sorted([places[left], places[right]]))
        for k, (name, labels) in enumerate((("p", FIRST), ("q", SECOND))):
            quoted = "; ".join('"{}"%string'.format(label.replace('"', '""')) for label in sorted(labels))
            assert f'("{name}"%string, label_at [{quoted}] (entry_of x {k}))' in text


@pytest.mark.parametrize("of", ["inputs", "probabilities"])
def test_what_is_told_has_the_probabilities_of_the_model(of: str) -> None:
    """A program that has other probabilities than the model is told by the model: here one was changed."""
    case = case_of(text_of("a, b", "c", listed([[["a, b", "c"], ["a", "c"]]]), "2"))
    assert isinstance(case.model, Model)
    hmm = case.model.hmm
    turned = {"inputs": hmm.inputs[::-1]} if of == "inputs" else {"steps": hmm.steps[::-1]}
    changed = replace(hmm, **turned)  # type: ignore[arg-type]
    other = replace(case, model=replace(case.model, hmm=changed))
    assert "the theories have other words for its outputs" in about(other)
    assert "the theories have other words for its outputs" not in about(case)
