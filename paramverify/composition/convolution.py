"""Masses as whole numbers times 2^−bits: rounded up for upper bounds, down for lower ones, and convolved.

Products of whole polynomials are exact (python-flint); only what is below 2^−bits is rounded after each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from flint import arb, fmpz, fmpz_poly

from paramverify.composition.grids import Cells
from paramverify.errors import LimitError

LEAST = 24  # bits of the mass of a tail, as a whole number, up to which it is always clipped
LONGEST = 6_000_000  # points of a product

Whole = list[fmpz]


@dataclass(frozen=True)
class Upper:
    """Masses P of the losses l_first, l_(first+1), ..., and of an infinite loss: together an upper bound.

    Each is at least the mass in a release that dominates the one it is about, times 2^bits. Tails are clipped
    where their mass is about 2^−tail.
    """

    first: int
    masses: Whole
    infinite: fmpz
    bits: int
    tail: int

    @staticmethod
    def of(cells: Cells, bits: int, tail: int) -> Upper:
        """Returns a release on a grid with its masses spread to the points of the grid, and rounded up.

        A part with masses p and q between l_i and l_j becomes masses a under P at l_i and b at l_j with
        a + b = p and a·e^(−l_i) + b·e^(−l_j) = q, so that nothing else changes. What is above the grid gets
        an infinite loss, what is below a point the loss of this point.
        """
        masses: dict[int, arb] = {}
        for place, mass in cells.below:
            _put(masses, place, mass)
        for part in cells.parts:
            p, q = part.masses
            if part.i == part.j:
                _put(masses, part.i, p)
                continue
            scaled = q * cells.grid.ball(part.i).exp()
            fall = cells.grid.ball(part.i - part.j).exp()
            _put(masses, part.i, (scaled - p * fall) / (1 - fall))
            _put(masses, part.j, (p - scaled) / (1 - fall))
        up = _listed({i: rounded_up(mass, bits) for i, mass in masses.items()})
        return Upper(min(masses), up, rounded_up(cells.only + cells.above, bits), bits, tail).clipped()

    def clipped(self) -> Upper:
        """Returns it without small tails: the upper one gets an infinite loss, the lower one goes up."""
        start, end = _kept(self.masses, _most(self.bits, self.tail))
        if not start and end == len(self.masses):
            return self
        kept = self.masses[start:end]
        if kept:
            kept[0] += sum(self.masses[:start], fmpz(0))
        more = sum(self.masses[end:], fmpz(0)) if kept else sum(self.masses, fmpz(0))
        return replace(self, first=self.first + start, masses=kept, infinite=self.infinite + more)

    def times(self, other: Upper) -> Upper:
        """Returns both releases together."""
        masses = _up(_product(self.masses, other.masses), self.bits)
        finite, everything = sum(self.masses, fmpz(0)), sum(other.masses, other.infinite)
        infinite = -((-(self.infinite * everything + finite * other.infinite)) >> self.bits)
        whole = replace(self, first=self.first + other.first, masses=masses, infinite=infinite)
        return whole.clipped()


@dataclass(frozen=True)
class Lower:
    """Masses of labels first, first + 1, ...: at most those under P, and at least those under Q.

    `only` is at most the mass under P of outputs that are impossible under Q; other outputs may be left out.
    """

    first: int
    p: Whole
    q: Whole
    only: fmpz
    bits: int
    tail: int

    @staticmethod
    def of(cells: Cells, bits: int, tail: int) -> Lower:
        """Returns a release on a grid, each output with the point of the grid below its loss as its label."""
        first = min((part.i for part in cells.parts), default=0)
        sides: tuple[dict[int, arb], dict[int, arb]] = {first: arb(0)}, {first: arb(0)}
        for part in cells.parts:
            for side, mass in zip(sides, part.masses, strict=True):
                _put(side, part.i, mass)
        p = _listed({i: rounded_down(mass, bits) for i, mass in sides[0].items()})
        q = _listed({i: rounded_up(mass, bits) for i, mass in sides[1].items()})
        return Lower(first, p, q, only=rounded_down(cells.only, bits), bits=bits, tail=tail).clipped()

    def clipped(self) -> Lower:
        """Returns it without outputs at both ends that are not likely under P."""
        start, end = _kept(self.p, _most(self.bits, self.tail))
        return replace(self, first=self.first + start, p=self.p[start:end], q=self.q[start:end])

    def times(self, other: Lower) -> Lower:
        """Returns both releases together."""
        p = [mass >> self.bits for mass in _product(self.p, other.p)]
        q = _up(_product(self.q, other.q), self.bits)
        p += [fmpz(0)] * (len(q) - len(p))
        q += [fmpz(0)] * (len(p) - len(q))
        rest = sum(self.p, fmpz(0)) * other.only
        only = (self.only * sum(other.p, other.only) + rest) >> self.bits
        return replace(self, first=self.first + other.first, p=p, q=q, only=only).clipped()


Side = TypeVar("Side", Upper, Lower)


def power(side: Side, times: int, check: Callable[[], None]) -> Side:
    """Returns a release that is made so many times, at least once, by repeated squaring."""
    found: Side | None = None
    while True:
        check()
        if times & 1:
            found = side if found is None else found.times(side)
        times >>= 1
        if not times:
            assert found is not None
            return found
        side = side.times(side)


def _put(masses: dict[int, arb], place: int, mass: arb) -> None:
    """Adds a mass at a place."""
    known = masses.get(place)
    masses[place] = mass if known is None else known + mass


def _listed(masses: dict[int, fmpz]) -> Whole:
    """Returns masses from the least to the largest place, with 0 between."""
    first, last = min(masses), max(masses)
    if last - first > LONGEST:
        raise LimitError("the grid has too many points")
    found = [fmpz(0)] * (last - first + 1)
    for place, mass in masses.items():
        found[place - first] = mass
    return found


def _most(bits: int, tail: int) -> fmpz:
    """Returns the mass up to which a tail is clipped: 2^−tail, or a little more than what is rounded."""
    return fmpz(1) << max(LEAST, bits - tail)


def _kept(masses: Whole, most: fmpz) -> tuple[int, int]:
    """Returns from where to where masses are kept, so that at most `most` is left out at each end."""
    ends = []
    for order in (masses, masses[::-1]):
        total, count = fmpz(0), 0
        for mass in order:
            total += mass
            if total > most:
                break
            count += 1
        ends.append(count)
    start, end = ends[0], len(masses) - ends[1]
    return (start, end) if start < end else (0, 0)


def _product(first: Whole, second: Whole) -> Whole:
    """Returns the exact product of two polynomials."""
    if len(first) + len(second) > LONGEST:
        raise LimitError("the grid has too many points")
    one = fmpz_poly(first)
    return list((one * (one if second is first else fmpz_poly(second))).coeffs())


def _up(masses: Iterable[fmpz], bits: int) -> Whole:
    """Returns the masses of a product, rounded up."""
    return [-((-mass) >> bits) for mass in masses]


def rounded_up(value: arb, bits: int) -> fmpz:
    """Returns a whole number that is at least value·2^bits, and not below 0."""
    return _whole((value * (1 << bits)).upper().ceil())


def rounded_down(value: arb, bits: int) -> fmpz:
    """Returns a whole number that is at most value·2^bits, or 0, for a mass that is not below 0."""
    return _whole((value * (1 << bits)).lower().floor())


def _whole(value: arb) -> fmpz:
    found = value.unique_fmpz()
    if found is None:
        raise LimitError("a mass is not known well enough at this precision")
    return max(found, fmpz(0))
