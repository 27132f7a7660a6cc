"""Closures: where a system is after an action and all hidden steps, with sure steps folded in and like
states merged.

The hidden steps are an absorbing Markov chain, Q among hidden states and R out of them: the distribution over
terminal states is A = (I − Q)⁻¹R. It is computed along the components of the hidden part, in topological
order, so that only cyclic components need matrices.

Closures with surely following steps after a response folded in.

Two states that give the same response r and then are surely in x' and y' are related, or cost, as x' and y'
are. So an entry of a closure is kept as what can be seen next and where that surely leads, and the many pairs
of responding states need not be kept.

Probabilistic bisimulation: terminal states that no observer can tell apart, by partition refinement.

Two states are bisimilar if they enable the same actions, and each action leads to every class with the same
probability ([LarsenSkou91]). Bisimilar states give every observation the same probability for all inputs.
Here only the states that differ in class are split again, not all of them in repeated passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from flint import fmpq_mat

from paramverify.algebra.polynomials import Polynomial
from paramverify.interactive.probability_bounds import Fan
from paramverify.models.systems.transition_systems import Distribution, StateKind, System, Weight, is_zero

SILENT = -1  # ⊥: hidden steps for ever

Positive = Callable[[Polynomial, str], Polynomial]


class Closures:
    """Distributions over terminal states (waiting, responding, stopped) and ⊥, cached.

    `positive(f, what)` has to make sure that f has no zero on the parameter domain, and is called for every
    pivot of the elimination of a parametric system: there 1/f is multiplied with, and where f is zero the
    hidden steps would not end.

    `groups` lists the hidden states in the order in which they were solved: one state, or the states of a
    cyclic component with the expected number of steps until each of them has left it (none for one that never
    ends).
    """

    def __init__(self, system: System, positive: Positive | None = None) -> None:
        self.system = system
        self.positive = positive
        self.kinds = tuple(system.kind(s) for s in range(len(system.states)))
        self.hidden: dict[int, Distribution] = {}
        self.groups: list[tuple[tuple[int, ...], tuple[Weight, ...]]] = []
        self._steps: dict[int, Distribution] = {
            s: next(iter(system.rows[s].values())) for s, k in enumerate(self.kinds) if k is StateKind.HIDDEN
        }
        self._moved: dict[tuple[int, int], Distribution] = {}
        self._equal: dict[Weight, Weight] = {}
        self._same: dict[int, tuple[Weight, Weight]] = {}  # by id, with the object, so that the id stays its
        self._shapes: dict[int, tuple[tuple[int, int], ...]] = {}
        self._same_shape: dict[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]] = {}
        self._distinct: dict[tuple[int, int], tuple[int, ...]] = {}
        self._solve()

    def of(self, state: int) -> Distribution:
        """Returns the closure of being in a state: itself if it is terminal."""
        if self.kinds[state] is StateKind.HIDDEN:
            return self.hidden[state]
        return ((state, self.system.weights.one),)

    def after(self, state: int, action: int) -> Distribution:
        """Returns the closure ν of an action that is enabled in a state: s ⇒a ν. ⊥ is `SILENT`.

        Equal weights of all these closures are the same object.
        """
        key = (state, action)
        found = self._moved.get(key)
        if found is None:
            step = self._mixed(self.system.rows[state][action])
            found = self._moved[key] = tuple((s, self._one_of(w)) for s, w in step)
        return found

    def distinct(self, left: int, right: int, common: tuple[int, ...]) -> tuple[int, ...]:
        """Returns the first of those actions whose closures in both states are the same as another's.

        `common` are the actions that both states enable. What is required of two states for an action depends
        on the two closures alone.
        """
        if len(common) < 2:
            return common
        one, other = self._alike(left), self._alike(right)
        key = (id(one), id(other))
        if key not in self._distinct:
            first = dict(one), dict(other)
            found: dict[tuple[int, int], int] = {}
            for action in common:
                found.setdefault((first[0][action], first[1][action]), action)
            self._distinct[key] = tuple(found.values())
        return self._distinct[key]

    def _alike(self, state: int) -> tuple[tuple[int, int], ...]:
        """Returns (a, b) for each action a of a state, b the first with the closure of a; equal ones once."""
        known = self._shapes.get(state)
        if known is None:
            first: dict[object, int] = {}
            shape = tuple(
                (a, first.setdefault(tuple((s, id(w)) for s, w in self.after(state, a)), a))
                for a in self.system.rows[state]
            )
            known = self._shapes[state] = self._same_shape.setdefault(shape, shape)
        return known

    def _one_of(self, weight: Weight) -> Weight:
        """Returns the one object that stands for all weights equal to this one; hashing weights is slow."""
        known = self._same.get(id(weight))
        if known is None:
            kept = self._equal.setdefault(weight, weight)
            known = self._same[id(weight)] = (weight, kept)
        return known[1]

    def _mixed(self, step: Distribution) -> Distribution:
        if len(step) == 1 and self.kinds[step[0][0]] is not StateKind.HIDDEN:
            return step
        total: dict[int, Weight] = {}
        for successor, weight in step:
            if self.kinds[successor] is not StateKind.HIDDEN:
                _add(total, successor, weight)
                continue
            for terminal, share in self.hidden[successor]:
                _add(total, terminal, weight * share)
        return tuple(sorted((s, w) for s, w in total.items() if not is_zero(w)))

    def _solve(self) -> None:
        waiting = {s: {t for t, _ in step if t in self._steps} for s, step in self._steps.items()}
        before: dict[int, list[int]] = {}
        for s, successors in waiting.items():
            for t in successors:
                before.setdefault(t, []).append(s)
        ready = [s for s, successors in waiting.items() if not successors]
        self._peel(ready, waiting, before)
        if len(self.hidden) == len(self._steps):
            return
        rest = {s: successors for s, successors in waiting.items() if s not in self.hidden}
        for component in _components(rest):  # what a component leads to comes before it
            if len(component) == 1 and component[0] not in rest[component[0]]:
                self._single(component[0])
            else:
                self._component(sorted(component))

    def _peel(
        self, ready: list[int], waiting: Mapping[int, set[int]], before: Mapping[int, Iterable[int]]
    ) -> None:
        left = {s: len(successors) for s, successors in waiting.items()}
        while ready:
            state = ready.pop()
            self._single(state)
            for s in before.get(state, ()):
                left[s] -= 1
                if not left[s]:
                    ready.append(s)

    def _single(self, state: int) -> None:
        self.hidden[state] = self._mixed(self._steps[state])
        self.groups.append(((state,), ()))

    def _component(self, states: list[int]) -> None:
        """Solves (I − Q)X = R for the states of one strongly connected component."""
        zero, one = self.system.weights.zero, self.system.weights.one
        place = {s: k for k, s in enumerate(states)}
        matrix = [[one if k == j else zero for j in range(len(states))] for k in range(len(states))]
        leaving: list[dict[int, Weight]] = [{} for _ in states]
        for k, s in enumerate(states):
            for t, weight in self._steps[s]:
                if t in place:
                    matrix[k][place[t]] = matrix[k][place[t]] - weight
                    continue
                for terminal, share in self.of(t):
                    _add(leaving[k], terminal, weight * share)
        terminals = sorted(set().union(*leaving))
        if not terminals:
            for s in states:
                self.hidden[s] = ((SILENT, one),)
            self.groups.append((tuple(states), ()))
            return
        # One column more: the expected numbers of steps, (I − Q)h = 1.
        right = [[*(row.get(t, zero) for t in terminals), one] for row in leaving]
        solved = (
            _numbers(matrix, right) if self.system.weights.numeric else self._functions(states, matrix, right)
        )
        for s, row in zip(states, solved, strict=True):
            found = zip(terminals, row[:-1], strict=True)
            self.hidden[s] = tuple((t, w) for t, w in found if not is_zero(w))
        self.groups.append((tuple(states), tuple(row[-1] for row in solved)))

    def _functions(
        self, states: list[int], matrix: list[list[Weight]], right: list[list[Weight]]
    ) -> list[list[Weight]]:
        """Eliminates one state after the other; each pivot is the chance of leaving the state, and positive.

        The product of the pivots is det(I − Q). Where no pivot vanishes, the solution is the only one, and so
        the distribution at every such point.
        """
        size = len(matrix)
        for k in range(size):
            pivot = matrix[k][k]
            if self.positive is not None:
                names = ", ".join(repr(self.system.states[s]) for s in states[: k + 1])
                what = f"the probability that hidden steps leave {names}"
                self.positive(pivot.numerator, what)
            for j in range(size):
                if j == k or is_zero(matrix[j][k]):
                    continue
                factor = matrix[j][k] / pivot
                matrix[j] = [a - factor * b for a, b in zip(matrix[j], matrix[k], strict=True)]
                right[j] = [a - factor * b for a, b in zip(right[j], right[k], strict=True)]
        return [[value / matrix[k][k] for value in row] for k, row in enumerate(right)]


def _numbers(matrix: list[list[Weight]], right: list[list[Weight]]) -> list[list[Weight]]:
    # A component that can be left almost surely is left: I − Q is not singular.
    solved = fmpq_mat(matrix).solve(fmpq_mat(right))
    return [[solved[k, j] for j in range(len(right[0]))] for k in range(len(right))]


def _add(total: dict[int, Weight], state: int, weight: Weight) -> None:
    total[state] = total[state] + weight if state in total else weight


def _components(graph: Mapping[int, set[int]]) -> list[list[int]]:
    """Returns the strongly connected components, those that others lead to first."""
    from networkx import DiGraph, condensation, topological_sort

    edges = DiGraph()  # edges are added later: the constructor would take our time limit for a mistake
    edges.add_edges_from((s, t) for s, successors in graph.items() for t in successors if t in graph)
    edges.add_nodes_from(graph)
    condensed = condensation(edges)
    return [list(condensed.nodes[c]["members"]) for c in reversed(list(topological_sort(condensed)))]


States = tuple[tuple[int, Weight], ...]


class Entry(NamedTuple):
    """One state of a support: its place there, the state, where it surely leads (or itself), its weight."""

    place: int
    state: int
    target: int
    weight: Weight


Grouped = dict[object, tuple[Entry, ...]]  # by what is enabled: states in different groups are never related


class Folded:
    """Closures by group; `after` gives them, of states or of classes of states, with `member` for a class."""

    def __init__(
        self, closures: Closures, after: Callable[[int, int], States], member: Callable[[int], int]
    ) -> None:
        self.closures = closures
        self.after = after
        self.member = member
        self._labels: dict[int, tuple[object, int]] = {}
        self._grouped: dict[tuple[int, int], Grouped] = {}
        self._fans: dict[tuple[int, int], Fan | None] = {}
        self._same: dict[tuple[object, ...], tuple[object, ...]] = {}

    def grouped(self, state: int, action: int) -> Grouped:
        """Returns the closure of an action."""
        key = (state, action)
        found = self._grouped.get(key)
        if found is None:
            lists: dict[object, list[Entry]] = {}
            for place, (successor, weight) in enumerate(self.after(state, action)):
                label, target = self._label(successor)
                lists.setdefault(label, []).append(Entry(place, successor, target, weight))
            found = self._grouped[key] = {label: tuple(entries) for label, entries in lists.items()}
        return found

    def fans(self, left: int, right: int, action: int) -> tuple[Fan, Fan] | None:
        """Returns the closures of an action in two states if both are fans with the same labels."""
        one, other = self._fan(left, action), self._fan(right, action)
        return (one, other) if one and other and one.labels is other.labels else None

    def _fan(self, state: int, action: int) -> Fan | None:
        key = (state, action)
        if key not in self._fans:
            grouped = self.grouped(state, action)
            entries = [group[0] for group in grouped.values()]
            targets = {entry.target for entry in entries if entry.target != entry.state}
            plain = len(targets) == 1 and all(e.target != e.state for e in entries)
            if len(entries) < 2 or not plain or any(len(group) > 1 for group in grouped.values()):
                self._fans[key] = None
            else:
                labels = tuple(grouped)
                weights = tuple(entry.weight for entry in entries)
                labels = self._same.setdefault(labels, labels)
                self._fans[key] = Fan(labels, targets.pop(), weights, tuple(map(id, weights)))
        return self._fans[key]

    def _label(self, state: int) -> tuple[object, int]:
        known = self._labels.get(state)
        if known is None:
            known = self._labels[state] = self._new(state)
        return known

    def _new(self, state: int) -> tuple[object, int]:
        if state == SILENT:
            return SILENT, SILENT
        one = self.member(state)
        kind = self.closures.kinds[one]
        if kind is not StateKind.RESPONSE:
            return kind.value, state
        action = next(iter(self.closures.system.rows[one]))
        following = self.after(state, action)
        if len(following) > 1:
            return action, state
        target = following[0][0]
        waits = target == SILENT or self.closures.kinds[self.member(target)] is not StateKind.RESPONSE
        return action, target if waits else state


def paired(left: Entry, right: Entry) -> tuple[int, int]:
    """Returns the states that have to be related so that two entries are: the targets, if both are folded."""
    if (left.target == left.state) is (right.target == right.state):
        return left.target, right.target
    return left.state, right.state


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
