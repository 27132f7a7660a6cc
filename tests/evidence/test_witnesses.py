"""Witnesses: what they say of a point, which points they refuse, and how simple the points are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from random_models import parametric_model

from paramverify.algebra.constants import ExpConstant
from paramverify.algebra.domains import Constraint, Domain, Interval, contains
from paramverify.algebra.polynomials import RationalFunction, Ring
from paramverify.claims import Claim, Origin, Stated
from paramverify.errors import DefectError, InputError
from paramverify.evidence import witnesses
from paramverify.evidence.divergence_witnesses import directed
from paramverify.evidence.witnesses import compare_at, evaluate, find_witness, simplest_violation
from paramverify.formats.refutations import fails_at
from paramverify.models.definitions import Inequality, RationalComparison
from paramverify.models.model import Model

UNIT = ("0", "1")
RING = Ring(("p", "q"))
RELATIONS = ("<", "<=", ">", ">=", "==")


def number(text: str) -> Fraction:
    return Fraction(text)


def region(names: str, ends: Sequence[tuple[str, str]], closed: bool = True) -> Domain:
    """Returns the box of the given ends."""
    ring = Ring(tuple(names))
    box = {n: Interval(number(a), number(b), closed, closed) for n, (a, b) in zip(names, ends, strict=True)}
    return Domain(ring, box)


def comparisons(domain: Domain) -> Inequality:
    """Compares p/3 with q/3, in all ways."""
    ring = domain.ring
    left, right = (RationalFunction(ring.parse(n), ring.parse("3")) for n in ("p", "q"))
    return Inequality(
        domain, tuple(RationalComparison(f"p {r} q", left, r, right) for r in RELATIONS), {}, "all of them"
    )


def is_true(p: Fraction, relation: str, q: Fraction) -> bool:
    return {"<": p < q, "<=": p <= q, ">": p > q, ">=": p >= q, "==": p == q}[relation]


def test_comparisons_at_points() -> None:
    """Both sides, their difference and whether the comparison fails are those of the numbers."""
    model = comparisons(region("pq", [UNIT, UNIT]))
    steps = [Fraction(k, 4) for k in range(5)]
    for p, q, (k, relation) in product(steps, steps, enumerate(RELATIONS)):
        found = compare_at(model, Stated(k, "any text"), {"p": p, "q": q, "r": Fraction(7)})
        assert found.parameters == {"p": p, "q": q}
        assert (found.left.rational, found.right.rational) == (p / 3, q / 3)
        assert found.difference.rational == (p - q) / 3
        assert (found.relation, found.stated.number, found.stated.text) == (relation, k, f"p {relation} q")
        assert found.fails != is_true(p, relation, q)


def test_points_and_numbers_of_comparisons() -> None:
    """A point gives all parameters and is in the domain; a number is that of a comparison."""
    model = comparisons(region("pq", [UNIT, UNIT]))
    inside = {"p": Fraction(1, 2), "q": Fraction(1, 3)}
    for point in ({}, {"p": Fraction(1, 2)}, {**inside, "p": Fraction(2)}, {**inside, "q": Fraction(-1)}):
        with pytest.raises(InputError, match="not in the domain"):
            compare_at(model, Stated(0, ""), point)
    for wrong in (-1, 5, 6):
        with pytest.raises(InputError, match="5 comparisons only"):
            compare_at(model, Stated(wrong, ""), inside)
    for right in range(5):
        assert compare_at(model, Stated(right, ""), inside).stated.number == right


def test_the_domain_of_points() -> None:
    """A point is inside iff every coordinate is in its interval and every constraint is satisfied."""
    steps = [Fraction(k, 4) for k in range(-1, 6)]
    for closed, strict in product((False, True), (False, True)):
        box = region("pq", [UNIT, UNIT], closed)
        limits = tuple(Constraint(box.ring.parse(t), strict, t) for t in ("p - 2*q + 1/2", "1 - p*q"))
        domain = replace(box, constraints=limits)
        for p, q in product(steps, steps):
            inside = all(0 <= v <= 1 if closed else 0 < v < 1 for v in (p, q))
            values = (p - 2 * q + Fraction(1, 2), 1 - p * q)
            allowed = inside and all(v > 0 if strict else v >= 0 for v in values)
            point = {"p": p, "q": q}
            assert contains(domain, point) == allowed
            for text, negative in (("p - q", p < q), ("q - p", q < p), ("-1", True), ("1", False)):
                assert fails_at(Claim(box.ring.parse(text), domain), point) == (allowed and negative)


def test_the_constant_is_the_number_that_it_is() -> None:
    """With E = exp(1), constraints and violations are decided between 27/10 and 28/10."""
    ring = Ring(("p",), ExpConstant(Fraction(1)))
    domain = Domain(ring, {"p": Interval(Fraction(0), Fraction(3), True, True)})
    for p, below in (("2718/1000", True), ("2719/1000", False), ("27/10", True), ("28/10", False)):
        point = {"p": number(p)}
        assert fails_at(Claim(ring.parse("p - E"), domain), point) == below
        assert fails_at(Claim(ring.parse("E - p"), domain), point) != below
        limit = Constraint(ring.parse("E - p"), False, "")
        assert contains(replace(domain, constraints=(limit,)), point) == below


def model_of(pi: list[str], ratio: str = "2") -> Model:
    """Two states that answer truly with 3/4; the right secret is in the second one."""
    box = {"q": (Fraction(0), Fraction(1))}
    same, answers = [["1", "0"], ["0", "1"]], [["3/4", "1/4"], ["1/4", "3/4"]]
    return parametric_model(box, same, answers, pi, ["0", "1"], ratio, (1, 2))


def test_a_secret_must_be_possible_at_the_point() -> None:
    """Where the weights of a secret are zero it has no probabilities, on whichever side it stands."""
    model = model_of(["q", "q"])
    for word, both in (
        (("w",), (Fraction(1, 2), Fraction(1, 4))),
        (("x",), (Fraction(1, 2), Fraction(3, 4))),
    ):
        for q in (Fraction(1, 100), Fraction(1, 2), Fraction(1)):
            found = evaluate(model, Origin("left", "right", word), {"q": q})
            assert tuple(p.rational for p in found.probabilities) == both
            assert found.ratio is not None
            assert found.ratio.rational == both[0] / both[1]
            turned = evaluate(model, Origin("right", "left", word), {"q": q})
            assert tuple(p.rational for p in turned.probabilities) == both[::-1]
        for sides in (("left", "right"), ("right", "left")):
            with pytest.raises(InputError, match="'left' has probability zero"):
                evaluate(model, Origin(*sides, word), {"q": Fraction(0)})


@pytest.mark.parametrize("count", range(1, 9))
def test_the_pairs_that_are_named(count: int) -> None:
    """At most five pairs are named, and it is said how many more there are."""
    model = model_of(["q", "1-q"])
    (pair,) = model.pairs
    many = replace(model, pairs=tuple(replace(pair, left=f"a{k}", right=f"b{k}") for k in range(count)))
    with pytest.raises(InputError) as caught:
        directed(many, "a0", "b9")
    named = ", ".join(f"a{k} / b{k}" for k in range(min(count, 5)))
    more = f" and {count - 5} more" if count > 5 else ""
    assert str(caught.value).endswith(f"the case compares {named}{more}")
    for k in range(count):
        assert directed(many, f"a{k}", f"b{k}") == (pair.pi, pair.tau)
        assert directed(many, f"b{k}", f"a{k}") == (pair.tau, pair.pi)


def test_claims_that_say_something_else_than_their_origins() -> None:
    """Where the claim fails and what it stands for is true, it is our defect, and no witness."""
    model = comparisons(region("pq", [UNIT, UNIT]))
    point = {"p": Fraction(1, 3), "q": Fraction(2, 3)}
    polynomial = model.domain.ring.parse("p - q")
    for k, relation in enumerate(RELATIONS):
        claim = Claim(polynomial, model.domain, (Stated(k, ""), Stated(9, "")))
        if relation in ("<", "<="):
            with pytest.raises(DefectError):
                find_witness(model, claim, point)
        else:
            found = find_witness(model, claim, point)
            assert found is not None
            assert found.fails
            assert found.parameters["p"] < found.parameters["q"]
    private = model_of(["q", "1-q"], "4")
    always = Claim(private.domain.ring.parse("-1"), private.domain, (Origin("left", "right", ("w",)),))
    with pytest.raises(DefectError):
        find_witness(private, always, {"q": Fraction(1, 2)})
    open_model = model_of(["q", "1-q"], "2")
    claim = Claim(open_model.domain.ring.parse("1/2 - q"), open_model.domain, always.origins)
    witness = find_witness(open_model, claim, {"q": Fraction(7, 9), "E": Fraction(1)})
    assert witness is not None
    assert witness.exceeds
    assert witness.parameters["q"] > Fraction(1, 2)


def near(domain: Domain, value: Fraction, width: str) -> Claim:
    """Returns a claim about p that fails less than `width` from a value, and only there."""
    gap = number(width)
    return Claim(domain.ring.parse(f"(p - ({value}))^2 - ({gap * gap})"), domain)


@pytest.mark.parametrize("closed", [True, False])
def test_simple_points_of_the_box_come_first(closed: bool) -> None:
    """Fractions of the width with denominators to five are taken where they violate, ends too if inside."""
    low = Fraction(1, 11)
    domain = region("p", [("1/11", "12/11")], closed)
    for d in range(1, 7):
        for n in range(d + 1):
            value = low + Fraction(n, d)
            start = {"p": value + (Fraction(1, 997) if n < d else -Fraction(1, 997))}
            found = simplest_violation(near(domain, value, "1/90"), start)["p"]
            assert abs(found - value) < Fraction(1, 90)
            tried = Fraction(n, d).denominator <= 5 and (closed or 0 < n < d)
            assert (found == value) == tried
            assert found in domain.box["p"]


@pytest.mark.parametrize(("names", "together"), [("p", True), ("pq", True), ("pqr", True), ("pqrs", False)])
def test_how_many_parameters_are_tried_together(names: str, together: bool) -> None:
    """The simple points of the box are tried for at most three parameters; of more, one after the other."""
    domain = region(names, [UNIT] * len(names))
    claim = Claim(domain.ring.parse(f"{' + '.join(names)} - 1/10"), domain)
    start = dict.fromkeys(names, Fraction(1, 97))
    found = simplest_violation(claim, start)
    assert sum(found.values()) < Fraction(1, 10)
    assert (set(found.values()) == {Fraction(0)}) == together
    assert all(value.denominator <= 97 for value in found.values())
    fixed = replace(domain, box={**domain.box, "p": Interval(Fraction(1, 97), Fraction(1, 97), True, True)})
    assert simplest_violation(replace(claim, domain=fixed), start)["p"] == Fraction(1, 97)


@pytest.mark.parametrize(
    ("ends", "fails", "start"),
    [
        (("0", "100"), ("6", "13"), "12"),
        (("0", "100"), ("87", "94"), "88"),
        (("-100", "0"), ("-13", "-6"), "-12"),
        (("100", "200"), ("106", "113"), "112"),
        (("1/3", "4/3"), ("39/97", "40/97"), "79/194"),
    ],
)
def test_simple_numbers_near_the_start(ends: tuple[str, str], fails: tuple[str, str], start: str) -> None:
    """The number is the simplest of the widest interval around the start, halved until that one violates."""
    domain = region("p", [ends])
    low, high = map(number, fails)
    claim = Claim(domain.ring.parse(f"(p - ({low}) + 1/2^20)*(p - ({high}) - 1/2^20)"), domain)
    found = simplest_violation(claim, {"p": number(start)})["p"]
    assert found == halving(number(start), (number(ends[0]), number(ends[1])), (low, high))


def halving(start: Fraction, ends: tuple[Fraction, Fraction], fails: tuple[Fraction, Fraction]) -> Fraction:
    """Finds the number by trying all denominators."""
    radius = ends[1] - ends[0]
    while True:
        low, high = max(ends[0], start - radius), min(ends[1], start + radius)
        for d in range(1, 1000):
            tried = (Fraction(n, d) for n in range(int(low * d) - 1, int(high * d) + 2))
            inside = sorted((v for v in tried if low < v < high), key=abs)
            if inside:
                break
        if fails[0] <= inside[0] <= fails[1]:
            return inside[0]
        radius /= 2


def test_coordinates_at_an_end_stay_there() -> None:
    """A coordinate at an end of its interval stays, simple or not; the others are made simple."""
    for p in (Fraction(1, 97), Fraction(96, 97)):
        four = region("pqrs", [("1/97", "96/97"), UNIT, UNIT, UNIT])
        wide = Claim(four.ring.parse("(q - 31/97)^2 - 1/1000 + 1/2000*p"), four)
        start = {"p": p, "q": Fraction(31, 97), "r": Fraction(1), "s": Fraction(0)}
        found = simplest_violation(wide, start)
        assert (found["p"], found["r"], found["s"]) == (p, 1, 0)
        assert abs(found["q"] - Fraction(31, 97)) < Fraction(1, 30)
        assert found["q"].denominator < 97


def test_the_search_for_simple_numbers_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many halvings are tried as the limit of bits allows; then the start is simple enough."""
    domain = region("p", [UNIT])
    value = Fraction(3571, 9973)
    claim = near(domain, value, "1/50")  # 5/14 is the simplest number that near
    found = {}
    for bits in range(1, 9):
        monkeypatch.setattr(witnesses, "MAX_DENOMINATOR_BITS", bits)
        found[bits] = simplest_violation(claim, {"p": value})["p"]
    radius = 1
    while halved(value, radius) not in region("p", [("3371/9973", "3770/9973")]).box["p"]:
        radius += 1
    for bits, simple in found.items():
        assert simple == (value if bits <= radius else halved(value, radius))


def halved(value: Fraction, bits: int) -> Fraction:
    """Returns the simplest number of the unit interval nearer than 2^(1 - bits)."""
    gap = Fraction(2, 2**bits)
    return next(
        Fraction(n, d)
        for d in range(1, 10000)
        for n in range(1, d)
        if max(value - gap, 0) < Fraction(n, d) < min(value + gap, 1)
    )
