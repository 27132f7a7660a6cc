"""Exact extremal probabilities of a path formula over all schedulers of a decision process.

Bounded formulas by backward induction. Reachability by policy iteration with exact evaluation of each policy:

- Largest probability: the first policy reaches the target with positive probability from wherever that is
  possible. Only strict improvements are made, so a policy never gets a closed set away from the target
  (averaging the values over its stationary distribution would give a number larger than itself), and its
  values are the solution of its system of equations.
- Smallest probability: where some scheduler avoids the target forever, the value is zero. Elsewhere every
  policy reaches the target or such a node with probability one.

Policies are finitely many and values improve strictly, so the iteration ends with an optimal one
([Puterman94] section 7.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from paramverify.errors import UnsupportedError
from paramverify.logic.normal_forms import Node, depth
from paramverify.logic.products import Product, product
from paramverify.logic.reachability import components, solve
from paramverify.models.chains.chain import Chain, Row, Value, is_zero
from paramverify.models.chains.flat import flat


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
    options = [tuple(dict.fromkeys(rows)) for rows in made.choices]
    if depth(formula) is not None:
        return _induction(made, options, largest, chain)
    return _iteration(made, options, largest, chain)


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
    known = dict(made.known)
    if not largest:
        known.update(dict.fromkeys(_avoiding(made, options), chain.zero))
    policy = _towards(options, known)
    for node in range(len(options)):
        if node not in known and node not in policy:
            known[node] = chain.zero  # the target is out of reach
    while True:
        rows = [options[n][policy[n]] if n in policy else () for n in range(len(options))]
        values = solve(flat(rows), known, chain.zero, chain.one)
        changed = False
        for node, chosen in policy.items():
            best, value = chosen, values[node]
            for place, row in enumerate(options[node]):
                worth = _worth(row, values, chain.zero)
                if (worth > value) if largest else (worth < value):
                    best, value = place, worth
            if best != chosen:
                policy[node] = best
                changed = True
        if not changed:
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


def _towards(options: Sequence[tuple[Row, ...]], known: dict[int, Value]) -> dict[int, int]:
    """Returns a choice for each node from which a node of positive value is reachable, on the way to it."""
    before: list[list[tuple[int, int]]] = [[] for _ in options]
    for node, rows in enumerate(options):
        if node not in known:
            for place, row in enumerate(rows):
                for successor, _ in row:
                    before[successor].append((node, place))
    policy: dict[int, int] = {}
    pending = [n for n, value in known.items() if not is_zero(value)]
    while pending:
        for node, place in before[pending.pop()]:
            if node not in policy:
                policy[node] = place
                pending.append(node)
    return policy
