"""Region maps: cells against exact evaluation, known areas, the papers' examples, interruption, evidence."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import pi
from pathlib import Path
from random import Random
from typing import Any

import pytest
from region_problems import Problem, contradictions, random_problem, volume, wavy
from written_evidence import Json, alone, with_first

from paramverify.algebra.bernstein import Enclosure, at, enclosure, reduced, rises, rounded, split_enclosure
from paramverify.algebra.domains import Domain, Interval, box_domain
from paramverify.algebra.polynomials import Ring
from paramverify.claims import Claim, to_document, without_enclosure
from paramverify.errors import EvidenceError, InputError
from paramverify.kernel.documents import check_document, check_text
from paramverify.kernel.ledger import Demanded
from paramverify.portfolio.session import Options, Session
from paramverify.synthesis.map_documents import statement
from paramverify.synthesis.map_files import cell_file, load_cells
from paramverify.synthesis.maps import Cell, RegionMap, Status
from paramverify.synthesis.regions import region_map

OPEN = Interval(Fraction(0), Fraction(1))
CLOSED = Interval(Fraction(0), Fraction(1), True, True)


def problem(text: str, names: str = "pq", free: str = "pq", interval: Interval = OPEN) -> Problem:
    ring = Ring(tuple(names))
    domain = box_domain(ring, dict.fromkeys(names, interval))
    return Problem((Claim(ring.parse(text), domain),), domain, tuple(free))


def run(stated: Problem, coverage: Fraction = Fraction(1, 100), **options: Any) -> RegionMap:
    return region_map(stated.claims, stated.domain, stated.free, coverage, **options)


def map_document(found: RegionMap, domain: Domain) -> Json:
    """A map as evidence, written to text and read again."""
    return alone("map", json.loads(json.dumps(statement(found, domain))))


def accepted(found: RegionMap, domain: Domain) -> bool:
    """Whether the independent checker accepts the map."""
    claims = [to_document(without_enclosure(claim)) for claim in found.claims]
    return check_document(map_document(found, domain), Demanded(stated=claims)).accepted


KINDS = [(2, 0, True, 1), (3, 0, False, 1), (2, 1, False, 2)]


@pytest.mark.slow
@pytest.mark.parametrize(("free", "quantified", "constant", "constraints"), KINDS)
def test_no_point_contradicts_its_cell(free: int, quantified: int, constant: bool, constraints: int) -> None:
    """On random points, exact evaluation agrees with the cell, and the checker with the map."""
    random = Random(f"{free} {quantified} {constant} {constraints}")
    mixed = False
    while not mixed:
        stated = random_problem(random, free, quantified, constant, constraints)
        found = run(stated, Fraction(1, 10) if free < 3 else Fraction(1, 3), seconds=5)
        statuses = {cell.status for cell in found.cells}
        if not {Status.SAFE, Status.VIOLATING} <= statuses:
            continue
        assert not contradictions(found, stated.domain, random, 400)
        assert sum(cell.volume for cell in found.cells) == volume(found)
        assert accepted(found, stated.domain)
        mixed = True


@pytest.mark.slow
def test_high_degrees() -> None:
    """Forms of degree 30, where enclosures of lower degrees are used on most cells, agree with evaluation."""
    ring = Ring(("p", "q"))
    domain = box_domain(ring, {"p": OPEN, "q": CLOSED})
    one, p, q, half = ring.number(1), ring.variable("p"), ring.variable("q"), ring.number(Fraction(1, 2))
    walk = [ring.number(0)] * 8 + [one]
    for x in (p, q) * 30:
        walk = [walk[0], *(x * walk[k + 1] + (one - x) * walk[k - 1] for k in range(1, 8)), walk[-1]]
    found = region_map([Claim(walk[4] - half, domain)], domain, ("p", "q"), Fraction(1, 10))
    assert max(map(int, found.claims[0].polynomial.degrees())) >= 29
    assert {cell.status for cell in found.cells} == {Status.SAFE, Status.VIOLATING, Status.UNDECIDED}
    assert not contradictions(found, domain, Random(8), 300)
    assert accepted(found, domain)


@pytest.mark.slow
def test_areas() -> None:
    """p² + q² < 1/2 on a quarter of a disc of area π/8: certified from both sides, to within the coverage."""
    coverage = Fraction(1, 50)
    found = run(problem("p^2 + q^2 - 1/2"), coverage)
    violating, unknown = found.share(Status.VIOLATING), found.share(Status.UNDECIDED)
    assert unknown <= coverage
    assert violating < pi / 8 < violating + unknown


@pytest.mark.slow
def test_quantified_parameters_are_eliminated() -> None:
    """r² − 2·p·r + q ≥ 0 for all r in (0, 1) iff q ≥ p², so an area of 1/3 is violating."""
    found = run(problem("r^2 - 2*p*r + q", "pqr"), Fraction(1, 20))
    violating, unknown = found.share(Status.VIOLATING), found.share(Status.UNDECIDED)
    assert violating < Fraction(1, 3) < violating + unknown
    for cell in found.cells:
        if cell.status is Status.VIOLATING:
            assert dict(cell.at)["r"] in OPEN


def test_factors_that_vanish_on_the_boundary() -> None:
    """A factor that is positive inside does not keep the cells at the boundary open; a closed end does."""
    inside = run(problem("p*q - 2*p", "pq"))
    assert inside.cells == (replace(inside.cells[0], box=inside.box),)
    assert inside.cells[0].status is Status.VIOLATING
    closed = run(problem("p*q - 2*p", "pq", interval=CLOSED))
    assert all(cell.box[0][0] > 0 for cell in closed.cells if cell.status is Status.VIOLATING)
    assert closed.share(Status.VIOLATING) >= Fraction(99, 100)


def test_a_square_that_vanishes_inside() -> None:
    """(p − 1/3)²·(q − 2) is negative but on p = 1/3, which no violating cell contains."""
    found = run(problem("p^2*q - 2/3*p*q + 1/9*q - 2*p^2 + 4/3*p - 2/9"))
    third = Fraction(1, 3)
    for cell in found.cells:
        if cell.status is Status.VIOLATING:
            assert not cell.box[0][0] <= third <= cell.box[0][1]
    assert found.share(Status.VIOLATING) >= Fraction(99, 100)


@pytest.mark.slow
def test_claims_that_touch_zero_for_some_quantified_value() -> None:
    """q·(p − r)² + r⁴·(1 − q) ≥ 0 touches zero at p = r = 0 and more; other exact procedures prove cells."""
    stated = problem("p^2*q - 2*p*q*r + q*r^2 + r^4 - r^4*q", "pqr")
    found = run(stated)
    assert found.share(Status.SAFE) >= Fraction(99, 100)
    document = map_document(found, stated.domain)
    assert any("proofs" in cell for cell in document["statements"][0]["cells"])
    assert check_document(document).accepted


def test_a_session_decides_what_is_open() -> None:
    """(p − 1/3)² + (q − 1/3)² ≥ 0 touches zero at one point: the cell around it needs another proof."""
    stated = problem("p^2 - 2/3*p + q^2 - 2/3*q + 2/9")
    assert run(stated).share(Status.UNDECIDED) > 0
    with Session(Options(seconds=30)) as session:
        found = run(stated, session=session)
    assert found.share(Status.SAFE) == 1
    assert accepted(found, stated.domain)


# --- interruption and files -------------------------------------------------------------------------


def test_undecided_cells_are_gone_on_with() -> None:
    """From all cells of two coarser maps, one inside the other, a finer one does not cut anything again."""
    stated = problem("p^2 + q^2 - 1/2*r*p - 1/4*r^2 - 1/8", "pqr")
    coarse = run(stated, Fraction(1, 5))
    middle = run(stated, Fraction(1, 20), known=coarse.cells)
    seen: list[Cell] = []
    known = tuple(dict.fromkeys((*coarse.cells, *middle.cells[::-1])))
    found = run(stated, Fraction(1, 50), known=known, on_cell=seen.append)
    assert sum(cell.volume for cell in found.cells) == 1
    assert accepted(found, stated.domain)
    decided = {cell for cell in middle.cells if cell.status is not Status.UNDECIDED}
    assert decided <= set(found.cells)
    assert not decided & set(seen)
    open_before = [cell.box for cell in middle.cells if cell.status is Status.UNDECIDED]
    for cell in seen:
        assert any(
            all(low <= a and b <= high for (a, b), (low, high) in zip(cell.box, box, strict=True))
            for box in open_before
        )


def test_no_time() -> None:
    """Without time the whole box is undecided, and the map says that it was interrupted."""
    found = run(problem("p - q"), seconds=0)
    assert found.interrupted
    assert found.cells == (Cell(Status.UNDECIDED, found.box),)


def test_mistakes(tmp_path: Path) -> None:
    """Unknown free parameters, a wrong coverage, cells that do not tile, and files of other claims."""
    stated = problem("p - q")
    for free in ((), ("x",), ("p", "p")):
        with pytest.raises(InputError):
            region_map(stated.claims, stated.domain, free)
    with pytest.raises(InputError):
        run(stated, Fraction(1))
    half, whole = Fraction(1, 2), (Fraction(0), Fraction(1))
    with pytest.raises(InputError, match="do not tile"):  # two cells that overlap
        run(stated, known=[Cell(Status.SAFE, ((low, low + half), whole)) for low in (half / 2, half)])
    path = tmp_path / "cells"
    with cell_file(path, stated.claims, stated.domain, stated.free) as file:
        assert file.known == ()
    other = problem("p - q^2")
    for wrong in (other, replace(stated, free=("p",))):
        with pytest.raises(EvidenceError, match="other claims"):
            load_cells(path, wrong.claims, wrong.domain, wrong.free)
    path.write_text("nothing\n")
    with pytest.raises(EvidenceError):
        load_cells(path, stated.claims, stated.domain, stated.free)


@pytest.mark.parametrize("where", [Fraction(1, 2), Fraction(1)])
def test_cells_without_width_are_no_tiles(where: Fraction) -> None:
    """A cell that is a point, a line, or thinner than any cut makes, comes from no subdivision of the box."""
    stated = problem("p - q")
    whole, flat = (Fraction(0), Fraction(1)), (where, where)
    thin = (Fraction(0), Fraction(1, 2**500))
    for box in ((flat, whole), (whole, flat), (flat, flat), (thin, whole)):
        with pytest.raises(InputError, match="do not tile"):
            run(stated, known=[Cell(Status.SAFE, box)])


# --- evidence ---------------------------------------------------------------------------------------


def quantified_map() -> tuple[Problem, Json]:
    stated = problem("r^2 - 2*p*r + q", "pqr")
    return stated, map_document(run(stated, Fraction(1, 5)), stated.domain)


@pytest.mark.slow
def test_false_maps_are_rejected() -> None:
    """Whatever single thing is changed in the cells of a map, the checker does not accept it."""
    stated, document = quantified_map()
    text, claims = json.dumps(document), [to_document(c) for c in stated.claims]
    assert check_document(document, Demanded(stated=claims)).accepted
    status = {"safe": "violating", "violating": "safe", "undecided": "safe", "outside": "safe"}
    for k, entry in enumerate(document["statements"][0]["cells"]):
        for change in ("status", "box", "missing", "twice", "cuts", "at"):
            wrong = json.loads(text)
            cells = wrong["statements"][0]["cells"]
            cell = cells[k]
            if change == "status":
                cell.update(status=status[entry["status"]], claim=0, at={"r": "1/2"})
            elif change == "box":
                cell["box"][0][1] = cell["box"][0][0] + "1"
            elif change == "missing":
                del cells[k]
            elif change == "twice":
                cells.append(cell)
            elif change == "cuts" and "cuts" in cell:
                cell["cuts"] = {"0": ["+", "+"]}
            elif change == "at" and "at" in cell:
                cell["at"] = {"r": "0"}
            else:
                continue
            # A safe cell with another tree may still be shown; a tree that is too short never is.
            assert not check_document(wrong).accepted, (change, entry)


def test_false_statements_are_rejected() -> None:
    """Products that are not the claims, tricks with constants, another domain, and malformed documents."""
    stated, document = quantified_map()
    demanded = Demanded(stated=[to_document(c) for c in stated.claims])
    assert check_document(document, demanded).accepted
    wrongs: list[Callable[[Json], object]] = [
        lambda d: d.update(claims=["p"]),
        lambda d: d["products"][0].update(constant="2"),
        lambda d: d["products"][0].update(constant="0"),
        lambda d: d["products"][0]["factors"].append([0, 1]),
        lambda d: (
            d["factors"].append("-1"),
            d["products"][0].update(constant="-1"),
            d["products"][0]["factors"].append([1, 3]),
        ),
        lambda d: d.update(domain=1),
        lambda d: d.update(free=["p"]),
        lambda d: d.update(free=["p", "x"]),
        lambda d: d.update(cells=[]),
        lambda d: d.update(cells=None),
        lambda d: d["cells"][0].update(status="fine"),
    ]
    for change in wrongs:
        wrong = json.loads(json.dumps(document))
        change(wrong["statements"][0])
        assert not check_document(wrong, demanded).accepted
    (domain,) = document["domains"]
    wider = {**domain, "box": {**domain["box"], "r": "(0, 2)"}}
    for differently in ({"domains": [wider]}, {"version": 1}, {"status": "holds"}):
        assert not check_document({**document, **differently}, demanded).accepted
    assert not check_text("{").accepted
    zero = {"claims": ["0"], "factors": [], "products": [{"constant": "0", "factors": []}]}
    assert not check_document(with_first(document, **zero)).accepted


def test_maps_with_the_constant() -> None:
    """A map whose claims use exp(1/3) is checked with the number itself, and not with another interval."""
    stated = random_problem(Random(4), 2, 0, True, 0)
    found = run(stated)
    document = map_document(found, stated.domain)
    assert check_document(document).accepted
    document["domains"][0]["box"]["E"] = "[1, 11/10]"
    assert not check_document(document).accepted


# --- enclosures -------------------------------------------------------------------------------------


def test_rounding_keeps_the_coefficients_within_the_error() -> None:
    """Each coefficient differs from its rounded entry by at most the error, also just below a power of 2."""
    exact = Enclosure(("p",), (2,), [2**100 - 1, -(2**99) - 1, 2**60 - 1], 3)
    form = rounded(exact, 40)
    assert form.error > 0
    for entry, coefficient in zip(form.entries, exact.entries, strict=True):
        assert abs((entry << 60) - coefficient) + exact.error <= form.error << 60
    assert rounded(form, 40) is form


def test_enclosures_contain_the_full_form() -> None:
    """Rounded, reduced and cut again and again, the entries and the error bound the exact coefficients."""
    random = Random(3)
    ring = Ring(("p", "q"))
    for degree in (3, 6, 12):
        polynomial = wavy(ring, "pq", degree, random)
        box = {"p": CLOSED, "q": CLOSED}
        exact = enclosure(polynomial, box)
        form = reduced(rounded(exact, 40), [min(degree, 4)] * 2)
        assert form.error > 0 or degree == 3
        for _ in range(8):
            name, side = random.choice("pq"), random.randrange(2)
            form = split_enclosure(form, name)[side]
            low, high = box[name].lower, box[name].upper
            ends = ((low, (low + high) / 2), ((low + high) / 2, high))[side]
            box[name] = Interval(*ends, True, True)
            exact = enclosure(polynomial, box)
            # The scale is unknown: a sign that the enclosure shows is one that the full form has.
            assert form.lower < 0 or min(exact.entries) >= 0
            assert form.upper > 0 or max(exact.entries) <= 0
            for end in (0, 1):
                face = at(exact, name, Fraction(end))
                assert at(form, name, Fraction(end)).lower < 0 or min(face.entries) >= 0
            slope = rises(form, name, degree)
            assert not slope or rises(exact, name, degree) == slope
