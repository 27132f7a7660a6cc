"""The kernel as a program: every way in which a stranger may start it works, or says what to do."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

from paramverify.cli.main import run
from paramverify.evidence.envelope import changed

KERNEL = ROOT / "paramverify" / "kernel"
CASE = ROOT / "cases" / "geometric-contagious-ln4.toml"
DONE = "checked as far as it can be without the case: the claims are true: "


def started(*words: object, folder: Path = ROOT) -> tuple[int, str, str]:
    """Runs Python with these words; returns exit code, output and errors."""
    command = [sys.executable, *map(str, words)]
    done = subprocess.run(command, cwd=folder, env={}, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Evidence of a small case."""
    path = tmp_path_factory.mktemp("evidence") / "evidence.json"
    assert run(["verify", str(CASE), "--evidence", str(path)]) == 0
    return path


WAYS = {
    "module": ("-m", "paramverify.checker"),
    "file": (KERNEL / "__main__.py",),
    "folder": ("-S", KERNEL),
}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_start_it(way: str, evidence: Path, tmp_path: Path) -> None:
    """Each way checks a file, and says what to do where there is none: 2, and never silence."""
    code, out, err = started(*WAYS[way], evidence)
    assert (code, err) == (0, "")
    assert out.splitlines()[-1].startswith(DONE)
    for words, told in (
        ((), "usage: python -m paramverify.checker EVIDENCE"),
        ((evidence, evidence), "usage: python -m paramverify.checker EVIDENCE"),
        ((tmp_path / "none.json",), f"error: there is no file {tmp_path / 'none.json'}\n"),
        ((tmp_path,), f"error: {tmp_path} is a folder: name the file that contains the evidence\n"),
    ):
        code, out, err = started(*WAYS[way], *words)
        assert (code, out) == (2, "")
        assert err.startswith(told)
    code, out, err = started(*WAYS[way], "--help")
    assert (code, err) == (0, "")
    assert "Exit codes: 0 accepted, 1 rejected, 2 " in out


@pytest.mark.slow
def test_a_copied_folder(evidence: Path, tmp_path: Path) -> None:
    """A copy of the folder alone accepts evidence, and rejects what says something else: 1."""
    shutil.copytree(KERNEL, tmp_path / "kernel", ignore=shutil.ignore_patterns("__pycache__"))
    assert started("-S", "-m", "kernel", evidence, folder=tmp_path)[0] == 0
    wrong = tmp_path / "wrong.json"
    wrong.write_text(evidence.read_text().replace('"status": "holds"', '"status": "violated"'))
    code, out, _ = started("-S", "-m", "kernel", wrong, folder=tmp_path)
    assert (code, out.splitlines()[-1][:8]) == (1, "REJECTED")


def test_a_changed_case_file(evidence: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Evidence for an earlier version of a file says so with both digests; that of another case too."""
    before = json.loads(evidence.read_text())["case"]
    case = tmp_path / "case.toml"
    case.write_text(f"{CASE.read_text(encoding='utf-8')}\n# a remark\n", encoding="utf-8")
    capsys.readouterr()
    assert run(["check", str(evidence), "--case", str(case)]) == 1
    said = capsys.readouterr().out
    told = "REJECTED: the case file, or a file that it names, was changed: digest "
    assert f"{told}{before['digest'][:12]}…, now " in said
    assert said.count("\n") == 1
    other = ROOT / "cases" / "geometric-independent.toml"
    assert run(["check", str(evidence), "--case", str(other)]) == 1
    assert "REJECTED: the evidence belongs to another case file: " in capsys.readouterr().out


def test_a_changed_file_of_a_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Evidence for an earlier version of the program that a case names is rejected, and the words say so."""
    program, case, evidence = (tmp_path / name for name in ("program.py", "case.toml", "evidence.json"))
    program.write_text("if flip(1/4):\n    return 1 - record\nreturn record\n")
    case.write_text(
        '[mechanism]\nkind = "program"\nfile = "program.py"\ninputs.record.values = [0, 1]\n'
        "[neighbours]\npairs = [[0, 1]]\n[privacy]\nratio = 3\n"
    )
    assert run(["verify", str(case), "--evidence", str(evidence)]) == 0
    assert run(["check", str(evidence), "--case", str(case)]) == 0
    program.write_text(program.read_text().replace("1/4", "1/3"))
    capsys.readouterr()
    assert run(["check", str(evidence), "--case", str(case)]) == 1
    assert "REJECTED: the case file, or a file that it names, was changed: digest " in capsys.readouterr().out


def test_what_is_said_of_another_file() -> None:
    """Without a known digest and title it is told that there are none."""
    told = f"the case file, or a file that it names, was changed: digest none…, now {'b' * 12}…"
    assert changed(None, "b" * 64) == told
    assert changed({"title": "t", "digest": "a" * 64}, "b" * 64, "u") == (
        f"the evidence belongs to another case file: 't', digest {'a' * 12}…; "
        f"this one is 'u', digest {'b' * 12}…"
    )
