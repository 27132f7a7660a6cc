"""Numbers with noise that are put out: they stay alive, and at the end they are coordinates of the output.

At the end of a run its numbers are `o = B·v + c` for the noise v that is alive. With B invertible,
`w = B⁻¹·o` says the same as o, and `w = v + B⁻¹·c`: the weight of w is that of v, moved. So two inputs are
compared as functions of w, and each w is an output.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from paramverify.errors import SizeError, UnsupportedError
from paramverify.models.programs.comparing import Comparing, now
from paramverify.models.programs.joining import fewer, turned
from paramverify.models.programs.measure import Linear, Measure
from paramverify.models.programs.pieces import Pieces
from paramverify.models.programs.runs import Hole, Outputs, Put
from paramverify.models.programs.syntax import Place
from paramverify.models.programs.values import ProgramState, Value
from paramverify.models.programs.zones import ZERO

Row = tuple[Fraction, ...]


def put(
    comparing: Comparing, place: Place, value: Value, state: ProgramState
) -> list[tuple[ProgramState, Put]]:
    """Returns an output without its noise, where that has few values; else the noise stays alive.

    Raises:
        ProgramError: the value is no output, such as a parameter.
    """
    if isinstance(value, tuple):
        found: list[tuple[ProgramState, tuple[Put, ...]]] = [(state, ())]
        for entry in value:
            found = [
                (after, (*known, told))
                for s, known in found
                for after, told in put(comparing, place, now(entry, s), s)
            ]
        return [(s, told) for s, told in found]
    if not isinstance(value, Linear):
        return [(s, _plain(v)) for s, v in comparing.finite(place, value, state, "")]
    if _has_few(comparing, value, state):
        return [(s, _plain(v)) for s, v in comparing.finite(place, value, state, "")]
    return [(state.releasing(value), Hole(len(state.released)))]


def _has_few(comparing: Comparing, value: Linear, state: ProgramState) -> bool:
    try:
        return comparing.numbers(value, state) is not None
    except SizeError:
        return False


def _plain(value: Value) -> Put:
    assert isinstance(value, (Fraction, str, bool))
    return value


def holes(outputs: Outputs) -> list[int]:
    """Returns the numbers with noise in an output, in their order."""
    found: list[int] = []
    for value in outputs:
        if isinstance(value, Hole):
            found.append(value.number)
        elif isinstance(value, tuple):
            found += holes(value)
    return found


def filled(outputs: Outputs, values: Mapping[int, Put]) -> Outputs:
    """Returns an output with other values in the place of numbers with noise."""

    def entry(value: Put) -> Put:
        if isinstance(value, Hole):
            return values[value.number]
        return filled(value, values) if isinstance(value, tuple) else value

    return tuple(map(entry, outputs))


@dataclass(frozen=True)
class NumberForm:
    """What the numbers of an output are: `Σ rows[k][i]·w_i`, for `pivots`; the others follow from these.

    The coordinate w_i is a whole number plus `parts[i]` where `whole[i]`, else any number. `after[k]` gives
    the k-th number by those of `pivots`, and a constant.
    """

    rows: tuple[Row, ...]
    whole: tuple[bool, ...]
    parts: tuple[Fraction, ...]
    pivots: tuple[int, ...]
    after: tuple[tuple[Row, Fraction], ...]

    @property
    def shape(self) -> tuple[object, ...]:
        """What outputs that may be the same have to have in common; without it they are refused."""
        return self.rows, self.whole, self.pivots, tuple(row for row, _ in self.after)

    @property
    def inverse(self) -> tuple[Row, ...]:
        """The coordinates, each by the numbers of `pivots`."""
        found = inverse(tuple(self.rows[k] for k in self.pivots))
        assert found is not None
        return found


def formed(released: Sequence[Linear], measure: Measure) -> tuple[NumberForm, Measure]:
    """Returns the form of numbers, and the measure of their coordinates, which are numbered from 1.

    Raises:
        UnsupportedError: more noise is in the numbers than they tell.
    """
    rows, measure = turned(*fewer(released, measure))
    order = {name: k + 1 for k, name in enumerate(dict.fromkeys(n for r in rows for n in r.names))}
    table = tuple(tuple(dict(r.slopes).get(n, Fraction(0)) for n in order) for r in rows)
    for row in table:
        if len({measure.whole[n] for n, k in zip(order, row, strict=True) if k}) > 1:
            raise UnsupportedError("an output adds whole noise and continuous noise")
    pivots = _independent(table)
    if len(pivots) < len(order):
        raise UnsupportedError("an output adds noises that the outputs do not tell apart")
    back = inverse(tuple(table[k] for k in pivots))
    assert back is not None
    parts: list[Fraction] = []
    for name, entries in zip(order, back, strict=True):
        by = sum((e * rows[k].constant for e, k in zip(entries, pivots, strict=True)), Fraction(0))
        part = by - by.__floor__() if measure.whole[name] else Fraction(0)
        parts.append(part)
        measure = measure.moved(name, by - part) if by != part else measure
    after = tuple(
        _after(k, table, [rows[p] for p in pivots], (pivots, rows[k].constant)) for k in range(len(rows))
    )
    whole = tuple(measure.whole[n] for n in order)
    return NumberForm(table, whole, tuple(parts), pivots, after), measure.renamed(order)


def _after(
    number: int, table: Sequence[Row], known: Sequence[Linear], told: tuple[tuple[int, ...], Fraction]
) -> tuple[Row, Fraction]:
    """Returns a number of the output by those of the pivots, and the constant."""
    pivots, constant = told
    back = inverse(tuple(table[k] for k in pivots))
    assert back is not None
    row = tuple(
        sum((a * back[i][k] for i, a in enumerate(table[number])), Fraction(0)) for k in range(len(pivots))
    )
    return row, constant - sum((a * v.constant for a, v in zip(row, known, strict=True)), Fraction(0))


def _independent(table: Sequence[Row]) -> tuple[int, ...]:
    """Returns the first rows that are linearly independent, and of which all others are sums."""
    found: list[int] = []
    reduced: list[list[Fraction]] = []
    for number, row in enumerate(table):
        rest = list(row)
        for known in reduced:
            lead = next(i for i, a in enumerate(known) if a)
            if rest[lead]:
                by = rest[lead] / known[lead]
                rest = [a - by * b for a, b in zip(rest, known, strict=True)]
        if any(rest):
            reduced.append(rest)
            found.append(number)
    return tuple(found)


def inverse(matrix: Sequence[Row]) -> tuple[Row, ...] | None:
    """Returns the inverse of a square matrix; None where there is none."""
    size = len(matrix)
    rows = [[*row, *(Fraction(i == k) for k in range(size))] for i, row in enumerate(matrix)]
    for i in range(size):
        lead = next((k for k in range(i, size) if rows[k][i]), None)
        if lead is None:
            return None
        rows[i], rows[lead] = rows[lead], rows[i]
        rows[i] = [a / rows[i][i] for a in rows[i]]
        for k in range(size):
            if k != i and rows[k][i]:
                by = rows[k][i]
                rows[k] = [a - by * b for a, b in zip(rows[k], rows[i], strict=True)]
    return tuple(tuple(row[size:]) for row in rows)


def fixed(name: int, measure: Measure) -> Measure:
    """Returns the measure with one more variable, which is 0."""
    point: Pieces = {(((ZERO, name), 0), ((name, ZERO), 0)): measure.unit}
    return measure.with_noise(point, name, whole=True)
