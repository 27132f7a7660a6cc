"""`export --collection`: benchmarks of many cases, whose stated status solvers and the kernel confirm."""

from __future__ import annotations

import csv
import json
import time
from pathlib import Path

import pytest
from conftest import ROOT
from smt_scripts import run_z3

from paramverify.algebra.polynomials import value_at
from paramverify.answers import Standing
from paramverify.cli.main import run
from paramverify.encodings.choice import listed_claims
from paramverify.formats.smtlib import script
from paramverify.formats.smtlib_scripts import read_script
from paramverify.formats.solver_formulas import occurring
from paramverify.kernel.documents import check_document
from paramverify.kernel.rounded_constants import encloses_exp
from paramverify.privacy.cases import load
from paramverify.scripts import benchmark_families
from paramverify.scripts.benchmark_families import KnownClaim, plain

CASES = ROOT / "cases"
CONTAGIOUS = str(CASES / "noisy-max-contagious.toml")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection of two cases, one of them twice."""
    folder = tmp_path_factory.mktemp("collection")
    copy = folder / "copy.toml"
    copy.write_text(Path(CONTAGIOUS).read_text(encoding="utf-8"), encoding="utf-8")
    cases = [CONTAGIOUS, str(CASES / "geometric-independent.toml"), str(copy)]
    assert run(["export", *cases, "--collection", str(folder / "new")]) == 0
    return folder / "new"


@pytest.mark.slow
def test_statuses_are_right_and_have_evidence(made: Path) -> None:
    """Each status is what Z3 says of the script, and the kernel accepts its evidence about the same claim."""
    rows = list(csv.DictReader((made / "index.csv").read_text().splitlines()))
    claims = [plain(claim) for claim in listed_claims(load(CONTAGIOUS).model)]
    wanted = list(dict.fromkeys(c.digest() for c in claims if len(occurring(c)) >= 2))
    assert [row["digest"] for row in rows] == wanted  # neither trivial ones nor the copy
    for number, row in enumerate(rows, 1):
        assert row["file"] == f"noisy-max-contagious/noisy-max-contagious-{number:04}.smt2"
        text = (made / row["file"]).read_text()
        (check,) = read_script(made / row["file"]).checks
        assert run_z3(text.replace("(check-sat)", "")) == row["status"] == check.expected
        document = json.loads((made / "evidence" / f"noisy-max-contagious-{number:04}.json").read_text())
        report = check_document(document)
        assert report.accepted
        assert (report.status, report.trusted) == ({"sat": "violated", "unsat": "holds"}[row["status"]], 0)
        claim = document["witness"]["claim"] if "witness" in document else document["statements"][0]
        assert any(claim["polynomial"] == str(c.polynomial) for c in claims if c.digest() == row["digest"])


def test_families_of_one_name_and_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cases of one name in two folders have two families; evidence of another claim does not stay."""
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        text = Path(CONTAGIOUS).read_text(encoding="utf-8")
        (tmp_path / folder / "case.toml").write_text(text.replace("(0, 1)", "(0, 3/4)", folder == "two"))
    evidence = tmp_path / "new" / "evidence" / "case-0001.json"
    evidence.parent.mkdir(parents=True)
    evidence.write_text("{}")
    nothing = KnownClaim(Standing.UNKNOWN, "none", 5, 0.0)
    monkeypatch.setattr(benchmark_families, "known_of", lambda claim, session: nothing)
    files = [str(tmp_path / folder / "case.toml") for folder in ("one", "two")]
    assert run(["export", *files, "--collection", str(tmp_path / "new")]) == 0
    rows = list(csv.DictReader((tmp_path / "new" / "index.csv").read_text().splitlines()))
    assert {row["family"] for row in rows} == {"case", "case.2"}
    assert all((tmp_path / "new" / row["file"]).exists() for row in rows)
    assert len({row["digest"] for row in rows}) == len({row["file"] for row in rows}) == len(rows)
    assert not evidence.exists()


def test_claims_that_are_not_reached_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The time of a case ends it; what was decided until then is written, and the rest is counted."""

    def slowly(claim: object, session: object) -> KnownClaim:
        time.sleep(0.3)
        return KnownClaim(Standing.UNKNOWN, "none", 5, 0.3)

    monkeypatch.setattr(benchmark_families, "known_of", slowly)
    folder = str(tmp_path / "new")
    assert run(["export", CONTAGIOUS, "--collection", folder, "--timeout", "0.8", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    late = told["left_out"]["not reached within 0.8 s, the time limit of a case"]
    assert 0 < told["scripts"] < 4
    assert sum(told["left_out"].values()) + told["scripts"] == len(
        list(listed_claims(load(CONTAGIOUS).model))
    )
    assert late > 0


def test_what_a_benchmark_says_of_itself(made: Path) -> None:
    """Source, license and category are stated, in a form that a strict reader takes."""
    text = (made / "noisy-max-contagious" / "noisy-max-contagious-0001.smt2").read_text()
    for line in (
        '(set-info :license "https://creativecommons.org/licenses/by/4.0/")',
        '(set-info :category "industrial")',
        "Case: Noisy max over three diseases",
    ):
        assert line in text


def test_a_constant_becomes_a_variable() -> None:
    """A claim with exp(1/2) is stated for all numbers of an interval; the polynomial stays the same."""
    claim = next(c for c in listed_claims(load(str(CASES / "discrete-laplace.toml")).model))
    found = plain(claim)
    assert found.domain.constant is None
    assert set(found.domain.box) == set(found.domain.ring.names)
    assert script(found).count("declare-fun") == len(occurring(found))
    values = {name: interval.lower for name, interval in found.domain.box.items()}
    renamed = {"E" if name == "constant" else name: value for name, value in values.items()}
    assert value_at(found.polynomial, values) == value_at(claim.polynomial, renamed)
    interval = found.domain.box["constant"]
    assert claim.domain.constant is not None
    assert encloses_exp(claim.domain.constant.exponent, interval.lower, interval.upper)


def test_options_that_do_not_go_together(capsys: pytest.CaptureFixture[str]) -> None:
    """A collection takes no format, and several cases need one."""
    assert run(["export", CONTAGIOUS, "--collection", "x", "--to", "qepcad"]) == 2
    assert run(["export", CONTAGIOUS, CONTAGIOUS, "--to", "smtlib2"]) == 2
    assert "several cases are given: name one, or add --collection" in capsys.readouterr().err
    assert run(["export", CONTAGIOUS, "--to", "qepcad", "--status"]) == 2
