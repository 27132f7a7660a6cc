"""Exact probabilities to reach a target in a finite graph, component by component.

The values solve x_s = Σ_t p(s,t)·x_t, with x = 1 at the target and x = 0 where it cannot be reached, and are
the only solution ([BaierKatoen08] theorem 10.19). Strongly connected components are solved in reverse
topological order: alone-standing states by one sum, others by eliminating their states one after the other
([Daws04]).

With parameters, the set of states that cannot reach the target must be the same at every point. Without
cycles that does not matter: the value is a polynomial that is right everywhere. For a cycle, `guard` is
called with each probability on it and out of it (for a loop, with the probability to leave it), and has to
see to it that these are positive on the whole domain; then the system of the component is nonsingular at
every point.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from heapq import heapify, heappop, heappush

from paramverify.models.chains.chain import Row, Value, is_zero

Guard = Callable[[Value], None]


def solve(
    rows: Sequence[Row], known: Mapping[int, Value], zero: Value, one: Value, guard: Guard | None = None
) -> list[Value]:
    """Returns the value of every node; `known` gives those that are settled, whose rows are not read."""
    size = len(rows)
    values: list[Value] = [zero] * size
    for node, value in known.items():
        values[node] = value
    alive = _can_reach(rows, [n for n, v in known.items() if not is_zero(v)], known)
    for component in components(rows, alive):
        if len(component) == 1:
            (node,) = component
            total, loop = zero, None
            for successor, weight in rows[node]:
                if successor == node:
                    loop = weight
                elif successor in alive or successor in known:
                    total = total + weight * values[successor]
            if loop is not None:
                if guard:
                    guard(one - loop)
                total = total / (one - loop)
            values[node] = total
        else:
            if guard:
                for node in component:
                    for _, weight in rows[node]:
                        guard(weight)
            _eliminate(component, rows, values, zero, one)
    return values


def _can_reach(rows: Sequence[Row], targets: Sequence[int], known: Mapping[int, Value]) -> set[int]:
    """Returns the open nodes from which a target is reached with positive probability."""
    before: list[list[int]] = [[] for _ in rows]
    for node, row in enumerate(rows):
        if node not in known:
            for successor, _ in row:
                before[successor].append(node)
    found: set[int] = set()
    pending = list(targets)
    while pending:
        for node in before[pending.pop()]:
            if node not in found:
                found.add(node)
                pending.append(node)
    return found


def components(rows: Sequence[Row], nodes: set[int]) -> list[list[int]]:
    """Returns the strongly connected components of some nodes, each after those that it leads to.

    Tarjan's algorithm [Tarjan72], without recursion.
    """
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found: list[list[int]] = []
    for root in nodes:
        if root in order:
            continue
        work: list[tuple[int, int]] = [(root, 0)]
        while work:
            node, place = work.pop()
            if place == 0:
                order[node] = low[node] = len(order)
                stack.append(node)
                on_stack.add(node)
            row = rows[node]
            descended = False
            while place < len(row):
                successor = row[place][0]
                place += 1
                if successor not in nodes:
                    continue
                if successor not in order:
                    work.append((node, place))
                    work.append((successor, 0))
                    descended = True
                    break
                if successor in on_stack:
                    low[node] = min(low[node], order[successor])
            if descended:
                continue
            if low[node] == order[node]:
                component: list[int] = []
                while True:
                    member = stack.pop()
                    on_stack.discard(member)
                    component.append(member)
                    if member == node:
                        break
                found.append(component)
            if work:
                parent = work[-1][0]
                low[parent] = min(low[parent], low[node])
    return found


def _eliminate(
    component: Sequence[int], rows: Sequence[Row], values: list[Value], zero: Value, one: Value
) -> None:
    """Solves one component: each state is replaced by its successors, cheapest first, then back again."""
    inside = set(component)
    table: dict[int, dict[int, Value]] = {}
    constant: dict[int, Value] = {}
    before: dict[int, set[int]] = {node: set() for node in component}
    for node in component:
        entries: dict[int, Value] = {}
        total = zero
        for successor, weight in rows[node]:
            if successor in inside:
                entries[successor] = entries[successor] + weight if successor in entries else weight
                before[successor].add(node)
            elif not is_zero(values[successor]):
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
