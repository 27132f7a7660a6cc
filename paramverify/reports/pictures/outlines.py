"""Unions of rectangles as closed outlines, so that thousands of cells are one path in a picture."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction

Rectangle = tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]
Point = tuple[float, float]
Corner = tuple[int, int]


def outlines(rectangles: Sequence[Rectangle]) -> list[list[Point]]:
    """Returns the boundary of a union of rectangles, which touch in their sides only, as closed polygons.

    The union is on the left of every edge: outer polygons run counter-clockwise, holes clockwise, so the
    non-zero winding rule fills the union and nothing else. A polygon names its corners once each, and no
    point inside a straight side.
    """
    # The work is done on the ranks of the coordinates: what touches what depends on their order only.
    xs = sorted({x for side, _ in rectangles for x in side})
    ys = sorted({y for _, side in rectangles for y in side})
    column, row = ({place: k for k, place in enumerate(places)} for places in (xs, ys))
    upright: dict[int, list[tuple[int, int]]] = defaultdict(list)  # by column: where the cover changes
    level: dict[int, list[tuple[int, int]]] = defaultdict(list)  # by row
    for across, up in rectangles:
        left, right = (column[x] for x in across)
        low, high = (row[y] for y in up)
        if left == right or low == high:
            continue
        upright[right] += [(low, 1), (high, -1)]
        upright[left] += [(low, -1), (high, 1)]
        level[low] += [(left, 1), (right, -1)]
        level[high] += [(left, -1), (right, 1)]
    following: dict[Corner, list[Corner]] = defaultdict(list)
    for x, changes in upright.items():
        for start, end in _edges(changes):
            following[x, start].append((x, end))
    for y, changes in level.items():
        for start, end in _edges(changes):
            following[start, y].append((end, y))
    return [[(float(xs[x]), float(ys[y])) for x, y in loop] for loop in _loops(following)]


def _edges(changes: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yields the directed edges on one line: a side that two rectangles share cancels.

    `changes` says how much the sum of directions (1 up or right, -1 down or left) changes where.
    """
    steps: dict[int, int] = defaultdict(int)
    for place, change in changes:
        steps[place] += change
    cover = start = 0
    for place in sorted(place for place, step in steps.items() if step):
        if cover:
            yield (start, place) if cover > 0 else (place, start)
        cover += steps[place]
        start = place


def _loops(following: dict[Corner, list[Corner]]) -> list[list[Corner]]:
    """Joins directed edges into closed polygons; where two meet in a corner, the left turn is taken."""
    loops = []
    for first in sorted(following):
        while following[first]:
            loop = [first]
            before, here = first, following[first].pop()
            while here != first:
                choices = following[here]
                turn = max(range(len(choices)), key=lambda k: _turn(before, here, choices[k]))
                before, here = here, choices.pop(turn)
                loop.append(before)
            loops.append(loop)
    return loops


def _turn(before: Corner, here: Corner, after: Corner) -> int:
    """Returns 1 for a left turn, 0 for none and -1 for a right turn."""
    cross = (here[0] - before[0]) * (after[1] - here[1]) - (here[1] - before[1]) * (after[0] - here[0])
    return (cross > 0) - (cross < 0)
