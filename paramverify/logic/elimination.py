"""Linear equations of one strongly connected component, by eliminating its states ([Daws04])."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush

from paramverify.models.chains.flat import FlatRows, Value


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
