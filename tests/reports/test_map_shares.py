"""Shares of a map are shares of the domain: against areas by clipping polygons, and known volumes."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random

import pytest

from paramverify.algebra.domains import Domain, Interval, box_domain
from paramverify.algebra.polynomials import Ring
from paramverify.algebra.signs import parse_constraint
from paramverify.algebra.volumes import Inside, VolumeShare
from paramverify.claims import Claim
from paramverify.cli.main import run
from paramverify.models.parameters import Sense
from paramverify.privacy.cases import load
from paramverify.reports import sentences
from paramverify.synthesis.maps import Cell, RegionMap, Status
from paramverify.synthesis.questions import region_claims
from paramverify.synthesis.regions import region_map
from paramverify.synthesis.safe_values import optimum_of_map

Place = tuple[Fraction, Fraction]
Line = tuple[int, int, int]  # a·p + b·q <= c

CASE = """
[parameters]
p = "(0, 1)"
q = "(0, 1)"
{parameters}
constraints = [{constraints}]
[define]
f = "{f}"
[claim]
holds = "f {relation} 1/2"
"""


def case(path: Path, constraints: str, relation: str = "<=", f: str = "p + q", parameters: str = "") -> Path:
    """Writes a case over the unit square."""
    path.write_text(CASE.format(constraints=constraints, relation=relation, f=f, parameters=parameters))
    return path


def clipped(corners: list[Place], line: Line) -> list[Place]:
    """The part of a convex polygon on one side of a line (Sutherland and Hodgman)."""
    a, b, c = line
    kept: list[Place] = []
    for (x, y), (u, v) in zip(corners, [*corners[1:], *corners[:1]], strict=True):
        here, there = c - a * x - b * y, c - a * u - b * v
        if here >= 0:
            kept.append((x, y))
        if here * there < 0:
            t = here / (here - there)
            kept.append((x + t * (u - x), y + t * (v - y)))
    return kept


def area(box: tuple[tuple[Fraction, Fraction], ...], lines: list[Line]) -> Fraction:
    """The area of a rectangle on one side of some lines, by the shoelace formula."""
    (left, right), (low, high) = box
    corners = [(left, low), (right, low), (right, high), (left, high)]
    for line in lines:
        corners = clipped(corners, line)
    pairs = zip(corners, [*corners[1:], *corners[:1]], strict=True)
    return abs(sum((x * v - u * y for (x, y), (u, v) in pairs), Fraction(0))) / 2


def domain_of(names: str, constraints: list[str], ends: tuple[int, int] = (0, 1)) -> Domain:
    """A cube with constraints."""
    ring = Ring(tuple(names))
    side = Interval(Fraction(ends[0]), Fraction(ends[1]), False, False)
    plain = box_domain(ring, dict.fromkeys(names, side))
    found = tuple(c for constraint in constraints for c in parse_constraint(constraint, plain))
    return Domain(ring, plain.box, found)


def test_rectangles_cut_by_lines() -> None:
    """The volume is exact where one line cuts a rectangle, and within tight bounds where several do."""
    random = Random(51)
    for number in range(60):
        lines = [
            (random.choice((-3, -2, -1, 1, 2)), random.choice((-2, -1, 1, 3)), random.randint(-1, 2))
            for _ in range(1 + number % 3)
        ]
        domain = domain_of("pq", [f"({a})*p + ({b})*q <= {c}" for a, b, c in lines])
        low, high = sorted(random.sample(range(9), 2))
        box = ((Fraction(low, 8), Fraction(high, 8)), (Fraction(0), Fraction(random.randint(1, 4), 4)))
        (found,) = Inside.of(domain, ("p", "q")).volumes([box])
        true = area(box, lines)
        assert found.lower <= true <= found.upper
        assert found.exact or len(lines) > 1
        assert found.upper - found.lower <= Fraction(1, 10**4)


@pytest.mark.parametrize("names", ["pq", "pqr", "pqrs"])
def test_a_corner_of_a_cube(names: str) -> None:
    """The simplex has volume 1/d!, and a turned one has what is left of the cube."""
    below, above = " + ".join(names), "-".join(names)
    unit = tuple((Fraction(0), Fraction(1)) for _ in names)
    size = Fraction(1, {2: 2, 3: 6, 4: 24}[len(names)])
    inside = Inside.of(domain_of(names, [f"{below} <= 1"]), tuple(names))
    assert inside.volumes([unit]) == [VolumeShare(size, size)]
    inside = Inside.of(domain_of(names, [f"{above} < 0"]), tuple(names))
    assert inside.volumes([unit]) == [VolumeShare(1 - size, 1 - size)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("constraints", "true"),
    [
        (["r >= 1/2 + p/2", "r <= q"], Fraction(1, 4)),  # the triangle q > (1 + p)/2
        (["r - p <= 0", "p - r <= 0"], Fraction(1)),  # an equation with r
        (["p*(r - 1/2) > 0"], Fraction(1)),  # vanishes for all p at r = 1/2, which is one of the values tried
        (["p*(r - 1/2)**2 <= 0"], Fraction(1)),  # holds for all p at that value only
    ],
)
def test_other_parameters(constraints: list[str], true: Fraction) -> None:
    """A point is in the domain if it is with some values of the other parameters."""
    unit = ((Fraction(0), Fraction(1)), (Fraction(0), Fraction(1)))
    (found,) = Inside.of(domain_of("pqr", constraints), ("p", "q")).volumes([unit])
    assert found.lower <= true <= found.upper


@pytest.mark.slow
@pytest.mark.parametrize(
    ("relation", "true"), [("<=", Fraction(1, 4)), (">=", Fraction(3, 4))], ids=["below", "above"]
)
def test_shares_are_of_the_domain(
    relation: str, true: Fraction, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A quarter of the triangle p + q <= 1 has p + q <= 1/2: in text, JSON and legend."""
    path = case(tmp_path / "case.toml", '"p + q <= 1"', relation)
    assert run(["synthesize", str(path), "--region", "--coverage", "0.05", "--json"]) == 0
    shares = {s: Fraction(v) for s, v in json.loads(capsys.readouterr().out)["shares"].items()}
    assert shares["undecided"] <= Fraction(1, 20)
    assert shares["safe"] <= true <= shares["safe"] + shares["undecided"]
    assert sum(shares.values()) == 1
    plot = tmp_path / "map.svg"
    assert run(["synthesize", str(path), "--region", "--coverage", "0.05", "--plot", str(plot)]) == 0
    told = capsys.readouterr().out
    assert f"{float(100 * shares['safe']):.2f} % true" in told
    (legend,) = re.findall(r"true ≈ ([\d.]+) %", plot.read_text())
    assert abs(Fraction(legend) - 100 * shares["safe"]) < Fraction(1, 10)


