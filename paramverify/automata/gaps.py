"""How much likelier a way gets under one of two streams as ε grows: a lower bound for entries of few values.

For a stream α let V(α) = min Σ d_k·|x_k − c_k| over samples x in the order of a way, where c_k is the entry
plus the mean. For ε → ∞, ln Pr_α(way)/ε goes to −V(α): the set of these samples is the closure of its
interior, and V is the least exponent there. **So for each D < V(β) − V(α) there is an ε at which the way is
more than exp(D·ε + b) times as likely under α as under β, whatever b is.** Numbers that are put out are those
that are likeliest under α; the densities near them are compared.

V is a sum of least cuts: between two neighbouring numbers among the c_k, those samples lie above that are in
a set closed upwards, and each one on the wrong side of its c_k costs d_k. Maximal flows show that V(β) is no
less, and a point x shows that V(α) is no more.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise, product
from math import prod

from paramverify.automata.automaton import Automaton
from paramverify.automata.programs import Streams, with_entry
from paramverify.automata.ways import Flow, largest_flow, links

MOST_PAIRS = 300  # pairs of streams that are all tried
MOST_EVALUATED = 2_000

Pair = tuple[Fraction, Fraction]  # an entry of both streams


@dataclass(frozen=True)
class Gap:
    """V(β) − V(α) = `size` on a way, for α = `streams.first` and β = `streams.second`.

    `point` are samples that show V(α), `levels` flows between two numbers that show V(β).
    """

    steps: tuple[int, ...]
    streams: Streams
    point: tuple[Fraction, ...]
    levels: tuple[tuple[Fraction, Fraction, Flow], ...]
    size: Fraction


@dataclass(frozen=True)
class _Way:
    """What is known of the samples of a way: their order, rates, means, and which are put out."""

    automaton: Automaton
    steps: tuple[int, ...]
    order: frozenset[tuple[int, int]]
    rates: tuple[Fraction, ...]
    released: tuple[bool, ...]

    @staticmethod
    def of(automaton: Automaton, steps: Sequence[int]) -> _Way:
        known = [automaton.transitions[number] for number in steps]
        return _Way(
            automaton,
            tuple(steps),
            links(automaton, steps),
            tuple(automaton.state_of(step).rate for step in known),
            tuple(step.releases for step in known),
        )

    def centres(self, entries: Sequence[Fraction]) -> list[Fraction]:
        """Returns the numbers around which the samples lie."""
        left = iter(entries)
        states = [self.automaton.state_of(self.automaton.transitions[number]) for number in self.steps]
        return [state.mean + (next(left) if state.reads else 0) for state in states]

    def gap(self, given: Streams) -> Gap:
        """Returns the gap of two streams."""
        room = sum(self.rates, Fraction(1))
        one, other = self.centres(given.first), self.centres(given.second)
        point, size = [min(one)] * len(one), Fraction(0)
        for _, high in pairwise(sorted({*one})):
            _, _, above = largest_flow(self.order, self.rates, [c >= high for c in one])
            point = [high if k in above else x for k, x in enumerate(point)]
        size -= sum(r * abs(x - c) for r, x, c in zip(self.rates, point, one, strict=True))
        levels = []
        ends = [x if put_out else c for c, x, put_out in zip(other, point, self.released, strict=True)]
        limits = [room if put_out else r for r, put_out in zip(self.rates, self.released, strict=True)]
        for low, high in pairwise(sorted({*ends})):
            value, flow, _ = largest_flow(self.order, limits, [c >= high for c in ends])
            size += value * (high - low)
            levels.append((low, high, flow))
        size += sum(r * abs(c - e) for r, c, e in zip(self.rates, other, ends, strict=True))
        size += sum(self._second(given))
        return Gap(self.steps, given, tuple(point), tuple(levels), size)

    def _second(self, given: Streams) -> Iterator[Fraction]:
        """Yields what it costs that insample' is put out, at its likeliest number under the first stream."""
        left = iter(zip(given.first, given.second, strict=True))
        for number in self.steps:
            step = self.automaton.transitions[number]
            if self.automaton.state_of(step).reads:
                a, b = next(left)
                yield self.automaton.second_rate(step) * abs(a - b)


