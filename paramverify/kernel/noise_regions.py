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

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from itertools import product
from math import ceil, comb, floor, gcd, lcm

from .noise_probabilities import Form, Inequality, independent
from .strict_reading import UnreadCase

# --- regions ----------------------------------------------------------------------------------------

Slopes = Mapping[int, Fraction]  # of variables
Region = dict[Form, Fraction]  # each form is at most its bound; it is in order, and has no common factor
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
    within: Region | None = region
    for sign in (ONE, -ONE):
        told = {new: sign, **{v: -s * sign for v, s in slopes.items()}}
        within = limited(within, kinds, told, ZERO, False)
    left = _projected(within, kinds, {v for form in within or {} for v, _ in form} - {new})
    if left is None:
        return ONE, ZERO
    low, high = left.get(((new, -ONE),)), left.get(((new, ONE),))
    return None if low is None else -low, high


def _projected(left: Region | None, kinds: Kinds, variables: set[int]) -> Region | None:
    """Returns a region without some variables, or None where it is empty."""
    while variables and left is not None:
        ends = {v: parted(left, v) for v in variables}
        v = min(variables, key=lambda v: len(ends[v][1]) * len(ends[v][2]))
        variables = variables - {v}
        left, below, above = ends[v]
        for low, high in product(below, above):
            left = _ordered(left, kinds, low, high, not kinds[v].whole)
    return left


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
    slopes = {w: low[0].get(w, ZERO) - high[0].get(w, ZERO) for w in {**low[0], **high[0]}}
    return limited(region, kinds, slopes, high[1] - low[1], strict)


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
    for below, low in _nearest(region, kinds, ends[0], True):
        for part, high in _nearest(below, kinds, ends[1], False):
            found = part if low is None or high is None else _ordered(part, kinds, low, high, strict)
            if found is not None:
                yield found, low, high


def _nearest(
    region: Region, kinds: Kinds, ends: list[Ends], largest: bool
) -> Iterator[tuple[Region, Ends | None]]:
    """Yields the parts in which an end is the largest, or the smallest one; the first of equal ones."""
    if not ends:
        yield region, None
    for k, end in enumerate(ends):
        part: Region | None = region
        for j, other in enumerate(ends):
            pair = (other, end) if largest else (end, other)
            part = _ordered(part, kinds, *pair, j < k)
        if part is not None:
            yield part, end


# --- sums and integrals -----------------------------------------------------------------------------

Key = tuple[Fraction, tuple[tuple[int, int, Fraction], ...]]  # exponent of e; variable, its power, its rate
Terms = dict[Key, Fraction]
Pieces = dict[frozenset[Inequality], Terms]

MAX_PIECES = 100_000  # parts of regions at one point


