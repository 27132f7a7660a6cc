"""Sums of terms `c · Π v^t · b^v` in the noise that is still alive, and their sums and integrals.

The coefficient c is a rational function of the parameters. A rate b is a product of powers of bases; a base
is a number in (0, 1) such as α, or e for continuous noise, where the exponent is a rational multiple of one
unit.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import comb
from typing import ClassVar, NamedTuple, Protocol

from paramverify.algebra.polynomials import Ring
from paramverify.models.programs.coefficients import Coefficient
from paramverify.models.programs.zones import REMEMBERED, Number, exact

End = tuple[int, Number]  # v[j] + c
Rate = tuple[tuple[int, Number], ...]  # (base, exponent), sorted, no exponent zero

ONE: Rate = ()


class Powers(Protocol):
    """The powers of bases as rational functions of the parameters."""

    @property
    def ring(self) -> Ring:
        """The ring of the case."""

    def power(self, base: int, exponent: Number) -> Coefficient:
        """Returns base ** exponent."""

    def slope(self, base: int, exponent: Number) -> Fraction:
        """Returns the logarithm of base ** exponent, in units, for a base of continuous noise."""

    def unit(self, base: int) -> bool:
        """Whether logarithms of this base count in a symbolic unit: dividing by one leaves the ring."""


class PowerFactor(NamedTuple):
    """The part `v^power · rate^v` of a term."""

    name: int
    power: int
    rate: Rate


class TermKey(NamedTuple):
    """What stands beside the coefficient: one factor for each variable, and a power of the symbolic unit."""

    factors: tuple[PowerFactor, ...] = ()
    units: int = 0


Terms = Mapping[TermKey, Coefficient]


@lru_cache(REMEMBERED)
def times(first: Rate, second: Rate, exponent: int = 1) -> Rate:
    """Returns first · second ** exponent."""
    found = dict(first)
    for base, k in second:
        found[base] = exact(found.get(base, 0) + exponent * k)
    return tuple(sorted((base, k) for base, k in found.items() if k))


def plus(first: Terms, second: Terms) -> dict[TermKey, Coefficient]:
    """Returns the sum of two sums of terms."""
    found = dict(first)
    for key, c in second.items():
        found[key] = found[key] + c if key in found else c
    return {key: c for key, c in found.items() if c}


def product(first: Terms, second: Terms) -> dict[TermKey, Coefficient]:
    """Returns the product of two sums of terms."""
    found: dict[TermKey, Coefficient] = {}
    for left, c in first.items():
        for right, d in second.items():
            key = joined(left, right)
            value = c * d
            found[key] = found[key] + value if key in found else value
    return {key: c for key, c in found.items() if c}


def text(terms: Terms) -> Hashable:
    """Returns what equal sums of terms have in common, if their coefficients are written alike."""
    return frozenset((key, c.text) for key, c in terms.items())


def scaled(terms: Terms, by: Coefficient) -> dict[TermKey, Coefficient]:
    """Returns a multiple of a sum of terms."""
    return {key: c * by for key, c in terms.items() if by}


@lru_cache(REMEMBERED)
def joined(left: TermKey, right: TermKey) -> TermKey:
    """Returns the key of a product of two terms."""
    found = {factor.name: factor for factor in left.factors}
    for name, power, rate in right.factors:
        if name in found:
            found[name] = PowerFactor(name, found[name].power + power, times(found[name].rate, rate))
        else:
            found[name] = PowerFactor(name, power, rate)
    factors = tuple(f for _, f in sorted(found.items()) if f.power or f.rate)
    return TermKey(factors, left.units + right.units)


def renamed(terms: Terms, names: Mapping[int, int]) -> Terms:
    """Returns the terms with other numbers for their variables."""
    if all(names.get(f.name, f.name) == f.name for key in terms for f in key.factors):
        return terms
    return {
        TermKey(tuple(sorted(f._replace(name=names.get(f.name, f.name)) for f in key.factors)), key.units): c
        for key, c in terms.items()
    }


@dataclass(frozen=True)
class Calculus:
    """Sums over whole values, and integrals, of terms with these bases."""

    powers: Powers
    by_value: ClassVar[bool] = True  # whether terms at one value of whole noise become a number

    @cached_property
    def one(self) -> Coefficient:
        """The number one."""
        return Coefficient.number(self.powers.ring, 1)

    def number(self, value: Fraction | int) -> Coefficient:
        """Returns a constant."""
        return Coefficient.number(self.powers.ring, value)

    def value(self, rate: Rate, exponent: Number = 1) -> Coefficient:
        """Returns rate ** exponent."""
        what = (rate, exponent)
        if what not in self._values:
            result = self.one
            for base, k in rate:
                result = result * self.powers.power(base, k * exponent)
            self._values[what] = result
        return self._values[what]

    @cached_property
    def _values(self) -> dict[tuple[Rate, Number], Coefficient]:
        return {}

    @cached_property
    def _primitives(self) -> dict[tuple[Rate, int, bool], list[tuple[Coefficient, int]]]:
        return {}

    def moved(self, key: TermKey, name: int, to: tuple[int, Number, int]) -> dict[TermKey, Coefficient]:
        """Returns a term with `v[name]` replaced by `sign · v[j] + c`; `to` is (j, c, sign).

        j is 0 for a constant.
        """
        found: dict[TermKey, Coefficient] = {}
        kept = tuple(f for f in key.factors if f.name != name)
        inner = next((f for f in key.factors if f.name == name), PowerFactor(name, 0, ONE))
        other, c, sign = to
        base = self.value(inner.rate, c)
        rate = times(ONE, inner.rate, sign) if other else ONE
        for k in range(inner.power + 1):
            if (k and not other) or (k < inner.power and not c):
                continue
            number = comb(inner.power, k) * c ** (inner.power - k) * sign**k
            coefficient = base if number == 1 else base.times(Fraction(number))
            extra = TermKey((PowerFactor(other, k, rate),) if k or rate else (), 0)
            new = joined(TermKey(kept, key.units), extra)
            found[new] = found[new] + coefficient if new in found else coefficient
        return found

    def between(
        self, terms: Terms, name: int, whole: bool, ends: tuple[End | None, End | None]
    ) -> Terms | None:
        """Returns the integral of terms over `v[name]` between two ends; None where it is by primitives."""
        return None

    def primitive(self, rate: Rate, power: int, whole: bool) -> list[tuple[Coefficient, int]]:
        """Returns the polynomial P of a primitive, by (coefficient, units) for each power.

        For whole values: G(n) = rate^n · P(n) has G(n+1) − G(n) = n^power · rate^n. For others:
        G' = v^power · rate^v.
        """
        what = (rate, power, whole)
        if what not in self._primitives:
            self._primitives[what] = self._whole(rate, power) if whole else self._real(rate, power)
        return self._primitives[what]

    def _whole(self, rate: Rate, power: int) -> list[tuple[Coefficient, int]]:
        value = self.value(rate)
        same = value == self.one
        if same:
            return [(self.number(c), 0) for c in faulhaber(power)]
        below = value - self.one
        found: list[Coefficient] = [self.number(0)] * (power + 1)
        for k in range(power, -1, -1):
            rest = self.number(1 if k == power else 0)
            for m in range(k + 1, power + 1):
                rest = rest - value * found[m] * self.number(comb(m, k))
            found[k] = rest / below
        return [(c, 0) for c in found]

    def _real(self, rate: Rate, power: int) -> list[tuple[Coefficient, int]]:
        if not rate:
            zero = self.number(0)
            return [*[(zero, 0)] * (power + 1), (self.number(Fraction(1, power + 1)), 0)]
        ((base, exponent),) = rate
        slope = self.powers.slope(base, exponent)
        unit = -1 if self.powers.unit(base) else 0
        found: list[tuple[Coefficient, int]] = []
        c, units = Fraction(1) / slope, unit
        for k in range(power, -1, -1):
            found.append((self.number(c), units))
            c, units = -k * c / slope, units + unit
        return found[::-1]


@lru_cache(maxsize=64)
def faulhaber(power: int) -> tuple[Fraction, ...]:
    """Returns the coefficients of the polynomial G with G(n+1) − G(n) = n^power and G(0) = 0."""
    found = [Fraction(0)] * (power + 2)
    # G(n+1) - G(n) = Σ_m g_m ((n+1)^m - n^m): the coefficient of n^k is Σ_{m>k} g_m C(m, k).
    for k in range(power, -1, -1):
        known = sum((found[m] * comb(m, k) for m in range(k + 2, power + 2)), Fraction(0))
        found[k + 1] = ((1 if k == power else 0) - known) / (k + 1)
    return tuple(found)
