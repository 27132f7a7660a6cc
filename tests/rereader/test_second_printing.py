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


def test_a_negative_probability_is_a_mistake(folder: Path, tmp_path: Path) -> None:
    """A truth above 1 makes a probability negative, which is said with its place."""
    case = tmp_path / "case.toml"
    case.write_text((CASES / "randomized-response.toml").read_text().replace('"t"', '"3/2"'))
    code, out, err = ran(folder, str(case), "p=3/7", "t=2/3")
    assert (code, out) == (1, "")
    told = "a mistake: the probability of 0 under yes is -1/2 at p = 3/7, t = 2/3"
    assert err == f"error: {case}: {told}\n"


POINTS = [
    (("p=1/4",), "error: t is missing: give p and t\n"),
    (("p=1/4", "t=1/4"), "error: t = 1/4 is not in [1/2, 1)\n"),
    (("p=1/4", "t=2/3", "q=1"), "error: there is no parameter q\n"),
    (("p=x", "t=2/3"), "error: p = x is not a number such as 1/3 or 0.25\n"),
    (("p=1/0", "t=2/3"), "error: p = 1/0 is not a number such as 1/3 or 0.25\n"),
]


@pytest.mark.parametrize(("point", "told"), POINTS)
def test_points_that_are_none(folder: Path, point: tuple[str, ...], told: str) -> None:
    """A parameter that is missing, unknown, outside of its interval or no number is named."""
    assert ran(folder, str(CASES / "randomized-response.toml"), *point) == (1, "", told)


def test_what_a_variable_stands_for(folder: Path) -> None:
    """A parameter without an upper end has a variable, and the first line says which power it is."""
    case = str(CASES / "programs" / "sparse-vector-laplace-every-epsilon.toml")
    code, out, err = ran(folder, case, "x_eps=1/2")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "at x_eps = 1/2, where x_eps = exp(-eps/4)"
    told = "error: give x_eps, a power of exp(-eps), instead of eps\n"
    assert ran(folder, case, "eps=1") == (1, "", told)


OTHERS = [
    ("inequalities/amgm-3.toml", "this is a case with [claim], which has no outputs; `paramverify check"),
    ("interactive/survey.toml", "this is an interactive system, which has no list of outputs; `paramverify"),
    ("blood-test.toml", "this is a case with [claim], which has no outputs; `paramverify check"),
    ("logic/survey.toml", "this is a case with formulas about a model, which has no mechanism\n"),
    ("programs/noisy-max-gauss.toml", "Gaussian noise\n"),
]


@pytest.mark.parametrize(("name", "told"), OTHERS)
def test_cases_of_other_kinds(folder: Path, name: str, told: str) -> None:
    """A case without a list of outputs is named by its kind."""
    code, out, err = ran(folder, str(CASES / name))
    assert (code, out) == (1, "")
    assert err.startswith(f"not read: {told}")


def test_files_that_are_no_cases(folder: Path, tmp_path: Path) -> None:
    """A file of releases, JSON, a missing file and a word without a sign of equality are named in words."""
    case = tmp_path / "file"
    case.write_text('component = [{ kind = "randomized_response", truth = "3/4" }]')
    told = "not read: this is a file of releases: give the file of one of its cases\n"
    assert ran(folder, str(case)) == (1, "", told)
    case.write_text('{"format": "paramverify-evidence"}')
    told = "not read: this is JSON, not a case file; `paramverify check` reads evidence\n"
    assert ran(folder, str(case)) == (1, "", told)
    assert ran(folder, str(tmp_path)) == (2, "", f"error: {tmp_path}: this is a folder, not a file\n")
    none = tmp_path / "none.toml"
    assert ran(folder, str(none)) == (2, "", f"error: {none}: there is no such file\n")
    told = "error: 'alpha' is not of the form PARAMETER=NUMBER\n"
    assert ran(folder, str(CASES / "geometric-symbolic-2.toml"), "alpha") == (2, "", told)
    assert ran(folder)[0] == 2
    assert ran(folder, "--help")[0] == 0
