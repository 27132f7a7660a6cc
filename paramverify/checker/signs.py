"""Which polynomials are plainly never negative on a domain, and which are never positive: standard library.

Three things are looked at, one after the other. The polynomial is a constraint of the domain, up to a
positive factor. Or an obligation of the document shows it on this domain, up to such a factor. Or its
Bernstein coefficients on the box have one sign.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from .claims import read_claim
from .exponentials import exp_bounds
from .goals import Goal, WrittenClaim, bernstein
from .logarithms import UNIT
from .models import shape
from .polynomials import Poly, degree, parse
from .strict import Rejected

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


class Signs:
    """What a document shows about the signs of polynomials on one domain; its obligations were replayed."""

    def __init__(self, document: Mapping[str, Any], domain: Mapping[str, Any]) -> None:
        statement = read_claim({**domain, "polynomial": "0"})
        try:
            self._goal = with_constant(statement)
        except Rejected:
            self._goal = statement.goal
        self._shown = {shape(poly) for poly, _ in filter(None, self._goal.conditions)}
        for entry in document.get("obligations", []):
            about = {name: value for name, value in entry["claim"].items() if name != "polynomial"}
            if entry["proof"] is not None and about == domain:
                self._shown.add(shape(parse(entry["claim"]["polynomial"], self._goal.names)))
        self._found: dict[Any, int] = {}

    def of(self, poly: Poly) -> int:
        """Returns 1 for what is shown never to be negative on the domain, −1 for never positive; else 0."""
        key = shape(poly)
        if key not in self._found:
            self._found[key] = self._look(poly, key)
        return self._found[key]

    def _look(self, poly: Poly, key: Any) -> int:
        if not poly or key in self._shown:
            return 1
        if frozenset((x, -c) for x, c in key) in self._shown:
            return -1
        size = 1
        for axis, name in enumerate(self._goal.names):
            d = degree(poly, axis)
            if d and name not in self._goal.box:
                return 0
            size *= d + 1
        if size > SMALL:
            return 0
        found = bernstein(self._goal, poly).entries
        return 1 if min(found) >= 0 else -1 if max(found) <= 0 else 0
