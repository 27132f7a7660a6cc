"""Ten claims with known exact optimum: thresholds just above and below it, and equality, come out right."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from claim_tools import check_witness, make, replayed

from paramverify.answers import Proved, Refuted
from paramverify.claims import Claim, to_document
from paramverify.exact.branching import decide_exactly
from paramverify.exact.procedure_outcomes import RemainingWork
from paramverify.formats.refutations import fails_at
from paramverify.kernel.claim_evidence import Rejected, check_claim

# what is maximised, its parameters, constraints, the maximum, where
MAXIMA: dict[str, tuple[str, str, list[str], Fraction]] = {
    "at 1/2": ("p*(1-p)", "p", [], Fraction(1, 4)),
    "at the irrational 2^(-1/2)": ("p**2*(1-p**2)", "p", [], Fraction(1, 4)),
    "at (1/2, 1/2)": ("p*q*(1-p)*(1-q)", "pq", [], Fraction(1, 16)),
    "at (2^(-1/2), 1/2)": ("p**2*(1-p**2)*q*(1-q)", "pq", [], Fraction(1, 16)),
    "at (3^(-1/2), 3^(-1/2))": ("p**2*q**2*(1-p**2-q**2)", "pq", [], Fraction(1, 27)),
    "at (2^(-1/3), 2^(-2/3))": ("1 - (p**3-1/2)**2 - (q-p**2)**2", "pq", [], Fraction(1)),
    "at an open end, not attained": ("2 - p*(1+q) - (q**2-1/3)**2", "pq", [], Fraction(2)),
    "along a curve": ("1 - (p-q)**2*(1+p)", "pq", [], Fraction(1)),
    "at (1/2, 1/2, 1/2)": ("p*q*r*(1-p)*(1-q)*(1-r)", "pqr", [], Fraction(1, 64)),
    "on a simplex, at (1/3, 1/3)": ("p*q*(1-p-q)", "pq", ["p + q < 1"], Fraction(1, 27)),
    "where three products are prescribed": (
        "1 - (p*q-1/3)**2 - (q*r-1/4)**2 - (p*r-1/5)**2",
        "pqr",
        [],
        Fraction(1),
    ),
}
DISTANCES = ("1/1000000000", "0", "-1/1000000000")


def claim(name: str, distance: str) -> Claim:
    text, names, constraints, optimum = MAXIMA[name]
    return make(f"{optimum * (1 + Fraction(distance))} - ({text})", names, constraints)


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("name", MAXIMA)
def test_near_misses(name: str, distance: str) -> None:
    """A bound 10^-9 (relatively) above the maximum, or equal to it, holds; one below it fails."""
    stated = claim(name, distance)
    answer = decide_exactly(stated, RemainingWork(5000))
    if Fraction(distance) >= 0:
        assert replayed(answer), answer
    else:
        assert isinstance(answer, Refuted), answer
        assert fails_at(stated, answer.point)
        check_witness(to_document(stated), {n: str(v) for n, v in answer.point.items()})


@pytest.mark.parametrize("name", MAXIMA)
def test_proofs_do_not_carry_over_to_false_claims(name: str) -> None:
    """The proof for a bound above the maximum, or equal to it, is rejected for a bound below it."""
    for true in DISTANCES[:2]:
        answer = decide_exactly(claim(name, true), RemainingWork(5000))
        assert isinstance(answer, Proved)
        assert answer.certificate is not None
        proof = json.loads(json.dumps(answer.certificate["proof"]))
        for false in DISTANCES[2:]:
            with pytest.raises(Rejected):
                check_claim(to_document(claim(name, false)), proof)
