"""Claims that follow from others: from what was proved before, and from the same claim without its slack."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from random import Random

from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import (
    Polynomial,
    constant_value,
    fraction,
    is_constant,
    key,
    rational,
    substitute,
    value_at,
    variables,
)
from paramverify.algebra.signs import sign_on
from paramverify.answers import Decision, Proved
from paramverify.claims import Claim
from paramverify.evidence import certificates
from paramverify.evidence.certificates import CONSTANT, POSITIVE, Proof
from paramverify.exact.branching import decide_exactly
from paramverify.exact.settling import VERSION, Outcome, RemainingWork
from paramverify.formats.refutations import Confirm
from paramverify.portfolio.strategies import BUILT_IN
from paramverify.simplify.reductions import AT_LEAST_ZERO

MAX_KNOWN = 20  # proofs that are remembered
MAX_TERMS = 2_000  # of polynomials that are compared
SAMPLES = 60
WORK = RemainingWork(boxes=60, coefficients=20_000)  # for a claim without its slack

Leaf = Callable[[Claim, Confirm], Outcome]


@dataclass
class Neighbours:
    """The last claims that were proved in a session, with their proofs and who found them."""

    known: deque[tuple[Claim, Proof, Decision]] = field(default_factory=lambda: deque(maxlen=MAX_KNOWN))

    def remember(self, claim: Claim, proof: Proof, decision: Decision) -> None:
        """Keeps a proof for claims that follow from it."""
        if len(claim.polynomial) <= MAX_TERMS and not claim.domain.ring.tied:
            self.known.append((claim, proof, decision))

    def proof_of(self, claim: Claim) -> tuple[Proof, Decision] | None:
        """Returns a proof that g ≥ 0 by f ≥ 0 and g − c·f ≥ 0, with a number c > 0, and who proved f ≥ 0.

        The second one is shown by Bernstein coefficients: it is so where all coefficients are nonnegative and
        the parameters are, too.
        """
        if len(claim.polynomial) > MAX_TERMS or claim.domain.ring.tied or is_constant(claim.polynomial):
            return None
        for other, proof, decision in self.known:
            if not is_constant(other.polynomial) and _same(other.domain, claim.domain):
                c = _quotient(claim.polynomial, other.polynomial)
                part = other.polynomial * rational(c)
                rest = claim.polynomial - part
                if c > 0 and _seems(rest, claim.domain) and sign_on(rest, claim.domain) in AT_LEAST_ZERO:
                    scaled = certificates.factors(c, [(other.polynomial, 1, 1, proof)])
                    shown = CONSTANT if is_constant(rest) else POSITIVE
                    return certificates.total([(part, scaled), (rest, shown)]), decision
        return None

    def before(self, leaf: Leaf, winners: list[Decision]) -> Leaf:
        """Returns the procedure that tries what is known first, and a claim without its slack.

        Whoever proved what is used is put to the winners.
        """

        def decided(claim: Claim, confirm: Confirm) -> Outcome:
            found = self.proof_of(claim) or _by_tight_claim(claim)
            if found is not None:
                winners.append(found[1])
                return Outcome(proof=found[0])
            outcome = leaf(claim, confirm)
            if outcome.proof is not None and winners:
                self.remember(claim, outcome.proof, winners[-1])
            return outcome

        return decided


def _by_tight_claim(claim: Claim) -> tuple[Proof, Decision] | None:
    """Returns a proof that the built-in procedures find quickly once the slack is dropped."""
    weaker = without_slack(claim)
    if weaker is None:
        return None
    decision = Decision(decide_exactly(weaker, replace(WORK)), BUILT_IN, VERSION)
    proved = isinstance(decision.answer, Proved)
    return (raised(claim, weaker, decision.proof), decision) if proved else None


def without_slack(claim: Claim) -> Claim | None:
    """Returns the claim without its positive constant, where what is left seems to hold; else None.

    What is tight often has a simpler proof: a form may be one, and the form with a constant is none.
    """
    constant = _constant(claim.polynomial)
    if constant <= 0 or is_constant(claim.polynomial) or claim.domain.ring.tied:
        return None
    rest = claim.polynomial - claim.domain.ring.number(constant)
    return replace(claim, polynomial=rest) if _seems(rest, claim.domain) else None


def raised(claim: Claim, weaker: Claim, proof: Proof) -> Proof:
    """Returns the proof of a claim, given that of the same one without its slack."""
    slack = claim.polynomial - weaker.polynomial
    return certificates.total([(weaker.polynomial, proof), (slack, CONSTANT)])


def _constant(polynomial: Polynomial) -> Fraction:
    return constant_value(substitute(polynomial, dict.fromkeys(variables(polynomial), Fraction(0))))


def _quotient(left: Polynomial, right: Polynomial) -> Fraction:
    """Returns the number that makes the leading terms equal; 0 if their monomials differ."""
    if next(iter(left.monoms())) != next(iter(right.monoms())):
        return Fraction(0)
    return fraction(left.leading_coefficient() / right.leading_coefficient())


def _same(left: Domain, right: Domain) -> bool:
    """Tells whether a proof about one domain is one about the other: they are written in the same way."""
    if left.ring != right.ring or dict(left.box) != dict(right.box):
        return False
    pairs = [[(key(c.polynomial), c.strict) for c in domain.constraints] for domain in (left, right)]
    return pairs[0] == pairs[1]


def _seems(polynomial: Polynomial, domain: Domain) -> bool:
    """Tells whether a polynomial is at least zero at some random points of the box, ends among them."""
    if any(name not in domain.box for name in variables(polynomial)):
        return False
    draws, origin = Random(1), dict.fromkeys(domain.ring.names, Fraction(0))
    for _ in range(SAMPLES):
        point = {
            n: i.lower + (i.upper - i.lower) * Fraction(draws.randrange(9), 8) for n, i in domain.box.items()
        }
        if value_at(polynomial, {**origin, **point}) < 0:
            return False
    return True
