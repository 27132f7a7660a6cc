"""Convex polynomials on small boxes: proof of convexity, and their minima recognised exactly.

A convex f lies above its tangent planes: if f(z) + Σ sᵢ·(xᵢ − zᵢ) ≥ 0 on the box, where s = ∇f(z), then f ≥ 0
there ([BoydVandenberghe04] section 3.1.3). Where f touches zero, z must be the minimum itself: a rational
point, or one with coordinates in a number field, found by Newton's method and the LLL algorithm, and then
verified exactly in that field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq, fmpq_mat, fmpq_poly, fmpz

from paramverify.algebra.bernstein import Patch, patch, slope
from paramverify.algebra.domains import Interval
from paramverify.algebra.number_fields import FINE_BITS, AlgebraicPoint, field_polynomial, recognised
from paramverify.algebra.polynomials import Polynomial, fraction, rational, variables
from paramverify.algebra.rationals import simplest_between

ROUGH_BITS, LAST_BITS = 96, 4096
MAX_ITERATIONS = 60


@dataclass(frozen=True)
class Minimum:
    """What is known of the minimum of f on a box: at most one of the three is given.

    `below` is a rational point with f < 0, `tangent` a rational point whose tangent plane is ≥ 0 on the box,
    `zero` an algebraic point of the box where f and all slopes that do not point inside are zero.
    """

    below: Mapping[str, Fraction] | None = None
    tangent: Mapping[str, Fraction] | None = None
    zero: AlgebraicPoint | None = None


def is_convex(patch: Patch) -> bool:
    """Tells whether f is proved convex on the box.

    The second derivatives have Bernstein coefficients between M − R and M + R, so that
    xᵀHx ≥ xᵀMx − Σᵢ (Σⱼ Rᵢⱼ)·xᵢ² for every Hessian matrix H on the box; the right side is tested to be
    positive semidefinite.
    """
    names = patch.names
    size = len(names)
    middle = [[Fraction(0)] * size for _ in range(size)]
    radius = [Fraction(0)] * size
    for i, name in enumerate(names):
        first = slope(patch, name)
        for j in range(i, size):
            second = slope(first, names[j]).entries
            low, high = min(second), max(second)
            if i == j and high < 0:
                return False
            middle[i][j] = middle[j][i] = Fraction(low + high, 2)
            radius[i] += Fraction(high - low, 2)
            if i != j:
                radius[j] += Fraction(high - low, 2)
    for i in range(size):
        middle[i][i] -= radius[i]
        if middle[i][i] < 0:
            return False
    return _semidefinite(middle)


def _semidefinite(rows: list[list[Fraction]]) -> bool:
    for k, row in enumerate(rows):
        if row[k] < 0 or (row[k] == 0 and any(row[k:])):
            return False
        for below in rows[k + 1 :]:
            if row[k]:
                factor = below[k] / row[k]
                below[k:] = [b - factor * a for a, b in zip(row[k:], below[k:], strict=True)]
    return True


def minimum(
    polynomial: Polynomial, box: Mapping[str, Interval], allowed: Callable[[int], bool] = lambda _: True
) -> Minimum:
    """Returns what could be found about the minimum of a polynomial that is convex on the closed box.

    It is approximated to more and more bits, as long as that many are allowed.
    """
    problem = _Problem(polynomial, box)
    point = problem.centre()
    for bits in filter(allowed, (ROUGH_BITS, FINE_BITS, LAST_BITS)):
        nearer = problem.newton(point, bits)
        if nearer is None:
            break
        point = nearer
        for reach in (bits // 3, bits):
            found = problem.judge(problem.snapped(point, reach))
            if found is not None:
                return found
        if bits == FINE_BITS and (zero := problem.algebraic(point)) is not None:
            return Minimum(zero=zero)
    return Minimum()


class _Problem:
    """A polynomial with its derivatives, on a box."""

    def __init__(self, polynomial: Polynomial, box: Mapping[str, Interval]) -> None:
        self.f = polynomial
        self.names = variables(polynomial)
        every = [str(n) for n in polynomial.context().names()]
        self.places = [every.index(n) for n in self.names]
        self.width = len(every)
        self.slopes = [polynomial.derivative(n) for n in self.names]
        self.seconds = [[s.derivative(n) for n in self.names] for s in self.slopes]
        self.low = [rational(box[n].lower) for n in self.names]
        self.high = [rational(box[n].upper) for n in self.names]
        # bits that are needed to tell points of a small box apart
        width = min((fraction(b - a) for a, b in zip(self.low, self.high, strict=True)), default=Fraction(1))
        self.small = max(0, (width.denominator // width.numerator).bit_length())

    def centre(self) -> list[fmpq]:
        return [(a + b) / 2 for a, b in zip(self.low, self.high, strict=True)]

    def value(self, polynomial: Polynomial, point: Sequence[fmpq]) -> fmpq:
        arguments = [fmpq(0)] * self.width
        for place, coordinate in zip(self.places, point, strict=True):
            arguments[place] = coordinate
        return fmpq(polynomial(*arguments))

    def newton(self, start: list[fmpq], bits: int) -> list[fmpq] | None:
        """Returns an approximation to the minimum on the box, by Newton's method with active bounds."""
        point, precision = start, 48 + self.small
        for _ in range(MAX_ITERATIONS):
            slopes = [self.value(s, point) for s in self.slopes]
            free = [k for k, s in enumerate(slopes) if not self._held(k, point[k], s)]
            step = self._step(point, slopes, free) if free else []
            if step is None:
                return None
            moved = list(point)
            for k, way in zip(free, step, strict=True):
                moved[k] = min(max(_rounded(point[k] + way, precision), self.low[k]), self.high[k])
            change = max((abs(a - b) for a, b in zip(moved, point, strict=True)), default=fmpq(0))
            point = moved
            if change <= fmpq(1, 1 << (bits + self.small - 4)):
                return point
            if change < fmpq(1, 1 << (precision // 3)):
                precision = min(2 * precision, bits + self.small + 16)
        return None

    def _held(self, k: int, at: fmpq, slope: fmpq) -> bool:
        return bool((at == self.low[k] and slope >= 0) or (at == self.high[k] and slope <= 0))

    def _step(self, point: list[fmpq], slopes: list[fmpq], free: list[int]) -> list[fmpq] | None:
        size = len(free)
        entries = [_rounded(self.value(self.seconds[i][j], point), 128) for i in free for j in free]
        matrix, right = fmpq_mat(size, size, entries), fmpq_mat(size, 1, [-slopes[k] for k in free])
        ridge = max(abs(e) for e in entries) / (1 << 40)
        for _ in range(2):
            try:
                return [fmpq(e) for e in matrix.solve(right).entries()]
            except (
                ZeroDivisionError
            ):  # flat along a line: a little curvature is added, which keeps the minima
                for k in range(size):
                    matrix[k, k] = matrix[k, k] + ridge
        return None

    def snapped(self, point: list[fmpq], bits: int) -> dict[str, Fraction]:
        """Returns the simplest rational point of the box within 2**-bits of the point."""
        reach = Fraction(1, 1 << (bits + self.small))
        result = {}
        for name, at, low, high in zip(self.names, point, self.low, self.high, strict=True):
            value, first, last = fraction(at), fraction(low), fraction(high)
            if value - first < reach:
                result[name] = first
            elif last - value < reach:
                result[name] = last
            else:
                result[name] = simplest_between(value - reach, value + reach)
        return result

    def judge(self, point: Mapping[str, Fraction]) -> Minimum | None:
        """Returns what a rational point of the box shows, if anything."""
        at = [rational(point[n]) for n in self.names]
        bound = self.value(self.f, at)
        if bound < 0:
            return Minimum(below=point)
        for k, derivative in enumerate(self.slopes):
            steepness = self.value(derivative, at)
            bound += min(steepness * (self.low[k] - at[k]), steepness * (self.high[k] - at[k]))
        return Minimum(tangent=point) if bound >= 0 else None

    def algebraic(self, point: list[fmpq]) -> AlgebraicPoint | None:
        """Returns the exact point near an approximation where f touches zero, or None."""
        size = max(abs(c) for c in self.f.coeffs())
        if self.value(self.f, point) > size / (1 << (FINE_BITS // 2)):
            return None
        snapped = self.snapped(point, FINE_BITS // 2)
        rationals = [rational(snapped[n]) for n in self.names]
        for found in recognised(self.names, point, rationals):
            if self._verified(found):
                return found
        return None

    def _verified(self, point: AlgebraicPoint) -> bool:
        """Tells exactly whether the point is in the box, and f and slopes are zero or slopes point inside."""
        if not point.has_root or point.value(self.f):
            return False
        for k, derivative in enumerate(self.slopes):
            at, value = point.coordinates[self.names[k]], point.value(derivative)
            below, above = at - self.low[k], self.high[k] - at
            if not (_nonnegative(below, point.interval) and _nonnegative(above, point.interval)):
                return False
            inward = (not below and _nonnegative(value, point.interval)) or (
                not above and _nonnegative(-value, point.interval)
            )
            if value and not inward:
                return False
        return True


def _nonnegative(polynomial: fmpq_poly, interval: tuple[Fraction, Fraction]) -> bool:
    """Tells whether Bernstein coefficients show a polynomial in t to be at least zero on an interval."""
    box = {"t": Interval(*interval, True, True)}
    return min(patch(field_polynomial(polynomial), box).entries) >= 0


def _rounded(value: fmpq, bits: int) -> fmpq:
    """Returns a multiple of 2**-bits near the number."""
    scale = fmpz(1) << bits
    return fmpq((value * scale + fmpq(1, 2)).floor(), scale)
