"""The commands: each module of this folder is one, but for `main` and those whose names start with `_`.

A module states in one line where its command stands in the list, and what the list says of it:

    LISTED = (240, "Print the output probabilities as formulas, or the model as a graph.")

The hundreds of the place choose one of `GROUPS`, under whose heading `paramverify --help` lists the command.
The line is read from the text of the module, because importing all commands takes long; only the command
that is called is imported. `command` is what click calls then.
"""

from __future__ import annotations

import re
from ast import literal_eval
from functools import lru_cache
from pathlib import Path

from paramverify.errors import DefectError

GROUPS = (  # a command with place p stands in the group p // 100, or in the last one
    "Write and read cases",
    "Decide",
    "Explore",
    "Combine guarantees",
    "Hand over and check",
    "Work with solvers",
)
LINE = re.compile(r'^LISTED = (\(\d+, ".*"\))$', re.MULTILINE)


def commands() -> dict[str, str]:
    """Returns what the list of commands says of each, in their order; nothing is imported."""
    return {name: words for _, name, words in _listed()}


def groups() -> dict[str, dict[str, str]]:
    """Returns the same, under the headings of the list."""
    found: dict[str, dict[str, str]] = {}
    for place, name, words in _listed():
        heading = GROUPS[min(place // 100, len(GROUPS) - 1)]
        found.setdefault(heading, {})[name] = words
    return found


@lru_cache
def _listed() -> list[tuple[int, str, str]]:
    """Returns the place, the name and the words of each command, in order.

    Raises:
        DefectError: a module without the line.
    """
    found: list[tuple[tuple[int, str], str]] = []
    for path in Path(__file__).parent.glob("*.py"):
        if path.stem != "main" and not path.stem.startswith("_"):
            line = LINE.search(path.read_text(encoding="utf-8"))
            if line is None:
                raise DefectError(
                    f"the module of the command {path.stem} has no line LISTED = (place, words)"
                )
            found.append((literal_eval(line[1]), path.stem))
    return [(place, name, words) for (place, words), name in sorted(found)]
