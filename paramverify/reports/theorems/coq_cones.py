"""Certificates about many sequences at once, in the words of Coq.

A cone of bounded ratios is written as `Sequences.v` has it. A cone that rays span, and vectors that are kept
length by length, are written as numbers, in the order in which `ConeReader.v` reads them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import gcd, lcm
from typing import Any

from flint import fmpq_mat, fmpz_mat

from paramverify.algebra.cones import extreme_rays
from paramverify.errors import DefectError, UnsupportedError
from paramverify.kernel.cone_evidence import moved, numeric, read_model
from paramverify.models.model import Model
from paramverify.reports.theorems.coq_certificates import several
from paramverify.reports.theorems.coq_domains import number_text

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


Json = Mapping[str, Any]

MAX_NUMBERS = 200_000  # of one certificate


def ratio_cone(model: Model, document: Json) -> list[str]:
    """Returns the definition of the cone that no step leaves; vectors are 0 beside the states it lives on."""
    size, states = len(model.hmm.states), list(document["states"])
    kept = [state in states for state in range(size)]

    def lifted(entries: Sequence[int]) -> Vector:
        at = dict(zip(states, entries, strict=True))
        return tuple(at.get(state, 0) for state in range(size))

    small = [tuple(int(x) for x in normal) for normal in document["normals"]]
    normals = [lifted(normal) for normal in small]
    rays = tuple(lifted(ray) for ray in rays_of(small, len(states)))
    outside = tuple(tuple(int(j == k) for j in range(size)) for k, inside in enumerate(kept) if not inside)
    reach = _reach(model, document["depth"])
    return [
        "(* A cone of bounded ratios. No step leaves it, and its rays span it. It is about the states",
        "   that are kept. [reach] says where one can be after 0, 1, ... steps. *)",
        "Definition invariant : cone := {|",
        f"  normals := [{'; '.join(map(vector, normals))}];",
        f"  rays := [{'; '.join(map(vector, rays))}];",
        f"  cover := {written(covering(normals, rays, size, outside))};",
        f"  kept := {_flags(kept)};",
        f"  reach := [{'; '.join(map(_flags, reach))}]",
        "|}.",
    ]


def _reach(model: Model, depth: int) -> list[list[bool]]:
    """Returns where one can be after 0, 1, ... steps, one flag for each state."""
    hmm = model.hmm
    here = {state for p in model.pairs for start in (p.pi, p.tau) for state in start.weights}
    found = [here]
    for _ in range(depth):
        here = {step.successor for state in here for step in hmm.steps[state]}
        found.append(here)
    return [[state in reached for state in range(len(hmm.states))] for reached in found]


def _flags(values: Sequence[bool]) -> str:
    return "[" + "; ".join("true" if value else "false" for value in values) + "]"


def spanned_cone(model: Model, document: Json) -> list[str]:
    """Returns the definition of a cone that rays span, and how each step of a ray is a sum of rays.

    Raises:
        UnsupportedError: it is too large.
    """

    def way(entry: Mapping[str, str]) -> list[int]:
        scale, weights = _weights_text(entry)
        return [scale, *several(list(weights.items()), list)]

    rays = several([[int(x) for x in ray] for ray in document["rays"]], list)
    ways = several(document["steps"], lambda row: several(row, way))
    return [
        "(* Rays of a cone that no step leaves, and what each step makes of each ray, as numbers. *)",
        f"Definition invariant : ray_cone := rays_of {len(model.hmm.states)} {_text([*rays, *ways])}.",
    ]


def kept_vectors(model: Model, document: Json) -> list[str]:
    """Returns the definition of the vectors that are kept for each length, and why others are not.

    Raises:
        UnsupportedError: they are too many.
    """
    vectors = [tuple(int(x) for x in vector) for vector in document["vectors"]]
    tables = numeric(read_model(document["model"], model.domain.ring.names))
    states = range(len(model.hmm.states))
    reach = [_reached(model, side) for side in (0, 1)]
    numbers = several(vectors, list)
    numbers.append(len(document["runs"]))
    for run in document["runs"]:
        numbers += several(run["directions"], lambda turn: [turn])
        for chosen in (run["below"], run["above"], *reach):
            numbers += [int(state in chosen) for state in states]
        before: list[Vector] = [(1,) * len(states)]
        numbers.append(len(run["levels"]))
        for level in run["levels"]:
            numbers += _level(level, vectors, before, tables)
            before = [vectors[k] for k in dict.fromkeys(level["kept"])]
    return [
        "(* For each length, vectors that are enough: others are no worse than combinations of them. *)",
        f"Definition invariant : kept_vectors := vectors_of {len(states)} {_text(numbers)}.",
    ]


def _level(level: Json, vectors: Sequence[Vector], before: Iterable[Vector], tables: Any) -> list[int]:
    kept = list(dict.fromkeys(level["kept"]))
    order = {k: place for place, k in enumerate(kept)}  # where each one is among those that are known
    dropped = []
    for k, entry in level["dropped"]:
        scale, weights = _weights_text(entry)
        dropped.append([k, scale, *several([(w, order[j]) for j, w in weights.items()], list)])
        order[k] = len(kept) + len(dropped) - 1
    places: dict[Vector, int] = {}
    for k, place in order.items():
        places.setdefault(vectors[k], place)
    rows = [[places.get(_primitive(moved(table, v)), 0) for table in tables] for v in before]
    return [
        *several(kept, lambda k: [k]),
        *several(dropped, list),
        *several(rows, lambda row: several(row, lambda place: [place])),
    ]


def _primitive(vector: Sequence[int]) -> Vector:
    divisor = gcd(*vector) or 1
    return tuple(x // divisor for x in vector)


def _weights_text(entry: Mapping[str, str]) -> tuple[int, dict[int, int]]:
    """Returns weights by number of a vector, as whole numbers over one denominator."""
    given = {int(k): Fraction(w) for k, w in entry.items()}
    scale = lcm(*(w.denominator for w in given.values()))
    return scale, {k: int(w * scale) for k, w in given.items()}


def _reached(model: Model, side: int) -> set[int]:
    """Returns the states that the left secrets of all pairs reach, or the right ones."""
    pending = [state for p in model.pairs for state in (p.tau if side else p.pi).weights]
    found = set(pending)
    while pending:
        for step in model.hmm.steps[pending.pop()]:
            if step.successor not in found:
                found.add(step.successor)
                pending.append(step.successor)
    return found


def _text(numbers: Sequence[int]) -> str:
    if len(numbers) > MAX_NUMBERS:
        raise UnsupportedError(f"its certificate has {len(numbers):,} numbers, too many for Coq")
    return number_text(numbers)


CERTIFICATES = {
    "ratios": (ratio_cone, "every_length_theorem evidence model invariant secrets ratio"),
    "closed": (spanned_cone, "closed_theorem evidence model invariant secrets ratio"),
    "levels": (kept_vectors, "levels_theorem evidence model {lengths} invariant secrets ratio"),
}
