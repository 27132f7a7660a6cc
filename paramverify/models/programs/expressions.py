"""Reading the expressions of programs, and the words of the language; see `reading.py` for statements."""

from __future__ import annotations

import ast
from collections.abc import Collection
from difflib import get_close_matches
from fractions import Fraction

from paramverify.algebra.expressions import exact_decimal
from paramverify.errors import ProgramError
from paramverify.models.programs.bound import without_library
from paramverify.models.programs.hints import WRITE, instead
from paramverify.models.programs.syntax import (
    Apply,
    Ask,
    Call,
    Choice,
    Constant,
    Items,
    Literal,
    Node,
    Place,
    Variable,
)

MAX_DEPTH = 60  # blocks and expressions inside each other
MAX_DIGITS = 100

NOISE = {
    "flip": (1, 1),
    "uniform": (2, 2),
    "binomial": (2, 2),
    "geometric": (1, 1),
    "one_sided_geometric": (1, 1),
    "laplace": (1, 1),
    "exponential": (1, 1),
    "gauss": (1, 1),
    "discrete_gaussian": (1, 1),
}
FUNCTIONS = {
    **NOISE,
    "len": (1, 1),
    "abs": (1, 1),
    "sum": (1, 1),
    "min": (1, None),
    "max": (1, None),
    "range": (1, 3),
    "clamp": (3, 3),
    "exp": (1, 1),
}
_OF_LISTS = ("len", "sum", "min", "max")
RESERVED = frozenset({*FUNCTIONS, "choice", "output", "stop"})
ENCLOSED = ("gauss", "discrete_gaussian")  # noise without closed forms

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
}
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.In: "in",
    ast.NotIn: "not in",
}
IN_PLACE = ("+=", "-=", "*=", "/=", "//=", "%=", "**=")  # no lists on their left


