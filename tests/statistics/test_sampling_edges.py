"""Sampling at its edges: infinite ends, outputs that are empty or all alike, several workers, bisection."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from paramverify.cli.main import run
from paramverify.privacy.cases import load
from paramverify.statistics.certification import bisect
from paramverify.statistics.learned_attacks import Learner, perceptron, train
from paramverify.statistics.samplers import Experiment

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


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("cases/randomized-response.toml", "--at", "p=1/2", "--epsilon", "1/2,2"),
        ("cases/randomized-response.toml", "--at", "p=1/2", "--epsilon", "1/2", "--certify"),
        ("--mechanism", f"{MADE}at_the_ends", "--neighbours", "1", "2", "--epsilon", "1/2"),
        ("--mechanism", f"{MADE}one_by_one", "--neighbours", "1", "2", "--epsilon", "1/2"),
    ],
)
def test_several_workers_print_the_same(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: Sequence[str]
) -> None:
    """With one, two and three workers the code and the JSON object are the same, to the last digit."""
    monkeypatch.chdir(Path(__file__).parents[2])
    found = [sampled(capsys, *arguments, "--runs", "2000", "--workers", str(n)) for n in (1, 2, 3)]
    strict(found[0][1])
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    "counts",
    [
        (Counter({(): 30}), Counter({(): 40})),
        (Counter({("7",): 30}), Counter({("7",): 40})),
        (Counter({(): 10, ("x",): 20}), Counter({(): 30, ("1", "2"): 5})),
        (Counter({("inf",): 30}), Counter({("-inf",): 40, ("nan",): 2})),
        (Counter({(): 1}), Counter({(): 1})),
    ],
)
def test_the_perceptron_takes_what_there_is(counts: tuple[Counter[Any], Counter[Any]]) -> None:
    """With empty outputs, one output, or outputs of several lengths its scores and attacks are shares."""
    outputs = list(dict.fromkeys((*counts[0], *counts[1])))
    scores = perceptron(outputs, counts, 0).scores([*outputs, ("new",)])
    assert all(0 <= score <= 1 for score in scores)
    for attack in train(Experiment("0", "1", {}), counts, Learner.PERCEPTRON):
        assert all(0 <= chance <= 1 for chance in attack.accepts([*outputs, ("new",)]))
        assert 0 < attack.share <= 1


@pytest.mark.slow
@pytest.mark.parametrize("truth", ["1/2", "3/5", "9/10", "1"])
def test_bisection_ends_around_the_exact_budget(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], truth: str
) -> None:
    """With and without an interval from testing, the proved ends are less than the precision apart.

    Randomised response has the ratio t/(1 − t), which is evaluated here with fractions.
    """
    path = tmp_path / "case.toml"
    path.write_text(
        f'[mechanism]\nkind = "randomized_response"\ntruth = "{truth}"\n'
        '[neighbours]\ndiffer = "each"\n[privacy]\nratio = 3\n'
    )
    t = Fraction(truth)
    exact = math.log(t / (1 - t)) if t < 1 else math.inf
    code, out = sampled(capsys, str(path), "--search", "--bisection", "--runs", "2000", "--precision", "1/50")
    document = strict(out)
    assert (code, document["status"]) == (0, "found")
    assert document["infinite"] == (t == 1)
    for testing in ((None, None), (0.0, None), (None, 9.0), (5.0, 0.5)):
        found = bisect(load(path), testing, Fraction(1, 50), 30)
        assert found.is_found
        assert found.infinite == (t == 1)
        if found.violated and not found.infinite:
            assert found.violated.epsilon < exact
            assert found.holds is not None
            assert found.holds.epsilon - found.violated.epsilon <= Fraction(1, 50)
        if found.holds:
            assert found.holds.epsilon >= exact - 1e-9
