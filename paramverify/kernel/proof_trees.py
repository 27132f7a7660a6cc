"""Trees in preorder: what is to be shown is cut into parts until each is plain."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from .strict_reading import Rejected

Part = TypeVar("Part")


def follow(tree: Iterable[Any], whole: Part, step: Callable[[Part, Any], Iterable[Part]]) -> int:
    """Follows a tree from the whole; returns the number of its leaves.

    `step` gets a part and an entry of the tree. It returns the parts that are left to be shown, in the order
    in which the tree goes on with them, and none at a leaf.

    Raises:
        Rejected: the tree is none, or a step shows nothing.
    """
    pending, leaves = [whole], 0
    for token in tree:
        if not pending:
            raise Rejected("the tree has too many leaves")
        rest = tuple(step(pending.pop(), token))
        leaves += not rest
        pending += reversed(rest)
    if pending:
        raise Rejected("a leaf of the tree is missing")
    return leaves
