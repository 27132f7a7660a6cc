"""`python -m paramverify.rereader CASE [p=1/3 ...]`: how likely the outputs of a case are, by brute force.

A copy of this folder beside one of the folder `kernel` is enough: `python -S -m rereader CASE`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

USAGE = """usage: python -m paramverify.rereader CASE [PARAMETER=NUMBER ...]

Prints how likely each output of a case file is under each secret, at one point.
Without numbers for the parameters, it chooses a point.
With copies of this folder and of `kernel` beside each other: python -S -m rereader CASE

Exit codes: 0 printed, 1 the case is not supported, or the case or the point has a mistake,
2 the file does not exist or cannot be read, or an argument has another form,
3 there is not enough memory for it, 70 a defect of this program, 74 the output could not be
written, 130 interrupted."""
NOT_READ, NO_FILE, NO_MEMORY, DEFECT, NOT_WRITTEN, INTERRUPTED = 1, 2, 3, 70, 74, 130


def module(name: str) -> Any:
    """Returns a module of this folder; where the folder is not in a package, it is put into one."""
    package = __package__ or ""
    if "." not in package:
        outer = ModuleType("readers")
        outer.__path__ = [str(Path(__file__).resolve().parents[1])]
        sys.modules.setdefault("readers", outer)
        package = "readers.rereader"
    return import_module(f"{package}.{name}")


def main(arguments: list[str]) -> int:
    """Prints what the second reader finds in a case; returns an exit code."""
    if not arguments or arguments[0].startswith("-"):
        asked = arguments in (["--help"], ["-h"])
        print(USAGE, file=sys.stdout if asked else sys.stderr)
        return 0 if asked else NO_FILE
    path, *given = arguments
    try:
        content = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        print(f"error: {path}: {_unreadable(error)}", file=sys.stderr)
        return NO_FILE
    point: dict[str, str] = {}
    for entry in given:
        name, sign, value = (part.strip() for part in entry.partition("="))
        if not sign or name in point:
            told = f"{name} is given twice" if sign else f"{entry!r} is not of the form PARAMETER=NUMBER"
            print(f"error: {told}", file=sys.stderr)
            return NO_FILE
        point[name] = value
    reading, words = module("second_reading"), module("second_printing")
    try:
        lines = words.lines(content, Path(path).parent, point)
    except words.UnreadCase as error:
        print(f"not read: {error}", file=sys.stderr)
        return NOT_READ
    except words.WrongPoint as error:
        print(f"error: {error!s:.300}", file=sys.stderr)
        return NOT_READ
    except reading.MISTAKES as error:
        print(f"error: {path}: a mistake: {_mistake(error)}", file=sys.stderr)
        return NOT_READ
    for line in lines:
        print(line)
    return 0


def _unreadable(error: OSError | ValueError) -> str:
    """Returns why a file cannot be read, in words."""
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    if isinstance(error, IsADirectoryError):
        return "this is a folder, not a file"
    return (error.strerror or "it cannot be read") if isinstance(error, OSError) else "not UTF-8 text"


def _mistake(error: Exception) -> str:
    """Returns what is wrong with a case, in words."""
    if isinstance(error, KeyError):
        return f"there is no {error!s:.200}"
    if isinstance(error, ZeroDivisionError):
        return "a division by 0"
    if isinstance(error, (TypeError, AttributeError, IndexError)):
        return "an entry is not of the form that a case has; `paramverify verify` says where"
    return f"{error!s:.200}"


def run(done: Callable[[], int]) -> int:
    """Returns an exit code for whatever happens."""
    try:
        code = done()
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return INTERRUPTED
    except (MemoryError, RecursionError):
        print("undecided: there is not enough memory for this case", file=sys.stderr)
        return NO_MEMORY
    except OSError:
        with suppress(OSError, ValueError):  # or Python tries again at its end, and fails with 120
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOT_WRITTEN
    except Exception as error:
        print(f"internal error: {type(error).__name__}: {error!s:.300}", file=sys.stderr)
        return DEFECT


if __name__ == "__main__":
    sys.exit(run(lambda: main(sys.argv[1:])))
