"""The loop over enclosures of `E`: what it proves is about the number, and it ends where it must."""

from __future__ import annotations

from fractions import Fraction

import pytest

from paramverify.algebra.constants import GENERATOR, ExpConstant
from paramverify.algebra.domains import Domain, parse_interval
from paramverify.algebra.polynomials import Ring, value_at
from paramverify.claims import Claim, to_document
from paramverify.evidence import certificates
from paramverify.exact.procedure_outcomes import ENCLOSURES, Outcome, by_enclosures
from paramverify.kernel.claim_evidence import check_claim

RING = Ring(("p",), ExpConstant(Fraction(1)))
BOX = {"p": parse_interval("[0, 1]")}
CLAIM = Claim(RING.parse("E-2718281828459045235/1000000000000000000"), Domain(RING, BOX))


def by_lower_end(claim: Claim) -> Outcome:
    """Proves a claim E − c ≥ 0 if the lower end of the enclosure is enough."""
    lower = claim.domain.box[GENERATOR].lower
    enough = value_at(claim.polynomial, {"p": Fraction(0), GENERATOR: lower}) >= 0
    return Outcome(proof=certificates.POSITIVE) if enough else Outcome(reason=f"{lower} is too little")


def test_closer_and_closer() -> None:
    """The first enclosure that is close enough is part of the proof, which the checker accepts."""
    found = by_enclosures(CLAIM, by_lower_end)
    assert found.proof is not None
    low, high = RING.constant.enclosure(64) if RING.constant else (0, 0)
    assert found.proof["interval"] == [certificates.text(low), certificates.text(high)]
    assert check_claim(to_document(CLAIM), found.proof) == ()


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_no_closer_than_helps(rounds: int) -> None:
    """It ends when a closer enclosure would not help, and with the last one."""
    seen: list[Fraction] = []

    def never(claim: Claim) -> Outcome:
        seen.append(claim.domain.box[GENERATOR].lower)
        return Outcome(reason="open")

    assert by_enclosures(CLAIM, never, lambda: len(seen) < rounds).reason == "open"
    assert len(seen) == rounds
    seen.clear()
    by_enclosures(CLAIM, never)
    assert len(seen) == len(set(seen)) == len(ENCLOSURES)


def test_points_end_it() -> None:
    """A point at which the claim fails is the answer; nothing closer is asked for."""
    asked: list[Claim] = []

    def fails(claim: Claim) -> Outcome:
        asked.append(claim)
        return Outcome(point={"p": Fraction(0)})

    assert by_enclosures(CLAIM, fails).point == {"p": 0}
    assert len(asked) == 1


def test_claims_without_the_constant() -> None:
    """Without `E` there is one claim, and its proof stays as it is."""
    ring = Ring(("p",))
    about = Claim(ring.parse("p"), Domain(ring, BOX))
    asked: list[Claim] = []

    def proves(claim: Claim) -> Outcome:
        asked.append(claim)
        return Outcome(proof=certificates.POSITIVE)

    def never(claim: Claim) -> Outcome:
        asked.append(claim)
        return Outcome(reason="open")

    assert by_enclosures(about, proves).proof == certificates.POSITIVE
    assert by_enclosures(about, never).reason == "open"
    assert [claim.domain for claim in asked] == [about.domain] * 2
