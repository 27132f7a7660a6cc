"""`--encoding monolithic`: the published algorithm as a choice of `verify` and `export`."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from z3 import Solver, sat, unsat

from paramverify.answers import Proved
from paramverify.cli.main import run
from paramverify.errors import InputError
from paramverify.models.model import Model
from paramverify.portfolio.session import Options
from paramverify.privacy import formula_verification
from paramverify.privacy.cases import load
from paramverify.privacy.formula_verification import verify_by_formulas
from paramverify.verdicts import Holds, Unknown, Violated

CASES = Path(__file__).parents[2] / "cases"
MONOLITHIC = ["--encoding", "monolithic"]


@pytest.mark.parametrize(
    ("name", "status", "formulas"),
    [
        ("geometric-neighbours", Holds, 4),
        ("geometric-contagious-ln2", Violated, None),
        ("geometric-contagious-ln4", Holds, 2),
        ("geometric-independent", Holds, 2),
        ("noisy-max-contagious", Violated, None),
        pytest.param("discrete-laplace", None, None, marks=pytest.mark.slow),
    ],
)
def test_verdicts_of_the_cases(name: str, status: type | None, formulas: int | None) -> None:
    """The verdict is the expected one, with an exact witness or the word of Z3 for each formula."""
    case = load(CASES / f"{name}.toml")
    report = verify_by_formulas(case, Options(seconds=30))
    assert isinstance(report.verdict, status or {"holds": Holds, "violated": Violated}[case.expect["status"]])
    if isinstance(report.verdict, Violated):
        assert report.verdict.witness.exceeds  # type: ignore[union-attr]
    elif formulas:
        assert len(report.solved) == formulas
        assert all(s.decision.backend == "z3" for s in report.solved)
        assert all(isinstance(s.decision.answer, Proved) for s in report.solved)


def test_holds_is_told_as_the_word_of_the_solver(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is said to be proved: text and JSON name the solver on whose word it holds."""
    case = str(CASES / "geometric-independent.toml")
    assert run(["verify", case, *MONOLITHIC]) == 0
    told = capsys.readouterr().out
    assert told.startswith("private, on the word of z3")
    assert "2 formulas are unsatisfiable according to the solver" in told
    assert run(["verify", case, *MONOLITHIC, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["encoding"] == "monolithic"
    assert document["evidence"]["without_certificate"] == 2
    assert document["evidence"]["on_the_word_of"][0].startswith("z3")
    assert [f["status"] for f in document["formulas"]] == ["holds", "holds"]


def test_a_violation_has_its_exact_witness(capsys: pytest.CaptureFixture[str]) -> None:
    """The witness is evaluated from the model: its ratio is that of fractions."""
    assert run(["verify", str(CASES / "noisy-max-naive-3-ln2.toml"), *MONOLITHIC, "--json"]) == 1
    witness = json.loads(capsys.readouterr().out)["witness"]
    rows = [[Fraction(x, 6) for x in row] for row in ((4, 1, 1), (2, 2, 2), (1, 1, 4))]
    chances = []
    for secret in witness["secrets"]:
        given = [int(x) for x in secret.strip("()").split(", ")]
        chance = Fraction(0)
        for a, p in enumerate(rows[given[0]]):
            for b, q in enumerate(rows[given[1]]):
                for c, r in enumerate(rows[given[2]]):
                    noisy = [a, b, c]
                    if noisy.index(max(noisy)) + 1 == int(witness["observations"][0]):
                        chance += p * q * r
        chances.append(chance)
    assert [Fraction(p) for p in witness["probabilities"]] == chances
    assert chances[0] > 2 * chances[1]


def test_a_model_that_does_not_stand_evaluation_is_no_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the solver gives up, or what exact evaluation refutes, is unknown, never a verdict."""
    spurious = formula_verification.Undecided("the solver's model fails exact evaluation")
    monkeypatch.setattr(formula_verification, "solve", lambda *_: spurious)
    report = verify_by_formulas(load(CASES / "geometric-contagious-ln2.toml"), Options(seconds=30))
    assert isinstance(report.verdict, Unknown)
    assert "fails exact evaluation" in report.verdict.detail


def test_no_time_is_no_verdict() -> None:
    """Where the time is over before all formulas are settled, the verdict is unknown."""
    report = verify_by_formulas(load(CASES / "geometric-neighbours.toml"), Options(seconds=1e-9))
    assert isinstance(report.verdict, Unknown)


@pytest.mark.parametrize(
    "more", [["--backends", "z3"], ["--strategy", "built-in"], ["--confirm", "2"], ["--evidence", "x.json"]]
)
def test_options_that_do_not_apply(more: list[str]) -> None:
    """Options about claims are refused, and above all evidence that nobody could check."""
    assert run(["verify", str(CASES / "geometric-independent.toml"), *MONOLITHIC, *more]) == 2


@pytest.mark.parametrize("name", ["blood-test", "above-threshold-all"])
def test_cases_that_algorithm_1_is_not_about(name: str) -> None:
    """An inequality has no sequences, and every length is more than one formula."""
    with pytest.raises(InputError):
        verify_by_formulas(load(CASES / f"{name}.toml"))
    assert run(["verify", str(CASES / f"{name}.toml"), *MONOLITHIC]) == 2


def test_exported_formulas_say_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One script for each direction and length: satisfiable iff some sequence of that length violates."""
    case = str(CASES / "geometric-contagious-ln2.toml")
    assert run(["export", case, "--to", "smtlib2", *MONOLITHIC, "-o", str(tmp_path)]) == 0
    scripts = sorted(tmp_path.glob("*.smt2"))
    assert [path.name for path in scripts] == [f"geometric-contagious-ln2-{k}.smt2" for k in (1, 2)]
    for path in scripts:
        solver = Solver()
        solver.from_file(str(path))
        assert solver.check() == sat
    capsys.readouterr()
    case = str(CASES / "geometric-contagious-ln4.toml")
    assert run(["export", case, "--to", "smtlib2", *MONOLITHIC, "--claim", "2"]) == 0
    solver = Solver()
    solver.from_string(capsys.readouterr().out)
    assert solver.check() == unsat
    model = load(case).model
    assert isinstance(model, Model)


@pytest.mark.parametrize(
    "more",
    [
        ["--to", "qepcad"],
        ["--to", "smtlib2", "--together"],
        ["--to", "smtlib2", "--claim", "3"],
        ["--to", "smtlib2"],
    ],
)
def test_exports_that_are_refused(more: list[str]) -> None:
    """Formulas are for SMT-LIB, one to a file."""
    assert run(["export", str(CASES / "geometric-contagious-ln4.toml"), *MONOLITHIC, *more]) == 2


@pytest.mark.slow
def test_an_exported_formula_tells_its_side_condition(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A formula about fewer sequences says so in its first line, and a claim in its heading."""
    text = (CASES / "above-threshold-figure-3-four.toml").read_text(encoding="utf-8")
    path = tmp_path / "figure.toml"
    path.write_text(text.replace('length = "1..9"', "length = 3"), encoding="utf-8")
    case = str(path)
    assert run(["export", case, "--to", "smtlib2", *MONOLITHIC, "--claim", "1"]) == 0
    assert capsys.readouterr().out.startswith("; output sequences that are impossible under one of the two")
    assert run(["export", case, "--to", "smtlib2", "--claim", "1"]) == 0
    assert "; output sequences that are impossible under one of the two" in capsys.readouterr().out
