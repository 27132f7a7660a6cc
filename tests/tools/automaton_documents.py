"""Automata of evidence as data, and what their ways cost by brute force over all samples and shifts."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

Data = dict[str, Any]
SHIFTS = (-1, 0, 1)


def state(reads: bool = True, rate: str = "1", mean: str = "0", second: Any = None) -> Data:
    """A state of an automaton."""
    return {"name": "q", "reads": reads, "rate": rate, "mean": mean, "second": second}


def step(source: int, target: int, output: str, **more: Sequence[int]) -> Data:
    """A transition; `above`, `below`, `stored` and `strict` are lists of variables."""
    guards = {name: list(more.get(name, ())) for name in ("above", "below", "stored")}
    strict = {"strict": list(more["strict"])} if "strict" in more else {}
    return {"source": source, "target": target, "output": output} | guards | strict


def machine_of(states: Sequence[Data], steps: Sequence[Data], variables: int = 1) -> Data:
    """An automaton; its noise is geometric if its transitions say what is strict."""
    noise = {"noise": "geometric"} if any("strict" in s for s in steps) else {}
    names = [f"v{k}" for k in range(variables)]
    named = [{**state, "name": f"q{k}"} for k, state in enumerate(states)]
    return {"states": named, "variables": names, "transitions": list(steps)} | noise


def random_machine(generator: random.Random, whole: bool) -> Data:
    """An automaton with random guards, possible or not."""
    count, variables = generator.choice([1, 2, 2, 3]), 2
    rates = ["1", "1/2", "1/3"]
    states = [
        state(
            generator.random() < 0.7,
            generator.choice(rates),
            second=generator.choice([None, ["1/5", "0"]]),
        )
        for _ in range(count)
    ]
    steps = []
    for source in range(count):
        pair, border = generator.random() < 0.6, generator.randrange(variables)
        for k in range(1 + pair):
            share = 0.2 if source else 0.0
            sides = {
                name: [v for v in range(variables) if generator.random() < likely]
                for name, likely in (("above", share), ("below", share), ("stored", 0.4 if source else 1.0))
            }
            if pair and source:
                sides[("above", "below")[k]] = sorted({*sides[("above", "below")[k]], border})
            if whole:
                compared = sorted({*sides["above"], *sides["below"]})
                sides["strict"] = [v for v in compared if generator.random() < 0.6]
            words = ["ab"[k], "a", "insample"] + ["insample'"] * (states[source]["second"] is not None)
            target = generator.randrange(count) if source else count - 1
            steps.append(step(source, target, generator.choice(words), **sides))
            if not source and generator.random() < 0.9:
                break
    return machine_of(states, steps, variables)


def never(data: Data, number: int) -> bool:
    """Whether a transition asks a sample to be below and above one value."""
    chosen = data["transitions"][number]
    strict = chosen["strict"] if "noise" in data else chosen["above"]
    return any(v in chosen["below"] and v in strict for v in chosen["above"])


def comparisons(data: Data, steps: Sequence[int]) -> list[tuple[int, int, bool]]:
    """The samples that a way compares: the lower one, the higher one, and whether they differ."""
    held: dict[int, int] = {}
    found = []
    for place, number in enumerate(steps):
        found += asked(data, number, held, place)
        held |= dict.fromkeys(data["transitions"][number]["stored"], place)
    return found


def asked(data: Data, number: int, held: dict[int, int], place: int) -> list[tuple[int, int, bool]]:
    """What one transition asks of its sample, given who is stored."""
    chosen = data["transitions"][number]
    strict = chosen["strict"] if "noise" in data else [*chosen["above"], *chosen["below"]]
    found = [(held[v], place, v in strict) for v in chosen["above"]]
    return found + [(place, held[v], v in strict) for v in chosen["below"]]


@cache
def _arrangements(size: int, whole: bool) -> list[tuple[int, ...]]:
    return list(itertools.product(range(size), repeat=size) if whole else itertools.permutations(range(size)))


def possible(order: Sequence[tuple[int, int, bool]], size: int, whole: bool) -> bool:
    """Whether some samples are in an order: one after the other is tried."""
    return any(
        all(x[low] < x[high] or (x[low] == x[high] and not apart) for low, high, apart in order)
        for x in _arrangements(size, whole)
    )


def ways(data: Data, most: int) -> Iterator[tuple[tuple[int, ...], list[int] | None]]:
    """All ways of fewer than `most` steps, with the transitions that may follow; None if it is no automaton.

    It is none where a value is missing, or two transitions are possible for the same samples.
    """
    whole = "noise" in data

    def go(place: int, held: dict[int, int], steps: tuple[int, ...], order: Any) -> Iterator[Any]:
        size, following = len(steps) + 1, []
        for number, chosen in enumerate(data["transitions"]):
            if chosen["source"] == place and not never(data, number):
                if not {*chosen["above"], *chosen["below"]} <= held.keys():
                    yield steps, None
                    return
                if possible([*order, *asked(data, number, held, size - 1)], size, whole):
                    following.append(number)
        for one, other in itertools.combinations(following, 2):
            both = [*asked(data, one, held, size - 1), *asked(data, other, held, size - 1)]
            if possible([*order, *both], size, whole):
                yield steps, None
                return
        yield steps, following
        for number in following if size < most else ():
            chosen = data["transitions"][number]
            more = [*order, *asked(data, number, held, size - 1)]
            yield from go(
                chosen["target"], held | dict.fromkeys(chosen["stored"], size - 1), (*steps, number), more
            )

    yield from go(0, {}, (), [])


def cost(data: Data, steps: Sequence[int], signs: Sequence[int]) -> Fraction:
    """The least cost of a way for these differences (of the first stream to the second), over all shifts."""
    order, found = comparisons(data, steps), None
    known = [data["transitions"][n] for n in steps]
    states = [data["states"][s["source"]] for s in known]
    for shifts in itertools.product(*[(0,) if s["output"] == "insample" else SHIFTS for s in known]):
        if all(shifts[low] <= shifts[high] for low, high, _ in order):
            paid = sum(
                (Fraction(s["rate"]) * abs(x + d) for s, x, d in zip(states, shifts, signs, strict=True)),
                Fraction(0),
            )
            found = paid if found is None else min(found, paid)
    assert found is not None
    for s, chosen, d in zip(states, known, signs, strict=True):
        if chosen["output"] == "insample'":
            found += Fraction(s["second"][0]) * abs(d)
    return found


def corners(data: Data, steps: Sequence[int]) -> list[tuple[int, ...]]:
    """All differences ±1 of what a way reads."""
    reads = [data["states"][data["transitions"][n]["source"]]["reads"] for n in steps]
    return list(itertools.product(*[(-1, 1) if r else (0,) for r in reads]))
