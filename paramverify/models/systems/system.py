"""Interactive systems as data ([T]: probabilistic labelled transition systems).

Inputs are data points, which the analyst does not see, and queries, which the analyst sees; outputs are
responses, which the analyst sees, and hidden actions. In each state an action leads to a distribution over
states. A state that accepts inputs waits for one; elsewhere at most one output is enabled, and happens.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from paramverify.errors import ModelError
from paramverify.models.systems.weights import Weight, Weights, is_zero

Distribution = tuple[tuple[int, Weight], ...]  # (state, positive probability)
Row = Mapping[int, Distribution]  # by action


class StateKind(Enum):
    """What a state does next: take an input, respond, move unseen, or nothing for ever."""

    INPUT = "input"
    RESPONSE = "response"
    HIDDEN = "hidden"
    STOPPED = "stopped"


@dataclass(frozen=True)
class Actions:
    """The names of all actions; they are numbered in this order."""

    data: tuple[str, ...]
    queries: tuple[str, ...]
    responses: tuple[str, ...]
    hidden: tuple[str, ...]

    def __post_init__(self) -> None:
        first: dict[str, str] = {}
        for kind in ("data", "queries", "responses", "hidden"):
            for name in getattr(self, kind):
                if first.get(name) == kind:
                    raise ModelError(f"the action {name!r} is in {kind} twice")
                if name in first:
                    raise ModelError(f"the action {name!r} is in {first[name]} and in {kind}")
                first[name] = kind

    @property
    def names(self) -> tuple[str, ...]:
        """All names, in the order of their numbers."""
        return (*self.data, *self.queries, *self.responses, *self.hidden)

    @property
    def inputs(self) -> range:
        """The numbers of data points and queries."""
        return range(len(self.data) + len(self.queries))

    @property
    def points(self) -> range:
        """The numbers of the data points."""
        return range(len(self.data))

    def is_hidden(self, action: int) -> bool:
        """Tells whether an action is hidden."""
        return action >= len(self.inputs) + len(self.responses)

    def kind(self, row: Row) -> StateKind:
        """Returns what a state with this well-formed row does next."""
        for action in row:
            if action in self.inputs:
                return StateKind.INPUT
            return StateKind.HIDDEN if self.is_hidden(action) else StateKind.RESPONSE
        return StateKind.STOPPED


@dataclass(frozen=True, eq=False)
class System:
    """A system: states by name, its actions, the initial state, and one row for each state.

    With `partial`, an input that a waiting state does not accept is one that the environment is assumed never
    to give there; otherwise a waiting state accepts every input. `variables` are the fields that conditions
    are about: by name a whole number for each state, or None where it has none.
    """

    states: tuple[str, ...]
    actions: Actions
    initial: int
    rows: tuple[Row, ...]
    weights: Weights
    partial: bool = False
    variables: Mapping[str, tuple[int | None, ...]] = field(default_factory=dict)

    def kind(self, state: int) -> StateKind:
        """Returns what a state does next."""
        return self.actions.kind(self.rows[state])


def rows_of(
    names: Iterable[str], actions: Actions, steps: Iterable[tuple[int, int, Distribution]]
) -> tuple[Row, ...]:
    """Returns one row for each state from (state, action, distribution) triples; zero entries are left out.

    Raises:
        ModelError: two distributions for one state and action (the system is not transition-deterministic).
    """
    states = tuple(names)
    rows: list[dict[int, Distribution]] = [{} for _ in states]
    for state, action, distribution in steps:
        if action in rows[state]:
            name = actions.names[action]
            raise ModelError(f"state {states[state]!r}: two transitions for the action {name!r}")
        rows[state][action] = tuple((s, w) for s, w in distribution if not is_zero(w))
    return tuple(rows)


def reachable_part(system: System) -> System:
    """Returns the system without the states that no steps lead to from the initial state.

    No run comes to them, so all probabilities of observations stay what they are.
    """
    reached = {system.initial}
    pending = [system.initial]
    while pending:
        after = {s for step in system.rows[pending.pop()].values() for s, _ in step} - reached
        reached |= after
        pending.extend(after)
    if len(reached) == len(system.states):
        return system
    kept = sorted(reached)
    place = {s: k for k, s in enumerate(kept)}
    rows = ({a: tuple((place[t], w) for t, w in step) for a, step in system.rows[s].items()} for s in kept)
    return replace(
        system,
        states=tuple(system.states[s] for s in kept),
        initial=place[system.initial],
        rows=tuple(rows),
        variables={name: tuple(values[s] for s in kept) for name, values in system.variables.items()},
    )
