"""Pictures of regions: what is in the files, who can read them, and that they do not contradict the map."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from matplotlib.image import imread
from tools.theorem_tools import case_of

from paramverify.algebra.domains import Domain, Interval
from paramverify.algebra.expressions import parse
from paramverify.algebra.polynomials import Ring, to_rational_function, value_at
from paramverify.algebra.signs import parse_constraint
from paramverify.algebra.volumes import VolumeShare
from paramverify.claims import Claim
from paramverify.cli.main import run
from paramverify.encodings.sequences import candidates, sequence_claims
from paramverify.errors import InputError
from paramverify.privacy.cases import load
from paramverify.reports.pictures import plot_style, ratio_curves, region_pictures
from paramverify.reports.pictures.ratio_curves import ratio_curve
from paramverify.reports.pictures.region_pictures import outlines
from paramverify.reports.sentences import percent
from paramverify.synthesis.maps import Cell, RegionMap, Status
from paramverify.synthesis.projection import project
from paramverify.synthesis.regions import region_map

SVG = "{http://www.w3.org/2000/svg}"
ZERO, ONE = Fraction(0), Fraction(1)

CASE = """
title = "Noisy max, {title}"
[parameters]
pA = "(0, 1)"
pB = "{b}"
pC = "{c}"
{constraints}
[prior]
A = {{ binomial = [2, "pA"] }}
B = {{ binomial = [2, "pB"] }}
C = {{ binomial = [2, "pC"] }}
[mechanism]
kind = "noisy_max"
queries = ["A", "B", "C"]
noise = {{ truncated_geometric = "1/2", range = 2 }}
ties = "uniform"
[secrets]
infected = "A >= 1"
healthy = "A <= 1"
pairs = [["infected", "healthy"]]
[privacy]
{bound}
"""


@cache
def noisy_max(b: str, c: str, bound: str = 'ratio = "3/2"', constraints: str = "") -> RegionMap:
    """Returns the region map of the parameters of the case that are not fixed, at most two."""
    text = CASE.format(title="three diseases", b=b, c=c, bound=bound, constraints=constraints)
    model = case_of(text).model
    free = [n for n, i in model.domain.box.items() if n in model.domain.ring.parameters and not i.is_point]
    return region_map(sequence_claims(model), model.domain, free[:2], Fraction(1, 20))


def claims_of(*texts: str, constraints: Sequence[str] = ()) -> tuple[Claim, ...]:
    """Returns the claims `f ≥ 0` over the unit square of p and q."""
    ring = Ring(("p", "q"))
    domain = Domain(ring, {n: Interval(ZERO, ONE) for n in ring.parameters})
    for text in constraints:
        domain = replace(domain, constraints=(*domain.constraints, *parse_constraint(text, domain)))
    return tuple(Claim(to_rational_function(parse(t), ring).numerator, domain) for t in texts)


def chequered(count: int) -> RegionMap:
    """Returns a map of count by count cells in which no two neighbours have the same status."""
    ends = [(Fraction(k, count), Fraction(k + 1, count)) for k in range(count)]
    statuses = (Status.SAFE, Status.VIOLATING, Status.UNDECIDED)
    cells = [
        Cell(statuses[(i + j) % 3], (x, y)) for (i, x), (j, y) in product(enumerate(ends), enumerate(ends))
    ]
    return RegionMap(("p", "q"), (), ((ZERO, ONE), (ZERO, ONE)), (), tuple(cells), 0.0)


def texts(path: Path) -> list[str]:
    """Returns the texts in an SVG file, which must be well-formed."""
    return ["".join(e.itertext()).strip() for e in ElementTree.parse(path).getroot().iter(f"{SVG}text")]


def letters(text: str) -> str:
    """Returns the visible characters of a text in order: an SVG has the glyphs of mathematics one by one."""
    return "".join(sorted(re.sub(r"\s", "", text)))


def formulas(path: Path) -> set[str]:
    """Returns the `letters` of all texts in an SVG file."""
    return {letters(text) for text in texts(path)}


def identifiers(path: Path) -> list[str]:
    return [e.get("id", "") for e in ElementTree.parse(path).getroot().iter() if e.get("id")]


# --- files ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_map(tmp_path: Path) -> None:
    """A map names its parameters, its budget, what is quantified, and the share of each status."""
    regions = noisy_max("(0, 1)", "(0, 1)")
    for ending in plot_style.FORMATS:
        region_pictures.draw(
            regions, tmp_path / f"map.{ending}", title="Noisy max for $5 and $6", budget="epsilon = ln(3/2)"
        )
    found = texts(tmp_path / "map.svg")
    assert {"boundary", "Noisy max for $5 and $6"} <= set(found)
    assert {*map(letters, ("pA", "pB", "ε = ln(3/2); for all pC ∈ (0, 1)"))} <= formulas(tmp_path / "map.svg")
    shown = [re.fullmatch(r"(private|not private|undecided) ≈ (\d+\.\d) %", text) for text in found]
    assert sum(Fraction(match[2]) for match in shown if match) == 100
    for match, status in zip(filter(None, shown), Status, strict=False):
        assert abs(Fraction(match[2]) / 100 - regions.shares[status].lower) < Fraction(2, 1000)
    names = identifiers(tmp_path / "map.svg")
    assert {"safe-1", "violating-1", "undecided-1", "boundary-1"} <= set(names)
    assert len(names) == len(set(names))
    assert imread(tmp_path / "map.png").shape[0] > 600


@pytest.mark.slow
def test_slices(tmp_path: Path) -> None:
    """A map over three parameters is drawn as slices, whose cells say the same as those of the map."""
    path = tmp_path / "case.toml"
    bound = 'ratio = "3/2"'
    path.write_text(CASE.format(title="", b="(0, 1)", c="(0, 1)", bound=bound, constraints=""))
    model = load(path).model
    regions = region_map(sequence_claims(model), model.domain, ("pA", "pB", "pC"), Fraction(1, 4))
    parts = region_pictures.slices(regions)
    assert [name for name, _ in parts] == [f"pC = {Fraction(2 * k + 1, 12)}" for k in range(6)]
    for number, (_, part) in enumerate(parts):
        assert sum(cell.volume for cell in part.cells) == 1  # they tile the square
        at = Fraction(2 * number + 1, 12)
        for cell in part.cells:
            assert any(
                whole.status is cell.status
                and whole.box[:2] == cell.box
                and at in Interval(*whole.box[2], True, True)
                for whole in regions.cells
            )
    region_pictures.draw(regions, tmp_path / "slices.svg", title="Slices")
    found = texts(tmp_path / "slices.svg")
    assert "Slices" in found
    assert {letters("pC = 1/12"), letters("pC = 11/12")} <= formulas(tmp_path / "slices.svg")
    signs = [letters(text) for text in found]
    assert signs.count(letters("pA")) == 3
    assert signs.count(letters("pB")) == 2
    names = identifiers(tmp_path / "slices.svg")
    assert len(names) == len(set(names))


@pytest.mark.slow
def test_exact_intervals(tmp_path: Path) -> None:
    """A line has the exact ends, the curve crosses its bound there, and the shares add up."""
    path = tmp_path / "case.toml"
    path.write_text(CASE.format(title="", b="2/3", c="3/4", bound='ratio = "3/2"', constraints=""))
    model = load(path).model
    found = project(sequence_claims(model), model.domain, "pA")
    assert [part.status for part in found.parts] == ["violating", "safe", "violating"]
    curve = ratio_curve(model, "pA")
    assert curve
    for ending in plot_style.FORMATS:
        region_pictures.draw_interval(
            found, tmp_path / f"line.{ending}", title="A line", budget="epsilon = ln(3/2)", curve=curve
        )
    shown = texts(tmp_path / "line.svg")
    assert {"largest ratio", "bound 3/2"} <= set(shown)
    assert {letters("pA"), letters("ε = ln(3/2); pB = 2/3, pC = 3/4")} <= formulas(tmp_path / "line.svg")
    lower, upper = (r.refined(Fraction(1, 10**9)).lower for r in (found.parts[1].lower, found.parts[1].upper))
    assert {"0", f"≈ {float(lower):.6g}", f"≈ {float(upper):.6g}", "1"} <= set(shown)
    assert f"private {percent(VolumeShare(upper - lower, upper - lower), 1)}" in shown
    for place in (lower, upper):
        assert curve.value(place) == pytest.approx(1.5)
    region_pictures.draw_interval(found, tmp_path / "named.svg", text=lambda root: "the root")
    assert texts(tmp_path / "named.svg").count("the root") == 2


@pytest.mark.slow
def test_thousands_of_cells(tmp_path: Path) -> None:
    """Also 6,400 cells without equal neighbours are a few elements, and a file of bounded size."""
    region_pictures.draw(chequered(80), tmp_path / "many.svg")
    elements = list(ElementTree.parse(tmp_path / "many.svg").getroot().iter())
    assert len(elements) < 250
    assert (tmp_path / "many.svg").stat().st_size < 1_000_000


@pytest.mark.slow
def test_the_same_map_is_the_same_file(tmp_path: Path) -> None:
    """Drawn twice, a picture is the same byte by byte, as SVG and as PNG."""
    regions = noisy_max("(0, 1)", "1/3", constraints='constraints = ["pA + pB <= 1"]')
    for ending in plot_style.FORMATS:
        one, two = (tmp_path / f"{name}.{ending}" for name in ("one", "two"))
        region_pictures.draw(regions, one)
        region_pictures.draw(regions, two)
        assert one.read_bytes() == two.read_bytes()
    assert b"<dc:date>" not in (tmp_path / "one.svg").read_bytes()


@pytest.mark.slow
def test_the_domain_is_seen(tmp_path: Path) -> None:
    """Where a constraint cuts the domain, the rest is covered, and the legend says what that is."""
    regions = noisy_max("(0, 1)", "1/3", constraints='constraints = ["pA + pB <= 1"]')
    region_pictures.draw(regions, tmp_path / "map.svg")
    assert "outside the domain" in texts(tmp_path / "map.svg")
    assert any(name.startswith("cover-1") for name in identifiers(tmp_path / "map.svg"))


def test_mistakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another kind of file, a map without parameters, and a missing matplotlib are told in words."""
    regions = chequered(2)
    with pytest.raises(InputError, match=r"map\.jpg: pictures are written as \.svg, \.png or \.pdf"):
        region_pictures.draw(regions, tmp_path / "map.jpg")
    with pytest.raises(InputError, match="at least one free parameter"):
        region_pictures.draw(replace(regions, parameters=(), box=(), cells=()), tmp_path / "map.svg")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError) as caught:
        plot_style.check_plot(tmp_path / "map.svg")
    assert str(caught.value).endswith(f"matplotlib is missing; to get it: {plot_style.INSTALL}")
    assert not list(tmp_path.iterdir())


