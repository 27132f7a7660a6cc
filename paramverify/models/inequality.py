"""Cases of any parametric inequality, privacy or not: what is claimed, and where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import RationalFunction
from paramverify.models.context import Obligation


@dataclass(frozen=True, eq=False)
class RationalComparison:
    """`left relation right`, with the user's text; both denominators are positive on the domain.

    The relation is <, <=, >, >= or ==. Each link of a chain `0 <= f <= 1` is one, with the whole text.
    """

    text: str
    left: RationalFunction
    relation: str
    right: RationalFunction

    def is_true(self, sign: int) -> bool:
        """Tells whether the comparison is true, given the sign of left − right."""
        return {
            "<": sign < 0,
            "<=": sign <= 0,
            ">": sign > 0,
            ">=": sign >= 0,
            "==": sign == 0,
        }[self.relation]


@dataclass(frozen=True, eq=False)
class Inequality:
    """Comparisons of rational functions, for all points of a domain.

    It holds iff for every θ in the domain every comparison is true at θ; it is violated iff some comparison
    is false at some θ. `definitions` are the functions that the case names, `text` is the user's claim.

    All this is so only if the `obligations` are proved, among them that every denominator is positive on the
    domain. `maybe_empty` is a claim that must be refuted, as for a `Model`.
    """

    domain: Domain
    comparisons: tuple[RationalComparison, ...]
    definitions: Mapping[str, RationalFunction]
    text: str
    obligations: tuple[Obligation, ...] = ()
    notes: tuple[str, ...] = ()
    maybe_empty: Obligation | None = None
