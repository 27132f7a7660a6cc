"""Probabilities of path formulas: on chains, under words of actions, and extreme ones over all schedulers.

*Goals.* A goal is what a formula still asks of the path from a state on: a set of clauses, of which one has
to hold, and a clause is a set of parts that all have to hold. Clauses that contain another one are left out.
`after` takes the labels of one state into account, and returns the goal of the path from the next state on. A
path satisfies a formula without unbounded R iff some prefix of it leaves the goal TRUE; the negation of a
formula without unbounded U is one like that.

*Nodes.* A node is a state with a goal. Its value is 1 or 0 if the labels of the state decide the goal, and
otherwise the average over what follows. The nodes that reach no decision have the value `dead`: 0 if the
formula has no unbounded R, because then only a finite prefix satisfies it, and 1 if it has no unbounded U.

*Policies.* r(n) is the largest (or smallest) probability over all schedulers that a node n reaches its
target; r is known where no cycle is in the way. The largest one is the least solution of r = max_a P_a·r. Let
a policy have the probabilities x. If no action betters it, x ≥ P_a·x for all a, then x ≥ r; and the policy
reaches x, so x = r. For the smallest one, nodes in which a scheduler can stay for ever, or go to where the
probability is 0, have r = 0. Of the others no scheduler stays among them for ever. So x ≤ P_a·x for all a
gives x ≤ r, and x = r.

*Paths.* The probabilities of a formula are computed in these ways:

- One word. All nodes that are not dead reach a decision almost surely, because the weights on cycles are
  positive numbers. So the linear equations of their values have one solution.
- All words. For a bounded formula the vectors of values under all words of actions are computed backwards,
  level by level; equal vectors are kept once.
- Extremes. Schedulers may depend on the history, and so on the node, so backwards the largest (or smallest)
  value over the actions is that over all schedulers. With cycles the values of a policy are compared with all
  actions, as above (`extreme`).
- Equality. Two states have the same probability under all words if v·M_w·f = 0 for each word w, with the
  difference v and the mass f that is decided in a step: what is equal as a sum over steps only is not found.
  If it is so for words shorter than the number of nodes, it is so for all: spaces stop growing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

from .chain_models import CheckedChain, Row
from .quotient_values import PolynomialQuotient, Value
from .strict_reading import Rejected

# --- goals ------------------------------------------------------------------------------------------

Part: TypeAlias = tuple[Any, ...]
Clause: TypeAlias = frozenset[Part]
Goal: TypeAlias = frozenset[Clause]

TRUE: Goal = frozenset({frozenset()})
FALSE: Goal = frozenset()
MAX_CLAUSES = 2_000
DUAL = {"and": "or", "or": "and", "until": "release", "release": "until", "true": "false", "false": "true"}
TEMPORAL = ("next", "until", "release")


def is_state(formula: Any) -> bool:
    """Tells whether no temporal operator stands outside of P and D."""
    kind = formula[0]
    if kind in TEMPORAL:
        return False
    if kind == "not":
        return is_state(formula[1])
    return all(map(is_state, formula[1])) if kind in ("and", "or") else True


def normal(formula: Any, leaf: Callable[[Any], str], negative: bool = False) -> Part:
    """Returns a formula (or its negation) with negations at state formulas only, which `leaf` names."""
    kind = formula[0]
    if kind == "not":
        return normal(formula[1], leaf, not negative)
    if kind in ("true", "false"):
        return (DUAL[kind] if negative else kind,)
    if is_state(formula):
        return ("leaf", leaf(formula), not negative)
    if kind == "next":
        return ("next", normal(formula[1], leaf, negative))
    named = DUAL[kind] if negative else kind
    if kind in ("and", "or"):
        return (named, tuple(normal(part, leaf, negative) for part in formula[1]))
    left, right, low, high = formula[1:]
    return (named, normal(left, leaf, negative), normal(right, leaf, negative), low, high)


def unbounded(part: Part, kind: str) -> bool:
    """Tells whether U (or R) stands somewhere without a largest number of steps."""
    if part[0] in ("until", "release"):
        return (part[0] == kind and part[4] is None) or unbounded(part[1], kind) or unbounded(part[2], kind)
    if part[0] == "next":
        return unbounded(part[1], kind)
    return part[0] in ("and", "or") and any(unbounded(inner, kind) for inner in part[1])


@dataclass
class GoalProgression:
    """The goals of all formulas about a model; `holds` tells whether the leaf of a name holds in a state."""

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
        if kind in ("true", "false"):
            return TRUE if kind == "true" else FALSE
        if kind == "leaf":
            return TRUE if self.holds(state, part[1]) == part[2] else FALSE
        if kind == "next":
            return goal_of(part[1])
        if kind in ("and", "or"):
            parts = (self._part(inner, state) for inner in part[1])
            return every(parts) if kind == "and" else some(parts)
        _, left, right, low, high = part
        rest = goal_of((kind, left, right, max(low - 1, 0), None if high is None else high - 1))
        until = kind == "until"
        if high is not None and high < low:
            return FALSE if until else TRUE  # there is no step at which the right side is asked for
        first = self._part(left, state)
        both = every((first, rest)) if until else some((first, rest))
        if low > 0:
            return both
        second = self._part(right, state)
        if high == 0:
            return second
        return some((second, both)) if until else every((second, both))


def goal_of(part: Part) -> Goal:
    """Returns a formula as a goal."""
    if part[0] in ("true", "false"):
        return TRUE if part[0] == "true" else FALSE
    if part[0] in ("and", "or"):
        inner = map(goal_of, part[1])
        return every(inner) if part[0] == "and" else some(inner)
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


# --- policies ---------------------------------------------------------------------------------------

MAX_ROUNDS = 1_000

DecisionStep: TypeAlias = Sequence[tuple[Any, Hashable]]
Solve: TypeAlias = Callable[
    [Sequence[Hashable], Callable[[Any], DecisionStep], dict[Any, Any]], dict[Any, Any]
]


def extreme(
    nodes: Mapping[Hashable, Sequence[DecisionStep]],
    known: Mapping[Hashable, Fraction],
    largest: bool,
    solve: Solve,
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


def _average(step: DecisionStep, values: Mapping[Hashable, Fraction]) -> Fraction:
    return sum((w * values[t] for w, t in step), Fraction(0))


def _toward(
    nodes: Mapping[Hashable, Sequence[DecisionStep]], known: Mapping[Hashable, Fraction]
) -> dict[Hashable, DecisionStep]:
    """Returns a policy under which each node reaches one with a known probability above 0, if it can."""
    policy: dict[Hashable, DecisionStep] = {}
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


def _never(
    nodes: Mapping[Hashable, Sequence[DecisionStep]], known: Mapping[Hashable, Fraction]
) -> set[Hashable]:
    """Returns the nodes that no scheduler brings to the target."""
    return set(nodes) - _toward(nodes, known).keys()


def _avoiding(
    nodes: Mapping[Hashable, Sequence[DecisionStep]], known: Mapping[Hashable, Fraction]
) -> set[Hashable]:
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


# --- paths ------------------------------------------------------------------------------------------

Node: TypeAlias = tuple[int, Goal]
Vector: TypeAlias = dict[Any, Value]
Step: TypeAlias = Sequence[tuple[Value, Hashable]]

MAX_NODES = 50_000
MAX_CYCLIC = 400  # nodes of one linear system
MAX_LEVELS = 1_000
MAX_VECTORS = 20_000
MAX_WORK = 20_000_000  # products of numbers
DECIDED = {TRUE: Fraction(1), FALSE: Fraction(0)}


@dataclass
class DecisionGraph:
    """Nodes from some starts on: each is decided, or has choices of steps to others."""

    choices: Callable[[Any], Sequence[Step] | Fraction]
    dead: Fraction
    nodes: dict[Any, Sequence[Step]] = field(default_factory=dict)
    known: Vector = field(default_factory=dict)

    def explore(self, starts: Iterable[Hashable]) -> None:
        """Finds all nodes, and gives those that reach no decision their value."""
        before: dict[Hashable, list[Hashable]] = {}
        pending = [n for n in dict.fromkeys(starts) if n not in self.nodes and n not in self.known]
        seen = set(pending)
        decided: list[Hashable] = []
        while pending:
            node = pending.pop()
            found = self.choices(node)
            if isinstance(found, Fraction):
                self.known[node] = found
                decided.append(node)
                continue
            self.nodes[node] = found
            if len(self.nodes) > MAX_NODES:
                raise Rejected(f"more than {MAX_NODES:,} states with goals")
            for target in {t for step in found for _, t in step}:
                before.setdefault(target, []).append(node)
                if target in self.known:
                    decided.append(target)
                elif target not in seen and target not in self.nodes:
                    seen.add(target)
                    pending.append(target)
        alive: set[Hashable] = set()
        while decided:
            for node in before.get(decided.pop(), ()):
                if node not in alive:
                    alive.add(node)
                    decided.append(node)
        for node in seen & self.nodes.keys() - alive:
            self.known[node] = self.dead

    def settle(self, value: Callable[[Any], Value]) -> list[Hashable]:
        """Computes values backwards where no cycle is in the way; returns the nodes that are left."""
        waiting = {
            n: {t for step in steps for _, t in step} - self.known.keys()
            for n, steps in self.nodes.items()
            if n not in self.known
        }
        before: dict[Hashable, list[Hashable]] = {}
        for node, targets in waiting.items():
            for target in targets:
                before.setdefault(target, []).append(node)
        ready = [node for node, targets in waiting.items() if not targets]
        while ready:
            node = ready.pop()
            self.known[node] = value(node)
            del waiting[node]
            for other in before.get(node, ()):
                waiting[other].discard(node)
                if not waiting[other]:
                    ready.append(other)
        return list(waiting)

    def average(self, step: Step) -> Value:
        """Returns the average of the values that a step leads to."""
        return sum((w * self.known[t] for w, t in step), Fraction(0))


def linear(nodes: Sequence[Hashable], step: Callable[[Any], Step], known: Vector) -> Vector:
    """Solves x = A·x + b for nodes on cycles, whose weights are numbers, by elimination.

    Raises:
        Rejected: a weight on a cycle is no number, or there are too many nodes.
    """
    if len(nodes) > MAX_CYCLIC:
        raise Rejected(f"more than {MAX_CYCLIC} states with goals depend on each other")
    place = {node: k for k, node in enumerate(nodes)}
    rows: list[dict[int, Fraction]] = []
    rest: list[Value] = []
    for k, node in enumerate(nodes):
        row, constant = {k: Fraction(1)}, Fraction(0)
        right: Value = constant
        for w, t in step(node):
            if t not in place:
                right = right + w * known[t]
            elif isinstance(w, Fraction):
                row[place[t]] = row.get(place[t], Fraction(0)) - w
            else:
                raise Rejected("a cycle has probabilities with parameters")
        rows.append(row)
        rest.append(right)
    for k in range(len(nodes)):
        pivot = next((j for j in range(k, len(nodes)) if rows[j].get(k)), None)
        if pivot is None:
            raise Rejected("the equations of a cycle have no single solution")
        rows[k], rows[pivot], rest[k], rest[pivot] = rows[pivot], rows[k], rest[pivot], rest[k]
        scale = 1 / rows[k][k]
        rows[k] = {j: c * scale for j, c in rows[k].items() if c}
        rest[k] = rest[k] * scale
        for j in range(len(nodes)):
            by = rows[j].get(k, Fraction(0)) if j != k else Fraction(0)
            if by:
                for i, c in rows[k].items():
                    rows[j][i] = rows[j].get(i, Fraction(0)) - by * c
                rest[j] = rest[j] - by * rest[k]
    return dict(zip(nodes, rest, strict=True))


@dataclass
class Paths:
    """The probabilities of one path formula in a model.

    `graphs` has what is known of largest and smallest probabilities: goals of several formulas share it.
    """

    chain: CheckedChain
    progression: GoalProgression
    formula: Part
    graphs: dict[tuple[bool, Fraction], DecisionGraph]
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

    def exact(
        self, starts: Collection[int], word: Sequence[int] = (0,), repeated: int = 1
    ) -> dict[int, Value]:
        """Returns the probabilities of some states under a word, whose last actions are repeated for ever."""
        last = len(word) - repeated

        def choices(node: Any) -> Sequence[Step] | Fraction:
            state, goal, place = node
            after = self.progression.after(goal, state)
            if after in DECIDED:
                return DECIDED[after]
            following = place + 1 if place + 1 < len(word) else last
            return [[(w, (t, after, following)) for t, w in self.chain.rows[state][word[place]]]]

        graph = DecisionGraph(choices, self.dead)
        start = self.start
        ends = {s: (s, start, 0) for s in starts}
        graph.explore(ends.values())
        left = graph.settle(lambda node: graph.average(graph.nodes[node][0]))
        graph.known |= linear(left, lambda node: graph.nodes[node][0], graph.known)
        return {s: graph.known[node] for s, node in ends.items()}

    def extremes(
        self, starts: Collection[int], largest: bool, best: Callable[[list[Value]], Value]
    ) -> dict[int, Value]:
        """Returns the largest (or smallest) probabilities over all schedulers; `best` chooses among numbers.

        Raises:
            Rejected: a probability is no number where there is a choice or a cycle.
        """

        def choices(node: Any) -> Sequence[Step] | Fraction:
            state, goal = node
            after = self.progression.after(goal, state)
            if after in DECIDED:
                return DECIDED[after]
            rows = {id(row): row for row in self.chain.rows[state]}.values()
            return [[(w, (t, after)) for t, w in row] for row in rows]

        # A graph in which something stays unknown is thrown away: all nodes of a kept one have their values.
        graph = self.graphs.pop((largest, self.dead), None) or DecisionGraph(choices, self.dead)
        start = self.start
        ends = {s: (s, start) for s in starts}
        graph.explore(ends.values())
        left = graph.settle(lambda node: best([graph.average(step) for step in graph.nodes[node]]))
        if left:
            graph.known |= self._on_cycles({node: graph.nodes[node] for node in left}, graph.known, largest)
        self.graphs[largest, self.dead] = graph
        return {s: graph.known[node] for s, node in ends.items()}

    def _on_cycles(self, nodes: Mapping[Any, Sequence[Step]], known: Vector, largest: bool) -> Vector:
        """Returns the extreme probabilities of nodes on cycles or before them: rational numbers."""
        steps = [step for own in nodes.values() for step in own]
        around = {t: known[t] for step in steps for _, t in step if t not in nodes}
        weights = [w for step in steps for w, _ in step]
        if any(isinstance(value, PolynomialQuotient) for value in (*weights, *around.values())):
            raise Rejected("a cycle has probabilities with parameters")
        # With unbounded R the probability is 1 − r, where r is that of reaching a decision against it.
        turn = self.dead == 1
        numbers = {n: 1 - x if turn else x for n, x in around.items() if isinstance(x, Fraction)}
        found = extreme(nodes, numbers, largest != turn, linear)
        return {n: 1 - r if turn else r for n, r in found.items()}

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
        levels = self._levels(starts)
        vectors: list[tuple[Value, ...]] = [()]
        index: Mapping[Node, int] = {}
        for level in reversed(levels):
            nodes = list(level)
            vectors = list(self._backwards(nodes, vectors, index))
            index = {node: k for k, node in enumerate(nodes)}
        start = self.start
        self._words[name] = [{s: vector[index[s, start]] for s in starts} for vector in vectors]
        return self._words[name]

    def _levels(self, starts: Collection[int]) -> list[dict[Node, None]]:
        start = self.start
        levels = [dict.fromkeys((s, start) for s in starts)]
        while len(levels) < MAX_LEVELS:
            following: dict[Node, None] = {}
            for state, goal in levels[-1]:
                after = self.progression.after(goal, state)
                if after not in DECIDED:
                    following |= {(t, after): None for row in self.chain.rows[state] for t, _ in row}
            if not following:
                return levels
            levels.append(following)
        raise Rejected(f"a path formula about more than {MAX_LEVELS:,} steps")

    def _backwards(
        self, nodes: Sequence[Node], vectors: Sequence[tuple[Value, ...]], index: Mapping[Node, int]
    ) -> Iterable[tuple[Value, ...]]:
        """Returns the vectors of one level, from those of the next one."""
        afters = [self.progression.after(goal, state) for state, goal in nodes]
        moves: dict[tuple[int, ...], list[Row]] = {}
        for action in range(len(self.chain.actions)):
            rows = [self.chain.rows[state][action] for state, _ in nodes]
            moves[tuple(0 if a in DECIDED else id(r) for a, r in zip(afters, rows, strict=True))] = rows
        found: dict[tuple[Value, ...], None] = {}
        for rows in moves.values():
            step = [
                DECIDED[after] if after in DECIDED else [(w, index[t, after]) for t, w in row]
                for after, row in zip(afters, rows, strict=True)
            ]
            for vector in vectors:
                self.count(sum(1 if isinstance(s, Fraction) else len(s) for s in step))
                own = tuple(
                    s if isinstance(s, Fraction) else sum((w * vector[k] for w, k in s), Fraction(0))
                    for s in step
                )
                found[own] = None
                if len(found) > MAX_VECTORS:
                    raise Rejected(f"more than {MAX_VECTORS:,} words of actions")
        return found

    def count(self, products: int) -> None:
        """Counts work, which is bounded."""
        self.work += products
        if self.work > MAX_WORK:
            raise Rejected("too many products for a replay")

    def equal(self, left: int, right: int) -> bool:
        """Tells whether of two states as much is decided in each step, under every word of actions."""
        toward = TRUE if not self.dead else FALSE
        start = self.start
        levels: dict[Node, None] = {(left, start): None, (right, start): None}
        for state, goal in (pending := list(levels)):
            after = self.progression.after(goal, state)
            if after not in DECIDED:
                fresh = {(t, after): None for row in self.chain.rows[state] for t, _ in row}
                pending += [node for node in fresh if node not in levels]
                levels |= fresh

        def move(vector: Vector, action: int) -> Vector:
            found: Vector = {}
            for (state, goal), x in vector.items():
                after = self.progression.after(goal, state)
                for t, w in () if after in DECIDED else self.chain.rows[state][action]:
                    found[t, after] = found.get((t, after), Fraction(0)) + x * w
            return found

        first: Vector = {(left, start): Fraction(1), (right, start): Fraction(-1)}
        for vector in self.spanned([first], move, len(levels)):
            decided = (x for (s, g), x in vector.items() if self.progression.after(g, s) == toward)
            if sum(decided, Fraction(0)) != Fraction(0):
                return False
        return True

    def spanned(
        self, first: Sequence[Vector], move: Callable[[Vector, int], Vector], size: int
    ) -> Iterator[Vector]:
        """Yields vectors that span what some have become after any word of actions; `size` bounds the rank.

        Of numbers only those are kept that do not depend on earlier ones, linearly.
        """
        kept = VectorSpan()
        level = [v for v in first if kept.adds(v)]
        for _ in range(size):
            yield from level
            fresh = []
            for vector in level:
                for action in range(len(self.chain.actions)):
                    self.count(10 * len(vector))
                    own = {n: x for n, x in move(vector, action).items() if x != Fraction(0)}
                    if own and kept.adds(own):
                        fresh.append(own)
            level = fresh
            if not level:
                return


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
