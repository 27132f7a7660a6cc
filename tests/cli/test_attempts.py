"""`verify --show-attempts`: who was asked about each claim, as a table and as JSON."""

from __future__ import annotations

import json

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
    assert races
    for race in races.values():
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
    assert f"attempts: {2 * len(races)} in {len(races)} races\nrace  claim" in out


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
