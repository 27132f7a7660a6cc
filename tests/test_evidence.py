"""Evidence from the command line: written by verify, accepted by check, rejected when it does not fit."""

import hashlib
import json
import shutil
import tomllib
from pathlib import Path

import pytest

from paramverify.cli.main import run

CASES = Path(__file__).parent.parent / "cases"
ALL = sorted(CASES.glob("*.toml"))


def written(case: Path, tmp_path: Path, *options: str) -> Path:
    path = tmp_path / "evidence.json"
    run(["verify", str(case), "--evidence", str(path), *options])
    return path


@pytest.mark.parametrize("case", ALL, ids=lambda path: path.stem)
def test_evidence_of_every_case_is_accepted(
    case: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the built-ins alone every case is decided, and check replays all of it against the case."""
    path = written(case, tmp_path, "--backends", "built-in")
    assert run(["check", str(path)]) == 0
    assert run(["check", str(path), "--case", str(case)]) == 0
    out = capsys.readouterr().out
    assert out.count("accepted") == 2
    assert "0 trusted to solvers, 0 open" in out


def test_evidence_for_another_case_is_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Evidence is tied to the file by its digest, and to the case by its claims."""
    path = written(CASES / "geometric-contagious-ln4.toml", tmp_path)
    other = CASES / "geometric-independent.toml"
    assert run(["check", str(path), "--case", str(other)]) == 1
    assert "belongs to another case file" in capsys.readouterr().out
    document = json.loads(path.read_text())
    digest = hashlib.sha256(other.read_bytes()).hexdigest()
    document["case"] = {"title": tomllib.loads(other.read_text())["title"], "digest": digest}
    path.write_text(json.dumps(document))
    assert run(["check", str(path), "--case", str(other)]) == 1
    assert "is not a claim of this case" in capsys.readouterr().out


def test_evidence_with_a_claim_left_out_is_rejected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All claims of the case must be proved, not only the ones that the document lists."""
    case = CASES / "noisy-max-independent.toml"
    path = written(case, tmp_path)
    document = json.loads(path.read_text())
    del document["claims"][3]
    path.write_text(json.dumps(document))
    assert run(["check", str(path), "--case", str(case)]) == 1
    assert "REJECTED" in capsys.readouterr().out


def test_forged_witnesses_are_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A point that does not violate, and probabilities that the model does not give, are found out."""
    case = CASES / "noisy-max-contagious.toml"
    path = written(case, tmp_path)
    good = json.loads(path.read_text())
    moved = json.loads(json.dumps(good))
    moved["witness"]["parameters"]["pA"] = "3/2"
    lied = json.loads(json.dumps(good))
    lied["witness"]["probabilities"][0] = "1/2"
    for document in (moved, lied):
        path.write_text(json.dumps(document))
        assert run(["check", str(path), "--case", str(case)]) == 1
        assert "REJECTED" in capsys.readouterr().out


def test_an_edited_case_file_is_noticed(tmp_path: Path) -> None:
    """Evidence for a case does not fit the case after an edit."""
    case = tmp_path / "case.toml"
    shutil.copy(CASES / "geometric-contagious-ln4.toml", case)
    path = written(case, tmp_path)
    assert run(["check", str(path), "--case", str(case)]) == 0
    case.write_text(case.read_text().replace("ln(4)", "ln(5)"))
    assert run(["check", str(path), "--case", str(case)]) == 1


def test_what_is_no_evidence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Garbage is rejected, and a missing file is a mistake in the input."""
    path = tmp_path / "garbage.json"
    for text in ("", "[]", "{}", '{"format": "paramverify-evidence"}', "[" * 100_000):
        path.write_text(text)
        assert run(["check", str(path)]) == 1
        assert "REJECTED" in capsys.readouterr().out
    assert run(["check", str(tmp_path / "missing.json")]) == 2
    path.write_bytes(b"\xff\xfe")
    assert run(["check", str(path)]) == 2


def test_solver_answers_are_counted_as_trusted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A claim that only a solver proved is recorded with its name and version, and not called proved."""
    case = tmp_path / "case.toml"
    case.write_text(HARD)
    path = written(case, tmp_path, "--backends", "cvc5-cov,z3")
    assert run(["check", str(path), "--json"]) == 0
    out = capsys.readouterr().out
    report = json.loads(out[out.index("{") :])
    assert report["trusted"] > 0
    proofs = json.dumps(json.loads(path.read_text())["claims"])
    assert '"kind": "solver"' in proofs


HARD = """
[parameters]
p = "(0, 1)"
q = "(0, 1)"
[mechanism]
kind = "hmm"
states = ["a", "b"]
observations = ["x", "y"]
[mechanism.emissions]
a = { x = "1/2 + (p*q + 1/8)/40", y = "1/2 - (p*q + 1/8)/40" }
b = { x = "1/2 + (p**4 + q**4 + 13/50)/40", y = "1/2 - (p**4 + q**4 + 13/50)/40" }
[neighbours]
pairs = [["a", "b"]]
[privacy]
ratio = "(1/2 + (p**4 + q**4 + 13/50)/40)/(1/2 + (p*q + 1/8)/40)"
"""
