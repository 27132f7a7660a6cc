"""A second reading of conditions and distances over two inputs x and y: standard library only.

It shares no code with the first reader, and evaluates an expression for one pair of inputs at a time.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from .second_numbers import Value, meaning
from .second_trees import Evaluator, expression, listed
from .second_values import Entry, plain

OVER = ("sum", "count", "all", "any", "min", "max")

Array = tuple[Value, ...]


def _parts(mechanism: Mapping[str, Any], size: int) -> list[tuple[str, int | None]]:
    """Returns the parts of an input of so many answers: their names, and the lengths of arrays."""
    if mechanism["kind"] == "parts":
        named = [part for part in mechanism["parts"] if "inputs" in part]
        mechanism = (named or mechanism["parts"])[0]
    if "inputs" in mechanism:
        return [(name, entry.get("length")) for name, entry in mechanism["inputs"].items()]
    return [("", size if size > 1 or mechanism["kind"] == "noisy_max" else None)]


def nearness(data: Mapping[str, Any], size: int, default_by: Any) -> Callable[[Array, Array], bool]:
    """Returns what tells whether two different inputs are neighbours, in one direction or the other."""
    table = data["neighbours"]
    if "related" in table:
        related = Related(table["related"], _parts(data["mechanism"], size))
        return lambda left, right: bool(related(left, right) or related(right, left))
    if "distance" in table and "differ" not in table:
        return lambda left, right: True
    by = table.get("by", default_by)
    return lambda left, right: _near(left, right, table["differ"], by)


def _near(left: Array, right: Array, differ: str, by: Any) -> bool:
    changed = [(a, b) for a, b in zip(left, right, strict=True) if a is not b and a != b]
    if differ not in ("each", "one"):
        raise ValueError(f"differ = {differ!r:.40}")
    if differ == "one" and len(changed) > 1:
        return False
    return by == "any" or all(abs(plain(_meant(a)) - plain(_meant(b))) <= int(by) for a, b in changed)


def distances_of(data: Mapping[str, Any], size: int) -> Callable[[Array, Array], Fraction] | None:
    """Returns the distance of two inputs, where the case gives one."""
    if "distance" not in data.get("neighbours", {}):
        return None
    distance = Related(data["neighbours"]["distance"], _parts(data["mechanism"], size))

    def checked(left: Array, right: Array) -> Fraction:
        found = distance(left, right)
        if found != distance(right, left) or found < 0:
            raise ValueError("a distance that is not a number")
        return found

    return checked


class Related(Evaluator):
    """An expression over two inputs with these parts, each of which is a number, a label or an array.

    `sum(abs(x[i] - y[i]))` is the sum over all indices of the arrays that i stands behind.
    """

    def __init__(self, text: str, parts: Sequence[tuple[str, int | None]]) -> None:
        self.tree = expression(" ".join(text.split()))
        self.parts = parts
        self.inputs: dict[str, dict[str, Any]] = {}
        self.indices: dict[str, Fraction] = {}

    def __call__(self, left: Sequence[Value], right: Sequence[Value]) -> Fraction:
        """Returns the value with x = left and y = right; truth is 0 or 1."""
        self.inputs = {"x": self._taken_apart(left), "y": self._taken_apart(right)}
        return plain(self.of(self.tree))

    def _taken_apart(self, given: Sequence[Value]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        rest = list(given)
        for name, length in self.parts:
            found[name] = rest[0] if length is None else rest[:length]
            rest = rest[length or 1 :]
        return found

    def of(self, tree: ast.expr) -> Entry:
        match tree:
            case ast.Attribute(ast.Name(side), part):
                return self.inputs[side][part]
        return super().of(tree)

    def name(self, name: str) -> Entry:
        if name in self.indices:
            return self.indices[name]
        (only,) = self.inputs[name].values()  # with several parts their names are needed
        return only

    def index(self, where: ast.expr) -> int:
        found = super().index(where)
        if found < 0:
            raise ValueError("an index outside of its array")
        return found

    def truth(self, value: Entry) -> bool:
        return super().truth(_meant(value))

    def calculated(self, word: str, left: Entry, right: Entry) -> Entry:
        return super().calculated(word, _meant(left), _meant(right))

    def compared(self, word: str, left: Entry, right: Entry) -> bool:
        lengths = [len(value) if isinstance(value, list) else None for value in (left, right)]
        if lengths[0] != lengths[1]:
            raise ValueError("an array is compared with something else")
        if not (isinstance(left, str) and isinstance(right, str) and word in ("==", "!=")):
            left, right = _meant(left), _meant(right)
        return super().compared(word, left, right)

    def call(self, name: str, arguments: Sequence[ast.expr]) -> Entry:
        if name not in OVER:
            return super().call(name, arguments)
        values = [self.of(g) for g in arguments] if len(arguments) > 1 else self._all(arguments[0])
        if name in ("any", "all", "count"):
            true = sum(map(self.truth, values))
            return {"any": true > 0, "all": true == len(values), "count": Fraction(true)}[name]
        return self.applied(name, [list(map(_meant, values))])

    def _all(self, tree: ast.expr) -> list[Entry]:
        """Returns the values of an expression for all its indices, or the entries of an array."""
        ranges: dict[str, int] = {}
        for entry in _entries(tree):
            assert isinstance(entry.slice, ast.Name)
            along = len(listed(self.of(entry.value)))
            if ranges.setdefault(entry.slice.id, along) != along:
                raise ValueError(f"{entry.slice.id} has two ranges")
        if not ranges:
            return listed(self.of(tree))
        outer, found = self.indices, []
        for numbers in product(*map(range, ranges.values())):
            self.indices = outer | dict(zip(ranges, map(Fraction, numbers), strict=True))
            found.append(self.of(tree))
        self.indices = outer
        return found


def _entries(tree: ast.AST) -> Iterator[ast.Subscript]:
    """Yields the entries with a name as index; those of a sum inside are its own."""
    if isinstance(tree, ast.Subscript):
        if isinstance(tree.slice, ast.Name):
            yield tree
        return
    match tree:
        case ast.Call(ast.Name(name), [_]) if name in OVER:
            return
    for part in ast.iter_child_nodes(tree):
        yield from _entries(part)


def _meant(value: Entry) -> Entry:
    """Returns the number that a label is spelt as, and anything else as it is."""
    return meaning(value) if isinstance(value, str) else value
