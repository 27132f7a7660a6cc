"""Path formulas in positive normal form: negations stand at state formulas only, which are numbered.

The state formulas of a path formula are its leaves; where they hold is found before, so that here a leaf is a
number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from paramverify.logic import syntax
from paramverify.logic.syntax import Formula, is_state


@dataclass(frozen=True, slots=True)
class NormalConstant:
    """`true` or `false`."""

    value: bool


@dataclass(frozen=True, slots=True)
class NormalLiteral:
    """The leaf of this number, or its negation where not `positive`."""

    leaf: int
    positive: bool


@dataclass(frozen=True, slots=True)
class NormalNext:
    """X: the formula holds from the next state on."""

    inner: Node


@dataclass(frozen=True, slots=True)
class And:
    """All parts hold."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Some part holds."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class NormalUntil:
    """left U[low, high] right; no high is infinity."""

    left: Node
    right: Node
    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class NormalRelease:
    """left R[low, high] right, the dual of U; no high is infinity."""

    left: Node
    right: Node
    low: int
    high: int | None


Node: TypeAlias = NormalConstant | NormalLiteral | NormalNext | And | Or | NormalUntil | NormalRelease


def compiled(formula: Formula, leaf: Callable[[Formula], int], negative: bool = False) -> Node:
    """Returns a path formula (or its negation) in positive normal form; `leaf` numbers state formulas."""
    if isinstance(formula, syntax.Constant):
        return NormalConstant(formula.value != negative)
    if isinstance(formula, syntax.Not):
        return compiled(formula.inner, leaf, not negative)
    if is_state(formula):
        return NormalLiteral(leaf(formula), not negative)
    if isinstance(formula, syntax.Junction):
        parts = tuple(compiled(part, leaf, negative) for part in formula.parts)
        return And(parts) if (formula.operator is syntax.Junctor.AND) != negative else Or(parts)
    if isinstance(formula, syntax.Next):
        return NormalNext(compiled(formula.inner, leaf, negative))
    assert isinstance(formula, syntax.Until)
    left, right = compiled(formula.left, leaf, negative), compiled(formula.right, leaf, negative)
    assert formula.low.name is None
    low, high = formula.low.offset, None if formula.high is None else formula.high.offset
    release = formula.release != negative
    if high is not None and high < low:
        return NormalConstant(release)  # no step is in an empty range, as in small members of a family
    return NormalRelease(left, right, low, high) if release else NormalUntil(left, right, low, high)


def inner(node: Node) -> tuple[Node, ...]:
    """Returns the direct parts of a formula."""
    match node:
        case NormalNext():
            return (node.inner,)
        case And() | Or():
            return node.parts
        case NormalUntil() | NormalRelease():
            return node.left, node.right
    return ()


def negated(node: Node) -> Node:
    """Returns the negation in positive normal form."""
    match node:
        case NormalConstant():
            return NormalConstant(not node.value)
        case NormalLiteral():
            return NormalLiteral(node.leaf, not node.positive)
        case NormalNext():
            return NormalNext(negated(node.inner))
        case And():
            return Or(tuple(map(negated, node.parts)))
        case Or():
            return And(tuple(map(negated, node.parts)))
        case NormalUntil():
            return NormalRelease(negated(node.left), negated(node.right), node.low, node.high)
        case NormalRelease():
            return NormalUntil(negated(node.left), negated(node.right), node.low, node.high)


def with_literals(node: Node, found: Callable[[NormalLiteral], Node]) -> Node:
    """Returns a formula with other formulas in the place of its literals."""
    match node:
        case NormalConstant():
            return node
        case NormalLiteral():
            return found(node)
        case NormalNext():
            return NormalNext(with_literals(node.inner, found))
        case And() | Or():
            return type(node)(tuple(with_literals(part, found) for part in node.parts))
        case NormalUntil() | NormalRelease():
            left, right = with_literals(node.left, found), with_literals(node.right, found)
            return type(node)(left, right, node.low, node.high)


def unbounded(node: Node, kind: type[NormalUntil] | type[NormalRelease]) -> bool:
    """Tells whether an unbounded U (or R) occurs."""
    if isinstance(node, kind) and node.high is None:
        return True
    return any(unbounded(part, kind) for part in inner(node))


def depth(node: Node) -> int | None:
    """Returns after how many states at most the truth of a formula is known; None if it is not bounded."""
    if isinstance(node, (NormalConstant, NormalLiteral)):
        return int(isinstance(node, NormalLiteral))
    own: int | None = 0
    if isinstance(node, (NormalUntil, NormalRelease)):
        own = node.high
    elif isinstance(node, NormalNext):
        own = 1
    found = [depth(part) for part in inner(node)]
    known = [d for d in found if d is not None]
    if own is None or len(known) < len(found):
        return None
    return max(known, default=0) + own


def later(node: NormalUntil | NormalRelease) -> NormalUntil | NormalRelease:
    """Returns U or R as it stands one step later, where its range has not ended."""
    high = None if node.high is None else node.high - 1
    return type(node)(node.left, node.right, max(node.low - 1, 0), high)
