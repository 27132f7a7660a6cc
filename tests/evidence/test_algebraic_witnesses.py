"""Witnesses at irrational points: from the command to the kernel, the second reader and false evidence."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest
from forger import forgeries
from oracle_tools import Json

from paramverify import load as api_load
from paramverify.cli.main import run
from paramverify.kernel.documents import check_text

SQUARES = """
title = "Two squares"
[parameters]
x = "[0, 3]"
y = "[0, 1]"
[claim]
holds = "(x**2 - 5)**2 + (y - 1/2)**2 > 0"
"""
# The domain is the point p = q = 1/√8. There a lie is (√8 − 1) times as likely as the truth.
RESPONSE = """
title = "A domain of one irrational point"
[parameters]
p = "(0, 1)"
q = "(0, 1)"
constraints = ["p**2 + q**2 <= 1/4", "p*q >= 1/8"]
[prior]
record = { bernoulli = "q" }
[mechanism]
kind = "randomized_response"
query = "record"
values = [0, 1]
truth = "p"
[secrets]
yes = "record == 1"
no = "record == 0"
pairs = [["yes", "no"]]
[privacy]
ratio = "BOUND"
"""


def decided(folder: Path, text: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, Json, Json]:
    """The exit code of `verify`, its JSON, and the evidence that it wrote."""
    case, evidence = folder / "case.toml", folder / "evidence.json"
    case.write_text(text)
    code = run(["verify", str(case), "--json", "--evidence", str(evidence), "--strategy", "built-in"])
    return code, json.loads(capsys.readouterr().out), json.loads(evidence.read_text())


@pytest.mark.slow
def test_a_comparison(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """√5 is told as the only zero of x² − 5 in an interval; evidence is accepted, alone and with the case."""
    code, told, _ = decided(tmp_path, SQUARES, capsys)
    assert (code, told["verdict"], told["witness"]["difference"]) == (1, "false", "0")
    at = told["witness"]["parameters"]
    assert (at["y"], at["x"]["root_of"]) == ("1/2", "x^2 - 5")
    assert Fraction(at["x"]["lower"]) ** 2 < 5 < Fraction(at["x"]["upper"]) ** 2
    assert told["claims"][0]["verdict"] == "false"
    case, evidence = str(tmp_path / "case.toml"), str(tmp_path / "evidence.json")
    for more in ([], ["--case", case]):
        assert run(["check", evidence, *more]) == 0
    assert "witness: evaluated again from the model" in capsys.readouterr().out
    assert run(["verify", case, "--strategy", "built-in"]) == 1
    text = capsys.readouterr().out
    assert "With x ≈ 2.2360679775, y = 1/2:" in text
    assert "x is the only zero of x^2 - 5 between" in text
    report = api_load(case).verify()
    assert report.witness.parameters["x"] ** 2 == 5
    assert report.witness.left == 0


@pytest.mark.slow
def test_a_privacy_case(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The ratio √8 − 1 is beyond 9/5 and within 2; the second reader computes it near the point."""
    code, told, document = decided(tmp_path, RESPONSE.replace("BOUND", "9/5"), capsys)
    ratio = told["witness"]["ratio"]
    assert (code, told["verdict"]) == (1, "not private")
    assert (Fraction(ratio["lower"]) + 1) ** 2 < 8 < (Fraction(ratio["upper"]) + 1) ** 2
    case, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
    assert run(["check", str(evidence), "--case", str(case)]) == 0
    agree = "the probabilities of the witness agree at a rational point very near to it"
    assert agree in capsys.readouterr().out
    document["witness"]["probabilities"].reverse()
    evidence.write_text(json.dumps(document))
    assert run(["check", str(evidence), "--case", str(case)]) == 1
    report = api_load(str(case)).verify()
    assert (report.witness.ratio + 1) ** 2 == 8


# --- false evidence -----------------------------------------------------------------------------------------


