"""Functions of the noise that is alive: terms `c · Π v^t · b^v` on zones, and their sums and integrals.

The coefficient c is a rational function of the parameters. A rate b is a product of powers of bases; a base
is a number in (0, 1) such as α, or e for continuous noise, where the exponent is a rational multiple of one
unit.

Coefficients of terms: quotients of polynomials in which powers of the variables are kept apart.

Sums and integrals of `b^v` multiply by powers of b, up and down, all the time. With those apart from the
rest, no greatest common divisor is needed for them, and for continuous noise none at all.

Zones: sets of points that bounds on variables and on differences of two variables describe.

A zone is the set of all v with `v[i] − v[j] ≤ c` for each of its bounds `(i, j): c`, where v[0] = 0. It is
kept closed: every bound that follows from two others is there, so equal zones have equal bounds ([Dill89]).

A `Pieces` is Σ over zones Z of [v ∈ Z] · terms(v). Zones may overlap; the function is the sum. To sum a
variable out over a zone, its bounds are told apart: where `v ≥ L_j` is the largest lower bound and `v ≤ U_k`
the smallest upper one, the sum from L_j to U_k is G(U_k + 1) − G(L_j), for the primitive G of each term.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from math import comb
from typing import ClassVar, NamedTuple, Protocol

from paramverify.algebra.polynomials import Polynomial, RationalFunction, Ring, rational
from paramverify.errors import SizeError, UnsupportedError

Powers = tuple[int, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Coefficient:
    """The quotient `polynomial · Π x^power / denominator`; no denominator is 1."""

    ring: Ring
    polynomial: Polynomial
    powers: Powers
    denominator: Polynomial | None = None

    @staticmethod
    def number(ring: Ring, value: Fraction | int) -> Coefficient:
        """Returns a constant."""
        return Coefficient(ring, ring.number(Fraction(value)), (0,) * len(ring.names))

    @staticmethod
    def of(ring: Ring, function: RationalFunction) -> Coefficient:
        """Returns a rational function as a coefficient."""
        up, polynomial = _apart(function.numerator)
        down, denominator = _apart(function.denominator)
        powers = tuple(u - d for u, d in zip(up, down, strict=True))
        if denominator.is_constant():
            return Coefficient(ring, polynomial / denominator.leading_coefficient(), powers)
        return Coefficient(ring, polynomial, powers, denominator)

    def function(self) -> RationalFunction:
        """Returns the rational function in lowest terms."""
        up = tuple(max(k, 0) for k in self.powers)
        down = tuple(max(-k, 0) for k in self.powers)
        bottom = _monomial(self.ring, down)
        if self.denominator is not None:
            bottom = bottom * self.denominator
        return RationalFunction.of(self.polynomial * _monomial(self.ring, up), bottom)

    @property
    def text(self) -> str:
        """The same for equal quotients that are in lowest terms, as sums and products are."""
        low, polynomial = _apart(self.polynomial)
        powers = tuple(k + p for k, p in zip(low, self.powers, strict=True))
        if self.denominator is None:
            return f"{polynomial} {powers}"
        content = self.denominator.leading_coefficient()
        return f"{polynomial / content} / {self.denominator / content} {powers}"

    def __bool__(self) -> bool:
        return bool(self.polynomial)

    def __add__(self, other: Coefficient) -> Coefficient:
        if not self.polynomial:
            return other
        if not other.polynomial:
            return self
        left, right, powers = _aligned(self, other)
        if self.denominator is None and other.denominator is None:
            return Coefficient(self.ring, left + right, powers)
        if self.denominator is not None and self.denominator == other.denominator:
            return _reduced(self.ring, left + right, powers, self.denominator)
        first, second = self.denominator, other.denominator
        if first is None or second is None:
            bottom = first if second is None else second
            assert bottom is not None
            total = left + right * bottom if second is None else left * bottom + right
            return Coefficient(self.ring, total, powers, bottom)
        common = first.gcd(second)
        mine, theirs = first / common, second / common
        return _reduced(self.ring, left * theirs + right * mine, powers, first * theirs)

    def __neg__(self) -> Coefficient:
        return Coefficient(self.ring, -self.polynomial, self.powers, self.denominator)

    def __sub__(self, other: Coefficient) -> Coefficient:
        return self + (-other)

    def __mul__(self, other: Coefficient) -> Coefficient:
        powers = tuple(a + b for a, b in zip(self.powers, other.powers, strict=True))
        polynomial = self.polynomial * other.polynomial
        first, second = self.denominator, other.denominator
        if first is None and second is None:
            return Coefficient(self.ring, polynomial, powers)
        bottom = first * second if first is not None and second is not None else first or second
        assert bottom is not None
        plain = self if first is None else other if second is None else None
        if plain is not None and plain.polynomial.is_constant():  # the other one is in lowest terms
            return Coefficient(self.ring, polynomial, powers, bottom)
        return _reduced(self.ring, polynomial, powers, bottom)

    def times(self, number: Fraction) -> Coefficient:
        """Returns a multiple."""
        return Coefficient(self.ring, self.polynomial * rational(number), self.powers, self.denominator)

    def __truediv__(self, other: Coefficient) -> Coefficient:
        up, divisor = _apart(other.polynomial)
        powers = tuple(-a - b for a, b in zip(up, other.powers, strict=True))
        top = self.ring.number(1) if other.denominator is None else other.denominator
        if divisor.is_constant():
            return self * Coefficient(self.ring, top / divisor.leading_coefficient(), powers)
        return self * Coefficient(self.ring, top, powers, divisor)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Coefficient):
            return NotImplemented
        left, right, _ = _aligned(self, other)
        if self.denominator is not None:
            right = right * self.denominator
        if other.denominator is not None:
            left = left * other.denominator
        return bool(left == right)

    __hash__ = None  # type: ignore[assignment]


def _reduced(ring: Ring, polynomial: Polynomial, powers: Powers, denominator: Polynomial) -> Coefficient:
    common = polynomial.gcd(denominator)
    if not common.is_constant():
        polynomial, denominator = polynomial / common, denominator / common
    if denominator.is_constant():
        return Coefficient(ring, polynomial / denominator.leading_coefficient(), powers)
    return Coefficient(ring, polynomial, powers, denominator)


def _aligned(left: Coefficient, right: Coefficient) -> tuple[Polynomial, Polynomial, Powers]:
    """Returns the polynomials of two coefficients over the same powers of the variables, and these."""
    if left.powers == right.powers:
        return left.polynomial, right.polynomial, left.powers
    powers = tuple(min(a, b) for a, b in zip(left.powers, right.powers, strict=True))
    first, second = (
        c.polynomial
        if c.powers == powers
        else c.polynomial * _monomial(c.ring, tuple(k - p for k, p in zip(c.powers, powers, strict=True)))
        for c in (left, right)
    )
    return first, second, powers


def _apart(polynomial: Polynomial) -> tuple[Powers, Polynomial]:
    """Returns the largest powers of the variables that divide a polynomial, and what is left."""
    exponents = polynomial.monoms()
    width = len(polynomial.context().names())
    if width == 1:
        exponents = exponents[-1:]  # in falling order
    low = tuple(min(int(m[k]) for m in exponents) if exponents else 0 for k in range(width))
    if not any(low):
        return low, polynomial
    return low, polynomial / polynomial.context().from_dict({low: 1})


def _monomial(ring: Ring, powers: Powers) -> Polynomial:
    return ring.context.from_dict({powers: 1})


ZERO = 0  # the variable that is always 0
Number = int | Fraction
Bound = tuple[int, int]
Zone = tuple[tuple[Bound, Number], ...]
Reals = frozenset[int]  # the variables that are no whole numbers

EVERYWHERE: Zone = ()
NONE: Reals = frozenset()
REMEMBERED = 1 << 16  # results of a function that are kept


def exact(value: Number) -> Number:
    """Returns the same number, as an int if it is a whole one: these are compared faster."""
    return value.numerator if value.denominator == 1 else value


def zone_of(bounds: Mapping[Bound, Number], reals: Reals = NONE) -> Zone | None:
    """Returns the zone with these bounds, closed; None where no point satisfies all of them.

    With whole bounds and whole variables "no point" means no whole point too. Of `reals`, a set in which the
    difference of two has one value only is left out too: it has no weight.
    """
    found = dict(bounds)
    names = {name for pair in found for name in pair}
    for middle in names:
        into = [(i, c) for (i, j), c in found.items() if j == middle and i != middle]
        out = [(j, c) for (i, j), c in found.items() if i == middle and j != middle]
        for i, first in into:
            for j, second in out:
                total = first + second
                if i == j:
                    if total < 0 or (total == 0 and (i or middle) in reals):
                        return None
                elif (i, j) not in found or total < found[i, j]:
                    found[i, j] = total
    return tuple(sorted(found.items()))


@lru_cache(REMEMBERED)
def within(zone: Zone, bounds: tuple[tuple[Bound, Number], ...], reals: Reals = NONE) -> Zone | None:
    """Returns the part of a zone that satisfies more bounds; None where it is empty, see `zone_of`."""
    found = dict(zone)
    changed = False
    for pair, c in bounds:
        if pair[0] == pair[1]:
            if c < 0:
                return None
        elif pair not in found or c < found[pair]:
            found[pair] = c
            changed = True
    return zone_of(found, reals) if changed else zone


def without(zone: Zone, name: int) -> Zone:
    """Returns the bounds of a closed zone that say nothing of a variable: the shadow of the zone."""
    return tuple(entry for entry in zone if name not in entry[0])


def bounds_below(zone: Zone, name: int) -> list[tuple[int, Number]]:
    """Returns all (j, c) with `v[name] ≥ v[j] + c`."""
    return [(i, -c) for (i, j), c in zone if j == name]


def bounds_above(zone: Zone, name: int) -> list[tuple[int, Number]]:
    """Returns all (j, c) with `v[name] ≤ v[j] + c`."""
    return [(j, c) for (i, j), c in zone if i == name]


def renamed_zone(zone: Zone, names: Mapping[int, int]) -> Zone:
    """Returns the zone with other numbers for its variables."""
    return tuple(sorted(((names.get(i, i), names.get(j, j)), c) for (i, j), c in zone))


def shifted(zone: Zone, name: int, by: Number) -> Zone:
    """Returns the zone of `v[name] + by` in the place of `v[name]`."""
    return tuple((pair, exact(c + by * ((pair[0] == name) - (pair[1] == name)))) for pair, c in zone)


def ends(zone: Zone) -> tuple[Number | None, Number | None]:
    """Returns the least and the largest value in a zone of at most one variable; None where there is none."""
    found = {pair[0] == ZERO: c for pair, c in zone}
    low = found.get(True)
    return None if low is None else -low, found.get(False)


End = tuple[int, Number]  # v[j] + c
Rate = tuple[tuple[int, Number], ...]  # (base, exponent), sorted, no exponent zero

ONE: Rate = ()


class TermPowers(Protocol):
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


def plus_terms(first: Terms, second: Terms) -> dict[TermKey, Coefficient]:
    """Returns the sum of two sums of terms."""
    found = dict(first)
    for key, c in second.items():
        found[key] = found[key] + c if key in found else c
    return {key: c for key, c in found.items() if c}


def product_of_terms(first: Terms, second: Terms) -> dict[TermKey, Coefficient]:
    """Returns the product of two sums of terms."""
    found: dict[TermKey, Coefficient] = {}
    for left, c in first.items():
        for right, d in second.items():
            key = joined(left, right)
            value = c * d
            found[key] = found[key] + value if key in found else value
    return {key: c for key, c in found.items() if c}


def terms_text(terms: Terms) -> Hashable:
    """Returns what equal sums of terms have in common, if their coefficients are written alike."""
    return frozenset((key, c.text) for key, c in terms.items())


def scaled_terms(terms: Terms, by: Coefficient) -> dict[TermKey, Coefficient]:
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


def renamed_terms(terms: Terms, names: Mapping[int, int]) -> Terms:
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

    powers: TermPowers
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


MAX_ZONES = 20_000  # pieces of one function
FEW = 4  # whole values of noise that are told apart

Pieces = Mapping[Zone, Terms]
Interval = tuple[Number | None, Number | None, Terms]  # from the one to the other; None is infinity


@dataclass(frozen=True)
class NoiseVariable:
    """A random variable: its number, whether it is a whole number, and which variables are not."""

    name: int
    whole: bool
    reals: Reals


def plus_pieces(first: Pieces, second: Pieces) -> dict[Zone, Terms]:
    """Returns the sum of two functions."""
    found: dict[Zone, Terms] = dict(first)
    for zone, terms in second.items():
        total = plus_terms(found[zone], terms) if zone in found else terms
        if total:
            found[zone] = total
        else:
            found.pop(zone, None)
    return _bounded(found)


def product_of_pieces(first: Pieces, second: Pieces, reals: Reals) -> dict[Zone, Terms]:
    """Returns the product of two functions; sets of no weight are left out."""
    found: dict[Zone, Terms] = {}
    for zone, left in first.items():
        for other, right in second.items():
            both = within(zone, other, reals)
            if both is not None:
                terms = product_of_terms(left, right)
                _add(found, both, terms)
    return _bounded(found)


def restricted(pieces: Pieces, bounds: Sequence[tuple[Bound, Number]], reals: Reals) -> dict[Zone, Terms]:
    """Returns the function that is the same where all bounds hold, and zero elsewhere."""
    found: dict[Zone, Terms] = {}
    bounds = tuple(bounds)
    for zone, terms in pieces.items():
        part = within(zone, bounds, reals)
        if part is not None:
            _add(found, part, terms)
    return found


def scaled_pieces(pieces: Pieces, by: Coefficient) -> dict[Zone, Terms]:
    """Returns a multiple of a function."""
    return {zone: scaled_terms(terms, by) for zone, terms in pieces.items()} if by else {}


def renamed_pieces(pieces: Pieces, names: Mapping[int, int]) -> dict[Zone, Terms]:
    """Returns the function with other numbers for its variables."""
    return {renamed_zone(zone, names): renamed_terms(terms, names) for zone, terms in pieces.items()}


def moved(calculus: Calculus, pieces: Pieces, name: int, by: Number) -> dict[Zone, Terms]:
    """Returns the function of `v[name] + by`: its value at w is that of the given one at `w − by`."""
    found: dict[Zone, Terms] = {}
    for zone, terms in pieces.items():
        new: Terms = {}
        for key, c in terms.items():
            new = plus_terms(new, scaled_terms(calculus.moved(key, name, (name, -by, 1)), c))
        _add(found, shifted(zone, name, by), new)
    return found


def convolved(calculus: Calculus, pieces: Pieces, name: int, pair: tuple[int, int]) -> dict[Zone, Terms]:
    """Returns a function of one variable with `v[total] − v[other]` in its place, for the pair of both."""
    total, other = pair
    found: dict[Zone, Terms] = {}
    for zone, terms in pieces.items():
        bounds = [((total, other) if i == name else (other, total), c) for (i, _), c in zone]
        new: Terms = {}
        for key, c in terms.items():
            (factor,) = key.factors or (PowerFactor(name, 0, ONE),)
            # (S − Y)^k · b^S · b^(−Y): with k > 0 the power written out would need two variables.
            new = plus_terms(new, _difference(calculus, factor, key.units, pair, c))
        part = within(EVERYWHERE, tuple(bounds))
        if part is not None:
            _add(found, part, new)
    return found


def rebased(pieces: Pieces, name: int) -> dict[Zone, Terms]:
    """Returns the function of the differences to a variable, and of u = −v[name], which has its number.

    A zone is about differences only, so v[name] and v[0] = 0 change places; and v[i] is `w[i] − u`.
    """
    found: dict[Zone, Terms] = {}
    for zone, terms in pieces.items():
        new: Terms = {}
        for key, c in terms.items():
            parts = {TermKey((), key.units): 1}
            for factor in key.factors:
                more = _against(factor, name)
                parts = {joined(a, b): m * n for a, m in parts.items() for b, n in more.items()}
            for part, number in parts.items():
                new = plus_terms(new, {part: c.times(Fraction(number))})
        _add(found, renamed_zone(zone, {ZERO: name, name: ZERO}), new)
    return found


def _against(factor: PowerFactor, name: int) -> dict[TermKey, int]:
    """Returns `v^t · b^v` for v = w − u, or for v = −u where it is v[name]; u has the number `name`."""
    inner, power, rate = factor
    found: dict[TermKey, int] = {}
    for k in range(power + 1) if inner != name else (0,):
        parts = [PowerFactor(name, power - k, times(ONE, rate, -1))]
        parts += [PowerFactor(inner, k, rate)] if inner != name else []
        kept = tuple(sorted(f for f in parts if f.power or f.rate))
        found[TermKey(kept)] = comb(power, k) * (-1) ** (power - k)
    return found


def _difference(
    calculus: Calculus, factor: PowerFactor, units: int, pair: tuple[int, int], c: Coefficient
) -> Terms:
    if factor.power:
        raise UnsupportedError(
            "the sum of these noises is not supported, because one of them is a sum of noises "
            "with equal rates"
        )
    total, other = pair
    plain = PowerFactor(total, 0, factor.rate)
    against = PowerFactor(other, 0, times(ONE, factor.rate, -1))
    factors = tuple(sorted(f for f in (plain, against) if f.rate))
    return {TermKey(factors, units): c}


def eliminated(
    calculus: Calculus, pieces: Pieces, noise: NoiseVariable, small: Callable[[Rate], bool]
) -> dict[Zone, Terms]:
    """Returns the sum over all whole values of a variable, or the integral, as a function of the others.

    `small` tells whether a rate is below 1: a sum to infinity needs that.

    Raises:
        UnsupportedError: a sum to infinity of terms that do not become small.
        SizeError: more than `MAX_ZONES` pieces.
    """
    found: dict[Zone, Terms] = {}
    for zone, terms in pieces.items():
        for part, low, high in _ends(zone, noise):
            _add(found, part, _between(calculus, terms, noise, (low, high), small))
    return _bounded(found)


@lru_cache(REMEMBERED)
def _ends(zone: Zone, noise: NoiseVariable) -> list[tuple[Zone, End | None, End | None]]:
    """Returns the parts of the shadow of a zone, with the largest lower and smallest upper bound there."""
    found: list[tuple[Zone, End | None, End | None]] = []
    shadow = without(zone, noise.name)
    lows, highs = bounds_below(zone, noise.name), bounds_above(zone, noise.name)
    for low, first in _largest(lows, shadow, noise, 1):
        for high, second in _largest(highs, first, noise, -1):
            if low is None or high is None:
                found.append((second, low, high))
                continue
            # low ≤ high: v[low] + c ≤ v[high] + d
            part = within(second, (((low[0], high[0]), high[1] - low[1]),), noise.reals)
            if part is not None:
                found.append((part, low, high))
    return found


def _largest(
    ends: list[End], zone: Zone, noise: NoiseVariable, sign: int
) -> Iterator[tuple[End | None, Zone]]:
    """Yields each end with the part of the zone in which it is the largest (smallest, for sign −1) of all.

    Where several are the same it is the first one of them.
    """
    if not ends:
        yield None, zone
        return
    step = 1 if noise.whole else 0
    for k, (j, c) in enumerate(ends):
        bounds: list[tuple[Bound, Number]] = []
        for m, (i, d) in enumerate(ends):
            if m != k:
                strict = step if m < k else 0
                # v[i] + d ≤ v[j] + c − strict, or the other way around
                bounds.append(((i, j), c - d - strict) if sign > 0 else ((j, i), d - c - strict))
        part = within(zone, tuple(bounds), noise.reals)
        if part is not None:
            yield (j, c), part


def _between(
    calculus: Calculus,
    terms: Terms,
    noise: NoiseVariable,
    ends: tuple[End | None, End | None],
    small: Callable[[Rate], bool],
) -> Terms:
    """Returns the sum of terms for `v` between two ends."""
    low, high = ends
    own = calculus.between(terms, noise.name, noise.whole, ends)
    if own is not None:
        return own
    found: Terms = {}
    for key, c in terms.items():
        inner = next((f for f in key.factors if f.name == noise.name), PowerFactor(noise.name, 0, ONE))
        rest = TermKey(tuple(f for f in key.factors if f.name != noise.name), key.units)
        polynomial = calculus.primitive(inner.rate, inner.power, noise.whole)
        for k, (coefficient, units) in enumerate(polynomial):
            if not coefficient:
                continue
            whole = joined(
                TermKey(rest.factors, rest.units + units), TermKey((PowerFactor(noise.name, k, inner.rate),))
            )
            value = c * coefficient
            if high is not None:
                after = high[1] + (1 if noise.whole else 0)
                found = plus_terms(
                    found, scaled_terms(calculus.moved(whole, noise.name, (high[0], after, 1)), value)
                )
            if low is not None:
                found = plus_terms(
                    found, scaled_terms(calculus.moved(whole, noise.name, (low[0], low[1], 1)), -value)
                )
        if (high is None and not small(inner.rate)) or (
            low is None and not small(times(ONE, inner.rate, -1))
        ):
            raise UnsupportedError("a sum over all values of this noise has no limit term by term")
    return found


def flat(calculus: Calculus, pieces: Pieces, noise: NoiseVariable) -> dict[Zone, Terms]:
    """Returns the same function of one variable on intervals that do not meet, as few as there are.

    Intervals of continuous noise have their ends in common: these have no weight. Of whole noise, intervals
    of at most `FEW` values have constants: on these different terms may be the same function.
    """
    step = 1 if noise.whole else 0
    ranges = [(*ends(zone), terms) for zone, terms in pieces.items()]
    cuts = {low for low, _, _ in ranges if low is not None}
    cuts |= {exact(high + step) for _, high, _ in ranges if high is not None}
    order: list[Number | None] = [None, *sorted(cuts), None]
    found: list[Interval] = []
    for low, after in pairwise(order):
        high = None if after is None else exact(after - step)
        total: Terms = {}
        for first, last, terms in ranges:
            below = first is None or (low is not None and first <= low)
            if below and (last is None or (high is not None and high <= last)):
                total = plus_terms(total, terms) if total else terms
        found.append((low, high, total))
    found = _fewer(found)
    if noise.whole and calculus.by_value:
        found = _fewer(
            _extended(calculus, noise.name, [p for i in found for p in _values(calculus, noise, i)])
        )
    return {_interval(noise.name, low, high): terms for low, high, terms in found if terms}


def _fewer(intervals: Sequence[Interval]) -> list[Interval]:
    """Returns the intervals with neighbours of the same terms as one."""
    found: list[Interval] = []
    for low, high, terms in intervals:
        if found and found[-1][2] == terms:
            low, _, _ = found.pop()
        found.append((low, high, terms))
    return found


def _values(calculus: Calculus, noise: NoiseVariable, interval: Interval) -> Iterator[Interval]:
    """Yields the values in an interval of whole noise one by one, if they are few."""
    low, high, terms = interval
    if low is None or high is None or high - low >= FEW:
        yield interval
        return
    for k in range(int(high - low) + 1):
        yield low + k, low + k, at(calculus, terms, noise.name, low + k)


def _extended(calculus: Calculus, name: int, intervals: list[Interval]) -> list[Interval]:
    """Returns the intervals with each single value as part of a longer neighbour whose terms give it too."""
    for step in (1, -1):
        long: Terms = {}
        found: list[Interval] = []
        for low, high, terms in intervals[::step]:
            if low is None or low != high:
                long = terms
            elif terms and long and at(calculus, long, name, low) == terms:
                terms = long
            elif terms != long:
                long = {}
            found.append((low, high, terms))
        intervals = found[::step]
    return intervals


def _interval(name: int, low: Number | None, high: Number | None) -> Zone:
    below = () if low is None else (((ZERO, name), -low),)
    return below if high is None else (*below, ((name, ZERO), high))


def at(calculus: Calculus, terms: Terms, name: int, place: Number) -> Terms:
    """Returns terms with a number in the place of a variable."""
    found: Terms = {}
    for key, c in terms.items():
        found = plus_terms(found, scaled_terms(calculus.moved(key, name, (ZERO, place, 1)), c))
    return found


def pieces_text(pieces: Pieces) -> Hashable:
    """Returns what equal functions have in common, if they are written alike."""
    return frozenset((zone, terms_text(terms)) for zone, terms in pieces.items())


def value(pieces: Pieces) -> Terms:
    """Returns the terms of a function of no variables."""
    return pieces.get(EVERYWHERE, {})


def names_in(pieces: Pieces) -> Collection[int]:
    """Returns the variables that occur."""
    found: set[int] = set()
    for zone, terms in pieces.items():
        found.update(name for pair, _ in zone for name in pair)
        found.update(f.name for key in terms for f in key.factors)
    return found - {ZERO}


def _add(found: dict[Zone, Terms], zone: Zone, terms: Terms) -> None:
    total = plus_terms(found[zone], terms) if zone in found else terms
    if total:
        found[zone] = total
    else:
        found.pop(zone, None)


def _bounded(found: dict[Zone, Terms]) -> dict[Zone, Terms]:
    if len(found) > MAX_ZONES:
        raise SizeError(
            f"the noisy numbers that are in use at one time need more than {MAX_ZONES:,} "
            "pieces; clamp or compare noise earlier"
        )
    return found
