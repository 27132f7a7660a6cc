"""What the rest of a run asks of the shifts of stored values, and what a run then costs at most.

**Shifts.** Let α and β be streams with |α_k − β_k| ≤ 1, and take one way of the automaton. Move the k-th
sample by a whole number s_k between -1 and 1. If samples that are compared keep their order (s_j ≤ s_k
where sample j must lie below sample k) and s_k = 0 where insample is put out, then all runs on this way
become runs on this way, with the same outputs. Under β the moved sample has at least exp(−d·ε·|s_k + α_k −
β_k|) times the density of the sample under α, and without α and β for a state that reads nothing. So
Pr_α(way) ≤ exp(W·ε)·Pr_β(way), where W is the sum of the exponents, for every ε. The shifts may depend on
the way and on both streams. W is convex in α − β once the shifts are the best ones, so differences of ±1
are the worst.

**Demands.** They are found from the end of a way to its beginning. A `Demand` is a node of `orders.Graph`
with a `Zone` Z and a number: from there on every way can go on at this cost, whichever shifts in Z the
stored values have. A step of a state with rate d pays d·level, where the level is how far its sample may
stay from the shift that would cost nothing. Less paid is more demanded of the stored values.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from paramverify.automata.automaton import Automaton, Transition
from paramverify.automata.orders import Graph, strong
from paramverify.automata.zones import FREE, HIGH, LOW, Zone, meet, without, zone
from paramverify.errors import LimitError

MAX_DEMANDS = 50_000


@dataclass(frozen=True)
class Demand:
    """How a step is paid for: level, cost, and the zone before it."""

    level: int
    cost: Fraction
    zone: Zone


@dataclass(frozen=True)
class DemandLink:
    """A step from one demand to another, by their numbers, and the edge of the graph that it takes."""

    source: int
    target: int
    edge: int
    level: int
    cost: Fraction


@dataclass(frozen=True)
class Conflict:
    """An edge that cannot be paid for before a demand, or a node whose own demand contradicts a later one.

    `way` are the edges from there to the end of a way.
    """

    node: int
    way: tuple[int, ...]


@dataclass(eq=False)
class Demands:
    """All demands: node and zone of each, what links them, and the first conflict where there is one.

    `forward` leads from a demand to the end of the way for which it was first made: edge and demand.
    """

    graph: Graph
    zones: list[tuple[int, Zone]] = field(default_factory=list)
    links: list[DemandLink] = field(default_factory=list)
    forward: list[tuple[int, int] | None] = field(default_factory=list)
    conflict: Conflict | None = None

    def way(self, demand: int) -> Iterator[int]:
        """Returns the edges from a demand to the end of the way for which it was made."""
        following = self.forward[demand]
        while following is not None:
            yield following[0]
            following = self.forward[following[1]]


def levels(automaton: Automaton, step: Transition) -> int:
    """Returns the largest level: 2 for a state that reads, 1 for others."""
    return 2 if automaton.state_of(step).reads else 1


def limits(automaton: Automaton, step: Transition, level: int) -> tuple[int, int]:
    """Returns a and b so that a sample with lower bounds up to a and upper bounds from b on pays the level.

    The sample wants the shift 0 where nothing is read, else -1 or 1, whichever the difference of the streams
    says. With bounds l ≤ shift ≤ u it stays at most max(0, l − wanted, wanted − u) away.
    """
    wanted = 1 if automaton.state_of(step).reads else 0
    return level - wanted, wanted - level


def cost_of(automaton: Automaton, step: Transition, level: int) -> Fraction:
    """Returns what a level costs, with what is paid for the release of insample'."""
    return automaton.state_of(step).rate * level + automaton.second_rate(step)


def before(automaton: Automaton, step: Transition, later: Zone, level: int) -> Zone | None:
    """Returns the shifts of stored values with which a step is paid by a level and leads into a zone.

    None if there are none. The sample has lower bounds L and upper bounds U: stored values that it is
    compared with, and what the zone says of the variables that store it. There is a shift between them at
    this level iff each of L is at most each of U and at most a, and each of U is at least b, for the numbers
    a and b of `limits`.
    """
    variables_below, variables_above = set(step.above), set(step.below)
    least, most = (0, 0) if step.releases else (LOW, HIGH)
    pairs = set()
    for x, y in later.pairs:
        if x in step.stored and y not in step.stored:
            variables_above.add(y)
        elif y in step.stored and x not in step.stored:
            variables_below.add(x)
        elif x not in step.stored:
            pairs.add((x, y))
    bounds = {}
    for variable, low, high in later.bounds:
        if variable in step.stored:
            least, most = max(least, low), min(most, high)
        else:
            bounds[variable] = (low, high)
    top, bottom = limits(automaton, step, level)
    if least > most or least > top or most < bottom:
        return None
    for variable in variables_below:  # shift(variable) <= sample
        low, high = bounds.get(variable, (LOW, HIGH))
        bounds[variable] = (low, min(high, most, top))
    for variable in variables_above:
        low, high = bounds.get(variable, (LOW, HIGH))
        bounds[variable] = (max(low, least, bottom), high)
    return zone(bounds, pairs | {(x, y) for x in variables_below for y in variables_above})


