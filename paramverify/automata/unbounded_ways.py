"""Ways that cost more the longer they are, and ways that need a large multiple of ε.

**What a way costs.** The order of a way has a pair (j, k) of samples if a guard says that sample j lies
below sample k. For a difference δ = β − α of two streams let W(δ) be min Σ d_k·|s_k − δ_k| + Σ d'_k·|δ_k|
over shifts s with s_j ≤ s_k for pairs of the order, and s_k = 0 if insample is output; the second sum is over
inputs of which insample' is output. Let W be the largest W(δ) with δ_k = ±1, and 0 where nothing is read.
**For every ε, W·ε is the least budget of the way**: it is enough for all streams that differ by at most 1
each, and no number below it is, already for whole numbers, and for Laplace and geometric noise.

*Enough.* Move sample k by s_k. This keeps the order and the outputs, so it maps runs on the way onto runs
on it. The centre of the noise moves by δ_k, so the density of a sample falls by a factor of at most
e^(d_k·ε·|s_k − δ_k|), and that of an output insample', which stays, by at most e^(d'_k·ε·|δ_k|). The
integral over all samples gives Pr_α(way) ≤ e^(ε·W(δ))·Pr_β(way). W(δ) is convex, because it is a minimum of
a convex function over part of its variables, so the largest value over |δ_k| ≤ 1 is at a corner. With
geometric noise the same is true of sums, because the best shifts are whole numbers (the order is that of a
network) and so keep `<` and `<=`.

*Least.* Fix ε, and differences δ_k = ±1 with W(δ) = W. For τ = 0, 1, 2, ... let a(τ) = ln Pr(way) under the
stream τ·δ; the streams τ·δ and (τ+1)·δ are neighbours. Let x be samples in the order of the way; numbers that
are output are fixed in this order. Up to a bounded number from the means, the exponent of the density is
−ε·V(x) with V(x) = Σ d_k·|x_k − τ·δ_k| + Σ d'_k·|y_k − τ·δ_k|, where y_k is the number that is output as
insample'.

- The samples that are possible are a polyhedron. It has a point p, and its directions ([Rockafellar70],
  section 8) are the shifts s above: strict comparisons of whole numbers require a difference of 1, and those
  of its directions 0. Every x is the sum of a direction and a point of a bounded set ([Schrijver86],
  corollary 7.1b). So min V differs from τ·W by a bounded number.
- *At least.* x = p + τ·s with the best shifts s is possible, and so are all samples in a small box around it
  (with geometric noise, this one sample). So a(τ) ≥ −ε·τ·W − c, for a number c that does not depend on τ.
- *At most.* For each η in (0, 1), e^(−ε·V) is at most e^(−(1−η)·ε·min V)·e^(−η·ε·V). The second factor has a
  finite integral, or sum, that does not depend on τ. So a(τ) ≤ −(1−η)·ε·τ·W + c', where c' depends on η and
  not on τ.

Together, a(τ)/τ tends to −ε·W. So the average of a(0) − a(1), ..., a(τ−1) − a(τ) goes to ε·W. By the first
part each of them is at most ε·W, so some come arbitrarily close to ε·W. ∎

**Families.** A `ViolationFamily` has parts of a way that are repeated n times, and a chain of samples, each
of which lies below the next. The first one of the chain, in repetition k, wants the shift 1 or 0, and the
last one -1 or 0. Their order does not allow both; so each repetition pays. Repetitions have samples of their
own, so n of them pay n times: the cost of the way grows without bound.

The kinds are those of [Chadha21] and [Chadha23]: a released input in a cycle (disclosing cycle), a value
that a cycle stores and compares (leaking cycle), two cycles that compare values in order (leaking pair),
and a cycle that compares a value which lies beyond a released one (privacy-violating path).

A way that needs a large multiple: from the heaviest chain of demands, with cycles that force what they
ask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from paramverify.automata.automaton import Automaton, Transition
from paramverify.automata.stored_values import Conflict, DemandLink, Demands, Graph
from paramverify.automata.way_costs import Way, cost
from paramverify.errors import DefectError

KINDS = ("disclosing cycle", "leaking cycle", "leaking pair", "privacy-violating path")


@dataclass(frozen=True)
class ViolationPart:
    """Transitions one after another, once or in every repetition."""

    steps: tuple[int, ...]
    repeated: bool = False


@dataclass(frozen=True)
class ViolationFamily:
    """Ways of every length with a cost that grows: see above.

    The chain has places: number of the part, step in it, and 0 or 1 for a repetition and the one after it.
    `gain` is what each repetition costs at least, or each second one if the chain needs two.
    """

    kind: str
    parts: tuple[ViolationPart, ...]
    chain: tuple[tuple[int, int, int], ...]
    gain: Fraction

    @property
    def period(self) -> int:
        """How many repetitions cost `gain`: 1 or 2."""
        return 1 + max(copy for _, _, copy in self.chain)

    def repetitions(self, multiple: Fraction) -> int:
        """Returns how many repetitions cost more than a multiple."""
        return self.period * int(multiple / self.gain + 1)

    def way(self, repetitions: int) -> tuple[int, ...]:
        """Returns the transitions of the way with so many repetitions."""
        return tuple(
            step
            for part in self.parts
            for _ in range(repetitions if part.repeated else 1)
            for step in part.steps
        )

    def marked(self, repetitions: int) -> tuple[list[int], list[int]]:
        """Returns the places in the way of the first and of the last samples of all chains."""
        starts, at = [], 0
        for part in self.parts:
            starts.append(at)
            at += len(part.steps) * (repetitions if part.repeated else 1)

        def every(place: tuple[int, int, int]) -> list[int]:
            number, step, copy = place
            part = self.parts[number]
            if not part.repeated:
                return [starts[number] + step]
            copies = range(copy, repetitions - self.period + 1 + copy, self.period)
            return [starts[number] + step + k * len(part.steps) for k in copies]

        return every(self.chain[0]), every(self.chain[-1])


def find_family(graph: Graph, conflict: Conflict | None) -> ViolationFamily | None:
    """Returns a family of ways with costs without bound, if the automaton has one of the known kinds."""
    found = _disclosing(graph) or _leaking_cycle(graph)
    if found is None and conflict is not None:
        found = _conflicting(graph, conflict)
    return found


def wish(automaton: Automaton, step: Transition, upwards: bool) -> int:
    """Returns the shift that a sample wants under the worst streams, -1, 0 or 1; what is released wants 0."""
    if step.releases or not automaton.state_of(step).reads:
        return 0
    return 1 if upwards else -1


def gain_of(automaton: Automaton, first: Transition, last: Transition) -> Fraction:
    """Returns what two samples cost at least if the first one lies below the last one: 0 if nothing.

    A released sample cannot be moved at all; so what is not released pays.
    """
    gap = wish(automaton, first, True) - wish(automaton, last, False)
    rates = [automaton.state_of(step).rate for step in (first, last) if not step.releases]
    return min(rates) * gap if rates and gap > 0 else Fraction(0)


def _disclosing(graph: Graph) -> ViolationFamily | None:
    """A cycle that releases what it reads."""
    automaton = graph.automaton
    for number, edge in enumerate(graph.edges):
        step = graph.step(edge)
        if not graph.repeats(edge) or not automaton.state_of(step).reads:
            continue
        gain = automaton.state_of(step).rate if step.releases else automaton.second_rate(step)
        if gain:
            cycle = (number, *path(graph, edge.target, edge.source, _inside(graph, edge.source)))
            parts = _parts(graph, [_to(graph, edge.source), cycle])
            return ViolationFamily(KINDS[0], parts, ((len(parts) - 1, 0, 0),), gain)
    return None


def _leaking_cycle(graph: Graph) -> ViolationFamily | None:
    """A cycle that stores a value and compares it, where one of both reads an input."""
    automaton = graph.automaton
    for number, edge in enumerate(graph.edges):
        if not graph.repeats(edge):
            continue
        for variable in sorted(graph.step(edge).compared):
            for store in _stores_before(graph, number, variable):
                below = variable in graph.step(edge).below
                first, last = (number, store) if below else (store, number)
                gain = gain_of(automaton, graph.step(first), graph.step(last))
                if gain:
                    return _cycle_family(graph, (store, number), variable, gain)
    return None


def _stores_before(graph: Graph, number: int, variable: int) -> list[int]:
    """Returns the edges of the component from which a stored value reaches an edge."""
    inside = _inside(graph, graph.edges[number].source)
    seen, waiting, found = {graph.edges[number].source}, [graph.edges[number].source], []
    while waiting:
        for entering in graph.entering[waiting.pop()]:
            edge = graph.edges[entering]
            if not inside(entering):
                continue
            if variable in graph.step(edge).stored:
                found.append(entering)
            elif edge.source not in seen:
                seen.add(edge.source)
                waiting.append(edge.source)
    return found


def _cycle_family(graph: Graph, places: tuple[int, int], variable: int, gain: Fraction) -> ViolationFamily:
    store, compare = places
    inside = _inside(graph, graph.edges[store].source)
    there = path(
        graph,
        graph.edges[store].target,
        graph.edges[compare].source,
        lambda number: inside(number) and variable not in graph.step(number).stored,
    )
    if store == compare:
        cycle, offset, copy = (store, *there), 0, 1
    else:
        back = path(graph, graph.edges[compare].target, graph.edges[store].source, inside)
        cycle, offset, copy = (store, *there, compare, *back), 1 + len(there), 0
    parts = _parts(graph, [_to(graph, graph.edges[store].source), cycle])
    last = len(parts) - 1
    chain = [(last, 0, 0), (last, offset, copy)]
    if variable in graph.step(compare).below:
        chain.reverse()
    return ViolationFamily(KINDS[1], parts, tuple(chain), gain)


def _conflicting(graph: Graph, conflict: Conflict) -> ViolationFamily | None:
    """Two parts of a way, one after another or the same, whose samples cannot be moved as both want."""
    route = _with_tours(graph, (*_to(graph, conflict.node), *conflict.way))
    below, above = _links(graph, route)
    for place, number in enumerate(route):
        chains = _chains(place, [one | other for one, other in zip(below, above, strict=True)])
        for end, chain in chains.items():
            first, last = graph.step(number), graph.step(route[end])
            gain = gain_of(graph.automaton, first, last)
            repeated = [k for k in (place, end) if not graph.step(route[k]).releases]
            if gain and end != place and all(graph.repeats(route[k]) for k in repeated):
                family = _pumped(graph, route, chain, gain)
                if family is not None:
                    return family
    return None


def _links(graph: Graph, route: Sequence[int]) -> tuple[list[set[int]], list[set[int]]]:
    """Returns for each sample of a way those that are directly known to lie above it.

    The first list has those that were stored before, the second one those that come later.
    """
    holder: dict[int, int] = {}
    earlier: list[set[int]] = [set() for _ in route]
    later: list[set[int]] = [set() for _ in route]
    for place, number in enumerate(route):
        step = graph.step(number)
        earlier[place] |= {holder[v] for v in step.below}
        for variable in step.above:
            later[holder[variable]].add(place)
        holder |= dict.fromkeys(step.stored, place)
    return earlier, later


def _chains(start: int, following: Sequence[set[int]]) -> dict[int, tuple[int, ...]]:
    """Returns a shortest chain to every sample that is known to lie above one."""
    found: dict[int, tuple[int, ...]] = {start: (start,)}
    waiting = [start]
    for place in waiting:
        for above in sorted(following[place]):
            if above not in found:
                found[above] = (*found[place], above)
                waiting.append(above)
    return found


def _pumped(
    graph: Graph, route: Sequence[int], chain: tuple[int, ...], gain: Fraction
) -> ViolationFamily | None:
    """Returns the family that repeats a cycle at each end of a chain, if the chain outlives it."""
    ends = [place for place in (chain[0], chain[-1]) if not graph.step(route[place]).releases]
    kept = _spans(graph, route, chain)
    cycles: dict[int, tuple[int, ...]] = {}
    for place in ends:
        used = {v for v, start, end in kept if start < place <= end}
        overwritten = any(start == place for _, start, _ in kept)  # only its last repetition is compared
        if overwritten or used & graph.step(route[place]).stored:
            return None
        back = _around(graph, route[place], used)
        if back is None:
            return None
        cycles[place] = (route[place], *back)
    return _assembled(graph, route, chain, cycles, gain)


def _around(graph: Graph, number: int, kept: set[int]) -> tuple[int, ...] | None:
    """Returns a way from the end of an edge to its beginning that stores none of these variables."""
    edge = graph.edges[number]
    inside = _inside(graph, edge.source)
    return _maybe_path(
        graph, edge.target, edge.source, lambda n: inside(n) and not kept & graph.step(n).stored
    )


def _assembled(
    graph: Graph,
    route: Sequence[int],
    chain: tuple[int, ...],
    cycles: dict[int, tuple[int, ...]],
    gain: Fraction,
) -> ViolationFamily:
    """Returns the family with a cycle before each of these places, instead of the place in the chain."""
    pieces: list[tuple[tuple[int, ...], bool]] = []
    where: dict[int, tuple[int, int, int]] = {}
    start = 0
    for place in sorted(cycles):
        if place > start:
            pieces.append((tuple(route[start:place]), False))
            for k in range(start, place):
                where.setdefault(k, (len(pieces) - 1, k - start, 0))
        where[place] = (len(pieces), 0, 0)
        pieces.append((cycles[place], True))
        start = place
    end = max(chain)
    if end > start or end not in cycles:
        pieces.append((tuple(route[start : end + 1]), False))
        for k in range(start, end + 1):
            where.setdefault(k, (len(pieces) - 1, k - start, 0))
    kind = KINDS[3] if any(graph.step(route[place]).releases for place in chain) else KINDS[2]
    parts = tuple(
        ViolationPart(tuple(graph.edges[n].transition for n in steps), rep) for steps, rep in pieces
    )
    return ViolationFamily(kind, parts, tuple(where[place] for place in chain), gain)


def _spans(graph: Graph, route: Sequence[int], chain: Sequence[int]) -> list[tuple[int, int, int]]:
    """Returns the variables by which the samples of a chain are compared, and between which places."""
    found = []
    for low, high in pairwise(chain):
        start, end = min(low, high), max(low, high)
        compared = graph.step(route[end]).below if end == low else graph.step(route[end]).above
        held = compared & graph.step(route[start]).stored
        for variable in sorted(held):
            if all(variable not in graph.step(route[k]).stored for k in range(start + 1, end)):
                found.append((variable, start, end))
                break
    return found


def _with_tours(graph: Graph, route: Sequence[int]) -> list[int]:
    """Returns a way that goes once through all guards of each component before it goes on."""
    found: list[int] = []
    seen: set[int] = set()
    node = 0
    for number in (*route, None):
        component = graph.component[node]
        if component not in seen:
            seen.add(component)
            found += tour(graph, node)
        if number is not None:
            found.append(number)
            node = graph.edges[number].target
    return found


def tour(graph: Graph, node: int) -> list[int]:
    """Returns a closed way through all edges of a component that compare or release something."""
    inside = _inside(graph, node)
    found: list[int] = []
    here = node
    for number, edge in enumerate(graph.edges):
        step = graph.step(edge)
        if inside(number) and (step.compared or step.releases):
            found += [*path(graph, here, edge.source, inside), number]
            here = edge.target
    return [*found, *path(graph, here, node, inside)] if found else found


def _inside(graph: Graph, node: int) -> Callable[[int], bool]:
    """Returns whether an edge stays in the component of a node."""
    component = graph.component[node]
    return lambda number: (
        graph.component[graph.edges[number].source]
        == component
        == graph.component[graph.edges[number].target]
    )


def _to(graph: Graph, node: int) -> tuple[int, ...]:
    return path(graph, 0, node, lambda number: True)


def path(graph: Graph, start: int, end: int, allowed: Callable[[int], bool]) -> tuple[int, ...]:
    """Returns a shortest way between two nodes along allowed edges.

    Raises:
        DefectError: there is none.
    """
    found = _maybe_path(graph, start, end, allowed)
    if found is None:
        raise DefectError("a node is not reached from a node of its component")
    return found


def _maybe_path(graph: Graph, start: int, end: int, allowed: Callable[[int], bool]) -> tuple[int, ...] | None:
    """Returns a shortest way between two nodes along allowed edges; None if there is none."""
    before: dict[int, int | None] = {start: None}
    waiting = [start]
    for node in waiting:
        if node == end:
            break
        for number in graph.leaving[node]:
            target = graph.edges[number].target
            if target not in before and allowed(number):
                before[target] = number
                waiting.append(target)
    if end not in before:
        return None
    found: list[int] = []
    while (number_before := before[end]) is not None:
        found.append(number_before)
        end = graph.edges[number_before].source
    return tuple(reversed(found))


def _parts(graph: Graph, pieces: Iterable[Sequence[int]]) -> tuple[ViolationPart, ...]:
    """Returns parts of edges as transitions; the last one is repeated."""
    told = [tuple(graph.edges[number].transition for number in piece) for piece in pieces]
    parts = [ViolationPart(piece) for piece in told[:-1] if piece]
    return (*parts, ViolationPart(told[-1], repeated=True))


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
