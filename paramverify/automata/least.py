"""A way that needs a large multiple: from the heaviest chain of demands, with cycles that force what they
ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from paramverify.automata.automaton import Automaton
from paramverify.automata.demands import DemandLink, Demands
from paramverify.automata.orders import Graph
from paramverify.automata.violations import tour
from paramverify.automata.ways import Way, cost

MAX_STEPS = 400
MAX_TRIES = 400


@dataclass(frozen=True)
class _WayPlace:
    """A transition of a way, the difference of the streams to try first, and whether it is in a tour."""

    step: int
    sign: int
    fixed: bool


def costly_way(found: Demands, weight: Sequence[Fraction], most: int = MAX_STEPS) -> Way | None:
    """Returns a way whose cost is near the largest weight at the beginning, or equal to it; None if 0.

    Cycles on it are repeated so often at `most`, which may make it cost less. No multiple of ε below its cost
    is enough for all ε. That there is no costlier way is not said.
    """
    first = max((w, -k) for k, w in enumerate(weight) if found.zones[k][0] == 0)
    if not first[0]:
        return None
    automaton, places = found.graph.automaton, _places(found, weight, -first[1], most)
    steps, signs = [place.step for place in places], [place.sign for place in places]
    best = cost(automaton, steps, signs)
    free = [k for k, place in enumerate(places) if not place.fixed and place.sign]
    for k in free[:MAX_TRIES]:
        if best.cost == first[0]:
            break
        tried = cost(automaton, steps, [*best.signs[:k], -best.signs[k], *best.signs[k + 1 :]])
        best = max(best, tried, key=lambda way: way.cost)
    return best


def _places(found: Demands, weight: Sequence[Fraction], start: int, most: int) -> list[_WayPlace]:
    """Returns the way of the heaviest chain of demands, with tours of the cycles that it meets."""
    graph, leaving = found.graph, _heaviest(found, weight)
    places: list[_WayPlace] = []
    toured: set[int] = set()
    demand: int | None = start
    while demand is not None and len(places) < MAX_STEPS:
        node = found.zones[demand][0]
        if graph.component[node] not in toured:
            toured.add(graph.component[node])
            places += _forcing(graph, node, (weight[start], most), MAX_STEPS - len(places))
        link = leaving[demand]
        if link is not None:
            step = graph.edges[link.edge].transition
            places.append(_WayPlace(step, _against(found, link), False))
        demand = None if link is None else link.target
    return places


def _heaviest(found: Demands, weight: Sequence[Fraction]) -> list[DemandLink | None]:
    """Returns for each demand the link to take, so that all costs of its weight are met; None at the end.

    Links that cost nothing may lead around in a circle: the nearest link that costs is sought.
    """
    entering: list[list[DemandLink]] = [[] for _ in found.zones]
    chosen: list[DemandLink | None] = [None] * len(found.zones)
    waiting = []
    for link in found.links:
        if weight[link.source] == link.cost + weight[link.target]:
            entering[link.target].append(link)
            if link.cost and chosen[link.source] is None:
                chosen[link.source] = link
                waiting.append(link.source)
    for demand in waiting:
        for link in entering[demand]:
            if chosen[link.source] is None and weight[link.source]:
                chosen[link.source] = link
                waiting.append(link.source)
    return chosen


def _forcing(graph: Graph, node: int, wanted: tuple[Fraction, int], most: int) -> list[_WayPlace]:
    """Returns a tour of the cycles at a node, so often that moving another way would cost the whole bound.

    `wanted` is the bound, and how often at most.
    """
    automaton, (bound, often) = graph.automaton, wanted
    round_trip = [graph.edges[number].transition for number in tour(graph, node)]
    if not round_trip:
        return []
    least = min(automaton.state_of(automaton.transitions[k]).rate for k in round_trip)
    times = max(1, min(2 * int(bound / least + 1), most // len(round_trip), often))
    return [
        _WayPlace(number, _wanting(automaton, number, repetition), True)
        for repetition in range(times)
        for number in round_trip
    ]


def _wanting(automaton: Automaton, number: int, repetition: int) -> int:
    """Returns the difference with which a sample wants to stay where its guard asks it to be."""
    step = automaton.transitions[number]
    if not automaton.state_of(step).reads:
        return 0
    if step.above and step.below:
        return 1 if repetition % 2 else -1
    return 1 if step.above else -1


def _against(found: Demands, link: DemandLink) -> int:
    """Returns the difference for which a step has to be paid, by its guard or by what it stores."""
    step = found.graph.step(link.edge)
    if not found.graph.automaton.state_of(step).reads:
        return 0
    later = found.zones[link.target][1]
    if any(later.of(v)[0] > -1 for v in step.stored) or (step.above and not step.below):
        return 1
    if any(later.of(v)[1] < 1 for v in step.stored) or step.below:
        return -1
    return 1
