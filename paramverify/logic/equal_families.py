"""Families of D formulas for all numbers k at once, by equivalence of weighted automata ([Tzeng92]).

In D{ε, δ}[ X^m (a U[k+c, ...] b) ] a path makes m steps, then k+c steps in states of a, then what does not
depend on k. Under a word of actions the first two parts take a row vector of states to a row vector, by one
linear map for each action. For a pair of states the vectors e_s − e_t of all words with k steps span a space.
When the space of one k lies in the sum of those before, nothing new comes. So both states have the same
probability for every k and every word, or a first k is found for which some word tells them apart.

In a U[i, k+c] b what depends on k comes last. There the spaces have an entry for the share of the paths that
have come to b, and one more k is one more step of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paramverify.logic.equivalence import (
    SETTLED,
    Effort,
    Map,
    Vector,
    WordSpan,
    distinguishing,
    distinguishing_in_the_end,
    images,
    mapped,
    span,
)
from paramverify.models.chains.chain import Chain


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
