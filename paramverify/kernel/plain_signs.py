"""Which polynomials have one sign on a domain, as far as a document shows that besides its statements.

That a weight, a mass or a probability is nowhere negative is looked at in three ways, one after the other:

1. The polynomial is a constraint of the domain, up to a positive factor.
2. An obligation of the document shows it on this domain, up to such a factor.
3. Its Bernstein coefficients on the box have one sign.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import prod

from .evidence_polynomials import ONE, Poly, degree, parse, plus
from .ledger import Evidence, multiple
from .proof_goals import Goal, WrittenClaim, bernstein
from .rounded_constants import UNIT, exp_bounds
from .strict_reading import Rejected

TERMS = 80  # of the series of the exponential
LARGEST = 40  # the exponent of a constant E
SMALL = 1_000  # Bernstein coefficients of a polynomial that is looked at


def with_constant(statement: WrittenClaim) -> Goal:
    """Returns the goal of a statement; a constant E has an interval that contains it.

    Raises:
        Rejected: the constant is too large, or not above 1.
    """
    if statement.exponent is None:
        return statement.goal
    if not 0 < statement.exponent <= LARGEST:
        raise Rejected("the exponent of the constant is out of range")
    low, high = exp_bounds(statement.exponent, TERMS)
    interval = Fraction(int(low * UNIT), UNIT), Fraction(int(high * UNIT) + 1, UNIT)
    return replace(statement.goal, box={**statement.goal.box, "E": interval})


def signs_of(about: Evidence, number: int) -> Signs:
    """Returns what a document shows about the signs of polynomials on a domain, given by its number."""
    if number not in about.kept:
        about.kept[number] = Signs(about, number)
    found: Signs = about.kept[number]
    return found


class Signs:
    """What a document shows about the signs of polynomials on one domain; its obligations are replayed."""

    def __init__(self, about: Evidence, number: int) -> None:
        domain = about.domain(number)
        try:
            self._goal = with_constant(domain)
        except Rejected:
            self._goal = domain.goal
        shown = [poly for poly, _ in filter(None, self._goal.conditions)]
        shown += [parse(text, self._goal.names) for own, text in about.obligations.settled if own == number]
        self._found = {multiple(plus({}, poly, -ONE)): -1 for poly in shown}
        self._found |= {multiple(poly): 1 for poly in [{}, *shown]}

    def of(self, poly: Poly) -> int:
        """Returns 1 for what is shown never to be negative on the domain, −1 for never positive; else 0."""
        key = multiple(poly)
        if key not in self._found:
            degrees = {name: degree(poly, axis) for axis, name in enumerate(self._goal.names)}
            known = all(name in self._goal.box for name, d in degrees.items() if d)
            small = known and prod(d + 1 for d in degrees.values()) <= SMALL
            self._found[key] = (bernstein(self._goal, poly).weak_sign() or 0) if small else 0
        return self._found[key]
