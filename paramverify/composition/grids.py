"""Losses on a grid: each release becomes masses between points l_i = i·h of the grid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from itertools import pairwise
from math import gcd, lcm, log2

from flint import arb, ctx

from paramverify.composition.losses import NOTHING, ZERO, Atom, Loss, Losses, Masses, Smooth, ball
from paramverify.errors import LimitError

COMMON = 60  # steps after which two numbers are taken to have no common root
DIGITS = 400  # bits of a common root
WIDEST = 4_000_000  # points of a grid that one release may reach
LONGEST = 16  # parts of 1 that the longest part has at least


@dataclass(frozen=True)
class Grid:
    """The points i·h for all whole i; `step` is h > 0, exactly."""

    step: Loss

    @cached_property
    def _precise(self) -> dict[int, arb]:
        return {}

    def ball(self, i: int) -> arb:
        """Returns a ball around l_i, at the working precision."""
        bits = ctx.prec
        if bits not in self._precise:
            self._precise[bits] = self.step.ball()
        return self._precise[bits] * i

    def place(self, loss: Loss | arb) -> tuple[int, int]:
        """Returns (i, j) with l_i ≤ loss ≤ l_j; i = j where it is known to be a point of the grid.

        Else j = i + 1, or i + 2 where the ball of the loss has a point of the grid in it.
        """
        if isinstance(loss, Loss):
            if loss == ZERO:
                return 0, 0
            found = self._exactly(loss)
            if found is not None:
                return found
            loss = loss.ball()
        place = loss / self.ball(1)
        low, high = place.lower().floor().unique_fmpz(), place.upper().floor().unique_fmpz()
        if low is None or high is None:
            raise LimitError("a loss is too large for this precision")
        return int(low), int(high) + 1

    def _exactly(self, loss: Loss) -> tuple[int, int] | None:
        if self.step.ratio == 1 and loss.ratio == 1:
            place = loss.rational / self.step.rational
            low = place.numerator // place.denominator
            return low, low + (place != low)
        if not self.step.rational and not loss.rational:
            power = root_power(loss.ratio, self.step.ratio)
            if power is not None:
                return power, power
        return None


def lattice(releases: Iterable[Losses]) -> Grid | None:
    """Returns the coarsest grid of which all losses are points, if all are known exactly and it is found."""
    found: list[Loss] = []
    for losses in releases:
        if losses.smooth is not None:
            return None
        for atom in losses.atoms:
            if not isinstance(atom.loss, Loss):
                return None
            if atom.loss != ZERO:
                found.append(atom.loss)
    if not found:
        return Grid(Loss(Fraction(1)))
    if all(loss.ratio == 1 for loss in found):
        bottom = reduce(lcm, (loss.rational.denominator for loss in found))
        return Grid(Loss(Fraction(gcd(*(int(loss.rational * bottom) for loss in found)), bottom)))
    if all(not loss.rational for loss in found):
        root: Fraction | None = max(found[0].ratio, 1 / found[0].ratio)
        for loss in {max(loss.ratio, 1 / loss.ratio) for loss in found}:
            root = common_root(root, loss) if root is not None else None
        return None if root is None else Grid(Loss(ratio=root))
    return None


def common_root(first: Fraction, second: Fraction) -> Fraction | None:
    """Returns the largest number of which two numbers above 1 are whole powers, by Euclid's algorithm."""
    for _ in range(COMMON):
        if first < second:
            first, second = second, first
        if second == 1:
            return first
        first /= second
        if first.numerator.bit_length() > DIGITS:
            return None
    return None


def root_power(value: Fraction, root: Fraction) -> int | None:
    """Returns n with root^n = value, for a root above 1, if there is one."""
    size = [log2(x.numerator) - log2(x.denominator) for x in (value, root)]
    near = round(size[0] / size[1]) if size[1] else 0
    bits = max(root.numerator.bit_length(), root.denominator.bit_length()) * abs(near)
    most = value.numerator.bit_length() + value.denominator.bit_length() + abs(near)
    return near if bits <= 2 * most and root**near == value else None


