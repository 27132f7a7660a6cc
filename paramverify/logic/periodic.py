"""Query schedulers that repeat some actions after a few others: a word u·v·v·v... of actions.

Under each of them a decision process is a Markov chain, whose probabilities are exact for every path formula
without unbounded R, bounded or not. So they refute a D whose other methods leave it open. The words come by
their length |u| + |v|. A word v·v·v... is solved as a chain of nodes and places in v; an action in front of a
word is one step backwards. Equal vectors are merged.

Longer words are tried where something speaks for them: the shortest word that reaches the goal from a start,
and those that the caller gives. If one side never reaches the goal, the first kind decides D{ε, 0}.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product as words

from paramverify.logic.products import Product
from paramverify.logic.reachability import solve
from paramverify.models.chains.chain import Chain, Row, Value, is_zero
from paramverify.models.chains.flat import flat

LONGEST = 12  # actions of a word
LONGEST_TAIL = 2  # of them those that are repeated
MAX_VECTORS = 3_000
MAX_WORK = 400_000  # entries of vectors that are computed in the search
MAX_LONG = 2_000_000  # the same for one word beyond it

TRIED = "those that repeat the last one or two actions were tried with up to"

Vector = tuple[Value, ...]
Word = tuple[int, ...]
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
    chain: Chain, made: Product, longest: int = LONGEST, more: Iterable[Word] = (), cut: Cut = no_cut
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


def _told(chain: Chain, made: Product, word: Word, repeated: int, vector: Vector) -> Periodic:
    values = {state: vector[node] for state, node in made.starts.items()}
    return Periodic(tuple(chain.actions[a] for a in word), repeated, values)


def _shortest(made: Product, start: int) -> Word | None:
    """Returns the shortest word of actions under which the goal is reached with positive probability."""
    words_to: dict[int, Word] = {start: ()}
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
    level: list[tuple[Word, int, Vector]] = []
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
            if len(seen) > MAX_VECTORS:
                cut(f"{tried} {length} actions, up to {MAX_VECTORS:,} different vectors")
                return
            if spent > MAX_WORK:
                cut(f"{tried} {length} actions, up to {MAX_WORK:,} entries of vectors")
                return
        if not level and length >= LONGEST_TAIL:
            cut("all that repeat the last one or two actions were tried")
            return
    cut(f"{tried} {longest} action{'s' * (longest > 1)}")


def _of_length(
    chain: Chain, made: Product, length: int, shorter: Sequence[tuple[Word, int, Vector]]
) -> Iterator[tuple[Word, int, Vector]]:
    """Yields the words of a length: an action before a shorter one, then those that repeat as a whole."""
    actions = range(len(chain.actions))
    for word, repeated, vector in shorter:
        for action in actions:
            yield (action, *word), repeated, _before(chain, made, action, vector)
    if length <= LONGEST_TAIL:
        for word in words(actions, repeat=length):
            yield word, length, _repeated(chain, made, word)


def _repeated(chain: Chain, made: Product, word: Word) -> Vector:
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


def _before(chain: Chain, made: Product, action: int, vector: Vector) -> Vector:
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
