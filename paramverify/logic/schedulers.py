"""Probabilities of path formulas under schedulers: extremal, memoryless, bounded and periodic ones.

A scheduler may choose by the whole history. In the product of the model with the automaton of the formula the
largest and the smallest probability to reach a goal are those of policies that choose by the node only
([Puterman94] theorem 7.1.9, at each parameter point). They are finitely many, and each is a Markov chain with
its probability as a function of the parameters. So a bound that all these functions keep at every point is
kept by every scheduler, and a policy that breaks it is a scheduler that does.

Exact extremal probabilities of a path formula over all schedulers of a decision process.

Bounded formulas by backward induction. Reachability component by component of the graph of all choices, each
after those that it leads to: a node that stands alone needs one look at its choices, and a larger component
policy iteration of its own (`reachability`). For the smallest probability the value is zero where some
scheduler avoids the target forever. Elsewhere every policy reaches the target or such a node with probability
one.

Bounded path formulas under every query scheduler: a sequence of actions, the same for both runs.

A query scheduler's choice depends on the length of the history only ([L]), so on a formula whose truth is
known after n steps it is a word of n actions. Backwards, one level of the product after the other, a word's
probabilities are a vector over the nodes of that level; an action takes a vector to one of the level before,
by an affine map. Equal vectors are merged. A vector that is a convex combination of others is dropped: affine
maps keep it one, and each inequality Pr(s) ≤ c·Pr(t) + δ holds for a convex combination of vectors for which
it holds. This is the cone encoding with one more coordinate, which is one.

Query schedulers that repeat some actions after a few others: a word u·v·v·v... of actions.

Under each of them a decision process is a Markov chain, whose probabilities are exact for every path formula
without unbounded R, bounded or not. So they refute a D whose other methods leave it open. The words come by
their length |u| + |v|. A word v·v·v... is solved as a chain of nodes and places in v; an action in front of a
word is one step backwards. Equal vectors are merged.

Longer words are tried where something speaks for them: the shortest word that reaches the goal from a start,
and those that the caller gives. If one side never reaches the goal, the first kind decides D{ε, 0}.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product as words
from math import lcm
from typing import TypeAlias

from paramverify.algebra.cones import combination, whole
from paramverify.errors import SizeError, UnsupportedError
from paramverify.logic.path_automata import Node, Product, depth, product
from paramverify.logic.reachability import Guard, components, settle, solve, strong_components
from paramverify.models.chains.markov_chains import Chain, FlatRows, Row, Value, flat, is_zero


def extremes(
    chain: Chain, formula: Node, signatures: Sequence[int], starts: Iterable[int], largest: bool
) -> dict[int, Value]:
    """Returns sup (or inf) over all schedulers of the probability of a formula without unbounded R.

    Raises:
        UnsupportedError: probabilities that are not rational numbers.
    """
    if not chain.numeric:
        raise UnsupportedError(
            "extremal probabilities over all schedulers need a model whose probabilities are rational numbers"
        )
    made = product(chain, formula, signatures, starts)
    values = node_values(made, formula, largest, chain)
    return {state: values[node] for state, node in made.starts.items()}


def node_values(made: Product, formula: Node, largest: bool, chain: Chain) -> list[Value]:
    """Returns sup (or inf) over all schedulers from each node of the product of a numeric model."""
    options = [rows if len(rows) < 2 else _different(rows) for rows in made.choices]
    if depth(formula) is not None:
        return _induction(made, options, largest, chain)
    return _iteration(made, options, largest, chain)


def _different(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """Returns rows without those that are the same; equal probabilities are mostly one object."""
    return tuple({tuple((t, id(weight)) for t, weight in row): row for row in rows}.values())


def _worth(row: Row, values: Sequence[Value], zero: Value) -> Value:
    total = zero
    for successor, weight in row:
        total = total + weight * values[successor]
    return total


def _induction(made: Product, options: Sequence[tuple[Row, ...]], largest: bool, chain: Chain) -> list[Value]:
    """A bounded formula's product has no cycles; its components come after those that they lead to."""
    values: list[Value] = [chain.zero] * len(options)
    for node, value in made.known.items():
        values[node] = value
    together = [tuple(entry for row in rows for entry in row) for rows in options]
    for (node,) in components(together, {n for n in range(len(options)) if n not in made.known}):
        found = [_worth(row, values, chain.zero) for row in options[node]]
        values[node] = max(found) if largest else min(found)
    return values


