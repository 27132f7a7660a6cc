"""Region maps in three to six parameters: brute force, symmetries, bounded memory, trees, forgeries."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from math import factorial, prod
from pathlib import Path
from random import Random
from typing import Any

import pytest
from region_problems import Problem, volume, wavy
from written_evidence import alone

from paramverify.algebra.domains import Constraint, Domain, Interval, box_domain
from paramverify.algebra.polynomials import Polynomial, Ring
from paramverify.algebra.volumes import VolumeShare
from paramverify.claims import Claim, to_document, without_enclosure
from paramverify.kernel.documents import check_document
from paramverify.kernel.ledger import Demanded
from paramverify.synthesis import regions
from paramverify.synthesis.map_documents import statement
from paramverify.synthesis.map_files import cell_file
from paramverify.synthesis.maps import (
    Cell,
    RegionMap,
    Status,
    ascending_volume,
    mirrored_side,
    mirrors,
    symmetric,
)
from paramverify.synthesis.nodes import WHOLE, Nodes
from paramverify.synthesis.regions import region_map
from paramverify.synthesis.tiling import Cut, Unfolding, tree

UNIT = Interval(Fraction(0), Fraction(1))
CORNER = "p*q + q*r + p*r + p*q*r - 1"  # symmetric, with both signs


def stated(*texts: str, names: str = "pqr", constraints: tuple[str, ...] = ()) -> Problem:
    ring = Ring(tuple(names))
    box = box_domain(ring, dict.fromkeys(names, UNIT))
    domain = Domain(ring, box.box, tuple(Constraint(ring.parse(c), False, c) for c in constraints))
    return Problem(tuple(Claim(ring.parse(text), domain) for text in texts), domain, tuple(names))


def value(polynomial: Polynomial, values: tuple[Fraction, ...]) -> Fraction:
    """The value at a point, term by term."""
    terms = polynomial.to_dict().items()
    return sum(
        (
            Fraction(int(c.p), int(c.q)) * prod(v ** int(e) for v, e in zip(values, x, strict=True))
            for x, c in terms
        ),
        Fraction(0),
    )


def points(random: Random, cell: Cell, count: int) -> Iterator[tuple[Fraction, ...]]:
    for _ in range(count):
        yield tuple(low + (high - low) * Fraction(random.randint(1, 31), 32) for low, high in cell.box)


def wrong(found: RegionMap, domain: Domain, random: Random, count: int) -> list[Cell]:
    """Cells of which the claims say something else at a random point of the domain."""
    result = []
    for cell in random.choices(list(found.cells), k=count):
        for point in points(random, cell, 1):
            inside = all(value(c.polynomial, point) >= 0 for c in domain.constraints)
            fails = [k for k, c in enumerate(found.claims) if value(c.polynomial, point) < 0]
            ascends = all(
                point[found.parameters.index(a)] <= point[found.parameters.index(b)]
                for names in found.folds
                for a, b in pairwise(names)
            )
            bad = {
                Status.SAFE: inside and bool(fails),
                Status.VIOLATING: inside and cell.claim not in fails,
                Status.OUTSIDE: inside,
                Status.MIRRORED: ascends,
                Status.UNDECIDED: False,
            }
            if bad[cell.status]:
                result.append(cell)
    return result


def report(found: RegionMap, domain: Domain, change: Callable[[Any], None] = lambda own: None) -> Any:
    """What the kernel says of a map as a document, perhaps one in which the statement is changed."""
    claims = [to_document(without_enclosure(claim)) for claim in found.claims]
    own = json.loads(json.dumps(statement(found, domain)))
    change(own)
    return check_document(alone("map", own), Demanded(stated=claims))


@pytest.mark.slow
@pytest.mark.parametrize(("free", "degree", "constraints"), [(3, 2, 1), (6, 1, 0)])
def test_no_point_of_a_cell_contradicts_it(free: int, degree: int, constraints: int) -> None:
    """Random claims in 3 to 6 parameters, at random points of their cells by fractions; the kernel too."""
    random = Random(f"{free} {degree}")
    names = tuple("pqrstu"[:free])
    ring = Ring(names)
    limits = tuple(
        Constraint(ring.parse(text), False, text) for text in ("p + q - 1/3", "r - s")[:constraints]
    )
    domain = Domain(ring, dict.fromkeys(names, UNIT), limits)
    while True:
        claims = tuple(
            Claim(wavy(ring, random.sample(names, 3), degree, random) + ring.number(6), domain)
            for _ in range(2)
        )
        found = region_map(claims, domain, names, Fraction(1, 4))
        if {Status.SAFE, Status.VIOLATING} <= {cell.status for cell in found.cells}:
            break
    assert found.share(Status.UNDECIDED) <= Fraction(1, 4)
    assert sum(cell.volume for cell in found.cells) == 1
    assert not wrong(found, domain, random, 150)
    assert report(found, domain).accepted


def test_cuts_are_where_cells_are_decided() -> None:
    """A claim that changes its sign on a plane at 5/8 is cut at 10/16 first: all that is safe is one cell."""
    found = region_map(stated("p - 5/8").claims, stated("p").domain, ("p", "q", "r"), Fraction(1, 100))
    (safe,) = (cell for cell in found.cells if cell.status is Status.SAFE)
    assert safe.box == ((Fraction(5, 8), 1), (0, 1), (0, 1))
    assert found.share(Status.UNDECIDED) <= Fraction(1, 100)


# --- symmetric parameters ---------------------------------------------------------------------------


def test_symmetric_parameters_are_found() -> None:
    """An exchange must leave the claims together and the intervals as they are."""

    def classes(problem: Problem) -> tuple[tuple[str, ...], ...]:
        return symmetric(problem.claims, problem.domain, problem.free)

    assert classes(stated(CORNER)) == (("p", "q", "r"),)
    assert classes(stated("p - q*r", "p + 1")) == (("q", "r"),)
    assert classes(stated("p - q*r", "q - p*r")) == (("p", "q"),)
    assert classes(stated("p*q - 1/2", "2*p*q - 1", "r*s - 1/2", names="pqrs")) == (("p", "q"), ("r", "s"))
    assert classes(stated("p + 2*q + 3*r - 1")) == ()
    assert classes(stated(CORNER, constraints=("1 - p - q - r",))) == (("p", "q", "r"),)
    assert classes(stated(CORNER, constraints=("1 - p - q", "2 - 2*p - 2*r", "1 - q - r"))) == (
        ("p", "q", "r"),
    )
    assert classes(stated(CORNER, constraints=("1 - p - q",))) == (("p", "q"),)
    assert classes(stated(CORNER, constraints=("p - q",))) == ()
    strict = stated(CORNER, constraints=("p - 1/4", "q - 1/4", "r - 1/4"))
    first, *rest = strict.domain.constraints
    limits = (replace(first, strict=True), *rest)
    assert symmetric(strict.claims, replace(strict.domain, constraints=limits), strict.free) == (("q", "r"),)
    assert classes(stated("p*q - 1/2", names="pq")) == ()  # what is drawn as it is
    narrow = stated(CORNER)
    half = Domain(narrow.domain.ring, {**narrow.domain.box, "q": Interval(Fraction(0), Fraction(1), True)})
    assert symmetric(narrow.claims, half, narrow.free) == (("p", "r"),)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_the_ascending_part_of_a_box(count: int) -> None:
    """Its volume equals the sum over the cubes of a grid, each of which gives 1/m! for m equal places."""
    random = Random(count)
    for _ in range(12):
        ends = [sorted(random.sample(range(5), 2)) for _ in range(count)]
        box = [(Fraction(low, 4), Fraction(high, 4)) for low, high in ends]
        total = Fraction(0)
        for places in product(*(range(low, high) for low, high in ends)):
            if list(places) == sorted(places):
                equal = prod(factorial(places.count(k)) for k in set(places))
                total += Fraction(1, 4**count * equal)
        fold = (tuple(range(count)),)
        assert ascending_volume(box, fold) == factorial(count) * total
        assert mirrors(box, fold) == (total == 0)
        part = mirrored_side(box, fold)
        if part and total:
            share, axis, ratio = part
            low, high = box[axis]
            cut = low + (high - low) * ratio
            both = [[*box[:axis], side, *box[axis + 1 :]] for side in ((low, cut), (cut, high))]
            gone = next(side for side in both if mirrors(side, fold))
            assert share == (gone[axis][1] - gone[axis][0]) / (high - low)


CASES = [
    stated(CORNER),
    stated("p - q*r + 1/3", "1/2 + q*r - p*r*q - p^2"),
    stated("p*q + r*s - 1/2", names="pqrs"),
    stated("p + q + r + s + t - 4*p*q*r*s*t - 1", names="pqrst"),
]


LIMITED = [
    (stated(CORNER, constraints=("p - 1/4", "q - 1/4", "r - 1/4", "5/2 - p - q - r")), None),
    (stated("p + q - 2*r*s - 1/3", names="pqrs", constraints=("p + q - 1/2",)), Fraction(7, 8)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("problem", "size"), LIMITED)
def test_folding_within_symmetric_constraints(problem: Problem, size: Fraction | None) -> None:
    """Shares of folded and plain maps fit together, and with samples; points in any order agree."""
    folds = symmetric(problem.claims, problem.domain, problem.free)
    assert folds
    coverage, random = Fraction(1, 4 if len(problem.free) < 4 else 2), Random(7)
    folded = region_map(problem.claims, problem.domain, problem.free, coverage, folds=folds)
    plain = region_map(problem.claims, problem.domain, problem.free, coverage)
    assert folded.share(Status.UNDECIDED) <= coverage
    for one, other in ((Status.SAFE, Status.VIOLATING), (Status.VIOLATING, Status.SAFE)):
        assert folded.share(one) <= 1 - plain.share(other)
        assert plain.share(one) <= 1 - folded.share(other)
    total = [sum(getattr(v, end) for v in folded.volumes.values()) for end in ("lower", "upper")]
    assert size is None or total == [size, size]
    assert sum(cell.volume for cell in folded.cells) == volume(folded) == 1
    assert report(folded, problem.domain).accepted
    assert not wrong(folded, problem.domain, random, 100)
    inside, seen = 0, dict.fromkeys(Status, 0)
    for _ in range(400):
        point = tuple(Fraction(random.randint(0, 999), 997) for _ in problem.free)
        if max(point) > 1 or any(value(c.polynomial, point) < 0 for c in problem.domain.constraints):
            continue
        placed = list(point)
        for names in folds:
            some = [problem.free.index(name) for name in names]
            for place, own in zip(some, sorted(point[k] for k in some), strict=True):
                placed[place] = own
        met = {
            c.status
            for c in folded.cells
            if all(a <= v <= b for v, (a, b) in zip(placed, c.box, strict=True))
        } - {Status.MIRRORED}
        fails = any(value(claim.polynomial, point) < 0 for claim in folded.claims)
        assert met
        assert met <= {Status.UNDECIDED, Status.VIOLATING if fails else Status.SAFE}
        inside, seen[min(met)] = inside + 1, seen[min(met)] + 1
    assert abs(total[0] - Fraction(inside, 400)) < Fraction(1, 10)
    for status in (Status.SAFE, Status.VIOLATING):
        assert abs(folded.share(status) - Fraction(seen[status], inside)) < Fraction(1, 8)


def wrong_beside(found: RegionMap, domain: Domain) -> list[Cell]:
    """Violating cells at whose values of the other parameters no claim fails at some corner in the domain."""
    names, bad = domain.ring.names, []
    for cell in found.cells:
        for corner in product(*cell.box):
            point = {**dict(cell.at), **dict(zip(found.parameters, corner, strict=True))}
            point |= {n: i.lower for n, i in domain.box.items() if i.is_point}
            values = tuple(point[n] for n in names if n in point)
            inside = len(values) == len(names) and all(point[n] in domain.box[n] for n in names)
            inside = inside and all(value(c.polynomial, values) >= 0 for c in domain.constraints)
            holds = inside and all(value(c.polynomial, values) >= 0 for c in found.claims)
            fails = inside and not holds
            if (cell.status is Status.VIOLATING and holds) or (cell.status is Status.SAFE and fails):
                bad.append(cell)
    return bad


def test_exact_shares_beside_a_fixed_parameter() -> None:
    """p + q + r <= 1 + k with k = 1/2 fixed has the volume 1/2: the shares of its parts are exact numbers."""
    ring = Ring(tuple("pkqr"))
    fixed = Interval(Fraction(1, 2), Fraction(1, 2), True, True)
    limit = Constraint(ring.parse("1 + k - p - q - r"), False, "p + q + r <= 1 + k")
    domain = Domain(ring, {n: fixed if n == "k" else UNIT for n in "pkqr"}, (limit,))
    claims = (Claim(ring.parse("p - k"), domain),)
    found = region_map(claims, domain, ("p", "q", "r"), Fraction(1, 100))
    # p > 1/2 leaves a simplex of the volume 1/6 but for its end of half the size
    assert found.volumes[Status.SAFE] == VolumeShare(Fraction(7, 48), Fraction(7, 48))
    assert found.shares[Status.SAFE] == VolumeShare(Fraction(7, 24), Fraction(7, 24))
    assert found.shares[Status.VIOLATING].exact
    assert len(found.cells) < 100  # the constraint speaks of the cells only: they need not be inside of it
    assert report(found, domain).accepted
    assert not wrong_beside(found, domain)


@pytest.mark.slow
@pytest.mark.parametrize("problem", [CASES[0], CASES[2], LIMITED[0][0]][1:])
def test_an_unfolded_map_tiles_the_box(problem: Problem) -> None:
    """Its cells have the volume of the box; no point contradicts them; a slice has the same ones."""
    folds = symmetric(problem.claims, problem.domain, problem.free)
    coverage = Fraction(1, 6 if len(problem.free) < 4 else 2)
    folded = region_map(problem.claims, problem.domain, problem.free, coverage, folds=folds)
    unfolding = Unfolding(folded)
    found = replace(folded, cells=tuple(unfolding.cells(folded.box)), folds=())
    assert sum(cell.volume for cell in found.cells) == volume(folded)
    assert not any(cell.status is Status.MIRRORED for cell in found.cells)
    if not problem.domain.constraints:
        assert found.share(Status.SAFE) <= 1 - folded.share(Status.VIOLATING)
        assert folded.share(Status.SAFE) <= 1 - found.share(Status.VIOLATING)
    random = Random(11)
    for cell in random.choices(found.cells, k=150):
        for point in points(random, cell, 1):
            inside = all(value(c.polynomial, point) >= 0 for c in problem.domain.constraints)
            fails = any(value(claim.polynomial, point) < 0 for claim in found.claims)
            wanted = Status.VIOLATING if fails else Status.SAFE
            assert not inside or cell.status in (wanted, Status.UNDECIDED)
    rest = tuple(Fraction(k + 1, 3) for k in range(len(problem.free) - 2))
    box = (*folded.box[:2], *((v, v) for v in rest))
    part = list(unfolding.cells(box))
    assert sum(prod(high - low for low, high in cell.box[:2]) for cell in part) == 1
    nodes = tree(found.box, list(found.cells))
    for cell in part:
        point = tuple((low + high) / 2 for low, high in cell.box)
        node = nodes[0]
        while isinstance(node, Cut):
            node = nodes[node.below if point[node.axis] <= node.at else node.above]
        assert node.status is cell.status


# --- memory and files -------------------------------------------------------------------------------


def narrow(monkeypatch: pytest.MonkeyPatch, waiting: int, kept: int) -> None:
    monkeypatch.setattr(regions, "FEWEST", waiting)
    monkeypatch.setattr(regions, "MOST", waiting)
    monkeypatch.setattr(regions, "MOST_KEPT", kept)


@pytest.mark.slow
def test_streamed_equals_not_streamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With 30 cells in memory at most, the file has the cells of the map that is made in memory."""
    problem = stated(CORNER)
    folds = symmetric(problem.claims, problem.domain, problem.free)
    told: dict[str, Any] = {"coverage": Fraction(1, 10), "folds": folds}
    narrow(monkeypatch, 40, 30)
    whole = region_map(problem.claims, problem.domain, problem.free, **told)
    with cell_file(tmp_path / "cells", problem.claims, problem.domain, problem.free, folded=True) as file:
        found = region_map(
            problem.claims, problem.domain, problem.free, on_cell=file.keep, stored=file.stored, **told
        )
        assert isinstance(found.cells, regions.SavedMap)
        assert len(found.cells.waiting) <= 40
        assert set(found.cells) == set(whole.cells)
        assert len(found.cells) == len(list(whole.cells))
        assert found.shares == whole.shares
        assert report(found, problem.domain).accepted


