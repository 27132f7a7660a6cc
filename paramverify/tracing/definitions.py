"""The definition of a function in the text of its file, and what the names in it mean."""

from __future__ import annotations
import __future__

import ast
import builtins
import sys
from collections.abc import Iterator
from functools import lru_cache, reduce
from operator import or_
from types import CodeType, FunctionType
from typing import Any

FUTURE = reduce(or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names))
UNKNOWN = object()  # what a name means that only a run shows
MISSING = object()  # what a name means that nothing sets
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def definition(text: str, code: CodeType) -> Definition | None:
    """Returns the definition in a text that a function was made from; None if it does not stand there."""
    flags = code.co_flags & FUTURE | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        module = ast.parse(text)
        made = _compiled(text, code.co_filename, flags)
    except (SyntaxError, ValueError):
        return None
    if all(_content(c) != _content(code) for c in _codes(made) if c.co_firstlineno == code.co_firstlineno):
        return None
    lambdas = []
    for tree in ast.walk(module):
        if isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef)) and tree.name == code.co_name:
            first = min(t.lineno for t in (tree, *tree.decorator_list))
            if first == code.co_firstlineno:
                return tree
        elif isinstance(tree, ast.Lambda) and tree.lineno == code.co_firstlineno:
            lambdas.append(tree)
    if code.co_name != "<lambda>":
        return None
    if len(lambdas) > 1:
        lambdas = [
            tree for tree in lambdas if _spans(code) == (tree.body.col_offset, tree.body.end_col_offset)
        ]
    return lambdas[0] if len(lambdas) == 1 else None


@lru_cache(maxsize=32)
def _compiled(text: str, name: str, flags: int) -> CodeType:
    found: CodeType = compile(text, name, "exec", flags, dont_inherit=True)
    return found


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yields a code and those in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _content(code: CodeType) -> tuple[object, ...]:
    """Returns what a code does, without the places of its lines."""
    constants = [_content(c) if isinstance(c, CodeType) else (type(c), repr(c)) for c in code.co_consts]
    names = (code.co_name, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return (*names, code.co_argcount, code.co_kwonlyargcount, code.co_flags, code.co_code, constants)


def _spans(code: CodeType) -> tuple[int, int]:
    """Returns the columns from which and up to which a code was made."""
    columns = [(a, b) for *_, a, b in code.co_positions() if a is not None and b is not None and b > a]
    return min(a for a, _ in columns), max(b for _, b in columns)


class Names:
    """What the names in a function mean, without running it; functions inside of it have the same names."""

    def __init__(self, function: FunctionType, tree: Definition) -> None:
        self.outside: dict[str, Any] = {**vars(builtins), **function.__globals__}
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            try:
                self.outside[name] = cell.cell_contents
            except ValueError:
                self.outside[name] = UNKNOWN
        self.own: dict[str, Any] = {}
        for node in ast.walk(tree):
            self._see(node, tree)

    def meaning(self, name: str) -> Any:
        """Returns what a name means, or `UNKNOWN` or `MISSING`."""
        return self.own.get(name, self.outside.get(name, MISSING))

    def _see(self, node: ast.AST, tree: Definition) -> None:
        match node:
            case ast.Import(aliases):
                for alias in aliases:
                    module = alias.name if alias.asname else alias.name.partition(".")[0]
                    self._set(alias.asname or module, sys.modules.get(module, UNKNOWN))
            case ast.ImportFrom(module, aliases, level):
                found = None if level else sys.modules.get(module or "")
                for alias in aliases:
                    self._set(alias.asname or alias.name, getattr(found, alias.name, UNKNOWN))
            case ast.Name(name, ast.Store() | ast.Del()) | ast.arg(name):
                self._set(name, UNKNOWN)
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name) if node is not tree:
                self._set(name, UNKNOWN)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(str(name)):
                self._set(name, UNKNOWN)

    def _set(self, name: str, value: Any) -> None:
        known = self.own.setdefault(name, value)
        self.own[name] = value if known is value else UNKNOWN
