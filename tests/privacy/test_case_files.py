"""Every case file says what it expects; all of them are verified here with the default settings."""

import tomllib
from fractions import Fraction
from pathlib import Path

import pytest
from kept_cases import kept
from quick import shipped

from paramverify.encodings.sequences import candidates
from paramverify.evidence.algebraic_witnesses import AlgebraicCounterexample
from paramverify.evidence.witnesses import ExactCounterexample
from paramverify.models.definitions import Inequality
from paramverify.portfolio.session import Options
from paramverify.privacy.verification import verify
from paramverify.verdicts import Holds, Violated

CASES = sorted((Path(__file__).parents[2] / "cases").glob("*.toml"))
MOST = 100_000  # sequences of all pairs that are compared one by one
STATUS = {"holds": Holds, "violated": Violated}


@pytest.mark.parametrize("path", shipped(CASES, large=True), scope="module")
def test_expected_verdict(path: Path) -> None:
    """The verdict is as expected, and a violation comes with exact numbers that show it."""
    case = kept(path)
    report = verify(case, Options(seconds=120))
    assert isinstance(report.verdict, STATUS[case.expect["status"]])
    if isinstance(report.verdict, Violated):
        witness = report.verdict.witness
        if isinstance(witness, ExactCounterexample | AlgebraicCounterexample):
            assert witness.fails
            return
        left, right = (p.rational for p in witness.probabilities)
        bound = witness.bound.rational or witness.bound.enclosure()[1]
        assert left is not None
        assert right is not None
        assert left > bound * right
        if not witness.parameters and "ratio" in case.expect:
            assert left / right == Fraction(case.expect["ratio"])


@pytest.mark.parametrize("path", shipped(CASES, large=True), scope="module")
def test_expected_largest_ratio(path: Path) -> None:
    """Where all ratios are numbers, the largest is the expected tight one."""
    case = kept(path)
    model = case.model
    if isinstance(model, Inequality) or not model.lengths or "ratio" not in case.expect:
        return
    if len(model.pairs) * len(model.hmm.observations) ** max(model.lengths) > MOST:
        return
    found = [c.ratio for c in candidates(case.model)]
    ratios = [r for r in found if r is not None]
    if len(ratios) == len(found):
        assert max(ratios) == Fraction(case.expect["ratio"])


def test_there_are_cases_of_both_kinds() -> None:
    """Cases that hold and cases that do not are both there."""
    read = [tomllib.loads(path.read_text(encoding="utf-8")) for path in CASES]
    assert {case["expect"]["status"] for case in read} == {"holds", "violated"}
