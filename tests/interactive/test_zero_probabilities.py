"""Probabilities that may be zero on the domain: proofs without division, and budgets that points reach."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from calling_tools import called
from engine_documents import own, with_own
from interactive_tools import two_answers

from paramverify.algebra.polynomials import RationalFunction
from paramverify.interactive.closures import Closures
from paramverify.interactive.probability_bounds import NumberedQuotients, WeightJudge
from paramverify.interactive.system_cases import load
from paramverify.interactive.system_certificates import budget_document, check_with_case, evidence_document
from paramverify.interactive.system_verification import tight_budget, verify
from paramverify.interactive.unwinding_families import pair_graph

CUBE = 'p = "[0, 1/4]"\nq = "[0, 1/4]"'
NEAR = '["p <= 2*q", "q <= 2*p"]'


@pytest.mark.slow
@pytest.mark.parametrize(
    ("box", "constraints", "sides", "privacy"),
    [
        ('p = "[0, 1]"\nq = "[0, 1]"', '["p == q"]', ("p", "q"), 'ratio = "1"'),
        ('p = "[0, 1]"', '["p*(1-p) == 0"]', ("p", "p**2"), 'ratio = "1"'),
        (CUBE, NEAR, ("p", "q"), 'ratio = "2"\nstep = "ln(2)"\nsteps = 1'),
        (CUBE, '["p <= 2*q", "q <= 2*p"]', ("p", "q"), 'ratio = "4"'),
    ],
)
def test_zeros_do_not_lose_the_proof(
    box: str, constraints: str, sides: tuple[str, str], privacy: str, tmp_path: Path
) -> None:
    """A family is found where quotients may be 0/0, by `interactive` and by `budget`, and checked."""
    case = load(two_answers(tmp_path, box, sides, privacy, constraints))
    found = verify(case)
    assert found.status == "holds"
    document = json.loads(json.dumps(evidence_document(case, found)))
    assert check_with_case(document, case).accepted
    budget = tight_budget(case)
    assert budget.upper is not None
    assert check_with_case(json.loads(json.dumps(budget_document(case, budget))), case).accepted


def test_a_factor_that_may_be_zero_is_not_cancelled(tmp_path: Path) -> None:
    """(p·r, q·r) and (p, q) have one quotient, but p·r <= 2·q·r says nothing where r = 0."""
    box = 'p = "[0, 1/4]"\nq = "[0, 1/4]"\nr = "[0, 1/2]"'
    constraints = '["r*(2*q - p) >= 0", "r*(2*p - q) >= 0"]'
    path = two_answers(tmp_path, box, ("p", "q"), 'ratio = "2"', constraints)
    case = load(path)
    graph = pair_graph(
        Closures(case.system), NumberedQuotients(WeightJudge(case.checks), case.system.weights.one)
    )
    p, q, r = (RationalFunction.of(case.domain.ring.variable(name)) for name in ("p", "q", "r"))
    assert graph.ratio(p * r, q * r) != graph.ratio(p, q)
    positive = r * r + case.system.weights.one
    assert graph.ratio(p * positive, q * positive) == graph.ratio(p, q)
    found = verify(case)  # at r = 0, p = 1/4 and q = 0 the answer a is impossible with the data point
    assert found.status == "violated"
    assert found.parameters["r"] == 0


@pytest.mark.slow
def test_a_budget_that_a_point_reaches(tmp_path: Path) -> None:
    """p against p/2 on [0, 1/2] has the budget 2: not where p = 0, but at every p > 0, so for all p."""
    path = two_answers(tmp_path, 'p = "[0, 1/2]"', ("p", "p/2"), 'ratio = "3"')
    evidence = tmp_path / "evidence.json"
    told = called("budget", str(path), "--evidence", str(evidence))
    assert told.code == 0
    assert told.out.startswith("tight budget: ratio 2 for all p in [0, 1/2], ")
    document = json.loads(evidence.read_text())
    tight = own(document)["tight"]
    at = Fraction(tight["parameters"]["p"])
    assert [Fraction(p) for p in tight["probabilities"]] == [at, at / 2]
    assert f"reached with p = {at}." in told.out
    checked = called("check", str(evidence), "--case", str(path))
    assert checked.code == 0
    assert "at a point of the domain an observation reaches the bound" in checked.out
    assert "every ratio is at most 2, and the largest is at least 2" in checked.out
    case = load(path)
    for value, probabilities, reason in (
        ("0", ["0", "0"], "not shown to be possible"),
        ("3/4", ["3/4", "3/8"], ""),
        ("1/4", ["1/3", "1/6"], "another probability"),
    ):
        other = {**tight, "parameters": {"p": value}, "probabilities": probabilities}
        report = check_with_case(with_own(document, tight=other), case)
        assert not report.accepted
        assert reason in report.lines[0]
