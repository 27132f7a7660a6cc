"""Sets of numbers of an output on which the ratio of any two weights is the same: one observation each.

Outputs whose weights under all inputs are proportional tell the same about the input. So a set of them is as
good as each of them: its weight is a sum, and no measure of privacy can tell the difference (the set is a
sufficient statistic).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from paramverify.errors import SizeError, UnsupportedError
from paramverify.models.programs import pieces as p
from paramverify.models.programs import terms as t
from paramverify.models.programs.bases import Bases
from paramverify.models.programs.coefficients import Coefficient
from paramverify.models.programs.pieces import Interval, NoiseVariable, Pieces
from paramverify.models.programs.spreading import spread_on
from paramverify.models.programs.terms import ONE, PowerFactor, TermKey, Terms, times
from paramverify.models.programs.zones import NONE, ZERO, Number, Reals, Zone, ends
from paramverify.models.spreads import ArithmeticSequence

MAX_POINTS = 1_000  # values of one number that are told apart
SINGLE = 4  # values beyond all breaks that are told apart where the functions have three terms or more
INSIDE = "inside"  # a side: each value between the ends


@dataclass(frozen=True)
class Extent:
    """The values of a coordinate from `low` to `high`; None is infinity.

    With a `side` it is one value, of a continuous coordinate: what is told is the density there, or the limit
    of the density from below or from above. `far above` and `far below` are no value: what is told is the
    coefficient of the leading term, so the ratio is the limit of the ratios. With a `spread` it stands for
    each of the values: which one, a variable of the claims says.
    """

    name: int
    low: Number | None
    high: Number | None
    side: str = ""
    spread: ArithmeticSequence | None = None


Found = tuple[Hashable, Extent, list[Terms]]


@dataclass(frozen=True, eq=False)
class WeightedCell:
    """A set of values of some coordinates, with its weight under each function."""

    extents: tuple[Extent, ...]
    totals: tuple[Terms, ...]


def whole_cells(bases: Bases, functions: Sequence[Pieces], name: int) -> list[WeightedCell]:
    """Returns cells of functions of one whole variable that cover where any is not zero.

    Beyond all breaks, where the functions have two terms, the first value is a cell, and the limit far away:
    see `affine`.

    Raises:
        UnsupportedError: see `spread_on`, for functions that have more terms beyond all breaks.
        SizeError: more than `MAX_POINTS` values between the breaks.
    """
    calculus, noise = bases.calculus, NoiseVariable(name, True, NONE)
    flat = [[(*ends(z), terms) for z, terms in p.flat(calculus, f, noise).items()] for f in functions]
    cuts = [c for f in flat for low, high, _ in f for c in (low, None if high is None else high + 1)]
    known = [int(c) for c in cuts if c is not None]
    first, last = min(known), max(known)
    if last - first > MAX_POINTS:
        raise SizeError(f"a number that is put out has more than {MAX_POINTS:,} values that are told apart")
    found: list[Found] = []
    for low, high in ((None, first - 1), *((k, k) for k in range(first, last)), (last, None)):
        extent = Extent(name, low, high)
        terms = [_terms(f, extent) for f in flat]
        if low is not None and low == high:
            terms = totals = [p.at(calculus, inside, name, low) for inside in terms]
        else:
            totals = [_total(bases, inside, extent, noise) for inside in terms]
        if not any(terms):
            continue
        ratios = ratio(terms)
        if ratios is None and low != high and not affine(_factors(terms)):
            found += _spread_tail(bases, terms, extent)
        elif ratios is None and low != high:
            found += _tail(bases, terms, extent)
        else:
            found.append((object() if ratios is None else ratios, extent, totals))
    return list(_fewer(found))


def real_points(bases: Bases, functions: Sequence[Pieces], name: int, reals: Reals) -> list[WeightedCell]:
    """Returns the places at which densities of one continuous variable have to be compared.

    Between two neighbouring breaks either each density is `c·e^(kv)` or zero: then the logarithm of the ratio
    of two is linear, so the ratio is largest at an end, or in the limit towards it. Or they have two terms
    together, see `affine`. A ratio that is larger than a bound in the limit is so on an interval of outputs,
    which has a positive probability. So the densities at the breaks, from both sides, are enough, and beyond
    all breaks the limit far away. Where they have more terms, all values are compared, see `spreads`.

    Raises:
        UnsupportedError: see `spread_on`.
        SizeError: more than `MAX_POINTS` breaks.
    """
    calculus, noise = bases.calculus, NoiseVariable(name, False, reals)
    flat = [[(*ends(z), terms) for z, terms in p.flat(calculus, f, noise).items()] for f in functions]
    cuts = sorted({c for f in flat for low, high, _ in f for c in (low, high) if c is not None})
    if len(cuts) > MAX_POINTS:
        raise SizeError(f"a density has more than {MAX_POINTS:,} breaks")
    edges: list[Number | None] = [None, *cuts, None]
    parts = [[_terms(f, Extent(name, *pair)) for f in flat] for pair in pairwise(edges)]
    found = []
    for terms, ends_ in zip(parts[1:-1], pairwise(cuts), strict=True):
        single = all(len(inside) <= 1 for inside in terms) and not _powers(terms)
        if not single and not affine(_factors(terms)):
            found.append(_spread(bases, terms, Extent(name, *ends_, INSIDE)))
    for cut, below, above in zip(cuts, parts[:-1], parts[1:], strict=True):
        left, right = ([p.at(calculus, t_, name, cut) for t_ in terms] for terms in (below, above))
        sides = [("at", left)] if left == right else [("just below", left), ("just above", right)]
        found += [WeightedCell((Extent(name, cut, cut, s),), tuple(v)) for s, v in sides if any(v)]
    for terms, extent, side in (
        (parts[0], Extent(name, None, cuts[0], INSIDE), "far below"),
        (parts[-1], Extent(name, cuts[-1], None, INSIDE), "far above"),
    ):
        if not affine(_factors(terms)):
            found.append(_spread(bases, terms, extent))
            continue
        found += [WeightedCell((extent,), totals) for extent, totals in _limits(bases, terms, name, side)]
    return found


def _spread(bases: Bases, terms: Sequence[Terms], extent: Extent, whole: bool = False) -> WeightedCell:
    """Returns the cell that stands for each value of an extent."""
    spread, totals = spread_on(bases, terms, extent.name, (extent.low, extent.high), whole)
    return WeightedCell((replace(extent, spread=spread),), totals)


SEVERAL = "numbers whose probability or density has several terms are not covered: give each noise of its own"


def _factors(terms: Sequence[Terms]) -> list[PowerFactor]:
    """Returns the different functions of the variable in terms of one variable."""
    return sorted({key.factors[0] if key.factors else PowerFactor(0, 0, ONE) for t in terms for key in t})


def _powers(terms: Sequence[Terms]) -> bool:
    return any(factor.power for factor in _factors(terms))


def affine(factors: Sequence[PowerFactor]) -> bool:
    """Tells whether sums of some functions are affine in a monotone one, up to a common positive factor.

    `a·r^v + b·s^v` is r^v·(a + b·t) with t = (s/r)^v, and `(a + b·v)·r^v` is so with t = v. A claim about two
    such sums is affine in t, too: where it holds at both ends of an interval, or in the limits there, it
    holds between them. With several coordinates it is affine in each.
    """
    if len(factors) > 2:
        return False
    powers = [factor.power for factor in factors]
    same = len({factor.rate for factor in factors}) == 1
    return not any(powers) or (same and sorted(powers) == [0, 1])


def _tail(bases: Bases, terms: Sequence[Terms], extent: Extent) -> Iterator[Found]:
    """Yields the cells beyond all breaks: the first value, and the limit, where there are two terms."""
    name, calculus = extent.name, bases.calculus
    first = extent.high if extent.low is None else extent.low
    assert first is not None
    values = [p.at(calculus, inside, name, first) for inside in terms]
    near: Found = (ratio(values) or object(), Extent(name, first, first), values)
    side = "far below" if extent.low is None else "far above"
    far = [(object(), e, list(totals)) for e, totals in _limits(bases, terms, name, side)]
    yield from [*far, near] if extent.low is None else [near, *far]


def _spread_tail(bases: Bases, terms: Sequence[Terms], extent: Extent) -> Iterator[Found]:
    """Yields the cells beyond all breaks where there are more terms: some values, then all the others."""
    name, calculus = extent.name, bases.calculus
    upwards = extent.high is None
    first, way = (extent.low, 1) if upwards else (extent.high, -1)
    assert first is not None
    near: list[Found] = []
    for k in range(SINGLE):
        value = first + way * k
        values = [p.at(calculus, inside, name, value) for inside in terms]
        near.append((ratio(values) or object(), Extent(name, value, value), values))
    end = first + way * SINGLE
    rest = Extent(name, end, None, INSIDE) if upwards else Extent(name, None, end, INSIDE)
    cell = _spread(bases, terms, rest, whole=True)
    far: Found = (object(), cell.extents[0], list(cell.totals))
    yield from [*near, far] if upwards else [far, *near[::-1]]


def _limits(
    bases: Bases, terms: Sequence[Terms], name: int, side: str
) -> Iterator[tuple[Extent, tuple[Terms, ...]]]:
    """Yields what the ratios of functions of one variable tend to; nothing where they are constant."""
    factors = _factors(terms)
    if len(factors) < 2:
        return
    if not affine(factors):
        raise UnsupportedError(SEVERAL)
    upwards = side == "far above"
    (_, first, low), (_, second, high) = factors
    if first != second:
        power, sign = 1, 1 if upwards else -1
        rate = low
    else:
        power, sign = 0, 1
        falls = bases.small(times(high, low, -1))  # (high/low)^v falls
        rate = low if falls == upwards else high
    leading = [
        {
            TermKey((), key.units): c.times(Fraction(sign))
            for key, c in inside.items()
            if (key.factors[0][1:] if key.factors else (0, ONE)) == (power, rate)
        }
        for inside in terms
    ]
    yield Extent(name, None, None, side), tuple(leading)


def _terms(function: Sequence[Interval], extent: Extent) -> Terms:
    """Returns the terms of a function on an extent that no break cuts."""
    for low, high, terms in function:
        after = low is None or (extent.low is not None and low <= extent.low)
        if after and (high is None or (extent.high is not None and extent.high <= high)):
            return terms
    return {}


def _total(bases: Bases, terms: Terms, extent: Extent, noise: NoiseVariable) -> Terms:
    """Returns the sum of terms over an extent."""
    low = () if extent.low is None else (((ZERO, noise.name), -extent.low),)
    zone: Zone = low if extent.high is None else (*low, ((noise.name, ZERO), extent.high))
    return p.value(p.eliminated(bases.calculus, {zone: terms}, noise, bases.small)) if terms else {}


def ratio(parts: Sequence[Terms]) -> Hashable | None:
    """Returns what tells functions with other ratios apart; None if the ratios are not constant."""
    keys = {key for terms in parts for key in terms}
    found = {_normal([terms.get(key) for terms in parts]) for key in keys}
    return found.pop() if len(found) == 1 else None


def _normal(column: Sequence[Coefficient | None]) -> tuple[str, ...]:
    first = next(c for c in column if c is not None)
    return tuple("" if c is None else (c / first).text for c in column)


def _fewer(found: Sequence[tuple[Hashable, Extent, list[Terms]]]) -> Iterator[WeightedCell]:
    """Yields neighbours with the same ratios as one."""
    kept: tuple[Hashable, Extent, list[Terms]] | None = None
    for ratios, extent, totals in found:
        if kept is not None and kept[0] == ratios and kept[1].high == (extent.low or 0) - 1:
            both: list[Terms] = [t.plus(a, b) for a, b in zip(kept[2], totals, strict=True)]
            kept = ratios, Extent(extent.name, kept[1].low, extent.high), both
            continue
        if kept is not None:
            yield WeightedCell((kept[1],), tuple(kept[2]))
        kept = ratios, extent, totals
    if kept is not None:
        yield WeightedCell((kept[1],), tuple(kept[2]))
