"""Claims in one variable of which all roots are known by construction: verdict, witness and certificate."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest

from paramverify.algebra.domains import Constraint, Domain, Interval
from paramverify.algebra.polynomials import Polynomial, Ring
from paramverify.claims import Claim, to_document
from paramverify.errors import DefectError
from paramverify.evidence.certificates import univariate_tree
from paramverify.exact import univariate
from paramverify.exact.univariate import (
    IRRATIONAL,
    MULTIPLE,
    UNCONFIRMED,
    decide_small,
    decide_univariate,
    fails_without_witness,
    sole_variable,
)
from paramverify.formats.refutations import fails_at
from paramverify.kernel.claim_evidence import check_claim

RING = Ring(("p",))
RATIONAL = [Fraction(k, 4) for k in range(5)]
SQUARES = [Fraction(1, 2), Fraction(1, 3)]  # the squares of the irrational roots


@dataclass(frozen=True)
class Root:
    """A positive number by its square, so that all of them can be compared."""

    square: Fraction
    rational: bool


ALL = sorted(
    [*(Root(r * r, True) for r in RATIONAL), *(Root(s, False) for s in SQUARES)], key=lambda root: root.square
)


@dataclass(frozen=True)
class Product:
    """c·∏ (p − r)^m, with (p² − s)^m for an irrational root √s; signs at positive numbers are exact."""

    constant: int
    powers: tuple[tuple[Root, int], ...]

    def polynomial(self) -> Polynomial:
        p, result = RING.variable("p"), RING.number(self.constant)
        for root, power in self.powers:
            if root.rational:
                factor = p - RING.number(RATIONAL[[r * r for r in RATIONAL].index(root.square)])
            else:
                factor = p * p - RING.number(root.square)
            result = result * factor**power
        return result

    def sign(self, square: Fraction) -> int:
        """Returns the sign at the number with this square."""
        found = (self.constant > 0) - (self.constant < 0)
        for root, power in self.powers:
            part = (square > root.square) - (square < root.square)
            found *= part**power
        return found


@dataclass(frozen=True)
class Problem:
    claim: Claim
    holds: bool
    rational: bool  # it fails at some rational point


def random_product(random: Random, most: int) -> Product:
    chosen = random.sample(ALL, random.randint(0, most))
    return Product(random.choice((-1, 1, 2)), tuple((root, random.randint(1, 3)) for root in chosen))


def problem(random: Random, constraints: int) -> Problem:
    low, high = sorted(random.sample([*RATIONAL, Fraction(2)], 2))
    interval = Interval(low, high, random.random() < 0.5, random.random() < 0.5)
    f = random_product(random, 3)
    conditions = [(random_product(random, 2), random.random() < 0.5) for _ in range(constraints)]
    # Between neighbours of these points all signs are constant.
    squares = sorted({root.square for root in ALL} | {low * low, high * high})
    squares = [s for s in squares if low * low <= s <= high * high]
    places = [(s, s not in SQUARES) for s in squares]
    places += [((a + b) / 2, True) for a, b in pairwise(squares)]  # its root lies between; a rational is near
    failing = []
    for square, rational in places:
        if (square == low * low and not interval.lower_closed) or (
            square == high * high and not interval.upper_closed
        ):
            continue
        inside = all(g.sign(square) > 0 or (g.sign(square) == 0 and not s) for g, s in conditions)
        if inside and f.sign(square) < 0:
            failing.append(rational)
    stated = tuple(Constraint(g.polynomial(), strict, "") for g, strict in conditions)
    claim = Claim(f.polynomial(), Domain(RING, {"p": interval}, stated))
    return Problem(claim, not failing, any(failing))


def exactly(claim: Claim, point: Mapping[str, Fraction]) -> Mapping[str, Fraction] | None:
    """Confirms a point where the claim fails, without looking for another one."""
    return point if fails_at(claim, point) else None


@pytest.mark.slow
@pytest.mark.parametrize("constraints", range(4))
@pytest.mark.parametrize("part", range(2))
def test_claims_with_known_roots(constraints: int, part: int) -> None:
    """A claim is proved if it holds, refuted iff it fails at a rational point; proofs are checked."""
    random = Random(f"{constraints} {part}")
    proved = 0
    for _ in range(30):
        stated = problem(random, constraints)
        claim = stated.claim
        outcome = decide_univariate(claim, "p", lambda point, claim=claim: exactly(claim, point))
        said = (str(claim.polynomial), claim.domain)
        if stated.rational:
            assert outcome.point is not None, said
            assert fails_at(claim, outcome.point)
        elif not stated.holds:
            assert outcome.reason == IRRATIONAL, said
        elif outcome.proof is None:
            assert outcome.reason == MULTIPLE, said
            assert constraints > 0
        else:
            document = json.loads(json.dumps(to_document(claim)))
            assert check_claim(document, json.loads(json.dumps(outcome.proof))) == (), said
            proved += 1
        if claim.polynomial.is_constant() and not constraints:
            continue
        assert fails_without_witness(claim) == (not stated.holds and not stated.rational), said
    assert proved > 5


def claim(
    text: str, interval: Interval | None = None, *constraints: tuple[str, bool], names: str = "p"
) -> Claim:
    ring = Ring(tuple(names))
    box = {name: interval or Interval(Fraction(0), Fraction(1)) for name in names}
    stated = tuple(Constraint(ring.parse(g), strict, "") for g, strict in constraints)
    return Claim(ring.parse(text), Domain(ring, box, stated))


@pytest.mark.parametrize("h", ["p^2 - 1/2", "p - 1/2"])
@pytest.mark.parametrize("power", [0, 1, 2, 5])
@pytest.mark.parametrize("sign", [1, -1])
def test_powers_of_an_equation(h: str, power: int, sign: int) -> None:
    """Where h ≥ 0 and −h ≥ 0, every ±h^m with m > 0 is zero, times whatever; each has a proof."""
    ring = Ring(("p",))
    zero = ring.parse(h)
    for rest in ("1", "p + 1", "1/3 - 3*p"):
        f = zero**power * ring.parse(rest) * ring.number(sign)
        for both in ((zero, -zero), (-zero, zero), (zero * ring.parse("p + 2"), -zero * ring.parse("3 - p"))):
            conditions = tuple(Constraint(g, False, "") for g in both)
            box = {"p": Interval(Fraction(0), Fraction(1))}
            stated = Claim(f, Domain(ring, box, conditions))
            outcome = decide_univariate(stated, "p", lambda point, stated=stated: exactly(stated, point))
            positive = (sign > 0) == (rest != "1/3 - 3*p")
            if power or positive:
                assert outcome.proof is not None
                assert check_claim(to_document(stated), json.loads(json.dumps(outcome.proof))) == ()
            elif h == "p - 1/2":
                assert outcome.point == {"p": Fraction(1, 2)}
            else:
                assert outcome.reason == IRRATIONAL


def test_the_widest_gap_is_tried_first() -> None:
    """The claim fails on (0, 1/100) and on (1/2, 1): the simple point of the wider gap is the witness."""
    stated = claim("-100*p^3 + 151*p^2 - 103/2*p + 1/2", Interval(Fraction(0), Fraction(1)))
    negative = claim("100*p^3 - 151*p^2 + 103/2*p - 1/2", Interval(Fraction(0), Fraction(1)))
    for given in (stated, negative):
        tried: list[Fraction] = []

        def confirm(
            point: Mapping[str, Fraction], given: Claim = given, tried: list[Fraction] = tried
        ) -> None:
            assert fails_at(given, point)
            tried.append(point["p"])

        assert decide_univariate(given, "p", confirm).reason == UNCONFIRMED
        assert tried
        assert tried == [at for at in tried if fails_at(given, {"p": at})]
    outcome = decide_univariate(negative, "p", lambda point: exactly(negative, point))
    assert outcome.point in ({"p": Fraction(1, 200)}, {"p": Fraction(3, 4)}, {"p": Fraction(2, 3)})


def test_degrees_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A degree as large as the limit is decided, a larger one is left open, with the reason."""
    monkeypatch.setattr(univariate, "MAX_DEGREE", 3)
    for text, right in (("p^3", True), ("p^4", False)):
        given = claim(text)
        outcome = decide_univariate(given, "p", lambda point: None)
        assert (outcome.proof is not None) == right
        assert right or outcome.reason == "the degree is larger than 3"
        outcome = decide_univariate(claim(text, names="pq"), "p", lambda point: None)
        assert (outcome.proof is not None) == right
    only = [("p^2 - 1/2", False), ("1/2 - p^2", False)]
    assert fails_without_witness(claim("-p^3", None, *only))
    assert not fails_without_witness(claim("-p^4", None, *only))
    assert not fails_without_witness(claim("-p^4", None, *only, names="pq"))
    assert fails_without_witness(claim("-p^3", None, *only, names="pq"))
    assert not fails_without_witness(claim("-p", None, *only, ("p^4", False)))


