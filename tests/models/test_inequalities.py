"""Cases with a claim of their own: verdicts against exact evaluation, and every command on them."""

import json
import random
import sys
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from conftest import ROOT

from paramverify.cli.main import run
from paramverify.evidence.algebraic_witnesses import AlgebraicCounterexample
from paramverify.evidence.witnesses import ExactCounterexample
from paramverify.portfolio.session import Options
from paramverify.portfolio.strategies import parse_strategy
from paramverify.privacy.cases import PrivacyCase, load
from paramverify.privacy.verification import verify
from paramverify.verdicts import Holds, Violated

sys.path.insert(0, str(ROOT / "benchmarks"))
import rational_functions

UNIT = '[parameters]\np = "(0, 1)"\nq = "(0, 1)"\n'
CLOSED = '[parameters]\np = "[0, 1]"\nq = "[0, 1]"\n'
DEFAULT = Options(seconds=30)
OPTIONS = Options(seconds=20, strategy=parse_strategy("built-in"))


def case(tmp_path: Path, claim: str, head: str = UNIT) -> PrivacyCase:
    path = tmp_path / "case.toml"
    path.write_text(f"{head}[claim]\nholds = {claim if claim.startswith('[') else json.dumps(claim)}\n")
    return load(path)


HOLDS = [
    ("p*q <= (p*q)**2 + 1/4", UNIT),  # equality where p·q = 1/2
    ("p > 0", UNIT),
    ("p*q < p", UNIT),
    ("p*q <= p", CLOSED),
    ("p/(1 + p) < q/(1 + q) + 1/2", UNIT),
    ("(p - q)/(p + q) == 1 - 2*q/(p + q)", UNIT),
    ("p/(p - q) > 1", UNIT + 'constraints = ["p > q"]\n'),  # the denominator is an obligation
    ("1/(p**2 + q**2 - p*q - p/2 - q/2 + 26/100) <= 100", UNIT),  # the least value is 1/100
    ("exp(1)*p < 3*p", UNIT),
    ("1 < 2", ""),
]
VIOLATED = [
    ("p > 0", CLOSED),
    ("p*q < p", CLOSED),
    ("p*q < (p*q)**2 + 1/4", UNIT),
    ("(2*p - 1)**2 + (3*q - 1)**2 > 0", UNIT),  # at one point only
    ("p == q", UNIT),
    ("1/(p**2 + q**2 - p*q - p/2 - q/2 + 26/100) < 100", UNIT),
    ("2 >= 3", ""),
]


@pytest.mark.parametrize(("claim", "head"), HOLDS)
def test_claims_that_hold(claim: str, head: str, tmp_path: Path) -> None:
    """Strict and weak comparisons, chains, touching ones, denominators with a sign to prove, and exp."""
    assert isinstance(verify(case(tmp_path, claim, head), DEFAULT).verdict, Holds)


@pytest.mark.slow
@pytest.mark.parametrize(("claim", "head"), VIOLATED)
def test_claims_that_fail(claim: str, head: str, tmp_path: Path) -> None:
    """A strict comparison fails where both sides are equal; the witness has both sides exactly."""
    verdict = verify(case(tmp_path, claim, head), DEFAULT).verdict
    assert isinstance(verdict, Violated)
    witness = verdict.witness
    assert isinstance(witness, ExactCounterexample)
    assert witness.fails
    sign = witness.difference.sign()
    assert not {"<": sign < 0, "<=": sign <= 0, ">": sign > 0, ">=": sign >= 0, "==": sign == 0}[
        witness.relation
    ]


def test_a_failure_at_irrational_points_only_has_an_algebraic_witness(tmp_path: Path) -> None:
    """(2p² − 1)² > 0 fails at √½ only, which no rational witness can show; the weak comparison holds."""
    verdict = verify(case(tmp_path, "(2*p**2 - 1)**2 > 0"), OPTIONS).verdict
    assert isinstance(verdict, Violated)
    assert isinstance(verdict.witness, AlgebraicCounterexample)
    assert str(verdict.witness.parameters["p"]) == "≈ 0.707106781187 (a root of 2*x^2 - 1)"
    assert isinstance(verify(case(tmp_path, "(2*p**2 - 1)**2 >= 0"), OPTIONS).verdict, Holds)