def _iteration(made: Product, options: Sequence[tuple[Row, ...]], largest: bool, chain: Chain) -> list[Value]:
    """Settles the components of the graph of all choices, each after those that it leads to."""
    known = dict(made.known)
    if not largest:
        known.update(dict.fromkeys(_avoiding(made, options), chain.zero))
    values: list[Value] = [chain.zero] * len(options)
    for node, value in known.items():
        values[node] = value
    begins, targets = array("q", [0]), array("i")
    for node, rows in enumerate(options):
        if node not in known:
            targets.extend({target for row in rows for target, _ in row})
        begins.append(len(targets))
    graph = FlatRows(begins, targets, array("i"), ())
    for component in strong_components(graph, range(len(options)), known):
        settle(component, options, values, largest)
    return values


def _avoiding(made: Product, options: Sequence[tuple[Row, ...]]) -> set[int]:
    """Returns the nodes from which some scheduler never reaches a node of value one.

    The largest set such that each node has a choice that stays in it; nodes of value zero belong to it.
    """
    inside = [n not in made.known or is_zero(made.known[n]) for n in range(len(options))]
    before: list[list[tuple[int, int]]] = [[] for _ in options]
    staying = [len(rows) for rows in options]  # choices with all successors inside, of each node
    for node, rows in enumerate(options):
        if node not in made.known:
            for place, row in enumerate(rows):
                for successor, _ in row:
                    before[successor].append((node, place))
    left: set[tuple[int, int]] = set()  # choices that have a successor outside
    pending = [node for node, is_inside in enumerate(inside) if not is_inside]
    while pending:
        for choice in before[pending.pop()]:
            if choice not in left:
                left.add(choice)
                node = choice[0]
                staying[node] -= 1
                if not staying[node] and inside[node]:
                    inside[node] = False
                    pending.append(node)
    return {node for node, is_inside in enumerate(inside) if is_inside and node not in made.known}


MAX_POLICIES = 5_000  # for one start


def policies(
    chain: Chain, formula: Node, signatures: Sequence[int], starts: Iterable[int], guard: Guard | None
) -> Iterator[dict[int, Value]]:
    """Yields the different probabilities of a formula without unbounded R, start by start, over all policies.

    Raises:
        SizeError: too many policies.
        UnsupportedError: by `guard`.
    """
    made = product(chain, formula, signatures, starts)
    for state, node in made.starts.items():
        seen: set[str] = set()
        for rows in _chains(made, node):
            value = solve(flat(rows), made.known, chain.zero, chain.one, guard)[node]
            if str(value) not in seen:
                seen.add(str(value))
                yield {state: value}


def _chains(made: Product, start: int) -> Iterator[list[Row]]:
    """Yields the Markov chains of all policies, which choose only where they can get to from a start."""
    count = 0
    pending: list[tuple[dict[int, Row], list[int]]] = [({}, [start])]
    while pending:
        chosen, ahead = pending.pop()
        while ahead and (ahead[-1] in chosen or ahead[-1] in made.known):
            ahead.pop()
        if not ahead:
            count += 1
            if count > MAX_POLICIES:
                raise SizeError(f"more than {MAX_POLICIES:,} memoryless policies of the model and formula")
            yield [chosen.get(node, ()) for node in range(len(made.choices))]
            continue
        node = ahead.pop()
        for row in {tuple((t, str(v)) for t, v in row): row for row in made.choices[node]}.values():
            pending.append(({**chosen, node: row}, [*ahead, *(successor for successor, _ in row)]))


MAX_VECTORS = 50_000  # of one level
MAX_STEPS = 3_000_000  # entries of vectors that are computed
CONVEX_MOST = 200  # vectors of a level up to which convex combinations are looked for
CONVEX_WIDTH = 24  # entries of a vector up to which they are

Vector: TypeAlias = tuple[Value, ...]
Word: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Schedule:
    """The probabilities of a path formula from each start under one word of actions."""

    actions: tuple[str, ...]
    values: Mapping[int, Value]


