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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from paramverify.errors import SizeError
from paramverify.logic.syntax import Constant, Formula, Junction, Next, Not, Until, is_state

Node: TypeAlias = tuple[Any, ...]
Clause: TypeAlias = frozenset[Node]
Goal: TypeAlias = frozenset[Clause]

MAX_CLAUSES = 4_000
MAX_GOALS = 100_000

TRUE: Goal = frozenset({frozenset()})
FALSE: Goal = frozenset()
T, F = ("T",), ("F",)


def compiled(formula: Formula, leaf: Callable[[Formula], int], negative: bool = False) -> Node:
    """Returns a path formula (or its negation) in positive normal form; `leaf` numbers state formulas."""
    if isinstance(formula, Constant):
        return T if formula.value != negative else F
    if isinstance(formula, Not):
        return compiled(formula.inner, leaf, not negative)
    if is_state(formula):
        return ("lit", leaf(formula), not negative)
    if isinstance(formula, Junction):
        word = formula.operator if not negative else "|" if formula.operator == "&" else "&"
        return (word, *(compiled(part, leaf, negative) for part in formula.parts))
    if isinstance(formula, Next):
        return ("X", compiled(formula.inner, leaf, negative))
    assert isinstance(formula, Until)
    word = "R" if formula.release != negative else "U"
    left, right = compiled(formula.left, leaf, negative), compiled(formula.right, leaf, negative)
    assert formula.low.name is None
    high = None if formula.high is None else formula.high.offset
    if high is not None and high < formula.low.offset:
        return F if word == "U" else T  # no step is in an empty range, as in small members of a family
    return (word, left, right, formula.low.offset, high)


def negated(node: Node) -> Node:
    """Returns the negation in positive normal form."""
    word = node[0]
    if word in "TF":
        return F if word == "T" else T
    if word == "lit":
        return ("lit", node[1], not node[2])
    if word in "UR":
        return ("R" if word == "U" else "U", negated(node[1]), negated(node[2]), node[3], node[4])
    if word == "X":
        return ("X", negated(node[1]))
    return ("|" if word == "&" else "&", *map(negated, node[1:]))


def unbounded(node: Node, word: str) -> bool:
    """Tells whether an unbounded U (or R) occurs."""
    if node[0] == word and node[4] is None:
        return True
    return any(unbounded(part, word) for part in node[1:] if isinstance(part, tuple))


def depth(node: Node) -> int | None:
    """Returns after how many states at most the truth of a formula is known; None if it is not bounded."""
    word = node[0]
    if word in "TF":
        return 0
    if word == "lit":
        return 1
    inner = [depth(part) for part in node[1:] if isinstance(part, tuple)]
    known = [d for d in inner if d is not None]
    if len(known) < len(inner) or (word in "UR" and node[4] is None):
        return None
    return max(known, default=0) + (node[4] if word in "UR" else 1 if word == "X" else 0)


@dataclass
class Progression:
    """The automaton of one formula; goals are numbered, `TRUE_GOAL` and `FALSE_GOAL` come first."""

    formula: Node
    goals: list[Goal] = field(default_factory=list)
    _numbers: dict[Goal, int] = field(default_factory=dict)
    _steps: dict[tuple[int, int], int] = field(default_factory=dict)
    _nodes: dict[tuple[Node, int], Goal] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._number(TRUE)
        self._number(FALSE)
        self.start = self._number(_dnf(self.formula))

    def after(self, goal: int, signature: int) -> int:
        """Returns the goal that is left after a state in which the leaves of the signature's bits hold."""
        key = (goal, signature)
        if key not in self._steps:
            found: Goal = FALSE
            for clause in self.goals[goal]:
                made: Goal = TRUE
                for node in clause:
                    made = _both(made, self._step(node, signature))
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

    def _step(self, node: Node, signature: int) -> Goal:
        key = (node, signature)
        if key not in self._nodes:
            self._nodes[key] = self._stepped(node, signature)
        return self._nodes[key]

    def _stepped(self, node: Node, signature: int) -> Goal:
        word = node[0]
        if word in "TF":
            return TRUE if word == "T" else FALSE
        if word == "lit":
            return TRUE if bool(signature >> node[1] & 1) == node[2] else FALSE
        if word == "X":
            return _dnf(node[1])
        if word == "&":
            made: Goal = TRUE
            for part in node[1:]:
                made = _both(made, self._step(part, signature))
            return made
        if word == "|":
            found: Goal = FALSE
            for part in node[1:]:
                found = found | self._step(part, signature)
            return _minimal(found)
        _, left, right, low, high = node
        first = self._step(left, signature)
        if low > 0:
            later = _dnf((word, left, right, low - 1, None if high is None else high - 1))
            return _both(first, later) if word == "U" else _minimal(first | later)
        second = self._step(right, signature)
        if high == 0:
            return second
        later = _dnf((word, left, right, 0, None if high is None else high - 1))
        if word == "U":
            return _minimal(second | _both(first, later))
        return _both(second, _minimal(first | later))


TRUE_GOAL, FALSE_GOAL = 0, 1


def _dnf(node: Node) -> Goal:
    """Returns a formula as a goal whose parts are no conjunctions or disjunctions."""
    word = node[0]
    if word in "TF":
        return TRUE if word == "T" else FALSE
    if word == "&":
        made: Goal = TRUE
        for part in node[1:]:
            made = _both(made, _dnf(part))
        return made
    if word == "|":
        found: Goal = FALSE
        for part in node[1:]:
            found = found | _dnf(part)
        return _minimal(found)
    return frozenset({frozenset({node})})


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
