"""The second reader as a program: copies of two folders are enough for it, and its exit codes are kept."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

import paramverify
from paramverify.rereader import __main__ as program

PACKAGE = Path(paramverify.__file__).parent
CASES = PACKAGE.parent / "cases"


def ran(*arguments: str) -> tuple[int, str, str]:
    """Runs the program in this process."""
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        code = program.run(lambda: program.main([*arguments]))
    return code, out.getvalue(), err.getvalue()


def test_copies_of_two_folders(tmp_path: Path) -> None:
    """It runs without the packages that are installed, and prints the secrets in the order of the pairs."""
    for name in ("kernel", "rereader"):
        shutil.copytree(PACKAGE / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    arguments = (str(CASES / "randomized-response.toml"), "p=1/4", "t=2/3")
    for seed in "123":
        command = [sys.executable, "-S", "-m", "rereader", *arguments]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr) == ran(*arguments)
        assert [line for line in done.stdout.splitlines() if line.endswith(":")] == ["yes:", "no:"]


@pytest.mark.parametrize("package", [None, "", "rereader"])
def test_modules_of_a_copy(package: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy that is no part of a package takes the modules beside it, and the package its own."""
    assert program.module("second_points").__name__ == "paramverify.rereader.second_points"
    for name in ("kernel", "rereader"):
        shutil.copytree(PACKAGE / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(program, "__package__", package)
    monkeypatch.setattr(program, "__file__", str(tmp_path / "rereader" / "__main__.py"))
    try:
        assert program.module("second_points").__file__ == str(tmp_path / "rereader" / "second_points.py")
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "readers"]:
            del sys.modules[name]


FAILURES = [
    (KeyboardInterrupt(), 130, ""),
    (MemoryError(), 3, "undecided: there is not enough memory for this case\n"),
    (RecursionError(), 3, "undecided: there is not enough memory for this case\n"),
    (KeyError("x"), 70, "internal error: KeyError: 'x'\n"),
]


@pytest.mark.parametrize(("error", "code", "told"), FAILURES)
def test_exit_codes_of_failures(error: BaseException, code: int, told: str) -> None:
    """Whatever happens has its exit code, and words on the other stream."""

    def fails() -> int:
        raise error

    with redirect_stderr(io.StringIO()) as err:
        assert (program.run(fails), err.getvalue()) == (code, told)


def test_an_output_that_is_full() -> None:
    """What cannot be written has the code 74, and nothing is tried again when the stream is closed."""
    with open("/dev/full", "w") as full, redirect_stdout(full):
        assert program.run(lambda: print("x") or 0) == 74


def test_probabilities_at_a_point() -> None:
    """At the point that is given, or at one of its choice, each output has its probability."""
    code, out, err = ran(str(CASES / "geometric-symbolic-2.toml"), "alpha=1/2")
    assert (code, err) == (0, "")
    assert out.splitlines()[:4] == [
        "at alpha = 1/2",
        "0:",
        "  0: 2/3 ≈ 0.666667",
        "  1: 1/6 ≈ 0.166667",
    ]
    code, out, _ = ran(str(CASES / "geometric-contagious-ln4.toml"))
    assert code == 0
    assert out.startswith("at p = 3/7\n")
    assert "  2: 2/3 ≈ 0.666667\n" in out


def test_a_negative_probability_is_a_mistake(tmp_path: Path) -> None:
    """A truth above 1 makes a probability negative, which is said with its place."""
    case = tmp_path / "case.toml"
    case.write_text((CASES / "randomized-response.toml").read_text().replace('"t"', '"3/2"'))
    code, out, err = ran(str(case), "p=3/7", "t=2/3")
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
def test_points_that_are_none(point: tuple[str, ...], told: str) -> None:
    """A parameter that is missing, unknown, outside of its interval or no number is named."""
    assert ran(str(CASES / "randomized-response.toml"), *point) == (1, "", told)


def test_what_a_variable_stands_for() -> None:
    """A parameter without an upper end has a variable, and the first line says which power it is."""
    case = str(CASES / "programs" / "sparse-vector-laplace-every-epsilon.toml")
    code, out, err = ran(case, "x_eps=1/2")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "at x_eps = 1/2, where x_eps = exp(-eps/4)"
    told = "error: give x_eps, a power of exp(-eps), instead of eps\n"
    assert ran(case, "eps=1") == (1, "", told)


OTHERS = [
    ("inequalities/amgm-3.toml", "this is a case with [claim], which has no outputs; `paramverify check"),
    ("interactive/survey.toml", "this is an interactive system, which has no list of outputs; `paramverify"),
    ("blood-test.toml", "this is a case with [claim], which has no outputs; `paramverify check"),
    ("logic/survey.toml", "this is a case with formulas about a model, which has no mechanism\n"),
    ("programs/noisy-max-gauss.toml", "Gaussian noise\n"),
]


@pytest.mark.parametrize(("name", "told"), OTHERS)
def test_cases_of_other_kinds(name: str, told: str) -> None:
    """A case without a list of outputs is named by its kind."""
    code, out, err = ran(str(CASES / name))
    assert (code, out) == (1, "")
    assert err.startswith(f"not read: {told}")


RESPONSE = (CASES / "randomized-response.toml").read_text()
OTHER_FORM = "an entry is not of the form that a case has; `paramverify verify` says where"
MISTAKES = {
    "[mechanism]\n": "there is no 'kind'",
    "x = ": "Invalid value (at end of document)",
    RESPONSE.replace('"t"', '"1/0"'): "a division by 0",
    RESPONSE.replace("[privacy]", "[[privacy]]"): OTHER_FORM,
}


def test_files_that_are_no_cases(tmp_path: Path) -> None:
    """A file of releases, JSON, a missing file and a word without a sign of equality are named in words."""
    case = tmp_path / "file"
    case.write_text('component = [{ kind = "randomized_response", truth = "3/4" }]')
    told = "not read: this is a file of releases: give the file of one of its cases\n"
    assert ran(str(case)) == (1, "", told)
    case.write_text('{"format": "paramverify-evidence"}')
    told = "not read: this is JSON, not a case file; `paramverify check` reads evidence\n"
    assert ran(str(case)) == (1, "", told)
    assert ran(str(tmp_path)) == (2, "", f"error: {tmp_path}: this is a folder, not a file\n")
    none = tmp_path / "none.toml"
    assert ran(str(none)) == (2, "", f"error: {none}: there is no such file\n")
    told = "error: 'alpha' is not of the form PARAMETER=NUMBER\n"
    assert ran(str(CASES / "geometric-symbolic-2.toml"), "alpha") == (2, "", told)
    assert ran()[0] == 2
    assert ran("--help")[0] == ran("-h")[0] == 0
    assert (ran("--help")[1:], ran("-x")) == ((program.USAGE + "\n", ""), (2, "", program.USAGE + "\n"))
    told = "error: p is given twice\n"
    assert ran(str(CASES / "randomized-response.toml"), "p=1/4", " p = 1/3", "t=2/3") == (2, "", told)
    far = str(tmp_path / ("x" * 300))
    assert ran(far) == (2, "", f"error: {far}: File name too long\n")
    assert program._unreadable(OSError()) == "it cannot be read"
    case.write_bytes(b"\xff")
    assert ran(str(case)) == (2, "", f"error: {case}: not UTF-8 text\n")
    for text, told in MISTAKES.items():
        case.write_text(text)
        assert ran(str(case)) == (1, "", f"error: {case}: a mistake: {told}\n")
