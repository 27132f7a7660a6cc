"""Conditions and distances over two inputs of a mechanism, named `x` and `y`: `sum(abs(x[i] - y[i])) <= 1`.

The language is that of the expressions of programs, without noise. `x[i]` with a name `i` stands in `sum`,
`count`, `all`, `any`, `min` or `max` with one argument, which runs over all indices; a name belongs to the
innermost of these around it. Where a mechanism has several named inputs, `x.q[i]` and `x.n` are theirs.
This module reads the text; `models.relations` gives it a meaning.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from typing import Protocol, runtime_checkable

from paramverify.algebra.named import in_force
from paramverify.errors import ExpressionError, ProgramError
from paramverify.models.programs.expressions import NOISE, Expressions
from paramverify.models.programs.syntax import Apply, Literal, Node, Variable

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
        raise ExpressionError(f"longer than {MAX_LENGTH:,} characters", text[:70], 0)
    source = text.replace("\r", " ").replace("\n", " ").replace("\t", " ").strip()
    stray = next((k for k, char in enumerate(source) if not char.isprintable()), None)
    if stray is not None:
        raise ExpressionError(f"unexpected character {source[stray]!a}", source, stray)
    if not source:
        raise ExpressionError("empty expression", text, 0)
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
        raise ExpressionError("nested too deeply", source, 0) from None


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
            raise self.refuse("leave `for` out: sum(abs(x[i] - y[i])) runs over all i", tree)
        return super().node(tree, depth)

    def part(self, tree: ast.Attribute) -> Node:
        if not isinstance(tree.value, ast.Name) or tree.value.id not in SIDES:
            raise self.refuse("a dot stands behind x or y only, before the name of an input", tree)
        if tree.attr not in self.parts:
            known = [f"{tree.value.id}.{name}" for name in self.parts if name]
            near = get_close_matches(f"{tree.value.id}.{tree.attr}", known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
            reason = f"no input is called {tree.attr}; {hint}" if known else "the input has no named parts"
            raise self.refuse(reason, tree)
        place = self.place(tree)
        return Apply("part", (Variable(tree.value.id, place), Literal(tree.attr, place)), place)

    def name(self, tree: ast.Name) -> Node:
        if tree.id in FUNCTIONS:
            raise self.refuse(f"{tree.id} is a function: write {tree.id}(...)", tree)
        if in_force().get(tree.id):
            reason = f"{tree.id} is a definition, and these have no meaning here: write what it stands for"
            raise self.refuse(reason, tree)
        return Variable(tree.id, self.place(tree))

    def constant(self, tree: ast.Constant) -> Fraction | str | bool:
        if isinstance(tree.value, str) and "\\" in (ast.get_source_segment(self.text, tree) or ""):
            raise self.refuse("write a label as it is, without a backslash", tree)
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
            raise self.refuse("a part of an array is not allowed here; write x[i], or x[0]", tree)
        index = self.node(tree.slice, depth + 1)
        whole = (
            isinstance(index, Literal) and isinstance(index.value, Fraction) and index.value.denominator == 1
        )
        if not whole and not (isinstance(index, Variable) and index.name not in SIDES):
            raise self.refuse("an index is a name such as i, or a whole number from 0", tree.slice)
        return Apply("index", (self.node(tree.value, depth + 1), index), self.place(tree))

    def call(self, tree: ast.Call, depth: int) -> Node:
        name = tree.func.id if isinstance(tree.func, ast.Name) else ""
        if name not in FUNCTIONS:
            near = get_close_matches(name, list(FUNCTIONS), n=1)
            noise = name in NOISE or name == "choice"
            known = f"known are {', '.join(FUNCTIONS)}"
            hint = "there is no noise here" if noise else f"did you mean {near[0]}?" if near else known
            raise self.refuse(f"unknown function {name}; {hint}" if name else f"no function; {known}", tree)
        if tree.keywords or any(isinstance(a, ast.Starred) for a in tree.args):
            raise self.refuse("arguments have no names and no stars here", tree)
        if not tree.args or (FUNCTIONS[name] and len(tree.args) > 1):
            raise self.refuse(f"{name} needs {'one argument' if FUNCTIONS[name] else 'an argument'}", tree)
        return Apply(name, tuple(self.node(a, depth + 1) for a in tree.args), self.place(tree))
