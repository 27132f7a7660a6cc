"""Conditions in formulas as PRISM has them: remainders, roundings, cases; constants as numbers of steps."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from pathlib import Path
from random import Random

import pytest

from paramverify.errors import ExpressionError, InputError
from paramverify.logic.logic_cases import LogicCase, LogicOptions, load
from paramverify.logic.semantics import marks
from paramverify.models.chains import prism_files
from paramverify.models.chains.prism_files import build

pytestmark = pytest.mark.skipif(not prism_files.available(), reason="Storm is not installed")

WALK = """mdp
const int OPEN;
const int TWO = 2;
const int LATE = 2*TWO + 1;
const int K;
formula third = mod(x, 3);
module walk
  x : [-4..5] init -4;
  b : bool init false;
  [] x<5 -> 1/2 : (x'=x+1) + 1/2 : (x'=min(5, x+2)) & (b'=!b);
  [] x=5 -> (x'=5);
endmodule
label "K" = x = 5;
label "far" = x > 0;
"""


@pytest.fixture(autouse=True)
def built_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Storm builds in this process: to start one costs more than this model."""
    monkeypatch.setattr("paramverify.logic.logic_cases.build_apart", lambda request, memory: build(request))


def model(folder: Path, *formulas: str, **constants: str) -> LogicCase:
    path = folder / "walk.prism"
    path.write_text(WALK)
    return load(path, LogicOptions(formulas, constants=constants))


def number(random: Random, depth: int) -> tuple[str, str]:
    """An arithmetic expression, for the formula and for Python."""
    kind = (
        random.choice(("x", "number", "TWO", "mod", "floor", "ceil", "if", "+", "-", "*")) if depth else "x"
    )
    if kind in ("x", "TWO"):
        return kind, kind
    if kind == "number":
        word = str(random.randint(1, 4))
        return word, word
    first, ours = number(random, depth - 1)
    second, other = number(random, depth - 1)
    if kind == "mod":
        by = random.randint(1, 4)
        return f"mod({first}, {by})", f"(({ours}) % {by})"
    if kind in ("floor", "ceil"):
        by = random.choice((2, 3))
        return f"{kind}(({first})/{by})", f"{kind}(Fraction({ours})/{by})"
    if kind == "if":
        test, python = random.choice(
            (("b", "b"), ("!b", "not b"), ("b & x>0", "b and x>0"), ("b=false", "not b"), ("x!=1", "x!=1"))
        )
        return f"({test} ? {first} : {second})", f"(({ours}) if {python} else ({other}))"
    return f"({first} {kind} {second})", f"({ours} {kind} {other})"


@pytest.mark.slow
def test_arithmetic_as_python_has_it(tmp_path: Path) -> None:
    """Random conditions hold where Python says so, whether Storm settles them or the variables do."""
    random = Random(7)
    pairs = [(number(random, 3), random.randint(-2, 4)) for _ in range(25)]
    case = model(tmp_path, *(f"P>=1 [ {written} <= {bound} ]" for (written, _), bound in pairs))
    columns = case.chain.variables
    settled = 0
    for found, ((written, python), bound) in zip(case.properties.values(), pairs, strict=True):
        holds = marks(found.formula.path, case.chain)  # type: ignore[union-attr]
        assert holds is not None
        settled += written not in case.chain.conditions and "TWO" in written
        for state, (x, b) in enumerate(zip(columns["x"], columns["b"], strict=True)):
            names = {"x": x, "b": bool(b), "TWO": 2, "Fraction": Fraction, "floor": floor, "ceil": ceil}
            expected = eval(python, {"__builtins__": {}}, names) <= bound
            assert bool(holds[state]) is expected, (written, x, b)
    assert settled


@pytest.mark.slow
def test_constants_are_numbers_of_steps(tmp_path: Path) -> None:
    """A bound may be a constant of the file or a given one, with a number added; labels are no constants."""
    case = model(
        tmp_path,
        "Pmax>=1/2 [ F<=LATE x=5 ]",
        "Pmax>=1/2 [ F[TWO, OPEN-1] x=5 ]",
        'Pmax>=1/2 [ F<K+1 "far" ]',
        "forall k: P>=0 [ F<=k x=5 ]",
        OPEN="7",
        K="3",
    )
    told = [str(found.formula) for found in case.properties.values()]
    for text, steps in zip(told, ("F<=5", "F[2,6]", "F<=3", "F<=k"), strict=True):
        assert steps in text
    assert model(tmp_path, 'P>=1 [ F "K" ]').chain.states  # K stands in quotes, and needs no value


@pytest.mark.parametrize(
    ("formula", "part"),
    [
        ("P>=1 [ F<=OPEN x=5 ]", "unknown number of steps OPEN"),
        ("P>=1 [ F<=TWO-3 x=5 ]", "-1 steps: at least 0"),
        ("P>=1 [ F mod(x) = 1 ]", "mod has two arguments"),
        ("P>=1 [ F ((X b) ? 1 : 0) = 1 ]", "a comparison of state variables is needed here"),
        ('R{"steps"}max=? [ F x=5 ]', "rewards are not read, P and D are"),
        ("Rmin=? [ F x=5 ]", "rewards are not read"),
        ("S>=1/2 [ x=5 ]", "long runs are not read"),
        ("filter(forall, P>=1 [ F x=5 ])", "filters are not read"),
    ],
)
def test_mistakes_in_conditions(formula: str, part: str, tmp_path: Path) -> None:
    """What is no number of steps, no condition, or no formula about paths, is refused with a clear word."""
    with pytest.raises(InputError) as error:
        model(tmp_path, formula)
    assert part in str(error.value)


@pytest.mark.parametrize(
    ("condition", "part"),
    [
        ("mod(x, 0) = 1", "the divisor of mod must be at least 1"),
        ("mod(x/2, 2) = 1", "mod requires whole numbers"),
    ],
)
def test_remainders_that_are_none(condition: str, part: str, tmp_path: Path) -> None:
    """A remainder by zero or of a fraction is an error where the condition is evaluated."""
    case = model(tmp_path, f"P>=1 [ {condition} ]")
    with pytest.raises(ExpressionError, match=part):
        marks(case.properties["property"].formula.path, case.chain)  # type: ignore[union-attr]
