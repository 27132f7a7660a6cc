"""The probability of an observation, by a simple evaluation that shares nothing with the search.

The chances of hidden steps are found here by eliminating one state after the other, in whatever order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import Point, RationalFunction, Ring, substitute
from paramverify.models.systems.system import Distribution, System
from paramverify.models.systems.weights import Weight, Weights, is_number, is_zero

Inputs = tuple[int, ...]


@dataclass(frozen=True)
class AnalystView:
    """What an analyst sees: queries and responses in their order; with `closed`, and then nothing more.

    Without it, anything may follow. Both are sets of observable traces.
    """

    trace: tuple[int, ...]
    closed: bool = False


def at_point(system: System, domain: Domain, point: Point) -> System:
    """Returns the system at one point of the domain: its probabilities are numbers, up to the constant E."""
    if system.weights.numeric:
        return system
    ring: Ring = domain.ring
    values = {name: point[name] for name in ring.parameters}
    memory: dict[str, Weight] = {}

    def value(weight: RationalFunction) -> Weight:
        key = str(weight)
        if key not in memory:
            memory[key] = RationalFunction.of(
                substitute(weight.numerator, values), substitute(weight.denominator, values)
            )
        return memory[key]

    rows = [{a: tuple((s, value(w)) for s, w in step) for a, step in row.items()} for row in system.rows]
    numeric = all(map(is_number, memory.values()))
    weights = Weights(ring, numeric)
    found = tuple(
        {a: tuple((s, weights.of(w)) for s, w in step if not is_zero(w)) for a, step in row.items()}
        for row in rows
    )
    return System(
        system.states,
        system.actions,
        initial=system.initial,
        rows=found,
        weights=weights,
        partial=system.partial,
    )


def probability(system: System, inputs: Inputs, event: AnalystView) -> Weight:
    """Returns the probability of an event when the system is given the inputs; all probabilities are numbers.

    An input is taken when the system waits for one. An input that it does not accept there, which the
    environment is assumed not to give, and inputs after the system has stopped, are never taken.
    """
    queries = set(system.actions.inputs) - set(system.actions.points)
    steps = _without_hidden(system)
    zero = system.weights.zero
    # (state, inputs taken, length of the observation so far): what is left of the run depends on these only.
    weights: dict[tuple[int, int, int], Weight] = {}
    total = zero

    def put(distribution: Distribution, factor: Weight, taken: int, seen: int) -> None:
        for state, share in distribution:
            key = (state, taken, seen)
            weights[key] = weights.get(key, zero) + factor * share

    def open_end(lost: Weight, seen: int) -> Weight:
        return lost if event.closed and seen == len(event.trace) else zero

    start = steps.get(system.initial, ((system.initial, system.weights.one),))
    put(start, system.weights.one, 0, 0)
    total += open_end(system.weights.one - sum((w for _, w in start), zero), 0)
    while weights:
        # Every step takes an input or a response, so the least (taken, seen) has no more to come.
        key = min(weights, key=lambda k: (k[1] + k[2], k))
        factor = weights.pop(key)
        state, taken, seen = key
        done = seen == len(event.trace)
        if done and not event.closed:
            total += factor
            continue
        row = system.rows[state]
        action = next(iter(row), None)
        if action in system.actions.inputs:
            action = inputs[taken] if taken < len(inputs) and inputs[taken] in row else None
            after = taken + 1
        else:
            after = taken
        if action is None:
            total += factor if done else zero
            continue
        visible = action in queries or action not in system.actions.inputs
        if visible and (done or event.trace[seen] != action):
            continue
        moved = _terminal(row[action], steps, zero)
        put(moved, factor, after, seen + visible)
        lost = system.weights.one - sum((w for _, w in moved), zero)
        total += open_end(factor * lost, seen + visible) if event.closed else zero
        if not event.closed and seen + visible == len(event.trace):
            total += factor * lost
    return total


def admissible(system: System, inputs: Inputs, loop: Inputs = ()) -> bool:
    """Tells whether the system never waits for an input when the next one is one that it does not accept.

    After the inputs come those of the loop, again and again.
    """
    given = (*inputs, *loop)
    steps = _without_hidden(system)
    pending = [(s, 0) for s, _ in steps.get(system.initial, ((system.initial, None),))]
    seen = set(pending)
    while pending:
        state, taken = pending.pop()
        row = system.rows[state]
        action = next(iter(row), None)
        if action in system.actions.inputs:
            if taken == len(given):
                continue
            action = given[taken]
            if action not in row:
                return False
            taken += 1
            if loop and taken == len(given):
                taken = len(inputs)
        if action is None:
            continue
        for successor, _ in row[action]:
            for terminal, _ in steps.get(successor, ((successor, None),)):
                if (terminal, taken) not in seen:
                    seen.add((terminal, taken))
                    pending.append((terminal, taken))
    return True


def _terminal(step: Distribution, steps: Mapping[int, Distribution], zero: Weight) -> Distribution:
    found: dict[int, Weight] = {}
    for state, weight in step:
        for terminal, share in steps.get(state, ((state, None),)):
            found[terminal] = found.get(terminal, zero) + (weight if share is None else weight * share)
    return tuple(found.items())


def _without_hidden(system: System) -> dict[int, Distribution]:
    """Returns for each hidden state the chances of the terminal states; what is missing to 1 never ends."""
    one, zero = system.weights.one, system.weights.zero
    rest: dict[int, dict[int, Weight]] = {}
    for state, row in enumerate(system.rows):
        for action, step in row.items():
            if system.actions.is_hidden(action):
                rest[state] = dict(step)
    users: dict[int, set[int]] = {}
    for state, row_ in rest.items():
        for successor in row_:
            users.setdefault(successor, set()).add(state)
    for state in list(rest):
        own = rest[state].pop(state, zero)
        if own == one:  # it stays for ever
            rest[state] = {}
        elif not is_zero(own):
            rest[state] = {s: w / (one - own) for s, w in rest[state].items()}
        for user in users.get(state, ()):
            if user == state or state not in rest[user]:
                continue
            factor = rest[user].pop(state)
            for successor, weight in rest[state].items():
                rest[user][successor] = rest[user].get(successor, zero) + factor * weight
                users.setdefault(successor, set()).add(user)
    return {state: tuple(row_.items()) for state, row_ in rest.items()}
