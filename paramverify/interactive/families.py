"""Finding unwinding families, which [T] leaves to the user: the largest one, and the least t·δ.

For a relation X let F_i(X) be the pairs with the same actions whose closures are related by L(X, 0) or by
L(rel[i−1], δ). F_i is monotone in X and in rel[i−1], so each level has a greatest fixpoint, and taking it at
each level from 0 upwards gives the largest family: it contains every other one, level by level. The levels
grow with i: by induction rel[i] ⊆ F_{i+1}(rel[i]). The fixpoint is found from the top: all pairs are taken to
be related, pairs that fail are removed, and the pairs that lead to a removed one are looked at again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from paramverify.interactive.bounds import WeightJudge, power, roots
from paramverify.interactive.closure import Closures
from paramverify.interactive.folding import paired
from paramverify.interactive.matchings import matching
from paramverify.interactive.pairs import EQUAL, SAME, Move, PairGraph, pair_graph
from paramverify.interactive.unwinding import Pair, to_compare
from paramverify.models.systems.weights import Weight

MAX_LEVELS = 1_000


@dataclass(frozen=True, eq=False)
class Family:
    """An unwinding family that covers all insertions: t steps of e^δ = `ratio` each.

    `kept[pair]` is the least i with the pair in rel[i]; a pair of a state with itself is in all. Pairs that
    are folded (see `folding`) are not kept.
    """

    ratio: Weight
    steps: int
    kept: dict[Pair, int]
    graph: PairGraph

    def levels(self) -> dict[Pair, int]:
        """Returns the least i with the pair in rel[i] for all pairs, also those of states that respond."""
        found = dict(self.kept)
        closures, folded = self.graph.closures, self.graph.folded
        for left, right in self.kept:
            for action in to_compare(closures, left, right) or ():
                others = folded.grouped(right, action)
                for label, entries in folded.grouped(left, action).items():
                    for entry, other in product(entries, others.get(label, ())):
                        target, state = _ordered(paired(entry, other)), _ordered((entry.state, other.state))
                        if state[0] == state[1]:
                            continue
                        if target[0] == target[1]:
                            found[state] = 0
                        elif target in self.kept:
                            found[state] = self.kept[target]
        return found

    def relations(self) -> tuple[frozenset[Pair], ...]:
        """Returns rel[0], ..., rel[t]."""
        levels = self.levels()
        return tuple(frozenset(p for p, level in levels.items() if level <= i) for i in range(self.steps + 1))


def _ordered(pair: Pair) -> Pair:
    return pair if pair[0] < pair[1] else pair[::-1]


def levels(graph: PairGraph, allowed: Sequence[bool]) -> Iterator[bytearray]:
    """Yields rel[0], rel[1], ... of the largest family, as flags by pair; ends when a level adds nothing.

    `allowed[r]` tells whether a step may have ratio r at the price of δ.
    """
    below: bytearray | None = None
    while True:
        level = _level(graph, allowed, below)
        if below is not None and level == below:
            return
        yield level
        below = level


def _level(graph: PairGraph, allowed: Sequence[bool], below: bytearray | None) -> bytearray:
    alive = bytearray(move is not None for move in graph.moves)
    pending = [k for k, flag in enumerate(alive) if flag and not (below and below[k])]
    waiting = bytearray(len(alive))
    for k in pending:
        waiting[k] = 1
    for k, move in enumerate(graph.moves):
        if move is None:
            _wake(graph, k, alive=alive, below=below, waiting=waiting, pending=pending)
    while pending:
        number = pending.pop()
        waiting[number] = 0
        moves = graph.moves[number]
        if not alive[number] or moves is None or all(_passes(m, alive, below, allowed) for m in moves):
            continue
        alive[number] = 0
        _wake(graph, number, alive=alive, below=below, waiting=waiting, pending=pending)
    return alive


def _wake(
    graph: PairGraph,
    number: int,
    alive: bytearray,
    below: bytearray | None,
    waiting: bytearray,
    pending: list[int],
) -> None:
    for user in graph.users[number]:
        if alive[user] and not waiting[user] and not (below and below[user]):
            waiting[user] = 1
            pending.append(user)


def _passes(move: Move, alive: bytearray, below: bytearray | None, allowed: Sequence[bool]) -> bool:
    if not move.rows:
        return all(r == EQUAL and (k == SAME or alive[k]) for k, r in move.forced) or (
            below is not None and all(allowed[r] and (k == SAME or below[k]) for k, r in move.forced)
        )
    same = [[p for p, k, r in row if r == EQUAL and (k == SAME or alive[k])] for row in move.rows]
    if matching(same) is not None:
        return True
    if below is None:
        return False
    near = [[p for p, k, r in row if allowed[r] and (k == SAME or below[k])] for row in move.rows]
    return matching(near) is not None


def largest_family(
    closures: Closures, ratio: Weight, steps: int, judge: WeightJudge, graph: PairGraph | None = None
) -> Family | None:
    """Returns the largest family for e^δ = ratio and t = steps if it covers all insertions, else None.

    It is restricted to the pairs that matter: those that insertions lead to. Without parameters no other
    family covers them if this one does not. With parameters, comparisons may stay open, supports are those of
    functions that are not zero everywhere, and probabilities are equal if they are one function.
    """
    graph = graph or pair_graph(closures)
    if graph.uncovered:
        return None
    flags = _allowed(graph, ratio, judge)
    ranks: dict[Pair, int] = {}
    reached = 0
    for number, level in zip(range(steps + 1), levels(graph, flags), strict=False):
        reached = number
        for k, pair in enumerate(graph.pairs):
            if level[k]:
                ranks.setdefault(pair, number)
        if all(level[k] for k in graph.wanted if k != SAME):
            break
    if any(graph.pairs[k] not in ranks for k in graph.wanted if k != SAME):
        return None
    return Family(ratio, reached, ranks, graph)


def _allowed(graph: PairGraph, ratio: Weight, judge: WeightJudge) -> list[bool]:
    return [
        judge.at_most(a, b, ratio) and judge.at_most(b, a, ratio) if k else True
        for k, (a, b) in enumerate(graph.ratios)
    ]


def least_budget(
    graph: PairGraph,
    judge: WeightJudge,
    bound: Weight | None = None,
    progress: Callable[[int, int], None] | None = None,
    least: Weight | None = None,
    offered: Weight | None = None,
) -> Family | None:
    """Returns a covering family with the least (e^δ)^t, or None if there is none (within `bound`).

    `least`, if given, is at most (e^δ)^t for every covering family: δs that may reach it come first, and a
    family that does ends the search.

    δ runs over the finitely many ratios of probabilities that can be matched: between two of them the same
    steps are allowed. With parameters, δs that are not proved to be comparable are all tried, and the first
    of those that cannot be compared is kept. Ratios of probabilities that may be zero are no such δs then; so
    `bound`, or else `offered`, and their roots that are functions are tried, too.
    """
    best: Family | None = None
    if bound is not None and not judge.at_most(graph.closures.system.weights.one, bound):
        return None  # no budget is negative
    ratios = _candidates(graph, judge, bound)
    given = offered if bound is None else bound
    if given is not None and judge.domain.ring.parameters:
        one = graph.closures.system.weights.one
        ratios += [root for root in roots(given, MAX_LEVELS) if judge.at_most(one, root)]
    if least is not None:
        ratios.sort(key=lambda ratio: _steps_to(ratio, least, judge))
    for number, ratio in enumerate(ratios):
        steps = _most_steps(ratio, judge, bound)
        family = largest_family(graph.closures, ratio, steps, judge, graph)
        if family and (best is None or _less(family, best, judge)):
            best = family
        if progress:
            progress(number + 1, len(ratios))
        if best and least is not None and judge.at_most(power(best.ratio, best.steps), least):
            break
    return best


def _steps_to(ratio: Weight, least: Weight, judge: WeightJudge) -> int:
    """Returns the t with ratio^t = `least`, or a large number."""
    one = judge_one(ratio)
    steps = 1 if judge.at_most(ratio, one) else _most_steps(ratio, judge, least)
    return steps if judge.at_most(least, power(ratio, steps)) else MAX_LEVELS + 1


def _candidates(graph: PairGraph, judge: WeightJudge, bound: Weight | None) -> list[Weight]:
    one = graph.closures.system.weights.one
    found = [one]
    for a, b in graph.ratios[1:]:
        for left, right in ((a, b), (b, a)):
            ratio = left / right
            if judge.at_most(one, ratio) and (bound is None or judge.at_most(ratio, one, bound)):
                found.append(ratio)
                break
    return found


def _most_steps(ratio: Weight, judge: WeightJudge, bound: Weight | None) -> int:
    one = judge_one(ratio)
    if judge.at_most(ratio, one):  # δ = 0: one level is enough, and more do not cost anything
        return 1
    if bound is None:
        return MAX_LEVELS
    steps = 0
    while steps < MAX_LEVELS and judge.at_most(power(ratio, steps + 1), one, bound):
        steps += 1
    return steps


def _less(family: Family, other: Family, judge: WeightJudge) -> bool:
    left, right = power(family.ratio, family.steps), power(other.ratio, other.steps)
    return judge.at_most(left, right) and not judge.at_most(right, left)


def judge_one(weight: Weight) -> Weight:
    """Returns the number 1 in the kind of a weight."""
    return weight / weight
