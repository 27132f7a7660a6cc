"""`paramverify compare`: attempts that are kept, what is made of them, and what must not happen."""

from __future__ import annotations

import csv
import importlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from json_shapes import mistakes
from lying_backends import TOUCHING
from matplotlib.image import imread

import paramverify
from paramverify.cli.compare import duration
from paramverify.cli.main import run
from paramverify.comparison import comparison_results
from paramverify.comparison.comparison_results import IDENTITY, identity
from paramverify.comparison.comparison_runs import RemainingTime
from paramverify.comparison.comparison_subjects import Encoded, Subjects
from paramverify.comparison.comparison_summary import ComparisonSummary, judge, summary
from paramverify.encodings.sequences import sequence_claims
from paramverify.errors import InputError
from paramverify.privacy.cases import load
from paramverify.reports.comparison_reports import alarm, lines
from paramverify.reports.pictures import comparison_plots, plot_style

ROOT = Path(__file__).parents[2]
CASES = ROOT / "cases"
TESTS = Path(__file__).parents[1] / "tools"
HOLDS = str(CASES / "geometric-neighbours.toml")  # 2 claims
VIOLATED = str(CASES / "geometric-contagious-ln2.toml")  # 2 claims, expected to be violated
MIXED = str(CASES / "noisy-max-naive-3-ln2.toml")  # 3 claims, one of them violated
ENDLESS = str(CASES / "survey-memory-all.toml")
SOLVERS = "bernstein,z3,cvc5"


