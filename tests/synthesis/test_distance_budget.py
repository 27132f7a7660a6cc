"""The tight budget for one unit of distance: which root is the largest, exactly."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import pytest
from flint import fmpz_poly

from paramverify.algebra.real_roots import compare, isolate, power, rational_root
from paramverify.cli.main import run
from paramverify.synthesis.case_budget import root

CASES = Path(__file__).parents[2] / "cases"


def changed(tmp_path: Path, name: str, *changes: tuple[str, str]) -> Path:
    """Returns a copy of a case with other words."""
    text = (CASES / f"{name}.toml").read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "case.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.slow
def test_ties_of_exponentials_are_exact(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With eps = 1 the ratio at distance d is e^d: all roots are equal, and that is decided exactly."""
    shorter = (('"(0, oo)"', '"1"'), ("length = 3", "length = 2"))
    path = changed(tmp_path, "programs/randomized-response-hamming", *shorter)
    budget = tmp_path / "budget.json"
    assert run(["budget", str(path), "--evidence", str(budget)]) == 0
    told = capsys.readouterr().out
    assert "tight budget: ratio (exp(1))**distance, epsilon = 1 * distance" in told
    assert "distance 2: ratio exp(2)" in told
    assert run(["check", str(budget), "--case", str(path)]) == 0
    assert "exp(1) (≈ 2.71828) at the distance 1" in capsys.readouterr().out


def test_a_root_that_is_no_rational_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Ratio 5 at the distances 2 and 4: the square root of 5 decides, and is no rational number."""
    path = changed(
        tmp_path,
        "geometric-metric",
        ('noise = { truncated_geometric = "1/2", range = 6 }', f"noise = {{ table = {ROWS} }}"),
        ("abs(x - y)", "2*abs(x - y)"),
    )
    assert run(["budget", str(path)]) == 0
    told = capsys.readouterr().out
    assert "tight budget: ratio 5**(distance/2), epsilon ≈ 0.804718957 * distance" in told
    assert run(["budget", str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["distance"], document["ratio"], document["ratio_per_distance"]) == ("2", "5", None)
    assert math.isclose(document["epsilon_per_distance"], math.log(5) / 2)
    assert [(e["distance"], e["ratio"]) for e in document["distances"]] == [("2", "5"), ("4", "5")]


ROWS = '[["5/8", "1/4", "1/8"], ["1/8", "1/2", "3/8"], ["1/8", "1/4", "5/8"]]'


ALGEBRAIC = (
    """
[parameters]
a = "[0, 1]"
[mechanism]
kind = "program"
source = """
    + """'''
for v in q:
    if v == 0:
        output(flip((1 + a) / 4))
    else:
        output(flip((1 + a**2) / 4))
'''
[mechanism.inputs]
q = { length = 2, values = "0..1" }
[neighbours]
distance = "count(x[i] != y[i])"
[privacy]
ratio = "4**distance"
"""
)


@pytest.mark.slow
def test_ties_of_algebraic_numbers_are_exact(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The ratio at distance 2 is the square of an algebraic one at distance 1, and that is decided exactly.

    (1 + a)/(1 + a**2) is largest at a = sqrt(2) - 1, where it is (1 + sqrt(2))/2; the other output has at
    most 2*(3 - sqrt(6)), which is less. Square: (3 + 2*sqrt(2))/4.
    """
    path = tmp_path / "case.toml"
    path.write_text(ALGEBRAIC, encoding="utf-8")
    assert run(["budget", str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    one, two = document["distances"]
    assert one["ratio"]["minimal_polynomial"] == "4*x^2 - 4*x - 1"
    assert two["ratio"]["minimal_polynomial"] == "16*x^2 - 24*x + 1"
    assert document["distance"] == "1"
    assert math.isclose(document["epsilon_per_distance"], math.log((1 + 2**0.5) / 2), rel_tol=1e-8)
    assert run(["budget", str(path)]) == 0
    told = capsys.readouterr().out
    assert (
        "tight budget: ratio (≈ 1.20710678119 (a root of 4*x^2 - 4*x - 1))**distance, epsilon ≈ 0.188226"
        in told
    )


@pytest.mark.parametrize("exponent", [1, 2, 3, 6])
def test_powers_of_roots(exponent: int) -> None:
    """The powers of the roots of x**2 - 3*x + 1 and of 2 are those that floats say, exactly isolated."""
    small, large = isolate(fmpz_poly([1, -3, 1]), Fraction(0), Fraction(5))
    for found, value in [
        (small, (3 - 5**0.5) / 2),
        (large, (3 + 5**0.5) / 2),
        (rational_root(Fraction(2)), 2.0),
    ]:
        raised = power(found, exponent).refined(Fraction(1, 10**12))
        assert math.isclose(float(raised.lower), value**exponent, rel_tol=1e-9)
    # The product of both is 1, and so are their powers; the sum of both powers is whole (a Lucas number).
    sums = {1: 3, 2: 7, 3: 18, 6: 322}
    raised = power(large, exponent)
    assert raised.factor == fmpz_poly([1, -sums[exponent], 1])
    assert compare(power(power(large, 2), 3), power(large, 6)) == 0


def test_roots() -> None:
    """Roots are rational or None."""
    assert root(Fraction(8, 27), 3) == Fraction(2, 3)
    assert root(Fraction(8, 27), 2) is None
    assert root(Fraction(2), 2) is None
    assert root(Fraction(10**60), 60) == 10
    assert root(Fraction(1), 7) == 1
