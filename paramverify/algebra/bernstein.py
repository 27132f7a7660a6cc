"""The Bernstein form of a polynomial on a box, exact, by integer matrix products or a Taylor shift.

On the box with lower ends l and widths w, a polynomial f of degrees d is `f(l + w·t) = Σ_i b_i · B_{i,d}(t)`
for t in the unit box, where the B are products of Bernstein basis polynomials: nonnegative on the box,
positive inside it, and of sum one. So ([Farin02] chapters 5 and 6; [Garloff86] for several variables)

- min b ≤ f ≤ max b on the box, and b at a corner of the index box is the value of f at that vertex;
- on the face where some t are 0 or 1, the coefficients of f are those b with the index 0 or d there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import pairwise, product
from math import comb, gcd, lcm

from flint import fmpz, fmpz_mat, fmpz_poly

from paramverify.algebra.domains import Interval
from paramverify.algebra.polynomials import Polynomial, variables
from paramverify.algebra.shifts import bernstein_entries

MAX_MATRIX = 12  # degree in one variable alone up to which a matrix is made for an interval


@dataclass(frozen=True, eq=False)
class BernsteinForm:
    """Bernstein coefficients up to a positive factor: coefficient i is `entries[i] / scale`.

    `degrees` has one entry for each variable that occurs; `entries` is row-major, the first variable
    slowest. Signs of coefficients are signs of entries.
    """

    degrees: tuple[int, ...]
    entries: list[fmpz]
    scale: fmpz

    @property
    def lower(self) -> Fraction:
        """A number b with f(θ) ≥ b for all θ in the closed box."""
        return Fraction(int(min(self.entries)), int(self.scale))

    @property
    def upper(self) -> Fraction:
        """A number b with f(θ) ≤ b for all θ in the closed box."""
        return Fraction(int(max(self.entries)), int(self.scale))

    def face(self, fixed: Mapping[int, int]) -> list[fmpz]:
        """Returns the entries on the face where variable number k is at its end fixed[k] (0 or 1)."""
        return [self.entries[i] for i in face_indices(self.degrees, fixed)]


def face_indices(degrees: Sequence[int], fixed: Mapping[int, int]) -> list[int]:
    """Returns the row-major positions of the coefficients that belong to a face."""
    positions = [0]
    for axis, degree in enumerate(degrees):
        choices: Iterable[int] = range(degree + 1)
        if axis in fixed:
            choices = (degree * fixed[axis],)
        positions = [p * (degree + 1) + c for p in positions for c in choices]
    return positions


def bernstein_form(polynomial: Polynomial, box: Mapping[str, Interval]) -> BernsteinForm:
    """Returns the Bernstein form on the closure of the box, over the variables that occur.

    The box gives an interval for every variable that occurs. The work is one integer matrix product per axis;
    in one variable of a high degree it is one Taylor shift, for each new interval would need a new matrix.
    """
    names = [str(n) for n in polynomial.context().names()]
    every = [int(d) for d in polynomial.degrees()]
    axes = [k for k, d in enumerate(every) if d > 0]
    degrees = tuple(every[k] for k in axes)
    size = reduce(lambda a, b: a * b, (d + 1 for d in degrees), 1)
    entries: list[fmpz] = [fmpz(0)] * size
    scale = fmpz(1)
    terms = polynomial.to_dict()
    for coefficient in terms.values():
        scale = scale.lcm(coefficient.q)
    strides = [1] * len(degrees)
    for axis in range(len(degrees) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * (degrees[axis + 1] + 1)
    for monomial, coefficient in terms.items():
        position = sum(int(monomial[k]) * s for k, s in zip(axes, strides, strict=True))
        entries[position] = (coefficient * scale).p
    if len(axes) == 1 and degrees[0] > MAX_MATRIX:
        interval = box[names[axes[0]]]
        entries, factor = bernstein_entries(fmpz_poly(entries), interval.lower, interval.upper)
        return BernsteinForm(degrees, entries, scale * factor)
    for axis, degree in zip(axes, degrees, strict=True):
        interval = box[names[axis]]
        matrix, factor = _axis_matrix(degree, interval.lower, interval.upper)
        entries = rotate(matrix, entries)
        scale *= factor
    return BernsteinForm(degrees, entries, scale)


def rotate(matrix: fmpz_mat, entries: list[fmpz]) -> list[fmpz]:
    """Applies the matrix along the first axis and moves that axis to the end.

    Doing so once for each axis transforms all axes and restores their order.
    """
    rows = matrix.ncols()
    columns = len(entries) // rows
    transformed = matrix * fmpz_mat(rows, columns, entries)
    return transformed.transpose().entries()


@lru_cache(maxsize=512)
def _axis_matrix(degree: int, lower: Fraction, upper: Fraction) -> tuple[fmpz_mat, fmpz]:
    """Returns (M, s), s > 0: M/s maps power coefficients in x to Bernstein coefficients on [lower, upper].

    x = l + w·t turns coefficients a into c_j = w^j Σ_{i≥j} C(i,j) l^{i−j} a_i. With l = p/m and w = r/m,
    m^d·c_j = r^j Σ_{i≥j} C(i,j) p^{i−j} m^{d−i} a_i has whole coefficients.
    """
    conversion, factor = _basis_matrix(degree)
    bottom = lower.denominator * upper.denominator // gcd(lower.denominator, upper.denominator)
    low, width = int(lower * bottom), int((upper - lower) * bottom)
    rows: list[int] = []
    for j in range(degree + 1):
        rows += [0] * j
        rows += [
            comb(i, j) * width**j * low ** (i - j) * bottom ** (degree - i) for i in range(j, degree + 1)
        ]
    return conversion * fmpz_mat(degree + 1, degree + 1, rows), factor * fmpz(bottom) ** degree


@lru_cache(maxsize=512)
def _basis_matrix(degree: int) -> tuple[fmpz_mat, fmpz]:
    """Returns (M, s): M/s maps power coefficients c to the Bernstein coefficients on the unit interval.

    They are b_i = Σ_{j≤i} C(i,j)/C(d,j) · c_j ([Farin02] section 5.8).
    """
    scale = lcm(*(comb(degree, j) for j in range(degree + 1)))
    rows = [comb(i, j) * (scale // comb(degree, j)) for i in range(degree + 1) for j in range(degree + 1)]
    return fmpz_mat(degree + 1, degree + 1, rows), fmpz(scale)


@dataclass(frozen=True, eq=False, slots=True)
class Patch:
    """Bernstein coefficients on a box that is being cut up: coefficient i is `entries[i] / scale`, scale > 0.

    `names` and `degrees` describe the axes in the order of storage (row-major, the first axis slowest);
    operations may reorder them. The box itself is kept by the caller, who knows the cuts.
    """

    names: tuple[str, ...]
    degrees: tuple[int, ...]
    entries: list[int]
    scale: int

    def at_corner(self, ends: Mapping[str, int]) -> int:
        """Returns the entry at a vertex, given the end (0 or 1) on every axis: the value times scale."""
        position = 0
        for name, degree in zip(self.names, self.degrees, strict=True):
            position = position * (degree + 1) + degree * ends[name]
        return self.entries[position]

    def vanishes(self, ends: Mapping[int, int], order: int) -> bool:
        """Tells whether f vanishes to order 1 or 2 on the face where axes (by number) are at their ends.

        That is, whether the entries on that face are zero, and for order 2 also those one step away from it.
        """
        places = {axis: self.degrees[axis] * end for axis, end in ends.items()}
        layers = [places]
        if order > 1:
            steps = {axis: -1 if end else 1 for axis, end in ends.items()}
            layers += [{**places, axis: places[axis] + step} for axis, step in steps.items()]
        return not any(self.entries[k] for layer in layers for k in _positions(self.degrees, layer))

    def never_zero(self, box: Mapping[str, Interval]) -> bool:
        """Tells whether f, whose coefficients have one weak sign, vanishes nowhere on the half-open box.

        As in `signs`: some coefficient must be nonzero on each of the smallest faces that belong to the box.
        """
        choices: list[list[int | None]] = []
        for name in self.names:
            closed = (box[name].lower_closed, box[name].upper_closed)
            choices.append([end for end in (0, 1) if closed[end]] or [None])
        for ends in product(*choices):
            fixed = {a: self.degrees[a] * end for a, end in enumerate(ends) if end is not None}
            if not any(self.entries[k] for k in _positions(self.degrees, fixed)):
                return False
        return True

    def corners(self) -> Iterator[tuple[dict[str, int], int]]:
        """Yields each vertex, as the end (0 or 1) on every axis, and the entry there: value times scale."""
        for choice in product((0, 1), repeat=len(self.degrees)):
            ends = dict(zip(self.names, choice, strict=True))
            yield ends, self.at_corner(ends)


def _positions(degrees: Sequence[int], fixed: Mapping[int, int]) -> Iterator[int]:
    """Yields the row-major positions of the entries with the given indices on some axes."""
    ranges = [(fixed[a],) if a in fixed else range(d + 1) for a, d in enumerate(degrees)]
    for index in product(*ranges):
        position = 0
        for i, degree in zip(index, degrees, strict=True):
            position = position * (degree + 1) + i
        yield position


def patch(polynomial: Polynomial, box: Mapping[str, Interval]) -> Patch:
    """Returns the Bernstein coefficients of a polynomial on the closure of the box."""
    form = bernstein_form(polynomial, box)
    scale, entries = int(form.scale), [int(entry) for entry in form.entries]
    common = gcd(scale, *entries)
    if common > 1:
        scale, entries = scale // common, [entry // common for entry in entries]
    return Patch(variables(polynomial), form.degrees, entries, scale)


def slabs(patch: Patch, name: str) -> tuple[Patch, list[list[int]]]:
    """Returns the patch with the named axis first, and its entries cut at each index of that axis."""
    axis = patch.names.index(name)
    if axis:
        # Moving the axes before this one to the end is the transposition of a matrix.
        columns = 1
        for degree in patch.degrees[axis:]:
            columns *= degree + 1
        entries = [e for column in range(columns) for e in patch.entries[column::columns]]
        names = patch.names[axis:] + patch.names[:axis]
        degrees = patch.degrees[axis:] + patch.degrees[:axis]
        patch = Patch(names, degrees, entries, patch.scale)
    size = len(patch.entries) // (patch.degrees[0] + 1)
    return patch, [patch.entries[i : i + size] for i in range(0, len(patch.entries), size)]


def split(patch: Patch, name: str, ratio: Fraction = Fraction(1, 2)) -> tuple[Patch, Patch]:
    """Returns the coefficients below and above a cut of the named axis, at this ratio of its length.

    De Casteljau's algorithm ([Farin02] section 4.2): with averages b_i^k = (1−r)·b_i^{k−1} + r·b_{i+1}^{k−1},
    the lower part has coefficients b_0^k and the upper part b_i^{d−i}. With r = p/m the integers m^k·b_i^k
    are computed, and multiplied by m^{d−k}.
    """
    patch, rows = slabs(patch, name)
    degree = patch.degrees[0]
    whole, part = ratio.denominator, ratio.numerator
    rest = whole - part
    lower, upper = rows[0][:], rows[-1][:]
    lowers, uppers = [lower], [upper]
    for _ in range(degree):
        if whole == 2:
            rows = [[a + b for a, b in zip(x, y, strict=True)] for x, y in pairwise(rows)]
        else:
            rows = [[rest * a + part * b for a, b in zip(x, y, strict=True)] for x, y in pairwise(rows)]
        lowers.append(rows[0])
        uppers.append(rows[-1])
    factors = [whole ** (degree - k) for k in range(degree + 1)]
    scale = patch.scale * whole**degree
    return (
        Patch(patch.names, patch.degrees, _scaled(lowers, factors), scale),
        Patch(patch.names, patch.degrees, _scaled(uppers[::-1], factors[::-1]), scale),
    )


def _scaled(rows: list[list[int]], factors: list[int]) -> list[int]:
    return [entry * factor for row, factor in zip(rows, factors, strict=True) for entry in row]


def face(patch: Patch, name: str, end: int) -> Patch:
    """Returns the coefficients on the face where the named axis is at its lower (0) or upper (1) end."""
    patch, rows = slabs(patch, name)
    return Patch(patch.names[1:], patch.degrees[1:], rows[-end], patch.scale)


def slope(patch: Patch, name: str) -> Patch:
    """Returns the derivative along an axis of the unit box, with the axis of degree 0 kept if it was linear.

    Its coefficients are d·(b_{i+1} − b_i) ([Farin02] section 5.3).
    """
    patch, rows = slabs(patch, name)
    degree = patch.degrees[0]
    if not degree:
        return Patch(patch.names, patch.degrees, [0] * len(patch.entries), patch.scale)
    entries = [degree * (b - a) for low, high in pairwise(rows) for a, b in zip(low, high, strict=True)]
    return Patch(patch.names, (degree - 1, *patch.degrees[1:]), entries, patch.scale)


def slope_sign(patch: Patch, name: str) -> int:
    """Returns 1 if the polynomial is proved nondecreasing along the axis, -1 if nonincreasing, otherwise 0.

    All coefficients of the derivative have that sign then.
    """
    _, rows = slabs(patch, name)
    sign = 0
    for below, above in pairwise(rows):
        steps = [b - a for a, b in zip(below, above, strict=True)]
        if max(steps) > 0:
            if sign < 0:
                return 0
            sign = 1
        if min(steps) < 0:
            if sign > 0:
                return 0
            sign = -1
    return sign or 1
