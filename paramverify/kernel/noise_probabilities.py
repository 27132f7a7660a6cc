"""How likely noise without closed forms is, and regions of it: between two numbers, with proved rounding.

Single numbers come first: the mass of the normal distribution, and of other laws, below a number.

A region is a conjunction of inequalities between one or two independent noisy numbers. Some of the numbers,
at most two, are its centres: every inequality between two numbers has a centre in it. The values of each
centre, between its own limits if the region has such, are cut into cells without a gap; if there is no limit,
the outermost cell is unbounded. While the centres are in given cells, each other number lies between two ends
that are known but for the width of the cells, so its probability has bounds, and these multiply, because
given the centres the other numbers are independent. The sums over all cells of the lower and of the upper
bounds, all rounded outwards, enclose the probability.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise
from math import ceil, floor, isqrt

from .rounded_constants import BITS, UNIT, Ends, down, exp, product, times, up
from .strict_reading import Rejected

# --- the normal distribution ------------------------------------------------------------------------

FARTHEST = 40  # beyond it the mass is below e^(−x²/2) < 2^−BITS


def _arctan(n: int) -> Ends:
    """Returns bounds of arctan(1/n) for n ≥ 2: an alternating series whose terms fall."""
    low, high, power, j = 0, 0, UNIT // n, 0
    above = -(-UNIT // n)
    while above > 1:
        least, most = power // (2 * j + 1), -(-above // (2 * j + 1))
        low, high = (low + least, high + most) if j % 2 == 0 else (low - most, high - least)
        power, above, j = power // (n * n), -(-above // (n * n)), j + 1
    return low - 1, high + 1


def _root_of_half_pi() -> Ends:
    """Returns bounds of √(π/2): π/2 = 8·arctan(1/5) − 2·arctan(1/239)."""
    one, other = _arctan(5), _arctan(239)
    half = 8 * one[0] - 2 * other[1], 8 * one[1] - 2 * other[0]
    return isqrt(half[0] << BITS), isqrt(half[1] << BITS) + 1


ROOT = _root_of_half_pi()


@lru_cache(maxsize=50_000)
def above_normal(x: Fraction) -> Ends:
    """Returns bounds of the mass of the standard normal distribution above x.

    For x ≥ 0 it is ½ − φ(x)·S with S = Σ x^(2n+1)/(1·3·5···(2n+1)), and φ(x) = e^(−x²/2)/√(2π). A term is
    x²/(2n+1) times that before it. Once that is at most ½, the rest is at most twice its first term.
    """
    if x < 0:
        low, high = above_normal(-x)
        return UNIT - high, UNIT - low
    # The mass above x falls, so both ends of a near number with few digits bound it.
    least, most = (x.numerator << BITS) // x.denominator, -((-x.numerator << BITS) // x.denominator)
    if x > FARTHEST:
        return 0, 1
    squared = x * x / 2
    grown = exp(down(squared), up(squared))
    # φ(x)·S = S/(2·√(π/2)·e^(x²/2)), with small relative errors
    below = (_series(least, False) << 2 * BITS) // (2 * ROOT[1] * grown[1])
    above = -((-_series(most, True) << 2 * BITS) // (2 * ROOT[0] * grown[0]))
    return max(0, (UNIT >> 1) - above), max(0, (UNIT >> 1) - below)


def _series(x: int, upwards: bool) -> int:
    squared = product(x, x, upwards)
    total, term, n = 0, x, 0
    while True:
        total += term
        n += 1
        term = product(term, squared, upwards)
        term = -(-term // (2 * n + 1)) if upwards else term // (2 * n + 1)
        if term <= 1 and 2 * squared <= (2 * n + 1) << BITS:
            return total + (2 * term if upwards else 0)


# --- noise ------------------------------------------------------------------------------------------

WHOLE = ("geometric", "one_sided_geometric", "discrete_gaussian")
KINDS = ("gauss", "laplace", "exponential", *WHOLE)
LARGEST = 40  # standard deviation of discrete Gaussian noise, whose weights are listed
FAR = 17  # standard deviations beyond which a Gaussian weight is below 2^−192: e^(−17²/2) < 2^−208


@dataclass(frozen=True)
class NoiseLaw:
    """A distribution: its kind, and its standard deviation, its scale, or the ratio of its weights."""

    kind: str
    number: Fraction

    @property
    def whole(self) -> bool:
        """Whether its values are whole numbers."""
        return self.kind in WHOLE

    def reach(self) -> Fraction:
        """Returns a number beyond which there is little on either side; nothing rests on how little."""
        if self.kind in ("gauss", "discrete_gaussian"):
            return Fraction(ceil(6 * self.number))
        if not self.whole:
            return 16 * self.number
        return Fraction(min(2_000, ceil(16 / (1 - self.number))))


def check_noise(noise: NoiseLaw) -> None:
    """Checks that a distribution is one.

    Raises:
        Rejected: its number is out of range.
    """
    if noise.number <= 0 or ("geometric" in noise.kind and noise.number >= 1):
        raise Rejected(f"there is no {noise.kind} noise with this number")
    if noise.kind == "discrete_gaussian" and noise.number > LARGEST:
        raise Rejected(f"discrete Gaussian noise of a standard deviation above {LARGEST}")


@lru_cache(maxsize=200_000)
def at_most(noise: NoiseLaw, x: Fraction) -> Ends:
    """Returns bounds of Pr(noise ≤ x), as whole numbers at 2^BITS."""
    if noise.kind == "gauss":
        low, high = above_normal(x / noise.number)
        return UNIT - high, UNIT - low
    if noise.kind == "discrete_gaussian":
        return _discrete(noise.number, floor(x))
    if noise.whole:
        return _geometric(noise, floor(x))
    two_sided = noise.kind == "laplace"
    if x < 0 and not two_sided:
        return 0, 0
    far = -abs(x) / noise.number
    low, high = exp(down(far), up(far))
    if two_sided:
        low, high = low >> 1, -(-high >> 1)
    return (low, high) if x < 0 else (UNIT - high, UNIT - low)


def less_than(noise: NoiseLaw, x: Fraction) -> Ends:
    """Returns bounds of Pr(noise < x)."""
    return at_most(noise, Fraction(ceil(x) - 1) if noise.whole else x)


def _geometric(noise: NoiseLaw, k: int) -> Ends:
    """Returns bounds of Pr(noise ≤ k) for weights in proportion to ratio^|k|, on one side or on both."""
    ratio, below = noise.number, Fraction(0)
    if noise.kind == "geometric":
        below = ratio ** max(0, -k) / (1 + ratio)
        value = below if k < 0 else 1 - ratio ** (k + 1) / (1 + ratio)
    else:
        value = 1 - ratio ** (k + 1) if k >= 0 else below
    return down(value), up(value)


def _discrete(sigma: Fraction, k: int) -> Ends:
    """Returns bounds of Pr(noise ≤ k) for weights in proportion to exp(−k²/(2σ²))."""
    places, lows, highs, rest = _weights(sigma)
    # All weights are at least the listed ones, and at most those with the rest on both sides.
    count = bisect_right(places, k)
    total = lows[-1], highs[-1] + 2 * rest
    least, most = (lows[count - 1], highs[count - 1]) if count else (0, 0)
    if count == len(places):  # what is above k is a part of the rest on the right
        return UNIT - -(-(rest << BITS) // total[0]) - 1, UNIT
    return (least << BITS) // total[1], min(UNIT, -(-((most + rest) << BITS) // total[0]))


@lru_cache(maxsize=64)
def _weights(sigma: Fraction) -> tuple[list[int], list[int], list[int], int]:
    """Returns whole numbers in ascending order, bounds of the sums of weights up to each, and of the rest.

    The rest on one side is at most the first weight left out over 1 − r, where r = exp(−(2K + 3)/(2σ²)) is at
    least each quotient of neighbouring weights there; K ≥ σ² makes r ≤ e^(−1) < 1/2.
    """
    last = ceil(max(FAR * sigma, sigma * sigma))

    def weight(k: int) -> Ends:
        power = -Fraction(k * k) / (2 * sigma * sigma)
        return exp(down(power), up(power))

    places = list(range(-last, last + 1))
    lows, highs, low, high = list[int](), list[int](), 0, 0
    for k in places:
        own = weight(k)
        low, high = low + own[0], high + own[1]
        lows.append(low)
        highs.append(high)
    return places, lows, highs, 2 * weight(last + 1)[1]


# --- noisy regions ----------------------------------------------------------------------------------

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
