"""Systems from a Python step function: the reachable states are explored, breadth first."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

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
    fields: Callable[[State], Mapping[str, int]] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> System:
    """Returns the system of the states that are reachable from `initial`.

    `step(state)` yields (action, {successor: probability}) for every enabled action; probabilities are whole
    numbers, `Fraction`s, flint rationals, or rational functions of `ring`. `name` gives the state in words;
    different states may have the same one. `fields` gives the variables of a state. `progress` is called with
    the number of states that were expanded and of those that are known. The conditions on systems are checked
    by `wellformed.check`.

    Raises:
        LimitError: more than `limit` states.
        ModelError: an action that is not declared, or that is enabled twice in one state.
    """
    reached = _Reached(initial, limit)
    numbers = {action: number for number, action in enumerate(actions.names)}
    found: list[tuple[int, int, list[tuple[int, Weight]]]] = []
    for state, known in enumerate(reached.order):  # grows while it is walked through
        for action, distribution in step(known):
            if action not in numbers:
                raise ModelError(f"state {name(known)!r}: the action {action!r} is not declared")
            found.append((state, numbers[action], reached.numbered(distribution)))
        if progress and state % 1000 == 999:
            progress(state + 1, len(reached.order))
    weights = Weights(ring or Ring(), reached.numeric)
    memory: dict[int, tuple[Weight, Weight]] = {}

    def converted(weight: Weight) -> Weight:
        # The same object stands for the same probability; it is kept, so its id is not used again.
        if id(weight) not in memory:
            memory[id(weight)] = (weight, weights.of(weight))
        return memory[id(weight)][1]

    def steps() -> Iterable[tuple[int, int, Distribution]]:
        for state, action, entries in found:
            yield state, action, tuple((s, converted(w)) for s, w in entries)

    names = tuple(name(state) for state in reached.order)
    return System(
        names,
        actions,
        initial=0,
        rows=rows_of(names, actions, steps()),
        weights=weights,
        partial=partial,
        variables=columns([fields(state) for state in reached.order]) if fields else {},
    )


def columns(rows: Sequence[Mapping[str, int]]) -> dict[str, tuple[int | None, ...]]:
    """Returns the variables of states by name, from those of each state."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: tuple(row.get(name) for row in rows) for name in names}


class _Reached(Generic[State]):
    """The states that were reached, in the order in which they were; whether all weights are numbers."""

    def __init__(self, initial: State, limit: int) -> None:
        self.order: list[State] = [initial]
        self.index: dict[State, int] = {initial: 0}
        self.limit = limit
        self.numeric = True

    def numbered(self, distribution: Mapping[State, Weight]) -> list[tuple[int, Weight]]:
        """Returns a distribution over numbers of states; new states get the next ones."""
        entries: list[tuple[int, Weight]] = []
        for successor, weight in distribution.items():
            at = self.index.get(successor)
            if at is None:
                at = self.index[successor] = len(self.order)
                self.order.append(successor)
                if len(self.order) > self.limit:
                    raise LimitError(f"the system has more than {self.limit:,} reachable states")
            entries.append((at, weight))
            self.numeric = self.numeric and is_number(weight)
        return entries
