"""`≈` stands before every rounded number: one function decides, and all commands are gone through.

tests/test_shipped_cases.py looks for them in what `verify`, `budget`, `interactive` and `explain` say.
"""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest
from conftest import ROOT
from flint import fmpq_poly
from rounded_texts import suspects

from paramverify.algebra.budgets import Epsilon
from paramverify.algebra.constants import ExpConstant
from paramverify.algebra.rationals import raised, relation, rounded
from paramverify.algebra.reals import Real
from paramverify.cli.main import run
from paramverify.evidence import number_words
from paramverify.reports.budgets import raised_number

CASES = ROOT / "cases"
QUICK = [
    ("synthesize", "geometric-contagious-ln2", "--witness"),
    ("certify", "geometric-contagious-ln2", "--observations", "0", "--at", "p=1/3"),
    ("logic", "logic/survey-coin"),
]
SLOW = [
    ("synthesize", "geometric-independent-below"),
    ("sample", "geometric-contagious-ln2", "--runs", "2000"),
    ("budget", "geometric-metric"),
    ("synthesize", "geometric-independent-below", "--witness", "--objective", "ratio"),
]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("ratio 288/73 (3.94521)", True),
        ("ratio 288/73 (≈ 3.94521)", False),
        ("the bound 19/10 (1.91)", True),
        ("Pr = 7/8 = 0.875", False),
        ("for p in (0, ≈ 0.0678235)", False),
        ("6 claims proved in 0.0841234 s", False),
    ],
)
def test_what_is_found(text: str, wrong: bool) -> None:
    """The search finds rounded decimals, and no exact ones."""
    assert bool(suspects(text)) is wrong


@pytest.mark.parametrize(
    "words", [*QUICK, *(pytest.param(words, marks=pytest.mark.slow) for words in SLOW)], ids=" ".join
)
def test_no_rounded_number_is_bare(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """No text of a command on a shipped case has a rounded decimal without `≈`."""
    command, name, *options = words
    path = CASES / f"{name}.toml"
    run([command, str(path), *options])
    told = capsys.readouterr()
    assert told.out + told.err
    assert suspects(told.out + told.err) == []


@pytest.mark.parametrize(
    ("value", "digits", "told", "related"),
    [
        (Fraction(288, 73), 6, "≈ 3.94521", "≈ 3.94521"),
        (Fraction(19, 10), 6, "1.9", "= 1.9"),
        (Fraction(7, 8), 6, "0.875", "= 0.875"),
        (Fraction(7, 8), 2, "≈ 0.88", "≈ 0.88"),
        (Fraction(1, 3), 3, "≈ 0.333", "≈ 0.333"),
        (Fraction(5), 6, "5", "= 5"),
        (Fraction(1234567), 6, "≈ 1.23457e+06", "≈ 1.23457e+06"),
        (Fraction(1, 10**400), 6, "1e-400", "= 1e-400"),
        (0.5, 6, "0.5", "= 0.5"),
        (1.2, 6, "1.2", "= 1.2"),
        (0.1 + 0.2, 6, "≈ 0.3", "≈ 0.3"),
        (2.772588722239781, 6, "≈ 2.77259", "≈ 2.77259"),
        (float("inf"), 6, "inf", "= inf"),
    ],
)
def test_one_function_decides(value: Fraction | float, digits: int, told: str, related: str) -> None:
    """What is all of the number stands alone; what is not stands behind the sign."""
    assert (rounded(value, digits), relation(value, digits)) == (told, related)
    if told.startswith("≈ "):
        assert Fraction(told[2:]) != Fraction(value)


def test_no_module_rounds_by_itself() -> None:
    """Reports and commands write decimals by `rounded`, or as bounds, or behind a `≈` that stands there."""
    package = ROOT / "paramverify"
    known = {"reports/comparison_reports.py", "reports/pictures/plot_style.py"}  # measured times and sizes
    for path in [*(package / "reports").rglob("*.py"), *(package / "cli").glob("*.py")]:
        if str(Path(path).relative_to(package)) in known:
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            if re.search(r":,?\.\d+[gf]\}", line) and "≈" not in line and " s" not in line:
                assert re.search(r"level|seconds|told = f|:,\.1f|\.\{digits\}|value:\.9g|:\.[31]f", line), (
                    path,
                    line,
                )


@pytest.mark.parametrize("less", [Fraction(0), Fraction(1, 3), Fraction(1, 10**12)])
def test_a_decimal_of_a_least_bound_is_enough(less: Fraction) -> None:
    """Whoever copies a budget from the text or from JSON has a bound, and the nearest one of its length."""
    for whole in range(2, 60):
        epsilon = Epsilon.of(whole - less)
        assert epsilon.low is not None
        assert epsilon.high is not None
        told = Fraction(epsilon.told().removeprefix("≈ "))
        assert epsilon.high <= told < epsilon.low + Fraction(1, 10**7)
        assert epsilon.high <= Fraction(float(epsilon.number())) < epsilon.low + Fraction(1, 10**14)
        ratio = raised(whole - less)
        assert whole - less <= Fraction(ratio.removeprefix("≈ ")) < whole - less + Fraction(1, 10**3)


def test_a_decimal_beside_an_exact_number_is_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    """Only a decimal that stands alone is rounded up: beside an exact number it is the nearest one."""
    constant = ExpConstant(Fraction(1, 2))
    root = Real.of(fmpq_poly([0, 1]), fmpq_poly([1]), constant)
    assert raised_number(root) == "exp(1/2) (≈ 1.64872)"
    long = Real.of(fmpq_poly([0, 10**30 + 1]), fmpq_poly([10**30]), constant)
    assert (number_words.number(long), raised_number(long)) == ("≈ 1.64872", "≈ 1.64872127071")
    assert run(["budget", str(CASES / "noisy-max-3-above.toml")]) == 0
    assert capsys.readouterr().out.startswith("tight budget: ratio 24/7 (≈ 3.42857), epsilon ≈ 1.23214369;")
