"""Releases on a grid, convolved as whole numbers times 2^−bits.

*Upper bound.* An output with a loss between two points of the grid becomes two outputs at these points, with
the same masses together under P and under Q. For all y ≥ 0, max(0, 1 − e^ε·x·y) is convex in x = Q/P and does
not grow with x. So δ(ε) = E_P max(0, 1 − e^ε·x) does not get smaller, also not within a composition; nor if
masses under P are rounded up, or losses made larger.

*Lower bound.* Outputs get labels, and what is told is the sum of the labels: then δ(ε) is at least
Σ max(0, P_n − e^ε·Q_n), also with less for P and more for Q.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, pairwise
from math import log
from typing import TypeVar

from .release_losses import NOTHING, ExactLoss, ReleaseLosses
from .rounded_constants import BITS, UNIT, Ends, exp, product
from .strict_reading import Rejected

MOST_POINTS = 60_000  # of a product
MOST_PLACES = 2_000_000  # from the least loss of a release to the largest, before tails are cut off
NEAR = 5_000  # points that are computed one by one
GUARD = 24  # bits of a tail that is always clipped


@dataclass(frozen=True)
class IntervalMass:
    """Outputs between the points i and j: masses under P and Q, and that under Q times e^(i·step)."""

    i: int
    j: int
    p: Ends
    q: Ends
    scaled: Ends


class LossGrid:
    """The points n·step for all whole n. Masses are told in 2^−bits, and tails below 2^−tail are clipped."""

    def __init__(self, step: ExactLoss, bits: int, tail: int) -> None:
        self.step, self.bits, self.tail = step, bits, tail
        self.known: dict[int, Ends] = {}
        low, _ = step.ends()
        if low <= 0:
            raise Rejected("the step of the grid is not above 0")

    def at(self, n: int) -> Ends:
        """Returns bounds of a point."""
        if n not in self.known:
            near = abs(n) < NEAR
            low, high = self.step.times(n).ends() if near else sorted(n * end for end in self.step.ends())
            self.known[n] = low, high
        return self.known[n]

    def exactly(self, loss: ExactLoss) -> int | None:
        """Returns n with loss = n·step, if that is known."""
        if loss == ExactLoss():
            return 0
        if self.step.ratio == 1 == loss.ratio:
            place = loss.rational / self.step.rational
            return int(place) if place.denominator == 1 else None
        if self.step.rational or loss.rational:
            return None
        near = round(_log(loss.ratio) / _log(self.step.ratio))
        return near if self.step.ratio**near == loss.ratio else None

    def around(self, ends: Ends) -> tuple[int, int]:
        """Returns i < j with points below and above a number."""
        i = ends[0] // self.step.ends()[1]
        while self.at(i)[1] > ends[0]:
            i -= 1
        j = i + 1
        while self.at(j)[0] < ends[1]:
            j += 1
        return i, j

    def kept(self, masses: Sequence[int]) -> tuple[int, int]:
        """Returns from where to where masses are kept, so that little is left out at each end."""
        most = 1 << max(GUARD, self.bits - self.tail)
        counts = [sum(total <= most for total in accumulate(order)) for order in (masses, masses[::-1])]
        return (counts[0], len(masses) - counts[1]) if sum(counts) < len(masses) else (0, 0)


def _places(masses: Mapping[int, int]) -> range:
    """Returns all places from the first to the last of masses."""
    places = range(min(masses, default=0), max(masses, default=-1) + 1)
    if len(places) > MOST_PLACES:
        raise Rejected("the losses of a release are too far apart for the grid")
    return places


def _log(value: Fraction) -> float:
    return log(value.numerator) - log(value.denominator)


def parts(losses: ReleaseLosses, grid: LossGrid, span: tuple[int, int] | None) -> Iterator[IntervalMass]:
    """Yields the parts of a release; a density is cut at all points of a span.

    Raises:
        Rejected: there is a density and no span, or one without the other.
    """
    yield from atoms(losses, grid)
    if (losses.whole == NOTHING) != (span is None):
        raise Rejected("only a density has a span of the grid, and it needs one")
    if span is None:
        return
    if not 0 < span[1] - span[0] <= MOST_POINTS:
        raise Rejected("the span has no points, or too many")
    tails = [losses.over(grid.at(n)) for n in range(span[0], span[1] + 1)]
    for n, (more, less) in enumerate(pairwise(tails), span[0]):
        p, q = ((max(0, m[0] - x[1]), max(0, m[1] - x[0])) for m, x in zip(more, less, strict=True))
        grown = exp(*grid.at(n))
        yield IntervalMass(n, n + 1, p, q, (product(q[0], grown[0], False), product(q[1], grown[1], True)))


def atoms(losses: ReleaseLosses, grid: LossGrid) -> Iterator[IntervalMass]:
    """Yields the parts of a release that have one loss."""
    for atom in losses.atoms:
        place = grid.exactly(atom.loss) if isinstance(atom.loss, ExactLoss) else None
        if place is not None:
            yield IntervalMass(place, place, atom.mass, atom.other, atom.mass)
            continue
        ends = atom.ends()
        i, j = grid.around(ends)
        low, high = grid.at(i)
        gap = exp(low - ends[1], high - ends[0])  # e^(−(L − l_i))
        scaled = product(atom.mass[0], gap[0], False), product(atom.mass[1], gap[1], True)
        yield IntervalMass(i, j, atom.mass, atom.other, scaled)


@dataclass(frozen=True)
class UpperMasses:
    """Masses P of the losses first, first + 1, ..., and of an infinite one, times 2^bits, rounded up."""

    first: int
    masses: list[int]
    infinite: int
    grid: LossGrid

    @staticmethod
    def of(losses: ReleaseLosses, grid: LossGrid, span: tuple[int, int] | None) -> UpperMasses:
        """Returns a release whose outputs are spread to the points of the grid."""
        masses: dict[int, int] = {}
        for part in parts(losses, grid, span):
            if part.i == part.j:
                masses[part.i] = masses.get(part.i, 0) + part.p[1]
                continue
            low, high = exp(*grid.at(part.i - part.j))
            # a + b = p and a + b·e^((i−j)·step) = scaled, for a at i and b at j
            a = part.scaled[1] - product(part.p[0], low, False)
            b = part.p[1] - part.scaled[0]
            for place, mass in ((part.i, a), (part.j, b)):
                share = -((-max(0, mass) << BITS) // (UNIT - high))
                masses[place] = masses.get(place, 0) + share
        infinite = losses.only[1] + losses.above[0]
        if losses.below[0]:  # at a point above the loss of an atom, they have a larger loss than before
            least = min(part.j for part in atoms(losses, grid))
            masses[least] += losses.below[0]
        if span is not None:
            infinite += losses.over(grid.at(span[1]))[0][1]
            masses[span[0]] += losses.whole[0][1] - losses.over(grid.at(span[0]))[0][0]
        places, down = _places(masses), BITS - grid.bits
        listed = [-(-masses.get(n, 0) >> down) for n in places]
        return UpperMasses(places.start, listed, -(-infinite >> down), grid).clipped()

    def clipped(self) -> UpperMasses:
        """Returns it without small tails: the upper one gets an infinite loss, the lower one goes up."""
        start, end = self.grid.kept(self.masses)
        kept, infinite = self.masses[start:end], self.infinite + sum(self.masses[end:])
        if kept:
            kept[0] += sum(self.masses[:start])
        return replace(self, first=self.first + start, masses=kept, infinite=infinite)

    def times(self, other: UpperMasses) -> UpperMasses:
        """Returns both releases together."""
        bits = self.grid.bits
        masses = [-(-m >> bits) for m in multiplied(self.masses, other.masses)]
        everything = sum(other.masses) + other.infinite
        infinite = -(-(self.infinite * everything + sum(self.masses) * other.infinite) >> bits)
        return replace(self, first=self.first + other.first, masses=masses, infinite=infinite).clipped()

    def delta(self, epsilon: Ends) -> Fraction:
        """Returns an upper bound of δ(ε), for ε from a number on."""
        total = self.infinite
        for n, mass in enumerate(self.masses, self.first):
            low = epsilon[0] - self.grid.at(n)[1]
            if mass and low < 0:
                total += product(mass, UNIT - exp(low, low)[0], True)
        return Fraction(total, 1 << self.grid.bits)


@dataclass(frozen=True)
class LowerMasses:
    """Masses of the labels first, first + 1, ...: at most those under P, and at least those under Q.

    `only` is at most the mass under P of outputs that are impossible under Q.
    """

    first: int
    p: list[int]
    q: list[int]
    only: int
    grid: LossGrid

    @staticmethod
    def of(losses: ReleaseLosses, grid: LossGrid, span: tuple[int, int] | None) -> LowerMasses:
        """Returns a release whose outputs have the point below their loss as their label."""
        sides: tuple[dict[int, int], dict[int, int]] = {}, {}
        for part in parts(losses, grid, span):
            sides[0][part.i] = sides[0].get(part.i, 0) + part.p[0]
            sides[1][part.i] = sides[1].get(part.i, 0) + part.q[1]
        places, down = _places(sides[0]), BITS - grid.bits
        p = [sides[0].get(n, 0) >> down for n in places]
        q = [-(-sides[1].get(n, 0) >> down) for n in places]
        return LowerMasses(places.start, p, q, losses.only[0] >> down, grid).clipped()

    def clipped(self) -> LowerMasses:
        """Returns it without outputs at both ends that are not likely under P."""
        start, end = self.grid.kept(self.p)
        return replace(self, first=self.first + start, p=self.p[start:end], q=self.q[start:end])

    def times(self, other: LowerMasses) -> LowerMasses:
        """Returns both releases together."""
        bits = self.grid.bits
        p = [m >> bits for m in multiplied(self.p, other.p)]
        q = [-(-m >> bits) for m in multiplied(self.q, other.q)]
        only = (self.only * (sum(other.p) + other.only) + sum(self.p) * other.only) >> bits
        return replace(self, first=self.first + other.first, p=p, q=q, only=only).clipped()

    def delta(self, epsilon: Ends) -> Fraction:
        """Returns a lower bound of δ(ε), for ε up to a number."""
        grown = exp(epsilon[1], epsilon[1])[1]
        parts = (max(0, p - product(q, grown, True)) for p, q in zip(self.p, self.q, strict=True))
        return Fraction(self.only + sum(parts), 1 << self.grid.bits)


Each = TypeVar("Each")


def power(each: Each, count: int, times: Callable[[Each, Each], Each]) -> Each:
    """Returns the product of so many equal things, at least one, by squaring."""
    found: Each | None = None
    while True:
        if count & 1:
            found = each if found is None else times(found, each)
        count >>= 1
        if not count:
            assert found is not None
            return found
        each = times(each, each)


def multiplied(left: Sequence[int], right: Sequence[int]) -> list[int]:
    """Returns the product of two polynomials with coefficients from 0 on, as one product of long numbers."""
    if not left or not right:
        return []
    size = len(left) + len(right) - 1
    if size > MOST_POINTS:
        raise Rejected("the grid has too many points")
    largest = max(left) * max(right) * len(left)
    width = largest.bit_length() // 8 + 1
    one, other = (
        int.from_bytes(b"".join(m.to_bytes(width, "little") for m in side), "little")
        for side in (left, right)
    )
    row = (one * other).to_bytes(width * size, "little")
    return [int.from_bytes(row[k : k + width], "little") for k in range(0, len(row), width)]
