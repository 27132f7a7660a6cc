"""What one way through an automaton costs, exactly, and the search for costly ways.

What one way costs: the least multiple of ε for it, exactly, with flows that show that it is no less.

For differences δ of two streams the cost is min Σ d_k·|s_k + δ_k| over shifts s in the order in which the
way compares its samples, with 0 for released ones (`stored_values`, `unbounded_ways`). Whole shifts are
enough. So it is the sum of two cuts: samples with s_k = 1, and samples with s_k ≥ 0, each closed upwards in
the order. A maximal flow in the order has the value of the least cut ([FordF56]).

Costly ways by search: what a way has cost so far, for all shifts of its stored values at once.

A table has the least cost of the way so far for each assignment of shifts to the stored values. Its least
entry is what the way costs if it ends there. A table that is nowhere larger than another one at the same
node leads to nothing costlier, so it is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm

from paramverify.automata.automaton import Automaton, Transition
from paramverify.automata.stored_values import Graph

Flow = Mapping[tuple[int, int], Fraction]


@dataclass(frozen=True)
class Way:
    """Transitions, the difference of the streams at each (0 where none is read), the cost, and both flows."""

    steps: tuple[int, ...]
    signs: tuple[int, ...]
    cost: Fraction
    flows: tuple[Flow, Flow]


def links(automaton: Automaton, steps: Sequence[int]) -> frozenset[tuple[int, int]]:
    """Returns the pairs of places whose samples a way compares directly, the lower one first."""
    holder: dict[int, int] = {}
    found: set[tuple[int, int]] = set()
    for place, number in enumerate(steps):
        step = automaton.transitions[number]
        found |= {(holder[v], place) for v in step.above} | {(place, holder[v]) for v in step.below}
        holder |= dict.fromkeys(step.stored, place)
    return frozenset(found)


def cost(automaton: Automaton, steps: Sequence[int], signs: Sequence[int]) -> Way:
    """Returns what a way costs for these differences of the streams, with both flows."""
    known = [automaton.transitions[number] for number in steps]
    released = [step.releases for step in known]
    rates = [automaton.state_of(step).rate for step in known]
    reads = [automaton.state_of(step).reads for step in known]
    moves = [abs(sign) * reading for sign, reading in zip(signs, reads, strict=True)]
    total = sum((automaton.second_rate(s) * move for s, move in zip(known, moves, strict=True)), Fraction(0))
    total += sum((r * move for r, fixed, move in zip(rates, released, moves, strict=True) if fixed), 0)
    (high, one, _), (low, other, _) = _flows(automaton, steps, signs)
    return Way(tuple(steps), tuple(signs), total + high + low, (one, other))


def best_shifts(automaton: Automaton, steps: Sequence[int], signs: Sequence[int]) -> tuple[int, ...]:
    """Returns the shifts of the samples of a way for which it costs the least."""
    (_, _, above), (_, _, level) = _flows(automaton, steps, signs)
    return tuple(1 if k in above else 0 if k in level else -1 for k in range(len(steps)))


def paid(automaton: Automaton, steps: Sequence[int], signs: Sequence[int], shifts: Sequence[int]) -> Fraction:
    """Returns what a way costs with these shifts of its samples; no less than it costs with the best ones."""
    total = Fraction(0)
    for number, sign, shift in zip(steps, signs, shifts, strict=True):
        step = automaton.transitions[number]
        total += automaton.state_of(step).rate * abs(shift + sign) + automaton.second_rate(step) * abs(sign)
    return total


_Cut = tuple[Fraction, Flow, frozenset[int]]


def _flows(automaton: Automaton, steps: Sequence[int], signs: Sequence[int]) -> tuple[_Cut, _Cut]:
    """Returns the largest flows, and above a least cut of each the samples with the shift 1, and 0 or 1."""
    order = links(automaton, steps)
    known = [automaton.transitions[number] for number in steps]
    rates = [automaton.state_of(step).rate for step in known]
    limit = sum(rates, Fraction(1))
    room = [limit if step.releases else rate for step, rate in zip(known, rates, strict=True)]
    wishes = [0 if step.releases else -sign for step, sign in zip(known, signs, strict=True)]
    high, low = (largest_flow(order, room, [wish >= least for wish in wishes]) for least in (1, 0))
    return high, low


def largest_flow(
    order: frozenset[tuple[int, int]], room: Sequence[Fraction], gives: Sequence[bool]
) -> tuple[Fraction, Flow, frozenset[int]]:
    """Returns the largest flow upwards in an order from samples that give to those that take.

    The set is the smallest one above a least cut: with each sample it has all that lie above.
    """
    flow: dict[tuple[int, int], Fraction] = {}
    given = [Fraction(0)] * len(room)
    upwards: list[list[int]] = [[] for _ in room]
    downwards: list[list[int]] = [[] for _ in room]
    for low, high in sorted(order):
        upwards[low].append(high)
        downwards[high].append(low)
    total = Fraction(0)
    while True:
        came: dict[int, int] = {k: k for k in range(len(room)) if gives[k] and given[k] < room[k]}
        waiting, end = list(came), -1
        for place in waiting:
            if not gives[place] and given[place] < room[place]:
                end = place
                break
            back = [k for k in downwards[place] if flow.get((k, place))]
            for following in (*upwards[place], *back):
                if following not in came:
                    came[following] = place
                    waiting.append(following)
        if end < 0:
            return total, {pair: amount for pair, amount in flow.items() if amount}, frozenset(came)
        way = [end]
        while came[way[-1]] != way[-1]:
            way.append(came[way[-1]])
        way.reverse()
        amount = min(room[k] - given[k] for k in (way[0], end))
        steps = list(pairwise(way))
        amount = min([amount, *(flow[b, a] for a, b in steps if (a, b) not in order)])
        for a, b in steps:
            pair, sign = ((a, b), 1) if (a, b) in order else ((b, a), -1)
            flow[pair] = flow.get(pair, Fraction(0)) + sign * amount
        given[way[0]] += amount
        given[end] += amount
        total += amount


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
