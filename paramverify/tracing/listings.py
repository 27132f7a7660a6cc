"""An adopted function beside its program: the user's lines, and for each line of the program theirs."""

from __future__ import annotations

import inspect
import linecache
from pathlib import PurePath
from typing import Any

from paramverify.tracing.exploring import Explored
from paramverify.tracing.residual import ProgramLine
from paramverify.tracing.tracer import Place


def beside(explored: Explored) -> list[str]:
    """Returns the lines of a function, of what else its program comes from, and of the program."""
    function: Any = explored.adoption.plain
    code = function.__code__
    source, first = inspect.getsourcelines(function)
    source = [line.rstrip("\n") for line in source]
    first = max(first, 1)
    inside = range(first, first + len(source))
    places = {place for line in explored.lines for place in line.places}
    others = sorted({(p.file, p.line) for p in places if p.file != code.co_filename or p.line not in inside})
    gutters = [_gutter(line, code.co_filename) for line in explored.lines]
    width = max(map(len, [*gutters, str(inside[-1])]))
    name = PurePath(code.co_filename).name
    told = [f"{name}::{function.__qualname__}"]
    told += [_line(str(number), text, width) for number, text in zip(inside, source, strict=True)]
    if others:
        told += ["", "Lines outside of it"]
        told += [
            f"{PurePath(file).name}:{line}: {linecache.getline(file, line).strip()}" for file, line in others
        ]
    told += ["", "The program with the same distribution, with the lines that each line comes from"]
    return [
        *told,
        *(_line(g, line.text, width) for g, line in zip(gutters, explored.lines, strict=True)),
    ]


def rows(explored: Explored) -> list[dict[str, Any]]:
    """Returns the lines of the program with their places as JSON data."""
    return [
        {"text": line.text, "from": list(dict.fromkeys(map(_named, line.places)))} for line in explored.lines
    ]


def _named(place: Place) -> str:
    return f"{PurePath(place.file).name}:{place.line}"


def _gutter(line: ProgramLine, file: str) -> str:
    """Returns the places of a line; those in the file of the function without its name."""
    here = line.origin().split("; ")
    name = f"{PurePath(file).name}:"
    return "; ".join(part.removeprefix(name) for part in here)


def _line(gutter: str, text: str, width: int) -> str:
    return f"{gutter:>{width}}  {text}".rstrip()
