"""Exact compositions of a few outputs with rational masses: whole numbers over common denominators."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from itertools import accumulate
from math import lcm

from flint import fmpz_poly

from paramverify.composition.grids import common_root, root_power
from paramverify.composition.losses import Exactly

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
