"""Evidence about sets of outputs: pairs in both directions, zero sums, negative exponents, other kinds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from paramverify.kernel.documents import check_text
from paramverify.privacy.cases import load
from paramverify.privacy.verification import verify
from paramverify.reports.case_evidence import check_with_case, evidence_document
from paramverify.rereader.second_reading import second_look

CASES = Path(__file__).parents[2] / "cases" / "approximate"


@pytest.fixture(scope="module")
def proof() -> dict[str, Any]:
    """Evidence of a case that holds."""
    case = load(CASES / "shuffled-among-10.toml")
    found: dict[str, Any] = json.loads(json.dumps(evidence_document(case, verify(case))))
    return found


def accepted(document: dict[str, Any]) -> bool:
    """Whether the kernel alone accepts a document."""
    return check_text(json.dumps(document)).accepted


def test_a_pair_in_both_directions_is_one(tmp_path: Path) -> None:
    """A case that lists a pair in both directions has the claims of one that lists it once."""
    text = (CASES / "geometric-independent.toml").read_text()
    path = tmp_path / "case.toml"
    path.write_text(text.replace('"anything"]]', '"anything"], ["anything", "somebody"]]'))
    case = load(path)
    document = evidence_document(case, verify(case))
    assert [statement["kind"] for statement in document["statements"]] == ["parts", "parts"]
    assert check_with_case(document, case).accepted
    assert second_look(json.loads(json.dumps(document)), path.read_text()).agrees


def test_other_kinds_of_evidence_are_not_about_sets(proof: dict[str, Any]) -> None:
    """Evidence about outputs one by one is rejected for a case with a delta, and the other way round."""
    text = (CASES / "shuffled-among-10.toml").read_text()
    case = load(CASES / "shuffled-among-10.toml")
    sign = {"kind": "claim", "domain": 0, "polynomial": "t", "proof": {"kind": "bernstein", "tree": ["+"]}}
    about_outputs = {**proof, "statements": [sign]}
    assert accepted(about_outputs)
    report = check_with_case(about_outputs, case)
    assert "the case has a delta, and this evidence is about outputs one by one" in report.lines[0]
    assert not second_look(proof, text.replace('delta = "1/5"', "")).agrees
    assert not accepted({**proof, "budget": {"kind": "bound", "bound": None, "witnesses": []}})


NOTHING_LEFT = """
[parameters]
p = "{p}"
q = "[0, 1]"
[prior]
x = {{ bernoulli = "{yes}" }}
[mechanism]
kind = "randomized_response"
query = "x"
truth = "1/2 + p/20"
[secrets]
a = "x == 0"
b = "x == 1"
pairs = [["a", "b"]]
[privacy]
ratio = "1"
delta = "p/10"
"""
NEGATIVE = """
[parameters]
p = "[1/2, 1]"
[mechanism]
kind = "geometric"
noise = {{ truncated_geometric = "1/2", range = 2 }}
[neighbours]
differ = "each"
[privacy]
epsilon = "1/2"
delta = "{delta}"
"""


@pytest.mark.parametrize("p", ["0", "[0, 0]"])
@pytest.mark.parametrize("yes", ["1/2", "q"])
def test_sums_that_are_zero_agree(tmp_path: Path, p: str, yes: str) -> None:
    """Where delta, the excess and 1 - ratio are all 0, a right proof is accepted, and no other claim."""
    path = tmp_path / "zero.toml"
    path.write_text(NOTHING_LEFT.format(p=p, yes=yes))
    case = load(path)
    found = json.loads(json.dumps(evidence_document(case, verify(case))))
    assert found["status"] == "holds"
    assert check_with_case(found, case).accepted
    assert second_look(found, path.read_text()).agrees
    found["statements"][-1]["room"] = "1"
    look = second_look(found, path.read_text())
    assert look.compared
    assert not look.agrees


@pytest.mark.parametrize("delta", ["exp(-1/2)/4", "exp(-1/3)/2", "exp(-1)/20"])
def test_negative_exponents_are_read_a_second_time(tmp_path: Path, delta: str) -> None:
    """A delta that is a negative power of e is read again, in a proof and in a witness."""
    path = tmp_path / "case.toml"
    path.write_text(NEGATIVE.format(delta=delta))
    case = load(path)
    found = json.loads(json.dumps(evidence_document(case, verify(case))))
    assert found["status"] == ("violated" if delta.endswith("20") else "holds")
    look = second_look(found, path.read_text())
    assert look.compared
    assert look.agrees
    assert not second_look(found, path.read_text().replace("exp(-", "2/3*exp(-")).agrees
