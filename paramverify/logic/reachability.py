"""Exact probabilities to reach a target in a finite graph, and the extremal ones of a decision process.

The values solve x_s = Σ_t p(s,t)·x_t, with x = 1 at the target and x = 0 where it cannot be reached, and are
the only solution ([BaierKatoen08] theorem 10.19). Strongly connected components come one after the other,
each after those that it leads to ([Tarjan72]). A component that leads to no target has the value zero. One
whose ways out all have one value has that value, for it is left with probability one. These need no
arithmetic, so zeros and ones are found by the graph alone. For other components a state that stands alone
needs one sum, and the states of a larger one are eliminated one after the other ([Daws04]).

With parameters, the set of states that cannot reach the target must be the same at every point. Without
cycles that does not matter: the value is a polynomial that is right everywhere. For a cycle, `guard` is
called with each probability on it and out of it (for a loop, with the probability to leave it), and has to
see to it that these are positive on the whole domain; then the system of the component is nonsingular at
every point.

Largest and smallest probabilities in one component of a decision process, by policy iteration.

The states of a strongly connected component are settled together, after those that it leads to; their values
are known then. A policy is improved where a choice is strictly better, and is evaluated exactly by its system
of equations. Policies are finitely many and values improve strictly, so the iteration ends with an optimal
one ([Puterman94] section 7.2). It needs policies that leave the component with probability one:

- Largest probability: the first policy goes towards a positive value. Strict improvements never make a set
  that cannot be left: averaging the values over its stationary distribution would give a number larger than
  itself.
- Smallest probability: states that can avoid the target forever are settled before, so every policy leaves.

The first policy is improved in floating point before anything is computed exactly. This decides nothing: it
is a guess of the policy, which is used if it leaves the component, and is improved exactly then.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from math import isfinite

from flint import fmpq

from paramverify.models.chains.markov_chains import FlatRows, Row, Value, is_zero


def eliminate(component: Sequence[int], rows: FlatRows, values: list[Value], zero: Value, one: Value) -> None:
    """Solves one component: each state is replaced by its successors, cheapest first, then back again.

    `values` has those of the nodes that the component leads to, None for zero, and gets those of its own.
    """
    inside = set(component)
    table: dict[int, dict[int, Value]] = {}
    constant: dict[int, Value] = {}
    before: dict[int, set[int]] = {node: set() for node in component}
    for node in component:
        entries: dict[int, Value] = {}
        total = zero
        for successor, weight in rows[node][0]:
            if successor in inside:
                entries[successor] = entries[successor] + weight if successor in entries else weight
                before[successor].add(node)
            elif values[successor] is not None:
                total = total + weight * values[successor]
        table[node], constant[node] = entries, total
    heap = [(len(before[n]) * len(table[n]), n) for n in component]
    heapify(heap)
    done: list[int] = []
    gone: set[int] = set()
    while heap:
        cost, node = heappop(heap)
        if node in gone:
            continue
        now = len(before[node]) * len(table[node])
        if now > cost:
            heappush(heap, (now, node))
            continue
        row = table[node]
        loop = row.pop(node, None)
        before[node].discard(node)
        if loop is not None:
            # 1 − loop > 0: from every state of the component the target is reached with positive probability.
            factor = one / (one - loop)
            for successor in row:
                row[successor] = row[successor] * factor
            constant[node] = constant[node] * factor
        for other in before[node]:
            weight = table[other].pop(node)
            constant[other] = constant[other] + weight * constant[node]
            for successor, share in row.items():
                part = weight * share
                entries = table[other]
                entries[successor] = entries[successor] + part if successor in entries else part
                before[successor].add(other)
        for successor in row:
            before[successor].discard(node)
        gone.add(node)
        done.append(node)
    for node in reversed(done):
        total = constant[node]
        for successor, weight in table[node].items():
            total = total + weight * values[successor]
        values[node] = total


Guard = Callable[[Value], None]


def solve(
    rows: FlatRows,
    known: Mapping[int, Value],
    zero: Value,
    one: Value,
    guard: Guard | None = None,
    wanted: Collection[int] | None = None,
) -> list[Value]:
    """Returns the value of every node; `known` gives those that are settled, whose rows are not read.

    Rows are distributions. Where only some nodes are `wanted`, others may have None: a value is forgotten
    when nothing needs it any more.
    """
    solving = _Solving(rows, zero, one, guard)
    for node, value in known.items():
        solving.values[node] = None if is_zero(value) else one if value == one else value
    if wanted is not None:
        solving.count(known, wanted)
    starts = range(len(rows)) if wanted is None else wanted
    for component in strong_components(rows, starts, known):
        solving.settle(component)
    if wanted is None:
        return [zero if value is None else value for value in solving.values]
    for node in wanted:
        if solving.values[node] is None:
            solving.values[node] = zero
    return solving.values


@dataclass
class _Solving:
    """The values so far; None is zero, as far as the graph says so."""

    rows: FlatRows
    zero: Value
    one: Value
    guard: Guard | None
    values: list[Value] = field(default_factory=list)
    needed: array[int] | None = None  # how many rows still have to read the value of a node

    def __post_init__(self) -> None:
        self.values = [None] * len(self.rows)

    def count(self, known: Collection[int], wanted: Iterable[int]) -> None:
        """Counts the rows that read each node's value; those that are wanted are never forgotten."""
        needed = array("i", [0]) * len(self.rows)
        for target in self.rows.targets:
            needed[target] += 1
        for node in (*known, *wanted):
            needed[node] += 1
        self.needed = needed

    def settle(self, component: Sequence[int]) -> None:
        """Finds the values of a component whose ways out are settled."""
        if len(component) == 1:
            self._settle_one(component[0])
        else:
            self._settle_many(component)
        if self.needed is not None:
            self._forget(component)

    def _settle_one(self, node: int) -> None:
        rows, values = self.rows, self.values
        first, last = rows.begins[node], rows.begins[node + 1]
        targets = rows.targets[first:last]
        if node in targets and last - first > 1:
            self._settle_loop(node)
            return
        found = [values[target] for target in targets]
        only = found[0] if found else None
        for value in found:
            if value is not only:
                break
        else:  # the only way out, or all have one value
            values[node] = only
            return
        total, one = self.zero, self.one
        weights = rows.values
        for value, weight in zip(found, rows.weights[first:last], strict=True):
            if value is one:
                total = total + weights[weight]
            elif value is not None:
                total = total + weights[weight] * value
        values[node] = total

    def _settle_loop(self, node: int) -> None:
        """Settles a node that may stay where it is, or leave."""
        rows, values = self.rows, self.values
        loop, total = self.zero, self.zero
        found: list[Value] = []
        for k in range(rows.begins[node], rows.begins[node + 1]):
            weight, value = rows.values[rows.weights[k]], values[rows.targets[k]]
            if rows.targets[k] == node:
                loop = loop + weight
                continue
            found.append(value)
            if value is not None:
                total = total + (weight if value is self.one else weight * value)
        if all(value is None for value in found):
            return
        if self.guard:
            self.guard(self.one - loop)
        alike = all(value is found[0] for value in found)
        values[node] = found[0] if alike else total / (self.one - loop)

    def _settle_many(self, component: Sequence[int]) -> None:
        rows, values, inside = self.rows, self.values, set(component)
        exits: list[Value] = []
        for node in component:
            for k in range(rows.begins[node], rows.begins[node + 1]):
                if rows.targets[k] not in inside:
                    exits.append(values[rows.targets[k]])
        if all(value is None for value in exits):
            return
        if self.guard:
            for node in component:
                for k in range(rows.begins[node], rows.begins[node + 1]):
                    self.guard(rows.values[rows.weights[k]])
        if all(value is exits[0] for value in exits):
            for node in component:
                values[node] = exits[0]
            return
        eliminate(component, rows, values, self.zero, self.one)

    def _forget(self, component: Sequence[int]) -> None:
        """Forgets the values that only the rows of this component still had to read."""
        rows, values, needed = self.rows, self.values, self.needed
        assert needed is not None
        for node in component:
            for k in range(rows.begins[node], rows.begins[node + 1]):
                target = rows.targets[k]
                needed[target] -= 1
                if not needed[target]:
                    values[target] = None


