"""A sharper check than the published one: each step is paid with what it leaks, and not with a whole δ.

Bisimilar states are put together. For ordered pairs of classes let C(x, y) ∈ [1, ∞] satisfy, for each action
a that can come in both and closures ν1, ν2 of a,

    there is an injection β of the support of ν1 into that of ν2 such that
    ν1(z)·C(z, β(z)) ≤ C(x, y)·ν2(β(z))   for every z in the support of ν1,                          (*)

where C(x, y) = ∞ if the same actions are not enabled, and C(x, x) = 1. Then for all inputs w and observations
σ

    P(x, w, σ) ≤ C(x, y)·P(y, w, σ).

Proof, by induction on the number of inputs and outputs that are still to come. If nothing is still to come,
both sides are 1 or both 0, as x and y do next the same kind of thing, and C ≥ 1. Otherwise the next step has
the same action a in both: the next input of w, or the response that both enable; if that contradicts σ, both
sides are 0. Else P(x, w, σ) = Σ_z ν1(z)·P(z, w', σ') ≤ Σ_z ν1(z)·C(z, β(z))·P(β(z), w', σ') ≤ C(x, y)·Σ_z
ν2(β(z))·P(β(z), w', σ') ≤ C(x, y)·P(y, w, σ), the last because β is injective and all terms are nonnegative.
Sums over bisimilar states may be taken first, since they have the same P. ⊥ is in a class of its own and
observes nothing more.

So if an insertion of a data point at s leads to ν without ⊥, then e^ε with ε = ln max C(s, s') and ln max
C(s', s) over the support of ν bounds the leakage of that insertion in both directions. No bound below 1 is
shown this way. This is sharper than a family in three ways: steps have prices of their own, in each
direction, and a pair may gain in one step (ν1 < ν2) what it loses in the next. An unwinding family gives such
a C: the ratio^i for pairs of level i.

The least C is found from below, starting at 1 everywhere; a value that passes the bound asked for is set to
∞. Every C that satisfies (*) will do, so only the end counts, and not the way to it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from paramverify.errors import LimitError
from paramverify.interactive.closures import (
    SILENT,
    Closures,
    Folded,
    Grouped,
    StatePartition,
    bisimulation,
    paired,
)
from paramverify.interactive.probability_bounds import Fan, NumberedQuotients, WeightJudge
from paramverify.interactive.unwinding_families import Pair, insertions, matching, reachable, to_compare
from paramverify.models.systems.transition_systems import Weight

MAX_UPDATES = 5_000_000
MAX_PAIRS = 5_000_000
UNBOUNDED = 40  # updates for each pair, where no bound stops them

Price = tuple[int, Pair | None, Weight]  # place on the right, pair of classes that follows, ν1(z)/ν2(β(z))
Payment = tuple[tuple[Price, ...], ...]  # for each class on the left


@dataclass(frozen=True, eq=False)
class Costs:
    """C for the pairs of classes with finite values that insertions lead to, and the largest of an insertion.

    `ratio` bounds every insertion in both directions; None if an insertion is not bounded by what was asked.
    `worst` is (state, data point) of an insertion that has it. Pairs that are folded are not in `kept`.
    """

    partition: StatePartition
    kept: dict[Pair, Weight]
    ratio: Weight | None
    worst: tuple[int, int] | None
    graph: _Graph

    def values(self) -> dict[Pair, Weight]:
        """Returns C for all pairs of classes, also those of states that respond."""
        found = dict(self.kept)
        one = self.graph.closures.system.weights.one
        for pair in self.kept:
            for _, left, right in self.graph.actions(pair):
                for label, entries in left.items():
                    for entry, other in product(entries, right.get(label, ())):
                        target, state = paired(entry, other), (entry.state, other.state)
                        if state[0] != state[1] and (target[0] == target[1] or target in self.kept):
                            found[state] = one if target[0] == target[1] else self.kept[target]
        return found


@dataclass
class _Graph:
    closures: Closures
    partition: StatePartition
    quotients: NumberedQuotients
    payments: dict[Pair, tuple[Payment, ...] | None] = field(default_factory=dict)
    users: dict[Pair, set[Pair]] = field(default_factory=dict)
    _after: dict[Pair, tuple[tuple[int, Weight], ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folded = Folded(self.closures, self.after, self.partition.members.__getitem__)

    def after(self, block: int, action: int) -> tuple[tuple[int, Weight], ...]:
        """Returns the closure of an action as a distribution over classes."""
        key = (block, action)
        if key not in self._after:
            state = self.partition.members[block]
            self._after[key] = self.partition.of(self.closures.after(state, action))
        return self._after[key]

    def actions(self, pair: Pair) -> Iterator[tuple[int, Grouped, Grouped]]:
        """Yields each action that both classes take, with its closures."""
        left, right = (self.partition.members[block] for block in pair)
        for action in to_compare(self.closures, left, right) or ():
            yield action, self.folded.grouped(pair[0], action), self.folded.grouped(pair[1], action)


def cheapest(
    closures: Closures,
    judge: WeightJudge,
    bound: Weight | None,
    quotients: NumberedQuotients | None = None,
    deadline: float = float("inf"),
) -> Costs:
    """Returns the least costs up to `bound`; what is larger, or not proved to be at most `bound`, is
    infinite. Without a bound they may grow for ever, so the steps of the iteration are fewer.

    Raises:
        LimitError: too many pairs, or too many steps of the iteration, or the deadline passed.
    """
    partition = bisimulation(closures, reachable(closures))
    graph = _Graph(closures, partition, quotients or NumberedQuotients(judge, closures.system.weights.one))
    wanted = _insertions(closures, partition)
    pending = list(dict.fromkeys(pair for _, _, pair in wanted if pair[0] != pair[1] and SILENT not in pair))
    for pair in pending:  # grows while it is walked through
        payments = graph.payments[pair] = _payments(graph, pair)
        for after in {k for payment in payments or () for row in payment for _, k, _ in row if k}:
            if after not in graph.users:
                graph.users[after] = set()
                if after not in graph.payments:
                    pending.append(after)
            graph.users[after].add(pair)
        if len(pending) > MAX_PAIRS:
            raise LimitError(f"more than {MAX_PAIRS:,} pairs of classes are to be compared")
    found = _least(graph, list(dict.fromkeys(pending)), bound, deadline)
    summary = _summary(graph, wanted, found, judge)
    if bound is not None and not judge.at_most(closures.system.weights.one, bound):
        return replace(summary, ratio=None)  # nothing is within it: the whole has ratio 1
    return summary


def _insertions(closures: Closures, partition: StatePartition) -> list[tuple[int, int, Pair]]:
    found: dict[Pair, tuple[int, int, Pair]] = {}
    for state, point, after in insertions(closures):
        here = partition.classes[state]
        for there, _ in partition.of(after):
            for pair in ((here, there), (there, here)):
                found.setdefault(pair, (state, point, pair))
    return list(found.values())


def _summary(
    graph: _Graph,
    wanted: Sequence[tuple[int, int, Pair]],
    found: dict[Pair, Weight | None],
    judge: WeightJudge,
) -> Costs:
    partition, closures = graph.partition, graph.closures
    finite = {pair: value for pair, value in found.items() if value is not None}
    best: Weight | None = closures.system.weights.one
    worst: tuple[int, int] | None = None
    for state, point, pair in wanted:
        value = closures.system.weights.one if pair[0] == pair[1] else found.get(pair)
        larger = None if value is None or SILENT in pair else _larger(best, value, judge)
        if larger is None:
            return Costs(partition, finite, None, (state, point), graph)
        if larger is not best:
            best, worst = larger, (state, point)
    return Costs(partition, finite, best, worst, graph)


def _payments(graph: _Graph, pair: Pair) -> tuple[Payment, ...] | None:
    """Returns for each action how classes may be matched; None if the pair has infinite cost."""
    left, right = (graph.partition.members[block] for block in pair)
    if to_compare(graph.closures, left, right) is None:
        return None
    found: list[Payment] = []
    for action, mine, others in graph.actions(pair):
        if fans := graph.folded.fans(*pair, action):
            found.append(_together(graph, *fans))
            continue
        payment: list[tuple[Price, ...]] = []
        once: dict[tuple[Pair, int], Price] = {}
        single = True
        for label, entries in mine.items():
            candidates = others.get(label)
            if candidates is None or len(candidates) < len(entries):
                return None
            single = single and len(candidates) == 1
            for entry in entries:
                row: list[Price] = []
                for other in candidates:
                    target = paired(entry, other)
                    quotient = graph.quotients.of(entry.weight, other.weight)
                    key = (target, id(quotient))
                    price = once.get(key)
                    if price is None:
                        after = None if target[0] == target[1] else target
                        price = once[key] = (other.place, after, quotient)
                    row.append(price if price[0] == other.place else (other.place, *price[1:]))
                payment.append(tuple(row))
        found.append(_dearest(once.values(), graph) if single else tuple(payment))
    return tuple(found)


def _together(graph: _Graph, left: Fan, right: Fan) -> Payment:
    """Returns what is to be paid for two fans: the largest quotients, since all answers lead on alike."""
    after = None if left.target == right.target else (left.target, right.target)
    numbers = graph.quotients.largest(graph.quotients.between(left, right))
    return tuple(((place, after, graph.quotients.values[k]),) for place, k in enumerate(numbers))


def _dearest(prices: Iterable[Price], graph: _Graph) -> Payment:
    """Returns what is to be paid where there is one injection only: of numbers for one pair, the largest."""
    if not graph.closures.system.weights.numeric:
        return tuple((price,) for price in prices)
    largest: dict[Pair | None, Price] = {}
    for price in prices:
        known = largest.get(price[1])
        if known is None or known[2] < price[2]:
            largest[price[1]] = price
    return tuple((price,) for price in largest.values())


def _least(
    graph: _Graph, pairs: Sequence[Pair], bound: Weight | None, deadline: float
) -> dict[Pair, Weight | None]:
    most = MAX_UPDATES if bound is not None else UNBOUNDED * (1 + len(pairs))
    one = graph.closures.system.weights.one
    value: dict[Pair, Weight | None] = dict.fromkeys(pairs, one)
    pending = list(pairs)
    waiting = set(pairs)
    updates = 0
    while pending:
        pair = pending.pop()
        waiting.discard(pair)
        old = value[pair]
        if old is None:
            continue
        payments = graph.payments[pair]
        new: Weight | None = None if payments is None else old
        for payment in payments or ():
            cost = _cost(payment, value, graph.quotients)
            new = None if cost is None or new is None else _larger(new, cost, graph.quotients)
            if new is None:
                break
        fresh = new is not None and new is not old
        if fresh and bound is not None and not graph.quotients.at_most(new, bound):
            new = None
        if new is old:
            continue
        value[pair] = new
        updates += 1
        if updates > most or time.monotonic() > deadline:
            raise LimitError("the costs of pairs of states do not settle")
        for user in graph.users.get(pair, ()):
            if user not in waiting:
                waiting.add(user)
                pending.append(user)
    return value


def _cost(payment: Payment, value: dict[Pair, Weight | None], known: NumberedQuotients) -> Weight | None:
    """Returns the least, over injections, of the largest price."""
    one = known.values[0]
    rows: list[list[tuple[int, Weight]]] = []
    for row in payment:
        priced = []
        for place, pair, quotient in row:
            after = one if pair is None else value[pair]
            if after is not None:
                priced.append((place, quotient if pair is None else known.times(quotient, after)))
        if not priced:
            return None
        rows.append(priced)
    if all(len(row) == 1 for row in rows):
        if len({row[0][0] for row in rows}) < len(rows):
            return None
        largest: Weight | None = one
        for only in rows:
            largest = _larger(largest, only[0][1], known)
        return largest
    limits = list(dict.fromkeys(price for row in rows for _, price in row))
    limits = [limit for limit in limits if known.at_most(one, limit)] or [one]
    best: Weight | None = None
    for limit in [one, *limits]:
        if best is not None and not known.at_most(limit, best):
            continue
        cheap = [[p for p, price in row if known.at_most(price, limit)] for row in rows]
        if matching(cheap) is not None:
            best = limit
    return best


def _larger(left: Weight | None, right: Weight, known: NumberedQuotients | WeightJudge) -> Weight | None:
    """Returns the larger of two values, the first if they are equal; None if they cannot be compared."""
    if left is None or known.at_most(right, left):
        return left
    return right if known.at_most(left, right) else None
