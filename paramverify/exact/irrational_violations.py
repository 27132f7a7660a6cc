"""Violations at irrational points only.

Found by Newton's method, and then verified exactly in a number field.

A claim f ≥ 0 that fails at a point fails near it, so it has a rational witness unless constraints that
are not strict leave no room: equations, or an inequality that is met at single points. Such points are
sought in three steps. Damped Gauss-Newton steps from some places of the box make the broken conditions
smaller. Then the conditions that are zero there, and those of [John48], are a system with a regular zero,
which Newton's method finds to many bits; where it is not regular, coordinates are fixed at simple rationals.
At last the coordinates are guessed as elements of a number field by LLL ([Lenstra82]). Only what
`fails_at_algebraic` confirms counts.

Newton's method for systems of polynomials: in floats to come near a zero, in rationals to be very near.

Nothing here is proved: it finds places to be looked at exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import islice, product
from random import Random

from flint import fmpq, fmpq_mat, fmpq_poly, fmpz

from paramverify.algebra.domains import Interval
from paramverify.algebra.number_fields import FINE_BITS, AlgebraicPoint, of_root, recognised
from paramverify.algebra.polynomials import Point, Polynomial, fraction, rational, substitute, variables
from paramverify.algebra.rationals import simplest_between
from paramverify.claims import Claim
from paramverify.exact.univariate import failing_places
from paramverify.formats.refutations import fails_at, fails_at_algebraic
from paramverify.simplify.reductions import live_constraints

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
    """Returns a float near the number, or the largest ones for numbers beyond them."""
    try:
        return int(value.p) / int(value.q)
    except OverflowError:
        return LARGEST if value > 0 else -LARGEST


def _near(value: fmpq | float, bits: int) -> fmpq:
    """Returns a multiple of 2**-bits near the number."""
    exact = value if isinstance(value, fmpq) else fmpq(*value.as_integer_ratio())
    scale = fmpz(1) << bits
    return fmpq((exact * scale + fmpq(1, 2)).floor(), scale)


LARGEST = 1e150  # stands for what is beyond; its square is a float, too
MAX_VARIABLES = 6
MAX_TERMS = 600  # of all conditions together
SEEDS = 24
EFFORT = 1_000_000  # monomials that are evaluated; about a second
LITTLE = 40_000  # the same for a look before anything else
STEPS = 80
SMALL = 1e-6  # what is less of a condition, relative to its coefficients, may be zero
ROUGH = Fraction(1, 1 << 12)  # by which a place may be moved to a simple rational point
SLICES = (Fraction(1, 16), Fraction(1, 256))  # of the width of an interval, around a place to cut at
MAX_SLICES = 12  # over all levels

Found = AlgebraicPoint | Point


def may_fail_at_algebraic(claim: Claim) -> bool:
    """Tells whether a claim may fail at irrational points and at no rational one; cheap, and no proof.

    Without a constraint that is not strict, it does not: an open set that is not empty has rational points.
    """
    domain = claim.domain
    if domain.constant is not None or domain.ring.tied:
        return False
    if not any(not c.strict and c.polynomial.total_degree() > 1 for c in domain.constraints):
        return False
    live = [c for _, c in live_constraints(domain)]
    size = len(claim.polynomial) + sum(len(c.polynomial) for c in live)
    used = {name for p in (claim.polynomial, *(c.polynomial for c in live)) for name in variables(p)}
    thin = any(not c.strict and c.polynomial.total_degree() > 1 for c in live)
    return thin and size <= MAX_TERMS and len(used) <= MAX_VARIABLES


def algebraic_violation(claim: Claim, effort: int = EFFORT) -> Found | None:
    """Returns a point of the domain at which the claim fails, algebraic or even rational, or None.

    What is returned was confirmed exactly; None says nothing about the claim. `effort` is about how many
    monomials may be evaluated to come near such points.
    """
    if not may_fail_at_algebraic(claim):
        return None
    return _SliceSearch(claim, effort=effort).run()


@dataclass
class _SliceSearch:
    """A claim, what was fixed of its variables, and how many slices may still be tried."""

    claim: Claim
    fixed: dict[str, Fraction] = field(default_factory=dict)
    effort: int = EFFORT
    slices: list[int] = field(default_factory=lambda: [MAX_SLICES])

    @cached_property
    def part(self) -> Claim:
        """The claim with what was fixed, here or because its interval is one point."""
        domain = self.claim.domain
        values = {n: i.lower for n, i in domain.box.items() if i.is_point} | self.fixed
        constraints = tuple(
            replace(c, polynomial=substitute(c.polynomial, values)) for c in domain.constraints
        )
        at = {name: Interval(v, v, True, True) for name, v in values.items()}
        smaller = replace(domain, box={**domain.box, **at}, constraints=constraints)
        return replace(self.claim, polynomial=substitute(self.claim.polynomial, values), domain=smaller)

    @cached_property
    def conditions(self) -> list[tuple[Polynomial, bool]]:
        """What has to be at least zero, or more than zero (true), at a point that is sought."""
        live = [(c.polynomial, c.strict) for _, c in live_constraints(self.part.domain)]
        return [*live, (-self.part.polynomial, True)]

    @cached_property
    def names(self) -> list[str]:
        """The variables that matter and are not fixed."""
        used = {name for condition, _ in self.conditions for name in variables(condition)}
        return [n for n, i in self.part.domain.box.items() if n in used and not i.is_point]

    @cached_property
    def _step(self) -> int:
        """About how many monomials a step evaluates: of values, of first and of second derivatives."""
        count = len(self.names)
        return sum(len(c) for c, _ in self.conditions) * (1 + count + count * (count + 1) // 2)

    def run(self, near: Point | None = None) -> Found | None:
        constant = [(c, strict) for c, strict in self.conditions if not variables(c)]
        if any(not c or c.leading_coefficient() < 0 for c, strict in constant if strict or c):
            return None
        if len(self.names) <= 1:
            return self._on_line(self.names[0]) if self.names else self._accept({})
        zeros = Zeros([c for c, _ in self.conditions], self.names)
        tried: list[list[float]] = []
        for seed in self._seeds(near):
            place = self._descended(zeros, seed)
            if place is None or any(_alike(place, other) for other in tried):
                continue
            tried.append(place)
            found = self._at(place)
            if found is not None:
                return found
        return None

    def _on_line(self, name: str) -> Found | None:
        rationals, roots = failing_places(self.part, name)
        for value in rationals:
            if (found := self._accept({name: value})) is not None:
                return found
        for root in roots:
            point = of_root(root, name, self._full({}))
            if fails_at_algebraic(self.claim, point):
                return point.tidied()
        return None

    def _full(self, point: Point) -> dict[str, Fraction]:
        simple = {name: interval.simplest() for name, interval in self.claim.domain.box.items()}
        return {**simple, **self.fixed, **point}

    def _accept(self, point: Point) -> Found | None:
        full = self._full(point)
        return full if fails_at(self.claim, full) else None

    # --- numbers: places where no condition is broken by much ---------------------------------------

    def _seeds(self, near: Point | None) -> Iterator[list[float]]:
        """Yields places to begin at: the given one, else some of the box, as many as the effort allows."""
        count = max(1, min(SEEDS, self.effort // (STEPS * self._step)))
        return islice(self._all_seeds(near), count)

    def _all_seeds(self, near: Point | None) -> Iterator[list[float]]:
        box = [self.part.domain.box[n] for n in self.names]
        if near is not None:
            yield [float(near.get(n, i.simplest())) for n, i in zip(self.names, box, strict=True)]
            return
        yield [float(i.lower + i.upper) / 2 for i in box]
        if len(box) <= 3:
            for corner in product((0.2, 0.8), repeat=len(box)):
                yield [
                    float(i.lower) + r * float(i.upper - i.lower) for i, r in zip(box, corner, strict=True)
                ]
        random = Random(21)
        while True:
            yield [random.uniform(float(i.lower), float(i.upper)) for i in box]

    def _descended(self, zeros: Zeros, start: list[float]) -> list[float] | None:
        """Returns a place of the box where what is broken of the conditions is tiny, or None."""
        box = [self.part.domain.box[n] for n in self.names]
        ends = [(float(i.lower), float(i.upper)) for i in box]
        return near_zero(zeros, start, ends, min(STEPS, max(1, self.effort // self._step)))

    # --- exactly ------------------------------------------------------------------------------------

    def _at(self, place: list[float]) -> Found | None:
        """Returns a point near a place, of the first system that leads to one; else those of slices."""
        held = self._held(place)
        if held:
            return self._with(held, place)
        simple = [simplest_between(Fraction(v) - ROUGH, Fraction(v) + ROUGH) for v in place]
        if (found := self._accept(dict(zip(self.names, simple, strict=True)))) is not None:
            return found
        active = self._active(place)
        if not active:
            return None  # what is broken is an open condition, and not by much
        for system in self._systems(active, place):
            exact = refined(system, FINE_BITS)
            if exact is not None and (found := self._guessed(exact[: len(self.names)])) is not None:
                return found
        return self._sliced(place)

    def _held(self, place: Sequence[float]) -> dict[str, Fraction]:
        """Returns the variables that are at a closed end of their interval."""
        held = {}
        for name, at in zip(self.names, place, strict=True):
            interval = self.part.domain.box[name]
            reach = SMALL * float(interval.upper - interval.lower)
            for end in (interval.lower, interval.upper):
                if abs(at - float(end)) < reach and end in interval:
                    held[name] = end
        return held

    def _with(self, more: Mapping[str, Fraction], place: Sequence[float]) -> Found | None:
        start = {n: Fraction(v) for n, v in zip(self.names, place, strict=True) if n not in more}
        return _SliceSearch(self.claim, {**self.fixed, **more}, self.effort, self.slices).run(start)

    def _active(self, place: Sequence[float]) -> list[Polynomial]:
        """Returns the conditions that may be zero at a place, of those that are each other's negative one."""
        zeros = Zeros([c for c, strict in self.conditions if not strict], self.names)
        found: list[Polynomial] = []
        for polynomial, value in zip(zeros.polynomials, zeros.values(place), strict=True):
            if abs(value) < SMALL and -polynomial not in found and polynomial not in found:
                found.append(polynomial)
        return found

    def _systems(
        self, active: Sequence[Polynomial], place: Sequence[float]
    ) -> Iterator[Zeros | CriticalPoints]:
        """Yields systems that a point near the place may be a regular zero of."""
        start = [rational(Fraction(v)) for v in place]
        flat = [p for p in active if Zeros([p], self.names).is_flat(place)]
        slopes = [s for p in flat for n in self.names if (s := p.derivative(n))]
        yield Zeros([*active, *slopes], self.names, start)
        critical = CriticalPoints.near(active, self.names, start)
        if critical is not None:
            yield critical

    def _guessed(self, exact: Sequence[fmpq]) -> Found | None:
        reach = Fraction(1, 1 << (FINE_BITS // 2))
        simple = [simplest_between(fraction(v) - reach, fraction(v) + reach) for v in exact]
        if (found := self._accept(dict(zip(self.names, simple, strict=True)))) is not None:
            return found
        rest = {n: fmpq_poly([rational(v)]) for n, v in self._full({}).items() if n not in self.names}
        for point in recognised(self.names, exact, [rational(v) for v in simple]):
            whole = replace(point, coordinates={**rest, **point.coordinates})
            if fails_at_algebraic(self.claim, whole):
                return whole.tidied()
        return None

    def _sliced(self, place: Sequence[float]) -> Found | None:
        """Looks where one variable has a simple value near a place."""
        for share in SLICES:
            for name, at in zip(self.names, place, strict=True):
                if self.slices[0] <= 0:
                    return None
                self.slices[0] -= 1
                interval = self.part.domain.box[name]
                reach = (interval.upper - interval.lower) * share
                low, high = (
                    max(interval.lower, Fraction(at) - reach),
                    min(interval.upper, Fraction(at) + reach),
                )
                value = simplest_between(low, high)
                if value in interval and (found := self._with({name: value}, place)) is not None:
                    return found
        return None


def _alike(left: Sequence[float], right: Sequence[float]) -> bool:
    return all(abs(a - b) < 1e-5 * (1 + abs(a)) for a, b in zip(left, right, strict=True))
