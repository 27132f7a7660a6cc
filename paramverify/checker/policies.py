"""Extreme probabilities of decisions where there are cycles: a policy whose values no action betters.

r(n) is the largest (or smallest) probability over all schedulers that a node n reaches its target; r is known
where no cycle is in the way. The largest one is the least solution of r = max_a P_a·r. Let a policy have the
probabilities x. If no action betters it, x ≥ P_a·x for all a, then x ≥ r; and the policy reaches x, so x = r.

For the smallest one, nodes in which a scheduler can stay for ever, or go to where the probability is 0, have
r = 0. Of the others no scheduler stays among them for ever. So x ≤ P_a·x for all a gives x ≤ r, and x = r.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from .strict import Rejected

MAX_ROUNDS = 1_000

Step: TypeAlias = Sequence[tuple[Any, Hashable]]
Solve: TypeAlias = Callable[[Sequence[Hashable], Callable[[Any], Step], dict[Any, Any]], dict[Any, Any]]


def extreme(
    nodes: Mapping[Hashable, Sequence[Step]], known: Mapping[Hashable, Fraction], largest: bool, solve: Solve
) -> dict[Hashable, Fraction]:
    """Returns r for nodes with choices of steps; `known` has it for all others that a step leads to.

    `solve` solves the linear equations of a policy.

    Raises:
        Rejected: a policy has no single solution, or none is found.
    """
    found = dict.fromkeys(_never(nodes, known) if largest else _avoiding(nodes, known), Fraction(0))
    left = {node: steps for node, steps in nodes.items() if node not in found}
    outside: dict[Any, Any] = {**known, **found}
    policy = _toward(left, outside) if largest else {node: steps[0] for node, steps in left.items()}
    for _ in range(MAX_ROUNDS):
        values = solve(list(left), policy.__getitem__, outside)
        every = {**outside, **values}
        better = {}
        for node, steps in left.items():
            best = max(steps, key=lambda s: _average(s, every) if largest else -_average(s, every))
            gain = _average(best, every) - values[node]
            if gain > 0 if largest else gain < 0:
                better[node] = best
        if not better:
            return {**found, **values}
        policy |= better
    raise Rejected("no policy was found that no action betters")


def _average(step: Step, values: Mapping[Hashable, Fraction]) -> Fraction:
    return sum((w * values[t] for w, t in step), Fraction(0))


def _toward(
    nodes: Mapping[Hashable, Sequence[Step]], known: Mapping[Hashable, Fraction]
) -> dict[Hashable, Step]:
    """Returns a policy under which each node reaches one with a known probability above 0, if it can."""
    policy: dict[Hashable, Step] = {}
    grown = True
    while grown:
        grown = False
        for node, steps in nodes.items():
            if node in policy:
                continue
            step = next((s for s in steps if any(t in policy or known.get(t, 0) > 0 for _, t in s)), None)
            if step is not None:
                policy[node] = step
                grown = True
    return policy


def _never(nodes: Mapping[Hashable, Sequence[Step]], known: Mapping[Hashable, Fraction]) -> set[Hashable]:
    """Returns the nodes that no scheduler brings to the target."""
    return set(nodes) - _toward(nodes, known).keys()


def _avoiding(nodes: Mapping[Hashable, Sequence[Step]], known: Mapping[Hashable, Fraction]) -> set[Hashable]:
    """Returns the nodes from which a scheduler avoids the target for ever."""
    kept = set(nodes)
    while True:
        gone = {
            node
            for node in kept
            if not any(all(t in kept or known.get(t) == 0 for _, t in step) for step in nodes[node])
        }
        if not gone:
            return kept
        kept -= gone
