"""Claims of a high degree that depend on one product of parameters: the step, its point, its rule."""

from __future__ import annotations

from copy import deepcopy
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from tied_claims import tied

from paramverify.algebra.domains import Constraint, Domain, Interval, box_domain
from paramverify.algebra.polynomials import Ring
from paramverify.claims import Claim, to_document
from paramverify.evidence.certificates import POSITIVE
from paramverify.kernel.claim_evidence import check_claim
from paramverify.kernel.strict_reading import Rejected
from paramverify.simplify.chain import product_step

FORGED: list[dict[str, Any]] = [
    {"powers": {"p": 1, "q": 1}},
    {"powers": {"p": 2}},
    {"reflected": ["q"]},
    {"variable": "r"},
]
UNIT = Interval(Fraction(0), Fraction(1), False, False)


def failing(least: Fraction, chunks: int, bound: Fraction, reflected: bool) -> Claim:
    """Returns `fails <= bound` for messages in three tries over channels that work at least so often."""
    ring = Ring(("p", "q"))
    one = ring.number(1)
    p, q = ring.variable("p"), ring.variable("q")
    works = (one - p) ** 2 * q if reflected else p**2 * q
    good, bad = Interval(least, Fraction(1), False, True), Interval(Fraction(0), 1 - least, True, False)
    domain = box_domain(ring, {"p": bad if reflected else good, "q": good})
    return Claim(ring.number(bound) - (one - (one - (one - works) ** 3) ** chunks), domain)


def fails(point: dict[str, Fraction], chunks: int, reflected: bool) -> Fraction:
    """Returns the probability by its formula."""
    p = 1 - point["p"] if reflected else point["p"]
    return 1 - (1 - (1 - p**2 * point["q"]) ** 3) ** chunks


@pytest.mark.slow
@pytest.mark.parametrize("reflected", [False, True])
def test_the_claim_becomes_one_in_one_variable(reflected: bool) -> None:
    """The premise holds iff the claim does; a point that refutes it refutes the claim, by fractions."""
    random = Random(5)
    for _ in range(3):
        least, chunks = Fraction(random.randint(5, 19), 20), random.randint(6, 9)
        bound = fails(
            {"p": 1 - least if reflected else least, "q": least}, chunks, reflected
        )  # at the worst corner
        holds = failing(least, chunks, bound + Fraction(1, 1000), reflected)
        reduction = product_step(holds)
        assert reduction is not None
        (premise,) = reduction.premises
        assert premise.claim.domain.box["p"].lower == least**3
        proof = reduction.certify([POSITIVE])
        document = to_document(holds)
        check_claim(document, proof)
        for change in FORGED:
            with pytest.raises((Rejected, KeyError, ValueError)):
                check_claim(document, deepcopy(proof) | change)
        broken = failing(least, chunks, bound - bound / 1000, reflected)
        lowered = product_step(broken)
        assert lowered is not None
        with pytest.raises(Rejected):
            check_claim(to_document(broken), lowered.certify([POSITIVE]))
        (premise,) = lowered.premises
        near = least**3 * (1 + Fraction(1, 10**9))
        point = premise.lift({"p": near, "q": least})
        assert all(point[n] in broken.domain.box[n] for n in ("p", "q"))
        assert fails(point, chunks, reflected) > bound - bound / 1000


def test_constraints_and_signs_forbid_it() -> None:
    """With a constraint on a variable, or a factor that may be negative, the claim stays as it is."""
    claim = failing(Fraction(1, 2), 7, Fraction(1, 2), False)
    ring, box = claim.domain.ring, claim.domain.box
    total = Constraint(ring.parse("3/2 - p - q"), False, "p + q <= 3/2")
    assert product_step(Claim(claim.polynomial, Domain(ring, box, (total,)))) is None
    with_logarithm = tied("1/2 + (x_eps*q)**20", "1", UNIT, "q", above="eps - 1")  # eps moves with x_eps
    assert product_step(with_logarithm) is None
    wide = box_domain(ring, {"p": Interval(Fraction(-1), Fraction(1)), "q": UNIT})
    assert product_step(Claim(claim.polynomial, wide)) is None
