"""Evidence of every kind, changed in every part: what is accepted is true, by an oracle of its own."""

from __future__ import annotations

import json
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest
from evidence_orders import CASES, ORDERS, Json, read, write
from forger import every, forgeries, parts
from kept_cases import kept
from three_checkers import NOT_KNOWN, about_a_script, built, by_program, every_kind, standing_pair
from truth_oracle import contradiction, of_another_case

from paramverify.errors import InputError
from paramverify.kernel.documents import check_text
from paramverify.kernel.evidence_shapes import ENGINES, SIDE_CONDITION
from paramverify.kernel.ledger import KernelReport
from paramverify.reports import evidence_checks
from paramverify.reports.evidence_checks import checked, replay

SAMPLE = 25  # changes of each document; the benchmark `false_certificates` tries thousands
BY_NAME = {order.name: order for order in ORDERS}
SLOW = {"programs sparse-vector-gauss", "programs noisy-max-gauss", "composed cases", "composed noise"}
SLOW |= {"programs noisy-max-strict", "programs interval-test", "budget of unwinding-add-only"}
SEEN = [name for name in BY_NAME if name not in SLOW]  # of the others a document takes seconds
LEFT = {  # what only the case can show
    "composed survey": ("releases of cases with their files",),
    "composed answers": (),
    "budget of streams": ("the automaton and the streams with the file",),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where evidence is written once."""
    return tmp_path_factory.mktemp("evidence")


def written(name: str, folder: Path) -> Json:
    """Returns the evidence of an order."""
    path = write(BY_NAME[name], folder)
    assert path is not None, name
    return read(path)


def try_some(
    name: str, original: Json, folder: Path, about: str | None, monkeypatch: pytest.MonkeyPatch
) -> KernelReport:
    """Changes a document: what the checker accepts is true, alone and with the case; returns its own report.

    The proved checker has to say the same of what it knows. With the case a changed document says what the
    true one says, or less.
    """
    known = cache(check_text)  # which `checked` asks again
    monkeypatch.setattr(evidence_checks, "check_text", known)
    own = known(json.dumps(original))
    assert own.accepted, own.lines
    assert contradiction(original, own, Random(name)) == "", name
    said: list[str] = []
    paths: list[Path] = []
    for what, document in islice(forgeries(original, Random(name)), SAMPLE):
        text = json.dumps(document)
        report = known(text)
        paths.append(folder / f"{len(paths)}.json")
        paths[-1].write_text(text)
        said.append("accepted" if report.accepted else report.lines[-1])
        assert all(len(line) < 1_000 and line.isprintable() for line in report.lines), what
        if not report.accepted:
            assert "rejected" in "".join(report.lines), what
            continue
        assert contradiction(document, report, Random(what)) == "", (what, document)
        if about and accepted_with(text, about):
            assert of_another_case(document, original) == "", (what, document)
    assert said.count("accepted") < 0.9 * len(said)
    for path, word, answer in zip(paths, said, by_program(built(), paths), strict=True):
        if answer.word != NOT_KNOWN:
            assert (answer.word == "accepted") == (word == "accepted"), path.read_text()
    return own


def accepted_with(text: str, path: str) -> bool:
    """Whether evidence is accepted with a case; a file of another kind is not its case."""
    try:
        return evidence_checks.checked(text, path).report.accepted
    except InputError:
        return False


@pytest.mark.slow
@pytest.mark.parametrize("name", SEEN)
def test_what_is_accepted_is_true(
    name: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Evidence of each kind is changed: nothing is accepted that is false or, with the case, about another.

    What only the case can show is the same with and without the proved checker.
    """
    monkeypatch.setattr("paramverify.privacy.cases.load", kept)
    order, document = BY_NAME[name], written(name, folder)
    about = None if order.command == "compose" else order.about(folder)
    left = try_some(name, document, tmp_path, about, monkeypatch).not_compared
    assert replay(json.dumps(document)).report.not_compared == left
    assert left == LEFT.get(name, left)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*every_kind(), "script", "pair"])
