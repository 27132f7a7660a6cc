"""Python functions on the command line: `FILE.py::NAME` in the place of a case file.

The file is imported, and the function is run: this is for your own code, as a test runner is.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from paramverify.cli import _output
from paramverify.errors import InputError
from paramverify.files import standing_in
from paramverify.models.names import nearest

FUNCTION = re.compile(r"(?P<file>.+\.py)::(?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*)")


def named(text: str) -> tuple[Path, str] | None:
    """Returns the file and the name in a text such as `survey.py::respond`; None of another text."""
    found = FUNCTION.fullmatch(text)
    return (Path(found["file"]), found["name"]) if found else None


def imported(file: Path) -> ModuleType:
    """Imports a file of Python, with its folder on the path, as `python FILE` does.

    Raises:
        InputError: it cannot be imported.
    """
    from paramverify.tracing.tracer import IMPORTED

    name = f"{IMPORTED}{file.stem}"
    folder = str(file.resolve().parent)
    spec = importlib.util.spec_from_file_location(name, file.resolve())
    if spec is None or spec.loader is None or not file.is_file():
        raise InputError("no such file", file=str(file))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if folder not in sys.path:
        sys.path.insert(0, folder)
    _output.runs_users_code(True)
    try:
        spec.loader.exec_module(module)
    except InputError:
        raise
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise InputError(f"cannot be imported: {type(error).__name__}: {error}", file=str(file)) from None
    finally:
        _output.runs_users_code(False)
    return module


def function_of(file: Path, name: str) -> Any:
    """Returns what a name means in a file.

    Raises:
        InputError: it means nothing.
    """
    found: Any = imported(file)
    for part in name.split("."):
        if not hasattr(found, part):
            known = [n for n, v in vars(found).items() if callable(v) and not n.startswith("_")]
            raise InputError(f"has no function {name!r}{nearest(part, known)}", file=str(file))
        found = getattr(found, part)
    return found


def way(test: Path, file: Path) -> str:
    """Returns the folder of a file, seen from that of a test that imports it; "" if it is the same."""
    found = os.path.relpath(file.resolve().parent, test.resolve().parent)
    return "" if found == "." else found


FOUND = "paramverify.function"  # key in the context of a command


def case_of(context: click.Context, value: str) -> None:
    """Lets a command read the case of a decorated function where its argument names one."""
    place = named(value)
    if place is None or Path(value).exists():
        return
    found = function_of(*place)
    if not hasattr(found, "to_toml"):
        raise InputError(
            f"{place[1]} has no decorator that says what its inputs are: write `paramverify adopt "
            f'{value} --input "x = 0..3" --epsilon 1 -o case.toml`, or decorate it with '
            "@paramverify.mechanism(...)",
            file=str(place[0]),
        )
    context.with_resource(standing_in(Path(value), found.to_toml().encode()))
    context.with_resource(found.telling())
    context.meta[FOUND] = (place[0], found)
