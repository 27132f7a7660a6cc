"""A second reading of conditions and distances over two inputs x and y: standard library only.

It shares no code with the first reader. An expression is evaluated on Python's own tree, for one pair of
inputs at a time: `sum(abs(x[i] - y[i]))` is the sum over all indices of the arrays that i stands behind.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

from ..kernel.strict_reading import UnreadCase
from .second_numbers import Value, meaning

OVER = ("sum", "count", "all", "any", "min", "max")

Array = tuple[Value, ...]
Names = Mapping[str, Any]


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
    return by == "any" or all(abs(_number(a) - _number(b)) <= int(by) for a, b in changed)


def _number(value: Value) -> Fraction:
    number = meaning(value) if isinstance(value, str) else value
    if isinstance(number, str):
        raise ValueError(f"the label {number!r:.60} has no distance")
    return number


def distances_of(data: Mapping[str, Any], size: int) -> Callable[[Array, Array], Fraction] | None:
    """Returns the distance of two inputs, where the case gives one."""
    if "distance" not in data.get("neighbours", {}):
        return None
    distance = Related(data["neighbours"]["distance"], _parts(data["mechanism"], size))

    def checked(left: Array, right: Array) -> Fraction:
        found = distance(left, right)
        if found != distance(right, left) or found < 0:
            raise ValueError("a distance that is none")
        return found

    return checked


class Related:
    """An expression over two inputs with these parts."""

    def __init__(self, text: str, parts: Sequence[tuple[str, int | None]]) -> None:
        self.tree = _parsed(" ".join(text.split()))
        self.source = " ".join(text.split())
        self.parts = parts

    def __call__(self, left: Sequence[Value], right: Sequence[Value]) -> Fraction:
        """Returns the value with x = left and y = right; truth is 0 or 1."""
        return self._number(self.tree, {"x": self._taken_apart(left), "y": self._taken_apart(right)})

    def _taken_apart(self, given: Sequence[Value]) -> dict[str, Value | Array]:
        found: dict[str, Value | Array] = {}
        rest = list(given)
        for name, length in self.parts:
            found[name] = rest[0] if length is None else tuple(rest[:length])
            rest = rest[length or 1 :]
        return found

    def _side(self, tree: ast.expr, names: Names) -> Value | Array | None:
        """Returns the part of an input that a tree names; None if it names none."""
        if isinstance(tree, ast.Name) and tree.id in ("x", "y"):
            (only,) = names[tree.id].values()  # with several parts their names are needed
            found: Value | Array = only
            return found
        if isinstance(tree, ast.Attribute) and isinstance(tree.value, ast.Name):
            named: Value | Array = names[tree.value.id][tree.attr]
            return named
        return None

    def _number(self, tree: ast.expr, names: Names) -> Fraction:
        value = self._value(tree, names)
        number = meaning(value) if isinstance(value, str) else value
        if not isinstance(number, Fraction):
            raise ValueError(f"{value!r:.60} is no number")
        return number

    def _value(self, tree: ast.expr, names: Names) -> Value | Array:
        part = self._side(tree, names)
        if part is not None:
            return part
        if isinstance(tree, ast.Constant):
            if isinstance(tree.value, str):
                return tree.value
            written = ast.get_source_segment(self.source, tree) or ""
            return (
                Fraction(tree.value) if isinstance(tree.value, bool) else Fraction(written.replace("_", ""))
            )
        if isinstance(tree, ast.Name):
            return Fraction(names[tree.id])
        if isinstance(tree, ast.Subscript):
            array, place = self._side(tree.value, names), self._number(tree.slice, names)
            if not isinstance(array, tuple) or place.denominator != 1 or not 0 <= place < len(array):
                raise ValueError("an index outside of its array")
            return array[int(place)]
        if isinstance(tree, ast.Compare):
            return Fraction(self._compare(tree, names))
        if isinstance(tree, ast.BoolOp):
            truths = (self._number(part, names) != 0 for part in tree.values)
            return Fraction(all(truths) if isinstance(tree.op, ast.And) else any(truths))
        if isinstance(tree, ast.IfExp):
            return self._value(tree.body if self._number(tree.test, names) else tree.orelse, names)
        if isinstance(tree, ast.UnaryOp):
            number = self._number(tree.operand, names)
            if isinstance(tree.op, ast.Not):
                return Fraction(not number)
            return -number if isinstance(tree.op, ast.USub) else number
        if isinstance(tree, ast.BinOp):
            return _calculated(tree.op, self._number(tree.left, names), self._number(tree.right, names))
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
            return self._call(tree.func.id, tree.args, names)
        raise UnreadCase(f"{type(tree).__name__} in a condition")

    def _compare(self, tree: ast.Compare, names: Names) -> bool:
        sides = [tree.left, *tree.comparators]
        for relation, one, other in zip(tree.ops, sides, sides[1:], strict=False):
            if isinstance(relation, (ast.In, ast.NotIn)):
                array = self._side(other, names)
                among = array if isinstance(array, tuple) else self._listed(other, names)
                value = self._value(one, names)
                true = any(_alike(value, entry) for entry in among) == isinstance(relation, ast.In)
            elif isinstance(relation, (ast.Eq, ast.NotEq)):
                true = _alike(self._value(one, names), self._value(other, names))
                true = true == isinstance(relation, ast.Eq)
            else:
                left, right = self._number(one, names), self._number(other, names)
                smaller = left < right if isinstance(relation, (ast.Lt, ast.GtE)) else left > right
                true = smaller != isinstance(relation, (ast.LtE, ast.GtE))
            if not true:
                return False
        return True

    def _listed(self, tree: ast.expr, names: Names) -> list[Value | Array]:
        if not isinstance(tree, (ast.List, ast.Tuple)):
            raise ValueError("no list behind `in`")
        return [self._value(entry, names) for entry in tree.elts]

    def _call(self, name: str, given: Sequence[ast.expr], names: Names) -> Fraction:
        if name == "abs":
            return abs(self._number(given[0], names))
        if name == "len":
            array = self._side(given[0], names)
            if not isinstance(array, tuple):
                raise ValueError("the length of one value")
            return Fraction(len(array))
        if name not in OVER:
            raise UnreadCase(f"the function {name!r:.40} in a condition")
        numbers = [self._number(g, names) for g in given] if len(given) > 1 else self._all(given[0], names)
        if name == "sum":
            return sum(numbers, Fraction(0))
        if name in ("min", "max"):
            return min(numbers) if name == "min" else max(numbers)
        true = sum(1 for number in numbers if number)
        return Fraction(true if name == "count" else true > 0 if name == "any" else true == len(numbers))

    def _all(self, tree: ast.expr, names: Names) -> list[Fraction]:
        """Returns the values of an expression for all its indices, or the entries of an array."""
        array = self._side(tree, names)
        if isinstance(array, tuple):
            return [self._number(ast.Constant(v), names) if isinstance(v, str) else v for v in array]
        ranges: dict[str, int] = {}
        for entry in _entries(tree):
            along = self._side(entry.value, names)
            if not isinstance(along, tuple) or not isinstance(entry.slice, ast.Name):
                raise ValueError("an index behind no array")
            if ranges.setdefault(entry.slice.id, len(along)) != len(along):
                raise ValueError(f"{entry.slice.id} has two ranges")
        if not ranges:
            raise ValueError("no index to run over")
        return [
            self._number(tree, {**names, **dict(zip(ranges, numbers, strict=True))})
            for numbers in product(*map(range, ranges.values()))
        ]


def _entries(tree: ast.AST) -> Iterator[ast.Subscript]:
    """Yields the entries with a name as index; those of a sum inside are its own."""
    if isinstance(tree, ast.Subscript):
        if isinstance(tree.slice, ast.Name):
            yield tree
        return
    inner = isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and len(tree.args) == 1
    if inner and isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id in OVER:
        return
    for part in ast.iter_child_nodes(tree):
        yield from _entries(part)


def _alike(left: Value | Array, right: Value | Array) -> bool:
    if isinstance(left, tuple) or isinstance(right, tuple):
        if not (isinstance(left, tuple) and isinstance(right, tuple)) or len(left) != len(right):
            raise ValueError("an array is compared with something else")
        return all(map(_alike, left, right))
    if isinstance(left, str) and isinstance(right, str):
        return left == right
    return (meaning(left) if isinstance(left, str) else left) == (
        meaning(right) if isinstance(right, str) else right
    )


def _calculated(operator: ast.operator, left: Fraction, right: Fraction) -> Fraction:
    if isinstance(operator, ast.Add):
        return left + right
    if isinstance(operator, ast.Sub):
        return left - right
    if isinstance(operator, ast.Mult):
        return left * right
    if isinstance(operator, ast.Div):
        return left / right
    if isinstance(operator, ast.FloorDiv):
        return Fraction(left // right)
    if isinstance(operator, ast.Mod):
        return left % right
    if isinstance(operator, ast.Pow) and right.denominator == 1 and abs(right) <= 1_000:
        return Fraction(left ** int(right))
    raise UnreadCase("an operator in a condition")


@lru_cache(maxsize=100)
def _parsed(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, MemoryError, RecursionError):
        raise ValueError(f"{text!r:.60} is no condition") from None
