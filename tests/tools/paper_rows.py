"""The rows of docs/papers.toml: each row names a command, and what it prints.

A row has a `command`, run in the repository's root, and `prints`, texts that the command prints; or
it says `why` there is no command. Blanks of any length count as one.
"""

from __future__ import annotations

import shlex
import tomllib
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
DATA = DOCS / "papers.toml"
PAGE = DOCS / "papers.md"


@dataclass(frozen=True)
class Row:
    """A row: the line on which it begins, its name, its command or None, and the texts to be printed."""

    line: int
    name: str
    command: str | None
    texts: tuple[str, ...]


def rows_in(text: str) -> list[Row]:
    """Returns the rows of a file.

    Raises:
        ValueError: what the paper prints is missing, or a command has nothing to compare, or nothing is said.
    """
    places = [k for k, line in enumerate(text.split("\n"), start=1) if line == "[[row]]"]
    rows: list[Row] = []
    for place, row in zip(places, tomllib.loads(text)["row"], strict=True):
        if not (row["section"] and row["item"] and row["published"]):
            raise ValueError(f"line {place}: section, item and published are needed")
        if ("command" in row) == ("why" in row) or bool(row.get("prints")) != ("command" in row):
            raise ValueError(
                f"line {place}: a command and at least one text that it prints, or the reason why"
            )
        if set(row) - {"section", "item", "published", "command", "prints", "why", "note", "remark", "page"}:
            raise ValueError(f"line {place}: a key that is not known")
        rows.append(Row(place, row["item"], row.get("command"), tuple(row.get("prints", ()))))
    return rows


ROWS = rows_in(DATA.read_text(encoding="utf-8"))
COMMANDS = sorted({row.command for row in ROWS if row.command})


def plain(command: str) -> tuple[str, str] | None:
    """Returns the command and the path of a case, where nothing else is asked."""
    program, *words = shlex.split(command)
    assert program == "paramverify", command
    return (words[0], words[1]) if len(words) == 2 and words[1].endswith(".toml") else None


def missing(command: str, shown: str) -> list[str]:
    """Returns what the rows of a command promise and what it has not printed."""
    told = " ".join(shown.split())
    wrong = [
        f"docs/papers.toml:{row.line}: {row.name}: {text}"
        for row in ROWS
        if row.command == command
        for text in row.texts
        if " ".join(text.split()) not in told
    ]
    return [*wrong, f"printed: {told}"] if wrong else []
