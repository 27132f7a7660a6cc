"""Region maps of claims of a high degree that depend on one product of powers of the parameters."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod
from random import Random

import pytest
from flint import fmpz_poly
from written_evidence import Json, alone, with_first

from paramverify.algebra.domains import Interval, box_domain
from paramverify.algebra.one_product import one_product
from paramverify.algebra.polynomials import Polynomial, Ring
from paramverify.claims import Claim
from paramverify.kernel.documents import check_document
from paramverify.synthesis.map_documents import statement
from paramverify.synthesis.maps import RegionMap, Status
from paramverify.synthesis.regions import region_map

NAMES = ("x", "y", "z")


class Composed:
    """g(u) with u = ∏ sᵢ^vᵢ, as numbers and as a polynomial that was expanded."""

    def __init__(self, seed: int) -> None:
        random = Random(seed)
        self.names = NAMES[: random.choice([2, 2, 3])]
        self.powers = [random.choice([1, 1, 2]) for _ in self.names]
        self.reflected = [random.random() < 0.4 for _ in self.names]
        degree = 8 if len(self.names) == 3 else random.choice([20, 22])
        self.outer = [random.randint(-9, 9) for _ in range(degree)] + [random.choice([-1, 1])]
        if random.random() < 0.5:  # roots inside, which are not only at u = 0
            for _ in range(random.randint(1, 2)):
                root = Fraction(random.randint(1, 9), 10)
                shifted = [Fraction(0), *map(Fraction, self.outer)]
                self.outer = [a - root * b for a, b in zip(shifted, [*self.outer, 0], strict=True)]
        self.ring = Ring(self.names)
        ends = [(Fraction(0), Fraction(1)), (Fraction(1, 10), Fraction(9, 10)), (Fraction(0), Fraction(1, 2))]
        self.box = {name: Interval(*random.choice(ends), False, True) for name in self.names}
        self.domain = box_domain(self.ring, self.box)

    def polynomial(self) -> Polynomial:
        """Returns f."""
        u, found = self.ring.number(1), self.ring.number(0)
        for name, power, reflected in zip(self.names, self.powers, self.reflected, strict=True):
            x = self.ring.variable(name)
            u *= (1 - x if reflected else x) ** power
        for coefficient in reversed(self.outer):
            found = found * u + self.ring.number(coefficient)
        return found

    def value(self, point: dict[str, Fraction]) -> Fraction:
        """Returns f at a point, without the package."""
        u = prod(
            (1 - point[n] if r else point[n]) ** v
            for n, v, r in zip(self.names, self.powers, self.reflected, strict=True)
        )
        return sum((c * u**k for k, c in enumerate(self.outer)), Fraction(0))


def mapped(case: Composed, free: tuple[str, ...]) -> RegionMap:
    """Returns the map of f ≥ 0."""
    return region_map([Claim(case.polynomial(), case.domain)], case.domain, free, Fraction(1, 20), seconds=5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_cells_say_what_is_so_at_points(seed: int) -> None:
    """Signs of f at points of each cell, by fractions, agree with its status, and the kernel does."""
    case, random = Composed(seed), Random(seed)
    free = case.names if seed % 3 else case.names[:-1]
    found = mapped(case, free)
    for cell in found.cells:
        ends = [
            dict(zip(free, cell.box, strict=True)).get(n, (case.box[n].lower, case.box[n].upper))
            for n in case.names
        ]
        for _ in range(4):
            point = {
                n: low + (high - low) * Fraction(random.randint(1, 15), 16)
                for n, (low, high) in zip(case.names, ends, strict=True)
            }
            if cell.status is Status.SAFE:
                assert case.value(point) >= 0
            if cell.status is Status.VIOLATING:
                assert case.value(point | dict(cell.at)) < 0
    report = check_document(alone("map", statement(found, case.domain)))
    assert report.accepted, report.lines
    assert report.open == sum(c.status is Status.UNDECIDED for c in found.cells)


def channels(reflected: bool) -> tuple[RegionMap, Json]:
    """Returns the map of two channels that messages need, each in three tries, and its document."""
    ring = Ring(("p", "q"))
    one = ring.number(1)
    p, q = ring.variable("p"), ring.variable("q")
    works = (one - p) * q if reflected else p * q
    fails = one - (one - (one - works) ** 3) ** (9 if reflected else 12)
    domain = box_domain(ring, {n: Interval(Fraction(0), Fraction(1), False, False) for n in ("p", "q")})
    claim = Claim(ring.number(Fraction(1, 4)) - fails, domain)
    found = region_map([claim], domain, ("p", "q"), Fraction(1, 6))
    return found, alone("map", statement(found, domain))


@pytest.mark.slow
@pytest.mark.parametrize("reflected", [False, True])
def test_the_roots_are_all_that_a_document_needs(reflected: bool) -> None:
    """Of a polynomial of a high degree no coefficients on a box are computed; each change is rejected."""
    found, document = channels(reflected)
    assert found.share(Status.UNDECIDED) <= Fraction(1, 6)
    (own,) = document["statements"]
    (entry,) = own["by_roots"]
    assert entry["powers"] == {"p": 1, "q": 1}
    assert entry["reflected"] == ["p"] * reflected
    assert check_document(document).accepted
    ((low, high),) = (tuple(map(Fraction, ends)) for ends in entry["roots"])
    width = high - low
    forged = [
        {"powers": {"p": 1, "q": 2}},
        {"powers": {"p": 1}},
        {"reflected": ["q"]},
        {"reflected": ["p"] * (not reflected)},
        {"roots": []},
        {"roots": [[str(low - 2 * width), str(low - width)]]},
        {"roots": [[str(low), str(high)], [str(high + width), str(high + 2 * width)]]},
        {"roots": [[str(high), str(low)]]},
        {"cuts": ["2"]},
        {"cuts": ["1/2", "1/2"]},
        {"factor": 1},
        {"factor": -1},
    ]
    for change in forged:
        assert not check_document(with_first(document, by_roots=[{**entry, **change}])).accepted, change
    for index, cell in enumerate(own["cells"]):
        if cell["status"] == "safe":
            wrong = {"box": cell["box"], "status": "violating", "claim": 0, "at": {}}
        else:
            wrong = {"box": cell["box"], "status": "safe"}
        cells = [*own["cells"][:index], wrong, *own["cells"][index + 1 :]]
        assert not check_document(with_first(document, cells=cells)).accepted, cell
    assert not check_document(with_first(document, by_roots=own["by_roots"] * 2)).accepted


def test_other_polynomials_have_no_such_form() -> None:
    """A term more, or other exponents, and there is no product on which all depends."""
    ring = Ring(("p", "q"))
    p, q = ring.variable("p"), ring.variable("q")
    for power, extra in product((5, 9), (p, q, p * q**2, (1 - p) * q)):
        assert one_product((p * q) ** power + (p * q) ** 2 - 1 + extra) is None
    found = one_product(((1 - p) ** 2 * q) ** 7 - 3 * ((1 - p) ** 2 * q) ** 3 + 1)
    assert found is not None
    assert dict(found.powers) == {"p": 2, "q": 1}
    assert found.outer == fmpz_poly([1, 0, 0, -3, 0, 0, 0, 1])
    assert found.reflected == {"p"}
