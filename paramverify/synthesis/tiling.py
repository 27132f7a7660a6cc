"""Subdivisions of a box: how cells that an earlier run left fit into one another."""

from __future__ import annotations

from collections.abc import Sequence

from paramverify.errors import InputError
from paramverify.synthesis.factors import Ends
from paramverify.synthesis.maps import Cell, Status

Box = tuple[Ends, ...]

NO_TILES = "the known cells do not tile a part of the parameter box"


def halves(ends: Ends) -> tuple[Ends, Ends]:
    """Returns both halves of an interval."""
    middle = (ends[0] + ends[1]) / 2
    return (ends[0], middle), (middle, ends[1])


def cut_between(box: Box, cells: Sequence[Cell]) -> int:
    """Returns an axis whose middle no cell straddles.

    Raises:
        InputError: there is none; the cells are not those of a subdivision of the box.
    """
    for axis, (low, high) in enumerate(box):
        middle = (low + high) / 2
        if all(
            low <= cell.box[axis][0]
            and cell.box[axis][1] <= high
            and (cell.box[axis][1] <= middle or middle <= cell.box[axis][0])
            for cell in cells
        ):
            return axis
    raise InputError(NO_TILES)


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
            axis = cut_between(box, inside)
            for ends in halves(box[axis]):
                part = [c for c in inside if ends[0] <= c.box[axis][0] and c.box[axis][1] <= ends[1]]
                pending.append(((*box[:axis], ends, *box[axis + 1 :]), part))
    return result