@dataclass(frozen=True)
class GridMass:
    """Masses of outputs whose losses are from l_i to l_j."""

    i: int
    j: int
    masses: Masses


@dataclass(frozen=True)
class Cells:
    """A release on a grid: parts with their masses, and the masses P of what is not on it.

    `only` is the mass of outputs that are impossible under Q. `above` bounds the mass of outputs of which no
    loss is known. Each of `below` has a point, and a bound of the mass of outputs with smaller losses.
    """

    grid: Grid
    parts: tuple[GridMass, ...]
    only: arb
    above: arb
    below: tuple[tuple[int, arb], ...]


def cells_of(losses: Losses, grid: Grid, tail: int, rough: Fraction = Fraction(0)) -> Cells:
    """Returns a release on a grid; what has a density is cut where its masses are about 2^−tail.

    Where the mass beyond a place is below `rough`, its parts are longer than one step.

    Raises:
        LimitError: the release has more than `WIDEST` points.
    """
    parts = list(_of_atoms(losses.atoms, grid))
    above = losses.above[0]
    # A point that is not below the loss of an atom makes no loss of what is below all atoms smaller.
    below = [(min((part.j for part in parts), default=0), losses.below[0])]
    if losses.smooth is not None:
        ends = _Ends(losses.smooth, grid, rough)
        low, high = losses.smooth.span(tail)
        edges = ends.between(grid.place(low)[0], grid.place(high)[1])
        tails = [losses.smooth.over(grid.ball(i)) for i in edges]
        for (i, more), (j, less) in pairwise(zip(edges, tails, strict=True)):
            parts.append(GridMass(i, j, (more[0] - less[0], more[1] - less[1])))
        above += tails[-1][0]
        below.append((edges[0], losses.smooth.under(grid.ball(edges[0]))[0]))
    return Cells(grid, tuple(parts), losses.only[0], above, tuple(below))


@dataclass(frozen=True)
class _Ends:
    """Chooses where a part with a density is cut: at each point, and less often where little is beyond."""

    smooth: Smooth
    grid: Grid
    rough: Fraction

    def between(self, first: int, last: int) -> list[int]:
        """Returns points of the grid from the first to the last one."""
        if last - first > WIDEST:
            raise LimitError("the grid has too many points")
        if not self.rough:
            return list(range(first, last + 1))
        longest = max(1, int(1 / (LONGEST * float(self.grid.ball(1)))))
        low, high = [first], [last]
        for ends, sign in ((low, 1), (high, -1)):
            while high[-1] > low[-1]:
                room = min(high[-1] - low[-1], longest)
                step = min(self._step(ends[-1], sign), room)
                while step > 1 and self._step(ends[-1] + sign * step, sign) < step:
                    step //= 2
                if step <= 1:
                    break
                ends.append(ends[-1] + sign * step)
        return low + list(range(low[-1] + 1, high[-1])) + [end for end in high[::-1] if end != low[-1]]

    def _step(self, i: int, sign: int) -> int:
        """Returns how many steps a part may have whose larger mass beyond is that at i."""
        place = self.grid.ball(i)
        beyond = self.smooth.under(place) if sign > 0 else self.smooth.over(place)
        share = float(beyond[0] / ball(self.rough))
        return WIDEST if share <= 0 else max(1, int(share**-0.5))


def _of_atoms(atoms: Iterable[Atom], grid: Grid) -> Iterator[GridMass]:
    """Yields the parts of atoms, those of one place as one."""
    found: dict[tuple[int, int], Masses] = {}
    for atom in atoms:
        place = grid.place(atom.loss)
        p, q = found.get(place, NOTHING)
        found[place] = p + atom.masses[0], q + atom.masses[1]
    for (i, j), masses in found.items():
        yield GridMass(i, j, masses)
