"""Why a name has no value, and what helps: for messages."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from difflib import get_close_matches

from paramverify.models.programs.syntax import (
    Assign,
    For,
    Function,
    Place,
    Program,
    Statement,
    every_statement,
)


def no_value(
    program: Program, name: str, place: Place, inputs: Collection[str], parameters: Collection[str]
) -> str:
    """Returns why a name has no value at a place of a program with these inputs and parameters."""
    function = _around(program, place)
    body = program.body if function is None else function.body
    given = inputs if function is None else function.parameters
    lines = _lines(body, name)
    if lines:
        if lines[0] >= place.line:
            return f"{name} has no value yet: it gets one at line {lines[0]}"
        return f"{name} has no value on some paths: give it one before line {lines[0]}"
    if function is not None and (name in inputs or _lines(program.body, name)):
        wanted = ", ".join((*function.parameters, name))
        return (
            f"{name} has no value inside of {function.name}: write def {function.name}({wanted}), and pass it"
        )
    known = sorted({*given, *parameters, *_names(body)})
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known) or 'none'}"
    return f"{name} has no value here; {hint}"


def _around(program: Program, place: Place) -> Function | None:
    """Returns the function that has a place: all of them stand before the rest of the program."""
    before = [f for f in program.functions.values() if f.place.line <= place.line]
    inside = before and not (program.body and program.body[0].place.line <= place.line)
    return max(before, key=lambda f: f.place.line) if inside else None


def _lines(body: tuple[Statement, ...], name: str) -> list[int]:
    """Returns the lines that give a name a value, in their order."""
    return sorted(line for line, names in _given(body) if name in names)


def _names(body: tuple[Statement, ...]) -> set[str]:
    return {name for _, names in _given(body) for name in names if name.isidentifier()}


def _given(body: tuple[Statement, ...]) -> Iterator[tuple[int, tuple[str, ...]]]:
    for found in every_statement(body):
        if isinstance(found, For) or (isinstance(found, Assign) and not found.indices):
            yield found.place.line, found.names
