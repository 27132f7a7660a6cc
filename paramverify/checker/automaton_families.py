"""Families of ways with repeated parts: possible for every number of repetitions, and costly in each."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

from .automaton_runs import Machine, RunTransition, first_order, walk
from .strict import Rejected

Place = tuple[int, int, int]  # part, step in it, and repetition: 0 or 1


def check_family(read: Machine, data: Any) -> tuple[Fraction, int]:
    """Returns what so many repetitions cost at least.

    Raises:
        Rejected: the family does not show it.
    """
    parts = [(list(part["steps"]), bool(part["repeated"])) for part in data["parts"]]
    _possible(read, parts)
    chain = [(part, step, copy) for part, step, copy in data["chain"]]
    for part, step, copy in chain:
        inside = 0 <= part < len(parts) and 0 <= step < len(parts[part][0])
        if not inside or copy not in (0, 1):
            raise Rejected("a place of the chain is not in the way")
    period = 1 + max((copy for _, _, copy in chain), default=0)
    gain = _gain(read, parts, chain)
    if gain <= 0 or gain != Fraction(data["gain"]):
        raise Rejected("the repetitions do not cost what the family says")
    one_part = len({part for part, _, _ in chain}) == 1 and parts[chain[0][0]][1]
    if one_part and _in_one(read, parts[chain[0][0]][0], chain):
        return gain, period
    if period != 1:
        raise Rejected("a chain goes from one repetition to the next, and leaves its part")
    for low, high in pairwise(chain):
        if not _below(read, parts, low, high):
            raise Rejected("a sample of the chain is not known to lie below the next one")
    return gain, period


def _possible(read: Machine, parts: list[tuple[list[int], bool]]) -> None:
    """Checks that a run can take the way with any number of repetitions that is large enough.

    A repeated part is walked until what is known does not change any more; from then on it may be repeated.
    """
    order = first_order(read)
    for steps, repeated in parts:
        if not steps:
            raise Rejected("a part of the way is empty")
        seen = set()
        while True:
            seen.add(order)
            for number in steps:
                order = walk(read, order, number)
            if not repeated:
                break
            if order in seen:
                again = order
                for number in steps:
                    again = walk(read, again, number)
                if again != order:
                    raise Rejected("what is known changes with every repetition")
                break


def _gain(read: Machine, parts: list[tuple[list[int], bool]], chain: list[Place]) -> Fraction:
    """Returns what the two ends of the chain cost together, or its only sample."""
    if not chain:
        raise Rejected("there is no chain")
    ends = [read.steps[parts[part][0][step]] for part, step, _ in (chain[0], chain[-1])]
    for end, (part, _, _) in zip(ends, (chain[0], chain[-1]), strict=True):
        if not parts[part][1] and end.output != "insample":
            raise Rejected("an end of the chain is neither repeated nor put out")
    if len(chain) == 1:
        state = read.states[ends[0].source]
        if not parts[chain[0][0]][1] or not state.reads:
            raise Rejected("a sample that is put out is not repeated, or reads nothing")
        return state.rate if ends[0].output == "insample" else read.second_cost(ends[0])
    if chain[0] == chain[-1]:
        raise Rejected("a chain begins where it ends")
    gap = _wish(read, ends[0], 1) - _wish(read, ends[1], -1)
    rates = [read.states[end.source].rate for end in ends if end.output != "insample"]
    return min(rates) * gap if rates and gap > 0 else Fraction(0)


def _wish(read: Machine, step: RunTransition, most: int) -> int:
    return most if read.states[step.source].reads and step.output != "insample" else 0


def _in_one(read: Machine, steps: list[int], chain: list[Place]) -> bool:
    """Tells whether a chain holds within a part, or two repetitions of it that follow each other."""
    twice = [read.steps[number] for number in (*steps, *steps)]
    places = [step + copy * len(steps) for _, step, copy in chain]
    return all(_directly(twice, low, high) for low, high in pairwise(places))


def _directly(way: list[RunTransition], low: int, high: int) -> bool:
    """Tells whether a way compares two samples directly: the later one with the value of the earlier one."""
    start, end = min(low, high), max(low, high)
    if start == end:
        return False
    compared = way[end].below if end == low else way[end].above
    held = compared & way[start].stored
    return any(all(v not in step.stored for step in way[start + 1 : end]) for v in held)


def _below(read: Machine, parts: list[tuple[list[int], bool]], low: Place, high: Place) -> bool:
    """Tells whether one sample lies below another one, in whichever repetition each of them is.

    The earlier one is stored once, and no repetition between them or around the later one stores again.
    """
    starts = [0]
    for steps, _ in parts:
        starts.append(starts[-1] + len(steps))
    way = [read.steps[number] for steps, _ in parts for number in steps]
    places = {place: starts[place[0]] + place[1] for place in (low, high)}
    first, last = sorted((low, high), key=lambda place: places[place])
    start, end = places[first], places[last]
    if start == end or parts[first[0]][1]:
        return False
    around = [read.steps[number] for number in parts[last[0]][0]] if parts[last[0]][1] else []
    compared = way[end].below if last == low else way[end].above
    held = compared & way[start].stored
    between = [*way[start + 1 : end], *around]
    return any(all(v not in step.stored for step in between) for v in held)
