"""Reading programs: a subset of Python's syntax, read with `ast` under a whitelist and never executed."""

from __future__ import annotations

import ast
import warnings
from difflib import get_close_matches
from fractions import Fraction

from paramverify.algebra.expressions import exact_decimal
from paramverify.errors import InputError
from paramverify.models.programs.syntax import (
    Apply,
    Assign,
    Call,
    Choice,
    For,
    Function,
    If,
    Items,
    Jump,
    Literal,
    Node,
    Output,
    Place,
    Program,
    Return,
    Statement,
    Variable,
    While,
    inner_blocks,
)

MAX_LENGTH = 100_000  # characters of a program
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
RESERVED = frozenset({*FUNCTIONS, "choice", "output", "stop"})
LATER = {"gauss", "discrete_gaussian"}

_BINARY: dict[type[ast.operator], str] = {
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
_INSTEAD: dict[type[ast.AST], str] = {
    ast.Import: "imports are not allowed: the noise functions are known without one",
    ast.ImportFrom: "imports are not allowed: the noise functions are known without one",
    ast.Attribute: "a dot is not allowed here; to make a list longer write a = a + [x]",
    ast.ListComp: "comprehensions are not allowed; write a for loop that fills a list",
    ast.SetComp: "comprehensions are not allowed; write a for loop that fills a list",
    ast.DictComp: "comprehensions are not allowed; write a for loop that fills a list",
    ast.GeneratorExp: "comprehensions are not allowed; write a for loop that fills a list",
    ast.Lambda: "lambda is not allowed; define a function with def",
    ast.ClassDef: "classes are not allowed",
    ast.Try: "try is not allowed",
    ast.With: "with is not allowed",
    ast.Global: "global is not allowed; a function returns what it computes",
    ast.Nonlocal: "nonlocal is not allowed; a function returns what it computes",
    ast.Dict: "a table stands in choice({...}) only",
    ast.Set: "sets are not allowed; write a list",
    ast.JoinedStr: "f-strings are not allowed; labels are plain texts",
    ast.NamedExpr: "assignments stand on a line of their own",
    ast.Await: "await is not allowed",
    ast.Yield: "yield is not allowed; write output(...)",
    ast.Raise: "raise is not allowed; write stop",
    ast.Assert: "assert is not allowed",
    ast.Delete: "del is not allowed",
    ast.Starred: "a star is not allowed here",
    ast.Match: "match is not allowed; write if",
    ast.AsyncFor: "async is not allowed",
    ast.AsyncFunctionDef: "async is not allowed",
}


class ProgramError(InputError):
    """A mistake in a program, with the line that has it and a caret under the place."""

    def __init__(self, reason: str, text: str, place: Place) -> None:
        super().__init__(reason)
        self.text = text
        self.place = place

    def __str__(self) -> str:
        lines = self.text.splitlines() or [""]
        line = lines[min(self.place.line, len(lines)) - 1].replace("\t", " ")
        start = max(0, self.place.column - 60)
        shown = line[start : start + 110]
        before = super().__str__().removesuffix(self.reason)
        return f"{before}line {self.place.line}: {self.reason}\n    {shown}\n    {' ' * (self.place.column - start)}^"


def read_program(text: str) -> Program:
    """Reads a program.

    Raises:
        ProgramError: anything that is not in the language, with the line, the place, and what to write instead.
    """
    if len(text) > MAX_LENGTH:
        raise ProgramError(f"longer than {MAX_LENGTH:,} characters", "", Place(1, 0))
    for number, line in enumerate(text.splitlines(), start=1):
        for column, char in enumerate(line):
            if not (char.isprintable() or char == "\t"):
                raise ProgramError(f"unexpected character {char!r}", line, Place(1, column))
            if number and char == "\f":
                raise ProgramError("unexpected character", line, Place(1, column))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tree = ast.parse(text)
    except SyntaxError as error:
        place = Place(error.lineno or 1, max(0, (error.offset or 1) - 1))
        raise ProgramError(f"syntax error: {error.msg}", text, place) from None
    except (RecursionError, MemoryError, ValueError, OverflowError):
        raise ProgramError("nested too deeply", text, Place(1, 0)) from None
    try:
        return _Reader(text).program(tree)
    except RecursionError:
        raise ProgramError("nested too deeply", text, Place(1, 0)) from None


class _Reader:
    """Turns Python's tree into ours, and refuses whatever is not on the whitelist."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.functions: dict[str, Function] = {}
        self.known: set[str] = set()

    def refuse(self, reason: str, tree: ast.AST) -> ProgramError:
        return ProgramError(reason, self.text, _place(tree))

    def program(self, tree: ast.Module) -> Program:
        body = tree.body
        if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body = body[1:] if isinstance(body[0].value.value, str) else body
        self.known = {s.name for s in body if isinstance(s, ast.FunctionDef)}
        rest: list[ast.stmt] = []
        for statement in body:
            if isinstance(statement, ast.FunctionDef):
                found = self.function(statement)
                if found.name in self.functions:
                    raise self.refuse(f"the function {found.name} is defined twice", statement)
                self.functions[found.name] = found
            else:
                rest.append(statement)
        read = self.block(rest, 0)
        self.no_recursion()
        if not any(_says_something(s) for s in (read, *(f.body for f in self.functions.values()))):
            raise ProgramError(
                "the program has no output: write output(...) or return ...", self.text, Place(1, 0)
            )
        return Program(self.text, self.functions, read)

    def function(self, tree: ast.FunctionDef) -> Function:
        given = tree.args
        if given.vararg or given.kwarg or given.kwonlyargs or given.defaults or given.posonlyargs:
            raise self.refuse("a function has plain parameters only", tree)
        if tree.decorator_list:
            raise self.refuse("decorators are not allowed", tree.decorator_list[0])
        names = tuple(self.new_name(a.arg, a) for a in given.args)
        if tree.name in RESERVED:
            raise self.refuse(f"{tree.name} is a word of the language; choose another name", tree)
        body = tree.body
        if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body = body[1:]
        return Function(tree.name, names, self.block(body, 0), _place(tree))

    def no_recursion(self) -> None:
        calls = {name: _calls(f.body) for name, f in self.functions.items()}
        for name in calls:
            seen: set[str] = set()
            pending = list(calls[name])
            while pending:
                other = pending.pop()
                if other == name:
                    function = self.functions[name]
                    reason = f"the function {name} calls itself: recursion is not allowed; write a loop"
                    raise ProgramError(reason, self.text, function.place)
                if other not in seen:
                    seen.add(other)
                    pending.extend(calls[other])

    def block(self, body: list[ast.stmt], depth: int) -> tuple[Statement, ...]:
        if depth > MAX_DEPTH:
            raise self.refuse(f"blocks nested deeper than {MAX_DEPTH}", body[0])
        return tuple(s for tree in body for s in self.statement(tree, depth))

    def statement(self, tree: ast.stmt, depth: int) -> list[Statement]:
        place = _place(tree)
        match tree:
            case ast.Pass():
                return []
            case ast.Break() | ast.Continue():
                return [Jump("break" if isinstance(tree, ast.Break) else "continue", place)]
            case ast.Expr():
                return [self.alone(tree.value)]
            case ast.Assign() if len(tree.targets) == 1:
                return [self.assign(tree.targets[0], self.node(tree.value, 0), place)]
            case ast.AugAssign() if type(tree.op) in _BINARY:
                target = self.node(_loaded(tree.target), 0)
                value = Apply(_BINARY[type(tree.op)], (target, self.node(tree.value, 0)), place)
                return [self.assign(tree.target, value, place)]
            case ast.If():
                then, rest = self.block(tree.body, depth + 1), self.block(tree.orelse, depth + 1)
                return [If(self.node(tree.test, 0), then, rest, place)]
            case ast.For() if not tree.orelse:
                names = self.targets(tree.target)
                return [For(names, self.node(tree.iter, 0), self.block(tree.body, depth + 1), place)]
            case ast.While() if not tree.orelse:
                return [While(self.node(tree.test, 0), self.block(tree.body, depth + 1), place)]
            case ast.Return():
                if tree.value is None:
                    return [Jump("stop", place)]
                return [Return(self.node(tree.value, 0), place)]
            case ast.FunctionDef():
                raise self.refuse("a function is defined at the left margin", tree)
            case ast.AnnAssign():
                raise self.refuse("types are not written here", tree)
        raise self.refuse(_INSTEAD.get(type(tree), "this statement is not in the language"), tree)

    def alone(self, tree: ast.expr) -> Statement:
        """Reads an expression that is a statement: `output(x)` or `stop`."""
        if isinstance(tree, ast.Name) and tree.id == "stop":
            return Jump("stop", _place(tree))
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
            if tree.func.id == "stop" and not tree.args:
                return Jump("stop", _place(tree))
            if tree.func.id == "output":
                if len(tree.args) != 1 or tree.keywords:
                    raise self.refuse("output has one value", tree)
                return Output(self.node(tree.args[0], 0), _place(tree))
        if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
            raise self.refuse("a text alone does nothing; write a comment with #", tree)
        if type(tree) in _INSTEAD:
            raise self.refuse(_INSTEAD[type(tree)], tree)
        if isinstance(tree, ast.Call):
            self.node(tree, 0)  # may have a better reason
        raise self.refuse("a value alone does nothing; write output(...), stop or name = ...", tree)

    def assign(self, target: ast.expr, value: Node, place: Place) -> Assign:
        indices: list[Node] = []
        while isinstance(target, ast.Subscript):
            if isinstance(target.slice, ast.Slice):
                raise self.refuse("a part of a list cannot be assigned", target)
            indices.insert(0, self.node(target.slice, 0))
            target = target.value
        if indices:
            if not isinstance(target, ast.Name):
                raise self.refuse(_INSTEAD.get(type(target), "a variable is needed here"), target)
            return Assign((self.new_name(target.id, target),), tuple(indices), value, place)
        return Assign(self.targets(target), (), value, place)

    def targets(self, tree: ast.expr) -> tuple[str, ...]:
        if isinstance(tree, ast.Name):
            return (self.new_name(tree.id, tree),)
        if isinstance(tree, (ast.Tuple, ast.List)) and tree.elts:
            names = []
            for entry in tree.elts:
                if not isinstance(entry, ast.Name):
                    raise self.refuse("plain names are needed here", entry)
                names.append(self.new_name(entry.id, entry))
            return tuple(names)
        raise self.refuse(_INSTEAD.get(type(tree), "a name is needed here"), tree)

    def new_name(self, name: str, tree: ast.AST) -> str:
        if name in RESERVED or name in self.known:
            raise self.refuse(f"{name} is a word of the language or a function; choose another name", tree)
        if not name.isascii() or name.startswith("__"):
            raise self.refuse("names have the letters a to z, digits and _", tree)
        return name

    def node(self, tree: ast.expr, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise self.refuse(f"nested deeper than {MAX_DEPTH}", tree)
        place = _place(tree)
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
                    return inner if word == "+" else Apply(word, (inner,), place)
            case ast.BinOp() if type(tree.op) in _BINARY:
                left, right = self.node(tree.left, depth + 1), self.node(tree.right, depth + 1)
                return Apply(_BINARY[type(tree.op)], (left, right), place)
            case ast.BoolOp():
                word = "and" if isinstance(tree.op, ast.And) else "or"
                return Apply(word, tuple(self.node(v, depth + 1) for v in tree.values), place)
            case ast.Compare():
                return self.comparison(tree, depth)
            case ast.IfExp():
                parts = (tree.test, tree.body, tree.orelse)
                return Apply("if", tuple(self.node(p, depth + 1) for p in parts), place)
            case ast.List() | ast.Tuple():
                return Items(tuple(self.node(e, depth + 1) for e in tree.elts), place)
            case ast.Subscript():
                return self.subscript(tree, depth)
            case ast.Call():
                return self.call(tree, depth)
        raise self.refuse(_INSTEAD.get(type(tree), "this is not in the language"), tree)

    def name(self, tree: ast.Name) -> Node:
        if tree.id == "stop":
            raise self.refuse("stop stands on a line of its own", tree)
        if tree.id in RESERVED or tree.id in self.known:
            raise self.refuse(f"{tree.id} is a function: write {tree.id}(...)", tree)
        return Variable(tree.id, _place(tree))

    def constant(self, tree: ast.Constant) -> Fraction | str | bool:
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
        raise self.refuse("this is not in the language", tree)

    def comparison(self, tree: ast.Compare, depth: int) -> Node:
        values = [self.node(v, depth + 1) for v in (tree.left, *tree.comparators)]
        parts: list[Node] = []
        for k, op in enumerate(tree.ops):
            if type(op) not in _COMPARE:
                raise self.refuse("write == or !=", tree)
            parts.append(Apply(_COMPARE[type(op)], (values[k], values[k + 1]), _place(tree)))
        if len(parts) > 1:
            for middle in tree.comparators[:-1]:
                if any(isinstance(n, ast.Call) for n in ast.walk(middle)):
                    reason = (
                        "what stands in the middle of a chain is a name or a number; give it a name first"
                    )
                    raise self.refuse(reason, middle)
            return Apply("and", tuple(parts), _place(tree))
        return parts[0]

    def subscript(self, tree: ast.Subscript, depth: int) -> Node:
        base = self.node(tree.value, depth + 1)
        if not isinstance(tree.slice, ast.Slice):
            return Apply("index", (base, self.node(tree.slice, depth + 1)), _place(tree))
        if tree.slice.step is not None:
            raise self.refuse("a part of a list has no step here", tree)
        ends = [
            Literal(Fraction(0), _place(tree))
            if tree.slice.lower is None
            else self.node(tree.slice.lower, depth + 1),
            Apply("len", (base,), _place(tree))
            if tree.slice.upper is None
            else self.node(tree.slice.upper, depth + 1),
        ]
        return Apply("slice", (base, *ends), _place(tree))

    def call(self, tree: ast.Call, depth: int) -> Node:
        if not isinstance(tree.func, ast.Name):
            raise self.refuse(_INSTEAD.get(type(tree.func), "a function's name is needed here"), tree.func)
        name = tree.func.id
        if name == "choice":
            return self.choice(tree, depth)
        if name == "output":
            raise self.refuse("output(...) stands on a line of its own", tree)
        if name in LATER:
            raise self.refuse(
                f"{name} is not covered; the kinds of noise are {', '.join(NOISE)} and choice", tree
            )
        if tree.keywords:
            raise self.refuse("arguments have no names here", tree)
        given = tuple(self.node(a, depth + 1) for a in tree.args)
        if name in self.known:
            return Call(name, given, _place(tree))
        if name not in FUNCTIONS:
            near = get_close_matches(name, [*FUNCTIONS, "choice", "output"], n=1)
            hint = (
                f"; did you mean {near[0]}?"
                if near
                else f"; known are {', '.join([*FUNCTIONS, 'choice', 'output'])}"
            )
            raise self.refuse(f"unknown function {name}{hint}", tree)
        least, most = FUNCTIONS[name]
        if len(given) < least or (most is not None and len(given) > most):
            count = (
                f"{least}" if least == most else f"at least {least}" if most is None else f"{least} to {most}"
            )
            raise self.refuse(f"{name} needs {count} argument{'' if count == '1' else 's'}", tree)
        return Apply(name, given, _place(tree))

    def choice(self, tree: ast.Call, depth: int) -> Node:
        if (
            len(tree.args) != 1
            or tree.keywords
            or not isinstance(tree.args[0], ast.Dict)
            or not tree.args[0].keys
        ):
            raise self.refuse('choice has a table: choice({"a": 1/2, "b": 1/2})', tree)
        table: dict[Fraction | str | bool, Node] = {}
        for key, value in zip(tree.args[0].keys, tree.args[0].values, strict=True):
            negative = isinstance(key, ast.UnaryOp) and isinstance(key.op, ast.USub)
            inner = key.operand if negative and isinstance(key, ast.UnaryOp) else key
            if not isinstance(inner, ast.Constant):
                raise self.refuse("the values of choice are numbers or labels", key or tree)
            constant = self.constant(inner)
            if negative:
                if isinstance(constant, (str, bool)):
                    raise self.refuse("only a number can be negative", inner)
                constant = -constant
            if constant in table:
                raise self.refuse("this value occurs twice", inner)
            table[constant] = self.node(value, depth + 1)
        return Choice(tuple(table.items()), _place(tree))


def _place(tree: ast.AST) -> Place:
    return Place(getattr(tree, "lineno", 1), getattr(tree, "col_offset", 0))


def _loaded(tree: ast.expr) -> ast.expr:
    return tree


def _calls(body: tuple[Statement, ...]) -> set[str]:
    found: set[str] = set()
    for statement in body:
        for node in nodes_of(statement):
            found.update(_called(node))
        for block in inner_blocks(statement):
            found |= _calls(block)
    return found


def nodes_of(statement: Statement) -> tuple[Node, ...]:
    """Returns the expressions of a statement, without those of the blocks inside."""
    match statement:
        case Assign():
            return (*statement.indices, statement.value)
        case If() | While():
            return (statement.test,)
        case For():
            return (statement.values,)
        case Output() | Return():
            return (statement.value,)
        case Jump():
            return ()


def _called(node: Node) -> set[str]:
    found: set[str] = set()
    stack: list[Node] = [node]
    while stack:
        inner = stack.pop()
        if isinstance(inner, Call):
            found.add(inner.name)
        if isinstance(inner, (Apply, Call)):
            stack.extend(inner.arguments)
        elif isinstance(inner, Items):
            stack.extend(inner.items)
        elif isinstance(inner, Choice):
            stack.extend(p for _, p in inner.table)
    return found


def _says_something(body: tuple[Statement, ...]) -> bool:
    return any(isinstance(s, (Output, Return)) or any(map(_says_something, inner_blocks(s))) for s in body)
