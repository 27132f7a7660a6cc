"""Measures that compare all outputs together: divergences of one distribution from another.

Let P and Q be the probabilities of the outputs under two secrets. The Rényi divergence of order α > 1 is
D_α(P‖Q) = ln(Σ_ω P(ω)^α / Q(ω)^(α−1)) / (α − 1), with 0/0 = 0; it is infinite where P(ω) > 0 = Q(ω)
([ErvenH14]). For α → 1 it is the divergence of Kullback and Leibler, for α → ∞ the logarithm of
the largest ratio.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import ClassVar, NoReturn

from paramverify.algebra.decimals import logarithm, nearest
from paramverify.algebra.masses import BY_KEY, MassDivergence, of_order
from paramverify.algebra.polynomials import Polynomial, RationalFunction, variables
from paramverify.algebra.reals import Real
from paramverify.errors import UnsupportedError

TOGETHER = "its measure compares all outputs together, not outputs one by one"
INSTEAD = "`verify`, `certify`, `budget` and `sample` take such a case"


def refusal(key: str) -> UnsupportedError:
    """Returns the error for what compares outputs one by one, where a case has this key in `[privacy]`."""
    return UnsupportedError(f"this case has {key}, so {TOGETHER}; {INSTEAD}", key=f"privacy.{key}")


@dataclass(frozen=True, eq=False)
class Renyi:
    """Rényi privacy of a whole order α ≥ 2: `Σ_ω Pr(ω|left)^α / Pr(ω|right)^(α−1) ≤ bound` at every θ.

    `bound` is e^((α−1)·ε), positive on the domain, and so is its denominator ([Mironov17] Definition 4; for
    priors [PierquinBTB24]). `key` is what the case file calls it.
    """

    order: int
    bound: RationalFunction
    key: str = "renyi"
    by_sets: ClassVar[bool] = False
    together: ClassVar[bool] = True

    def at(self, distance: Fraction | None) -> NoReturn:
        """Not available: outputs are compared together.

        Raises:
            UnsupportedError: always.
        """
        raise refusal(self.key)

    @property
    def variables(self) -> frozenset[str]:
        """The parameters of the bound, and `E`."""
        return frozenset((*variables(self.bound.numerator), *variables(self.bound.denominator)))

    def claim(self, left: Polynomial, right: Polynomial) -> Polynomial:
        """Returns f with f(θ) ≥ 0 iff the sum, left/right with right > 0, is within the bound at θ."""
        return right * self.bound.numerator - left * self.bound.denominator

    @property
    def on_masses(self) -> MassDivergence:
        """The divergence as a function of floats; see `limit`."""
        return BY_KEY.get(self.key) or of_order(self.order)

    def limit(self, function: Callable[[RationalFunction], Real]) -> float:
        """Returns what `on_masses` may be at a point, where `function` evaluates, rounded."""
        bound = function(self.bound)
        if self.key in BY_KEY:
            return float(bound) - 1
        return logarithm(bound.middle()) / (self.order - 1)

    def scaled(self, top: Polynomial, bottom: Polynomial) -> Renyi:
        """Returns the measure with its bound times top/bottom, which is positive, as is `bottom`."""
        bound = RationalFunction(self.bound.numerator * top, self.bound.denominator * bottom)
        return Renyi(self.order, bound, self.key)

    def unit(self, one: Polynomial) -> Renyi:
        """Returns the measure with the bound 1 over another ring."""
        return Renyi(self.order, RationalFunction.of(one), self.key)

    def map(self, change: Callable[[Polynomial], Polynomial]) -> Renyi:
        """Returns the measure with other polynomials: at a point, or over another ring."""
        bound = RationalFunction(change(self.bound.numerator), change(self.bound.denominator))
        return Renyi(self.order, bound, self.key)

    def document(self) -> NoReturn:
        """Not available: evidence about all sequences at once compares outputs one by one."""
        raise refusal(self.key)


class LossKind(Enum):
    """Which loss is bounded, as the case file calls it."""

    KL = "kl"
    ZCDP = "zcdp"


@dataclass(frozen=True, eq=False)
class LossBound:
    """A bound on an average of the privacy loss ln(P/Q) that is no polynomial; its bound is a number > 0.

    KL: `Σ_ω P ln(P/Q) ≤ bound`. ZCDP: `D_α(P‖Q) ≤ bound·α` for all real α > 1 ([BunSteinke16] Definition
    1.1). The bound is `rational + Σ factor·ln(number)`, with positive numbers.
    """

    kind: LossKind
    rational: Fraction
    logarithms: tuple[tuple[Fraction, Fraction], ...] = ()
    by_sets: ClassVar[bool] = False
    together: ClassVar[bool] = True

    @property
    def key(self) -> str:
        """What the case file calls it."""
        return self.kind.value

    def at(self, distance: Fraction | None) -> NoReturn:
        """Not available: outputs are compared together.

        Raises:
            UnsupportedError: always.
        """
        raise refusal(self.key)

    @property
    def variables(self) -> frozenset[str]:
        """None: the bound is a number."""
        return frozenset()

    @property
    def on_masses(self) -> MassDivergence:
        """The divergence as a function of floats; see `limit`."""
        return BY_KEY[self.key]

    def limit(self, function: Callable[[RationalFunction], Real]) -> float:
        """Returns what `on_masses` may be, rounded: the bound."""
        logarithms = (nearest(factor) * logarithm(value) for factor, value in self.logarithms)
        return nearest(self.rational) + sum(logarithms)

    def scaled(self, top: Polynomial, bottom: Polynomial) -> NoReturn:
        """Not available: the bound is no factor of a claim."""
        raise refusal(self.key)

    def map(self, change: Callable[[Polynomial], Polynomial]) -> LossBound:
        """Returns the measure itself: its bound has no parameters."""
        return self

    def document(self) -> NoReturn:
        """Not available, see `Renyi.document`."""
        raise refusal(self.key)
