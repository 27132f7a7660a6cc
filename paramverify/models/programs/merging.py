"""States that cannot be told apart become one.

Runs with the same values and the same measure go on together, whatever they have put out or read. Runs of
which the same is told, with the same values and other measures, become runs of the sum of these.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from paramverify.models.programs import terms as t
from paramverify.models.programs.runs import Told
from paramverify.models.programs.terms import Terms
from paramverify.models.programs.values import ProgramState, common


def merged(states: Sequence[ProgramState]) -> list[ProgramState]:
    """Returns the states with those that cannot be told apart as one."""
    groups: dict[Hashable, list[ProgramState]] = {}
    for state in states:
        if state.runs and not state.measure.is_empty:
            groups.setdefault(common(state), []).append(state)
    return [state for group in groups.values() for state in _united(group)]


def _united(states: list[ProgramState]) -> list[ProgramState]:
    """Returns states with the same values, no two of them with the same measure or with runs in common."""
    bundles = _bundled(states)
    where: dict[Told, list[int]] = {}
    for k, state in enumerate(bundles):
        for told in state.runs:
            where.setdefault(told, []).append(k)
    if len(where) == sum(len(state.runs) for state in bundles):
        return bundles
    alike: dict[Hashable, list[Told]] = {}  # runs with weights in the same states, and the same ones
    for told, numbers in where.items():
        weights = [(k, t.text(bundles[k].runs[told])) for k in numbers[1:] and numbers]
        alike.setdefault(tuple(weights) or numbers[0], []).append(told)
    found: list[ProgramState] = []
    for all_told in alike.values():
        first, *others = where[all_told[0]]
        runs = {told: bundles[first].runs[told] for told in all_told}
        if others:
            total = bundles[first].measure.weighted(runs[all_told[0]])
            for k in others:
                total = total.plus(bundles[k].measure.weighted(bundles[k].runs[all_told[0]]))
            found.append(replace(bundles[first], measure=total, runs=dict.fromkeys(all_told, total.unit)))
        else:
            found.append(replace(bundles[first], runs=runs))
    return _bundled([state for state in found if not state.measure.is_empty])


def _bundled(states: list[ProgramState]) -> list[ProgramState]:
    """Returns the states with those that have the same measure, but for a factor, as one."""
    if len(states) < 2:
        return states
    same: dict[Hashable, list[ProgramState]] = {}
    for state in states:
        same.setdefault(state.measure.text, []).append(state)
    return [state for group in same.values() if (state := _bundle(group)).runs]


def _bundle(states: list[ProgramState]) -> ProgramState:
    first, *others = states
    if not others:
        return first
    scalar = first.measure.scalar
    apart = any(state.measure.scalar != scalar for state in others)
    runs: dict[Told, Terms] = {}
    for state in states:
        products: dict[int, Terms] = {}
        for told, weight in state.runs.items():
            if apart:
                if id(weight) not in products:
                    products[id(weight)] = t.product(weight, state.measure.scalar)
                weight = products[id(weight)]
            runs[told] = t.plus(runs[told], weight) if told in runs else weight
    measure = replace(first.measure, scalar=first.measure.unit) if apart else first.measure
    return replace(first, runs={told: weight for told, weight in runs.items() if weight}, measure=measure)
