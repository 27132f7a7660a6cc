"""Reductions: what a step of simplification makes of a claim.

A reduction says how the proofs of its premises become a proof of the claim, how a point that refutes a
premise becomes one that should refute the claim, and how far it is faithful:

- exact: the claim holds iff all premises hold;
- sound for proof: the claim holds if all premises hold.

Two facts are used by all steps. (1) f is continuous, so on a box without constraints f ≥ 0 on the box iff
f ≥ 0 on its closure. (2) Where such a box has an inside in every variable of f, a factor s ≥ 0 that is not
identically zero can be divided out: the points with s > 0 are dense. Constraints break (2), for they may
leave nothing but points with s = 0; then a step is exact only where s > 0 on the box. (A constraint that
holds on the whole box does not count.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction

from paramverify.algebra.domains import Constraint, Domain
from paramverify.algebra.polynomials import Point, Polynomial, fraction, variables
from paramverify.algebra.signs import Sign, sign_on
from paramverify.claims import Claim
from paramverify.evidence.certificates import Proof

AT_LEAST_ZERO = (Sign.POSITIVE, Sign.NONNEGATIVE, Sign.ZERO)
AT_MOST_ZERO = (Sign.NEGATIVE, Sign.NONPOSITIVE)
NEVER_ZERO = (Sign.POSITIVE, Sign.NEGATIVE)


class Guarantee(Enum):
    """Which verdicts about the premises are verdicts about the claim."""

    EXACT = "exact"
    PROOF = "sound for proof"


@dataclass(frozen=True, eq=False)
class Premise:
    """A claim to be decided instead; `lift` turns a point of its domain into one of the reduced claim's."""

    claim: Claim
    lift: Callable[[Point], Point] = lambda point: point


@dataclass(frozen=True, eq=False)
class Reduction:
    """One step applied: the premises, and how their proofs make a proof of the claim."""

    step: str
    guarantee: Guarantee
    premises: tuple[Premise, ...]
    certify: Callable[[Sequence[Proof]], Proof]


Step = Callable[[Claim], Reduction | None]


def live_constraints(domain: Domain) -> list[tuple[int, Constraint]]:
    """Returns the constraints, by index, that are not shown to hold on the whole box."""
    return [(k, c) for k, c in enumerate(domain.constraints) if not _holds_on_box(c, domain)]


def _holds_on_box(constraint: Constraint, domain: Domain) -> bool:
    sign = sign_on(constraint.polynomial, domain)
    return sign is Sign.POSITIVE or (not constraint.strict and sign in AT_LEAST_ZERO)


def unrestricted(domain: Domain) -> Callable[[str], bool]:
    """Returns a function that tells whether nothing but its interval restricts a variable."""
    bound = {name for _, c in live_constraints(domain) for name in variables(c.polynomial)}
    return lambda name: name not in bound


def about(claim: Claim, polynomial: Polynomial) -> Claim:
    return replace(claim, polynomial=polynomial)


def refuted(claim: Claim, step: str, at: Point, guarantee: Guarantee) -> Reduction:
    """Returns the reduction to the false claim −1 ≥ 0, refuted at the given point."""
    false = Premise(about(claim, claim.domain.ring.number(-1)), lambda _: at)
    return Reduction(step, guarantee, (false,), lambda proofs: proofs[0])


def setting(values: Point) -> Callable[[Point], Point]:
    return lambda point: {**point, **values}


def quotient(left: Polynomial, right: Polynomial) -> Fraction:
    """Returns c with left = c·right, for a left side that is not zero; 0 if there is none."""
    if len(left) != len(right):
        return Fraction(0)
    quotient = left.leading_coefficient() / right.leading_coefficient()
    return fraction(quotient) if left == right * quotient else Fraction(0)
