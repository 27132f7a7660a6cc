"""Costly ways by search: what a way has cost so far, for all shifts of its stored values at once.

A table has the least cost of the way so far for each assignment of shifts to the stored values. Its least
entry is what the way costs if it ends there. A table that is nowhere larger than another one at the same
node leads to nothing costlier, so it is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from paramverify.automata.automaton import Automaton, Transition
from paramverify.automata.orders import Graph
from paramverify.automata.ways import Way, cost

MOST_VARIABLES = 3
MOST_TABLES = 600  # that are gone on from

Table = dict[tuple[int, ...], int]  # without shifts that the order does not allow


@dataclass(frozen=True, eq=False)
class Reached:
    """A way so far: its node, stored variables and table, the last step with its difference, and the rest.

    `differed` tells whether an entry has differed, where only one does.
    """

    node: int
    variables: tuple[int, ...]
    table: Table
    step: int = -1
    sign: int = 0
    before: Reached | None = None
    differed: bool = False

    def least(self) -> int:
        """Returns what the way costs if it ends here."""
        return min(self.table.values())


@dataclass(frozen=True)
class Closed:
    """A table that bounds the costs so far of ways to a node, for some of the shifts of its variables.

    `read` is how many inputs were read, where that is counted. `differed` tells whether an entry has
    differed, where only one does.
    """

    node: int
    variables: tuple[int, ...]
    costs: Mapping[tuple[int, ...], Fraction]
    read: int = 0
    differed: bool = False


@dataclass(frozen=True)
class Searched:
    """The costliest way that was found; and tables that bound all ways, if the search came to its end.

    Then no way costs more than the way: the tables are closed under all steps, up to smaller ones.
    """

    way: Way | None
    tables: tuple[Closed, ...] = ()


def search(graph: Graph, goal: Fraction) -> Searched:
    """Returns the costliest way that was found, at once if it costs the goal; the cost is exact."""
    if any(len(node.known) > MOST_VARIABLES for node in graph.nodes):
        return Searched(None)
    automaton = graph.automaton
    unit = unit_of(automaton)
    best = Reached(0, (), {(): 0})
    kept: dict[tuple[int, tuple[int, ...]], list[Table]] = {(0, ()): [best.table]}
    waiting = [best]
    for reached in waiting:
        for step in following(graph, reached, unit):
            tables = kept.setdefault((step.node, step.variables), [])
            if not any(bounds(other, step.table) for other in tables):
                tables[:] = [other for other in tables if not bounds(step.table, other)]
                tables.append(step.table)
                waiting.append(step)
                best = max(best, step, key=Reached.least)
        if best.least() >= goal * unit or len(waiting) > MOST_TABLES:
            return Searched(way_of(automaton, best))
    closed = tuple(
        Closed(node, variables, costs_of(table, unit))
        for (node, variables), tables in kept.items()
        for table in tables
    )
    return Searched(way_of(automaton, best), closed)


def unit_of(automaton: Automaton) -> int:
    """Returns a number that makes all costs of an automaton whole."""
    rates = [state.rate for state in automaton.states]
    rates += [automaton.second_rate(step) for step in automaton.transitions]
    return lcm(*(rate.denominator for rate in rates))


def bounds(one: Table, other: Table) -> bool:
    """Tells whether a table is nowhere less than another one of the same variables."""
    return all(key in other and value >= other[key] for key, value in one.items())


def costs_of(table: Table, unit: int) -> dict[tuple[int, ...], Fraction]:
    """Returns the costs of a table as numbers, without its unit."""
    return {shifts: Fraction(cost, unit) for shifts, cost in table.items()}


def following(graph: Graph, reached: Reached, unit: int, one: bool = False) -> Iterator[Reached]:
    """Returns all ways with one step more; costs are whole multiples of 1/unit.

    Each entry differs by 1; or `one` entry does, and the others are equal.
    """
    automaton = graph.automaton
    for number in graph.leaving[reached.node]:
        edge = graph.edges[number]
        step = graph.step(edge)
        kept = graph.nodes[edge.target].known
        stays = tuple(v for v in reached.variables if v in kept and v not in step.stored)
        variables = tuple(sorted({*stays, *(step.stored & kept)}))
        for sign in _signs(automaton.state_of(step).reads, one, reached.differed):
            table = _table(automaton, step, reached, (variables, sign, unit))
            differed = one and (reached.differed or sign != 0)
            yield Reached(
                edge.target,
                variables,
                table,
                edge.transition,
                sign=sign,
                before=reached,
                differed=differed,
            )


def _signs(reads: bool, one: bool, differed: bool) -> tuple[int, ...]:
    """Returns the differences of the next entry that are tried."""
    if not reads or differed:
        return (0,)
    return (-1, 0, 1) if one else (-1, 1)


def _table(
    automaton: Automaton, step: Transition, reached: Reached, given: tuple[tuple[int, ...], int, int]
) -> Table:
    variables, sign, unit = given
    rate = int(automaton.state_of(step).rate * unit)
    second = int(automaton.second_rate(step) * unit) * abs(sign)
    table: Table = {}
    for shifts, so_far in reached.table.items():
        of = dict(zip(reached.variables, shifts, strict=True))
        low = max((of[v] for v in step.above), default=-1)
        high = min((of[v] for v in step.below), default=1)
        low, high = (max(low, 0), min(high, 0)) if step.releases else (low, high)
        for shift in range(low, high + 1):
            key = tuple(shift if v in step.stored else of[v] for v in variables)
            found = so_far + rate * abs(shift + sign) + second
            table[key] = min(table.get(key, found), found)
    return table


def way_of(automaton: Automaton, reached: Reached) -> Way | None:
    """Returns the way with its cost and flows; None where it has no steps."""
    steps: list[int] = []
    signs: list[int] = []
    while reached.before is not None:
        steps.append(reached.step)
        signs.append(reached.sign)
        reached = reached.before
    return cost(automaton, steps[::-1], signs[::-1]) if steps else None
