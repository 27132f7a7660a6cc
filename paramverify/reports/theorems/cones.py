"""Certificates for `proofs/theories/Coverings.v`: a cone of inequalities lies in that of its extreme rays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import lcm

from flint import fmpq_mat, fmpz_mat

from paramverify.algebra.cones import extreme_rays
from paramverify.errors import DefectError

Vector = tuple[int, ...]


@dataclass(frozen=True)
class Zero:
    """The only point of a face is zero: each coordinate is at least zero, and at most.

    For each coordinate there are weights of the normals and of the equalities of the face. The sum is `scale`
    times that unit vector, or the negative of it.
    """

    scale: int
    at_least: tuple[tuple[Vector, Vector], ...]
    at_most: tuple[tuple[Vector, Vector], ...]


@dataclass(frozen=True)
class Along:
    """One goes against a ray until one of the inequalities that it fulfils strictly becomes an equality."""

    ray: Vector
    faces: tuple[Along | Zero, ...]


def rays_of(normals: Sequence[Vector], size: int) -> tuple[Vector, ...]:
    """Returns the extreme rays of {v : n·v ≥ 0 for all normals n}."""
    return tuple(tuple(int(x) for x in ray) for ray in extreme_rays(list(normals), size))


def covering(
    normals: Sequence[Vector], rays: Sequence[Vector], size: int, equalities: tuple[Vector, ...] = ()
) -> Along | Zero:
    """Returns the certificate that the face of the cone where the equalities hold is spanned by rays.

    Raises:
        DefectError: it is not.
    """
    inside = [ray for ray in rays if all(_dot(e, ray) == 0 for e in equalities)]
    if not inside:
        return _zero(normals, equalities, size)
    ray = inside[0]
    faces = tuple(
        covering(normals, rays, size, (normal, *equalities)) for normal in normals if _dot(normal, ray) > 0
    )
    if not faces:
        raise DefectError("a cone has a line in it")
    return Along(ray, faces)


def _dot(left: Vector, right: Vector) -> int:
    return sum(x * y for x, y in zip(left, right, strict=True))


def _zero(normals: Sequence[Vector], equalities: tuple[Vector, ...], size: int) -> Zero:
    """Returns sums of normals and equalities that are each unit vector, and its negative."""
    sides: list[list[tuple[list[Fraction], list[Fraction]]]] = []
    for sign in (1, -1):
        units = [[sign * int(j == k) for j in range(size)] for k in range(size)]
        sides.append([_weights(unit, normals, equalities) for unit in units])
    scale = lcm(*(x.denominator for rows in sides for row in rows for part in row for x in part))
    at_least, at_most = (
        tuple((tuple(int(x * scale) for x in a), tuple(int(x * scale) for x in b)) for a, b in rows)
        for rows in sides
    )
    return Zero(scale, at_least, at_most)


def _weights(
    target: Sequence[int], normals: Sequence[Vector], equalities: tuple[Vector, ...]
) -> tuple[list[Fraction], list[Fraction]]:
    """Returns weights of normals, at least zero, and of equalities, whose sum is the target.

    There are such that are zero but for linearly independent vectors ([Schrijver86] section 7.1), so all
    bases are tried: this is for small dimensions.
    """
    fixed: list[int] = []
    for k in range(len(equalities)):
        if fmpz_mat([list(equalities[j]) for j in (*fixed, k)]).rank() > len(fixed):
            fixed.append(k)
    for chosen in combinations(range(len(normals)), len(target) - len(fixed)):
        basis = fmpq_mat(fmpz_mat([list(equalities[k]) for k in fixed] + [list(normals[k]) for k in chosen]))
        if not basis.det():
            continue
        solved = basis.transpose().solve(fmpq_mat(len(target), 1, list(target)))
        found = [Fraction(str(solved[k, 0])) for k in range(len(target))]
        if all(x >= 0 for x in found[len(fixed) :]):
            first, rest = [Fraction(0)] * len(normals), [Fraction(0)] * len(equalities)
            for k, x in zip(fixed, found, strict=False):
                rest[k] = x
            for k, x in zip(chosen, found[len(fixed) :], strict=True):
                first[k] = x
            return first, rest
    raise DefectError("a face without a ray is not the point zero")


def written(found: Along | Zero) -> str:
    """Returns the certificate in the words of Coq."""
    if isinstance(found, Zero):
        sides = (
            "; ".join(f"({vector(a)}, {vector(b)})" for a, b in s) for s in (found.at_least, found.at_most)
        )
        return f"Point_zero {found.scale} " + " ".join(f"[{rows}]" for rows in sides)
    faces = "; ".join(written(face) for face in found.faces)
    return f"Along {vector(found.ray)} [{faces}]"


def vector(entries: Sequence[int]) -> str:
    """Returns whole numbers as a list in Coq."""
    return "[" + "; ".join(map(str, entries)) + "]"
