"""Largest and smallest probabilities in one component of a decision process, by policy iteration.

The states of a strongly connected component are settled together, after those that it leads to; their values
are known then. A policy is improved where a choice is strictly better, and is evaluated exactly by its system
of equations. Policies are finitely many and values improve strictly, so the iteration ends with an optimal
one ([Puterman94] section 7.2). It needs policies that leave the component with probability one:

- Largest probability: the first policy goes towards a positive value. Strict improvements never make a set
  that cannot be left: averaging the values over its stationary distribution would give a number larger than
  itself.
- Smallest probability: states that can avoid the target forever are settled before, so every policy leaves.

The first policy is improved in floating point before anything is computed exactly. This decides nothing: it
is a guess of the policy, which is used if it leaves the component, and is improved exactly then.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from flint import fmpq

from paramverify.logic.reachability import solve
from paramverify.models.chains.flat import FlatRows, Row, Value, is_zero

GUESSES = 500  # rounds in floating point
BETTER = 1e-9  # relative
ZERO, ONE = fmpq(0), fmpq(1)


def settle(
    component: Sequence[int],
    options: Sequence[tuple[Row, ...]],
    values: list[Value],
    largest: bool,
) -> None:
    """Finds the values of a component, whose ways out have values.

    Probabilities are flint rationals. For the smallest ones every policy must leave the component.
    """
    if len(component) == 1:
        (node,) = component
        if all(target != node for row in options[node] for target, _ in row):
            found = [sum((weight * values[t] for t, weight in row), ZERO) for row in options[node]]
            values[node] = (max(found) if largest else min(found)) if found else ZERO
            return
    part = _part(component, options, values)
    exits = list(part.known.values())
    if all(value == exits[0] for value in exits[1:]):
        # The states leave with probability one, at least under the policies with the largest values.
        solved: Sequence[Value] = [exits[0] if exits else ZERO] * len(component)
    else:
        solved = _best(part, largest)
    for node, value in zip(component, solved, strict=False):
        values[node] = value


@dataclass(frozen=True, eq=False)
class _Component:
    """A component: node k < `size` has the choices `choices[k]`, each with targets, and places of weights.

    Nodes from `size` on are the ways out, and have the values `known`.
    """

    size: int
    choices: tuple[tuple[tuple[array[int], array[int]], ...], ...]
    weights: tuple[Value, ...]
    known: Mapping[int, Value]

    def under(self, policy: Sequence[int]) -> FlatRows:
        """Returns the Markov chain of a policy."""
        begins, targets, places = array("q", [0]), array("i"), array("i")
        for chosen, choices in zip(policy, self.choices, strict=True):
            targets.extend(choices[chosen][0])
            places.extend(choices[chosen][1])
            begins.append(len(targets))
        begins.extend([len(targets)] * len(self.known))
        return FlatRows(begins, targets, places, self.weights)


def _part(
    component: Sequence[int], options: Sequence[tuple[Row, ...]], values: Sequence[Value]
) -> _Component:
    numbers = {node: k for k, node in enumerate(component)}
    known: dict[int, Value] = {}
    places: dict[int, int] = {}  # by the identity of a weight, which lives as long as the options
    weights: list[Value] = []
    choices = []
    for node in component:
        found = []
        for row in options[node]:
            for target, weight in row:
                if target not in numbers:
                    numbers[target] = len(numbers)
                    known[numbers[target]] = values[target]
                if id(weight) not in places:
                    places[id(weight)] = len(weights)
                    weights.append(weight)
            targets = array("i", [numbers[target] for target, _ in row])
            found.append((targets, array("i", [places[id(weight)] for _, weight in row])))
        choices.append(tuple(found))
    return _Component(len(component), tuple(choices), tuple(weights), known)


def _best(part: _Component, largest: bool) -> list[Value]:
    """Returns the values of an optimal policy, by exact improvement of a guess."""
    policy = _towards(part) if largest else [0] * part.size
    guess = _guess(part, policy, largest)
    if guess is not None and (not largest or _leaves(part, guess)):
        policy = guess
    while True:
        values = solve(part.under(policy), part.known, ZERO, ONE)
        if not _improve(part, policy, values, largest):
            return values


def _guess(part: _Component, start: Sequence[int], largest: bool) -> list[int] | None:
    """Returns a policy that is nearly optimal in floating point; None where that does not work."""
    weights = tuple(int(weight.p) / int(weight.q) for weight in part.weights)
    try:
        known = {node: int(value.p) / int(value.q) for node, value in part.known.items()}
    except OverflowError:
        return None
    rough = _Component(part.size, part.choices, weights, known)
    policy = list(start)
    for _ in range(GUESSES):
        try:
            values = solve(rough.under(policy), known, 0.0, 1.0)
        except ZeroDivisionError:
            return None
        if not all(map(isfinite, values)):
            return None
        if not _improve(rough, policy, values, largest, BETTER):
            break
    return policy


def _improve(
    part: _Component,
    policy: list[int],
    values: Sequence[Value],
    largest: bool,
    margin: float = 0,
) -> bool:
    """Changes a policy where a choice is better by more than a relative margin; tells whether it did."""
    changed, weights = False, part.weights
    factor = (1 + margin if largest else 1 - margin) if margin else None
    for node, choices in enumerate(part.choices):
        if len(choices) == 1:
            continue
        best, value = policy[node], values[node]
        for place, (targets, places) in enumerate(choices):
            if place == policy[node]:
                continue
            worth = sum(weights[w] * values[t] for t, w in zip(targets, places, strict=True))
            limit = value * factor if factor else value
            if (worth > limit) if largest else (worth < limit):
                best, value = place, worth
        if best != policy[node]:
            policy[node] = best
            changed = True
    return changed


def _towards(part: _Component) -> list[int]:
    """Returns a policy that goes towards a positive value from every node."""
    policy = [-1] * part.size
    before = _before(part, None)
    pending = [node for node, value in part.known.items() if not is_zero(value)]
    while pending:
        for node, place in before.get(pending.pop(), ()):
            if policy[node] < 0:
                policy[node] = place
                pending.append(node)
    return policy


def _leaves(part: _Component, policy: Sequence[int]) -> bool:
    """Tells whether a policy can leave the component from every node, and so does with probability one."""
    before = _before(part, policy)
    met = bytearray(part.size + len(part.known))
    pending = list(part.known)
    while pending:
        for node, _ in before.get(pending.pop(), ()):
            if not met[node]:
                met[node] = 1
                pending.append(node)
    return sum(met) == part.size


def _before(part: _Component, policy: Sequence[int] | None) -> Mapping[int, list[tuple[int, int]]]:
    """Returns for each target the nodes, with their choices, that may go there; under a policy, or at all."""
    found: dict[int, list[tuple[int, int]]] = {}
    for node, choices in enumerate(part.choices):
        for place, (targets, _) in enumerate(choices):
            if policy is None or policy[node] == place:
                for target in targets:
                    found.setdefault(target, []).append((node, place))
    return found