def components(rows: Sequence[Row], nodes: set[int]) -> list[list[int]]:
    """Returns the strongly connected components of some nodes, each after those that it leads to."""
    begins, targets = array("q", [0]), array("i")
    for row in rows:
        targets.extend(target for target, _ in row)
        begins.append(len(targets))
    others = {node for node in range(len(rows)) if node not in nodes}
    return list(strong_components(FlatRows(begins, targets, array("i"), ()), nodes, others))


def strong_components(rows: FlatRows, starts: Iterable[int], settled: Collection[int]) -> Iterator[list[int]]:
    """Yields the strongly connected components of what is reached from some nodes without going through
    settled ones, each after those that it leads to.

    Tarjan's algorithm [Tarjan72], without recursion.
    """
    begins, targets = rows.begins, rows.targets
    order, low = array("i", [0]) * len(rows), array("i", [0]) * len(rows)
    done = bytearray(len(rows))
    for node in settled:
        order[node], done[node] = -1, 1
    place = array("q", begins)
    stack: list[int] = []
    count = 0
    for root in starts:
        if order[root]:
            continue
        count += 1
        order[root] = low[root] = count
        stack.append(root)
        way = [root]
        while way:
            node = way[-1]
            lowest = low[node]
            k, end = place[node], begins[node + 1]
            while k < end:
                target = targets[k]
                k += 1
                if not order[target]:
                    count += 1
                    order[target] = low[target] = count
                    stack.append(target)
                    way.append(target)
                    break
                if order[target] < lowest and not done[target]:
                    lowest = order[target]
            else:
                way.pop()
                if lowest == order[node]:
                    component: list[int] = []
                    member = -1
                    while member != node:
                        member = stack.pop()
                        done[member] = 1
                        component.append(member)
                    yield component
                if way and lowest < low[way[-1]]:
                    low[way[-1]] = lowest
                continue
            place[node], low[node] = k, lowest


