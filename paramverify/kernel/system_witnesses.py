"""Witnesses about interactive systems: an observation that breaks or reaches a bound; ratios without limit.

A witness has two input sequences, `left` and `right`, that differ in one inserted data point; `place` is
where the longer one has the point more. Its `trace` is an observation: responses and queries in the order in
which they are seen. `closed` says that nothing is seen after the trace; otherwise anything may follow.

witness   The probabilities of the observation, computed forwards at a point of the domain, exceed the bound.
tight     The probabilities are as they are told, as functions on the domain; the right one is positive there.
          So every budget allows their quotient. If it is the bound, the bound is tight at every point. With
          `parameters` all this is about that point of the domain.
growth    Steps (inputs and responses in their order) of two runs, one with one data point more, and steps of
          a loop that both make. After the steps the runs are in vectors x and y of probabilities over states;
          the loop leads from x to λ·x and from y to μ·y with λ > μ. Each step is the only one that agrees
          with the observation: data points come where all states wait, responses where no state does. So the
          observation of the steps and k loops has the probabilities λ^k·|x| and μ^k·|y|, and no ratio bounds
          them. If inputs are assumed not to come in some states, none of these comes in one, however long
          the loop goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from .strict_reading import Misformed, Rejected
from .system_models import (
    SILENT,
    CheckedSystem,
    Weight,
    WeightSigns,
    after,
    ends_of,
)

# --- witnesses --------------------------------------------------------------------------------------

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


# --- lower bounds, and ratios without limit ---------------------------------------------------------

Vector = dict[int, Weight]


def check_tight(system: CheckedSystem, numbers: WeightSigns, ratio: Weight, told: Any) -> str:
    """Checks the observation of a lower bound; returns what it shows in words.

    Without one there is the bound 1, which every budget has.
    """
    if told is None:
        tight = numbers.equal(ratio, numbers.one)
        return f"no observation: the ratio 1 is {'reached' if tight else 'a lower bound'}"
    somewhere = "parameters" in told

    def same(left: Weight, right: Weight) -> bool:
        if not somewhere:
            return numbers.equal(left, right)
        return numbers.at_most([left], [right]) and numbers.at_most([right], [left])

    first, second = probabilities_of(system, numbers, told)
    if not numbers.sign(second[0], True):
        raise Rejected("the observation is not shown to be possible on the right")
    for k, (text, found) in enumerate(zip(told["probabilities"], (first, second), strict=True)):
        if not same(numbers.read(text), found):
            raise Misformed("the system gives another number", "tight", "probabilities", k)
    where = "at a point of the domain " if somewhere else ""
    if same(first, numbers.times(ratio, second)):
        return f"{where}an observation reaches the bound: the budget is tight"
    return f"{where}an observation has the ratio that is told: a lower bound"


def told_bounds(ratio: Any, told: Any) -> str:
    """Returns the proved bound, and the quotient of probabilities below it, as the document writes them."""
    upper = f"every ratio is at most {_plain(ratio)}"
    if told is None:
        return f"{upper}, and the largest is at least 1"
    left, right = map(_plain, told["probabilities"])
    try:
        lower = str(Fraction(left) / Fraction(right))
    except ValueError:  # functions, or powers of E
        lower = f"({left})/({right})"
    return f"{upper}, and the largest is at least {lower}"


def _plain(weight: Any) -> str:
    return weight if isinstance(weight, str) else f"({weight[0]})/({weight[1]})"


def check_growth(system: CheckedSystem, numbers: WeightSigns, told: Any) -> str:
    """Checks a loop by which a ratio grows for ever; returns what it shows in words."""
    left, right, loop = told["left"], told["right"], told["loop"]
    input_sequences(system, left, right, told["place"])
    given = [[a for a in steps if a < system.inputs] for steps in (left, right, loop)]
    check_admissible(system, numbers, *given)
    start: Vector = dict(ends_of(system, numbers, system.initial))
    x, y = (_after(system, numbers, start, steps) for steps in (left, right))
    factors = []
    for vector in (x, y):
        moved = _after(system, numbers, vector, loop)
        factor = _factor(numbers, vector, moved)
        factors.append(factor)
    larger, smaller = factors
    if numbers.at_most([larger], [smaller]):
        raise Rejected("the loop does not make the ratio grow")
    return "a loop makes the ratio grow without limit: a violation, and there is no budget"


def _after(system: CheckedSystem, numbers: WeightSigns, vector: Vector, steps: Sequence[int]) -> Vector:
    for action in steps:
        if not 0 <= action < system.hidden:
            raise Rejected(f"{action!r:.40} is neither an input nor a response")
        found: dict[int, list[Weight]] = {}
        for state, weight in vector.items():
            row = {} if state == SILENT else system.rows[state]
            waits = any(a < system.inputs for a in row)
            if action < system.data and action not in row:
                raise Rejected("a data point comes where a state does not take it")
            if action >= system.inputs and waits:
                raise Rejected("a response is taken where a state waits for an input")
            if action not in row:
                continue  # it shows something else, or nothing
            for s, share in after(system, numbers, state, action):
                found.setdefault(s, []).append(numbers.times(weight, share))
        vector = {s: numbers.sum(ws) for s, ws in found.items()}
    return vector


def _factor(numbers: WeightSigns, vector: Vector, moved: Vector) -> Weight:
    """Returns λ with moved = λ·vector, where signs are decided (at a point); vectors are positive."""
    positive = {s: w for s, w in vector.items() if numbers.sign(w[0], True)}
    after_it = {s: w for s, w in moved.items() if numbers.sign(w[0], True)}
    if not positive or positive.keys() != after_it.keys():
        raise Rejected("the loop leads to other states")
    first = next(iter(positive))
    top, bottom = after_it[first], positive[first]
    for state, weight in positive.items():
        low, high = numbers.times(after_it[state], bottom), numbers.times(top, weight)
        if not (numbers.at_most([low], [high]) and numbers.at_most([high], [low])):
            raise Rejected("the loop does not keep the vectors")
    return numbers.times(top, (bottom[1], bottom[0]))
