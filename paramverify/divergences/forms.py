"""Divergences with their bounds: how far two distributions of outputs are apart, and how far they may be.

Divergences are open: a package beside this one may add one (`paramverify.divergences`). Forms are closed. A
divergence is of one of three: its value is the largest of some `Quotients` of polynomials, a sum of
`PositiveParts`, or the `Average` of a convex function of the privacy loss, which is no polynomial. Prover,
search, cells of maps, evidence and the rules of the kernel belong to the form, so they ask which one it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import ClassVar, Self

from flint import arb, fmpq

from paramverify.algebra.polynomials import Polynomial, RationalFunction, variables
from paramverify.algebra.rationals import logarithm, nearest
from paramverify.algebra.reals import Real
from paramverify.divergences.masses import MassDivergence
from paramverify.errors import InputError, UnsupportedError

RATIO = "bound e^ε on the ratio"


class Event(Enum):
    """What a witness against a bound names."""

    OUTPUT = "one output"
    SET = "a set of outputs"
    ALL = "all outputs, with those that contribute most"
    COMPARISON = "a comparison of a claim, which has no outputs"


class Divergence:
    """What all divergences with their bounds have."""

    key: str  # in `[privacy]`
    processed: ClassVar[bool] = True  # whether no function of the outputs makes it larger
    exact: ClassVar[bool] = True  # whether `of_sum` is exact
    event: ClassVar[Event]
    otherwise: ClassVar[str] = "its measure compares all outputs together, not outputs one by one"
    taken: ClassVar[str] = "; use `verify`, `certify`, `budget` or `sample` for such a case"
    instead: ClassVar[str] = ""  # what to ask of such a case, instead of what requires a case without the key
    largest_told: ClassVar[str] = "sum of all outputs"  # what is to be small

    @property
    def share(self) -> RationalFunction | None:
        """How much more a set of outputs may have than e^ε times as much; None where no set is compared."""
        return None

    @property
    def told(self) -> str:
        """What is bounded of all outputs, in words; "" where they are compared one by one, or in sets."""
        return ""

    @property
    def named_bounds(self) -> Sequence[tuple[str, RationalFunction]]:
        """Each bound that is the same for all pairs, if it is a formula, with what it bounds in words."""
        return ()

    @property
    def distances(self) -> Collection[Fraction]:
        """The distances of inputs where the bound depends on them; none where one bound is for all pairs."""
        return ()

    @property
    def variables(self) -> frozenset[str]:
        """The parameters of the bound, and `E`."""
        return names_in(*self.functions)

    @property
    def functions(self) -> tuple[RationalFunction, ...]:
        """What is written with parameters."""
        return ()

    def map(self, change: Callable[[Polynomial], Polynomial]) -> Self:
        """Returns the divergence with other polynomials in its bound: at a point, or over another ring."""
        raise NotImplementedError

    def bound_at(self, distance: Fraction | None) -> RationalFunction:
        """Returns the bound for two inputs at a distance, where it is a formula."""
        raise NotImplementedError

    def ratio_at(self, distance: Fraction | None) -> RationalFunction:
        """Returns the bound on the ratio of each output, for two inputs at a distance.

        Raises:
            UnsupportedError: outputs are not compared one by one; or the bound depends on a distance, and
                none is given.
        """
        raise self.refused()

    def with_bound(self, bound: RationalFunction) -> Quotients:
        """Returns the divergence with this bound for all pairs.

        Raises:
            UnsupportedError: it has no such bound, because outputs are not compared one by one.
        """
        raise self.refused()

    def of_sum(self, total: Fraction) -> Fraction:
        """Returns the bound as `[privacy]` has it where what is proved to be small is at most `total`."""
        return total

    def written(self, bound: str) -> object:
        """Returns such a bound as it is written in `[privacy]`."""
        return bound

    def refused(self) -> UnsupportedError:
        """Returns the error for what compares outputs one by one, where a case does not."""
        has = "a delta" if self.key == "delta" else self.key
        why = self.otherwise + self.taken
        return UnsupportedError(f"this case has {has}, so {why}", key=f"privacy.{self.key}")

    def not_for(self, what: str) -> InputError:
        """Returns the error for a question that is not about such a divergence; `what` names the question."""
        reason = f"{what} requires a case without {self.key}: {self.instead or self.otherwise}"
        return InputError(reason, key=f"privacy.{self.key}")


class Quotients(Divergence):
    """A divergence whose bound says that quotients of polynomials are at most a number: the claims."""

    event = Event.OUTPUT
    largest_told = "ratio"

    @property
    def named_bounds(self) -> Sequence[tuple[str, RationalFunction]]:
        """The bound."""
        return (("bound on the sum", self.bound_at(None)),)

    def scaled(self, top: Polynomial, bottom: Polynomial) -> Self:
        """Returns the divergence with its bound times top/bottom, which is positive, as is `bottom`."""
        return self.map_bound(lambda b: RationalFunction(b.numerator * top, b.denominator * bottom))

    def map(self, change: Callable[[Polynomial], Polynomial]) -> Self:
        """Returns the divergence with other polynomials in its bound: at a point, or over another ring."""
        return self.map_bound(lambda b: RationalFunction(change(b.numerator), change(b.denominator)))

    def map_bound(self, change: Callable[[RationalFunction], RationalFunction]) -> Self:
        """Returns the divergence with another bound."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class PositiveParts(Divergence):
    """A divergence that is Σ_ω max(0, Pr(ω|left) − ratio·Pr(ω|right)): sets of outputs are compared.

    It is at most `delta` at every θ. An output has an `excess`, and all outputs together have `room` for it.
    """

    ratio: RationalFunction
    delta: RationalFunction
    key: str = "delta"
    event = Event.SET
    otherwise: ClassVar[str] = (
        "its measure compares sets of outputs, not outputs one by one; remove the delta from the case, or "
        "use `verify`, `synthesize`, or `budget` with --delta-for or --epsilon-for"
    )
    instead: ClassVar[str] = "use `budget --delta-for EPSILON` or `--epsilon-for DELTA`, or remove the delta"
    taken: ClassVar[str] = ""

    @property
    def share(self) -> RationalFunction:
        """How much more a set of outputs may have: delta."""
        return self.delta

    @property
    def named_bounds(self) -> Sequence[tuple[str, RationalFunction]]:
        """Both bounds."""
        return (RATIO, self.ratio), ("bound δ on what is beyond", self.delta)

    def bound_at(self, distance: Fraction | None) -> RationalFunction:
        """Returns e^ε: it is the same for all pairs."""
        return self.ratio

    @property
    def functions(self) -> tuple[RationalFunction, ...]:
        """Both bounds."""
        return self.ratio, self.delta

    def map(self, change: Callable[[Polynomial], Polynomial]) -> Self:
        """Returns the divergence with other polynomials: at a point, or over another ring."""
        ratio, delta = (RationalFunction(change(f.numerator), change(f.denominator)) for f in self.functions)
        return replace(self, ratio=ratio, delta=delta)

    def excess(self, left: Polynomial, right: Polynomial) -> Polynomial:
        """Returns t with max(0, t) what an output has beyond the ratio, up to the factor of `room`.

        `left` and `right` are its two probabilities, up to one positive factor for all outputs.
        """
        beyond = left * self.ratio.denominator - right * self.ratio.numerator
        return beyond * self.delta.denominator

    def room(self, total: Polynomial) -> Polynomial:
        """Returns what the sum of all `max(0, excess)` may be, where all probabilities sum to `total`."""
        return total * self.ratio.denominator * self.delta.numerator