def compare(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = run(["compare", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def read(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]


@pytest.fixture
def _undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves the pictures of a comparison away, which take longer than a small comparison itself."""
    monkeypatch.setattr(plot_style, "available", lambda: False)


# --- one comparison and its files -------------------------------------------------------------------


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A comparison of two cases and a script, made twice over."""
    folder = tmp_path_factory.mktemp("made")
    script = folder / "square.smt2"
    script.write_text(SQUARE)
    arguments = ["compare", MIXED, HOLDS, str(script), "--backends", SOLVERS, "--timeout", "1"]
    assert run([*arguments, "--repeat", "2", "-o", str(folder)]) == 0
    return folder


SQUARE = """; a script (of others
(set-info :source |brackets ( and "quotes|)
(set-info :status unsat)
(set-logic QF_NRA)
(declare-fun x () Real)
(assert (< (* x x) 0))
(check-sat)
(exit)
"""


@pytest.mark.slow
def test_every_attempt_is_recorded(made: Path) -> None:
    """There is one line for each backend, simplification, claim and repetition, with all facts."""
    records = read(made)
    # Built-ins run once, solvers twice on each of 3 + 2 claims, and once on the script.
    assert len(records) == 2 * ((3 + 2) * (1 + 2 + 2) + 2)
    assert len({identity(record) for record in records}) == len(records)
    z3 = next(r for r in records if r["backend"] == "z3" and r["simplification"] == "off")
    assert (z3["case"], z3["claim"], z3["encoding"]) == ("noisy-max-naive-3-ln2", 1, "sequences")
    assert z3["digest"] == sequence_claims(load(MIXED).model)[0].digest()
    assert z3["version"]
    assert z3["machine"]["cores"] == os.cpu_count()
    assert z3["machine"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert z3["timeout"] == 1
    for record in records:
        assert record["status"] in ("holds", "violated", "unknown")
        assert record["wall"] > 0
        assert record["cpu"] > 0
        assert record["memory"] > 1 << 20
    cvc5 = next(r for r in records if r["backend"] == "cvc5")
    assert cvc5["options"] == {"nl-cov": "false", "nl-ext": "full"}


@pytest.mark.slow
def test_evidence_is_named(made: Path) -> None:
    """Built-in proofs have certificates that were replayed, refutations witnesses, solvers their word."""
    records = read(made)
    evidence = {
        (r["backend"], r["simplification"], r["status"]): r["evidence"]
        for r in records
        if r["encoding"] == "sequences" and r["status"] != "unknown"
    }
    assert evidence["bernstein", "on", "holds"] == "certificate"
    assert evidence["bernstein", "on", "violated"] == "witness"
    assert evidence["z3", "off", "holds"] == "word"
    assert evidence["z3", "off", "violated"] == "witness"
    refuted = next(r for r in records if r["evidence"] == "witness")
    claim = sequence_claims(load(MIXED).model)[refuted["claim"] - 1]
    point = {name: Fraction(value) for name, value in refuted["witness"].items()}
    assert not claim.holds_at(point)
    assert point in claim.domain
    scripts = [r for r in records if r["encoding"] == "script"]
    assert {(r["backend"], r["status"], r["evidence"], r["known"]) for r in scripts} == {
        ("z3", "holds", "word", "holds"),
        ("cvc5", "holds", "word", "holds"),
    }


@pytest.mark.slow
def test_summary(made: Path) -> None:
    """The summary counts, scores and compares; its virtual best is at least as good as everybody."""
    document = json.loads((made / "summary.json").read_text())
    assert document["attempts"] == len(read(made))
    assert document["repeat"] == 2
    rows = {(r["encoding"], r["backend"], r["simplification"]): r for r in document["configurations"]}
    best = {r["encoding"]: r for r in document["virtual_best"]}
    gone = {r["encoding"]: r["settled"] for r in document["simplification"]}
    assert {r["encoding"]: r["claims"] for r in document["simplification"]} == {"sequences": 5, "script": 1}
    assert 0 < gone["sequences"] < 5
    assert rows["sequences", "bernstein", "on"]["solved"] == 5 - gone["sequences"]
    assert rows["script", "z3", "off"]["solved"] == 1
    for (encoding, _, simplified), row in rows.items():
        everything = 5 if encoding == "sequences" else 1
        assert row["claims"] == everything - (gone[encoding] if simplified == "on" else 0)
        if simplified == "on":
            assert best[encoding]["par2"] <= row["par2"]
            assert best[encoding]["solved"] >= row["solved"]
    assert not document["disagreements"]
    assert not document["wrong"]
    skipped = {s["what"]: s["reason"] for s in document["skipped"]}
    assert "read claims, not SMT-LIB scripts" in skipped["bernstein on scripts"]
    assert "simplifies by itself" in skipped["bernstein without simplification"]


@pytest.mark.slow
def test_simplification_is_credited_to_nobody(made: Path) -> None:
    """A claim that no backend was asked about is no merit of one: not in scores, contributions and plots."""
    document = json.loads((made / "summary.json").read_text())
    records = [r for r in read(made) if r["encoding"] == "sequences"]
    gone = {(r["case"], r["claim"]) for r in records if not r["asked"]}
    (settled,) = (r["settled"] for r in document["simplification"] if r["encoding"] == "sequences")
    assert len(gone) == settled
    # What holds by simplification has a certificate, whichever backend stood behind it; so it is for all.
    for r in records:
        if (r["case"], r["claim"]) in gone and r["simplification"] == "on":
            assert (r["status"], r["evidence"], r["asked"]) == ("holds", "certificate", False)
        if r["simplification"] == "off":
            assert r["asked"]
    parts = [c for c in document["contributions"] if c["encoding"] == "sequences"]
    assert sum(part["fastest"] for part in parts) <= 5 - settled
    told = "\n".join(lines(document))
    few = f"{settled} of them were settled by simplification: they count only in rows without it, and not for"
    assert few in told
    asked = {(row["backend"], row["simplification"]): row["claims"] for row in document["configurations"]}
    assert asked["z3", "off"] == 5
    assert asked["z3", "on"] == document["virtual_best"][0]["claims"] == 5 - settled
    with (made / "results.csv").open(newline="") as file:
        assert sum(row["asked"] == "False" for row in csv.DictReader(file)) == sum(
            not r["asked"] for r in records
        )
    tree = ElementTree.parse(made / "scatter-simplification-sequences.svg")
    groups = [g for g in tree.iter("{http://www.w3.org/2000/svg}g") if "PathCollection" in g.get("id", "")]
    drawn = [len(list(group.iter("{http://www.w3.org/2000/svg}use"))) for group in groups]
    assert drawn[:2] == [5 - settled] * 2  # z3 and cvc5


@pytest.mark.slow
@pytest.mark.usefixtures("_undrawn")
def test_nothing_is_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where simplification settles all claims, there are no scores to be had."""
    code, out, _ = compare(capsys, HOLDS, "--backends", "bernstein,z3", "-o", tmp_path, "--json")
    document = json.loads(out)
    assert code == 0
    assert document == json.loads((tmp_path / "summary.json").read_text())
    assert document["simplification"] == [{"encoding": "sequences", "claims": 2, "settled": 2}]
    assert document["virtual_best"][0]["par2"] is None
    assert document["contributions"] == []
    assert document["encodings"][0]["status"] == "holds"
    assert "2 of them were settled by simplification" in "\n".join(lines(document))


@pytest.mark.slow
@pytest.mark.usefixtures("_undrawn")
def test_raw_claims_count_for_everybody(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With --raw solvers are asked without simplification in front of them, and all claims have scores."""
    code, out, _ = compare(capsys, HOLDS, "--backends", "bernstein,z3", "-o", tmp_path, "--raw", "--json")
    document = json.loads(out)
    assert code == 0
    assert {(r["backend"], r["simplification"]) for r in read(tmp_path)} == {
        ("bernstein", "on"),
        ("z3", "off"),
    }
    assert document["raw"]
    assert document["complete"]
    assert document["skipped"] == []
    assert document["simplification"] == [{"encoding": "sequences", "claims": 2, "settled": 0}]
    assert [row["claims"] for row in document["configurations"]] == [2, 2]
    assert [row["solved"] for row in document["configurations"]] == [2, 2]
    assert document["virtual_best"][0]["solved"] == 2
    assert sum(part["fastest"] for part in document["contributions"]) == 2
    told = "\n".join(lines(document))
    assert "solvers are asked about claims as they are" in told
    assert "settled by simplification" not in told
    # The attempts are those of a comparison with both, which need not make them again.
    _, _, err = compare(capsys, HOLDS, "--backends", "bernstein,z3", "-o", tmp_path, "--json")
    assert "4 of 6 attempts have results" in err


@pytest.mark.slow
@pytest.mark.usefixtures("_undrawn")
def test_work_is_announced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it starts, a comparison says how much there is to do, and from time to time how much is done."""
    arguments = [HOLDS, "--backends", "bernstein", "--timeout", "20", "-o", tmp_path]
    _, _, err = compare(capsys, *arguments)
    assert err == "2 attempts to make, which takes at most 1 min\n"
    monkeypatch.setattr(importlib.import_module("paramverify.cli.compare"), "EVERY", 0.0)
    _, _, err = compare(capsys, *arguments, "--repeat", "2")
    first, second, third, *_ = err.splitlines()
    assert first.startswith("2 of 4 attempts have results in ")
    assert second == "2 attempts to make, which takes at most 1 min"
    assert re.fullmatch(r"2 of 4 attempts made, ≈ \d+ s left", third)


@pytest.mark.slow
def test_csv(made: Path) -> None:
    """The CSV file has a row for each attempt, with the same values."""
    with (made / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    records = read(made)
    assert len(rows) == len(records)
    assert {(r["case"], r["backend"], r["status"]) for r in rows} == {
        (r["case"], r["backend"], r["status"]) for r in records
    }
    assert any(row["options"] == "nl-cov=false nl-ext=full" for row in rows)


@pytest.mark.slow
def test_plots(made: Path) -> None:
    """Each plot is there as SVG with curves or points in it, and as PNG that is not one colour."""
    names = {p.stem for p in made.glob("*.svg")}
    assert names == {p.stem for p in made.glob("*.png")} == {p.stem for p in made.glob("*.pdf")}
    assert names == {
        "cactus-sequences",
        "cactus-script",
        "scatter-sequences",
        "scatter-script",
        "scatter-simplification-sequences",
    }
    for name in names:
        tree = ElementTree.parse(made / f"{name}.svg")
        assert tree.getroot().tag == "{http://www.w3.org/2000/svg}svg"
        assert len(list(tree.iter("{http://www.w3.org/2000/svg}path"))) > 5
        picture = imread(made / f"{name}.png")
        assert min(picture.shape[:2]) > 300
        assert picture.std() > 0.02
    text = (made / "cactus-sequences.svg").read_text()
    (gone,) = (
        r["settled"]
        for r in json.loads((made / "summary.json").read_text())["simplification"]
        if r["encoding"] == "sequences"
    )
    left = 5 - gone
    for label in (f"virtual best ({left})", f"bernstein ({left})", "cvc5, not simplified", f"({gone} more"):
        assert label in text


@pytest.mark.slow
def test_the_same_again_does_nothing(
    made: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same command makes no attempt again, and says that results are there; without --json in tables."""
    monkeypatch.setattr(comparison_plots, "FORMATS", ("svg",))
    before = (made / "results.jsonl").read_bytes()
    arguments = [MIXED, HOLDS, made / "square.smt2", "--backends", SOLVERS, "--timeout", "1", "--repeat", "2"]
    code, out, err = compare(capsys, *arguments, "-o", made)
    assert code == 0
    assert (made / "results.jsonl").read_bytes() == before
    count = len(before.splitlines())
    assert err.splitlines() == [line for line in err.splitlines() if "attempts have results" in line]
    assert f"{count} of {count} attempts have results" in err
    for text in (
        "sequences: 5 claims, at most 1 s",
        "virtual best",
        "contributes",
        "Left out:",
        "cactus-seq",
    ):
        assert text in out


@pytest.mark.slow
@pytest.mark.usefixtures("_undrawn")
def test_another_limit_is_another_attempt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With another time limit all attempts are made again; earlier results stay, and are not mixed in."""
    for timeout in (3, 4):
        code, out, _ = compare(
            capsys, HOLDS, "--backends", "bernstein", "--timeout", timeout, "-o", tmp_path, "--json"
        )
        assert code == 0
        assert json.loads(out)["attempts"] == 2
    assert [r["timeout"] for r in read(tmp_path)] == [3, 3, 4, 4]


@pytest.mark.slow
def test_without_matplotlib(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without matplotlib one line says how to get it, and everything else is there."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, _ = compare(capsys, HOLDS, "--backends", "bernstein", "-o", tmp_path)
    assert code == 0
    assert f"No plots: matplotlib is missing; to get it: {plot_style.INSTALL}" in out.splitlines()
    names = {"results.jsonl", "results.csv", "summary.json", "benchexec", "table-sequences.csv"}
    assert {p.name for p in tmp_path.iterdir()} == names | {"cactus-sequences.csv", "scatter-sequences.csv"}


# --- interruption -----------------------------------------------------------------------------------


def start(folder: Path, *more: str, **streams: Any) -> subprocess.Popen[bytes]:
    """Starts a comparison that takes some seconds."""
    command = [sys.executable, "-m", "paramverify", *slow_arguments(folder), *more]
    path = f"{TESTS}{os.pathsep}{ROOT}"
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path}, **streams)


def slow_arguments(folder: Path) -> list[str]:
    cases = [HOLDS, str(CASES / "geometric-independent.toml")]
    return ["compare", *cases, "--backends", "bernstein,lying_backends:SLOW", "-o", str(folder)]


ATTEMPTS = (2 + 6) * 3


def wait_for(folder: Path, count: int) -> None:
    until = time.monotonic() + 60
    path = folder / "results.jsonl"
    while time.monotonic() < until:
        if path.exists() and path.read_bytes().count(b"\n") >= count:
            return
        time.sleep(0.01)
    raise AssertionError("no results came")


@pytest.mark.slow
@pytest.mark.usefixtures("_undrawn")
def test_killed_halfway(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """After SIGKILL, and with half a line at the end, a second run repeats no finished attempt."""
    process = start(tmp_path)
    wait_for(tmp_path, 5)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    path = tmp_path / "results.jsonl"
    kept = path.read_bytes()
    kept = kept[: kept.rfind(b"\n") + 1]
    done = kept.count(b"\n")
    assert 5 <= done < ATTEMPTS
    path.write_bytes(kept + kept.splitlines()[0][:200])
    code, out, err = compare(capsys, *slow_arguments(tmp_path)[1:], "--json")
    assert code == 0
    assert f"{done} of {ATTEMPTS} attempts have results" in err
    assert path.read_bytes().startswith(kept)
    records = read(tmp_path)
    assert len(records) == len({identity(r) for r in records}) == ATTEMPTS
    assert json.loads(out)["attempts"] == ATTEMPTS


@pytest.mark.slow
def test_ctrl_c(tmp_path: Path) -> None:
    """Ctrl-C ends with code 130, keeps the results, says so, and compares what is complete.

    The progress is told on a terminal.
    """
    ours, theirs = pty.openpty()
    process = start(tmp_path, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    wait_for(tmp_path, 5)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert process.stdout
    told = process.stdout.read().decode()
    process.stdout.close()
    said = b""
    try:
        while data := os.read(ours, 1 << 16):
            said += data
    except OSError:  # the terminal has no other end any more
        pass
    os.close(ours)
    done = len(read(tmp_path))
    assert told.startswith("Interrupted: what follows is about the claims of which every attempt was made.")
    document = json.loads((tmp_path / "summary.json").read_text())
    assert not document["complete"]
    claims = done // 3  # three attempts are made of a claim before the next one
    assert document["attempts"] == 3 * claims
    assert f"sequences: {claims} claim" in told
    assert f"interrupted: {done} of {ATTEMPTS} results are saved in".encode() in said.replace(b"\r\n", b" ")
    assert b"s left" in said


@pytest.mark.slow
@pytest.mark.usefixtures("_undrawn")
def test_a_damaged_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A damaged last line is dropped; one in the middle is an error that names it, and nothing is changed."""
    arguments = [HOLDS, "--backends", "bernstein", "-o", tmp_path]
    assert compare(capsys, *arguments)[0] == 0
    path = tmp_path / "results.jsonl"
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + b"\0\0\0\n")
    assert compare(capsys, *arguments)[0] == 0
    assert path.read_bytes().startswith(first)
    assert [r["claim"] for r in read(tmp_path)] == [1, 2]
    damaged = b"{}\n" + second
    path.write_bytes(damaged)
    code, _, err = compare(capsys, *arguments)
    assert code == 2
    assert "line 1 is not a result of a comparison" in err
    assert path.read_bytes() == damaged


@pytest.mark.slow
def test_one_comparison_at_a_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second comparison that writes to the same folder is refused while the first one runs."""
    monkeypatch.setattr(comparison_results, "LOCK_TRIES", 3)
    process = start(
        tmp_path, "--repeat", "50", stdout=subprocess.DEVNULL
    )  # longer than the lock is waited for
    try:
        wait_for(tmp_path, 1)
        code, _, err = compare(capsys, HOLDS, "--backends", "bernstein", "-o", tmp_path)
    finally:
        process.kill()
        process.wait()
    assert code == 2
    assert "another comparison is writing to this file" in err


# --- lies -------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.usefixtures("_undrawn")
def test_a_disagreement_is_loud(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A backend that proves a violated claim contradicts the witness of another: exit code 1, and in red."""
    arguments = [VIOLATED, "--backends", "z3,lying_backends:PROVES_ALL", "-o", tmp_path]
    code, out, err = compare(capsys, *arguments, "--json")
    document = json.loads(out)
    assert (code, list(mistakes(document, "compare", "compare"))) == (1, [])
    assert "DISAGREEMENT on geometric-contagious-ln2, claim" in err
    assert "WRONG ANSWER" in err
    assert "known: false (witness)" in err
    for entry in document["disagreements"]:
        assert all("z3" in who for who in entry["violated"])
        assert all("PROVES_ALL" in who for who in entry["holds"])
    assert document["disagreements"]
    assert {"PROVES_ALL" in w["backend"] for w in document["wrong"]} == {True}
    liar = [r for r in document["configurations"] if "PROVES_ALL" in r["backend"]]
    assert all(r["wrong"] == len(document["disagreements"]) for r in liar)
    assert all(r["solved"] + r["wrong"] == r["claims"] for r in liar)


@pytest.mark.slow
@pytest.mark.usefixtures("_undrawn")
def test_a_lie_against_the_expectation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where everybody says that all claims of a case hold that is expected to be violated, that is wrong."""
    code, _, err = compare(capsys, VIOLATED, "--backends", "lying_backends:PROVES_ALL", "-o", tmp_path)
    assert code == 1
    assert "known: not private (expected)" in err


@pytest.mark.slow
@pytest.mark.usefixtures("_undrawn")
def test_a_forged_certificate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A certificate that the checker rejects is no evidence, and an alarm."""
    case = tmp_path / "touching.toml"
    case.write_text(TOUCHING)
    code, out, err = compare(capsys, case, "--backends", "lying_backends:FORGES", "-o", tmp_path, "--json")
    assert code == 1
    assert "a certificate that the checker rejects" in err
    assert {r["evidence"] for r in read(tmp_path)} == {"rejected"}
    assert json.loads(out)["configurations"][0]["solved"] == 0


@pytest.mark.slow
@pytest.mark.usefixtures("_undrawn")
def test_a_false_refutation_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A refutation that fails exact evaluation is no answer; of a claim that holds it is wrong."""
    code, out, err = compare(
        capsys, HOLDS, "--backends", "lying_backends:REFUTES_ALL", "-o", tmp_path, "--json"
    )
    assert code == 1
    assert "said false, without a point that shows it; known: true (certificate)" in err
    rows = json.loads(out)["configurations"]
    wrong = json.loads(out)["wrong"]
    assert sum(row["wrong"] for row in rows) == len(wrong) > 0
    assert all(
        row["claims"] == sum(row[name] for name in ("solved", "wrong", "gave_up", "crashed")) for row in rows
    )
    raw = [r for r in read(tmp_path) if r["simplification"] == "off"]
    assert {(r["status"], r["end"]) for r in raw} == {("unknown", "gave up")}
    assert "fails exact evaluation" in raw[0]["detail"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("says", "models"),
    [("echo sat", "false"), ("echo 'sat ((p))'", "true"), ("exit 3", "true")],
)
@pytest.mark.usefixtures("_undrawn")
def test_a_false_sat_of_a_solver_without_models(
    says: str,
    models: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A `sat` about a claim that is proved is wrong, also where no model can be read."""
    program = tmp_path / "s"
    program.write_text(f"#!/bin/sh\ncat >/dev/null\n{says}\n")
    program.chmod(0o755)
    config = tmp_path / "solvers.toml"
    config.write_text(f'[solvers.s]\ncommand = ["{program}"]\nmodels = {models}\n')
    monkeypatch.setenv("PARAMVERIFY_CONFIG", str(config))
    code, _, err = compare(capsys, HOLDS, "--backends", "s", "-o", tmp_path / "out")
    assert (code, "WRONG ANSWER" in err) == ((0, False) if "exit" in says else (1, True))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["NOTHING", "NO_JSON"])
@pytest.mark.usefixtures("_undrawn")
def test_a_mistake_of_a_backend_is_told_in_words(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An answer that has no form is no answer, and the result says what is wrong with it."""
    compare(capsys, HOLDS, "--backends", f"lying_backends:{name}", "-o", tmp_path)
    raw = [r for r in read(tmp_path) if r["simplification"] == "off"]
    assert {r["end"] for r in raw} == {"crashed"}
    assert all("a mistake in this backend" in r["detail"] for r in raw)


# --- scripts ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.usefixtures("_undrawn")
def test_exported_scripts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Scripts of ours, as they are, get the answers of the claims; a folder stands for its files."""
    scripts = tmp_path / "scripts"
    assert run(["export", VIOLATED, "--to", "smtlib2", "-o", str(scripts)]) == 0
    capsys.readouterr()
    arguments = [scripts, VIOLATED, "--backends", "z3,cvc5-cov,yices", "-o", tmp_path]
    code, out, _ = compare(capsys, *arguments, "--json")
    assert code == 0
    assert json.loads(out)["disagreements"] == []
    records = read(tmp_path)
    claims = {(r["claim"], r["status"]) for r in records if r["encoding"] == "sequences"}
    for backend in ("z3", "cvc5-cov", "yices"):
        found = [r for r in records if r["encoding"] == "script" and r["backend"] == backend]
        answers = {(int(r["case"].removesuffix(".smt2").rpartition("-")[2]), r["status"]) for r in found}
        assert answers == claims
        assert {r["evidence"] for r in found} == {"word"}


@pytest.mark.slow
@pytest.mark.usefixtures("_undrawn")
def test_a_wrong_status_in_a_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Answers that contradict the status of a script are alarming, whoever is wrong."""
    script = tmp_path / "square.smt2"
    script.write_text(SQUARE.replace("unsat", "sat"))
    code, _, err = compare(capsys, script, "--backends", "z3", "-o", tmp_path)
    assert code == 1
    assert "WRONG ANSWER on square.smt2" in err


@pytest.mark.slow
@pytest.mark.usefixtures("_undrawn")
def test_commands_that_only_print(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A model that is asked for after unsat, options, and levels do not keep solvers from their answers."""
    script = tmp_path / "late.smt2"
    printing = '(get-model)\n(get-info :reason-unknown)\n(echo "done")\n(exit)'
    levels = SQUARE.replace("(assert", "(set-option :print-success true)\n(push 2)(pop 1)\n(assert")
    script.write_text(levels.replace("(exit)", printing))
    code, _, _ = compare(capsys, script, "--backends", "z3,cvc5,yices", "-o", tmp_path)
    assert code == 0
    assert {(r["backend"], r["status"]) for r in read(tmp_path)} == {
        ("z3", "holds"),
        ("cvc5", "holds"),
        ("yices", "holds"),
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (SQUARE.replace("QF_NRA", "QF_UF"), "the logic QF_UF is not supported: functions are not supported"),
        (
            SQUARE.replace("QF_NRA", "QF_NIRA"),
            "the logic QF_NIRA is not supported: whole numbers are not supported",
        ),
        (SQUARE.replace("(check-sat)", ""), "the script has no (check-sat)"),
        (SQUARE.replace("(check-sat)", "(check-sat-assuming (a))"), "check-sat-assuming is not supported"),
        (SQUARE.replace("(exit)", "(exit"), "the brackets do not match"),
        (SQUARE.replace("(check-sat)", "(check-sat))"), "the brackets do not match"),
    ],
)
def test_scripts_that_are_refused(
    text: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A script that is not about reals alone is left out with the reason; so nothing is left to compare."""
    script = tmp_path / "bad.smt2"
    script.write_text(text)
    code, _, err = compare(capsys, script, "--backends", "z3", "-o", tmp_path / "new")
    assert code == 2
    assert reason in err
    assert not (tmp_path / "new").exists()


# --- encodings --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.usefixtures("_undrawn")
def test_encodings_side_by_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each encoding says of each case what the case expects; what one cannot express is left out and told."""
    short = tmp_path / "above-threshold-prior.toml"
    short.write_text((CASES / short.name).read_text().replace('"1..4"', "1"))
    names = ["geometric-contagious-ln2", "randomized-response", "discrete-laplace", "survey-memory-all"]
    files = [short, *(CASES / f"{name}.toml" for name in names)]
    arguments = [*files, "--encodings", "sequences,cone,monolithic", "--backends", "bernstein,z3"]
    code, out, _ = compare(capsys, *arguments, "-o", tmp_path, "--json")
    document = json.loads(out)
    assert code == 0
    status = {(row["case"], row["encoding"]): row["status"] for row in document["encodings"]}
    expected = {path.stem: load(path).expect["status"] for path in files[:-1]}
    assert {case for case, _ in status} == set(expected)
    assert all(status[case, encoding] == expected[case] for case, encoding in status)
    assert {encoding for case, encoding in status if case == "above-threshold-prior"} == {
        *("sequences", "cone", "monolithic")
    }
    skipped = {s["what"]: s["reason"] for s in document["skipped"]}
    assert "every length" in skipped["survey-memory-all"]
    assert "parametric transitions" in skipped["randomized-response, encoding cone"]
    assert "the constant E" in skipped["discrete-laplace, encoding monolithic"]
    # Formulas of the monolithic encoding are scripts: solvers only, as they are, in their own word.
    assert {
        (r["backend"], r["simplification"], r["evidence"])
        for r in read(tmp_path)
        if r["encoding"] == "monolithic"
    } == {("z3", "off", "word")}
    printed = lines(document)
    assert any(line.startswith("case") and "deciding s" in line for line in printed)
    assert any(line.split()[:3] == [names[0], "cone", "not"] for line in printed)


def test_encodings_that_contradict_each_other() -> None:
    """Where one encoding has a violated claim, another that holds throughout is told to be wrong."""
    records = [
        result("z3", 1, "violated", encoding="monolithic", digest="m1"),
        result("z3", 2, "holds", encoding="monolithic", digest="m2"),
        result("z3", 1, "holds", evidence="certificate"),
    ]
    encoded = [Encoded("made", "monolithic", 2, 0.0, None), Encoded("made", "sequences", 1, 0.0, None)]
    judgement = judge(records, {}, encoded)
    assert [(w["encoding"], w["known"]) for w in judgement.wrong] == [
        ("sequences", "violated (encoding monolithic)")
    ]
    rows = summary(ComparisonSummary.of(records, Subjects(encoded=encoded), [], 10))["encodings"]
    assert [(row["encoding"], row["status"], row["deciding"]) for row in rows] == [
        ("monolithic", "violated", 1),
        ("sequences", "holds", 1),
    ]
    records[2] |= {"status": "unknown", "evidence": None}
    assert not judge(records, {}, encoded).alarming


# --- bad input --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([HOLDS, "--backends", "z4"], "unknown backend 'z4'"),
        (
            [HOLDS, "--backends", "lying_backends:MISSING"],
            "is not installed; to get it: pip install stand-in",
        ),
        ([HOLDS, "--backends", ","], "--backends names nothing: give at least one name"),
        ([HOLDS, "--encodings", "haiku"], "unknown encoding 'haiku'; choose from sequences, all-sets, cone,"),
        ([ENDLESS], "the case is about every length"),
        ([HOLDS, "--timeout", "0"], "timeout"),
        ([HOLDS, "--repeat", "0"], "repeat"),
        (["nowhere.toml"], "nowhere.toml"),
        ([str(TESTS)], "this folder has no .toml and no .smt2 file"),
        ([], "CASES"),
    ],
)
def test_bad_input(
    arguments: list[str], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A mistake ends with code 2 and its reason, before anything is written."""
    code, out, err = compare(capsys, *arguments, "-o", tmp_path / "new")
    assert code == 2
    assert out == ""
    assert reason in err
    assert not (tmp_path / "new").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("_undrawn")
def test_same_names_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two files of one name would be mixed up; the same file twice counts once."""
    copy = tmp_path / Path(HOLDS).name
    copy.write_bytes(Path(HOLDS).read_bytes())
    code, _, err = compare(capsys, HOLDS, copy, "--backends", "bernstein", "-o", tmp_path / "new")
    assert code == 2
    assert "has the same name" in err
    code, out, _ = compare(capsys, HOLDS, HOLDS, "--backends", "bernstein", "-o", tmp_path / "new", "--json")
    assert code == 0
    assert json.loads(out)["attempts"] == 2


# --- what is made of results ------------------------------------------------------------------------


def result(backend: str, claim: int, status: str, wall: float = 1.0, **more: Any) -> dict[str, Any]:
    """A result that was not measured."""
    record: dict[str, Any] = dict.fromkeys(IDENTITY, "")
    record |= {"case": "made", "encoding": "sequences", "claim": claim, "digest": f"d{claim}"}
    record |= {"backend": backend, "version": "1", "options": {}, "simplification": "on", "repeat": 1}
    record |= {"status": status, "end": "timeout" if status == "unknown" else "decided", "detail": ""}
    record |= {"evidence": None if status == "unknown" else "word", "known": None}
    record |= {"wall": wall, "cpu": wall, "memory": 1 << 20}
    return record | more


def test_scores_by_hand() -> None:
    """PAR-2, solved counts, virtual best and contributions are what one computes by hand."""
    records = [
        *(result("z3", 1, "holds", 1), result("z3", 2, "holds", 4), result("z3", 3, "unknown", 10)),
        *(result("cvc5", 1, "holds", 3), result("cvc5", 2, "unknown", 10), result("cvc5", 3, "unknown", 10)),
    ]
    document = summary(ComparisonSummary.of(records, Subjects(), [], 10))
    rows = {row["backend"]: row for row in document["configurations"]}
    assert rows["z3"]["par2"] == pytest.approx((1 + 4 + 20) / 3, abs=1e-6)
    assert rows["cvc5"]["par2"] == pytest.approx((3 + 20 + 20) / 3, abs=1e-6)
    assert (rows["z3"]["solved"], rows["z3"]["timeout"], rows["z3"]["wall"]) == (2, 1, 15)
    (best,) = document["virtual_best"]
    assert best["par2"] == rows["z3"]["par2"]
    parts = {part["backend"]: part for part in document["contributions"]}
    assert (parts["z3"]["fastest"], parts["z3"]["only"]) == (2, 1)
    assert parts["z3"]["par2_loss"] == pytest.approx((2 + 16) / 3, abs=1e-6)
    assert (parts["cvc5"]["fastest"], parts["cvc5"]["only"], parts["cvc5"]["par2_loss"]) == (0, 0, 0)
    assert document["unsolved"] == [{"case": "made", "encoding": "sequences", "claim": 3}]
    assert "Solved by no backend: made 3" in lines(document)


def test_the_median_counts() -> None:
    """Of repetitions the median run counts, and unsolved ones are the slowest."""
    runs = [
        result("z3", 1, "holds", 5, repeat=1),
        result("z3", 1, "unknown", 10, repeat=2),
        result("z3", 1, "holds", 2, repeat=3),
    ]
    (row,) = summary(ComparisonSummary.of(runs, Subjects(), [], 10))["configurations"]
    assert (row["claims"], row["solved"], row["par2"], row["wall"]) == (1, 1, 5, 5)


def test_wrong_answers_are_not_solved() -> None:
    """A wrong answer counts like no answer at all, and not for the virtual best either."""
    records = [result("z3", 1, "holds", 1), result("cvc5", 1, "violated", 3, evidence="witness")]
    made = ComparisonSummary.of(records, Subjects(), [], 10)
    rows = {row["backend"]: row for row in summary(made)["configurations"]}
    assert (rows["z3"]["solved"], rows["z3"]["wrong"], rows["z3"]["par2"]) == (0, 1, 20)
    assert summary(made)["virtual_best"][0]["par2"] == 3
    assert len(alarm(made.judgement)) == 2


def test_the_word_of_a_liar_counts_nowhere() -> None:
    """A backend that was wrong once solves nothing by its word, unless something else shows the same."""
    records = [
        *(result("liar", 1, "holds"), result("z3", 1, "violated", 3, evidence="witness")),
        *(result("liar", 2, "holds"), result("z3", 2, "unknown", 10)),
        *(result("liar", 3, "holds"), result("z3", 3, "holds", 2, evidence="certificate")),
        *(result("liar", 4, "holds", evidence="certificate"), result("z3", 4, "unknown", 10)),
    ]
    document = summary(ComparisonSummary.of(records, Subjects(), [], 10))
    rows = {row["backend"]: row for row in document["configurations"]}
    assert (rows["liar"]["solved"], rows["liar"]["wrong"], rows["liar"]["unconfirmed"]) == (2, 1, 1)
    assert (rows["z3"]["solved"], rows["z3"]["unconfirmed"]) == (2, 0)
    assert document["unsolved"] == [{"case": "made", "encoding": "sequences", "claim": 2}]
    (liar,) = (part for part in document["contributions"] if part["backend"] == "liar")
    assert [place["claim"] for place in liar["alone"]] == [4]
    assert "unconfirmed" in "\n".join(lines(document))


def test_evidence_beats_expectations() -> None:
    """What is shown is known, whatever a case expects, and the contradiction is told."""
    records = [result("bernstein", 1, "holds", evidence="certificate")]
    judgement = judge(records, {"d1": "violated"}, [Encoded("made", "sequences", 1, 0.0, "violated")])
    assert judgement.known == {"d1": ("holds", "certificate")}
    assert [entry["known"] for entry in judgement.wrong] == ["violated (expected)"]
    assert judgement.alarming


def test_witness_against_certificate() -> None:
    """A witness and a certificate for the same claim are a disagreement: one of them is our defect."""
    records = [
        result("bernstein", 1, "holds", evidence="certificate"),
        result("z3", 1, "violated", evidence="witness"),
    ]
    assert len(judge(records, {}, []).disagreements) == 1


def test_the_estimate() -> None:
    """What is left is estimated by the mean of the same configuration, or of all where it is new."""
    estimate = RemainingTime()
    slow, fast, new = (("sequences", name, "on") for name in ("slow", "fast", "new"))
    estimate.left |= {slow: 2, fast: 10, new: 1}
    assert estimate.seconds() is None
    for configuration, seconds in ((slow, 9.0), (slow, 11.0), (fast, 1.0)):
        estimate.note(configuration, seconds)
    assert estimate.seconds() == pytest.approx(2 * 10 + 10 * 1 + 7)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "≈ 1 s"), (89, "≈ 89 s"), (720, "≈ 12 min"), (12600, "≈ 3.5 h")],
)
def test_durations(seconds: float, text: str) -> None:
    """Times that are left are told roughly."""
    assert duration(seconds) == text


