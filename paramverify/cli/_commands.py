"""The commands: each module of this folder is one, but for `main` and those whose names start with `_`.

A module states in one line where its command stands in the list, and what the list says of it:

    LISTED = (70, "Print the observation probabilities as formulas, or the model as a graph.")

The line is read from the text of the module, because importing all commands takes long; only the command
that is called is imported. `command` is what click calls then.
"""

from __future__ import annotations

import re
from ast import literal_eval
from functools import lru_cache
from pathlib import Path

from paramverify.errors import DefectError

LINE = re.compile(r'^LISTED = (\(\d+, ".*"\))$', re.MULTILINE)


@lru_cache
def commands() -> dict[str, str]:
    """Returns what the list of commands says of each, in their order; nothing is imported."""
    found: list[tuple[tuple[int, str], str]] = []
    for path in Path(__file__).parent.glob("*.py"):
        if path.stem != "main" and not path.stem.startswith("_"):
            line = LINE.search(path.read_text(encoding="utf-8"))
            if line is None:
                raise DefectError(f"the command {path.stem} does not say LISTED = (place, words)")
            found.append((literal_eval(line[1]), path.stem))
    return {name: words for (_, words), name in sorted(found)}
