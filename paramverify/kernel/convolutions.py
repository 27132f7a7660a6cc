"""Releases on a grid, convolved as whole numbers times 2^−bits.

*Upper bound.* An output with a loss between two points of the grid becomes two outputs at these points, with
the same masses together under P and under Q. For all y ≥ 0, max(0, 1 − e^ε·x·y) is convex in x = Q/P and does
not grow with x. So δ(ε) = E_P max(0, 1 − e^ε·x) does not get smaller, also not within a composition; nor if
masses under P are rounded up, or losses made larger.

*Lower bound.* Outputs get labels, and what is told is the sum of the labels: then δ(ε) is at least
Σ max(0, P_n − e^ε·Q_n), also with less for P and more for Q.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import log
from typing import TypeVar

from .release_losses import ExactLoss, ReleaseLosses
from .rounded_constants import BITS, UNIT, Ends, exp, product
from .strict_reading import Rejected

MOST_POINTS = 60_000  # of a product
MOST_PLACES = 2_000_000  # from the least loss of a release to the largest, before tails are cut off
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
    """The points n·step for all whole n."""

    def __init__(self, step: ExactLoss) -> None:
        self.step = step
        self.known: dict[int, Ends] = {}
        low, _ = step.ends()
        if low <= 0:
            raise Rejected("the step of the grid is not above 0")

    def at(self, n: int) -> Ends:
        """Returns bounds of a point."""
        if n not in self.known:
            self.known[n] = self.step.times(n).ends() if abs(n) < 5_000 else self._far(n)
        return self.known[n]

    def _far(self, n: int) -> Ends:
        low, high = self.step.ends()
        return (n * low, n * high) if n >= 0 else (n * high, n * low)

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
        size = self.step.ends()[1]
        i = ends[0] // size
        while self.at(i)[1] > ends[0]:
            i -= 1
        j = max(i + 1, ends[1] // size)
        while self.at(j)[0] < ends[1]:
            j += 1
        return i, j

    def fall(self, n: int) -> Ends:
        """Returns bounds of e^(−n·step)."""
        low, high = self.at(-n)
        return exp(low, high)


def _check_length(masses: Mapping[int, int]) -> None:
    if masses and max(masses) - min(masses) > MOST_PLACES:
        raise Rejected("the losses of a release are too far apart for the grid")


def _log(value: Fraction) -> float:
    return log(value.numerator) - log(value.denominator)


def parts(losses: ReleaseLosses, grid: LossGrid, span: tuple[int, int] | None) -> Iterator[IntervalMass]:
    """Yields the parts of a release; a density is cut at all points of a span.

    Raises:
        Rejected: there is a density and no span, or one without the other.
    """
    for atom in losses.atoms:
        place = grid.exactly(atom.loss) if isinstance(atom.loss, ExactLoss) else None
        if place is not None:
            yield IntervalMass(place, place, atom.mass, atom.other, (0, 0))
            continue
        ends = atom.ends()
        i, j = grid.around(ends)
        low, high = grid.at(i)
        gap = exp(low - ends[1], high - ends[0])  # e^(−(L − l_i))
        scaled = product(atom.mass[0], gap[0], False), product(atom.mass[1], gap[1], True)
        yield IntervalMass(i, j, atom.mass, atom.other, scaled)
    if (losses.over is None) != (span is None):
        raise Rejected("a density needs a span of the grid, and other releases have none")
    if losses.over is None or span is None:
        return
    if not 0 < span[1] - span[0] <= MOST_POINTS:
        raise Rejected("the span has no points, or too many")
    tails = [losses.over(grid.at(n)) for n in range(span[0], span[1] + 1)]
    for n, (more, less) in enumerate(pairwise(tails), span[0]):
        p, q = ((max(0, m[0] - x[1]), max(0, m[1] - x[0])) for m, x in zip(more, less, strict=True))
        grown = exp(*grid.at(n))
        yield IntervalMass(n, n + 1, p, q, (product(q[0], grown[0], False), product(q[1], grown[1], True)))


@dataclass(frozen=True)
class UpperMasses:
    """Masses P of the losses first, first + 1, ..., and of an infinite one, times 2^bits, rounded up."""

    first: int
    masses: list[int]
    infinite: int
    bits: int
    tail: int

    @staticmethod
    def of(
        losses: ReleaseLosses, grid: LossGrid, span: tuple[int, int] | None, bits: int, tail: int
    ) -> UpperMasses:
        """Returns a release whose outputs are spread to the points of the grid."""
        masses: dict[int, int] = {}
        for part in parts(losses, grid, span):
            if part.i == part.j:
                masses[part.i] = masses.get(part.i, 0) + part.p[1]
                continue
            low, high = grid.fall(part.j - part.i)
            # a + b = p and a + b·fall = scaled, for a at i and b at j
            a = part.scaled[1] - product(part.p[0], low, False)
            b = part.p[1] - part.scaled[0]
            for place, mass in ((part.i, a), (part.j, b)):
                share = -((-max(0, mass) << BITS) // (UNIT - high))
                masses[place] = masses.get(place, 0) + share
        infinite = losses.only[1] + losses.above[0]
        if losses.below[0]:  # at a point above the loss of an atom, they have a larger loss than before
            least = min(part.j for part in parts(replace(losses, over=None), grid, None))
            masses[least] = masses.get(least, 0) + losses.below[0]
        if span is not None and losses.over is not None:
            infinite += losses.over(grid.at(span[1]))[0][1]
            below = losses.whole[0][1] - losses.over(grid.at(span[0]))[0][0]
            masses[span[0]] = masses.get(span[0], 0) + max(0, below)
        down = BITS - bits
        first = min(masses, default=0)
        _check_length(masses)
        listed = [-(-masses.get(n, 0) >> down) for n in range(first, max(masses, default=-1) + 1)]
        return UpperMasses(first, listed, -(-infinite >> down), bits, tail).clipped()

    def clipped(self) -> UpperMasses:
        """Returns it without small tails: the upper one gets an infinite loss, the lower one goes up."""
        start, end = _kept(self.masses, 1 << max(GUARD, self.bits - self.tail))
        if not start and end == len(self.masses):
            return self
        kept = self.masses[start:end]
        if not kept:
            return replace(self, masses=[], infinite=self.infinite + sum(self.masses))
        kept[0] += sum(self.masses[:start])
        more = sum(self.masses[end:])
        return replace(self, first=self.first + start, masses=kept, infinite=self.infinite + more)

    def times(self, other: UpperMasses) -> UpperMasses:
        """Returns both releases together."""
        masses = [-(-m >> self.bits) for m in multiplied(self.masses, other.masses)]
        everything = sum(other.masses) + other.infinite
        infinite = -(-(self.infinite * everything + sum(self.masses) * other.infinite) >> self.bits)
        return replace(self, first=self.first + other.first, masses=masses, infinite=infinite).clipped()

    def delta(self, grid: LossGrid, epsilon: Ends) -> int:
        """Returns an upper bound of δ(ε), times 2^bits, for ε from a number on."""
        total = self.infinite
        for n, mass in enumerate(self.masses, self.first):
            low = epsilon[0] - grid.at(n)[1]
            if mass and low < 0:
                total += product(mass, UNIT - exp(low, low)[0], True)
        return total


@dataclass(frozen=True)
class LowerMasses:
    """Masses of the labels first, first + 1, ...: at most those under P, and at least those under Q.

    `only` is at most the mass under P of outputs that are impossible under Q.
    """

    first: int
    p: list[int]
    q: list[int]
    only: int
    bits: int
    tail: int

    @staticmethod
    def of(
        losses: ReleaseLosses, grid: LossGrid, span: tuple[int, int] | None, bits: int, tail: int
    ) -> LowerMasses:
        """Returns a release whose outputs have the point below their loss as their label."""
        sides: tuple[dict[int, int], dict[int, int]] = {}, {}
        for part in parts(losses, grid, span):
            sides[0][part.i] = sides[0].get(part.i, 0) + part.p[0]
            sides[1][part.i] = sides[1].get(part.i, 0) + part.q[1]
        _check_length(sides[0])
        places = range(min(sides[0], default=0), max(sides[0], default=-1) + 1)
        down = BITS - bits
        p = [sides[0].get(n, 0) >> down for n in places]
        q = [-(-sides[1].get(n, 0) >> down) for n in places]
        return LowerMasses(places.start, p, q, only=losses.only[0] >> down, bits=bits, tail=tail).clipped()

    def clipped(self) -> LowerMasses:
        """Returns it without outputs at both ends that are not likely under P."""
        start, end = _kept(self.p, 1 << max(GUARD, self.bits - self.tail))
        return replace(self, first=self.first + start, p=self.p[start:end], q=self.q[start:end])

    def times(self, other: LowerMasses) -> LowerMasses:
        """Returns both releases together."""
        p = [m >> self.bits for m in multiplied(self.p, other.p)]
        q = [-(-m >> self.bits) for m in multiplied(self.q, other.q)]
        only = (self.only * (sum(other.p) + other.only) + sum(self.p) * other.only) >> self.bits
        return replace(self, first=self.first + other.first, p=p, q=q, only=only).clipped()

    def delta(self, epsilon: Ends) -> int:
        """Returns a lower bound of δ(ε), times 2^bits, for ε up to a number."""
        grown = exp(epsilon[1], epsilon[1])[1]
        return self.only + sum(
            max(0, p - product(q, grown, True)) for p, q in zip(self.p, self.q, strict=True)
        )


Side = TypeVar("Side", UpperMasses, LowerMasses)


def power(side: Side, count: int) -> Side:
    """Returns a release that is made so many times, at least once."""
    found: Side | None = None
    while True:
        if count & 1:
            found = side if found is None else found.times(side)
        count >>= 1
        if not count:
            assert found is not None
            return found
        side = side.times(side)


def multiplied(left: Sequence[int], right: Sequence[int]) -> list[int]:
    """Returns the product of two polynomials with coefficients from 0 on, as one product of long numbers."""
    if not left or not right:
        return []
    size = len(left) + len(right) - 1
    if size > MOST_POINTS:
        raise Rejected("the grid has too many points")
    largest = max(left) * max(right) * min(len(left), len(right))
    width = largest.bit_length() // 8 + 1
    one, other = (
        int.from_bytes(b"".join(m.to_bytes(width, "little") for m in side), "little")
        for side in (left, right)
    )
    row = (one * other).to_bytes(width * size, "little")
    return [int.from_bytes(row[k : k + width], "little") for k in range(0, len(row), width)]


def _kept(masses: Sequence[int], most: int) -> tuple[int, int]:
    """Returns from where to where masses are kept, so that at most `most` is left out at each end."""
    counts = []
    for order in (masses, masses[::-1]):
        total, count = 0, 0
        for mass in order:
            total += mass
            if total > most:
                break
            count += 1
        counts.append(count)
    if counts[0] >= len(masses):
        return 0, 0
    return counts[0], len(masses) - counts[1]
