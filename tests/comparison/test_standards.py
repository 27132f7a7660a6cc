"""Comparisons in the forms of others, results of other tools, and several attempts at a time."""

from __future__ import annotations

import csv
import io
import json
import resource
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from paramverify.backends.smtlib_process import SmtLibProcess
from paramverify.cli.main import run
from paramverify.comparison import competition_formats
from paramverify.comparison.comparison_results import read_results
from paramverify.comparison.comparison_subjects import Subjects, read_subjects
from paramverify.comparison.comparison_summary import ComparisonSummary
from paramverify.errors import InputError
from paramverify.processes.attempts import Attempt, AttemptLimits, resolve
from paramverify.processes.runner import Runner
from paramverify.reports.comparison_files import write_tables
from paramverify.reports.pictures import plot_style
from paramverify.scripts.script_solutions import NO_CLAIM, run_script

SCRIPT = "(set-logic QF_NRA)(set-info :status {})(declare-const x Real)(assert (< (* x x) {}))(check-sat)"


@pytest.fixture
def subjects(tmp_path: Path) -> Subjects:
    """Three scripts: two with a status, one that states none."""
    for name, status, bound in (("a", "unsat", "0"), ("b", "sat", "1"), ("c", "unknown", "2")):
        (tmp_path / f"{name}.smt2").write_text(SCRIPT.format(status, bound))
    return read_subjects([str(tmp_path)], ())


def record(subjects: Subjects, case: str, backend: str, **more: Any) -> dict[str, Any]:
    about = next(s for s in subjects.subjects if s.case == f"{case}.smt2")
    decided = {
        "status": "unknown",
        "end": "timeout",
        "evidence": None,
        "wall": 10.0,
        "cpu": 9.0,
        "known": None,
    }
    own = {"case": about.case, "encoding": "script", "claim": 1, "digest": about.digest, "backend": backend}
    rest = {
        "version": "1",
        "options": {},
        "simplification": "off",
        "repeat": 1,
        "memory": 1000,
        "denies": False,
    }
    return own | rest | decided | {"machine": {}, "paramverify": "0", "memory_limit": 5, "asked": True} | more


def solved(status: str, wall: float, cpu: float, known: str | None) -> dict[str, Any]:
    return {"status": status, "end": "decided", "evidence": "word", "wall": wall, "cpu": cpu, "known": known}


@pytest.fixture
def compared(subjects: Subjects) -> ComparisonSummary:
    """One tool with a wrong answer and more answers; another one that needs several processors."""
    records = [
        record(subjects, "a", "bold", **solved("violated", 1, 1, "holds")),
        record(subjects, "b", "bold", **solved("violated", 1, 1, "violated")),
        record(subjects, "c", "bold", **solved("violated", 1, 1, None)),
        record(subjects, "a", "wide", **solved("holds", 4, 16, "holds")),
        record(subjects, "b", "wide"),
        record(subjects, "c", "wide", **solved("violated", 3, 2, None)),
    ]
    return ComparisonSummary.of(records, subjects, (), 10.0)


def test_scores_of_the_competition(compared: ComparisonSummary) -> None:
    """An error costs the place; the sequential score leaves out what needs too much processor time."""
    rows = competition_formats.smt_comp(compared)
    assert [row["backend"] for row in rows] == ["wide", "bold"]
    shown = [{k: row[k] for k in ("errors", "parallel", "parallel_seconds", "sequential")} for row in rows]
    assert shown == [
        {"errors": 0, "parallel": 2, "parallel_seconds": 7, "sequential": 1},
        {"errors": 1, "parallel": 2, "parallel_seconds": 2, "sequential": 2},
    ]
    assert [(row["sat"], row["unsat"], row["within_24"]) for row in rows] == [(1, 1, 2), (2, 0, 2)]


def test_files_of_benchexec(compared: ComparisonSummary) -> None:
    """The result files and the table say of each run what its record says, in the words of scripts."""
    (bold, wide) = compared.runs
    root = ElementTree.fromstring(competition_formats.result_xml(compared, bold).partition('.dtd">\n')[2])
    cells = {r.get("name"): {c.get("title"): c.get("value") for c in r} for r in root.iter("run")}
    assert [(n, c["status"], c["category"]) for n, c in cells.items()] == [
        ("a.smt2:1", "sat", "wrong"),
        ("b.smt2:1", "sat", "correct"),
        ("c.smt2:1", "sat", "unknown"),
    ]
    rows = list(csv.reader(io.StringIO(competition_formats.table(compared, "script")), delimiter="\t"))
    assert rows[0][1:] == ["bold"] * 5 + ["wide"] * 5
    assert rows[4][6:] == ["TIMEOUT", "error", "9.000000", "10.000000", "1000"]
    assert wide.backend == "wide"


