"""`certify` of programs whose outputs have several values: how `--observations` names one of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from case_texts import program_case

from paramverify.cli.certify import read_observations
from paramverify.cli.main import run
from paramverify.errors import InputError

CASE = program_case(
    """output(n)
if flip(1/4):
    output(2)""",
    'n = { values = "0..1" }',
    'ratio = "2"',
    near='differ = "one"',
)


@pytest.mark.parametrize("given", ["0, 2", "0,2", " 0 ,2 "])
def test_one_output_with_and_without_blanks(
    given: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Blanks around commas do not count; 0 alone is an output too, and 2 is none."""
    (tmp_path / "case.toml").write_text(CASE)
    assert run(["certify", str(tmp_path / "case.toml"), "--observations", given, "--json"]) == 1
    witness = json.loads(capsys.readouterr().out)["witness"]
    assert witness["observations"] == ["0, 2"]
    assert witness["probabilities"] == ["1/4", "0"]


def test_unknown_outputs_are_quoted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Names with commas in a list are told apart by their quotes, and the text that was given is one name."""
    (tmp_path / "case.toml").write_text(CASE)
    assert run(["certify", str(tmp_path / "case.toml"), "--observations", "above"]) == 2
    told = capsys.readouterr().err
    assert "unknown observation 'above'; the mechanism has " in told
    for name in ("'0'", "'0, 2'", "'1'", "'1, 2'"):
        assert name in told
    assert run(["certify", str(tmp_path / "case.toml"), "--observations", "0,7"]) == 2
    assert "unknown observation '0,7'" in capsys.readouterr().err


def test_parts_that_are_outputs_too() -> None:
    """A text means the one output of a program that it names; elsewhere it is refused."""
    known = ["0", "2", "0, 2"]
    assert read_observations(["0,2"], known, alone=True) == ("0, 2",)
    assert read_observations(["0", "2"], known, alone=False) == ("0", "2")
    with pytest.raises(InputError, match="may be one observation or 2"):
        read_observations(["0,2"], known)
    assert read_observations(["0,1"], ["0", "1"]) == ("0", "1")


def test_many_names_are_cut() -> None:
    """An error stays short, however many outputs there are."""
    with pytest.raises(InputError, match="and 80 more") as caught:
        read_observations(["x"], [str(n) for n in range(100)])
    assert len(str(caught.value)) < 300