def schedules(
    chain: Chain, formula: Node, signatures: Sequence[int], starts: Iterable[int]
) -> tuple[Schedule, ...]:
    """Returns words of actions whose probabilities from the starts span, convexly, those of all words.

    The formula has a depth.

    Raises:
        SizeError: too many vectors.
    """
    made = product(chain, formula, signatures, starts)
    levels = _levels(made)
    found: dict[Vector, Word] = {tuple(made.known[n] for n in levels[-1]): ()}
    steps = 0
    for level, below in zip(levels[-2::-1], levels[:0:-1], strict=True):
        place = {node: k for k, node in enumerate(below)}
        grown: dict[Vector, Word] = {}
        keys: dict[object, Vector] = {}
        for vector, word in found.items():
            for action in range(len(chain.actions)):
                steps += len(level)
                moved = _moved(made, level, action=action, vector=vector, place=place, chain=chain)
                keys.setdefault(_key(moved), moved)
                grown.setdefault(keys[_key(moved)], (action, *word))
            if len(grown) > MAX_VECTORS:
                raise SizeError(f"more than {MAX_VECTORS:,} different vectors of action sequences")
            if steps > MAX_STEPS:
                raise SizeError(f"more than {MAX_STEPS:,} entries of vectors of action sequences")
        found = _reduced(grown, chain)
    order = {node: k for k, node in enumerate(levels[0])}
    return tuple(
        Schedule(
            tuple(chain.actions[a] for a in word),
            {state: vector[order[node]] for state, node in made.starts.items()},
        )
        for vector, word in found.items()
    )


def _levels(made: Product) -> list[list[int]]:
    """Returns the nodes that are met after 0, 1, ... steps; those of the last level are all settled."""
    level = sorted(set(made.starts.values()))
    levels = [level]
    while any(node not in made.known for node in level):
        level = sorted({t for node in level for row in made.choices[node] for t, _ in row})
        levels.append(level)
    return levels


def _moved(
    made: Product, level: Sequence[int], action: int, vector: Vector, place: Mapping[int, int], chain: Chain
) -> Vector:
    moved: list[Value] = []
    for node in level:
        if node in made.known:
            moved.append(made.known[node])
            continue
        total = chain.zero
        for successor, weight in made.choices[node][action]:
            total = total + weight * vector[place[successor]]
        moved.append(total)
    return tuple(moved)


def _key(vector: Vector) -> object:
    return tuple(map(str, vector))


def _reduced(found: Mapping[Vector, Word], chain: Chain) -> dict[Vector, Word]:
    """Drops vectors that are convex combinations of those that are left."""
    left = dict(found)
    width = len(next(iter(found), ()))
    if not chain.numeric or not 3 <= len(found) <= CONVEX_MOST or width > CONVEX_WIDTH:
        return left
    points = {vector: _homogeneous(vector) for vector in left}
    for vector in found:
        others = [points[other] for other in left if other != vector]
        if combination(points[vector], others) is not None:
            del left[vector]
    return left


def _homogeneous(vector: Vector) -> tuple[int, ...]:
    """Returns (vector, 1) as whole numbers up to a positive factor."""
    scale = lcm(*(int(v.q) for v in vector)) if vector else 1
    return whole([*(int((v * scale).p) for v in vector), scale])


LONGEST = 12  # actions of a word
LONGEST_TAIL = 2  # of them those that are repeated
MAX_PERIODIC_VECTORS = 3_000
MAX_WORK = 400_000  # entries of vectors that are computed in the search
MAX_LONG = 2_000_000  # the same for one word beyond it

TRIED = "those that repeat the last one or two actions were tried with up to"

PeriodicVector = tuple[Value, ...]
PeriodicWord = tuple[int, ...]
Cut = Callable[[str], None]  # takes in words what a limit of this package left out


def no_cut(words: str) -> None:
    """Takes the words for nothing."""
    del words


@dataclass(frozen=True, eq=False)
class Periodic:
    """Exact probabilities from each start under the actions, of which the last `repeated` go on forever."""

    actions: tuple[str, ...]
    repeated: int
    values: Mapping[int, Value]


def periodic(
    chain: Chain, made: Product, longest: int = LONGEST, more: Iterable[PeriodicWord] = (), cut: Cut = no_cut
) -> Iterator[Periodic]:
    """Yields the probabilities of a formula without unbounded R under words of actions, short words first.

    The chain has no parameters, and `made` is its product with the formula. The search ends at `longest`
    actions, or when it has done enough work. Then come `more` words and the shortest ones to the goal, if
    they are longer, before each action that may be repeated. `cut` is told which words were not tried.
    """
    last = 0
    for found in _searched(chain, made, longest, cut):
        last = len(found.actions)
        yield found
    if longest < LONGEST:
        return
    ways = (_shortest(made, node) for node in sorted(set(made.starts.values())))
    for word in dict.fromkeys((*more, *(way for way in ways if way))):
        if len(word) * len(made.nodes) > MAX_LONG:
            cut(f"a sequence of {len(word):,} actions was not tried: it needs more than {MAX_LONG:,} entries")
        elif len(word) >= last:
            for action in range(len(chain.actions)):
                vector = _repeated(chain, made, (action,))
                for earlier in reversed(word):
                    vector = _before(chain, made, earlier, vector)
                yield _told(chain, made, (*word, action), 1, vector)


