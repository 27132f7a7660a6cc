"""The page of benchmarks: its tables are those that are recorded in benchmarks/results/."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "docs" / "_site"))

import results

PAGE = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
NAMES = set(results.names())


def test_every_recorded_file_is_in_the_page_once() -> None:
    """A file has its tables in the page, or, if it has a title, a line in the last table."""
    shown = re.findall(r"^<!-- generated: results-([\w-]+) -->$", PAGE, re.MULTILINE)
    assert len(shown) == len(set(shown))
    titled = {name for name in NAMES if "title" in results.recorded(name)}
    assert set(shown) == (NAMES - titled) | {"others"}


def test_every_command_of_a_recorded_file_is_there() -> None:
    """The script that a file names exists; each day is a date, or two."""
    for name in sorted(NAMES):
        document = results.recorded(name)
        for script in re.findall(r"benchmarks/\w+\.py", document["run"]):
            assert (ROOT / script).is_file(), name
        assert re.fullmatch(r"\d{4}-\d\d-\d\d( to \d{4}-\d\d-\d\d)?", document["recorded"]), name


def test_a_new_run_is_recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What a script printed replaces the rows, with a commit; how it was measured is kept."""
    for name in ("claims", "machines"):
        text = (results.RESULTS / f"{name}.toml").read_text(encoding="utf-8")
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    old = results.recorded("claims")
    columns = ["parameters", *"bcdefg", "s"]  # the names of the others are those that are recorded
    lines = (
        "words\n",
        *(f"| {' | '.join(row)} |" for row in (columns, ["---"] * 8, ['x \\| "y"', *"1234567"])),
    )
    made = results.record("claims", "\n".join((*lines, "\nmore\n", "| other |", "| --- |", "| 1 |", "")))
    (tmp_path / "claims.toml").write_text(made, encoding="utf-8")
    new = results.recorded("claims")
    assert new["table"] == [{"columns": old["table"][0]["columns"], "rows": [['x | "y"', *"1234567"]]}]
    assert {key: new[key] for key in ("run", "machine", "baseline")} == {
        key: old[key] for key in ("run", "machine", "baseline")
    }
    assert new["commit"] != "not recorded"
    assert r'| x \| "y" | 1 | 2 |' in results.rendered("claims")


def test_a_row_with_a_missing_cell_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The error names the file and the row."""
    for name in ("fuzz", "machines"):
        text = (results.RESULTS / f"{name}.toml").read_text(encoding="utf-8")
        (tmp_path / f"{name}.toml").write_text(text.replace('"256"', ""), encoding="utf-8")
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    assert tomllib.loads((tmp_path / "fuzz.toml").read_text(encoding="utf-8"))
    with pytest.raises(ValueError, match=r"fuzz\.toml: \['true', 'true'\] does not have 3 cells"):
        results.recorded("fuzz")
