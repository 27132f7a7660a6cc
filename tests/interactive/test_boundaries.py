"""Observations that are impossible on a part of the domain only: closed ends, faces, irrational points."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from calling_tools import called
from engine_documents import own

TWO = """
[parameters]
{box}
constraints = {constraints}
[system]
initial = "none"
data = ["d"]
queries = ["q"]
responses = ["a", "b"]
hidden = ["h"]
[system.steps.none]
d = "one"
q = "choice"
[system.steps.choice]
h = {{ ra = "{left}", inner = "1-({left})" }}
[system.steps.inner]
h = {{ ra = "{more}", rb = "1-({more})" }}
[system.steps.one]
d = "one"
q = {{ ra = "{right}", rb = "1-({right})" }}
[system.steps.ra]
a = "none"
[system.steps.rb]
b = "none"
[privacy]
ratio = "4"
"""
CUBE = 'p = "[0, 1/2]"\nq = "[0, 1/2]"'


def case_at(folder: Path, box: str, constraints: str, left: str, more: str, right: str = "1/4") -> str:
    """Writes a case that answers a, without the data point, by `left` and else by `more`."""
    path = folder / "case.toml"
    path.write_text(TWO.format(box=box, constraints=constraints, left=left, more=more, right=right))
    return str(path)


def value(text: str, point: dict[str, Fraction]) -> Fraction:
    """Returns the number that an expression of this file is at a point."""
    number = eval(text.replace("1/", "Fraction(1)/"), {"Fraction": Fraction}, dict(point))
    return Fraction(number)


@pytest.mark.parametrize(
    ("box", "constraints", "left", "more"),
    [
        ('p = "[0, 1/2]"', "[]", "p/2", "p"),
        ('p = "[1/7, 1/2]"', "[]", "p-1/7", "0"),
        ('p = "(0, 1/2]"', "[]", "(1-2*p)/3", "(1/2-p)**2"),
        ('p = "[0, 1]"', "[]", "(3*p-1)**2/4", "0"),
        ('p = "[0, 1]"', '["7*p >= 2"]', "(7*p-2)/7", "0"),
        (CUBE, "[]", "p/2", "0"),
        (CUBE, "[]", "p/2", "q/2"),
        (CUBE, '["p + q >= 1/3"]', "p+q-1/3", "0"),
        (CUBE, '["p + q == 1/2"]', "p", "0"),
        pytest.param(CUBE, '["p*q == 1/16"]', "(p-1/8)**2", "0", marks=pytest.mark.slow),
        pytest.param(CUBE, '["p**2 + q**2 == 1/4"]', "p", "0", marks=pytest.mark.slow),
    ],
)
def test_impossible_at_the_boundary(box: str, constraints: str, left: str, more: str, tmp_path: Path) -> None:
    """No budget, at a point where the observation is impossible by plain arithmetic; evidence is accepted."""
    case, evidence = case_at(tmp_path, box, constraints, left, more), tmp_path / "evidence.json"
    code, out = called("budget", case, "--json", "--evidence", str(evidence))[:2]
    found = json.loads(out)
    assert (code, found["ratio"], found["attained"]) == (0, "infinity", True)
    point = {name: Fraction(text) for name, text in found["parameters"].items()}
    first = value(left, point)
    assert first + (1 - first) * value(more, point) == 0
    assert found["witness"]["probabilities"] == ["1/4", "0"]
    assert found["witness"]["observations"] == ["q", "a"]
    for constraint in json.loads(constraints):
        low, sign, high = constraint.rpartition(" ")[0].rpartition(" ")[0], constraint.split()[-2], constraint
        excess = value(low, point) - value(high.split()[-1], point)
        assert excess == 0 if sign == "==" else excess >= 0
    assert called("check", str(evidence), "--case", case)[0] == 0
    assert called("interactive", case)[0] == 1


@pytest.mark.parametrize("left", ["p*exp(-1)", "p*(2-exp(1/2))", "(1-exp(-1/3))*p/2"])
def test_impossible_with_exp(left: str, tmp_path: Path) -> None:
    """Probabilities with exp are zero at the end of the domain, too."""
    case, evidence = case_at(tmp_path, 'p = "[0, 1/2]"', "[]", left, "0"), tmp_path / "evidence.json"
    code, out = called("budget", case, "--json", "--evidence", str(evidence))[:2]
    found = json.loads(out)
    assert (code, found["ratio"], found["parameters"]) == (0, "infinity", {"p": "0"})
    assert called("check", str(evidence), "--case", case)[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("box", "constraints", "left", "root"),
    [
        ('p = "[0, 1]"', '["2*p**2 >= 1"]', "p**2-1/2", "2*x^2 - 1"),
        ('p = "[0, 1]"', "[]", "(2*p**2-1)**2", "2*x^2 - 1"),
        ('p = "[0, 1]"', '["p**3 <= 1/2"]', "(1/2-p**3)/2", "2*x^3 - 1"),
    ],
)
def test_impossible_at_an_irrational_point(
    box: str, constraints: str, left: str, root: str, tmp_path: Path
) -> None:
    """No budget at an irrational point, which is told by its polynomial; evidence says why there is none."""
    case, evidence = case_at(tmp_path, box, constraints, left, "0"), tmp_path / "evidence.json"
    code, out = called("budget", case, "--json", "--evidence", str(evidence))[:2]
    found = json.loads(out)
    assert (code, found["ratio"]) == (0, "infinity")
    place = found["parameters"]["p"]
    assert place["minimal_polynomial"] == root
    low, high = (value(left, {"p": Fraction(place[end])}) for end in ("lower", "upper"))
    assert min(abs(low), abs(high)) < Fraction(1, 10**9)
    assert "irrational" in own(json.loads(evidence.read_text()))["reason"]
    assert ", which is 0 there." in called("budget", case)[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("box", "constraints", "left", "more", "right"),
    [
        ('p = "(0, 1/2]"', "[]", "p/2", "p", "1/4"),
        ('p = "[0, 1/2]"', "[]", "p", "0", "p/2"),
        (CUBE, '["p + q >= 1/3"]', "p/2", "q/2", "1/4"),
        ('p = "[0, 1]"', '["2*p**2 > 1"]', "p**2-1/2", "0", "1/4"),
        ('p = "[3/4, 1]"', "[]", "p**2-1/2", "0", "1/4"),
    ],
)
def test_points_outside_leave_budgets(
    box: str, constraints: str, left: str, more: str, right: str, tmp_path: Path
) -> None:
    """Where the zero is outside of the domain, or that of both inputs, no budget is denied."""
    case = case_at(tmp_path, box, constraints, left, more, right)
    code, out = called("budget", case, "--json", "--timeout", "20")[:2]
    assert code in (0, 3)
    assert "infinity" not in out
