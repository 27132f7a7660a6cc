"""For which values divergences keep their bounds: intervals and maps, against sums of fractions at points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import exp, inf, log
from random import Random

import pytest
from flint import arb
from set_oracle import Drawn, Point, drawn, points

from paramverify.algebra.domains import Interval
from paramverify.algebra.polynomials import RationalFunction
from paramverify.api import loads
from paramverify.divergences import Average, KLDivergence, Renyi, ZeroConcentrated
from paramverify.models.model import Model
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.loss_intervals import OnBox, divergence
from paramverify.privacy.loss_verification import directions
from paramverify.synthesis.maps import Status
from paramverify.synthesis.safe_values import Intervals, MapOptions, Regions, safe_values
from paramverify.tables import TomlDocument


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


def renyi_case(seed: int, parameters: int) -> tuple[Drawn, int, Fraction, PrivacyCase]:
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
    case = PrivacyCase(
        TomlDocument({}, digest="0" * 64, path="here.toml"),
        "renyi",
        replace(model, measure=Renyi(number, order)),
    )
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


# --- kl and zcdp ----------------------------------------------------------------------------------------

ORDERS = [1 + 10 ** (k / 10 - 3) for k in range(60)]


def needed(kind: type[Average], one: Sequence[Fraction], other: Sequence[Fraction]) -> float:
    """KL, or the largest D_α/α of a grid of orders and KL, by logarithms of floats."""
    if any(p and not q for p, q in zip(one, other, strict=True)):
        return inf
    both = [(float(p), float(q)) for p, q in zip(one, other, strict=True) if p]
    best = sum(p * log(p / q) for p, q in both)
    for order in ORDERS if kind is ZeroConcentrated else ():
        logs = [order * log(p) - (order - 1) * log(q) for p, q in both]
        most = max(logs)
        best = max(best, (most + log(sum(exp(v - most) for v in logs))) / (order - 1) / order)
    return best


def loss_case(seed: int, parameters: int, kind: type[Average]) -> tuple[Drawn, Fraction, PrivacyCase]:
    """A random mechanism with a bound that some points keep."""
    found = drawn(Random(seed), parameters)
    losses = sorted(largest(found, kind, at) for at in points(found.names, 9))
    finite = [loss for loss in losses if 0 < loss < inf] or [0.1]
    bound = max(Fraction(1, 50), Fraction(finite[len(finite) // 2]).limit_denominator(50))
    model = replace(found.model(Fraction(1), Fraction(1)), measure=kind(bound))
    return found, bound, PrivacyCase(TomlDocument({}, digest="0" * 64, path="here.toml"), kind.key, model)


def largest(found: Drawn, kind: type[Average], at: Point) -> float:
    """What both directions need at a point."""
    return max(needed(kind, found.shares(side, at), found.shares(1 - side, at)) for side in (0, 1))


@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        (KLDivergence, 2),
        pytest.param(ZeroConcentrated, 0, marks=pytest.mark.slow),
    ],
)
def test_enclosed_ends(kind: type[Average], seed: int) -> None:
    """Parts of one parameter say what logarithms at points say; what stays open is narrow."""
    found, bound, case = loss_case(seed, 1, kind)
    with Session(Options(seconds=20)) as session:
        answer = safe_values(case, session)
    assert isinstance(answer, Intervals)
    assert answer.complete
    parts, name = answer.partition.parts, answer.partition.parameter
    for part in parts:
        assert part.status is not Status.UNDECIDED or part.upper.lower - part.lower.lower < Fraction(1, 10**5)
    for at in points(found.names, 33):
        loss, status = largest(found, kind, at), answer.partition.status_at(at[name])
        if status is Status.SAFE:
            assert loss <= float(bound) * (1 + 1e-9)
        elif status is Status.VIOLATING:
            near = 1e-9 if kind is KLDivergence else 1e-2  # of a grid of orders
            assert loss >= float(bound) * (1 - near)
    for number, witness in answer.witnesses.items():
        assert witness.parameters[name] in parts[number]
        assert largest(found, kind, witness.parameters) >= float(bound) * 0.99


SQUEEZED = """
[parameters]
p = { in = "(0, 1)", design = true }
constraints = ["CONSTRAINT"]
[design]
minimise = "p"
[mechanism]
kind = "hmm"
states = ["s", "t"]
observations = ["a", "b"]
[mechanism.transitions]
s = { s = 1 }
t = { t = 1 }
[mechanism.emissions]
s = { a = "p/2", b = "1 - p/2" }
t = { a = "1/3", b = "2/3" }
[prior.left]
s = 1
[prior.right]
t = 1
[secrets]
pairs = [["left", "right"]]
[privacy]
kl = "BOUND"
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("constraint", "bound", "inside", "outside"),
    [
        ("p**2 >= 1/3", "5", {"3/5": "safe", "7/12": "safe"}, ["4/7", "1/2"]),
        ("(p - 1/2)**2 <= 0", "5", {"1/2": "safe"}, ["1/3", "51/100"]),
        ("(p - 1/2)**2 <= 0", "1/100", {"1/2": "violating"}, ["1/3", "51/100"]),
        ("p*(1 - p)*(p - 1/3) <= 0", "1/100", {"1/3": "violating", "1/9": "violating"}, ["34/100", "3/4"]),
        ("(p - 1/2)**2*(p - 3/4) >= 0", "1/100", {"1/2": "violating", "3/4": "safe"}, ["51/100", "2/3"]),
    ],
)
def test_parts_end_where_the_domain_does(
    constraint: str, bound: str, inside: dict[str, str], outside: list[str]
) -> None:
    """No part has values that the constraints leave out, points without neighbours included."""
    case = loads(SQUEEZED.replace("CONSTRAINT", constraint).replace("BOUND", bound)).content
    with Session(Options(seconds=20)) as session:
        answer = safe_values(case, session)
    assert isinstance(answer, Intervals)
    for value, status in inside.items():
        assert answer.partition.status_at(Fraction(value)) == status
    assert {answer.partition.status_at(Fraction(value)) for value in outside} == {Status.OUTSIDE}
    for number, part in enumerate(answer.partition.parts):
        if part.status is Status.VIOLATING:
            assert answer.witnesses[number].parameters["p"] in part
    assert (answer.optimum is not None) == answer.possible == ("safe" in inside.values())
    if answer.optimum:
        value = answer.optimum.value
        assert value is not None
        assert answer.partition.having(Status.SAFE)[0].lower is value


