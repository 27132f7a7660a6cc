"""The Bernstein form of a polynomial on a box, exact, and with a proved error for many small boxes.

On the box with lower ends l and widths w, a polynomial f of degrees d is `f(l + w·t) = Σ_i b_i · B_{i,d}(t)`
for t in the unit box, where the B are products of Bernstein basis polynomials: nonnegative on the box,
positive inside it, and of sum one. So ([Farin02] chapters 5 and 6; [Garloff86] for several variables)

- min b ≤ f ≤ max b on the box, and b at a corner of the index box is the value of f at that vertex;
- on the face where some t are 0 or 1, the coefficients of f are those b with the index 0 or d there.

A polynomial f on a box has Bernstein coefficients b_i of some degrees. An enclosure holds whole numbers e_i,
of the same or lower degrees, and an error r with

    |s·b_i − ē_i| ≤ r  for all i and some s > 0,

where ē is e elevated to the degrees of f. Elevated coefficients are averages of the e_i ([Farin02] section
5.1), so the Bernstein coefficients of s·f itself are at least min e − r and at most max e + r. Cutting keeps
this: the coefficients on a part of the box are averages of those on the box, those of the difference as well
(section 4.2). So what is shown here by signs, the full form shows too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import pairwise, product
from math import comb, gcd, lcm, prod
from operator import add, sub

from flint import fmpq, fmpq_mat, fmpz, fmpz_mat, fmpz_poly

from paramverify.algebra.domains import Interval
from paramverify.algebra.polynomials import Polynomial, variables

SHIFT = fmpz_poly([1, 1])


def on_unit(polynomial: fmpz_poly, lower: Fraction, upper: Fraction) -> fmpz_poly:
    """Returns m^d·f(lower + (upper − lower)·t), d the degree and m the least common denominator."""
    bottom = lcm(lower.denominator, upper.denominator)
    low, width = int(lower * bottom), int((upper - lower) * bottom)
    degree = polynomial.degree()
    powers = fmpz(1)
    scaled = [fmpz(0)] * (degree + 1)
    for i in range(degree, -1, -1):
        scaled[i] = polynomial[i] * powers
        powers *= bottom
    return fmpz_poly(scaled)(fmpz_poly([low, width]))


def weighted(polynomial: fmpz_poly, degree: int | None = None) -> list[fmpz]:
    """Returns C(d,i)·b_{d−i} for the Bernstein coefficients b on the unit interval.

    C(d,i)·b_i is the coefficient of t^i in (1+t)^d·f(t/(1+t)), and that of (1+t)^{d−i} in f's reversal. d is
    the degree of f, or a larger one that is given.
    """
    d = polynomial.degree() if degree is None else degree
    shifted = fmpz_poly([polynomial[d - i] for i in range(d + 1)])(SHIFT)
    return [shifted[i] for i in range(d + 1)]


def bernstein_entries(polynomial: fmpz_poly, lower: Fraction, upper: Fraction) -> tuple[list[fmpz], fmpz]:
    """Returns whole numbers e and s > 0: the Bernstein coefficients on an interval are e_i / s."""
    degree = polynomial.degree()
    shares, scale = _shares(degree)
    found = weighted(on_unit(polynomial, lower, upper), degree)  # on a point it is a number
    bottom = lcm(lower.denominator, upper.denominator)
    return [found[degree - i] * shares[i] for i in range(degree + 1)], scale * fmpz(bottom) ** degree


@lru_cache(maxsize=64)
def _shares(degree: int) -> tuple[list[fmpz], fmpz]:
    """Returns s / C(d,i) for each i, and s: the least whole number for which they are whole."""
    scale = lcm(*(comb(degree, i) for i in range(degree + 1)))
    return [fmpz(scale // comb(degree, i)) for i in range(degree + 1)], fmpz(scale)


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


BITS = 64  # of the entries of a rounded form
HALF = Fraction(1, 2)
SMALL = 10  # degree up to which cutting by averages in Python is quicker than a matrix product


@dataclass(frozen=True, eq=False, slots=True)
class Enclosure:
    """Bernstein coefficients on a box up to a positive factor, each within `error` of its entry.

    `entries` is row-major over the axes named, the first slowest. The box is kept by the caller.
    """

    names: tuple[str, ...]
    degrees: tuple[int, ...]
    entries: list[int]
    error: int

    @property
    def lower(self) -> int:
        """A number with the sign of a lower bound: f ≥ 0 on the closed box if it is not negative."""
        return min(self.entries) - self.error

    @property
    def upper(self) -> int:
        """A number with the sign of an upper bound: f < 0 on the closed box if it is negative."""
        return max(self.entries) + self.error


def enclosure(polynomial: Polynomial, box: Mapping[str, Interval], bits: int | None = None) -> Enclosure:
    """Returns the Bernstein form on the closure of the box, rounded to `bits` if given."""
    form = bernstein_form(polynomial, box)
    exact = Enclosure(variables(polynomial), form.degrees, [int(e) for e in form.entries], 0)
    return exact if bits is None else rounded(exact, bits)


def rounded(form: Enclosure, bits: int = BITS) -> Enclosure:
    """Returns the form with entries of at most so many bits, if they have many more.

    Rounding down to a multiple of 2**s changes an entry by less than one unit of that size.
    """
    shift = max(max(form.entries), -min(form.entries)).bit_length() - bits
    if shift < 24:
        return form
    error = -(-form.error >> shift) + 1
    return replace(form, entries=[entry >> shift for entry in form.entries], error=error)


def enclosure_slabs(form: Enclosure, axis: int) -> list[list[int]]:
    """Returns the entries cut at each index of an axis."""
    count = form.degrees[axis] + 1
    inner = prod(d + 1 for d in form.degrees[axis + 1 :])
    if inner == 1:
        return [form.entries[k::count] for k in range(count)]
    entries, step = form.entries, count * inner
    if step == len(entries):
        return [entries[k : k + inner] for k in range(0, step, inner)]
    return [
        [e for start in range(k * inner, len(entries), step) for e in entries[start : start + inner]]
        for k in range(count)
    ]


def _joined(form: Enclosure, axis: int, rows: Sequence[Sequence[int]]) -> list[int]:
    """Returns the entries of which `rows` are the slabs along an axis."""
    inner = prod(d + 1 for d in form.degrees[axis + 1 :])
    if inner == len(rows[0]):
        return [e for row in rows for e in row]
    return [e for start in range(0, len(rows[0]), inner) for row in rows for e in row[start : start + inner]]


def split_enclosure(form: Enclosure, name: str, ratio: Fraction = HALF) -> tuple[Enclosure, Enclosure]:
    """Returns the forms below and above a cut of the named axis, at a ratio of its length."""
    axis = form.names.index(name)
    degree = form.degrees[axis]
    if degree > SMALL:
        below = restricted(form, {name: (Fraction(0), ratio)})
        return rounded(below), rounded(restricted(form, {name: (ratio, Fraction(1))}))
    rows, whole = enclosure_slabs(form, axis), ratio.denominator
    high, factor = ratio.numerator, whole**degree
    low = whole - high
    lowers, uppers = [[e * factor for e in rows[0]]], [[e * factor for e in rows[-1]]]
    for _ in range(degree):
        if low == high:
            rows = [list(map(add, x, y)) for x, y in pairwise(rows)]
        else:
            rows = [[low * a + high * b for a, b in zip(x, y, strict=True)] for x, y in pairwise(rows)]
        factor //= whole
        lowers.append([e * factor for e in rows[0]])
        uppers.append([e * factor for e in rows[-1]])
    error = form.error * whole**degree
    return (
        Enclosure(form.names, form.degrees, _joined(form, axis, lowers), error),
        Enclosure(form.names, form.degrees, _joined(form, axis, uppers[::-1]), error),
    )


def restricted(form: Enclosure, part: Mapping[str, tuple[Fraction, Fraction]]) -> Enclosure:
    """Returns the form on a part of the box, given by ratios in [0, 1] of the lengths of some axes."""
    return _transformed(form, [_part(d, *part[n]) if n in part else None for n, d in _axes(form)])


def _axes(form: Enclosure) -> Iterator[tuple[str, int]]:
    return zip(form.names, form.degrees, strict=True)


def _transformed(form: Enclosure, matrices: Sequence[tuple[fmpz_mat, int] | None]) -> Enclosure:
    """Applies a matrix (divided by its number) to each axis; the rows of each are averages."""
    entries = list(map(fmpz, form.entries))
    degrees, scale = [], 1
    pending = [m for m in matrices if m is not None]
    for degree, chosen in zip(form.degrees, matrices, strict=True):
        if chosen is None:
            degrees.append(degree)
            if pending:
                identity = _identity(degree + 1)
                entries = rotate(identity, entries)
            continue
        matrix, bottom = chosen
        entries = rotate(matrix, entries)
        degrees.append(matrix.nrows() - 1)
        scale *= bottom
    return Enclosure(form.names, tuple(degrees), [int(e) for e in entries], form.error * scale)


@lru_cache(maxsize=64)
def _identity(size: int) -> fmpz_mat:
    return fmpz_mat(size, size, [int(i == j) for i in range(size) for j in range(size)])


@lru_cache(maxsize=4096)
def _part(degree: int, low: Fraction, high: Fraction) -> tuple[fmpz_mat, int]:
    """Returns (M, m): M/m maps coefficients on the unit interval to those on [low, high].

    Coefficient i there is the blossom at d − i times low and i times high ([Farin02] section 4.4): the
    weights are the coefficients of (1 − low + low·z)^(d−i) · (1 − high + high·z)^i.
    """
    bottom = max(low.denominator, high.denominator)
    if bottom % low.denominator or bottom % high.denominator:
        bottom = low.denominator * high.denominator
    a, b = int(low * bottom), int(high * bottom)
    lows, highs = [fmpz_poly([1])], [fmpz_poly([1])]
    for _ in range(degree):
        lows.append(lows[-1] * fmpz_poly([bottom - a, a]))
        highs.append(highs[-1] * fmpz_poly([bottom - b, b]))
    rows: list[fmpz] = []
    for i in range(degree + 1):
        weights = (lows[degree - i] * highs[i]).coeffs()
        rows += [*weights, *[fmpz(0)] * (degree + 1 - len(weights))]
    return fmpz_mat(degree + 1, degree + 1, rows), bottom**degree


def at(form: Enclosure, name: str, ratio: Fraction) -> Enclosure:
    """Returns the form with the named variable fixed at a ratio of its interval."""
    axis = form.names.index(name)
    rows = enclosure_slabs(form, axis)
    names = form.names[:axis] + form.names[axis + 1 :]
    degrees = form.degrees[:axis] + form.degrees[axis + 1 :]
    if ratio in (0, 1):
        return Enclosure(names, degrees, rows[-int(ratio)], form.error)
    degree, top, bottom = form.degrees[axis], ratio.numerator, ratio.denominator
    weights = [comb(degree, k) * top**k * (bottom - top) ** (degree - k) for k in range(degree + 1)]
    entries = [sum(w * e for w, e in zip(weights, line, strict=True)) for line in zip(*rows, strict=True)]
    return Enclosure(names, degrees, entries, form.error * bottom**degree)


def reduced(form: Enclosure, degrees: Sequence[int]) -> Enclosure:
    """Returns an enclosure of these lower degrees, with the error that this makes.

    The entries are those nearest by least squares, rounded; how they were found does not matter, for the
    error is the largest difference between the given entries and the new ones elevated, computed exactly.
    """
    size = max(max(form.entries), -min(form.entries)).bit_length()
    if size < BITS:
        grown = [entry << (BITS - size) for entry in form.entries]
        form = replace(form, entries=grown, error=form.error << (BITS - size))
    pairs = list(zip(form.degrees, degrees, strict=True))
    fits = [_fit(d, k) if k < d else None for d, k in pairs]
    near = _transformed(form, fits)
    scale = prod(m for _, m in filter(None, fits))
    near = replace(near, entries=[(2 * entry + scale) // (2 * scale) for entry in near.entries])
    lifts = [_elevation(d, k) if k < d else None for d, k in pairs]
    back = _transformed(near, lifts)
    scale = prod(m for _, m in filter(None, lifts))
    worst = max(abs(scale * b - e) for b, e in zip(form.entries, back.entries, strict=True))
    return replace(near, error=form.error - (-worst // scale))


@lru_cache(maxsize=256)
def _elevation(degree: int, low: int) -> tuple[fmpz_mat, int]:
    """Returns (M, m): M/m maps coefficients of a low degree to those of the same polynomial in a higher one.

    They are b_i = Σ_j C(low, j)·C(degree − low, i − j)/C(degree, i) · e_j ([Farin02] section 5.1).
    """
    scale = lcm(*(comb(degree, i) for i in range(degree + 1)))
    rows = [
        comb(low, j) * comb(degree - low, i - j) * (scale // comb(degree, i)) if i >= j else 0
        for i in range(degree + 1)
        for j in range(low + 1)
    ]
    return fmpz_mat(degree + 1, low + 1, rows), scale


@lru_cache(maxsize=256)
def _fit(degree: int, low: int) -> tuple[fmpz_mat, int]:
    """Returns (M, m): M/m maps coefficients to those of a low degree that are nearest to them, about."""
    matrix, scale = _elevation(degree, low)
    columns = fmpq_mat(matrix) * fmpq(1, scale)
    fit = (columns.transpose() * columns).inv() * columns.transpose()
    bits = 1 << 20
    return fmpz_mat(low + 1, degree + 1, [(2 * e.p * bits + e.q) // (2 * e.q) for e in fit.entries()]), bits


def spreads(form: Enclosure) -> list[int]:
    """Returns how much the coefficients vary along each axis: the sum of their steps."""
    totals = []
    for axis, degree in enumerate(form.degrees):
        rows = enclosure_slabs(form, axis)
        steps = sum(sum(map(abs, map(sub, x, y))) for x, y in pairwise(rows))
        totals.append(steps * (degree + 1))
    return totals


def rises(form: Enclosure, name: str, degree: int) -> int:
    """Returns 1 if the coefficients of f are proved not to fall along the axis, -1 not to rise, otherwise 0.

    `degree` is that of f along the axis. The steps of elevated coefficients are averages of the steps of the
    entries times low/degree (the derivative has coefficients degree·step), and f's are within twice the error
    of them.
    """
    axis = form.names.index(name)
    rows, low = enclosure_slabs(form, axis), form.degrees[axis]
    steps = [b - a for x, y in pairwise(rows) for a, b in zip(x, y, strict=True)]
    least = 2 * form.error * degree
    if min(steps) * low >= least:
        return 1
    return -1 if max(steps) * low <= -least else 0


def nowhere_zero(form: Enclosure, closed: Mapping[str, tuple[bool, bool]]) -> bool:
    """Tells whether f, whose entries are exact and have one weak sign, vanishes nowhere on the half-open box.

    `closed` tells for each axis which of its ends belong to the box. As in `signs`: on each of the smallest
    faces that belong to it some coefficient must be nonzero.
    """
    choices: list[list[int | None]] = []
    for name in form.names:
        choices.append([end for end in (0, 1) if closed[name][end]] or [None])
    for ends in product(*choices):
        entries = form.entries
        face = Enclosure(form.names, form.degrees, entries, 0)
        for name, end in zip(form.names, ends, strict=True):
            if end is not None:
                face = at(face, name, Fraction(end))
        if not any(face.entries):
            return False
    return True
