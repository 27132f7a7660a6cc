"""What one way costs: the least multiple of ε for it, exactly, with flows that show that it is no less.

For differences δ of two streams the cost is min Σ d_k·|s_k + δ_k| over shifts s in the order in which the
way compares its samples, with 0 for released ones (`demands`, `violations`). Whole shifts are enough. So it
is the sum of two cuts: samples with s_k = 1, and samples with s_k ≥ 0, each closed upwards in the order. A
maximal flow in the order has the value of the least cut ([FordF56]).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from paramverify.automata.automaton import Automaton

Flow = Mapping[tuple[int, int], Fraction]


@dataclass(frozen=True)
class Way:
    """Transitions, the difference of the streams at each (0 where none is read), the cost, and both flows."""

    steps: tuple[int, ...]
    signs: tuple[int, ...]
    cost: Fraction
    flows: tuple[Flow, Flow]


def links(automaton: Automaton, steps: Sequence[int]) -> frozenset[tuple[int, int]]:
    """Returns the pairs of places whose samples a way compares directly, the lower one first."""
    holder: dict[int, int] = {}
    found: set[tuple[int, int]] = set()
    for place, number in enumerate(steps):
        step = automaton.transitions[number]
        found |= {(holder[v], place) for v in step.above} | {(place, holder[v]) for v in step.below}
        holder |= dict.fromkeys(step.stored, place)
    return frozenset(found)


def cost(automaton: Automaton, steps: Sequence[int], signs: Sequence[int]) -> Way:
    """Returns what a way costs for these differences of the streams, with both flows."""
    known = [automaton.transitions[number] for number in steps]
    released = [step.releases for step in known]
    rates = [automaton.state_of(step).rate for step in known]
    reads = [automaton.state_of(step).reads for step in known]
    moves = [abs(sign) * reading for sign, reading in zip(signs, reads, strict=True)]
    total = sum((automaton.second_rate(s) * move for s, move in zip(known, moves, strict=True)), Fraction(0))
    total += sum((r * move for r, fixed, move in zip(rates, released, moves, strict=True) if fixed), 0)
    (high, one, _), (low, other, _) = _flows(automaton, steps, signs)
    return Way(tuple(steps), tuple(signs), total + high + low, (one, other))


def best_shifts(automaton: Automaton, steps: Sequence[int], signs: Sequence[int]) -> tuple[int, ...]:
    """Returns the shifts of the samples of a way for which it costs the least."""
    (_, _, above), (_, _, level) = _flows(automaton, steps, signs)
    return tuple(1 if k in above else 0 if k in level else -1 for k in range(len(steps)))


def paid(automaton: Automaton, steps: Sequence[int], signs: Sequence[int], shifts: Sequence[int]) -> Fraction:
    """Returns what a way costs with these shifts of its samples; no less than it costs with the best ones."""
    total = Fraction(0)
    for number, sign, shift in zip(steps, signs, shifts, strict=True):
        step = automaton.transitions[number]
        total += automaton.state_of(step).rate * abs(shift + sign) + automaton.second_rate(step) * abs(sign)
    return total


_Cut = tuple[Fraction, Flow, frozenset[int]]


def _flows(automaton: Automaton, steps: Sequence[int], signs: Sequence[int]) -> tuple[_Cut, _Cut]:
    """Returns the largest flows, and above a least cut of each the samples with the shift 1, and 0 or 1."""
    order = links(automaton, steps)
    known = [automaton.transitions[number] for number in steps]
    rates = [automaton.state_of(step).rate for step in known]
    limit = sum(rates, Fraction(1))
    room = [limit if step.releases else rate for step, rate in zip(known, rates, strict=True)]
    wishes = [0 if step.releases else -sign for step, sign in zip(known, signs, strict=True)]
    high, low = (largest_flow(order, room, [wish >= least for wish in wishes]) for least in (1, 0))
    return high, low


def largest_flow(
    order: frozenset[tuple[int, int]], room: Sequence[Fraction], gives: Sequence[bool]
) -> tuple[Fraction, Flow, frozenset[int]]:
    """Returns the largest flow upwards in an order from samples that give to those that take.

    The set is the smallest one above a least cut: with each sample it has all that lie above.
    """
    flow: dict[tuple[int, int], Fraction] = {}
    given = [Fraction(0)] * len(room)
    upwards: list[list[int]] = [[] for _ in room]
    downwards: list[list[int]] = [[] for _ in room]
    for low, high in sorted(order):
        upwards[low].append(high)
        downwards[high].append(low)
    total = Fraction(0)
    while True:
        came: dict[int, int] = {k: k for k in range(len(room)) if gives[k] and given[k] < room[k]}
        waiting, end = list(came), -1
        for place in waiting:
            if not gives[place] and given[place] < room[place]:
                end = place
                break
            back = [k for k in downwards[place] if flow.get((k, place))]
            for following in (*upwards[place], *back):
                if following not in came:
                    came[following] = place
                    waiting.append(following)
        if end < 0:
            return total, {pair: amount for pair, amount in flow.items() if amount}, frozenset(came)
        way = [end]
        while came[way[-1]] != way[-1]:
            way.append(came[way[-1]])
        way.reverse()
        amount = min(room[k] - given[k] for k in (way[0], end))
        steps = list(pairwise(way))
        amount = min([amount, *(flow[b, a] for a, b in steps if (a, b) not in order)])
        for a, b in steps:
            pair, sign = ((a, b), 1) if (a, b) in order else ((b, a), -1)
            flow[pair] = flow.get(pair, Fraction(0)) + sign * amount
        given[way[0]] += amount
        given[end] += amount
        total += amount