GUESSES = 500  # rounds in floating point
BETTER = 1e-9  # relative
ZERO, ONE = fmpq(0), fmpq(1)


def settle(
    component: Sequence[int],
    options: Sequence[tuple[Row, ...]],
    values: list[Value],
    largest: bool,
) -> None:
    """Finds the values of a component, whose ways out have values.

    Probabilities are flint rationals. For the smallest ones every policy must leave the component.
    """
    if len(component) == 1:
        (node,) = component
        if all(target != node for row in options[node] for target, _ in row):
            found = [sum((weight * values[t] for t, weight in row), ZERO) for row in options[node]]
            values[node] = (max(found) if largest else min(found)) if found else ZERO
            return
    part = _part(component, options, values)
    exits = list(part.known.values())
    if all(value == exits[0] for value in exits[1:]):
        # The states leave with probability one, at least under the policies with the largest values.
        solved: Sequence[Value] = [exits[0] if exits else ZERO] * len(component)
    else:
        solved = _best(part, largest)
    for node, value in zip(component, solved, strict=False):
        values[node] = value


@dataclass(frozen=True, eq=False)
class _Component:
    """A component: node k < `size` has the choices `choices[k]`, each with targets, and places of weights.

    Nodes from `size` on are the ways out, and have the values `known`.
    """

    size: int
    choices: tuple[tuple[tuple[array[int], array[int]], ...], ...]
    weights: tuple[Value, ...]
    known: Mapping[int, Value]

    def under(self, policy: Sequence[int]) -> FlatRows:
        """Returns the Markov chain of a policy."""
        begins, targets, places = array("q", [0]), array("i"), array("i")
        for chosen, choices in zip(policy, self.choices, strict=True):
            targets.extend(choices[chosen][0])
            places.extend(choices[chosen][1])
            begins.append(len(targets))
        begins.extend([len(targets)] * len(self.known))
        return FlatRows(begins, targets, places, self.weights)


