"""The arguments about boxes on which f may touch zero, one by one, with what they ask of the search."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from claim_tools import make

from paramverify.algebra.bernstein import patch
from paramverify.algebra.convexity import ROUGH_BITS
from paramverify.algebra.domains import Interval
from paramverify.algebra.number_fields import FINE_BITS
from paramverify.algebra.polynomials import Point, value_at
from paramverify.claims import Claim, to_document
from paramverify.evidence.certificates import CONSTANT
from paramverify.exact import branching
from paramverify.exact.branching import (
    Situation,
    by_blowup,
    by_convexity,
    by_rational_zero,
    by_shared_factor,
    by_square,
    without,
)
from paramverify.exact.procedure_outcomes import Outcome, RemainingWork
from paramverify.formats.refutations import Confirm, fails_at
from paramverify.kernel.claim_evidence import Rejected, check_claim

TRUSTED = {"kind": "solver", "solver": "z9", "version": ""}
HALF = Fraction(1, 2)
SIDES = ("lower", "upper")
CLOSED = "[0, 1]"


@dataclass
class Asked:
    """Stands for the search: notes what it is asked, and answers from a list, or that it holds."""

    answers: list[Outcome] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    levels: list[int] = field(default_factory=list)
    confirms: list[Confirm] = field(default_factory=list)
    works: list[RemainingWork] = field(default_factory=list)

    def __call__(self, claim: Claim, work: RemainingWork, confirm: Confirm, level: int) -> Outcome:
        self.claims.append(claim)
        self.levels.append(level)
        self.confirms.append(confirm)
        self.works.append(work)
        return self.answers.pop(0) if self.answers else Outcome(proof=TRUSTED)


def at(
    text: str,
    names: str = "pq",
    constraints: Sequence[str] = (),
    box: Mapping[str, tuple[str, str]] | None = None,
    **more: Any,
) -> tuple[Situation, Asked]:
    """Returns a situation in the closed unit box, or in a smaller one, and the search that it asks."""
    claim = make(text, dict.fromkeys(names, CLOSED), constraints)
    ends = dict.fromkeys(names, ("0", "1")) | dict(box or {})
    small = {n: Interval(Fraction(a), Fraction(b), True, True) for n, (a, b) in ends.items()}
    asked = Asked()
    known: dict[str, Any] = {
        "undecided": tuple(range(len(claim.domain.constraints))),
        "rounds": 0,
        "level": 0,
        "work": RemainingWork(1000),
        "confirm": lambda point: point if fails_at(claim, {**point}) else None,
    }
    return Situation(claim, small, patch(claim.polynomial, small), solve=asked, **(known | more)), asked


def accepted(here: Situation, proof: Any) -> bool:
    """Tells whether the checker accepts a proof for the situation's claim on its box."""
    document = to_document(Claim(here.claim.polynomial, here.domain, ()))
    try:
        check_claim(document, json.loads(json.dumps(proof)))
    except Rejected:
        return False
    return True


def test_constraints_on_other_variables_are_kept() -> None:
    """What a variable occurs in becomes trivial; the others stay, at their places."""
    here, _ = at("p", "pqr", ["p <= q", "q**2 <= r", "r + p <= 1", "q >= 1/3"])
    kept = without(here.domain, "p").constraints
    assert len(kept) == 4
    assert [c.polynomial == 1 for c in kept] == [True, False, True, False]
    assert kept[1] == here.domain.constraints[1]


@pytest.mark.parametrize(
    ("text", "box", "how"),
    [
        ("(p - 1/3)**2 + (q - 1/2)**2", {}, "proof"),
        ("(2*p**2 - 1)**2 + q", {"p": ("7/10", "1")}, "proof"),  # the zero is irrational
        ("(p - 1/3)**2 + 1/100 + q", {}, "proof"),
        ("(p - 1/3)**2 - 1/10**6 + q", {}, "point"),
        ("(p - 1/3)**2 - (q - 1/2)**2", {}, None),
        ("-p**2", {}, None),
    ],
)
def test_convex_polynomials_are_decided_by_their_minimum(
    text: str, box: dict[str, tuple[str, str]], how: str | None
) -> None:
    """A convex f is proved or refuted by its least value; one that is not convex is left to others."""
    here, asked = at(text, box=box)
    outcome = by_convexity(here)
    assert not asked.claims
    if how is None:
        assert outcome is None
        return
    assert outcome is not None
    if how == "proof":
        assert accepted(here, outcome.proof)
    else:
        assert outcome.point is not None
        assert fails_at(here.claim, outcome.point)


