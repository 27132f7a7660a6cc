"""Measures of privacy: how the probabilities of an output under two secrets are compared.

A model has one measure. Encodings ask it for claims, witnesses for what an output leaks, budgets for the same
question with another bound; none of them knows how the comparison is written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from paramverify.algebra.polynomials import Polynomial, RationalFunction, Ring, key, variables


@dataclass(frozen=True, eq=False)
class Pure:
    """Pure privacy: for every output ω and θ in the domain, `Pr(ω | left) ≤ ratio · Pr(ω | right)`.

    `ratio` is e^ε. It is positive on the domain, and so is its denominator.
    """

    ratio: RationalFunction

    @staticmethod
    def number(ring: Ring, bound: Fraction | int) -> Pure:
        """Returns the measure with a positive number as its bound."""
        return Pure(RationalFunction.of(ring.number(bound)))

    @property
    def variables(self) -> frozenset[str]:
        """The parameters of the bound, and `E`."""
        return frozenset((*variables(self.ratio.numerator), *variables(self.ratio.denominator)))

    def claim(self, left: Polynomial, right: Polynomial) -> Polynomial:
        """Returns f with f(θ) ≥ 0 iff the output is within the bound at θ.

        `left` and `right` are its two probabilities, up to one positive factor for both.
        """
        return right * self.ratio.numerator - left * self.ratio.denominator

    def scaled(self, top: Polynomial, bottom: Polynomial) -> Pure:
        """Returns the measure with its bound times top/bottom, which is positive, as is `bottom`."""
        return Pure(RationalFunction(self.ratio.numerator * top, self.ratio.denominator * bottom))

    def map(self, change: Callable[[Polynomial], Polynomial]) -> Pure:
        """Returns the measure with other polynomials: at a point, or over another ring."""
        return Pure(RationalFunction(change(self.ratio.numerator), change(self.ratio.denominator)))

    def document(self) -> dict[str, list[str]]:
        """Returns the bound for evidence, as numerator and denominator."""
        return {"ratio": [key(self.ratio.numerator), key(self.ratio.denominator)]}


Measure = Pure  # the union of all measures
