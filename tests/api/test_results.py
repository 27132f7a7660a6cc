"""What a mechanism in Python answers, printed: the words of the commands, and short for a prompt."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from paramverify import flip, geometric, mechanism, verify
from paramverify.cli.main import run
from paramverify.privacy.runs import ToldRun


@mechanism(
    inputs={"n": {"values": [0, 1]}},
    parameters={"a": "(0, 1)"},
    neighbours={"differ": "one"},
    ratio="1/a",
)
def sign(n: int, a: float) -> Any:
    """Whether a noisy number is positive."""
    return n + geometric(a) > 0


@mechanism(inputs={"n": {"values": [0, 1]}}, neighbours={"differ": "one"}, ratio=2)
def answer(n: int) -> Any:
    truth = flip(3 / 4)
    return n if truth else 1 - n


@mechanism(inputs={"n": {"values": [0, 1]}}, neighbours={"differ": "one"}, ratio=2)
def plain(n: int) -> Any:
    return n


def shifted(rng: Any, given: Any, off: int = 1) -> bool:
    """An implementation with an option, and too much."""
    return bool(given + off + rng.geometric(0.5) - rng.geometric(0.5) > 0)


def told(tmp_path: Path, capsys: pytest.CaptureFixture[str], of: Any, *words: str) -> str:
    """Returns what a command prints about the case of a mechanism, without the seconds."""
    path = tmp_path / "case.toml"
    path.write_text(of.to_toml())
    name, *options = words
    run([name, str(path), *options])
    return capsys.readouterr().out


def test_a_report_has_its_run() -> None:
    """The run behind a violation is there as data, and in the text; without a violation there is none."""
    report = answer.verify()
    assert isinstance(report.run, ToldRun)
    assert [step.line for step in report.run.steps] == [1, 2]
    assert tuple(p.rational for p in report.run.probabilities) == (Fraction(3, 4), Fraction(0))
    assert "line 1  truth = flip(3 / 4)" in str(report)
    assert sign.verify().run is None


def test_infinite_ratios_in_python() -> None:
    """An infinite ratio is infinite, and so is its logarithm."""
    witness = plain.verify().witness
    assert witness.ratio == math.inf
    assert set(witness.probabilities) == {0, 1}
    budget = plain.budget()
    assert budget.ratio == budget.lower == budget.upper == budget.epsilon == math.inf
    assert budget.ratio.is_infinite
    assert str(budget.ratio) == "infinity"


def test_an_audit_names_its_point(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without `at` the audit says which numbers it took, in text and JSON, and so does the command."""
    passed, failed = sign.audit(runs=2_000), sign.audit(shifted, runs=2_000)
    assert passed.passes
    assert not failed.passes  # its option is no number of runs
    assert passed.point == failed.point == {"a": Fraction(1, 2)}
    for audit in (passed, failed):
        assert "All of this is with a = 1/2; use --at (`at` in Python) for other numbers." in str(audit)
        assert "\n" not in repr(audit)
    options = ("--audit", "--direct", "--runs", "2000")
    assert "with a = 1/2;" in told(tmp_path, capsys, sign, "sample", *options)
    document = json.loads(told(tmp_path, capsys, sign, "sample", *options, "--json"))
    assert document["parameters"] == {"a": "1/2"}
    assert "All of this" not in told(tmp_path, capsys, answer, "sample", *options)


def test_a_decorated_function_is_no_implementation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--mechanism` with a decorated function says how to sample or audit it."""
    (tmp_path / "case.toml").write_text(sign.to_toml())
    assert run(["sample", str(tmp_path / "case.toml"), "--audit", "--mechanism", f"{__name__}:sign"]) == 2
    error = capsys.readouterr().err
    assert "sign is decorated with `mechanism`" in error
    assert "sign.audit()" in error
    assert "sign.to_toml()" in error


def test_one_line_for_several_formulas() -> None:
    """Of formulas that are true and false the line is about one that decides the verdict."""
    report = verify(ROOT / "cases" / "logic" / "survey.toml")
    assert (report.verdict, report.lines[0].partition(":")[0]) == ("false", "true")
    assert repr(report) == "<false: too_small: D{1, 0}[ X out1 ]>"
