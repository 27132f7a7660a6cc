"""Bounded path formulas under every query scheduler: a sequence of actions, the same for both runs.

A query scheduler's choice depends on the length of the history only ([L]), so on a formula whose truth is
known after n steps it is a word of n actions. Backwards, one level of the product after the other, a word's
probabilities are a vector over the nodes of that level; an action takes a vector to one of the level before,
by an affine map. Equal vectors are merged. A vector that is a convex combination of others is dropped: affine
maps keep it one, and each inequality Pr(s) ≤ c·Pr(t) + δ holds for a convex combination of vectors for which
it holds. This is the cone encoding with one more coordinate, which is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import lcm
from typing import TypeAlias

from paramverify.algebra.cones import combination, whole
from paramverify.errors import SizeError
from paramverify.logic.normal_forms import Node
from paramverify.logic.products import Product, product
from paramverify.models.chains.chain import Chain, Value

MAX_VECTORS = 50_000  # of one level
MAX_STEPS = 3_000_000  # entries of vectors that are computed
CONVEX_MOST = 200  # vectors of a level up to which convex combinations are looked for
CONVEX_WIDTH = 24  # entries of a vector up to which they are

Vector: TypeAlias = tuple[Value, ...]
Word: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Schedule:
    """The probabilities of a path formula from each start under one word of actions."""

    actions: tuple[str, ...]
    values: Mapping[int, Value]


def schedules(
    chain: Chain, formula: Node, signatures: Sequence[int], starts: Iterable[int]
) -> tuple[Schedule, ...]:
    """Returns words of actions whose probabilities from the starts span, convexly, those of all words.

    The formula has a depth.

    Raises:
        SizeError: too many vectors.
    """
    made = product(chain, formula, signatures, starts)
    levels = _levels(made)
    found: dict[Vector, Word] = {tuple(made.known[n] for n in levels[-1]): ()}
    steps = 0
    for level, below in zip(levels[-2::-1], levels[:0:-1], strict=True):
        place = {node: k for k, node in enumerate(below)}
        grown: dict[Vector, Word] = {}
        keys: dict[object, Vector] = {}
        for vector, word in found.items():
            for action in range(len(chain.actions)):
                steps += len(level)
                moved = _moved(made, level, action=action, vector=vector, place=place, chain=chain)
                keys.setdefault(_key(moved), moved)
                grown.setdefault(keys[_key(moved)], (action, *word))
            if len(grown) > MAX_VECTORS:
                raise SizeError(f"more than {MAX_VECTORS:,} different vectors of action sequences")
            if steps > MAX_STEPS:
                raise SizeError(f"more than {MAX_STEPS:,} entries of vectors of action sequences")
        found = _reduced(grown, chain)
    order = {node: k for k, node in enumerate(levels[0])}
    return tuple(
        Schedule(
            tuple(chain.actions[a] for a in word),
            {state: vector[order[node]] for state, node in made.starts.items()},
        )
        for vector, word in found.items()
    )


def _levels(made: Product) -> list[list[int]]:
    """Returns the nodes that are met after 0, 1, ... steps; those of the last level are all settled."""
    level = sorted(set(made.starts.values()))
    levels = [level]
    while any(node not in made.known for node in level):
        level = sorted({t for node in level for row in made.choices[node] for t, _ in row})
        levels.append(level)
    return levels


def _moved(
    made: Product, level: Sequence[int], action: int, vector: Vector, place: Mapping[int, int], chain: Chain
) -> Vector:
    moved: list[Value] = []
    for node in level:
        if node in made.known:
            moved.append(made.known[node])
            continue
        total = chain.zero
        for successor, weight in made.choices[node][action]:
            total = total + weight * vector[place[successor]]
        moved.append(total)
    return tuple(moved)


def _key(vector: Vector) -> object:
    return tuple(map(str, vector))


def _reduced(found: Mapping[Vector, Word], chain: Chain) -> dict[Vector, Word]:
    """Drops vectors that are convex combinations of those that are left."""
    left = dict(found)
    width = len(next(iter(found), ()))
    if not chain.numeric or not 3 <= len(found) <= CONVEX_MOST or width > CONVEX_WIDTH:
        return left
    points = {vector: _homogeneous(vector) for vector in left}
    for vector in found:
        others = [points[other] for other in left if other != vector]
        if combination(points[vector], others) is not None:
            del left[vector]
    return left


def _homogeneous(vector: Vector) -> tuple[int, ...]:
    """Returns (vector, 1) as whole numbers up to a positive factor."""
    scale = lcm(*(int(v.q) for v in vector)) if vector else 1
    return whole([*(int((v * scale).p) for v in vector), scale])
