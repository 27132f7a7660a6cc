"""`paramverify explain`: what was understood of a case, compared with the claims that verify makes."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from paramverify.cli.main import run
from paramverify.encodings.choice import claims_of
from paramverify.privacy.cases import load

CASES = ROOT / "cases"
TEXT = """
title = "T"
[parameters]
p = "(0, 1)"
q = "(0, 1)"
r = "1/3"
[prior]
a = { bernoulli = "p" }
b = { bernoulli = "1/2" }
c = { given = "b", table = { 0 = { 0 = "1/3", 1 = "2/3" }, 1 = { 1 = "1" } } }
idle = { bernoulli = "1/4" }
[mechanism]
kind = "hmm"
states = ["low", "high", "never"]
observations = ["yes", "no", "lost"]
start = "a"
emissions = { low = { yes = "1" }, high = { no = "1" }, never = { lost = "1" } }
[secrets]
one = "c == 1"
two = "c == 0"
spare = "a == 1"
pairs = [["one", "two"]]
[privacy]
epsilon = "ln(2)"
"""


def explained(capsys: pytest.CaptureFixture[str], path: Path) -> tuple[str, dict[str, Any]]:
    """Returns the text and the JSON object of `explain`."""
    assert run(["explain", str(path)]) == 0
    said = capsys.readouterr().out
    assert run(["explain", str(path), "--json"]) == 0
    return said, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "geometric-neighbours",
            "claims: 12 comparisons = 3 outputs × 2 directions × 2 pairs; "
            "8 of these comparisons need a proof; equal ones are merged into 2 claims\n",
        ),
        (
            "survey-memory",
            "claims: 124 comparisons = 62 output sequences × 2 directions × 1 pair; "
            "4 of these comparisons need a proof; equal ones are merged into 2 claims\n",
        ),
    ],
)
def test_claims_are_those_of_verify(name: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The number of claims is that of the claims that verify proves, and the product that of brute force."""
    path = CASES / f"{name}.toml"
    said, document = explained(capsys, path)
    assert told in said
    model = load(path).model
    claims = claims_of(model)
    assert document["claims"]["count"] == len(claims)
    assert document["claims"]["comparisons"] == sum(len(claim.origins) for claim in claims)
    outputs = document["outputs"]["names"]
    words = {word for n in document["outputs"]["lengths"] for word in product(outputs, repeat=n)}
    assert document["claims"]["sequences"] == len(words)
    assert run(["verify", str(path), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["claims"]) == len(claims)
    pairs = [set(pair) for pair in document["pairs"]["pairs"]]
    for origin in (origin for claim in claims for origin in claim.origins):
        assert {origin.left, origin.right} in pairs
        assert origin.observations in words


def test_what_nothing_reads_is_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Unused parameters, secrets in no pair, variables that nothing reads, outputs that never happen."""
    case = tmp_path / "case.toml"
    level = 'level = { categorical = { low = "p", high = "1 - p" } }'
    text = TEXT.replace('start = "a"', 'start = "level"').replace("[prior]", f"[prior]\n{level}")
    case.write_text(text, encoding="utf-8")
    said, document = explained(capsys, case)
    assert document["warnings"] == [
        "the output lost never happens under a secret that is compared",
        "the outputs do not depend on the secrets, so they reveal nothing about them",
        "the parameter q is not used: nothing depends on it",
        "the parameter r is not used: nothing depends on it",
        "the secret spare is in no pair: it is not compared",
        "the variable a of the prior is read by no secret that is compared, nor by the mechanism",
        "the variable idle of the prior is read by no secret that is compared, nor by the mechanism",
    ]
    assert all(f"Warning: {warning}." in said for warning in document["warnings"])
    assert "one: c == 1" in said
    assert document["budget"] == "epsilon = ln(2)"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "blood-test",
            ["question: is the claim true", "claims: 1 claim from 1 comparison", "functions: positive"],
        ),
        ("interactive/slots-2-symbolic", ["states: 42 states: ", "budget: epsilon = -4*ln(p)"]),
        ("programs/randomized-response-two-coins", ["mechanism: program. ", "2 outputs"]),
        ("geometric-metric", ["distances: 1, 2", "claims: 294 comparisons = ", "merged into 2 claims\n"]),
    ],
)
def test_every_kind_of_case(name: str, told: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Each kind of case file is explained, in text and JSON, and the shipped ones have nothing to warn of."""
    said, document = explained(capsys, CASES / f"{name}.toml")
    assert all(part in said for part in told)
    assert document["warnings"] == []
    assert document["title"]


def test_a_mistake_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A secret that never happens, and a file that is no case, are bad input."""
    case = tmp_path / "case.toml"
    text = (CASES / "geometric-independent.toml").read_text(encoding="utf-8")
    case.write_text(text.replace('"sick >= 1"', '"sick >= 3"'), encoding="utf-8")
    for path in (case, tmp_path / "none.toml"):
        assert run(["explain", str(path)]) == 2
    assert "the secret 'somebody' has probability zero" in capsys.readouterr().err
