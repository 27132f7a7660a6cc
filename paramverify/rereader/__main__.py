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
Without numbers for the parameters it takes a point of its own.
With copies of this folder and of `kernel` beside each other: python -S -m rereader CASE

Exit codes: 0 printed, 1 the case is not read, or has a mistake, 2 there is no such file,
or it cannot be read, 3 there is not enough memory for it, 70 a defect of this program,
74 the output could not be written, 130 interrupted."""
NOT_READ, NO_FILE, NO_MEMORY, DEFECT, NOT_WRITTEN, INTERRUPTED = 1, 2, 3, 70, 74, 130


def module(name: str) -> Any:
    """Returns a module of this folder; where the folder is not in a package, it is put into one."""
    package = __package__ or "rereader"
    if "." not in package:
        outer = ModuleType("readers")
        outer.__path__ = [str(Path(__file__).resolve().parents[1])]
        sys.modules.setdefault("readers", outer)
        package = "readers.rereader"
    return import_module(f"{package}.{name}")


def main(arguments: list[str]) -> int:
    """Prints what the second reader finds in a case; returns an exit code."""
    if arguments in (["--help"], ["-h"]) or not arguments or arguments[0].startswith("-"):
        asked = arguments in (["--help"], ["-h"])
        print(USAGE, file=sys.stdout if asked else sys.stderr)
        return 0 if asked else NO_FILE
    path, *given = arguments
    try:
        content = Path(path).read_text(encoding="utf-8-sig")
        point = dict(entry.split("=", 1) for entry in given)
    except (OSError, ValueError) as error:
        print(f"error: {path}: {error}", file=sys.stderr)
        return NO_FILE
    reading, words = module("second_reading"), module("second_printing")
    try:
        lines = words.lines(content, Path(path).parent, point)
    except words.UnreadCase as error:
        print(f"not read: {error}", file=sys.stderr)
        return NOT_READ
    except reading.MISTAKES as error:
        print(f"error: {path}: a mistake: {error!s:.200}", file=sys.stderr)
        return NOT_READ
    for line in lines:
        print(line)
    return 0


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
