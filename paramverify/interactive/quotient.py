"""Probabilistic bisimulation: terminal states that no observer can tell apart, by partition refinement.

Two states are bisimilar if they enable the same actions, and each action leads to every class with the same
probability ([LarsenSkou91]). Bisimilar states give every observation the same probability for all inputs.
Here only the states that differ in class are split again, not all of them in repeated passes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from paramverify.interactive.closure import SILENT, Closures
from paramverify.models.systems.system import Distribution
from paramverify.models.systems.weights import Weight


@dataclass(frozen=True)
class StatePartition:
    """The class of each terminal state, and one state of each class; ⊥ is a class of its own, `SILENT`."""

    classes: dict[int, int]
    members: tuple[int, ...]

    def of(self, distribution: Distribution) -> tuple[tuple[int, Weight], ...]:
        """Returns the distribution over classes."""
        total: dict[int, Weight] = {}
        for state, weight in distribution:
            block = SILENT if state == SILENT else self.classes[state]
            total[block] = total[block] + weight if block in total else weight
        return tuple(sorted(total.items()))


def bisimulation(closures: Closures, states: Iterable[int]) -> StatePartition:
    """Returns the coarsest bisimulation on a set of terminal states that is closed under steps."""
    rows = closures.system.rows
    order = list(states)
    first: dict[object, int] = {}
    classes: dict[int, int] = {}
    for state in order:
        signature = (closures.kinds[state], frozenset(rows[state]))
        classes[state] = first.setdefault(signature, len(first))
    blocks: list[list[int]] = [[] for _ in first]
    before: dict[int, set[int]] = {}
    for state in order:
        blocks[classes[state]].append(state)
        for action in rows[state]:
            for successor, _ in closures.after(state, action):
                if successor != SILENT:
                    before.setdefault(successor, set()).add(state)
    partition = StatePartition(classes, ())
    touched = set(range(len(blocks)))
    while touched:
        block = touched.pop()
        parts: dict[object, list[int]] = {}
        for state in blocks[block]:
            moved = tuple((a, partition.of(closures.after(state, a))) for a in sorted(rows[state]))
            parts.setdefault(moved, []).append(state)
        if len(parts) < 2:
            continue
        largest = max(parts.values(), key=len)
        blocks[block] = largest
        changed: set[int] = set()
        for part in parts.values():
            if part is not largest:
                for state in part:
                    classes[state] = len(blocks)
                    changed.update(before.get(state, ()))
                blocks.append(part)
                touched.add(len(blocks) - 1)
        touched.add(block)
        touched.update(classes[state] for state in changed)
    return StatePartition(classes, tuple(block[0] for block in blocks))
