"""The bases of rates, and the densities of the kinds of noise.

A base is a rational function of the parameters with values in (0, 1), such as α, or the number e to the
power of a unit for continuous noise: the unit is 1, or a parameter of the domain (0, ∞), such as eps.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import log, log10, prod
from typing import ClassVar

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.exponents import TIE
from paramverify.algebra.polynomials import RationalFunction, Ring, value_at
from paramverify.errors import DefectError, FinerError, UnsupportedError
from paramverify.models.context import Checks, sample_points
from paramverify.models.programs.coefficients import Coefficient
from paramverify.models.programs.densities import Density
from paramverify.models.programs.pieces import Pieces
from paramverify.models.programs.terms import Calculus, PowerFactor, Rate, TermKey, Terms
from paramverify.models.programs.zones import ZERO, Number, exact

EXP = 0  # the base e ** (step · unit)
PARTS = 5_040  # of the first rate of continuous noise: the other ones are mostly multiples of such a part

CLOSE = Fraction(1, 10**12)  # relative error of a logarithm, far above that of a float
MAX_BITS = 10**6  # of the numbers in a power of a base
MAX_DEGREE = 10**4  # of a power of a base


@dataclass(eq=False)
class Bases:
    """The bases that a program uses, in the ring of a case. Continuous noise has one unit."""

    checks: Checks
    functions: list[RationalFunction] = field(default_factory=list)
    unit_name: str | None = None  # a parameter such as eps; "" for plain numbers
    step: Fraction = Fraction(0)  # of continuous noise, in units; exponents that are whole numbers are faster
    sums: ClassVar[bool] = True  # whether a sum of two noises is a function of products

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

    def coefficient(self, function: RationalFunction) -> Coefficient:
        """Returns a probability as the weight of runs."""
        return Coefficient.of(self.ring, function)

    def power(self, base: int, exponent: Number) -> Coefficient:
        """Returns base ** exponent."""
        if base != EXP:
            assert exponent.denominator == 1
            self._check_power(self.functions[base - 1], abs(int(exponent)))
            return Coefficient.of(self.ring, self.functions[base - 1] ** int(exponent))
        return Coefficient.of(self.ring, self.ring.exponential(exponent * self.step, self.unit_name or ""))

    @staticmethod
    def _check_power(function: RationalFunction, exponent: int) -> None:
        """Checks that a power of a base is a function of a size that can be written down."""
        for part in (function.numerator, function.denominator):
            size = sum(max(c.p.bit_length(), c.q.bit_length()) for c in part.coeffs())
            if exponent * size > MAX_BITS or exponent * part.total_degree() > MAX_DEGREE:
                raise UnsupportedError(f"the power {_shown(exponent)} of {function} is too large")

    def slope(self, base: int, exponent: Number) -> Fraction:
        """Returns the logarithm of base ** exponent, in units."""
        assert base == EXP
        return exponent * self.step

    def unit(self, base: int) -> bool:
        """Whether exponents of the base count in a parameter."""
        return base == EXP and bool(self.unit_name)

    def function(self, terms: Terms) -> RationalFunction:
        """Returns a sum of terms without noise as a function of the parameters.

        Raises:
            FinerError: a power of eps stands beside exp(-eps), and the ring has no variable for it.
        """
        total = RationalFunction.of(self.ring.number(0))
        for key, coefficient in terms.items():
            assert not key.factors
            value = coefficient.function()
            if key.units:
                name = self.unit_name or ""
                if name not in [u.name for u in self.ring.tied]:
                    raise FinerError(name, TIE)
                value = value * RationalFunction.of(self.ring.variable(name)) ** key.units
            total = total + value
        return total

    def small(self, rate: Rate) -> bool:
        """Tells whether a rate is below 1 at a point of the domain.

        An identity of rational functions that holds around a point holds everywhere, so one point is enough.
        """
        if all(base == EXP for base, _ in rate):
            return bool(sum(Fraction(k) for _, k in rate) * self.step < 0)
        powers = [(base, Fraction(k)) for base, k in rate]
        total, doubt, bits = Fraction(0), Fraction(0), Fraction(0)
        for base, k in powers:
            if base == EXP:
                total += k * self.step
                doubt += abs(k * self.step) * CLOSE
                continue
            value = self._value(base)
            parts = (value.numerator, value.denominator)
            total += k * (Fraction(log(parts[0])) - Fraction(log(parts[1])))
            doubt += abs(k) * (1 + Fraction(log(parts[0])) + Fraction(log(parts[1]))) * CLOSE
            bits += abs(k) * (parts[0].bit_length() + parts[1].bit_length())
        if abs(total) > doubt:
            return total < 0
        if bits > MAX_BITS or any(base == EXP or k.denominator > 1 for base, k in powers):
            raise UnsupportedError("powers of different bases are too close to each other to be compared")
        return prod((self._value(base) ** int(k) for base, k in powers), start=Fraction(1)) < 1

    def _value(self, base: int) -> Fraction:
        if base not in self._known:
            self._known[base] = self._at_a_point(self.functions[base - 1])
        return self._known[base]

    @cached_property
    def _known(self) -> dict[int, Fraction]:
        return {}

    def _at_a_point(self, function: RationalFunction) -> Fraction:
        found = next(sample_points(self.checks.domain), None)
        if found is None:
            raise UnsupportedError("no rational point of the domain is known, and unbounded noise needs one")
        point = dict(found)
        if self.ring.constant:
            point[GENERATOR] = self.ring.constant.enclosure(256)[0]
        return value_at(function.numerator, point) / value_at(function.denominator, point)

    def work(self, pieces: Pieces, name: int) -> int:
        """Returns how much harder than others a function is that one noise is summed or integrated out of."""
        return 1

    def enclosed(self, name: int, density: Density) -> Pieces:
        """Returns noise without a closed form; only the bases of `functions` have it.

        Raises:
            DefectError: always.
        """
        raise DefectError(f"{density} came to the exact engine")

    def geometric(self, name: int, alpha: RationalFunction, two_sided: bool) -> Pieces:
        """Returns the probabilities of geometric noise: (1−α)/(1+α)·α^|k|, or (1−α)·α^k for k ≥ 0."""
        one = self.calculus.one
        base, a = self.number(alpha), Coefficient.of(self.ring, alpha)
        right = TermKey((PowerFactor(name, 0, ((base, 1),)),))
        zone = (((ZERO, name), 0),)
        if not two_sided:
            return {zone: {right: one - a}}
        share = (one - a) / (one + a)
        left = TermKey((PowerFactor(name, 0, ((base, -1),)),))
        return {zone: {right: share}, (((name, ZERO), -1),): {left: share}}

    def laplace(self, name: int, rate: Fraction, two_sided: bool) -> Pieces:
        """Returns the density (λ/2)·e^(−λ|v|), or λ·e^(−λv) for v ≥ 0; λ = rate · unit."""
        self.step = self.step or rate / PARTS
        slope = exact(rate / self.step)
        share = self.calculus.number(rate / 2 if two_sided else rate)
        units = 1 if self.unit_name else 0
        right = TermKey((PowerFactor(name, 0, ((EXP, -slope),)),), units)
        zone = (((ZERO, name), 0),)
        if not two_sided:
            return {zone: {right: share}}
        left = TermKey((PowerFactor(name, 0, ((EXP, slope),)),), units)
        return {zone: {right: share}, (((name, ZERO), 0),): {left: share}}


def _shown(exponent: int) -> str:
    """Returns a whole number, one of many digits by their count."""
    return str(exponent) if exponent < 10**30 else f"(a number of {int(log10(exponent)) + 1} digits)"
