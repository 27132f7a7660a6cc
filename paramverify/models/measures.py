"""Measures of privacy.

How the probabilities of outputs under two secrets are compared, one by one or by divergences.

A model has one measure; where its bound depends on the distance of two inputs, `at` gives that of a pair.
Encodings ask it for claims, witnesses for what an output leaks, budgets for the same question with another
bound; none of them knows how the comparison is written. A measure that compares no outputs one by one, but
sets of them, or all together (`models.measures`), refuses what asks for that.

Divergences of two finite distributions that are given as floats, for tests by sampling.

The masses are pairs (p, q). 0/0 is 0; where p > 0 = q for one of them, every divergence is infinite
([ErvenH14] section II).

Measures that compare all outputs together: divergences of one distribution from another.

Let P and Q be the probabilities of the outputs under two secrets. The Rényi divergence of order α > 1 is
D_α(P‖Q) = ln(Σ_ω P(ω)^α / Q(ω)^(α−1)) / (α − 1), with 0/0 = 0; it is infinite where P(ω) > 0 = Q(ω)
([ErvenH14]). For α → 1 it is the divergence of Kullback and Leibler, for α → ∞ the logarithm of
the largest ratio.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, NoReturn

from paramverify.algebra.polynomials import Polynomial, RationalFunction, Ring, key, variables
from paramverify.algebra.rationals import logarithm, nearest
from paramverify.algebra.reals import Real
from paramverify.errors import UnsupportedError

Masses = Sequence[tuple[float, float]]

ORDERS = tuple(1 + 2.0**k for k in range(-4, 11))
CLOSER = 12  # steps towards the order with the largest divergence for it


def renyi(masses: Masses, order: float) -> float:
    """Returns the Rényi divergence `ln(Σ p^α·q^(1−α)) / (α−1)` of an order α above 1."""
    if any(p > 0 >= q for p, q in masses):
        return math.inf
    terms = [order * math.log(p) - (order - 1) * math.log(q) for p, q in masses if p > 0]
    most = max(terms)
    return (most + math.log(sum(math.exp(term - most) for term in terms))) / (order - 1)


def chi_squared(masses: Masses) -> float:
    """Returns `Σ (p − q)²/q`."""
    if any(p > 0 >= q for p, q in masses):
        return math.inf
    return sum((p - q) ** 2 / q for p, q in masses if q > 0)


def kl(masses: Masses) -> float:
    """Returns the divergence of Kullback and Leibler, `Σ p·ln(p/q)`."""
    if any(p > 0 >= q for p, q in masses):
        return math.inf
    return sum(p * math.log(p / q) for p, q in masses if p > 0)


def zcdp(masses: Masses) -> float:
    """Returns about the largest `D_α/α` over all α > 1, and never more: the least rho that is enough.

    It is one of these at some order, or the divergence of Kullback and Leibler, which no `D_α` is below
    ([ErvenH14] Theorem 3), and so neither is the limit of `D_α/α` for α → 1.
    """
    if any(p > 0 >= q for p, q in masses):
        return math.inf

    def need(order: float) -> float:
        return renyi(masses, order) / order

    found = [need(order) for order in ORDERS]
    best = max(range(len(ORDERS)), key=found.__getitem__)
    low, high = 1 + (ORDERS[best] - 1) / 2, 1 + (ORDERS[best] - 1) * 2
    for _ in range(CLOSER):
        left, right = low + (high - low) * 0.375, low + (high - low) * 0.625
        low, high = (low, right) if need(left) >= need(right) else (left, high)
    return max(found[best], need((low + high) / 2), kl(masses))


@dataclass(frozen=True)
class MassDivergence:
    """A divergence as a function of masses; `key` is that of a case file, and `renyi` has an order."""

    key: str
    of: Callable[[Masses], float]
    order: int | None = None

    @property
    def name(self) -> str:
        """What a bound of it is called: `zcdp`; of `renyi` it is `epsilon`."""
        return self.key if self.order is None else "epsilon"

    @property
    def words(self) -> str:
        """The same where it stands alone, such as `renyi of order 4, epsilon`."""
        return self.key if self.order is None else f"{self.key} of order {self.order}, epsilon"

    def document(self, bound: float) -> dict[str, Any]:
        """Returns a bound as a case file has it."""
        return {self.key: bound if self.order is None else {"order": self.order, "epsilon": bound}}


CHI_SQUARED = MassDivergence("chi_squared", chi_squared)
KL = MassDivergence("kl", kl)
ZCDP = MassDivergence("zcdp", zcdp)
BY_KEY = {found.key: found for found in (CHI_SQUARED, KL, ZCDP)}


def of_order(order: int) -> MassDivergence:
    """Returns the Rényi divergence of an order."""
    return MassDivergence("renyi", partial(renyi, order=order), order)


TOGETHER = "its measure compares all outputs together, not outputs one by one"
INSTEAD_OF_DIVERGENCES = "`verify`, `certify`, `budget` and `sample` take such a case"


def refusal(key: str) -> UnsupportedError:
    """Returns the error for what compares outputs one by one, where a case has this key in `[privacy]`."""
    return UnsupportedError(
        f"this case has {key}, so {TOGETHER}; {INSTEAD_OF_DIVERGENCES}", key=f"privacy.{key}"
    )


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
