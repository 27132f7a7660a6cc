"""`python -m paramverify.checker EVIDENCE`: checks one document; this folder alone is enough for it.

The folder may be run as a program too, and so may this file: `python checker EVIDENCE`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from io import TextIOWrapper
from pathlib import Path
from typing import Any

USAGE = """usage: python -m paramverify.checker EVIDENCE

Checks a document of evidence with Python's standard library alone.
With a copy of this folder: python -S -m checker EVIDENCE
With the case file too: paramverify check EVIDENCE --case CASE

Exit codes: 0 accepted, 1 rejected, 2 there is no such evidence, or it cannot be read."""


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
        report = documents.check_text(text)
    except IsADirectoryError:
        print(f"error: {arguments[0]} is a folder: give the file that holds the evidence", file=sys.stderr)
        return 2
    except FileNotFoundError:
        print(f"error: there is no file {arguments[0]}", file=sys.stderr)
        return 2
    except (OSError, ValueError) as error:
        print(f"error: {arguments[0]}: {error}", file=sys.stderr)
        return 2
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
    folder, name = Path(__file__).resolve().parent, "checker"
    spec = spec_from_file_location(name, folder / "__init__.py", submodule_search_locations=[str(folder)])
    assert spec is not None
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != folder]
    sys.modules[name] = module_from_spec(spec)
    return import_module(f"{name}.documents")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
