"""The second reader as a program: copies of two folders are enough for it, and its exit codes are kept."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest

import paramverify
from paramverify.kernel.strict_reading import UnreadCase
from paramverify.rereader import __main__ as program
from paramverify.rereader import second_printing

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


POWERS = {  # of what stands in exp(...)
    "eps": "exp(-eps)",
    "2*eps": "exp(-2*eps)",
    "eps/3": "exp(-eps/3)",
    "2*eps/3": "exp(-2*eps/3)",
}
CASE = """
[define]
a = "{a}"
[parameters]
{parameters}
[mechanism]
kind = "geometric"
noise = {{ truncated_geometric = "a", range = 1 }}
[neighbours]
differ = "each"
"""


def printed(a: str, parameters: str, **given: str) -> list[str]:
    """The lines of a mechanism on 0..1 whose noise has the base `a`."""
    return second_printing.lines(CASE.format(a=a, parameters=parameters), Path(), given)


@pytest.mark.parametrize("power", POWERS)
def test_powers_of_parameters(power: str) -> None:
    """The variable is the largest power of which all are whole powers."""
    found = printed(f"exp(-{power})", 'eps = "(0, oo)"', x_eps="1/3")
    assert found[0] == f"at x_eps = 1/3, where x_eps = {POWERS[power]}"
    assert found[1:4] == ["0:", "  0: 3/4 ≈ 0.75", "  1: 1/4 ≈ 0.25"]


@pytest.mark.parametrize(("a", "exponent"), [("exp(1/2)*exp(-3/4)", "1/4"), ("exp(-60)", "60")])
def test_digits_of_a_constant(a: str, exponent: str) -> None:
    """A case with exp(1/2) and exp(-3/4) is told with 60 digits of exp(1/4), and exp(60) has as many."""
    told = printed(a, "")
    assert told[:2] == ["without parameters", f"with 60 digits of exp({exponent})"]
    chance = Fraction(told[3].split()[1])
    base = chance / (1 - chance)
    assert (base * 10**60).denominator == 1
    with mpmath.workdps(120):
        wanted = mpmath.exp(mpmath.mpf(Fraction(exponent).numerator) / Fraction(exponent).denominator)
        assert abs(mpmath.mpf(base.numerator) / base.denominator - wanted) * 10**60 <= 0.5


def test_all_kinds_of_points() -> None:
    """Parameters are named in their order, a number is one, and the domain has its constraints."""
    box = 'p = "[1/4, 1/2]"\nq = "1/3"\nr = "(0, 1]"\nconstraints = ["p - r"]'
    assert printed("p*q*r", box, r="1", q="1/3", p="1/2")[0] == "at p = 1/2, q = 1/3, r = 1"
    wrong = {
        ("1/2", "1/4", "1"): "q = 1/4 is not 1/3",
        ("1/5", "1/3", "1"): "p = 1/5 is not in [1/4, 1/2]",
        ("1/4", "1/3", "0"): "r = 0 is not in (0, 1]",
        ("1/4", "1/3", "1/4"): "at p = 1/4, q = 1/3, r = 1/4 a constraint of the domain fails",
        ("9" * 50 + "x", "1/3", "1"): f"p = {'9' * 40} is not a number such as 1/3 or 0.25",
    }
    for (p, q, r), told in wrong.items():
        with pytest.raises(second_printing.WrongPoint) as caught:
            printed("p*q*r", box, p=p, q=q, r=r)
        assert str(caught.value) == told
    for missing, told in (("p", "p is"), ("pq", "p and q are"), ("pqr", "p, q and r are")):
        with pytest.raises(second_printing.WrongPoint, match=f"^{told} missing: give p, q and r$"):
            second_printing._point(
                second_printing.SecondReader(CASE.format(a="1/2", parameters=box), None),
                Fraction(1),
                {name: "1/3" for name in "pqr" if name not in missing},
            )
    with pytest.raises(UnreadCase, match="no point of the domain was found"):
        printed("p", 'p = "(0, 1)"\nconstraints = ["p - p"]')


def test_an_impossible_secret() -> None:
    """Where a secret has no chance it is called impossible, and the others have their probabilities."""
    text = (CASES / "randomized-response.toml").read_text().replace('"(0, 1)"', '"[0, 1]"')
    told = second_printing.lines(text, Path(), {"p": "0", "t": "2/3"})
    assert told == [
        "at p = 0, t = 2/3",
        "yes: impossible",
        "no:",
        "  0: 2/3 ≈ 0.666667",
        "  1: 1/3 ≈ 0.333333",
    ]


def test_what_a_list_shows() -> None:
    """Outputs that are never seen have the probability 0; of every length the first two are shown."""
    text = 'kind = "hmm"\nstates = ["a", "b"]\nobservations = ["u", "v"]\nemissions = { a.u = 1, b.v = 1 }\n'
    text = f"[mechanism]\n{text}[prior]\none = {{ a = 1, b = 0 }}\n[secrets]\npairs = [['one', 'one']]\n"
    told = second_printing.lines(text + '[privacy]\nlength = "all"', Path(), {})
    assert told == ["without parameters", "one:", "  u: 1", "  u, u: 1", "  v: 0", "  v, v: 0"]


def test_how_many_steps_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two exponents need two steps, and a list of outputs is told of a case with other tables too."""
    monkeypatch.setattr(second_printing, "MOST_STEPS", 3)
    assert len(printed("exp(-eps/2)*exp(-eps/3)", 'eps = "(0, oo)"', x_eps="1/2")) == 7
    monkeypatch.setattr(second_printing, "MOST_STEPS", 2)
    with pytest.raises(UnreadCase, match="too small a common divisor"):
        printed("exp(-eps/2)*exp(-eps/3)", 'eps = "(0, oo)"', x_eps="1/2")
    assert second_printing.lines(CASE.format(a="1/2", parameters="") + "[formulas]\n", Path(), {})[1] == "0:"


