"""Probabilities of an interactive system: flint rationals, or rational functions of the parameters.

Both know + − * / and ==. A system uses one kind throughout: rationals where all of its probabilities are
numbers, which is the fast way, and rational functions otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import fmpq

from paramverify.algebra.polynomials import RationalFunction, Ring, constant_value, is_constant, rational

Weight = Any  # fmpq or RationalFunction; python-flint has no types


@dataclass(frozen=True)
class Weights:
    """The kind of probabilities that a system has: those of a ring, as numbers or as functions."""

    ring: Ring
    numeric: bool

    @property
    def zero(self) -> Weight:
        """The probability 0."""
        return self.of(Fraction(0))

    @property
    def one(self) -> Weight:
        """The probability 1."""
        return self.of(Fraction(1))

    def of(self, value: Weight | Fraction | int) -> Weight:
        """Returns a number or a function as a weight of this kind; a function that is no number stays one."""
        if isinstance(value, RationalFunction):
            return number_of(value) if self.numeric else value
        number = rational(value) if isinstance(value, (int, Fraction)) else value
        return number if self.numeric else as_function(number, self.ring)


def number_of(function: RationalFunction) -> fmpq:
    """Returns a constant rational function as a flint rational."""
    return rational(constant_value(function.numerator) / constant_value(function.denominator))


def is_number(value: object) -> bool:
    """Tells whether a weight is a number, in whichever form."""
    if isinstance(value, RationalFunction):
        return is_constant(value.numerator) and is_constant(value.denominator)
    return True


def is_zero(weight: Weight) -> bool:
    """Tells whether a weight is identically zero."""
    return not (weight.numerator if isinstance(weight, RationalFunction) else weight)


def as_function(weight: Weight, ring: Ring) -> RationalFunction:
    """Returns a weight as a rational function of the ring."""
    if isinstance(weight, RationalFunction):
        return weight
    return RationalFunction.of(ring.context.constant(weight))


def text(weight: Weight) -> str:
    """Returns the canonical text: equal weights of one kind have equal texts."""
    return str(weight)