def reads(automaton: Automaton, steps: Sequence[int]) -> int:
    """Returns how many inputs a way reads."""
    return sum(automaton.state_of(automaton.transitions[number]).reads for number in steps)


def near_pairs(values: Iterable[Fraction], reach: Fraction) -> list[Pair]:
    """Returns the pairs of values that one entry may have in two streams, those that differ most first."""
    ordered = sorted(values)
    pairs = [(a, b) for a in ordered for b in ordered if abs(a - b) <= reach]
    return sorted(pairs, key=lambda pair: (-abs(pair[0] - pair[1]), abs(pair[0]), pair))


def choices(pairs: Sequence[Pair], length: int, one: bool) -> Iterator[list[list[Pair]]]:
    """Yields what the entries of two neighbouring streams may be; only `one` entry differs, or each."""
    if not one:
        yield [list(pairs)] * length
        return
    equal, apart = [p for p in pairs if p[0] == p[1]], [p for p in pairs if p[0] != p[1]]
    for place in range(length):
        yield [apart if k == place else equal for k in range(length)]


def all_streams(pairs: Sequence[Pair], length: int, one: bool, most: int) -> list[Streams] | None:
    """Returns all neighbouring streams of a length; None if there are more than `most`."""
    options = list(choices(pairs, length, one))
    if sum(prod(len(own) for own in chosen) for chosen in options) > most:
        return None
    return [_streams(entries) for chosen in options for entries in product(*chosen)]


def _streams(entries: Sequence[Pair]) -> Streams:
    return Streams(tuple(a for a, _ in entries), tuple(b for _, b in entries))


@dataclass(eq=False)
class Widest:
    """Looks for the widest gap, as long as there is time, and not beyond `goal`."""

    automaton: Automaton
    pairs: Sequence[Pair]
    one: bool
    goal: Fraction | None
    until: float
    best: Gap | None = None
    count: int = 0

    @property
    def size(self) -> Fraction:
        """The widest gap so far."""
        return Fraction(0) if self.best is None else self.best.size

    @property
    def over(self) -> bool:
        """Whether the goal is reached, or no more is tried."""
        reached = self.goal is not None and self.size >= self.goal
        return reached or self.count >= MOST_EVALUATED or time.monotonic() > self.until

    def first(self, steps: Sequence[int], starts: Iterable[Streams]) -> None:
        """Tries some streams on a way."""
        way = _Way.of(self.automaton, steps)
        for given in starts:
            if not self.over:
                self.try_one(way, given)

    def look(self, steps: Sequence[int], starts: Iterable[Streams]) -> None:
        """Tries a way: all pairs of streams if they are few, else from some on, one entry after another."""
        way, length = _Way.of(self.automaton, steps), reads(self.automaton, steps)
        every = all_streams(self.pairs, length, self.one, MOST_PAIRS)
        for given in every if every is not None else ():
            if self.over:
                return
            self.try_one(way, given)
        for given in starts if every is None else ():
            self.climb(way, given)

    def try_one(self, way: _Way, given: Streams) -> Fraction:
        """Evaluates two streams."""
        self.count += 1
        found = way.gap(given)
        if found.size > self.size:
            streams = with_entry(self.automaton, found.steps, given)
            self.best = replace(found, streams=streams)
        return found.size

    def climb(self, way: _Way, given: Streams) -> None:
        """Changes one entry after another where that makes the gap wider."""
        entries = list(zip(given.first, given.second, strict=True))
        best, better = self.try_one(way, given), True
        while better:
            better = False
            for place, own in enumerate(entries):
                for pair in self._instead(own):
                    tried = [*entries[:place], pair, *entries[place + 1 :]]
                    size = Fraction(0) if self.over else self.try_one(way, _streams(tried))
                    if size > best:
                        best, entries, better = size, tried, True

    def _instead(self, own: Pair) -> list[Pair]:
        """Returns what an entry may be instead; where one entry differs, it does so at the same place."""
        return [p for p in self.pairs if not self.one or (p[0] == p[1]) == (own[0] == own[1])]
