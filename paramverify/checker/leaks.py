"""Budgets of interactive systems: an observation that reaches the bound, and ratios without limit.

tight     Two input sequences that differ in one inserted data point, and an observation with the
          probabilities that are told, as functions on the domain; the right one is positive there. So every
          budget allows their quotient. If it is the bound, the bound is tight at every point. With
          `parameters` all this is about that point of the domain.
growth    Steps (inputs and responses in their order) of two runs, one with one data point more, and steps of
          a loop that both make. After the steps the runs are in vectors x and y of probabilities over states;
          the loop leads from x to λ·x and from y to μ·y with λ > μ. Each step is the only one that agrees
          with the observation: data points come where all states wait, responses where no state does. So the
          observation of the steps and k loops has the probabilities λ^k·|x| and μ^k·|y|, and no ratio bounds
          them. Where inputs are assumed not to come in some states, none of these comes in one, however long
          the loop goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from .strict import Misformed, Rejected
from .systems import SILENT, CheckedSystem, Weight, WeightSigns, after, ends_of
from .witnesses import check_admissible, input_sequences, probabilities_of

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
