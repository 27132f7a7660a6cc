"""Functions of noise without a closed form, and their certified integrals and sums as balls of Arb
([Johansson17]).

An integral is cut off where a density of its product has almost nothing left; what is beyond is bounded by
the rest of that density times the largest values of the others. The inside is cut at kinks, and into panels
until a polynomial through the values at N Chebyshev points is near the product on each: if the product is
analytic and at most M on the ellipse with ρ around a panel, the polynomial is within `4·M·ρ^(1−N)/(ρ−1)` of
it ([Trefethen13] Theorem 8.2; points of the first kind alias in the same way). All functions here are
products of densities and of integrals of such products, so none is negative, and bounds M follow from those
of densities. Values at points are kept: all outputs, inputs and neighbours that need a function share them.

Functions of one noise that have no closed form, by what they are made of; nothing is computed here.

A function is a density, or the integral (for whole numbers the sum) of a product of functions over all values
on one side of its argument. Equal functions have one number. A product of them is a rate of `noise_terms`, in
which a base stands for a function of v, and not for a power. So sums of products on zones, with one factor
for each noise, are what the exact engine has, and a noise is integrated out in the same way.

Certified sums over whole numbers of products of probabilities and of such sums.

A sum is cut off where one of its distributions has almost nothing left: all other factors are at most 1.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil, floor
from typing import ClassVar, Generic, NoReturn, TypeVar

from flint import arb, arb_mat

from paramverify.algebra.polynomials import RationalFunction, Ring
from paramverify.errors import DefectError, LimitError
from paramverify.models.programs import noise_terms as t
from paramverify.models.programs.noise_densities import (
    Bases,
    ChebyshevRule,
    Continuous,
    Density,
    Discrete,
    Ellipse,
    Exponential,
    GeometricNoise,
    LaplaceNoise,
    Values,
    ball_of,
    rule,
)
from paramverify.models.programs.noise_densities import number as density_number
from paramverify.models.programs.noise_terms import (
    EVERYWHERE,
    ONE,
    ZERO,
    Calculus,
    Coefficient,
    End,
    Number,
    Pieces,
    PowerFactor,
    Rate,
    TermKey,
    Terms,
    exact,
)

Monomial = tuple[int, ...]  # the numbers of constants, sorted

Thing = TypeVar("Thing", bound=Hashable)


@dataclass(eq=False)
class Numbered(Generic[Thing]):
    """Different things, each with its number, from 0."""

    listed: list[Thing] = field(default_factory=list)
    _places: dict[Thing, int] = field(default_factory=dict)

    def of(self, thing: Thing) -> int:
        """Returns the number of a thing; equal ones have the same."""
        place = self._places.setdefault(thing, len(self.listed))
        if place == len(self.listed):
            self.listed.append(thing)
        return place

    def __getitem__(self, place: int) -> Thing:
        return self.listed[place]


@dataclass(frozen=True, eq=False)
class Share(Coefficient):
    """The number `Σ factor · Π constants` over the monomials.

    It stands where the engine has a coefficient; of the base class only the sign of being zero is used.
    """

    parts: Mapping[Monomial, Fraction] = field(default_factory=dict)

    @staticmethod
    def made(ring: Ring, parts: Mapping[Monomial, Fraction]) -> Share:
        """Returns the number with these monomials."""
        kept = {monomial: factor for monomial, factor in parts.items() if factor}
        return Share(ring, ring.number(int(bool(kept))), (0,) * len(ring.names), None, kept)

    @property
    def text(self) -> str:
        """The same for numbers that are written alike."""
        return str(sorted(self.parts.items()))

    def function(self) -> NoReturn:
        """Not available: the number is enclosed."""
        raise DefectError("a probability that is only enclosed has no formula")

    def __bool__(self) -> bool:
        return bool(self.parts)

    def __add__(self, other: Coefficient) -> Share:
        found = dict(self.parts)
        for monomial, factor in parts_of(other).items():
            found[monomial] = found.get(monomial, Fraction(0)) + factor
        return Share.made(self.ring, found)

    def __neg__(self) -> Share:
        return self.times(Fraction(-1))

    def __sub__(self, other: Coefficient) -> Share:
        return self + -other

    def __mul__(self, other: Coefficient) -> Share:
        found: dict[Monomial, Fraction] = {}
        for left, factor in self.parts.items():
            for right, by in parts_of(other).items():
                both = tuple(sorted((*left, *right)))
                found[both] = found.get(both, Fraction(0)) + factor * by
        return Share.made(self.ring, found)

    def times(self, number: Fraction) -> Share:
        """Returns a multiple."""
        return Share.made(self.ring, {m: factor * number for m, factor in self.parts.items()})

    def __truediv__(self, other: Coefficient) -> NoReturn:
        raise DefectError("probabilities that are only enclosed cannot be divided")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Share) and self.parts == other.parts

    __hash__ = None


def parts_of(value: Coefficient) -> Mapping[Monomial, Fraction]:
    """Returns the monomials of a number that is a share."""
    if not isinstance(value, Share):
        raise DefectError("a coefficient of the exact engine came to one that encloses")
    return value.parts


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
                found = t.plus_terms(found, {key: c * self.number(_count(whole, *ends))})
                continue
            rest = TermKey(tuple(f for f in key.factors if f.name != name))
            for part, sign in self._parts(inner.rate, whole, ends):
                new = {t.joined(rest, k): c * value for k, value in part.items()}
                found = t.plus_terms(found, new if sign > 0 else {k: -value for k, value in new.items()})
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


MAX_VALUES = 200_000  # of one sum


@dataclass(frozen=True, eq=False)
class Partial:
    """A sum from `first` on: `sums[k]` is that of the first k values; `tail` bounds what is left out."""

    first: int
    sums: Values
    tail: arb


@dataclass(eq=False)
class TableSums:
    """Encloses sums of one table to about 2^-bits, at a working precision that the caller sets.

    `tick` is called again and again, and may raise.
    """

    functions: FunctionTable
    bits: int
    tick: Callable[[], None]
    _known: dict[Rate, Partial] = field(default_factory=dict)
    _weights: dict[int, dict[int, arb]] = field(default_factory=dict)
    _totals: dict[int, arb] = field(default_factory=dict)

    def total(self, product: Rate) -> arb:
        """Returns the sum of a product over all whole numbers."""
        found = self._summed(product)
        return found.sums[-1] + found.tail

    def value(self, node: int, k: int) -> arb:
        """Returns the value of a function at a whole number."""
        own = self.functions.nodes[node]
        if isinstance(own, Discrete):
            return self._share(node, own, k)
        assert isinstance(own, Integral)
        found = self._summed(own.product)
        below = own.side is IntegralSide.BELOW
        place = min(max(k - found.first + (1 if below else 0), 0), len(found.sums) - 1)
        part = found.sums[place] if below else found.sums[-1] - found.sums[place]
        return part + found.tail

    def _share(self, node: int, own: Discrete, k: int) -> arb:
        """Returns the probability of a whole number."""
        if node not in self._totals:
            self._totals[node] = own.total(self.bits + 8)
            self._weights[node] = {}
        known = self._weights[node]
        if k not in known:
            known[k] = own.weight(k) / self._totals[node]
        return known[k]

    def _summed(self, product: Rate) -> Partial:
        if product not in self._known:
            found: list[tuple[Fraction, int]] = []
            for k, _ in product:
                own = self.functions.functions[k]
                density = self.functions.nodes[own.node]
                if isinstance(density, Discrete):
                    found.append((density.reach(self.bits + 4), int(own.shift)))
            reach, shift = min(found)
            first, last = -shift - int(reach), int(reach) - shift
            if last - first > MAX_VALUES:
                raise LimitError(
                    f"a sum over noise needs more than {MAX_VALUES:,} values; make the noise narrower"
                )
            sums = [arb(0)]
            for v in range(first, last + 1):
                self.tick()
                value = arb(1)
                for k, power in product:
                    own = self.functions.functions[k]
                    value *= self.value(own.node, v + int(own.shift)) ** int(power)
                sums.append(sums[-1] + value)
            tail = arb(0).union(density_number(Fraction(1, 2 ** (self.bits + 4))))
            self._known[product] = Partial(first, sums, tail)
        return self._known[product]


GUARD = 40  # bits of balls beyond those that are asked for
MAX_PANELS = 20_000  # of one integral
MAX_HALVINGS = 60  # of one panel
RADII = tuple(Fraction(*q) for q in ((5, 4), (3, 2), (2, 1), (5, 2), (3, 1), (4, 1), (6, 1), (9, 1), (16, 1)))
FIRST_RADIUS = 4  # of these, which is tried first

Panel = tuple[Number, Number]


@dataclass(frozen=True, eq=False)
class IntegralPanels:
    """An integral in panels: where they begin and end, and the integrals from `low` to each end.

    `tail` bounds the integral outside.
    """

    ends: list[Number]
    sums: Values
    tail: arb


@dataclass(eq=False)
class Encloser:
    """Encloses the constants of one table to about 2^-bits, at a working precision that the caller sets.

    `tick` is called again and again, and may raise.
    """

    functions: FunctionTable
    bits: int
    tick: Callable[[], None] = lambda: None
    known: dict[int, arb] = field(default_factory=dict)
    _panels: Numbered[Panel] = field(default_factory=Numbered)
    _moved: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    _values: dict[tuple[int, int], Values] = field(default_factory=dict)
    _bounds: dict[tuple[int, int, int], arb] = field(default_factory=dict)
    _cuts: dict[Rate, IntegralPanels] = field(default_factory=dict)
    _distances: dict[tuple[Rate, int], arb] = field(default_factory=dict)
    _radius: int = FIRST_RADIUS  # that was small enough at last

    @property
    def precision(self) -> int:
        """The working precision that the balls need."""
        return self.bits + GUARD

    @cached_property
    def sums(self) -> TableSums:
        """Sums over whole numbers."""
        return TableSums(self.functions, self.bits, self.tick)

    @cached_property
    def rule(self) -> ChebyshevRule:
        """The points on each panel."""
        return rule(self.bits // 2 + 10, self.precision)

    @cached_property
    def near(self) -> arb:
        """2^-bits."""
        return density_number(Fraction(1, 2**self.bits))

    def share(self, share: Share) -> arb:
        """Returns a ball with a probability, within [0, 1]."""
        total = arb(0)
        for monomial, factor in parts_of(share).items():
            term = density_number(factor)
            for k in monomial:
                term *= self.constant(k)
            total += term
        return total.max(arb(0)).min(arb(1))

    def constant(self, k: int) -> arb:
        """Returns a ball with a constant."""
        if k not in self.known:
            self.known[k] = self._constant(k)
        return self.known[k]

    def _constant(self, k: int) -> arb:
        match self.functions.constants[k]:
            case Total(product, whole):
                return self.total(product, whole)
            case At(function):
                own = self.functions.functions[function]
                return self.value(own.node, own.shift)
            case GivenConstant(_, function):
                return ball_of(function, self.functions.ring.constant, self.precision)

    def total(self, product: Rate, whole: bool) -> arb:
        """Returns the integral of a product over all values."""
        if whole:
            return self.sums.total(product)
        cut = self._cut(product)
        return cut.sums[-1] + arb(0).union(cut.tail)

    def value(self, node: int, x: Number) -> arb:
        """Returns the value of a function at a point that is no kink."""
        own = self.functions.nodes[node]
        if isinstance(own, Continuous):
            return own.at(density_number(x))
        if isinstance(own, Integral) and not own.whole:
            return self._partial(own, x)
        return self.sums.value(node, int(x))

    # --- continuous noise -------------------------------------------------------------------------------

    def _alone(self, product: Rate) -> Continuous | None:
        """Returns the density that a normal product is, if it is one."""
        if not self.functions.is_density(product):
            return None
        own = self.functions.nodes[self.functions.functions[product[0][0]].node]
        return own if isinstance(own, Continuous) else None

    def _partial(self, own: Integral, x: Number) -> arb:
        """Returns an integral over one side of a point."""
        density = self._alone(own.product)
        below = own.side is IntegralSide.BELOW
        if density:
            return density.below(density_number(x)) if below else density.above(density_number(x))
        cut = self._cut(own.product)
        tail = arb(0).union(cut.tail)
        if x <= cut.ends[0]:
            part = arb(0)
        elif x >= cut.ends[-1]:
            part = cut.sums[-1]
        else:
            k = max(j for j, end in enumerate(cut.ends) if end <= x)
            part = cut.sums[k]
            if x > cut.ends[k]:
                part = part + self._over(self._panels.of((cut.ends[k], x)), own.product)[-1]
        return (part if below else cut.sums[-1] - part) + tail

    def _cut(self, product: Rate) -> IntegralPanels:
        """Returns the panels of an integral over all values."""
        if product not in self._cuts:
            low, high, step, tail = self._range(product)
            kinks = [k for k in self._kinks(product) if low < k < high]
            count = ceil((high - low) / step)
            if count > MAX_PANELS:
                raise LimitError(f"an integral needs more than {MAX_PANELS:,} panels")
            grid = {low + (high - low) * Fraction(k, count) for k in range(count + 1)} | set(kinks)
            ends: list[Number] = [low]
            sums = [arb(0)]
            for panel in pairwise(sorted(grid)):
                for part in self._parts(self._panels.of(panel), product, 0):
                    if len(ends) > MAX_PANELS:
                        raise LimitError(f"an integral needs more than {MAX_PANELS:,} panels")
                    ends.append(self._panels[part][1])
                    sums.append(sums[-1] + self._over(part, product)[-1])
            self._cuts[product] = IntegralPanels(ends, sums, tail)
        return self._cuts[product]

    def _range(self, product: Rate) -> tuple[Number, Number, Fraction, arb]:
        """Returns where an integral is cut off, the width of panels to begin with, and a bound of the rest.

        Beyond the reach r of one density the rest is at most 2^-bits times the largest values of the others.
        """
        found: list[tuple[Fraction, Number, Fraction, arb]] = []
        for place, (k, _) in enumerate(product):
            own = self.functions.functions[k]
            density = self.functions.nodes[own.node]
            if isinstance(density, Continuous):
                one_less = tuple((n, p - (j == place)) for j, (n, p) in enumerate(product))
                others = self._highest(one_less)
                bits = self.bits + 4 + max(0, floor(others).bit_length())
                tail = density_number(Fraction(1, 2**bits) * others)
                found.append((density.reach(bits), own.shift, density.width, tail))
        reach, shift, width, tail = min(found, key=lambda f: f[0])
        return -shift - reach, reach - shift, width, tail

    def _highest(self, product: Rate) -> Fraction:
        """Returns an upper bound of a product, whose functions are nowhere negative."""
        result = Fraction(1)
        for k, power in product:
            own = self.functions.nodes[self.functions.functions[k].node]
            if isinstance(own, Density):
                result *= own.highest ** int(power)
            elif not self.functions.is_density(own.product):
                result *= self._highest_integral(own) ** int(power)
        return result

    def _highest_integral(self, own: Integral) -> Fraction:
        """Returns an upper bound of an integral: one density integrates to 1, the others are at most so."""
        bounds = []
        for place, (k, _) in enumerate(own.product):
            if isinstance(self.functions.nodes[self.functions.functions[k].node], Density):
                bounds.append(
                    self._highest(tuple((n, p - (j == place)) for j, (n, p) in enumerate(own.product)))
                )
        return min(bounds)

    def _kinks(self, product: Rate) -> set[Number]:
        """Returns where a product is perhaps not analytic."""
        found: set[Number] = set()
        for k, _ in product:
            function = self.functions.functions[k]
            own = self.functions.nodes[function.node]
            kinks = self._kinks(own.product) if isinstance(own, Integral) else _kinks_of(own)
            found |= {kink - function.shift for kink in kinks}
        return found

    def _parts(self, panel: int, product: Rate, depth: int) -> list[int]:
        """Returns panels on which the product, and each integral in it, is near a polynomial."""
        self.tick()
        if depth >= MAX_HALVINGS or self._fits_on(panel, product):
            return [panel]
        low, high = self._panels[panel]
        middle = (low + high) / Fraction(2)
        return [
            part
            for half in ((low, middle), (middle, high))
            for part in self._parts(self._panels.of(half), product, depth + 1)
        ]

    def _at(self, function: int, panel: int) -> tuple[int, int]:
        """Returns the node of a function, and the panel on which the function has its values of a panel."""
        what = (function, panel)
        if what not in self._moved:
            own = self.functions.functions[function]
            low, high = self._panels[panel]
            self._moved[what] = own.node, self._panels.of((low + own.shift, high + own.shift))
        return self._moved[what]

    def _fits_on(self, panel: int, product: Rate) -> bool:
        if not self._distance(panel, product) < self.near:
            return False
        for k, _ in product:
            node, moved = self._at(k, panel)
            own = self.functions.nodes[node]
            nested = isinstance(own, Integral) and not self._alone(own.product)
            if isinstance(own, Integral) and nested and not self._fits_on(moved, own.product):
                return False
        return True

    def _distance(self, panel: int, product: Rate) -> arb:
        """Returns a bound of how far the product on a panel is from the polynomial through its values."""
        what = (product, panel)
        if what not in self._distances:
            order = sorted(range(len(RADII)), key=lambda k: abs(k - self._radius))
            best: arb | None = None
            for radius in order:
                bound = self._distance_by(panel, product, radius)
                if best is None or bound < best:
                    best = bound
                    if best < self.near:
                        self._radius = radius
                        break
            assert best is not None
            self._distances[what] = best
        return self._distances[what]

    def _distance_by(self, panel: int, product: Rate, radius: int) -> arb:
        bound = self._factors[radius]
        for k, power in product:
            bound = bound * self._bound(*self._at(k, panel), radius) ** int(power)
        return bound.upper()

    @cached_property
    def _factors(self) -> Values:
        """4·ρ^(1−N)/(ρ−1) for each radius."""
        count = len(self.rule.points)
        return [4 * density_number(rho) ** (1 - count) / density_number(rho - 1) for rho in RADII]

    def _bound(self, node: int, panel: int, radius: int) -> arb:
        """Returns an upper bound of a node on the ellipse around a panel."""
        what = (node, panel, radius)
        if what not in self._bounds:
            self._bounds[what] = self._found_bound(*what).upper()
        return self._bounds[what]

    def _found_bound(self, node: int, panel: int, radius: int) -> arb:
        own = self.functions.nodes[node]
        ellipse = Ellipse(*self._panels[panel], RADII[radius])
        if isinstance(own, Continuous):
            return own.bounds(ellipse)[0]
        assert isinstance(own, Integral)
        density = self._alone(own.product)
        if density:
            return density.bounds(ellipse)[1 if own.side is IntegralSide.BELOW else 2]
        inner = arb(1)  # a bound of what is integrated
        for k, power in own.product:
            inner *= self._bound(*self._at(k, panel), radius) ** int(power)
        return density_number(self._highest_integral(own)) + ellipse.beyond * inner

    def _over(self, panel: int, product: Rate) -> Values:
        """Returns the integrals of a product from the low end of a panel to each point and to its end."""
        low, high = self._panels[panel]
        half = density_number((high - low) / Fraction(2))
        values = arb_mat([[v] for v in self._product_at(panel, product)])
        error = self._distance(panel, product) * 2 * half
        slack = (-error).union(error)
        return [row[0] * half + slack for row in (self.rule.rows * values).tolist()]

    def _product_at(self, panel: int, product: Rate) -> Values:
        """Returns a product at the points of a panel."""
        result: Values | None = None
        for k, power in product:
            values = self._at_points(*self._at(k, panel))
            if power != 1:
                values = [v ** int(power) for v in values]
            result = values if result is None else [a * b for a, b in zip(result, values, strict=True)]
        assert result is not None
        return result

    def _at_points(self, node: int, panel: int) -> Values:
        what = (node, panel)
        if what not in self._values:
            self._values[what] = self._found_at_points(node, panel)
        return self._values[what]

    def _found_at_points(self, node: int, panel: int) -> Values:
        own = self.functions.nodes[node]
        low, high = self._panels[panel]
        middle, half = density_number((low + high) / Fraction(2)), density_number((high - low) / Fraction(2))
        points = [middle + half * x for x in self.rule.points]
        if isinstance(own, Continuous):
            return [own.at(x) for x in points]
        assert isinstance(own, Integral)
        density = self._alone(own.product)
        if density:
            return [density.below(x) if own.side is IntegralSide.BELOW else density.above(x) for x in points]
        *inner, whole = self._over(panel, own.product)
        if own.side is IntegralSide.BELOW:
            start = self._partial(own, low)
            return [start + value for value in inner]
        start = self._partial(own, high)
        return [start + (whole - value) for value in inner]


def _kinks_of(own: Density) -> tuple[int, ...]:
    return own.kinks if isinstance(own, Continuous) else ()
