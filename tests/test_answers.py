"""Decisions know the proof of their claim."""

from __future__ import annotations

import pytest

from paramverify.answers import Answer, Decision, End, Open, Proved, Refuted
from paramverify.errors import DefectError


def test_the_proof_of_a_decision() -> None:
    """A certificate has its own proof; without one it is the word of the solver, with all that it said."""
    own = {"kind": "constant"}
    assert Decision(Proved({"proof": own}), "z3", "5.4").proof == own
    assert Decision(Proved(transcript="unsat"), "z3", "5.4", {"seed": "1"}).proof == {
        "kind": "solver",
        "solver": "z3",
        "version": "5.4",
        "options": {"seed": "1"},
        "transcript": "unsat",
    }


@pytest.mark.parametrize("answer", [Refuted({}), Open(End.TIMEOUT)])
def test_no_proof_without_an_answer(answer: Answer) -> None:
    """What was not proved has no proof."""
    with pytest.raises(DefectError, match="a claim that was not proved has no proof"):
        assert Decision(answer, "z3").proof
