"""The budget for streams of each length: by tables of costs that know how many inputs were read.

Streams of n inputs have ways that read at most n. The budget of a way is its cost times ε, for every ε: no
smaller one is enough (see docs/automata.md). So the budget for a length is the largest cost of these ways.
A table is left out if another one at the same node bounds it that has read no more. Entries that cannot
become the least ones are left out, too: with the shift 0, what is still read costs its rates at most.

Where one entry differs, a table also knows whether it was read already.

**Large tables.** A table with fewer entries still bounds what ways cost: its costs are the least ones among
fewer shifts. So of a table with too many entries those are kept that are the best ones for a way
(`_best_entries`), the cheapest ones, and the one without shifts. Then the multiple is a bound, and the exact
cost of a way is another one. Where both are equal the multiple is exact.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product

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
from paramverify.automata.ways import Way, best_shifts, cost, paid

MOST_STORED = 5  # values, for tables of all their shifts
MOST_ENTRIES = 3**MOST_STORED  # of a table
MOST_TRIED = 1_000  # ways with differences, of which the best shifts are found
MOST_STEPS = 200  # of such a way
SHARE = 0.3  # of the time that is for them
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
    known: it is that of the lengths for which there was no time. The other multiples are the least ones where
    at most `MOST_STORED` values are stored at a time.
    """
    until, unit = time.monotonic() + seconds, unit_of(graph.automaton)
    largest = max([int(s.rate * unit) for s in graph.automaton.states if s.reads], default=0)
    first = Reached(0, (), {(): 0})
    kept: dict[_Place, list[tuple[int, Table]]] = {_place(first): [(0, first.table)]}
    waiting: list[list[Reached]] = [[first], *([] for _ in range(most))]
    wanted = _best_entries(graph, most, one, time.monotonic() + SHARE * seconds)
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
                table = _useful(step.table, rest, wanted, step.node)
                tables = kept.setdefault(_place(step), [])
                if any(r <= read and bounds(t, table) for r, t in tables):
                    continue
                tables[:] = [(r, t) for r, t in tables if r < read or not bounds(table, t)]
                tables.append((read, table))
                waiting[read].append(replace(step, table=table))
        best = max([best, *waiting[inputs]], key=Reached.least)
        known = way_of(graph.automaton, best) if best.least() else None
        ways = (way, known, wanted.costly.get(inputs))
        way = max((w for w in ways if w and w.cost), key=lambda w: w.cost, default=None)
        multiple = Fraction(best.least(), unit)
        found.append(Length(inputs, multiple if enough is None else min(multiple, enough), way))
    return Lengths(tuple(found), _closed(kept, most, unit))


def _place(reached: Reached) -> _Place:
    return reached.node, reached.variables, reached.differed


def _useful(table: Table, rest: int, wanted: _Wanted, node: int) -> Table:
    """Returns a table without entries beyond no shifts and the rest, and not with too many entries."""
    none = (0,) * len(next(iter(table)))
    most = table[none] + rest
    useful = {shifts: cost for shifts, cost in table.items() if cost <= most}
    if len(useful) <= MOST_ENTRIES:
        return useful
    chosen = wanted.at.get(node, set())
    if wanted.every:
        return {shifts: cost for shifts, cost in useful.items() if shifts in chosen or shifts == none}

    def order(shifts: tuple[int, ...]) -> tuple[bool, int, int, tuple[int, ...]]:
        return shifts not in chosen, useful[shifts], sum(map(abs, shifts)), shifts

    return {shifts: useful[shifts] for shifts in (none, *sorted(useful, key=order)[: MOST_ENTRIES - 1])}


@dataclass
class _Wanted:
    """For each node the shifts of its values that are the best ones for some ways, or for `every` way.

    `costly` has for numbers of inputs the costliest one of these ways.
    """

    at: dict[int, set[tuple[int, ...]]] = field(default_factory=dict)
    costly: dict[int, Way] = field(default_factory=dict)
    every: bool = False


