"""Points and obligations beside a proof: evidence of every form replays, counts and compares them."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from claim_documents import full
from cone_documents import BERNSTEIN, LOOP, Json, parametric
from test_region_checker import POSITIVE, safe, single
from test_unwinding_checker import costs, family, with_parameter, witness

from paramverify.kernel.documents import check_document
from paramverify.kernel.ledger import Demanded

SOLVER = {"kind": "solver", "solver": "z9", "version": "1"}
CONE = parametric("2", "[0, 1]")


def loop() -> Json:
    """Returns a loop of a model with the parameters p and q."""
    found = copy.deepcopy(LOOP)
    found["statements"][-1]["point"] = {"p": "1/2", "q": "0"}
    return {**found, "domains": CONE["domains"]}


def violation() -> Json:
    """Returns a witness of a system with the parameter p."""
    found = with_parameter(witness(), "[0, 1]")
    found["statements"][-1]["witness"]["parameters"] = {"p": "1/2"}
    return found


FORMS: dict[str, Json] = {
    "cone": CONE,
    "loop": loop(),
    "map": single(POSITIVE, safe()),
    "family": with_parameter(family(), "[0, 1]"),
    "costs": with_parameter(costs(), "[0, 1]"),
    "violation": violation(),
}


def obligation(polynomial: str, proof: Any = BERNSTEIN) -> Json:
    return {"kind": "obligation", "domain": 0, "polynomial": polynomial, "proof": proof}


def with_obligations(document: Json, *obligations: Json) -> Json:
    return {**document, "statements": [*obligations, *document["statements"]]}


@pytest.mark.parametrize("name", FORMS)
def test_points_are_in_the_domain(name: str) -> None:
    """A point has a value in its interval for each parameter of the domain, and for nothing else."""
    document = FORMS[name]
    inside = dict.fromkeys(document["domains"][0]["variables"], "1")
    assert check_document({**document, "points": [dict.fromkeys(inside, "0"), inside]}).accepted
    for point in ({}, {**inside, "p": "2"}, {**inside, "r": "0"}):
        report = check_document({**document, "points": [inside, point]})
        assert not report.accepted
        assert "points[1]: " in report.lines[0]


@pytest.mark.parametrize("name", FORMS)
def test_obligations_are_proved_and_counted(name: str) -> None:
    """Claims about the model are proved besides, and count, whatever the status; a false one rejects."""
    document = FORMS[name]
    before = check_document(document)
    own = [obligation("p"), obligation("1 - p", SOLVER)]
    report = check_document(with_obligations(document, *own))
    assert (report.accepted, report.status) == (True, before.status)
    # Of a map the cells are counted as proved, and nothing else.
    assert (report.proved, report.trusted) == (before.proved + (name != "map"), before.trusted + 1)
    assert report.solvers == ("z9 1",)
    told = ("obligation 1 (p >= 0): proved", "obligation 2 (1 - p >= 0): trusted to 'z9 1'")
    assert set(told) <= set(report.lines)
    report = check_document(with_obligations(document, *own, obligation("p - 1/2")))
    assert not report.accepted
    assert "obligation 3 (p - 1/2 >= 0): rejected" in report.lines[0]


@pytest.mark.parametrize("name", FORMS)
def test_obligations_are_those_of_the_case(name: str) -> None:
    """With the obligations of a case, a document has exactly these, in any order."""
    document = FORMS[name]
    entries = [obligation(text) for text in ("p", "1 - p", "p + 1")]
    own, wanted = entries[:2], [full(document, entry) for entry in entries[:2]]
    for given, right in ((own, True), (own[::-1], True), (own[:1], False), ([], False), (entries, False)):
        report = check_document(with_obligations(document, *given), Demanded(obligations=wanted))
        assert report.accepted == right
    assert check_document(document, Demanded(obligations=[])).accepted