def test_numbers_of_plots(compared: ComparisonSummary) -> None:
    """Curves rise, and what is not solved, or wrong, has no time."""
    data = competition_formats.plot_data(compared, "script")
    points = [row for row in csv.reader(io.StringIO(data["cactus"])) if row[0] == "bold"]
    assert points == [["bold", "1", "1.000000"], ["bold", "2", "1.000000"]]
    rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(data["scatter"]))}
    assert rows["problem"] == ["virtual best", "bold", "wide"]
    assert rows["a.smt2:1"] == ["4.000000", "", "4.000000"]


def test_results_of_other_tools(subjects: Subjects, tmp_path: Path) -> None:
    """Rows become records on the tool's word; an answer after the limit is none; mistakes have their line."""
    file = tmp_path / "others.csv"
    file.write_text("case,tool,status,wall\nx/a.smt2,foo,unsat,1\nb.smt2,foo,SAT,11\nz.smt2,foo,sat,1\n")
    records, skipped = read_results(file, subjects.subjects, 10.0, 5, ("z3",))
    assert [(r["case"], r["status"], r["end"], r["evidence"]) for r in records] == [
        ("a.smt2", "holds", "decided", "word"),
        ("b.smt2", "unknown", "timeout", None),
    ]
    assert [s.what for s in skipped] == ["1 row of others.csv"]
    for rows, reason in (
        ("case,status\n", "no column tool"),
        ("case,tool,status\na.smt2,z3,sat\n", "2: the tool 'z3' is the name of a backend"),
        ("case,tool,status,wall\na.smt2,f,sat,nan\n", "2: wall is 'nan'"),
        ("case,tool,status,claim\na.smt2,f,sat,one\n", "2: claim is 'one', which is not a number"),
        ("case,tool,status,claim\na.smt2,f,sat,1.5\n", "2: claim is '1.5', which is not a whole number"),
        (
            "case,tool,status,claim\na.smt2,f,sat,0\n",
            "2: claim is '0', which is not a whole number of at least 1",
        ),
        (f"case,tool,status\na.smt2,{'f' * 200_000},sat\n", "field larger than field limit"),
        ("case,tool,status,cpu\na.smt2,f,sat,x\n", "2: cpu is 'x', which is not a number"),
        ("case,tool,status,wall,cpu\na.smt2,f,sat,,\n", "2: an answer has no seconds: give wall or cpu"),
        ("case,tool,status\na.smt2,f,no\na.smt2,f,no\n", "3: a second result of f on a.smt2 1"),
    ):
        file.write_text(rows)
        with pytest.raises(InputError, match=reason):
            read_results(file, subjects.subjects, 10.0, 5, ("z3",))


def test_a_tool_has_one_result_of_a_question(subjects: Subjects, tmp_path: Path) -> None:
    """A second one in another file is a mistake; a script and a case of one name are two things."""
    file = tmp_path / "others.csv"
    file.write_text("case,tool,status,wall\na.smt2,foo,unsat,1\n")
    records, _ = read_results(file, subjects.subjects, 10.0, 5, ())
    with pytest.raises(InputError, match=r"2: a second result of foo on a\.smt2 1"):
        read_results(file, subjects.subjects, 10.0, 5, (), before=records)
    case = [replace(subjects.subjects[0], case="a")]
    assert read_results(file, case, 10.0, 5, ())[0] == []
    file.write_text("case,tool,status,wall\nx/a.toml,foo,unsat,1\na,bar,unsat,1\n")
    assert [r["backend"] for r in read_results(file, case, 10.0, 5, ())[0]] == ["foo", "bar"]


