"""What a path formula still asks for after a state: formulas as minimal disjunctions of conjunctions.

A goal is a set of clauses, a clause a set of parts that all have to hold from now on. `after` takes the
labels of one state into account. A path satisfies a formula without unbounded R iff some prefix of it leaves
the goal TRUE; the negation of a formula without unbounded U is one like that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from .strict import Rejected

Part: TypeAlias = tuple[Any, ...]
Clause: TypeAlias = frozenset[Part]
Goal: TypeAlias = frozenset[Clause]

TRUE: Goal = frozenset({frozenset()})
FALSE: Goal = frozenset()
MAX_CLAUSES = 2_000
DUAL = {"and": "or", "or": "and", "until": "release", "release": "until", "true": "false", "false": "true"}
TEMPORAL = ("next", "until", "release")


def is_state(formula: Any) -> bool:
    """Tells whether no temporal operator stands outside of P and D."""
    kind = formula[0]
    if kind in TEMPORAL:
        return False
    if kind == "not":
        return is_state(formula[1])
    return all(map(is_state, formula[1])) if kind in ("and", "or") else True


def normal(formula: Any, leaf: Callable[[Any], str], negative: bool = False) -> Part:
    """Returns a formula (or its negation) with negations at state formulas only, which `leaf` names."""
    kind = formula[0]
    if kind == "not":
        return normal(formula[1], leaf, not negative)
    if kind in ("true", "false"):
        return (DUAL[kind] if negative else kind,)
    if is_state(formula):
        return ("leaf", leaf(formula), not negative)
    if kind == "next":
        return ("next", normal(formula[1], leaf, negative))
    named = DUAL[kind] if negative else kind
    if kind in ("and", "or"):
        return (named, tuple(normal(part, leaf, negative) for part in formula[1]))
    left, right, low, high = formula[1:]
    return (named, normal(left, leaf, negative), normal(right, leaf, negative), low, high)


def unbounded(part: Part, kind: str) -> bool:
    """Tells whether U (or R) stands somewhere without a largest number of steps."""
    if part[0] in ("until", "release"):
        return (part[0] == kind and part[4] is None) or unbounded(part[1], kind) or unbounded(part[2], kind)
    if part[0] == "next":
        return unbounded(part[1], kind)
    return part[0] in ("and", "or") and any(unbounded(inner, kind) for inner in part[1])


@dataclass
class GoalProgression:
    """The goals of all formulas about a model; `holds` tells whether the leaf of a name holds in a state."""

    holds: Callable[[int, str], bool]
    _steps: dict[tuple[Goal, int], Goal] = field(default_factory=dict)

    def after(self, goal: Goal, state: int) -> Goal:
        """Returns what is asked from the next state on, where a goal is asked from this state on."""
        key = (goal, state)
        if key not in self._steps:
            self._steps[key] = some(every(self._part(part, state) for part in clause) for clause in goal)
        return self._steps[key]

    def _part(self, part: Part, state: int) -> Goal:
        kind = part[0]
        if kind in ("true", "false"):
            return TRUE if kind == "true" else FALSE
        if kind == "leaf":
            return TRUE if self.holds(state, part[1]) == part[2] else FALSE
        if kind == "next":
            return goal_of(part[1])
        if kind in ("and", "or"):
            parts = (self._part(inner, state) for inner in part[1])
            return every(parts) if kind == "and" else some(parts)
        _, left, right, low, high = part
        rest = goal_of((kind, left, right, max(low - 1, 0), None if high is None else high - 1))
        until = kind == "until"
        if high is not None and high < low:
            return FALSE if until else TRUE  # there is no step at which the right side is asked for
        first = self._part(left, state)
        both = every((first, rest)) if until else some((first, rest))
        if low > 0:
            return both
        second = self._part(right, state)
        if high == 0:
            return second
        return some((second, both)) if until else every((second, both))


def goal_of(part: Part) -> Goal:
    """Returns a formula as a goal."""
    if part[0] in ("true", "false"):
        return TRUE if part[0] == "true" else FALSE
    if part[0] in ("and", "or"):
        inner = map(goal_of, part[1])
        return every(inner) if part[0] == "and" else some(inner)
    return frozenset({frozenset({part})})


def every(goals: Iterable[Goal]) -> Goal:
    """Returns the conjunction."""
    found = TRUE
    for goal in goals:
        found = minimal(frozenset(a | b for a in found for b in goal))
    return found


def some(goals: Iterable[Goal]) -> Goal:
    """Returns the disjunction."""
    return minimal(frozenset(clause for goal in goals for clause in goal))


def minimal(goal: Goal) -> Goal:
    """Returns a goal without clauses that contain another one."""
    if len(goal) > MAX_CLAUSES:
        raise Rejected(f"a path formula needs more than {MAX_CLAUSES:,} clauses")
    kept: list[Clause] = []
    for clause in sorted(goal, key=len):
        if not any(other <= clause for other in kept):
            kept.append(clause)
    return frozenset(kept)
