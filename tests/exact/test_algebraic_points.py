"""Violations at irrational points only: found where they are, and never said to be where they are not."""

from __future__ import annotations

import json
import random
from fractions import Fraction

import pytest
from claim_tools import make
from flint import fmpq_poly, fmpz_poly

from paramverify.algebra.number_fields import AlgebraicPoint, point_document, read_point
from paramverify.answers import End, FailsAt
from paramverify.claims import Claim
from paramverify.exact.irrational_violations import algebraic_violation, may_fail_at_algebraic
from paramverify.formats.refutations import fails_at, fails_at_algebraic
from paramverify.processes.attempts import answer_from_document, answer_to_document
from paramverify.verdicts import status_of


def failing(*conditions: str) -> Claim:
    """The claim that no point of a square meets the conditions."""
    return make("-1", {"x": "[-3, 4]", "y": "[-3, 4]"}, conditions)


# Claims that fail at irrational points only, with those points to six digits, up to signs.
KNOWN = [
    (("(x**2 - 5)**2 + (y - 1/2)**2 <= 0",), {"x": 2.236068, "y": 0.5}),
    (("x*y >= 1/2", "x**2 + y**2 <= 1"), {"x": 0.707107, "y": 0.707107}),
    (("x + y <= 7", "x**2 == 2", "y**2 == 3"), {"x": 1.414214, "y": 1.732051}),
    (("(x**3 - y - 1)**2 + (y**2 - x - 1)**2 <= 0", "x >= 1"), {"x": 1.363965, "y": 1.537519}),
    (("(x**2 - 5)**4 + (y - 1/2)**4 <= 0",), {"x": 2.236068, "y": 0.5}),
    (("x**2 + y**2 <= 3", "x + y >= 2", "(x + y)**2 >= 6"), {"x": 1.224745, "y": 1.224745}),
]


@pytest.mark.parametrize(("conditions", "near"), KNOWN)
def test_known_points(conditions: tuple[str, ...], near: dict[str, float]) -> None:
    """The point is found, is near the known one, and the claim fails there exactly."""
    claim = failing(*conditions)
    found = algebraic_violation(claim)
    assert isinstance(found, AlgebraicPoint)
    assert fails_at_algebraic(claim, found)
    for name, value in near.items():
        assert abs(float(found.coordinate(name))) == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("radius", ["3", "7/4", "11"])
def test_curves_without_rational_points(radius: str) -> None:
    """On x² + y² = 3, 7/4 or 11 there are no rational points; a slice at a rational x has an irrational y."""
    claim = failing(f"(x**2 + y**2 - {radius})**2 <= 0")
    found = algebraic_violation(claim)
    assert isinstance(found, AlgebraicPoint)
    exact = [found.coordinate(name).rational is not None for name in "xy"]
    assert sorted(exact) == [False, True]
    x, y = (found.coordinate(name).middle() for name in "xy")
    assert abs(x * x + y * y - Fraction(radius)) < Fraction(1, 10**12)


def squares(source: random.Random) -> str:
    """A sum of two squares that is zero at (a ± √n, b ± √m), with random numbers."""
    n, m = source.sample([2, 3, 5, 7], 2)
    a, b = (Fraction(source.randint(-3, 3), 4) for _ in range(2))
    first = f"((x - ({a}))**2 - {n})"
    second = f"((y - ({b}))**2 - {m} + {source.choice([0, 1, -2])}*{first})"
    return f"{source.randint(1, 9)}*{first}**2 + {second}**2"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_random_systems_and_their_neighbours(seed: int) -> None:
    """f > 0 fails at the zero of a sum of squares; f + c > 0 fails nowhere for c > 0, however small."""
    source = random.Random(seed)
    text = squares(source)
    claim = failing(f"{text} <= 0")
    found = algebraic_violation(claim)
    assert isinstance(found, AlgebraicPoint)
    assert fails_at_algebraic(claim, found)
    moved = failing(f"{text} + 1/{10 ** source.randint(3, 30)} <= 0")
    assert algebraic_violation(moved) is None
    assert not fails_at_algebraic(moved, found)


def test_what_is_not_looked_at() -> None:
    """Without a constraint that is not strict there is no such point; rational points are told as such."""
    assert not may_fail_at_algebraic(failing("x**4 + y**4 < x*y - 3", "x**2 + y**2 < 3"))
    rational = failing("(x - 1/3)**2 + (y**2 - 1/4)**2 <= 0")
    found = algebraic_violation(rational)
    assert isinstance(found, dict)
    assert fails_at(rational, found)


def test_a_point_must_be_the_only_one() -> None:
    """A point whose interval has two zeros or none, or that is outside of the domain, refutes nothing."""
    claim = failing("(x**2 - 5)**2 + y**2 <= 0")
    images = {"x": fmpq_poly([0, 1]), "y": fmpq_poly([0])}
    minimal = fmpz_poly([-5, 0, 1])

    def at(low: int, high: int) -> AlgebraicPoint:
        return AlgebraicPoint(minimal, (Fraction(low), Fraction(high)), images)

    assert fails_at_algebraic(claim, at(2, 3))
    assert not fails_at_algebraic(claim, at(-3, 3))
    assert not fails_at_algebraic(claim, at(3, 4))
    assert not fails_at_algebraic(claim, AlgebraicPoint(minimal, at(2, 3).interval, {"x": images["x"]}))
    double = {**images, "x": fmpq_poly([0, 2])}
    assert not fails_at_algebraic(claim, AlgebraicPoint(minimal, at(2, 3).interval, double))


def test_points_as_json() -> None:
    """A point is read as it was written, and a polynomial that is not irreducible is refused."""
    claim = failing("(x**2 - 5)**2 + (y - x)**2 <= 0")
    found = algebraic_violation(claim)
    assert isinstance(found, AlgebraicPoint)
    document = point_document(found)
    assert fails_at_algebraic(claim, read_point(document))
    for wrong in ("t^2 - 4", "t^2 + 1/2", "t", "t^4 - 10*t^2 + 25"):
        with pytest.raises(ValueError, match="irreducible"):
            read_point({**document, "minimal": wrong})


def test_an_answer_goes_to_another_process_and_back() -> None:
    """The point of an answer is the same after a way as JSON, and one that is none is refused."""
    claim = failing("(x**2 - 5)**2 + (y - x)**2 <= 0")
    found = algebraic_violation(claim)
    assert isinstance(found, AlgebraicPoint)
    answer = FailsAt(End.GAVE_UP, "fails", at=found)
    document = json.loads(json.dumps(answer_to_document(answer)))
    back = answer_from_document(document)
    assert isinstance(back, FailsAt)
    assert (back.at.minimal, back.at.interval) == (found.minimal, found.interval)
    assert fails_at_algebraic(claim, back.at)
    assert status_of(back) == "violated"
    document["at"]["minimal"] = "t^2 - 4"
    with pytest.raises(ValueError, match="irreducible"):
        answer_from_document(document)


def test_a_claim_that_fails_in_a_region_has_a_rational_point() -> None:
    """Where there is room, the point that is found is rational, also inside where nothing is zero."""
    for conditions in (("x**2 + y**2 <= 1", "x*y >= 1/3"), ("x**2 <= 1", "x < y")):
        claim = failing(*conditions)
        found = algebraic_violation(claim)
        assert isinstance(found, dict)
        assert fails_at(claim, found)
