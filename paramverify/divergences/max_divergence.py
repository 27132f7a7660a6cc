"""The max divergence: the logarithm of the largest ratio of the probabilities of an output. Pure privacy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from paramverify.algebra.polynomials import Polynomial, RationalFunction, Ring, key
from paramverify.algebra.reals import Real
from paramverify.divergences.forms import RATIO, Quotients
from paramverify.errors import UnsupportedError


@dataclass(frozen=True, eq=False)
class MaxDivergence(Quotients):
    """Pure privacy: for every output ω and θ in the domain, `Pr(ω | left) ≤ ratio · Pr(ω | right)`.

    `ratio` is e^ε. It is positive on the domain, and so is its denominator.
    """

    ratio: RationalFunction
    key = "ratio"

    @staticmethod
    def number(ring: Ring, bound: Fraction | int) -> MaxDivergence:
        """Returns the divergence with a positive number as its bound."""
        return MaxDivergence(RationalFunction.of(ring.number(bound)))

    @property
    def functions(self) -> tuple[RationalFunction, ...]:
        """The bound."""
        return (self.ratio,)

    @property
    def named_bounds(self) -> Sequence[tuple[str, RationalFunction]]:
        """The bound."""
        return ((RATIO, self.ratio),)

    def bound_at(self, distance: Fraction | None) -> RationalFunction:
        """Returns e^ε: it is the same for all pairs."""
        return self.ratio

    ratio_at = bound_at

    def with_bound(self, bound: RationalFunction) -> MaxDivergence:
        """Returns the divergence with this bound."""
        return MaxDivergence(bound)

    def map_bound(self, change: Callable[[RationalFunction], RationalFunction]) -> MaxDivergence:
        """Returns the divergence with another bound."""
        return MaxDivergence(change(self.ratio))

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

    def document(self) -> dict[str, list[str]]:
        """Returns the bound for evidence, as numerator and denominator."""
        return {"ratio": [key(self.ratio.numerator), key(self.ratio.denominator)]}


@dataclass(frozen=True, eq=False)
class DistanceBound(Quotients):
    """Metric privacy: the max divergence of two inputs at distance d has the bound `bounds[d]`, both ways.

    With e^(ε·d) as the bounds it is the privacy of [ChatzikokolakisABP13].
    """

    bounds: Mapping[Fraction, MaxDivergence]
    key = "ratio"

    @property
    def named_bounds(self) -> Sequence[tuple[str, RationalFunction]]:
        """None: the bounds depend on the distance."""
        return ()

    @property
    def distances(self) -> Mapping[Fraction, MaxDivergence]:
        """The bound for each distance."""
        return self.bounds

    @property
    def functions(self) -> tuple[RationalFunction, ...]:
        """The bounds."""
        return tuple(bound.ratio for bound in self.bounds.values())

    def bound_at(self, distance: Fraction | None) -> RationalFunction:
        """Returns the bound between two inputs at a distance of the model.

        Raises:
            UnsupportedError: no distance is given.
        """
        if distance is None:
            raise UnsupportedError("the bound of this case depends on the distance of two inputs")
        return self.bounds[distance].ratio

    ratio_at = bound_at

    def with_bound(self, bound: RationalFunction) -> MaxDivergence:
        """Returns the max divergence with one bound."""
        return MaxDivergence(bound)

    def map_bound(self, change: Callable[[RationalFunction], RationalFunction]) -> DistanceBound:
        """Returns the divergence with other bounds."""
        return DistanceBound({d: bound.map_bound(change) for d, bound in self.bounds.items()})
