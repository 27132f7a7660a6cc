"""Automata over streams by brute force: their ways, what each costs, and random automata."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from paramverify.automata.automaton import SAMPLE, SECOND, Automaton, State, Transition


def ways(automaton: Automaton, most: int) -> list[tuple[int, ...]]:
    """All ways of at most so many steps that are possible: orders of all samples, by transitive closure."""
    found: list[tuple[int, ...]] = []

    def go(
        state: int, held: dict[int, int], before: frozenset[tuple[int, int]], steps: tuple[int, ...]
    ) -> None:
        if steps:
            found.append(steps)
        for number, step in enumerate(automaton.transitions):
            if len(steps) == most or step.source != state:
                continue
            place = len(steps)
            low, high = {held[v] for v in step.above}, {held[v] for v in step.below}
            low |= {x for x, y in before if y in low}
            high |= {y for x, y in before if x in high}
            if low & high or any((y, x) in before for x in low for y in high):
                continue
            more = (
                {(x, place) for x in low} | {(place, y) for y in high} | {(x, y) for x in low for y in high}
            )
            kept = {**held, **dict.fromkeys(step.stored, place)}
            go(step.target, kept, before | more, (*steps, number))

    go(0, {}, frozenset(), ())
    return found


def order_of(automaton: Automaton, steps: Sequence[int]) -> list[tuple[int, int]]:
    """The pairs of samples that a way compares, the lower one first."""
    held: dict[int, int] = {}
    found = []
    for place, number in enumerate(steps):
        step = automaton.transitions[number]
        found += [(held[v], place) for v in step.above] + [(place, held[v]) for v in step.below]
        held.update(dict.fromkeys(step.stored, place))
    return found


def signs_of(automaton: Automaton, steps: Sequence[int]) -> list[tuple[int, ...]]:
    """All differences of two streams at their corners."""
    reads = [automaton.states[automaton.transitions[n].source].reads for n in steps]
    return list(itertools.product(*[(-1, 1) if reading else (0,) for reading in reads]))


def least_cost(automaton: Automaton, steps: Sequence[int], signs: Sequence[int]) -> Fraction:
    """What a way costs for these differences: the least over all whole shifts, one by one."""
    order = order_of(automaton, steps)
    known = [automaton.transitions[number] for number in steps]
    states = [automaton.states[step.source] for step in known]
    choices = [(0,) if step.output == SAMPLE else (-1, 0, 1) for step in known]
    second = sum(
        state.second[0]
        for step, state in zip(known, states, strict=True)
        if step.output == SECOND and state.reads and state.second
    )
    costs = [
        sum(state.rate * abs(shift + sign) for state, shift, sign in zip(states, shifts, signs, strict=True))
        for shifts in itertools.product(*choices)
        if all(shifts[j] <= shifts[k] for j, k in order)
    ]
    return min(costs) + second


def worst_cost(automaton: Automaton, steps: Sequence[int]) -> Fraction:
    """What a way costs for the worst streams."""
    return max(least_cost(automaton, steps, signs) for signs in signs_of(automaton, steps))


def random_automaton(generator: random.Random) -> Automaton:
    """An automaton with up to three stored values; its guards exclude each other, its outputs differ."""
    size, count = generator.choice([2, 3, 4]), generator.choice([1, 2, 2, 3])
    states = tuple(_state(generator, k) for k in range(size))
    steps: list[Transition] = []
    for number in range(size):
        first = number < count and generator.random() < 0.8
        guards = [((), ())] if first else _guards(generator, count)
        for place, (above, below) in enumerate(guards):
            stored = {v for v in range(count) if generator.random() < 0.3} | ({number} if first else set())
            output = f"o{'abc'[place]}"
            chance = generator.random()
            if chance < 0.12 and all(s.source != number or s.output[0] == "o" for s in steps):
                output = SAMPLE
            elif chance < 0.2 and states[number].second and all(s.source != number for s in steps):
                output = SECOND
            target = (
                min(number + 1, size - 1) if first and generator.random() < 0.8 else generator.randrange(size)
            )
            steps.append(
                Transition(number, target, output, frozenset(above), frozenset(below), frozenset(stored))
            )
    return Automaton(states, tuple("xyz"[:count]), tuple(steps))


def _state(generator: random.Random, number: int) -> State:
    second = (Fraction(1, 2), Fraction(0)) if generator.random() < 0.3 else None
    rate = Fraction(1, generator.choice([1, 2, 4]))
    return State(
        f"q{number + 1}", generator.random() < 0.75, rate, Fraction(generator.choice([0, 1])), second
    )


def _guards(generator: random.Random, count: int) -> list[tuple[Any, Any]]:
    chance = generator.random()
    if chance < 0.2:
        return [((), ())]
    if chance < 0.65 or count == 1:
        one = generator.randrange(count)
        return [((one,), ()), ((), (one,))][: generator.choice([1, 2, 2])]
    one, other = generator.sample(range(count), 2)
    return [((one,), (other,)), ((one, other), ()), ((), (one, other))][: generator.choice([1, 2, 3])]
