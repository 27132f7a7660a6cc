"""The checker accepts every kind of proof for its claim, and none for a claim that is false."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from claim_tools import kinds
from proved_claims import CLAIMS, PROOFS, Json

from paramverify.answers import Refuted
from paramverify.claims import Claim, to_document
from paramverify.exact.branching import decide_exactly
from paramverify.exact.procedure_outcomes import RemainingWork
from paramverify.kernel.claim_evidence import (
    Rejected,
    check_claim,
    digest,
)
from paramverify.kernel.proof_rules import RULES


def accepts(claim: Claim | Json, proof: Any) -> bool:
    document = to_document(claim) if isinstance(claim, Claim) else claim
    try:
        check_claim(document, proof)
    except Rejected:
        return False
    return True


@pytest.mark.parametrize("name", CLAIMS)
def test_proofs_are_accepted(name: str) -> None:
    """A proof of each kind is accepted for its claim, and for no other claim of the list."""
    assert accepts(CLAIMS[name], PROOFS[name])
    for other, claim in CLAIMS.items():
        if other != name and accepts(claim, PROOFS[name]):
            assert PROOFS[name] == PROOFS[other] or claim.digest() != CLAIMS[name].digest()


def test_every_kind_of_proof_is_tested() -> None:
    """The claims of this file have proofs of every kind that the built-ins make."""
    found = set().union(*map(kinds, PROOFS.values()))
    made_elsewhere = {"sum", "lemma", "solver"}
    made_elsewhere |= {"logarithm", "squares", "vanish"}  # test_tied_kernel.py, test_squares_kernel.py
    assert found >= RULES.keys() - made_elsewhere


# --- mutations --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_claims_made_false_are_rejected() -> None:
    """With the claim itself lowered until it fails, its former proof is rejected, whatever is expected."""
    found = 0
    for name, claim in CLAIMS.items():
        for shift in ("1/1000", "1/10", "5"):
            lower = Claim(claim.polynomial - claim.domain.ring.number(Fraction(shift)), claim.domain)
            if isinstance(decide_exactly(lower, RemainingWork(2000)), Refuted):
                found += 1
                assert not accepts(lower, PROOFS[name]), (name, shift)
    assert found >= 30


# --- documents --------------------------------------------------------------------------------------


def test_expected_claims_are_compared_by_their_text() -> None:
    """The digest of a claim in the checker is the one that the rest of the package computes."""
    for claim in CLAIMS.values():
        assert digest(json.loads(json.dumps(to_document(claim)))) == claim.digest()