def test_a_fixed_variable_has_rational_values_only() -> None:
    """Whether a claim on one point fails there or not, it does not fail at irrational points only."""
    for text in ("-p", "p", "p - 1/2"):
        point = Interval(Fraction(1, 2), Fraction(1, 2), True, True)
        assert not fails_without_witness(claim(text, point))


def test_the_sole_variable() -> None:
    """A claim is in one variable if it and its constraints mention that one alone."""
    for text, constraints, name in (
        ("p", (), "p"),
        ("q^2 - q", (), "q"),
        ("p*q", (), None),
        ("p", (("q - 1/2", False),), None),
        ("p", (("p - 1/2", False),), "p"),
        ("1", (("q - 1/2", False),), "q"),
        ("1", (), None),
    ):
        assert sole_variable(claim(text, None, *constraints, names="pq")) == name


def test_claims_without_variables() -> None:
    """A number is at least zero or not; a claim in two variables is left to others."""

    def confirm(point: Mapping[str, Fraction]) -> Mapping[str, Fraction]:
        return {"p": Fraction(1, 2), **point}

    for text in ("0", "1", "1/100"):
        outcome = decide_small(claim(text), confirm)
        assert outcome is not None
        assert outcome.proof == {"kind": "constant"}
    negative = claim("-1/100")
    found = decide_small(negative, confirm)
    assert found is not None
    assert found.point == {"p": Fraction(1, 2)}
    lost = decide_small(negative, lambda point: None)
    assert lost is not None
    assert (lost.proof, lost.point, lost.reason) == (None, None, UNCONFIRMED)
    assert decide_small(claim("p*q", names="pq"), confirm) is None
    assert decide_small(claim("-1", None, ("p*q - 1/2", False), names="pq"), confirm) is None
    one = decide_small(claim("p + 1"), confirm)
    assert one is not None
    assert one.proof is not None


