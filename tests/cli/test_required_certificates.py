"""`--require-certificates`: no verdict rests on anybody's word, in any command and format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lying_backends import CHAIN, LIAR, TOUCHING, trusting_system

import paramverify
from paramverify.cli.main import run
from paramverify.errors import InputError

SCRIPT = """(set-logic QF_NRA)
(declare-const x Real)
(declare-const y Real)
(assert (< (+ (* (- x y) (- x y)) (* (- (* x y) (/ 1.0 4.0)) (- (* x y) (/ 1.0 4.0)))) 0.0))
(check-sat)
"""


def _case(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    ("command", "name", "backend", "as_json"),
    [
        ("verify", "claim.toml", LIAR, False),
        ("verify", "claim.toml", LIAR, True),
        ("verify", "claim.toml", "z3", False),
        pytest.param("logic", "chain.toml", LIAR, False, marks=pytest.mark.slow),
        pytest.param("logic", "chain.toml", LIAR, True, marks=pytest.mark.slow),
        pytest.param("interactive", "system.toml", LIAR, False, marks=pytest.mark.slow),
        pytest.param("verify", "script.smt2", "z3", True, marks=pytest.mark.slow),
    ],
)
def test_a_word_is_no_proof(
    command: str,
    name: str,
    backend: str,
    as_json: bool,
    root: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What exits with 0 on a program's word exits with 3, undecided, and its reason names the program."""
    text = {"claim.toml": TOUCHING, "chain.toml": CHAIN, "script.smt2": SCRIPT}.get(name) or trusting_system()
    given = [command, _case(tmp_path, name, text), "--backends", backend, *(["--json"] * as_json)]
    assert run(given) == 0
    assert backend in capsys.readouterr().out
    if name == "system.toml":  # the lie is not believed, so a violation is found
        assert run([*given, "--require-certificates"]) == 1
        return
    assert run([*given, "--require-certificates"]) == 3
    told = capsys.readouterr()
    assert "a certificate is required" in told.out + told.err
    assert backend in told.out + told.err
    if as_json:
        assert json.loads(told.out)["status"] == "unknown"
    else:
        assert not told.out or told.out.split()[0].strip(":") in ("undecided", "unknown")


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["z3,bernstein", "bernstein"])
def test_a_certificate_is_waited_for(
    strategy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The race goes on after a solver's word, until a certificate comes."""
    path = _case(tmp_path, "claim.toml", TOUCHING)
    given = ["verify", path, "--backends", strategy, "--require-certificates", "--json"]
    assert run(given) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["evidence"]["on_the_word_of"], found["claims"][0]["backend"]) == ([], "bernstein")


@pytest.mark.slow
def test_who_confirms_needs_no_certificate(tmp_path: Path) -> None:
    """With `--confirm 2` one of both programs has to have one."""
    path = _case(tmp_path, "claim.toml", TOUCHING)
    assert (
        run(["verify", path, "--confirm", "2", "--backends", "bernstein,z3", "--require-certificates"]) == 0
    )
    assert run(["verify", path, "--confirm", "2", "--backends", f"{LIAR},z3", "--require-certificates"]) == 3


@pytest.mark.parametrize(
    ("backend", "code", "with_case", "as_json"),
    [
        ("z3", 3, False, False),
        ("z3", 3, True, True),
        pytest.param("bernstein", 0, False, True, marks=pytest.mark.slow),
        pytest.param("bernstein", 0, True, False, marks=pytest.mark.slow),
    ],
)
def test_check(
    with_case: bool,
    backend: str,
    code: int,
    as_json: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Evidence on a solver's word is accepted without the option, and undecided with it."""
    path, evidence = _case(tmp_path, "claim.toml", TOUCHING), str(tmp_path / "evidence.json")
    assert run(["verify", path, "--backends", backend, "--evidence", evidence]) == 0
    given = ["check", evidence, *(["--case", path] * with_case), *(["--json"] * as_json)]
    assert run(given) == 0
    capsys.readouterr()
    assert run([*given, "--require-certificates"]) == code
    out = capsys.readouterr().out
    if as_json:
        found = json.loads(out)
        assert found["status"] == ("unknown" if code else "accepted")
        assert ("verdict" in found) == (not code)
    else:
        assert out.splitlines()[-1].startswith("undecided: 1 proof rests on the word" if code else "checked")


@pytest.mark.slow
def test_python(tmp_path: Path) -> None:
    """The same in Python, for what decides and for what checks."""
    case = paramverify.loads(TOUCHING)
    believed = paramverify.verify(case, backends="z3")
    evidence = believed.evidence()
    assert believed
    assert paramverify.verify(case, backends="z3", require_certificates=True).verdict == "undecided"
    assert paramverify.check(evidence, case)
    refused = paramverify.check(evidence, case, require_certificates=True)
    assert not refused
    assert not refused.accepted
    assert "certificates are required" in str(refused)
    with pytest.raises(InputError, match="require_certificates: 1 is not a truth value: write True or False"):
        paramverify.verify(case, require_certificates=1)  # type: ignore[typeddict-item]


@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_cells_of_an_earlier_run_are_named(
    as_json: bool, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A map names the file whose cells it believes; it is refused where certificates are required."""
    state = tmp_path / "cells.jsonl"
    case = str(root / "cases/noisy-max-independent-below.toml")
    given = ["synthesize", case, "--parameters", "pA,pB", "--coverage", "0.2", "--state", str(state)]
    given += ["--json"] * as_json
    assert run(given) == 0
    assert str(state) not in capsys.readouterr().out.replace(f"all cells are from {state}", "")
    assert run([*given[:5], "0.1", *given[6:]]) == 0
    out = capsys.readouterr().out
    word = f"cells of an earlier run in {state}"
    assert (word in json.loads(out)["on_the_word_of"][0]) if as_json else (word in out)
    assert run([*given, "--require-certificates"]) == 2
    assert "certificates are required" in capsys.readouterr().err
