"""Distributions of noise.

Densities of the kinds that have closed forms, and enclosed ones ([Johansson17]).

Each of them knows how far it reaches: beyond its `reach` there is at most 2^-bits of it. Continuous ones
bound themselves on ellipses of the complex plane, which certified quadrature needs. Between their kinks they
are analytic; left and right of a kink they stand for the entire function that they are there.

The bases of rates, and the densities of the kinds of noise.

A base is a rational function of the parameters with values in (0, 1), such as α, or the number e to the
power of a unit for continuous noise: the unit is 1, or a parameter of the domain (0, ∞), such as eps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, isqrt, log, log10, prod
from typing import ClassVar

from flint import arb, arb_mat, ctx, fmpq

from paramverify.algebra.constants import GENERATOR, ExpConstant, upper_bound
from paramverify.algebra.polynomials import TIE, RationalFunction, Ring, in_generator, value_at
from paramverify.errors import DefectError, FinerError, UnsupportedError
from paramverify.models.context import Checks, sample_points
from paramverify.models.programs.noise_terms import (
    ZERO,
    Calculus,
    Coefficient,
    Number,
    Pieces,
    PowerFactor,
    Rate,
    TermKey,
    Terms,
    exact,
)

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


Values = list[arb]


@dataclass(frozen=True, eq=False)
class ChebyshevRule:
    """N Chebyshev points on [−1, 1], and the integrals of polynomials through values there.

    `rows` are the integrals from −1 to each point, the last one that to 1.
    """

    points: Values
    rows: arb_mat


@lru_cache(maxsize=8)
def rule(count: int, bits: int) -> ChebyshevRule:
    """Returns the rule with so many points, as balls of so many bits."""
    assert ctx.prec == bits
    angles = [number(Fraction(2 * k + 1, 2 * count)) * arb.pi() for k in range(count)]
    points = [-angle.cos() for angle in angles]
    # p = Σ' c_m T_m with c_m = 2/N Σ_k p(x_k) T_m(x_k), the first term halved.
    chebyshev = [[(-1) ** m * (angle * m).cos() for angle in angles] for m in range(count)]
    ends = [*points, arb(1)]
    integrals: list[Values] = []
    for x in ends:
        t = [arb(1), x]
        while len(t) <= count:
            t.append(2 * x * t[-1] - t[-2])
        integrals.append([_from_minus_one(m, t) for m in range(count)])
    weights = [[value * (1 if m == 0 else 2) / count for value in row] for m, row in enumerate(chebyshev)]
    return ChebyshevRule(points, arb_mat(integrals) * arb_mat(weights))


def _from_minus_one(m: int, t: Values) -> arb:
    """Returns the integral of T_m from −1 to x, from the values T_k(x)."""
    if m == 0:
        return t[1] + 1
    if m == 1:
        return (t[2] - 1) / 4
    end = t[m + 1] / (2 * (m + 1)) - t[m - 1] / (2 * (m - 1))
    start = arb(1) / (2 * (m + 1)) - arb(1) / (2 * (m - 1))  # with T_k(−1) = (−1)^k
    return end + start if m % 2 == 0 else end - start


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
            raise UnsupportedError("powers of different bases are too close to each other to compare")
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
            raise UnsupportedError("unbounded noise needs a rational point of the domain, but none was found")
        point = dict(found)
        if self.ring.constant:
            point[GENERATOR] = self.ring.constant.enclosure(256)[0]
        return value_at(function.numerator, point) / value_at(function.denominator, point)

    def work(self, pieces: Pieces, name: int) -> int:
        """Returns how much harder than others a function is that one noise is summed or integrated out of."""
        return 1

    def enclosed(self, name: int, density: Density) -> Pieces:
        """Returns noise without a closed form; only the bases of `noise_enclosures` have it.

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
