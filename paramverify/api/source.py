"""The program that a Python function is: its text, read from its file, and where each line stands there.

A function is never run. What is read is the text of its body and of the functions of its module that it
calls; names that mean something else in Python than in the language are refused.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from math import isfinite
from types import CodeType, FunctionType, ModuleType
from typing import Any

from paramverify import language
from paramverify.api.values import document
from paramverify.errors import InputError, ProgramError
from paramverify.models.programs.program_reading import FUNCTIONS, NOISE, RESERVED, instead, read_program
from paramverify.models.programs.program_syntax import CalledProgram, Callee, Program
from paramverify.models.programs.python_libraries import (
    LIBRARIES,
    TABLE,
    bound_in,
    first_use,
    is_word,
    mistaken_import,
    other_word,
)
from paramverify.privacy import origins
from paramverify.tables import toml_data
from paramverify.tracing.definitions import definition

# --- what the objects that names of a Python function mean are called in their libraries ------------


def library_name(found: object) -> str | None:
    """Returns the name of a module, a function or a class in its library; None if it is in none."""
    if isinstance(found, ModuleType):
        return found.__name__ if found.__name__.partition(".")[0] in LIBRARIES else None
    if found is None or not (callable(found) or hasattr(found, "rvs")):
        return None
    for word in RESERVED:
        if found is getattr(language, word, language):
            return f"{language.__name__}.{word}"
    for name in TABLE:
        for full in (name, name.rpartition(".")[0]):  # of a module, or of something in one
            place, _, last = full.rpartition(".")
            if place in sys.modules and vars(sys.modules[place]).get(last) is found:
                return full
    named = f"{getattr(found, '__module__', '')}.{getattr(found, '__name__', '')}"
    return named if named.partition(".")[0] in LIBRARIES else None


# --- texts ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SourceLine:
    """A line of a program: its text, and the file, line and columns before it that it came from."""

    text: str
    file: str
    number: int
    shift: int


@dataclass(frozen=True, eq=False)
class ProgramSource:
    """A program with its lines; `files` are the texts of the files, `arguments` those of the function.

    `check_meanings` looks again whether every name means what it meant when the function was read.
    """

    lines: tuple[SourceLine, ...]
    files: Mapping[str, str]
    arguments: tuple[str, ...]
    place: str  # the file and the name of the function
    check_meanings: Callable[[], None]
    calls: Mapping[str, Decorated]  # the mechanisms that it may call, and those that these call
    rounded: str = ""  # a note about numbers that Python rounds, and the function computes with
    origin: str = ""  # how the program was made, if it is not the text of the function

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
            return replace(read_program(self.text, self.calls), calls=self.called())
        except ProgramError as error:
            raise self.at_home(error) from None

    def called(self) -> dict[str, Callee]:
        """Returns the mechanisms that the program may call, as programs have them."""
        return {
            name: CalledProgram(found.program, found.source.arguments, f"mechanism.calls.{name}.source")
            for name, found in self.calls.items()
        }

    def tables(self) -> dict[str, dict[str, object]]:
        """Returns the same as `[mechanism.calls]` of a case has it."""
        return {
            name: {"kind": "program", "inputs": list(found.source.arguments), "source": found.source.text}
            for name, found in self.calls.items()
        }

    def at_home(self, error: ProgramError) -> ProgramError:
        """Returns an error about the program with its place in the Python file."""
        line = self.lines[min(error.line, len(self.lines)) - 1]
        column = max(0, error.column + line.shift)
        reason = self._lines_at_home(error.reason)
        return refused(reason, line.file, self.files[line.file], (line.number, column))

    def _lines_at_home(self, reason: str) -> str:
        def line(found: re.Match[str]) -> str:
            return f"{found[1]} line {self.lines[min(int(found[2]), len(self.lines)) - 1].number}"

        return re.sub(r"(at|before) line (\d+)", line, reason)


def refused(reason: str, file: str, text: str, place: tuple[int, int]) -> ProgramError:
    """Returns an error at a place of a Python file."""
    error = ProgramError(reason, text, *place)
    error.file, error.anchored = file, True
    return error


class Decorated:
    """A function that is a mechanism, so that others may call it: where it comes from, and its program."""

    source: ProgramSource
    program: Program


def case_text(tables: Mapping[str, Mapping[str, object]], source: ProgramSource, title: str) -> str:
    """Returns the case file of a program with these tables."""
    calls = {"calls": source.tables()} if source.calls else {}
    origin = {"origin": source.origin} if source.origin else {}
    made = {"kind": "program", **origin, "source": source.text, "inputs": tables["inputs"], **calls}
    first = title.split("\n")[0]
    order = ("parameters", "prior", "mechanism", "neighbours", "secrets", "privacy")
    found = {**tables, "mechanism": made}
    if origin:
        found["mechanism"] = {**made, origins.KEY: origins.digest_of(_plain(found))}
    return document({**({"title": first} if first else {}), **{k: found[k] for k in order if k in found}})


def _plain(tables: Mapping[str, object]) -> dict[str, Any]:
    """Returns tables as a reader of the file gets them."""
    return toml_data(document({k: tables[k] for k in ("parameters", "mechanism") if k in tables}))


def rounded_in(statements: Sequence[ast.stmt]) -> str:
    """Returns a note if Python rounds a number that statements add, multiply or compare; else "".

    Such a number is exact in the language: 0.1 is 1/10.
    """
    kinds = (ast.BinOp, ast.Compare, ast.AugAssign)
    used = (n for s in statements for n in ast.walk(s) if isinstance(n, kinds))
    inside = (part for node in used for part in ast.iter_child_nodes(node))
    numbers = (n.value for n in inside if isinstance(n, ast.Constant) and isinstance(n.value, float))
    for number in (x for x in numbers if isfinite(x) and Fraction(repr(x)) != Fraction(x)):
        told = f"numbers are exact in proofs: {number} is {Fraction(repr(number))}, which Python rounds"
        return f"{told}, so that the function itself may compute other numbers; `audit` runs it"
    return ""


# --- source -----------------------------------------------------------------------------------------

WORDS = RESERVED - FUNCTIONS.keys() | NOISE.keys() | {"clamp", "exp"}  # what the library has to be asked for
INDENT = 4
_NAMING = (ast.Lambda, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Try, ast.With, ast.Match, ast.NamedExpr)


def source_of(function: object, parameters: Collection[str]) -> ProgramSource:
    """Returns the program that a function is; `parameters` are those of its case.

    Raises:
        InputError: no plain function, or one whose source cannot be read.
        ProgramError: names that come from elsewhere, with the place.
    """
    read: dict[str, _Read] = {}
    calls: dict[str, Decorated] = {}
    main = _Read.of(function, "the mechanism")
    main.check_names(parameters)
    pending = [*main.helpers()]
    while pending:
        node, caller, found = pending.pop(0)
        name = node.id
        if isinstance(found, Decorated):
            for other, callee in {name: found, **found.source.calls}.items():
                if calls.setdefault(other, callee) is not callee:
                    reason = f"two mechanisms that are called have the name {other}: rename one of them"
                    raise caller.refuse(reason, node)
        elif name not in read:
            caller.check_helper(node, found, main)
            read[name] = _Read.of(found, name)
            read[name].check_names(parameters)
            pending += read[name].helpers()
    everything = (main, *read.values())

    def check() -> None:
        for part in everything:
            part.check_meanings({**{n: r.function for n, r in read.items()}, **calls})

    def check_again() -> None:
        for callee in calls.values():
            callee.source.check_meanings()
        for part in everything:
            part.check_same()
            part.check_names(parameters)
        check()

    check()
    lines = [line for helper in read.values() for line in helper.definition()]
    files = {part.file: part.text for part in everything}
    place = f"{main.file}:{main.function.__name__}"
    return ProgramSource(
        lines=(*lines, *main.body(0)),
        files=files,
        arguments=main.arguments,
        place=place,
        check_meanings=check_again,
        calls=calls,
        rounded=next(filter(None, (rounded_in(part.statements) for part in everything)), ""),
    )


@dataclass(frozen=True, eq=False)
class _Read:
    """A function with the tree of its definition; places in the tree are those in the file."""

    function: FunctionType
    tree: ast.FunctionDef
    file: str
    text: str
    code: CodeType

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
            lines, _ = inspect.findsource(function)
        except (OSError, IndexError):
            reason = f"the source of {name} cannot be read: define the function in a file"
            raise InputError(reason) from None
        text, code = "".join(lines), function.__code__
        tree = definition(text, code)
        if isinstance(tree, ast.AsyncFunctionDef):
            raise InputError(f"{tree.name} is async: define a plain function")
        if not isinstance(tree, ast.FunctionDef) or tree.name != name:
            raise InputError(
                f"{code.co_filename} has changed since {name} was imported from it: import it again"
            )
        found = _Read(function, tree, code.co_filename, text, code)
        found.check_libraries()
        found.check_shape(what == "the mechanism")
        return found

    def refuse(self, reason: str, tree: ast.AST) -> ProgramError:
        """Returns an error that points at a place of the file."""
        number = getattr(tree, "lineno", 1)
        return refused(reason, self.file, self.text, (number, self.column(number, tree)))

    def column(self, number: int, tree: ast.AST) -> int:
        """Returns the column of a tree; Python counts bytes, we count characters."""
        before = self.text.splitlines()[number - 1].encode()[: getattr(tree, "col_offset", 0)]
        return len(before.decode(errors="replace"))

    def check_shape(self, is_main: bool) -> None:
        """Checks the first line: plain arguments, and one decorator at most."""
        given = self.tree.args
        if given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs:
            raise self.refuse("the arguments have * or /: write plain arguments only", self.tree)
        if given.defaults:
            name = given.args[-len(given.defaults)].arg
            reason = (
                f"the argument {name} has a default: remove it, and declare {name} in inputs or parameters"
            )
            raise self.refuse(reason, given.defaults[0])
        decorators = self.tree.decorator_list
        if len(decorators) > is_main:
            reason = (
                "another decorator may change what the function does: keep only @mechanism"
                if is_main
                else f"{self.tree.name} has a decorator, which may change what it does: call a plain function"
            )
            raise self.refuse(reason, decorators[0])
        for argument in given.args:
            if argument.arg in RESERVED:
                reason = f"{argument.arg} is a word of the program language; choose another name"
                raise self.refuse(reason, argument)
        for node in ast.walk(self.tree):
            if not isinstance(node, ast.Constant) or node is self.docstring:
                continue
            if isinstance(node.value, str) and node.end_lineno != node.lineno:
                raise self.refuse("a label must be on one line: write it without line breaks", node)
        if not self.statements:
            raise self.refuse("the function has only a docstring: add statements", self.tree)
        for node in (inner for statement in self.statements for inner in ast.walk(statement)):
            if isinstance(node, ast.FunctionDef):
                reason = "a function inside a function is not supported"
                raise self.refuse(f"{reason}; define it at the top of the file", node)
            if isinstance(node, ast.AnnAssign):
                raise self.refuse("annotations of variables are not supported; leave them out", node)
            if isinstance(node, _NAMING):
                raise self.refuse(instead(node), node)

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
        if name in self.function.__code__.co_freevars:
            return self.enclosed().get(name)
        for known in (self.function.__globals__, vars(builtins)):
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

    def check_libraries(self) -> None:
        """Checks that the body uses nothing of Python's libraries, with what is the same in the language.

        Raises:
            ProgramError: it does, or a word of the language means something else.
        """
        body = ast.Module(self.statements, [])
        if mistake := mistaken_import(body, RESERVED):
            raise self.refuse(mistake[1], mistake[0])
        bound: dict[str, str] = {}
        for node in self.names():
            found = self.meaning(node.id)
            if meaning := library_name(found):
                bound[node.id] = meaning
            if node.id in WORDS and found is not None and not is_word(meaning or "", node.id):
                raise self.refuse(other_word(node.id, meaning or f"another {type(found).__name__}"), node)
        if mistake := first_use(body, bound_in(body, bound), RESERVED):
            raise self.refuse(mistake[1], mistake[0])

    def check_names(self, parameters: Collection[str]) -> None:
        """Checks that every name means in Python what it means in the language.

        Raises:
            ProgramError: one does not.
        """
        self.check_libraries()
        dots = [n for s in self.statements for n in ast.walk(s) if isinstance(n, ast.Attribute)]
        for dot in dots:
            root = dot.value
            while isinstance(root, ast.Attribute):
                root = root.value
            own = self.meaning(root.id) if isinstance(root, ast.Name) and root in self.names() else None
            if isinstance(own, ModuleType) and own.__name__ == "paramverify" and dot.attr in WORDS:
                reason = f"a dot is not supported here: write from paramverify import {dot.attr}"
                raise self.refuse(f"{reason}, and {dot.attr}(...)", dot)
            if own is not None:
                reason = "is an object outside the function: compute its result in the function itself"
                raise self.refuse(f"{ast.unparse(root)} {reason}", dot)
        elsewhere = {id(dot.value) for dot in dots} | {id(n) for n in self.called()}
        for node in self.names():
            name, found = node.id, self.meaning(node.id)
            if name in WORDS:
                if found is None:
                    reason = f"{name} is not imported: write from paramverify import {name}"
                    raise self.refuse(reason, node)
                continue  # `check_libraries` has looked at what it is
            if name in FUNCTIONS:
                if found is not getattr(builtins, name):
                    raise self.refuse(f"{name} is not Python's own {name} here", node)
            elif name in parameters:
                reason = f"{name} is a parameter: make it an argument of {self.tree.name}"
                raise self.refuse(reason, node)
            elif id(node) not in elsewhere:
                reason = (
                    f"{name} is a variable outside the function, whose value may change: "
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

    def helpers(self) -> Iterator[tuple[ast.Name, _Read, Any]]:
        """Yields the calls of functions that are none of the language, this, and what is called."""
        for node in self.called():
            found = self.meaning(node.id)
            own = node.id not in FUNCTIONS and node.id not in WORDS
            if own and found is not None and found is not getattr(builtins, node.id, None):
                yield node, self, found

    def check_helper(self, node: ast.Name, found: object, main: _Read) -> None:
        """Checks that a call means a plain function of this name, at the top of the module or beside `main`.

        Raises:
            ProgramError: another one.
        """
        name = node.id
        if not isinstance(found, FunctionType):
            raise self.refuse(f"{name} is of the type {type(found).__name__}: call a plain function", node)
        if found.__globals__ is not main.function.__globals__:
            reason = f"{name} is defined in the module {found.__module__}: define it in this one"
            raise self.refuse(reason, node)
        if found.__code__.co_name != name or found.__name__ != name:
            reason = (
                f"{name} is another name of the function {found.__code__.co_name}: call it by its own name"
            )
            raise self.refuse(reason, node)
        around = found.__qualname__.rpartition(".")[0]
        if around not in ("", main.function.__qualname__.rpartition(".")[0]):
            place = around.removesuffix(".<locals>")
            raise self.refuse(f"{name} was made in {place}: define it at the top of the file", node)

    def check_meanings(self, read: Mapping[str, object]) -> None:
        """Checks that each name of a helper, or of a mechanism, means here what was read.

        Raises:
            ProgramError: one means something else.
        """
        for node in self.called():
            if node.id in read and self.meaning(node.id) is not read[node.id]:
                reason = f"{node.id} names another function here than elsewhere in this program"
                raise self.refuse(f"{reason}: give the functions different names", node)

    def check_same(self) -> None:
        """Checks that the function is still made of the text that was read.

        Raises:
            ProgramError: its code is another one now.
        """
        if self.function.__code__ is not self.code:
            raise self.refuse(
                f"{self.tree.name} has another body than when it was read: define it again", self.tree
            )

    def body(self, indent: int) -> list[SourceLine]:
        """Returns the lines of the body, moved to the left, and then indented."""
        first, last = self.statements[0], self.statements[-1]
        column = self.column(first.lineno, first)
        lines = self.text.splitlines()
        found = []
        for number in range(first.lineno, (last.end_lineno or last.lineno) + 1):
            line = lines[number - 1]
            blank = len(line) - len(line.lstrip())
            cut = column if number == first.lineno else min(column, blank)
            found.append(SourceLine(" " * indent + line[cut:], self.file, number, cut - indent))
        return found

    def definition(self) -> list[SourceLine]:
        """Returns the function as the language has it."""
        head = f"def {self.tree.name}({', '.join(self.arguments)}):"
        shift = self.column(self.tree.lineno, self.tree)
        return [SourceLine(head, self.file, self.tree.lineno, shift), *self.body(INDENT)]
