"""`verify`, `check` and `show` on automata: exit codes, texts and JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import ROOT
from test_json_formats import mistakes

from paramverify.cli.main import run

CASES = ROOT / "cases" / "automata"
SAME = """(q1, 1/4, 0): x := insample; output oa; goto q2
(q2, 1/4, 0): if (insample < x) then output oa; goto q2 elseif (insample >= x) then output oa; goto q2
"""


@pytest.fixture
def same(tmp_path: Path) -> str:
    """An automaton whose outputs do not tell the way."""
    path = tmp_path / "same.dipa"
    path.write_text(SAME)
    return str(path)


def output(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code of a command, and what it prints."""
    code = run(arguments)
    return code, capsys.readouterr().out


def test_verdicts(capsys: pytest.CaptureFixture[str], same: str) -> None:
    """The exit code, the text and the JSON say the same, and JSON has the keys of its page."""
    names = {"sparse-vector": (0, "private"), "every-number": (1, "not private"), "": (3, "undecided")}
    for name, (code, word) in names.items():
        path = str(CASES / f"{name}.dipa") if name else same
        found, text = output(["verify", path], capsys)
        assert (found, text.split("\n")[0].split(":")[0].rstrip(".")) == (code, word)
        found, text = output(["verify", path, "--json"], capsys)
        document = json.loads(text)
        assert (found, document["verdict"]) == (code, word)
        assert list(mistakes(document, "verify of an automaton", name)) == []


def test_evidence(capsys: pytest.CaptureFixture[str], tmp_path: Path, same: str) -> None:
    """Evidence is accepted with its file, and with no other one; an undecided automaton has none."""
    path, case = str(tmp_path / "e.json"), str(CASES / "sparse-vector.dipa")
    run(["verify", case, "--evidence", path])
    assert output(["check", path, "--case", case], capsys)[0] == 0
    code, text = output(["check", path, "--case", str(CASES / "two-ranges.dipa")], capsys)
    assert (code, "the evidence belongs to another case file" in text) == (1, True)
    assert run(["verify", same, "--evidence", str(tmp_path / "none.json")]) == 3
    assert not (tmp_path / "none.json").exists()
    forged = json.loads(Path(path).read_text())
    forged["automaton"]["states"][0]["mean"] = "7"
    Path(path).write_text(json.dumps(forged))
    assert output(["check", path, "--case", case], capsys)[0] == 1


def test_graph(capsys: pytest.CaptureFixture[str]) -> None:
    """The graph has all transitions, and what leaks in red; a private automaton has nothing red."""
    code, text = output(["show", "--graph", str(CASES / "sparse-vector-never-stops.dipa")], capsys)
    assert code == 0
    assert text.count("->") == 4
    assert text.count("style=bold") == 2
    assert text.count("color=red") == 2 * 3
    assert "red" not in output(["show", "--graph", str(CASES / "sparse-vector.dipa")], capsys)[1]
    assert run(["show", str(CASES / "sparse-vector.dipa")]) == 2


@pytest.mark.parametrize(
    "option", ["--budgets 1", "--backends z3", "--confirm 2", "--encoding monolithic", "-D a=1"]
)
def test_what_is_not_for_automata(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Options for cases are refused with the reason."""
    assert run(["verify", str(CASES / "sparse-vector.dipa"), *option.split()]) == 2
    assert "is an automaton" in capsys.readouterr().err
