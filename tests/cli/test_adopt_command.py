"""`adopt FILE.py::FUNCTION`, decorated functions in the place of a case, and `verify FOLDER`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from conftest import ROOT

from paramverify.cli.main import run

SURVEY = """
import math
import random

import paramverify


def respond(truth, epsilon):
    if random.random() < math.exp(epsilon) / (1 + math.exp(epsilon)):
        return truth
    return 1 - truth


def leaky(truth, p=0.8):
    return truth if random.random() < p else random.randint(0, 1)


@paramverify.mechanism(
    inputs={"votes": {"length": 3, "values": [0, 1]}}, neighbours={"differ": "one"}, epsilon="ln(3)"
)
def tally(votes):
    return sum(v if random.random() < 0.75 else 1 - v for v in votes)


def endless(truth):
    while random.random() < 0.5:
        pass
    return truth
"""


@pytest.fixture
def survey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a file with functions, in the working folder."""
    (tmp_path / "survey.py").write_text(SURVEY)
    monkeypatch.chdir(tmp_path)
    return "survey.py"


def test_a_function_becomes_a_case_that_is_proved(survey: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The written case is private for every epsilon, has evidence, and says where it comes from."""
    inputs = ["--input", "truth = 0,1", "--parameter", "epsilon = (0, oo)", "--epsilon", "epsilon"]
    assert run(["adopt", f"{survey}::respond", *inputs, "-o", "respond.toml"]) == 0
    assert run(["verify", "respond.toml", "--evidence", "evidence.json"]) == 0
    told = capsys.readouterr().out
    assert "private: epsilon = epsilon for all neighbouring truth in {0, 1} with epsilon in (0, oo)" in told
    assert "the law that the Python function respond had when it was adopted" in told
    assert run(["check", "evidence.json", "--case", "respond.toml"]) == 0


def test_a_constant_of_a_function(survey: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With p = 0.8 and a fair coin behind it, the ratio is 9; with p = 1/2 it is 3."""
    arguments = ["adopt", f"{survey}::leaky", "--input", "truth = 0,1", "--ratio", "3", "-o", "leaky.toml"]
    assert run(arguments) == 0
    assert run(["budget", "leaky.toml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.partition("\n")[2])["ratio"] == "9"
    assert run([*arguments[:-1], "half.toml", "--constant", "p=0.5"]) == 0
    assert run(["verify", "half.toml"]) == 0


def test_a_decorated_function_is_a_case(survey: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Commands that read one case accept `FILE.py::NAME`."""
    assert run(["verify", f"{survey}::tally"]) == 0
    assert "private: epsilon = ln(3)" in capsys.readouterr().out
    assert run(["show", f"{survey}::tally"]) == 0
    assert "27/64" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["verify", "survey.py::respond"], "respond has no decorator that says what its inputs are"),
        (["verify", "survey.py::taly"], "did you mean 'tally'?"),
        (["verify", "none.py::f"], "no such file"),
        (["adopt", "survey.py", "--input", "x = 0,1"], "write FILE.py::FUNCTION"),
        (["adopt", "survey.py::respond", "--input", "truth"], "must have the form NAME=VALUE"),
        (["adopt", "survey.py::respond", "--input", "truth = 0,1"], "has the argument epsilon"),
        (["adopt", "survey.py::tally", "--input", "votes = 0,1 * 3"], "this function is decorated already"),
        (["adopt", "survey.py::endless", "--input", "truth = 0,1"], "a loop may have no bound"),
    ],
)
def test_mistakes_have_their_place(
    survey: str, arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each mistake of the command or of the function is an error with exit code 2."""
    assert run(arguments) == 2
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["respond", "--input", "truth = 0,1", "--epsilon", "epsilon"],
            'epsilon is not a parameter: add --parameter "epsilon = (0, oo)"',
        ),
        (
            ["leaky", "--input", "truth = 0,1", "--epsilon", "2*epsilon"],
            "epsilon is not a parameter: the function has no such argument, so write a number",
        ),
    ],
)
def test_what_to_write_instead(
    arguments: list[str], told: str, survey: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A budget of no parameter ends with what to write, and no file is written."""
    name, *rest = arguments
    out = Path(survey).with_name("case.toml")
    assert run(["adopt", f"{survey}::{name}", *rest, "-o", str(out)]) == 2
    assert told in capsys.readouterr().err
    assert not out.exists()


def test_all_cases_of_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each case has a line or an answer; the exit code is that of the worst one."""
    for name in ("geometric-neighbours", "geometric-contagious-ln2"):
        shutil.copy(ROOT / "cases" / f"{name}.toml", tmp_path)
    (tmp_path / "settings.toml").write_text("[tool]\nname = 1\n")
    assert run(["verify", str(tmp_path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[1] for line in lines[:2]] == ["not private", "private"]
    assert lines[2] == "2 cases: 1 private or true, 1 not private or false"
    (tmp_path / "wrong.toml").write_text('[mechanism]\nkind = "geometrc"\n')
    assert run(["verify", str(tmp_path), "--json"]) == 2
    found = json.loads(capsys.readouterr().out)
    assert found["counts"] == {"private or true": 1, "not private or false": 1, "with mistakes": 1}
    assert [Path(case["case"]).name for case in found["cases"]][-1] == "wrong.toml"
    assert run(["verify", str(tmp_path), "--evidence", "e.json"]) == 2


def test_a_limit_in_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The answer is that of the same case alone."""
    source = 'source = "return x[0]"\ninputs = { x = { length = 40, values = "0..1" } }\n'
    tables = (
        f'[mechanism]\nkind = "program"\n{source}[neighbours]\ndiffer = "one"\n[privacy]\nepsilon = "1"\n'
    )
    (tmp_path / "large.toml").write_text(tables)
    assert run(["verify", str(tmp_path / "large.toml"), "--json"]) == 3
    alone = json.loads(capsys.readouterr().out)
    assert (alone["status"], alone["verdict"]) == ("unknown", "undecided")
    assert run(["verify", str(tmp_path), "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["cases"][0]["answer"] == alone


CHANGES = {
    "other inputs": ('"0..3"', '"0..9"'),
    "another domain": ("(0, 1/2)", "(0, 2/3)"),
    "another program": (" return ", "  return "),
    "another function": ("function last", "function first"),
    "without its digest": ("origin_digest = ", "# "),
}
LAST = """
import random
def last(n, p):
    if n > 3 or p > 0.6:
        return 99
    return n if random.random() < p else random.randint(0, 3)
"""


def test_an_adopted_case_that_was_changed_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A program is about the inputs and the domains that its function was run for, and about no others."""
    (tmp_path / "last.py").write_text(LAST)
    case = tmp_path / "last.toml"
    inputs = ["--input", "n = 0..3", "--parameter", "p = (0, 1/2)", "--ratio", "5"]
    assert run(["adopt", f"{tmp_path / 'last.py'}::last", *inputs, "-o", str(case)]) == 0
    assert run(["verify", str(case)]) == 0
    assert run(["verify", str(case), "-D", "p=[1/4, 1/3]"]) == 0
    assert "adopt the function again with more inputs" in capsys.readouterr().out
    for value in ("p=1/2", "p=(0, 3/4)", "p=(0, oo)"):
        assert run(["verify", str(case), "-D", value]) == 2
        assert "the function was adopted for p in (0, 1/2)" in capsys.readouterr().err
    text = case.read_text()
    for old, new in CHANGES.values():
        assert old in text, text
        case.write_text(text.replace(old, new))
        assert run(["verify", str(case)]) == 2
        assert "changed since the function was adopted" in capsys.readouterr().err
    begin, end = text.index("[mechanism]"), text.index("[neighbours]")
    part = text[begin:end].replace("[mechanism]", "[[mechanism.parts]]")
    part = part.replace("[mechanism.inputs]", "[mechanism.parts.inputs]").replace("return 0", "return 1")
    case.write_text(f'{text[:begin]}[mechanism]\nkind = "parts"\n{part}{text[end:]}')
    assert run(["verify", str(case)]) == 2
    assert "a part of a mechanism has no origin" in capsys.readouterr().err
    kept = [line for line in text.splitlines() if not line.startswith("origin")]
    case.write_text("\n".join(kept).replace('"0..3"', '"0..9"'))
    assert run(["verify", str(case)]) == 0  # about the program, which has another law than the function there
    assert "Python function" not in capsys.readouterr().out


def test_an_adopted_case_for_every_epsilon_may_be_set_to_some(
    survey: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Positive numbers are inside (0, oo), as values and as ends; 0 is not."""
    inputs = ["--input", "truth = 0,1", "--parameter", "epsilon = (0, oo)", "--epsilon", "epsilon"]
    assert run(["adopt", f"{survey}::respond", *inputs, "-o", "respond.toml"]) == 0
    for value, code in (("2", 0), ("(0, oo)", 0), ("0", 2), ("[0, 1]", 2)):
        assert run(["verify", "respond.toml", "-D", f"epsilon={value}"]) == code
        assert ("the function was adopted for" in capsys.readouterr().err) == (code == 2)
