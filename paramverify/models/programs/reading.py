"""Reading programs: a subset of Python's syntax, read with `ast` under a whitelist and never executed."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeGuard

from paramverify.errors import ProgramError
from paramverify.models.programs.bound import BUILTINS, CUSTOM, bound_in, first_use, mistaken_import
from paramverify.models.programs.expressions import BINARY, MAX_DEPTH, RESERVED, Expressions
from paramverify.models.programs.hints import instead, of_syntax, word_as_name
from paramverify.models.programs.lifting import lifted
from paramverify.models.programs.syntax import (
    Apply,
    Assign,
    Call,
    For,
    Function,
    If,
    Jump,
    Node,
    Output,
    Place,
    Program,
    Return,
    Statement,
    Variable,
    While,
    every_node,
    every_statement,
    nodes_of,
)
from paramverify.spelling import nearest

STREAM = "stream"
VALUES = 'a stream has values: stream(values="real"), or stream(values="-1..1")'
PLAIN_NAMES = "a plain name is needed here; write a line of its own for each other one"
MAX_LENGTH = 100_000  # characters of a program


def read_program(text: str, calls: Collection[str] = ()) -> Program:
    """Reads a program, which may call mechanisms of these names.

    Raises:
        ProgramError: anything that is not in the language, with the place, and what to write instead.
    """
    if len(text) > MAX_LENGTH:
        raise ProgramError(f"the program is longer than {MAX_LENGTH:,} characters", "", 1, 0)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    for number, line in enumerate(text.split("\n"), start=1):
        for column, char in enumerate(line):
            if not (char.isprintable() or char == "\t"):
                raise ProgramError(f"unexpected character {char!a}", text, number, column)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
        return _ProgramReader(text, calls).program(tree)
    except SyntaxError as error:
        place = (error.lineno or 1, max(0, (error.offset or 1) - 1))
        if word := word_as_name(text, place[0]):
            reason = f"{word[0]} is a word of the language; choose another name, such as {word[0]}_"
            raise ProgramError(reason, text, place[0], word[1]) from None
        shown = "".join(text.split("\n")[place[0] - 1 : place[0]])
        raise ProgramError(of_syntax(shown, error.msg), text, *place) from None
    except (RecursionError, MemoryError, ValueError, OverflowError) as error:
        if isinstance(error, ProgramError):
            raise
        raise ProgramError("this program is nested too deeply", text, 1, 0) from None


class _ProgramReader(Expressions):
    """Turns Python's tree into ours, and refuses whatever is not on the whitelist."""

    loops: int = 0  # inside of so many
    in_function: str = ""

    def __init__(self, text: str, calls: Collection[str]) -> None:
        super().__init__(text, (), calls)
        self.giving_several: set[str] = set()  # the functions with `return a, b`

    def program(self, tree: ast.Module) -> Program:
        mistake = mistaken_import(tree, RESERVED) or first_use(
            tree,
            bound_in(tree, {n: m for n, m in {**BUILTINS, **CUSTOM}.items() if n not in self.calls}),
            RESERVED,
        )
        if mistake:
            raise self.refuse(mistake[1], mistake[0])
        body = tree.body
        if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body = body[1:] if isinstance(body[0].value.value, str) else body
        defined = [s for s in body if isinstance(s, ast.FunctionDef)]
        for k, statement in enumerate(defined):
            if statement.name in (s.name for s in defined[:k]):
                raise self.refuse(f"the function {statement.name} is defined twice", statement)
            if statement is not body[k]:
                raise self.refuse("functions are defined before the rest of the program", statement)
        self.known = {s.name for s in defined}
        functions = {s.name: self.function(s) for s in defined}
        no_recursion(functions, self.text)
        read = self.block(body[len(defined) :], 0)
        for block in (read, *(f.body for f in functions.values())):
            self.check_taken_apart(block)
        if not _says_something(read):
            reason = "the program has no output: write output(...) or return ..."
            raise ProgramError(reason, self.text, 1, 0)
        functions = {name: replace(f, body=lifted(f.body)) for name, f in functions.items()}
        return Program(self.text, functions, lifted(read))

    def function(self, tree: ast.FunctionDef) -> Function:
        given = tree.args
        if given.vararg or given.kwarg or given.kwonlyargs or given.defaults or given.posonlyargs:
            raise self.refuse("a function has plain parameters only: write def f(x, y):", tree)
        if tree.decorator_list:
            raise self.refuse("decorators are not allowed", tree.decorator_list[0])
        if tree.returns or any(a.annotation for a in given.args):
            raise self.refuse("types are not written here; leave them out", tree)
        names = tuple(self.new_name(a.arg, a) for a in given.args)
        if len(set(names)) < len(names):
            raise self.refuse("two parameters have the same name", tree)
        if tree.name in RESERVED or tree.name in self.calls:
            what = "a word of the language" if tree.name in RESERVED else "a mechanism that the program calls"
            raise self.refuse(f"{tree.name} is {what}; choose another name", tree)
        body = tree.body
        if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body = body[1:]
        self.in_function = tree.name
        read = self.block(body, 0)
        self.in_function = ""
        return Function(tree.name, names, read, self.place(tree))

    def block(self, body: list[ast.stmt], depth: int) -> tuple[Statement, ...]:
        if depth > MAX_DEPTH:
            raise self.refuse(f"blocks nested deeper than {MAX_DEPTH}", body[0])
        return tuple(s for tree in body for s in self.statement(tree, depth))

    def statement(self, tree: ast.stmt, depth: int) -> list[Statement]:
        place = self.place(tree)
        match tree:
            case ast.Pass():
                return []
            case ast.Break() | ast.Continue():
                word = "break" if isinstance(tree, ast.Break) else "continue"
                if not self.loops:
                    raise self.refuse(f"{word} stands in a loop only", tree)
                return [Jump(word, place)]
            case ast.Expr():
                return [self.alone(tree.value)]
            case ast.Assign() if len(tree.targets) == 1:
                target = tree.targets[0]
                if not isinstance(target, (ast.Tuple, ast.List)):
                    return [self.assign(target, self.node(tree.value, 0), place)]
                return self.taken_apart(target, self.several(tree.value), place)
            case ast.Assign():
                raise self.refuse("one assignment has one =; write a line for each name", tree.targets[1])
            case ast.AugAssign() if type(tree.op) in BINARY:
                return [self.augmented(tree, BINARY[type(tree.op)])]
            case ast.If():
                then, rest = self.block(tree.body, depth + 1), self.block(tree.orelse, depth + 1)
                return [If(self.node(tree.test, 0), then, rest, place)]
            case ast.For() if not tree.orelse:
                names = self.targets(tree.target)
                streams = is_stream(tree.iter)
                if not streams and _nearly_stream(tree.iter):
                    raise self.refuse(
                        f"unknown function {ast.unparse(tree.iter.func)}; did you mean stream?", tree.iter
                    )
                values = self.stream(tree, depth) if streams else self.sequence(tree.iter, 0)
                return [For(names, values, self.looped(tree.body, depth), place)]
            case ast.While() if not tree.orelse:
                return [While(self.node(tree.test, 0), self.looped(tree.body, depth), place)]
            case ast.For() | ast.While():
                raise self.refuse_else(tree)
            case ast.Return():
                return [self.returned(tree)]
            case ast.FunctionDef():
                inside = (
                    "a function inside of a function" if self.in_function else "a function inside of a block"
                )
                raise self.refuse(f"{inside} is not in the language; define it at the left margin", tree)
            case ast.AnnAssign():
                raise self.refuse("types are not written here; leave them out", tree)
        raise self.refuse(instead(tree, "this statement is not in the language"), tree)

    def stream(self, tree: ast.For, depth: int) -> Node:
        """Reads `stream(values=...)`, what the loop over all inputs runs through."""
        call = tree.iter
        assert isinstance(call, ast.Call)
        if depth or self.in_function or self.loops:
            raise self.refuse("the loop over a stream stands at the left margin", tree)
        if not isinstance(tree.target, ast.Name):
            raise self.refuse("an entry of a stream has one name: write for x in stream(...)", tree.target)
        if call.args or len(call.keywords) != 1 or call.keywords[0].arg != "values":
            raise self.refuse(VALUES, call)
        return Apply(STREAM, (self.node(call.keywords[0].value, 0),), self.place(call))

    def refuse_else(self, tree: ast.For | ast.While) -> ProgramError:
        """Returns the error about the `else` of a loop, which has no place in Python's tree."""
        inside = tree.orelse[0].lineno
        before = range(inside, 0, -1)
        line = next((k for k in before if self.lines[k - 1].lstrip().startswith("else")), inside)
        column = len(self.lines[line - 1]) - len(self.lines[line - 1].lstrip())
        reason = "a loop has no else; set a variable before break, and write if after the loop"
        return ProgramError(reason, self.text, line, column)

    def looped(self, body: list[ast.stmt], depth: int) -> tuple[Statement, ...]:
        self.loops += 1
        read = self.block(body, depth + 1)
        self.loops -= 1
        return read

    def augmented(self, tree: ast.AugAssign, word: str) -> Statement:
        """Reads `name += value`: the operator `+=` of ours has no list on its left."""
        target: ast.expr = tree.target
        while isinstance(target, ast.Subscript):
            if any(isinstance(n, ast.Call) for n in ast.walk(target.slice)):
                reason = "what stands in the brackets is evaluated once only; give it a name first"
                raise self.refuse(reason, target.slice)
            target = target.value
        arguments = (self.node(tree.target, 0), self.node(tree.value, 0))
        place = self.place(tree)
        return self.assign(tree.target, Apply(f"{word}=", arguments, place), place)

    def returned(self, tree: ast.Return) -> Statement:
        place = self.place(tree)
        if tree.value is None:
            if self.in_function:
                raise self.refuse("a function returns a value: write return ...", tree)
            return Jump("stop", place)
        if not self.in_function:
            return Return(self.node(tree.value, 0), place)
        if isinstance(tree.value, ast.Tuple):
            self.giving_several.add(self.in_function)
        return Return(self.several(tree.value), place)

    def check_taken_apart(self, body: Sequence[Statement]) -> None:
        for found in every_statement(body):
            apart = found.value if isinstance(found, Assign) and len(found.names) > 1 else None
            for node in (inner for given in nodes_of(found) for inner in every_node(given)):
                if isinstance(node, Call) and node.name in self.giving_several and node is not apart:
                    reason = f"{node.name} returns several values: write a, b = {node.name}(...)"
                    raise ProgramError(reason, self.text, *node.place)

    def alone(self, tree: ast.expr) -> Statement:
        """Reads an expression that is a statement: `output(x)` or `stop`."""
        word = tree.func if isinstance(tree, ast.Call) else tree
        if isinstance(word, ast.Name) and word.id in ("stop", "output") and self.in_function:
            hint = "; a function returns its value" if word.id == "output" else ""
            raise self.refuse(f"{word.id} stands outside of functions{hint}", tree)
        if isinstance(tree, ast.Name) and tree.id == "stop":
            return Jump("stop", self.place(tree))
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
            if tree.func.id == "stop" and not tree.args:
                return Jump("stop", self.place(tree))
            if tree.func.id == "output":
                if len(tree.args) != 1 or tree.keywords:
                    raise self.refuse("output has one value: write output([a, b]) for several", tree)
                return Output(self.node(tree.args[0], 0), self.place(tree))
        if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
            raise self.refuse("a text alone does nothing; write a comment with #", tree)
        if instead(tree, ""):
            raise self.refuse(instead(tree), tree)
        if isinstance(tree, ast.Call):
            self.node(tree, 0)  # may have a better reason
        ways = "return ..." if self.in_function else "output(...), stop"
        raise self.refuse(f"a value alone does nothing; write {ways} or name = ...", tree)

    def assign(self, target: ast.expr, value: Node, place: Place) -> Assign:
        indices: list[Node] = []
        while isinstance(target, ast.Subscript):
            if isinstance(target.slice, ast.Slice):
                raise self.refuse("a part of a list cannot be assigned; assign its entries", target)
            indices.insert(0, self.node(target.slice, 0))  # evaluated from left to right, after the value
            target = target.value
        if indices:
            if not isinstance(target, ast.Name):
                raise self.refuse(instead(target, "a variable is needed here"), target)
            return Assign((self.new_name(target.id, target),), tuple(indices), value, place)
        return Assign(self.targets(target), (), value, place)

    def taken_apart(self, target: ast.Tuple | ast.List, value: Node, place: Place) -> list[Statement]:
        """Reads an assignment to several names, or to entries of lists: first all values, then one by one."""
        if len(target.elts) < 2 or not any(isinstance(e, ast.Subscript) for e in target.elts):
            return [self.assign(target, value, place)]
        kept = tuple(f"#{k}:{place.line}:{place.column}" for k in range(len(target.elts)))
        found: list[Statement] = [Assign(kept, (), value, place)]
        for name, entry in zip(kept, target.elts, strict=True):
            if not isinstance(entry, (ast.Name, ast.Subscript)):
                raise self.refuse(PLAIN_NAMES, entry)
            found.append(self.assign(entry, Variable(name, self.place(entry)), self.place(entry)))
        return found

    def targets(self, tree: ast.expr) -> tuple[str, ...]:
        if isinstance(tree, ast.Name):
            return (self.new_name(tree.id, tree),)
        if isinstance(tree, (ast.Tuple, ast.List)) and tree.elts:
            if len(tree.elts) == 1:
                raise self.refuse("a list of one entry is not taken apart: write name = values[0]", tree)
            names = []
            for entry in tree.elts:
                if not isinstance(entry, ast.Name):
                    raise self.refuse(PLAIN_NAMES, entry)
                names.append(self.new_name(entry.id, entry))
            return tuple(names)
        raise self.refuse(instead(tree, "a name is needed here"), tree)

    def new_name(self, name: str, tree: ast.AST) -> str:
        if name in RESERVED or name in self.known:
            raise self.refuse(f"{name} is a word of the language or a function; choose another name", tree)
        if name in self.calls:
            reason = f"{name} is a mechanism that the program calls; choose another name"
            raise self.refuse(reason, tree)
        if not name.isascii() or name.startswith("__"):
            raise self.refuse("names have the letters a to z, digits and _", tree)
        return name


