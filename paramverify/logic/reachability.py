"""Exact probabilities to reach a target in a finite graph, component by component.

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
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from paramverify.logic.elimination import eliminate
from paramverify.models.chains.flat import FlatRows, Row, Value, is_zero

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
