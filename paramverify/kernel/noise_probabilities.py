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
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, combinations, pairwise
from math import ceil, floor, isqrt
from typing import TypeVar

from .rounded_constants import BITS, UNIT, Ends, down, exp, product, times, up
from .strict_reading import Rejected

# --- the normal distribution ------------------------------------------------------------------------

FARTHEST = 40  # beyond it the mass is below e^(−x²/2) < 2^−BITS


# π lies between these digits, and the same with the last one larger by one.
PI = Fraction("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899")
# Bounds of √(π/2) as whole numbers at 2^BITS.
ROOT = isqrt(down(PI / 2) << BITS), isqrt(up((PI + Fraction(1, 10**80)) / 2) << BITS) + 1


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
    lows, highs = (list(accumulate(side)) for side in zip(*map(weight, places), strict=True))
    return places, lows, highs, 2 * weight(last + 1)[1]


# --- noisy regions ----------------------------------------------------------------------------------

Form = tuple[tuple[int, Fraction], ...]  # slopes of variables
Inequality = tuple[Form, Fraction]  # a form is at most its bound
Limits = tuple[Fraction | None, Fraction | None]  # None: there is no end
Bounds = tuple[list[int], list[int]]  # of one number for each cell
Law = TypeVar("Law", bound=Hashable)

MAX_CELLS = 40_000_000  # of all regions of a document, pairs of cells of two centres included


@dataclass(frozen=True)
class NoisyPath:
    """One way through a program: its weight, the noise it draws, and the region that takes it."""

    weight: Fraction
    noise: tuple[NoiseLaw, ...]
    region: tuple[Inequality, ...]


@dataclass(frozen=True, eq=False)
class Grid:
    """The cells of a centre, with bounds of the mass of each."""

    cells: Sequence[Limits]
    masses: Bounds


NOBODY = -1  # the number of a centre that is not there; it has one cell, which has all its mass
EVERYWHERE = Grid([(None, None)], ([UNIT], [UNIT]))


def independent(
    laws: Sequence[Law], region: Iterable[Inequality]
) -> Iterator[tuple[tuple[Law, ...], frozenset[Inequality]]]:
    """Yields the parts of a region that share no variable; the variables of each are numbered anew."""
    parts: list[tuple[set[int], list[Inequality]]] = []
    for form, bound in region:
        names, joined = {v for v, _ in form}, [(form, bound)]
        for known, part in parts:
            if known & names:
                names, joined = names | known, joined + part
        parts = [*((known, part) for known, part in parts if not known & names), (names, joined)]
    for names, part in parts:
        order = {v: k for k, v in enumerate(sorted(names))}
        own = ((tuple((order[v], slope) for v, slope in form), bound) for form, bound in part)
        yield tuple(laws[v] for v in order), frozenset(own)


class RegionEnclosures:
    """Bounds of probabilities, with so many cells of one centre, and of each of two."""

    def __init__(self, cells: tuple[int, int]) -> None:
        self.cells = cells
        self.work = 0
        self.known: dict[tuple[tuple[NoiseLaw, ...], frozenset[Inequality]], Ends] = {}
        self.grids: dict[tuple[NoiseLaw, Limits, int], Grid] = {}
        self.ends: dict[tuple[NoiseLaw, Fraction, Fraction, Fraction, Grid], Bounds] = {}

    def chance(self, path: NoisyPath) -> Ends:
        """Returns bounds of weight · Pr(region), as whole numbers at 2^BITS.

        Raises:
            Rejected: the region is of another form, or that is too much work.
        """
        low, high = times(path.weight, UNIT, False), times(path.weight, UNIT, True)
        for key in independent(path.noise, path.region):
            if key not in self.known:
                self.known[key] = self._part(*key)
            least, most = self.known[key]
            low, high = (low * least) >> BITS, -((-high * most) >> BITS)
        return low, high

    def _part(self, noise: tuple[NoiseLaw, ...], region: frozenset[Inequality]) -> Ends:
        pairs = [{v for v, _ in form} for form, _ in region if len(form) > 1]
        if any(len(pair) > 2 for pair in pairs):
            raise Rejected("a region compares more than two noisy numbers at once")
        every = (chosen for size in range(3) for chosen in combinations(range(len(noise)), size))
        chosen = next((chosen for chosen in every if all(pair & set(chosen) for pair in pairs)), None)
        if chosen is None:
            raise Rejected("the noisy numbers of a region are compared in too many ways")
        count = self.cells[len(chosen) - 1] if chosen else 0
        self.work += count ** len(chosen) * len(noise)
        if self.work > MAX_CELLS:
            raise Rejected(f"the regions have more than {MAX_CELLS:,} cells")
        centres = [NOBODY, NOBODY, *chosen][-2:]
        grids = [
            EVERYWHERE if c == NOBODY else self._grid(noise[c], _limits(noise[c], c, region), count)
            for c in centres
        ]
        others = [v for v in range(len(noise)) if v not in chosen]
        rows = [
            [self._row(noise[v], (v, c), grid, region) for c, grid in zip(centres, grids, strict=True)]
            for v in others
        ]
        between = [(dict(form), bound) for form, bound in region if {v for v, _ in form} == set(centres)]
        return _total(
            grids, rows, [((slopes[chosen[0]], slopes[chosen[1]]), bound) for slopes, bound in between]
        )

    def _grid(self, noise: NoiseLaw, limits: Limits, count: int) -> Grid:
        key = noise, limits, count
        if key not in self.grids:
            cells = _cells(noise, limits, count)
            masses = [_mass(noise, cell) for cell in cells]
            self.grids[key] = Grid(cells, ([low for low, _ in masses], [high for _, high in masses]))
        return self.grids[key]

    def _row(
        self, noise: NoiseLaw, of: tuple[int, int], grid: Grid, region: frozenset[Inequality]
    ) -> tuple[Bounds, Bounds]:
        """Returns bounds of Pr(≤ all upper ends) and of Pr(< some lower end) of a number, on each cell.

        `of` is the number and the centre: what compares the number with other centres is left out.
        """
        size = len(grid.cells)
        above, below = ([UNIT] * size, [UNIT] * size), ([0] * size, [0] * size)
        for form, bound in region:
            slopes = dict(form)
            if of[0] in slopes and slopes.keys() <= set(of):
                own, other = slopes[of[0]], slopes.get(of[1], Fraction(0))
                lows, highs = self._ends(noise, own, other, bound, grid)
                if own > 0:
                    above = [*map(min, above[0], lows)], [*map(min, above[1], highs)]
                else:
                    below = [*map(max, below[0], lows)], [*map(max, below[1], highs)]
        return above, below

    def _ends(self, noise: NoiseLaw, own: Fraction, other: Fraction, bound: Fraction, grid: Grid) -> Bounds:
        """Returns bounds of Pr(≤ end), or of Pr(< end) for a lower end, on each cell.

        The end is that of own·number + other·centre ≤ bound.
        """
        key = noise, own, other, bound, grid
        if key not in self.ends:
            below = at_most if own > 0 else less_than
            lows, highs = [], []
            for cell in grid.cells:
                low, high = _range(-other / own, cell)
                lows.append(0 if low is None else below(noise, bound / own + low)[0])
                highs.append(UNIT if high is None else below(noise, bound / own + high)[1])
            self.ends[key] = lows, highs
        return self.ends[key]


