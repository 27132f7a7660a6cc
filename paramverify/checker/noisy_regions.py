"""How likely regions of noise without closed forms are, between two numbers: standard library only.

A region is a conjunction of inequalities between one or two independent noisy numbers. Some of them, at most
two, are its centres: without these no two others are compared. The values of a centre are cut into cells.
While the centres are in given cells, each other number lies between two ends that are known but for the
width of the cells, so its probability has bounds, and these multiply. The sum over all cells has bounds
that no rounding and no cut leaves out: the outermost cells have no end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from math import ceil, floor

from .logarithms import BITS, UNIT, Ends, times
from .noise import NoiseLaw, at_most, less_than
from .strict import Rejected

Form = tuple[tuple[int, Fraction], ...]  # slopes of variables
Limits = tuple[Fraction | None, Fraction | None]  # None: there is no end
Cells = tuple[Limits, ...]
Grid = tuple[NoiseLaw, Limits, int]  # a centre, between which ends, in how many cells
End = tuple[NoiseLaw, bool, Form, Fraction]  # of which number, whether above it, and the comparison
Known = tuple[Sequence[NoiseLaw], Sequence[Limits], int]

MAX_CELLS = 40_000_000  # of all regions of a document, pairs of cells of two centres included


@dataclass(frozen=True)
class NoisyPath:
    """One way through a program: its weight, the noise it draws, and the region that takes it."""

    weight: Fraction
    noise: tuple[NoiseLaw, ...]
    region: tuple[tuple[Form, Fraction], ...]  # each form is at most its number


@dataclass(frozen=True)
class CumulativeRow:
    """Bounds for the ends of a number on each cell of a centre: of Pr(≤ upper end) and Pr(< lower end)."""

    above: tuple[list[int], list[int]]
    below: tuple[list[int], list[int]]


class RegionEnclosures:
    """Bounds of probabilities, with so many cells of one centre, and of each of two."""

    def __init__(self, cells: tuple[int, int]) -> None:
        self.cells = cells
        self.work = 0
        self.known: dict[tuple[tuple[NoiseLaw, ...], tuple[tuple[Form, Fraction], ...]], Ends] = {}
        self.grids: dict[Grid, tuple[Cells, list[int], list[int]]] = {}
        self.ends: dict[tuple[End, Grid], tuple[list[int], list[int]]] = {}

    def chance(self, path: NoisyPath) -> Ends:
        """Returns bounds of weight · Pr(region), as whole numbers at 2^BITS.

        Raises:
            Rejected: the region is of another form, or that is too much work.
        """
        low, high = times(path.weight, UNIT, False), times(path.weight, UNIT, True)
        for variables, forms in _parts(path.region):
            order = {v: k for k, v in enumerate(variables)}
            own = tuple(sorted((tuple((order[v], s) for v, s in form), bound) for form, bound in forms))
            key = tuple(path.noise[v] for v in variables), own
            if key not in self.known:
                self.known[key] = self._part(*key)
            least, most = self.known[key]
            low, high = (low * least) >> BITS, -((-high * most) >> BITS)
        return low, high

    def _part(self, noise: tuple[NoiseLaw, ...], forms: tuple[tuple[Form, Fraction], ...]) -> Ends:
        limits = [_limits(kind, v, forms) for v, kind in enumerate(noise)]
        pairs = [(form, bound) for form, bound in forms if len(form) > 1]
        if any(len(form) > 2 for form, _ in pairs):
            raise Rejected("a region compares more than two noisy numbers at once")
        chosen = next(
            (
                chosen
                for size in range(3)
                for chosen in combinations(range(len(noise)), size)
                if all({v for v, _ in form} & set(chosen) for form, _ in pairs)
            ),
            None,
        )
        if chosen is None:
            raise Rejected("the noisy numbers of a region are compared in too many ways")
        if not chosen:
            return _mass(noise[0], limits[0])
        count = self.cells[len(chosen) - 1]
        self.work += count ** len(chosen) * len(noise)
        if self.work > MAX_CELLS:
            raise Rejected(f"the regions have more than {MAX_CELLS:,} cells")
        grids = [self._grid(noise[c], limits[c], count) for c in chosen]
        known = noise, limits, count
        leaves = [v for v in range(len(noise)) if v not in chosen]
        rows = [[self._row(v, c, pairs, known) for v in leaves] for c in chosen]
        if len(chosen) == 1:
            return _one(grids[0], rows[0])
        between = [(dict(form), bound) for form, bound in pairs if {v for v, _ in form} == set(chosen)]
        return _two(grids, rows, [((s[chosen[0]], s[chosen[1]]), bound) for s, bound in between])

    def _grid(self, noise: NoiseLaw, limits: Limits, count: int) -> tuple[Cells, list[int], list[int]]:
        """Returns the cells of a centre, with bounds of the mass of each."""
        key = noise, limits, count
        if key not in self.grids:
            cells = tuple(_cells(noise, limits, count))
            masses = [_mass(noise, cell) for cell in cells]
            self.grids[key] = cells, [low for low, _ in masses], [high for _, high in masses]
        return self.grids[key]

    def _row(
        self, v: int, centre: int, pairs: Sequence[tuple[Form, Fraction]], known: Known
    ) -> CumulativeRow:
        """Returns bounds of the ends of a number on each cell of a centre, its own limits included."""
        noise, limits, count = known
        low, high = limits[v]
        size = len(self._grid(noise[centre], limits[centre], count)[0])
        top = (UNIT, UNIT) if high is None else at_most(noise[v], high)
        bottom = (0, 0) if low is None else less_than(noise[v], low)
        above, below = ([top[0]] * size, [top[1]] * size), ([bottom[0]] * size, [bottom[1]] * size)
        for form, bound in pairs:
            slopes = dict(form)
            if slopes.keys() != {v, centre}:
                continue
            upper = slopes[v] > 0
            end = noise[v], upper, ((0, slopes[v]), (1, slopes[centre])), bound
            found = self._ends(end, (noise[centre], limits[centre], count))
            if upper:
                above = _each(min, above, found)
            else:
                below = _each(max, below, found)
        return CumulativeRow(above, below)

    def _ends(self, end: End, grid: Grid) -> tuple[list[int], list[int]]:
        """Returns bounds of Pr(≤ end), or of Pr(< end) for a lower end, on each cell of a centre."""
        if (end, grid) in self.ends:
            return self.ends[end, grid]
        noise, upper, ((_, own), (_, other)), bound = end
        below = at_most if upper else less_than
        lows, highs = [], []
        rising = (other < 0) == (own > 0)  # whether the end grows with the centre
        for cell in self._grid(*grid)[0]:
            first, last = cell if rising else cell[::-1]
            lows.append(0 if first is None else below(noise, (bound - other * first) / own)[0])
            highs.append(UNIT if last is None else below(noise, (bound - other * last) / own)[1])
        self.ends[end, grid] = lows, highs
        return lows, highs


def _each(
    best: Callable[[int, int], int], one: tuple[list[int], list[int]], other: tuple[list[int], list[int]]
) -> tuple[list[int], list[int]]:
    return [*map(best, one[0], other[0])], [*map(best, one[1], other[1])]


def _one(grid: tuple[Cells, list[int], list[int]], rows: Sequence[CumulativeRow]) -> Ends:
    """Returns the sum over all cells of one centre."""
    _, lows, highs = grid
    for row in rows:
        least = map(int.__sub__, row.above[0], row.below[1])
        most = map(int.__sub__, row.above[1], row.below[0])
        lows = [(m * p) >> BITS if p > 0 else 0 for m, p in zip(lows, least, strict=True)]
        highs = [-((-m * p) >> BITS) if p > 0 else 0 for m, p in zip(highs, most, strict=True)]
    return sum(lows), sum(highs)


def _two(
    grids: Sequence[tuple[Cells, list[int], list[int]]],
    rows: Sequence[Sequence[CumulativeRow]],
    between: Sequence[tuple[tuple[Fraction, Fraction], Fraction]],
) -> Ends:
    """Returns the sum over all pairs of cells of two centres, which may be compared with each other."""
    (cells, lows, highs), (others, least, most) = grids
    total = [0, 0]
    for i, cell in enumerate(cells):
        certain, possible = list(least), list(most)
        for slopes, bound in between:
            ends = [_range(slopes[0], cell)] * len(others), [_range(slopes[1], other) for other in others]
            for j, (own, its) in enumerate(zip(*ends, strict=True)):
                if own[1] is None or its[1] is None or own[1] + its[1] > bound:
                    certain[j] = 0
                if own[0] is not None and its[0] is not None and own[0] + its[0] > bound:
                    possible[j] = 0
        for one, two in zip(*rows, strict=True):
            above, below = (one.above[0][i], one.above[1][i]), (one.below[0][i], one.below[1][i])
            low = map(
                int.__sub__,
                (min(above[0], x) for x in two.above[0]),
                (max(below[1], x) for x in two.below[1]),
            )
            high = map(
                int.__sub__,
                (min(above[1], x) for x in two.above[1]),
                (max(below[0], x) for x in two.below[0]),
            )
            certain = [(m * p) >> BITS if p > 0 else 0 for m, p in zip(certain, low, strict=True)]
            possible = [-((-m * p) >> BITS) if p > 0 else 0 for m, p in zip(possible, high, strict=True)]
        total[0] += (sum(certain) * lows[i]) >> BITS
        total[1] -= (-sum(possible) * highs[i]) >> BITS
    return total[0], total[1]


def _range(slope: Fraction, cell: Limits) -> Limits:
    """Returns the least and the largest value of slope · x on a cell."""
    low, high = (None if end is None else slope * end for end in cell)
    return (low, high) if slope > 0 else (high, low)


def _mass(noise: NoiseLaw, cell: Limits) -> Ends:
    """Returns bounds of the mass between two ends, which both belong to it."""
    low, high = cell
    above = (UNIT, UNIT) if high is None else at_most(noise, high)
    below = (0, 0) if low is None else less_than(noise, low)
    return max(0, above[0] - below[1]), max(0, above[1] - below[0])


def _cells(noise: NoiseLaw, limits: Limits, count: int) -> Iterator[Limits]:
    """Yields the cells between two limits: all values, without a gap."""
    low, high = limits
    reach = noise.reach()
    first = -reach if low is None or low < -reach else low
    last = reach if high is None or high > reach else high
    if first >= last:
        yield low, high
        return
    step = Fraction(1) if noise.whole else Fraction(0)
    if low is None or low < first:
        yield low, first - step
    if noise.whole:
        for k in range(ceil(first), floor(last) + 1):
            yield Fraction(k), Fraction(k)
    else:
        places = [first + (last - first) * k / count for k in range(count + 1)]
        yield from pairwise(places)
    if high is None or high > last:
        yield last + step, high


def _limits(noise: NoiseLaw, v: int, forms: Sequence[tuple[Form, Fraction]]) -> Limits:
    """Returns the ends of a number that are numbers; whole ones of whole noise."""
    low: Fraction | None = None
    high: Fraction | None = None
    for form, bound in forms:
        if len(form) != 1 or form[0][0] != v:
            continue
        end = bound / form[0][1]
        if form[0][1] > 0:
            end = Fraction(floor(end)) if noise.whole else end
            high = end if high is None else min(high, end)
        else:
            end = Fraction(ceil(end)) if noise.whole else end
            low = end if low is None else max(low, end)
    return low, high


def _parts(region: Sequence[tuple[Form, Fraction]]) -> list[tuple[list[int], list[tuple[Form, Fraction]]]]:
    """Returns the parts of a region that share no variable, each with its variables."""
    parts: list[tuple[set[int], list[tuple[Form, Fraction]]]] = []
    for form, bound in region:
        names, joined = {v for v, _ in form}, [(form, bound)]
        apart = []
        for known, part in parts:
            if known & names:
                names, joined = names | known, [*part, *joined]
            else:
                apart.append((known, part))
        parts = [*apart, (names, joined)]
    return [(sorted(names), part) for names, part in parts]
