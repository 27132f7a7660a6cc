"""What nothing depends on is told in each answer about a case."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paramverify.api import loads, verify
from paramverify.cli.main import run

CASE = """
[parameters]
p = "(0, 1)"
t = "(0, 1)"
[prior]
ann = { categorical = { yes = "p", no = "1 - p" } }
[mechanism]
kind = "program"
source = '''
count = 0
if x == "yes" and flip(t):
    cuont = count + 1
output(count + choice({0: 1/3, 1: 2/3}))
'''
inputs = { x = "ann" }
[secrets]
one = "ann == 'yes'"
two = "ann == 'no'"
pairs = [["one", "two"]]
[privacy]
epsilon = "ln(3)"
"""

WARNINGS = [
    "the outputs do not depend on the secrets, so they reveal nothing about them",
    "the variable cuont of the program is never read",
    "the parameter t is not used: nothing depends on it",
]


def test_each_answer_tells_what_nothing_depends_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`verify` in text and JSON, `explain`, the page, Python, and with it the assertions for tests."""
    path = tmp_path / "case.toml"
    path.write_text(CASE, encoding="utf-8")
    assert run(["verify", str(path)]) == 0
    said = capsys.readouterr().out
    assert [line for line in said.splitlines() if "Note: " in line] == [f"  Note: {w}." for w in WARNINGS]
    assert run(["verify", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["notes"] == WARNINGS
    assert run(["explain", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["warnings"] == WARNINGS
    assert not told["notes"]
    report = verify(loads(CASE))
    assert list(report.notes) == WARNINGS
    assert all(w in str(report) for w in WARNINGS)
    assert run(["report", str(path), "--output", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert all(w[1:] in page for w in WARNINGS)


def test_a_program_that_is_right_has_no_warning() -> None:
    """The same program without its mistakes."""
    text = CASE.replace("cuont = count + 1", "count = count + 1").replace(
        "output(count + choice({0: 1/3, 1: 2/3}))", "output(count)"
    )
    assert verify(loads(text)).notes == ()
