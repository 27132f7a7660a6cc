"""The least budget for streams of each length: by tables of costs that know how many inputs were read.

Streams of n inputs have ways that read at most n. The budget of a way is its cost times ε, for every ε: no
smaller one is enough (see docs/automata.md). So the budget for a length is the largest cost of these ways.
A table is left out if another one at the same node bounds it that has read no more. Entries that cannot
become the least ones are left out, too: with the shift 0, what is still read costs its rates at most.
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
from paramverify.errors import LimitError

MOST_VARIABLES = 5  # 3^5 shifts in a table
MOST_TABLES = 20_000


@dataclass(frozen=True)
class Length:
    """The least multiple of ε for streams of so many inputs, and a way that needs it (None for 0)."""

    inputs: int
    multiple: Fraction
    way: Way | None


@dataclass(frozen=True)
class Lengths:
    """The least multiples for the lengths from 0 on, with the tables that bound all ways.

    Lengths for which there was no time are left out.
    """

    found: tuple[Length, ...]
    tables: tuple[Closed, ...]


def by_length(graph: Graph, most: int, seconds: float) -> Lengths:
    """Returns the least multiples of ε for streams of 0 to `most` inputs, as far as there is time.

    Raises:
        LimitError: more values are stored at a time than tables are made for.
    """
    stored = max(len(node.known) for node in graph.nodes)
    if stored > MOST_VARIABLES:
        raise LimitError(f"{stored} values are stored at a time: budgets of lengths are for {MOST_VARIABLES}")
    until, unit = time.monotonic() + seconds, unit_of(graph.automaton)
    largest = max([int(s.rate * unit) for s in graph.automaton.states if s.reads], default=0)
    first = Reached(0, (), {(): 0})
    kept: dict[tuple[int, tuple[int, ...]], list[tuple[int, Table]]] = {(0, ()): [(0, first.table)]}
    waiting: list[list[Reached]] = [[first], *([] for _ in range(most))]
    best, found, count = first, list[Length](), 0
    for inputs in range(most + 1):
        for reached in waiting[inputs]:
            count += 1
            if time.monotonic() > until or count > MOST_TABLES:
                return Lengths(tuple(found), _closed(kept, len(found) - 1, unit))
            if all(table is not reached.table for _, table in kept[reached.node, reached.variables]):
                continue  # another one bounds it
            for step in following(graph, reached, unit):
                read = inputs + abs(step.sign)
                if read > most:
                    continue
                table = _useful(step.table, (most - read) * largest)
                tables = kept.setdefault((step.node, step.variables), [])
                if any(r <= read and bounds(t, table) for r, t in tables):
                    continue
                tables[:] = [(r, t) for r, t in tables if r < read or not bounds(table, t)]
                tables.append((read, table))
                waiting[read].append(replace(step, table=table))
        best = max([best, *waiting[inputs]], key=Reached.least)
        way = way_of(graph.automaton, best) if best.least() else None
        found.append(Length(inputs, Fraction(best.least(), unit), way))
    return Lengths(tuple(found), _closed(kept, most, unit))


def _useful(table: Table, rest: int) -> Table:
    """Returns a table without entries that cost more than 0 for all shifts, and then the rest."""
    most = table[(0,) * len(next(iter(table)))] + rest
    return {shifts: cost for shifts, cost in table.items() if cost <= most}


def _closed(
    kept: dict[tuple[int, tuple[int, ...]], list[tuple[int, Table]]], most: int, unit: int
) -> tuple[Closed, ...]:
    return tuple(
        Closed(node, variables, costs_of(table, len(variables), unit), read)
        for (node, variables), tables in kept.items()
        for read, table in tables
        if read <= most
    )
