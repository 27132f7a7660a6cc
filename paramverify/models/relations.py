"""Conditions and distances over two inputs of a mechanism.

How they are written, and the functions that they mean.

The language is that of the expressions of programs, without noise. `x[i]` with a name `i` stands in `sum`,
`count`, `all`, `any`, `min` or `max` with one argument, which runs over all indices; a name belongs to the
innermost of these around it. Where a mechanism has several named inputs, `x.q[i]` and `x.n` are theirs.
This module reads the text; `models.relations` gives it a meaning.

See `models.relations` for the language. All numbers are exact.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from itertools import product
from typing import Any, Protocol, runtime_checkable

from paramverify.algebra.expressions import Value, in_force
from paramverify.errors import ExpressionError, InputError, ProgramError
from paramverify.models.names import as_value
from paramverify.models.programs import noisy_numbers
from paramverify.models.programs.program_reading import NOISE, Expressions
from paramverify.models.programs.program_syntax import Apply, Items, Literal, Node, Variable

MAX_LENGTH = 10_000  # characters of a condition
SIDES = ("x", "y")
RUNNING = ("sum", "count", "all", "any", "min", "max")  # with one argument: over all indices
FUNCTIONS: dict[str, int | None] = {**dict.fromkeys(("abs", "len", *RUNNING), 1), "min": None, "max": None}
TRUTHS = ("<", "<=", ">", ">=", "==", "!=", "in", "not in", "and", "or", "not", "all", "any")


@dataclass(frozen=True)
class InputPart:
    """A part of an input and its name; `length` is None where it is one value."""

    name: str
    length: int | None


Shape = tuple[InputPart, ...]


@runtime_checkable
class Shaped(Protocol):
    """What a mechanism may offer besides: how its inputs are taken apart."""

    @property
    def shape(self) -> Shape:
        """The parts of an input, in their order; a part without a name is the whole input."""


def shape_of(mechanism: object, answers: Sequence[object]) -> Shape:
    """Returns the shape that a mechanism offers; else an input is one value, or an array of several."""
    if isinstance(mechanism, Shaped):
        return mechanism.shape
    return (InputPart("", len(answers) if len(answers) > 1 else None),)


def is_truth(node: Node) -> bool:
    """Tells whether an expression is true or false, and no number."""
    if isinstance(node, Apply):
        chosen = node.operator == "if" and all(map(is_truth, node.arguments[1:]))
        return chosen or node.operator in TRUTHS
    return isinstance(node, Literal) and isinstance(node.value, bool)


def read(text: str, shape: Shape) -> tuple[str, Node]:
    """Returns the text on one line, and its tree.

    `x.q` is the operator `part` there, applied to x and the name.

    Raises:
        ExpressionError: what is not in the language, with its place.
    """
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"the expression is longer than {MAX_LENGTH:,} characters", text[:70], 0)
    source = text.replace("\r", " ").replace("\n", " ").replace("\t", " ").strip()
    stray = next((k for k, char in enumerate(source) if not char.isprintable()), None)
    if stray is not None:
        raise ExpressionError(f"unexpected character {source[stray]!a}", source, stray)
    if not source:
        raise ExpressionError("the expression is empty", text, 0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source, mode="eval")
        return source, _ConditionReader(source, shape).node(tree.body, 0)
    except ProgramError as error:
        raise ExpressionError(error.reason, source, error.column) from None
    except SyntaxError as error:
        single = re.search(r"(?<![<>=!])=(?!=)", source)
        # Python gives no offset for a text that ends too early.
        found = error.offset - 1 if error.offset else len(source)
        column = single.start() if single else min(found, len(source))
        reason = "write == for equality" if single else f"syntax error: {error.msg}"
        raise ExpressionError(reason, source, column) from None
    except (RecursionError, MemoryError, ValueError, OverflowError):
        raise ExpressionError("the expression is nested too deeply", source, 0) from None


class _ConditionReader(Expressions):
    """Turns Python's tree into ours; without noise, and with parts of inputs."""

    def __init__(self, text: str, shape: Shape) -> None:
        super().__init__(text, ())
        self.parts = [part.name for part in shape]

    def node(self, tree: ast.expr, depth: int) -> Node:
        """Reads an expression.

        Raises:
            ProgramError: it is not in the language.
        """
        if isinstance(tree, ast.Attribute):
            return self.part(tree)
        if isinstance(tree, (ast.GeneratorExp, ast.ListComp)):
            raise self.refuse("remove `for`: sum(abs(x[i] - y[i])) already runs over all i", tree)
        return super().node(tree, depth)

    def part(self, tree: ast.Attribute) -> Node:
        if not isinstance(tree.value, ast.Name) or tree.value.id not in SIDES:
            raise self.refuse("a dot is only allowed after x or y, before the name of an input", tree)
        if tree.attr not in self.parts:
            known = [f"{tree.value.id}.{name}" for name in self.parts if name]
            near = get_close_matches(f"{tree.value.id}.{tree.attr}", known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
            reason = f"no input is called {tree.attr}; {hint}" if known else "the inputs have no names here"
            raise self.refuse(reason, tree)
        place = self.place(tree)
        return Apply("part", (Variable(tree.value.id, place), Literal(tree.attr, place)), place)

    def name(self, tree: ast.Name) -> Node:
        if tree.id in FUNCTIONS:
            raise self.refuse(f"{tree.id} is a function: call it as {tree.id}(...)", tree)
        if in_force().get(tree.id):
            reason = (
                f"{tree.id} is a definition of [define], which cannot be used here: write out its expression"
            )
            raise self.refuse(reason, tree)
        return Variable(tree.id, self.place(tree))

    def constant(self, tree: ast.Constant) -> Fraction | str | bool:
        if isinstance(tree.value, str) and "\\" in (ast.get_source_segment(self.text, tree) or ""):
            raise self.refuse("a label must not contain a backslash escape: write the label as it is", tree)
        return super().constant(tree)

    def comparison(self, tree: ast.Compare, depth: int) -> Node:
        values = [tree.left, *tree.comparators]
        parts = tuple(
            super(_ConditionReader, self).comparison(ast.copy_location(ast.Compare(a, [op], [b]), a), depth)
            for a, op, b in zip(values, tree.ops, values[1:], strict=False)
        )
        return parts[0] if len(parts) == 1 else Apply("and", parts, self.place(tree))

    def subscript(self, tree: ast.Subscript, depth: int) -> Node:
        if isinstance(tree.slice, ast.Slice):
            raise self.refuse("slices are not supported; write x[i], or x[0]", tree)
        index = self.node(tree.slice, depth + 1)
        whole = (
            isinstance(index, Literal) and isinstance(index.value, Fraction) and index.value.denominator == 1
        )
        if not whole and not (isinstance(index, Variable) and index.name not in SIDES):
            raise self.refuse("an index must be a name such as i, or a whole number from 0 on", tree.slice)
        return Apply("index", (self.node(tree.value, depth + 1), index), self.place(tree))

    def call(self, tree: ast.Call, depth: int) -> Node:
        name = tree.func.id if isinstance(tree.func, ast.Name) else ""
        if name not in FUNCTIONS:
            near = get_close_matches(name, list(FUNCTIONS), n=1)
            noise = name in NOISE or name == "choice"
            known = f"the functions are {', '.join(FUNCTIONS)}"
            hint = "noise is not allowed here" if noise else f"did you mean {near[0]}?" if near else known
            raise self.refuse(
                f"unknown function {name}; {hint}" if name else f"only functions can be called; {known}", tree
            )
        if tree.keywords or any(isinstance(a, ast.Starred) for a in tree.args):
            raise self.refuse("arguments with names or stars are not supported here", tree)
        if not tree.args or (FUNCTIONS[name] and len(tree.args) > 1):
            raise self.refuse(f"{name} needs {'one argument' if FUNCTIONS[name] else 'an argument'}", tree)
        return Apply(name, tuple(self.node(a, depth + 1) for a in tree.args), self.place(tree))


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
        reason = "this must be a condition, such as sum(abs(x[i] - y[i])) <= 1"
        raise ExpressionError(reason, source, node.place.column)
    return Relation(source, _Meaning(source, shape).value(node))


def read_distance(text: str, shape: Shape) -> Relation:
    """Reads a distance between x and y.

    Raises:
        ExpressionError: a mistake in it, with its place.
    """
    source, node = read(text, shape)
    if is_truth(node):
        reason = "the distance must be a number, such as sum(abs(x[i] - y[i])) or count(x[i] != y[i])"
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
                raise self.error(f"there are several inputs, so name one: write {known}", node)
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
            raise self.error(f"{name}is a single value here, so it cannot be indexed", node)
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
            reason = f"{part.name} is an array: write {part.name}[i] inside sum, count, all, any, min or max"
            raise self.error(reason, node)
        if part is not None:
            side, place = part
            return (lambda x, y, at: y[place]) if side else (lambda x, y, at: x[place])
        if isinstance(node, Variable):
            return self.index(node)
        if isinstance(node, Apply):
            return self.applied(node)
        raise self.error("a list is only allowed after `in`", node)

    def index(self, node: Variable) -> Function:
        """Returns the function of the name of an index."""
        name = node.name
        if not any(name in around for around in self.ranges):
            reason = (
                f"unknown name {name}; the names are x, y, and indices such as i in sum(abs(x[i] - y[i]))"
            )
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
                    raise self.error(f"the label {value!r} is not a number", node)
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
                found = noisy_numbers.apply(node.operator, given)
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
                raise self.error(
                    f"the index is out of range: {array.name} has the indices 0 to {array.length - 1}", index
                )
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
            raise self.error("`in` must be followed by a list, such as [1, 2]", among)
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
                reason = (
                    f"{index.name} runs over {known} indices, but {indexed.name} has length {indexed.length}"
                )
                raise self.error(reason, place)
        if not ranges:
            self.value(body)  # which may say more
            raise self.error(f"{word} needs an index such as i in {word}(x[i] ...)", node)
        steps = 1
        for length in ranges.values():
            steps *= length
        if steps > MAX_STEPS:
            raise self.error(f"the condition has more than {MAX_STEPS:,} combinations of indices", node)
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
