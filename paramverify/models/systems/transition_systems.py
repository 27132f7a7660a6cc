"""Interactive systems as data ([T]: probabilistic labelled transition systems), their probabilities and
conditions.

Inputs are data points, which the analyst does not see, and queries, which the analyst sees; outputs are
responses, which the analyst sees, and hidden actions. In each state an action leads to a distribution over
states. A state that accepts inputs waits for one; elsewhere at most one output is enabled, and happens.

Probabilities of an interactive system: flint rationals, or rational functions of the parameters.

Both know + − * / and ==. A system uses one kind throughout: rationals where all of its probabilities are
numbers, which is the fast way, and rational functions otherwise.

The conditions on a system, each with a named counterexample where it fails ([T]).

Transition-deterministic: a state has at most one distribution for an action (checked by `rows_of`).
Output-deterministic: where an output is enabled, nothing else is. Quasi-input-enabled: where an input is
enabled, all of them are, unless the environment is assumed not to give it there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from typing import Any

from flint import fmpq

from paramverify.algebra.polynomials import RationalFunction, Ring, constant_value, is_constant, rational
from paramverify.errors import ModelError
from paramverify.models.context import Checks

Weight = Any  # fmpq or RationalFunction; python-flint has no types


@dataclass(frozen=True)
class Weights:
    """The kind of probabilities that a system has: those of a ring, as numbers or as functions."""

    ring: Ring
    numeric: bool

    @property
    def zero(self) -> Weight:
        """The probability 0."""
        return self.of(Fraction(0))

    @property
    def one(self) -> Weight:
        """The probability 1."""
        return self.of(Fraction(1))

    def of(self, value: Weight | Fraction | int) -> Weight:
        """Returns a number or a function as a weight of this kind; a function that is no number stays one."""
        if isinstance(value, RationalFunction):
            return number_of(value) if self.numeric else value
        number = rational(value) if isinstance(value, (int, Fraction)) else value
        return number if self.numeric else as_function(number, self.ring)


def number_of(function: RationalFunction) -> fmpq:
    """Returns a constant rational function as a flint rational."""
    return rational(constant_value(function.numerator) / constant_value(function.denominator))


def is_number(value: object) -> bool:
    """Tells whether a weight is a number, in whichever form."""
    if isinstance(value, RationalFunction):
        return is_constant(value.numerator) and is_constant(value.denominator)
    return True


def is_zero(weight: Weight) -> bool:
    """Tells whether a weight is identically zero."""
    return not (weight.numerator if isinstance(weight, RationalFunction) else weight)


def as_function(weight: Weight, ring: Ring) -> RationalFunction:
    """Returns a weight as a rational function of the ring."""
    if isinstance(weight, RationalFunction):
        return weight
    return RationalFunction.of(ring.context.constant(weight))


def text(weight: Weight) -> str:
    """Returns the canonical text: equal weights of one kind have equal texts."""
    return str(weight)


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
                    raise ModelError(f"the action {name!r} is listed twice in {kind}")
                if name in first:
                    raise ModelError(
                        f"the action {name!r} is in both {first[name]} and {kind}; remove it from one of them"
                    )
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
            raise ModelError(f"state {states[state]!r} has two transitions for the action {name!r}")
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


def check(system: System, checks: Checks) -> None:
    """Checks output determinism, quasi-input-enabledness, and that every step is a distribution.

    What is not decided at once about parametric probabilities becomes an obligation of `checks`.

    Raises:
        ModelError: a condition fails; the message names the state and the actions.
    """
    names = system.actions.names
    inputs = system.actions.inputs
    seen: set[tuple[str, ...]] = set()
    for state, row in enumerate(system.rows):
        where = f"state {system.states[state]!r}"
        outputs = [a for a in row if a not in inputs]
        if outputs and len(row) > 1:
            other = next(a for a in row if a != outputs[0])
            raise ModelError(
                f"{where} is not output-deterministic: it enables both {names[outputs[0]]!r} and "
                f"{names[other]!r}"
            )
        if row and not outputs and len(row) < len(inputs) and not system.partial:
            missing = next(a for a in inputs if a not in row)
            given = names[next(iter(row))]
            raise ModelError(
                f"{where} is not quasi-input-enabled: it accepts {given!r}, but not {names[missing]!r}"
            )
        for action, distribution in row.items():
            what = f"{where}, action {names[action]!r}"
            if system.weights.numeric:
                if any(w < 0 for _, w in distribution):
                    raise ModelError(f"{what}: a probability is negative")
                total = sum((w for _, w in distribution), system.weights.zero)
                if total != 1:
                    raise ModelError(f"{what}: the probabilities sum to {total} instead of 1")
                continue
            key = tuple(text(w) for _, w in distribution)
            if key not in seen:
                seen.add(key)
                table = {
                    f"{system.states[s]} ({k})": as_function(w, system.weights.ring)
                    for k, (s, w) in enumerate(distribution)
                }
                checks.distribution(table, what)
