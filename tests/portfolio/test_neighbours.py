"""Claims that follow from others: what was proved before, and claims without their slack."""

from __future__ import annotations

import json
from fractions import Fraction

from claim_tools import make

from paramverify.algebra.polynomials import Point
from paramverify.answers import Decision, Open, Proved
from paramverify.claims import Claim, to_document
from paramverify.evidence.certificates import Proof
from paramverify.exact.branching import decide_exactly
from paramverify.exact.procedure_outcomes import Outcome
from paramverify.formats.refutations import Confirm
from paramverify.kernel.claim_evidence import check_claim
from paramverify.portfolio.session import Neighbours, without_slack

BOX = {"p": "[0, 1]", "q": "[0, 1]"}
BASE = "p**4 - 3*p**2*q + 5*q**2"


def _nowhere(point: Point) -> Point | None:
    return None


def _unheard(claim: Claim, why: str) -> None:
    pass


class _Leaf:
    """Proves by the built-in procedures, and counts how often it is asked."""

    def __init__(self) -> None:
        self.asked: list[Claim] = []
        self.winners: list[Decision] = []

    def __call__(self, claim: Claim, confirm: Confirm) -> Outcome:
        self.asked.append(claim)
        answer = decide_exactly(claim)
        if not isinstance(answer, Proved):
            return Outcome(reason="open")
        self.winners.append(Decision(answer, "leaf"))
        return Outcome(proof=self.winners[-1].proof)


def _replays(claim: Claim, proof: Proof) -> bool:
    return check_claim(to_document(claim), json.loads(json.dumps(proof))) == ()


def test_larger_polynomials_follow() -> None:
    """After f ≥ 0, twice f plus what is nonnegative needs nobody; less than f, or another box, does."""
    leaf = _Leaf()
    known = Neighbours()
    decide = known.before(leaf, leaf.winners, _unheard)
    base = make(BASE, BOX)
    first = decide(base, _nowhere)
    assert first.proof is not None
    assert len(leaf.asked) == 1
    larger = make(f"2*({BASE}) + p*q", BOX)
    found = decide(larger, _nowhere)
    assert found.proof is not None
    assert _replays(larger, found.proof)
    assert len(leaf.asked) == 1
    assert leaf.winners[-1].backend == "leaf"
    others = (make(f"{BASE} - p*q/100", BOX), make(BASE, {**BOX, "p": "[-1, 1]"}))
    for number, other in enumerate(others, 2):
        decide(other, _nowhere)
        assert len(leaf.asked) == number


def test_claims_with_other_constraints_do_not_follow() -> None:
    """A proof may use a constraint by its number, so the constraints must be the same ones."""
    leaf = _Leaf()
    known = Neighbours()
    claim = make("1 - p - q", BOX, ["p + q <= 1"])
    known.remember(claim, {"kind": "constraint"}, Decision(Open(None), "x"))  # type: ignore[arg-type]
    assert known.proof_of(claim) is not None
    assert known.proof_of(make("1 - p - q", BOX)) is None
    assert known.proof_of(make("1 - p - q", BOX, ["p + q < 1"])) is None
    assert not leaf.asked


def test_slack_is_dropped() -> None:
    """A positive constant goes where what is left seems to hold; the proof puts it back."""
    square = make("(p - q)**2 + 1/1000000", BOX)
    weaker = without_slack(square)
    assert weaker is not None
    assert weaker.polynomial == make("(p - q)**2", BOX).polynomial
    leaf = _Leaf()
    found = Neighbours().before(leaf, leaf.winners, _unheard)(square, _nowhere)
    assert found.proof is not None
    assert _replays(square, found.proof)
    assert not leaf.asked
    for text in ("p - q + 1", "p*q", "(p - 1/2)**2", "(p - q)**2 - 1/2"):
        assert without_slack(make(text, BOX)) is None
    assert not make("p - q + 1 - 1", BOX).holds_at({"p": Fraction(0), "q": Fraction(1)})
