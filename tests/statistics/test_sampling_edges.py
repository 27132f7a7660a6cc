"""Sampling at its edges: infinite ends, outputs that are empty or all alike, several workers, bisection."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from paramverify.cli.main import run

MADE = "sampled_mechanisms:"


def strict(text: str) -> Any:
    """Reads JSON as the standard has it: Infinity, -Infinity and NaN are none."""

    def refused(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refused)


def sampled(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = run(["sample", *arguments, "--json"])
    out, err = capsys.readouterr()
    assert not err
    return code, out


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["logistic", "perceptron"])
@pytest.mark.parametrize(
    ("name", "code"),
    [("at_the_ends", 1), ("undefined", 1), ("nothing", 3), ("sometimes_nothing", 1), ("seven", 3)],
)
def test_json_is_json(capsys: pytest.CaptureFixture[str], name: str, code: int, learner: str) -> None:
    """Whatever a mechanism returns, the JSON object has finite numbers only; no end is null."""
    arguments = (
        "--mechanism",
        f"{MADE}{name}",
        "--neighbours",
        "1",
        "2",
        "--epsilon",
        "1/2",
        "--runs",
        "1000",
    )
    found = sampled(capsys, *arguments, "--classifier", learner)
    assert found[0] == code
    document = strict(found[1])
    low, high = document["interval"]
    assert (low is None) == (code == 3)
    assert high is None or high >= (low or 0)
    bound = document["lower_bound"]["epsilon"]
    assert bound is None or math.isfinite(bound)
    if code == 3:  # both sides are the same, so no bound above zero is right
        assert bound is None or bound <= 0
