"""`python -m paramverify.checker EVIDENCE`: checks one document; this folder alone is enough for it.

The folder may be run as a program too (`python kernel EVIDENCE`), and so may this file.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from io import TextIOWrapper
from pathlib import Path
from typing import Any

USAGE = """usage: python -m paramverify.checker EVIDENCE

Checks a document of evidence with Python's standard library alone.
With a copy of this folder: python -S -m kernel EVIDENCE
With the case file too: paramverify check EVIDENCE --case CASE

Exit codes: 0 accepted, 1 rejected, 2 there is no such evidence, or it cannot be read,
3 there is not enough memory for it, 70 a defect of this program, 74 the output could not be written,
130 interrupted. Nothing was decided unless the code is 0 or 1."""
NO_MEMORY, DEFECT, NOT_WRITTEN, INTERRUPTED = 3, 70, 74, 130


def run(arguments: list[str]) -> int:
    """Does what `main` does, and returns an exit code of its own for everything that may go wrong beside it.

    Python ends with 1 after an exception, and 1 says here that evidence is rejected.
    """
    try:
        code = main(arguments)
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        return code
    except KeyboardInterrupt:
        return _failed(INTERRUPTED, "interrupted")
    except (MemoryError, RecursionError):
        return _failed(NO_MEMORY, "undecided: there is not enough memory for this evidence")
    except OSError as error:
        return _failed(NOT_WRITTEN, f"error: output: {error.strerror or error}")
    except Exception as error:  # whatever it is, it is no rejection
        return _failed(DEFECT, f"internal error: {type(error).__name__}: {error!s:.300}")


def _failed(code: int, reason: str) -> int:
    """Prints why there is no answer, if that is possible, and returns the code."""
    with suppress(OSError, ValueError):
        print(reason, file=sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):  # or Python tries again at its end, and fails with 120
            with suppress(AttributeError, OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return code


def main(arguments: list[str]) -> int:
    """Prints what was checked; returns 0 if the evidence is accepted, 1 if not, 2 where it cannot be read."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if arguments in (["--help"], ["-h"]):
        print(USAGE)
        return 0
    if len(arguments) != 1 or arguments[0].startswith("--"):
        print(USAGE, file=sys.stderr)
        return 2
    documents = _documents()
    try:
        with open(arguments[0], encoding="utf-8-sig") as file:
            text = file.read()
    except (OSError, ValueError) as error:
        known: dict[type[Exception], str] = {
            IsADirectoryError: f"{arguments[0]} is a folder: name the file that contains the evidence",
            FileNotFoundError: f"there is no file {arguments[0]}",
        }
        print(f"error: {known.get(type(error), f'{arguments[0]}: {error}')}", file=sys.stderr)
        return 2
    report = documents.check_text(text)
    if not report.accepted and (reason := documents.no_evidence(text)):
        print(f"error: {arguments[0]}: {reason}", file=sys.stderr)
        return 2
    for line in (*report.lines, documents.verdict_line(report)):
        print(line)
    return int(not report.accepted)


def _documents() -> Any:
    """Returns the module that checks; where this file runs as a program, its folder becomes a package."""
    if __package__:
        return import_module(".documents", __package__)
    folder, name = Path(__file__).resolve().parent, "kernel"
    spec = spec_from_file_location(name, folder / "__init__.py", submodule_search_locations=[str(folder)])
    assert spec is not None
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != folder]
    sys.modules[name] = module_from_spec(spec)
    return import_module(f"{name}.documents")


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
