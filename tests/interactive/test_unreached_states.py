"""States that no run comes to: they are left out with a note, and refuse no file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from calling_tools import called

HEAD = """
[parameters]
p = "[0, 1]"
[system]
initial = "none"
data = ["d"]
queries = ["q"]
responses = ["r", "s"]
hidden = ["h"]
[system.steps.none]
d = "DATA"
q = { R = "1/2", S = "1/2" }
[system.steps.one]
d = "one"
q = { R = "1/4", S = "3/4" }
[system.steps.R]
r = "one"
[system.steps.S]
s = "one"
"""
LOOP = """
[system.steps.H0]
h = { H0 = "p", none = "1-p" }
[system.steps.H1]
h = { H0 = "1/2", R = "1/2" }
"""


def written(folder: Path, text: str) -> str:
    path = folder / "case.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("command", ["interactive", "budget"])
def test_unreached_states_are_left_out(command: str, tmp_path: Path) -> None:
    """The answer is that of the system without them, with a note, and its evidence is accepted."""
    plain, bound = HEAD.replace("DATA", "one"), '[privacy]\nratio = "2"\n'
    code, out = called(command, written(tmp_path, plain + bound), "--json")[:2]
    wanted = json.loads(out)
    assert (code, wanted["notes"]) == (0, [])
    evidence = tmp_path / "evidence.json"
    case = written(tmp_path, plain + LOOP + bound)
    code, out = called(command, case, "--json", "--evidence", str(evidence))[:2]
    found = json.loads(out)
    assert (code, found.pop("notes")) == (0, ["no run reaches 'H0', 'H1', so the 2 states are left out"])
    assert found | {"seconds": 0, "notes": []} == wanted | {"seconds": 0}
    assert "Note: no run reaches 'H0', 'H1', so the 2 states are left out." in called(command, case)[1]
    code, out = called("check", str(evidence), "--case", case)[:2]
    assert (code, "checked: " in out) == (0, True)


def test_hidden_steps_that_runs_come_to(tmp_path: Path) -> None:
    """A loop of hidden steps that may not end is refused where a run comes to it."""
    case = written(tmp_path, HEAD.replace("DATA", "H1") + LOOP + '[privacy]\nratio = "2"\n')
    code, _, error = called("interactive", case)
    assert code == 2
    assert "the probability that hidden steps leave 'H0' is zero at p = 1" in error