@pytest.mark.slow
def test_maps_of_losses() -> None:
    """Cells of a map of two parameters say what logarithms at points say."""
    found, bound, case = loss_case(2, 2, KLDivergence)
    with Session(Options(seconds=20)) as session:
        answer = safe_values(case, session, options=MapOptions(Fraction(1, 4)))
    assert isinstance(answer, Regions)
    assert answer.complete
    decided = set()
    for cell in answer.map.cells:
        for at in points(found.names, 17):
            sides = zip(answer.map.parameters, cell.box, strict=True)
            if all(low <= at[name] <= high for name, (low, high) in sides):
                loss = largest(found, KLDivergence, at)
                assert cell.status is not Status.SAFE or loss <= float(bound) * (1 + 1e-9)
                assert cell.status is not Status.VIOLATING or loss >= float(bound) * (1 - 1e-9)
                decided.add(cell.status)
    assert {Status.SAFE, Status.VIOLATING} <= decided


def test_lower_bounds_on_boxes() -> None:
    """A lower bound on a box is not above the divergence at its points, and near it on small boxes."""
    for seed in range(5):
        found, _, case = loss_case(seed, 1, KLDivergence)
        assert isinstance(case.model, Model)
        for direction in directions(case.model):
            side = int(direction.origin.left == "right")
            for order in (None, arb(2), arb(5)):
                for low in (Fraction(1, 3), Fraction(3, 5)):
                    box = {"p": Interval(low, low + Fraction(1, 1000), True, True)}
                    least = float(divergence(OnBox(direction.outputs, direction.factors, box), order).mid())
                    at = {"p": low}
                    one, other = found.shares(side, at), found.shares(1 - side, at)
                    both = [(float(p), float(q)) for p, q in zip(one, other, strict=True) if p]
                    if order is None:
                        loss = sum(p * log(p / q) for p, q in both)
                    else:
                        a = float(order.mid())
                        loss = log(sum(p**a / q ** (a - 1) for p, q in both)) / (a - 1)
                    assert least <= loss * (1 + 1e-9) + 1e-15
                    assert least >= loss - 0.1
