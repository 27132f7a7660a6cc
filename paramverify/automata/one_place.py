"""Streams that differ in one entry: what a way costs then, and ways that cost most.

The theorem about ways (`docs/automata.md`) is about each difference δ by itself: W(δ)·ε is enough for two
streams that differ by δ, and as ε grows no less is enough for all of them. If one entry differs, δ is t times
a unit vector with |t| ≤ 1, and W(t·e_k) ≤ max(W(e_k), W(−e_k)), because W is convex and W(0) = 0. **So the
cost of a way is the largest W(±e_k) over the entries k that it reads**, plus d'_k where insample' of entry k
is put out. With no shifts at all it is at most d_k; and 0 where the sample is not compared, not stored and
not put out, because then it alone is moved. So every automaton is private with the largest of these costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from paramverify.automata.automaton import Automaton
from paramverify.automata.orders import Graph, explore, same_outputs
from paramverify.automata.violations import path, tour
from paramverify.automata.ways import Way, cost

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