def _total(
    grids: Sequence[Grid],
    rows: Sequence[Sequence[tuple[Bounds, Bounds]]],
    between: Sequence[tuple[tuple[Fraction, Fraction], Fraction]],
) -> Ends:
    """Returns the sum over all pairs of cells of two centres, which may be compared with each other."""
    one, two = grids
    total = [0, 0]
    for i, cell in enumerate(one.cells):
        certain, possible = list(two.masses[0]), list(two.masses[1])
        for slopes, bound in between:
            low, high = _range(slopes[0], cell)
            for j, other in enumerate(two.cells):
                least, most = _range(slopes[1], other)
                if high is None or most is None or high + most > bound:
                    certain[j] = 0
                if low is not None and least is not None and low + least > bound:
                    possible[j] = 0
        for (above, below), (upper, lower) in rows:
            a, b, c, d = above[0][i], below[1][i], above[1][i], below[0][i]
            ends = zip(certain, upper[0], lower[1], strict=True)
            certain = [m * max(0, (u if u < a else a) - (w if w > b else b)) >> BITS for m, u, w in ends]
            ends = zip(possible, upper[1], lower[0], strict=True)
            possible = [-(-m * max(0, (u if u < c else c) - (w if w > d else d)) >> BITS) for m, u, w in ends]
        total[0] += (sum(certain) * one.masses[0][i]) >> BITS
        total[1] -= (-sum(possible) * one.masses[1][i]) >> BITS
    return total[0], total[1]


def _range(slope: Fraction, cell: Limits) -> Limits:
    """Returns the least and the largest value of slope · x on a cell."""
    if not slope:
        return slope, slope
    low, high = (None if end is None else slope * end for end in cell)
    return (low, high) if slope > 0 else (high, low)


def _mass(noise: NoiseLaw, cell: Limits) -> Ends:
    """Returns bounds of the mass between two ends, which both belong to it."""
    low, high = cell
    above = (UNIT, UNIT) if high is None else at_most(noise, high)
    below = (0, 0) if low is None else less_than(noise, low)
    return max(0, above[0] - below[1]), max(0, above[1] - below[0])


def _cells(noise: NoiseLaw, limits: Limits, count: int) -> list[Limits]:
    """Returns the cells between two limits: all values, without a gap."""
    (low, high), reach = limits, noise.reach()
    first = -reach if low is None else max(low, -reach)
    last = reach if high is None else min(high, reach)
    if first >= last:
        return [limits]
    step = Fraction(1) if noise.whole else Fraction(0)
    cells: list[Limits] = [(low, first - step)] if low != first else []
    if noise.whole:
        cells += [(Fraction(k), Fraction(k)) for k in range(int(first), int(last) + 1)]
    else:
        cells += pairwise(first + (last - first) * k / count for k in range(count + 1))
    return [*cells, (last + step, high)] if high != last else cells


def _limits(noise: NoiseLaw, v: int, region: Iterable[Inequality]) -> Limits:
    """Returns the ends of a number that are numbers; whole ones of whole noise."""
    ends = [(bound / form[0][1], form[0][1] > 0) for form, bound in region if {w for w, _ in form} == {v}]
    low = max((end for end, upper in ends if not upper), default=None)
    high = min((end for end, upper in ends if upper), default=None)
    if noise.whole:
        low = None if low is None else Fraction(ceil(low))
        high = None if high is None else Fraction(floor(high))
    return low, high
