"""What a condition or a distance over two inputs means: a function of both, called for each pair.

See `models.conditions` for the language. All numbers are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from paramverify.algebra.expressions import Value
from paramverify.errors import ExpressionError, InputError
from paramverify.models.conditions import RUNNING, SIDES, Shape, is_truth, read
from paramverify.models.names import as_value
from paramverify.models.programs import arithmetic
from paramverify.models.programs.syntax import Apply, Items, Literal, Node, Variable

MAX_STEPS = 10_000  # combinations of indices in one sum

Plain = int | Fraction | str  # a truth is 0 or 1
Indices = dict[str, int]
Function = Callable[[Sequence[Plain], Sequence[Plain], Indices], Any]  # a `Plain`


@dataclass(frozen=True, eq=False)
class Relation:
    """A condition or a distance: its text, and its value for two inputs."""

    text: str
    function: Function

    def holds(self, x: Sequence[Plain], y: Sequence[Plain]) -> bool:
        """Tells whether a condition holds of two inputs, each by `plain`."""
        return bool(self.function(x, y, {}))

    def number(self, x: Sequence[Plain], y: Sequence[Plain]) -> Fraction:
        """Returns the distance of two inputs, each by `plain`."""
        return Fraction(self.function(x, y, {}))


def plain(given: Sequence[Value]) -> list[Plain]:
    """Returns whole numbers as `int`: the arithmetic is the same, and faster."""
    return [int(v) if isinstance(v, Fraction) and v.denominator == 1 else v for v in given]


def read_condition(text: str, shape: Shape) -> Relation:
    """Reads a condition over x and y.

    Raises:
        ExpressionError: a mistake in it, with its place.
    """
    source, node = read(text, shape)
    if not is_truth(node):
        reason = "a condition is needed here, such as sum(abs(x[i] - y[i])) <= 1"
        raise ExpressionError(reason, source, node.place.column)
    return Relation(source, _Meaning(source, shape).value(node))


def read_distance(text: str, shape: Shape) -> Relation:
    """Reads a distance between x and y.

    Raises:
        ExpressionError: a mistake in it, with its place.
    """
    source, node = read(text, shape)
    if is_truth(node):
        reason = "a distance is a number, such as sum(abs(x[i] - y[i])) or count(x[i] != y[i])"
        raise ExpressionError(reason, source, node.place.column)
    return Relation(source, _Meaning(source, shape).number(node))


@dataclass(frozen=True)
class _Array:
    """An array of one side: its name, where its entries stand in the input, and how many there are."""

    name: str
    side: int
    start: int
    length: int


class _Meaning:
    """Turns the tree of one expression into a function."""

    def __init__(self, text: str, shape: Shape) -> None:
        self.text = text
        self.shape = shape
        self.ranges: list[dict[str, int]] = []  # of the indices of the sums around a place, outermost first

    def error(self, reason: str, node: Node) -> ExpressionError:
        return ExpressionError(reason, self.text, node.place.column)

    # --- inputs --------------------------------------------------------------------------------------

    def part(self, node: Node) -> _Array | tuple[int, int] | None:
        """Returns the array that a node names, or the side and place of one value; None of anything else."""
        if isinstance(node, Variable) and node.name in SIDES:
            if len(self.shape) > 1:
                known = ", ".join(f"{node.name}.{part.name}" for part in self.shape)
                raise self.error(f"there are several inputs: write {known}", node)
            return self.found(SIDES.index(node.name), node.name, 0)
        if isinstance(node, Apply) and node.operator == "part":
            side, name = node.arguments
            assert isinstance(side, Variable)
            assert isinstance(name, Literal)
            number = [part.name for part in self.shape].index(str(name.value))
            return self.found(SIDES.index(side.name), f"{side.name}.{name.value}", number)
        return None

    def found(self, side: int, name: str, number: int) -> _Array | tuple[int, int]:
        start = sum(part.length or 1 for part in self.shape[:number])
        length = self.shape[number].length
        return (side, start) if length is None else _Array(name, side, start, length)

    def array(self, node: Node) -> _Array | None:
        part = self.part(node)
        return part if isinstance(part, _Array) else None

    def indexed(self, node: Apply) -> tuple[_Array, Node]:
        base, index = node.arguments
        array = self.array(base)
        if array is None:
            name = f"{base.name} " if isinstance(base, Variable) else ""
            raise self.error(f"{name}is one value here, and has no entries", node)
        return array, index

    # --- values --------------------------------------------------------------------------------------

    def value(self, node: Node) -> Function:
        """Returns the function of an expression that is no array."""
        if isinstance(node, Literal):
            constant = node.value
            known = constant if isinstance(constant, str) else plain((Fraction(constant),))[0]
            return lambda x, y, at: known
        part = self.part(node)
        if isinstance(part, _Array):
            reason = f"{part.name} is an array: write {part.name}[i] in sum, count, all, any, min or max"
            raise self.error(reason, node)
        if part is not None:
            side, place = part
            return (lambda x, y, at: y[place]) if side else (lambda x, y, at: x[place])
        if isinstance(node, Variable):
            return self.index(node)
        if isinstance(node, Apply):
            return self.applied(node)
        raise self.error("a list stands behind `in` only", node)

    def index(self, node: Variable) -> Function:
        """Returns the function of the name of an index."""
        name = node.name
        if not any(name in around for around in self.ranges):
            reason = f"unknown name {name}; known are x, y, and indices such as i in sum(abs(x[i] - y[i]))"
            raise self.error(reason, node)
        return lambda x, y, at: at[name]

    def number(self, node: Node) -> Function:
        """Returns the function of an expression that has to be a number."""
        function = self.value(node)

        def number(x: Sequence[Plain], y: Sequence[Plain], at: Indices) -> Any:
            value = function(x, y, at)
            if isinstance(value, str):
                spelt = as_value(value)
                if isinstance(spelt, str):
                    raise self.error(f"the label {value!r} is no number", node)
                return plain((spelt,))[0]
            return value

        return number

    def applied(self, node: Apply) -> Function:
        word, given = node.operator, node.arguments
        if word == "index":
            return self.entry(node)
        if word == "len":
            array = self.array(given[0])
            if array is None:
                raise self.error("len needs an array", node)
            length = array.length
            return lambda x, y, at: length
        if word in RUNNING and len(given) == 1:
            return self.over_indices(node)
        if word in ("==", "!="):
            return self.equal(node)
        if word in ("in", "not in"):
            return self.inside(node)
        numbers = [self.number(part) for part in given]
        if word in _SHORT:
            return _SHORT[word](numbers)
        first, second = numbers[0], numbers[-1]
        if word in _ORDER:
            order = _ORDER[word]
            return lambda x, y, at: order(first(x, y, at), second(x, y, at))
        if word in ("+", "-", "*"):
            combine = _EXACT[word]
            return lambda x, y, at: combine(first(x, y, at), second(x, y, at))
        return self.by_programs(node, numbers)

    def by_programs(self, node: Apply, numbers: Sequence[Function]) -> Function:
        """Returns an operator that means what it means in programs."""

        def value(x: Sequence[Plain], y: Sequence[Plain], at: Indices) -> Plain:
            try:
                given = [Fraction(number(x, y, at)) for number in numbers]
                found = arithmetic.apply(node.operator, given)
            except InputError as error:
                raise self.error(error.reason, node) from None
            assert isinstance(found, Fraction)
            return plain((found,))[0]

        return value

    def entry(self, node: Apply) -> Function:
        """Returns the function of `x[i]` or `x[0]`."""
        array, index = self.indexed(node)
        start, side = array.start, array.side
        if isinstance(index, Literal):
            assert isinstance(index.value, Fraction)
            if not 0 <= index.value < array.length:
                raise self.error(f"{array.name} has the indices 0 to {array.length - 1}", index)
            place = start + int(index.value)
            return (lambda x, y, at: y[place]) if side else (lambda x, y, at: x[place])
        assert isinstance(index, Variable)
        name = index.name
        if not any(name in around for around in self.ranges):
            entry, first = f"{array.name}[{name}]", f"{array.name}[0]"
            reason = f"the index {name} is not bound: write all({entry} ...), any(...), sum(...), or {first}"
            raise self.error(reason, index)
        if side:
            return lambda x, y, at: y[start + at[name]]
        return lambda x, y, at: x[start + at[name]]

    def equal(self, node: Apply) -> Function:
        """Returns `==` or `!=`, of values or of whole arrays."""
        wanted = node.operator == "=="
        arrays = [self.array(part) for part in node.arguments]
        one, other = arrays
        if one is not None and other is not None:
            if one.length != other.length:
                raise self.error(f"{one.name} and {other.name} have different lengths", node)
            a, b = one, other

            def arrays_equal(x: Sequence[Plain], y: Sequence[Plain], at: Indices) -> Plain:
                left, right = ((x, y)[p.side][p.start : p.start + p.length] for p in (a, b))
                return all(map(_same, left, right)) == wanted

            return arrays_equal
        first, second = (self.value(part) for part in node.arguments)
        return lambda x, y, at: _same(first(x, y, at), second(x, y, at)) == wanted

    def inside(self, node: Apply) -> Function:
        """Returns `in` or `not in` a list that is written out, or an array."""
        value, among = self.value(node.arguments[0]), node.arguments[1]
        wanted = node.operator == "in"
        array = self.array(among)
        if array is not None:
            a = array
            return lambda x, y, at: (
                any(_same(value(x, y, at), v) for v in (x, y)[a.side][a.start : a.start + a.length]) == wanted
            )
        if not isinstance(among, Items):
            raise self.error("a list is needed behind `in`, such as [1, 2]", among)
        entries = [self.value(item) for item in among.items]
        return lambda x, y, at: any(_same(value(x, y, at), e(x, y, at)) for e in entries) == wanted

    # --- over all indices ----------------------------------------------------------------------------

    def over_indices(self, node: Apply) -> Function:
        """Returns sum, count, all, any, min or max over the indices in its argument, or over an array."""
        word, body = node.operator, node.arguments[0]
        array = self.array(body)
        if array is not None:
            return self.over_array(node, array)
        ranges: dict[str, int] = {}
        for place in self.own_indices(body):
            indexed, index = self.indexed(place)
            assert isinstance(index, Variable)
            known = ranges.setdefault(index.name, indexed.length)
            if known != indexed.length:
                reason = f"{index.name} runs over {known} indices, and {indexed.name} has {indexed.length}"
                raise self.error(reason, place)
        if not ranges:
            self.value(body)  # which may say more
            raise self.error(f"{word} needs an index such as i in {word}(x[i] ...)", node)
        steps = 1
        for length in ranges.values():
            steps *= length
        if steps > MAX_STEPS:
            raise self.error(f"more than {MAX_STEPS:,} combinations of indices", node)
        self.ranges.append(ranges)
        if word in ("count", "all", "any") and not is_truth(body):
            raise self.error(f"{word} needs a condition, such as {word}(x[i] != y[i])", node)
        value = self.number(body)
        self.ranges.pop()
        names, combine = tuple(ranges), _OVER[word]
        places = list(product(*(range(length) for length in ranges.values())))

        def found(x: Sequence[Plain], y: Sequence[Plain], at: Indices) -> Plain:
            inner = dict(at)

            def values() -> Iterator[Plain]:
                for numbers in places:
                    inner.update(zip(names, numbers, strict=True))
                    yield value(x, y, inner)

            return combine(values())

        return found

    def over_array(self, node: Apply, array: _Array) -> Function:
        """Returns `sum(x)` and the like."""
        entry = Apply("index", (node.arguments[0], Variable("entry", node.place)), node.place)
        return self.over_indices(Apply(node.operator, (entry,), node.place))

    def own_indices(self, node: Node) -> list[Apply]:
        """Returns the entries with a name as index that stand in an expression, and in no sum inside."""
        if isinstance(node, Items):
            return [found for item in node.items for found in self.own_indices(item)]
        if not isinstance(node, Apply) or (node.operator in RUNNING and len(node.arguments) == 1):
            return []
        if node.operator == "index":
            return [node] if isinstance(node.arguments[1], Variable) else []
        return [found for part in node.arguments for found in self.own_indices(part)]


def _same(left: Plain, right: Plain) -> bool:
    """Tells whether two values are equal; a label that is spelt as a number is equal to that number."""
    if isinstance(left, str) != isinstance(right, str):
        return (as_value(left) if isinstance(left, str) else left) == (
            as_value(right) if isinstance(right, str) else right
        )
    return left == right


_ORDER: dict[str, Callable[..., bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
_EXACT: dict[str, Callable[..., Plain]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
}
_OVER: dict[str, Callable[..., Plain]] = {
    "sum": sum,
    "count": lambda values: sum(map(bool, values)),
    "all": all,
    "any": any,
    "min": min,
    "max": max,
}
_SHORT: dict[str, Callable[[list[Function]], Function]] = {
    "neg": lambda n: lambda x, y, at: -n[0](x, y, at),
    "abs": lambda n: lambda x, y, at: abs(n[0](x, y, at)),
    "not": lambda n: lambda x, y, at: not n[0](x, y, at),
    "and": lambda n: lambda x, y, at: all(f(x, y, at) for f in n),
    "or": lambda n: lambda x, y, at: any(f(x, y, at) for f in n),
    "if": lambda n: lambda x, y, at: n[1](x, y, at) if n[0](x, y, at) else n[2](x, y, at),
    "min": lambda n: lambda x, y, at: min(f(x, y, at) for f in n),
    "max": lambda n: lambda x, y, at: max(f(x, y, at) for f in n),
}
