"""Stored noisy values of automata.

The orders that are known of them, and what the rest of a run asks of their shifts.

Which stored values are known to be in which order, and so which transitions can be taken at all.

A node is a state of the automaton together with the pairs (x, y) of variables of which x ≤ y is known from
the guards of the way there; pairs in both directions are one and the same sample. Samples are drawn from
densities that are positive everywhere, and all orders that agree with the pairs have positive probability.
So a guard can be true iff no variable that must lie below insample is known to be above one that must lie
above it: **the ways of nodes are exactly the ways of the automaton with a positive probability**. Whole
numbers may be equal: then a guard can be true iff it makes no circle x ≤ ... ≤ x in which one is a `<`.
Variables that no guard reads before they are stored again are forgotten ([Chadha23] calls the result the
augmented automaton).

Sets of shifts: what the stored values may be moved by, so that the rest of a run costs no more than
known.

A shift is -1, 0 or 1 for each stored value. A `Zone` is a set of shifts that is given by bounds of single
values and by pairs (x, y) with shift(x) ≤ shift(y). Zones are closed under what steps need of them.

What the rest of a run asks of the shifts of stored values, and what a run then costs at most.

**Shifts.** Let α and β be streams with |α_k − β_k| ≤ 1, and take one way of the automaton. Move the k-th
sample by a whole number s_k between -1 and 1. If samples that are compared keep their order (s_j ≤ s_k
where sample j must lie below sample k) and s_k = 0 where insample is put out, then all runs on this way
become runs on this way, with the same outputs. Under β the moved sample has at least exp(−d·ε·|s_k + α_k −
β_k|) times the density of the sample under α, and without α and β for a state that reads nothing. So
Pr_α(way) ≤ exp(W·ε)·Pr_β(way), where W is the sum of the exponents, for every ε. The shifts may depend on
the way and on both streams. W is convex in α − β once the shifts are the best ones, so differences of ±1
are the worst.

**Demands.** They are found from the end of a way to its beginning. A `Demand` is a node of `Graph`
with a `Zone` Z and a number: from there on every way can go on at this cost, whichever shifts in Z the
stored values have. A step of a state with rate d pays d·level, where the level is how far its sample may
stay from the shift that would cost nothing. Less paid is more demanded of the stored values.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
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


LOW, HIGH = -1, 1

# What lies below or above a shift: a variable by its number, or a number as a text of one.
Bounds = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class Zone:
    """Shifts with low ≤ shift(v) ≤ high for each (v, low, high), and shift(x) ≤ shift(y) for each pair."""

    bounds: Bounds = ()
    pairs: frozenset[tuple[int, int]] = frozenset()

    def of(self, variable: int) -> tuple[int, int]:
        """Returns the bounds of a variable."""
        for name, low, high in self.bounds:
            if name == variable:
                return low, high
        return LOW, HIGH

    @property
    def variables(self) -> frozenset[int]:
        """The variables that are not free."""
        return frozenset(v for v, _, _ in self.bounds) | {v for pair in self.pairs for v in pair}


FREE = Zone()


def meet(one: Zone, other: Zone | None) -> Zone | None:
    """Returns the shifts in both zones; None if there are none."""
    if other is None or other == FREE or one == other:
        return None if other is None else one
    bounds = {v: (low, high) for v, low, high in one.bounds}
    for v, low, high in other.bounds:
        least, most = bounds.get(v, (LOW, HIGH))
        bounds[v] = max(least, low), min(most, high)
    return zone(bounds, one.pairs | other.pairs)


def without(one: Zone, variables: frozenset[int]) -> Zone:
    """Returns the zone with nothing asked of these variables."""
    bounds = tuple(entry for entry in one.bounds if entry[0] not in variables)
    return Zone(bounds, frozenset(pair for pair in one.pairs if not variables & set(pair)))


def zone(bounds: Mapping[int, tuple[int, int]], pairs: Iterable[tuple[int, int]]) -> Zone | None:
    """Returns the zone with all that follows from its bounds and pairs, in one way only; None if empty."""
    low = {v: least for v, (least, _) in bounds.items()}
    high = {v: most for v, (_, most) in bounds.items()}
    known = {(x, y) for x, y in pairs if x != y}
    waiting = list(known)
    while waiting:
        x, y = waiting.pop()
        for first, second in [(x, z) for w, z in known if w == y] + [(w, y) for w, z in known if z == x]:
            if first != second and (first, second) not in known:
                known.add((first, second))
                waiting.append((first, second))
    floor = dict(low)
    roof = dict(high)
    for x, y in known:
        floor[y] = max(floor.get(y, LOW), low.get(x, LOW))
        roof[x] = min(roof.get(x, HIGH), high.get(y, HIGH))
    named = sorted(floor.keys() | roof.keys())
    kept = tuple((v, floor.get(v, LOW), roof.get(v, HIGH)) for v in named)
    if any(least > most for _, least, most in kept):
        return None
    told = frozenset((x, y) for x, y in known if roof.get(x, HIGH) > floor.get(y, LOW))
    return Zone(tuple(entry for entry in kept if entry[1:] != (LOW, HIGH)), told)


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