def test_files_that_state_the_contrary_of_each_other(subjects: Subjects) -> None:
    """Where two files state two things of one question, nobody is wrong by either, and that is told."""
    first, *others = subjects.subjects
    contrary = replace(first, case="other.smt2", expected="violated")
    both = Subjects([first, contrary, *others], subjects.encoded)
    records = [record(subjects, "a", "bold", **solved("holds", 1, 1, "holds"))]
    found = ComparisonSummary.of(records, both, (), 10.0)
    assert found.judgement.wrong == ()
    assert [s.what for s in found.skipped] == [f"what {n} says of number 1" for n in ("a.smt2", "other.smt2")]
    assert 'value="unknown"' in competition_formats.result_xml(found, next(iter(found.runs)))


def test_files_of_names_that_are_alike(subjects: Subjects, tmp_path: Path) -> None:
    """Each configuration has a file, also where names differ in signs alone."""
    names = ("z3(seed=1)", "z3(seed=-1)", "z3 seed 1 ")
    records = [record(subjects, "a", name, **solved("holds", 1, 1, "holds")) for name in names]
    write_tables(ComparisonSummary.of(records, subjects, (), 10.0), tmp_path, Path.write_text)
    files = (tmp_path / "benchexec").glob("*.results.xml")
    assert {ElementTree.parse(f).getroot().get("tool") for f in files} == set(names)


def test_options_of_z3_reach_scripts() -> None:
    """What Z3's solver calls an option has the name of a module before it in a script."""
    text = "(set-logic QF_NRA)(declare-const x Real)(assert (= (* x x) 2))(check-sat)"
    for option in ("random_seed", "smt.random_seed", "timeout"):
        assert run_script(resolve("z3"), text, {option: "100"}) == "sat\n"


@pytest.mark.parametrize(
    ("times", "wall", "cpu"), [("2,", 2.0, 2.0), (",3", 3.0, 3.0), ("2,3", 2.0, 3.0), ("2, ", 2.0, 2.0)]
)
def test_a_time_of_another_tool_is_never_taken_as_none(
    subjects: Subjects, tmp_path: Path, times: str, wall: float, cpu: float
) -> None:
    """Where one of both times is left out the other stands for it: no answer takes no time."""
    file = tmp_path / "others.csv"
    file.write_text(f"case,tool,status,wall,cpu\na.smt2,foo,unsat,{times}\nb.smt2,foo,timeout,,\n")
    records, _ = read_results(file, subjects.subjects, 10.0, 5, ("z3",))
    assert [(r["wall"], r["cpu"]) for r in records] == [(wall, cpu), (0.0, 0.0)]


class Burner:
    """A backend whose program computes until it is killed."""

    name, builtin, description, install = "burner", False, "", ""
    abilities = SmtLibProcess("x", ("x",), "", "").abilities

    def version(self) -> str:
        return "1"

    def decide(self, claim: object, options: object) -> object:
        from paramverify.backends.programs import run as run_program

        run_program([sys.executable, "-c", "while True: pass"], "")
        raise AssertionError


BURNER = Burner()


@pytest.mark.slow
def test_processor_time_of_a_killed_program() -> None:
    """What a program used until it was killed at the limit is counted, up to what has passed."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    with Runner() as runner:
        outcome = runner.trial(Attempt(f"{__name__}:BURNER", NO_CLAIM), AttemptLimits(1.5))
    own = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
    assert outcome.decision.seconds >= 1.5
    assert 0.1 < outcome.cpu < 3 + own


@pytest.mark.slow
@pytest.mark.usefixtures("subjects")
def test_jobs_and_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two attempts at a time give all results; tables have sat and unsat; what is not taken is left out."""
    monkeypatch.setattr(plot_style, "available", lambda: False)
    (tmp_path / "whole.smt2").write_text("(set-logic QF_NIRA)(check-sat)")
    out = tmp_path / "out"
    assert run(["compare", str(tmp_path), "--backends", "z3,cvc5-cov", "--jobs", "2", "-o", str(out)]) == 0
    said = capsys.readouterr().out
    assert "unsat  sat" in said
    assert "whole.smt2: line 1: the logic QF_NIRA is not supported: whole numbers are not supported" in said
    statuses = {
        (r["backend"], r["case"], r["status"])
        for r in map(json.loads, (out / "results.jsonl").read_text().splitlines())
    }
    names = {"a.smt2": "holds", "b.smt2": "violated", "c.smt2": "violated"}
    assert statuses == {(b, c, s) for b in ("z3", "cvc5-cov") for c, s in names.items()}
    assert len(list((out / "benchexec").glob("*.results.xml"))) == 2
