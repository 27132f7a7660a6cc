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

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from .quotient_values import QuotientValues, Value, gathered, same, spread, written
from .strict_reading import Misformed, Rejected
from .system_models import CheckedSystem, Distribution

# --- witnesses --------------------------------------------------------------------------------------

IMPOSSIBLE = "the observation is impossible with the other inputs: a violation, and there is no budget"


def check_violation(system: CheckedSystem, values: QuotientValues, ratio: Value, witness: Any) -> str:
    """Checks that an observation exceeds the bound; returns the verdict in words."""
    first, second = probabilities_of(system, witness)
    if not values.shows(ratio, strict=True):
        raise Misformed("the bound is not positive", "ratio")
    if values.at_most(first, ratio * second):
        raise Rejected("the probabilities are within the bound, so nothing is violated")
    _check_told(values, (first, second), witness, "witness")
    if not values.shows(second, strict=True):
        return IMPOSSIBLE
    return "the observation exceeds the bound: a violation"


def _check_told(values: QuotientValues, found: Sequence[Value], told: Any, name: str) -> None:
    """Checks that the probabilities of an observation are those that are told."""
    for k, (text, value) in enumerate(zip(told["probabilities"], found, strict=True)):
        if not same(values.read(text), value):
            raise Misformed("the system has another probability", name, "probabilities", k)


def probabilities_of(system: CheckedSystem, witness: Any) -> tuple[Value, Value]:
    """Returns the probabilities of the observation of a witness, with its left and with its right inputs.

    Raises:
        Rejected: they are no inputs that differ in one data point, or no observation.
    """
    left, right, trace = witness["left"], witness["right"], witness["trace"]
    for action in (*left, *right):
        if not 0 <= action < system.inputs:
            raise Rejected(f"{action!r:.40} is not an input")
    input_sequences(system, left, right, witness["place"])
    if not all(system.data <= action < system.hidden for action in trace):
        raise Rejected("the observation contains an action that is not seen")
    check_admissible(system, left, right)
    first, second = (_probability(system, inputs, trace, witness["closed"]) for inputs in (left, right))
    return first, second


def check_admissible(
    system: CheckedSystem, left: Sequence[int], right: Sequence[int], loop: Sequence[int] = ()
) -> None:
    """Checks that no input comes where the environment is assumed not to give it, with the loop for ever.

    Raises:
        Rejected: one does.
    """
    if system.partial and not all(_admissible(system, inputs, loop) for inputs in (left, right)):
        raise Rejected("an input arrives that the environment is assumed not to send")


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
        raise Rejected("the inputs must differ in one inserted data point")


def _turn(system: CheckedSystem, state: int, inputs: Sequence[int], taken: int) -> tuple[int | None, int]:
    """Returns what a state does next, None if it is nothing, and how many of the inputs are taken then."""
    if not system.waits(state):
        return next(iter(system.rows[state]), None), taken
    return (inputs[taken], taken + 1) if taken < len(inputs) else (None, taken)


def _admissible(system: CheckedSystem, inputs: Sequence[int], loop: Sequence[int]) -> bool:
    """Tells whether no input comes in a state that waits and does not accept it.

    After the inputs come those of the loop, again and again.
    """
    given = (*inputs, *loop)
    pending = [(state, 0) for state in system.start]
    seen = set(pending)
    for state, taken in pending:  # grows while it is walked through
        action, following = _turn(system, state, given, taken)
        if action is None:
            continue
        if action not in system.rows[state]:
            return False
        if following == len(given):
            following = len(inputs)
        fresh = {(s, following) for s in system.after(state, action)} - seen
        seen |= fresh
        pending += fresh
    return True