@pytest.mark.parametrize("seed", range(8))
def test_random_claims_against_a_grid(seed: int, tmp_path: Path) -> None:
    """What is proved is true at every point of a grid; what is refuted is false at the witness."""
    source = random.Random(seed)

    def text() -> str:
        a, b, c, d = (Fraction(source.randint(-6, 6), source.randint(1, 4)) for _ in range(4))
        return f"({a}*p**2 + {b}*p*q + {c}*q + {d})/({source.randint(1, 3)} + {source.randint(0, 3)}*p*q)"

    relation = source.choice(["<", "<=", ">", ">="])
    shift = Fraction(source.randint(-8, 8))
    claim = f"{text()} {relation} {text()} + {shift}".replace("+ -", "- ")
    verdict = verify(case(tmp_path, claim, CLOSED), OPTIONS).verdict

    def is_true(p: Fraction, q: Fraction) -> bool:
        names = {"p": p, "q": q, "F": Fraction}
        return bool(eval(numbers(claim), {"__builtins__": {}}, names))

    steps = [Fraction(k, 12) for k in range(13)]
    if isinstance(verdict, Holds):
        assert all(is_true(p, q) for p, q in product(steps, steps))
    else:
        assert isinstance(verdict, Violated)
        assert not is_true(**verdict.witness.parameters)


def numbers(claim: str) -> str:
    """Returns the claim as Python, with exact fractions in place of whole numbers."""
    import re

    return re.sub(r"(?<!\*\*)\b(\d+)\b", r"F(\1)", claim)


def test_several_claims_are_a_conjunction(tmp_path: Path) -> None:
    """A list holds iff all do; the witness names the comparison that fails."""
    assert isinstance(verify(case(tmp_path, '["p < 1", "p*q < p"]'), OPTIONS).verdict, Holds)
    verdict = verify(case(tmp_path, '["p < 1", "p*q < 1/2"]'), OPTIONS).verdict
    assert isinstance(verdict, Violated)
    assert isinstance(verdict.witness, ExactCounterexample)
    assert (verdict.witness.stated.number, verdict.witness.stated.text) == (1, "p*q < 1/2")


# --- definitions and files --------------------------------------------------------------------------

MODEL = """$Parameters: p (0,1); q (0,1)
$Result: (/ p (- p q))
$Well-formed Constraints:
(> p q)
"""


def test_a_file_brings_parameters_and_constraints(tmp_path: Path) -> None:
    """Without [parameters] the file's intervals count, and its constraints are part of the domain."""
    (tmp_path / "m.rat").write_text(MODEL)
    found = case(tmp_path, "f > 1", '[define]\nf = { file = "m.rat" }\n')
    assert found.model.domain.describe() == "p in (0, 1), q in (0, 1), p - q > 0"
    assert isinstance(verify(found, OPTIONS).verdict, Holds)


def test_parameters_without_interval_get_a_note(tmp_path: Path) -> None:
    """Where neither the file nor the case gives an interval, (0, 1) is taken, and the answer says so."""
    (tmp_path / "m.rat").write_text("$Parameters: p; q; r\n$Result: p*q*r\n")
    head = '[parameters]\nq = "[0, 2]"\n[define]\nf = { file = "m.rat" }\n'
    found = case(tmp_path, "f < 2", head)
    assert found.model.domain.describe() == "q in [0, 2], p in (0, 1), r in (0, 1)"
    assert [note.split("m.rat ")[1] for note in found.model.notes] == [
        "gives no interval for p, r, so paramverify assumes (0, 1)"
    ]
    assert isinstance(verify(found, OPTIONS).verdict, Holds)


def test_the_digest_covers_the_files(tmp_path: Path) -> None:
    """Evidence is tied to the files that a case names, not only to the case."""
    (tmp_path / "m.rat").write_text(MODEL)
    before = case(tmp_path, "f > 1", '[define]\nf = { file = "m.rat" }\n').digest
    (tmp_path / "m.rat").write_text(MODEL.replace("(/ p", "(/ q"))
    assert case(tmp_path, "f > 1", '[define]\nf = { file = "m.rat" }\n').digest != before


