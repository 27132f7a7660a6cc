"""Privacy losses on a grid: masses that are rounded one way, convolved, and bounds of δ and ε from them.

Masses as whole numbers times 2^−bits: rounded up for upper bounds, down for lower ones, and convolved.

Products of whole polynomials are exact (python-flint); only what is below 2^−bits is rounded after each.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, reduce
from itertools import accumulate, pairwise
from math import gcd, lcm, log2
from typing import TypeVar

from flint import arb, ctx, fmpz, fmpz_poly

from paramverify.algebra.constants import lower_bound, upper_bound, working_precision
from paramverify.composition.release_losses import (
    NOTHING,
    ZERO,
    Atom,
    Exactly,
    Loss,
    Losses,
    Masses,
    Smooth,
    ball,
)
from paramverify.errors import LimitError

COMMON = 60  # steps after which two numbers are taken to have no common root
DIGITS = 400  # bits of a common root
WIDEST = 4_000_000  # points of a grid that one release may reach
LONGEST_GRID = 16  # parts of 1 that the longest part has at least


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
            raise LimitError("a privacy loss is too large for this precision")
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
        longest = max(1, int(1 / (LONGEST_GRID * float(self.grid.ball(1)))))
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


LEAST = 24  # bits of the mass of a tail, as a whole number, up to which it is always clipped
LONGEST_CONVOLUTION = 6_000_000  # points of a product

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
    if last - first > LONGEST_CONVOLUTION:
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
    if len(first) + len(second) > LONGEST_CONVOLUTION:
        raise LimitError("the grid has too many points")
    one = fmpz_poly(first)
    return list((one * (one if second is first else fmpz_poly(second))).coeffs())


def _up(masses: Iterable[fmpz], bits: int) -> Whole:
    """Returns the masses of a product, rounded up."""
    return [-((-mass) >> bits) for mass in masses]


def rounded_up(value: arb, bits: int) -> fmpz:
    """Returns a whole number that is at least value·2^bits, and not below 0."""
    return _whole_mass((value * (1 << bits)).upper().ceil())


def rounded_down(value: arb, bits: int) -> fmpz:
    """Returns a whole number that is at most value·2^bits, or 0, for a mass that is not below 0."""
    return _whole_mass((value * (1 << bits)).lower().floor())


def _whole_mass(value: arb) -> fmpz:
    found = value.unique_fmpz()
    if found is None:
        raise LimitError("a probability cannot be rounded at this precision")
    return max(found, fmpz(0))


GUARD = 64  # more bits than those of the masses
STEPS = 30  # towards the largest lower bound of ε
STARTS = tuple(Fraction(n, 100) for n in (99, 90, 50, 0))  # shares of an upper bound
ENOUGH = 10**12  # a step that is smaller, relative to the bound, is the last one


@dataclass(frozen=True)
class ProvedBounds:
    """A number between two bounds that are proved.

    `upper` is None where no bound is known, or where the number is proved to be `infinite`.
    """

    lower: Fraction
    upper: Fraction | None
    infinite: bool = False

    def is_within(self, width: Fraction) -> bool:
        """Tells whether the bounds are at most `width` apart, relative to the upper one."""
        return self.infinite or (self.upper is not None and self.upper - self.lower <= width * self.upper)

    def also(self, other: ProvedBounds) -> ProvedBounds:
        """Returns the largest of two numbers, of which bounds are known."""
        upper = None if self.upper is None or other.upper is None else max(self.upper, other.upper)
        return ProvedBounds(max(self.lower, other.lower), upper, self.infinite or other.infinite)

    def sharper(self, other: ProvedBounds) -> ProvedBounds:
        """Returns what two pairs of bounds of one number say."""
        known = [each.upper for each in (self, other) if each.upper is not None]
        infinite = self.infinite or other.infinite
        return ProvedBounds(max(self.lower, other.lower), min(known) if known else None, infinite)


@dataclass(frozen=True, eq=False)
class Above:
    """Upper bounds, from masses P_n at n·h and an infinite loss.

    With T_n = Σ_(m≥n) P_m and H_n = Σ_(m≥n) P_m·e^(−(m−n)h), for l_(n−1) ≤ ε ≤ l_n

        δ(ε)  ≤  infinite + T_n − e^(ε−l_n)·H_n.
    """

    grid: Grid
    side: Upper

    @property
    def _bits(self) -> int:
        return self.side.bits + GUARD

    @cached_property
    def _sums(self) -> tuple[list[fmpz], list[fmpz]]:
        """T_n from above and H_n from below, times 2^bits, and with 0 at the end."""
        with working_precision(self._bits):
            fall = self.grid.step.turned.exponential()
            factor = (fall * arb(2) ** self._bits).lower().floor().unique_fmpz()
        assert factor is not None
        totals, discounted = [fmpz(0)], [fmpz(0)]
        for mass in reversed(self.side.masses):
            totals.append(totals[-1] + mass)
            discounted.append(mass + ((discounted[-1] * factor) >> self._bits))
        return totals[::-1], discounted[::-1]

    @property
    def _end(self) -> int:
        return len(self.side.masses)

    def delta(self, epsilon: Loss) -> Fraction:
        """Returns a number that δ(ε) does not exceed."""
        with working_precision(self._bits):
            # δ is the largest of the sums over n ≥ m, so the largest of those that ε may mean bounds it.
            low, high = (place - self.side.first for place in self.grid.place(epsilon))
            starts = {min(max(n, 0), self._end) for n in range(low, high + 2)}
            return min(Fraction(1), max(self._from(n, epsilon) for n in starts))

    def _from(self, n: int, epsilon: Loss) -> Fraction:
        """Returns a bound of the sum over the points from the n-th one on; needs the working precision."""
        totals, discounted = self._sums
        one = fmpz(1) << self.side.bits
        if n == self._end:
            return upper_bound(arb(self.side.infinite) / one)
        gap = (epsilon.ball() - self.grid.ball(n + self.side.first)).exp()
        return upper_bound((self.side.infinite + totals[n] - gap * discounted[n]) / one)

    def epsilon(self, delta: Fraction) -> Fraction | None:
        """Returns an ε ≥ 0 with δ(ε) ≤ delta, a small one; None where none is known."""
        if self.delta(Loss()) <= delta:
            return Fraction(0)
        one = 1 << self.side.bits
        if Fraction(int(self.side.infinite), one) > delta:
            return None
        totals, discounted = self._sums
        room = fmpz(delta.numerator * one // delta.denominator) - self.side.infinite
        # At l_n the bound is totals − discounted + infinite, which falls with n.
        n = bisect_left(range(self._end), True, key=lambda k: totals[k] - discounted[k] <= room)
        with working_precision(self._bits):
            least = self.grid.ball(n - 1 + self.side.first)
            if n == self._end or totals[n] <= room:
                return max(Fraction(0), upper_bound(least))
            inner = (arb(totals[n] - room) / arb(discounted[n])).log()
            place = self.grid.ball(n + self.side.first)
            # Not below l_(n−1): for a smaller ε the sum over more points is the bound.
            found = max(upper_bound(place + inner), upper_bound(least))
            return max(Fraction(0), found)


@dataclass(frozen=True, eq=False)
class Below:
    """Lower bounds, from masses P_n and Q_n of labels: δ(ε) ≥ only + Σ max(0, P_n − e^ε·Q_n)."""

    side: Lower

    def _sums(self, ratio: fmpz, bits: int) -> tuple[fmpz, fmpz]:
        """Returns the masses P and Q of the labels with P_n > ratio·2^−bits·Q_n, and of `only`."""
        p, q = self.side.only, fmpz(0)
        for one, other in zip(self.side.p, self.side.q, strict=True):
            if (one << bits) > ratio * other:
                p, q = p + one, q + other
        return p, q

    def delta(self, epsilon: Loss) -> Fraction:
        """Returns a number that δ(ε) is not below."""
        with working_precision(self.side.bits + GUARD):
            ratio = epsilon.exponential()
            above = _whole(ratio * arb(2) ** self.side.bits)
            p, q = self._sums(above, self.side.bits)
            value = (p << self.side.bits) - above * q
            return max(Fraction(0), Fraction(int(value), 1 << (2 * self.side.bits)))

    def epsilon(self, delta: Fraction, near: Fraction) -> Fraction | None:
        """Returns an ε ≥ 0 such that δ(ε') ≥ delta for all ε' below it; None stands for infinity.

        For a set of labels with masses P and Q it is ln((P − delta)/Q); the set is that of the best label
        masses for the ε before, from `near` on.
        """
        one = 1 << self.side.bits
        asked = fmpz(-((-delta.numerator * one) // delta.denominator))
        if self.side.only > asked:
            return None
        best = Fraction(0)
        with working_precision(self.side.bits + GUARD):
            for start in (near, *(near * share for share in STARTS)):
                best = self._climbed(asked, start)
                if best:
                    break
        return best

    def _climbed(self, asked: fmpz, near: Fraction) -> Fraction:
        best = Fraction(0)
        for _ in range(STEPS):
            near = min(near, Fraction(self.side.bits))  # no quotient of two masses is larger than 2^bits
            p, q = self._sums(_whole(ball(near).exp() * arb(2) ** GUARD), GUARD)
            if p - asked <= q or not q:
                break
            found = lower_bound((arb(p - asked) / arb(q)).log())
            if found - best <= best / ENOUGH:
                return max(found, best)
            best, near = found, found
        return best


def _whole(value: arb) -> fmpz:
    found = value.upper().ceil().unique_fmpz()
    assert found is not None
    return fmpz(found)


MOST = 40_000  # products of two outputs
SIZE = 60_000_000  # bits of all masses together


@dataclass(frozen=True)
class ExactMasses:
    """Outputs with masses P and Q, whole numbers over `bottoms`, by falling P/Q; equal ones are one."""

    outputs: tuple[tuple[int, int], ...]
    bottoms: tuple[int, int]

    @cached_property
    def _sums(self) -> tuple[list[int], list[int]]:
        """The masses of the first n outputs, for each n from 0 on."""
        p, q = (list(accumulate((o[side] for o in self.outputs), initial=0)) for side in (0, 1))
        return p, q

    def parts(self, ratio: Fraction) -> tuple[Fraction, Fraction]:
        """Returns (A, B) with δ(ln c) = A − c·B around c = ratio, on the side of the smaller c."""
        return self._until(bisect_left(self.outputs, True, key=lambda o: not self._exceeds(o, ratio)))

    def _until(self, count: int) -> tuple[Fraction, Fraction]:
        p, q = self._sums
        return Fraction(p[count], self.bottoms[0]), Fraction(q[count], self.bottoms[1])

    def _exceeds(self, output: tuple[int, int], ratio: Fraction) -> bool:
        p, q = output
        return p * self.bottoms[1] * ratio.denominator > ratio.numerator * q * self.bottoms[0]

    def delta(self, ratio: Fraction) -> Fraction:
        """Returns δ(ln ratio)."""
        p, q = self.parts(ratio)
        return p - ratio * q

    def ratio(self, delta: Fraction) -> Fraction | None:
        """Returns the least e^ε from 1 on with δ(ε) ≤ delta; None where there is none."""
        if self.delta(Fraction(1)) <= delta:
            return Fraction(1)
        best: Fraction | None = None
        low, high = 0, len(self.outputs)
        # δ(c) = max over n of A_n − c·B_n; the least c is the largest (A_n − delta)/B_n, and that rises
        # with n as long as the next output has a larger P/Q than it.
        while low < high:
            middle = (low + high) // 2
            p, q = self._until(middle)
            found = (p - delta) / q if q else None
            if found is None and p > delta:
                return None
            if found is None or self._exceeds(self.outputs[middle], max(found, Fraction(0))):
                low = middle + 1
            else:
                high = middle
        p, q = self._until(low)
        if q:
            best = (p - delta) / q
        return best

    def corners(self) -> list[tuple[Fraction, Fraction]]:
        """Returns the corners (ratio, δ) from ratio 1 on."""
        ratios = {Fraction(1)}
        for p, q in self.outputs:
            ratio = Fraction(p * self.bottoms[1], q * self.bottoms[0]) if q else Fraction(0)
            if ratio > 1:
                ratios.add(ratio)
        return [(ratio, self.delta(ratio)) for ratio in sorted(ratios)]


def composed(pairs: Sequence[tuple[Sequence[Exactly], int]]) -> ExactMasses | None:
    """Returns the composition of releases, each made so many times; None if it is large."""
    found = _on_lattice(pairs)
    return found or _by_ratio(pairs)


def _on_lattice(pairs: Sequence[tuple[Sequence[Exactly], int]]) -> ExactMasses | None:
    """Returns the composition where all P/Q are whole powers of one number: exact powers of polynomials."""
    root: Fraction | None = Fraction(1)
    for ratio in {p / q for outputs, _ in pairs for p, q in outputs if p and q and p != q}:
        if root is not None:
            root = common_root(max(ratio, 1 / ratio), root)
    if root is None:
        return None
    sides, bottoms, first, only = [fmpz_poly([1]), fmpz_poly([1])], [1, 1], 0, Fraction(0)
    for outputs, times in pairs:
        powers: dict[int, Exactly] = {}
        for p, q in outputs:
            power = root_power(p / q, root) if p and q and root != 1 else 0
            if power is None:
                return None
            if p and q:
                before = powers.get(power, (Fraction(0), Fraction(0)))
                powers[power] = before[0] + p, before[1] + q
        least = min(powers, default=0)
        length = max(powers, default=0) - least + 1
        scales = [_bottom(outputs, side) for side in (0, 1)]
        if times * length * times * max(scales).bit_length() > SIZE:
            return None
        finite = sum((p for p, _ in powers.values()), Fraction(0))
        only = 1 - (1 - only) * finite**times
        for side in (0, 1):
            row = [powers.get(n + least, (0, 0))[side] * scales[side] for n in range(length)]
            sides[side] *= fmpz_poly([int(entry) for entry in row]) ** times
            bottoms[side] *= scales[side] ** times
        first += least * times
    both = zip(*([int(entry) for entry in side.coeffs()] for side in sides), strict=True)
    listed = [(one, other) for one, other in both if one or other][::-1]
    alone = only * bottoms[0]
    return ExactMasses(((int(alone), 0), *listed) if alone else tuple(listed), (bottoms[0], bottoms[1]))


def _by_ratio(pairs: Sequence[tuple[Sequence[Exactly], int]]) -> ExactMasses | None:
    """Returns the composition by listing outputs, those with one P/Q as one."""
    bottoms = [1, 1]
    together: dict[Fraction | None, tuple[int, int]] = {Fraction(1): (1, 1)}
    work = 0
    for outputs, times in pairs:
        scales = [_bottom(outputs, side) for side in (0, 1)]
        single: dict[Fraction | None, tuple[int, int]] = {}
        for share, other_share in outputs:
            if share:
                ratio = share / other_share if other_share else None
                _add(single, ratio, int(share * scales[0]), int(other_share * scales[1]))
        for _ in range(times):
            work += len(together) * len(single)
            if work > MOST:
                return None
            found: dict[Fraction | None, tuple[int, int]] = {}
            for one, (p, q) in together.items():
                for other, (r, s) in single.items():
                    _add(found, None if one is None or other is None else one * other, p * r, q * s)
            together = found
            bottoms = [bottom * scale for bottom, scale in zip(bottoms, scales, strict=True)]
    ratios = sorted((r for r in together if r is not None), reverse=True)
    listed = [together[ratio] for ratio in ratios]
    alone = [together[None]] if None in together else []
    return ExactMasses((*alone, *listed), (bottoms[0], bottoms[1]))


def _add(found: dict[Fraction | None, tuple[int, int]], ratio: Fraction | None, p: int, q: int) -> None:
    before = found.get(ratio, (0, 0))
    found[ratio] = before[0] + p, before[1] + q


def _bottom(outputs: Iterable[Exactly], side: int) -> int:
    return reduce(lcm, (output[side].denominator for output in outputs), 1)
