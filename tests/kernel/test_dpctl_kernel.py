"""Evidence about formulas: probabilities by brute force, and documents that say more than is true."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import pytest
from conftest import ROOT
from engine_documents import own, with_own
from formula_tools import VALUES, model

from paramverify.cli.main import run
from paramverify.kernel.chain_models import read_chain
from paramverify.kernel.documents import check_text
from paramverify.kernel.strict_reading import Rejected
from paramverify.logic.formula_families import check_property
from paramverify.logic.logic_cases import LogicOptions, load
from paramverify.logic.property_checking import LogicSession
from paramverify.portfolio.session import Session
from paramverify.reports.evidence_checks import checked
from paramverify.reports.logic_evidence import evidence_of
from paramverify.rereader.second_reading import second_look

FOLDER = ROOT / "cases" / "logic"


@pytest.fixture(scope="module")
def kept() -> Iterator[Session]:
    """A session for all documents of this file."""
    with Session() as session:
        yield session


KNOWN: dict[tuple[str, ...], str] = {}


def written(session: Session, case: str, *formulas: str) -> dict[str, Any]:
    """Returns the evidence about a shipped case, or about formulas on its model."""
    if (case, *formulas) not in KNOWN:
        KNOWN[case, *formulas] = json.dumps(made(session, case, *formulas))
    return dict(json.loads(KNOWN[case, *formulas]))


def made(session: Session, case: str, *formulas: str) -> dict[str, Any]:
    """Returns the evidence, which shows all verdicts."""
    work = LogicSession(load(FOLDER / f"{case}.toml", LogicOptions(properties=formulas)), session)
    assert work.prepare() is None
    results = {name: check_property(work, found) for name, found in work.case.properties.items()}
    document, remarks = evidence_of(work, results)
    assert not remarks
    return document


def _entry(place: int, **changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda document: own(document)["formulas"][place].update(changes)


def _tree(place: int, value: Any, *path: int) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        inner = own(document)["formulas"][place]["formula"]
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = value

    return change


def _step(value: str) -> Callable[[dict[str, Any]], None]:
    return lambda document: own(document)["model"]["steps"][0][0].__setitem__(1, value)


def _neighbours(document: dict[str, Any]) -> None:
    own(document)["model"]["neighbours"] = []


SURVEY, COIN, FIRST = "survey", "survey-coin", "above-threshold-one-pair"


MADE = ("survey-coin", "equal-copies", "emptiness")


@pytest.mark.slow
@pytest.mark.parametrize("case", MADE)
def test_changed_for_the_case(case: str, kept: Session, tmp_path: Path) -> None:
    """Evidence is accepted for its case; about another model, other neighbours or formulas it is not."""
    document = written(kept, case)
    path = str(FOLDER / f"{case}.toml")
    found = checked(json.dumps(document), path)
    assert found.report.accepted
    assert found.look is not None
    assert (found.look.compared, found.look.agrees) == (True, True)
    assert not check_text(json.dumps(with_own(document, formulas=[]))).accepted

    def renamed(changed: dict[str, Any]) -> None:
        own(changed)["model"]["states"][0] = "renamed"

    def less(changed: dict[str, Any]) -> None:
        own(changed)["formulas"].pop()
        changed["status"] = own(changed)["formulas"][0]["status"]

    for change in (_neighbours, renamed, less, _entry(0, text="true")):
        forged = deepcopy(document)
        change(forged)
        assert not checked(json.dumps(forged), path).report.accepted


TWO = """[states]
s = { to = { s = "1/2", t = "1/2" } }
t = { labels = ["q"] }
[formulas]
"""


@pytest.mark.parametrize("name", ["property", "property 1", "property_q", "given property", "-p"])
@pytest.mark.parametrize("given", [(), ("P>=1 [ F q ]",), ("P>=1 [ F q ]", "true")])
def test_formulas_called_like_given_ones(
    name: str, given: tuple[str, ...], kept: Session, tmp_path: Path
) -> None:
    """Evidence is accepted whatever formulas are called; a given one does not pass for one of the case."""
    path = tmp_path / "two.toml"
    path.write_text(f'{TWO}"{name}" = "P>=1 [ X q ]"\n')
    work = LogicSession(load(path, LogicOptions(properties=given)), kept)
    assert work.prepare() is None
    results = {name: check_property(work, found) for name, found in work.case.properties.items()}
    document, remarks = evidence_of(work, results)
    assert not remarks
    found = checked(json.dumps(document), str(path))
    assert found.report.accepted, found.report.lines
    assert found.look is not None
    assert found.look.agrees
    if given:
        forged = with_own(document, formulas=[own(document)["formulas"][0] | {"name": name}])
        assert not checked(json.dumps(forged), str(path)).report.accepted


DIFFERENCES: dict[str, tuple[str, Callable[[dict[str, Any]], None]]] = {
    "an interval": (COIN, lambda d: d["domains"][0]["box"].update(c="(0, 2)")),
    "a probability": (COIN, _step("1/2")),
    "a label": (COIN, lambda d: own(d)["model"]["labels"].update(out1=[3])),
    "an initial state": (COIN, lambda d: own(d)["model"].update(initial=[0])),
    "neighbours": (COIN, _neighbours),
    "a bound": (COIN, _tree(1, "2*c", 2)),
    "a ratio": (COIN, _tree(2, "4", 1)),
    "an operator": (COIN, _tree(1, "not", 3, 0)),
    "a label of a formula": (COIN, _tree(1, "out0", 3, 1, 1)),
    "a text": (COIN, _entry(1, text="D{0, c}[ X out0 ]")),
    "actions": ("equal-copies", lambda d: own(d)["model"].update(actions=["b", "a"])),
    "a number of steps": ("equal-copies", _tree(1, 1, 3, 3)),
    "a family": ("equal-copies", _entry(1, family={"first": 1, "last": None})),
}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_the_second_reader_notices(name: str, kept: Session) -> None:
    """A document that differs from its case in one place is not that of the case for the second reader."""
    case, change = DIFFERENCES[name]
    content = (FOLDER / f"{case}.toml").read_text()
    document = written(kept, case)
    assert second_look(document, content).agrees
    change(document)
    look = second_look(document, content)
    assert (look.compared, look.agrees) == (True, False), look.line


MISFORMED: dict[str, tuple[str, Callable[[dict[str, Any]], None]]] = {
    "a row is missing": ("there must be one entry for each state", lambda m: m["rows"].pop()),
    "a step leads nowhere": ("a successor is not a state", lambda m: m["steps"].__setitem__(0, [[3, "1"]])),
    "a step leads twice to a state": (
        "a successor is there twice",
        lambda m: m["steps"].__setitem__(0, [[1, "1/2"], [1, "1/2"]]),
    ),
    "a neighbour is no state": ("these must be two states", lambda m: m["neighbours"].append([0, 3])),
    "a neighbour of itself": ("these must be two states", lambda m: m["neighbours"].append([1, 1])),
    "an initial state is none": ("initial: these must be different states", lambda m: m["initial"].append(3)),
    "an initial state comes twice": (
        "initial: these must be different states",
        lambda m: m["initial"].append(0),
    ),
    "a label is on no state": (
        "p: these must be different states",
        lambda m: m["labels"].__setitem__("p", [3]),
    ),
}


@pytest.mark.parametrize("name", MISFORMED)
def test_models_that_are_none(name: str) -> None:
    """A model with a part that does not fit is no model, and without it it is one."""
    words, change = MISFORMED[name]
    data = model(Random(3), 3, 2)
    data["labels"] = {"p": [0]}
    data["neighbours"] = []
    assert len(read_chain(data, VALUES).rows) == 3
    change(data)
    with pytest.raises(Rejected, match=words):
        read_chain(data, VALUES)


def test_many_steps_with_a_parameter_have_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Polynomials grow with each step: their terms are counted, so that a document with 10^9 steps ends."""
    path = tmp_path / "evidence.json"
    assert run(["logic", str(ROOT / "cases/logic/equal-copies.toml"), "--evidence", str(path)]) == 0
    document = json.loads(path.read_text())
    formulas = next(s for s in document["statements"] if s["kind"] == "formulas")["formulas"]
    formulas[0]["formula"][3][3] = 10**9
    monkeypatch.setattr("paramverify.kernel.path_probabilities.MAX_WORK", 200_000)
    report = check_text(json.dumps(document))
    assert (report.accepted, report.lines[-1]) == (False, "rejected: too many products for a replay")
