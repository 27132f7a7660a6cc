"""Points that the command line takes: also numbers for a parameter of every positive number."""

from __future__ import annotations

import json

import pytest
from conftest import ROOT

from paramverify.cli.main import run

RESPONSE = str(ROOT / "cases" / "programs" / "randomized-response-4.toml")
SECRETS = ("--observations", "0", "--secrets", "0", "1")
FAST = ("--runs", "20000", "--seed", "1")


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run([arguments[0], RESPONSE, *arguments[1:]])
    out, err = capsys.readouterr()
    return code, out, err


def test_certify_at_a_number(capsys: pytest.CaptureFixture[str]) -> None:
    """With `--at eps=1` the probabilities are e/(e + 3) and 1/(e + 3), exactly."""
    code, out, _ = call(capsys, "certify", *SECRETS, "--at", "eps=1", "--json")
    witness = json.loads(out)["witness"]
    assert code == 0
    assert witness["parameters"] == {"eps": "1"}
    assert witness["ratio"]["exact"] == "exp(1)"
    exact = [entry["exact"] for entry in witness["probabilities"]]
    assert exact == ["(E)/(E + 3) with E = exp(1)", "(1)/(E + 3) with E = exp(1)"]
    code, out, _ = call(capsys, "certify", *SECRETS, "--at", "x_eps=1/2")
    assert "With x_eps = 1/2, eps = ln(2): output 0 is 2 times as likely" in out


@pytest.mark.slow
def test_sample_at_a_number(capsys: pytest.CaptureFixture[str]) -> None:
    """Samples and audits are at that number, and the budget that is tested is that of the case there."""
    code, out, _ = call(capsys, "sample", *FAST, "--at", "eps=1", "--json")
    found = json.loads(out)
    assert code == 3
    assert [row["epsilon"] for row in found["tested"]] == [1.0]
    code, out, _ = call(capsys, "sample", *FAST, "--at", "eps=1/2", "--audit", "--direct")
    assert (code, out.split(":")[0]) == (0, "no difference found")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("certify", *SECRETS), "no value for eps: add --at eps=VALUE"),
        (("certify", *SECRETS, "--at", "eps=0"), "eps: the value 0 is not in (0, oo)"),
        (("certify", *SECRETS, "--at", "epsilon=1"), "there is no parameter 'epsilon'; choose from x_eps"),
        (("sample", *FAST, "--at", "eps=-1"), "eps: the value -1 is not in (0, oo)"),
        (("sample", *FAST, "--search", "--at", "eps=1"), "set x_eps, which stands for exp(-eps)"),
        (
            ("synthesize", "--objective", "nearest", "--near", "eps=1"),
            "eps cannot be set to a number here: set x_eps, which stands for exp(-eps)",
        ),
    ],
)
def test_mistakes(arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What is no point is told with what would be one."""
    code, out, error = call(capsys, *arguments)
    assert (code, out) == (2, "")
    assert message in error


def test_inputs_of_a_prior_are_audited(capsys: pytest.CaptureFixture[str]) -> None:
    """A program whose inputs are expressions over a prior is audited input by input."""
    path = str(ROOT / "cases" / "programs" / "family.toml")
    assert run(["sample", path, *FAST, "--audit", "--direct", "--at", "alpha=1/2"]) == 0
    assert capsys.readouterr().out.startswith("no difference found: 2 inputs")
