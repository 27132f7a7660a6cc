"""Functions of the noise that is alive: terms on zones; each variable is summed or integrated out once.

A `Pieces` is Σ over zones Z of [v ∈ Z] · terms(v). Zones may overlap; the function is the sum. To sum a
variable out over a zone, its bounds are told apart: where `v ≥ L_j` is the largest lower bound and `v ≤ U_k`
the smallest upper one, the sum from L_j to U_k is G(U_k + 1) − G(L_j), for the primitive G of each term.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import comb

from paramverify.errors import SizeError, UnsupportedError
from paramverify.models.programs import terms as t
from paramverify.models.programs.coefficients import Coefficient
from paramverify.models.programs.terms import ONE, Calculus, End, PowerFactor, Rate, TermKey, Terms
from paramverify.models.programs.zones import (
    EVERYWHERE,
    REMEMBERED,
    ZERO,
    Bound,
    Number,
    Reals,
    Zone,
    bounds_above,
    bounds_below,
    ends,
    exact,
    shifted,
    within,
    without,
)
from paramverify.models.programs.zones import renamed as zone_renamed

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


def plus(first: Pieces, second: Pieces) -> dict[Zone, Terms]:
    """Returns the sum of two functions."""
    found: dict[Zone, Terms] = dict(first)
    for zone, terms in second.items():
        total = t.plus(found[zone], terms) if zone in found else terms
        if total:
            found[zone] = total
        else:
            found.pop(zone, None)
    return _bounded(found)


def product(first: Pieces, second: Pieces, reals: Reals) -> dict[Zone, Terms]:
    """Returns the product of two functions; sets of no weight are left out."""
    found: dict[Zone, Terms] = {}
    for zone, left in first.items():
        for other, right in second.items():
            both = within(zone, other, reals)
            if both is not None:
                terms = t.product(left, right)
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


def scaled(pieces: Pieces, by: Coefficient) -> dict[Zone, Terms]:
    """Returns a multiple of a function."""
    return {zone: t.scaled(terms, by) for zone, terms in pieces.items()} if by else {}


def renamed(pieces: Pieces, names: Mapping[int, int]) -> dict[Zone, Terms]:
    """Returns the function with other numbers for its variables."""
    return {zone_renamed(zone, names): t.renamed(terms, names) for zone, terms in pieces.items()}


def moved(calculus: Calculus, pieces: Pieces, name: int, by: Number) -> dict[Zone, Terms]:
    """Returns the function of `v[name] + by`: its value at w is that of the given one at `w − by`."""
    found: dict[Zone, Terms] = {}
    for zone, terms in pieces.items():
        new: Terms = {}
        for key, c in terms.items():
            new = t.plus(new, t.scaled(calculus.moved(key, name, (name, -by, 1)), c))
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
            new = t.plus(new, _difference(calculus, factor, key.units, pair, c))
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
                parts = {t.joined(a, b): m * n for a, m in parts.items() for b, n in more.items()}
            for part, number in parts.items():
                new = t.plus(new, {part: c.times(Fraction(number))})
        _add(found, zone_renamed(zone, {ZERO: name, name: ZERO}), new)
    return found


def _against(factor: PowerFactor, name: int) -> dict[TermKey, int]:
    """Returns `v^t · b^v` for v = w − u, or for v = −u where it is v[name]; u has the number `name`."""
    inner, power, rate = factor
    found: dict[TermKey, int] = {}
    for k in range(power + 1) if inner != name else (0,):
        parts = [PowerFactor(name, power - k, t.times(ONE, rate, -1))]
        parts += [PowerFactor(inner, k, rate)] if inner != name else []
        kept = tuple(sorted(f for f in parts if f.power or f.rate))
        found[TermKey(kept)] = comb(power, k) * (-1) ** (power - k)
    return found


def _difference(
    calculus: Calculus, factor: PowerFactor, units: int, pair: tuple[int, int], c: Coefficient
) -> Terms:
    if factor.power:
        raise UnsupportedError("the sum of these noises is not covered: one of them is a sum of equal rates")
    total, other = pair
    plain = PowerFactor(total, 0, factor.rate)
    against = PowerFactor(other, 0, t.times(ONE, factor.rate, -1))
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
            whole = t.joined(
                TermKey(rest.factors, rest.units + units), TermKey((PowerFactor(noise.name, k, inner.rate),))
            )
            value = c * coefficient
            if high is not None:
                after = high[1] + (1 if noise.whole else 0)
                found = t.plus(found, t.scaled(calculus.moved(whole, noise.name, (high[0], after, 1)), value))
            if low is not None:
                found = t.plus(
                    found, t.scaled(calculus.moved(whole, noise.name, (low[0], low[1], 1)), -value)
                )
        if (high is None and not small(inner.rate)) or (
            low is None and not small(t.times(ONE, inner.rate, -1))
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
                total = t.plus(total, terms) if total else terms
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
        found = t.plus(found, t.scaled(calculus.moved(key, name, (ZERO, place, 1)), c))
    return found


def text(pieces: Pieces) -> Hashable:
    """Returns what equal functions have in common, if they are written alike."""
    return frozenset((zone, t.text(terms)) for zone, terms in pieces.items())


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
    total = t.plus(found[zone], terms) if zone in found else terms
    if total:
        found[zone] = total
    else:
        found.pop(zone, None)


def _bounded(found: dict[Zone, Terms]) -> dict[Zone, Terms]:
    if len(found) > MAX_ZONES:
        raise SizeError(f"the noise that is alive at one time needs more than {MAX_ZONES:,} pieces")
    return found
