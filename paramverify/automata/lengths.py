"""The budget for streams of each length: by tables of costs that know how many inputs were read.

Streams of n inputs have ways that read at most n. The budget of a way is its cost times ε, for every ε: no
smaller one is enough (see docs/automata.md). So the budget for a length is the largest cost of these ways.
A table is left out if another one at the same node bounds it that has read no more. Entries that cannot
become the least ones are left out, too: with the shift 0, what is still read costs its rates at most.

Where one entry differs, a table also knows whether it was read already.

**Large tables.** A table with fewer entries still bounds what ways cost: they are the least cost among fewer
shifts. So of a table with too many entries the cheapest ones are kept, and the one without shifts. Then the
budget is a bound, and the exact cost of a way is another one. Where both are equal the budget is exact.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from fractions import Fraction

from paramverify.automata.orders import Graph
from paramverify.automata.searching import (
    Closed,
    Reached,
    Table,
    bounds,
    costs_of,
    following,
    unit_of,
    way_of,
)
from paramverify.automata.ways import Way

MOST_ENTRIES = 243  # of a table: the shifts of five stored values
MOST_TABLES = 20_000

_Place = tuple[int, tuple[int, ...], bool]  # a node, stored variables, and whether an entry has differed


@dataclass(frozen=True)
class Length:
    """`multiple`·ε is enough for streams of so many inputs; no multiple below the cost of `way` is.

    There is no way where none is known that costs. Entries differ by 1 at most.
    """

    inputs: int
    multiple: Fraction
    way: Way | None

    @property
    def least(self) -> Fraction:
        """A number so that no multiple below it is enough."""
        return Fraction(0) if self.way is None else self.way.cost


@dataclass(frozen=True)
class Lengths:
    """The multiples for the lengths from 0 on, with the tables that bound all ways.

    Lengths of which nothing is known are left out.
    """

    found: tuple[Length, ...]
    tables: tuple[Closed, ...]


def by_length(
    graph: Graph, most: int, seconds: float, *, one: bool = False, enough: Fraction | None = None
) -> Lengths:
    """Returns multiples of ε for streams of 0 to `most` inputs, as far as there is time.

    Each entry differs by 1 at most, or only `one` does. `enough` is a multiple for every length, if one is
    known: it is that of the lengths for which there was no time. Where no table has more than `MOST_ENTRIES`,
    the other multiples are the least ones.
    """
    until, unit = time.monotonic() + seconds, unit_of(graph.automaton)
    largest = max([int(s.rate * unit) for s in graph.automaton.states if s.reads], default=0)
    first = Reached(0, (), {(): 0})
    kept: dict[_Place, list[tuple[int, Table]]] = {_place(first): [(0, first.table)]}
    waiting: list[list[Reached]] = [[first], *([] for _ in range(most))]
    best, found, count = first, list[Length](), 0
    way: Way | None = None
    for inputs in range(most + 1):
        for reached in waiting[inputs]:
            count += 1
            if time.monotonic() > until or count > MOST_TABLES:
                closed = _closed(kept, len(found) - 1, unit)
                if enough is not None:
                    found += [Length(n, enough, way) for n in range(len(found), most + 1)]
                return Lengths(tuple(found), closed)
            if all(table is not reached.table for _, table in kept[_place(reached)]):
                continue  # another one bounds it
            for step in following(graph, reached, unit, one):
                read = inputs + graph.automaton.state_of(graph.automaton.transitions[step.step]).reads
                if read > most:
                    continue
                rest = 0 if step.differed else largest if one else (most - read) * largest
                table = _useful(step.table, rest)
                tables = kept.setdefault(_place(step), [])
                if any(r <= read and bounds(t, table) for r, t in tables):
                    continue
                tables[:] = [(r, t) for r, t in tables if r < read or not bounds(table, t)]
                tables.append((read, table))
                waiting[read].append(replace(step, table=table))
        best = max([best, *waiting[inputs]], key=Reached.least)
        known = way_of(graph.automaton, best) if best.least() else None
        way = max((w for w in (way, known) if w and w.cost), key=lambda w: w.cost, default=None)
        multiple = Fraction(best.least(), unit)
        found.append(Length(inputs, multiple if enough is None else min(multiple, enough), way))
    return Lengths(tuple(found), _closed(kept, most, unit))


def _place(reached: Reached) -> _Place:
    return reached.node, reached.variables, reached.differed


def _useful(table: Table, rest: int) -> Table:
    """Returns a table without entries beyond no shifts and the rest, and not with too many entries."""
    none = (0,) * len(next(iter(table)))
    most = table[none] + rest
    useful = {shifts: cost for shifts, cost in table.items() if cost <= most}
    if len(useful) <= MOST_ENTRIES:
        return useful
    cheapest = sorted(useful, key=lambda shifts: (useful[shifts], sum(map(abs, shifts)), shifts))
    return {shifts: useful[shifts] for shifts in (none, *cheapest[: MOST_ENTRIES - 1])}


def _closed(kept: dict[_Place, list[tuple[int, Table]]], most: int, unit: int) -> tuple[Closed, ...]:
    return tuple(
        Closed(node, variables, costs_of(table, unit), read, differed)
        for (node, variables, differed), tables in kept.items()
        for read, table in tables
        if read <= most
    )