@pytest.mark.parametrize("closed", [False, True])
def test_trees_are_for_positive_polynomials(closed: bool) -> None:
    """A polynomial that is negative at an end, or between them, has no tree: asking for one is a defect."""
    interval = Interval(Fraction(1, 4), Fraction(3, 4), closed, closed)
    for text in (
        "p - 1/2",
        "1/2 - p",
        "p^2 - p + 1/5",
        "-1/8 - p",
        "(p - 1/4)*(p - 2/3)",
        "(3/4 - p)*(1/3 - p)",
    ):
        with pytest.raises(DefectError):
            univariate_tree(RING.parse(text), "p", interval)
    box = {"p": interval}
    for text in ("p", "p - 1/4", "3/4 - p", "p^2 - p + 1/4 + 1/1000", "(p - 1/4)*(3/4 - p)*(p^2 - p + 1/3)"):
        f = RING.parse(text)
        tree = univariate_tree(f, "p", interval)
        check_claim(to_document(Claim(f, Domain(RING, box))), {"kind": "bernstein", "tree": tree})


@pytest.mark.parametrize("closed", [False, True])
def test_ends_that_are_roots(closed: bool) -> None:
    """Zeros at ends of the interval, of the claim and of constraints, are inside iff the end is."""
    interval = Interval(Fraction(0), Fraction(1), closed, closed)
    for text, limits, wrong in (
        ("p - 1", (("-p", False),), False),
        ("-p", (("p - 1", False),), False),
        ("p*(1 - p) - 1", (("-p*(1 - p)", False),), False),
        ("p*(p - 1/2)^2", (("p - 1/2", False),), None),
        ("(p - 1/3)*(p - 1/2)", (("(p - 1/3)*(p - 1/2)", True),), None),
        ("2/3 - p", (("(1/2 - p)*p", False),), None),
    ):
        limit = tuple(Constraint(RING.parse(t), strict, t) for t, strict in limits)
        claim = Claim(RING.parse(text), Domain(RING, {"p": interval}, limit))
        outcome = decide_univariate(
            claim, "p", lambda point, claim=claim: point if fails_at(claim, point) else None
        )
        if closed and wrong is False:
            assert outcome.point is not None
            assert fails_at(claim, outcome.point)
        else:
            assert outcome.proof is not None
            check_claim(to_document(claim), json.loads(json.dumps(outcome.proof)))
