"""Names that stand for expressions: where a text is parsed, what `[define]` gives replaces its name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

from paramverify.algebra.trees import Expression, Node, Operation


@dataclass(frozen=True, eq=False)
class Named:
    """The expression that a name stands for, with no definition left in it; its nodes and its depth.

    `needs` are the definitions that were in it.
    """

    expression: Expression
    size: int
    depth: int
    needs: frozenset[str]

    @staticmethod
    def of(expression: Expression, needs: Iterable[str]) -> Named:
        """Measures an expression."""
        size = sum(1 for _ in expression.nodes())
        return Named(expression, size, _depth(expression.root), frozenset(needs))

    def at(self, column: int) -> Node:
        """Returns the tree, all of it at the place of the name that it stands for."""
        return _moved(self.expression.root, column)


def _depth(root: Node) -> int:
    depth, level = 0, [root]
    while level:
        depth += 1
        level = [a for node in level if isinstance(node, Operation) for a in node.arguments]
    return depth


def _moved(node: Node, column: int) -> Node:
    if isinstance(node, Operation):
        return Operation(node.operator, tuple(_moved(a, column) for a in node.arguments), column)
    return replace(node, column=column)


@dataclass(frozen=True, eq=False)
class Definitions:
    """What names stand for in one case; `below` are defined later, and `used` have been met."""

    named: Mapping[str, Named] = field(default_factory=dict)
    below: Collection[str] = ()
    used: set[str] = field(default_factory=set)

    def get(self, name: str) -> Named | None:
        """Returns what a name stands for, if anything."""
        found = self.named.get(name)
        if found is not None:
            self.used.update((name, *found.needs))
        return found

    def told(self, text: str) -> str:
        """Returns an expression with what the names in it stand for: `1/c (c = 1/4)`."""
        words = {word for word in re.findall(r"[A-Za-z_][A-Za-z0-9_]*", text) if word in self.named}
        words |= {other for word in words for other in self.named[word].needs}
        shown = ", ".join(f"{n} = {named.expression.text}" for n, named in self.named.items() if n in words)
        return f"{text} ({shown})" if shown else text


_IN_FORCE: ContextVar[Definitions | None] = ContextVar("definitions", default=None)


def in_force() -> Definitions:
    """Returns the definitions of the case that is being read; none outside of `defining`."""
    return _IN_FORCE.get() or Definitions()


@contextmanager
def defining(definitions: Definitions) -> Iterator[None]:
    """Puts definitions in force: for all that is parsed inside, and for nothing else."""
    token = _IN_FORCE.set(definitions)
    try:
        yield
    finally:
        _IN_FORCE.reset(token)