def ask(graph: Graph, edge: int, later: Zone, sparing: bool = False) -> Demand | None:
    """Returns how an edge is paid for before a zone; None if it cannot be.

    An edge that repeats pays the least level for which a sample alone could be moved; any other one pays the
    least level that asks no more of stored values than the largest would; if `sparing`, as one that repeats.
    """
    automaton, step = graph.automaton, graph.step(edge)
    highest = levels(automaton, step)
    free = before(automaton, step, later, highest)
    if free is None:
        return None
    for level in range(highest + 1):
        found = before(automaton, step, later, level)
        if found == free or ((sparing or graph.repeats(edge)) and _alone(automaton, step, later, level)):
            return None if found is None else Demand(level, cost_of(automaton, step, level), found)
    return Demand(highest, cost_of(automaton, step, highest), free)


def _alone(automaton: Automaton, step: Transition, later: Zone, level: int) -> bool:
    """Tells whether a level suffices for a sample, but for the stored values that it is compared with."""
    least, most = (0, 0) if step.releases else (LOW, HIGH)
    for variable in step.stored:
        low, high = later.of(variable)
        least, most = max(least, low), min(most, high)
    top, bottom = limits(automaton, step, level)
    return least <= min(most, top) and most >= bottom


def all_demands(graph: Graph, sparing: Collection[int] = ()) -> Demands:
    """Returns the demands of all ways to their end; stops at the first conflict.

    The edges of `sparing` pay no more than they must. A conflict then says nothing about the automaton.

    Raises:
        LimitError: there are too many.
    """
    found, constant = Demands(graph), repeated(graph)
    numbers: dict[tuple[int, Zone], int] = {}

    def demand(node: int, later: Zone | None, way: tuple[int, int] | None) -> int | None:
        joined = None if later is None else meet(later, constant.get(graph.component[node], FREE))
        if joined is None:
            rest = () if way is None else (way[0], *found.way(way[1]))
            found.conflict = Conflict(node, rest)
            return None
        number = numbers.setdefault((node, joined), len(found.zones))
        if number == len(found.zones):
            found.zones.append((node, joined))
            found.forward.append(way)
            if len(found.zones) > MAX_DEMANDS:
                raise LimitError(f"more than {MAX_DEMANDS:,} demands on stored values")
        return number

    for node in range(len(graph.nodes)):
        if demand(node, FREE, None) is None:
            return found
    for place, (node, later) in enumerate(found.zones):
        for edge in graph.entering[node]:
            asked = ask(graph, edge, later, edge in sparing)
            source = demand(graph.edges[edge].source, asked.zone if asked else None, (edge, place))
            if asked is None or source is None:
                return found
            found.links.append(DemandLink(source, place, edge, asked.level, asked.cost))
    return found


def repeated(graph: Graph) -> dict[int, Zone | None]:
    """Returns for each component what its edges ask together of the values that it never stores.

    A run may take all of them before it goes on, and again and again; so nothing is asked in vain.
    """
    found: dict[int, Zone | None] = {}
    edges: dict[int, list[int]] = {}
    for number, edge in enumerate(graph.edges):
        if graph.repeats(edge):
            edges.setdefault(graph.component[edge.source], []).append(number)
    for component, inside in edges.items():
        stored = frozenset(v for number in inside for v in graph.step(number).stored)
        together: Zone | None = FREE
        for number in inside:
            asked = ask(graph, number, FREE)
            if asked is not None and together is not None:
                together = meet(together, without(asked.zone, stored))
        found[component] = together
    return found


def weights(found: Demands) -> list[Fraction] | None:
    """Returns what the rest of a run costs at most from each demand; None if there is no bound."""
    leaving: list[list[DemandLink]] = [[] for _ in found.zones]
    for link in found.links:
        leaving[link.source].append(link)
    component = strong([[link.target for link in links] for links in leaving])
    if any(link.cost and component[link.source] == component[link.target] for link in found.links):
        return None
    members: dict[int, list[int]] = {}
    for demand, number in enumerate(component):
        members.setdefault(number, []).append(demand)
    most: dict[int, Fraction] = {}
    for number in range(len(members)):  # a component comes after all that it leads to
        costs = [
            link.cost + most[component[link.target]]
            for demand in members[number]
            for link in leaving[demand]
            if component[link.target] != number
        ]
        most[number] = max(costs, default=Fraction(0))
    return [most[number] for number in component]
