"""The lines that a program takes, by plain enumeration: Python runs the text and tells each line."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from fractions import Fraction
from types import FrameType
from typing import Any

from program_oracle import Oracle, _copied, _Stopped

Lines = tuple[int, ...]
Runs = dict[tuple[str, Lines], Fraction]


def telling_lines(text: str) -> set[int]:
    """Returns the lines with a test, an output, or the end: each is run once whenever it is reached."""
    found = set()
    for tree in ast.walk(ast.parse(text)):
        said = isinstance(tree, ast.Call) and ast.unparse(tree.func) == "output"
        if said or isinstance(tree, ast.If | ast.While):
            found.add(tree.lineno)
    return found


class LineOracle(Oracle):
    """Runs a text as Python, once for each outcome, and keeps the lines of `telling_lines`."""

    def runs(self, text: str, given: Mapping[str, Any]) -> dict[tuple[tuple[Any, ...], Lines], Fraction]:
        """Returns the probability of each sequence of outputs by each sequence of lines."""
        code = compile(re.sub(r"\bstop\b", "_stop()", text), "program", "exec")
        telling = telling_lines(text)
        lines: list[int] = []
        last: list[Any] = []

        def step(frame: FrameType, event: str, _: Any) -> Any:
            if frame.f_code.co_filename != "program":
                return None
            if event == "line":
                jump = last == [frame, frame.f_lineno]  # inside one line, which Python may tell twice
                if frame.f_lineno in telling and not jump:
                    lines.append(frame.f_lineno)
                last[:] = [frame, frame.f_lineno]
            return step

        found: dict[tuple[tuple[Any, ...], Lines], Fraction] = {}
        self.pending = [[]]
        while self.pending:
            self.script = self.pending.pop()
            self.place, self.weight, self.told = 0, Fraction(1), []
            lines.clear()
            last.clear()
            names = {"__builtins__": {}, **self.words(), **{k: _copied(v) for k, v in given.items()}}
            before = sys.gettrace()
            sys.settrace(step)
            try:
                with suppress(_Stopped):
                    exec(code, names)
            finally:
                sys.settrace(before)
            what = tuple(self.told), tuple(lines)
            found[what] = found.get(what, Fraction(0)) + self.weight
        return found


class _Marked(ast.NodeTransformer):
    """Wraps the test of each `if` and `while` into a call that tells its line and its outcome."""

    def visit_If(self, node: ast.If) -> ast.AST:
        return self._marked(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        return self._marked(node)

    def _marked(self, node: ast.If | ast.While) -> ast.AST:
        self.generic_visit(node)
        given: list[ast.expr] = [ast.Constant(node.lineno), node.test]
        node.test = ast.Call(ast.Name("_tested", ast.Load()), given, [])
        return node


Tests = tuple[tuple[int, bool], ...]


class OutcomeOracle(Oracle):
    """Runs a text as Python, once for each outcome of its draws, and keeps the outcomes of its tests."""

    def runs(self, text: str, given: Mapping[str, Any]) -> dict[tuple[tuple[Any, ...], Tests], Fraction]:
        """Returns the probability of each sequence of outputs by each sequence of (line, outcome)."""
        tree = _Marked().visit(ast.parse(re.sub(r"\bstop\b", "_stop()", text)))
        code = compile(ast.fix_missing_locations(tree), "program", "exec")
        tests: list[tuple[int, bool]] = []

        def tested(line: int, value: Any) -> Any:
            tests.append((line, bool(value)))
            return value

        found: dict[tuple[tuple[Any, ...], Tests], Fraction] = {}
        self.pending = [[]]
        while self.pending:
            self.script = self.pending.pop()
            self.place, self.weight, self.told = 0, Fraction(1), []
            tests.clear()
            names = {"__builtins__": {}, **self.words(), **{k: _copied(v) for k, v in given.items()}}
            with suppress(_Stopped):
                exec(code, {**names, "_tested": tested})
            what = tuple(self.told), tuple(tests)
            found[what] = found.get(what, Fraction(0)) + self.weight
        return found