def _part(
    component: Sequence[int], options: Sequence[tuple[Row, ...]], values: Sequence[Value]
) -> _Component:
    numbers = {node: k for k, node in enumerate(component)}
    known: dict[int, Value] = {}
    places: dict[int, int] = {}  # by the identity of a weight, which lives as long as the options
    weights: list[Value] = []
    choices = []
    for node in component:
        found = []
        for row in options[node]:
            for target, weight in row:
                if target not in numbers:
                    numbers[target] = len(numbers)
                    known[numbers[target]] = values[target]
                if id(weight) not in places:
                    places[id(weight)] = len(weights)
                    weights.append(weight)
            targets = array("i", [numbers[target] for target, _ in row])
            found.append((targets, array("i", [places[id(weight)] for _, weight in row])))
        choices.append(tuple(found))
    return _Component(len(component), tuple(choices), tuple(weights), known)


def _best(part: _Component, largest: bool) -> list[Value]:
    """Returns the values of an optimal policy, by exact improvement of a guess."""
    policy = _towards(part) if largest else [0] * part.size
    guess = _guess(part, policy, largest)
    if guess is not None and (not largest or _leaves(part, guess)):
        policy = guess
    while True:
        values = solve(part.under(policy), part.known, ZERO, ONE)
        if not _improve(part, policy, values, largest):
            return values


def _guess(part: _Component, start: Sequence[int], largest: bool) -> list[int] | None:
    """Returns a policy that is nearly optimal in floating point; None where that does not work."""
    weights = tuple(int(weight.p) / int(weight.q) for weight in part.weights)
    try:
        known = {node: int(value.p) / int(value.q) for node, value in part.known.items()}
    except OverflowError:
        return None
    rough = _Component(part.size, part.choices, weights, known)
    policy = list(start)
    for _ in range(GUESSES):
        try:
            values = solve(rough.under(policy), known, 0.0, 1.0)
        except ZeroDivisionError:
            return None
        if not all(map(isfinite, values)):
            return None
        if not _improve(rough, policy, values, largest, BETTER):
            break
    return policy


def _improve(
    part: _Component,
    policy: list[int],
    values: Sequence[Value],
    largest: bool,
    margin: float = 0,
) -> bool:
    """Changes a policy where a choice is better by more than a relative margin; tells whether it did."""
    changed, weights = False, part.weights
    factor = (1 + margin if largest else 1 - margin) if margin else None
    for node, choices in enumerate(part.choices):
        if len(choices) == 1:
            continue
        best, value = policy[node], values[node]
        for place, (targets, places) in enumerate(choices):
            if place == policy[node]:
                continue
            worth = sum(weights[w] * values[t] for t, w in zip(targets, places, strict=True))
            limit = value * factor if factor else value
            if (worth > limit) if largest else (worth < limit):
                best, value = place, worth
        if best != policy[node]:
            policy[node] = best
            changed = True
    return changed


def _towards(part: _Component) -> list[int]:
    """Returns a policy that goes towards a positive value from every node."""
    policy = [-1] * part.size
    before = _before(part, None)
    pending = [node for node, value in part.known.items() if not is_zero(value)]
    while pending:
        for node, place in before.get(pending.pop(), ()):
            if policy[node] < 0:
                policy[node] = place
                pending.append(node)
    return policy


def _leaves(part: _Component, policy: Sequence[int]) -> bool:
    """Tells whether a policy can leave the component from every node, and so does with probability one."""
    before = _before(part, policy)
    met = bytearray(part.size + len(part.known))
    pending = list(part.known)
    while pending:
        for node, _ in before.get(pending.pop(), ()):
            if not met[node]:
                met[node] = 1
                pending.append(node)
    return sum(met) == part.size


def _before(part: _Component, policy: Sequence[int] | None) -> Mapping[int, list[tuple[int, int]]]:
    """Returns for each target the nodes, with their choices, that may go there; under a policy, or at all."""
    found: dict[int, list[tuple[int, int]]] = {}
    for node, choices in enumerate(part.choices):
        for place, (targets, _) in enumerate(choices):
            if policy is None or policy[node] == place:
                for target in targets:
                    found.setdefault(target, []).append((node, place))
    return found
