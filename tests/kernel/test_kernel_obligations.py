"""Points and obligations beside a proof: evidence of every form replays, counts and compares them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from cone_documents import BERNSTEIN, LOOP, Json, parametric
from test_region_checker import POSITIVE, safe, single
from test_unwinding_checker import costs, family, with_parameter, witness

from paramverify.kernel import cone_evidence, region_evidence, unwinding_evidence
from paramverify.kernel.claim_evidence import KernelReport

Check = Callable[..., KernelReport]
SOLVER = {"kind": "solver", "solver": "z9", "version": "1"}
CONE = parametric("2", "[0, 1]")


def loop() -> Json:
    """Returns a loop of a model with the parameters p and q."""
    found = copy.deepcopy(LOOP) | {"point": {"p": "1/2", "q": "0"}}
    found["model"]["domain"] = CONE["model"]["domain"]
    return found


def violation() -> Json:
    """Returns a witness of a system with the parameter p."""
    found = with_parameter(witness(), "[0, 1]")
    found["witness"]["parameters"] = {"p": "1/2"}
    return found


FORMS: dict[str, tuple[Json, Check]] = {
    "cone": (CONE, cone_evidence.check_document),
    "loop": (loop(), cone_evidence.check_document),
    "map": (single(POSITIVE, safe()), region_evidence.check_document),
    "family": (with_parameter(family(), "[0, 1]"), unwinding_evidence.check_document),
    "costs": (with_parameter(costs(), "[0, 1]"), unwinding_evidence.check_document),
    "violation": (violation(), unwinding_evidence.check_document),
}


def domain_of(document: Json) -> Json:
    found: Json = document.get("model", document)["domain"]
    return found


@pytest.mark.parametrize("name", FORMS)
def test_points_are_in_the_domain(name: str) -> None:
    """A point has a value in its interval for each parameter of the domain, and for nothing else."""
    document, check = FORMS[name]
    inside = dict.fromkeys(domain_of(document)["variables"], "1")
    assert check({**document, "points": [dict.fromkeys(inside, "0"), inside]}).accepted
    for point in ({}, {**inside, "p": "2"}, {**inside, "r": "0"}):
        report = check({**document, "points": [inside, point]})
        assert not report.accepted
        assert "points[1]: " in report.lines[0]


@pytest.mark.parametrize("name", FORMS)
def test_obligations_are_proved_and_counted(name: str) -> None:
    """Claims about the model are proved besides, and count, whatever the status; a false one rejects."""
    document, check = FORMS[name]
    domain, before = domain_of(document), check(document)
    texts: list[tuple[str, Any]] = [("p", BERNSTEIN), ("1 - p", SOLVER)]
    own = [{"claim": {**domain, "polynomial": text}, "proof": proof} for text, proof in texts]
    report = check({**document, "obligations": own})
    assert (report.accepted, report.status) == (True, before.status)
    # Of a map the cells are counted as proved, and nothing else.
    assert (report.proved, report.trusted) == (before.proved + (name != "map"), before.trusted + 1)
    assert report.solvers == ("z9 1",)
    told = ("obligation 1 (p >= 0): proved", "obligation 2 (1 - p >= 0): trusted to 'z9 1'")
    assert set(told) <= set(report.lines)
    false = {"claim": {**domain, "polynomial": "p - 1/2"}, "proof": BERNSTEIN}
    report = check({**document, "obligations": [*own, false]})
    assert not report.accepted
    assert "obligation 3 (p - 1/2 >= 0): rejected" in report.lines[0]


@pytest.mark.parametrize(
    "name", [name for name, (_, check) in FORMS.items() if check != unwinding_evidence.check_document]
)
def test_obligations_are_those_of_the_case(name: str) -> None:
    """With the obligations of a case, a document has exactly these, in any order."""
    document, check = FORMS[name]
    texts = ("p", "1 - p", "p + 1")
    entries = [{"claim": {**domain_of(document), "polynomial": t}, "proof": BERNSTEIN} for t in texts]
    own, wanted = entries[:2], [entry["claim"] for entry in entries[:2]]
    for given, right in ((own, True), (own[::-1], True), (own[:1], False), ([], False), (entries, False)):
        assert check({**document, "obligations": given}, obligations=wanted).accepted == right
    assert check(document, obligations=[]).accepted
