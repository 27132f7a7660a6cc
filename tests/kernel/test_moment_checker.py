"""Evidence about divergences: the kernel and the second reader accept what is true, and nothing forged."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paramverify.kernel.documents import check_text
from paramverify.privacy.cases import load
from paramverify.privacy.verification import verify
from paramverify.reports.case_evidence import check_with_case, evidence_document
from paramverify.rereader.second_reading import second_look

CASES = Path(__file__).parents[2] / "cases" / "divergences"
HOLDS, FAILS = (CASES / f"{name}.toml" for name in ("geometric-renyi", "geometric-renyi-below"))

Document = dict[str, Any]


def evidence_of(path: Path) -> Document:
    """Evidence of a case as it is written."""
    case = load(path)
    found: Document = json.loads(json.dumps(evidence_document(case, verify(case))))
    return found


@pytest.fixture(scope="module")
def proof() -> Document:
    """Evidence of a case that holds."""
    return evidence_of(HOLDS)


@pytest.fixture(scope="module")
def violation() -> Document:
    """Evidence of a case that does not hold."""
    return evidence_of(FAILS)


def looked(document: Document, path: Path, *changes: tuple[str, str]) -> bool:
    """Whether the second reader agrees with a document about a case, perhaps one that was changed."""
    content = path.read_text()
    for before, after in changes:
        assert before in content
        content = content.replace(before, after)
    look = second_look(document, content, folder=path.parent)
    assert look.compared, look.line
    return look.agrees


def test_true_evidence_is_accepted(proof: Document, violation: Document) -> None:
    """Both are accepted by the kernel alone, with the case, and by the second reader."""
    for document, path in ((proof, HOLDS), (violation, FAILS)):
        assert check_text(json.dumps(document)).accepted
        assert check_with_case(document, load(path)).accepted
        assert looked(document, path)


FORGED: list[tuple[str, Callable[[Document], None]]] = [
    ("a smaller sum", lambda w: w.update(moment="4")),
    ("a sum below its parts", lambda w: w.update(moment="2", bound="1")),
    ("no violation", lambda w: w.update(exceeds=False)),
    ("infinity", lambda w: w.update(moment="infinity")),
    ("undefined", lambda w: w.update(moment="undefined")),
    ("another order", lambda w: w.update(order=1)),
    ("no length", lambda w: w.update(length=0)),
    ("no parts", lambda w: w.update(largest=[])),
    ("no order", lambda w: w.pop("order")),
    ("a negative bound", lambda w: w.update(bound="-1")),
    ("a probability above 1", lambda w: w["largest"][0].update(probabilities=["3/2", "1/9"])),
]


@pytest.mark.parametrize(("what", "forge"), FORGED, ids=[name for name, _ in FORGED])
def test_forged_witnesses_are_rejected(
    what: str, forge: Callable[[Document], None], violation: Document
) -> None:
    """A witness whose numbers contradict each other, or show nothing, is rejected without the case."""
    document = copy.deepcopy(violation)
    forge(document["witness"])
    assert not check_text(json.dumps(document)).accepted


def test_powers_of_a_huge_order_are_not_computed(violation: Document) -> None:
    """An order of a million with long numbers is rejected at once, and the reason names it."""
    document = copy.deepcopy(violation)
    document["witness"]["order"] = 1_000_004
    document["witness"]["largest"][0]["probabilities"] = [f"1/{10**400 - 1}", f"1/{10**400 - 3}"]
    report = check_text(json.dumps(document))
    assert not report.accepted
    assert "witness.order: an order above 10,000" in report.lines[0]


CHANGED: list[tuple[str, Callable[[Document], None]]] = [
    ("another sum", lambda w: w.update(moment="5")),
    ("a larger order", lambda w: w.update(order=5)),
    ("another length", lambda w: w.update(length=2)),
    ("other secrets", lambda w: w.update(secrets=w["secrets"][::-1])),
    ("another output", lambda w: w["largest"][0].update(output=["1"])),
]


@pytest.mark.parametrize(("what", "change"), CHANGED, ids=[name for name, _ in CHANGED])
def test_other_witnesses_are_rejected_with_the_case(
    what: str, change: Callable[[Document], None], violation: Document
) -> None:
    """Numbers that the case does not give are rejected with it, and by the second reader."""
    document = copy.deepcopy(violation)
    change(document["witness"])
    assert not check_with_case(document, load(FAILS)).accepted
    assert not looked(document, FAILS)


CASES_READ = [
    ("ln(43/8)/3", "ln(2)/3"),
    ("ln(43/8)/3", "0"),
    ('order = 4, epsilon = "ln(43/8)/3"', 'order = 5, epsilon = "ln(2)/4"'),
    ('renyi = { order = 4, epsilon = "ln(43/8)/3" }', 'ratio = "2"'),
    ('renyi = { order = 4, epsilon = "ln(43/8)/3" }', 'chi_squared = "1/5"'),
]


@pytest.mark.parametrize("change", CASES_READ, ids=["less", "nothing", "higher", "pure", "squared"])
def test_the_second_reader_notices_another_case(change: tuple[str, str], proof: Document) -> None:
    """The second reader does not agree where the case asks for something smaller, or something else."""
    assert not looked(proof, HOLDS, change)


def test_a_missing_direction_is_noticed(proof: Document) -> None:
    """A proof of one direction only is rejected."""
    document = copy.deepcopy(proof)
    document["statements"] = document["statements"][:1]
    assert not check_with_case(document, load(HOLDS)).accepted
    assert not looked(document, HOLDS)