@pytest.mark.slow
def test_killed_and_resumed_equals_not_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that end at any cell go on in the file: no cell is decided twice, and the map is complete.

    The last line of such a file may be cut.
    """
    problem = stated(CORNER)
    folds = symmetric(problem.claims, problem.domain, problem.free)
    narrow(monkeypatch, 60, 10)
    decided: list[Cell] = []
    for stop in (3, 20, 45, 10**6):
        seen: list[Cell] = []
        with cell_file(tmp_path / "cells", problem.claims, problem.domain, problem.free, folded=True) as file:

            def on_cell(cell: Cell, seen: list[Cell] = seen, keep: Any = file.keep, stop: int = stop) -> None:
                keep(cell)
                seen.append(cell)
                if len(seen) == stop:
                    raise KeyboardInterrupt

            found = region_map(
                problem.claims,
                problem.domain,
                problem.free,
                Fraction(1, 10),
                on_cell=on_cell,
                known=file.known,
                folds=folds,
                stored=file.stored,
            )
            assert found.stopped == (stop < 10**6)
            assert sum(cell.volume for cell in found.cells) == 1
            assert report(found, problem.domain).accepted
        if found.stopped:
            with (tmp_path / "cells").open("a") as stream:
                stream.write('{"status": "safe", "bo')
        decided += [cell for cell in seen if cell.status is not Status.UNDECIDED]
    assert len(set(decided)) == len(decided)
    assert found.share(Status.UNDECIDED) <= Fraction(1, 10)
    whole = region_map(problem.claims, problem.domain, problem.free, Fraction(1, 10), folds=folds)
    assert found.share(Status.SAFE) <= 1 - whole.share(Status.VIOLATING)
    assert whole.share(Status.SAFE) <= 1 - found.share(Status.VIOLATING)


@pytest.mark.slow
def test_runs_may_fold_or_not_as_they_like(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that some runs fold and others do not goes on: its cells tile the box after each of them."""
    problem = stated(CORNER)
    folds = symmetric(problem.claims, problem.domain, problem.free)
    narrow(monkeypatch, 1_000, 5)
    coverage, before = Fraction(1, 2), (Fraction(0), Fraction(0))
    for run, folded in enumerate("1001"):
        with cell_file(
            tmp_path / "cells", problem.claims, problem.domain, problem.free, folded == "1"
        ) as file:
            found = region_map(
                problem.claims,
                problem.domain,
                problem.free,
                coverage,
                on_cell=file.keep,
                known=file.known,
                folds=folds if folded == "1" else (),
                stored=file.stored,
            )
            cells = list(found.cells)
            assert sum(cell.volume for cell in cells) == 1
            assert len(set(cells)) == len(cells)
            assert folded == "1" or not any(cell.status is Status.MIRRORED for cell in cells)
            assert found.share(Status.UNDECIDED) <= coverage
            assert not wrong(found, problem.domain, Random(run), 60)
            assert report(found, problem.domain).accepted
            now = found.share(Status.SAFE), found.share(Status.VIOLATING)
            assert all(old <= new for old, new in zip(before, now, strict=True))  # nothing is lost
        coverage, before = coverage * Fraction(2, 3), now


