"""What is asked of a composition, and what is answered: a number that is exact, or between proved bounds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from paramverify.algebra.constants import lower_bound, upper_bound, working_precision
from paramverify.composition.bounds import ProvedBounds
from paramverify.composition.losses import Loss

BITS = 128  # of bounds of a logarithm


@dataclass(frozen=True)
class How:
    """How bounds were computed: the step of the grid and the bits of its masses, at the last pass."""

    step: Loss
    bits: int
    points: int
    lattice: bool
    passes: int


@dataclass(frozen=True)
class CompositionAnswer:
    """A number between proved bounds; where it is exact, `exact` is it: δ, or the ratio e^ε of an ε.

    For a δ that is no rational number `parts` has A and B with δ = A − B·e^ε.
    """

    between: ProvedBounds
    exact: Fraction | None = None
    parts: tuple[Fraction, Fraction] | None = None
    how: How | None = None

    def larger(self, other: CompositionAnswer) -> CompositionAnswer:
        """Returns the larger of two numbers of different directions."""
        if self.exact is not None and other.exact is not None:
            return self if self.exact >= other.exact else other
        both = self.between.also(other.between)
        for one in (self, other):
            if one.between == both:
                return one
        return CompositionAnswer(both, how=self.how or other.how)


@dataclass(frozen=True)
class CompositionQuestion:
    """What is asked of a composition: δ for an ε, or ε for a δ."""

    epsilon: Loss | None = None
    delta: Fraction | None = None

    def size(self, found: ProvedBounds | None) -> Fraction:
        """Returns the size of δ that is looked at, roughly; 0 where it is not known yet."""
        if self.delta is not None:
            return self.delta
        if found is None or found.upper is None:
            return Fraction(0)
        return max(found.lower, found.upper**2)  # where nothing is known from below, δ may be far smaller


def ends(value: Loss | arb | None) -> ProvedBounds:
    """Returns a number as bounds; None stands for infinity."""
    if value is None:
        return ProvedBounds(Fraction(0), None)
    with working_precision(BITS):
        found = value.ball() if isinstance(value, Loss) else value
        if isinstance(value, Loss) and value.ratio == 1:
            return ProvedBounds(max(Fraction(0), value.rational), max(Fraction(0), value.rational))
        return ProvedBounds(max(Fraction(0), lower_bound(found)), max(Fraction(0), upper_bound(found)))
