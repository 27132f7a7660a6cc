"""The pairs of states that an unwinding family may need: those that insertions of data points lead to.

Pairs are unordered, since the δ-approximate lifting is symmetric, and stored once. A pair of a state with
itself is always related and has no entry. Of two states that give the same response and then are surely in x'
and y' only ⟨x', y'⟩ is kept: the one pair is in rel[i] iff the other is.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from paramverify.errors import LimitError
from paramverify.interactive.closure import SILENT, Closures
from paramverify.interactive.folding import Folded, Grouped, paired
from paramverify.interactive.quotients import Fan, NumberedQuotients
from paramverify.interactive.unwinding import Pair, insertions, to_compare
from paramverify.models.systems.weights import Weight, is_number, text

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
