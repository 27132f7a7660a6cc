"""Bounds of a least bound: two ends, each with the reason why it is one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Generic, Self, TypeVar, cast

from paramverify.algebra.budgets import Epsilon
from paramverify.algebra.exact_numbers import FIRST_BITS, ExactNumber, enclosure, finite
from paramverify.algebra.rationals import at_least, at_most
from paramverify.algebra.real_roots import RealRoot, exact
from paramverify.algebra.reals import Real
from paramverify.claims import AllOutputs, Origin

Place = Mapping[str, RealRoot]
Value = RealRoot | Real
INFINITY = ExactNumber(None)
NOBODY = Origin("", "", ())  # what an engine says that names no secrets
W = TypeVar("W")
P = TypeVar("P")


@dataclass(frozen=True, eq=False)
class ClosureLimit:
    """The bound of a case at a place of the closure: `limit`, from 1 on; or `grows`, beyond every number.

    Both are not known where numerator and denominator of the bound vanish there, or where the place is
    irrational. `only` says that all places with the supremum are known, and the bound is 1 at all of them;
    `reached` that the place is in the domain and the ratio is the bound there.
    """

    place: Place
    limit: Real | None
    grows: bool = False
    only: bool = False
    reached: bool = False

    @property
    def tight(self) -> bool | None:
        """True if the bound is above 1 at the place, so no smaller multiple or power of it is a bound."""
        return True if self.grows or (self.limit is not None and self.limit.rational != 1) else None

    @property
    def is_one(self) -> bool:
        """Whether the bound is 1 at the place, where the supremum says nothing about it."""
        return self.limit is not None and self.limit.rational == 1


@dataclass(frozen=True, eq=False)
class Bounds(Generic[W, P]):
    """lower ≤ the least bound ≤ upper, both proved; the least bound is known where they are equal.

    `name` says what is bounded: `ratio` (e^ε), `delta`, `relative` (the largest ratio divided by the bound of
    the file), `divergence`, `multiple` (of ε), `length N` (the same for streams of N inputs). An end that
    nothing is known of, or that is a function of parameters, is None; an infinite one is infinite. If the
    lower end is infinite, there is no bound.

    The lower end is the value for the secrets and outputs of `origin` at a point, or a limit of such values
    at a `place` of the closure. `witness` has it at its point; if none has, `approached` are witnesses that
    come nearer and nearer. `attained` tells whether a point has the least bound, or None if that is not
    known; without `outputs` a point has it as a limit, to which outputs come near: it is not attained.
    `proof` is why the upper end is one, and `endless` a document for `checker.cone_evidence` that shows
    that there is none. `tight` is True if the bound of the file is shown to be the least one; `beside` is
    what that bound is at the place.
    """

    name: str
    lower: ExactNumber | None = None
    upper: ExactNumber | None = None
    attained: bool | None = None
    tight: bool | None = None
    origin: Origin = NOBODY
    place: Place = field(default_factory=dict)
    witness: W | None = None
    approached: tuple[W, ...] = ()
    proof: P | None = None
    endless: Mapping[str, Any] | None = None
    outputs: bool = True
    beside: ClosureLimit | None = None

    @staticmethod
    def none(name: str, origin: Origin, place: Place, attained: bool | None = None) -> Bounds[W, P]:
        """Returns that there is no bound: values grow without limit, or are infinite."""
        return Bounds(name, INFINITY, INFINITY, attained, origin=origin, place=place)

    def __str__(self) -> str:
        """Returns the number, exact or by its bounds: `3`, `infinity`, `between 2 and 3`."""
        if self.known is not None:
            return str(self.known)
        least = at_least(self.low, 12)
        return f"at least {least}" if self.high is None else f"between {least} and {at_most(self.high, 12)}"

    def __repr__(self) -> str:
        return f"<Bounds: {self.name} {self}>"

    @property
    def known(self) -> ExactNumber | None:
        """The least bound, where it is known exactly."""
        same = self.lower is not None and (self.lower is self.upper or self.lower == self.upper)
        return self.lower if same else None

    @property
    def infinite(self) -> bool:
        """Whether there is no bound."""
        return self.lower is not None and self.lower.is_infinite

    @property
    def number(self) -> Value | None:
        """The lower end as a rational or algebraic number or one in exp(q); None if it is infinite."""
        number = None if self.lower is None else finite(self.lower)
        return exact(number) if isinstance(number, Fraction) else cast("Value | None", number)

    @property
    def value(self) -> Value | None:
        """The least bound, where it is known exactly and finite."""
        return None if self.known is None else self.number

    @cached_property
    def low(self) -> Fraction:
        """A rational number not above the lower end; 0 if that is infinite, or nothing is known of it."""
        return _ends(self.lower)[0] or Fraction(0)

    @cached_property
    def high(self) -> Fraction | None:
        """A rational number not below the upper end; None if that is infinite, or nothing is known of it."""
        return _ends(self.upper)[1]

    @property
    def bound(self) -> Fraction | Real | None:
        """The least bound as a number with which claims can be written, or a rational upper end of it."""
        value = self.value
        return value if isinstance(value, Real) else self.high

    @property
    def secrets(self) -> tuple[str, str]:
        """The secrets that are told apart by the lower end."""
        return self.origin.left, self.origin.right

    @property
    def length(self) -> int:
        """The number of outputs one after the other that the lower end is about."""
        own = self.origin
        return own.length if isinstance(own, AllOutputs) else len(own.observations)

    @property
    def epsilon(self) -> Epsilon:
        """The logarithm of a ratio, or what its bounds tell of it."""
        if self.infinite or self.high == 0:
            return Epsilon(None, None, False)
        value = self.value
        return Epsilon.between(self.low, self.high) if value is None else Epsilon.of(value)

    def open(self) -> Self:
        """Returns them without an upper end: the lower end is one still."""
        return replace(self, lower=ExactNumber(self.low), upper=INFINITY, attained=None)

    def is_within(self, precision: Fraction, scale: Fraction | None = None) -> bool:
        """Tells whether they are equal, or at most precision times the scale or the lower end apart."""
        if self.known is not None:
            return True
        return self.high is not None and self.high - self.low <= precision * max(self.low, scale or self.low)


def _ends(number: ExactNumber | None) -> tuple[Fraction | None, Fraction | None]:
    """Returns rational numbers around a number, which are the ends of the interval of an algebraic one."""
    value = None if number is None else finite(number)
    if isinstance(value, RealRoot):
        return value.lower, value.upper
    return (None, None) if value is None else enclosure(value, FIRST_BITS)


AnyBounds = Bounds[Any, Any]
