"""Certified sums over whole numbers of products of probabilities and of such sums; see `functions`.

A sum is cut off where one of its distributions has almost nothing left: all other factors are at most 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from flint import arb

from paramverify.errors import LimitError
from paramverify.models.programs.chebyshev import Values
from paramverify.models.programs.densities import Discrete, number
from paramverify.models.programs.functions import FunctionTable, Integral, IntegralSide
from paramverify.models.programs.terms import Rate

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
                raise LimitError(f"a sum over noise needs more than {MAX_VALUES:,} values")
            sums = [arb(0)]
            for v in range(first, last + 1):
                self.tick()
                value = arb(1)
                for k, power in product:
                    own = self.functions.functions[k]
                    value *= self.value(own.node, v + int(own.shift)) ** int(power)
                sums.append(sums[-1] + value)
            tail = arb(0).union(number(Fraction(1, 2 ** (self.bits + 4))))
            self._known[product] = Partial(first, sums, tail)
        return self._known[product]
