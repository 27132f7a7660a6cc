"""Whether a prior of the domain reaches the supremum of the ratio: with a point, with a proof, or open.

With c the supremum, a point with left > 0 reaches it iff `f = c·b − a` is zero there, for left and right are
a and b times a common factor, which is not zero where left > 0. (If the supremum is infinite, f = b.)
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Literal

from paramverify.algebra.domain_branches import Branch, where
from paramverify.algebra.domains import Constraint, Domain, Interval
from paramverify.algebra.polynomials import Polynomial, substitute, variables
from paramverify.algebra.signs import Sign, sign_on
from paramverify.answers import Proved, Refuted
from paramverify.claims import nowhere
from paramverify.exact.branching import decide_exactly
from paramverify.exact.procedure_outcomes import RemainingWork
from paramverify.models.model import OnDomain
from paramverify.synthesis.paths import somewhere
from paramverify.synthesis.quotients import Bound, Quotient, as_polynomials
from paramverify.synthesis.suprema import SupremumSearch

Point = dict[str, Fraction]

WORK = RemainingWork(boxes=300, coefficients=500_000)  # what a strict claim may cost: tens of milliseconds
MAX_FACES = 1_000
_APART = (Sign.POSITIVE, Sign.NEGATIVE)
_ONE_SIGN = (Sign.NONNEGATIVE, Sign.NONPOSITIVE)


def reaching(search: SupremumSearch, bound: Bound | None) -> Point | Literal[False] | None:
    """Returns a point of the domain where left > 0 and left = bound·right; infinity is the bound None.

    False if it is proved that there is none, None if it is not decided. That the bound is nowhere exceeded
    must have been proved.
    """
    quotient = search.total or search.whole
    one = quotient.left * 0 + 1
    top, bottom = as_polynomials(bound, search.model) if bound is not None else (one, one * 0)
    answers = []
    for part in search.parts:
        found = zeros(part.branch, part.b * top - part.a * bottom, part.left)
        if isinstance(found, dict):
            return part.branch.lift(found)
        answers.append(found)
    if all(answer is False for answer in answers):
        return False
    return _strict(quotient, search.model, top, bottom)


def zeros(branch: Branch, f: Polynomial, positive: Polynomial) -> Point | Literal[False] | None:
    """Returns a point of a branch where f = 0 and the other polynomial is not; False if there is none."""
    if not positive:
        return False
    if not f:
        return somewhere(branch, positive)
    settled = True
    for factor, _ in f.factor()[1]:
        sign = sign_on(factor, branch.domain)
        if sign in _APART:
            continue
        if sign in _ONE_SIGN:
            found = _on_faces(branch, factor, positive)
        else:
            found = _on_solutions(branch, factor, positive)
        if isinstance(found, dict):
            return found
        settled = settled and found is False
    return False if settled else None


def _on_faces(branch: Branch, factor: Polynomial, positive: Polynomial) -> Point | Literal[False] | None:
    """Looks at the faces of the box that belong to it, for a polynomial that has one weak sign.

    Every point of the box lies in the relative interior of one face. There the polynomial is zero either
    everywhere or nowhere, because the Bernstein coefficients of the face have one weak sign, too.
    """
    domain = branch.domain
    choices: list[tuple[Fraction | None, ...]] = []
    names = [n for n in variables(factor) if n in branch.free]
    if len(names) < len(variables(factor)):
        return None
    for name in names:
        interval = domain.box[name]
        ends = ((interval.lower, interval.lower_closed), (interval.upper, interval.upper_closed))
        choices.append((None, *(value for value, closed in ends if closed)))
    size = 1
    for choice in choices:
        size *= len(choice)
    if size > MAX_FACES:
        return None
    settled = True
    for pattern in product(*choices):
        fixed = {n: v for n, v in zip(names, pattern, strict=True) if v is not None}
        if substitute(factor, fixed):
            continue
        rest = substitute(positive, fixed)
        box = {n: Interval(v, v, True, True) for n, v in fixed.items()}
        face = replace(branch, domain=replace(domain, box={**domain.box, **box}))
        found = somewhere(face, rest) if rest else None
        if found is not None:
            return found
        settled = settled and not rest
    return False if settled else None


def _on_solutions(branch: Branch, factor: Polynomial, positive: Polynomial) -> Point | Literal[False] | None:
    settled = True
    for part in where(branch, factor):
        rest = part.restrict(positive)
        found = somewhere(part, rest) if rest else None
        if found is not None:
            return {n: v for n, v in part.lift(found).items() if n in branch.free} | {
                n: i.lower for n, i in branch.domain.box.items() if n not in branch.free
            }
        settled = settled and not rest
    return False if settled else None


def _strict(
    quotient: Quotient, model: OnDomain, top: Polynomial, bottom: Polynomial
) -> Point | Literal[False] | None:
    """Decides the claim that the domain has no point with left > 0 and left ≥ bound·right."""
    gap = quotient.left * bottom - quotient.right * top
    more = (Constraint(quotient.left, True, ""), Constraint(gap, False, ""))
    domain: Domain = replace(model.domain, constraints=(*model.domain.constraints, *more))
    answer = decide_exactly(nowhere(domain), replace(WORK))
    if isinstance(answer, Refuted):
        return {n: v for n, v in answer.point.items() if n in domain.ring.parameters}
    return False if isinstance(answer, Proved) else None
