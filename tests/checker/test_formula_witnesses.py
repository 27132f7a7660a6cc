"""Witnesses against formulas: a forged one needs a formula, numbers and a claim that agree."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from conftest import ROOT

from paramverify.checker.documents import check_text
from paramverify.checker.formulas import _is_square
from paramverify.cli.main import run

FOLDER = ROOT / "cases" / "logic"
MADE = (
    ("survey-coin", "D{ln(3), 0}[ X out1 ]"),
    ("survey-coin", "D{ln(3), c/10}[ X out1 ]"),
    ("survey-coin", "P<=c/2 [ X out1 ]"),
    ("double-survey", "P<=1/9 [ X out1 ]"),
    ("double-survey", "P>=7/8 [ X out1 ]"),
    ("subsampling-majority", "D{1/2, 0.1125}[ F out0 ]"),
    ("subsampling-majority", "P<=1/9 [ F out0 ]"),
    ("subsampling-majority", "P>=9/10 [ F out0 ]"),
    ("emptiness", "D{1, 0}[ F at_B ]"),
    ("emptiness", "P>=1/10 [ F at_B ]"),
)


def made(tmp_path: Path, case: str, formula: str) -> dict[str, Any]:
    path = tmp_path / "evidence.json"
    assert run(["logic", str(FOLDER / f"{case}.toml"), "-p", formula, "--evidence", str(path)]) == 1
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def _set(*path: str | int, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(witness: dict[str, Any]) -> None:
        inner: Any = witness
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = value

    return change


def _without(*names: str) -> Callable[[dict[str, Any]], None]:
    return lambda witness: [witness.pop(name) for name in names if name in witness] and None


def _other_claim(witness: dict[str, Any]) -> None:
    witness["claim"]["polynomial"] = f"{witness['claim']['polynomial']} - 1/7"


def _parameter(witness: dict[str, Any]) -> None:
    claim = witness["claim"]
    claim["variables"] = ["c", *claim["variables"]]
    claim["box"] = {"c": "[0, 1]"}
    claim["polynomial"] += " - c"
    witness["parameters"] = {"c": "1/2"}


FORGED = {
    "no formula": _set("formula", value="whatever I like"),
    "no numbers": _without("probabilities", "ratio", "bound", "delta"),
    "no names": _without("secrets"),
    "another claim": _other_claim,
    "a claim about more points": _parameter,
}


@pytest.mark.parametrize(("case", "formula"), MADE)
def test_forged(capsys: pytest.CaptureFixture[str], tmp_path: Path, case: str, formula: str) -> None:
    """What contradicts itself is rejected; what is accepted says what was not compared."""
    document = made(tmp_path, case, formula)
    report = check_text(json.dumps(document))
    assert report.accepted, report.lines
    assert (
        "the states, the actions and the probabilities with the model and the path formula"
        in report.not_compared
    )
    assert ("the bound in the formula with the numbers" in report.not_compared) == ("c/" in formula)
    for name, change in FORGED.items():
        forged = json.loads(json.dumps(document))
        change(forged["witness"])
        assert not check_text(json.dumps(forged)).accepted, name
    path = str(tmp_path / "evidence.json")
    assert run(["check", path, "--case", str(FOLDER / f"{case}.toml")]) == 2
    assert "leave out --case" in capsys.readouterr().err


@pytest.mark.parametrize(("case", "formula"), [m for m in MADE if m[0] in ("survey-coin", "double-survey")])
def test_other_probabilities(tmp_path: Path, case: str, formula: str) -> None:
    """Probabilities that agree with ratio and formula are rejected if the claim is not theirs."""
    random = Random(5)
    document = made(tmp_path, case, formula)
    witness = document["witness"]
    places = range(2 if "ratio" in witness else 1)
    for _ in range(40):
        forged = json.loads(json.dumps(document))
        values = [Fraction(p) for p in witness["probabilities"]]
        place = random.choice(places)
        values[place] = Fraction(random.randint(1, 30), 31)
        forged["witness"]["probabilities"] = [str(v) for v in values]
        if "ratio" in witness:
            forged["witness"]["ratio"] = str(values[0] / values[1])
        assert not check_text(json.dumps(forged)).accepted


@pytest.mark.parametrize(
    ("formula", "word"),
    [
        ("P>=1/10 [ F at_B ]", "least"),
        ("P<=1/10 [ F at_B ]", "largest"),
        ("Pmax>=9/10 [ F at_B ]", "largest"),
        ("Pmin<=1/10 [ F !at_B ]", "least"),
    ],
)
def test_schedulers(tmp_path: Path, formula: str, word: str) -> None:
    """A witness tells the probability that its formula compares; another word makes it say something else."""
    document = made(tmp_path, "emptiness", formula)
    witness = document["witness"]
    assert witness["schedulers"] == f"{word} probability over all schedulers"
    assert check_text(json.dumps(document)).accepted
    other = "least" if word == "largest" else "largest"
    for said in (f"{other} probability over all schedulers", word, ""):
        forged = {**document, "witness": {**witness, "schedulers": said}}
        assert not check_text(json.dumps(forged)).accepted, said
    if formula.startswith("Pm"):
        turned = formula.replace("Pmax", "Pm").replace("Pmin", "Pmax").replace("Pm>", "Pmin>")
        forged = {**document, "witness": {**witness, "formula": turned}}
        assert not check_text(json.dumps(forged)).accepted
    forged = {**document, "witness": {k: v for k, v in witness.items() if k != "formula"}}
    assert not check_text(json.dumps(forged)).accepted


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        ("P<1/10 [ F !at_B ]", "a strict comparison that fails is no claim that fails"),
        ("!(P<=1 [ F at_B ])", "the formula is false without a comparison of its own that fails"),
        ("P<=1/10 [ F !at_B ] | P>=1 [ F at_B ]", "without a comparison of its own that fails"),
        ("at_B", "without a comparison of its own that fails"),
    ],
)
def test_why_nothing_is_shown(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, formula: str, reason: str
) -> None:
    """Evidence that does not show a violation says why, as it is."""
    assert made(tmp_path, "emptiness", formula)["status"] == "unknown"
    assert reason in capsys.readouterr().err


def test_squares() -> None:
    """Squares are told from their multiples by -1 and 2, and from those with one term more."""
    random = Random(8)
    for _ in range(200):
        root = {
            (k,): Fraction(random.randint(-4, 4), random.randint(1, 4)) for k in range(random.randint(1, 5))
        }
        square: dict[tuple[int, ...], Fraction] = {}
        for (a,), x in root.items():
            for (b,), y in root.items():
                square[(a + b,)] = square.get((a + b,), Fraction(0)) + x * y
        square = {k: c for k, c in square.items() if c}
        assert _is_square(square)
        if square:
            high = max(square)[0]
            assert not _is_square({k: -c for k, c in square.items()})
            assert not _is_square({k: 2 * c for k, c in square.items()})
            assert not _is_square({**square, (high + 1,): Fraction(1)})
