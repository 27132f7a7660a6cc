"""`verify FILE.smt2`: answers of scripts, against brute force, solvers, and what people write by hand."""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from smt_scripts import run_z3

from paramverify.answers import Answer, End, Open, Proved
from paramverify.backends import Ability
from paramverify.claims import Claim
from paramverify.cli.main import run
from paramverify.errors import DisagreementError, InputError, LimitError
from paramverify.formats import smtlib_scripts
from paramverify.formats.smtlib_scripts import script_of
from paramverify.portfolio.session import Options
from paramverify.portfolio.strategies import race_of
from paramverify.scripts import script_solutions
from paramverify.scripts.script_decisions import decide_script
from paramverify.scripts.script_evaluation import Answered, ScriptPoint, satisfies
from paramverify.scripts.script_solutions import points, read_model

ALONE = Options(seconds=5, strategy=race_of(("built-in",)))
REALS = "(declare-const x Real)(declare-const y Real)(declare-const |a b| Real)(declare-const p Bool)"


def answered(text: str, options: Options = ALONE, logic: str = "QF_NRA") -> list[Answered]:
    return list(decide_script(script_of(f"(set-logic {logic}){REALS}{text}"), options).answers)


def words(text: str, options: Options = ALONE, logic: str = "QF_NRA") -> list[str]:
    return [answer.standing.of_script for answer in answered(text, options, logic)]


HANDMADE = {
    "(assert (< (+ (* x x) (* y y)) (* 2 x y)))": "unsat",
    "(assert (let ((s (- x y)) (t 3)) (let ((x s)) (and (= x t) (> (* x s) 9)))))": "unsat",
    "(define-fun f ((z Real) (b Bool)) Real (ite b z (- z)))(assert (< (f 2 p) 0))": "sat",
    "(define-fun-rec f ((z Real)) Real z)": "the command define-fun-rec is not supported",
    "(assert (! (> (* |a b| |a b|) 2) :named big))(assert (not big))": "unsat",
    "(assert (= (- 1) x))(assert (distinct x (- 1) y))": "unsat",
    "(assert (distinct x y |a b|))(assert (<= 0 x y |a b| 1))": "sat",
    "(assert (xor p p))": "unsat",
    "(assert (= (* x x x) 1000000000000000000000000000000000000))(assert (< x 1e3))": "1e3 is not declared",
    "(assert (> (* x x) 100000000000000000000000000000000.5))(assert (< 0 x 10000000000000000))": "unsat",
    "(assert (distinct (/ 1 x) (/ 1 y)))(assert (= x y))": "unsat",
    "(assert (distinct (/ 1 x) (/ 1 y)))(assert (= 0 x y))": "unsat",
    "(assert (= (/ 1 x) 0))(assert (distinct x 0))": "unsat",
    "(declare-const n Int)": "the sort Int is not supported: use Real",
    "(assert (= (div 7 2) 3))": "div is a function of whole numbers",
    "(declare-fun g (Real) Real)": "the function g is declared without a definition",
    '(echo "é (")(assert (= x |ümlaut|))': "|ümlaut| is not declared",
    '(declare-const |ü ( ; "| Real)(assert (= |ü ( ; "| 2))': "sat",
    "(declare-const |true| Bool)(assert (not true))": "true is declared already",
    "(define-fun < ((a Real) (b Real)) Bool (> a b))(assert (< 1 0))": "< is declared already",
    "(define-fun abs ((a Real)) Real (ite (< a 0) (- a) a))(assert (< (abs x) 0))": "unsat",
    "(set-option :global-declarations true)": "declarations that outlive a (pop) are not supported",
}


@pytest.mark.parametrize(("text", "expected"), HANDMADE.items())
def test_scripts_by_hand(text: str, expected: str) -> None:
    """Built-in procedures alone answer what people write; what is no script about reals has its line."""
    if " " not in expected:
        assert words(f"{text}\n(check-sat)") == [expected]
        return
    with pytest.raises(InputError, match=re.escape(expected)) as told:
        words(f"{text}\n(check-sat)")
    assert told.value.file_line == 1


