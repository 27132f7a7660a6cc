"""Cones of bounded ratios {v ≥ 0 : v_i ≤ u_ij·v_j}, found by iteration with numbers and rounded outward."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from paramverify.algebra.cones import Vector, extreme_rays, whole
from paramverify.algebra.simplest import simplest_between

MAX_ROUNDS = 60
LARGEST = 10**6  # a ratio beyond it counts as unbounded


def kept_normals(
    numbers: Sequence[list[list[list[int]]]], size: int, margin: Fraction, check: Callable[[], None]
) -> list[Vector] | None:
    """Returns the inequalities of the smallest cone of bounded ratios found that steps at the points keep.

    The bounds only grow, each to the simplest number in a range that begins at what is needed.
    """
    bounds: dict[tuple[int, int], Fraction | None] = {
        (i, j): Fraction(1) for i in range(size) for j in range(size) if i != j
    }
    for _ in range(MAX_ROUNDS):
        normals = _inequalities(bounds, size)
        grown = dict(bounds)
        for ray in extreme_rays(normals, size):
            check()
            for tables in numbers:
                for table in tables:
                    vector = [sum(w * x for w, x in zip(row, ray, strict=True)) for row in table]
                    for (i, j), bound in grown.items():
                        if bound is not None and vector[i] > bound * vector[j]:
                            grown[i, j] = _rounded(vector[i], vector[j], margin)
        if grown == bounds:
            return normals
        bounds = grown
    return None


def _rounded(top: int, bottom: int, margin: Fraction) -> Fraction | None:
    if top > LARGEST * bottom:
        return None
    value = Fraction(top, bottom)
    # A little below the range, so that the value itself may be the simplest number in it.
    low = value - value * margin / 10**6
    found = simplest_between(low, value * (1 + margin))
    return max(found, value)


def _inequalities(bounds: Mapping[tuple[int, int], Fraction | None], size: int) -> list[Vector]:
    """Returns normals n with n·v ≥ 0: v ≥ 0, and v_i ≤ u_ij·v_j."""
    normals = [tuple(int(i == k) for i in range(size)) for k in range(size)]
    for (i, j), bound in bounds.items():
        if bound is not None:
            normal = [0] * size
            normal[i], normal[j] = -bound.denominator, bound.numerator
            normals.append(whole(normal))
    return normals