def test_coverage_is_of_the_domain(tmp_path: Path) -> None:
    """In a thin domain few of the cells are inside, and still at most the wanted share of it is open."""
    path = case(tmp_path / "case.toml", '"p + q <= 1/50"', "<=", "30*p")
    model = load(path).model
    found = region_map(region_claims(model), model.domain, ("p", "q"), Fraction(1, 20))
    assert found.shares[Status.UNDECIDED].upper <= Fraction(1, 20)
    # 30*p <= 1/2 leaves out the corner p > 1/60 of a triangle with sides 1/50.
    corner = ((Fraction(1, 50) - Fraction(1, 60)) / Fraction(1, 50)) ** 2
    assert found.shares[Status.SAFE].lower <= 1 - corner <= 1 - found.shares[Status.VIOLATING].lower


@pytest.mark.slow
def test_bounds_are_told_where_a_curve_cuts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where a constraint is not linear, text and JSON have certified bounds."""
    path = case(tmp_path / "case.toml", '"p**2 + q**2 <= 1"')
    assert run(["synthesize", str(path), "--region", "--coverage", "0.3"]) == 0
    told = capsys.readouterr().out
    assert "  between " in told
    assert run(["synthesize", str(path), "--region", "--coverage", "0.3", "--json"]) == 0
    shares = json.loads(capsys.readouterr().out)["shares"]
    low, high = Fraction(shares["safe"]["lower"]), Fraction(shares["safe"]["upper"])
    # The triangle has the area 1/8 of pi/4; up to 30 % of it may be undecided.
    assert low < high <= Fraction(1, 8) / (Fraction(333, 106) / 4) + Fraction(1, 1000)
    assert low >= Fraction(1, 8) / (Fraction(355, 113) / 4) - Fraction(3, 10)


@pytest.mark.parametrize(
    ("low", "high", "told"),
    [
        ("0", "0", "0 %"),
        ("1", "1", "100 %"),
        ("1/1000000", "1/1000000", "< 0.01 %"),
        ("0", "1/1000000", "< 0.01 %"),
        ("999999/1000000", "1", "> 99.99 %"),
        ("1/4", "1/4", "25.00 %"),
        ("24983/100000", "25017/100000", "between 24.98 % and 25.02 %"),
        ("0", "1/3", "at most 33.34 %"),
        ("2/3", "1", "at least 66.66 %"),
        ("0", "1", "between 0 % and 100 %"),
    ],
)
def test_percent(low: str, high: str, told: str) -> None:
    """Bounds are rounded outwards, and nothing is 0 % or 100 % that is not."""
    assert sentences.percent(VolumeShare(Fraction(low), Fraction(high)), 2) == told


@pytest.mark.slow
def test_bounds_of_shares() -> None:
    """For all volumes between their bounds the shares are between theirs."""
    domain = domain_of("pq", ["p**2 + q**2 <= 1"])
    claims = region_claims_of(domain)
    half = Fraction(1, 2)
    ends = [(Fraction(0), half), (half, Fraction(1))]
    status = iter((Status.SAFE, Status.VIOLATING, Status.UNDECIDED, Status.SAFE))
    cells = tuple(Cell(next(status), box) for box in product(ends, repeat=2))
    found = RegionMap(("p", "q"), (), ((Fraction(0), Fraction(1)),) * 2, claims, cells, 0.0)
    for chosen in product((0, 1), repeat=3):
        values = [(v.lower, v.upper)[k] for v, k in zip(found.volumes.values(), chosen, strict=True)]
        for value, share in zip(values, found.shares.values(), strict=True):
            assert share.lower <= value / sum(values) <= share.upper


def region_claims_of(domain: Domain) -> tuple[Claim, ...]:
    """One claim on a domain."""
    return (Claim(domain.ring.number(0), domain),)


def test_an_optimum_needs_values_in_the_domain() -> None:
    """A safe cell that only touches the domain says nothing about which values can be reached."""
    domain = domain_of("pq", ["p + q >= 1", "p >= 3/4"])
    left, right = (Fraction(0), Fraction(1, 2)), (Fraction(1, 2), Fraction(1))
    cells = tuple(Cell(Status.SAFE, (p, q)) for p in (left, right) for q in (left, right))
    found = RegionMap(("p", "q"), (), ((Fraction(0), Fraction(1)),) * 2, region_claims_of(domain), cells, 0.0)
    best = optimum_of_map(found, "p", Sense.MINIMISE)
    assert best is not None
    assert best.value is None
    assert best.upper is None or best.upper >= Fraction(3, 4)
