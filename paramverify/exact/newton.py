"""Newton's method for systems of polynomials: in floats to come near a zero, in rationals to be very near.

Nothing here is proved: it finds places to be looked at exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from flint import fmpq, fmpq_mat, fmpz

from paramverify.algebra.polynomials import Polynomial

ITERATIONS = 40
REGULAR = 1e-14  # the least pivot, relative to the largest, of a matrix that counts as regular
STATIONARY = 1e-3  # slopes that count as zero, relative to the coefficients
ENOUGH = 1e-9  # what may be broken of conditions at a place that is found

Row = list[fmpq]


@dataclass
class Zeros:
    """Polynomials in some variables, each divided by its largest coefficient; and a place to begin at."""

    polynomials: Sequence[Polynomial]
    names: Sequence[str]
    start: list[fmpq] = field(default_factory=list)

    @cached_property
    def places(self) -> list[int]:
        """The axes of the variables."""
        every = [str(n) for n in self.polynomials[0].context().names()]
        return [every.index(n) for n in self.names]

    @cached_property
    def _floats(self) -> list[list[tuple[float, tuple[int, ...]]]]:
        found = []
        for polynomial in self.polynomials:
            size = max((abs(c) for c in polynomial.coeffs()), default=fmpq(1))
            found.append(
                [
                    (_float(c / size), tuple(int(m[p]) for p in self.places))
                    for m, c in polynomial.to_dict().items()
                ]
            )
        return found

    def values(self, place: Sequence[float]) -> list[float]:
        """Returns the values at a place."""
        return [sum(c * _monomial(m, place) for c, m in terms) for terms in self._floats]

    def slopes(self, k: int, place: Sequence[float]) -> list[float]:
        """Returns the derivatives of one of the polynomials at a place."""
        found = [0.0] * len(place)
        for c, m in self._floats[k]:
            for axis, power in enumerate(m):
                if power:
                    lower = (*m[:axis], power - 1, *m[axis + 1 :])
                    found[axis] += c * power * _monomial(lower, place)
        return found

    def bends(self, k: int, place: Sequence[float]) -> list[list[float]]:
        """Returns the second derivatives of one of the polynomials at a place."""
        size = len(place)
        found = [[0.0] * size for _ in range(size)]
        for c, m in self._floats[k]:
            for i in range(size):
                for j in range(i, size):
                    factor = m[i] * (m[i] - 1) if i == j else m[i] * m[j]
                    if factor:
                        lower = tuple(e - (axis == i) - (axis == j) for axis, e in enumerate(m))
                        found[i][j] += c * factor * _monomial(lower, place)
        for i in range(size):
            for j in range(i):
                found[i][j] = found[j][i]
        return found

    def is_flat(self, place: Sequence[float]) -> bool:
        """Tells whether all derivatives of the only polynomial are about zero at a place."""
        return max(map(abs, self.slopes(0, place)), default=0.0) < STATIONARY

    @cached_property
    def _derivatives(self) -> list[list[Polynomial]]:
        return [[p.derivative(n) for n in self.names] for p in self.polynomials]

    def at(self, point: Sequence[fmpq]) -> tuple[Row, list[Row]]:
        """Returns values and derivatives at a point."""
        values = [self.value(p, point) for p in self.polynomials]
        return values, [[self.value(d, point) for d in row] for row in self._derivatives]

    def value(self, polynomial: Polynomial, point: Sequence[fmpq]) -> fmpq:
        """Returns the value of a polynomial at a point."""
        arguments = [fmpq(0)] * polynomial.context().nvars()
        for place, coordinate in zip(self.places, point, strict=False):
            arguments[place] = coordinate
        return fmpq(polynomial(*arguments))


class CriticalPoints(Zeros):
    """Polynomials gⱼ, with Σ μⱼ·∇gⱼ = 0 for unknown numbers μⱼ ([John48]), of which a weighted sum is 1."""

    weights: list[fmpq]

    @staticmethod
    def near(
        polynomials: Sequence[Polynomial], names: Sequence[str], start: list[fmpq]
    ) -> CriticalPoints | None:
        """Returns the system with numbers μ that nearly solve it at a place; None if there are none."""
        if not polynomials:
            return None
        plain = Zeros(polynomials, names)
        place = [_float(v) for v in start]
        rows = [plain.slopes(k, place) for k in range(len(polynomials))]
        products = [[sum(a * b for a, b in zip(r, s, strict=True)) for s in rows] for r in rows]
        numbers = _least(products)
        size = max(abs(v) for v in numbers)
        rest = [sum(m * row[k] for m, row in zip(numbers, rows, strict=True)) for k in range(len(place))]
        if max(map(abs, rest)) > STATIONARY * size:
            return None
        sizes = [max(abs(c) for c in p.coeffs()) for p in polynomials]
        scaled = [p / s for p, s in zip(polynomials, sizes, strict=True)]
        unknown = [_near(m, 60) for m in numbers]
        found = CriticalPoints(scaled, names, [*start, *unknown])
        total = sum((m * m for m in unknown), fmpq(0))
        found.weights = [m / total for m in unknown]
        return found

    @cached_property
    def _seconds(self) -> list[list[list[Polynomial]]]:
        return [[[d.derivative(n) for n in self.names] for d in row] for row in self._derivatives]

    def at(self, point: Sequence[fmpq]) -> tuple[Row, list[Row]]:
        """Returns values and derivatives; the first coordinates are those of the place, then come the μ."""
        count = len(self.names)
        numbers = point[count:]
        values, slopes = super().at(point)
        rows = [[*row, *([fmpq(0)] * len(numbers))] for row in slopes]
        for axis in range(count):
            values.append(sum((m * row[axis] for m, row in zip(numbers, slopes, strict=True)), fmpq(0)))
            row = [fmpq(0)] * count
            for m, second in zip(numbers, self._seconds, strict=True):
                for other in range(count):
                    row[other] += m * self.value(second[axis][other], point)
            rows.append([*row, *(slope[axis] for slope in slopes)])
        values.append(sum((w * m for w, m in zip(self.weights, numbers, strict=True)), fmpq(-1)))
        rows.append([*([fmpq(0)] * count), *self.weights])
        return values, rows


def refined(system: Zeros, bits: int) -> list[fmpq] | None:
    """Returns a zero near the start of a system to so many bits, by Gauss-Newton steps, or None.

    The system may have more equations than unknowns. None where its matrix is about singular.
    """
    point, precision = system.start, 96
    for _ in range(ITERATIONS):
        values, rows = system.at(point)
        step = _step(
            [_near(v, 2 * precision) for v in values], [[_near(e, precision) for e in r] for r in rows]
        )
        if step is None:
            return None
        point = [_near(a + b, precision) for a, b in zip(point, step, strict=True)]
        change = max(map(abs, step))
        if change > 1:
            return None
        if change <= fmpq(1, 1 << (bits + 8)):
            return point
        if change < fmpq(1, 1 << (precision // 4)):
            precision = min(2 * precision, bits + 64)
    return None


def _step(values: Row, rows: list[Row]) -> Row | None:
    size = len(rows[0])
    if len(rows) < size:
        return None
    matrix = fmpq_mat(len(rows), size, [e for row in rows for e in row])
    turned = matrix.transpose()
    square = turned * matrix
    if not _is_regular([[_float(square[i, j]) for j in range(size)] for i in range(size)]):
        return None
    try:
        right = turned * fmpq_mat(len(rows), 1, [-v for v in values])
        return [fmpq(e) for e in square.solve(right).entries()]
    except ZeroDivisionError:
        return None


def _is_regular(matrix: list[list[float]]) -> bool:
    """Tells whether a positive semidefinite matrix has no tiny pivot."""
    rows = [row[:] for row in matrix]
    left = set(range(len(rows)))
    largest = max((rows[k][k] for k in left), default=0.0)
    while left:
        k = max(left, key=lambda j: rows[j][j])
        if rows[k][k] <= REGULAR * largest or largest == 0.0:
            return False
        left.discard(k)
        for i in left:
            factor = rows[i][k] / rows[k][k]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return True


def near_zero(
    system: Zeros, start: list[float], ends: Sequence[tuple[float, float]], steps: int
) -> list[float] | None:
    """Returns a place of a box where no polynomial is below zero by more than a little, or None.

    Newton's method for the sum of squares of what is below zero, damped as in [Levenberg44], with the places
    moved into the box. Second derivatives count: a zero of f ≥ 0 is singular for what is linear in them only.
    """

    def broken(at: Sequence[float]) -> list[float]:
        return [min(0.0, v) for v in system.values(at)]

    place = [min(max(v, low), high) for v, (low, high) in zip(start, ends, strict=True)]
    left, damping, bent = broken(place), 1e-2, True
    size = sum(v * v for v in left)
    for _ in range(steps):
        if size < ENOUGH**2 * 1e-6:
            break
        step = _downwards(system, place, left, damping, bent)
        if step is None:
            break
        moved = [min(max(p + d, low), high) for p, d, (low, high) in zip(place, step, ends, strict=True)]
        after = broken(moved)
        less = sum(v * v for v in after)
        bent = (
            less < size or not bent
        )  # after a step that leads up, the next one is without second derivatives
        if less < size:
            place, left, size, damping = moved, after, less, damping * 0.2
        elif damping > 1e6:
            break
        else:
            damping = max(damping, 1e-12) * 8
    return place if size < ENOUGH**2 * 1e4 else None


def _downwards(
    system: Zeros, place: list[float], left: Sequence[float], damping: float, bent: bool
) -> list[float] | None:
    """Returns a damped step of Newton's method for the sum of squares, or None where all slopes are zero."""
    rows = [(v, system.slopes(k, place)) for k, v in enumerate(left) if v]
    bends = [(v, system.bends(k, place)) for k, v in enumerate(left) if v and bent]
    axes = range(len(place))
    square = [
        [sum(r[i] * r[j] for _, r in rows) + sum(v * b[i][j] for v, b in bends) for j in axes] for i in axes
    ]
    scale = max((abs(square[i][i]) for i in axes), default=0.0)
    if scale == 0.0:
        return None
    for i in axes:
        square[i][i] += damping * scale
    return _solved(square, [-sum(v * r[i] for v, r in rows) for i in axes])