def test_levels_options_and_what_prints() -> None:
    """Each check-sat is about the assertions of its moment; nothing between them confuses that."""
    text = """(set-option :print-success true)
        (push 1)(assert (> x 1))(assert (< x 1))(check-sat)(get-model)(pop 1)
        (assert (> x 1))(check-sat)(get-value (x))(set-option :produce-models true)
        (push 2)(declare-const z Real)(assert (= (* z z) (- x)))(check-sat)(pop)(pop)
        (check-sat)(reset-assertions)
        (declare-const x Real)(assert (> 0 (* x x)))(check-sat)(exit)(check-sat)"""
    assert words(text) == ["unsat", "sat", "unsat", "sat", "unsat"]


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["z3", "cvc5-cov", "yices"])
def test_models_with_algebraic_numbers(solver: str) -> None:
    """A solver's model at √2 and a cubic root counts after exact evaluation, in the form of each solver."""
    text = (
        "(assert (= (* x x) 2))(assert (< x 0))(assert (= (* y y y) (+ y 3)))(assert (= (* 3 |a b|) (- 1)))"
    )
    found = answered(f"{text}(assert p)(check-sat)", Options(seconds=10, strategy=race_of((solver,))))[0]
    assert found.standing.of_script == "sat"
    assert found.point is not None
    assert found.point.truths == {"p": True}
    assert str(found.point.numbers["x"]).endswith("(a root of x^2 - 2)")
    assert found.point.numbers["|a b|"] == Fraction(-1, 3)


def test_exact_signs_at_algebraic_points() -> None:
    """√2·√3 is a root of 6 and of nothing near it: a sign is never rounded."""
    script = script_of(
        f"(set-logic QF_NRA){REALS}(assert (= (* x y) |a b|))(assert (= (+ x y 0) 0))(check-sat)"
    )
    equal, opposite = script.checks[0].assertions
    roots = "((x (root-obj (+ (^ x 2) (- 2)) 2)) (y (root-obj (+ (^ x 2) (- 3)) 2)) (z {}) (p true))"
    near = "(root-obj (+ (* 1000000000000000000000 (^ x 2)) (- 6000000000000000000001)) 2)"
    symbols = ("x", "y", "|a b|", "p")
    for third, true in (("(root-obj (+ (^ x 2) (- 6)) 2)", True), (near, False)):
        (point,) = points(read_model(roots.format(third), symbols), script.checks[0].assertions)
        assert satisfies([equal], point) is true
        assert satisfies([opposite], point) is False
    assert satisfies([opposite], ScriptPoint({"x": Fraction(1)}, {})) is None


@dataclass(frozen=True)
class Says:
    """A solver that says one word of scripts, and has no model; of claims it says nothing, or proves all."""

    name: str
    word: str
    proves: bool = False
    builtin: bool = False
    description: str = ""
    install: str = ""
    abilities: frozenset[Ability] = frozenset({Ability.CLAIMS})

    def version(self) -> str:
        return "1"

    def decide(self, claim: Claim, options: Mapping[str, str]) -> Answer:
        return Proved(transcript="unsat") if self.proves else Open(End.GAVE_UP, "no")

    def run_script(self, text: str) -> str:
        return self.word


SAYS_SAT, PROVES = Says("says-sat", "sat"), Says("proves", "unknown", proves=True)


@pytest.mark.slow
def test_contradictions_are_seen_from_step_to_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sat that no point shows contradicts the proof of the claims by another program, on its word."""
    text = "(assert (= (* x x x y) 7))(check-sat)"
    monkeypatch.setattr(script_solutions, "FIRST", 30.0)  # a busy machine starts processes slowly
    liar, prover = f"{__name__}:SAYS_SAT", f"{__name__}:PROVES"
    with pytest.raises(DisagreementError, match="the script"):
        words(text, Options(seconds=60, strategy=race_of((liar, prover))))
    (found,) = answered(text, Options(seconds=60, strategy=race_of((prover,))))
    assert found.solvers == (f"{prover} 1",)  # although simplification stands above its word


def test_many_cells_end_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the time is over no further cell is begun, and the reason says so."""
    seen: list[Claim] = []

    def slowly(claim: Claim, work: object) -> Answer:
        seen.append(claim)
        time.sleep(0.6)
        return Open(End.GAVE_UP, "")

    monkeypatch.setattr(script_solutions, "decide_exactly", slowly)
    ways = " ".join(f"(= (* x x y) {n})" for n in range(1, 100))
    (found,) = answered(f"(assert (or {ways}))(check-sat)", replace(ALONE, seconds=0.5))
    assert (found.end, found.reason) == (End.TIMEOUT, "the time limit was reached")
    assert len(seen) <= 1  # none, where the time was over before the first


QUANTIFIED = {
    "(assert (forall ((u Real) (v Real)) (>= (+ (* u u) (* u v) (* v v) 1) 0)))": "sat",
    "(assert (exists ((u Real)) (and (= (* 2 u) x) (> (* u x) 8))))(assert (< x 0))": "sat",
    "(assert (not (forall ((u Real)) (= (* u u) (* u (- u))))))": "sat",
    "(assert (not (exists ((u Real)) (< (* u u) 0))))(assert (> x (* y y)))": "sat",
    "(assert (forall ((u Real)) (exists ((v Real)) (= (* v v "
    "v) u))))": "mixes universal and existential quantifiers",
}