def is_stream(tree: ast.expr) -> bool:
    """Tells whether a loop runs over `stream(...)`."""
    return isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == STREAM


def _nearly_stream(tree: ast.expr) -> TypeGuard[ast.Call]:
    """Tells whether a call is of a word that looks like `stream`, and has the word `values`."""
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
        return False
    named = [word.arg for word in tree.keywords] == ["values"]
    return named and nearest(tree.func.id, (STREAM,)) is not None


def no_recursion(functions: Mapping[str, Function], text: str) -> None:
    """Checks that no function calls itself, directly or through others.

    Raises:
        ProgramError: one does.
    """
    calls = {name: set(_called(f.body)) for name, f in functions.items()}
    for name, function in functions.items():
        seen: set[str] = set()
        pending = list(calls[name])
        while pending:
            other = pending.pop()
            if other == name:
                reason = f"the function {name} calls itself: recursion is not allowed; write a loop"
                raise ProgramError(reason, text, *function.place)
            if other not in seen:
                seen.add(other)
                pending.extend(calls[other])


def _called(body: Sequence[Statement]) -> Iterator[str]:
    for statement in every_statement(body):
        for node in nodes_of(statement):
            yield from (inner.name for inner in every_node(node) if isinstance(inner, Call))


def _says_something(body: Sequence[Statement]) -> bool:
    return any(isinstance(s, (Output, Return)) for s in every_statement(body))
