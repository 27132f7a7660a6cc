"""The δ-approximate lifting of a relation to distributions, by perfect matching ([T])."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paramverify.models.systems.system import Distribution
from paramverify.models.systems.weights import Weight


def lift(
    left: Distribution,
    right: Distribution,
    related: Callable[[int, int], bool],
    within: Callable[[Weight, Weight], bool] | None = None,
) -> tuple[int, ...] | None:
    """Returns a bijection of supports β that shows left L(R, δ) right, or None if there is none.

    x R β(x) is `related`, and |ln left(x) − ln right(β(x))| ≤ δ is `within`; without it δ is 0, and only
    states of equal probability are tried with each other. β[k] is the place in `right` of the k-th in `left`.
    """
    if len(left) != len(right):
        return None
    if within is None:
        alike: dict[Weight, list[int]] = {}
        for place, (_, weight) in enumerate(right):
            alike.setdefault(weight, []).append(place)
        rows = [[p for p in alike.get(w, ()) if related(s, right[p][0])] for s, w in left]
    else:
        rows = [[p for p, (r, v) in enumerate(right) if related(s, r) and within(w, v)] for s, w in left]
    return matching(rows)


def matching(rows: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
    """Returns different choices, one from each row, or None if there are none.

    Where every row has one choice, that is seen at once; otherwise Hopcroft–Karp decides.
    """
    if not all(rows):
        return None
    if all(len(row) == 1 for row in rows):
        only = tuple(row[0] for row in rows)
        return only if len(set(only)) == len(only) else None
    from networkx import Graph
    from networkx.algorithms.bipartite import hopcroft_karp_matching

    graph = Graph((("left", k), ("right", p)) for k, row in enumerate(rows) for p in row)
    tops = [("left", k) for k in range(len(rows))]
    found = hopcroft_karp_matching(graph, tops)
    if any(top not in found for top in tops):
        return None
    return tuple(found[top][1] for top in tops)
