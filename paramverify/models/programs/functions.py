"""Functions of one noise that have no closed form, by what they are made of; nothing is computed here.

A function is a density, or the integral (for whole numbers the sum) of a product of functions over all values
on one side of its argument. Equal functions have one number. A product of them is a rate of `terms`, in which
a base stands for a function of v, and not for a power. So sums of products on zones, with one factor for each
noise, are what the exact engine has, and a noise is integrated out in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from paramverify.algebra.polynomials import RationalFunction, Ring
from paramverify.errors import DefectError
from paramverify.models.programs import terms as t
from paramverify.models.programs.bases import Bases
from paramverify.models.programs.coefficients import Coefficient
from paramverify.models.programs.densities import Density, Exponential, GeometricNoise, LaplaceNoise
from paramverify.models.programs.pieces import Pieces
from paramverify.models.programs.shares import Numbered, Share
from paramverify.models.programs.terms import ONE, Calculus, End, PowerFactor, Rate, TermKey, Terms
from paramverify.models.programs.zones import EVERYWHERE, ZERO, Number, exact


class IntegralSide(Enum):
    """Over which values an integral is: those up to the argument, or those from it on."""

    BELOW = "below"
    ABOVE = "above"


@dataclass(frozen=True)
class Integral:
    """The integral of a product of functions over the values on one side of the argument, itself included."""

    product: Rate
    side: IntegralSide
    whole: bool


Node = Density | Integral


@dataclass(frozen=True)
class ShiftedFunction:
    """The function `v ↦ node(v + shift)`; `node` is a number of the table."""

    node: int
    shift: Number


@dataclass(frozen=True)
class Total:
    """The integral of a product of functions over all values."""

    product: Rate
    whole: bool


@dataclass(frozen=True)
class At:
    """The value of a function at 0."""

    function: int


@dataclass(frozen=True)
class GivenConstant:
    """The number of a rational function of E, by its text."""

    text: str
    function: RationalFunction = field(compare=False)


@dataclass(eq=False)
class FunctionTable:
    """The functions and the constants of one program, each with a number."""

    ring: Ring
    nodes: Numbered[Node] = field(default_factory=Numbered)
    functions: Numbered[ShiftedFunction] = field(default_factory=Numbered)
    constants: Numbered[Total | At | GivenConstant] = field(default_factory=Numbered)

    def number(self, value: Fraction | int) -> Share:
        """Returns a rational number."""
        return Share.made(self.ring, {(): Fraction(value)})

    def constant(self, value: Total | At | GivenConstant) -> Share:
        """Returns a constant as a number."""
        return Share.made(self.ring, {(self.constants.of(value),): Fraction(1)})

    def share(self, function: RationalFunction) -> Share:
        """Returns the number of a rational function of E."""
        top, bottom = function.numerator, function.denominator
        if not top:
            return self.number(0)
        if top.is_constant() and bottom.is_constant():
            quotient = top.leading_coefficient() / bottom.leading_coefficient()
            return self.number(Fraction(int(quotient.p), int(quotient.q)))
        return self.constant(GivenConstant(str(function), function))

    def of(self, node: Node, shift: Number = 0) -> int:
        """Returns the number of the function `v ↦ node(v + shift)`."""
        return self.functions.of(ShiftedFunction(self.nodes.of(node), exact(shift)))

    def shifted(self, product: Rate, by: Number) -> Rate:
        """Returns the product at `v + by`."""
        if not by:
            return product
        found: dict[int, Number] = {}
        for number, power in product:
            own = self.functions[number]
            new = self.functions.of(ShiftedFunction(own.node, exact(own.shift + by)))
            found[new] = found.get(new, 0) + power
        return tuple(sorted(found.items()))

    def normal(self, product: Rate) -> tuple[Rate, Number]:
        """Returns (p, s) with `product = v ↦ p(v + s)`; products that differ in s alone have one p."""
        own = [self.functions[number] for number, _ in product]
        shift = min((f.node, f.shift) for f in own)[1]
        return self.shifted(product, -shift), shift

    def is_density(self, product: Rate) -> bool:
        """Tells whether the integral of a product over all values is 1."""
        ((number, power), *others) = product
        return not others and power == 1 and isinstance(self.nodes[self.functions[number].node], Density)

    def total(self, product: Rate, whole: bool) -> Share:
        """Returns the integral over all values."""
        own, _ = self.normal(product)
        return self.number(1) if self.is_density(own) else self.constant(Total(own, whole))

    def integral(self, product: Rate, side: IntegralSide, whole: bool) -> int:
        """Returns the number of the function that integrates a product over one side of its argument."""
        own, shift = self.normal(product)
        return self.of(Integral(own, side, whole), shift)


@dataclass(frozen=True)
class Enclosing(Calculus):
    """Sums and integrals of products of functions, one factor for each noise."""

    functions: FunctionTable = field(kw_only=True)
    by_value: ClassVar[bool] = False  # each noise keeps its density

    @cached_property
    def one(self) -> Coefficient:
        """The number one."""
        return self.functions.number(1)

    def number(self, value: Fraction | int) -> Coefficient:
        """Returns a constant."""
        return self.functions.number(value)

    def moved(self, key: TermKey, name: int, to: tuple[int, Number, int]) -> dict[TermKey, Coefficient]:
        """Returns a term with `v[name]` replaced by `v[j] + c`; `to` is (j, c, 1), and j may be 0."""
        other, c, sign = to
        assert sign == 1
        kept = tuple(f for f in key.factors if f.name != name)
        inner = next((f for f in key.factors if f.name == name), PowerFactor(name, 0, ONE))
        product = self.functions.shifted(inner.rate, c)
        if other != ZERO:
            extra = TermKey((PowerFactor(other, 0, product),) if product else ())
            return {t.joined(TermKey(kept), extra): self.one}
        value = self.functions.number(1)
        for number, power in product:
            for _ in range(int(power)):
                value = value * self.functions.constant(At(number))
        return {TermKey(kept): value}

    def between(self, terms: Terms, name: int, whole: bool, ends: tuple[End | None, End | None]) -> Terms:
        """Returns the integral of terms over `v[name]` between two ends, both included.

        The probability of a whole number may have become a constant: then it is counted from end to end.
        """
        found: Terms = {}
        for key, c in terms.items():
            inner = next((f for f in key.factors if f.name == name), None)
            if inner is None:
                found = t.plus(found, {key: c * self.number(_count(whole, *ends))})
                continue
            rest = TermKey(tuple(f for f in key.factors if f.name != name))
            for part, sign in self._parts(inner.rate, whole, ends):
                new = {t.joined(rest, k): c * value for k, value in part.items()}
                found = t.plus(found, new if sign > 0 else {k: -value for k, value in new.items()})
        return found

    def _parts(
        self, product: Rate, whole: bool, ends: tuple[End | None, End | None]
    ) -> list[tuple[Terms, int]]:
        low, high = ends
        if low is None and high is None:
            return [({TermKey(): self.functions.total(product, whole)}, 1)]
        if high is None:
            assert low is not None
            return [(self._up_to(product, IntegralSide.ABOVE, whole, low), 1)]
        below = self._up_to(product, IntegralSide.BELOW, whole, high)
        if low is None:
            return [(below, 1)]
        before = (low[0], low[1] - 1 if whole else low[1])
        return [(below, 1), (self._up_to(product, IntegralSide.BELOW, whole, before), -1)]

    def _up_to(self, product: Rate, side: IntegralSide, whole: bool, end: End) -> Terms:
        number = self.functions.integral(product, side, whole)
        return self.moved(TermKey((PowerFactor(ZERO - 1, 0, ((number, 1),)),)), ZERO - 1, (*end, 1))


def _count(whole: bool, low: End | None, high: End | None) -> Fraction:
    """Returns how many whole numbers there are between two ends that differ by a number."""
    if not whole or low is None or high is None or low[0] != high[0]:
        raise DefectError("a noise without a density is between ends that are not near each other")
    return Fraction(high[1] - low[1] + 1)


def share_of(terms: Terms) -> Share:
    """Returns the number that terms without noise are."""
    ((key, value),) = terms.items()
    if key != TermKey() or not isinstance(value, Share):
        raise DefectError("a probability has noise left in it")
    return value


@dataclass(eq=False)
class FunctionBases(Bases):
    """The noise of a program whose probabilities are enclosed."""

    sums: ClassVar[bool] = False

    @cached_property
    def table(self) -> FunctionTable:
        """The functions of the program."""
        return FunctionTable(self.ring)

    @cached_property
    def calculus(self) -> Enclosing:
        """Sums and integrals of these functions."""
        return Enclosing(self, functions=self.table)

    def coefficient(self, function: RationalFunction) -> Coefficient:
        """Returns a probability of the exact engine as one that is enclosed."""
        return self.table.share(function)

    def small(self, rate: Rate) -> bool:
        """Tells that sums to infinity have a limit: each of these functions has one."""
        return True

    def work(self, pieces: Pieces, name: int) -> int:
        """Returns more for products of several functions: an integral of one density has a closed form."""
        rates = [f.rate for terms in pieces.values() for key in terms for f in key.factors if f.name == name]
        return 1 + sum(sum(int(power) for _, power in rate) - 1 for rate in rates) * 1_000

    def geometric(self, name: int, alpha: RationalFunction, two_sided: bool) -> Pieces:
        """Returns the probabilities of geometric noise."""
        return self.enclosed(name, GeometricNoise(str(alpha), two_sided, alpha, self.ring.constant))

    def laplace(self, name: int, rate: Fraction, two_sided: bool) -> Pieces:
        """Returns the density of Laplace or exponential noise, with λ = rate."""
        return self.enclosed(name, LaplaceNoise(1 / rate) if two_sided else Exponential(1 / rate))

    def enclosed(self, name: int, density: Density) -> Pieces:
        """Returns a density as a function of one variable."""
        key = TermKey((PowerFactor(name, 0, ((self.table.of(density), 1),)),))
        return {EVERYWHERE: {key: self.calculus.one}}
