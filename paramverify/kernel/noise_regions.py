"""How likely regions of noise are, in closed form: one variable after the other is summed or integrated out.

A region is a conjunction of linear inequalities in independent variables, each with a law: whole noise, or
noise with a density. As soon as noise with a density takes part, a region without volume counts as empty. If
a variable lies between several lower and upper ends, the region is cut until one of each is the nearest; then
a closed form is taken between the two:

- whole noise: Σ_{v=l}^{u} v^t·r^v = F(u+1) − F(l), where F(v) = p(v)·r^v solves F(v+1) − F(v) = v^t·r^v;
- noise with a density: ∫_l^u v^t·e^{mv} dv = F(u) − F(l), where F(v) = p(v)·e^{mv} solves F' = v^t·e^{mv}.

Both are again sums of such terms in the variables that are left, so the last variable leaves numbers. The
second reader of programs uses this module too, which shares no code with the first reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from math import ceil, comb, floor, gcd, lcm

from .strict_reading import UnreadCase

# --- regions ----------------------------------------------------------------------------------------

Slopes = Mapping[int, Fraction]  # of variables
Form = tuple[tuple[int, Fraction], ...]  # the same, in order and without a common factor
Region = dict[Form, Fraction]  # each form is at most its bound
Ends = tuple[dict[int, Fraction], Fraction]  # slopes and a constant

ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class VariableLaw:
    """The distribution of one variable.

    Whole noise has the weights rate^|v|, other noise the density e^(−rate·unit·|v|), up to a number.
    """

    whole: bool
    two_sided: bool
    rate: Fraction


Kinds = Sequence[VariableLaw]  # of the variables, by their numbers


def limited(
    region: Region | None, kinds: Kinds, slopes: Slopes, bound: Fraction, strict: bool
) -> Region | None:
    """Returns the part where Σ slope·variable ≤ bound, or < bound; None if it is plainly empty."""
    if region is None:
        return None
    used = {v: s for v, s in sorted(slopes.items()) if s}
    if not used:
        return region if bound > 0 or (bound == 0 and not strict) else None
    whole = all(kinds[v].whole for v in used)
    if whole:
        by = Fraction(lcm(*(s.denominator for s in used.values())))
        by /= gcd(*(int(s * by) for s in used.values()))
        bound *= by
        bound = Fraction(ceil(bound) - 1 if strict else floor(bound))
    else:
        by = 1 / abs(next(iter(used.values())))
        bound *= by
    form = tuple((v, s * by) for v, s in used.items())
    if form in region and region[form] <= bound:
        return region
    against = region.get(tuple((v, -s) for v, s in form))
    if against is not None and (bound + against < 0 or (not whole and bound + against == 0)):
        return None
    return {**region, form: bound}


def possible(region: Region, kinds: Kinds) -> bool:
    """Tells whether a region has a point, by Fourier and Motzkin; in doubt about whole numbers yes."""
    return _projected(region, kinds, {v for form in region for v, _ in form}) is not None


def ends_of(region: Region, kinds: Kinds, slopes: Slopes) -> tuple[Fraction | None, Fraction | None]:
    """Returns the least and the largest value of Σ slope·variable of whole noise; None: there is none."""
    new = len(kinds)
    kinds = [*kinds, VariableLaw(True, True, ONE)]
    for sign in (1, -1):
        told = {new: Fraction(sign), **{v: -s * sign for v, s in slopes.items()}}
        found = limited(region, kinds, told, ZERO, False)
        if found is None:
            return ONE, ZERO
        region = found
    left = _projected(region, kinds, {v for form in region for v, _ in form} - {new})
    if left is None:
        return ONE, ZERO
    low, high = left.get(((new, -ONE),)), left.get(((new, ONE),))
    return None if low is None else -low, high


def _projected(region: Region, kinds: Kinds, variables: set[int]) -> Region | None:
    """Returns a region without some variables, or None where it is empty."""
    left: Region | None = region
    while variables:
        v = min(variables, key=lambda v: _ways(left or {}, v))
        variables = variables - {v}
        rest, below, above = parted(left or {}, v)
        left = rest
        for low in below:
            for high in above:
                left = _ordered(left, kinds, low, high, not kinds[v].whole)
                if left is None:
                    return None
    return left


def _ways(region: Region, v: int) -> int:
    slopes = [s for form in region for w, s in form if w == v]
    below = sum(s < 0 for s in slopes)
    return below * (len(slopes) - below)


def parted(region: Region, v: int) -> tuple[Region, list[Ends], list[Ends]]:
    """Returns what a region says of other variables, and the lower and the upper ends of one."""
    rest: Region = {}
    ends: tuple[list[Ends], list[Ends]] = ([], [])
    for form, bound in region.items():
        slope = dict(form).get(v)
        if slope is None:
            rest[form] = bound
        else:
            ends[slope > 0].append(({w: -s / slope for w, s in form if w != v}, bound / slope))
    return rest, ends[0], ends[1]


def _ordered(region: Region | None, kinds: Kinds, low: Ends, high: Ends, strict: bool) -> Region | None:
    """Returns the part of a region where one end is at most, or below another."""
    if region is None:
        return None
    slopes = {w: low[0].get(w, ZERO) - high[0].get(w, ZERO) for w in {**low[0], **high[0]}}
    return limited(region, kinds, slopes, high[1] - low[1], strict)


def parts_of(region: Region) -> list[Region]:
    """Returns the parts of a region that share no variable."""
    parts: list[tuple[set[int], Region]] = []
    for form, bound in region.items():
        names = {v for v, _ in form}
        joined: Region = {form: bound}
        apart = []
        for known, part in parts:
            if known & names:
                names |= known
                joined |= part
            else:
                apart.append((known, part))
        parts = [*apart, (names, joined)]
    return [part for _, part in parts]


def meets(region: Region, v: int, left: set[int]) -> tuple[bool, int]:
    """Returns whether a variable has a slope that is not 1 or −1, and how many others it meets."""
    forms = [dict(form) for form in region]
    return (
        any(abs(form.get(v, ONE)) != 1 for form in forms),
        len({w for form in forms if v in form for w in form} & left),
    )


def cut(
    region: Region, kinds: Kinds, ends: tuple[list[Ends], list[Ends]], strict: bool
) -> Iterator[tuple[Region, Ends | None, Ends | None]]:
    """Yields the parts of a region in which one lower and one upper end is the nearest; they are disjoint."""
    for below, low in _nearest(region, kinds, ends[0], 1):
        for part, high in _nearest(below, kinds, ends[1], -1):
            if low is None or high is None:
                yield part, low, high
                continue
            found = _ordered(part, kinds, low, high, strict)
            if found is not None:
                yield found, low, high


def _nearest(
    region: Region, kinds: Kinds, ends: list[Ends], sign: int
) -> Iterator[tuple[Region, Ends | None]]:
    """Yields the parts in which an end is the largest (sign 1) or smallest (−1); the first of equal ones."""
    if not ends:
        yield region, None
    for k, end in enumerate(ends):
        part: Region | None = region
        for j, other in enumerate(ends):
            if j != k:
                pair = (other, end) if sign > 0 else (end, other)
                part = _ordered(part, kinds, *pair, j < k)
        if part is not None:
            yield part, end


# --- sums and integrals -----------------------------------------------------------------------------

Key = tuple[Fraction, tuple[tuple[int, int, Fraction], ...]]  # exponent of e; variable, its power, its rate
Terms = dict[Key, Fraction]
Pieces = dict[frozenset[tuple[Form, Fraction]], Terms]

MAX_PIECES = 100_000  # parts of regions at one point


class RegionSums:
    """Probabilities of regions; `unit` is a number of rates, `power` returns e^(exponent·unit)."""

    def __init__(self, unit: Fraction, power: Callable[[Fraction], Fraction]) -> None:
        self.unit = unit
        self.power = power
        self.pieces = 0
        self.known: dict[tuple[tuple[VariableLaw, ...], frozenset[tuple[Form, Fraction]]], Terms] = {}

    def chance(self, region: Region, kinds: Kinds) -> Terms:
        """Returns how likely a region is, as Σ number·e^(exponent·unit); the keys have no variables.

        Raises:
            Unread: that is too much work, or beyond this reader.
        """
        total: Terms = {(ZERO, ()): ONE}
        for part in parts_of(region):
            own = sorted({v for form in part for v, _ in form})
            order = {v: k for k, v in enumerate(own)}
            inner = {tuple((order[v], s) for v, s in form): bound for form, bound in part.items()}
            chosen = tuple(kinds[v] for v in own)
            total = product(total, self._known(chosen, frozenset(inner.items())))
        return total

    def _known(self, kinds: tuple[VariableLaw, ...], region: frozenset[tuple[Form, Fraction]]) -> Terms:
        if not any(noise.whole for noise in kinds):
            return _integrated(kinds, region, self.unit)
        if (kinds, region) not in self.known:
            self.known[kinds, region] = self._summed(dict(region), kinds)
        return self.known[kinds, region]

    def number(self, terms: Terms) -> Fraction:
        """Returns Σ number·e^(exponent·unit)."""
        return sum((c * (self.power(e) if e else ONE) for (e, _), c in terms.items() if c), ZERO)

    def _summed(self, region: Region, kinds: Kinds) -> Terms:
        pieces: Pieces = {frozenset(region.items()): {(ZERO, ()): ONE}}
        total: Terms = {}
        for terms in self.without(pieces, set(range(len(kinds))), kinds).values():
            add_terms(total, terms)
        return total

    def without(self, pieces: Pieces, left: set[int], kinds: Kinds) -> Pieces:
        """Returns a function of noise on regions without some variables: they are summed or integrated out.

        Raises:
            Unread: that is too much work, or beyond this reader.
        """
        left = set(left)
        while left:
            region = dict(next(iter(pieces), frozenset()))
            # noise with a density first, then whole noise whose slopes are 1 and −1
            v = min(left, key=lambda v: (kinds[v].whole, meets(region, v, left), v))
            left.remove(v)
            found: Pieces = {}
            for given, terms in pieces.items():
                for part, more in self._without(dict(given), terms, v, kinds):
                    add_terms(found.setdefault(frozenset(part.items()), {}), more)
                    self.pieces += 1
                    if self.pieces > MAX_PIECES:
                        raise UnreadCase(f"its noise falls into more than {MAX_PIECES:,} regions")
            pieces = found
        return pieces

    def _without(self, region: Region, terms: Terms, v: int, kinds: Kinds) -> Iterator[tuple[Region, Terms]]:
        """Yields the parts of a region without a variable, each with its terms."""
        for slope, bound, rate, share in self.density(kinds[v]):
            inside = limited(region, kinds, {v: slope}, bound, False)
            if inside is None:
                continue
            rest, below, above = parted(inside, v)
            if kinds[v].whole and any(abs(dict(form).get(v, ONE)) != 1 for form in inside):
                raise UnreadCase("a multiple of its noise is compared with other noise")
            parts = [(_TermPart.taken(key, v, kinds[v], rate), c * share) for key, c in terms.items()]
            for part, low, high in cut(rest, kinds, (below, above), not kinds[v].whole):
                found: Terms = {}
                try:
                    for taken, c in parts:
                        self._between(found, kinds, taken, c, (low, high))
                except _Endless:
                    if possible(part, kinds):
                        raise UnreadCase("a sum over its noise has no end") from None
                    continue
                yield part, found

    def _between(
        self, found: Terms, kinds: Kinds, taken: _TermPart, c: Fraction, ends: tuple[Ends | None, Ends | None]
    ) -> None:
        """Adds c·Σ v^power·rate^v, or the integral of c·v^power·e^(rate·unit·v), between two ends."""
        low, high = ends
        whole, rate = taken.whole, taken.rate
        if whole:
            primitive = _antidifference(taken.power, rate)
        else:
            primitive = _antiderivative(taken.power, rate * self.unit)
        middle = 1 if whole else 0
        if (high is None and rate >= middle) or (low is None and rate <= middle):
            raise _Endless
        if high is not None:
            self._put(found, kinds, taken, [c * p for p in primitive], (high[0], high[1] + whole))
        if low is not None:
            self._put(found, kinds, taken, [-c * p for p in primitive], low)

    def _put(
        self, found: Terms, kinds: Kinds, taken: _TermPart, primitive: Sequence[Fraction], end: Ends
    ) -> None:
        """Adds p(v)·rate^v, or p(v)·e^(rate·unit·v), where v is an end."""
        (exponent, entries), rate, (slopes, constant) = taken.rest, taken.rate, end
        powers = {w: p for w, p, _ in entries}
        rates = {w: r for w, _, r in entries}
        factor = ONE
        if taken.whole:
            factor = rate ** int(constant)
        else:
            exponent += rate * constant
        for w, slope in slopes.items():
            if taken.whole:
                rates[w] = rates.get(w, ONE) * rate ** int(slope)
            elif kinds[w].whole:
                rates[w] = rates.get(w, ONE) * (self.power(rate * slope) if rate else ONE)
            else:
                rates[w] = rates.get(w, ZERO) + rate * slope
        for monomial, c in _polynomial(primitive, end).items():
            own = dict(powers)
            for w in monomial:
                own[w] = own.get(w, 0) + 1
            key = _key(exponent, own, rates, kinds)
            add_terms(found, {key: c * factor})

    def density(self, noise: VariableLaw) -> Iterator[tuple[Fraction, Fraction, Fraction, Fraction]]:
        """Yields slope and bound of a side, the rate there, and the factor."""
        rate = noise.rate
        if noise.whole:
            share = (1 - rate) / (1 + rate) if noise.two_sided else 1 - rate
            yield -ONE, ZERO, rate, share
            if noise.two_sided:
                yield ONE, -ONE, 1 / rate, share
        else:
            share = rate * self.unit / (2 if noise.two_sided else 1)
            yield -ONE, ZERO, -rate, share
            if noise.two_sided:
                yield ONE, ZERO, rate, share


@lru_cache(maxsize=20_000)
def _integrated(
    kinds: tuple[VariableLaw, ...], region: frozenset[tuple[Form, Fraction]], unit: Fraction
) -> Terms:
    """Returns how likely a region of noise with a density is: the same at all points."""
    return RegionSums(unit, _no_power)._summed(dict(region), kinds)


def _no_power(exponent: Fraction) -> Fraction:
    raise ValueError(f"e^{exponent} is not needed for noise with a density alone")


class _Endless(Exception):
    """A sum without an end on one side, of weights that do not get small there."""


@dataclass(frozen=True)
class _TermPart:
    """A variable of a term, v^power·rate^v or v^power·e^(rate·unit·v), and the rest of the term."""

    rest: Key
    whole: bool
    power: int
    rate: Fraction

    @staticmethod
    def taken(key: Key, v: int, noise: VariableLaw, rate: Fraction) -> _TermPart:
        """Takes a variable out of a key; its rate is joined with that of its density."""
        exponent, entries = key
        power, own = next(((p, r) for w, p, r in entries if w == v), (0, _neutral(noise)))
        rest = tuple(entry for entry in entries if entry[0] != v)
        return _TermPart((exponent, rest), noise.whole, power, own * rate if noise.whole else own + rate)


def _neutral(noise: VariableLaw) -> Fraction:
    return ONE if noise.whole else ZERO


def _key(exponent: Fraction, powers: Mapping[int, int], rates: Mapping[int, Fraction], kinds: Kinds) -> Key:
    entries = []
    for w in sorted({*powers, *rates}):
        power, rate = powers.get(w, 0), rates.get(w, _neutral(kinds[w]))
        if power or rate != _neutral(kinds[w]):
            entries.append((w, power, rate))
    return exponent, tuple(entries)


def add_terms(total: Terms, more: Mapping[Key, Fraction]) -> None:
    """Adds terms to a sum, in place."""
    for key, c in more.items():
        total[key] = total.get(key, ZERO) + c


def product(one: Terms, other: Terms) -> Terms:
    """Returns the product of sums without variables."""
    found: Terms = {}
    for (first, _), a in one.items():
        for (second, _), b in other.items():
            add_terms(found, {(first + second, ()): a * b})
    return found


def _polynomial(primitive: Sequence[Fraction], end: Ends) -> dict[tuple[int, ...], Fraction]:
    """Returns Σ p_j·end^j by its monomials, each the list of its variables."""
    found: dict[tuple[int, ...], Fraction] = {}
    power: dict[tuple[int, ...], Fraction] = {(): ONE}
    slopes, constant = end
    for p in primitive:
        for monomial, c in power.items():
            if c * p:
                found[monomial] = found.get(monomial, ZERO) + c * p
        grown: dict[tuple[int, ...], Fraction] = {}
        for monomial, c in power.items():
            for more, slope in [((), constant), *(((w,), s) for w, s in slopes.items())]:
                key = tuple(sorted(monomial + more))
                grown[key] = grown.get(key, ZERO) + c * slope
        power = grown
    return found


@cache
def _antidifference(power: int, rate: Fraction) -> tuple[Fraction, ...]:
    """Returns p with rate·p(v + 1) − p(v) = v^power."""
    size = power + 1 + (rate == 1)
    p = [ZERO] * (size + 1)
    for k in reversed(range(power + 1)):
        at = k if rate != 1 else k + 1
        rest = sum((p[j] * comb(j, k) for j in range(at + 1, size + 1)), ZERO)
        p[at] = ((k == power) - rate * rest) / (rate - 1 if rate != 1 else k + 1)
    return tuple(p[:size])


@cache
def _antiderivative(power: int, rate: Fraction) -> tuple[Fraction, ...]:
    """Returns p with p' + rate·p = v^power."""
    if not rate:
        return (*[ZERO] * (power + 1), Fraction(1, power + 1))
    p = [ZERO] * (power + 2)
    for k in reversed(range(power + 1)):
        p[k] = ((k == power) - (k + 1) * p[k + 1]) / rate
    return tuple(p[: power + 1])
