"""Evidence of the least δ and the least ε: accepted as it is written, and no part of it may be changed."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from document_changes import put

from paramverify.portfolio.obligations import discharge
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.other_bounds import load_with_bounds
from paramverify.reports.budget_evidence import bounds_for, set_budget_document
from paramverify.reports.evidence_checks import Checked, checked
from paramverify.synthesis.least_sets import least_bound
from paramverify.synthesis.set_needs import NeedKind

CASES = Path(__file__).parents[2] / "cases" / "approximate"
SHUFFLED, GEOMETRIC = CASES / "shuffled-responses.toml", CASES / "geometric-independent.toml"
ENDLESS = """
[parameters]
p = "[1/4, 1/2]"
[prior]
x = { bernoulli = "1/2" }
[mechanism]
kind = "release"
query = "x"
noise = { table = [["1 - p", "p", "0"], ["1/2", "0", "1/2"]] }
[secrets]
a = "x == 0"
b = "x == 1"
pairs = [["a", "b"]]
[privacy]
ratio = "2"
"""


def made(path: Path, kind: NeedKind, given: str) -> dict[str, Any]:
    """Returns the evidence of a least bound of a case."""
    case = load_with_bounds(path, bounds_for(kind, given))
    with Session(Options(seconds=30)) as session:
        _, obligations = discharge(session, case.model)  # type: ignore[arg-type]
        found = least_bound(case.model, session, Fraction(1, 10**9), kind)  # type: ignore[arg-type]
        document = set_budget_document(case, found, given, session, obligations)
    result: dict[str, Any] = json.loads(json.dumps(document))
    return result


def check(document: dict[str, Any], path: Path | None) -> Checked:
    """Returns what the checker says, with the case file or without."""
    return checked(json.dumps(document), str(path) if path else None)


@pytest.fixture(scope="module")
def delta() -> dict[str, Any]:
    """Evidence that 1/6 is enough for ln(3/2), and of a set that needs nearly that."""
    return made(GEOMETRIC, NeedKind.DELTA, "ln(3/2)")


@pytest.fixture(scope="module")
def ratio() -> dict[str, Any]:
    """Evidence that 103/45 is enough for 1/10, and that it is needed."""
    return made(SHUFFLED, NeedKind.RATIO, "1/10")


def test_a_delta_that_is_approached(delta: dict[str, Any]) -> None:
    """The number is proved, a set near the limit is evaluated again, and the second reader compares both."""
    found = check(delta, GEOMETRIC)
    assert found.report.accepted
    assert found.look is not None
    assert found.look.compared
    assert "the least delta is at most 1/6 (≈ 0.166667), proved; it is at least" in " ".join(
        found.report.lines
    )
    assert found.report.status == "budget"
    assert check(delta, None).report.accepted
    # The set by fractions alone: it needs less than 1/6, and nearly that.
    written = delta["budget"]["witnesses"][0]
    left, right = map(Fraction, written["probabilities"])
    assert (
        left - Fraction(3, 2) * right
        == Fraction(written["delta"])
        < Fraction(1, 6)
        == Fraction(delta["budget"]["enough"])
    )
    assert Fraction(1, 6) - Fraction(written["delta"]) < Fraction(1, 1000)


@pytest.mark.slow
def test_a_ratio_that_is_reached(ratio: dict[str, Any]) -> None:
    """Where the set needs exactly what is proved, the line says so."""
    found = check(ratio, SHUFFLED)
    assert found.report.accepted
    assert "the least ratio is 103/45 (≈ 2.28889), proved, and needed at r = 1/2" in " ".join(
        found.report.lines
    )
    written = ratio["budget"]["witnesses"][0]
    left, right = map(Fraction, written["probabilities"])
    assert (left - Fraction(1, 10)) / right == Fraction(103, 45)


FORGED = [
    put("budget", "enough", value="1/7"),
    put("budget", "enough", value=None),
    put("budget", "given", value="no number"),
    put("budget", "kind", value="ratio"),
    put("budget", "witnesses", 0, "parameters", "p", value="1/4"),
    put("budget", "witnesses", 0, "delta", value="1/6"),
    put("budget", "witnesses", 0, "secrets", value=["anything", "somebody"]),
    put("budget", "witnesses", 0, "bound", value="5/4"),
    put("statements", value=[]),
    put("status", value="unknown"),
    put("case", "digest", value="0" * 64),
]


@pytest.mark.parametrize("forge", FORGED)
def test_forged_evidence_is_refused(delta: dict[str, Any], forge: Callable[[dict[str, Any]], None]) -> None:
    """A document of which one part means something else is not accepted."""
    document = copy.deepcopy(delta)
    forge(document)
    assert document != delta
    assert not check(document, GEOMETRIC).report.accepted


def test_no_smaller_number_is_accepted_with_the_same_trees(ratio: dict[str, Any]) -> None:
    """The trees prove the number that stands there, and no smaller one."""
    document = copy.deepcopy(ratio)
    document["budget"]["enough"] = "2"
    assert not check(document, SHUFFLED).report.accepted


def test_where_no_epsilon_is_enough(tmp_path: Path) -> None:
    """A set that only one secret allows and that is likelier than delta shows that no ratio is enough."""
    path = tmp_path / "case.toml"
    path.write_text(ENDLESS, encoding="utf-8")
    document = made(path, NeedKind.RATIO, "1/10")
    assert document["budget"]["enough"] is None
    found = check(document, path)
    assert found.report.accepted
    assert "the least ratio is more than every number" in " ".join(found.report.lines)
    document["budget"]["witnesses"][0]["outputs"] = [["0"]]
    assert not check(document, path).report.accepted


@pytest.mark.parametrize(("path", "given"), [(SHUFFLED, "3/4"), (GEOMETRIC, "1")])
def test_a_delta_that_is_enough_alone(path: Path, given: str) -> None:
    """Where each set has room to spare with the ratio 1, no set needs it, and the evidence has none."""
    document = made(path, NeedKind.RATIO, given)
    assert document["budget"]["enough"] == "1"
    assert not document["budget"]["witnesses"]
    found = check(document, path)
    assert found.report.accepted, found.report.lines
    assert f"budget: with delta = {given} the least ratio is 1, proved" in found.report.lines
    assert check(document, None).report.accepted


@pytest.mark.parametrize("given", ["0", "-1/2", "2", "ln(2)", "1/0"])
def test_a_given_bound_that_makes_no_sets(given: str, ratio: dict[str, Any]) -> None:
    """Such evidence is rejected in words."""
    changed = copy.deepcopy(ratio)
    changed["budget"]["given"] = given
    found = check(changed, SHUFFLED)
    assert not found.report.accepted
    assert found.report.lines[0].startswith("rejected: the budget: ")
