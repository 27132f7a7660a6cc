"""A run that a limit ends says no word of a verdict as its reason, whatever the case is about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from paramverify.cli.main import run
from paramverify.errors import TimeLimitError

CASES = ROOT / "cases"
WORDS = ("private", "not private", "true", "false")
KINDS = [
    ("verify", "noisy-max-12.toml"),
    ("verify", "time-series-3-slow-all.toml"),
    ("verify", "programs/noisy-max-gauss.toml"),
    ("verify", "programs/sparse-vector-laplace-every-epsilon.toml"),
    ("verify", "automata/stream-min-max-three.toml"),
    ("verify", "automata/two-ranges.dipa"),
    ("verify", "retransmission-bound.toml"),
    ("logic", "logic/above-threshold.toml"),
    ("interactive", "interactive/slots-3-full.toml"),
    ("budget", "geometric-symbolic-6.toml"),
    ("synthesize", "noisy-max-independent-below.toml"),
]


@pytest.mark.parametrize(("command", "name"), KINDS)
def test_no_verdict(command: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Almost without time: a verdict with its code; or code 3, and no word of a verdict."""
    arguments = [command, str(CASES / name), "--timeout", "0.001"]
    code = run(arguments)
    found = capsys.readouterr()
    told = (found.out + found.err).splitlines()
    said = [line for line in told if line.split(":")[0].strip() in WORDS]
    assert code in (0, 1, 3)
    # Of several formulas those that were answered are told, each with its name; the last one was not.
    assert command == "logic" or not (said and code == 3), told
    assert command != "logic" or code != 3 or any(line.startswith("undecided") for line in told), told
    code = run([*arguments, "--json"])
    document = json.loads(capsys.readouterr().out)
    assert code in (0, 1, 3)
    if code == 3:
        assert document.get("status", "unknown") == "unknown"
        assert document.get("verdict", "undecided") == "undecided"


@pytest.mark.slow
def test_some_end_without_a_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    """Not all of these cases are too easy for that."""
    codes = [run([command, str(CASES / name), "--timeout", "0.001"]) for command, name in KINDS]
    assert codes.count(3) >= 2
    assert "undecided" in "".join(capsys.readouterr())


def test_budgets_that_were_known(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of `--budgets` the word is that of a case, not that of a claim."""
    from paramverify.subjects import case_answers

    first, seen = case_answers.verify_beyond, []

    def one(*arguments: Any, **others: Any) -> Any:
        if seen:
            raise TimeLimitError(1)
        seen.append(arguments)
        return first(*arguments, **others)

    monkeypatch.setattr(case_answers, "verify_beyond", one)
    arguments = ["verify", str(CASES / "noisy-max-naive-3-ln8.toml"), "--budgets", "1,2"]
    assert run(arguments) == 1
    found = capsys.readouterr()
    assert found.err == "stopped: the time limit of 1 s is over. The verdict was known before: not private\n"
    seen.clear()
    assert run([*arguments, "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["status"], document["verdict"]) == ("violated", "not private")