FILE = '[define]\nf = { file = "m.rat" }\n'
MISTAKES = [
    (UNIT, "p", "claim.holds: a claim must be a comparison with <, <=, >, >= or =="),
    (UNIT, "p < q or q < p", "claim.holds: a claim must be a comparison"),
    (UNIT, "p = q", "claim.holds: write == for equality"),
    (UNIT, '["p < 1", "p <"]', "claim.holds[1]: syntax error"),
    (UNIT, "[3]", "claim.holds[0]: a claim must be a comparison in quotes, such as"),
    (
        UNIT,
        "g < 1",
        (
            "claim.holds: unknown name 'g'; to declare a parameter, add g = \"(0, 1)\" below "
            "[parameters]; known here: p, q"
        ),
    ),
    (UNIT, "1/(p - q) < 1", "the denominator of one side of '1/(p - q) < 1' is zero at p = 1/2, q = 1/2"),
    (
        UNIT + '[define]\np = "q"\n',
        "p < 1",
        "define.p: this name is already used by a parameter: choose another name",
    ),
    (UNIT + '[define]\nmin = "q"\n', "p < 1", "define.min: this word is reserved"),
    (UNIT + '[define]\nf = ["p"]\n', "f < 1", "define.f: must be an expression: text or a number"),
    (UNIT + '[define]\nf = { file = "n.rat" }\n', "f < 1", "n.rat: No such file"),
    (
        UNIT + '[define]\nf = { file = "bad.rat" }\n',
        "f < 1",
        "bad.rat: line 2: 'r' is not one of the parameters",
    ),
    (
        '[parameters]\np = "[0, 1)"\n' + FILE,
        "f < 1",
        "parameters.p: the interval [0, 1) is not inside (0, 1), the interval in",
    ),
    ('[define]\nf = { file = "m.rat" }\ng = { file = "half.rat" }\n', "f < g", "half.rat has (0, 1/2)"),
    (UNIT + "[privacy]\nratio = 2\n", "p < 1", "privacy: give either [claim], or [mechanism] and [privacy]"),
    (UNIT + '[claim]\nhold = "p < 1"\n[x]\n', "p < 1", "not TOML"),
]


