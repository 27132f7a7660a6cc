"""Enclosures of the constants of `functions`: certified integrals and sums, as balls of Arb ([Johansson17]).

An integral is cut off where a density of its product has almost nothing left; what is beyond is bounded by
the rest of that density times the largest values of the others. The inside is cut at kinks, and into panels
until a polynomial through the values at N Chebyshev points is near the product on each: if the product is
analytic and at most M on the ellipse with ρ around a panel, the polynomial is within `4·M·ρ^(1−N)/(ρ−1)` of
it ([Trefethen13] Theorem 8.2; points of the first kind alias in the same way). All functions here are
products of densities and of integrals of such products, so none is negative, and bounds M follow from those
of densities. Values at points are kept: all outputs, inputs and neighbours that need a function share them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil, floor

from flint import arb, arb_mat

from paramverify.errors import LimitError
from paramverify.models.programs.chebyshev import ChebyshevRule, Values, rule
from paramverify.models.programs.densities import Continuous, Density, Ellipse, ball_of, number
from paramverify.models.programs.functions import (
    At,
    FunctionTable,
    GivenConstant,
    Integral,
    IntegralSide,
    Total,
)
from paramverify.models.programs.shares import Numbered, Share, parts_of
from paramverify.models.programs.summing import TableSums
from paramverify.models.programs.terms import Rate
from paramverify.models.programs.zones import Number

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
        return number(Fraction(1, 2**self.bits))

    def share(self, share: Share) -> arb:
        """Returns a ball with a probability, within [0, 1]."""
        total = arb(0)
        for monomial, factor in parts_of(share).items():
            term = number(factor)
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
            return own.at(number(x))
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
            return density.below(number(x)) if below else density.above(number(x))
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
                tail = number(Fraction(1, 2**bits) * others)
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
        return [4 * number(rho) ** (1 - count) / number(rho - 1) for rho in RADII]

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
        return number(self._highest_integral(own)) + ellipse.beyond * inner

    def _over(self, panel: int, product: Rate) -> Values:
        """Returns the integrals of a product from the low end of a panel to each point and to its end."""
        low, high = self._panels[panel]
        half = number((high - low) / Fraction(2))
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
        middle, half = number((low + high) / Fraction(2)), number((high - low) / Fraction(2))
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