def _probability(system: CheckedSystem, inputs: Sequence[int], trace: Sequence[int], closed: bool) -> Value:
    """Returns the chance of observations that start with the trace; with `closed`, of it and nothing more."""
    level = {(state, 0, 0): weight for state, weight in system.start.items()}
    found: Value = Fraction(0)
    while level:
        following: list[tuple[tuple[int, int, int], Value]] = []
        for (state, taken, seen), weight in level.items():
            action, given = _turn(system, state, inputs, taken)
            if seen == len(trace) and (not closed or action is None):
                found = found + weight
            elif action is not None and (action < system.data or list(trace[seen : seen + 1]) == [action]):
                shown = action >= system.data
                for s, share in system.after(state, action).items():
                    following.append(((s, given, seen + shown), weight * share))
        level = gathered(following)
    return found


# --- lower bounds, and ratios without limit ---------------------------------------------------------


def check_tight(system: CheckedSystem, values: QuotientValues, ratio: Value, told: Any) -> str:
    """Checks the observation of a lower bound; returns what it shows in words.

    Without one there is the bound 1, which every budget has.
    """
    if told is None:
        return f"no observation: the ratio 1 is {'reached' if same(ratio, 1) else 'a lower bound'}"
    first, second = probabilities_of(system, told)
    if not values.shows(second, strict=True):
        raise Rejected("the observation is not shown to be possible on the right")
    _check_told(values, (first, second), told, "tight")
    where = "at a point of the domain " if "parameters" in told else ""
    if same(first, ratio * second):
        return f"{where}an observation reaches the bound: the budget is tight"
    return f"{where}an observation has the stated ratio, which is a lower bound"


def told_bounds(ratio: Any, told: Any) -> str:
    """Returns the proved bound, and the quotient of probabilities below it, as the document writes them."""
    upper = f"budget: every ratio is at most {written(ratio)}"
    if told is None:
        return f"{upper}, and the largest is at least 1"
    left, right = map(written, told["probabilities"])
    try:
        lower = str(Fraction(left) / Fraction(right))
    except ValueError:  # functions, or powers of E
        lower = f"({left})/({right})"
    return f"{upper}, and the largest is at least {lower}"


def check_growth(system: CheckedSystem, values: QuotientValues, told: Any) -> str:
    """Checks a loop by which a ratio grows for ever; returns what it shows in words."""
    left, right, loop = told["left"], told["right"], told["loop"]
    input_sequences(system, left, right, told["place"])
    given = [[a for a in steps if a < system.inputs] for steps in (left, right, loop)]
    check_admissible(system, *given)
    # λ = a/b and μ = c/d, where a and c are values after the loop, and b and d those before it.
    (a, b), (c, d) = (_factor(system, _after(system, system.start, steps), loop) for steps in (left, right))
    if values.at_most(a * d, c * b):
        raise Rejected("the loop does not increase the ratio")
    return "a loop makes the ratio grow without limit: a violation, and there is no budget"


def _after(system: CheckedSystem, vector: Distribution, steps: Sequence[int]) -> Distribution:
    for action in steps:
        if not 0 <= action < system.hidden:
            raise Rejected(f"{action!r:.40} is neither an input nor a response")
        if any(action < system.data and action not in system.rows[state] for state in vector):
            raise Rejected("a data point arrives where a state does not accept it")
        if any(action >= system.inputs and system.waits(state) for state in vector):
            raise Rejected("a response is taken in a state that waits for an input")

        def step(state: int, action: int = action) -> Iterable[tuple[int, Value]]:
            # Without the action the state shows something else, or nothing.
            return system.after(state, action).items() if action in system.rows[state] else ()

        vector = spread(vector, step)
    return vector


def _factor(system: CheckedSystem, vector: Distribution, loop: Sequence[int]) -> tuple[Value, Value]:
    """Returns a and b, so that the loop multiplies a vector of numbers at a point by a/b."""
    before, after = (
        {s: w for s, w in found.items() if w != Fraction(0)}
        for found in (vector, _after(system, vector, loop))
    )
    if not before or before.keys() != after.keys():
        raise Rejected("the loop leads to other states than it started from")
    first = next(iter(before))
    if not all(same(after[s] * before[first], after[first] * w) for s, w in before.items()):
        raise Rejected("the loop does not keep the vectors")
    return after[first], before[first]
