"""Arrays of variables in expressions: `person[3]`, `person[i-1]`, `sum(person)`, and what an index may be.

The entries of an array are variables of their own, with names such as `person[3]` and `cell[1, 2]`. They are
numbered from 1.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import product

INDICES = ("i", "j")
RUNNING = {"sum": "+", "any": "or", "all": "and", "min": "min", "max": "max"}  # what joins all entries

Index = tuple[int, ...]


class IndexMistake(Exception):
    """An index that is none, with the place in the text."""

    def __init__(self, reason: str, column: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.column = column


@dataclass(frozen=True)
class Arrays:
    """The arrays of a case with their sizes, and the numbers that `i` and `j` stand for, if any."""

    sizes: Mapping[str, Index] = field(default_factory=dict)
    at: Mapping[str, int] = field(default_factory=dict)

    def places(self, name: str) -> Iterator[Index]:
        """Yields the indices of an array in their order."""
        return product(*(range(1, size + 1) for size in self.sizes[name]))

    def here(self, name: str, column: int = 0) -> str:
        """Returns the entry of an array at the numbers of `i` and `j`.

        Raises:
            IndexMistake: the array is longer or shorter than the one that the numbers are for.
        """
        place = tuple(self.at[k] for k in INDICES if k in self.at)
        if not self.has(name, place):
            raise IndexMistake(f"{name} has no entry {list(place)}", column)
        return entry(name, place)

    def has(self, name: str, place: Index) -> bool:
        """Tells whether an array has an entry with this index."""
        sizes = self.sizes[name]
        return len(place) == len(sizes) and all(1 <= k <= n for k, n in zip(place, sizes, strict=True))

    def place(self, tree: ast.Subscript) -> Index:
        """Returns the index of `person[i-1]`, also where the array has no such entry.

        Raises:
            IndexMistake: it is no whole number, or not as many numbers as the array has.
        """
        assert isinstance(tree.value, ast.Name)
        parts = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
        sizes = self.sizes[tree.value.id]
        if len(parts) != len(sizes):
            told = "one index" if len(sizes) == 1 else f"{len(sizes)} indices"
            raise IndexMistake(f"{tree.value.id} needs {told}", tree.col_offset)
        return tuple(self._whole(part) for part in parts)

    def _whole(self, tree: ast.expr) -> int:
        if isinstance(tree, ast.Constant) and type(tree.value) is int:
            return tree.value
        if isinstance(tree, ast.Name) and tree.id in self.at:
            return self.at[tree.id]
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
            return -self._whole(tree.operand)
        if isinstance(tree, ast.BinOp):
            left, right = self._whole(tree.left), self._whole(tree.right)
            if isinstance(tree.op, (ast.Add, ast.Sub)):
                return left + right if isinstance(tree.op, ast.Add) else left - right
            if isinstance(tree.op, ast.Mult) and abs(left * right) < 10**9:
                return left * right
            if isinstance(tree.op, (ast.FloorDiv, ast.Mod)) and right > 0:
                return left // right if isinstance(tree.op, ast.FloorDiv) else left % right
        reason = "an index is a whole number, with i, j, + - * // and %"
        if isinstance(tree, ast.Name) and tree.id in INDICES:
            reason = f"{tree.id} has no value here"
        raise IndexMistake(reason, tree.col_offset)


def entry(name: str, place: Index) -> str:
    """Returns the name of an entry: `person[3]`, `cell[1, 2]`."""
    return f"{name}[{', '.join(map(str, place))}]"


def sizes_of(count: object) -> Index | None:
    """Returns the sizes that `count` gives; None where it is no whole number and no list of two."""
    listed = count if isinstance(count, list) else [count]
    sizes = [size for size in listed if isinstance(size, int) and not isinstance(size, bool) and size >= 1]
    return tuple(sizes) if len(sizes) == len(listed) and 1 <= len(listed) <= len(INDICES) else None


def arrays_in(prior: object) -> Arrays:
    """Returns the arrays that the data of `[prior]` describe; what is malformed is told where it is read."""
    tables = prior.items() if isinstance(prior, dict) else ()
    found = {
        str(name): sizes for name, t in tables if isinstance(t, dict) and (sizes := sizes_of(t.get("count")))
    }
    return Arrays(found)


def named_in(tree: ast.AST, arrays: Collection[str], bare: bool) -> list[str]:
    """Returns the arrays that an expression names with a running index, or, with `bare`, without any.

    What stands in `sum(...)` and the like runs by itself and is left out.
    """
    found: list[str] = []
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in RUNNING:
            inner = [a for a in node.args if len(node.args) == 1]
            if inner and (named_in(inner[0], arrays, True)):
                continue
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            runs = any(isinstance(n, ast.Name) and n.id in INDICES for n in ast.walk(node.slice))
            if node.value.id in arrays and runs:
                found.append(node.value.id)
            continue
        if bare and isinstance(node, ast.Name) and node.id in arrays:
            found.append(node.id)
        pending.extend(reversed(list(ast.iter_child_nodes(node))))
    return list(dict.fromkeys(found))


_IN_REACH: ContextVar[Arrays | None] = ContextVar("arrays", default=None)


def in_reach() -> Arrays:
    """Returns the arrays of the case that is being read; none outside of `reaching`."""
    return _IN_REACH.get() or Arrays()


@contextmanager
def reaching(arrays: Arrays) -> Iterator[None]:
    """Lets the expressions that are parsed inside name the entries of arrays."""
    token = _IN_REACH.set(arrays)
    try:
        yield
    finally:
        _IN_REACH.reset(token)


def without_entries(names: Iterable[str]) -> list[str]:
    """Returns names in their order, with each array in the place of its entries."""
    return list(dict.fromkeys(name.partition("[")[0] for name in names))


def bound(place: Index) -> Mapping[str, int]:
    """Returns the numbers of `i` and `j` at an index."""
    return dict(zip(INDICES, place, strict=False))