def _told(chain: Chain, made: Product, word: PeriodicWord, repeated: int, vector: PeriodicVector) -> Periodic:
    values = {state: vector[node] for state, node in made.starts.items()}
    return Periodic(tuple(chain.actions[a] for a in word), repeated, values)


def _shortest(made: Product, start: int) -> PeriodicWord | None:
    """Returns the shortest word of actions under which the goal is reached with positive probability."""
    words_to: dict[int, PeriodicWord] = {start: ()}
    pending = deque([start])
    while pending:
        node = pending.popleft()
        if node in made.known:
            if not is_zero(made.known[node]):
                return words_to[node]
            continue
        for action, row in enumerate(made.choices[node]):
            for successor, _ in row:
                if successor not in words_to:
                    words_to[successor] = (*words_to[node], action)
                    pending.append(successor)
    return None


def _searched(chain: Chain, made: Product, longest: int, cut: Cut) -> Iterator[Periodic]:
    """Yields the probabilities under all short words, as long as there is not too much of them."""
    tried = TRIED.replace("one or two actions", "action") if longest < LONGEST_TAIL else TRIED
    seen: set[tuple[object, ...]] = set()
    level: list[tuple[PeriodicWord, int, PeriodicVector]] = []
    spent = 0
    for length in range(1, longest + 1):
        found = level
        level = []
        for word, repeated, vector in _of_length(chain, made, length, found):
            spent += len(vector) * repeated
            key = tuple(map(str, vector))
            if key not in seen:
                seen.add(key)
                level.append((word, repeated, vector))
                yield _told(chain, made, word, repeated, vector)
            if len(seen) > MAX_PERIODIC_VECTORS:
                cut(f"{tried} {length} actions, up to {MAX_PERIODIC_VECTORS:,} different vectors")
                return
            if spent > MAX_WORK:
                cut(f"{tried} {length} actions, up to {MAX_WORK:,} entries of vectors")
                return
        if not level and length >= LONGEST_TAIL:
            cut("all that repeat the last one or two actions were tried")
            return
    cut(f"{tried} {longest} action{'s' * (longest > 1)}")


def _of_length(
    chain: Chain, made: Product, length: int, shorter: Sequence[tuple[PeriodicWord, int, PeriodicVector]]
) -> Iterator[tuple[PeriodicWord, int, PeriodicVector]]:
    """Yields the words of a length: an action before a shorter one, then those that repeat as a whole."""
    actions = range(len(chain.actions))
    for word, repeated, vector in shorter:
        for action in actions:
            yield (action, *word), repeated, _before(chain, made, action, vector)
    if length <= LONGEST_TAIL:
        for word in words(actions, repeat=length):
            yield word, length, _repeated(chain, made, word)


def _repeated(chain: Chain, made: Product, word: PeriodicWord) -> PeriodicVector:
    """Returns the probabilities from every node under a word that is repeated forever."""
    size = len(word)
    rows: list[Row] = []
    known: dict[int, Value] = {}
    for node, choices in enumerate(made.choices):
        for place, action in enumerate(word):
            if node in made.known:
                known[len(rows)] = made.known[node]
                rows.append(())
            else:
                after = (place + 1) % size
                rows.append(tuple((t * size + after, weight) for t, weight in choices[action]))
    return tuple(solve(flat(rows), known, chain.zero, chain.one)[::size])


def _before(chain: Chain, made: Product, action: int, vector: PeriodicVector) -> PeriodicVector:
    """Returns the probabilities under a word with one more action in front."""
    moved: list[Value] = []
    for node, choices in enumerate(made.choices):
        if node in made.known:
            moved.append(made.known[node])
            continue
        total = chain.zero
        for successor, weight in choices[action]:
            total = total + weight * vector[successor]
        moved.append(total)
    return tuple(moved)
