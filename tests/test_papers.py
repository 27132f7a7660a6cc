"""The rows of docs/papers.toml: each row's command is run, and prints what the row says; and the errata.

tests/test_shipped_cases.py looks at the rows about verdicts and budgets of cases, where it decides them.
"""

from __future__ import annotations

import doctest
import re
import shlex
import sys
from pathlib import Path

import pytest
from calling_tools import printed
from conftest import ROOT
from paper_rows import COMMANDS, DATA, PAGE, missing, rows_in
from shipped_runs import is_asked

sys.path.insert(0, str(ROOT / "docs" / "_site"))

import papers

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
    """Every case that names a paper as its source is in the file, or on the page of mechanisms."""
    page = DATA.read_text(encoding="utf-8") + (ROOT / "docs" / "mechanisms.md").read_text(encoding="utf-8")
    papers = re.compile(r'^source = ".*(Liu, Wang|Tschantz|Ding, Wang|Bichsel)', re.MULTILINE)
    missing = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "cases").rglob("*.toml"))
        if papers.search(path.read_text(encoding="utf-8")) and str(path.relative_to(ROOT)) not in page
    ]
    assert missing == []


def test_the_page_shows_every_section_once() -> None:
    """The sections of the file are on the page in their order, and each has rows that the page shows."""
    shown = re.findall(
        r"^<!-- generated: papers-([\w-]+) -->$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert shown == list(papers.sections())
    assert all(papers.rendered(section).count("\n| ") > 3 for section in shown)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('why = "a reason"\ncommand = "paramverify show x"', "line 1: a command and at least one text"),
        ('command = "paramverify show x"', "line 1: a command and at least one text"),
        ('why = "a reason"\ntext = "y"', "line 1: a key that is not known"),
    ],
)
def test_a_row_that_says_nothing_is_refused(line: str, reason: str) -> None:
    """A row has a command with what it prints, or the reason why there is none, and no other keys."""
    with pytest.raises(ValueError, match=reason):
        rows_in(f'[[row]]\nsection = "faier"\nitem = "x"\npublished = "y"\n{line}\n')


@pytest.mark.parametrize(
    "path", sorted((ROOT / "tests" / "errata").glob("*.txt")), ids=lambda path: path.stem
)
def test_errata(path: Path) -> None:
    """What the page says about mistakes of the papers is computed, without the package."""
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\bimport paramverify|from paramverify", text)
    failed, tried = doctest.testfile(str(path), module_relative=False, encoding="utf-8")
    assert tried > 10
    assert failed == 0