@pytest.mark.parametrize(("head", "claim", "message"), MISTAKES)
def test_mistakes(
    head: str, claim: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each mistake is one message with file, key and reason, and exit code 2."""
    (tmp_path / "m.rat").write_text(MODEL)
    (tmp_path / "half.rat").write_text(MODEL.replace("p (0,1)", "p (0,1/2)"))
    (tmp_path / "bad.rat").write_text("$Parameters: p\n$Result: r\n")
    path = tmp_path / "case.toml"
    path.write_text(f"{head}[claim]\nholds = {claim if claim.startswith('[') else json.dumps(claim)}\n")
    assert run(["verify", str(path)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.startswith(f"error: {path}:")


def test_a_denominator_that_vanishes_off_the_samples_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """p² + q² − 41/50 vanishes at (1/10, 9/10), which is found while the obligation is decided."""
    found = case(tmp_path, "1/((p - 1/10)**2 + (q - 9/10)**2) > 0")
    assert run(["verify", found.path]) == 2
    assert "may be zero or negative at p = 1/10, q = 9/10" in capsys.readouterr().err


# --- the models in cases/ ---------------------------------------------------------------------------


def solved(chain: rational_functions.Chain, point: dict[str, Fraction]) -> Fraction:
    """Returns the probability to reach the goal, from the linear equations at one point, by elimination."""
    from paramverify.algebra.polynomials import value_at

    states = list(chain)
    rows = []
    for state in states:
        row = dict.fromkeys(states, Fraction(0)) | {state: Fraction(1)}
        goal = Fraction(0)
        for target, share in chain[state].items():
            number = value_at(share.numerator, point) / value_at(share.denominator, point)
            if target == rational_functions.GOAL:
                goal += number
            elif target in row:
                row[target] -= number
        rows.append(([row[s] for s in states], goal))
    for k in range(len(states)):
        pivot = next(r for r in range(k, len(states)) if rows[r][0][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        left, right = rows[k]
        scale = left[k]
        rows[k] = left, right = [x / scale for x in left], right / scale
        for r in range(len(states)):
            factor = rows[r][0][k]
            if r != k and factor:
                rows[r] = (
                    [x - factor * y for x, y in zip(rows[r][0], left, strict=True)],
                    rows[r][1] - factor * right,
                )
    return rows[0][1]


@pytest.mark.parametrize(
    ("name", "chain", "file"),
    [
        ("retransmission", rational_functions.retransmission(3, 2), "retransmission"),
        ("walk", rational_functions.walk(4), "random-walk"),
    ],
)
def test_rational_functions_of_chains(name: str, chain: rational_functions.Chain, file: str) -> None:
    """State elimination gives the solution of the linear equations; the files are what the script writes."""
    from paramverify.algebra.polynomials import value_at

    found = rational_functions.reach(chain)
    for p, q in [(Fraction(1, 3), Fraction(1, 2)), (Fraction(2, 5), Fraction(1, 7))]:
        point = {"p": p, "q": q}
        expected = solved(chain, point)
        assert value_at(found.numerator, point) / value_at(found.denominator, point) == expected
    assert (ROOT / "cases" / f"{file}.rat").read_text() == rational_functions.FILES[name]()


# --- commands ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("claim", ["p*q < p", "p*q <= p", "p*q < 1/2", "p == q", "p/(p + q) < 3/2 - q"])
def test_evidence(claim: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Evidence is accepted for its case, and rejected for another claim and with other numbers."""
    found = case(tmp_path, claim)
    path = tmp_path / "evidence.json"
    status = run(["verify", found.path, "--evidence", str(path)])
    assert run(["check", str(path)]) == 0
    assert run(["check", str(path), "--case", found.path]) == 0
    document = json.loads(path.read_text())
    if status == 1:
        for name in ("left", "statement", "difference", "relation", "number"):
            forged = json.loads(path.read_text())
            forged["witness"][name] = "1/77" if name != "number" else 5
            path.write_text(json.dumps(forged))
            assert run(["check", str(path), "--case", found.path]) == 1
            path.write_text(json.dumps(document))
    (tmp_path / "other").mkdir()
    other = case(
        tmp_path / "other", claim.replace("p*q", "p*q*q").replace("p ==", "p*p ==").replace("3/2", "4/3")
    )
    document["case"]["digest"] = other.digest
    path.write_text(json.dumps(document))
    assert run(["check", str(path), "--case", other.path]) == 1
    capsys.readouterr()


def test_evidence_needs_the_obligations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """That a denominator is positive is among what must be proved."""
    found = case(tmp_path, "p/(p - q) > 1", UNIT + 'constraints = ["p > q"]\n')
    path = tmp_path / "evidence.json"
    assert run(["verify", found.path, "--evidence", str(path)]) == 0
    document = json.loads(path.read_text())
    assert [statement["kind"] for statement in document["statements"]] == ["claim", "claim"]
    document["statements"].pop()
    path.write_text(json.dumps(document))
    assert run(["check", str(path), "--case", found.path]) == 1
    assert "REJECTED" in capsys.readouterr().out


def test_where_a_claim_comes_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both claims are −1 ≥ 0, on two domains: that of the denominator does not come from what is claimed."""
    found = case(tmp_path, "p/(p - q) > 1", UNIT + 'constraints = ["p > q"]\n')
    path = tmp_path / "evidence.json"
    assert run(["verify", found.path, "--evidence", str(path)]) == 0
    document = json.loads(path.read_text())
    first, second = document["statements"]
    assert first["polynomial"] == second["polynomial"] == "-1"
    first["origins"], second["origins"] = second["origins"], first["origins"]
    path.write_text(json.dumps(document))
    capsys.readouterr()
    assert run(["check", str(path), "--case", found.path]) == 1
    assert "statements[0]: nothing says where this claim comes from" in capsys.readouterr().out


WALK = str(ROOT / "cases" / "random-walk.toml")


@pytest.mark.parametrize("target", ["smtlib2", "qepcad", "redlog"])
def test_export(target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Claims are written one by one; a strict one has its own domain, so --together refuses it."""
    assert run(["export", WALK, "--to", target, "-o", str(tmp_path)]) == 0
    assert len(list(tmp_path.iterdir())) == 2
    assert run(["export", WALK, "--to", target, "--together"]) == 2
    assert "a claim with < or > has its own" in capsys.readouterr().err
