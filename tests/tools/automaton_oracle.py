"""Automata over streams by brute force: their ways, what each costs, and random automata."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from paramverify.automata.automaton import SAMPLE, SECOND, Automaton, State, Transition


def ways(automaton: Automaton, most: int) -> list[tuple[int, ...]]:
    """All ways of at most so many steps that are possible: some whole numbers are in the order of a way."""
    found: list[tuple[int, ...]] = []

    def go(
        state: int, held: dict[int, int], order: list[tuple[int, int, bool]], steps: tuple[int, ...]
    ) -> None:
        if steps:
            found.append(steps)
        for number, step in enumerate(automaton.transitions):
            if len(steps) == most or step.source != state or step.never:
                continue
            place = len(steps)
            more = [(held[v], place, v in step.apart) for v in step.above]
            more += [(place, held[v], v in step.apart) for v in step.below]
            if has_numbers([*order, *more], place + 1):
                go(
                    step.target,
                    {**held, **dict.fromkeys(step.stored, place)},
                    [*order, *more],
                    (*steps, number),
                )

    go(0, {}, [], ())
    return found


def has_numbers(order: Sequence[tuple[int, int, bool]], size: int) -> bool:
    """Whether whole numbers can be in an order: each is made as small as it can be, round by round."""
    numbers = [0] * size
    for _ in range(size + 1):
        before = list(numbers)
        for low, high, apart in order:
            numbers[high] = max(numbers[high], numbers[low] + apart)
        if numbers == before:
            return True
    return False


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


SIGNS = ("<", "<=", ">", ">=")


def random_text(generator: random.Random, geometric: bool) -> str:
    """A text with up to three stored values. Some are no automata: guards overlap, or compare nothing."""
    size, count = generator.choice([2, 3, 4]), generator.choice([1, 2, 2, 3])
    lines = ["noise geometric"] if geometric else []
    for number in range(1, size + 1):
        reads = generator.random() < 0.75
        numbers = [f"1/{generator.choice([1, 2, 4])}", str(generator.choice([0, 1, -1]))]
        second = generator.random() < 0.3
        numbers += ["1/2", "0"] if second else []
        branches, first = [], number <= count and generator.random() < 0.8
        for place in range(1 if first else generator.choice([1, 2, 2, 3])):
            names = generator.sample("xyz"[:count], generator.choice([1, min(2, count)]))
            guard = " && ".join(f"insample {generator.choice(SIGNS)} {name}" for name in names)
            stored = [v for v in "xyz"[:count] if generator.random() < 0.3]
            stored += ["xyz"[number - 1]] if first and "xyz"[number - 1] not in stored else []
            output, chance = f"o{'abc'[place]}", generator.random()
            if place == 0 and chance < 0.2:
                output = "insample'" if second and chance < 0.08 else "insample"
            target = number + 1 if first or chance > 0.5 else generator.randint(1, size)
            text = ", ".join(f"{v} := insample" for v in stored) + ("; " if stored else "")
            text += f"output {output}; goto q{target}"
            branches.append(text if first else f"if ({guard}) then {text}")
        head = f"(q{number}{'' if reads else ':non-input'}, {', '.join(numbers)}): "
        lines.append(head + "\n  else".join(branches))
    return "\n".join(lines) + "\n"


def chance(
    automaton: Automaton, steps: Sequence[int], stream: Sequence[Fraction], given: tuple[float, Sequence[int]]
) -> float:
    """The probability of a way with geometric noise, by sums over a box; epsilon, and what is put out."""
    epsilon, released = given
    numbers = [*(s.mean for s in automaton.states), *stream]
    reach = 6 + int(max(abs(x) for x in numbers)) + int(12 / (epsilon * float(min_rate(automaton))))
    axis = np.arange(-reach, reach + 1)
    weights, places, held, inputs = np.ones(()), list[int](), dict[int, int](), iter(stream)
    for place, number in enumerate(steps):
        step = automaton.transitions[number]
        state = automaton.states[step.source]
        given_number = next(inputs) if state.reads else Fraction(0)
        weights = weights[..., None] * mass(
            axis - float(given_number + state.mean), epsilon * float(state.rate)
        )
        for low, variables in ((True, step.above), (False, step.below)):
            for v in variables:
                other = axis.reshape([-1 if p == held[v] else 1 for p in places] + [1])
                gap = axis - other if low else other - axis
                weights = weights * (gap > 0 if v in step.apart else gap >= 0)
        if step.output == SAMPLE:
            weights = weights * (axis == released[place])
        elif step.output == SECOND and state.second is not None:
            rate, mean = state.second
            weights = weights * mass(np.array(-float(given_number + mean)), epsilon * float(rate))
        held.update(dict.fromkeys(step.stored, place))
        places.append(place)
        gone = tuple(k for k, p in enumerate(places) if p not in held.values())
        weights, places = weights.sum(axis=gone), [p for p in places if p in held.values()]
    return float(weights.sum())


def min_rate(automaton: Automaton) -> Fraction:
    """The least rate of an automaton."""
    return min(state.rate for state in automaton.states)


def mass(numbers: Any, rate: float) -> Any:
    """The probabilities of whole numbers by geometric noise."""
    base = np.exp(-rate)
    return (1 - base) / (1 + base) * np.exp(-rate * np.abs(numbers))
