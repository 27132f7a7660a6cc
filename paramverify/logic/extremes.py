"""Exact extremal probabilities of a path formula over all schedulers of a decision process.

Bounded formulas by backward induction. Reachability component by component of the graph of all choices, each
after those that it leads to: a node that stands alone needs one look at its choices, and a larger component
policy iteration of its own (`improving`). For the smallest probability the value is zero where some scheduler
avoids the target forever. Elsewhere every policy reaches the target or such a node with probability one.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

from paramverify.errors import UnsupportedError
from paramverify.logic.improving import settle
from paramverify.logic.normal_forms import Node, depth
from paramverify.logic.products import Product, product
from paramverify.logic.reachability import components, strong_components
from paramverify.models.chains.chain import Chain, Row, Value, is_zero
from paramverify.models.chains.flat import FlatRows


def extremes(
    chain: Chain, formula: Node, signatures: Sequence[int], starts: Iterable[int], largest: bool
) -> dict[int, Value]:
    """Returns sup (or inf) over all schedulers of the probability of a formula without unbounded R.

    Raises:
        UnsupportedError: probabilities that are not rational numbers.
    """
    if not chain.numeric:
        raise UnsupportedError(
            "extremal probabilities over all schedulers need a model whose probabilities are rational numbers"
        )
    made = product(chain, formula, signatures, starts)
    values = node_values(made, formula, largest, chain)
    return {state: values[node] for state, node in made.starts.items()}


def node_values(made: Product, formula: Node, largest: bool, chain: Chain) -> list[Value]:
    """Returns sup (or inf) over all schedulers from each node of the product of a numeric model."""
    options = [rows if len(rows) < 2 else _different(rows) for rows in made.choices]
    if depth(formula) is not None:
        return _induction(made, options, largest, chain)
    return _iteration(made, options, largest, chain)


def _different(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """Returns rows without those that are the same; equal probabilities are mostly one object."""
    return tuple({tuple((t, id(weight)) for t, weight in row): row for row in rows}.values())


def _worth(row: Row, values: Sequence[Value], zero: Value) -> Value:
    total = zero
    for successor, weight in row:
        total = total + weight * values[successor]
    return total


def _induction(made: Product, options: Sequence[tuple[Row, ...]], largest: bool, chain: Chain) -> list[Value]:
    """A bounded formula's product has no cycles; its components come after those that they lead to."""
    values: list[Value] = [chain.zero] * len(options)
    for node, value in made.known.items():
        values[node] = value
    together = [tuple(entry for row in rows for entry in row) for rows in options]
    for (node,) in components(together, {n for n in range(len(options)) if n not in made.known}):
        found = [_worth(row, values, chain.zero) for row in options[node]]
        values[node] = max(found) if largest else min(found)
    return values


def _iteration(made: Product, options: Sequence[tuple[Row, ...]], largest: bool, chain: Chain) -> list[Value]:
    """Settles the components of the graph of all choices, each after those that it leads to."""
    known = dict(made.known)
    if not largest:
        known.update(dict.fromkeys(_avoiding(made, options), chain.zero))
    values: list[Value] = [chain.zero] * len(options)
    for node, value in known.items():
        values[node] = value
    begins, targets = array("q", [0]), array("i")
    for node, rows in enumerate(options):
        if node not in known:
            targets.extend({target for row in rows for target, _ in row})
        begins.append(len(targets))
    graph = FlatRows(begins, targets, array("i"), ())
    for component in strong_components(graph, range(len(options)), known):
        settle(component, options, values, largest)
    return values


def _avoiding(made: Product, options: Sequence[tuple[Row, ...]]) -> set[int]:
    """Returns the nodes from which some scheduler never reaches a node of value one.

    The largest set such that each node has a choice that stays in it; nodes of value zero belong to it.
    """
    inside = [n not in made.known or is_zero(made.known[n]) for n in range(len(options))]
    before: list[list[tuple[int, int]]] = [[] for _ in options]
    staying = [len(rows) for rows in options]  # choices with all successors inside, of each node
    for node, rows in enumerate(options):
        if node not in made.known:
            for place, row in enumerate(rows):
                for successor, _ in row:
                    before[successor].append((node, place))
    left: set[tuple[int, int]] = set()  # choices that have a successor outside
    pending = [node for node, is_inside in enumerate(inside) if not is_inside]
    while pending:
        for choice in before[pending.pop()]:
            if choice not in left:
                left.add(choice)
                node = choice[0]
                staying[node] -= 1
                if not staying[node] and inside[node]:
                    inside[node] = False
                    pending.append(node)
    return {node for node, is_inside in enumerate(inside) if is_inside and node not in made.known}
