"""Whether two states have the same probability of a path formula under every query scheduler, also for all
k at once.

Under a word of actions the probabilities are those of a weighted automaton, and the difference of two starts
is a row vector that starts as e_s − e_t. The vectors of all words span a space of finite dimension, which a
basis tells ([Tzeng92]). Over rational functions a vector in the span is a combination of the basis with
functions as coefficients; what is zero on the basis is then zero as a function, so at every parameter point.

Three things are settled in a node of the product, whatever is chosen later: that the formula is true, that it
is false, and more generally that its probability is the same number under all schedulers. Such a node becomes
that share of one common entry. A formula without unbounded R is true iff it is so after finitely many steps,
so the probability under an infinite word is the limit of the settled share of its prefixes. It is enough that
the difference of settled shares is zero for all words from some length on: the spaces of the words with at
least n letters fall with n, and where two of them are equal they stay so.

Families of D formulas for all numbers k at once, by equivalence of weighted automata ([Tzeng92]).

In D{ε, δ}[ X^m (a U[k+c, ...] b) ] a path makes m steps, then k+c steps in states of a, then what does not
depend on k. Under a word of actions the first two parts take a row vector of states to a row vector, by one
linear map for each action. For a pair of states the vectors e_s − e_t of all words with k steps span a space.
When the space of one k lies in the sum of those before, nothing new comes. So both states have the same
probability for every k and every word, or a first k is found for which some word tells them apart.

In a U[i, k+c] b what depends on k comes last. There the spaces have an entry for the share of the paths that
have come to b, and one more k is one more step of the others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from paramverify.errors import SizeError
from paramverify.logic.path_automata import Node, Product, product
from paramverify.logic.schedulers import node_values
from paramverify.models.chains.markov_chains import Chain, Row, Value, is_zero

SETTLED = -1  # the entry of what is decided
MAX_NODES = 3_000  # of a product
MAX_WORK = 400_000  # entries of vectors that are computed

Vector = dict[int, Value]  # entries that are not zero
Map = Callable[[Vector], Vector]
Word = tuple[int, ...]


@dataclass
class Effort:
    """Counts what is computed, and ends it."""

    left: int = field(default_factory=lambda: MAX_WORK)

    def spend(self, entries: int) -> None:
        """Takes note of computed entries.

        Raises:
            SizeError: too many.
        """
        self.left -= entries
        if self.left < 0:
            raise SizeError(f"the vectors of action sequences have more than {MAX_WORK:,} entries together")


@dataclass
class WordSpan:
    """A space of vectors, each with the word of actions that it comes from.

    `rows` are a basis by pivots: the entry of a row at its pivot is one, and rows that come later have none
    there. `made` are the vectors themselves that were needed for it.
    """

    effort: Effort
    rows: dict[int, Vector] = field(default_factory=dict)
    made: list[tuple[Vector, Word]] = field(default_factory=list)

    def add(self, vector: Vector, word: Word) -> bool:
        """Adds a vector; tells whether the space has grown."""
        rest = dict(vector)
        while pivots := rest.keys() & self.rows.keys():
            pivot = pivots.pop()
            row, factor = self.rows[pivot], rest[pivot]
            self.effort.spend(len(row))
            for place, value in row.items():
                _put(rest, place, -(factor * value))
        if not rest:
            return False
        pivot = next(iter(rest))
        first = rest[pivot]
        self.rows[pivot] = {place: value / first for place, value in rest.items()}
        self.made.append((vector, word))
        return True


def _put(vector: Vector, place: int, value: Value) -> None:
    total = vector[place] + value if place in vector else value
    if is_zero(total):
        vector.pop(place, None)
    else:
        vector[place] = total


def span(vectors: Iterable[tuple[Vector, Word]], effort: Effort) -> WordSpan:
    """Returns the space that vectors span."""
    found = WordSpan(effort)
    for vector, word in vectors:
        found.add(vector, word)
    return found


def images(space: WordSpan, maps: Sequence[Map]) -> WordSpan:
    """Returns the space of the images of a space under the maps of the actions."""
    return span(_moved(space.made, maps), space.effort)


def _moved(vectors: Sequence[tuple[Vector, Word]], maps: Sequence[Map]) -> Iterator[tuple[Vector, Word]]:
    for vector, word in vectors:
        for action, move in enumerate(maps):
            yield move(vector), (*word, action)


def closure(space: WordSpan, maps: Sequence[Map]) -> WordSpan:
    """Returns the smallest space that contains a space and its images under the maps of the actions."""
    found = WordSpan(space.effort)
    pending = deque(space.made)
    while pending:
        vector, word = pending.popleft()
        if found.add(vector, word):
            pending += _moved([(vector, word)], maps)
    return found


def distinguishing(space: WordSpan) -> Word | None:
    """Returns a word whose settled entry is not zero; None if there is none in the whole space."""
    return next((word for vector, word in space.made if SETTLED in vector), None)


def distinguishing_in_the_end(space: WordSpan, maps: Sequence[Map]) -> Word | None:
    """Returns a word whose settled entry is not zero, of those that come up at every length.

    None if the settled entry is zero for all words from some length on.
    """
    now = closure(space, maps)
    while (word := distinguishing(now)) is not None:
        later = images(now, maps)
        if len(later.rows) == len(now.rows):
            return word
        now = later
    return None


@dataclass(frozen=True, eq=False)
class WeightedAutomaton:
    """The weighted automaton of a path formula: settled shares of nodes, and one map for each action."""

    shares: Mapping[int, Value]
    starts: Mapping[int, int]
    maps: tuple[Map, ...]
    one: Value
    effort: Effort

    def difference(self, first: int, second: int) -> Word | None:
        """Returns a word of actions after which two starts are told apart.

        None if they were shown to have the same probability under every query scheduler.

        Raises:
            SizeError: too much is to be computed.
        """
        start: Vector = {}
        for state, sign in ((first, self.one), (second, -self.one)):
            enter(start, self.starts[state], sign, self.shares)
        return distinguishing_in_the_end(span([(start, ())], self.effort), self.maps)


def enter(vector: Vector, node: int, value: Value, shares: Mapping[int, Value]) -> None:
    """Adds a probability to a node, or to the settled entry where the node is settled."""
    if node not in shares:
        _put(vector, node, value)
    elif not is_zero(shares[node]):
        _put(vector, SETTLED, value * shares[node])


def mapped(rows: Callable[[int], Row], shares: Mapping[int, Value], effort: Effort) -> Map:
    """Returns the linear map of one step, in which settled shares stay."""

    def move(vector: Vector) -> Vector:
        moved: Vector = {}
        for node, value in vector.items():
            if node == SETTLED:
                _put(moved, SETTLED, value)
                continue
            row = rows(node)
            effort.spend(len(row))
            for successor, weight in row:
                enter(moved, successor, value * weight, shares)
        return moved

    return move


def automaton(
    chain: Chain, formula: Node, signatures: Sequence[int], starts: Iterable[int]
) -> WeightedAutomaton:
    """Returns the weighted automaton of a formula without unbounded R.

    Raises:
        SizeError: too many nodes.
    """
    made = product(chain, formula, signatures, starts)
    if len(made.nodes) > MAX_NODES:
        raise SizeError(f"the product of model and formula has more than {MAX_NODES:,} nodes")
    shares, effort = _shares(chain, formula, made), Effort()

    def of(action: int) -> Map:
        return mapped(lambda node: made.choices[node][action], shares, effort)

    maps = tuple(of(action) for action in range(len(chain.actions)))
    return WeightedAutomaton(shares, made.starts, maps, chain.one, effort)


def _shares(chain: Chain, formula: Node, made: Product) -> dict[int, Value]:
    """Returns the nodes whose probability does not depend on what is chosen, with that probability."""
    if chain.numeric:
        upper = node_values(made, formula, True, chain)
        lower = node_values(made, formula, False, chain)
        return {n: high for n, (high, low) in enumerate(zip(upper, lower, strict=True)) if high == low}
    return dict(made.known)


@dataclass(frozen=True)
class Pattern:
    """X^before (a U[k+offset, k+offset+more] b), states by number; no `more` is no upper bound.

    With `grows` it is X^before (a U[offset, k+offset+more] b), and `more` is a number, which may be negative.
    """

    before: int
    offset: int
    more: int | None
    left: frozenset[int]
    right: frozenset[int]
    grows: bool = False


def first_difference(chain: Chain, pattern: Pattern, pair: tuple[int, int], first: int) -> int | None:
    """Returns the least k ≥ first for which the pair may differ under some word; None if it never does.

    With no `more` a difference of the limits is meant, and a pair that is not shown to agree may yet do so.

    Raises:
        SizeError: the spaces are too large.
    """
    effort = Effort()
    free = _maps(chain, effort)
    space = span([({pair[0]: chain.one, pair[1]: -chain.one}, ())], effort)
    for _ in range(pattern.before):
        space = images(space, free)
    staying = [_after(lambda v: {s: x for s, x in v.items() if s in pattern.left}, move) for move in free]
    for _ in range(pattern.offset if pattern.grows else first + pattern.offset):
        space = images(space, staying)
    if pattern.grows:
        return _first_end_apart(space, pattern, chain, free, first)
    seen = WordSpan(effort)
    k = first
    while True:
        fresh = [made for made in space.made if seen.add(*made)]
        if not fresh:
            return None
        if not _ends_alike(span(fresh, effort), pattern, chain, free):
            return k
        # Images of vectors that were seen are sums of vectors that are seen one step later.
        space = images(span(fresh, effort), staying)
        k += 1


def _ends_alike(space: WordSpan, pattern: Pattern, chain: Chain, free: Sequence[Map]) -> bool:
    """Tells whether a U[0, more] b has the same probability for the whole space under every word."""
    space, going = _settling(space, pattern, chain, free)
    if pattern.more is None:
        return distinguishing_in_the_end(space, going) is None
    for _ in range(pattern.more):
        space = images(space, going)
    return distinguishing(space) is None


def _first_end_apart(
    space: WordSpan, pattern: Pattern, chain: Chain, free: Sequence[Map], first: int
) -> int | None:
    """Returns the least k ≥ first at which a U[0, k+more] b tells the space apart; None if none does."""
    assert pattern.more is not None
    space, going = _settling(space, pattern, chain, free)
    k = max(first, -pattern.more)  # smaller members have no step in their range
    for _ in range(k + pattern.more):
        space = images(space, going)
    seen = WordSpan(space.effort)
    while distinguishing(space) is None:
        fresh = [made for made in space.made if seen.add(*made)]
        if not fresh:
            return None
        space = images(span(fresh, space.effort), going)
        k += 1
    return k


def _settling(
    space: WordSpan, pattern: Pattern, chain: Chain, free: Sequence[Map]
) -> tuple[WordSpan, list[Map]]:
    """Returns a space in which what has come to b is settled, and the maps that go on so."""

    def settle(vector: Vector) -> Vector:
        total = vector.get(SETTLED, chain.zero)
        rest: Vector = {}
        for state, value in vector.items():
            if state in pattern.right:
                total = total + value
            elif state in pattern.left:
                rest[state] = value
        return rest | ({SETTLED: total} if total != chain.zero else {})

    settled = span(((settle(vector), word) for vector, word in space.made), space.effort)
    return settled, [_after(move, settle) for move in free]


def _after(first: Map, second: Map) -> Map:
    return lambda vector: second(first(vector))


def _maps(chain: Chain, effort: Effort) -> list[Map]:
    def of(action: int) -> Map:
        return mapped(lambda state: chain.rows[state][action], {}, effort)

    return [of(action) for action in range(len(chain.actions))]
