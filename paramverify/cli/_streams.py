"""Which cases are about streams with unbounded noise: these have a reader of their own."""

from __future__ import annotations

import re
from pathlib import Path

from paramverify.errors import InputError
from paramverify.files import read_file

CASE = ".toml"
MAX_BYTES = 1_000_000
_HINT = re.compile(rb"\bstream\b|\bautomaton\b|\bfile\b")


def about_streams(case: str) -> bool:
    """Tells whether a case is about a stream with unbounded noise; most files are not read for it."""
    if not case.endswith(CASE):
        return False
    path = Path(case)
    try:
        if not path.is_file() or not _HINT.search(read_file(path, MAX_BYTES, "a case file")):
            return False
    except InputError:
        return False  # whoever reads the case tells it
    from paramverify.automata.cases import about_streams as about

    return about(path)
