"""The tables of docs/papers.md: each row names a command, and what it prints.

A table has the columns "in the paper", "published", "here" and "ours". The cell "here" names one command in
backticks, run in the repository's root, or says in words why there is none. Each text in backticks in the
cell "ours" stands in what the command prints. Blanks of any length count as one.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "papers.md"
HEADER = ["in the paper", "published", "here", "ours"]


@dataclass(frozen=True)
class Row:
    """A row of a table: the line it stands on, its name, its command or None, and the texts to be printed."""

    line: int
    name: str
    command: str | None
    texts: tuple[str, ...]


def cells_of(line: str) -> list[str]:
    """Returns the cells of a table's line; `\\|` is a bar in a cell."""
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def rows_in(text: str) -> list[Row]:
    """Returns the rows of all tables that have the four columns.

    Raises:
        ValueError: a row with another number of cells, two commands, or a command and nothing to compare.
    """
    rows: list[Row] = []
    inside = False
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.startswith("|"):
            inside = False
            continue
        cells = cells_of(line)
        if cells == HEADER:
            inside = True
        elif inside and not set(line) <= set("|-: "):
            if len(cells) != len(HEADER):
                raise ValueError(f"line {number}: {len(cells)} cells instead of {len(HEADER)}")
            commands, texts = (re.findall(r"`([^`]+)`", cell) for cell in cells[2:])
            if len(commands) > 1 or (commands and not texts):
                raise ValueError(f"line {number}: one command, and at least one text that it prints")
            rows.append(Row(number, cells[0], commands[0] if commands else None, tuple(texts)))
    return rows


ROWS = rows_in(PAGE.read_text(encoding="utf-8"))
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
        f"docs/papers.md:{row.line}: {row.name}: {text}"
        for row in ROWS
        if row.command == command
        for text in row.texts
        if " ".join(text.split()) not in told
    ]
    return [*wrong, f"printed: {told}"] if wrong else []
