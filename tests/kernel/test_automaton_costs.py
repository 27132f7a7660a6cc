"""What the kernel says ways cost at least, beside brute force over all shifts and samples."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest
from automaton_documents import (
    SHIFTS,
    Data,
    comparisons,
    corners,
    cost,
    machine_of,
    possible,
    random_machine,
    state,
    step,
    ways,
)

from paramverify.kernel.automaton_costs import least_cost
from paramverify.kernel.automaton_runs import machine
from paramverify.kernel.automaton_ways import StreamEntries, check_family, gap
from paramverify.kernel.strict_reading import Rejected

AMOUNTS = ("1/6", "1/3", "1/2", "2/3", "1", "2", "-1/3")
Flow = list[tuple[int, int, str]]


def accepted(check: Callable[..., Any], *given: Any) -> Any:
    """What a check returns, or None where it rejects."""
    try:
        return check(*given)
    except Rejected:
        return None


def long_ways(chunk: int, seeds: int, most: int) -> Iterator[tuple[random.Random, Data, tuple[int, ...]]]:
    """Ways of random automata that compare samples."""
    for seed in range(seeds * chunk, seeds * (chunk + 1)):
        generator = random.Random(seed)
        data = random_machine(generator, whole=False)
        found = list(ways(data, most))
        if any(following is None for _, following in found):
            continue
        steps = generator.choice([steps for steps, _ in found])
        if comparisons(data, steps):
            yield generator, data, steps


def flows(generator: random.Random, data: Data, steps: tuple[int, ...]) -> Flow:
    """A random flow, most of it along the order."""
    order = [(low, high) for low, high, _ in comparisons(data, steps)]
    wrong = generator.randrange(len(steps)), generator.randrange(len(steps))
    order += [wrong] * (generator.random() < 0.2)
    return [
        (*generator.choice(order), generator.choice(AMOUNTS)) for _ in range(generator.choice([0, 1, 1, 2]))
    ]


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(3))
def test_flows_show_no_more_than_the_cost(chunk: int) -> None:
    """No flow that is accepted says that a way costs more than it does, and some say what it costs."""
    exact = rejected = 0
    for generator, data, steps in long_ways(chunk, 150, 5):
        signs = generator.choice(corners(data, steps))
        costs, read = cost(data, steps, signs), machine(data)
        alone = [generator.choice([0, 1]) * s for s in signs]
        one = sum(map(abs, alone)) < 2
        for _ in range(12):
            told = {
                "steps": list(steps),
                "high": flows(generator, data, steps),
                "low": flows(generator, data, steps),
            }
            for chosen, single in ((list(signs), False), (alone, True)):
                found = accepted(least_cost, read, told | {"signs": chosen}, single)
                least = costs if chosen == list(signs) else cost(data, steps, chosen)
                assert found is None or (found <= least and (not single or one)), (data, told, chosen)
                exact += found is not None and found == least > 0
                rejected += found is None
    assert exact > 5
    assert rejected > 100


@pytest.mark.parametrize("signs", [[0], [0, 1, 0], [0, 2]])
def test_differences_that_are_none(signs: list[int]) -> None:
    """A difference is 1 or -1 where an input is read, 0 elsewhere, and there is one for each step."""
    data = machine_of([state(False), state()], [step(0, 1, "a", stored=[0]), step(1, 1, "b", below=[0])])
    with pytest.raises(Rejected):
        least_cost(machine(data), {"steps": [0, 1], "signs": signs, "high": [], "low": []})


@pytest.mark.parametrize("reads", [*itertools.product([False, True], repeat=2)])
@pytest.mark.parametrize("outputs", [*itertools.product(["a", "insample", "insample'"], repeat=2)])
def test_flows_between_two_samples(reads: tuple[bool, bool], outputs: tuple[str, str]) -> None:
    """The largest flows that are accepted show what a way costs, for all differences that there may be."""
    states = [state(r, rate, second=["1/7", "0"]) for r, rate in zip(reads, ("1/2", "1/3"), strict=True)]
    for side, order in (("above", (0, 1)), ("below", (1, 0))):
        last = step(1, 2, outputs[1], **{side: [0]})
        data = machine_of([*states, state()], [step(0, 1, outputs[0], stored=[0]), last])
        flows = [(*order, amount) for amount in ("0", "1/3", "1/2", "-1/3")] + [(*order[::-1], "1/3")]
        told = [{"steps": [0, 1], "high": [a], "low": [b]} for a, b in itertools.product(flows, repeat=2)]
        for one, *signs in itertools.product((False, True), SHIFTS, SHIFTS):
            found = [accepted(least_cost, machine(data), way | {"signs": signs}, one) for way in told]
            right = tuple(signs) in corners(data, (0, 1))
            if one:
                right = 0 in signs and all(reads[k] or not d for k, d in enumerate(signs))
            largest = cost(data, (0, 1), signs) if right else None
            assert max((c for c in found if c is not None), default=None) == largest
            assert (found[0] is not None) == right


# --- gaps: what is likelier under one of two streams --------------------------------------------------


def centres(data: Data, steps: tuple[int, ...], stream: list[Fraction]) -> list[Fraction]:
    """Where the samples of a way are without noise."""
    left = iter(stream)
    states = [data["states"][data["transitions"][n]["source"]] for n in steps]
    return [Fraction(s["mean"]) + (next(left) if s["reads"] else 0) for s in states]


def least_value(
    data: Data, steps: tuple[int, ...], own: list[Fraction], pinned: dict[int, Fraction]
) -> Fraction:
    """The least distance of samples in order from their centres; some samples are given."""
    order = comparisons(data, steps)
    rates = [Fraction(data["states"][data["transitions"][n]["source"]]["rate"]) for n in steps]
    every = sorted({*own, *pinned.values()})
    return min(
        sum((r * abs(x - c) for r, x, c in zip(rates, point, own, strict=True)), Fraction(0))
        for point in itertools.product(*[[pinned[k]] if k in pinned else every for k in range(len(steps))])
        if all(point[low] <= point[high] for low, high, _ in order)
    )


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(3))
def test_gaps_are_no_wider_than_they_are(chunk: int) -> None:
    """No gap that is accepted is wider than by brute force; some are as wide."""
    exact = rejected = 0
    for generator, data, steps in long_ways(chunk, 250, 5):
        for s in data["states"]:
            s["mean"] = generator.choice(["0", "0", "1"])
            s["second"] = s["second"] and ["1/5", "7"]
        read = machine(data)
        known = [data["transitions"][n] for n in steps]
        count = sum(data["states"][s["source"]]["reads"] for s in known)
        one, other = ([Fraction(generator.choice([0, 1, 2])) for _ in range(count)] for _ in range(2))
        here, there = centres(data, steps, one), centres(data, steps, other)
        for _ in range(10):
            single, by = generator.random() < 0.2, generator.choice([Fraction(1), Fraction(2), None])
            entries = StreamEntries([Fraction(k) for k in (0, 1, 2)], by, single)
            point = [c + generator.choice([0, 0, 0, 1, -1]) for c in here]
            pinned = {k: point[k] for k, s in enumerate(known) if s["output"] == "insample"}
            levels = [(a, b) for a, b in ((0, 1), (1, 2), (2, 3), (0, 2)) if generator.random() < 0.4]
            told = {
                "steps": list(steps),
                "streams": [list(map(str, one)), list(map(str, other))],
                "point": list(map(str, point)),
                "levels": [(str(a), str(b), flows(generator, data, steps)) for a, b in levels],
            }
            found = accepted(gap, read, told, entries)
            apart = [abs(a - b) for a, b in zip(one, other, strict=True)]
            near = by is None or all(d <= by for d in apart)
            if found is None:
                rejected += 1
                continue
            assert near
            assert not single or sum(d > 0 for d in apart) < 2
            second = sum(
                Fraction(data["states"][s["source"]]["second"][0]) * abs(x - y)
                for s, x, y in zip(known, here, there, strict=True)
                if s["output"] == "insample'"
            )
            width = least_value(data, steps, there, pinned) - least_value(data, steps, here, pinned) + second
            assert found <= width, (data, told)
            exact += found == width > 0
    assert exact > 0
    assert rejected > 100


# --- families: ways with repeated parts ---------------------------------------------------------------

WORDS = [
    # a threshold once, and what is above and below it again and again
    machine_of(
        [state(False, "1/2"), state(rate="1/3"), state(rate="1/4")],
        [
            step(0, 1, "a", stored=[0]),
            step(1, 1, "b", below=[0]),
            step(1, 2, "c", above=[0]),
            step(2, 2, "d", above=[0]),
            step(2, 2, "insample", below=[0]),
        ],
    ),
    # values that follow each other
    machine_of(
        [state(rate="1/2"), state(rate="1/3", second=["1/7", "0"])],
        [
            step(0, 1, "a", stored=[0]),
            step(1, 1, "b", above=[0], stored=[0]),
            step(1, 0, "insample'", below=[0]),
        ],
    ),
    # what reads nothing is compared with what is put out once
    machine_of(
        [state(rate="1/2"), state(False, rate="1/3"), state(rate="1/5")],
        [
            step(0, 1, "insample", stored=[0]),
            step(1, 2, "a", above=[0], stored=[1]),
            step(2, 2, "b", above=[1]),
            step(2, 1, "c", below=[0]),
        ],
        2,
    ),
    # a value that is stored again and again
    machine_of(
        [state(False, "1/2"), state(rate="1/3"), state(rate="1/4")],
        [
            step(0, 1, "a", stored=[0, 1]),
            step(1, 1, "b", below=[0], stored=[1]),
            step(1, 2, "c", above=[0]),
            step(2, 2, "d", above=[1]),
            step(2, 2, "e", below=[1]),
        ],
        2,
    ),
]
PARTS: list[tuple[int, list[list[int]]]] = [
    (0, [[0], [1], [2], [3]]),
    (0, [[0], [1], [2], [4]]),
    (0, [[0], [1, 1]]),
    (1, [[0], [1]]),
    (1, [[0, 1, 2]]),
    (1, [[0], [1], [2]]),
    (2, [[0], [1], [2]]),
    (2, [[0], [1], [2, 3, 1]]),
    (1, [[0, 2], [0, 2]]),
    (3, [[0], [1], [2], [3]]),
]
# how many are accepted, by the number of the parts and the length of the chain: each is true by brute force
EXPECTED = {
    (0, 3): 1,
    (1, 1): 4,
    (3, 2): 1,
    (4, 1): 2,
    (4, 2): 4,
    (5, 2): 1,
    (6, 3): 1,
    (7, 2): 2,
    (7, 3): 1,
    (8, 1): 8,
    (8, 2): 8,
}


def test_chains_over_parts() -> None:
    """A chain from a part to another one is in one repetition of each, and no part is empty."""
    repeated = [False, True, False, True]
    parts = [{"steps": [k], "repeated": again} for k, again in enumerate(repeated)]
    for copies in itertools.product((0, 1), repeat=3):
        chain = [(part, 0, copy) for part, copy in zip((1, 0, 3), copies, strict=True)]
        family: Data = {"parts": parts, "chain": chain, "gain": "1/2"}
        found = accepted(check_family, machine(WORDS[0]), family)
        assert found == (None if any(copies) else (Fraction(1, 2), 1))


# below the sample before it; between equal ones; put out; whether 1 and 2 are above 0 changes again and again
FIRST, AT = step(0, 1, "a", stored=[0]), {"above": [0], "below": [0], "strict": []}
FALLING = machine_of([state(), state(rate="1/3")], [FIRST, step(1, 1, "b", below=[0], stored=[0])])
EQUAL = machine_of([state(), state()], [FIRST | {"strict": []}, step(1, 0, "b", **AT)])
RELEASED = machine_of([state()] * 2, [FIRST | {"output": "insample"}, step(1, 0, "insample", below=[0])])
ABOVE, STORED, NEXT = [[], [0], [], [1], [2], [3]], [0, 1, 2, 3, 1, 2], [1, 2, 3, 4, 5, 3]
TURNING = [step(k, NEXT[k], "a", above=ABOVE[k], stored=[STORED[k]]) for k in range(6)]
TURNS = machine_of([state()] * 7, [*TURNING, step(3, 6, "b", below=[0, 1])], 4)
NO_FAMILIES: list[tuple[Data, list[list[int]], list[tuple[int, int, int]], str, str]] = [
    (FALLING, [[0], [1]], [], "1", "there is no chain"),
    (EQUAL, [[], [0, 1]], [(1, 0, 0)], "1", "a part of the way is empty"),
    (EQUAL, [[0, 1], []], [(1, 0, 0)], "1", "a part of the way is empty"),
    *(
        (FALLING, [[0], [1]], [place], "1", "not in the way")
        for place in ((2, 0, 0), (-1, 0, 0), (1, 1, 0), (1, -1, 0), (1, 0, 2), (1, 0, -1))
    ),
    (FALLING, [[0], [1]], [(0, 0, 0), (1, 0, 0)], "2/3", "neither repeated nor output"),
    (FALLING, [[0], [1]], [(1, 0, 0), (0, 0, 0)], "2/3", "neither repeated nor output"),
    (FALLING, [[0], [1]], [(1, 0, 1), (1, 0, 1), (1, 0, 0)], "2/3", "from one repetition to the next"),
    (FALLING, [[0], [1, 1]], [(1, 0, 1), (1, 0, 0)], "2/3", "from one repetition to the next"),
    (FALLING, [[0], [1]], [(1, 0, 1), (1, 0, 0)], "1/3", "do not cost what the family says"),
    (EQUAL, [[0, 1], [0, 1]], [(1, 0, 0), (1, 1, 0), (1, 0, 0)], "2", "begins where it ends"),
    (RELEASED, [[0]], [(0, 0, 0)], "1", "is not repeated"),
    (RELEASED, [[0, 1]], [(0, 1, 0), (0, 0, 0)], "1", "do not cost what the family says"),
    (TURNS, [[0, 1, 2], [3, 4, 5]], [(1, 0, 0)], "1", "changes with every repetition"),
]


@pytest.mark.parametrize(("data", "parts", "chain", "gain", "told"), NO_FAMILIES)
def test_families_that_are_none(
    data: Data, parts: list[list[int]], chain: list[tuple[int, int, int]], gain: str, told: str
) -> None:
    """A chain of a first part, which is not repeated, and a second one, which is, has all that it needs."""
    family = {"parts": [{"steps": s, "repeated": bool(k)} for k, s in enumerate(parts)], "gain": gain}
    with pytest.raises(Rejected, match=told):
        check_family(machine(data), family | {"chain": chain})
    right = family | {"chain": [(1, 0, 1), (1, 0, 0)], "gain": "2/3"}
    assert (data, parts) != (FALLING, [[0], [1]]) or check_family(machine(data), right) == (Fraction(2, 3), 2)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "length"), [*sorted(EXPECTED.keys() - {(8, 2)}), (2, 2), (3, 0)])
def test_families(number: int, length: int) -> None:
    """A family that is accepted costs so much for each repetition, by brute force."""
    which, parts = PARTS[number]
    data, costs = WORDS[which], dict[tuple[int, ...], Fraction]()
    read = machine(data)
    gains = [
        Fraction(0),
        *sorted({Fraction(s["rate"]) * k for s in data["states"] for k in (1, 2)} | {Fraction(1, 7)}),
    ]
    places = [(p, s, c) for p, part in enumerate(parts) for s in range(len(part) + 1) for c in (0, 1)]
    places += [(len(parts), 0, 0), (0, -1, 0), (0, 0, 2), (0, 0, -1)]
    inside = [(p, s, 0) for p, part in enumerate(parts) for s in range(len(part))]
    shown = 0
    for repeated in itertools.product([False, True], repeat=len(parts)):
        told = [{"steps": s, "repeated": r} for s, r in zip(parts, repeated, strict=True)]
        way = tuple(n for s, r in zip(parts, repeated, strict=True) for n in s * (2 if r else 1))
        ends = [data["transitions"][n]["target"] for n in way[:-1]]
        joined = ends == [data["transitions"][n]["source"] for n in way[1:]]
        likely = joined and (len(way) > 6 or possible(comparisons(data, way), len(way), False))
        if not likely and length != 1:
            continue
        for chain in itertools.product(places if length < 3 else inside, repeat=length):
            for gain in gains:
                family = {"parts": told, "chain": list(chain), "gain": str(gain)}
                found = accepted(check_family, read, family)
                if found is None:
                    continue
                assert found == (gain, 1 + max(c for _, _, c in chain))
                assert gain > 0
                assert all(0 <= p < len(parts) and 0 <= s < len(parts[p]) for p, s, _ in chain)
                assert all(c in (0, 1) for _, _, c in chain)
                if len(way) <= 6 and way not in costs:
                    assert likely
                    costs[way] = max(cost(data, way, signs) for signs in corners(data, way))
                assert costs.get(way, gain * 2) >= gain * (2 // found[1]), (repeated, chain)
                shown += 1
    assert shown == EXPECTED.get((number, length), 0)
