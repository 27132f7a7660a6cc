"""Probabilities of path formulas: on chains, under words of actions, and extreme ones over all schedulers.

*Goals.* A goal is what a formula still asks of the path from a state on: a set of clauses, of which one has
to hold, and a clause is a set of parts that all have to hold. Clauses that contain another one are left out.
`after` takes the labels of one state into account, and returns the goal of the path from the next state on. A
path satisfies a formula without unbounded R iff some prefix of it leaves the goal TRUE; the negation of a
formula without unbounded U is one like that. True is the conjunction of nothing, false its disjunction.

*Nodes.* A node is a state with a goal. Its value is 1 or 0 if the labels of the state decide the goal, and
otherwise the average over what follows. The nodes that reach no decision have the value `dead`: 0 if the
formula has no unbounded R, because then only a finite prefix satisfies it, and 1 if it has no unbounded U.
Values are known where no cycle is in the way.

*Policies.* Schedulers may depend on the history, and so on the node, so backwards the largest (or smallest)
value over the actions is that over all schedulers. With cycles let r(n) = |x − dead| for the value x of a
node n: the probability that n reaches its target, a decision against `dead`. The largest r is the least
solution of r = max_a P_a·r. Let a policy have the probabilities x. If no action betters it, x ≥ P_a·x for all
a, then x ≥ r; and the policy reaches x, so x = r. For the smallest one, nodes in which a scheduler can stay
for ever, or go to where the probability is 0, have r = 0. Of the others no scheduler stays among them for
ever. So x ≤ P_a·x for all a gives x ≤ r, and x = r. Without a choice all nodes that are not dead reach a
decision almost surely, because the weights on cycles are positive numbers: the equations have one solution.

*Paths.* The probabilities of a formula are computed in these ways:

- Extremes, over all schedulers, as above; or the probability under one word of actions, where there is no
  choice.
- All words. For a bounded formula the vectors of values under all words of actions are computed backwards,
  level by level; equal vectors are kept once.
- Equality. Two states have the same probability under all words if v·M_w·f = 0 for each word w, with the
  difference v and the mass f that is decided in a step: what is equal as a sum over steps only is not found.
  If it is so for words of at most as many actions as nodes were met, it is so for all: spaces stop growing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from graphlib import CycleError, TopologicalSorter
from typing import Any, TypeAlias

from .chain_models import CheckedChain
from .quotient_values import PolynomialQuotient, QuotientValues, Value, gathered, spread
from .strict_reading import Rejected

# --- goals ------------------------------------------------------------------------------------------

Part: TypeAlias = tuple[Any, ...]
Clause: TypeAlias = frozenset[Part]
Goal: TypeAlias = frozenset[Clause]

TRUE: Goal = frozenset({frozenset()})
FALSE: Goal = frozenset()
MAX_CLAUSES = 2_000
DUAL = {"and": "or", "or": "and", "until": "release", "release": "until"}
TEMPORAL = ("next", "until", "release")


def is_state(formula: Any) -> bool:
    """Tells whether no temporal operator stands outside of P and D."""
    kind = formula[0]
    if kind in TEMPORAL:
        return False
    if kind == "not":
        return is_state(formula[1])
    return all(map(is_state, formula[1])) if kind in ("and", "or") else True


def normal(formula: Any, negative: bool = False) -> Part:
    """Returns a formula (or its negation) with negations only at state formulas, its leaves, as text."""
    kind = formula[0]
    if kind == "not":
        return normal(formula[1], not negative)
    if kind in ("true", "false"):
        return ("and" if (kind == "true") is not negative else "or", ())
    if is_state(formula):
        return ("leaf", json.dumps(formula), not negative)
    if kind == "next":
        return ("next", normal(formula[1], negative))
    named = DUAL[kind] if negative else kind
    if kind in ("and", "or"):
        return (named, tuple(normal(part, negative) for part in formula[1]))
    left, right, low, high = formula[1:]
    return (named, normal(left, negative), normal(right, negative), low, high)


def unbounded(part: Any, kind: str) -> bool:
    """Tells whether U (or R) stands somewhere without a largest number of steps."""
    if not isinstance(part, tuple):
        return False
    return (part[:1] == (kind,) and part[4] is None) or any(unbounded(inner, kind) for inner in part)


@dataclass
class GoalProgression:
    """The goals of all formulas about a model; `holds` tells whether a leaf holds in a state."""

    holds: Callable[[int, str], bool]
    _steps: dict[tuple[Goal, int], Goal] = field(default_factory=dict)

    def after(self, goal: Goal, state: int) -> Goal:
        """Returns what is asked from the next state on, where a goal is asked from this state on."""
        key = (goal, state)
        if key not in self._steps:
            self._steps[key] = some(every(self._part(part, state) for part in clause) for clause in goal)
        return self._steps[key]

    def _part(self, part: Part, state: int) -> Goal:
        kind = part[0]
        if kind == "leaf":
            return TRUE if self.holds(state, part[1]) == part[2] else FALSE
        if kind == "next":
            return goal_of(part[1])
        if kind in ("and", "or"):
            return JOINED[kind](self._part(inner, state) for inner in part[1])
        _, left, right, low, high = part
        both, either = (every, some) if kind == "until" else (some, every)
        if high is not None and high < low:
            return either(())  # there is no step at which the right side is asked for
        rest = goal_of((kind, left, right, max(low - 1, 0), None if high is None else high - 1))
        onward = both((self._part(left, state), rest))
        if low > 0:
            return onward
        second = self._part(right, state)
        return second if high == 0 else either((second, onward))


def goal_of(part: Part) -> Goal:
    """Returns a formula as a goal."""
    if part[0] in ("and", "or"):
        return JOINED[part[0]](map(goal_of, part[1]))
    return frozenset({frozenset({part})})


def every(goals: Iterable[Goal]) -> Goal:
    """Returns the conjunction."""
    found = TRUE
    for goal in goals:
        found = minimal(frozenset(a | b for a in found for b in goal))
    return found


def some(goals: Iterable[Goal]) -> Goal:
    """Returns the disjunction."""
    return minimal(frozenset(clause for goal in goals for clause in goal))


def minimal(goal: Goal) -> Goal:
    """Returns a goal without clauses that contain another one."""
    if len(goal) > MAX_CLAUSES:
        raise Rejected(f"a path formula needs more than {MAX_CLAUSES:,} clauses")
    kept: list[Clause] = []
    for clause in sorted(goal, key=len):
        if not any(other <= clause for other in kept):
            kept.append(clause)
    return frozenset(kept)


JOINED: dict[str, Callable[[Iterable[Goal]], Goal]] = {"and": every, "or": some}

# --- policies ---------------------------------------------------------------------------------------

MAX_ROUNDS = 1_000
MAX_CYCLIC = 400  # nodes of one linear system

Step: TypeAlias = Sequence[tuple[Value, Hashable]]
Nodes: TypeAlias = Mapping[Any, Sequence[Step]]  # with the steps that they may choose
Vector: TypeAlias = dict[Any, Value]
Move: TypeAlias = Callable[[int, Any], Iterable[tuple[Any, Value]]]  # where an action leads from a key


def reaching(nodes: Nodes, is_target: Callable[[Any], bool]) -> dict[Any, Step]:
    """Returns the nodes that can reach a target outside, each with a step toward it."""
    before: dict[Any, list[tuple[Any, Step]]] = {}
    for node, steps in nodes.items():
        for step in steps:
            for _, t in step:
                before.setdefault(t, []).append((node, step))
    found: dict[Any, Step] = {}
    pending = [t for t in before if t not in nodes and is_target(t)]
    for target in pending:  # grows while it is walked through
        for node, step in before.get(target, ()):
            if node not in found:
                found[node] = step
                pending.append(node)
    return found


def extreme(nodes: Nodes, known: Mapping[Any, Value], largest: bool, dead: Fraction) -> Vector:
    """Returns the largest (or smallest) values of nodes; `known` has those of all others that they lead to.

    Raises:
        Rejected: a choice is between values that are no numbers, a policy has no single solution, or no
            policy is found.
    """
    choice = any(len(own) > 1 for own in nodes.values())
    values = [*known.values(), *(w for own in nodes.values() for step in own for w, _ in step)]
    if choice and any(isinstance(x, PolynomialQuotient) for x in values):
        raise Rejected("a cycle has probabilities with parameters")
    if choice and largest == (dead == 1):  # r is to be small
        staying = _avoiding(nodes, known, dead)
        policy = {node: own[0] for node, own in nodes.items() if node not in staying}
    else:
        policy = reaching(nodes, lambda t: known[t] != dead)
    outside = {**known, **dict.fromkeys(nodes.keys() - policy.keys(), dead)}
    for _ in range(MAX_ROUNDS):
        found = {**outside, **linear(list(policy), policy.__getitem__, outside)}
        better = {}
        for node, step in policy.items():
            by: Callable[[Step], Any] = partial(average, values=found)
            best = max(nodes[node], key=by) if largest else min(nodes[node], key=by)
            if best is not step and average(best, found) != found[node]:
                better[node] = best
        if not better:
            return {node: found[node] for node in nodes}
        policy |= better
    raise Rejected("no policy was found that no action betters")


def average(step: Step, values: Mapping[Any, Value]) -> Value:
    """Returns the average of the values that a step leads to."""
    return sum((w * values[t] for w, t in step), Fraction(0))


def _avoiding(nodes: Nodes, known: Mapping[Any, Value], dead: Fraction) -> set[Hashable]:
    """Returns the nodes from which a scheduler avoids the target for ever."""
    kept = set(nodes)
    while True:
        gone = {
            node
            for node in kept
            if not any(all(t in kept or known.get(t) == dead for _, t in step) for step in nodes[node])
        }
        if not gone:
            return kept
        kept -= gone


def linear(nodes: Sequence[Any], step: Callable[[Any], Step], known: Mapping[Any, Value]) -> Vector:
    """Solves x = A·x + b for nodes on cycles, whose weights are numbers, by elimination.

    Raises:
        Rejected: a weight on a cycle is no number, there is no single solution, or there are too many nodes.
    """
    if len(nodes) > MAX_CYCLIC:
        raise Rejected(f"more than {MAX_CYCLIC} states with goals depend on each other")
    inside = set(nodes)
    if any(t in inside and not isinstance(w, Fraction) for node in nodes for w, t in step(node)):
        raise Rejected("a cycle has probabilities with parameters")
    rows = {
        node: gathered((t, w) for w, t in step(node) if t in inside if isinstance(w, Fraction))
        for node in nodes
    }
    rest = {node: average([(w, t) for w, t in step(node) if t not in inside], known) for node in nodes}
    for node in nodes:
        stay = rows[node].pop(node, Fraction(0))
        if stay == 1:
            raise Rejected("the equations of a cycle have no single solution")
        own = {t: w / (1 - stay) for t, w in rows[node].items()}
        rows[node], rest[node] = own, rest[node] * (1 / (1 - stay))
        for other in nodes:
            by = rows[other].pop(node, Fraction(0))
            if by:
                rows[other] = gathered([*rows[other].items(), *((t, by * w) for t, w in own.items())])
                rest[other] = rest[other] + by * rest[node]
    return rest


# --- paths ------------------------------------------------------------------------------------------

Node: TypeAlias = tuple[int, Goal]

MAX_NODES = 50_000
MAX_LEVELS = 1_000
MAX_VECTORS = 20_000
MAX_WORK = 20_000_000  # products of numbers
DECIDED = {TRUE: Fraction(1), FALSE: Fraction(0)}


@dataclass
class Paths:
    """The probabilities of one path formula in a model.

    `known` has the largest and smallest values of nodes: goals of several formulas share them.
    """

    chain: CheckedChain
    values: QuotientValues
    progression: GoalProgression
    formula: Part
    known: dict[tuple[bool, Fraction], Vector]
    work: int = 0
    _words: dict[tuple[int, ...], list[dict[int, Value]]] = field(default_factory=dict)

    @property
    def start(self) -> Goal:
        """What is asked of the whole path."""
        return goal_of(self.formula)

    @property
    def dead(self) -> Fraction:
        """The value where nothing is ever decided.

        Raises:
            Rejected: the formula has unbounded operators of both kinds.
        """
        until, release = (unbounded(self.formula, kind) for kind in ("until", "release"))
        if until and release:
            raise Rejected("a path formula with unbounded U and with unbounded R")
        return Fraction(int(release))

    @property
    def bounded(self) -> bool:
        """Whether the formula looks at so many steps only."""
        return not any(unbounded(self.formula, kind) for kind in ("until", "release"))

    def probabilities(
        self, starts: Collection[int], largest: bool = True, word: Sequence[int] = (), repeated: int = 1
    ) -> dict[int, Value]:
        """Returns the largest (or smallest) probabilities of some states over all schedulers.

        With a word, it is the probability under these actions, of which the last ones are repeated for ever.

        Raises:
            Rejected: a probability is no number where there is a choice or a cycle.
        """
        known = {} if word else self.known.setdefault((largest, self.dead), {})
        nodes: dict[Any, Sequence[Step]] = {}
        ends = {s: (s, self.start, 0) for s in starts}  # a node has a place in the word besides
        pending = list(ends.values())
        for node in pending:  # grows while it is walked through
            if node in known or node in nodes:
                continue
            state, goal, place = node
            after = self.progression.after(goal, state)
            if after in DECIDED:
                known[node] = DECIDED[after]
                continue
            rows = list({id(row): row for row in self.chain.rows[state]}.values())  # twice one is no choice
            following = place
            if word:
                rows = [self.chain.rows[state][word[place]]]
                following = place + 1 if place + 1 < len(word) else len(word) - repeated
            nodes[node] = [[(w, (t, after, following)) for t, w in row] for row in rows]
            if len(nodes) > MAX_NODES:
                raise Rejected(f"more than {MAX_NODES:,} states with goals")
            pending += [(t, after, following) for row in rows for t, _ in row]
        known |= dict.fromkeys(nodes.keys() - reaching(nodes, known.__contains__).keys(), self.dead)
        waiting = {n: {t for step in own for _, t in step} for n, own in nodes.items() if n not in known}
        graph = TopologicalSorter({n: {t for t in to if t not in known} for n, to in waiting.items()})
        with suppress(CycleError):  # what no cycle is in the way of comes one after the other all the same
            graph.prepare()
        while ready := graph.get_ready():
            for node in ready:
                known[node] = self.values.extreme([average(step, known) for step in nodes[node]], largest)
            graph.done(*ready)
        left = {node: nodes[node] for node in waiting if node not in known}
        around = {t: known[t] for node in left for t in waiting[node] if t in known}
        known |= extreme(left, around, largest, self.dead)
        return {s: known[node] for s, node in ends.items()}

    def words(self, starts: Collection[int]) -> Sequence[Mapping[int, Value]]:
        """Returns the probabilities of some states under all words of actions, each vector once.

        Raises:
            Rejected: the formula is not bounded, or they are too many.
        """
        name = tuple(starts)
        if name in self._words:
            return self._words[name]
        if not self.bounded:
            raise Rejected("an unbounded path formula under all words of actions")
        vectors: list[Vector] = [{}]
        for level in reversed(self._levels(starts)):
            vectors = self._backwards(level, vectors)
        start = self.start
        self._words[name] = [{s: vector[s, start] for s in starts} for vector in vectors]
        return self._words[name]

    def _levels(self, starts: Collection[int]) -> list[dict[Node, Goal]]:
        """Returns the nodes after each number of steps, with what is asked from the next state on."""
        levels: list[dict[Node, Goal]] = []
        nodes = [(s, self.start) for s in starts]
        while nodes:
            if len(levels) >= MAX_LEVELS:
                raise Rejected(f"a path formula about more than {MAX_LEVELS:,} steps")
            level = {(state, goal): self.progression.after(goal, state) for state, goal in nodes}
            levels.append(level)
            nodes = [
                (t, after)
                for (state, _), after in level.items()
                if after not in DECIDED
                for row in self.chain.rows[state]
                for t, _ in row
            ]
        return levels

    def _backwards(self, level: Mapping[Node, Goal], vectors: Sequence[Vector]) -> list[Vector]:
        """Returns the vectors of one level, from those of the next one."""
        fixed: Vector = {node: DECIDED[after] for node, after in level.items() if after in DECIDED}
        moves = {}  # those that are different
        for action in range(len(self.chain.actions)):
            rows = {node: self.chain.rows[node[0]][action] for node in level if node not in fixed}
            moves[tuple(map(id, rows.values()))] = rows
        found: dict[tuple[Value, ...], Vector] = {}
        for rows in moves.values():
            for vector in vectors:
                self.count(sum(map(len, rows.values())))
                own = fixed | {
                    node: sum((w * vector[t, level[node]] for t, w in row), Fraction(0))
                    for node, row in rows.items()
                }
                found[tuple(own.values())] = own
                if len(found) > MAX_VECTORS:
                    raise Rejected(f"more than {MAX_VECTORS:,} words of actions")
        return list(found.values())

    def count(self, products: int) -> None:
        """Counts work, which is bounded."""
        self.work += products
        if self.work > MAX_WORK:
            raise Rejected("too many products for a replay")

    def equal(self, left: int, right: int) -> bool:
        """Tells whether of two states as much is decided in each step, under every word of actions."""
        toward = TRUE if not self.dead else FALSE

        def move(action: int, node: Node) -> list[tuple[Node, Value]]:
            state, goal = node
            after = self.progression.after(goal, state)
            return [((t, after), w) for t, w in self.chain.rows[state][action] if after not in DECIDED]

        first: Vector = {(left, self.start): Fraction(1), (right, self.start): Fraction(-1)}
        for vector in self.spanned([first], move):
            decided = (x for (s, g), x in vector.items() if self.progression.after(g, s) == toward)
            if sum(decided, Fraction(0)) != Fraction(0):
                return False
        return True

    def spanned(self, first: Sequence[Vector], move: Move) -> Iterator[Vector]:
        """Yields vectors that span what some have become after any word of actions.

        Of numbers only those are kept that do not depend on earlier ones, linearly. The rank is at most the
        number of nodes that were met; after as many steps all is spanned.
        """
        kept, met, length = VectorSpan(), set[Hashable](), 0
        level = [v for v in first if kept.adds(v)]
        while level and length <= len(met):
            yield from level
            met.update(*level)
            level = self.onward(level, move, kept)
            length += 1

    def onward(self, level: Sequence[Vector], move: Move, kept: VectorSpan) -> list[Vector]:
        """Returns what vectors become with each action, if it is new for what is kept."""
        found = []
        for vector in level:
            for action in range(len(self.chain.actions)):
                terms = (len(x.top) if isinstance(x, PolynomialQuotient) else 1 for x in vector.values())
                self.count(10 * sum(terms))
                moved = spread(vector, partial(move, action))
                own = {n: x for n, x in moved.items() if x != Fraction(0)}
                if own and kept.adds(own):
                    found.append(own)
        return found


@dataclass
class VectorSpan:
    """Vectors that were met: of numbers their span, of others the vectors as they are written."""

    rows: list[tuple[Hashable, dict[Any, Fraction]]] = field(default_factory=list)
    others: set[frozenset[tuple[Hashable, Value]]] = field(default_factory=set)

    def adds(self, vector: Vector) -> bool:
        """Tells whether a vector is new, and keeps it."""
        if any(isinstance(x, PolynomialQuotient) for x in vector.values()):
            name = frozenset(vector.items())
            if name in self.others:
                return False
            if len(self.others) >= MAX_VECTORS:
                raise Rejected(f"more than {MAX_VECTORS:,} words of actions")
            self.others.add(name)
            return True
        left = {n: x for n, x in vector.items() if isinstance(x, Fraction)}
        for pivot, row in self.rows:
            by = left.get(pivot)
            if by:
                for n, x in row.items():
                    left[n] = left.get(n, Fraction(0)) - by * x
        left = {n: x for n, x in left.items() if x}
        if not left:
            return False
        pivot = next(iter(left))
        self.rows.append((pivot, {n: x / left[pivot] for n, x in left.items()}))
        return True
