"""Which stored values are known to be in which order, and so which transitions can be taken at all.

A node is a state of the automaton together with the pairs (x, y) of variables of which x ≤ y is known from
the guards of the way there; pairs in both directions are one and the same sample. Samples are drawn from
densities that are positive everywhere, and all orders that agree with the pairs have positive probability.
So a guard can be true iff no variable that must lie below insample is known to be above one that must lie
above it: **the ways of nodes are exactly the ways of the automaton with a positive probability**. Whole
numbers may be equal: then a guard can be true iff it makes no circle x ≤ ... ≤ x in which one is a `<`.
Variables that no guard reads before they are stored again are forgotten ([Chadha23] calls the result the
augmented automaton).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from paramverify import printable
from paramverify.automata.automaton import LAPLACE, SAMPLE, SECOND, Automaton, State, Transition
from paramverify.errors import InputError, LimitError

MAX_NODES = 20_000
MAX_EDGES = 100_000
MAX_COMPARED = 8  # values at one state, to see whether a run may end there

Pairs = frozenset[tuple[int, int]]


@dataclass(frozen=True)
class OrderNode:
    """A state of the automaton, the variables that have a value, and the pairs that are known.

    `apart` are the pairs that cannot be equal.
    """

    state: int
    pairs: Pairs
    known: frozenset[int]
    apart: Pairs = frozenset()


@dataclass(frozen=True)
class Edge:
    """A transition between two nodes, all by their numbers."""

    source: int
    target: int
    transition: int


@dataclass(frozen=True, eq=False)
class Graph:
    """All nodes that a run can reach, from node 0, and what leaves and enters each."""

    automaton: Automaton
    nodes: tuple[OrderNode, ...]
    edges: tuple[Edge, ...]
    component: tuple[int, ...]  # by the node: the number of its strongly connected component
    leaving: tuple[tuple[int, ...], ...] = field(init=False)
    entering: tuple[tuple[int, ...], ...] = field(init=False)

    def __post_init__(self) -> None:
        leaving: list[list[int]] = [[] for _ in self.nodes]
        entering: list[list[int]] = [[] for _ in self.nodes]
        for number, edge in enumerate(self.edges):
            leaving[edge.source].append(number)
            entering[edge.target].append(number)
        object.__setattr__(self, "leaving", tuple(map(tuple, leaving)))
        object.__setattr__(self, "entering", tuple(map(tuple, entering)))

    @property
    def ends(self) -> tuple[State, ...]:
        """The states that a run reaches, and in which it ends because no transition leaves them."""
        reached = {0, *(self.step(edge).target for edge in self.edges)}
        automaton = self.automaton
        return tuple(automaton.states[k] for k in sorted(reached) if not automaton.leaving[k])

    def step(self, edge: Edge | int) -> Transition:
        """Returns the transition of an edge."""
        found = self.edges[edge] if isinstance(edge, int) else edge
        return self.automaton.transitions[found.transition]

    def repeats(self, edge: Edge | int) -> bool:
        """Tells whether a run can take an edge any number of times."""
        found = self.edges[edge] if isinstance(edge, int) else edge
        return self.component[found.source] == self.component[found.target]


def live_variables(automaton: Automaton) -> tuple[frozenset[int], ...]:
    """Returns for each state the variables that some way reads before it stores them."""
    live: list[frozenset[int]] = [frozenset() for _ in automaton.states]
    entering: dict[int, list[Transition]] = {}
    for step in automaton.transitions:
        entering.setdefault(step.target, []).append(step)
    waiting = set(range(len(live)))
    while waiting:
        state = waiting.pop()
        found: frozenset[int] = frozenset()
        for number in automaton.leaving[state]:
            step = automaton.transitions[number]
            if not step.never:
                found |= step.compared | (live[step.target] - step.stored)
        if found != live[state]:
            live[state] = found
            waiting |= {step.source for step in entering.get(state, ())}
    return tuple(live)


def fits(node: OrderNode, *steps: Transition) -> bool:
    """Tells whether a new sample may be where the guards of all these steps ask it to be."""
    apart = {v for step in steps for v in step.apart}
    return not any(
        (low == high or (high, low) in node.pairs)
        and (low in apart or high in apart or (high, low) in node.apart)
        for low in {v for step in steps for v in step.above}
        for high in {v for step in steps for v in step.below}
    )


def after(step: Transition, node: OrderNode, kept: frozenset[int]) -> tuple[Pairs, Pairs]:
    """Returns the pairs that are known after a step, of the variables that are kept; and those apart."""
    apart: dict[tuple[int, int], bool] = {pair: pair in node.apart for pair in node.pairs}
    lower, upper = dict.fromkeys(step.above, False), dict.fromkeys(step.below, False)
    for v in step.above:
        for x, told in [(v, False), *((x, apart[x, y]) for x, y in node.pairs if y == v)]:
            lower[x] = lower.get(x, False) or told or v in step.apart
    for v in step.below:
        for y, told in [(v, False), *((y, apart[x, y]) for x, y in node.pairs if x == v)]:
            upper[y] = upper.get(y, False) or told or v in step.apart
    for x, first in lower.items():
        for y, second in upper.items():
            if x != y:
                apart[x, y] = apart.get((x, y), False) or first or second
    stays, stored = kept - step.stored, step.stored & kept
    found = {pair: told for pair, told in apart.items() if stays.issuperset(pair)}
    found |= {(x, v): told for x, told in lower.items() if x in stays for v in stored}
    found |= {(v, y): told for y, told in upper.items() if y in stays for v in stored}
    found |= {(v, w): False for v in stored for w in stored if v != w}
    return frozenset(found), frozenset(pair for pair, told in found.items() if told)


def _after(step: Transition, node: OrderNode, kept: frozenset[int]) -> OrderNode:
    pairs, apart = after(step, node, kept)
    return OrderNode(step.target, pairs, (node.known | step.stored) & kept, apart)


def explore(automaton: Automaton) -> Graph:
    """Returns the graph of all nodes that a run can reach.

    Raises:
        InputError: a variable is read that has no value yet, or two guards are true at once.
        LimitError: there are too many nodes.
    """
    live = live_variables(automaton)
    first = OrderNode(0, frozenset(), frozenset())
    numbers, nodes, edges = {first: 0}, [first], []
    for place, node in enumerate(nodes):
        for number in _taken(automaton, node):
            step = automaton.transitions[number]
            following = _after(step, node, live[step.target])
            target = numbers.setdefault(following, len(nodes))
            if target == len(nodes):
                nodes.append(following)
            edges.append(Edge(place, target, number))
            if len(nodes) > MAX_NODES or len(edges) > MAX_EDGES:
                raise LimitError(f"the orders of stored values give more than {MAX_NODES:,} nodes")
    return _merged(automaton, nodes, edges)


def _taken(automaton: Automaton, node: OrderNode) -> list[int]:
    """Returns the transitions that can be taken from a node; no two of them at once."""
    found: list[int] = []
    for number in automaton.leaving[node.state]:
        step = automaton.transitions[number]
        if step.never:
            continue
        for variable in sorted(step.compared - node.known):
            name = printable.name(automaton.variables[variable])
            raise InputError(f"line {step.line}: {name} is compared before a value is stored in it")
        if not fits(node, step):
            continue
        for other in (automaton.transitions[k] for k in found):
            if fits(node, step, other):
                reason = f"two guards of {printable.name(automaton.states[node.state].name)} are true at once"
                raise InputError(f"line {step.line}: {reason}; add to this one what excludes the other")
        found.append(number)
    return found


def may_end(automaton: Automaton, steps: Sequence[int]) -> bool:
    """Tells whether a run may end before the last step of a way because no guard is true.

    That is no output. Where more than `MAX_COMPARED` values are compared with a sample, the answer is True.
    """
    live, node = live_variables(automaton), OrderNode(0, frozenset(), frozenset())
    for number in steps:
        if _lets_end(automaton, node):
            return True
        step = automaton.transitions[number]
        node = _after(step, node, live[step.target])
    return False


def _lets_end(automaton: Automaton, node: OrderNode) -> bool:
    """Tells whether a sample may lie among the compared values where no guard is true.

    `place` says how a value lies to the sample: below it (-1), equal (0) or above it (1).
    """
    steps = [automaton.transitions[k] for k in automaton.leaving[node.state]]
    compared = sorted({v for step in steps for v in step.compared})
    if len(compared) > MAX_COMPARED:
        return True
    sides = (-1, 1) if automaton.noise == LAPLACE else (-1, 0, 1)
    for places in product(sides, repeat=len(compared)):
        place = dict(zip(compared, places, strict=True))
        if _agrees(node, place) and not any(_true(step, place) for step in steps):
            return True
    return False


def _agrees(node: OrderNode, place: Mapping[int, int]) -> bool:
    return all(
        place[x] < place[y] or (place[x] == place[y] and not (place[x] == 0 and (x, y) in node.apart))
        for x, y in node.pairs
        if x in place and y in place
    )


def _true(step: Transition, place: Mapping[int, int]) -> bool:
    def holds(v: int, wanted: int) -> bool:
        return place[v] == wanted or (place[v] == 0 and v not in step.apart)

    return all(holds(v, -1) for v in step.above) and all(holds(v, 1) for v in step.below)


def same_outputs(graph: Graph) -> tuple[int, int] | None:
    """Returns two edges of one node that an observer may confuse: the same word, or numbers; None if none.

    Where there are none, outputs tell the way.
    """
    for leaving in graph.leaving:
        seen: dict[str, int] = {}
        for number in leaving:
            word = graph.step(number).output
            word = "" if word in (SAMPLE, SECOND) else word
            if word in seen:
                return seen[word], number
            seen[word] = number
    return None


def _merged(automaton: Automaton, nodes: list[OrderNode], edges: list[Edge]) -> Graph:
    """Returns the graph of classes of nodes: same state, and the same transitions to the same classes."""
    leaving: list[list[Edge]] = [[] for _ in nodes]
    for edge in edges:
        leaving[edge.source].append(edge)
    classes, count = [node.state for node in nodes], 0
    while True:
        told = [
            (classes[k], tuple(sorted((edge.transition, classes[edge.target]) for edge in leaving[k])))
            for k in range(len(nodes))
        ]
        numbers: dict[object, int] = {}
        classes = [numbers.setdefault(entry, len(numbers)) for entry in told]
        if len(numbers) == count:
            break
        count = len(numbers)
    first = {number: place for place, number in reversed(list(enumerate(classes)))}
    kept = [Edge(k, classes[e.target], e.transition) for k in range(count) for e in leaving[first[k]]]
    following: list[list[int]] = [[] for _ in range(count)]
    for edge in kept:
        following[edge.source].append(edge.target)
    return Graph(automaton, tuple(nodes[first[k]] for k in range(count)), tuple(kept), strong(following))


def strong(following: list[list[int]]) -> tuple[int, ...]:
    """Returns the number of the strongly connected component of each node of a graph of successors.

    Components are numbered so that each comes after all that it leads to.
    """
    size = len(following)
    index, low, component = [-1] * size, [0] * size, [-1] * size
    stack: list[int] = []
    count = found = 0
    for root in range(size):
        if index[root] >= 0:
            continue
        work = [(root, iter(following[root]))]
        index[root] = low[root] = count
        count += 1
        stack.append(root)
        while work:
            node, rest = work[-1]
            for child in rest:
                if index[child] < 0:
                    index[child] = low[child] = count
                    count += 1
                    stack.append(child)
                    work.append((child, iter(following[child])))
                    break
                if component[child] < 0:
                    low[node] = min(low[node], index[child])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    while True:
                        child = stack.pop()
                        component[child] = found
                        if child == node:
                            break
                    found += 1
    return tuple(component)
