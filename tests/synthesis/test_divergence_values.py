"""For which values divergences keep their bounds: intervals and maps, against sums of fractions at points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from set_oracle import Drawn, Point, drawn, points

from paramverify.algebra.polynomials import RationalFunction
from paramverify.models.divergences import Renyi
from paramverify.models.model import Model
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import Case
from paramverify.synthesis.maps import Status
from paramverify.synthesis.safe_values import Intervals, Regions, safe_values


def moment(one: Sequence[Fraction], other: Sequence[Fraction], order: int) -> Fraction | None:
    """Σ p^order / q^(order−1), by its definition; None for infinity."""
    total = Fraction(0)
    for p, q in zip(one, other, strict=True):
        if p and not q:
            return None
        total += p**order / q ** (order - 1) if p else 0
    return total


def keeps(found: Drawn, order: int, bound: Fraction, at: Point) -> bool:
    """Whether both directions are within a bound at a point."""
    sums = [moment(found.shares(side, at), found.shares(1 - side, at), order) for side in (0, 1)]
    return all(total is not None and total <= bound for total in sums)


def renyi_case(seed: int, parameters: int) -> tuple[Drawn, int, Fraction, Case]:
    """A random mechanism on the closed unit box, with a bound that some points keep."""
    random = Random(seed)
    found, order = drawn(random, parameters), random.choice((2, 2, 3))
    sums = [
        moment(found.shares(side, at), found.shares(1 - side, at), order)
        for side in (0, 1)
        for at in points(found.names, 9)
    ]
    finite = sorted(total for total in sums if total is not None) or [Fraction(2)]
    bound = max(Fraction(1), finite[len(finite) // 2].limit_denominator(40))
    model: Model = found.model(Fraction(1), Fraction(1))
    number = RationalFunction.of(model.domain.ring.number(bound))
    case = Case("here.toml", "0" * 64, "renyi", replace(model, measure=Renyi(order, number)))
    return found, order, bound, case


def compare_at_points(seed: int, parameters: int, axes: Sequence[str] = ()) -> str:
    """Compares the answer for a random case with the sums at a grid of points; returns its form."""
    found, order, bound, case = renyi_case(seed, parameters)
    grid = points(found.names, 17)
    with Session(Options(seconds=20)) as session:
        answer = safe_values(case, session, axes)
    kept = [(at, keeps(found, order, bound, at)) for at in grid]
    if isinstance(answer, Intervals):
        name = answer.partition.parameter
        for value in {at[name] for at in grid}:
            own = [good for at, good in kept if at[name] == value]
            status = answer.partition.status_at(value)
            assert status is not Status.UNDECIDED
            assert all(own) if status is Status.SAFE else not all(own) or len(found.names) > 1
        for number, witness in answer.witnesses.items():
            assert witness.parameters[name] in answer.partition.parts[number]
            assert not keeps(found, order, bound, witness.parameters)
        return "intervals"
    assert isinstance(answer, Regions)
    for cell in answer.map.cells:
        sides = dict(zip(answer.map.parameters, cell.box, strict=True))
        for at, good in kept:
            if all(low <= at[name] <= high for name, (low, high) in sides.items()):
                assert good if cell.status is Status.SAFE else cell.status is not Status.VIOLATING or not good
    return "map"


@pytest.mark.parametrize("seed", range(6))
def test_intervals_of_random_cases(seed: int) -> None:
    """On the closed interval, with its zeros, the parts say what the sums say."""
    assert compare_at_points(seed, 1) == "intervals"
