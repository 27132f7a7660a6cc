"""The run of a program behind a witness: in the answers of commands, by enumeration of its draws."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from paramverify.cli.main import run
from paramverify.models.programs import run_traces

CASE = """
[parameters]
p = "1/4"
[prior]
n = { categorical = { 0 = "1/2", 1 = "1/3", 2 = "1/6" } }
[mechanism]
kind = "program"
source = '''
k = n
if flip(p):
    k = uniform(0, 2)
if k >= 1:
    output("some")
    stop
output("none")
'''
[mechanism.inputs]
n = "n"
[secrets]
ill = "n >= 1"
well = "n == 0"
pairs = [["ill", "well"]]
[privacy]
ratio = "2"
"""


def answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, *arguments: str
) -> tuple[str, dict]:  # type: ignore[type-arg]
    """Returns what a command says of a case, as text and as JSON."""
    path = tmp_path / "case.toml"
    path.write_text(text)
    name, *options = arguments
    assert run([name, str(path), *options]) == 1
    told = capsys.readouterr().out
    assert run([name, str(path), *options, "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert isinstance(document, dict)
    return told, document


def test_a_secret_with_several_inputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The run with the largest probability over all inputs of the secret is told, for its likeliest input."""
    told, document = answer(tmp_path, capsys, CASE, "certify", "--observations", "some")
    witness = document["witness"]
    assert witness["secrets"] == ["ill", "well"]
    found = witness["run"]
    # ill: no flip and n is 1 or 2; well: the run without a flip gives "none"
    assert found["probabilities"] == [str(Fraction(3, 4)), "0"]
    assert found["runs"] == 3  # without the flip, and with it for 1 and 2
    assert found["input"] == "1"
    assert [(s["line"], s.get("taken")) for s in found["steps"]] == [(2, False), (4, True), (5, None)]
    assert found["steps"][0]["what"] == ["flip(p) is False"]
    assert found["parts_at"] == {"line": 4, "step": 1, "input": "0"}
    assert "The most likely of the 3 runs that produce it under 'ill', with the input 1, with" in told
    assert "line 4  if k >= 1:      true   <- the runs diverge here" in told
    # with a flip 'well' has this output too
    assert "No input of 'well' can have this run; other runs produce the output there." in told
    assert "The input 0 diverges from it at line 4, `if k >= 1:`." in told
    assert "impossible" not in told


def test_synthesize_and_certify_tell_the_run_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The witness of a violating prior has its run, and so has a candidate that the user names."""
    told, document = answer(tmp_path, capsys, CASE, "synthesize", "--witness")
    other, candidate = answer(tmp_path, capsys, CASE, "certify", "--observations", "none")
    assert document["witness"]["run"] == candidate["witness"]["run"]
    line = "The input 1 diverges from it at line 4, `if k >= 1:`."
    assert line in told
    assert line in other


def test_both_sides_of_a_run_by_enumeration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The probability of the run is that of its draws, under both inputs; other runs are not counted."""
    text = CASE.replace("k = n\n", "k = n\nk = choice({0: 1/10, 1: 9/10}) * n\n").replace('"2"', '"1"')
    text = text.replace('well = "n == 0"', 'well = "n == 2"').replace('ill = "n >= 1"', 'ill = "n == 0"')
    _, document = answer(tmp_path, capsys, text, "verify")
    witness, found = document["witness"], document["witness"]["run"]
    assert witness["secrets"] == ["ill", "well"]
    assert witness["observations"] == ["none"]
    # with n = 0 every choice gives 0; with n = 2 the choice 1 does not
    assert Fraction(witness["probabilities"][0]) == Fraction(3, 4) + Fraction(1, 4) * Fraction(1, 3)
    assert Fraction(found["probabilities"][0]) == Fraction(9, 10) * Fraction(3, 4)
    assert found["probabilities"][1] == "0"
    assert found["runs"] == 4


def test_a_run_that_is_left_out_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there are too many runs the verdict stays, and the answer says that the run is left out."""
    monkeypatch.setattr(run_traces, "MAX_WORK", 3)
    told, document = answer(tmp_path, capsys, CASE, "verify")
    assert (
        "The run that produces this output is not shown: too many runs have this output to list them" in told
    )
    assert document["witness"]["run"] == {"left_out": "too many runs have this output to list them"}


SUM = (
    CASE[: CASE.index("k = n")]
    + """yes = n // 2
yes += flip(1/2)
output(yes)
'''
[mechanism.inputs]
n = "n"
[secrets]
ill = "n >= 1"
well = "n == 0"
pairs = [["well", "ill"]]
[privacy]
ratio = "1"
"""
)


def test_what_the_same_draws_give_on_the_other_side(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the outputs part, an input of the other secret is named, with the output of the same draws."""
    text = SUM.replace("n // 2", "n").replace('0 = "1/2", 1 = "1/3"', '0 = "1/2", -1 = "1/3"')
    text = text.replace("n >= 1", "n != 0")
    told, document = answer(tmp_path, capsys, text, "certify", "--observations", "1")
    # well: 1 by a flip only; ill: n = 2 gives 2 or 3, and n = -1 gives -1 or 0: never 1
    assert document["witness"]["probabilities"] == ["1/2", "0"]
    parting = document["witness"]["run"]["parts_at"]
    given, output = parting["input"], parting["output"]
    assert int(output) == int(given) + 1
    assert "No input of 'ill' can have this run.\n" in told  # and no other run either
    assert (
        f"The input {given} diverges from it at line 3, `output(yes)`: the same draws produce output" in told
    )
