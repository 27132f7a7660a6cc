"""Query schedulers that repeat some actions after a few others: a word u·v·v·v... of actions.

Under each of them a decision process is a Markov chain, whose probabilities are exact for every path formula
without unbounded R, bounded or not. So they refute a D whose other methods leave it open. The words come by
their length |u| + |v|. A word v·v·v... is solved as a chain of nodes and places in v; an action in front of a
word is one step backwards. Equal vectors are merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product as words

from paramverify.logic.normal_forms import Node
from paramverify.logic.products import Product, product
from paramverify.logic.reachability import solve
from paramverify.models.chains.chain import Chain, Row, Value

LONGEST = 12  # actions of a word
LONGEST_TAIL = 2  # of them those that are repeated
MAX_VECTORS = 3_000
MAX_WORK = 400_000  # entries of vectors that are computed

Vector = tuple[Value, ...]


@dataclass(frozen=True, eq=False)
class Periodic:
    """Exact probabilities from each start under the actions, of which the last `repeated` go on forever."""

    actions: tuple[str, ...]
    repeated: int
    values: Mapping[int, Value]


def periodic(
    chain: Chain, formula: Node, signatures: Sequence[int], starts: Iterable[int], longest: int = LONGEST
) -> Iterator[Periodic]:
    """Yields the probabilities of a formula without unbounded R under words of actions, short words first.

    The chain has no parameters. The search ends at `longest` actions, or when it has done enough work.
    """
    made = product(chain, formula, signatures, starts)
    seen: set[tuple[object, ...]] = set()
    level: list[tuple[tuple[int, ...], int, Vector]] = []
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
                values = {state: vector[node] for state, node in made.starts.items()}
                yield Periodic(tuple(chain.actions[a] for a in word), repeated, values)
            if len(seen) > MAX_VECTORS or spent > MAX_WORK:
                return
        if not level and length >= LONGEST_TAIL:
            return


def _of_length(
    chain: Chain, made: Product, length: int, shorter: Sequence[tuple[tuple[int, ...], int, Vector]]
) -> Iterator[tuple[tuple[int, ...], int, Vector]]:
    """Yields the words of a length: an action before a shorter one, then those that repeat as a whole."""
    actions = range(len(chain.actions))
    for word, repeated, vector in shorter:
        for action in actions:
            yield (action, *word), repeated, _before(chain, made, action, vector)
    if length <= LONGEST_TAIL:
        for word in words(actions, repeat=length):
            yield word, length, _repeated(chain, made, word)


def _repeated(chain: Chain, made: Product, word: tuple[int, ...]) -> Vector:
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
    return tuple(solve(rows, known, chain.zero, chain.one)[::size])


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
