"""Scripts as questions for elimination: they are true exactly where the assertions have no solution."""

from __future__ import annotations

import random
import re
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest
import z3
from pysmt.environment import Environment
from pysmt.solvers.z3 import Z3Converter
from test_script_answers import HANDMADE, QUANTIFIED, REALS, random_script

from paramverify.backends import backend
from paramverify.backends.qepcad import installation
from paramverify.cli.main import run
from paramverify.errors import InputError
from paramverify.formats.quantified_questions import AndCondition
from paramverify.formats.smtlib_scripts import script_of
from paramverify.formats.solver_formulas import quantified
from paramverify.scripts.script_questions import without_solution

ANSWERED = {text: said for text, said in (HANDMADE | QUANTIFIED).items() if said in ("sat", "unsat")}
UNIVERSAL = [text for text in ANSWERED if "(assert (forall" in text or "(not (exists" in text]


@pytest.mark.parametrize(("text", "said"), [pair for pair in ANSWERED.items() if pair[0] not in UNIVERSAL])
def test_the_question_is_true_where_the_answer_is_unsat(text: str, said: str) -> None:
    """Z3 decides the quantified formula that files are printed from as it is known of the script."""
    (check,) = script_of(f"{REALS}{text}(check-sat)").checks
    asked, _ = without_solution(check)
    solver = z3.Solver()
    solver.add(z3.Not(Z3Converter(Environment(), z3.main_ctx()).convert(quantified(asked).question)))
    assert solver.check() == (z3.unsat if said == "unsat" else z3.sat)


def test_equal_quotients_are_one() -> None:
    """A quotient that stands in several places becomes one variable; four different ones are too many."""
    text = "(assert (= (/ 1 x) (/ 1 x) (/ 1 (* x 1)) x))(assert (> (/ 1 x) 0))"
    (check,) = script_of(f"{REALS}{text}(check-sat)").checks
    _, symbols = without_solution(check)
    assert sorted(symbols.values()) == ["(/ 1 (* x 1))", "(/ 1 x)", "x"]
    several = "".join(f"(assert (> (/ {k} x) 0))" for k in range(4))
    (check,) = script_of(f"{REALS}{several}(check-sat)").checks
    with pytest.raises(InputError, match="more than 3 quotients"):
        without_solution(check)


def test_a_quotient_of_shared_parts_is_told_shortly() -> None:
    """A numerator that would have 2**60 characters, written out, is cut."""
    sums = "".join(f"(let ((s{k} (+ s{k - 1} s{k - 1}))) " for k in range(1, 60))
    text = f"(assert (let ((s0 x)) {sums} (= (/ s59 y) 1){')' * 60})"
    (check,) = script_of(f"{REALS}{text}(check-sat)").checks
    _, symbols = without_solution(check)
    assert sorted(map(len, symbols.values())) == [1, 1, 60]


@pytest.mark.parametrize("text", UNIVERSAL)
def test_quantifiers_over_all_reals_are_refused(text: str) -> None:
    """What would need a second kind of quantifier is named."""
    (check,) = script_of(f"{REALS}{text}(check-sat)").checks
    with pytest.raises(InputError, match="a quantifier over all reals"):
        without_solution(check)


@pytest.mark.parametrize("seed", range(10))
def test_free_constants_leave_a_condition(seed: int) -> None:
    """With all real constants free the condition is the negation of the assertions, at every point."""
    drawn = random.Random(seed)
    text = random_script(drawn)
    (check,) = script_of(f"{REALS}{text}(check-sat)").checks
    asked, symbols = without_solution(check, check.reals)
    assert not asked.bound
    for _ in range(20):
        values = {symbol: Fraction(drawn.randint(-4, 4), 2) for symbol in check.reals}
        point = {name: values[symbol] for name, symbol in symbols.items()}
        solver = z3.Solver()
        solver.from_string(f"{REALS}{text}")
        for symbol, value in values.items():
            solver.add(z3.Real(symbol.strip("|")) == z3.Q(value.numerator, value.denominator))
        assert AndCondition(asked.conclusions).holds_at(point) is (solver.check() == z3.unsat)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("(assert (= (* x x) |a b|))", "v1 < 0"),
        ("(assert (or p (< x 0)))(assert (= (* x |a b|) 1))(assert (not p))", "v1 >= 0"),
        ("(assert (= (/ 1 x) |a b|))(assert (> x 0))", "v1 <= 0"),
        ("(assert (exists ((u Real)) (= (* u u) (- x |a b|))))(assert (< x 0))", "v1 >= 0"),
    ],
)
def test_qepcad_finds_the_condition(text: str, answer: str, tmp_path: Path) -> None:
    """QEPCAD runs the file of a question as it is, and finds for which numbers it has no solution."""
    found = installation()
    if found is None:
        pytest.skip(backend("qepcad").install)
    file = tmp_path / "ask.smt2"
    file.write_text(f"{REALS}{text}(check-sat)")
    assert run(["export", str(file), "--to", "qepcad", "--free", "|a b|", "-o", str(tmp_path)]) == 0
    said = subprocess.run(
        [found.program, "-noecho", "-t", "60", "+N8000000"],
        input=(tmp_path / "ask-1.qepcad").read_text(),
        capture_output=True,
        text=True,
        env=found.environment,
        check=True,
    ).stdout
    assert f"An equivalent quantifier-free formula:\n\n{answer}\n" in said


def test_files_name_the_symbols(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each question has its file; comments say what the variables stand for, and what an answer means."""
    file = tmp_path / "ask.smt2"
    file.write_text(
        "(declare-const |a ] b| Real)(declare-const x Real)\n"
        "(push 1)(assert (< (/ 1 x) |a ] b|))(check-sat)(pop 1)\n(assert (< x |a ] b| x))(check-sat)"
    )
    for target in ("qepcad", "redlog", "smtlib2"):
        assert run(["export", str(file), "--to", target, "-o", str(tmp_path / target)]) == 0
    one = (tmp_path / "qepcad" / "ask-1.qepcad").read_text()
    comment = " ".join(one[1 : one.index("]")].split())
    assert comment.startswith("ask.smt2: question 1, line 2: true means unsat, false means sat; ")
    assert set(re.findall(r"v\d is ([^,]*)", comment)) == {"x", "(/ 1 x)", "|a b|"}
    red = (tmp_path / "redlog" / "ask-2.red").read_text()
    assert re.search(r"^% v\d is \|a \] b\|, v\d is x$|^% v\d is x, v\d is \|a \] b\|$", red, re.MULTILINE)
    assert "(check-sat)" in (tmp_path / "smtlib2" / "ask-2.smt2").read_text()
    capsys.readouterr()
    assert run(["export", str(file), "--to", "redlog", "--claim", "1", "--free", "y"]) == 2
    assert "ask.smt2:2: the script declares no real 'y'; it declares: |a ] b|, x" in capsys.readouterr().err
    assert run(["export", str(file), "--to", "redlog", "--status"]) == 2
    file.write_text("(declare-const |a,b| Real)(declare-const x Real)(assert (< x |a,b|))(check-sat)")
    assert run(["export", str(file), "--to", "redlog", "--free", " |a,b|, x"]) == 0
    assert "% v1 is |a,b|, v2 is x\n" in capsys.readouterr().out
    file.write_text("(declare-const v1 Real)(declare-const b Real)(assert (> v1 0))(check-sat)")
    capsys.readouterr()
    assert run(["export", str(file), "--to", "redlog", "--free", "v1,b"]) == 0
    assert "satisfy the assertions; b does not occur\n% vv1 is v1\n" in capsys.readouterr().out
