"""Claims of one case that are equal, or that follow from each other, so that only some must be decided.

Claims are compared on the same domain. f follows from g if f = c·g + h with a number c > 0 and h ≥ 0 on the
domain by its sign: then a proof of g proves f. Nothing is lost for refutations: the case fails if g fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from paramverify.algebra.bernstein import bernstein_form
from paramverify.algebra.polynomials import (
    Polynomial,
    constant_value,
    is_constant,
    key,
    primitive,
    rational,
    variables,
)
from paramverify.algebra.signs import sign_on
from paramverify.algebra.simplest import simplest_between
from paramverify.claims import Claim, to_document
from paramverify.encodings.reductions import AT_LEAST_ZERO
from paramverify.evidence import certificates
from paramverify.evidence.certificates import CONSTANT, POSITIVE, Proof

MAX_PAIRS = 2_000  # pairs of claims that are compared for implication
MAX_SIZE = 10_000  # Bernstein coefficients of a claim that is compared


@dataclass(frozen=True, eq=False)
class Source:
    """How a claim is proved: polynomial = factor · (that of the kept claim) + rest, with rest ≥ 0.

    `kept` is the index of a claim that has to be decided; for that claim itself, factor is 1 and rest is 0.
    """

    kept: int
    factor: Fraction
    rest: Polynomial

    def proof(self, claim: Claim, lemma: Proof) -> Proof:
        """Returns the proof of a claim, given a proof or the name of a lemma for the kept one."""
        if not self.rest:
            return lemma
        multiple = claim.polynomial - self.rest
        return certificates.total(
            [(multiple, lemma), (self.rest, CONSTANT if is_constant(self.rest) else POSITIVE)]
        )


def merge(claims: Sequence[Claim]) -> list[Source]:
    """Returns for each claim which one, perhaps itself, has to be decided for it.

    The proof of a kept claim is used by way of a lemma, which stands for all positive multiples of a claim.
    """
    sources: list[Source] = []
    known: dict[tuple[str, str], int] = {}
    domains = [_domain(claim) for claim in claims]
    kept: list[int] = []
    pairs = 0
    for k, claim in enumerate(claims):
        content, reduced = primitive(claim.polynomial)
        identity = (key(reduced), domains[k])
        zero = claim.domain.ring.number(0)
        if identity in known:
            first = known[identity]
            factor = content / primitive(claims[first].polynomial)[0]
            sources.append(Source(first, factor, zero))
            continue
        found = None
        if _comparable(claim) and sign_on(claim.polynomial, claim.domain) not in AT_LEAST_ZERO:
            for other in kept:
                if domains[other] == domains[k] and pairs < MAX_PAIRS:
                    pairs += 1
                    found = _follows(claim, other, claims[other])
                    if found:
                        break
        if found:
            sources.append(found)
            continue
        known[identity] = k
        kept.append(k)
        sources.append(Source(k, Fraction(1), zero))
    return sources


def _domain(claim: Claim) -> str:
    document = to_document(claim)
    return str((document["variables"], document["box"], document["constraints"], document.get("constant")))


def _comparable(claim: Claim) -> bool:
    """Tells whether signs can be asked for: the claim is not too large, and `E`, if any, is enclosed."""
    size = prod(int(degree) + 1 for degree in claim.polynomial.degrees())
    return size <= MAX_SIZE and set(variables(claim.polynomial)) <= claim.domain.box.keys()


def _follows(claim: Claim, index: int, other: Claim) -> Source | None:
    for factor in _factors(claim, other):
        rest = claim.polynomial - other.polynomial * rational(factor)
        nonnegative = constant_value(rest) >= 0 if is_constant(rest) else None
        if nonnegative or (nonnegative is None and sign_on(rest, claim.domain) in AT_LEAST_ZERO):
            return Source(index, factor, rest)
    return None


def _factors(claim: Claim, other: Claim) -> list[Fraction]:
    """Returns positive numbers c for which f − c·g may have nonnegative Bernstein coefficients.

    Where f and g have the same degrees, all such c form an interval, and its simplest number is returned.
    """
    if not other.polynomial or list(claim.polynomial.degrees()) != list(other.polynomial.degrees()):
        return [Fraction(1)]
    f, g = (bernstein_form(c.polynomial, claim.domain.box) for c in (claim, other))
    low, high = Fraction(0), None
    for a, b in zip(f.entries, g.entries, strict=True):
        bound = Fraction(int(a * g.scale), int(b * f.scale)) if b else None
        if bound is None:
            if a < 0:
                return []
        elif b > 0:
            high = bound if high is None else min(high, bound)
        else:
            low = max(low, bound)
    if high is None or low > high or high <= 0:
        return []
    return [high] if low == high else [simplest_between(low, high)]
