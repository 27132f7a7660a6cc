"""Vectors and cones with rational entries, for the checker: standard library only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import reduce
from itertools import combinations
from math import gcd, lcm
from typing import Any

from .claims import Rejected
from .polynomials import number

MAX_NORMALS = 40

Vector = tuple[Fraction, ...]


def whole(vector: Sequence[int]) -> tuple[int, ...]:
    """Returns the vector divided by the greatest common divisor of its entries."""
    divisor = reduce(gcd, vector, 0) or 1
    return tuple(x // divisor for x in vector)


def read_vector(data: Any, size: int) -> tuple[int, ...]:
    """Reads a vector of whole numbers."""
    values = [number(x) for x in data]
    if len(values) != size or any(x.denominator != 1 for x in values):
        raise Rejected("not a vector of whole numbers")
    return tuple(int(x) for x in values)


def combined(
    weights: Mapping[int, Fraction], vectors: Mapping[int, Sequence[int]], size: int
) -> list[Fraction]:
    """Returns Σ λ_k·v_k for λ ≥ 0."""
    if any(w < 0 for w in weights.values()):
        raise Rejected("a combination with a negative weight")
    total = [Fraction(0)] * size
    for k, w in weights.items():
        total = [a + w * x for a, x in zip(total, vectors[k], strict=True)]
    return total


def extreme_rays(normals: Sequence[Sequence[int]], size: int) -> list[Vector]:
    """Returns the extreme rays of {v : n·v ≥ 0}: those on which normals of rank size − 1 vanish."""
    if not size:
        return []
    if size > 5 or len(normals) > MAX_NORMALS or len(kernel(normals, size)) > 0:
        raise Rejected("the cone is too large, or contains a line")
    found: dict[Vector, None] = {}
    for chosen in combinations(normals, size - 1):
        lines = kernel(chosen, size)
        if len(lines) == 1:
            factor = lcm(*(x.denominator for x in lines[0]))
            line = [x.numerator * (factor // x.denominator) for x in lines[0]]
            scale = max(map(abs, line))
            for sign in (1, -1):
                if all(sign * sum(a * x for a, x in zip(n, line, strict=True)) >= 0 for n in normals):
                    found[tuple(Fraction(sign * x, scale) for x in line)] = None
    return list(found)


def kernel(rows: Sequence[Sequence[int]], size: int) -> list[list[Fraction]]:
    """Returns a basis of the vectors on which all rows vanish, by elimination."""
    reduced: list[list[Fraction]] = []
    pivots: list[int] = []
    for row in rows:
        line = [Fraction(x) for x in row]
        for other, pivot in zip(reduced, pivots, strict=True):
            line = [a - line[pivot] * b for a, b in zip(line, other, strict=True)]
        place = next((k for k, x in enumerate(line) if x), None)
        if place is None:
            continue
        line = [x / line[place] for x in line]
        reduced = [[a - o[place] * b for a, b in zip(o, line, strict=True)] for o in reduced]
        reduced.append(line)
        pivots.append(place)
    basis = []
    for free in (k for k in range(size) if k not in pivots):
        vector = [Fraction(int(k == free)) for k in range(size)]
        for line, pivot in zip(reduced, pivots, strict=True):
            vector[pivot] = -line[free]
        basis.append(vector)
    return basis
