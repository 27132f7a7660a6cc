"""Subdivisions of a box by cuts across one axis at a time: how cells fit into one another.

Cells of a part of the box of a folded map: those that mirror others are replaced by what they mirror.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import TypeVar

from paramverify.errors import InputError
from paramverify.synthesis.maps import Cell, Ends, Fold, RegionMap, Status, numbers

Box = tuple[Ends, ...]

NO_TILES = "the known cells do not tile a part of the parameter box"


def sides(box: Box, axis: int, cut: Fraction) -> tuple[Box, Box]:
    """Returns both sides of a cut of a box across an axis."""
    low, high = box[axis]
    return (*box[:axis], (low, cut), *box[axis + 1 :]), (*box[:axis], (cut, high), *box[axis + 1 :])


def cut_between(box: Box, cells: Sequence[Cell]) -> tuple[int, Fraction]:
    """Returns an axis and a place inside its interval that no cell straddles: the middle, where that does.

    Raises:
        InputError: there is none; the cells are not those of a subdivision of the box.
    """
    for axis, (low, high) in enumerate(box):
        middle = (low + high) / 2
        ends = [cell.box[axis] for cell in cells]
        if not all(low <= a < b <= high for a, b in ends):
            raise InputError(NO_TILES)
        if all(b <= middle or middle <= a for a, b in ends):
            return axis, middle
    for axis, (low, high) in enumerate(box):
        reached = low
        for a, b in sorted(cell.box[axis] for cell in cells):
            if low < a and reached <= a:
                return axis, a
            reached = max(reached, b)
        if reached < high:
            return axis, reached
    raise InputError(NO_TILES)


def apart(cells: Sequence[Cell], axis: int, cut: Fraction) -> tuple[list[Cell], list[Cell]]:
    """Returns the cells below and above a cut that none of them straddles."""
    below = [cell for cell in cells if cell.box[axis][1] <= cut]
    return below, [cell for cell in cells if cell.box[axis][0] >= cut]


def undecided(box: Box, cells: Sequence[Cell]) -> list[Cell]:
    """Returns undecided cells that fill up the box, of which the given cells are parts of one subdivision.

    Raises:
        InputError: they are not.
    """
    result: list[Cell] = []
    pending = [(box, list(cells))]
    while pending:
        box, inside = pending.pop()
        if not inside:
            result.append(Cell(Status.UNDECIDED, box))
        elif inside[0].box != box or len(inside) > 1:
            axis, cut = cut_between(box, inside)
            pending += zip(sides(box, axis, cut), apart(inside, axis, cut), strict=True)
    return result


@dataclass(frozen=True)
class Cut:
    """A node of a decision tree: up to `at` the point goes to node number `below`, beyond it to `above`."""

    axis: int
    at: Fraction
    below: int
    above: int


def tree(box: Box, cells: Sequence[Cell]) -> list[Cut | Cell]:
    """Returns the decision tree of cells that tile a box: node 0 first, the leaves are the cells.

    Raises:
        InputError: they do not come from a subdivision of the box.
    """
    nodes: list[Cut | Cell] = [cells[0]]
    pending = [(0, box, list(cells))]
    while pending:
        number, box, inside = pending.pop()
        if len(inside) == 1 and inside[0].box == box:
            nodes[number] = inside[0]
            continue
        axis, at = cut_between(box, inside)
        parts = apart(inside, axis, at)
        if not all(parts):
            raise InputError(NO_TILES)
        nodes[number] = Cut(axis, at, len(nodes), len(nodes) + 1)
        for side, part in zip(sides(box, axis, at), parts, strict=True):
            pending.append((len(nodes), side, part))
            nodes.append(part[0])
    return nodes


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
