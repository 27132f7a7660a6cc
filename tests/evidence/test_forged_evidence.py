"""Evidence of every kind, changed in every part: what is accepted is true, by an oracle of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
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
from paramverify.reports.evidence_checks import checked, replay

SAMPLE = 40  # changes of each document; the benchmark `false_certificates` tries thousands
BY_NAME = {order.name: order for order in ORDERS}
SLOW = {"programs sparse-vector-gauss", "programs noisy-max-gauss", "composed cases", "composed noise"}
SEEN = [name for name in BY_NAME if name not in SLOW]  # of the others a document takes seconds


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where evidence is written once."""
    return tmp_path_factory.mktemp("evidence")


def written(name: str, folder: Path) -> Json:
    """Returns the evidence of an order."""
    path = write(BY_NAME[name], folder)
    assert path is not None, name
    return read(path)


@pytest.mark.slow
def test_both_checkers_leave_the_same_to_the_case(folder: Path) -> None:
    """What only the case can show is the same with and without the proved checker, for every kind."""
    built()
    found = {}
    for name in SEEN:
        text = json.dumps(written(name, folder))
        found[name] = check_text(text).not_compared
        assert replay(text).report.not_compared == found[name], name
    assert found["composed survey"] == ("releases of cases with their files",)
    assert found["composed answers"] == ()
    assert found["budget of streams"] == ("the automaton and the streams with the file",)


def try_some(
    name: str, original: Json, check: Callable[[str], KernelReport], proved: Path | None
) -> tuple[int, int]:
    """Changes a document; returns how many changes were tried, and how many accepted, which are true.

    With a folder the proved checker is asked, too, and has to say the same of what it knows.
    """
    report = check(json.dumps(original))
    assert report.accepted, report.lines
    assert contradiction(original, report, Random(name)) == "", name
    tried = accepted = 0
    answers: dict[Path, str] = {}
    for what, document in islice(forgeries(original, Random(name)), SAMPLE):
        tried += 1
        report = check(json.dumps(document))
        if proved:
            answers[proved / f"{tried}.json"] = "accepted" if report.accepted else report.lines[-1]
            (proved / f"{tried}.json").write_text(json.dumps(document))
        assert all(len(line) < 1_000 and line.isprintable() for line in report.lines), what
        if not report.accepted:
            assert "rejected" in "".join(report.lines), what
            continue
        accepted += 1
        assert contradiction(document, report, Random(what)) == "", (what, document)
        assert proved or of_another_case(document, original) == "", (what, document)
    for path, answer in zip(answers, by_program(built(), [*answers]) if answers else (), strict=True):
        if answer.word != NOT_KNOWN:
            assert (answer.word == "accepted") == (answers[path] == "accepted"), path.read_text()
    return tried, accepted


def with_case(path: str) -> Callable[[str], KernelReport]:
    """Returns what checks evidence with a case; a file of another kind is not its case."""

    def check(text: str) -> KernelReport:
        try:
            return checked(text, path).report
        except InputError as error:
            return KernelReport(False, (f"rejected: {error!s:.200}",))

    return check


@pytest.mark.slow
@pytest.mark.parametrize("name", SEEN)
def test_what_is_accepted_is_true(name: str, folder: Path, tmp_path: Path) -> None:
    """Evidence of each kind is changed: nothing is accepted that is false, and both checkers say the same."""
    tried, accepted = try_some(name, written(name, folder), check_text, tmp_path)
    assert accepted < 0.9 * tried


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in SEEN if BY_NAME[n].command != "compose"])
def test_what_is_accepted_with_the_case_is_about_it(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the case a changed document says what the true one says, or less."""
    monkeypatch.setattr("paramverify.privacy.cases.load", kept)
    document, about = written(name, folder), BY_NAME[name].about(folder)
    tried, accepted = try_some(name, document, with_case(about), None)
    assert accepted < 0.9 * tried


@pytest.mark.slow
@pytest.mark.parametrize("name", [*every_kind(), "script", "pair"])
def test_what_is_accepted_of_every_proof_is_true(name: str, tmp_path: Path) -> None:
    """The same for a document with a proof of each kind, for answers to a script, and for a standing pair."""
    made = {**every_kind(), "script": about_a_script(), "pair": standing_pair()}
    tried, accepted = try_some(name, made[name], check_text, tmp_path)
    assert accepted < 0.9 * tried


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
    found = 0
    for what, document in islice(forgeries(original, Random(kind)), 400):
        same = all(document.get(key) == original.get(key) for key in ("status", "budget"))
        if same and not check_text(json.dumps(document)).accepted:
            try:
                found += contradiction(document, report, Random(what)) != ""
            except Exception:
                continue  # the oracle is about documents that have the form
    assert found > 0
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
