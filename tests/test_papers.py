"""The tables of docs/papers.md: each row's command is run, and prints what the row says.

A table has the columns "in the paper", "published", "here" and "ours". The cell "here" names one command in
backticks, run in the repository's root, or says in words why there is none. Each text in backticks in the
cell "ours" stands in what the command prints. Blanks of any length count as one.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest
from calling_tools import printed
from conftest import ROOT

PAGE = ROOT / "docs" / "papers.md"
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


def printed_by(command: str) -> str:
    """Returns what a command prints, standard error included, with one blank for each run of blanks.

    It runs inside of this process: of more than a hundred commands each would take half a second to start.
    """
    program, *arguments = shlex.split(command)
    assert program == "paramverify", command
    return " ".join(printed(*arguments).out.split())


ROWS = rows_in(PAGE.read_text(encoding="utf-8"))
COMMANDS = sorted({row.command for row in ROWS if row.command})


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_rows(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command prints every text that its rows promise."""
    for entry in ROOT.iterdir():
        if not entry.name.startswith("."):
            (tmp_path / entry.name).symlink_to(entry)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")
    shown = printed_by(command)
    wrong = [
        f"docs/papers.md:{row.line}: {row.name}: {text}"
        for row in ROWS
        if row.command == command
        for text in row.texts
        if " ".join(text.split()) not in shown
    ]
    assert not wrong, "\n".join([*wrong, f"printed: {shown}"])


def test_every_case_has_its_row() -> None:
    """Every case that names a paper as its source is on the page, or on that of collections of mechanisms."""
    page = PAGE.read_text(encoding="utf-8") + (ROOT / "docs" / "mechanisms.md").read_text(encoding="utf-8")
    papers = re.compile(r'^source = ".*(Liu, Wang|Tschantz|Ding, Wang|Bichsel)', re.MULTILINE)
    missing = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "cases").rglob("*.toml"))
        if papers.search(path.read_text(encoding="utf-8")) and str(path.relative_to(ROOT)) not in page
    ]
    assert missing == []


def test_how_rows_are_read() -> None:
    """Only tables with the four columns are read; bars can be escaped; separators are no rows."""
    table = "| in the paper | published | here | ours |\n| --- | --- | --- | --- |\n"
    other = "| a | b |\n| - | - |\n| `x` | y |\n"
    text = f"{other}\n{table}| A \\| B | 1 | `run x` | `2` or `3` |\n| C | - | no | because |\n"
    assert rows_in(text) == [Row(7, "A | B", "run x", ("2", "3")), Row(8, "C", None, ())]


@pytest.mark.parametrize("row", ["| a | b | c |", "| a | b | `c` and `d` | `e` |", "| a | b | `c` | e |"])
def test_rows_that_show_nothing(row: str) -> None:
    """A row that could not fail, or that has the wrong cells, is a mistake."""
    with pytest.raises(ValueError, match="line 3"):
        rows_in(f"| in the paper | published | here | ours |\n| --- | --- | --- | --- |\n{row}\n")
