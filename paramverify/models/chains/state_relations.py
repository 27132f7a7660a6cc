"""The neighbourhood relation of dpCTL*: pairs of states, closed reflexively and symmetrically.

A predicate over two states' variables is not tried on all pairs. Its conjuncts `x = y'` make states meet by
key, a conjunct `abs(r - r') <= c` by a window in a sorted list, and only what is left of it is evaluated.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Protocol

from paramverify.algebra.expressions import (
    Expression,
    Name,
    Node,
    Operation,
    RationalConstant,
    evaluate,
    unknown_name,
)
from paramverify.errors import LimitError
from paramverify.models.chains.markov_chains import Chain

MAX_PAIRS = 5_000_000
PRIME = "'"


@dataclass(frozen=True, eq=False)
class StateRelation:
    """Neighbours of each state other than itself, in both directions; `notes` say how it was closed.

    Every state is its own neighbour too; these pairs are not listed, for they satisfy `D` wherever ε ≥ 0
    and δ ≥ 0, which is demanded.
    """

    neighbours: Mapping[int, tuple[int, ...]]
    notes: tuple[str, ...] = ()

    def __getitem__(self, state: int) -> tuple[int, ...]:
        return self.neighbours.get(state, ())

    @property
    def size(self) -> int:
        """The number of ordered pairs of different states."""
        return sum(map(len, self.neighbours.values()))


def closed(pairs: Iterable[tuple[int, int]]) -> StateRelation:
    """Returns the reflexive and symmetric closure, which says of itself what was added.

    Raises:
        LimitError: more than `MAX_PAIRS` pairs.
    """
    given: set[tuple[int, int]] = set()
    for pair in pairs:
        if pair[0] != pair[1]:
            given.add(pair)
            if len(given) > MAX_PAIRS:
                raise LimitError(f"there are more than {MAX_PAIRS:,} pairs of neighbours")
    added = [(t, s) for s, t in given if (t, s) not in given]
    table: dict[int, list[int]] = {}
    for s, t in given:
        table.setdefault(s, []).append(t)
    for s, t in added:
        table.setdefault(s, []).append(t)
    count = len(given) + len(added)
    if not added:
        pairs_of = "1 pair" if count == 1 else f"{count} pairs"
        note = f"the neighbourhood has {pairs_of} and is symmetric as given"
    else:
        were = "was" if len(added) == 1 else "were"
        note = f"the neighbourhood was made symmetric: {len(added)} of its {count} pairs {were} added"
    notes = (note + "; every state is its own neighbour",)
    return StateRelation({s: tuple(sorted(ts)) for s, ts in table.items()}, notes)


def labelled(chain: Chain, label: str) -> Iterator[tuple[int, int]]:
    """Yields all pairs of states that share a label."""
    states = sorted(chain.labels[label])
    if len(states) ** 2 > MAX_PAIRS:
        raise LimitError(f"there are more than {MAX_PAIRS:,} pairs of states with the label {label!r}")
    return ((s, t) for s in states for t in states if s != t)


@dataclass(frozen=True)
class _Plan:
    keys: tuple[tuple[str, str], ...]  # x = y' as (x, y)
    window: tuple[str, str, Fraction, bool] | None  # abs(x - y') <= c as (x, y, c, strict)
    rest: tuple[Node, ...]


class StateSpace(Protocol):
    """What has states, and variables with a whole number or None for each: a chain, or a system."""

    @property
    def states(self) -> Sequence[str]: ...

    @property
    def variables(self) -> Mapping[str, Sequence[int | None]]: ...


def where(chain: StateSpace, predicate: Expression) -> Iterator[tuple[int, int]]:
    """Yields the pairs (s, t) that satisfy a predicate; `r` is a variable of s, and `r'` one of t.

    Only states that have all the variables that the predicate asks of them are considered.

    Raises:
        ExpressionError: an unknown variable.
    """
    columns: dict[str, dict[int, int]] = {}
    for name, node in predicate.names().items():
        variable = name.rstrip(PRIME)
        if variable not in chain.variables:
            raise unknown_name(predicate, node, variable, chain.variables)
        columns[name] = {s: v for s, v in enumerate(chain.variables[variable]) if v is not None}
    everywhere = set(range(len(chain.states)))
    lefts = everywhere.intersection(*(c for n, c in columns.items() if not n.endswith(PRIME)))
    rights = everywhere.intersection(*(c for n, c in columns.items() if n.endswith(PRIME)))
    plan = _plan(predicate.root)
    groups: dict[tuple[int, ...], list[int]] = {}
    for state in sorted(rights):
        groups.setdefault(tuple(columns[y + PRIME][state] for _, y in plan.keys), []).append(state)
    if plan.window:
        sorted_by = columns[plan.window[1] + PRIME]
        for members in groups.values():
            members.sort(key=sorted_by.__getitem__)
        values = {key: [sorted_by[s] for s in members] for key, members in groups.items()}
    rest = [Expression(predicate.text, node) for node in plan.rest]
    for state in sorted(lefts):
        key = tuple(columns[x][state] for x, _ in plan.keys)
        members = groups.get(key, [])
        if members and plan.window:
            x, _, distance, strict = plan.window
            low, high = _ends(columns[x][state], distance, strict)
            members = members[bisect_left(values[key], low) : bisect_right(values[key], high)]
        for other in members:
            if other != state and all(_holds(columns, e, state, other) for e in rest):
                yield state, other


def _ends(value: int, distance: Fraction, strict: bool) -> tuple[int, int]:
    low, high = value - distance, value + distance
    if strict:
        return floor(low) + 1, ceil(high) - 1
    return ceil(low), floor(high)


def _holds(columns: Mapping[str, Mapping[int, int]], expression: Expression, state: int, other: int) -> bool:
    values = {
        name: Fraction(columns[name][other if name.endswith(PRIME) else state]) for name in expression.names()
    }
    return bool(evaluate(expression, values))


def _plan(root: Node) -> _Plan:
    keys: list[tuple[str, str]] = []
    windows: list[tuple[str, str, Fraction, bool]] = []
    rest: list[Node] = []
    for node in _conjuncts(root):
        if isinstance(node, Operation) and node.operator == "==" and (pair := _sides(*node.arguments)):
            keys.append(pair)
        elif not windows and (window := _window(node)):
            windows.append(window)
        else:
            rest.append(node)
    return _Plan(tuple(keys), windows[0] if windows else None, tuple(rest))


def _conjuncts(node: Node) -> Iterator[Node]:
    if isinstance(node, Operation) and node.operator == "and":
        for argument in node.arguments:
            yield from _conjuncts(argument)
    else:
        yield node


def _sides(left: Node, right: Node) -> tuple[str, str] | None:
    """Returns (x, y) if the two are x and y', in any order."""
    if isinstance(left, Name) and isinstance(right, Name):
        primes = left.name.endswith(PRIME), right.name.endswith(PRIME)
        if primes == (False, True):
            return left.name, right.name.rstrip(PRIME)
        if primes == (True, False):
            return right.name, left.name.rstrip(PRIME)
    return None


def _window(node: Node) -> tuple[str, str, Fraction, bool] | None:
    if not (isinstance(node, Operation) and node.operator in ("<", "<=")):
        return None
    inside, bound = node.arguments
    if not (
        isinstance(inside, Operation) and inside.operator == "abs" and isinstance(bound, RationalConstant)
    ):
        return None
    (difference,) = inside.arguments
    if not (
        isinstance(difference, Operation) and difference.operator == "+" and len(difference.arguments) == 2
    ):
        return None
    left, right = difference.arguments
    if not (isinstance(right, Operation) and right.operator == "neg"):
        return None
    pair = _sides(left, right.arguments[0])
    return (*pair, bound.value, node.operator == "<") if pair else None
