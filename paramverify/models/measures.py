"""Measures of privacy: how the probabilities of an output under two secrets are compared.

A model has one measure; where its bound depends on the distance of two inputs, `at` gives that of a pair.
Encodings ask it for claims, witnesses for what an output leaks, budgets for the same question with another
bound; none of them knows how the comparison is written. A measure that compares no outputs one by one, but
sets of them, or all together (`models.divergences`), refuses what asks for that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from paramverify.algebra.polynomials import Polynomial, RationalFunction, Ring, key, variables
from paramverify.algebra.reals import Real
from paramverify.errors import UnsupportedError
from paramverify.models.divergences import LossBound, Renyi


@dataclass(frozen=True, eq=False)
class Pure:
    """Pure privacy: for every output ω and θ in the domain, `Pr(ω | left) ≤ ratio · Pr(ω | right)`.

    `ratio` is e^ε. It is positive on the domain, and so is its denominator.
    """

    ratio: RationalFunction
    by_sets: ClassVar[bool] = False  # whether sets of outputs are compared, and not outputs one by one
    together: ClassVar[bool] = False  # whether all outputs together are compared
    key: ClassVar[str] = "ratio"  # what the case file calls it

    @staticmethod
    def number(ring: Ring, bound: Fraction | int) -> Pure:
        """Returns the measure with a positive number as its bound."""
        return Pure(RationalFunction.of(ring.number(bound)))

    def at(self, distance: Fraction | None) -> Pure:
        """Returns the measure itself: its bound is the same for all pairs."""
        return self

    @property
    def variables(self) -> frozenset[str]:
        """The parameters of the bound, and `E`."""
        return frozenset((*variables(self.ratio.numerator), *variables(self.ratio.denominator)))

    def claim(self, left: Polynomial, right: Polynomial) -> Polynomial:
        """Returns f with f(θ) ≥ 0 iff the output is within the bound at θ.

        `left` and `right` are its two probabilities, up to one positive factor for both.
        """
        return right * self.ratio.numerator - left * self.ratio.denominator

    def bound(self, function: Callable[[RationalFunction], Real]) -> Real:
        """Returns the bound at a point, where `function` evaluates; see `exceeds`."""
        return function(self.ratio)

    @staticmethod
    def exceeds(left: Real, right: Real, bound: Real) -> bool:
        """Tells whether an output with these two probabilities is beyond the bound, exactly."""
        return (left - bound * right).sign() > 0

    @staticmethod
    def leak(left: Real, right: Real) -> Real | None:
        """Returns the least bound that an output is within: left / right; None stands for infinity."""
        return left / right if right.sign() > 0 else None

    def scaled(self, top: Polynomial, bottom: Polynomial) -> Pure:
        """Returns the measure with its bound times top/bottom, which is positive, as is `bottom`."""
        return Pure(RationalFunction(self.ratio.numerator * top, self.ratio.denominator * bottom))

    def map(self, change: Callable[[Polynomial], Polynomial]) -> Pure:
        """Returns the measure with other polynomials: at a point, or over another ring."""
        return Pure(RationalFunction(change(self.ratio.numerator), change(self.ratio.denominator)))

    def document(self) -> dict[str, list[str]]:
        """Returns the bound for evidence, as numerator and denominator."""
        return {"ratio": [key(self.ratio.numerator), key(self.ratio.denominator)]}


@dataclass(frozen=True, eq=False)
class Metric:
    """Metric privacy: a pair of inputs at distance d has the bound `bounds[d]`, both ways.

    With e^(ε·d) as the bounds it is the privacy of [ChatzikokolakisABP13].
    """

    bounds: Mapping[Fraction, Pure]
    by_sets: ClassVar[bool] = False
    together: ClassVar[bool] = False
    key: ClassVar[str] = "ratio"

    @property
    def variables(self) -> frozenset[str]:
        """The parameters of the bounds, and `E`."""
        return frozenset(name for bound in self.bounds.values() for name in bound.variables)

    def at(self, distance: Fraction | None) -> Pure:
        """Returns the measure between two inputs at a distance of the model.

        Raises:
            UnsupportedError: no distance is given; one bound for all pairs is asked for.
        """
        if distance is None:
            raise UnsupportedError("the bound of this case depends on the distance of two inputs")
        return self.bounds[distance]

    def scaled(self, top: Polynomial, bottom: Polynomial) -> Metric:
        """Returns the measure with its bounds times top/bottom, which is positive, as is `bottom`."""
        return Metric({d: bound.scaled(top, bottom) for d, bound in self.bounds.items()})

    def map(self, change: Callable[[Polynomial], Polynomial]) -> Metric:
        """Returns the measure with other polynomials: at a point, or over another ring."""
        return Metric({d: bound.map(change) for d, bound in self.bounds.items()})

    def document(self) -> dict[str, list[str]]:
        """Not available: evidence about all sequences at once has one bound."""
        return self.at(None).document()


@dataclass(frozen=True, eq=False)
class Approximate:
    """(ε, δ) privacy: for every set S of outputs and θ, `Pr(S | left) ≤ ratio · Pr(S | right) + delta`.

    `ratio` is e^ε, positive on the domain, as are both denominators; `delta` is nowhere below 0 or above 1.
    The largest left side minus `ratio · Pr(S | right)` over all sets is Σ_ω max(0, Pr(ω|left) −
    ratio·Pr(ω|right)) ([DworkRoth14] Definition 2.4), so an output has an `excess`,
    and all outputs together have `room` for it. It compares no outputs one by one: what asks for
    that gets an error.
    """

    ratio: RationalFunction
    delta: RationalFunction
    key: str = "delta"  # what the case file calls it
    by_sets: ClassVar[bool] = True
    together: ClassVar[bool] = False

    def at(self, distance: Fraction | None) -> Pure:
        """Not available: outputs are compared in sets.

        Raises:
            UnsupportedError: always.
        """
        told = "a delta" if self.key == "delta" else self.key
        raise UnsupportedError(f"this case has {told}, so {SETS}; {INSTEAD}", key=f"privacy.{self.key}")

    @property
    def variables(self) -> frozenset[str]:
        """The parameters of both bounds, and `E`."""
        parts = (f for q in (self.ratio, self.delta) for f in (q.numerator, q.denominator))
        return frozenset(name for part in parts for name in variables(part))

    def excess(self, left: Polynomial, right: Polynomial) -> Polynomial:
        """Returns t with max(0, t) what an output has beyond the ratio, up to the factor of `room`.

        `left` and `right` are its two probabilities, up to one positive factor for all outputs.
        """
        beyond = left * self.ratio.denominator - right * self.ratio.numerator
        return beyond * self.delta.denominator

    def room(self, total: Polynomial) -> Polynomial:
        """Returns what the sum of all `max(0, excess)` may be, where all probabilities sum to `total`."""
        return total * self.ratio.denominator * self.delta.numerator

    def scaled(self, top: Polynomial, bottom: Polynomial) -> Pure:
        """Not available, see `at`."""
        return self.at(None)

    def map(self, change: Callable[[Polynomial], Polynomial]) -> Approximate:
        """Returns the measure with other polynomials: at a point, or over another ring."""
        ratio, delta = (
            RationalFunction(change(f.numerator), change(f.denominator)) for f in (self.ratio, self.delta)
        )
        return Approximate(ratio, delta, self.key)

    def document(self) -> dict[str, list[str]]:
        """Not available, see `at`."""
        return self.at(None).document()


PROBABILITIES = "outputs with probabilities; this program puts out numbers with densities or limits of ratios"
SETS = "its measure compares sets of outputs, not outputs one by one"
INSTEAD = (
    "`verify` and `synthesize` do so, `budget --delta-for EPSILON` finds the least delta, and "
    "`budget --epsilon-for DELTA` the least epsilon; "
    "a case with epsilon or ratio alone is about outputs one by one"
)

Measure = Pure | Metric | Approximate | Renyi | LossBound
