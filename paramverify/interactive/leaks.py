"""The largest ratio of two probabilities of an observation that a search finds, and ratios without limit.

The search moves pairs of vectors, as `refutation` does, and keeps of nodes with equal vectors the one with
the largest ratio. A node whose vectors are those of a node before it, with a larger ratio, has a way to go
round: the inputs and the observation in between may be repeated, and each time the ratio grows by the same
factor. So no bound at all holds. Where the environment is assumed not to give some inputs, it must be free to
give those of the way again and again. For all this every step of the way has to be the only one that agrees
with the observation (`_forced`): a state that takes a data point unseen and responds later would be missed
otherwise.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from paramverify.interactive.bounds import WeightJudge
from paramverify.interactive.closure import SILENT, Closures
from paramverify.interactive.evaluation import admissible
from paramverify.interactive.refutation import (
    Exceeding,
    Refutation,
    TraceNode,
    Vector,
    inserted_in,
    observed,
    steps_to,
    successors,
)
from paramverify.interactive.unwinding import Pair
from paramverify.models.systems.system import StateKind
from paramverify.models.systems.weights import Weight, is_zero

MAX_NODES = 200_000

Reach = Callable[[Pair], Weight | None]  # the largest factor that a pair of states may still gain, if known


@dataclass(frozen=True)
class LeakGrowth:
    """A way to a pair of vectors, and a way from there to the same vectors, by which the ratio grows.

    `left` and `right` are the steps of the two runs to the vectors: inputs and responses in their order, one
    of them with a data point more, at `place`. `loop` are the steps from there on, for both. `factors` are
    those by which one loop multiplies the probabilities.
    """

    left: tuple[int, ...]
    right: tuple[int, ...]
    place: int
    loop: tuple[int, ...]
    factors: tuple[Weight, Weight]


@dataclass(frozen=True)
class Leak:
    """What a search found: the observation with the largest ratio, and whether ratios have no limit.

    Without a limit, there is `growth`, or the observation of `refutation` is impossible on the right.
    """

    refutation: Refutation | None
    growth: LeakGrowth | None
    nodes: int

    @property
    def boundless(self) -> bool:
        """Tells whether ratios have no limit."""
        impossible = self.refutation is not None and is_zero(self.refutation.probabilities[1])
        return self.growth is not None or impossible


@dataclass
class _Best:
    """The largest ratio so far, and where it was found."""

    closures: Closures
    judge: WeightJudge
    ratio: Weight
    found: Refutation | None = None

    def offer(self, candidate: Exceeding, ratio: Weight | None) -> bool:
        """Takes a candidate with this ratio, or with an impossible right side, if its evaluation agrees."""
        if ratio is not None and self.judge.at_most(ratio, self.ratio):
            return False
        refutation = observed(self.closures.system, candidate)
        if refutation is None:
            return False
        left, right = refutation.probabilities
        if self.judge.at_most(left, right, self.ratio):
            return False
        self.found = refutation
        if is_zero(right):
            return True
        self.ratio = left / right
        return False


def largest(
    closures: Closures,
    judge: WeightJudge,
    reach: Reach,
    ceiling: Weight | None,
    *,
    deadline: float = float("inf"),
    nodes: int = MAX_NODES,
) -> Leak:
    """Returns the largest ratio that is found, of a system whose probabilities are numbers (up to E).

    The search ends when `ceiling` is reached, when ratios have no limit, or when nothing is left to look at.
    """
    one = closures.system.weights.one
    start = tuple((s, w) for s, w in closures.of(closures.system.initial))
    level = [TraceNode(start, start, ratio=one, turned=False, path=None, action=SILENT, inserted=False)]
    best = _Best(closures, judge, one)
    known: dict[tuple[Vector, Vector, bool], Weight] = {}
    seen = 0
    while level:
        following: list[TraceNode] = []
        for successor in (s for node in level for s in successors(closures, node)):
            if isinstance(successor, Exceeding):
                if best.offer(successor, None):
                    return Leak(best.found, None, seen)
                continue
            inserted = inserted_in(successor)
            if inserted and _offered(best, successor):
                return Leak(best.found, None, seen)
            if inserted and _hopeless(successor, best, reach):
                continue
            key = (successor.left, successor.right, inserted)
            before = known.get(key)
            if before is not None and judge.at_most(successor.ratio, before):
                continue
            known[key] = successor.ratio
            if before is not None and (growth := _growth(closures, judge, successor)):
                return Leak(best.found, growth, seen)
            following.append(successor)
            seen += 1
            reached = ceiling is not None and judge.at_most(ceiling, best.ratio)
            if reached or seen >= nodes or time.monotonic() > deadline:
                return Leak(best.found, None, seen)
        level = following
    return Leak(best.found, None, seen)


def _offered(best: _Best, node: TraceNode) -> bool:
    """Offers what was seen so far, and then anything or nothing; tells whether that has no limit."""
    if best.offer(Exceeding(node, False), node.ratio):
        return True
    zero = best.closures.system.weights.zero
    left, right = (_stopping(best.closures, vector, zero) for vector in (node.left, node.right))
    if is_zero(left):
        return False
    return best.offer(Exceeding(node, True), None if is_zero(right) else node.ratio * left / right)


def _stopping(closures: Closures, vector: Vector, zero: Weight) -> Weight:
    """Returns the weight of the states that show nothing more without inputs."""
    silent = (w for s, w in vector if s == SILENT or closures.kinds[s] is not StateKind.RESPONSE)
    return sum(silent, zero)


def _hopeless(node: TraceNode, best: _Best, reach: Reach) -> bool:
    if len(node.left) > 1 or len(node.right) > 1:
        return False
    factor = reach((node.left[0][0], node.right[0][0]))
    return factor is not None and best.judge.at_most(node.ratio * factor, best.ratio)


def _growth(closures: Closures, judge: WeightJudge, node: TraceNode) -> LeakGrowth | None:
    """Returns how the ratio grows if a node before this one has the same vectors and a smaller ratio."""
    if not inserted_in(node):
        return None
    steps = steps_to(node)
    for number in range(len(steps) - 2, -1, -1):
        earlier = steps[number]
        if not inserted_in(earlier):
            return None
        if (earlier.left, earlier.right) == (node.left, node.right):
            if judge.at_most(node.ratio, earlier.ratio):
                continue
            break
    else:
        return None
    if not all(_forced(closures, step) for step in steps):
        return None
    before, loop = steps[: number + 1], steps[number + 1 :]
    place = next(k for k, step in enumerate(before) if step.inserted)
    longer = tuple(step.action for step in before)
    shorter = (*longer[:place], *longer[place + 1 :])
    left, right = (longer, shorter) if node.turned else (shorter, longer)
    repeated = tuple(step.action for step in loop)
    inputs = closures.system.actions.inputs
    given = [tuple(a for a in part if a in inputs) for part in (left, right, repeated)]
    if closures.system.partial and not all(admissible(closures.system, w, given[2]) for w in given[:2]):
        return None
    return LeakGrowth(left, right, place, repeated, _factors(closures, loop))


def _forced(closures: Closures, step: TraceNode) -> bool:
    """Tells whether every state before a step that could still agree with the observation takes it."""
    before = step.path
    assert before is not None
    kinds = {SILENT if s == SILENT else closures.kinds[s] for s, _ in (*before.left, *before.right)}
    if step.action in closures.system.actions.points:
        return kinds == {StateKind.INPUT}
    if step.action in closures.system.actions.inputs:
        return True  # a state that responds first shows another observation
    return StateKind.INPUT not in kinds


def _factors(closures: Closures, loop: list[TraceNode]) -> tuple[Weight, Weight]:
    one, zero = closures.system.weights.one, closures.system.weights.zero
    found = []
    for left in (True, False):
        factor = one
        for step in loop:
            assert step.path is not None
            vector = step.path.left if left else step.path.right
            taking = (s for s in vector if s[0] != SILENT and step.action in closures.system.rows[s[0]])
            moved = sum((w * share for s, w in taking for _, share in closures.after(s, step.action)), zero)
            factor = factor * moved
        found.append(factor)
    return found[0], found[1]
