"""Polyhedral cones with whole-number generators: membership suggested in floats, accepted only when exact.

A vector t lies in the cone of columns a_1, ..., a_n iff t = Σ λ_k·a_k with λ ≥ 0 ([Schrijver86] section 7.1).
Which columns take part is suggested by phase one of the revised simplex method in floats, or in whole numbers
where the floats do not suffice. The weights are then solved for over the rationals, so a wrong suggestion
costs a reduction and never makes a wrong one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from itertools import combinations
from math import gcd
from operator import mul

from flint import fmpq_mat, fmpz_mat

Vector = tuple[int, ...]

TOLERANCE = 1e-10
CLEAR = 1e-6  # a distance from the cone that is no rounding error
MAX_PIVOTS = 400
GREEDY_PIVOTS = 60  # then by Bland's rule, which never cycles


def whole(vector: Sequence[int]) -> Vector:
    """Returns the vector divided by the greatest common divisor of its entries, a positive number."""
    divisor = reduce(gcd, vector, 0)
    return tuple(x // divisor for x in vector) if divisor > 1 else tuple(vector)


def combination(
    target: Vector,
    columns: Sequence[Vector],
    below: Collection[int] = (),
    above: Collection[int] = (),
) -> dict[int, Fraction] | None:
    """Returns λ > 0 by column number with target = Σ λ_k·columns[k], exactly; None if none was found.

    In the coordinates `below` it is enough that target ≤ Σ, and in those `above` that target ≥ Σ. All vectors
    have nonnegative entries, and the target is not zero.
    """
    rows = [i for i, x in enumerate(target) if x]
    # In other coordinates, as λ ≥ 0, columns that take part vanish; or the sum is free to be positive.
    empty = [i for i, x in enumerate(target) if not x and i not in below]
    usable = [k for k, c in enumerate(columns) if not any(map(c.__getitem__, empty)) and any(c)]
    short = [tuple(columns[k][i] for i in rows) for k in usable]
    goal = tuple(target[i] for i in rows)
    for place, i in enumerate(rows):
        if i in below or i in above:
            entry = goal[place] * (-1 if i in below else 1)
            short.append(tuple(entry if j == place else 0 for j in range(len(rows))))
    if not usable:
        return None
    basis, missing = _suggest(goal, short)
    if missing > CLEAR:
        return None
    weights = _solve(goal, short, basis)
    if weights is None:
        found = _simplex(goal, short)
        weights = None if found is None else _solve(goal, short, found)
    return None if weights is None else {usable[k]: w for k, w in weights.items() if k < len(usable)}


def _suggest(target: Vector, columns: Sequence[Vector]) -> tuple[list[int], float]:
    """Returns columns that seem to combine to the target, and how much of it is missing, in floats."""
    # A positive factor for a coordinate or a column changes no membership; it brings all entries near to one.
    size = len(target)
    scaled: list[list[float]] = []
    for column in columns:
        row = [x / t for x, t in zip(column, target, strict=True)]
        total = sum(map(abs, row)) or 1.0
        scaled.append([x / total for x in row])
    inverse = [[float(i == j) for j in range(size)] for i in range(size)]
    values = [1.0] * size
    basis = [-1] * size  # -1: an artificial column
    for _ in range(MAX_PIVOTS):
        prices = [sum(inverse[i][j] for i in range(size) if basis[i] < 0) for j in range(size)]
        gains = [sum(map(mul, prices, column)) for column in scaled]
        enter = max(range(len(scaled)), key=gains.__getitem__)
        if gains[enter] <= TOLERANCE:
            break
        column_ = [sum(map(mul, row, scaled[enter])) for row in inverse]
        rows = [i for i in range(size) if column_[i] > TOLERANCE]
        if not rows:
            break
        # Among ties an artificial column leaves first.
        leave = min(rows, key=lambda i: (values[i] / column_[i], basis[i]))
        pivot = column_[leave]
        inverse[leave] = [x / pivot for x in inverse[leave]]
        values[leave] /= pivot
        for i in range(size):
            if i != leave and column_[i]:
                factor = column_[i]
                inverse[i] = [x - factor * y for x, y in zip(inverse[i], inverse[leave], strict=True)]
                values[i] = max(0.0, values[i] - factor * values[leave])
        basis[leave] = enter
        if sum(v for v, b in zip(values, basis, strict=True) if b < 0) <= TOLERANCE:
            break
    return [b for b in basis if b >= 0], sum(v for v, b in zip(values, basis, strict=True) if b < 0)


def _simplex(target: Vector, columns: Sequence[Vector]) -> list[int] | None:
    """Returns columns of a feasible basis, by phase one of the simplex method with whole numbers."""
    size = len(target)
    table = fmpz_mat([[c[i] for c in columns] for i in range(size)])
    goal = fmpz_mat([[t] for t in target])
    artificial = len(columns)  # columns from here on are unit vectors
    basis = [artificial + i for i in range(size)]
    for step in range(MAX_PIVOTS):
        matrix = [
            [columns[b][i] if b < artificial else int(b - artificial == i) for b in basis]
            for i in range(size)
        ]
        inverse = fmpq_mat(fmpz_mat(matrix)).inv()
        scaled, _ = inverse.numer_denom()  # the denominator is positive
        values = [int(x) for x in (scaled * goal).entries()]
        if not any(v for v, b in zip(values, basis, strict=True) if b >= artificial):
            return [b for b in basis if b < artificial]
        entries = scaled.tolist()
        prices = [
            sum(row[j] for row, b in zip(entries, basis, strict=True) if b >= artificial) for j in range(size)
        ]
        gains = (fmpz_mat([prices]) * table).entries()
        positive = [k for k, g in enumerate(gains) if g > 0]
        if not positive:
            return None
        enter = max(positive, key=gains.__getitem__) if step < GREEDY_PIVOTS else positive[0]
        column = (scaled * fmpz_mat([[x] for x in columns[enter]])).entries()
        rows = [i for i in range(size) if column[i] > 0]
        leave = min(
            rows,
            key=lambda i: (
                Fraction(values[i], int(column[i])),
                -basis[i] if step < GREEDY_PIVOTS else basis[i],
            ),
        )
        basis[leave] = enter
    return None


def _solve(target: Vector, columns: Sequence[Vector], chosen: Sequence[int]) -> dict[int, Fraction] | None:
    """Returns weights of the chosen columns that give the target exactly, if they are nonnegative."""
    width = len(chosen)
    rows = [[*(columns[k][i] for k in chosen), target[i]] for i in range(len(target))]
    reduced, scale, rank = fmpz_mat(rows).rref()
    weights: dict[int, Fraction] = {}
    for i in range(rank):
        pivot = next(j for j in range(width + 1) if reduced[i, j])
        if pivot == width:
            return None  # the target is no combination of these columns
        weight = Fraction(int(reduced[i, width]), int(scale))
        if weight < 0:
            return None
        if weight:
            weights[chosen[pivot]] = weight
    return weights


def extreme_rays(normals: Iterable[Sequence[int]], size: int) -> list[Vector]:
    """Returns the extreme rays of the pointed cone {v : n·v ≥ 0 for every normal n}.

    By definition: a ray that satisfies all inequalities, where those with equality have rank size − 1. Every
    such set of rows is tried, so this is for small dimensions.

    Raises:
        ValueError: the cone contains a line.
    """
    if not size:
        return []
    rows = list(dict.fromkeys(whole(n) for n in normals if any(n)))
    if fmpz_mat([list(r) for r in rows]).rank() < size:
        raise ValueError("the cone contains a line")
    if size == 1:
        return [v for v in ((1,), (-1,)) if all(r[0] * v[0] >= 0 for r in rows)]
    found: dict[Vector, None] = {}
    for chosen in combinations(rows, size - 1):
        basis, nullity = fmpz_mat([list(r) for r in chosen]).nullspace()
        if nullity != 1:
            continue
        line = whole([int(basis[i, 0]) for i in range(size)])
        for ray in (line, tuple(-x for x in line)):
            if ray not in found and all(sum(map(mul, r, ray)) >= 0 for r in rows):
                found[ray] = None
    return list(found)


def combine(weights: Mapping[int, Fraction], columns: Sequence[Vector]) -> tuple[Fraction, ...]:
    """Returns Σ λ_k·columns[k]."""
    size = len(columns[0])
    return tuple(sum((w * columns[k][i] for k, w in weights.items()), Fraction(0)) for i in range(size))
