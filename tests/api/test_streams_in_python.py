"""Cases about streams in Python: the same answers as on the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

import paramverify
from paramverify.api.reading import Kind
from paramverify.cli.main import run
from paramverify.errors import InputError

CASES = ROOT / "cases" / "automata"
PRIVATE, LEAKING = CASES / "stream-sparse-vector.toml", CASES / "stream-sparse-vector-three-small-noise.toml"
NAMES = (PRIVATE, LEAKING, CASES / "sparse-vector.toml", CASES / "stream-sparse-vector-one.toml")
SECONDS = re.compile(r"[0-9.e-]+ s\.")


def timeless(document: Any) -> Any:
    """A document without times."""
    return {key: value for key, value in document.items() if key != "seconds"}


@pytest.mark.parametrize("path", NAMES[:2], ids=lambda path: path.stem)
def test_verify(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Text, JSON, evidence and the check of it are those of the commands."""
    case = paramverify.load(path)
    report = paramverify.verify(path)
    assert case.kind is report.kind is Kind.STREAM
    file = tmp_path / "evidence.json"
    code = run(["verify", str(path), "--evidence", str(file)])
    said = capsys.readouterr().out
    assert SECONDS.sub("", said).split() == SECONDS.sub("", str(report)).split()
    assert code == (0 if report else 1)
    assert run(["verify", str(path), "--json"]) == code
    assert timeless(json.loads(capsys.readouterr().out)) == timeless(report.to_dict())
    assert json.loads(file.read_text()) == json.loads(json.dumps(report.evidence()))
    assert paramverify.check(report.evidence(), case)
    assert (report.witness is not None) is (code == 1)


@pytest.mark.slow
def test_changed_cases() -> None:
    """Another budget, other neighbours and other parameters give another case; `bound` says its budget."""
    case = paramverify.load(PRIVATE)
    assert case.bound == "epsilon = eps"
    smaller = case.with_(budget="eps/2 + 1")
    assert smaller.bound == "epsilon = 1/2*eps + 1"
    assert not smaller.verify()
    assert not paramverify.check(case.verify().evidence(), smaller)
    assert case.with_(budget="2 * eps", neighbours={"by": 2}).verify()
    assert case.with_(budget="eps/4", neighbours={"differ": "one"}).verify()
    assert paramverify.loads(case.to_toml().replace("real", "0..1")).verify()


def test_show_and_what_has_no_meaning() -> None:
    """`show` has the graph; other questions are refused with a reason."""
    shown = paramverify.show(PRIVATE)
    assert shown.graph().startswith("digraph")
    assert shown.to_dict()["states"] == 3
    for question in (paramverify.synthesize, paramverify.sample):
        with pytest.raises(InputError, match="does not apply to this case"):
            question(PRIVATE)
    with pytest.raises(InputError, match="a multiple of eps is needed"):
        paramverify.load(PRIVATE).with_(budget="eps**2")


AUTOMATON = CASES / "sparse-vector.dipa"


@pytest.mark.slow
@pytest.mark.parametrize("path", [*NAMES[1:3], CASES / "every-number.dipa"], ids=lambda path: path.name)
def test_budget(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Text, JSON, evidence and numbers of the least budgets are those of the command."""
    case, file = paramverify.load(path), tmp_path / "evidence.json"
    report = case.budget(length="1..2", epsilon="1/2")
    options = ["--length", "1..2", "--epsilon", "1/2"]
    code = run(["budget", str(path), *options, "--evidence", str(file)])
    assert capsys.readouterr().out == f"{report}\n"
    assert run(["budget", str(path), *options, "--json"]) == code
    document = json.loads(capsys.readouterr().out)
    assert document == json.loads(json.dumps(report.to_dict()))
    assert json.loads(file.read_text()) == json.loads(json.dumps(report.evidence()))
    assert paramverify.check(report.evidence(), case)
    assert isinstance(report, paramverify.StreamBudgetReport)
    assert report.exact is (code == 0)
    for entry in document["lengths"]:
        low, high = report.lengths[entry["inputs"]]
        assert (str(low), str(high)) == (entry["multiple_lower"], entry["multiple"])
    if document["infinite"]:
        assert report.multiple is not None
        assert report.multiple > 10**9
    else:
        assert str(report.multiple) == document["multiple"]
    assert (report.ratio, report.epsilon, report.kind) == (None, None, case.kind)


def test_automata(capsys: pytest.CaptureFixture[str]) -> None:
    """The file of an automaton is loaded, decided, shown and checked."""
    case = paramverify.load(AUTOMATON)
    assert (case.kind, case.title, case.bound) == (Kind.AUTOMATON, "sparse-vector.dipa", "")
    report = case.verify()
    assert run(["verify", str(AUTOMATON), "--json"]) == 0
    assert timeless(json.loads(capsys.readouterr().out)) == timeless(report.to_dict())
    assert report.verdict == "private"
    assert paramverify.check(report.evidence(), case)
    assert not paramverify.check(report.evidence(), CASES / "every-number.dipa")
    assert paramverify.show(case).graph().startswith("digraph")
    with pytest.raises(InputError, match="an automaton has no tables"):
        case.with_(budget=1)
    for question in (paramverify.synthesize, paramverify.sample):
        with pytest.raises(InputError, match="does not apply to this case"):
            question(case)
    with pytest.raises(InputError, match="for automata, and for cases about streams"):
        paramverify.budget(CASES.parent / "survey-fresh.toml", length=3)
    for wrong in ("0..9999", "x", -1):
        with pytest.raises(InputError, match="lengths such as 3"):
            case.budget(length=wrong)