def near_root(text: str, low: Fraction, high: Fraction) -> Fraction | None:
    """A rational near the only zero between two numbers, by halving; None without a change of sign."""

    def value(t: Fraction) -> Fraction:
        return Fraction(eval(numbers(text), {"__builtins__": {}}, {"t": t, "x": t, "F": Fraction}))

    if not low < high or value(low) * value(high) >= 0:
        return None
    for _ in range(240):
        middle = (low + high) / 2
        low, high = (middle, high) if value(low) * value(middle) > 0 else (low, middle)
    return low


def numbers(text: str) -> str:
    """The text of a polynomial for Python: whole numbers are fractions."""
    import re

    return re.sub(r"(?<![\w^])(\d+)", r"F(\1)", text).replace("^", "**")


def is_true(document: Json) -> bool:
    """Whether the point of a witness is as it is said to be, the claim false there, and its numbers right."""
    witness = document["witness"]
    place = witness["algebraic"]
    claim = {**witness["claim"], **document["domains"][witness["claim"]["domain"]]}
    t = near_root(place["minimal"], *map(Fraction, place["interval"]))
    if t is None:
        return False
    tiny = Fraction(1, 10**50)

    def value(text: Any, names: dict[str, Fraction]) -> Fraction:
        text = text["exact"] if isinstance(text, dict) else text
        return Fraction(eval(numbers(text), {"__builtins__": {}}, {**names, "F": Fraction}))

    point = {name: value(text, {"t": t}) for name, text in place["coordinates"].items()}
    for name, text in claim["box"].items():
        low, high = map(Fraction, text[1:-1].split(", "))
        if not low - tiny < point[name] < high + tiny:
            return False
    for text, relation in claim["constraints"]:
        if value(text, point) < (tiny if relation == ">" else -tiny):
            return False
    if value(claim["polynomial"], point) > -tiny:
        return False
    for name, told in witness["parameters"].items():
        ends = (told, told) if isinstance(told, str) else (told["lower"], told["upper"])
        if not Fraction(ends[0]) - tiny < point[name] < Fraction(ends[1]) + tiny:
            return False
    left, right, difference = (value(witness[k], {"t": t}) for k in ("left", "right", "difference"))
    return abs(left - right - difference) < tiny and not (difference > tiny)


@pytest.mark.slow
def test_false_evidence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of evidence with one part changed, what is accepted is true still."""
    _, _, document = decided(tmp_path, SQUARES, capsys)
    assert check_text(json.dumps(document)).accepted
    assert is_true(document)
    tried = accepted = 0
    for what, new in islice(forgeries(document, Random(21)), 2_000):
        if "witness" in new and new["witness"] != document["witness"]:
            tried += 1
            if check_text(json.dumps(new)).accepted:
                accepted += 1
                assert is_true(new), what
    assert 0 < accepted < tried / 2


def test_a_place_that_is_not_the_only_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An interval with two zeros or none, another zero, and a point beside it are rejected."""
    _, _, document = decided(tmp_path, SQUARES, capsys)

    def rejected(**changes: Any) -> bool:
        place = {**document["witness"]["algebraic"], **changes}
        witness = {**document["witness"], "algebraic": place}
        return not check_text(json.dumps({**document, "witness": witness})).accepted

    assert not rejected()
    assert rejected(interval=["-3", "3"])
    assert rejected(interval=["3", "4"])
    assert rejected(minimal="t^2 - 4", interval=["1", "3"])
    assert rejected(coordinates={"x": "t", "y": "1/3"})
    assert rejected(coordinates={"x": "-t", "y": "1/2"})
    assert rejected(coordinates={"x": "t + 1/1000000000000000000000000000000", "y": "1/2"})
    # With a polynomial that is not irreducible a value that is zero cannot be told from others.
    assert rejected(minimal="t^3 - 2*t^2 - 5*t + 10", interval=["17/8", "9/4"])