def test_many_cuts_beside_the_middle() -> None:
    """After 300 cuts at 1/16, one inside of the other, volumes are right to one unit for each cut."""
    problem = stated("p*q*r - 1/3")
    made = Nodes(problem.claims, problem.domain, problem.free, ())
    node, volume = made.root(), Fraction(WHOLE)
    for number in range(300):
        below, node_above = made.parts(node, number % 3, Fraction(1, 16))
        assert below.size + node_above.size == node.size
        node, volume = node_above, volume * Fraction(15, 16)
        assert abs(node.size - volume) < number + 1


def test_cells_inside_of_one_another_come_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where two cells may wait, and each is cut for itself, the work is not nested without end."""
    problem = stated(CORNER)
    narrow(monkeypatch, 2, 10**6)
    monkeypatch.setattr(regions, "FEW", 2)
    monkeypatch.setattr(regions, "DEEPEST", 3)
    found = region_map(problem.claims, problem.domain, problem.free, Fraction(0), seconds=5.0)
    assert not found.interrupted  # what is open that deep is left
    assert found.share(Status.UNDECIDED) > 0
    assert sum(cell.volume for cell in found.cells) == 1
    assert not wrong(found, problem.domain, Random(1), 60)


# --- trees ------------------------------------------------------------------------------------------


def test_the_tree_leads_to_the_cell() -> None:
    """From node 0 every point goes down to a cell that contains it; there are as many leaves as cells."""
    problem = stated(CORNER)
    found = region_map(problem.claims, problem.domain, problem.free, Fraction(1, 6))
    nodes = tree(found.box, list(found.cells))
    assert sorted(n.box for n in nodes if isinstance(n, Cell)) == sorted(c.box for c in found.cells)
    random = Random(2)
    for _ in range(60):
        point = [Fraction(random.randint(0, 32), 32) for _ in problem.free]
        node = nodes[0]
        while isinstance(node, Cut):
            node = nodes[node.below if point[node.axis] <= node.at else node.above]
        assert all(low <= v <= high for v, (low, high) in zip(point, node.box, strict=True))


# --- forgeries --------------------------------------------------------------------------------------


def forgeries() -> Iterator[tuple[str, Callable[[Any], None]]]:
    """Changes of a folded map that the kernel must not accept."""

    def mirror(own: Any) -> None:
        cell = next(c for c in own["cells"] if c["status"] == "undecided")
        own["cells"][own["cells"].index(cell)] = {"status": "mirrored", "box": cell["box"]}

    def turn(own: Any) -> None:
        own["symmetric"] = [["r", "q", "p"]]

    def drop(own: Any) -> None:
        own["cells"] = [c for c in own["cells"] if c["status"] != "mirrored"]

    yield "mirrors no others", mirror
    yield "mirrors no others", turn
    yield "tile", drop
    yield "mirrors no others", lambda own: own.pop("symmetric")
    yield "classes", lambda own: own.update(symmetric=[["p", "q"], ["q", "r"]])
    yield "classes", lambda own: own.update(symmetric=[["p", "x"]])
    yield "classes", lambda own: own.update(symmetric=[["p"]])


@pytest.mark.parametrize(("reason", "change"), list(forgeries()))
def test_forged_folds_are_refused(reason: str, change: Callable[[Any], None]) -> None:
    """A cell that mirrors nothing, another order, missing cells, and what is no class."""
    problem = stated(CORNER)
    found = region_map(problem.claims, problem.domain, problem.free, Fraction(1, 2), folds=(("p", "q", "r"),))
    assert report(found, problem.domain).accepted
    refused = report(found, problem.domain, change)
    assert not refused.accepted
    assert reason in refused.lines[0]


ASYMMETRIC = [
    stated("p + q + 2*r - 1"),
    stated("p*q - r", "q*r - p"),
    stated("p + q + r - 1", constraints=("p + q - 1/2",)),
]


@pytest.mark.parametrize("problem", ASYMMETRIC)
def test_what_is_not_symmetric_is_no_fold(problem: Problem) -> None:
    """A map that is said to be folded is refused, whichever exchange changes something."""
    assert symmetric(problem.claims, problem.domain, problem.free) != (("p", "q", "r"),)
    found = region_map(problem.claims, problem.domain, problem.free, Fraction(1, 2))
    assert report(found, problem.domain).accepted
    refused = report(found, problem.domain, lambda document: document.update(symmetric=[["p", "q", "r"]]))
    assert not refused.accepted
    assert "are not symmetric" in refused.lines[0]


def test_a_fold_needs_equal_intervals() -> None:
    """Another interval, or an end that belongs to one of them only, is seen by the kernel."""
    problem = stated(CORNER)
    for interval in (
        Interval(Fraction(0), Fraction(1), True),
        Interval(Fraction(0), Fraction(1, 2)),
    ):
        domain = Domain(problem.domain.ring, {**problem.domain.box, "q": interval})
        claims = tuple(Claim(claim.polynomial, domain) for claim in problem.claims)
        found = region_map(claims, domain, problem.free, Fraction(1, 2), folds=(("p", "q", "r"),))
        assert "are not symmetric" in report(found, domain).lines[0]


@pytest.mark.parametrize("seed", range(3))
def test_other_parameters_with_open_ends_and_points(seed: int) -> None:
    """Violations are shown inside of open ends where another parameter has one value."""
    random = Random(seed)
    ring = Ring(tuple("pqtu"))
    point = Fraction(random.randint(1, 5), 3)
    ends = {"p": UNIT, "q": UNIT, "t": Interval(Fraction(0), Fraction(1), False, False)}
    box = box_domain(ring, {**ends, "u": Interval(point, point, True, True)})
    sign = random.choice((1, -1))
    text = f"{sign}*t*u + {1 if sign < 0 else 0}*u + p*q*u + p - {random.randint(2, 6)}/4"
    claim = Claim(ring.parse(text), box)
    found = region_map((claim,), box, ("p", "q"), Fraction(1, 4), seconds=5)
    kinds = {cell.status for cell in found.cells}
    assert Status.VIOLATING in kinds
    for cell in found.cells:
        for p, q in points(random, cell, 8):
            values = [value(claim.polynomial, (p, q, Fraction(k, 1000), point)) for k in (1, 500, 999)]
            if cell.status is Status.SAFE:
                assert min(values) >= 0
            if cell.status is Status.VIOLATING:
                at = dict(cell.at)
                assert at.get("u", point) == point
                assert 0 < at["t"] < 1
                assert value(claim.polynomial, (p, q, at["t"], point)) < 0
