"""Subroutine composition: a hidden step is replaced by an automaton that ends alike ([T]).

If an automaton of hidden steps ends in the same states with the same probabilities as the step that it
replaces, then all closures stay what they were, and so do all unwinding families, costs and refutations.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import replace

from paramverify.algebra.polynomials import Ring
from paramverify.errors import ModelError
from paramverify.interactive.closure import SILENT, Closures, Positive
from paramverify.models.systems.explore import explore
from paramverify.models.systems.system import Actions, Distribution, StateKind, System, rows_of
from paramverify.models.systems.weights import Weight, Weights, as_function, is_number, text

Automaton = Mapping[Hashable, Mapping[Hashable, Weight]]

_STEP = Actions((), (), (), ("step",))


def ends_of(
    automaton: Automaton, start: Hashable, ring: Ring | None = None, positive: Positive | None = None
) -> dict[Hashable, Weight]:
    """Returns the distribution over terminal states of an automaton; what never ends has the key None.

    `automaton` gives the next states of each state that is not terminal. `positive` is as in `Closures`.
    """
    order: list[Hashable] = []
    numbers: dict[int, Hashable] = {}

    def step(state: Hashable) -> list[tuple[str, Mapping[Hashable, Weight]]]:
        order.append(state)
        return [("step", automaton[state])] if state in automaton else []

    system = explore(start, step, _STEP, ring=ring)
    numbers = dict(enumerate(order))
    found = Closures(system, positive).of(system.initial)
    return {None if s == SILENT else numbers[s]: w for s, w in found}


def substitute(
    system: System,
    state: str,
    automaton: Automaton,
    start: Hashable,
    ends: Mapping[Hashable, str],
    positive: Positive | None = None,
) -> System:
    """Returns the system with the hidden step of one state replaced by an automaton, started at `start`.

    `ends` names the state of the system for each terminal state of the automaton.

    Raises:
        ModelError: the state has no hidden step, or the distributions differ; the message says where.
    """
    index = {name: number for number, name in enumerate(system.states)}
    unknown = next((name for name in (state, *ends.values()) if name not in index), None)
    if unknown is not None:
        raise ModelError(f"{unknown!r} is not a state of the system")
    place = index[state]
    if system.kind(place) is not StateKind.HIDDEN:
        raise ModelError(f"state {state!r} has no hidden step that could be replaced")
    ring = system.weights.ring
    action, step = next(iter(system.rows[place].items()))
    found: dict[int, Weight] = {}
    for end, weight in ends_of(automaton, start, ring, positive).items():
        if end is None or end not in ends:
            what = "may never end" if end is None else f"may end in {end!r}"
            raise ModelError(f"the automaton for {state!r} {what}, with probability {text(weight)}")
        at = index[ends[end]]
        found[at] = found[at] + weight if at in found else weight
    wanted = dict(step)
    for at in dict.fromkeys([*wanted, *found]):
        left, right = (as_function(d.get(at, system.weights.zero), ring) for d in (wanted, found))
        if left != right:
            name = system.states[at]
            raise ModelError(
                f"the automaton for {state!r} ends in {name!r} with {right}, the step with {left}"
            )
    return _replaced(
        system,
        place,
        action=action,
        automaton=automaton,
        start=start,
        ends={k: index[v] for k, v in ends.items()},
    )


def _replaced(
    system: System,
    place: int,
    action: int,
    automaton: Automaton,
    start: Hashable,
    ends: Mapping[Hashable, int],
) -> System:
    used = {s: len(system.states) + k for k, s in enumerate(automaton)}
    numeric = system.weights.numeric and all(is_number(w) for row in automaton.values() for w in row.values())
    weights = Weights(system.weights.ring, numeric)
    where = {**ends, **used}

    def converted(step: Distribution) -> Distribution:
        return tuple((s, weights.of(w)) for s, w in step)

    steps = [
        (s, a, converted(step)) for s, row in enumerate(system.rows) for a, step in row.items() if s != place
    ]
    steps.append((place, action, ((where[start], weights.one),)))
    for s, row in automaton.items():
        total: dict[int, Weight] = {}
        for after, weight in row.items():
            at, share = where[after], weights.of(weight)
            total[at] = total[at] + share if at in total else share
        steps.append((used[s], action, tuple(total.items())))
    names = [*system.states]
    for s in automaton:
        names.append(_fresh(f"{system.states[place]}: {s}", names))
    more = (None,) * len(automaton)
    return replace(
        system,
        states=tuple(names),
        rows=rows_of(names, system.actions, steps),
        weights=weights,
        variables={name: (*values, *more) for name, values in system.variables.items()},
    )


def _fresh(name: str, names: Collection[str]) -> str:
    """Returns a name that no state has: the given one, with as many apostrophes as it takes."""
    while name in names:
        name += "'"
    return name
