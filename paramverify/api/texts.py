"""The text of a program that a Python function is, with the places of its lines, and what it calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite

from paramverify.api.toml import document
from paramverify.errors import ProgramError
from paramverify.models.programs.program_reading import read_program
from paramverify.models.programs.program_syntax import CalledProgram, Callee, Program


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
    made = {"kind": "program", "source": source.text, "inputs": tables["inputs"], **calls}
    first = title.split("\n")[0]
    order = ("parameters", "prior", "mechanism", "neighbours", "secrets", "privacy")
    found = {**tables, "mechanism": made}
    return document({**({"title": first} if first else {}), **{k: found[k] for k in order if k in found}})


def rounded_in(statements: Sequence[ast.stmt]) -> str:
    """Returns a note if Python rounds a number that statements add, multiply or compare; else "".

    Such a number is exact in the language: 0.1 is 1/10.
    """
    kinds = (ast.BinOp, ast.Compare, ast.AugAssign)
    used = (n for s in statements for n in ast.walk(s) if isinstance(n, kinds))
    inside = (part for node in used for part in ast.iter_child_nodes(node))
    numbers = (n.value for n in inside if isinstance(n, ast.Constant) and isinstance(n.value, float))
    for number in (x for x in numbers if isfinite(x) and Fraction(repr(x)) != Fraction(x)):
        told = f"numbers are exact here: {number} is {Fraction(repr(number))}, which Python rounds"
        return f"{told}, so that the function itself may compute other numbers; `audit` runs it"
    return ""
