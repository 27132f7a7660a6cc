"""Cells of a part of the box of a folded map: those that mirror others are replaced by what they mirror."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TypeVar

from paramverify.synthesis.folding import Ends, Fold, numbers
from paramverify.synthesis.maps import Cell, RegionMap, Status
from paramverify.synthesis.tiling import Box, sides, tree

T = TypeVar("T")


class Unfolding:
    """A map as it is asked in every order of the symmetric parameters."""

    def __init__(self, found: RegionMap) -> None:
        self.folds = numbers(found.parameters, found.folds)
        self.nodes = tree(found.box, list(found.cells))

    def cells(self, box: Box) -> Iterator[Cell]:
        """Yields cells that tile a part of the box of the map, of which some intervals may be points.

        A point that several cells have is in the first of them. Of cells that stand in another order it is
        not known which claim fails: the exchange of parameters turns one claim into another.

        Where a cell mirrors others, all values of a parameter a are at least those of b, which comes after
        it. Their exchange brings the part nearer to ascending order, so this ends.
        """
        pending = [(box, tuple(range(len(box))))]  # with the own axis of each place
        while pending:
            part, axes = pending.pop()
            for cell, own in self._met(part):
                if cell.status is Status.MIRRORED:
                    a, b = _descending(cell.box, self.folds)
                    pending.append((_exchanged(own, a, b), _exchanged(axes, a, b)))
                    continue
                placed = tuple(own[axes.index(axis)] for axis in range(len(box)))
                claim = cell.claim if axes == tuple(range(len(box))) else None
                yield replace(cell, box=placed, claim=claim)

    def _met(self, box: Box) -> Iterator[tuple[Cell, Box]]:
        """Yields the cells of the map that meet a box, and their parts in it."""
        pending = [(0, box)]
        while pending:
            number, part = pending.pop()
            node = self.nodes[number]
            if isinstance(node, Cell):
                yield node, part
                continue
            low, high = part[node.axis]
            if high <= node.at:
                pending.append((node.below, part))
            elif low >= node.at:
                pending.append((node.above, part))
            else:
                below, above = sides(part, node.axis, node.at)
                pending += [(node.above, above), (node.below, below)]


def _descending(box: Sequence[Ends], folds: Sequence[Fold]) -> tuple[int, int]:
    return next((a, b) for fold in folds for a, b in combinations(fold, 2) if box[a][0] >= box[b][1])


def _exchanged(values: tuple[T, ...], a: int, b: int) -> tuple[T, ...]:
    places = list(values)
    places[a], places[b] = places[b], places[a]
    return tuple(places)
