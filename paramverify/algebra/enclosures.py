"""Enclosures: Bernstein forms of small degree and few bits with a proved error, for many small boxes.

A polynomial f on a box has Bernstein coefficients b_i of some degrees. An enclosure holds whole numbers e_i,
of the same or lower degrees, and an error r with

    |s·b_i − ē_i| ≤ r  for all i and some s > 0,

where ē is e elevated to the degrees of f. Elevated coefficients are averages of the e_i ([Farin02] section
5.1), so the Bernstein coefficients of s·f itself are at least min e − r and at most max e + r. Cutting keeps
this: the coefficients on a part of the box are averages of those on the box, those of the difference as well
(section 4.2). So what is shown here by signs, the full form shows too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product
from math import comb, lcm, prod
from operator import add, sub

from flint import fmpq, fmpq_mat, fmpz, fmpz_mat, fmpz_poly

from paramverify.algebra.bernstein import bernstein_form, rotate
from paramverify.algebra.domains import Interval
from paramverify.algebra.polynomials import Polynomial, variables

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


def slabs(form: Enclosure, axis: int) -> list[list[int]]:
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


def split(form: Enclosure, name: str, ratio: Fraction = HALF) -> tuple[Enclosure, Enclosure]:
    """Returns the forms below and above a cut of the named axis, at a ratio of its length."""
    axis = form.names.index(name)
    degree = form.degrees[axis]
    if degree > SMALL:
        below = restricted(form, {name: (Fraction(0), ratio)})
        return rounded(below), rounded(restricted(form, {name: (ratio, Fraction(1))}))
    rows, whole = slabs(form, axis), ratio.denominator
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
    rows = slabs(form, axis)
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
        rows = slabs(form, axis)
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
    rows, low = slabs(form, axis), form.degrees[axis]
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
