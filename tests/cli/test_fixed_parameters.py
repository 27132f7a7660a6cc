"""Every command with parameters that are fixed numbers, by the file or by -D: intervals without an inside."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest
from conftest import ROOT
from flint import fmpz_poly

from paramverify.algebra.domains import Interval
from paramverify.algebra.real_roots import exact, isolate, near_best
from paramverify.cli.main import run

VALUES = {"p": "1/14", "t": "3/4"}
INTERVALS = {"p": "(0, 1)", "t": "[1/2, 1)"}
CASE = '''
[parameters]
p = "{p}"
t = "{t}"
[prior]
record = {{ bernoulli = "p" }}
[mechanism]
kind = "program"
source = """
if flip(t):
    return x
return flip(1/3)
"""
[mechanism.inputs]
x = "record"
[secrets]
yes = "record == 1"
no = "record == 0"
pairs = [["yes", "no"]]
[privacy]
{bound}
'''
PURE = ('epsilon = "1"', 'ratio = "t/(1 - t)"')
SETS = ('epsilon = "1"\ndelta = "1/10"', 'ratio = "2"\ndelta = "t/10"')
OTHERS = ('renyi = { order = 2, epsilon = "1" }', 'kl = "6/25"')
COMMANDS = {
    "verify": "",
    "budget": "",
    "budget for epsilon": "budget --delta-for 1",
    "budget for ln(2)": "budget --delta-for ln(2)",
    "budget for delta": "budget --epsilon-for 1/10",
    "curve": "budget --curve --precision 1/10",
    "synthesize": "",
    "witness": "synthesize --witness",
    "region": "synthesize --region --coverage 0.3 --evidence map.json --tree map.py",
    "region of p": "synthesize --region --parameters p --coverage 0.3",
    "exact": "synthesize --exact",
    "simplest": "synthesize --objective simplest",
    "largest": "synthesize --objective ratio --precision 1/10",
    "nearest": "synthesize --objective nearest --near p=1/14,t=3/4",
    "explain": "",
    "show": "",
    "export": "export --to smtlib2 --together",
    "quantified": "export --to qepcad --claim 1 --free t",
    "certify": "certify --observations 1 --at p=1/14,t=3/4",
    "sample": "sample --runs 200",
    "search": "sample --runs 200 --search",
    "prove": "prove -o proof --force",
    "report": "report -o page.html",
}
TIMED = ("verify", "budget", "synthesize", "prove", "report")
FIXED = (("t",), ("p", "t"))


@pytest.mark.slow
@pytest.mark.parametrize("fixed", FIXED, ids="+".join)
@pytest.mark.parametrize("command", COMMANDS)
def test_commands(
    command: str,
    fixed: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A command ends with a verdict or a message, and as well for a number in the file as by -D."""
    monkeypatch.chdir(tmp_path)
    words = (COMMANDS[command] or command).split()
    more = ("--timeout", "3") if words[0] in TIMED else ()
    for bound in (PURE[0], SETS[0], *((PURE[1], SETS[1], *OTHERS) if words[0] == "budget" else ())):
        told = []
        for name, values, given in (
            ("fixed.toml", VALUES, ()),
            ("open.toml", {}, [part for n in fixed for part in ("-D", f"{n}={VALUES[n]}")]),
        ):
            if given and words[0] in ("sample", "report", "certify"):
                continue
            own = INTERVALS | {n: values[n] for n in fixed if n in values}
            Path(name).write_text(CASE.format(bound=bound, **own))
            code = run([words[0], name, *words[1:], *given, *more])
            err = capsys.readouterr().err
            assert code in (0, 1, 2, 3), err
            assert "defect" not in err
            told.append(code)
        assert told[0] == told[-1]


@pytest.mark.slow
@pytest.mark.parametrize("bound", OTHERS)
def test_pages_about_losses(bound: str, tmp_path: Path) -> None:
    """The page of a divergence has its map of two open parameters, too."""
    text = CASE.format(bound=bound, **INTERVALS)
    text = text.replace("flip(1/3)", "flip(r)").replace("[prior]", 'r = "(0, 1/2)"\n[prior]')
    path = tmp_path / "case.toml"
    path.write_text(text)
    assert run(["report", str(path), "-o", str(tmp_path / "page.html"), "--timeout", "6"]) in (1, 3)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["budget", "verify"])
@pytest.mark.parametrize("share", ["1/2", "1/10"])
@pytest.mark.parametrize("output", ["x + noise", "x + noise > 1/2"])
def test_mixed_scales(
    command: str, share: str, output: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both commands decide a program that mixes two scales of noise by a flip, for every eps."""
    text = (ROOT / "cases" / "programs" / "noisy-max-laplace-every-epsilon.toml").read_text()
    source = (
        f"if flip({share}):\n    noise = laplace(1/eps)\nelse:\n    noise = laplace(2/eps)\nreturn {output}"
    )
    text = re.sub(r'(?s)source = """.*?"""', f'source = """\n{source}\n"""', text)
    text = text.replace('q = { length = 3, values = "-1..1" }', 'x = { values = "0..1" }')
    path = tmp_path / "mixed.toml"
    path.write_text(text)
    assert run([command, str(path)]) == 0
    assert "undecided" not in capsys.readouterr().out


def test_near_a_place() -> None:
    """Numbers near a place are in the closed interval, and for a point they are that point."""
    point = Interval(Fraction(3, 4), Fraction(3, 4), True, True)
    assert point.near(Fraction(3, 4), Fraction(3, 4), 5) == Fraction(3, 4)
    found = Interval(Fraction(0), Fraction(1))
    assert [found.near(Fraction(x), Fraction(x), 1) for x in (0, 1)] == [0, 1]
    third = found.near(Fraction(333, 1000), Fraction(334, 1000), 8)
    assert third == Fraction(1, 3)


def test_near_the_best_of_several_places() -> None:
    """Of places that are rational and irrational, each gives a number near it."""
    (root,) = isolate(fmpz_poly([-1, 0, 2]), Fraction(0), Fraction(1))
    at, value = near_best(fmpz_poly([0, 1]), fmpz_poly([1]), [exact(Fraction(1, 4)), root])
    assert at == value
    assert root.lower <= at <= root.upper