class Expressions:
    """Turns expressions of Python's tree into ours, and refuses whatever is not on the whitelist."""

    def __init__(self, text: str, known: Collection[str], calls: Collection[str] = ()) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.known = known  # the functions that the program defines
        self.calls = calls  # the mechanisms that it may call

    def place(self, tree: ast.AST) -> Place:
        """Returns the place of a tree; Python counts bytes, we count characters."""
        line, column = getattr(tree, "lineno", 1), getattr(tree, "col_offset", 0)
        before = self.lines[line - 1].encode()[:column] if line <= len(self.lines) else b""
        return Place(line, len(before.decode(errors="replace")))

    def refuse(self, reason: str, tree: ast.AST) -> ProgramError:
        """Returns the error about a tree."""
        return ProgramError(reason, self.text, *self.place(tree))

    def several(self, tree: ast.expr) -> Node:
        """Reads what is given to several names: a tuple may stand here."""
        if isinstance(tree, ast.Tuple):
            return Items(tuple(self.node(e, 1) for e in tree.elts), self.place(tree))
        return self.node(tree, 0)

    def sequence(self, tree: ast.expr, depth: int) -> Node:
        """Reads what a loop runs through, or what is counted: a tuple or a range may stand here."""
        if isinstance(tree, ast.Tuple):
            return Items(tuple(self.node(e, depth + 1) for e in tree.elts), self.place(tree))
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "range":
            return self.call(tree, depth)
        return self.node(tree, depth)

    def node(self, tree: ast.expr, depth: int) -> Node:
        """Reads an expression.

        Raises:
            ProgramError: it is not in the language.
        """
        if depth > MAX_DEPTH:
            raise self.refuse(f"nested deeper than {MAX_DEPTH}", tree)
        place = self.place(tree)
        match tree:
            case ast.Constant():
                return Literal(self.constant(tree), place)
            case ast.Name():
                return self.name(tree)
            case ast.UnaryOp():
                inner = self.node(tree.operand, depth + 1)
                words = {ast.USub: "neg", ast.UAdd: "+", ast.Not: "not"}
                word = next((w for kind, w in words.items() if isinstance(tree.op, kind)), None)
                if word:
                    zero = (Literal(Fraction(0), place),) if word == "+" else ()
                    return Apply(word, (*zero, inner), place)
            case ast.BinOp() if type(tree.op) in BINARY:
                left, right = self.node(tree.left, depth + 1), self.node(tree.right, depth + 1)
                return Apply(BINARY[type(tree.op)], (left, right), place)
            case ast.BoolOp():
                word = "and" if isinstance(tree.op, ast.And) else "or"
                return Apply(word, tuple(self.node(v, depth + 1) for v in tree.values), place)
            case ast.Compare():
                return self.comparison(tree, depth)
            case ast.IfExp():
                parts = (tree.test, tree.body, tree.orelse)
                return Apply("if", tuple(self.node(p, depth + 1) for p in parts), place)
            case ast.Tuple():
                raise self.refuse("a tuple is not a value here: write a list, [a, b]", tree)
            case ast.List():
                return Items(tuple(self.node(e, depth + 1) for e in tree.elts), place)
            case ast.Subscript():
                return self.subscript(tree, depth)
            case ast.Call():
                if isinstance(tree.func, ast.Name) and tree.func.id == "range":
                    reason = "range stands in loops, after in, and in len, sum, min and max; write a list"
                    raise self.refuse(reason, tree)
                return self.call(tree, depth)
        raise self.refuse(instead(tree), tree)

    def name(self, tree: ast.Name) -> Node:
        if tree.id in ("stop", "output"):
            written = "stop" if tree.id == "stop" else "output(...)"
            reason = f"{written} stands on a line of its own; choose another name for a value"
            raise self.refuse(reason, tree)
        if tree.id in RESERVED or tree.id in self.known or tree.id in self.calls:
            what = "mechanism" if tree.id in self.calls else "function"
            raise self.refuse(f"{tree.id} is a {what}: write {tree.id}(...)", tree)
        return Variable(tree.id, self.place(tree))

    def constant(self, tree: ast.Constant) -> Constant:
        """Reads a number, a label, True or False."""
        value = tree.value
        if isinstance(value, (bool, str)):
            return value
        written = ast.get_source_segment(self.text, tree) or ""
        if len(written) > MAX_DIGITS:
            raise self.refuse("a number with too many digits", tree)
        if isinstance(value, int):
            return Fraction(value)
        if isinstance(value, float):
            try:
                return Fraction(exact_decimal(written.replace("_", "")))
            except ValueError as error:
                raise self.refuse(str(error), tree) from None
        reason = f"{written} is no value here: values are numbers, labels in quotes, True, False and lists"
        if value is None:
            reason += '; write a label, such as "none"'
        raise self.refuse(reason, tree)

    def comparison(self, tree: ast.Compare, depth: int) -> Node:
        values = [self.node(tree.left, depth + 1)]
        for op, part in zip(tree.ops, tree.comparators, strict=True):
            inside = isinstance(op, (ast.In, ast.NotIn))
            values.append(self.sequence(part, depth + 1) if inside else self.node(part, depth + 1))
        parts: list[Node] = []
        for k, op in enumerate(tree.ops):
            if type(op) not in _COMPARE:
                raise self.refuse("write == or !=", tree)
            parts.append(Apply(_COMPARE[type(op)], (values[k], values[k + 1]), self.place(tree)))
        if len(parts) > 1:
            for middle in tree.comparators[:-1]:
                if any(isinstance(n, ast.Call) for n in ast.walk(middle)):
                    reason = (
                        "what stands in the middle of a chain is a name or a number; give it a name first"
                    )
                    raise self.refuse(reason, middle)
            return Apply("and", tuple(parts), self.place(tree))
        return parts[0]

    def subscript(self, tree: ast.Subscript, depth: int) -> Node:
        if not isinstance(tree.slice, ast.Slice):
            base = self.sequence(tree.value, depth + 1)
            return Apply("index", (base, self.node(tree.slice, depth + 1)), self.place(tree))
        base = self.node(tree.value, depth + 1)
        if tree.slice.step is not None:
            raise self.refuse("a part of a list has no step here", tree)
        low, high = tree.slice.lower, tree.slice.upper
        ends = [Literal(Fraction(0), self.place(tree)) if low is None else self.node(low, depth + 1)]
        if high is not None:
            ends.append(self.node(high, depth + 1))
        return Apply("slice", (base, *ends), self.place(tree))

    def call(self, tree: ast.Call, depth: int) -> Node:
        if not isinstance(tree.func, ast.Name):
            raise self.refuse(instead(tree.func, "a function's name is needed here"), tree.func)
        name = tree.func.id
        if name == "choice":
            return self.choice(tree, depth)
        if name == "output":
            raise self.refuse("output(...) stands on a line of its own", tree)
        if tree.keywords:
            raise self.refuse(WRITE["stream"] if name == "stream" else "arguments have no names here", tree)
        read = self.sequence if name in _OF_LISTS and len(tree.args) == 1 else self.node
        given = tuple(read(a, depth + 1) for a in tree.args)
        if name in self.known:
            return Call(name, given, self.place(tree))
        if name in self.calls:
            return Ask(name, given, self.place(tree))
        if name not in FUNCTIONS:
            near = get_close_matches(name, [*self.calls, *self.known, *FUNCTIONS, "choice", "output"], n=1)
            known = f"known are {', '.join([*FUNCTIONS, 'choice', 'output'])}"
            hint = WRITE.get(name) or without_library(name) or (f"did you mean {near[0]}?" if near else known)
            raise self.refuse(f"unknown function {name}; {hint}", tree)
        least, most = FUNCTIONS[name]
        if len(given) < least or (most is not None and len(given) > most):
            count = str(least) if least == most else f"{least} to {most}" if most else f"at least {least}"
            raise self.refuse(f"{name} needs {count} argument{'' if count.endswith('1') else 's'}", tree)
        return Apply(name, given, self.place(tree))

    def choice(self, tree: ast.Call, depth: int) -> Node:
        given = tree.args[0] if len(tree.args) == 1 and not tree.keywords else None
        if not isinstance(given, ast.Dict) or not given.keys:
            raise self.refuse('choice has a table: choice({"a": 1/2, "b": 1/2})', tree)
        table: dict[Constant, Node] = {}
        for key, value in zip(given.keys, given.values, strict=True):
            constant = self.key(key, tree)
            if constant in table:
                raise self.refuse("this value occurs twice", key or tree)
            table[constant] = self.node(value, depth + 1)
        return Choice(tuple(table.items()), self.place(tree))

    def key(self, tree: ast.expr | None, table: ast.expr) -> Constant:
        """Reads a value of `choice`: a label, or a number, which may be calculated with `+ - * /`."""
        match tree:
            case ast.Constant():
                return self.constant(tree)
            case ast.UnaryOp(ast.USub() | ast.UAdd() as sign, inner):
                number = self.key(inner, table)
                if type(number) is Fraction:
                    return -number if isinstance(sign, ast.USub) else number
            case ast.BinOp(left, word, right):
                first, second = self.key(left, table), self.key(right, table)
                if type(first) is Fraction and type(second) is Fraction:
                    known = _calculated(first, word, second)
                    if known is not None:
                        return known
        raise self.refuse("the values of choice are labels, or numbers such as 0.5, -1 or 1/2", tree or table)


def _calculated(left: Fraction, word: ast.operator, right: Fraction) -> Fraction | None:
    match word:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div() if right:
            return left / right
    return None