def _best_entries(graph: Graph, most: int, one: bool, until: float) -> _Wanted:
    """Returns shifts for ways, the shortest ways first; nothing where tables have all shifts.

    They are so many that no way costs more with the best ones of them than the costliest way of its length.
    """
    found = _Wanted()
    if all(len(node.known) <= MOST_STORED for node in graph.nodes):
        return found
    automaton, count, largest = graph.automaton, 0, Fraction(0)
    for inputs in range(most + 1):
        tried: list[tuple[tuple[int, ...], list[_Tried]]] = []
        every = True
        for edges in _longest(graph, inputs):
            steps = [graph.edges[number].transition for number in edges]
            reads = [automaton.state_of(graph.step(number)).reads for number in edges]
            tried.append((edges, []))
            for signs in _corners(reads, one):
                count += 1
                every = bool(edges) and count <= MOST_TRIED and time.monotonic() <= until
                if not every:
                    break
                shifts = best_shifts(automaton, steps, signs)
                tried[-1][1].append((paid(automaton, steps, signs, shifts), signs, shifts))
            if not every:
                break
        for edges, own in tried:
            paid_most, signs, _ = max(own, default=(largest, (), ()))
            if paid_most > largest:
                steps = [graph.edges[number].transition for number in edges]
                largest, found.costly[inputs] = paid_most, cost(automaton, steps, signs)
        for edges, own in tried:
            _keep(graph, edges, own, largest, found.at)
        if not every:
            return found
    return replace(found, every=True)


_Tried = tuple[
    Fraction, tuple[int, ...], tuple[int, ...]
]  # what differences cost, these, and the best shifts


def _keep(
    graph: Graph,
    edges: tuple[int, ...],
    tried: list[_Tried],
    largest: Fraction,
    found: dict[int, set[tuple[int, ...]]],
) -> None:
    """Takes shifts of the values that are stored on a way, so that it costs no more than the largest cost."""
    automaton, steps = graph.automaton, [graph.edges[number].transition for number in edges]
    taken = [(0,) * len(edges)]
    for _, signs, shifts in sorted(tried, reverse=True):
        if any(paid(automaton, steps, signs, other) <= largest for other in taken):
            continue
        taken.append(shifts)
        of: dict[int, int] = {}
        for number, shift in zip(edges, shifts, strict=True):
            of |= dict.fromkeys(graph.step(number).stored, shift)
            target = graph.edges[number].target
            found.setdefault(target, set()).add(tuple(of[v] for v in sorted(graph.nodes[target].known)))


def _longest(graph: Graph, inputs: int) -> Iterator[tuple[int, ...]]:
    """Yields the ways that read so many inputs and go on only to the next one; their edges.

    If they are too long, or too many, an empty way is the last one.
    """
    waiting: list[tuple[int, int, tuple[int, ...]]] = [(0, 0, ())]
    looked = 0
    while waiting:
        node, read, edges = waiting.pop()
        looked += 1
        if len(edges) > MOST_STEPS or looked > MOST_TABLES:
            yield ()
            return
        further = [
            (graph.edges[k].target, read + graph.automaton.state_of(graph.step(k)).reads, (*edges, k))
            for k in graph.leaving[node]
        ]
        within = [entry for entry in further if entry[1] <= inputs]
        if read == inputs and not within and edges:
            yield edges
        waiting += within


def _corners(reads: list[bool], one: bool) -> Iterator[tuple[int, ...]]:
    """Yields the differences of two streams that are the worst ones for some order."""
    if not one:
        yield from product(*((-1, 1) if reading else (0,) for reading in reads))
        return
    for place in (k for k, reading in enumerate(reads) if reading):
        for sign in (-1, 1):
            yield tuple(sign if k == place else 0 for k in range(len(reads)))


def _closed(kept: dict[_Place, list[tuple[int, Table]]], most: int, unit: int) -> tuple[Closed, ...]:
    return tuple(
        Closed(node, variables, costs_of(table, unit), read, differed)
        for (node, variables, differed), tables in kept.items()
        for read, table in tables
        if read <= most
    )
