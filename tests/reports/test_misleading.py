"""Sentences that are true and mislead: what each of them has to say so that nobody believes more."""

from __future__ import annotations

import copy
import json
import re
import runpy
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from paramverify import check, loads
from paramverify.cli.main import run

CASES = Path(__file__).resolve().parents[2] / "cases"
SQUARES = """
[mechanism]
kind = "program"
source = "return n*n + {noise}"
[mechanism.inputs]
n = {{ values = {values} }}
[neighbours]
differ = "each"
[privacy]
{bound}
"""
EPS = '[parameters]\neps = "(0, oo)"\n'


def squares(noise: str, bound: str, values: str = '"0..2"', parameters: str = "") -> str:
    """Returns a case: squares are farther apart, the larger they are."""
    return parameters + SQUARES.format(noise=noise, bound=bound, values=values)


def written(tmp_path: Path, text: str, name: str = "case.toml") -> str:
    """Writes a case, and returns its path."""
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def shown(page: Path) -> str:
    """Returns the text of a page."""
    text = re.sub(r"<(script|style).*?</\1>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", text)).split())


# --- on whose word -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_page_says_on_whose_word_a_proof_rests(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In its badge, beside its evidence, and in what the command prints."""
    case, page = (
        written(tmp_path, squares("laplace(1/eps)", 'epsilon = "eps"', '"0..1"', EPS)),
        tmp_path / "p.html",
    )
    assert run(["report", case, "-o", str(page), "--no-simplify", "--backends", "z3"]) == 0
    assert re.match(r"private, on the word of z3 \S+ \(no certificate\): ", capsys.readouterr().out)
    text = shown(page)
    assert re.search(r"Answer private, on the word of z3 \S+ \(no certificate\)", text)
    assert "contains every claim with its proof" not in text
    assert re.search(r"But \d claims have no certificate and rest on the word of z3", text)
    assert run(["report", case, "-o", str(page)]) == 0
    assert "contains every claim with its proof. The checker replays it" in shown(page)


def test_the_short_form_of_a_check_is_its_last_word() -> None:
    """Not its first line, which may say that one claim is proved where another is not."""
    case = loads(squares("geometric(1/2)", "ratio = 8"))
    document = case.verify().evidence()
    assert repr(check(document, case)).startswith(
        "<checked: private (ratio = 8) for all neighbouring n in {0..2}"
    )
    forged: Any = copy.deepcopy(document)
    forged["statements"].pop()
    assert repr(check(forged, case)).startswith("<REJECTED: ")


@pytest.mark.slow
def test_a_condition_says_its_domain_and_whose_word_it_is() -> None:
    """Values outside of the domain are no answer; QEPCAD has no certificate."""
    text = (CASES / "randomized-response-condition.toml").read_text(encoding="utf-8")
    case = loads(text)
    told = case.verify().to_dict()["condition"]
    assert told.startswith("private exactly for t in [1/4, 3/4] ")
    assert "and all p in (0, 1) (on the word of QEPCAD; compared exactly at " in told
    narrow = case.with_(parameters={"t": "(1/10, 1/2)"}).verify().to_dict()["condition"]
    assert narrow.startswith("private exactly for t in [1/4, 1/2) and all p in (0, 1) ")
    assert "TRUE" not in case.with_(parameters={"t": "1/2"}).verify().to_dict()["condition"]


# --- for which inputs --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.usefixtures("ample_share")
@pytest.mark.parametrize("design", [True])
def test_safe_values_that_are_not_for_larger_inputs(
    design: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The witness has a value that is safe for the inputs of the case, the best one for a design."""
    plain = squares("geometric(a)", "ratio = 8", parameters='[parameters]\na = "(0, 1)"\n')
    text = (
        plain.replace('"(0, 1)"', '{ in = "(0, 1)", design = true }') + '[design]\nminimise = "a"\n'
        if design
        else plain
    )
    found = loads(text).synthesize()
    assert "The answer does not hold for larger inputs. Not private for n in {0..3}: With a = " in str(found)
    assert found.larger is not None
    assert found.larger["inputs"] == "n in {0..3}"
    value = found.larger["witness"]["parameters"]["a"]
    assert not design or value == "1/2"
    assert loads(plain).with_(parameters={"a": value}).verify().verdict == "private"
    larger = loads(plain.replace('"0..2"', '"0..3"')).with_(parameters={"a": value})
    assert larger.verify().verdict == "not private"
    assert run(["synthesize", written(tmp_path, text), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["larger"]["inputs"] == "n in {0..3}"


def test_compositions_name_what_each_release_is_about(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Inputs, neighbours, and to which release a note belongs."""
    one = written(tmp_path, squares("geometric(1/2)", "ratio = 8"), "one.toml")
    constant = squares("0", "ratio = 2").replace("n*n + 0", "3").replace('"each"', '"one"')
    other = written(tmp_path, constant, "other.toml")
    assert run(["compose", f"{one}:2", other, "--epsilon-for", "0"]) == 0
    out = capsys.readouterr().out
    for path, differ in ((one, "each"), (other, "one")):
        about = f"it covers all neighbouring n in {{0..2}} (differ = {differ}); larger inputs may need more"
        assert f"  Note: {path}: {about}.\n" in out
    assert f"  Note: {other}: the outputs do not depend on the inputs" in out


@pytest.mark.slow
def test_samples_name_their_inputs(capsys: pytest.CaptureFixture[str]) -> None:
    """A proved budget, and an audit with what it may have missed."""
    case = str(CASES / "geometric-neighbours.toml")
    assert run(["sample", case, "--search", "--runs", "2000"]) == 0
    assert capsys.readouterr().out.split("\n")[1].startswith("  for all neighbouring inputs in {")
    assert run(["sample", case, "--audit", "--direct", "--runs", "10"]) == 0
    out = capsys.readouterr().out
    assert "1 of 100 audits misses an output of probability ≈ 0.37 that is impossible in the model" in out
    assert re.search(r"\n  The inputs are .*; the audit does not cover others\.\n", out)


# --- in which arithmetic -----------------------------------------------------------------------------


def test_a_function_with_rounded_numbers(tmp_path: Path) -> None:
    """The note is there if Python rounds what is computed with; not for other numbers, or for flip(0.7)."""
    path = tmp_path / "own.py"
    header = "from paramverify import flip, mechanism\n"
    made = '@mechanism(inputs={"n": {"values": [0, 1, 2, 3]}}, neighbours={"differ": "one"}, ratio=3)\n'
    for body, noted in (
        ("n * 0.1 * 3 == n * 0.3", True),
        ("n if flip(1 - 0.3) else 0", True),
        ("1 if flip(0.7) else 0", False),
        ("1 if flip(0.5 + 0.25) else 0", False),
    ):
        path.write_text(f"{header}{made}def f(n):\n    return {body}\n", encoding="utf-8")
        notes = runpy.run_path(str(path))["f"].verify().notes
        assert any(note.startswith("numbers are exact in proofs: 0.") for note in notes) == noted, body


def test_places_of_least_bounds_that_are_only_approached() -> None:
    """A bound that is approached as eps grows has no place `at eps`, which is that of a witness."""
    text = squares("geometric(exp(-eps))", 'epsilon = "eps"', '"0..1"', EPS).replace("n*n", "n")
    found = loads(text).budget(delta_for="1/2")
    assert found.upper == 1
    line = str(found).split("\n")[1 if "larger" not in str(found) else 2]
    assert "as eps → oo" in str(found)
    assert "at eps = " not in line
