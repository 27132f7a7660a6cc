"""Evidence of answers to scripts: written, replayed, compared with the script, rejected where it is wrong."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paramverify.answers import Standing
from paramverify.cli.main import run
from paramverify.errors import InputError
from paramverify.formats import smtlib_scripts
from paramverify.formats.smtlib_scripts import read_script
from paramverify.kernel.documents import check_document, check_text
from paramverify.kernel.ledger import Demanded
from paramverify.portfolio.session import Options
from paramverify.portfolio.strategies import race_of
from paramverify.reports.script_reports import check_with_script, evidence_document
from paramverify.scripts.script_decisions import decide_script
from paramverify.scripts.script_evaluation import Answered, ScriptReport
from paramverify.scripts.script_solutions import points, read_model

ALONE = Options(seconds=10, strategy=race_of(("built-in",)))
TEXT = """(set-logic QF_NRA)
(declare-const x Real)(declare-const |y| Real)(declare-fun p () Bool) ; a comment (
(define-fun f ((a Real) (b Bool)) Real (* a a (ite b 1 2.0)))
(push 1)
(assert (< (+ (f x p) (* y y)) (* 2 x y)))
(assert (or p (> (f x true) 3)))
(check-sat)
(pop 1)
(assert (! (> (f x p) 2) :named big))
(assert (let ((z (- x y)) (y 1)) (and big (< z (/ 3 2)) (distinct z y (- y) 0) (xor p (not p) p))))
(check-sat)(exit)(no-command)
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A script with an unsat and a sat question."""
    path = tmp_path / "two.smt2"
    path.write_text(TEXT)
    return path


@pytest.fixture
def written(script: Path) -> dict[str, Any]:
    """The evidence of its answers."""
    document: dict[str, Any] = evidence_document(decide_script(read_script(script), ALONE))
    return document


def checked(document: Any, path: Path) -> tuple[bool, str]:
    report, _ = check_with_script(document, str(path), path.read_text())
    return report.accepted, report.lines[-1]


def test_both_answers_are_checked(script: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What `verify --evidence` writes is replayed alone, and compared with the script where that is given."""
    file = str(tmp_path / "evidence.json")
    assert run(["verify", str(script), "--backends", "built-in", "--evidence", file]) == 0
    capsys.readouterr()
    assert run(["check", file]) == 0
    out = capsys.readouterr().out
    assert "question 1: unsat, 3 claims\nquestion 2: sat\n" in out
    assert "unsat, sat: 3 claims proved, 0 trusted to solvers, 0 open; not compared (give --case)" in out
    assert run(["check", file, "--case", str(script)]) == 0
    out = capsys.readouterr().out
    assert "read a second time: 4 assertions at 8 points agree" in out
    assert out.splitlines()[-1] == "checked: unsat, sat: 3 claims proved, 0 trusted to solvers, 0 open"


def questions(document: Any) -> Any:
    return document["statements"][-1]["questions"]


def first_claim(document: Any) -> Any:
    return document["statements"][questions(document)[0]["claims"][0]]


def _popped(document: Any) -> None:
    del document["statements"][questions(document)[0]["claims"].pop()]


def _unused(document: Any) -> None:
    questions(document)[0]["claims"].pop()


def _no_claim(document: Any) -> None:
    questions(document)[0]["claims"].append(len(document["statements"]) - 1)


def _moved(document: Any) -> None:
    claims = questions(document)[0]["claims"]
    questions(document)[1] = {"status": "holds", "claims": claims, "solvers": []}


def _empty(document: Any) -> None:
    questions(document)[1] = {"status": "holds", "claims": [], "solvers": []}


def _weaker(document: Any) -> None:
    first_claim(document).update(polynomial="1", proof={"kind": "constant"})


def _false_model(document: Any) -> None:
    questions(document)[1]["model"]["x"] = "0"


def _no_value(document: Any) -> None:
    del questions(document)[1]["model"]["x"]


def _other_script(document: Any) -> None:
    document["statements"][-1]["script"]["digest"] = "0" * 64


def _fewer(document: Any) -> None:
    questions(document).pop()


FORGED: dict[Callable[[Any], None], str] = {
    _popped: "a claim of question 1 has no proof",
    _unused: "a claim shows no answer",
    _no_claim: "statements[3].questions[0].claims: not the numbers of different claims",
    _moved: "question 2 does not make a claim of the evidence",
    _empty: "a claim of question 2 has no proof",
    _weaker: "question 1 does not make a claim of the evidence",
    _false_model: "the assertions of question 2 are not true at the model",
    _no_value: "the assertions of question 2 are not true at the model",
    _other_script: "was changed",
    _fewer: "the script has another number of questions",
}


@pytest.mark.slow
def test_what_is_not_so_is_rejected(written: dict[str, Any], script: Path) -> None:
    """Evidence that is changed so that it says more, or something else, is no evidence of the script."""
    assert checked(written, script)[0]
    for forge, reason in FORGED.items():
        forged = copy.deepcopy(written)
        forge(forged)
        accepted, line = checked(forged, script)
        assert not accepted
        assert reason in line
    forged = copy.deepcopy(written)
    first_claim(forged)["polynomial"] = "-1"
    assert not checked(forged, script)[0]
    forged = copy.deepcopy(written)
    domain = forged["domains"][first_claim(forged)["domain"]]
    domain["box"] = dict.fromkeys(domain["box"], "[-9, 9]")
    assert not checked(forged, script)[0]
    forged = copy.deepcopy(written) | {"more": 1}
    assert not check_text(json.dumps(forged)).accepted


def test_a_solver_alone_is_trusted_and_told(written: dict[str, Any], script: Path) -> None:
    """An unsat on a solver's word is accepted as such, and never as a proof."""
    engine = written["statements"][-1]
    engine["questions"][0] |= {"claims": [], "solvers": ["z3 5"]}
    written |= {"domains": [], "statements": [engine]}
    report, _ = check_with_script(written, str(script), script.read_text())
    assert (report.accepted, report.proved, report.trusted, report.solvers) == (True, 0, 1, ("z3 5",))
    assert check_document(written).accepted
    engine["questions"] = []
    assert check_document(written).lines == (
        "rejected: statements[0].questions: the script asks no question",
    )


def test_claims_on_the_word_of_solvers(written: dict[str, Any]) -> None:
    """An answer names the solvers of its claims and its own, and the report all of them."""
    first_claim(written)["proof"] = {"kind": "solver", "solver": "z3", "version": "5"}
    for own, told in (([], "'z3 5'"), (["cvc5 1"], "'cvc5 1', 'z3 5'")):
        questions(written)[0]["solvers"] = own
        report = check_document(written)
        assert report.lines == (f"question 1: unsat, 3 claims, on the word of {told}", "question 2: sat")
        assert (report.proved, report.trusted) == (2, 1 + len(own))
        assert report.solvers == (*own, "z3 5")
    questions(written)[1] = {"status": "unknown", "claims": [], "solvers": []}
    report = check_document(written)
    assert (report.status, report.proved, report.open) == ("unsat, unknown", 2, 1)
    model = "a model is required with the status violated, and only then"
    claims = "claims and solvers are only allowed with the status holds"
    for wrong, reason in (
        ({"status": "unknown", "model": {}}, model),
        ({"status": "violated"}, model),
        ({"status": "unknown", "solvers": ["z3"]}, claims),
        ({"status": "violated", "model": {}, "claims": [0]}, claims),
    ):
        questions(written)[1] = {"claims": [], "solvers": [], **wrong}
        line = f"rejected: statements[{len(written['statements']) - 1}].questions[1]: {reason}"
        assert check_document(written).lines[0].startswith(line)
    own = questions(written)[0]["claims"]
    own.append(own[0])
    assert "questions[0].claims: not the numbers of different claims" in check_document(written).lines[0]
    own.pop()
    first_claim(written)["proof"] = {"kind": "constant"}
    assert check_document(written).lines[0].startswith("rejected: claim 1 (")
    first_claim(written)["proof"] = None
    assert check_document(written).lines == ("rejected: a claim has no proof",)


@pytest.mark.slow
@pytest.mark.parametrize(("symbol", "other"), [("<", "<="), ("+", "*"), ("xor", "or"), ("distinct", "=")])
def test_a_mistake_of_the_first_reader_is_seen(
    script: Path, monkeypatch: pytest.MonkeyPatch, symbol: str, other: str
) -> None:
    """Where the reader takes one operator for another one, the second reading differs."""
    for name in ("distinct", "xor", "<", "+"):
        assert name in TEXT
    monkeypatch.setitem(smtlib_scripts.OPERATORS, symbol, smtlib_scripts.OPERATORS[other])
    document = evidence_document(decide_script(read_script(script), ALONE))
    assert check_document(document, Demanded()).accepted
    accepted, line = checked(document, script)
    assert not accepted
    assert "the second reading differs" in line


def test_unsat_without_a_claim_needs_the_script(script: Path) -> None:
    """Such a document shows nothing by itself; beside the script it is seen that no claim is left."""
    script.write_text("(declare-const x Real)(assert (< x 1))(assert (> x 1))(check-sat)")
    document = evidence_document(decide_script(read_script(script), ALONE))
    assert questions(document) == [{"status": "holds", "claims": [], "solvers": []}]
    reason = "no claim shows this unsat: check it together with its script"
    assert check_document(document).lines == (f"rejected: statements[0].questions[0]: {reason}",)
    assert checked(document, script)[0]
    script.write_text("(declare-const x Real)(assert (> x 1))(check-sat)")
    assert not checked(document, script)[0]


def test_what_has_no_evidence(script: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Quantifiers, quotients and irrational models are refused with the reason."""
    declared = "(declare-const x Real)"
    for text, reason in (
        ("(assert (forall ((u Real)) (>= (* u u) 0)))", "it has quantifiers"),
        ("(assert (= (/ 1 x) 2))", "a quotient whose denominator is not a number"),
    ):
        script.write_text(f"{declared}{text}(check-sat)")
        file = tmp_path / "evidence.json"
        assert run(["verify", str(script), "--backends", "built-in", "--evidence", str(file)]) == 2
        assert reason in capsys.readouterr().err
        assert not file.exists()
    script.write_text(f"{declared}(assert (= (* x x) 2))(check-sat)")
    read = read_script(script)
    root = read_model("((x (root-obj (+ (^ x 2) (- 2)) 2)))", ("x",))
    (point,) = points(root, read.checks[0].assertions)
    with pytest.raises(InputError, match="question 1 has no evidence: its model is irrational"):
        evidence_document(ScriptReport(read, (Answered(Standing.VIOLATED, point),), 0.0))


def test_the_digest_is_that_of_the_file(written: dict[str, Any], script: Path) -> None:
    """Evidence belongs to the bytes of a script."""
    assert written["statements"][-1]["script"] == {
        "name": "two.smt2",
        "digest": hashlib.sha256(script.read_bytes()).hexdigest(),
    }
