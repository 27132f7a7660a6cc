"""Deterministic automata of path formulas, by progression.

What must hold from the next state on, given what must hold from this one and which labels it has, is again a
formula ([BacchusKabanza00]). It is kept as a disjunction of conjunctions of parts of the formula, in the one
minimal form that a monotone function has, so equal obligations are found equal and there are finitely many of
them.

A path satisfies a formula without unbounded R iff some prefix of it is informative, that is, progression
along it ends in `true`; so the formula's probability is that of reaching `true` ([KupfermanVardi01] section
3, for the negation). A formula without unbounded U is the negation of one like that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from paramverify.errors import SizeError
from paramverify.logic.normal_forms import (
    And,
    Node,
    NormalConstant,
    NormalLiteral,
    NormalNext,
    NormalRelease,
    NormalUntil,
    Or,
    later,
)

Clause: TypeAlias = frozenset[int]  # numbers of parts of the formula, no conjunctions or disjunctions
Goal: TypeAlias = frozenset[Clause]

MAX_CLAUSES = 4_000
MAX_GOALS = 100_000

TRUE: Goal = frozenset({frozenset()})
FALSE: Goal = frozenset()


@dataclass
class Progression:
    """The automaton of one formula; goals are numbered, `TRUE_GOAL` and `FALSE_GOAL` come first."""

    formula: Node
    goals: list[Goal] = field(default_factory=list)
    _numbers: dict[Goal, int] = field(default_factory=dict)
    _steps: dict[tuple[int, int], int] = field(default_factory=dict)
    _parts: list[Node] = field(default_factory=list)
    _places: dict[Node, int] = field(default_factory=dict)
    _stepped: dict[tuple[int, int], Goal] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._number(TRUE)
        self._number(FALSE)
        self.start = self._number(self._goal(self.formula))

    def after(self, goal: int, signature: int) -> int:
        """Returns the goal that is left after a state in which the leaves of the signature's bits hold."""
        key = (goal, signature)
        if key not in self._steps:
            found: Goal = FALSE
            for clause in self.goals[goal]:
                made: Goal = TRUE
                for part in clause:
                    made = _both(made, self._part_after(part, signature))
                    if not made:
                        break
                found = _minimal(found | made)
            self._steps[key] = self._number(found)
        return self._steps[key]

    def _number(self, goal: Goal) -> int:
        if goal not in self._numbers:
            if len(self.goals) >= MAX_GOALS:
                raise SizeError(f"the path formula has more than {MAX_GOALS:,} goals")
            self._numbers[goal] = len(self.goals)
            self.goals.append(goal)
        return self._numbers[goal]

    def _goal(self, node: Node) -> Goal:
        """Returns a formula as a goal."""
        match node:
            case NormalConstant():
                return TRUE if node.value else FALSE
            case And():
                return _all(map(self._goal, node.parts))
            case Or():
                return _some(map(self._goal, node.parts))
        return frozenset({frozenset({self._part(node)})})

    def _part(self, node: Node) -> int:
        place = self._places.setdefault(node, len(self._parts))
        if place == len(self._parts):
            self._parts.append(node)
        return place

    def _part_after(self, part: int, signature: int) -> Goal:
        key = (part, signature)
        if key not in self._stepped:
            node = self._parts[part]
            if isinstance(node, (NormalUntil, NormalRelease)):
                self._stepped[key] = self._repeated(node, signature)
            else:
                self._stepped[key] = self._step(node, signature)
        return self._stepped[key]

    def _step(self, node: Node, signature: int) -> Goal:
        """Returns what must hold from the next state on, where a formula must hold from this one."""
        match node:
            case NormalConstant():
                return TRUE if node.value else FALSE
            case NormalLiteral():
                return TRUE if bool(signature >> node.leaf & 1) == node.positive else FALSE
            case NormalNext():
                return self._goal(node.inner)
            case And():
                return _all(self._step(part, signature) for part in node.parts)
            case Or():
                return _some(self._step(part, signature) for part in node.parts)
            case NormalUntil() | NormalRelease():
                return self._part_after(self._part(node), signature)

    def _repeated(self, node: NormalUntil | NormalRelease, signature: int) -> Goal:
        """Returns what is left of U or R: the right side, or else the left side now and the rest later."""
        first = self._step(node.left, signature)
        until = isinstance(node, NormalUntil)
        if node.low > 0:
            rest = self._goal(later(node))
            return _both(first, rest) if until else _minimal(first | rest)
        second = self._step(node.right, signature)
        if node.high == 0:
            return second
        rest = self._goal(later(node))
        if until:
            return _minimal(second | _both(first, rest))
        return _both(second, _minimal(first | rest))


TRUE_GOAL, FALSE_GOAL = 0, 1


def _all(goals: Iterable[Goal]) -> Goal:
    made: Goal = TRUE
    for goal in goals:
        made = _both(made, goal)
    return made


def _some(goals: Iterable[Goal]) -> Goal:
    found: Goal = FALSE
    for goal in goals:
        found = found | goal
    return _minimal(found)


def _both(left: Goal, right: Goal) -> Goal:
    if left == TRUE:
        return right
    if right == TRUE:
        return left
    return _minimal(frozenset(a | b for a in left for b in right))


def _minimal(goal: Goal) -> Goal:
    """Returns the goal without clauses that contain another one."""
    if len(goal) < 2:
        return goal
    if len(goal) > MAX_CLAUSES:
        raise SizeError(f"the path formula needs more than {MAX_CLAUSES:,} clauses")
    kept: list[Clause] = []
    for clause in sorted(goal, key=len):
        if not any(other <= clause for other in kept):
            kept.append(clause)
    return frozenset(kept)


def signatures(leaves: Sequence[Sequence[bool]], count: int) -> list[int]:
    """Returns for each state the number whose bits say which leaves hold there."""
    result = [0] * count
    for place, leaf in enumerate(leaves):
        bit = 1 << place
        for state in range(count):
            if leaf[state]:
                result[state] |= bit
    return result
