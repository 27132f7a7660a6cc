"""Runs that end because no guard is true: the end is no output, so no example may rest on it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import islice, product
from typing import Any

import pytest
from automaton_oracle import random_text, ways

from paramverify.automata.automaton import Automaton, parse_automaton
from paramverify.automata.automaton_evidence import machine as written
from paramverify.automata.stored_values import explore, may_end
from paramverify.automata.stream_verdicts import find_example, verify
from paramverify.errors import InputError
from paramverify.kernel.automaton_runs import FIRST, machine, runs_out, walk
from paramverify.portfolio.session import Options


def ends_by_force(automaton: Automaton, way: Sequence[int], whole: bool) -> bool:
    """Whether some numbers lead along a part of a way to a state where no guard is true."""
    for numbers in product(range(len(way)), repeat=len(way)):
        if not whole and len(set(numbers)) < len(numbers):
            continue
        held: dict[int, int] = {}
        state = 0
        for number, sample in zip(way, numbers, strict=True):
            taken = [k for k in automaton.leaving[state] if is_true(automaton, k, sample, held)]
            if not taken:
                return True
            if taken != [number]:
                break
            step = automaton.transitions[number]
            held |= dict.fromkeys(step.stored, sample)
            state = step.target
    return False


def is_true(automaton: Automaton, number: int, sample: int, held: dict[int, int]) -> bool:
    step = automaton.transitions[number]
    above = all(sample > held[v] or (sample == held[v] and v not in step.apart) for v in step.above)
    return above and all(sample < held[v] or (sample == held[v] and v not in step.apart) for v in step.below)


def ends_in_the_kernel(automaton: Automaton, way: Sequence[int]) -> bool:
    """What the kernel says of a way."""
    read = machine(written(automaton))
    order = FIRST
    for number in way:
        if runs_out(read, order):
            return True
        order = walk(read, order, number)
    return False


def automata(whole: bool, count: int) -> list[Automaton]:
    """Random automata that are some."""

    def some() -> Any:
        for seed in range(10**6):
            try:
                automaton = parse_automaton(random_text(random.Random(seed), whole))
                explore(automaton)
            except InputError:
                continue
            yield automaton

    return list(islice(some(), count))


@pytest.mark.slow
@pytest.mark.parametrize("whole", [False, True])
def test_where_runs_may_end(whole: bool) -> None:
    """All orders of up to four samples, one by one, agree with both readers."""
    seen = []
    for automaton in automata(whole, 60):
        for way in [way for way in ways(automaton, 4) if len(way) >= 2][:6]:
            wanted = ends_by_force(automaton, way, whole)
            assert may_end(automaton, way) == wanted
            assert ends_in_the_kernel(automaton, way) == wanted
            seen.append(wanted)
    assert {*seen} == {False, True}


@pytest.mark.parametrize("otherwise", ["", " elseif (insample >= t) then output oabove; goto q3"])
def test_no_example_rests_on_an_end(otherwise: str) -> None:
    """An example is about a way, or about all other outputs where there are some."""
    report = verify(
        parse_automaton(
            "(q1:non-input, 1, 9/10): t := insample; output ostart; goto q2\n"
            f"(q2, 1/4, 0): if (insample < t) then output obelow; goto q3{otherwise}\n"
        )
    )
    found = find_example(report, Fraction(1, 5), Options(seconds=20)).example
    assert found is not None
    assert found is not None
    assert (found.witness.observations == ("other",)) == bool(otherwise)
