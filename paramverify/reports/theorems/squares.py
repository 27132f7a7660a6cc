"""Sums of squares with short numbers: Coq adds fractions slowly where their denominators are long.

Squares of an exact decomposition Q = L·D·Lᵀ of a matrix have denominators that grow with each step. Q itself
has short ones. So Q = A·Aᵀ + R is taken, with A rounded, and R diagonally dominant: R is the sum over i < j
of |R_ij| (e_i ± e_j)², and of what is left on its diagonal.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import lcm, sqrt

from paramverify.checker.polynomials import Poly

Square = tuple[Fraction, Poly]  # c · h²
Matrix = list[list[Fraction]]

LONG = 400  # bits of a common denominator from which shorter squares are looked for
MARGINS = range(2, 40, 3)  # how far A·Aᵀ is from Q: 2^-j times the largest entry
BITS = range(8, 64, 8)  # behind the point, in A


def scale_of(polynomial: Poly) -> int:
    """Returns the least common denominator of the coefficients."""
    return lcm(*(c.denominator for c in polynomial.values()))


def denominator(squares: Sequence[Square]) -> int:
    """Returns a common denominator of c · h² for all squares, each h with whole coefficients over its own."""
    return lcm(*((c / scale_of(h) ** 2).denominator for c, h in squares))


def shorter(squares: Sequence[Square]) -> list[Square]:
    """Returns squares with the same sum, with a shorter common denominator where that is found."""
    given = list(squares)
    if denominator(given).bit_length() <= LONG:
        return given
    monomials = sorted({m for _, h in given for m in h})
    rows = [[h.get(m, Fraction(0)) for m in monomials] for _, h in given]
    pivots, forms = _echelon(rows)
    gram = [
        [
            sum((c * row[i] * row[j] for (c, _), row in zip(given, rows, strict=True)), Fraction(0))
            for j in pivots
        ]
        for i in pivots
    ]
    named = [{m: c for m, c in zip(monomials, form, strict=True) if c} for form in forms]
    for margin in MARGINS:
        root = _root(gram, margin)
        for bits in BITS if root else ():
            found = _rounded(gram, [[Fraction(round(x * 2**bits), 2**bits) for x in row] for row in root])
            if found is not None:
                new = [(c, _combined(weights, named)) for c, weights in found]
                return min(given, new, key=lambda listed: denominator(listed))
    return given


def _echelon(rows: Matrix) -> tuple[list[int], Matrix]:
    """Returns a basis of what the rows span, in which each basis vector alone is 1 at its pivot."""
    pivots: list[int] = []
    basis: Matrix = []
    for given in rows:
        row = given
        for pivot, other in zip(pivots, basis, strict=True):
            row = [x - row[pivot] * y for x, y in zip(row, other, strict=True)]
        place = next((k for k, x in enumerate(row) if x), None)
        if place is None:
            continue
        row = [x / row[place] for x in row]
        basis = [[x - other[place] * y for x, y in zip(other, row, strict=True)] for other in basis]
        pivots.append(place)
        basis.append(row)
    return pivots, basis


def _root(gram: Matrix, margin: int) -> list[list[float]]:
    """Returns a lower triangle A with A·Aᵀ near Q − 2^-margin·I; an empty one where there is none."""
    size = len(gram)
    away = float(max(gram[k][k] for k in range(size))) / 2**margin
    found = [[0.0] * size for _ in range(size)]
    for i in range(size):
        for j in range(i + 1):
            rest = float(gram[i][j]) - sum(found[i][k] * found[j][k] for k in range(j))
            if i != j:
                found[i][j] = rest / found[j][j]
            elif rest <= away:
                return []
            else:
                found[i][i] = sqrt(rest - away)
    return found


def _rounded(gram: Matrix, root: Matrix) -> list[tuple[Fraction, dict[int, Fraction]]] | None:
    """Returns Q as squares of combinations of the basis; None if Q − A·Aᵀ is not diagonally dominant."""
    size = range(len(gram))
    rest = [
        [gram[i][j] - sum((root[i][k] * root[j][k] for k in size), Fraction(0)) for j in size] for i in size
    ]
    left = [rest[i][i] - sum(abs(rest[i][j]) for j in size if j != i) for i in size]
    if min(left) < 0:
        return None
    found = [(Fraction(1), {i: root[i][k] for i in size if root[i][k]}) for k in size]
    for i, j in combinations(size, 2):
        if rest[i][j]:
            sign = Fraction(1 if rest[i][j] > 0 else -1)
            found.append((abs(rest[i][j]), {i: Fraction(1), j: sign}))
    return [*found, *((left[i], {i: Fraction(1)}) for i in size if left[i])]


def _combined(weights: dict[int, Fraction], basis: Sequence[Poly]) -> Poly:
    found: Poly = {}
    for k, weight in weights.items():
        for monomial, c in basis[k].items():
            found[monomial] = found.get(monomial, Fraction(0)) + weight * c
    return {monomial: c for monomial, c in found.items() if c}
