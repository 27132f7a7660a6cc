"""Sets of numbers of an output on which the ratio of any two weights is the same: one observation each.

Outputs whose weights under all inputs are proportional tell the same about the input. So a set of them is as
good as each of them: its weight is a sum, and no measure of privacy can tell the difference (the set is a
sufficient statistic).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from paramverify.errors import SizeError, UnsupportedError
from paramverify.models.programs import pieces as p
from paramverify.models.programs import terms as t
from paramverify.models.programs.bases import Bases
from paramverify.models.programs.coefficients import Coefficient
from paramverify.models.programs.pieces import Interval, Noise, Pieces
from paramverify.models.programs.terms import Terms
from paramverify.models.programs.zones import NONE, ZERO, Number, Reals, Zone, ends

MAX_POINTS = 1_000  # values of one number that are told apart


@dataclass(frozen=True)
class Extent:
    """The values of a coordinate from `low` to `high`; None is infinity.

    With a `side` it is one value, of a continuous coordinate: what is told is the density there, or the limit
    of the density from below or from above.
    """

    name: int
    low: Number | None
    high: Number | None
    side: str = ""


@dataclass(frozen=True, eq=False)
class Cell:
    """A set of values of some coordinates, with its weight under each function."""

    extents: tuple[Extent, ...]
    totals: tuple[Terms, ...]


def whole_cells(bases: Bases, functions: Sequence[Pieces], name: int) -> list[Cell]:
    """Returns cells of functions of one whole variable that cover where any is not zero.

    Raises:
        UnsupportedError: the functions are not proportional beyond all their breaks.
        SizeError: more than `MAX_POINTS` values between the breaks.
    """
    calculus, noise = bases.calculus, Noise(name, True, NONE)
    flat = [[(*ends(z), terms) for z, terms in p.flat(calculus, f, noise).items()] for f in functions]
    cuts = [c for f in flat for low, high, _ in f for c in (low, None if high is None else high + 1)]
    known = [int(c) for c in cuts if c is not None]
    first, last = min(known), max(known)
    if last - first > MAX_POINTS:
        raise SizeError(f"a number that is put out has more than {MAX_POINTS:,} values that are told apart")
    found: list[tuple[Hashable, Extent, list[Terms]]] = []
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
        if ratios is None and low != high:
            raise UnsupportedError("the numbers far from all breaks have different ratios")
        found.append((object() if ratios is None else ratios, extent, totals))
    return list(_fewer(found))


def real_points(bases: Bases, functions: Sequence[Pieces], name: int, reals: Reals) -> list[Cell]:
    """Returns the places at which densities of one continuous variable have to be compared.

    Between two neighbouring breaks each density is `c·e^(kv)` or zero. The logarithm of the ratio of two is
    linear there, so the ratio is largest at an end, or in the limit towards it; and before the first and
    behind the last break it is what it is there, or the density is zero. A ratio that is larger than a bound
    in the limit is so on an interval of outputs, which has a positive probability. So the densities at the
    breaks, from both sides, are enough.

    Raises:
        UnsupportedError: a density has several terms between two breaks.
        SizeError: more than `MAX_POINTS` breaks.
    """
    calculus, noise = bases.calculus, Noise(name, False, reals)
    flat = [[(*ends(z), terms) for z, terms in p.flat(calculus, f, noise).items()] for f in functions]
    cuts = sorted({c for f in flat for low, high, _ in f for c in (low, high) if c is not None})
    if len(cuts) > MAX_POINTS:
        raise SizeError(f"a density has more than {MAX_POINTS:,} breaks")
    edges: list[Number | None] = [None, *cuts, None]
    parts = [[_terms(f, Extent(name, *pair)) for f in flat] for pair in pairwise(edges)]
    for terms, outer in zip(parts, (True, *(False for _ in parts[2:]), True), strict=True):
        _check_monotone(terms, outer)
    found = []
    for cut, below, above in zip(cuts, parts[:-1], parts[1:], strict=True):
        left, right = ([p.at(calculus, t_, name, cut) for t_ in terms] for terms in (below, above))
        sides = [("at", left)] if left == right else [("just below", left), ("just above", right)]
        found += [Cell((Extent(name, cut, cut, s),), tuple(v)) for s, v in sides if any(v)]
    return found


def _check_monotone(terms: Sequence[Terms], outer: bool) -> None:
    """Checks that the ratio of any two densities is monotone, and constant beyond all breaks."""
    factors = {key.factors for inside in terms for key in inside}
    single = all(len(inside) <= 1 for inside in terms) and not any(f.power for fs in factors for f in fs)
    if not single or (outer and len(factors) > 1):
        raise UnsupportedError(
            "densities with several terms are not covered: each number needs noise of its own"
        )


def _terms(function: Sequence[Interval], extent: Extent) -> Terms:
    """Returns the terms of a function on an extent that no break cuts."""
    for low, high, terms in function:
        after = low is None or (extent.low is not None and low <= extent.low)
        if after and (high is None or (extent.high is not None and extent.high <= high)):
            return terms
    return {}


def _total(bases: Bases, terms: Terms, extent: Extent, noise: Noise) -> Terms:
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


def _fewer(found: Sequence[tuple[Hashable, Extent, list[Terms]]]) -> Iterator[Cell]:
    """Yields neighbours with the same ratios as one."""
    kept: tuple[Hashable, Extent, list[Terms]] | None = None
    for ratios, extent, totals in found:
        if kept is not None and kept[0] == ratios and kept[1].high == (extent.low or 0) - 1:
            both: list[Terms] = [t.plus(a, b) for a, b in zip(kept[2], totals, strict=True)]
            kept = ratios, Extent(extent.name, kept[1].low, extent.high), both
            continue
        if kept is not None:
            yield Cell((kept[1],), tuple(kept[2]))
        kept = ratios, extent, totals
    if kept is not None:
        yield Cell((kept[1],), tuple(kept[2]))
