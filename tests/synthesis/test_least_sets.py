"""The least δ and the least ε over sets of outputs, against brute force over all sets with fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations
from pathlib import Path
from random import Random

import pytest
from set_oracle import Drawn, Point, drawn, points

from paramverify.algebra.real_roots import RealRoot
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import load
from paramverify.privacy.other_bounds import load_with_bounds
from paramverify.synthesis.least_sets import is_near, least_bound
from paramverify.synthesis.set_needs import NeedKind, SetBounds

RATIOS = (Fraction(1), Fraction(3, 2), Fraction(2))
DELTAS = (Fraction(1, 20), Fraction(1, 10), Fraction(1, 4))
PRECISION = Fraction(1, 10**6)


def ratio_at(found: Drawn, side: int, delta: Fraction, point: Point) -> Fraction | None:
    """The least ratio from 1 on with Pr(S | side) ≤ ratio · Pr(S | other) + delta for all sets, or None."""
    one, other = found.shares(side, point), found.shares(1 - side, point)
    best = Fraction(1)
    for chosen in chain.from_iterable(combinations(range(len(one)), n) for n in range(len(one) + 1)):
        p, q = (sum((row[k] for k in chosen), Fraction(0)) for row in (one, other))
        if p > delta:
            if not q:
                return None
            best = max(best, (p - delta) / q)
    return best


def deltas_at(found: Drawn, ratio: Fraction, point: Point) -> Fraction:
    """The least delta at a point, in both directions."""
    return found.largest_delta(ratio, point)


def check_number(bound: SetBounds, expected: Fraction) -> None:
    """The bound is exactly this number, and its set of outputs shows that."""
    assert isinstance(bound.value, RealRoot)
    assert bound.value.is_rational
    assert bound.value.lower == bound.low == bound.high == expected
    assert bound.attained


def look_for_delta(seed: int, parameters: int) -> SetBounds:
    """Compares the least delta of one random case with all sets at a grid of points."""
    random = Random(seed)
    found, ratio = drawn(random, parameters), random.choice(RATIOS)
    with Session(Options(seconds=60)) as session:
        bound = least_bound(found.model(ratio, Fraction(1)), session, PRECISION, NeedKind.DELTA)
    _compare(
        bound, [deltas_at(found, ratio, at) for at in points(found.names, 400 if parameters == 1 else 49)]
    )
    if bound.witness is not None and bound.attained:
        assert bound.witness.beyond.rational == deltas_at(found, ratio, bound.witness.parameters)
    return bound


def look_for_ratio(seed: int, parameters: int) -> SetBounds:
    """Compares the least ratio of one random case with all sets at a grid of points."""
    random = Random(seed)
    found, delta = drawn(random, parameters), random.choice(DELTAS)
    with Session(Options(seconds=60)) as session:
        bound = least_bound(found.model(Fraction(1), delta), session, PRECISION, NeedKind.RATIO)
    grid = list(points(found.names, 400 if parameters == 1 else 49))
    values = [ratio_at(found, side, delta, at) for at in grid for side in (0, 1)]
    if None in values:
        assert bound.infinite
    elif not bound.infinite:  # it may grow without limit between the points
        _compare(bound, [v for v in values if v is not None])
    return bound


def _compare(bound: SetBounds, values: list[Fraction]) -> None:
    largest = max(values)
    if len(values) <= 2:
        check_number(bound, largest)
        return
    assert bound.high is not None
    assert is_near(bound, PRECISION)
    assert bound.high >= largest
    assert bound.proof == bound.high
    assert bound.low <= largest * Fraction(11, 10) + Fraction(1, 20)  # the grid is fine


@pytest.mark.parametrize("seed", range(10))
def test_numbers(seed: int) -> None:
    """Without parameters both budgets are the exact numbers of the brute force."""
    look_for_delta(seed, 0)
    look_for_ratio(seed, 0)


@pytest.mark.parametrize("seed", [300, *(pytest.param(s, marks=pytest.mark.slow) for s in range(301, 304))])
def test_one_parameter(seed: int) -> None:
    """With one parameter both budgets are exact, and proved; no point of a grid needs more."""
    bound = look_for_delta(seed, 1)
    assert bound.value is not None
    assert bound.attained is not None
    ratio = look_for_ratio(seed, 1)
    assert ratio.infinite or ratio.value is not None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(400, 402))
def test_two_parameters(seed: int) -> None:
    """With two parameters both budgets are known within the precision, and proved."""
    look_for_delta(seed, 2)
    look_for_ratio(seed, 2)


CONSTRAINED = """
[parameters]
p = "[1/2, 1]"
constraints = ["p**2 < 1/2"]
[prior]
x = { bernoulli = "1/2" }
[mechanism]
kind = "randomized_response"
query = "x"
truth = "p"
[secrets]
a = "x == 0"
b = "x == 1"
pairs = [["a", "b"]]
[privacy]
ratio = "1"
delta = "1/10"
"""


@pytest.mark.slow
def test_constraints(tmp_path: Path) -> None:
    """A bound that a constraint keeps below an irrational number is bounded within the precision."""
    path = tmp_path / "case.toml"
    path.write_text(CONSTRAINED, encoding="utf-8")
    model, precision = load(path).model, Fraction(1, 10**5)
    with Session(Options(seconds=60)) as session:
        delta, ratio = (
            least_bound(model, session, precision, NeedKind.DELTA),
            least_bound(model, session, precision, NeedKind.RATIO),
        )
    for found in (delta, ratio):
        assert found.value is None
        assert found.high is not None
        assert found.proof == found.high
        assert found.high - found.low <= precision * max(found.high, Fraction(1))
    # delta = 2p - 1 and ratio = (p - 1/10)/(1 - p) grow with p, and p tends to the root of 1/2
    assert delta.upper is not None
    assert ratio.upper is not None
    below, above = ((1 + bound) / 2 for bound in (delta.lower, delta.upper))
    assert below**2 < Fraction(1, 2) <= above**2
    below, above = ((bound + Fraction(1, 10)) / (1 + bound) for bound in (ratio.lower, ratio.upper))
    assert below**2 < Fraction(1, 2) <= above**2


@pytest.mark.slow
def test_a_bound_that_has_no_value_at_an_end() -> None:
    """With the ratio 1/alpha there is none at alpha = 0: the least delta is a limit there, and no defect."""
    path = Path(__file__).parents[2] / "cases" / "programs" / "family.toml"
    case = load_with_bounds(path, {"ratio": "1/alpha", "delta": "1"})
    with Session(Options(seconds=30)) as session:
        found = least_bound(case.model, session, PRECISION, NeedKind.DELTA)  # type: ignore[arg-type]
    assert found.witness is not None
    alpha = found.witness.parameters["alpha"]
    # Both are ill or none, and the set is {2}: 1/(1 + alpha) against alpha**2/(1 + alpha).
    assert found.witness.beyond.rational == (1 - alpha) / (1 + alpha) <= found.low < 1 == found.high
