"""What ways cost for streams of each length, and for streams that differ in one entry.

Streams of n inputs have ways that read at most n. The budget of a way is its cost times ε, for every ε: no
smaller one is enough (proved in `unbounded_ways`). So the budget for a length is the largest cost of these
ways. A table is left out if another one at the same node bounds it that has read no more. Entries that cannot
become the least ones are left out, too: with the shift 0, what is still read costs its rates at most.

Where one entry differs, a table also knows whether it was read already.

**Large tables.** A table with fewer entries still bounds what ways cost: its costs are the least ones among
fewer shifts. So of a table with too many entries those are kept that are the best ones for a way
(`_best_entries`), the cheapest ones, and the one without shifts. Then the multiple is a bound, and the exact
cost of a way is another one. Where both are equal the multiple is exact.

Streams that differ in one entry: what a way costs then, and ways that cost most.

The theorem about ways (`unbounded_ways`) is about each difference δ by itself: W(δ)·ε is enough for two
streams that differ by δ, and for every ε no less is enough for all. If one entry differs, δ is t times
a unit vector with |t| ≤ 1, and W(t·e_k) ≤ max(W(e_k), W(−e_k)), because W is convex and W(0) = 0. **So the
cost of a way is the largest W(±e_k) over the entries k that it reads**, plus d'_k where insample' of entry k
is put out. With no shifts at all it is at most d_k; and 0 where the sample is not compared, not stored and
not put out, because then it alone is moved. So every automaton is private with the largest of these costs.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product

from paramverify.automata.automaton import Automaton
from paramverify.automata.stored_values import Graph, explore, same_outputs
from paramverify.automata.unbounded_ways import path, tour
from paramverify.automata.way_costs import (
    Closed,
    Reached,
    Table,
    Way,
    best_shifts,
    bounds,
    cost,
    costs_of,
    following,
    paid,
    unit_of,
    way_of,
)

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


REPEATED = (0, 1, 2, 4, 24)  # how often cycles are repeated
MAX_STEPS = 400
MAX_WAYS = 2_000


@dataclass(frozen=True, eq=False)
class OneReport:
    """`multiple`·ε is enough where one entry differs; no multiple below that of `way` is, if there is one."""

    automaton: Automaton
    graph: Graph
    multiple: Fraction
    way: Way | None
    confused: tuple[int, int] | None

    @property
    def least(self) -> Fraction:
        """A number so that no multiple below it is enough."""
        return Fraction(0) if self.way is None else self.way.cost


def verify_one(automaton: Automaton) -> OneReport:
    """Returns a multiple of ε that is enough where one entry differs, and a way that needs much of it.

    Raises:
        InputError: a guard reads what has no value, or two guards are true at once.
        LimitError: the automaton is too large.
    """
    graph = explore(automaton)
    costs = {number: most(graph, number) for number in range(len(graph.edges))}
    multiple = max(costs.values(), default=Fraction(0))
    confused = same_outputs(graph)
    way = None if confused or not multiple else _costly(graph, costs)
    return OneReport(automaton, graph, multiple, way, confused)


def most(graph: Graph, number: int) -> Fraction:
    """Returns what a step costs at most if its entry is the one that differs."""
    automaton, edge, step = graph.automaton, graph.edges[number], graph.step(number)
    state = automaton.state_of(step)
    if not state.reads:
        return Fraction(0)
    bound = step.compared or step.releases or step.stored & graph.nodes[edge.target].known
    return (state.rate if bound else Fraction(0)) + automaton.second_rate(step)


def _costly(graph: Graph, costs: dict[int, Fraction]) -> Way | None:
    """Returns the costliest of many ways in which one entry differs."""
    best: Way | None = None
    tried = 0
    for number in sorted(costs, key=lambda k: (-costs[k], k)):
        if best is not None and best.cost >= costs[number]:
            break
        ways = (entry for times in REPEATED for entry in _through(graph, number, times))
        for steps, place in ways:
            for sign in (1, -1):
                signs = [0] * len(steps)
                signs[place] = sign
                found = cost(graph.automaton, steps, signs)
                best = found if best is None or found.cost > best.cost else best
            tried += 1
            if (best is not None and best.cost >= costs[number]) or tried > MAX_WAYS:
                break
    return best if best is not None and best.cost else None


def exceeding(graph: Graph, multiple: Fraction, steps: int) -> Iterator[tuple[int, Way]]:
    """Yields ways of so many steps at most that cost more than a multiple, with few repetitions first."""
    for times in REPEATED:
        for number in range(len(graph.edges)):
            if most(graph, number) <= multiple:
                continue
            for route, place in _through(graph, number, times):
                for sign in (1, -1) if len(route) <= steps else ():
                    signs = [0] * len(route)
                    signs[place] = sign
                    found = cost(graph.automaton, route, signs)
                    if found.cost > multiple:
                        yield times, found


def _through(graph: Graph, number: int, times: int) -> Iterator[tuple[list[int], int]]:
    """Yields ways through an edge, with its place: cycles before it and after it are repeated."""
    edge = graph.edges[number]
    before = _toured(graph, path(graph, 0, edge.source, lambda _: True), 0, times)
    ends = {graph.component[edge.target]: edge.target}
    waiting = [edge.target]
    for node in waiting:
        for k in graph.leaving[node]:
            target = graph.edges[k].target
            if graph.component[target] not in ends:
                ends[graph.component[target]] = target
                waiting.append(target)
    for end in ends.values():
        after = _toured(graph, path(graph, edge.target, end, lambda _: True), edge.target, times)
        if len(before) + len(after) < MAX_STEPS:
            yield [graph.edges[k].transition for k in (*before, number, *after)], len(before)


def _toured(graph: Graph, route: Sequence[int], node: int, times: int) -> list[int]:
    """Returns a way from a node with tours of the cycles of each component that it meets."""
    found: list[int] = []
    seen: set[int] = set()
    for number in (*route, None):
        if graph.component[node] not in seen:
            seen.add(graph.component[node])
            found += tour(graph, node) * times
        if number is not None:
            found.append(number)
            node = graph.edges[number].target
    return found
