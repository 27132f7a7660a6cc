"""Expressions as data: a small tree of our own, with the text that it came from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from paramverify.errors import ExpressionError


@dataclass(frozen=True)
class RationalConstant:
    """An exact rational constant."""

    value: Fraction
    column: int


@dataclass(frozen=True)
class Name:
    """A parameter, a variable of the prior or a definition."""

    name: str
    column: int


@dataclass(frozen=True)
class Text:
    """A quoted label, for comparisons such as `disease == 'flu'`."""

    value: str
    column: int


@dataclass(frozen=True)
class Operation:
    """An operator or function applied to arguments; `neg`, `and`, `or`, `not` are operators too."""

    operator: str
    arguments: tuple[Node, ...]
    column: int


Node = RationalConstant | Name | Text | Operation
Value = Fraction | str | bool


@dataclass(frozen=True)
class Expression:
    """A parsed expression with the text it came from."""

    text: str
    root: Node

    def error(self, reason: str, node: Node) -> ExpressionError:
        """Returns an error that points at the node."""
        return ExpressionError(reason, self.text, node.column)

    def nodes(self) -> Iterator[Node]:
        """Yields every node of the tree, the root first."""
        stack = [self.root]
        while stack:
            node = stack.pop()
            yield node
            if isinstance(node, Operation):
                stack.extend(reversed(node.arguments))

    def names(self) -> dict[str, Node]:
        """Returns the names that occur, each with one of its places."""
        return {node.name: node for node in self.nodes() if isinstance(node, Name)}
