"""The search for two input sequences and an observation that exceed the bound.

A node holds two vectors of weights over terminal states, for the same observation: one without and one with
an inserted data point, both of the same scale before. Vectors are kept up to scaling, and what was scaled
away is the ratio of the two; of nodes with equal vectors only one with the largest ratio is of use, since
whatever comes next multiplies it. Insertions come in both directions. Shorter inputs are looked at first.

The search need not be complete: it takes steps where all states of a node can take them together. What it
finds is evaluated again by `evaluation.probability` before it is reported.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from paramverify.interactive.bounds import WeightJudge
from paramverify.interactive.closure import SILENT, Closures
from paramverify.interactive.evaluation import AnalystView, Inputs, admissible, probability
from paramverify.interactive.unwinding import Pair
from paramverify.models.systems.system import StateKind, System
from paramverify.models.systems.weights import Weight, is_zero

MAX_NODES = 300_000

Vector = tuple[tuple[int, Weight], ...]  # by state, sums to one
Allowed = Callable[
    [Pair, Weight], bool
]  # may a pair of single states with this ratio still exceed the bound?


@dataclass(frozen=True)
class Refutation:
    """Two input sequences that differ in one inserted data point, and what is too likely under `left`.

    `left` and `right` are the sequences, one of them with the point at `place`.
    """

    left: Inputs
    right: Inputs
    place: int
    event: AnalystView
    probabilities: tuple[Weight, Weight]


@dataclass(frozen=True, eq=False)
class TraceNode:
    """Two vectors for the same observation; `inserted` says that `action` was the inserted data point."""

    left: Vector
    right: Vector
    ratio: Weight  # of the weights of the two vectors
    turned: bool  # the point was inserted on the left
    path: TraceNode | None
    action: int  # an input or a response
    inserted: bool


@dataclass(frozen=True)
class TraceSearch:
    """What was found, and how far the search went: `complete` says that no node was left."""

    refutation: Refutation | None
    nodes: int
    depth: int
    complete: bool


def search(
    closures: Closures,
    judge: WeightJudge,
    bound: Weight,
    *,
    deadline: float = float("inf"),
    hopeful: Allowed | None = None,
    nodes: int = MAX_NODES,
) -> TraceSearch:
    """Looks for a refutation of a system whose probabilities are numbers (up to the constant E).

    `hopeful((x, y), ratio)` may say of a node with one state on each side that it cannot exceed the bound any
    more.
    """
    one = closures.system.weights.one
    start = _scaled(dict(closures.of(closures.system.initial)))
    if start is None:
        return TraceSearch(None, 0, 0, True)
    level = [TraceNode(start[0], start[0], ratio=one, turned=False, path=None, action=SILENT, inserted=False)]
    best: dict[tuple[Vector, Vector, bool], Weight] = {}
    seen, depth = 0, 0
    while level:
        following: list[TraceNode] = []
        for node in level:
            for successor in successors(closures, node):
                found = successor if isinstance(successor, Exceeding) else None
                if found is None and isinstance(successor, TraceNode):
                    exceeds = successor.path is not None and inserted_in(successor)
                    if exceeds and not judge.at_most(successor.ratio, one, bound):
                        found = Exceeding(successor, False)
                if found is None and isinstance(successor, TraceNode):
                    found = silent(closures, successor, judge, bound)
                if found is not None:
                    refutation = _evaluated(closures.system, judge, bound, found)
                    if refutation:
                        return TraceSearch(refutation, seen, depth, False)
                if not isinstance(successor, TraceNode):
                    continue
                if _hopeless(successor, hopeful):
                    continue
                key = (successor.left, successor.right, inserted_in(successor))
                known = best.get(key)
                if known is not None and judge.at_most(successor.ratio, known):
                    continue
                best[key] = successor.ratio
                following.append(successor)
                seen += 1
                if seen >= nodes or time.monotonic() > deadline:
                    return TraceSearch(None, seen, depth, False)
        level = following
        depth += 1
    return TraceSearch(None, seen, depth, True)


@dataclass(frozen=True)
class Exceeding:
    """A node that exceeds the bound, maybe with an impossible right side; `closed` as in `AnalystView`."""

    node: TraceNode
    closed: bool


def inserted_in(node: TraceNode | None) -> bool:
    while node is not None:
        if node.inserted:
            return True
        node = node.path
    return False


def _hopeless(node: TraceNode, hopeful: Allowed | None) -> bool:
    if hopeful is None or len(node.left) > 1 or len(node.right) > 1 or not inserted_in(node):
        return False
    pair = node.left[0][0], node.right[0][0]
    return not hopeful(pair, node.ratio)


def successors(closures: Closures, node: TraceNode) -> Iterator[TraceNode | Exceeding]:
    states = [s for s, _ in (*node.left, *node.right) if s != SILENT]
    rows = closures.system.rows
    waiting = [s for s in states if closures.kinds[s] is StateKind.INPUT]
    points = closures.system.actions.points
    if waiting:
        common = set(rows[waiting[0]]).intersection(*(rows[s] for s in waiting))
        all_wait = len(waiting) == len(node.left) + len(node.right)
        for action in sorted(common):
            # Other states would respond first: seen, if a query comes next, and of no use with a data point.
            if action not in points or all_wait:
                yield from _moved(closures, node, action, StateKind.INPUT)
        if all_wait and not inserted_in(node):
            for point in sorted(common & set(points)):
                after = _mix(closures, node.left, point)
                scaled = _scaled(after)
                if scaled:
                    one = closures.system.weights.one
                    yield TraceNode(
                        node.left, scaled[0], ratio=one, turned=False, path=node, action=point, inserted=True
                    )
                    yield TraceNode(
                        scaled[0], node.left, ratio=one, turned=True, path=node, action=point, inserted=True
                    )
    responses = {next(iter(rows[s])) for s in states if closures.kinds[s] is StateKind.RESPONSE}
    for action in sorted(responses):
        yield from _moved(closures, node, action, StateKind.RESPONSE)


def _moved(
    closures: Closures, node: TraceNode, action: int, kind: StateKind
) -> Iterator[TraceNode | Exceeding]:
    left = _scaled(_step(closures, node.left, action, kind))
    right = _scaled(_step(closures, node.right, action, kind)) if node.right is not node.left else left
    if left is None:
        return
    if right is None:
        yield Exceeding(
            TraceNode(
                left[0], (), ratio=node.ratio, turned=node.turned, path=node, action=action, inserted=False
            ),
            False,
        )
        return
    ratio = node.ratio * left[1] / right[1] if node.right is not node.left else node.ratio
    yield TraceNode(
        left[0],
        right[0] if right is not left else left[0],
        ratio=ratio,
        turned=node.turned,
        path=node,
        action=action,
        inserted=False,
    )


def _step(closures: Closures, vector: Vector, action: int, kind: StateKind) -> dict[int, Weight]:
    total: dict[int, Weight] = {}
    for state, weight in vector:
        if state == SILENT or closures.kinds[state] is not kind or action not in closures.system.rows[state]:
            continue
        for successor, share in closures.after(state, action):
            part = weight * share
            total[successor] = total[successor] + part if successor in total else part
    return total


def _mix(closures: Closures, vector: Vector, action: int) -> dict[int, Weight]:
    return _step(closures, vector, action, StateKind.INPUT)


def _scaled(total: dict[int, Weight]) -> tuple[Vector, Weight] | None:
    """Returns the vector scaled to the sum one, and the sum; None for the zero vector."""
    entries = [(s, w) for s, w in sorted(total.items()) if not is_zero(w)]
    if not entries:
        return None
    mass = entries[0][1]
    for _, weight in entries[1:]:
        mass = mass + weight
    return tuple((s, w / mass) for s, w in entries), mass


def silent(closures: Closures, node: TraceNode, judge: WeightJudge, bound: Weight) -> Exceeding | None:
    """Returns the node if it exceeds the bound by what is silent from now on."""
    if not inserted_in(node):
        return None
    zero, one = closures.system.weights.zero, closures.system.weights.one
    masses = []
    for vector in (node.left, node.right):
        mass = zero
        for state, weight in vector:
            if state == SILENT or closures.kinds[state] is not StateKind.RESPONSE:
                mass = mass + weight
        masses.append(mass)
    left, right = masses
    if left == right == one or judge.at_most(node.ratio * left, right, bound):
        return None
    return Exceeding(node, True)


def _evaluated(system: System, judge: WeightJudge, bound: Weight, found: Exceeding) -> Refutation | None:
    """Returns the refutation if the probabilities, evaluated anew, exceed the bound."""
    refutation = observed(system, found)
    return None if refutation is None or judge.at_most(*refutation.probabilities, bound) else refutation


def observed(system: System, found: Exceeding) -> Refutation | None:
    """Returns the inputs and the observation that lead to a node, with their probabilities evaluated anew.

    There are none if no point was inserted, or if the environment is assumed not to give the inputs. The
    system may have parameters.
    """
    shorter: list[int] = []
    trace: list[int] = []
    place, point = 0, -1
    for step in steps_to(found.node):
        if step.inserted:
            place, point = len(shorter), step.action
            continue
        if step.action in system.actions.inputs:
            shorter.append(step.action)
        if step.action not in system.actions.points:
            trace.append(step.action)
    if point < 0:
        return None
    longer = (*shorter[:place], point, *shorter[place:])
    turned = found.node.turned
    left, right = (longer, tuple(shorter)) if turned else (tuple(shorter), longer)
    return _probable(system, (left, right), InsertionPlace(place, AnalystView(tuple(trace), found.closed)))


class InsertionPlace(NamedTuple):
    """Where the data point is inserted, and what is seen."""

    place: int
    event: AnalystView


def evaluated(
    system: System, judge: WeightJudge, bound: Weight, inputs: tuple[Inputs, Inputs], where: InsertionPlace
) -> Refutation | None:
    """Returns the refutation if the probabilities, evaluated anew, exceed the bound; else None.

    The probabilities of the system are numbers.
    """
    refutation = _probable(system, inputs, where)
    return None if refutation is None or judge.at_most(*refutation.probabilities, bound) else refutation


def _probable(system: System, inputs: tuple[Inputs, Inputs], where: InsertionPlace) -> Refutation | None:
    left, right = inputs
    if system.partial and not (admissible(system, left) and admissible(system, right)):
        return None
    probabilities = probability(system, left, where.event), probability(system, right, where.event)
    return Refutation(left, right, where.place, where.event, probabilities)


def steps_to(node: TraceNode | None) -> list[TraceNode]:
    """Returns the nodes on the way to a node, without the first one of all, which has no action."""
    found: list[TraceNode] = []
    while node is not None and node.path is not None:
        found.append(node)
        node = node.path
    return found[::-1]