def _solved(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Returns the solution of a positive definite system."""
    size = len(right)
    rows = [[*row, r] for row, r in zip(matrix, right, strict=True)]
    for k in range(size):
        best = max(range(k, size), key=lambda i: abs(rows[i][k]))
        rows[k], rows[best] = rows[best], rows[k]
        if rows[k][k] == 0.0:
            return [0.0] * size
        for i in range(k + 1, size):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    found = [0.0] * size
    for k in range(size - 1, -1, -1):
        found[k] = (rows[k][size] - sum(rows[k][j] * found[j] for j in range(k + 1, size))) / rows[k][k]
    return found


def _least(matrix: list[list[float]]) -> list[float]:
    """Returns about an eigenvector of the least eigenvalue of a positive semidefinite matrix."""
    size = len(matrix)
    ridge = 1e-12 * max(matrix[k][k] for k in range(size)) + 1e-300
    moved = [[v + ridge * (i == j) for j, v in enumerate(row)] for i, row in enumerate(matrix)]
    found = [1.0 + 0.1 * k for k in range(size)]
    for _ in range(8):
        found = _solved(moved, found)
        largest = max(map(abs, found)) or 1.0
        found = [v / largest for v in found]
    return found


def _monomial(powers: Sequence[int], place: Sequence[float]) -> float:
    value = 1.0
    for power, coordinate in zip(powers, place, strict=True):
        if power:
            value *= coordinate**power
    return value


def _float(value: fmpq) -> float:
    return int(value.p) / int(value.q)


def _near(value: fmpq | float, bits: int) -> fmpq:
    """Returns a multiple of 2**-bits near the number."""
    exact = value if isinstance(value, fmpq) else fmpq(*value.as_integer_ratio())
    scale = fmpz(1) << bits
    return fmpq((exact * scale + fmpq(1, 2)).floor(), scale)
