"""Comparisons of rational functions → Claims."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import Polynomial, primitive
from paramverify.algebra.signs import Sign, sign_on
from paramverify.claims import Claim, Stated, positive
from paramverify.models.inequality import Inequality, RationalComparison


def inequality_claims(model: Inequality) -> tuple[Claim, ...]:
    """Returns claims that all hold iff every comparison is true at every point; equal ones are merged.

    With positive denominators, `a/b ≤ c/d` iff `c·b − a·d ≥ 0`. A strict `f < g` is not a claim of this form,
    and becomes one about the points with f ≥ g (`positive`).
    """
    merged: dict[str, tuple[Claim, list[Stated]]] = {}
    for number, comparison in enumerate(model.comparisons):
        for claim in _claims(comparison, model.domain):
            origins = merged.setdefault(claim.text(), (claim, []))[1]
            origins.append(Stated(number, comparison.text))
    return tuple(replace(claim, origins=tuple(origins)) for claim, origins in merged.values())


def _claims(comparison: RationalComparison, domain: Domain) -> Iterator[Claim]:
    gap = _gap(comparison, domain)  # right − left, up to a positive factor
    if comparison.relation in ("<=", "=="):
        yield Claim(gap, domain)
    if comparison.relation in (">=", "=="):
        yield Claim(-gap, domain)
    if comparison.relation in ("<", ">"):
        yield positive(gap if comparison.relation == "<" else -gap, domain, f"not ({comparison.text})")


def _gap(comparison: RationalComparison, domain: Domain) -> Polynomial:
    left, right = comparison.left, comparison.right
    if left.denominator == right.denominator:
        return primitive(right.numerator - left.numerator)[1]
    gap = right.numerator * left.denominator - left.numerator * right.denominator
    # What both denominators share can go if its sign is known; without that the claim is only larger.
    common = left.denominator.gcd(right.denominator)
    sign = sign_on(common, domain)
    if sign in (Sign.POSITIVE, Sign.NEGATIVE):
        gap = gap / common if sign is Sign.POSITIVE else -(gap / common)
    return primitive(gap)[1]
