"""The exit codes in the table of docs/exit-codes.md, each tried once where that is quick."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import ROOT

from paramverify.cli._commands import commands
from paramverify.cli._exits import Exit
from paramverify.cli.main import run

PAGE = (ROOT / "docs" / "exit-codes.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line[1:-1].split("|")] for line in PAGE.splitlines() if line[:1] == "|"]
ROWS = [row for row in ROWS if len(row) == 4 and (row[0][:1] == "`" or row[0] == "all others")]
CASE = """
[parameters]
t = "{t}"
p = "(0, 1)"
[prior]
record = {{ bernoulli = "p" }}
[mechanism]
kind = "randomized_response"
query = "record"
values = [0, 1]
truth = "t"
[secrets]
yes = "record == 1"
no = "record == 0"
pairs = [["yes", "no"]]
[privacy]
ratio = "{ratio}"
"""
DESIGN = CASE.replace('"{t}"', '{{ in = "[{t}]", design = true }}').replace("{ratio}", "2")
CLAIM = '[parameters]\nx = "(0, 1)"\n[define]\nf = "x*x"\n[claim]\nholds = "f <= {most}"\n'
SCRIPT = "(set-logic QF_NRA)\n(declare-fun x () Real)\n(assert (< (* x x) 0))\n{status}(check-sat)\n"
SLOW = str(ROOT / "cases" / "time-series-3-slow-all.toml")
FAST = ("--timeout", "0.001")
CODES = [
    ("verify", "private", 0),
    ("verify", "leaking", 1),
    ("verify", "slow", 3),
    ("report", "private", 0),
    ("report", "leaking", 1),
    ("verify", "true", 0),
    ("verify", "false", 1),
    ("verify", "unsat", 0),
    ("verify", "wrong", 1),
    ("prove", "private", 0),
    ("prove", "leaking", 1),
    ("prove", "slow", 3),
    ("check", "private", 0),
    ("check", "forged", 1),
    ("budget", "private", 0),
    ("budget", "leaking", 0),
    ("synthesize", "private", 0),
    ("synthesize", "some", 0),
    ("synthesize", "never", 1),
    ("synthesize --witness", "private", 0),
    ("synthesize --witness", "leaking", 1),
    ("certify", "private", 0),
    ("certify", "leaking", 1),
    ("show", "leaking", 0),
    ("explain", "leaking", 0),
    ("verify", "none", 2),
    ("verify", "misspelt", 2),
    ("prove", "true", 0),
]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """A file for each word above."""
    leaking = CASE.format(t="[1/2, 9/10]", ratio="2")
    texts = {
        "private.toml": CASE.format(t="[1/2, 2/3]", ratio="2"),
        "leaking.toml": leaking,
        "never.toml": DESIGN.format(t="3/4, 9/10"),
        "some.toml": DESIGN.format(t="1/2, 9/10"),
        "misspelt.toml": leaking.replace("truth", "thruth"),
        "true.toml": CLAIM.format(most="1"),
        "false.toml": CLAIM.format(most="1/2"),
        "unsat.smt2": SCRIPT.format(status=""),
        "wrong.smt2": SCRIPT.format(status="(set-info :status sat)\n"),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    found = {name.partition(".")[0]: str(tmp_path / name) for name in texts}
    return found | {"slow": SLOW, "none": str(tmp_path / "none.toml")}


@pytest.mark.parametrize(("command", "name", "code"), CODES)
def test_codes(command: str, name: str, code: int, files: dict[str, str], tmp_path: Path) -> None:
    """The code is that of the table."""
    words = command.split()
    evidence = str(tmp_path / "e.json")
    if words == ["check"]:
        assert run(["verify", files["private"], "--evidence", evidence]) == 0
        if name == "forged":
            forged = json.loads(Path(evidence).read_text())
            forged["statements"][0]["polynomial"] = "-1"
            Path(evidence).write_text(json.dumps(forged))
        assert run(["check", evidence, "--case", files["private"]]) == code
        return
    more = {
        "report": ["-o", str(tmp_path / "page.html")],
        "prove": ["-o", str(tmp_path / "theorem")],
        "synthesize": ["--exact", "--parameters", "t"] if words[1:] == [] and name == "private" else [],
        "certify": ["--observations", "1", "--at", f"t={'9/10' if name == 'leaking' else '1/2'},p=1/2"],
    }.get(words[0], [])
    limit = FAST if name == "slow" else ()
    assert run([*words, files[name], *more, *limit]) == code


def test_the_table_is_about_commands() -> None:
    """Each row names commands that there are, and codes that there are; what is tried is not left empty."""
    assert len(ROWS) > 10
    named = {word for row in ROWS for word in re.findall(r"`([a-z]+)", row[0])}
    assert named <= set(commands()) | {"claim"}
    for command, _, code in CODES:
        if code == Exit.INPUT:
            continue
        rows = [row for row in ROWS if f"`{command}" in row[0]] or [row for row in ROWS if "others" in row[0]]
        assert any(row[{0: 1, 1: 2, 3: 3}[code]] for row in rows), (command, code)
    codes = set(map(int, re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)))
    assert codes | {0, 1} == {int(code) for code in Exit}
