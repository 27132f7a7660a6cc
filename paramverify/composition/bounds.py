"""δ for ε, and ε for δ, of masses on a grid: bounds from above and from below, all rounded that way."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import arb, fmpz

from paramverify.algebra.constants import lower_bound, upper_bound, working_precision
from paramverify.composition.convolution import Lower, Upper
from paramverify.composition.grids import Grid
from paramverify.composition.losses import Loss, ball

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