LONG = 10**19 + 1
SHOWN = [
    (Fraction(3), "3", "3"),
    (Fraction(1, 3), "1/3", "1/3 ≈ 0.333333"),
    (Fraction(-(10**39)), f"about {-1e39:.6g}", f"{-(10**39)} ≈ -1e+39"),
    (Fraction(10**39), str(10**39), str(10**39)),
    (Fraction(LONG - 1, LONG), "about 1", f"{LONG - 1}/{LONG} ≈ 1"),
    (Fraction(LONG // 10, LONG), f"{LONG // 10}/{LONG}", f"{LONG // 10}/{LONG} ≈ 0.1"),
    (Fraction(1, 10**300), "about 1e-300", f"1/1{'0' * 197} ≈ 1e-300"),
]


@pytest.mark.parametrize(("value", "exact", "shown"), SHOWN)
def test_numbers_are_shown(value: Fraction, exact: str, shown: str) -> None:
    """Up to 40 characters are told as they are, and up to 200 beside six digits."""
    assert (second_printing._exact(value), second_printing._shown(value)) == (exact, shown)


OTHERS = [
    ("inequalities/amgm-3.toml", "this is a case with [claim], which has no outputs; `paramverify check"),
    ("interactive/survey.toml", "this is an interactive system, which has no list of outputs; `paramverify"),
    ("blood-test.toml", "this is a case with [claim], which has no outputs; `paramverify check"),
    ("logic/survey.toml", "this is a case with formulas about a model, which has no mechanism\n"),
    ("programs/noisy-max-gauss.toml", "Gaussian noise\n"),
    ("automata/stream-sparse-vector-one.toml", "the program reads a stream, whose outputs are not listed"),
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
    case.write_text(RESPONSE.partition("[mechanism")[0])
    assert ran(str(case)) == (1, "", "not read: cases without a mechanism\n")
    for text, told in MISTAKES.items():
        case.write_text(text)
        assert ran(str(case)) == (1, "", f"error: {case}: a mistake: {told}\n")
