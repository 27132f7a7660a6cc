"""The second reader as a program: copies of two folders are enough for it, and its exit codes are kept."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import paramverify

PACKAGE = Path(paramverify.__file__).parent
CASES = PACKAGE.parent / "cases"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with copies of the kernel and of the second reader, and nothing else."""
    found = tmp_path_factory.mktemp("alone")
    for name in ("kernel", "rereader"):
        shutil.copytree(PACKAGE / name, found / name, ignore=shutil.ignore_patterns("__pycache__"))
    return found


def ran(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Runs the program without the packages that are installed."""
    command = [sys.executable, "-S", "-m", "rereader", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_probabilities_at_a_point(folder: Path) -> None:
    """At the point that is given, or at one of its choice, each output has its probability."""
    code, out, err = ran(folder, str(CASES / "geometric-symbolic-2.toml"), "alpha=1/2")
    assert (code, err) == (0, "")
    assert out.splitlines()[:4] == [
        "at alpha = 1/2",
        "0:",
        "  0: 2/3 ≈ 0.666667",
        "  1: 1/6 ≈ 0.166667",
    ]
    code, out, _ = ran(folder, str(CASES / "geometric-contagious-ln4.toml"))
    assert code == 0
    assert out.startswith("at p = 3/7\n")
    assert "  2: 2/3 ≈ 0.666667\n" in out


def test_the_order_of_secrets_is_that_of_the_case(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run prints the same lines, with the secrets in the order of the pairs."""
    found = []
    for seed in "123456":
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        found.append(ran(folder, str(CASES / "randomized-response.toml"), "p=1/4", "t=2/3")[1])
    assert len({*found}) == 1
    names = [line for line in found[0].splitlines() if line.endswith(":")]
    assert names == ["yes:", "no:"]


def test_what_is_not_read(folder: Path, tmp_path: Path) -> None:
    """Cases that it does not read, points outside of the domain and files that there are not have codes."""
    code, out, err = ran(folder, str(CASES / "blood-test.toml"))
    assert (code, out, err) == (1, "", "not read: cases without a mechanism\n")
    code, out, err = ran(folder, str(CASES / "geometric-symbolic-2.toml"), "alpha=2")
    assert (code, out) == (1, "")
    assert "not in the domain, whose parameters are alpha" in err
    assert ran(folder, str(tmp_path / "none.toml"))[0] == 2
    assert ran(folder)[0] == 2
    assert ran(folder, "--help")[0] == 0