def test_points_below_zero_must_be_confirmed() -> None:
    """A point that the claim's own test refuses is no refutation."""
    here, _ = at("(p - 1/3)**2 - 1/10**6 + q", confirm=lambda point: None)
    assert by_convexity(here) is None
    assert by_rational_zero(at("p - 1/3", "p", confirm=lambda point: None)[0]) is None


class Counting(RemainingWork):
    """Work that notes what is asked of it, and affords what it is told to."""

    def __init__(self, most: int) -> None:
        super().__init__(1000)
        self.most, self.costs, self.failures = most, [], 0

    def affords(self, boxes: int) -> bool:
        self.costs.append(boxes)
        return boxes <= self.most

    def failed(self) -> None:
        self.failures += 1


@pytest.mark.parametrize("text", ["(p**2 - 1/2)**4 + q**2", "(p**3 - 1/2)**2 + (q - 1/3)**4 + q*0"])
def test_precise_minima_are_paid_for(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """More bits than the rough ones cost by their square; a failure is told only if they were afforded."""
    tried: list[tuple[int, bool]] = []

    def minimum(f: Any, box: Any, allowed: Callable[[int], bool]) -> Any:
        for bits in (ROUGH_BITS, FINE_BITS, 2 * FINE_BITS, 8 * FINE_BITS):
            tried.append((bits, allowed(bits)))

        class Nothing:
            below = tangent = zero = None

        return Nothing()

    monkeypatch.setattr(branching, "minimum", minimum)
    here, _ = at(text, box={"p": ("7/10", "1")})
    f = here.claim.polynomial
    one = 40 * len(f) * int(f.total_degree())
    costs = [one, 4 * one, 64 * one]
    for most, failures in ((one - 1, 0), (one, 1), (4 * one, 1), (10**9, 1)):
        work = Counting(most)
        tried.clear()
        situation = Situation(
            here.claim, here.box, here.form, (), 0, 0, work=work, confirm=here.confirm, solve=here.solve
        )
        monkeypatch.setattr(branching, "is_convex", lambda form: True)
        assert by_convexity(situation) is None
        assert work.costs == costs
        assert tried == [(ROUGH_BITS, True)] + [
            (b * FINE_BITS, c <= most) for b, c in zip((1, 2, 8), costs, strict=True)
        ]
        assert work.failures == failures


@pytest.mark.parametrize(
    ("text", "constraint", "right"),
    [
        ("(p - q)*(1 + p)", "(p - q)*(2 - q) >= 0", True),
        ("(p - q)*(1 + p)", "(q - p)*(2 - q) >= 0", False),
        ("(q - p)*(1 + p)", "(p - q)*(q - 2) >= 0", True),
        ("(p - q)*(1 + p)", "(p - q)*(q - 2) >= 0", False),
        ("3*(p - q)", "(p - q)*(2 - q) >= 0", True),
        ("-3*(p - q)", "(p - q)*(q - 2) >= 0", True),
        ("3*(p - q)", "(p - q)*(q - 2) >= 0", False),
        ("(p - q)*p", "(p - q)*(2 - q) >= 0", True),
        ("(p - q)*(2*p - 1)", "(p - q)*(2 - q) >= 0", False),
        ("(p - q)*(1 + p)", "(p - q)*(1 - q) >= 0", False),  # the other factor may be zero
        ("(p - q)*(1 + p)", "(p - q)*(2*q - 1) >= 0", False),
        ("p + q - 1", "p - q >= 0", False),
        ("p + q + 1", "p + 2 >= 0", False),
    ],
)
def test_factors_shared_with_a_constraint(text: str, constraint: str, right: bool) -> None:
    """f and a constraint have a factor in common, and the cofactors one sign: then f has that of the rest."""
    for others in ((), ("p + q <= 3/2",)):
        here, asked = at(text, "pq", [*others, constraint])
        outcome = by_shared_factor(here)
        assert (outcome is not None) == right
        assert not asked.claims
        if outcome is not None:
            assert accepted(here, outcome.proof)
        decided = at(text, "pq", [*others, constraint], undecided=())[0]
        assert by_shared_factor(decided) is None


def noting(confirm: Confirm, tried: list[Point]) -> Confirm:
    """Returns the test of points that also notes them."""

    def noted(point: Point) -> Point | None:
        tried.append(point)
        return confirm(point)

    return noted


def test_rational_points_refute_or_cut() -> None:
    """The simplest point of the box or of a face refutes, or is where to cut; corners are not looked at."""
    for text, names, box, found in [
        ("p - 1/3", "p", {}, None),  # 1/2 is positive, and the ends are corners
        ("p - 2/3", "p", {}, {"p": HALF}),
        ("(p - 1/2)**2", "p", {}, (("p", HALF),)),
        ("(p - 1/2)**2*(q + 1)", "pq", {}, (("p", HALF),)),
        ("(p - q)**2", "pq", {}, (("p", HALF), ("q", HALF))),
        ("(p - 1/2)**2 + q", "pq", {}, (("p", HALF),)),
        ("(p - 1/2)**2 + 1 - q", "pq", {}, (("p", HALF),)),
        ("(p - 1/2)**2 + q - 1/9*p*q*(1 - q)", "pq", {}, (("p", HALF),)),
        ("(p - 1/2)**2 + 2*q - 1/100", "pq", {}, {"p": HALF, "q": Fraction(0)}),
        ("p*0 + 1", "p", {}, None),
        ("(p - 2/5)**2", "p", {"p": ("1/3", "3/7")}, (("p", Fraction(2, 5)),)),
    ]:
        here, asked = at(text, names, box=box)
        tried: list[Point] = []
        outcome = by_rational_zero(replace(here, confirm=noting(here.confirm, tried)))
        assert not asked.claims
        assert all(fails_at(here.claim, point) for point in tried)
        if isinstance(outcome, Outcome):
            assert outcome.point == found
            assert fails_at(here.claim, outcome.point)
        else:
            assert outcome == found


@pytest.mark.parametrize(("names", "right"), [("p", True), ("pq", True), ("pqr", True), ("pqrs", False)])
def test_how_many_axes_are_pinned(names: str, right: bool) -> None:
    """Zeros are looked for on boxes with at most three axes."""
    text = " + ".join(f"({n} - 1/2)**2" for n in names)
    found = by_rational_zero(at(text, names)[0])
    assert found == (tuple((n, HALF) for n in names) if right else None)
    assert (by_rational_zero(at(f"{text} - 1/100", names)[0]) is None) != right


def test_squares_are_completed() -> None:
    """c ≥ 0 and 4ac − b² ≥ 0 are asked, one level deeper and without the variable's constraints."""
    text, constraints = "2*p**2 - 3*p*q + 2*q**2 + q", ["p <= q", "q >= 1/9"]
    here, asked = at(text, "pq", constraints, level=3)
    outcome = by_square(here)
    assert outcome is not None
    ring = here.claim.domain.ring
    wanted = [ring.parse("2*q^2 + q"), ring.parse("8*(2*q^2 + q) - 9*q^2")]
    assert [claim.polynomial for claim in asked.claims] == wanted
    assert asked.levels == [4, 4]
    assert asked.works[0] is asked.works[1] is not here.work
    for claim in asked.claims:
        assert [c.polynomial == 1 for c in claim.domain.constraints] == [True, False]
    point = {"q": HALF}
    assert [confirm(point) for confirm in asked.confirms] == [point, point]
    check_claim(to_document(here.claim), json.loads(json.dumps(outcome.proof)))


def test_squares_that_cannot_be_completed() -> None:
    """Without a proof of both parts, of the wrong degree or sign, or too deep, there is no argument."""
    proof, point = Outcome(proof=TRUSTED), Outcome(point={"q": HALF})
    for answers, asks in (([point], 2), ([proof, point], 4), ([Outcome()], 2)):
        here, asked = at("p**2 - p*q + q**2")
        asked.answers = [*answers, *answers]
        assert by_square(here) is None
        assert len(asked.claims) == asks
    other, asked = at("p**2 - p*q + q**2")
    asked.answers = [point, proof, proof]  # not for p, but for q
    outcome = by_square(other)
    assert outcome is not None
    assert outcome.proof is not None
    for text, variables in (
        ("p + 1", 0),
        ("-p**2 + q", 0),
        ("p**3 + q", 0),
        ("(2*q - 1)*p**2 + q", 0),
        ("q*p**2 + p", 1),
        ("p**3 + p*q**2 - q", 1),
    ):
        here, asked = at(text)
        assert (by_square(here) is not None) == bool(variables)
        assert len(asked.claims) == 2 * variables
    for level in range(branching.MAX_LEVEL + 2):
        here, asked = at("p**2 - p*q + q**2", level=level)
        assert (by_square(here) is not None) == (level < branching.MAX_LEVEL)
        assert set(asked.levels) <= {level + 1}


def corner(text: str, names: str = "pq", **more: Any) -> dict[str, int] | None:
    """Returns the face around which cones are asked for, one for each of its variables; or none."""
    here, asked = at(text, names, **more)
    outcome = by_blowup(here)
    if outcome is None:
        assert not asked.claims
        return None
    assert outcome.proof is not None
    found = {name: SIDES.index(side) for name, side in outcome.proof["corner"].items()}
    assert len(asked.claims) == len(found)
    return found


def test_faces_where_f_vanishes() -> None:
    """Vertices and larger faces to second order at once, those to first order after enough cuts."""
    second, first = "(p - q)**2 + p*q", "p - p*q + q"
    low = {"p": 0, "q": 0}
    assert corner(first) is None
    for rounds in range(branching.BLOWUP_ROUNDS + 2):
        assert corner(first, rounds=rounds) == (low if rounds >= branching.BLOWUP_ROUNDS else None)
        assert corner(second, rounds=rounds) == low
    assert corner("(1 - p)**2 + q**2") == {"p": 1, "q": 0}
    assert corner("p + 1 - q", rounds=9) == {"p": 0, "q": 1}
    assert corner("p + 1", rounds=9) is None
    assert corner("p*0 + 1", rounds=9) is None
    assert corner("p", "pq", rounds=9) is None  # one coordinate alone is not blown up
    assert corner("p**2", "p", rounds=9) is None
    assert corner("(p + q)**2*(1 + r)", "pqr") == low
    assert corner("(p + q)**2 + r**2", "pqr") == {"p": 0, "q": 0, "r": 0}
    assert corner("p**2 + q**2 + r", "pqr") is None
    for level in range(branching.MAX_LEVEL + 2):
        assert (corner(second, level=level) is not None) == (level < branching.MAX_LEVEL)


@pytest.mark.parametrize("ends", list(product((0, 1), repeat=2)))
@pytest.mark.parametrize("box", [("0", "1"), ("1/3", "4/5")])
def test_cones_cover_the_box(ends: tuple[int, int], box: tuple[str, str]) -> None:
    """Each point of the box is in a cone, where the claim on the cone has its value; points come back."""
    low, high = map(Fraction, box)
    width = high - low
    one, two = (f"(({high}) - {n})" if end else f"({n} - ({low}))" for n, end in zip("pq", ends, strict=True))
    text = f"({one} - 2*{two})**2"
    here, asked = at(text, "pq", ["p + 2*q >= 1/7"], box=dict.fromkeys("pq", box), level=2)
    outcome = by_blowup(here)
    assert outcome is not None
    assert outcome.proof is not None
    assert asked.levels == [3, 3]
    assert outcome.proof["corner"] == {n: SIDES[end] for n, end in zip("pq", ends, strict=True)}
    f, (limit,) = here.claim.polynomial, here.claim.domain.constraints
    steps = [Fraction(k, 4) for k in range(5)]
    for a, b in product(steps, steps):
        far = {"p": a, "q": b}  # distances from the corner, of the widths
        point = {
            n: high - v * width if e else low + v * width for (n, v), e in zip(far.items(), ends, strict=True)
        }
        largest = max(far, key=lambda n: far[n])
        other = "q" if largest == "p" else "p"
        claim = asked.claims["pq".index(largest)]
        inside = {
            largest: point[largest],
            other: far[other] / far[largest] if far[largest] else Fraction(0),
        }
        assert all(value in claim.domain.box[n] for n, value in inside.items())
        assert claim.domain.box[largest] == here.box[largest]
        assert value_at(claim.polynomial, inside) == value_at(f, point)
        assert value_at(claim.domain.constraints[0].polynomial, inside) == value_at(limit.polynomial, point)
    for largest, claim in zip("pq", asked.claims, strict=True):
        other = "q" if largest == "p" else "p"
        assert claim.domain.box[other] == Interval(Fraction(0), Fraction(1), True, True)


def test_points_of_cones_come_back() -> None:
    """A point that refutes on a cone is moved to the box, and one part that is open leaves all open."""
    here, asked = at("(p - 2*q)**2 - 1/100*p*q")
    asked.answers = [Outcome(point={"p": HALF})]
    outcome = by_blowup(here)
    assert outcome is not None
    assert outcome.proof is None
    assert len(asked.claims) == 1
    lifted = asked.confirms[0]({"p": HALF, "q": HALF})  # q is half of p
    assert lifted == {"p": HALF, "q": Fraction(1, 4)}
    assert asked.confirms[0]({"p": HALF, "q": Fraction(1)}) is None
    here, asked = at("(p - 2*q)**2 - 1/100*p*q")
    asked.answers = [Outcome(proof=CONSTANT), Outcome()]
    outcome = by_blowup(here)
    assert outcome is not None
    assert (outcome.proof, outcome.point, len(asked.claims)) == (None, None, 2)
