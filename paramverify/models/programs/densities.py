"""The distributions of noise whose probabilities are enclosed, as balls with proved errors ([Johansson17]).

Each of them knows how far it reaches: beyond its `reach` there is at most 2^-bits of it. Continuous ones
bound themselves on ellipses of the complex plane, which certified quadrature needs. Between their kinks they
are analytic; left and right of a kink they stand for the entire function that they are there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import ceil, isqrt
from typing import ClassVar

from flint import arb, ctx, fmpq

from paramverify.algebra.constants import ExpConstant, upper_bound
from paramverify.algebra.polynomials import RationalFunction, in_generator
from paramverify.models.programs.zones import Number

LN2 = Fraction(6932, 10000)  # above ln(2)


def number(value: Number) -> arb:
    """Returns a ball with a rational number, at the working precision."""
    return arb(value) if isinstance(value, int) else arb(fmpq(value.numerator, value.denominator))


def ball_of(function: RationalFunction, constant: ExpConstant | None, bits: int) -> arb:
    """Returns a ball with the number of a rational function that has no variable but E."""
    top, bottom = in_generator(function.numerator), in_generator(function.denominator)
    if constant is None:
        return arb(fmpq(top[0])) / arb(fmpq(bottom[0]))
    return constant.ball(top, bits) / constant.ball(bottom, bits)


def _root(value: Fraction) -> Fraction:
    """Returns a number above the square root, by at most 1/100 and a part of it."""
    return Fraction(isqrt(int(value * 10_000) + 1) + 1, 100)


@dataclass(frozen=True)
class Ellipse:
    """The points whose distances from the ends of an interval sum to (ρ + 1/ρ) · half its length, at most.

    `middle ± across` are its real ends, `middle ± i·up` the others.
    """

    low: Number
    high: Number
    rho: Fraction

    @cached_property
    def middle(self) -> arb:
        """The middle of the interval."""
        return number((self.low + self.high) / Fraction(2))

    @cached_property
    def half(self) -> arb:
        """Half the length of the interval."""
        return number((self.high - self.low) / Fraction(2))

    @cached_property
    def across(self) -> arb:
        """Half of its real axis."""
        return self.half * number((self.rho + 1 / self.rho) / 2)

    @cached_property
    def up(self) -> arb:
        """Half of its imaginary axis."""
        return self.half * number((self.rho - 1 / self.rho) / 2)

    @property
    def beyond(self) -> arb:
        """An upper bound of the distance of its points from the interval."""
        return self.across - self.half + self.up


class Density(ABC):
    """The distribution of one noise."""

    whole: ClassVar[bool] = False

    @abstractmethod
    def reach(self, bits: int) -> Fraction:
        """Returns r ≥ 0 with Pr(|v| > r) ≤ 2^-bits."""

    @property
    @abstractmethod
    def highest(self) -> Fraction:
        """An upper bound of the density, or of each probability."""


class Continuous(Density):
    """A density on the real numbers."""

    kinks: ClassVar[tuple[int, ...]] = ()

    @property
    @abstractmethod
    def width(self) -> Fraction:
        """A length on which the density changes by a factor of about e."""

    @abstractmethod
    def at(self, x: arb) -> arb:
        """Returns the density at points between kinks."""

    @abstractmethod
    def below(self, x: arb) -> arb:
        """Returns Pr(v ≤ x)."""

    @abstractmethod
    def above(self, x: arb) -> arb:
        """Returns Pr(v ≥ x)."""

    @abstractmethod
    def bounds(self, ellipse: Ellipse) -> tuple[arb, arb, arb]:
        """Returns upper bounds of |density|, |below| and |above| on an ellipse.

        They are about the entire functions that these are on its interval, which has no kink inside.
        """


@dataclass(frozen=True)
class Gauss(Continuous):
    """Normal noise: density exp(−x²/(2σ²))/(σ·√(2π))."""

    sigma: Fraction

    def reach(self, bits: int) -> Fraction:
        """Returns r with Pr(|v| > r) = erfc(r/(σ√2)) ≤ exp(−r²/(2σ²)) ≤ 2^-bits."""
        return self.sigma * _root(2 * LN2 * bits)

    @property
    def highest(self) -> Fraction:
        return Fraction(2, 5) / self.sigma  # 1/√(2π) < 2/5

    @property
    def width(self) -> Fraction:
        return self.sigma

    def at(self, x: arb) -> arb:
        scaled = x / number(self.sigma)
        return (-scaled * scaled / 2).exp() / (number(self.sigma) * (2 * arb.pi()).sqrt())

    def below(self, x: arb) -> arb:
        return (-x / (number(self.sigma) * arb(2).sqrt())).erfc() / 2

    def above(self, x: arb) -> arb:
        return self.below(-x)

    def bounds(self, ellipse: Ellipse) -> tuple[arb, arb, arb]:
        """|exp(−z²/2)| = exp((y² − x²)/2); a value at x + iy is that at x and an integral up to y."""
        middle, across, up = ellipse.middle, ellipse.across, ellipse.up
        sigma = number(self.sigma)
        near = (abs(middle) - across).max(arb(0))
        density = ((up * up - near * near) / (2 * sigma * sigma)).exp() * number(self.highest)
        return density, self.below(middle + across) + up * density, self.above(middle - across) + up * density


@dataclass(frozen=True)
class LaplaceNoise(Continuous):
    """Laplace noise: density exp(−|x|/b)/(2b)."""

    scale: Fraction
    kinks: ClassVar[tuple[int, ...]] = (0,)

    def reach(self, bits: int) -> Fraction:
        return self.scale * LN2 * bits

    @property
    def highest(self) -> Fraction:
        return 1 / (2 * self.scale)

    @property
    def width(self) -> Fraction:
        return self.scale

    def at(self, x: arb) -> arb:
        return (-abs(x) / number(self.scale)).exp() / number(2 * self.scale)

    def below(self, x: arb) -> arb:
        if x <= 0:
            return (x / number(self.scale)).exp() / 2
        if x >= 0:
            return 1 - (-x / number(self.scale)).exp() / 2
        return self.below(x.lower()).union(self.below(x.upper()))

    def above(self, x: arb) -> arb:
        return self.below(-x)

    def bounds(self, ellipse: Ellipse) -> tuple[arb, arb, arb]:
        nearest = abs(ellipse.middle) - ellipse.across  # of the half line with the interval
        tail = (-nearest / number(self.scale)).exp() / 2
        sides = (tail, 1 + tail)
        own, other = sides if ellipse.middle < 0 else sides[::-1]
        return tail / number(self.scale), own, other


@dataclass(frozen=True)
class Exponential(Continuous):
    """Exponential noise: density exp(−x/b)/b for x ≥ 0."""

    scale: Fraction
    kinks: ClassVar[tuple[int, ...]] = (0,)

    def reach(self, bits: int) -> Fraction:
        return self.scale * LN2 * bits

    @property
    def highest(self) -> Fraction:
        return 1 / self.scale

    @property
    def width(self) -> Fraction:
        return self.scale

    def at(self, x: arb) -> arb:
        if x < 0:
            return arb(0)
        own = (-x / number(self.scale)).exp() / number(self.scale)
        return own if x >= 0 else own.union(arb(0))

    def below(self, x: arb) -> arb:
        return 1 - self.above(x)

    def above(self, x: arb) -> arb:
        return (-x.max(arb(0)) / number(self.scale)).exp()

    def bounds(self, ellipse: Ellipse) -> tuple[arb, arb, arb]:
        if ellipse.middle < 0:
            return arb(0), arb(0), arb(1)
        tail = ((ellipse.across - ellipse.middle) / number(self.scale)).exp()
        return tail / number(self.scale), 1 + tail, tail


class Discrete(Density):
    """Probabilities of all whole numbers."""

    whole: ClassVar[bool] = True

    @property
    def highest(self) -> Fraction:
        return Fraction(1)

    @abstractmethod
    def weight(self, k: int) -> arb:
        """Returns a multiple of Pr(k), with one positive factor for all k."""

    @abstractmethod
    def total(self, bits: int) -> arb:
        """Returns the sum of all weights; what is not added up is below 2^-bits."""


@dataclass(frozen=True)
class DiscreteGauss(Discrete):
    """Discrete Gaussian noise: Pr(k) in proportion to exp(−k²/(2σ²)) ([CanonneKS20] Definition 1)."""

    sigma: Fraction

    def reach(self, bits: int) -> Fraction:
        """Returns K where the weights beyond ±K sum to less than 2^-bits; the sum of all is above 1."""
        last = int(_root(2 * self.sigma**2 * LN2 * bits))
        while not self._tail(last) < number(Fraction(1, 2**bits)):
            last += 1 + last // 16
        return Fraction(last)

    def _tail(self, last: int) -> arb:
        """Returns a bound of the weights beyond ±K.

        From K + 1 on each is at most e^(−(2K+3)/(2σ²)) times the one before it.
        """
        twice = 2 * self.sigma**2
        quotient = (-number((2 * last + 3) / twice)).exp()
        return 2 * self.weight(last + 1) / (1 - quotient)

    def weight(self, k: int) -> arb:
        return (-number(k * k / (2 * self.sigma**2))).exp()

    def total(self, bits: int) -> arb:
        last = int(self.reach(bits))
        own = 1 + 2 * sum((self.weight(k) for k in range(1, last + 1)), arb(0))
        return own + arb(0).union(self._tail(last))


@dataclass(frozen=True)
class GeometricNoise(Discrete):
    """Geometric noise: Pr(k) in proportion to a^|k|, or to a^k for k ≥ 0 alone; a is told by its text."""

    text: str
    two_sided: bool
    ratio: RationalFunction = field(compare=False)
    constant: ExpConstant | None = field(compare=False)

    @property
    def _base(self) -> arb:
        return ball_of(self.ratio, self.constant, ctx.prec)

    def reach(self, bits: int) -> Fraction:
        """Returns K with Pr(|v| > K) ≤ 2·a^(K+1) ≤ 2^-bits."""
        steps = (bits + 1) * arb(2).log() / -self._base.log()
        return Fraction(ceil(upper_bound(steps)))

    def weight(self, k: int) -> arb:
        if k < 0 and not self.two_sided:
            return arb(0)
        return self._base ** abs(k)

    def total(self, bits: int) -> arb:
        base = self._base
        return (1 + base) / (1 - base) if self.two_sided else 1 / (1 - base)
