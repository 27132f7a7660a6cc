"""The program that a Python function is: its text, read from its file, and where each line stands there.

A function is never run. What is read is the text of its body and of the functions of its module that it
calls; names that mean something else in Python than in the language are refused.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import math
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from types import FunctionType
from typing import Any

from paramverify import language
from paramverify.errors import InputError, ProgramError
from paramverify.models.programs.expressions import FUNCTIONS, NOISE, RESERVED
from paramverify.models.programs.reading import read_program
from paramverify.models.programs.syntax import Program

WORDS = RESERVED - FUNCTIONS.keys() | NOISE.keys() | {"clamp", "exp"}  # what the library has to be asked for
INDENT = 4


@dataclass(frozen=True)
class Line:
    """A line of a program: its text, and the file, line and columns before it that it came from."""

    text: str
    file: str
    number: int
    shift: int


@dataclass(frozen=True, eq=False)
class Source:
    """A program with its lines; `files` are the texts of the files, `arguments` those of the function."""

    lines: tuple[Line, ...]
    files: Mapping[str, str]
    arguments: tuple[str, ...]
    place: str  # the file and the name of the function

    @property
    def text(self) -> str:
        """The program, as a case file has it."""
        return "".join(f"{line.text}\n" for line in self.lines)

    def program(self) -> Program:
        """Reads the program.

        Raises:
            ProgramError: it is not in the language, with the place in the Python file.
        """
        try:
            return read_program(self.text)
        except ProgramError as error:
            raise self.at_home(error) from None

    def at_home(self, error: ProgramError) -> ProgramError:
        """Returns an error about the program with its place in the Python file."""
        line = self.lines[min(error.line, len(self.lines)) - 1]
        column = max(0, error.column + line.shift)
        reason = self._lines_at_home(error.reason)
        return _refused(reason, line.file, self.files[line.file], (line.number, column))

    def _lines_at_home(self, reason: str) -> str:
        def line(found: re.Match[str]) -> str:
            return f"{found[1]} line {self.lines[min(int(found[2]), len(self.lines)) - 1].number}"

        return re.sub(r"(at|before) line (\d+)", line, reason)


def _refused(reason: str, file: str, text: str, place: tuple[int, int]) -> ProgramError:
    error = ProgramError(reason, text, *place)
    error.file, error.anchored = file, True
    return error


def source_of(function: object, parameters: Collection[str]) -> Source:
    """Returns the program that a function is; `parameters` are those of its case.

    Raises:
        InputError: no plain function, or one whose source cannot be read.
        ProgramError: names that come from elsewhere, with the place.
    """
    read: dict[str, _Read] = {}
    main = _Read.of(function, "the mechanism")
    main.check_names(parameters)
    pending = [*main.helpers()]
    while pending:
        name, found = pending.pop(0)
        if name in read:
            continue
        read[name] = _Read.of(found, name)
        if read[name].function.__module__ != main.function.__module__:
            reason = f"{name} stands in the module {read[name].function.__module__}: define it in this one"
            raise main.refuse(reason, main.call_of(name) or main.tree)
        read[name].check_names(parameters)
        pending += read[name].helpers()
    lines = [line for helper in read.values() for line in helper.definition()]
    files = {part.file: part.text for part in (main, *read.values())}
    place = f"{main.file}:{main.function.__name__}"
    return Source((*lines, *main.body(0)), files, main.arguments, place)


@dataclass(frozen=True, eq=False)
class _Read:
    """A function with the tree of its definition; places in the tree are those in the file."""

    function: FunctionType
    tree: ast.FunctionDef
    file: str
    text: str

    @staticmethod
    def of(function: object, what: str) -> _Read:
        name = getattr(function, "__name__", what)
        if not isinstance(function, FunctionType):
            raise InputError(f"{what} is not a plain function, but of the type {type(function).__name__}")
        if name == "<lambda>":
            raise InputError(f"{what} is a lambda: define a function with def")
        inside = function.__qualname__.rpartition(".")[0].rpartition(".")[2]
        if inside and inside != "<locals>":
            raise InputError(f"{name} is a method of the class {inside}: define a function")
        try:
            lines, start = inspect.findsource(function)
            tree = _tree("".join(inspect.getblock(lines[start:])), start)
        except (OSError, SyntaxError, IndexError):
            reason = f"the source of {name} cannot be read: define the function in a file"
            raise InputError(reason) from None
        found = _Read(function, tree, function.__code__.co_filename, "".join(lines))
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        if tree.name != name or found.arguments != names:
            raise InputError(f"{found.file} has changed since {name} was imported from it")
        found.check_shape(what == "the mechanism")
        return found

    def refuse(self, reason: str, tree: ast.AST) -> ProgramError:
        """Returns an error that points at a place of the file."""
        number = getattr(tree, "lineno", 1)
        return _refused(reason, self.file, self.text, (number, self.column(number, tree)))

    def column(self, number: int, tree: ast.AST) -> int:
        """Returns the column of a tree; Python counts bytes, we count characters."""
        before = self.text.splitlines()[number - 1].encode()[: getattr(tree, "col_offset", 0)]
        return len(before.decode(errors="replace"))

    def check_shape(self, is_main: bool) -> None:
        """Checks the first line: plain arguments, and one decorator at most."""
        given = self.tree.args
        if given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs:
            raise self.refuse("a mechanism has plain arguments only, without * and /", self.tree)
        if given.defaults:
            raise self.refuse("an argument has no default here: the caller gives it", given.defaults[0])
        decorators = self.tree.decorator_list
        if len(decorators) > is_main:
            reason = (
                "another decorator may change what the function does: leave @mechanism alone"
                if is_main
                else f"{self.tree.name} has a decorator, which may change what it does: call a plain function"
            )
            raise self.refuse(reason, decorators[0])
        for argument in given.args:
            if argument.arg in RESERVED:
                reason = f"{argument.arg} is a word of the language; choose another name"
                raise self.refuse(reason, argument)
        for node in ast.walk(self.tree):
            if not isinstance(node, ast.Constant) or node is self.docstring:
                continue
            if isinstance(node.value, str) and node.end_lineno != node.lineno:
                raise self.refuse("a label stands on one line", node)
        if not self.statements:
            raise self.refuse("the function has a docstring only", self.tree)

    @property
    def arguments(self) -> tuple[str, ...]:
        return tuple(a.arg for a in self.tree.args.args)

    @property
    def docstring(self) -> ast.Constant | None:
        first = self.tree.body[0]
        found = first.value if isinstance(first, ast.Expr) else None
        return found if isinstance(found, ast.Constant) and isinstance(found.value, str) else None

    @property
    def statements(self) -> list[ast.stmt]:
        return self.tree.body[1:] if self.docstring else self.tree.body

    def names(self) -> Iterator[ast.Name]:
        """Yields the names that the body reads, without those that it sets."""
        inside = [n for s in self.statements for n in ast.walk(s) if isinstance(n, ast.Name)]
        own = {*self.arguments, *(n.id for n in inside if isinstance(n.ctx, ast.Store))}
        yield from (n for n in inside if n.id not in own)

    def called(self) -> Iterator[ast.Name]:
        """Yields the names of functions that the body calls, without those that it sets."""
        functions = {id(n.func) for s in self.statements for n in ast.walk(s) if isinstance(n, ast.Call)}
        yield from (n for n in self.names() if id(n) in functions)

    def meaning(self, name: str) -> Any:
        """Returns what a name is in Python where the function stands; None if it is nothing."""
        for known in (self.enclosed(), self.function.__globals__, vars(builtins)):
            if name in known:
                return known[name]
        return None

    def enclosed(self) -> dict[str, Any]:
        """Returns the variables of functions around this one that it reads, those that have a value."""
        found = {}
        cells = self.function.__closure__ or ()
        for name, cell in zip(self.function.__code__.co_freevars, cells, strict=True):
            with suppress(ValueError):  # it has no value yet
                found[name] = cell.cell_contents
        return found

    def check_names(self, parameters: Collection[str]) -> None:
        """Checks that every name means in Python what it means in the language.

        Raises:
            ProgramError: one does not.
        """
        dots = [n for s in self.statements for n in ast.walk(s) if isinstance(n, ast.Attribute)]
        for dot in dots:
            if dot.attr in WORDS:
                reason = f"a dot is not allowed here: write from paramverify import {dot.attr}"
                raise self.refuse(f"{reason}, and {dot.attr}(...)", dot)
        elsewhere = {id(dot.value) for dot in dots} | {id(n) for n in self.called()}
        for node in self.names():
            name, found = node.id, self.meaning(node.id)
            if name in WORDS:
                if found is getattr(language, name) or (name == "exp" and found is math.exp):
                    continue
                missing = f"{name} is not known in Python" if found is None else f"{name} is something else"
                raise self.refuse(f"{missing}: write from paramverify import {name}", node)
            if name in FUNCTIONS:
                if found is not getattr(builtins, name):
                    raise self.refuse(f"{name} is not Python's own {name} here", node)
            elif name in parameters:
                reason = f"{name} is a parameter: make it an argument of {self.tree.name}"
                raise self.refuse(reason, node)
            elif id(node) not in elsewhere:
                reason = (
                    f"{name} is a variable outside of the function, whose value may change: "
                    "write the value, or make it an argument"
                    if found is not None
                    else f"{name} has no value here{self.near(name)}"
                )
                raise self.refuse(reason, node)

    def near(self, name: str) -> str:
        """Returns words about a name of the function that looks like this one, if any."""
        inside = [n for s in self.statements for n in ast.walk(s) if isinstance(n, ast.Name)]
        own = {*self.arguments, *(n.id for n in inside if isinstance(n.ctx, ast.Store))}
        near = get_close_matches(name, sorted(own), n=1)
        return f"; did you mean {near[0]}?" if near else ""

    def helpers(self) -> Iterator[tuple[str, Any]]:
        """Yields the functions that it calls and that are none of the language."""
        for node in self.called():
            found = self.meaning(node.id)
            own = node.id not in FUNCTIONS and node.id not in WORDS
            if own and found is not None and found is not getattr(builtins, node.id, None):
                if not isinstance(found, FunctionType):
                    kind = type(found).__name__
                    raise self.refuse(f"{node.id} is of the type {kind}: call a plain function", node)
                yield node.id, found

    def call_of(self, name: str) -> ast.Name | None:
        """Returns the first place that has a name."""
        return next((n for n in self.names() if n.id == name), None)

    def body(self, indent: int) -> list[Line]:
        """Returns the lines of the body, moved to the left, and then indented."""
        first, last = self.statements[0], self.statements[-1]
        column = self.column(first.lineno, first)
        lines = self.text.splitlines()
        found = []
        for number in range(first.lineno, (last.end_lineno or last.lineno) + 1):
            line = lines[number - 1]
            blank = len(line) - len(line.lstrip())
            cut = column if number == first.lineno else min(column, blank)
            found.append(Line(" " * indent + line[cut:], self.file, number, cut - indent))
        return found

    def definition(self) -> list[Line]:
        """Returns the function as the language has it."""
        head = f"def {self.tree.name}({', '.join(self.arguments)}):"
        shift = self.column(self.tree.lineno, self.tree)
        return [Line(head, self.file, self.tree.lineno, shift), *self.body(INDENT)]


def _tree(block: str, start: int) -> ast.FunctionDef:
    """Parses a definition, which may be indented; its lines count from the start of its file."""
    inside = block[:1].isspace()
    (found,) = ast.parse(f"if True:\n{block}" if inside else block).body
    tree = found.body[0] if inside and isinstance(found, ast.If) else found
    if isinstance(tree, ast.AsyncFunctionDef):
        raise InputError(f"{tree.name} is async: define a plain function")
    if not isinstance(tree, ast.FunctionDef):
        raise OSError("no definition")
    ast.increment_lineno(tree, start - inside)
    return tree
