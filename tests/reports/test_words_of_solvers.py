"""A verdict that rests on somebody's word says on whose, in the headline and in JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from lying_backends import CHAIN, LIAR, TOUCHING

from paramverify.cli.main import run

BELOW = Path(__file__).parents[2] / "cases" / "geometric-independent-below.toml"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backends", "word"),
    [("bernstein", ""), (LIAR, f"{LIAR} 1.0"), ("z3", "z3 ")],
)
def test_verify_says_on_whose_word(
    backends: str, word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A built-in proof has a certificate; what a program prints is its word, and no plain "true"."""
    path = tmp_path / "case.toml"
    path.write_text(TOUCHING)
    assert run(["verify", str(path), "--backends", backends]) == 0
    told = capsys.readouterr().out
    assert run(["verify", str(path), "--backends", backends, "--json"]) == 0
    evidence = json.loads(capsys.readouterr().out)["evidence"]
    assert run(["synthesize", str(path), "--witness", "--backends", backends]) == 0
    searched = capsys.readouterr().out
    if not word:
        assert told.startswith("true: ")
        assert (evidence["on_the_word_of"], evidence["without_certificate"]) == ([], 0)
        assert "on the word of" not in searched
        return
    assert told.startswith(f"true, on the word of {word}")
    assert told.splitlines()[0].split(": ")[0].endswith("(no certificate)")
    assert evidence["without_certificate"] == 1
    assert evidence["on_the_word_of"][0].startswith(word)
    assert f"on the word of {word}" in searched


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backends", "start"),
    [
        ("bernstein", "true: f: "),
        (LIAR, f"true, on the word of {LIAR} 1.0 (no certificate): f: "),
    ],
)
def test_logic_says_on_whose_word(
    backends: str, start: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What had to be proved about the model counts, too."""
    path = tmp_path / "case.toml"
    path.write_text(CHAIN)
    assert run(["logic", str(path), "--backends", backends]) == 0
    assert capsys.readouterr().out.startswith(start)
    assert run(["logic", str(path), "--backends", backends, "--json"]) == 0
    evidence = json.loads(capsys.readouterr().out)["evidence"]
    assert evidence["on_the_word_of"] == ([f"{LIAR} 1.0"] if backends == LIAR else [])


# An entry of the table is to be proved nonnegative, and is -1/10000 at p = 1/3.
NEGATIVE = """
[parameters]
p = "[0, 1]"
[mechanism]
kind = "hmm"
states = ["a", "b"]
observations = ["x", "y"]
emissions.a = { x = "(p - 1/3)**2 - 1/10000", y = "1 - (p - 1/3)**2 + 1/10000" }
emissions.b = { x = "1/2", y = "1/2" }
[neighbours]
pairs = [["a", "b"]]
[privacy]
ratio = "3"
"""


@pytest.mark.slow
@pytest.mark.parametrize("command", ["verify", "budget"])
def test_a_certificate_that_is_none_is_not_believed(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the kernel rejects proves nothing about the model, and nothing is said about privacy."""
    path = tmp_path / "case.toml"
    path.write_text(NEGATIVE)
    assert run([command, str(path), "--backends", "lying_backends:BOASTS"]) == 3
    told = capsys.readouterr()
    assert "the checker rejects its certificate" in told.out + told.err
    assert "private" not in told.out
    assert run([command, str(path), "--backends", "lying_backends:BOASTS", "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["status"] == "unknown"


@pytest.mark.slow
def test_a_disagreement_names_the_claim(capsys: pytest.CaptureFixture[str]) -> None:
    """In the words of the user, and with the number that `export --claim` has for it."""
    rivals = ["--backends", f"{LIAR},z3", "--confirm", "2", "--no-simplify"]
    assert run(["verify", str(BELOW), *rivals]) == 3
    told = capsys.readouterr()
    found = re.match(r"DISAGREEMENT: backends disagree on claim (\d) \((.*); `export CASE --claim", told.err)
    assert found
    assert run(["export", str(BELOW), "--to", "smtlib2", "--claim", found[1]]) == 0
    assert capsys.readouterr().out.splitlines()[0].endswith(f": {found[2]}")


@pytest.mark.slow
@pytest.mark.parametrize("command", ["verify", "budget"])
def test_a_lie_about_the_model_is_told_as_a_word(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is proved about the model by a backend that is not built in is a word."""
    path = tmp_path / "case.toml"
    path.write_text(NEGATIVE)
    word = f"{LIAR} 1.0"
    run([command, str(path), "--backends", LIAR])
    out = capsys.readouterr().out
    assert word in out
    run([command, str(path), "--backends", LIAR, "--json"])
    document = json.loads(capsys.readouterr().out)
    assert word in json.dumps(document.get("evidence", document))


def test_least_budgets_of_formulas_say_on_whose_word(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A least delta that a liar proved says so."""
    case = str(root / "cases/logic/survey-coin.toml")
    run(["logic", case, "--delta-for", "0", "--backends", LIAR])
    assert f"On the word of {LIAR} 1.0" in capsys.readouterr().out
