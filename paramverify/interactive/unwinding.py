"""`is_unwinding_family` and `is_all_covered` as published ([T]), with the reason when they say no.

A family is a sequence of relations rel[0], ..., rel[t] on states. It unwinds with δ if for every pair in
rel[i] the same actions are enabled, and for each of them the closures are related by L(rel[i], 0), or else,
if i > 0, by L(rel[i−1], δ). If besides every reachable state s and data point d have a closure ν without ⊥
whose states s' all have ⟨s, s'⟩ in rel[t], then the system has t·δ-differential noninterference. Both are
sound and not complete.

Why: let P(x, w, σ) be the probability that the system in state x, given the inputs w, shows σ first (or σ and
then nothing). If ⟨x, y⟩ is in rel[i], then P(x, w, σ) ≤ e^{iδ}·P(y, w, σ) and the other way round, by
induction on the number of steps: what comes next is the same action a on both sides, and the sum over the
bijection β is at most Σ e^δ·ν2(β(z))·e^{(i−1)δ}·P(β(z), ...), or with ν1 = ν2∘β at most
Σ ν2(β(z))·e^{iδ}·P(β(z), ...). Inserting d before w turns s into a mixture of such s'.

Where the environment is assumed not to give some inputs (`System.partial`), both input sequences respect
that: then only the inputs that both states accept can come, and only these are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from paramverify.interactive.closure import SILENT, Closures
from paramverify.interactive.matchings import lift
from paramverify.models.systems.system import Distribution, StateKind
from paramverify.models.systems.weights import Weight

Pair = tuple[int, int]
Relation = Collection[Pair]
Within = Callable[[Weight, Weight], bool]


@dataclass(frozen=True)
class Failure:
    """Why a family does not prove anything: in words, with the level, the pair of states and the action.

    There is no level where an insertion is not covered, no pair where the bound is passed, and no action
    where the states enable different ones.
    """

    reason: str
    level: int | None
    pair: Pair | None
    action: int | None = None


def is_unwinding_family(
    closures: Closures,
    relations: Sequence[Relation],
    within: Within,
) -> Failure | None:
    """Returns None if the relations are an unwinding family, and otherwise the first failure.

    `relations[i]` is rel[i] as (unordered) pairs; every state is related to itself, which never fails.
    `within(p, q)` tells whether |ln p − ln q| ≤ δ.
    """
    for level, relation in enumerate(relations):
        for pair in relation:
            failure = _pair_failure(closures, relations, within, level, pair)
            if failure:
                return failure
    return None


def _pair_failure(
    closures: Closures, relations: Sequence[Relation], within: Within, level: int, pair: Pair
) -> Failure | None:
    left, right = pair
    names = closures.system.states
    shown = f"⟨{names[left]}, {names[right]}⟩"
    common = enabled_in_both(closures, left, right)
    if common is None:
        return Failure(f"{shown} in rel[{level}]: different actions are enabled", level, pair)
    for action in common:
        mu, nu = closures.after(left, action), closures.after(right, action)
        if lift(mu, nu, member(relations[level])) is not None:
            continue
        if level and lift(mu, nu, member(relations[level - 1]), within) is not None:
            continue
        name = closures.system.actions.names[action]
        alike = f"with equal probabilities into rel[{level}]"
        how = f", neither {alike}, nor within e^δ into rel[{level - 1}]" if level else f" {alike}"
        reason = f"{shown}: what follows {name!r} cannot be matched{how}"
        return Failure(reason, level, pair, action)
    return None


def is_all_covered(closures: Closures, top: Relation) -> Failure | None:
    """Returns None if every insertion of a data point at a reachable state stays within `top`, rel[t]."""
    names = closures.system.states
    related = member(top)
    for state, point, after in insertions(closures):
        name = closures.system.actions.names[point]
        for successor, _ in after:
            if successor == SILENT:
                reason = f"after {name!r} in state {names[state]!r} hidden steps may go on for ever"
                return Failure(reason, None, (state, state), point)
            if not related(state, successor):
                reason = f"{name!r} leads from {names[state]!r} to {names[successor]!r}, which is not related"
                return Failure(reason, None, (state, successor), point)
    return None


def insertions(closures: Closures) -> list[tuple[int, int, Distribution]]:
    """Returns (s, d, closure) for every reachable waiting state s and data point d that it accepts."""
    points = closures.system.actions.points
    return [
        (state, action, closures.after(state, action))
        for state in reachable(closures)
        if closures.kinds[state] is StateKind.INPUT
        for action in closures.system.rows[state]
        if action in points
    ]


def reachable(closures: Closures) -> list[int]:
    """Returns the terminal states that the system can be in after some inputs, in the order of a search."""
    found = dict.fromkeys(s for s, _ in closures.of(closures.system.initial) if s != SILENT)
    pending = list(found)
    for state in pending:  # grows while it is walked through
        for action in closures.system.rows[state]:
            for successor, _ in closures.after(state, action):
                if successor != SILENT and successor not in found:
                    found[successor] = None
                    pending.append(successor)
    return pending


def enabled_in_both(closures: Closures, left: int, right: int) -> tuple[int, ...] | None:
    """Returns the actions to be compared, or None if the states do not enable the same ones.

    With assumptions about the environment, these are the inputs that both waiting states accept.
    """
    if SILENT in (left, right):
        return () if left == right else None
    one, other = closures.system.rows[left], closures.system.rows[right]
    if one.keys() == other.keys():
        return tuple(one)
    both_wait = closures.kinds[left] is closures.kinds[right] is StateKind.INPUT
    if closures.system.partial and both_wait:
        return tuple(a for a in one if a in other)
    return None


def to_compare(closures: Closures, left: int, right: int) -> tuple[int, ...] | None:
    """Returns what `enabled_in_both` does, of actions with the same closures only the first."""
    common = enabled_in_both(closures, left, right)
    return closures.distinct(left, right, common) if common else common


def member(relation: Relation) -> Callable[[int, int], bool]:
    """Returns the test for a relation that is symmetric and reflexive."""
    return lambda x, y: x == y or (x, y) in relation or (y, x) in relation
