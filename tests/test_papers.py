"""The tables of docs/papers.md: each row's command is run, and prints what the row says.

tests/test_shipped_cases.py looks at the rows about verdicts and budgets of cases, where it decides them.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from calling_tools import printed
from conftest import ROOT
from paper_rows import COMMANDS, PAGE, missing
from shipped_runs import is_asked

ALONE = [command for command in COMMANDS if not is_asked(command)]


@pytest.mark.slow
@pytest.mark.parametrize("command", ALONE)
def test_rows(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command prints every text that its rows promise.

    It runs inside of this process: of more than a hundred commands each would take half a second to start.
    """
    for entry in ROOT.iterdir():
        if not entry.name.startswith("."):
            (tmp_path / entry.name).symlink_to(entry)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")
    assert missing(command, printed(*shlex.split(command)[1:]).out) == []


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
