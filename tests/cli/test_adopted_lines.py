"""Adopted functions in the user's own lines: beside their programs, in witnesses, and as tests for pytest."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from paramverify.cli.main import run

SURVEY = """
import math
import random

import paramverify


def respond(truth, epsilon):
    if random.random() < math.exp(epsilon) / (1 + math.exp(epsilon)):
        return truth
    return 1 - truth


def leaky(truth: bool, rng, p=0.8):
    if rng.random() < p:
        return 0.1 + 0.2 + truth
    raise ValueError("no")


def chosen(x):
    if random.random() < (0.9 if x else 0.1):
        return "yes"
    return "no"


def compared(x):
    a, b, c = (random.expovariate(1) for _ in range(3))
    if a < b and b < c and c < a:
        return "never"
    return x if a < b else 1 - x


class Coin:
    def __init__(self, p):
        self.p = p

    def release(self, bit):
        return bit if random.random() < self.p else 1 - bit


coin = Coin(0.9)


@paramverify.mechanism(inputs={"x": {"values": [0, 1]}}, neighbours={"differ": "one"}, epsilon="ln(3)")
def tally(x):
    found = [x]
    try:
        if random.random() < 0.9:
            return found[0]
    finally:
        found.append(1)
    return 1 - x
"""
DRAWN, ENDED, CHOSEN = (
    SURVEY.split("\n").index(text) + 1
    for text in (
        "        if random.random() < 0.9:",
        "            return found[0]",
        "    if random.random() < (0.9 if x else 0.1):",
    )
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a file of functions."""
    (tmp_path / "survey.py").write_text(SURVEY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_function_beside_its_program(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each line of the program has the lines of the file from which it comes, under this input."""
    inputs = ["--input", "truth = 0,1", "--parameter", "epsilon = (0, oo)", "--epsilon", "epsilon"]
    assert run(["adopt", "survey.py::respond", *inputs, "--beside"]) == 0
    told = capsys.readouterr().out
    assert "\n 9      if random.random() < math.exp(epsilon) / (1 + math.exp(epsilon)):\n" in told
    program = told.partition("comes from\n")[2].splitlines()
    assert [line[:2].strip() for line in program] == ["", "9", "10", "", "11", "", "9", "11", "", "10"]
    assert run(["adopt", "survey.py::respond", *inputs, "--json"]) == 0
    lines = json.loads(capsys.readouterr().out)["lines"]
    assert [line["text"] for line in lines] == [line[4:] for line in program]
    assert lines[2]["from"] == ["survey.py:10"]
    assert run(["adopt", "survey.py::respond", *inputs]) == 0
    assert "return 0  " in (text := capsys.readouterr().out)
    assert "# survey.py:10\n" in text


def test_witnesses_have_the_lines_of_the_user(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The text, the JSON, the page and synthesis tell the run of the function."""
    assert run(["verify", "survey.py::tally"]) == 1
    told = capsys.readouterr().out
    assert f"    survey.py:{DRAWN}: if random.random() < 0.9:  draw < (9/10)\n" in told
    assert f"    survey.py:{ENDED}: return found[0]  output 0   <- the runs diverge here\n" in told
    assert "Under '1', the same draws lead to output 1." in told
    assert run(["verify", "survey.py::tally", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)["witness"]["run"]
    assert found["function"] == "tally"
    assert [(step["file"], step["line"]) for step in found["steps"]] == [
        ("survey.py", DRAWN),
        ("survey.py", ENDED),
    ]
    assert found["parts_at"] == {"line": ENDED, "step": 1, "input": "1"}
    assert run(["report", "survey.py::tally", "-o", "page.html"]) == 1
    page = (folder / "page.html").read_text()
    assert f"survey.py:{DRAWN}: if random.random() &lt; 0.9:" in page
    assert run(["explain", "survey.py::tally"]) == 0
    assert f"# survey.py:{DRAWN}\n" in capsys.readouterr().out


def test_a_written_case_names_the_lines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The run of the program has them as comments, also when the file is gone."""
    assert run(["adopt", "survey.py::chosen", "--input", "x = 0,1", "--epsilon", "1", "-o", "case.toml"]) == 0
    (folder / "survey.py").unlink()
    capsys.readouterr()
    assert run(["verify", "case.toml"]) == 1
    told = capsys.readouterr().out
    assert f"# survey.py:{CHOSEN}  false: flip(" in told
    assert "In the function" not in told


def test_another_probability_is_where_runs_diverge(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """If only a threshold differs, the runs part there, and the other outcomes are told."""
    arguments = ["--input", "x = 0,1", "--epsilon", "1", "--leak-test", "test_leak.py"]
    assert run(["adopt", "survey.py::chosen", *arguments]) == 0
    told = capsys.readouterr().out
    assert "draw >= (1/10)   <- the runs diverge here" in told
    assert "Under '1', the outcomes there are: draw < (9/10), draw >= (9/10)." in told


def test_runs_that_cannot_be_are_not_told(folder: Path) -> None:
    """Comparisons that contradict each other are no run; the one that is told has a probability."""
    import paramverify
    from paramverify.api.leaks import _at, _possible, _steps
    from paramverify.cli._functions import function_of

    function = function_of(folder / "survey.py", "compared")
    adopted = paramverify.adopt(function, inputs={"x": {"values": [0, 1]}}, epsilon=1)
    (given, *_), explored = list(adopted.explored.trees), adopted.explored
    found = {
        leaf.text: _possible(leaf, _steps(run), given, explored, {})
        for leaf, _, run in _at(explored.trees[given], {})
    }
    assert found == {"'never'": False, "0": True, "1": True}


@pytest.mark.parametrize(
    ("arguments", "mend"),
    [
        (["adopt", "survey.py::coin.release", "--input", "bit = 0,1"], ("Coin(0.9)", "Coin(0.5)")),
        (
            ["adopt", "survey.py::leaky", "--input", "truth = 0,1", "--constant", "p=0.7"],
            ("return 0.1 + 0.2 + truth", "return 0.1 + 0.2"),
        ),
        (
            ["adopt", "survey.py::respond", "--input", "truth = 0,1", "--parameter", "epsilon = (0, oo)"],
            ("math.exp(epsilon) / (1 + math.exp(epsilon))", "0.5"),
        ),
        (["verify", "survey.py::tally"], ("random.random() < 0.9", "random.random() < 0.5")),
    ],
)
def test_the_test_passes_until_the_function_is_mended(
    folder: Path, arguments: list[str], mend: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The written file is a test that runs, in a folder of its own, and fails for another function."""
    (folder / "tests").mkdir()
    bound = ["--epsilon", "1"] if arguments[0] == "adopt" else []
    code = run([*arguments, *bound, "--leak-test", "tests/test_leak.py"])
    assert code == (0 if arguments[0] == "adopt" else 1)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_leak.py"]
    leaking = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    assert "1 passed" in leaking.stdout, leaking.stdout
    source = (folder / "survey.py").read_text()
    assert mend[0] in source
    (folder / "survey.py").write_text(source.replace(*mend))
    mended = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    assert "1 failed" in mended.stdout, mended.stdout
    assert "assert first.low > BOUND" in mended.stdout


def test_there_is_no_test_without_a_violation(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A private function has none, a case file is no function, and the verdict is told in any case."""
    inputs = ["--input", "truth = 0,1", "--parameter", "epsilon = (0, oo)", "--epsilon", "epsilon"]
    assert run(["adopt", "survey.py::respond", *inputs, "--leak-test", "test_a.py"]) == 2
    assert "a test needs a violation, but the function is private" in capsys.readouterr().err
    (folder / "survey.py").write_text(SURVEY.replace("ln(3)", "ln(10)"))
    assert run(["verify", "survey.py::tally", "--leak-test", "test_a.py"]) == 0
    assert "No test was written: no violation is known." in capsys.readouterr().err
    assert run(["adopt", "survey.py::respond", *inputs, "-o", "case.toml"]) == 0
    assert run(["verify", "case.toml", "--leak-test", "test_a.py"]) == 2
    assert "write FILE.py::FUNCTION" in capsys.readouterr().err
    assert not (folder / "test_a.py").exists()