class RegionSums:
    """Probabilities of regions; `unit` is a number of rates, `power` returns e^(exponent·unit)."""

    def __init__(self, unit: Fraction, power: Callable[[Fraction], Fraction]) -> None:
        self.unit = unit
        self.power = power
        self.pieces = 0
        self.known: dict[tuple[tuple[VariableLaw, ...], frozenset[Inequality]], Terms] = {}

    def chance(self, region: Region, kinds: Kinds) -> Terms:
        """Returns how likely a region is, as Σ number·e^(exponent·unit); the keys have no variables.

        Raises:
            Unread: that is too much work, or beyond this reader.
        """
        total: Terms = {(ZERO, ()): ONE}
        for chosen, part in independent(kinds, region.items()):
            found: Terms = {}
            for ((a, _), c), ((b, _), d) in product(total.items(), self._known(chosen, part).items()):
                add_terms(found, {(a + b, ()): c * d})
            total = found
        return total

    def _known(self, kinds: tuple[VariableLaw, ...], region: frozenset[Inequality]) -> Terms:
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
        """Yields the parts of a region without a variable, each with its terms.

        That is Σ c·v^power·rate^v, or the integral of c·v^power·e^(rate·unit·v), between two ends.
        """
        whole = kinds[v].whole
        for slope, bound, own, share in self.density(kinds[v]):
            inside = limited(region, kinds, {v: slope}, bound, False)
            if inside is None:
                continue
            rest, below, above = parted(inside, v)
            if whole and any(abs(dict(form).get(v, ONE)) != 1 for form in inside):
                raise UnreadCase("a multiple of its noise is compared with other noise")
            taken = [(*_taken(key, v, whole, own), c * share) for key, c in terms.items()]
            rates = [rate for _, _, rate, _ in taken]
            for part, low, high in cut(rest, kinds, (below, above), not whole):
                if (high is None and max(rates) >= _neutral(whole)) or (
                    low is None and min(rates) <= _neutral(whole)
                ):
                    if possible(part, kinds):
                        raise UnreadCase("a sum over its noise has no end")
                    continue
                found: Terms = {}
                for key, power, rate, c in taken:
                    primitive = _primitive(power, rate if whole else rate * self.unit, whole)
                    if high is not None:
                        self._put(found, kinds, (key, rate, whole, c), primitive, (high[0], high[1] + whole))
                    if low is not None:
                        self._put(found, kinds, (key, rate, whole, -c), primitive, low)
                yield part, found

    def _put(
        self,
        found: Terms,
        kinds: Kinds,
        term: tuple[Key, Fraction, bool, Fraction],
        primitive: Sequence[Fraction],
        end: Ends,
    ) -> None:
        """Adds a term times p(v)·rate^v, or times p(v)·e^(rate·unit·v), where v is an end."""
        ((exponent, entries), rate, whole, factor), (slopes, constant) = term, end
        powers = Counter({w: power for w, power, _ in entries})
        rates = {w: _neutral(kinds[w].whole) for w in slopes} | {w: own for w, _, own in entries}
        if whole:
            factor *= rate ** int(constant)
        else:
            exponent += rate * constant
        for w, slope in slopes.items():
            if whole:
                rates[w] *= rate ** int(slope)
            elif kinds[w].whole:
                rates[w] *= self.power(rate * slope) if rate else ONE
            else:
                rates[w] += rate * slope
        for monomial, c in _polynomial(primitive, end).items():
            own = powers + Counter(monomial)
            left = (
                (w, own[w], of) for w, of in sorted(rates.items()) if own[w] or of != _neutral(kinds[w].whole)
            )
            add_terms(found, {(exponent, tuple(left)): c * factor})

    def density(self, noise: VariableLaw) -> Iterator[tuple[Fraction, Fraction, Fraction, Fraction]]:
        """Yields slope and bound of a side, the rate there, and the factor."""
        rate, sides = noise.rate, 1 + noise.two_sided
        if noise.whole:
            share = (1 - rate) / (1 + rate if noise.two_sided else 1)
            others = (-ONE, ZERO, rate, share), (ONE, -ONE, 1 / rate, share)
        else:
            share = rate * self.unit / sides
            others = (-ONE, ZERO, -rate, share), (ONE, ZERO, rate, share)
        yield from others[:sides]


@lru_cache(maxsize=20_000)
def _integrated(kinds: tuple[VariableLaw, ...], region: frozenset[Inequality], unit: Fraction) -> Terms:
    """Returns how likely a region of noise with a density is: the same at all points."""
    return RegionSums(unit, _no_power)._summed(dict(region), kinds)


def _no_power(exponent: Fraction) -> Fraction:
    raise ValueError(f"e^{exponent} is not needed for noise with a density alone")


def _taken(key: Key, v: int, whole: bool, rate: Fraction) -> tuple[Key, int, Fraction]:
    """Takes a variable out of a key: returns the rest, its power, and its rate with that of its density."""
    exponent, entries = key
    power, own = next(((p, r) for w, p, r in entries if w == v), (0, _neutral(whole)))
    return (exponent, tuple(e for e in entries if e[0] != v)), power, own * rate if whole else own + rate


def _neutral(whole: bool) -> Fraction:
    """Returns the rate of a variable that a term does not have."""
    return ONE if whole else ZERO


def add_terms(total: Terms, more: Mapping[Key, Fraction]) -> None:
    """Adds terms to a sum, in place."""
    for key, c in more.items():
        total[key] = total.get(key, ZERO) + c


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
def _primitive(power: int, rate: Fraction, whole: bool) -> tuple[Fraction, ...]:
    """Returns p with p' + rate·p = v^power, or with rate·p(v + 1) − p(v) = v^power.

    For the coefficient of v^k that is (a number, `lead`)·p_k + Σ_{j>k} weight(j, k)·p_j. If `lead` is 0, the
    next coefficient takes the place of p_k.
    """
    lead = rate - 1 if whole else rate

    def weight(j: int, k: int) -> Fraction:
        return rate * comb(j, k) if whole else Fraction(j if j == k + 1 else 0)

    p = [ZERO] * (power + 2)
    for k in reversed(range(power + 1)):
        at = k if lead else k + 1
        rest = sum((p[j] * weight(j, k) for j in range(at + 1, power + 2)), ZERO)
        p[at] = ((k == power) - rest) / (lead or weight(at, k))
    return tuple(p[: power + 1] if lead else p)
