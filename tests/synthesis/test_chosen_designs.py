"""Design parameters that get numbers, or stand beside other axes; witnesses beside exponentials."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import paramverify
from paramverify.cli.main import run
from paramverify.errors import InputError

TWO = """
[parameters]
t = { in = "[1/2, 1)", design = true }
h = "[1/2, 1]"
[prior]
john = { bernoulli = "1/2" }
ann = { given = "john", table = { 0 = { 0 = "h", 1 = "1-h" }, 1 = { 0 = "1-h", 1 = "h" } } }
[mechanism]
kind = "parts"
parts = [
    { kind = "randomized_response", query = "john", truth = "t" },
    { kind = "randomized_response", query = "ann", truth = "t" },
]
[secrets]
ill = "john == 1"
well = "john == 0"
pairs = [["ill", "well"]]
[privacy]
ratio = 3
[design]
maximise = "t"
"""
VECTOR = """
[parameters]
eps = "(0, oo)"
[mechanism]
kind = "program"
source = '''
T = laplace(2/eps)
for x in q:
    if x + laplace(4/eps) >= T:
        output("above")
        stop
    output("below")
'''
inputs = { q = { length = 2, values = "-1..1" } }
[neighbours]
differ = "each"
[privacy]
epsilon = "eps"
"""


def largest_ratio(t: Fraction, h: Fraction) -> Fraction:
    """The largest ratio of both answers, by all worlds: each person answers truly with t."""

    def likely(john: int, told: tuple[int, int]) -> Fraction:
        worlds = ((ann, h if ann == john else 1 - h) for ann in (0, 1))
        own = t if told[0] == john else 1 - t
        return sum((w * own * (t if told[1] == ann else 1 - t) for ann, w in worlds), Fraction(0))

    outputs = [(a, b) for a in (0, 1) for b in (0, 1)]
    return max(likely(j, o) / likely(1 - j, o) for j in (0, 1) for o in outputs)


def asked(path: Path, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, str]:
    """Returns the exit code and what the command prints on both streams."""
    code = run([more[0], str(path), *more[1:]])
    told = capsys.readouterr()
    return code, told.out + told.err


@pytest.mark.slow
def test_the_best_value_names_the_other_axes() -> None:
    """Beside h, t may be 3/4 where h = 1/2; for all h it may be sqrt(3)/(1 + sqrt(3)) only."""
    case = paramverify.loads(TWO)
    assert "largest t: " in str(case.synthesize())
    both = case.synthesize(parameters=["t", "h"], coverage="1/10")
    assert "largest t with the best h: between " in str(both)
    best: dict[str, Any] = both.to_dict()["optimum"]
    assert best["for_some"] == ["h"]
    lower, upper = Fraction(best["lower"]), Fraction(best["upper"])
    assert lower <= Fraction(3, 4) <= upper
    assert largest_ratio(lower, Fraction(1, 2)) <= 3 < largest_ratio(lower, Fraction(1))


@pytest.mark.slow
@pytest.mark.parametrize(("truth", "code"), [("3/5", 0), ("3/4", 1)])
def test_a_design_parameter_may_be_chosen(
    truth: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With `-D` or `with_` a design parameter is a number, and `[design]` says no more of it."""
    path, evidence = tmp_path / "case.toml", str(tmp_path / "evidence.json")
    path.write_text(TWO)
    assert (largest_ratio(Fraction(truth), Fraction(1)) > 3) is bool(code)
    found, told = asked(path, capsys, "verify", "-D", f"t={truth}", "--evidence", evidence)
    assert (found, "Design" in told) == (code, False)
    assert run(["check", evidence, "--case", str(path), "-D", f"t={truth}"]) == 0
    case = paramverify.load(path).with_(parameters={"t": truth})
    assert case.verify().verdict == ("not private" if code else "private")
    assert "design" not in case.to_toml()


def test_another_design_parameter_stays() -> None:
    """The best value of s is still asked for where t is chosen, and a best value of t is not."""
    case = paramverify.loads(TWO.replace("\nh = ", '\ns = { in = "(0, 1)", design = true }\nh = '))
    assert "[design]" in case.with_(parameters={"t": "3/5"}).to_toml()
    assert "maximise" not in case.with_(parameters={"t": "3/5"}).to_toml()
    assert "maximise" in case.with_(parameters={"s": "3/5"}).to_toml()


def test_a_design_parameter_that_was_never_marked_is_an_error() -> None:
    """Only what a new value takes away is left out of `[design]`; a mistake of the file stays one."""
    text = TWO.replace('{ in = "[1/2, 1)", design = true }', '"[1/2, 1)"')
    with pytest.raises(InputError, match="no parameter is marked"):
        paramverify.loads(text)


@pytest.mark.slow
@pytest.mark.parametrize(("source", "private"), [("4/eps", True), ("1/eps", False)])
def test_a_witness_beside_an_exponential(source: str, private: bool) -> None:
    """`--witness` says what `verify` says where eps stands beside its exponential."""
    case = paramverify.loads(VECTOR.replace("4/eps", source))
    assert (case.verify().verdict == "private") is private
    assert (case.synthesize(form="witness").witness is None) is private
