"""`verify --show-attempts`: who was asked about each claim, as a table and as JSON."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from json_shapes import mistakes

from paramverify.cli.main import run

CASE = str(ROOT / "cases" / "geometric-own-record.toml")


def test_races_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    """Each claim has its race: one program proves it, and the others are stopped, or prove it, too."""
    asked = ["verify", CASE, "--backends", "z3,cvc5", "--no-simplify", "--show-attempts"]
    assert run([*asked, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert list(mistakes(told, "verify", "verify")) == []
    races: dict[int, list[dict[str, object]]] = {}
    for each in told["attempts"]:
        races.setdefault(each["race"], []).append(each)
    derived = [race for race in races.values() if race[0]["backend"] == "built-in"]
    raced = [race for race in races.values() if race not in derived]
    assert raced
    assert derived
    for (row,) in derived:  # the claim follows from one that a program has proved
        assert row["answer"] == "proved"
        assert re.fullmatch(r"follows from a claim that (z3|cvc5) proved before", str(row["reason"]))
    for race in raced:
        assert sorted(str(each["backend"]) for each in race) == ["cvc5", "z3"]
        assert len({each["claim"] for each in race}) == 1
        assert any(each["answer"] == "proved" for each in race)
        others = [each for each in race if each["answer"] != "proved"]
        assert all(
            each["answer"] in ("stopped", "not started") and "faster" in str(each["reason"])
            for each in others
        )
    assert run(asked) == 0
    out = capsys.readouterr().out
    assert f"attempts: {2 * len(raced) + len(derived)} in {len(races)} races\nrace  claim" in out
    assert re.search(rf"{len(derived)} by built-in from a claim of (z3|cvc5)", out)


def test_built_in_procedures_are_asked_first(capsys: pytest.CaptureFixture[str]) -> None:
    """What they decide here is told as a race of one."""
    assert run(["verify", CASE, "--show-attempts", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["attempts"]
    assert {(each["backend"], each["answer"]) for each in found} == {("built-in", "proved")}
    assert [each["race"] for each in found] == list(range(1, len(found) + 1))
    assert run(["verify", CASE, "--show-attempts", "--cluster", "local:1"]) == 2
    assert "leave --cluster out" in capsys.readouterr().err
    assert run(["verify", CASE, "--show-attempts", "--encoding", "monolithic"]) == 2
    assert "leave --show-attempts out" in capsys.readouterr().err


UNSAT = """(declare-const x Real)(declare-const y Real)
(assert (< (+ (* x x) (* y y)) (* 2 x y)))(check-sat)"""


def test_scripts_have_attempts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A solver that is given the script itself is listed, and so are procedures that decide its parts."""
    script = tmp_path / "square.smt2"
    script.write_text(UNSAT)
    assert run(["verify", str(script), "--backends", "z3", "--show-attempts", "--json"]) == 0
    (attempt,) = json.loads(capsys.readouterr().out)["attempts"]
    assert (attempt["claim"], attempt["backend"], attempt["answer"]) == (
        "the script as it is",
        "z3",
        "proved",
    )
    assert run(["verify", str(script), "--show-attempts", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["attempts"]
    assert [(each["backend"], each["answer"]) for each in found] == [("built-in", "proved")]


def test_attempts_are_shown_when_time_is_over(tmp_path: Path) -> None:
    """What was asked until then is printed, as text and in JSON."""
    case = tmp_path / "circle.toml"
    case.write_text(
        '[parameters]\nx = "[-1, 1]"\ny = "[-1, 1]"\nconstraints = ["x**2 + y**2 == 1"]\n'
        '[claim]\nholds = "x*y <= 1/2"\n'
    )
    config = tmp_path / "solvers.toml"
    config.write_text('[solvers.slow]\ncommand = ["sleep", "60"]\nversion = "1"\n')
    asked = [sys.executable, "-m", "paramverify", "--config", str(config), "verify", str(case)]
    asked += ["--show-attempts", "--strategy", "built-in; slow:60", "--timeout", "6"]
    done = subprocess.run(asked, capture_output=True, text=True)
    assert done.returncode == 3
    assert "x*y <= 1/2" in done.stdout
    assert "built-in gave up" in done.stdout
