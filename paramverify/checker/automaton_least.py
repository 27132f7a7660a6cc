"""What a way of an automaton costs at least, by its flows: standard library only. See `automata`."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .automaton_runs import Machine, first_order, walk
from .strict import Rejected


def least_cost(read: Machine, data: Any, one: bool = False) -> Fraction:
    """Returns what a way costs at least, by its flows; each entry differs, or only `one` does."""
    steps, signs = data["steps"], data["signs"]
    if len(steps) != len(signs):
        raise Rejected("a way has one difference for each step")
    order = first_order(read)
    for number in steps:
        order = walk(read, order, number)
    wishes: list[int] = []
    cost = Fraction(0)
    for number, sign in zip(steps, signs, strict=True):
        step = read.steps[number]
        reads = read.states[step.source].reads
        if sign not in ((-1, 0, 1) if one else (-1, 1)) if reads else sign:
            raise Rejected("a difference is 1 or -1 where an input is read, and 0 elsewhere")
        cost += read.second_cost(step) * abs(sign)
        if step.output == "insample":
            cost += read.states[step.source].rate * abs(sign)
            wishes.append(0)
        else:
            wishes.append(-sign)
    if one and sum(map(abs, signs)) > 1:
        raise Rejected("more than one entry differs")
    above = links(read, steps)
    for name, from_least, to_most in (("high", 1, 0), ("low", 0, -1)):
        cost += _flow(read, steps, above, data[name], (wishes, from_least, to_most))
    return cost


def links(read: Machine, steps: list[int]) -> set[tuple[int, int]]:
    """Returns the pairs of places whose samples a way compares directly, the lower one first."""
    holder: dict[int, int] = {}
    found: set[tuple[int, int]] = set()
    for place, number in enumerate(steps):
        step = read.steps[number]
        found |= {(holder[v], place) for v in step.above} | {(place, holder[v]) for v in step.below}
        holder |= dict.fromkeys(step.stored, place)
    return found


def _flow(
    read: Machine,
    steps: list[int],
    above: set[tuple[int, int]],
    flow: Any,
    wanted: tuple[list[int], int, int],
) -> Fraction:
    """Returns the value of a flow from samples that want a shift of at least `least` to those of `most`."""
    wishes, least, most = wanted
    net = [Fraction(0)] * len(steps)
    for low, high, text in flow:
        amount = Fraction(text)
        if (low, high) not in above or amount < 0:
            raise Rejected("a flow does not follow the order of samples")
        net[low] += amount
        net[high] -= amount
    value = Fraction(0)
    for place, number in enumerate(steps):
        step = read.steps[number]
        fixed = step.output == "insample"
        rate = read.states[step.source].rate
        if net[place] > 0 and (wishes[place] < least or (net[place] > rate and not fixed)):
            raise Rejected("a flow begins at a sample that does not give so much")
        if net[place] < 0 and (wishes[place] > most or (-net[place] > rate and not fixed)):
            raise Rejected("a flow ends at a sample that does not take so much")
        value += max(net[place], Fraction(0))
    return value
