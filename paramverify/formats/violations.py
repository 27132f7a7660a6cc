"""From "the claim fails", without a model, to a rational point where it does.

By eliminating all parameters but one, the values of that one at which there is a violation are known; one of
them is chosen, and the next parameter is treated in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from paramverify.algebra.domains import Constraint, Interval
from paramverify.algebra.polynomials import Point, substitute
from paramverify.answers import Open
from paramverify.claims import Claim
from paramverify.formats.conditions import (
    AndCondition,
    Condition,
    NotCondition,
    OrCondition,
    QuantifiedImplication,
    comparisons,
    question,
    samples,
)
from paramverify.formats.refutations import refuter

Ask = Callable[[QuantifiedImplication], Condition | Open]


def violation(claim: Claim, ask: Ask | None = None) -> dict[str, Fraction] | None:
    """Returns a rational point of the domain with f < 0, evaluated exactly, or None if none was found.

    `ask` answers questions with one free parameter, rightly or not; with right answers a point is found
    unless only irrational ones violate the claim. Without it only simple points are tried.
    """

    def accept(point: Point) -> Point | None:
        return point if point in claim.domain and not claim.holds_at(point) else None

    easy = refuter(claim, accept)({})
    if easy is not None:
        return dict(easy)
    if ask is None:
        return None
    point = {name: interval.simplest() for name, interval in claim.domain.box.items()}
    part = claim
    for name in question([claim.polynomial], claim.domain).bound:
        about = question([part.polynomial], part.domain, (name,))
        condition: Condition | Open = OrCondition(
            (NotCondition(AndCondition(about.hypotheses)), AndCondition(about.conclusions))
        )
        if about.bound:
            condition = ask(about)
        if isinstance(condition, Open):
            return None
        failing = AndCondition((*about.assumptions, NotCondition(condition)))
        for value in samples(comparisons(failing), name, part.domain.box[name]):
            point[name] = value
            if failing.holds_at(point):
                break
        else:
            return None
        part = fixed(part, name, value)
    return None if accept(point) is None else point


def fixed(claim: Claim, name: str, value: Fraction) -> Claim:
    """Returns the claim at one value of a parameter."""
    domain = claim.domain
    constraints = tuple(
        Constraint(substitute(c.polynomial, {name: value}), c.strict, c.text) for c in domain.constraints
    )
    box = {**domain.box, name: Interval(value, value, True, True)}
    polynomial = substitute(claim.polynomial, {name: value})
    return Claim(polynomial, replace(domain, box=box, constraints=constraints), claim.origins)
