"""Quantifier elimination by vertices: claims that hold everywhere where they hold at the corners of a box.

Let f ≥ 0 be claimed for all values of some parameters in a box, with others free. At the corners c of the
closed box this says f(·, c) ≥ 0, by continuity: so these conditions are necessary. Where they are sufficient,
as for an f that is linear in each of the parameters, that is a claim itself: f ≥ 0 wherever all of them hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from paramverify.algebra.domains import Constraint, Domain
from paramverify.algebra.polynomials import Polynomial, key, primitive, substitute, variables
from paramverify.algebra.signs import sign_on
from paramverify.answers import Proved
from paramverify.claims import Claim
from paramverify.formats.conditions import AndCondition, comparison, question, simplified
from paramverify.portfolio.elimination import Elimination, check
from paramverify.portfolio.session import Session
from paramverify.simplify.reductions import AT_LEAST_ZERO

MAX_VERTICES = 256


def by_vertices(
    claims: Sequence[Claim], free: Sequence[str], domain: Domain, session: Session
) -> Elimination | None:
    """Returns the condition at the vertices, where it is proved to be equivalent to the claims; else None.

    At a point of the free parameters that satisfies the assumptions, the condition is true iff every claim
    holds at every point of the domain with these coordinates.

    Raises:
        InputError: a free parameter that does not exist.
        UnsupportedError: the claims mention `exp(q)`.
        DisagreementError: the condition is wrong at a sample point, by an exact computation.
    """
    domain = replace(domain, box={n: i for n, i in domain.box.items() if n in domain.ring.parameters})
    polynomials = list({key(claim.polynomial): claim.polynomial for claim in claims}.values())
    whole = question(polynomials, domain, free)
    if any(set(variables(c.polynomial)).intersection(whole.bound) for c in domain.constraints):
        return None
    if 2 ** len(whole.bound) > MAX_VERTICES:
        return None
    needed = _at_vertices(polynomials, whole.bound, domain)
    known = tuple(Constraint(g, False, f"{g} >= 0") for g in needed)
    smaller = replace(domain, constraints=(*domain.constraints, *known))
    for polynomial in polynomials:
        if not isinstance(session.decide(Claim(polynomial, smaller)).answer, Proved):
            return None
    condition = simplified(AndCondition(tuple(comparison(g, ">=") for g in needed)))
    checked = check(condition, [Claim(f, domain) for f in polynomials], domain, whole, session.deadline)
    return Elimination(condition, AndCondition(whole.assumptions), str(condition), "", checked)


def _at_vertices(polynomials: Sequence[Polynomial], bound: Sequence[str], domain: Domain) -> list[Polynomial]:
    """Returns what has to be at least zero at vertices, without what is so on the whole domain."""
    ends = [dict.fromkeys((domain.box[n].lower, domain.box[n].upper)) for n in bound]
    found: dict[str, Polynomial] = {}
    for corner in product(*ends):
        at = dict(zip(bound, corner, strict=True))
        for polynomial in polynomials:
            value = primitive(substitute(polynomial, at))[1]
            if sign_on(value, domain) not in AT_LEAST_ZERO:
                found.setdefault(key(value), value)
    return list(found.values())
