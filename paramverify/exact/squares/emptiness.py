"""Claims that a domain is empty, which is how f > 0 is claimed: by slack, or by squares that vanish nowhere.

The claim −1 ≥ 0 on D with a constraint g ≥ 0 holds if −g ≥ δ on the rest of D, for a number δ > 0. Where
there is no such δ, −g may be a sum of squares Σ cᵢ·gᵢ²: then all gᵢ are zero on D, and other procedures may
show that this is nowhere so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from random import Random

from paramverify.algebra.domains import Constraint
from paramverify.algebra.polynomials import is_constant, rational
from paramverify.claims import Claim
from paramverify.evidence import certificates
from paramverify.evidence.certificates import Proof, SquareTerm
from paramverify.exact.squares.problems import value
from paramverify.simplify.reductions import live_constraints

DRAWS = 300
SHARES = (Fraction(1, 2), Fraction(1, 16), Fraction(1, 1024))  # of the least value that was seen

Prover = Callable[[Claim], Proof | None]
Squarer = Callable[[Claim], list[SquareTerm] | None]


def prove_empty(claim: Claim, prove: Prover, squares: Squarer, decide: Prover) -> Proof | None:
    """Returns a proof of −c ≥ 0 on a domain, for c > 0; None if none was found.

    `prove` is asked for other polynomials, `squares` for terms whose sum a polynomial is, and `decide` for
    the same claim with equations as further constraints.
    """
    live = [(k, c) for k, c in live_constraints(claim.domain) if not is_constant(c.polynomial)]
    for k, constraint in live[::-1]:  # the one that says f ≤ 0 comes last
        trivial = replace(constraint, polynomial=claim.domain.ring.number(1), strict=False)
        others = (*claim.domain.constraints[:k], trivial, *claim.domain.constraints[k + 1 :])
        rest = replace(claim, domain=replace(claim.domain, constraints=others))
        for slack in _slacks(rest, constraint):
            factor = -_number(claim) / slack
            part = claim.polynomial - constraint.polynomial * rational(factor)
            proof = prove(replace(rest, polynomial=part))
            if proof is not None:
                return certificates.constraint(k, factor, proof)
        proof = _vanishing(claim, k, squares=squares, decide=decide)
        if proof is not None:
            return proof
    return None


def _number(claim: Claim) -> Fraction:
    return value(claim.polynomial, {})


def _slacks(rest: Claim, constraint: Constraint) -> Iterator[Fraction]:
    """Yields numbers below all values of −g that were seen on the rest of the domain, simple ones."""
    draws, least = Random(1), None
    for _ in range(DRAWS):
        point = {
            n: i.lower + (i.upper - i.lower) * Fraction(draws.randrange(33), 32)
            for n, i in rest.domain.box.items()
        }
        if all(
            c.holds_at({**dict.fromkeys(rest.domain.ring.names, Fraction(0)), **point})
            for c in rest.domain.constraints
        ):
            seen = -value(constraint.polynomial, point)
            least = seen if least is None else min(least, seen)
    if least is None or least <= 0:
        return
    for share in SHARES:
        yield (least * share).limit_denominator(max(1, int(4 / (least * share))) * 4)


def _vanishing(claim: Claim, k: int, squares: Squarer, decide: Prover) -> Proof | None:
    constraint = claim.domain.constraints[k]
    terms = squares(replace(claim, polynomial=-constraint.polynomial))
    if terms is None or any(sides for sides, _ in terms):
        return None
    found = [(c, g) for _, squared in terms for c, g in squared if c > 0]
    equations = [Constraint(sign * g, False, "") for _, g in found for sign in (1, -1)]
    domain = replace(claim.domain, constraints=(*claim.domain.constraints, *equations))
    proof = decide(replace(claim, domain=domain))
    return None if proof is None else certificates.vanish(k, found, proof)
