"""`[quantify]`: the condition on the free parameters, by QEPCAD, checked against exact evaluation."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from paramverify.cli.main import run
from paramverify.encodings.choice import claims_of
from paramverify.portfolio.elimination import Elimination, eliminate
from paramverify.privacy.cases import load
from paramverify.privacy.verification import verify

CASE = Path(__file__).parents[2] / "cases" / "randomized-response-condition.toml"


def test_condition_of_randomised_response(capsys: pytest.CaptureFixture[str]) -> None:
    """Ratio 3 is kept exactly for truth probabilities in [1/4, 3/4]."""
    assert run(["verify", str(CASE), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert "4 t - 1 >= 0" in document["condition"]
    assert "4 t - 3 <= 0" in document["condition"]


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
        ("3", "quantify.forall: a list of texts is needed here"),
    ],
)
def test_mistakes(forall: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Mistakes in `[quantify]` are named."""
    path = tmp_path / "case.toml"
    path.write_text(CASE.read_text().replace('["p"]', forall, 1))
    assert run(["verify", str(path)]) == 2
    assert message in capsys.readouterr().err
