"""The search for two input sequences and an observation that exceed the bound, each evaluated by a simple
method.

A node holds two vectors of weights over terminal states, for the same observation: one without and one with
an inserted data point, both of the same scale before. Vectors are kept up to scaling, and what was scaled
away is the ratio of the two; of nodes with equal vectors only one with the largest ratio is of use, since
whatever comes next multiplies it. Insertions come in both directions. Shorter inputs are looked at first.

The search need not be complete: it takes steps where all states of a node can take them together. What it
finds is evaluated again by `probability` before it is reported.

The probability of an observation, by a simple evaluation that shares nothing with the search.

The chances of hidden steps are found here by eliminating one state after the other, in whatever order.

The largest ratio of two probabilities of an observation that a search finds, and ratios without limit.

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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import Point, RationalFunction, Ring, substitute
from paramverify.interactive.closures import SILENT, Closures
from paramverify.interactive.probability_bounds import WeightJudge
from paramverify.interactive.unwinding_families import Pair
from paramverify.models.systems.transition_systems import (
    Distribution,
    StateKind,
    System,
    Weight,
    Weights,
    is_number,
    is_zero,
)

Inputs = tuple[int, ...]


@dataclass(frozen=True)
class AnalystView:
    """What an analyst sees: queries and responses in their order; with `closed`, and then nothing more.

    Without it, anything may follow. Both are sets of observable traces.
    """

    trace: tuple[int, ...]
    closed: bool = False


def at_point(system: System, domain: Domain, point: Point) -> System:
    """Returns the system at one point of the domain: its probabilities are numbers, up to the constant E."""
    if system.weights.numeric:
        return system
    ring: Ring = domain.ring
    values = {name: point[name] for name in ring.parameters}
    memory: dict[str, Weight] = {}

    def value(weight: RationalFunction) -> Weight:
        key = str(weight)
        if key not in memory:
            memory[key] = RationalFunction.of(
                substitute(weight.numerator, values), substitute(weight.denominator, values)
            )
        return memory[key]

    rows = [{a: tuple((s, value(w)) for s, w in step) for a, step in row.items()} for row in system.rows]
    numeric = all(map(is_number, memory.values()))
    weights = Weights(ring, numeric)
    found = tuple(
        {a: tuple((s, weights.of(w)) for s, w in step if not is_zero(w)) for a, step in row.items()}
        for row in rows
    )
    return System(
        system.states,
        system.actions,
        initial=system.initial,
        rows=found,
        weights=weights,
        partial=system.partial,
    )


def probability(system: System, inputs: Inputs, event: AnalystView) -> Weight:
    """Returns the probability of an event when the system is given the inputs; all probabilities are numbers.

    An input is taken when the system waits for one. An input that it does not accept there, which the
    environment is assumed not to give, and inputs after the system has stopped, are never taken.
    """
    queries = set(system.actions.inputs) - set(system.actions.points)
    steps = _without_hidden(system)
    zero = system.weights.zero
    # (state, inputs taken, length of the observation so far): what is left of the run depends on these only.
    weights: dict[tuple[int, int, int], Weight] = {}
    total = zero

    def put(distribution: Distribution, factor: Weight, taken: int, seen: int) -> None:
        for state, share in distribution:
            key = (state, taken, seen)
            weights[key] = weights.get(key, zero) + factor * share

    def open_end(lost: Weight, seen: int) -> Weight:
        return lost if event.closed and seen == len(event.trace) else zero

    start = steps.get(system.initial, ((system.initial, system.weights.one),))
    put(start, system.weights.one, 0, 0)
    total += open_end(system.weights.one - sum((w for _, w in start), zero), 0)
    while weights:
        # Every step takes an input or a response, so the least (taken, seen) has no more to come.
        key = min(weights, key=lambda k: (k[1] + k[2], k))
        factor = weights.pop(key)
        state, taken, seen = key
        done = seen == len(event.trace)
        if done and not event.closed:
            total += factor
            continue
        row = system.rows[state]
        action = next(iter(row), None)
        if action in system.actions.inputs:
            action = inputs[taken] if taken < len(inputs) and inputs[taken] in row else None
            after = taken + 1
        else:
            after = taken
        if action is None:
            total += factor if done else zero
            continue
        visible = action in queries or action not in system.actions.inputs
        if visible and (done or event.trace[seen] != action):
            continue
        moved = _terminal(row[action], steps, zero)
        put(moved, factor, after, seen + visible)
        lost = system.weights.one - sum((w for _, w in moved), zero)
        total += open_end(factor * lost, seen + visible) if event.closed else zero
        if not event.closed and seen + visible == len(event.trace):
            total += factor * lost
    return total


def admissible(system: System, inputs: Inputs, loop: Inputs = ()) -> bool:
    """Tells whether the system never waits for an input when the next one is one that it does not accept.

    After the inputs come those of the loop, again and again.
    """
    given = (*inputs, *loop)
    steps = _without_hidden(system)
    pending = [(s, 0) for s, _ in steps.get(system.initial, ((system.initial, None),))]
    seen = set(pending)
    while pending:
        state, taken = pending.pop()
        row = system.rows[state]
        action = next(iter(row), None)
        if action in system.actions.inputs:
            if taken == len(given):
                continue
            action = given[taken]
            if action not in row:
                return False
            taken += 1
            if loop and taken == len(given):
                taken = len(inputs)
        if action is None:
            continue
        for successor, _ in row[action]:
            for terminal, _ in steps.get(successor, ((successor, None),)):
                if (terminal, taken) not in seen:
                    seen.add((terminal, taken))
                    pending.append((terminal, taken))
    return True


def _terminal(step: Distribution, steps: Mapping[int, Distribution], zero: Weight) -> Distribution:
    found: dict[int, Weight] = {}
    for state, weight in step:
        for terminal, share in steps.get(state, ((state, None),)):
            found[terminal] = found.get(terminal, zero) + (weight if share is None else weight * share)
    return tuple(found.items())


def _without_hidden(system: System) -> dict[int, Distribution]:
    """Returns for each hidden state the chances of the terminal states; what is missing to 1 never ends."""
    one, zero = system.weights.one, system.weights.zero
    rest: dict[int, dict[int, Weight]] = {}
    for state, row in enumerate(system.rows):
        for action, step in row.items():
            if system.actions.is_hidden(action):
                rest[state] = dict(step)
    users: dict[int, set[int]] = {}
    for state, row_ in rest.items():
        for successor in row_:
            users.setdefault(successor, set()).add(state)
    for state in list(rest):
        own = rest[state].pop(state, zero)
        if own == one:  # it stays for ever
            rest[state] = {}
        elif not is_zero(own):
            rest[state] = {s: w / (one - own) for s, w in rest[state].items()}
        for user in users.get(state, ()):
            if user == state or state not in rest[user]:
                continue
            factor = rest[user].pop(state)
            for successor, weight in rest[state].items():
                rest[user][successor] = rest[user].get(successor, zero) + factor * weight
                users.setdefault(successor, set()).add(user)
    return {state: tuple(row_.items()) for state, row_ in rest.items()}


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


MAX_LEAK_NODES = 200_000

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
    nodes: int = MAX_LEAK_NODES,
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
            if inserted and _hopeless_leak(successor, best, reach):
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


def _hopeless_leak(node: TraceNode, best: _Best, reach: Reach) -> bool:
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