@pytest.mark.parametrize(("text", "expected"), QUANTIFIED.items())
def test_one_block_of_quantifiers(text: str, expected: str) -> None:
    """Sentences and existential assertions are decided without a solver; alternating blocks are refused."""
    if " " in expected:
        with pytest.raises(InputError, match=expected):
            words(f"{text}(check-sat)", logic="NRA")
    else:
        assert words(f"{text}(check-sat)", logic="NRA") == [expected]


@pytest.mark.slow
def test_a_sat_that_rests_on_a_word_says_so() -> None:
    """What is true of all reals at a point is proved there, and a solver's word for that is told."""
    text = "(assert (forall ((u Real)) (> (+ (* u u u u) (* u x) x) 0)))(assert (< 1 x 2))(check-sat)"
    (found,) = answered(text, Options(seconds=60, strategy=race_of(("z3",))), "NRA")
    assert found.standing.of_script == "sat"
    assert found.solvers == ("z3",)


def random_script(draw: random.Random) -> str:
    """A script over x, y in a small grid of values, so that brute force finds solutions on the grid."""

    def term(depth: int) -> str:
        if depth == 0:
            return draw.choice(["x", "y", "1", "2.5", "(- 1)", "|a b|"])
        return f"({draw.choice('+*-')} {term(depth - 1)} {term(draw.randrange(depth))})"

    def formula(depth: int) -> str:
        if depth == 0:
            return f"({draw.choice(['<', '<=', '>', '>=', '=', 'distinct'])} {term(2)} {term(1)})"
        if draw.random() < 0.2:
            return f"(ite {formula(0)} {formula(depth - 1)} p)"
        return f"({draw.choice(['and', 'or', '=>', 'xor', '='])} {formula(depth - 1)} {formula(0)})"

    return "".join(f"(assert {formula(draw.randrange(3))})" for _ in range(2))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_random_scripts_against_z3(seed: int) -> None:
    """Random scripts: no other answer than Z3's, and no unsat where a grid of points has a solution."""
    text = f"(set-logic QF_NRA){REALS}{random_script(random.Random(seed))}(check-sat)"
    found = decide_script(script_of(text), ALONE).answers[0].standing.of_script
    assert found in ("unknown", run_z3(text.replace("(check-sat)", "")))
    grid = [Fraction(n, 2) for n in range(-4, 5)]
    assertions = script_of(text).checks[0].assertions
    for x, y, z, p in product(grid, grid[::2], grid[::2], (True, False)):
        if satisfies(assertions, ScriptPoint({"x": x, "y": y, "|a b|": z}, {"p": p})):
            assert found != "unsat"
            break


# --- the command --------------------------------------------------------------------------------------


def test_the_command_and_its_exit_codes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """0 for both answers, 1 where the script states another one, 2 for what is not taken, 3 for unknown."""
    file = tmp_path / "script.smt2"

    def verified(text: str, *more: str) -> tuple[int, str, str]:
        file.write_text(f"(set-logic QF_NRA){REALS}{text}(check-sat)", encoding="utf-8")
        code = run(["verify", str(file), "--backends", "built-in", *more])
        said = capsys.readouterr()
        return code, said.out, said.err

    code, out, _ = verified("(assert (= (* 2 x) 3))")
    assert code == 0
    assert out.startswith("sat\n  x = 3/2\n")
    code, out, _ = verified("(set-info :status sat)(assert (< (* x x) 0))")
    assert code == 1
    assert out.startswith("unsat\n")
    assert "WRONG STATUS: the script states sat." in out
    code, out, _ = verified("(assert (= (* x x) 2))")
    assert code == 3
    assert out.startswith("unknown\n")
    code, _, err = verified("(assert (= x z))")
    assert code == 2
    assert "script.smt2:1: z is not declared" in err
    code, out, _ = verified("(assert (> x 1))(assert p)", "--json")
    document = json.loads(out)
    assert (code, document["status"], document["verdict"]) == (0, "violated", "sat")
    assert document["checks"][0]["model"] == {"x": "2", "y": "0", "|a b|": "0", "p": True}


def test_a_script_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """What grows without end is a limit that is told, and no crash."""
    monkeypatch.setattr(smtlib_scripts, "MAX_READ", 10_000)
    doubled = "".join(
        f"(define-fun f{k} ((z Real)) Real (* (f{k - 1} z) (f{k - 1} z)))" for k in range(1, 30)
    )
    with pytest.raises(LimitError):
        answered(f"(define-fun f0 ((z Real)) Real z){doubled}(assert (= (f29 x) 2))(check-sat)")
    deep = "(+ x " * 300 + "1" + ")" * 300
    with pytest.raises(LimitError, match="inside each other"):
        answered(f"(assert (> {deep} 0))(check-sat)")
