"""Unwinding families.

Their definition as published ([T]), the pairs that they may need, and how to find them.

A family is a sequence of relations rel[0], ..., rel[t] on states. It unwinds with δ if for every pair in
rel[i] the same actions are enabled, and for each of them the closures are related by L(rel[i], 0), or else,
if i > 0, by L(rel[i−1], δ). If besides every reachable state s and data point d have a closure ν without ⊥
whose states s' all have ⟨s, s'⟩ in rel[t], then the system has t·δ-differential noninterference. Both are
sound and not complete.

Why: let P(x, w, σ) be the probability that the system in state x, given the inputs w, shows σ first (or σ and
then nothing). If ⟨x, y⟩ is in rel[i], then P(x, w, σ) ≤ e^{iδ}·P(y, w, σ) and the other way round, by
induction on the number of steps: what comes next is the same action a on both sides, and the sum over the
bijection β is at most Σ e^δ·ν2(β(z))·e^{(i−1)δ}·P(β(z), ...), or with ν1 = ν2∘β at most
Σ ν2(β(z))·e^{iδ}·P(β(z), ...). Inserting d before w turns s into a mixture of such s'.

Where the environment is assumed not to give some inputs (`System.partial`), both input sequences respect
that: then only the inputs that both states accept can come, and only these are compared.

The pairs of states that an unwinding family may need: those that insertions of data points lead to.

Pairs are unordered, since the δ-approximate lifting is symmetric, and stored once. A pair of a state with
itself is always related and has no entry. Of two states that give the same response and then are surely in x'
and y' only ⟨x', y'⟩ is kept: the one pair is in rel[i] iff the other is.

Finding unwinding families, which [T] leaves to the user: the largest one, and the least t·δ.

For a relation X let F_i(X) be the pairs with the same actions whose closures are related by L(X, 0) or by
L(rel[i−1], δ). F_i is monotone in X and in rel[i−1], so each level has a greatest fixpoint, and taking it at
each level from 0 upwards gives the largest family: it contains every other one, level by level. The levels
grow with i: by induction rel[i] ⊆ F_{i+1}(rel[i]). The fixpoint is found from the top: all pairs are taken to
be related, pairs that fail are removed, and the pairs that lead to a removed one are looked at again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

from paramverify.errors import LimitError
from paramverify.interactive.closures import SILENT, Closures, Folded, Grouped, paired
from paramverify.interactive.probability_bounds import Fan, NumberedQuotients, WeightJudge, power, roots
from paramverify.models.systems.transition_systems import Distribution, StateKind, Weight, is_number, text


def lift(
    left: Distribution,
    right: Distribution,
    related: Callable[[int, int], bool],
    within: Callable[[Weight, Weight], bool] | None = None,
) -> tuple[int, ...] | None:
    """Returns a bijection of supports β that shows left L(R, δ) right, or None if there is none.

    x R β(x) is `related`, and |ln left(x) − ln right(β(x))| ≤ δ is `within`; without it δ is 0, and only
    states of equal probability are tried with each other. β[k] is the place in `right` of the k-th in `left`.
    """
    if len(left) != len(right):
        return None
    if within is None:
        alike: dict[Weight, list[int]] = {}
        for place, (_, weight) in enumerate(right):
            alike.setdefault(weight, []).append(place)
        rows = [[p for p in alike.get(w, ()) if related(s, right[p][0])] for s, w in left]
    else:
        rows = [[p for p, (r, v) in enumerate(right) if related(s, r) and within(w, v)] for s, w in left]
    return matching(rows)


def matching(rows: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
    """Returns different choices, one from each row, or None if there are none.

    Where every row has one choice, that is seen at once; otherwise Hopcroft–Karp decides.
    """
    if not all(rows):
        return None
    if all(len(row) == 1 for row in rows):
        only = tuple(row[0] for row in rows)
        return only if len(set(only)) == len(only) else None
    from networkx import Graph
    from networkx.algorithms.bipartite import hopcroft_karp_matching

    graph = Graph((("left", k), ("right", p)) for k, row in enumerate(rows) for p in row)
    tops = [("left", k) for k in range(len(rows))]
    found = hopcroft_karp_matching(graph, tops)
    if any(top not in found for top in tops):
        return None
    return tuple(found[top][1] for top in tops)


Pair = tuple[int, int]
Relation = Collection[Pair]
Within = Callable[[Weight, Weight], bool]


@dataclass(frozen=True)
class Failure:
    """Why a family does not prove anything: in words, with the level, the pair of states and the action.

    There is no level where an insertion is not covered, no pair where the bound is passed, and no action
    where the states enable different ones.
    """

    reason: str
    level: int | None
    pair: Pair | None
    action: int | None = None


def is_unwinding_family(
    closures: Closures,
    relations: Sequence[Relation],
    within: Within,
) -> Failure | None:
    """Returns None if the relations are an unwinding family, and otherwise the first failure.

    `relations[i]` is rel[i] as (unordered) pairs; every state is related to itself, which never fails.
    `within(p, q)` tells whether |ln p − ln q| ≤ δ.
    """
    for level, relation in enumerate(relations):
        for pair in relation:
            failure = _pair_failure(closures, relations, within, level, pair)
            if failure:
                return failure
    return None


def _pair_failure(
    closures: Closures, relations: Sequence[Relation], within: Within, level: int, pair: Pair
) -> Failure | None:
    left, right = pair
    names = closures.system.states
    shown = f"⟨{names[left]}, {names[right]}⟩"
    common = enabled_in_both(closures, left, right)
    if common is None:
        return Failure(f"{shown} in rel[{level}]: different actions are enabled", level, pair)
    for action in common:
        mu, nu = closures.after(left, action), closures.after(right, action)
        if lift(mu, nu, member(relations[level])) is not None:
            continue
        if level and lift(mu, nu, member(relations[level - 1]), within) is not None:
            continue
        name = closures.system.actions.names[action]
        alike = f"with equal probabilities into rel[{level}]"
        how = f", neither {alike}, nor within e^δ into rel[{level - 1}]" if level else f" {alike}"
        reason = f"{shown}: what follows {name!r} cannot be matched{how}"
        return Failure(reason, level, pair, action)
    return None


def is_all_covered(closures: Closures, top: Relation) -> Failure | None:
    """Returns None if every insertion of a data point at a reachable state stays within `top`, rel[t]."""
    names = closures.system.states
    related = member(top)
    for state, point, after in insertions(closures):
        name = closures.system.actions.names[point]
        for successor, _ in after:
            if successor == SILENT:
                reason = f"after {name!r} in state {names[state]!r} hidden steps may go on for ever"
                return Failure(reason, None, (state, state), point)
            if not related(state, successor):
                reason = f"{name!r} leads from {names[state]!r} to {names[successor]!r}, which is not related"
                return Failure(reason, None, (state, successor), point)
    return None


def insertions(closures: Closures) -> list[tuple[int, int, Distribution]]:
    """Returns (s, d, closure) for every reachable waiting state s and data point d that it accepts."""
    points = closures.system.actions.points
    return [
        (state, action, closures.after(state, action))
        for state in reachable(closures)
        if closures.kinds[state] is StateKind.INPUT
        for action in closures.system.rows[state]
        if action in points
    ]


def reachable(closures: Closures) -> list[int]:
    """Returns the terminal states that the system can be in after some inputs, in the order of a search."""
    found = dict.fromkeys(s for s, _ in closures.of(closures.system.initial) if s != SILENT)
    pending = list(found)
    for state in pending:  # grows while it is walked through
        for action in closures.system.rows[state]:
            for successor, _ in closures.after(state, action):
                if successor != SILENT and successor not in found:
                    found[successor] = None
                    pending.append(successor)
    return pending


def enabled_in_both(closures: Closures, left: int, right: int) -> tuple[int, ...] | None:
    """Returns the actions to be compared, or None if the states do not enable the same ones.

    With assumptions about the environment, these are the inputs that both waiting states accept.
    """
    if SILENT in (left, right):
        return () if left == right else None
    one, other = closures.system.rows[left], closures.system.rows[right]
    if one.keys() == other.keys():
        return tuple(one)
    both_wait = closures.kinds[left] is closures.kinds[right] is StateKind.INPUT
    if closures.system.partial and both_wait:
        return tuple(a for a in one if a in other)
    return None


def to_compare(closures: Closures, left: int, right: int) -> tuple[int, ...] | None:
    """Returns what `enabled_in_both` does, of actions with the same closures only the first."""
    common = enabled_in_both(closures, left, right)
    return closures.distinct(left, right, common) if common else common


def member(relation: Relation) -> Callable[[int, int], bool]:
    """Returns the test for a relation that is symmetric and reflexive."""
    return lambda x, y: x == y or (x, y) in relation or (y, x) in relation


SAME = -1  # in place of the number of a pair: a state with itself
EQUAL = 0  # the number of the ratio of equal probabilities
MAX_PAIRS = 5_000_000

Edge = tuple[int, int, int]  # (place on the right, number of the pair, number of the ratio)


@dataclass(frozen=True)
class Move:
    """How the closures of one action may be matched.

    If there is one bijection only, `forced` lists its (pair, ratio), each once; otherwise `rows` has the
    edges of each place on the left.
    """

    forced: tuple[tuple[int, int], ...] = ()
    rows: tuple[tuple[Edge, ...], ...] = ()


@dataclass
class PairGraph:
    """Pairs by number, and what each action may lead them to.

    `moves[k]` has one entry for each action of pair k; None stands for a pair that no relation can have,
    because of different actions or supports of different sizes. `users[k]` are the pairs that lead to pair
    k. `ratios[r]` are two probabilities (a, b) whose quotient, one way or the other, is ratio r. They are
    compared without division, as both may be zero somewhere.
    `wanted` are the pairs that insertions need; `uncovered` says why no family can cover all of them.
    """

    closures: Closures
    quotients: NumberedQuotients | None = None
    pairs: list[Pair] = field(default_factory=list)
    index: dict[Pair, int] = field(default_factory=dict)
    moves: list[tuple[Move, ...] | None] = field(default_factory=list)
    users: list[list[int]] = field(default_factory=list)
    ratios: list[tuple[Weight, Weight]] = field(default_factory=list)
    wanted: list[int] = field(default_factory=list)
    uncovered: str = ""
    _known: dict[tuple[int, int], int] = field(default_factory=dict)  # by ids: closures keep their weights
    _quotients: dict[object, int] = field(default_factory=dict)

    def number(self, left: int, right: int) -> int:
        """Returns the number of a pair, a new one if it was not there."""
        if left == right:
            return SAME
        pair = (left, right) if left < right else (right, left)
        found = self.index.get(pair)
        if found is None:
            if len(self.pairs) >= MAX_PAIRS:
                raise LimitError(f"more than {MAX_PAIRS:,} pairs of states are to be compared")
            found = self.index[pair] = len(self.pairs)
            self.pairs.append(pair)
            self.users.append([])
        return found

    def __post_init__(self) -> None:
        self.folded = Folded(self.closures, self.closures.after, lambda state: state)

    def ratio(self, left: Weight, right: Weight) -> int:
        """Returns the number of a quotient of two weights of closures, the same for its inverse.

        Pairs that have one quotient get one number, unless a factor that cancels may be zero on the domain:
        p·r ≤ d·q·r does not say p ≤ d·q where r is zero.
        """
        if left is right or left == right:
            return EQUAL
        key = (id(left), id(right))
        found = self._known.get(key)
        if found is None:
            canonical: object = tuple(sorted((text(left), text(right))))
            if (is_number(left) and is_number(right)) or (
                self.quotients and self.quotients.comparable(left, right)
            ):
                canonical = max(left / right, right / left, key=text)
            found = self._quotients.get(canonical)
            if found is None:
                found = self._quotients[canonical] = len(self.ratios)
                self.ratios.append((left, right))
            self._known[key] = found
        return found


def pair_graph(closures: Closures, quotients: NumberedQuotients | None = None) -> PairGraph:
    """Returns the graph of all pairs that insertions at reachable states lead to.

    With `quotients`, answers that lead on alike are put together.

    Raises:
        LimitError: more than `MAX_PAIRS` pairs.
    """
    one = closures.system.weights.one
    graph = PairGraph(closures, quotients, ratios=[(one, one)])
    wanted: dict[int, None] = {}
    for state, point, after in insertions(closures):
        for successor, _ in after:
            if successor == SILENT:
                names = closures.system.states[state], closures.system.actions.names[point]
                graph.uncovered = f"after {names[1]!r} in state {names[0]!r} hidden steps may go on for ever"
            elif successor != state:
                wanted[graph.number(state, successor)] = None
    graph.wanted = list(wanted)
    done = 0
    while done < len(graph.pairs):
        graph.moves.append(_moves(graph, done))
        done += 1
    return graph


def _moves(graph: PairGraph, number: int) -> tuple[Move, ...] | None:
    left, right = graph.pairs[number]
    common = to_compare(graph.closures, left, right)
    if common is None:
        return None
    found: list[Move] = []
    for action in common:
        mu, nu = graph.closures.after(left, action), graph.closures.after(right, action)
        if len(mu) != len(nu):
            return None
        if mu == nu:
            continue  # the identity relates them
        fans = graph.folded.fans(left, right, action)
        move = _together(graph, *fans) if fans else None
        move = move or _move(graph, graph.folded.grouped(left, action), graph.folded.grouped(right, action))
        if move is None:
            return None
        pairs = [k for k, _ in move.forced] + [k for row in move.rows for _, k, _ in row]
        for pair in dict.fromkeys(pairs):
            if pair != SAME:
                graph.users[pair].append(number)
        found.append(move)
    return tuple(found)


def _together(graph: PairGraph, left: Fan, right: Fan) -> Move | None:
    """Returns the one bijection of two fans: of the ratios only the largest matter, as all lead on alike.

    Where a quotient may be 0/0 on the domain there is None.
    """
    quotients = graph.quotients
    if quotients is None:
        return None
    found = quotients.between(left, right) | quotients.between(right, left)
    if not quotients.divisible(found):
        return None
    number = graph.number(left.target, right.target)
    ratios = dict.fromkeys(
        graph.ratio(quotients.values[k], quotients.values[0]) for k in quotients.largest(found)
    )
    return Move(forced=tuple((number, ratio) for ratio in ratios))


def _move(graph: PairGraph, left: Grouped, right: Grouped) -> Move | None:
    if left.keys() != right.keys():
        return None
    numbers: dict[Pair, int] = {}
    forced: dict[tuple[int, int], None] = {}
    rows: list[tuple[Edge, ...]] = []
    single = True
    for label, entries in left.items():
        others = right[label]
        if len(others) != len(entries):
            return None  # what is left over could only be matched with what enables other actions
        single = single and len(entries) == 1
        for entry in entries:
            edges: list[Edge] = []
            for other in others:
                pair = paired(entry, other)
                number = numbers.get(pair)
                if number is None:
                    number = numbers[pair] = graph.number(*pair)
                ratio = graph.ratio(entry.weight, other.weight)
                edges.append((other.place, number, ratio))
                forced[(number, ratio)] = None
            rows.append(tuple(edges))
    return Move(forced=tuple(forced)) if single else Move(rows=tuple(rows))


MAX_LEVELS = 1_000


@dataclass(frozen=True, eq=False)
class Family:
    """An unwinding family that covers all insertions: t steps of e^δ = `ratio` each.

    `kept[pair]` is the least i with the pair in rel[i]; a pair of a state with itself is in all. Pairs that
    are folded (see `closures`) are not kept.
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