@pytest.mark.slow
def test_a_comparison_in_python(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`paramverify.compare` finds what the command finds, and goes on from results that are kept."""
    monkeypatch.setattr(comparison_plots, "FORMATS", ("svg",))
    results = tmp_path / "results"
    results.mkdir()
    (results / "results.jsonl").write_bytes((made / "results.jsonl").read_bytes())
    files = [MIXED, Path(HOLDS), made / "square.smt2"]
    asked: dict[str, Any] = {"backends": SOLVERS.split(","), "timeout": 1, "repeat": 2}
    found = paramverify.compare(files, **asked, output=results)
    assert (results / "results.jsonl").read_bytes() == (made / "results.jsonl").read_bytes()
    one, other = found.to_dict(), json.loads((made / "summary.json").read_text())
    for timed in ("cases", "encodings"):  # which have the seconds of this reading
        assert len(one.pop(timed)) == len(other.pop(timed))
    assert {*one.pop("plots")} <= {*other.pop("plots")}  # of which the other may have more formats
    assert one == other
    assert not found.alarming
    assert len(found.attempts) == len(read(made))
    assert "sequences: 5 claims, at most 1 s for each" in str(found).splitlines()
    assert found.figure().axes[0].get_xlabel().startswith("claims solved")
    with pytest.raises(InputError, match="give at most"):
        paramverify.compare(files, jobs=1000)
    with pytest.raises(InputError, match="unknown encoding 'no'"):
        paramverify.compare(MIXED, encodings="no")
    alone = paramverify.compare(made / "square.smt2", backends="z3", raw=True)
    assert [row["solved"] for row in alone.to_dict()["configurations"]] == [1]
