"""Systems from a Python step function: the reachable states are explored, breadth first."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TypeVar

from paramverify.algebra.polynomials import Ring
from paramverify.errors import LimitError, ModelError
from paramverify.models.systems.system import Actions, Distribution, System, rows_of
from paramverify.models.systems.weights import Weight, Weights, is_number

State = TypeVar("State", bound=Hashable)
Steps = Iterable[tuple[str, Mapping[State, Weight]]]

LIMIT = 1_000_000


def explore(
    initial: State,
    step: Callable[[State], Steps[State]],
    actions: Actions,
    *,
    ring: Ring | None = None,
    partial: bool = False,
    limit: int = LIMIT,
    name: Callable[[State], str] = str,
    progress: Callable[[int, int], None] | None = None,
) -> System:
    """Returns the system of the states that are reachable from `initial`.

    `step(state)` yields (action, {successor: probability}) for every enabled action; probabilities are whole
    numbers, `Fraction`s, flint rationals, or rational functions of `ring`. `name` gives the state in words;
    different states may have the same one. `progress` is called with the number of states that were expanded
    and of those that are known. The conditions on systems are checked by `wellformed.check`.

    Raises:
        LimitError: more than `limit` states.
        ModelError: an action that is not declared, or that is enabled twice in one state.
    """
    numbers = {action: number for number, action in enumerate(actions.names)}
    index: dict[State, int] = {initial: 0}
    order: list[State] = [initial]
    found: list[tuple[int, int, list[tuple[int, Weight]]]] = []
    numeric = True
    for state, known in enumerate(order):  # grows while it is walked through
        for action, distribution in step(known):
            if action not in numbers:
                raise ModelError(f"state {name(known)!r}: the action {action!r} is not declared")
            entries: list[tuple[int, Weight]] = []
            for successor, weight in distribution.items():
                at = index.get(successor)
                if at is None:
                    at = index[successor] = len(order)
                    order.append(successor)
                    if len(order) > limit:
                        raise LimitError(f"the system has more than {limit:,} reachable states")
                entries.append((at, weight))
                numeric = numeric and is_number(weight)
            found.append((state, numbers[action], entries))
        if progress and state % 1000 == 999:
            progress(state + 1, len(order))
    weights = Weights(ring or Ring(), numeric)
    memory: dict[int, tuple[Weight, Weight]] = {}

    def converted(weight: Weight) -> Weight:
        # The same object stands for the same probability; it is kept, so its id is not used again.
        if id(weight) not in memory:
            memory[id(weight)] = (weight, weights.of(weight))
        return memory[id(weight)][1]

    def steps() -> Iterable[tuple[int, int, Distribution]]:
        for state, action, entries in found:
            yield state, action, tuple((s, converted(w)) for s, w in entries)

    names = tuple(name(state) for state in order)
    return System(
        names, actions, initial=0, rows=rows_of(names, actions, steps()), weights=weights, partial=partial
    )
