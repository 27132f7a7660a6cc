"""The words for sets of outputs: each number that carries noise as a value, or as a range of values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from paramverify.models.programs.cells import Extent
from paramverify.models.programs.releasing import NumberForm, Row
from paramverify.models.programs.runs import OutputInterval, Put
from paramverify.models.spreads import ArithmeticSequence

TURNED = {
    "just below": "just above",
    "just above": "just below",
    "far below": "far above",
    "far above": "far below",
}


def told(form: NumberForm, extents: Sequence[Extent], places: Sequence[int]) -> dict[int, Put]:
    """Returns for each number of an output its value, or the values that it may have.

    Where a range is not about one number alone, it names the numbers: in `o2 - o1 >= 3`, o2 is the second
    value of the output. `places` are those of the numbers, from 1.
    """
    ranges = {
        e.name - 1: tuple(None if end is None else end + form.parts[e.name - 1] for end in (e.low, e.high))
        for e in extents
    }
    found: dict[int, Put] = {}
    sides = {e.name - 1: e.side for e in extents}
    spreads = {e.name - 1: e.spread for e in extents}
    if not any(sides.values()) and all(low is not None and low == high for low, high in ranges.values()):
        values = [Fraction(ranges[i][0] or 0) for i in range(len(form.whole))]
        for k in form.pivots:
            found[k] = sum((a * v for a, v in zip(form.rows[k], values, strict=True)), Fraction(0))
    else:
        for i, (k, row) in enumerate(shared_out(form)):
            low, high = (None if end is None else Fraction(end) for end in ranges[i])
            found[k] = _between(row, form.pivots, (low, high), (k, places))
            if form.whole[i]:
                found[k] = _on_grid(found[k], row, form.pivots.index(k), form.parts[i])
            if sides[i]:
                found[k] = _beside(found[k], sides[i], row[form.pivots.index(k)] < 0)
            spread = spreads[i]
            if spread is not None:
                found[k] = _spread(found[k], spread.moved(form.parts[i]), row[form.pivots.index(k)])
    for k, (row, constant) in enumerate(form.after):
        if k in form.pivots:
            continue
        others = [found[j] for j in form.pivots]
        if all(isinstance(v, Fraction) for v in others):
            plain = (a * v for a, v in zip(row, others, strict=True) if isinstance(v, Fraction))
            found[k] = sum(plain, constant)
        else:
            against = (*(-a for a in row), Fraction(1))
            found[k] = OutputInterval(constant, constant, _sum(against, (*form.pivots, k), places))
    return found


def shared_out(form: NumberForm) -> list[tuple[int, Row]]:
    """Returns for each coordinate one of the numbers of the output, and the coordinate by these."""
    found: list[tuple[int, Row]] = []
    for row in form.inverse:
        taken = {k for k, _ in found}
        free = [k for k in form.pivots if k not in taken]
        inside = [k for k, a in zip(form.pivots, row, strict=True) if a and k in free]
        found.append(((inside or free)[-1], row))
    return found


def _on_grid(value: Put, row: Row, own: int, part: Fraction) -> Put:
    """Returns the words for numbers, or sums of them, that are whole ones plus a part."""
    if not isinstance(value, OutputInterval):
        return value
    return replace(value, grid=(Fraction(1) if value.of else row[own], part))


def _beside(value: Put, side: str, turned: bool) -> Put:
    """Returns the words for a density; with `turned` the number falls where its coordinate rises."""
    known = value if isinstance(value, OutputInterval) else None
    if known is None or not known.of:
        side = TURNED.get(side, side) if turned else side
    if known is not None:
        return replace(known, side=side)
    assert isinstance(value, Fraction)
    return OutputInterval(value, value, side=side)


def _spread(value: Put, spread: ArithmeticSequence, slope: Fraction) -> Put:
    """Returns the words for each number between two ends; it is its coordinate divided by the slope."""
    assert isinstance(value, OutputInterval)
    return replace(value, spread=spread if value.of else spread.divided(slope))


def _between(
    row: Row,
    pivots: Sequence[int],
    ends: tuple[Fraction | None, Fraction | None],
    where: tuple[int, Sequence[int]],
) -> Put:
    """Returns the values of a number for which a sum is between two ends."""
    place, places = where
    slopes = {k: a for k, a in zip(pivots, row, strict=True) if a}
    low, high = ends
    if slopes.keys() == {place}:
        slope = slopes[place]
        if slope < 0:
            low, high = high, low
        low, high = (None if end is None else end / slope for end in (low, high))
        return low if low is not None and low == high else OutputInterval(low, high)
    return OutputInterval(low, high, _sum(row, pivots, places))


def _sum(row: Row, pivots: Sequence[int], places: Sequence[int]) -> tuple[tuple[int, Fraction], ...]:
    """Returns a sum of numbers of the output, by their places."""
    return tuple((places[k], a) for k, a in zip(pivots, row, strict=True) if a)
