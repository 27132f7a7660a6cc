"""Evidence about formulas: names of formulas that look like given ones, and models that are none."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from engine_documents import own, with_own
from formula_tools import VALUES, model

from paramverify.kernel.chain_models import read_chain
from paramverify.kernel.strict_reading import Rejected
from paramverify.logic.formula_families import check_property
from paramverify.logic.logic_cases import LogicOptions, load
from paramverify.logic.property_checking import LogicSession
from paramverify.portfolio.session import Session
from paramverify.reports.evidence_checks import checked
from paramverify.reports.logic_evidence import evidence_of


@pytest.fixture(scope="module")
def kept() -> Iterator[Session]:
    """A session for all documents of this file."""
    with Session() as session:
        yield session


TWO = """[states]
s = { to = { s = "1/2", t = "1/2" } }
t = { labels = ["q"] }
[formulas]
"""


@pytest.mark.parametrize("name", ["property", "given property", "-p"])
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
