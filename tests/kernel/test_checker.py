"""The checker accepts every kind of proof, and rejects mutated, truncated, malformed and misplaced ones."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from claim_tools import example5, kinds, make, random_claim
from proved_claims import CLAIMS, PROOFS, Json, proof_of

from paramverify.answers import Refuted
from paramverify.claims import Claim, to_document
from paramverify.exact.branching import decide_exactly, solve_exactly
from paramverify.exact.procedure_outcomes import RemainingWork
from paramverify.formats.refutations import refuter
from paramverify.kernel.claim_evidence import (
    Rejected,
    check_claim,
    digest,
)
from paramverify.kernel.proof_rules import RULES
from paramverify.simplify.chain import simplify


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


@pytest.mark.slow
def test_random_proofs_do_not_fit_shifted_claims() -> None:
    """For random claims that hold, no proof is accepted for the claim lowered to where it fails."""
    tried = 0
    for seed in range(400):
        claim = random_claim(seed, 3)
        outcome = solve_exactly(claim, RemainingWork(2000), refuter(claim))
        lower = Claim(claim.polynomial - claim.domain.ring.number(Fraction(1, 50)), claim.domain)
        if outcome.proof is None or not isinstance(decide_exactly(lower, RemainingWork(500)), Refuted):
            continue
        tried += 1
        assert accepts(claim, json.loads(json.dumps(outcome.proof)))
        assert not accepts(lower, json.loads(json.dumps(outcome.proof))), seed
    assert tried > 50


# --- documents --------------------------------------------------------------------------------------


def test_expected_claims_are_compared_by_their_text() -> None:
    """The digest of a claim in the checker is the one that the rest of the package computes."""
    for claim in CLAIMS.values():
        assert digest(json.loads(json.dumps(to_document(claim)))) == claim.digest()


def test_hostile_numbers_end() -> None:
    """Huge exponents, digits, degrees and depths are refused quickly."""
    claim = to_document(make("p + q"))
    for text in ("p^1000000000", "9" * 300_000, "p^9999*q^9999"):
        assert not accepts({**claim, "polynomial": text}, {"kind": "bernstein", "tree": ["+"]})
    deep: Any = {"kind": "constant"}
    for _ in range(10_000):
        deep = {
            "kind": "monotone",
            "variable": "p",
            "end": "lower",
            "derivative": {"kind": "constant"},
            "proof": deep,
        }
    assert not accepts(claim, deep)


def test_example5_is_checked() -> None:
    """All six certificates of Example 5 are replayed, with and without factoring."""
    for claim in example5():
        assert accepts(claim, proof_of(claim))
        assert accepts(claim, json.loads(json.dumps(simplify(claim, ["factors"]).proof([]))))