def test_what_is_accepted_of_every_proof_is_true(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same for a document with a proof of each kind, for answers to a script, and for a standing pair."""
    made = {**every_kind(), "script": about_a_script(), "pair": standing_pair()}
    try_some(name, made[name], tmp_path, None, monkeypatch)


def test_the_forger_changes_every_part() -> None:
    """Each name and number of a document is changed by itself; the same numbers give the same changes."""
    proofs = every_kind()
    for document in (standing_pair(), proofs["contradiction"], proofs["ends"], proofs["exponential"]):
        first, second = ([*islice(forgeries(document, Random("s")), 200)] for _ in range(2))
        assert first == second
        assert len({json.dumps(changed) for _, changed in first}) == len(first)
        places = {what.partition(": ")[0] for what, _ in every(document, Random(1))}
        fixed = {"kind", "format", "version", "tree"}
        for part in parts(document):
            if isinstance(part.value, str | int) and part.key not in fixed:
                assert ".".join(map(str, part.path)) in places, part.path


ORACLES = {
    "claim": "geometric-metric",
    "obligation": "quotient",
    "comparison": "survey-memory-all",
    "parts": "delta",
    "average": "divergences survey-zcdp",
    "cells": "map",
    "line": "line",
    "cone": "closed cone",
    "unwinding": "interactive slots-1-bad-noise",
    "formulas": "logic survey",
    "paths": "programs discrete-gauss-threshold",
    "composition": "composed answers exactly",
    "automaton": "automata stream-sparse-vector-one",
    "slots": "every slots",
    "script": "script",
    "witness": "noisy-max-contagious",
    "set": "delta broken",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ORACLES)
def test_the_oracle_contradicts_false_evidence_of_each_kind(kind: str, folder: Path) -> None:
    """If a checker accepted all changed documents of a kind, the oracle would contradict some of them."""
    original = written(ORACLES[kind], folder)
    report = check_text(json.dumps(original))

    def is_contradicted(what: str, document: Json) -> bool:
        same = all(document.get(key) == original.get(key) for key in ("status", "budget"))
        if not same or check_text(json.dumps(document)).accepted:
            return False
        try:
            return contradiction(document, report, Random(what)) != ""
        except Exception:
            return False  # the oracle is about documents that have the form

    assert any(is_contradicted(*each) for each in islice(forgeries(original, Random(kind)), 400))
    assert {*ENGINES, "claim", "parts", "average", "cone"} <= {*ORACLES}


# --- what changed evidence has shown ------------------------------------------------------------------


@pytest.mark.parametrize("name", ["every slots", "logic survey", "budget of streams", "composed answers"])
def test_what_is_said_besides_belongs_to_the_kind(name: str, folder: Path) -> None:
    """Evidence that no case compares with a side condition, or with outputs, has none."""
    document = written(name, folder)
    more: dict[str, Any] = {"side_condition": SIDE_CONDITION, "outputs": ["o"], "windows": None}
    more["windows"] = {"statement": "", "pairs": []}
    for key in ("side_condition", "outputs"):
        lines = check_text(json.dumps({**document, key: more[key]})).lines
        assert "does not belong to a document about" in lines[-1]


def test_a_composition_is_compared_with_a_case_whose_epsilon_is_rational(folder: Path) -> None:
    """The second reader computes the releases of a case although its bound is a power of e."""
    document = written("composed cases", folder)
    found = checked(json.dumps(document), str(CASES / "approximate/noisy-max-below.toml"))
    assert found.report.accepted
    assert "316 pairs of distributions agree" in found.report.lines[-1]


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("noisy-max-independent-below", "budget of delta"),
        ("delta", "budget of kl"),
        ("delta", "budget of a survey"),
    ],
)
def test_a_budget_of_another_kind_is_rejected(name: str, other: str, folder: Path) -> None:
    """Evidence with the budget of another measure is rejected with the case, and without."""
    document = {**written(name, folder), "budget": written(other, folder)["budget"]}
    for case in (None, BY_NAME[name].about(folder)):
        report = checked(json.dumps(document), case).report
        assert not report.accepted
        assert "rejected" in report.lines[-1]


def test_noise_that_is_not_there_is_rejected(folder: Path) -> None:
    """A way that draws noise of a number that is not listed is rejected, with the case, too."""
    name = "programs discrete-gauss-threshold"
    document = written(name, folder)
    inputs = document["statements"][-1]["inputs"]
    inputs["0"]["0"][0]["noise"] = [1]
    for case in (None, BY_NAME[name].about(folder)):
        report = checked(json.dumps(document), case).report
        assert (report.accepted, report.lines[-1]) == (
            False,
            "rejected: a way has weight 0, or lacks its noise",
        )


def test_what_is_rejected_alone_is_rejected_with_the_case(folder: Path) -> None:
    """A witness of a case with too many claims does not hide what stands beside it."""
    name = "above-threshold"
    document = written(name, folder)
    beside = {
        "kind": "comparison",
        "domain": 0,
        "polynomial": "1",
        "strict": False,
        "proof": {"kind": "constant"},
    }
    document["statements"].append(beside)
    for case in (None, BY_NAME[name].about(folder)):
        report = checked(json.dumps(document), case).report
        assert "this does not belong to a document about claims" in report.lines[-1]


def test_the_title_of_a_case_about_streams_is_compared(folder: Path) -> None:
    """Evidence about streams names the title of its case, as other evidence does."""
    name = "automata stream-sparse-vector-one"
    document = written(name, folder)
    assert checked(json.dumps(document), BY_NAME[name].about(folder)).report.accepted
    document["case"]["title"] += " "
    report = checked(json.dumps(document), BY_NAME[name].about(folder)).report
    assert "the evidence belongs to another case file" in report.lines[-1]
