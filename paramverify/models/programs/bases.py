"""The bases of rates, and the densities of the kinds of noise.

A base is a rational function of the parameters with values in (0, 1), such as α, or the number e to the
power of a unit for continuous noise: the unit is 1, or a parameter of the domain (0, ∞), such as eps.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import exp

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.polynomials import RationalFunction, Ring, value_at
from paramverify.errors import UnsupportedError
from paramverify.models.context import Checks, sample_points
from paramverify.models.programs.coefficients import Coefficient
from paramverify.models.programs.pieces import Pieces
from paramverify.models.programs.terms import Calculus, Factor, Key, Rate
from paramverify.models.programs.zones import ZERO, Number, exact

EXP = 0  # the base e ** (step · unit)
PARTS = 5_040  # of the first rate of continuous noise: the other ones are mostly multiples of such a part


@dataclass(eq=False)
class Bases:
    """The bases that a program uses, in the ring of a case. Continuous noise has one unit."""

    checks: Checks
    functions: list[RationalFunction] = field(default_factory=list)
    unit_name: str | None = None  # a parameter such as eps; "" for plain numbers
    step: Fraction = Fraction(0)  # of continuous noise, in units; exponents that are whole numbers are faster

    @property
    def ring(self) -> Ring:
        """The ring of the case."""
        return self.checks.ring

    @cached_property
    def calculus(self) -> Calculus:
        """Sums and integrals with these bases."""
        return Calculus(self)

    def number(self, function: RationalFunction) -> int:
        """Returns the number of a base, a new one where it is not known."""
        if function not in self.functions:
            self.functions.append(function)
        return self.functions.index(function) + 1

    def power(self, base: int, exponent: Number) -> Coefficient:
        """Returns base ** exponent."""
        if base != EXP:
            assert exponent.denominator == 1
            return Coefficient.of(self.ring, self.functions[base - 1] ** int(exponent))
        return Coefficient.of(self.ring, self.ring.exponential(exponent * self.step, self.unit_name or ""))

    def slope(self, base: int, exponent: Number) -> Fraction:
        """Returns the logarithm of base ** exponent, in units."""
        assert base == EXP
        return exponent * self.step

    def unit(self, base: int) -> bool:
        """Whether exponents of the base count in a parameter."""
        return base == EXP and bool(self.unit_name)

    def small(self, rate: Rate) -> bool:
        """Tells whether a rate is below 1 at a point of the domain.

        An identity of rational functions that holds around a point holds everywhere, so one point is enough.
        """
        value = 1.0
        for base, k in rate:
            value *= self._values(base) ** float(k)
        return value < 1 - 1e-12

    def _values(self, base: int) -> float:
        if base == EXP:
            return exp(self.step)
        if base not in self._known:
            self._known[base] = self._at_a_point(self.functions[base - 1])
        return self._known[base]

    @cached_property
    def _known(self) -> dict[int, float]:
        return {}

    def _at_a_point(self, function: RationalFunction) -> float:
        found = next(sample_points(self.checks.domain), None)
        if found is None:
            raise UnsupportedError("no rational point of the domain is known, and unbounded noise needs one")
        point = dict(found)
        if self.ring.constant:
            point[GENERATOR] = self.ring.constant.enclosure(64)[0]
        return float(value_at(function.numerator, point) / value_at(function.denominator, point))

    def geometric(self, name: int, alpha: RationalFunction, two_sided: bool) -> Pieces:
        """Returns the probabilities of geometric noise: (1−α)/(1+α)·α^|k|, or (1−α)·α^k for k ≥ 0."""
        one = self.calculus.one
        base, a = self.number(alpha), Coefficient.of(self.ring, alpha)
        right = Key((Factor(name, 0, ((base, 1),)),))
        zone = (((ZERO, name), 0),)
        if not two_sided:
            return {zone: {right: one - a}}
        share = (one - a) / (one + a)
        left = Key((Factor(name, 0, ((base, -1),)),))
        return {zone: {right: share}, (((name, ZERO), -1),): {left: share}}

    def laplace(self, name: int, rate: Fraction, two_sided: bool) -> Pieces:
        """Returns the density (λ/2)·e^(−λ|v|), or λ·e^(−λv) for v ≥ 0; λ = rate · unit."""
        self.step = self.step or rate / PARTS
        slope = exact(rate / self.step)
        share = self.calculus.number(rate / 2 if two_sided else rate)
        units = 1 if self.unit_name else 0
        right = Key((Factor(name, 0, ((EXP, -slope),)),), units)
        zone = (((ZERO, name), 0),)
        if not two_sided:
            return {zone: {right: share}}
        left = Key((Factor(name, 0, ((EXP, slope),)),), units)
        return {zone: {right: share}, (((name, ZERO), 0),): {left: share}}