@dataclass(frozen=True, eq=False)
class Average(Divergence):
    """A bound on an average of the privacy loss ln(P/Q) that is no polynomial; its bound is a number > 0.

    The bound is `rational + Σ factor·ln(number)`, with positive numbers.
    """

    rational: Fraction
    logarithms: tuple[tuple[Fraction, Fraction], ...] = ()
    event = Event.ALL
    of_orders: ClassVar[bool]  # whether it is about D_α of all real orders α > 1, with the bound times α
    on_masses: ClassVar[MassDivergence]  # the divergence as a function of floats; see `limit`

    def map(self, change: Callable[[Polynomial], Polynomial]) -> Self:
        """Returns the divergence itself: its bound has no parameters."""
        return self

    def ball(self) -> arb:
        """Returns a ball with the bound, at the working precision."""
        total = _ball(self.rational)
        for factor, value in self.logarithms:
            total += _ball(value).log() * _ball(factor)
        return total

    def limit(self, function: Callable[[RationalFunction], Real]) -> float:
        """Returns what `on_masses` may be, rounded: the bound."""
        logarithms = (nearest(factor) * logarithm(value) for factor, value in self.logarithms)
        return nearest(self.rational) + sum(logarithms)


def _ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def names_in(*functions: RationalFunction) -> frozenset[str]:
    """Returns the names in rational functions."""
    parts = (part for f in functions for part in (f.numerator, f.denominator))
    return frozenset(name for part in parts for name in variables(part))