# --- colours ----------------------------------------------------------------------------------------

# G. M. Machado, M. M. Oliveira, L. A. F. Fernandes, *A physiologically-based model for simulation of color
# vision deficiency*, IEEE TVCG 15, 2009: the matrices of severity 1, on linear RGB.
BLINDNESS = {
    "none": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def lab(colour: str, blindness: str) -> tuple[float, float, float]:
    """Returns the CIE L*a*b* coordinates of a colour as somebody with that blindness sees it."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    seen = [
        min(1.0, max(0.0, sum(m * c for m, c in zip(row, linear, strict=True))))
        for row in BLINDNESS[blindness]
    ]
    to_xyz = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    white = (0.9505, 1.0, 1.089)
    xyz = [
        sum(m * c for m, c in zip(row, seen, strict=True)) / w for row, w in zip(to_xyz, white, strict=True)
    ]
    x, y, z = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("blindness", BLINDNESS)
def test_everybody_can_tell_the_colours_apart(blindness: str) -> None:
    """The colours of any two statuses are far apart for each kind of colour-blindness."""
    seen = {status: lab(look.fill, blindness) for status, look in plot_style.LOOKS.items()}
    for one, other in combinations(seen.values(), 2):
        assert sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5 > 20


def test_grey_prints_can_be_read() -> None:
    """Safe and violating differ in lightness, every two statuses in hatching."""
    lightness = {status: lab(look.fill, "none")[0] for status, look in plot_style.LOOKS.items()}
    assert lightness["safe"] - lightness["violating"] > 25
    assert lightness["undecided"] - lightness["safe"] > 8
    assert len({look.hatch for look in plot_style.LOOKS.values()}) == len(plot_style.LOOKS)
    assert set(plot_style.LOOKS) == set(Status) - {Status.MIRRORED}  # maps that are drawn are not folded


# --- the boundary -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_field_agrees_with_exact_values() -> None:
    """Signs are those of exact evaluation, in both ways of evaluating, also where claims nearly vanish."""
    claims = claims_of(
        "p**2 - q",
        "(p - 1/2)**8 - q**9/10**12",
        "p*q*(1-p)**3*(3/5 - p)",
        "1 + p",
        "(p - q)**2 * (p + q - 1/3)",
    )
    places = ratio_curves.steps(33)
    box = ((ZERO, ONE), (ZERO, ONE))
    for count in range(1, len(claims) + 1):
        failing, domain = ratio_curves.failure_field(claims[:count], ("p", "q"), box, places)
        assert (domain >= 0).all()
        for (i, q), (j, p) in product(enumerate(places), enumerate(places)):
            exact = min(value_at(c.polynomial, {"p": p, "q": q}) for c in claims[:count])
            assert (failing[i, j] < 0) == (exact < 0)


@pytest.mark.slow
def test_the_field_of_a_high_degree() -> None:
    """At degree 48 in both parameters, with coefficients of 30 digits, signs are still exact."""
    claims = claims_of("(7*p - 3*q - 1)**24 * (p*q)**24 * 10**30 - p**48 * (1 - q)**48 * 123456789**3")
    places = ratio_curves.steps(17)
    failing, _ = ratio_curves.failure_field(claims, ("p", "q"), ((ZERO, ONE), (ZERO, ONE)), places)
    for (i, q), (j, p) in product(enumerate(places), enumerate(places)):
        assert (failing[i, j] < 0) == (value_at(claims[0].polynomial, {"p": p, "q": q}) < 0)
    assert (failing < 0).any()
    assert (failing > 0).any()


def test_the_field_knows_the_domain() -> None:
    """Points are outside of the domain exactly where a constraint fails, and no claim fails there."""
    claims = claims_of("p - q", constraints=["p + q <= 1", "p**2 <= q + 1/2"])
    places = ratio_curves.steps(25)
    failing, domain = ratio_curves.failure_field(claims, ("p", "q"), ((ZERO, ONE), (ZERO, ONE)), places)
    for (i, q), (j, p) in product(enumerate(places), enumerate(places)):
        inside = p + q <= 1 and p**2 <= q + Fraction(1, 2)
        assert (domain[i, j] >= 0) == inside
        assert (failing[i, j] < 0) == (inside and p < q)


@pytest.mark.slow
def test_the_boundary_does_not_contradict_the_cells(tmp_path: Path) -> None:
    """At no point of the field does a claim fail in a safe cell, or hold in a violating one."""
    regions = noisy_max("(0, 1)", "(0, 1)", bound="epsilon = 0.4")
    places = ratio_curves.steps(65)
    failing, _ = ratio_curves.failure_field(regions.claims, regions.parameters, regions.box, places)
    seen = set()
    for (i, b), (j, a) in product(enumerate(places), enumerate(places)):
        for cell in regions.cells:
            if all(low < x < high for x, (low, high) in zip((a, b), cell.box, strict=True)):
                seen.add(cell.status)
                assert cell.status is not Status.SAFE or failing[i, j] >= 0
                assert cell.status is not Status.VIOLATING or failing[i, j] < 0
    assert {Status.SAFE, Status.VIOLATING} <= seen


def test_the_ratio_curve_is_the_largest_ratio(tmp_path: Path) -> None:
    """The curve is the largest quotient over all candidates, with other parameters sampled."""
    path = tmp_path / "case.toml"
    path.write_text(CASE.format(title="", b="(0, 1)", c="3/4", bound='ratio = "2 - pB"', constraints=""))
    model = load(path).model
    curve = ratio_curve(model, "pA")
    assert curve
    assert curve.label == "largest ratio / bound"
    at = Fraction(1, 3)
    exact = ZERO
    for candidate, b in product(candidates(model), ratio_curves.steps(ratio_curves.SAMPLES[1])):
        point = {"pA": at, "pB": b, "pC": Fraction(3, 4)}
        exact = max(exact, value_at(candidate.left, point) / value_at(candidate.right, point) / (2 - b))
    assert curve.value(at) == pytest.approx(float(exact))
    assert curve.bound(at) == 1


# --- the documentation ------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_pictures_of_the_documentation(root: Path, tmp_path: Path) -> None:
    """Each picture in the documentation is a small file, and the command that is given there draws it."""
    words = (root / "docs" / "pictures.md").read_text().replace(" \\\n", " ")
    commands = re.findall(r"^\$ paramverify (.*) --plot docs/pictures/(\w+)\.svg$", words, re.MULTILINE)
    kept = {path.stem: path for path in (root / "docs" / "pictures").iterdir()}
    assert {name for _, name in commands} == set(kept) == {"line", "map", "slices"}
    for command, name in commands:
        assert f"](pictures/{name}.svg)" in words
        assert kept[name].stat().st_size < 150_000
        case = next(part for part in command.split() if part.startswith("cases/"))
        arguments = command.replace(case, str(root / case)).split()
        assert run([*arguments, "--plot", str(tmp_path / f"{name}.svg")]) == 0
        shown, drawn = (
            [text for text in texts(path) if "%" not in text]
            for path in (kept[name], tmp_path / f"{name}.svg")
        )
        assert shown == drawn


# --- outlines ---------------------------------------------------------------------------------------


@given(st.lists(st.booleans(), min_size=25, max_size=25))
def test_outlines_are_the_union(chosen: list[bool]) -> None:
    """The area in the outlines is the union's, and their winding number is 1 inside and 0 outside."""
    squares = [(divmod(k, 5)) for k, taken in enumerate(chosen) if taken]
    boxes = [((Fraction(x), Fraction(x + 1)), (Fraction(y), Fraction(y + 1))) for x, y in squares]
    loops = outlines(boxes)
    total = 0.0
    for loop in loops:
        edges = list(zip(loop, [*loop[1:], loop[0]], strict=True))
        total += sum(x * b - a * y for (x, y), (a, b) in edges) / 2
        directions = [(x == a) for (x, _), (a, _) in edges]
        assert all(
            one != other for one, other in zip(directions, [*directions[1:], directions[0]], strict=True)
        )
    assert total == len(squares)
    for x, y in product(range(5), range(5)):
        crossed = 0  # by the ray from the middle of the square to the right
        for loop in loops:
            for (a, b), (c, d) in zip(loop, [*loop[1:], loop[0]], strict=True):
                if a == c and a > x and min(b, d) < y + 0.5 < max(b, d):
                    crossed += 1 if d > b else -1
        assert crossed == ((x, y) in squares)
