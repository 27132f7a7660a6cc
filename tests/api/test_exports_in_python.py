"""`paramverify.export` gives the texts that the command writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

import paramverify
from paramverify.cli.main import run
from paramverify.errors import InputError

CASE = str(ROOT / "cases" / "geometric-independent.toml")
MAX = str(ROOT / "cases" / "noisy-max-contagious.toml")
CONSTANT = str(ROOT / "cases" / "discrete-laplace.toml")
SYSTEM = str(ROOT / "cases" / "interactive" / "survey.toml")
SCRIPT = "(declare-const x Real)(declare-const a Real)(assert (= (* x x) a))(check-sat)(check-sat)"


@pytest.fixture
def script(tmp_path: Path) -> str:
    """A script of two questions."""
    file = tmp_path / "ask.smt2"
    file.write_text(SCRIPT)
    return str(file)


@pytest.mark.parametrize(
    ("case", "to", "given", "options"),
    [
        (CASE, "smtlib2", {}, []),
        (CASE, "qepcad", {"claim": 2, "free": "p"}, ["--claim", "2", "--free", "p"]),
        (CASE, "redlog", {"together": True}, ["--together"]),
        (MAX, "smtlib2", {"simplify": "default"}, ["--simplify", "default"]),
        ("script", "redlog", {"free": ["a"]}, ["--free", "a"]),
        ("script", "smtlib2", {"claim": 2}, ["--claim", "2"]),
    ],
)
def test_the_texts_are_those_of_the_command(
    case: str, to: str, given: dict[str, Any], options: list[str], script: str, tmp_path: Path
) -> None:
    """Each text, and what is told of it, is what the command writes into a folder."""
    file = script if case == "script" else case
    found = paramverify.export(file, to, **given)
    assert run(["export", file, "--to", to, "-o", str(tmp_path / "out"), *options]) == 0
    assert {path.read_text() for path in (tmp_path / "out").iterdir()} == set(found.texts)
    assert [each["text"] for each in json.loads(json.dumps(found.to_dict()))["files"]] == list(found.texts)
    assert f"<{len(found.texts)} text" in repr(found)


@pytest.mark.parametrize(
    ("case", "to", "given", "words"),
    [
        (CASE, "z3", {}, "to: 'z3' is unknown: write one of smtlib2, qepcad, redlog"),
        (CASE, "smtlib2", {"free": "p"}, "free: free parameters need a format with quantifiers"),
        (MAX, "qepcad", {"simplify": "default", "free": "pA"}, "simplify writes one text per part"),
        (SYSTEM, "redlog", {}, "an interactive system has no claims to export"),
        ("script", "redlog", {"free": "b"}, "the script declares no real 'b'; it declares: x, a"),
    ],
)
def test_mistakes_name_the_argument(
    case: str, to: str, given: dict[str, Any], words: str, script: str
) -> None:
    """What cannot be exported is an InputError."""
    with pytest.raises(InputError) as told:
        paramverify.export(script if case == "script" else case, to, **given)
    assert words in str(told.value)


@pytest.mark.parametrize(
    ("case", "to", "given", "words"),
    [
        (CASE, "redlog", {"together": True}, "true means that all claims are true, and false that one"),
        (CASE, "redlog", {"claim": 1, "free": "p"}, "or the free parameters are not in the domain"),
        (MAX, "redlog", {"simplify": "default"}, "true means that this part is true, and false that it is"),
        (CONSTANT, "redlog", {"claim": 1}, "the claim is true\n% E encloses exp(1/2): true is a proof"),
    ],
)
def test_what_an_answer_means_is_told(case: str, to: str, given: dict[str, Any], words: str) -> None:
    """Of a part it is about the part; where a constant is enclosed, `false` says nothing of the claim."""
    text = paramverify.export(case, to, **given).texts[0]
    assert words in (text if to == "redlog" else " ".join(text.split()))


def test_several_texts_are_listed_and_not_joined(script: str) -> None:
    """Two files one after the other would be no file, of which the programs answer the first only."""
    found = paramverify.export(script, "redlog")
    assert str(found).splitlines() == ["texts[0]: question 1, line 1", "texts[1]: question 2, line 1"]
    one = paramverify.load(script).export("redlog", claim=1)
    assert str(one) == one.texts[0].rstrip()


def test_scripts_are_decided(tmp_path: Path) -> None:
    """`verify` and `check` take scripts; each question has its word, and the last one is the verdict."""
    file = tmp_path / "two.smt2"
    file.write_text(SCRIPT.replace("(check-sat)", "(check-sat)(assert (< a 0))", 1))
    case = paramverify.load(str(file))
    assert repr(case) == f"<Case: {file}>"
    found = case.verify()
    assert found.formulas == {"question 1": "sat", "question 2": "unsat"}
    assert (found.verdict, repr(found)) == ("unsat", "<sat, unsat>")
    assert paramverify.check(found.evidence(), case).accepted
