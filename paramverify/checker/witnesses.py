"""Witnesses about interactive systems: two input sequences, and the probability of an observation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .claims import (
    Rejected,
)
from .strict import Misformed
from .systems import (
    SILENT,
    CheckedSystem,
    Weight,
    WeightSigns,
    after,
    ends_of,
)

IMPOSSIBLE = "the observation is impossible with the other inputs: a violation, and there is no budget"


def check_violation(system: CheckedSystem, numbers: WeightSigns, ratio: Weight, witness: Any) -> str:
    """Checks that an observation exceeds the bound; returns the verdict in words."""
    first, second = probabilities_of(system, numbers, witness)
    if not numbers.sign(ratio[0], True):
        raise Misformed("the bound is not positive", "ratio")
    if numbers.at_most([first], [ratio, second]):
        raise Rejected("the probabilities are within the bound")
    for k, (told, found) in enumerate(zip(witness["probabilities"], (first, second), strict=True)):
        value = numbers.read(told)
        # Equal at the point of the witness, where `numbers` decides signs.
        if not (numbers.at_most([value], [found]) and numbers.at_most([found], [value])):
            raise Misformed("the system gives another number", "witness", "probabilities", k)
    if not numbers.sign(second[0], True):
        return IMPOSSIBLE
    return "the observation exceeds the bound: a violation"


def probabilities_of(system: CheckedSystem, numbers: WeightSigns, witness: Any) -> tuple[Weight, Weight]:
    """Returns the probabilities of the observation of a witness, with its left and with its right inputs.

    Raises:
        Rejected: they are no inputs that differ in one data point, or no observation.
    """
    left, right = ([_input(system, a) for a in witness[name]] for name in ("left", "right"))
    input_sequences(system, left, right, witness["place"])
    trace = [a for a in witness["trace"] if system.data <= a < system.hidden]
    if len(trace) != len(witness["trace"]):
        raise Rejected("the observation has something that is not seen")
    check_admissible(system, numbers, left, right)
    first, second = (
        _probability(system, numbers, inputs, trace, witness["closed"]) for inputs in (left, right)
    )
    return first, second


def check_admissible(
    system: CheckedSystem,
    numbers: WeightSigns,
    left: Sequence[int],
    right: Sequence[int],
    loop: Sequence[int] = (),
) -> None:
    """Checks that no input comes where the environment is assumed not to give it, with the loop for ever.

    Raises:
        Rejected: one does.
    """
    if system.partial and not all(_admissible(system, numbers, inputs, loop) for inputs in (left, right)):
        raise Rejected("an input comes that the environment is assumed not to give")


def input_sequences(system: CheckedSystem, left: list[int], right: list[int], place: int) -> None:
    """Checks that one sequence is the other with one data point more, at a place.

    Raises:
        Rejected: it is not.
    """
    longer, shorter = (left, right) if len(left) > len(right) else (right, left)
    if (
        not 0 <= place < len(longer)
        or longer[:place] + longer[place + 1 :] != shorter
        or not 0 <= longer[place] < system.data
    ):
        raise Rejected("the inputs do not differ in one inserted data point")


def _input(system: CheckedSystem, action: int) -> int:
    if not 0 <= action < system.inputs:
        raise Rejected(f"{action!r:.40} is not an input")
    return action


def _admissible(
    system: CheckedSystem, numbers: WeightSigns, inputs: Sequence[int], loop: Sequence[int]
) -> bool:
    """Tells whether no input comes in a state that waits and does not accept it.

    After the inputs come those of the loop, again and again.
    """
    given = (*inputs, *loop)
    pending = [(s, 0) for s, _ in ends_of(system, numbers, system.initial)]
    seen = set(pending)
    while pending:
        state, taken = pending.pop()
        row = {} if state == SILENT else system.rows[state]
        action = next(iter(row), None)
        waits = action is not None and action < system.inputs
        if waits:
            action = given[taken] if taken < len(given) else None
            if action is not None and action not in row:
                return False
        following = taken + waits
        if loop and following == len(given):
            following = len(inputs)
        for s, _ in () if action is None else after(system, numbers, state, action):
            if (s, following) not in seen:
                seen.add((s, following))
                pending.append((s, following))
    return True


def _probability(
    system: CheckedSystem, numbers: WeightSigns, inputs: Sequence[int], trace: Sequence[int], closed: bool
) -> Weight:
    """Returns the chance of observations that start with the trace; with `closed`, of it and nothing more."""
    level: dict[tuple[int, int, int], list[Weight]] = {}
    for s, w in ends_of(system, numbers, system.initial):
        level.setdefault((s, 0, 0), []).append(w)
    found: list[Weight] = []
    while level:
        following: dict[tuple[int, int, int], list[Weight]] = {}
        for (state, taken, seen), weights in level.items():
            weight = numbers.sum(weights)
            done = seen == len(trace)
            row = {} if state == SILENT else system.rows[state]
            action = next(iter(row), None)
            waits = action is not None and action < system.inputs
            if waits:
                action = inputs[taken] if taken < len(inputs) and inputs[taken] in row else None
            if done and (not closed or action is None):
                found.append(weight)
            if action is None or (done and not closed):
                continue
            shown = action >= system.data
            if shown and (done or trace[seen] != action):
                continue
            for s, share in after(system, numbers, state, action):
                key = (s, taken + waits, seen + shown)
                following.setdefault(key, []).append(numbers.times(weight, share))
        level = following
    return numbers.sum(found)
