"""`[quantify]`: the condition on the free parameters, by QEPCAD, checked against exact evaluation."""

import json
import random
import re
from fractions import Fraction
from pathlib import Path

import pytest

from paramverify.algebra.polynomials import Point
from paramverify.answers import End, Open
from paramverify.backends.qepcad import TIME_OVER
from paramverify.cli.main import run
from paramverify.encodings.choice import claims_of
from paramverify.formats.quantified_questions import (
    AndCondition,
    OrCondition,
    PolynomialComparison,
    comparison,
    in_expressions,
)
from paramverify.portfolio.quantifier_elimination import Elimination, by_vertices, eliminate
from paramverify.portfolio.session import Options, Session
from paramverify.portfolio.strategies import NAMED
from paramverify.privacy.cases import load
from paramverify.privacy.verification import verify
from paramverify.reports import synthesis_reports
from paramverify.synthesis.intervals import condition_of
from paramverify.synthesis.safe_values import AnswerForm, ExactCondition, Intervals, safe_values

CASE = Path(__file__).parents[2] / "cases" / "randomized-response-condition.toml"


@pytest.mark.slow
def test_condition_of_randomised_response(capsys: pytest.CaptureFixture[str]) -> None:
    """Ratio 3 is kept exactly for truth probabilities in [1/4, 3/4]."""
    assert run(["verify", str(CASE), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["condition"].startswith("private exactly for t in [1/4, 3/4] and all p in (0, 1) (")


@pytest.mark.slow
def test_condition_against_verification_at_points(tmp_path: Path) -> None:
    """At rational values of the free parameter the condition says what verification says."""
    case = load(CASE)
    assert case.free == ("t",)
    found = eliminate(claims_of(case.model), case.free, case.model.domain)
    assert isinstance(found, Elimination)
    text = CASE.read_text()
    for k in range(11, 90, 6):
        t = Fraction(k, 100)
        path = tmp_path / "case.toml"
        fixed = text.replace('t = "(1/10, 9/10)"', f't = "{t}"').replace('[quantify]\nforall = ["p"]\n', "")
        path.write_text(fixed)
        private = type(verify(load(path)).verdict).__name__ == "Holds"
        assert (
            found.condition.holds_at({"t": t, "p": Fraction(1, 2)})
            == private
            == (Fraction(1, 4) <= t <= Fraction(3, 4))
        )


@pytest.mark.parametrize(
    ("forall", "message"),
    [
        ('["q"]', "quantify.forall: 'q' is not a parameter"),
        ('["p", "t"]', "quantify.forall: no parameter is left free"),
        ("3", "quantify.forall: must be a list of texts"),
    ],
)
def test_mistakes(forall: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Mistakes in `[quantify]` are named."""
    path = tmp_path / "case.toml"
    path.write_text(CASE.read_text().replace('["p"]', forall, 1))
    assert run(["verify", str(path)]) == 2
    assert message in capsys.readouterr().err


BUILT_IN = Options(seconds=20, strategy=NAMED["built-in"])


def inequality(folder: Path, claim: str, free: str = "p") -> Path:
    """A case about p, perhaps r, and all q in [0, 1]."""
    path = folder / "case.toml"
    lines = "".join(f'{name} = "[0, 1]"\n' for name in dict.fromkeys(f"{free}q"))
    path.write_text(f'[parameters]\n{lines}[quantify]\nforall = ["q"]\n[claim]\nholds = "{claim}"\n')
    return path


def least(a: Fraction, b: Fraction, c: Fraction) -> Fraction:
    """The minimum of a·q² + b·q + c for q in [0, 1]."""
    inner = [-b / (2 * a)] if a else []
    return min(a * q * q + b * q + c for q in (Fraction(0), Fraction(1), *inner) if 0 <= q <= 1)


@pytest.mark.parametrize("seed", range(6))
def test_one_free_parameter_without_qepcad(seed: int, tmp_path: Path) -> None:
    """The written condition is true exactly where the minimum over q, by hand, is not below zero."""
    source = random.Random(seed)
    rows = [[Fraction(source.randint(-6, 6), source.randint(1, 5)) for _ in range(3)] for _ in range(3)]
    parts = [f"(({a})*p**2 + ({b})*p + ({c}))*q**{k}" for k, (a, b, c) in enumerate(rows)]
    case = load(inequality(tmp_path, f"{' + '.join(parts)} >= 0"))
    with Session(BUILT_IN) as session:
        found = safe_values(case, session, case.free, {AnswerForm.INTERVALS})
    assert isinstance(found, Intervals)
    condition = condition_of(found.partition, case.model.domain.ring)
    assert condition is not None
    both = set()
    for k in range(0, 211):
        p = Fraction(k, 210)
        c, b, a = (x * p * p + y * p + z for x, y, z in rows)
        point: Point = {"p": p, "q": Fraction(0)}
        assert condition.holds_at(point) == (least(a, b, c) >= 0), p
        both.add(condition.holds_at(point))
    assert both


def test_several_free_parameters_by_vertices(tmp_path: Path) -> None:
    """A claim that is linear in q is one about its ends; a claim that is not is left alone."""
    case = load(inequality(tmp_path, "p*q + r*(1 - q) >= 1/2 - p*r", "pr"))
    claims, domain = claims_of(case.model), case.model.domain
    with Session(BUILT_IN) as session:
        found = by_vertices(claims, case.free, domain, session)
        assert isinstance(found, Elimination)
        for k in range(0, 21):
            for j in range(0, 21):
                p, r = Fraction(k, 20), Fraction(j, 20)
                true = min(p, r) >= Fraction(1, 2) - p * r
                assert found.condition.holds_at({"p": p, "r": r, "q": Fraction(0)}) == true
        bent = load(inequality(tmp_path, "(q - p)**2 + r >= 1/10", "pr"))
        assert by_vertices(claims_of(bent.model), bent.free, bent.model.domain, session) is None


def test_a_case_without_qepcad(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`verify` tells the same condition as with QEPCAD, and how it was shown."""
    missing = Open(End.UNAVAILABLE, "qepcad is missing")
    monkeypatch.setattr(synthesis_reports, "eliminate", lambda *rest: missing)
    told = synthesis_reports.quantified_lines(load(CASE), 20)["condition"]
    assert told.startswith("private exactly for t in [1/4, 3/4] and all p in (0, 1) (by exact projection; ")
    beyond = inequality(tmp_path, "(q - p)**2 + r >= 1/10", "pr")
    assert (
        synthesis_reports.quantified_lines(load(beyond), 5)["condition"]
        == "undecided, unavailable: qepcad is missing"
    )


@pytest.mark.parametrize("chosen", [["--backends", "z3"], ["--require-certificates"]])
def test_qepcad_is_asked_only_if_it_may_be(
    chosen: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Backends that the user names, and required certificates, also hold for the condition."""
    monkeypatch.delattr(synthesis_reports, "eliminate")
    assert run(["verify", str(CASE), *chosen]) == 1
    assert "and all p in (0, 1) (by exact projection; " in capsys.readouterr().out


CONDITIONS = {  # a condition on p in [0, 1], and the places where it is true
    "2*p - 1 >= 0": "p in [1/2, 1]",
    "2*p - 1 > 0 and 3*p - 2 != 0": "p in (1/2, 2/3) or p in (2/3, 1]",
    "2*p**2 - 1 <= 0": "p in [0, ≈ 0.707107] (≈ 0.707107 stands for sqrt(2)/2, a root of 2*x^2 - 1)",
    "4*p - 1 <= 0 or 2*p - 1 = 0": "p in [0, 1/4] or p = 1/2",
}


@pytest.mark.parametrize("text", CONDITIONS)
def test_a_condition_on_one_parameter_is_an_interval(text: str, tmp_path: Path) -> None:
    """What is printed are the intervals in which a condition is true, with their exact ends."""
    case = load(inequality(tmp_path, "p + q >= 0", "p"))
    ring = case.model.domain.ring

    def read(part: str) -> PolynomialComparison:
        polynomial, relation, _ = part.rsplit(" ", 2)
        return comparison(ring.parse(polynomial.replace("**", "^")), relation)

    joined = OrCondition if " or " in text else AndCondition
    condition = joined(tuple(map(read, re.split(" and | or ", text))))
    found = Elimination(condition, AndCondition(), in_expressions(condition), "", 0)
    assert synthesis_reports._place_of(case, found) == CONDITIONS[text]
    assert found.text == text
    several = load(inequality(tmp_path, "p + q + r >= 0", "pr"))
    assert synthesis_reports._place_of(several, found) == ""


@pytest.mark.parametrize("late", [True, False])
def test_a_condition_that_is_not_found_says_what_to_do(late: bool) -> None:
    """With more time, a fixed parameter or a map there may be an answer."""
    end, detail = (End.TIMEOUT, TIME_OVER) if late else (End.MEMORY, "Too few cells")
    told = synthesis_reports.found_values(load(CASE), ExactCondition(("t", "p"), Open(end, detail)))
    assert not told.complete
    assert list(told.lines)[:2] == [
        f"no condition on t, p was found: {'' if late else 'memory: '}{detail}",
        f"  Use {'a larger --timeout, ' if late else ''}-D to fix a parameter, or --region for a map.",
    ]
