"""The checker of single claims, rule by rule: what each accepts, and what it refuses; forms by evaluation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import comb
from random import Random
from typing import Any

import pytest
from claim_documents import document, full, statement
from claim_tools import check_witness

from paramverify.kernel import evidence_polynomials, proof_goals
from paramverify.kernel.claim_evidence import check_claim
from paramverify.kernel.documents import check_document
from paramverify.kernel.evidence_polynomials import (
    Poly,
    compose,
    constant,
    degree,
    derivative,
    evaluate,
    integer,
    number,
    parse,
    plus,
    ratio,
    times,
)
from paramverify.kernel.ledger import Demanded
from paramverify.kernel.proof_goals import BernsteinCoefficients, Goal, bernstein
from paramverify.kernel.proof_rules import modular, positive_on, semidefinite
from paramverify.kernel.rounded_constants import encloses_exp, exp_bounds, sign_in_exp
from paramverify.kernel.strict_reading import Rejected

Json = dict[str, Any]
UNIT = "[0, 1]"
CONSTANT = {"kind": "constant"}
PLUS = {"kind": "bernstein", "tree": ["+"]}


def claim(
    polynomial: str,
    box: dict[str, str] | None = None,
    constraints: Sequence[tuple[str, str]] = (),
    exponent: str | None = None,
) -> Json:
    box = {"p": UNIT, "q": UNIT} if box is None else box
    names = [*box] if exponent is None or "E" in box else [*box, "E"]
    found: Json = {
        "variables": names,
        "box": box,
        "constraints": [list(c) for c in constraints],
        "polynomial": polynomial,
    }
    return found if exponent is None else {**found, "constant": exponent}


def shows(stated: Json, proof: Any, lemmas: dict[str, Any] | None = None) -> bool:
    """Tells whether the checker accepts a proof, without trusting anything."""
    try:
        assert check_claim(stated, proof, lemmas) == ()
    except Rejected:
        return False
    return True


def reason(stated: Json, proof: Any, lemmas: dict[str, Any] | None = None) -> str:
    with pytest.raises(Rejected) as caught:
        check_claim(stated, proof, lemmas)
    return str(caught.value)


def tree(*tokens: Any) -> Json:
    return {"kind": "bernstein", "tree": [*tokens]}


def use(index: int, proof: Any = CONSTANT, factor: str = "1") -> Json:
    return {"kind": "constraint", "constraint": index, "factor": factor, "proof": proof}


# --- numbers and polynomials ----------------------------------------------------------------------


def test_numbers_are_read_exactly() -> None:
    """Whole numbers of any length up to the limit, fractions and signs; nothing else is a number."""
    for digits in (1, 3999, 4000, 4001, 8000, 9001):
        assert integer("7" * digits) == 7 * (10**digits - 1) // 9
    assert integer("0" * 5000 + "12") == 12
    assert [number(t) for t in ("3", "-3", "3/2", "-3/2", "007", "0/5")] == [
        *(3, -3, Fraction(3, 2), Fraction(-3, 2), 7, 0)
    ]
    bad: list[Any] = [*"-٣", "", "1/0", "1.5", "+1", "1/2/3", "--1", " 1", "1e3", "/2", "1/", "1/-2", 3, None]
    for text in bad:
        with pytest.raises(Rejected):
            number(text)


def test_digits_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many digits as the limit are read, one more is refused."""
    monkeypatch.setattr(evidence_polynomials, "MAX_DIGITS", 5)
    assert integer("12345") == 12345
    with pytest.raises(Rejected):
        integer("123456")


def test_polynomials_are_read_exactly() -> None:
    """Terms, signs, products and powers mean what they say; what is no polynomial is refused."""
    names = ("p", "q")
    assert parse("3/2*p^2*q - p + 1", names) == {(2, 1): Fraction(3, 2), (1, 0): -1, (0, 0): 1}
    assert parse("-p", names) == {(1, 0): -1}
    assert parse("p*p*2*3*q^0", names) == {(2, 0): 6}
    assert parse("p + p - 2*p", names) == parse("0", names) == {}
    assert parse("-1/2 - q", names) == {(0, 0): Fraction(-1, 2), (0, 1): -1}
    assert parse("p^3*p^2", names) == {(5, 0): 1}
    bad: list[Any] = ["", "p +", "p ** 2", "p - -1", "p*-1", "p^-1", "p^", "^2", "r", "2p", "(p)", "p+q", 1]
    for text in bad:
        with pytest.raises(Rejected):
            parse(text, names)
    assert parse("q^10000", names) == {(0, 10_000): 1}
    for text in ("q^10001", "p^10001", "p^10000*p"):
        with pytest.raises(Rejected, match="larger than 10000"):
            parse(text, names)


def random_poly(random: Random, width: int, most: int = 3) -> Poly:
    found: Poly = {}
    for _ in range(random.randint(1, 6)):
        x = tuple(random.randint(0, most) for _ in range(width))
        value = Fraction(random.randint(-9, 9), random.choice((1, 2, 3)))
        found = plus(found, {x: value} if value else {})
    return found


@pytest.mark.parametrize("seed", range(4))
def test_arithmetic_of_polynomials(seed: int) -> None:
    """Sums, products, derivatives and compositions have the values that they should have at points."""
    random = Random(seed)
    for _ in range(10):
        f, g = random_poly(random, 2), random_poly(random, 2)
        at = [Fraction(random.randint(-5, 5), random.choice((1, 2, 3))) for _ in range(2)]
        c = Fraction(random.randint(-3, 3), 2)
        value = {
            "sum": sum((a * at[0] ** x[0] * at[1] ** x[1] for x, a in f.items()), Fraction(0)),
            "other": sum((a * at[0] ** x[0] * at[1] ** x[1] for x, a in g.items()), Fraction(0)),
        }
        assert evaluate(f, at) == value["sum"]
        assert evaluate(plus(f, g, c), at) == value["sum"] + c * value["other"]
        assert evaluate(times(f, g), at) == value["sum"] * value["other"]
        assert all(plus(f, g).values())
        assert plus(f, f, Fraction(-1)) == {}
        for axis in (0, 1):
            image = [*at]
            image[axis] = value["other"]
            assert evaluate(compose(f, axis, g), at) == evaluate(f, image)
            assert degree(f, axis) == max((x[axis] for x in f), default=0)
            slope = sum(
                (
                    a * x[axis] * at[axis] ** (x[axis] - 1) * at[1 - axis] ** x[1 - axis]
                    for x, a in f.items()
                    if x[axis]
                ),
                Fraction(0),
            )
            assert evaluate(derivative(f, axis), at) == slope
        assert ratio(plus({}, f, Fraction(3, 2)), f) == (Fraction(3, 2) if f else None)
    assert ratio(parse("p + q", "pq"), parse("p + 2*q", "pq")) is None
    assert ratio(parse("p", "pq"), parse("p + q", "pq")) is None
    assert ratio({}, {}) is None
    assert constant(Fraction(0), 2) == {}


def test_products_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Products of as many terms as the limit are computed, larger ones are refused."""
    monkeypatch.setattr(evidence_polynomials, "MAX_COEFFICIENTS", 1)
    five, four = parse("p^4 + p^3 + p^2 + p + 1", "p"), parse("p^3 + p^2 + p + 1", "p")
    assert times(five, four)
    with pytest.raises(Rejected, match="too large"):
        times(parse("p^6 + p^5 + p^4 + p^3 + p^2 + p + 1", "p"), parse("p^2 + p + 1", "p"))


# --- Bernstein forms ------------------------------------------------------------------------------


def at_unit(form: BernsteinCoefficients, point: dict[str, Fraction]) -> Fraction:
    """Returns the value of a form at a point of the unit box, from the definition of the basis."""
    total = Fraction(0)
    for place, index in enumerate(product(*(range(d + 1) for d in form.degrees))):
        value = Fraction(form.entries[place])
        for name, d, i in zip(form.names, form.degrees, index, strict=True):
            t = point[name]
            value *= comb(d, i) * t**i * (1 - t) ** (d - i)
        total += value
    return total


def proportional(pairs: Sequence[tuple[Fraction, Fraction]]) -> bool:
    """Tells whether the right numbers are one positive multiple of the left ones."""
    scale = next((b / a for a, b in pairs if a), Fraction(1))
    return scale > 0 and all(b == scale * a for a, b in pairs)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_forms_are_those_of_the_polynomial(seed: int) -> None:
    """The form on a box, its halves, faces and slopes have the values of the polynomial up to one factor."""
    random = Random(seed)
    box = {
        name: (low, low + Fraction(random.randint(1, 5), random.choice((1, 2, 3))))
        for name, low in zip(
            "pq", (Fraction(random.randint(-3, 3), 2), Fraction(random.randint(-3, 3), 3)), strict=True
        )
    }
    f = random_poly(random, 2)
    goal = Goal(("p", "q"), f, box, ())
    form = bernstein(goal, f)
    points = [{"p": Fraction(a, 4), "q": Fraction(b, 4)} for a in range(5) for b in range(5)]

    def value(point: dict[str, Fraction], poly: Poly = f) -> Fraction:
        return evaluate(poly, [low + (high - low) * point[n] for n, (low, high) in box.items()])

    assert proportional([(value(t), at_unit(form, t)) for t in points])
    for axis, name in enumerate("pq"):
        if name not in form.names:
            continue
        at = Fraction(1, 3)
        for half, (start, width) in zip(form.cut(name, at), ((Fraction(0), at), (at, 1 - at)), strict=True):
            inner = [{**t, name: start + width * t[name]} for t in points]
            assert proportional([(value(s), at_unit(half, t)) for s, t in zip(inner, points, strict=True)])
        for end in (False, True):
            face = form.end(name, end)
            assert name not in face.names
            assert proportional([(value({**t, name: Fraction(end)}), at_unit(face, t)) for t in points])
        slope = form.slope(name)
        steep = derivative(f, axis)
        assert proportional([(value(t, steep), at_unit(slope, t)) for t in points])
    twice = form.cut(form.names[0], Fraction(1, 2)) if form.names else ()
    assert all(len(half.entries) == len(form.entries) for half in twice)


def test_forms_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A form with as many coefficients as the limit is made; a larger one, or one without box, is not."""
    goal = Goal(("p", "q", "E"), {}, {"p": (Fraction(0), Fraction(1)), "q": (Fraction(0), Fraction(1))}, ())
    monkeypatch.setattr(proof_goals, "MAX_COEFFICIENTS", 6)
    assert len(bernstein(goal, parse("p^2*q", goal.names)).entries) == 6
    for text in ("p^2*q^2", "p^6"):
        with pytest.raises(Rejected, match="too many"):
            bernstein(goal, parse(text, goal.names))
    with pytest.raises(Rejected, match="no variable"):
        bernstein(goal, parse("p + E", goal.names))


@pytest.mark.parametrize(("a", "b"), [*product((-1, 0, 1, 2), repeat=2)])
def test_semidefinite_matrices(a: int, b: int) -> None:
    """All small symmetric matrices: semidefinite iff no principal minor is negative."""
    for c, d, e, f in product((-1, 0, 1, 2), (-1, 0, 1), (-1, 0, 1), (-1, 0, 2)):
        matrix = [[Fraction(x) for x in row] for row in ((a, d, e), (d, b, f), (e, f, c))]
        minors = [a, b, c, a * b - d * d, a * c - e * e, b * c - f * f]
        minors.append(a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e))
        assert semidefinite(matrix) == all(m >= 0 for m in minors), matrix
    assert semidefinite([])


@pytest.mark.parametrize(
    ("text", "ends", "right"),
    [
        ("p", "[0, 1]", False),
        ("p", "(0, 1]", True),
        ("1 - p", "[0, 1]", False),
        ("1 - p", "[0, 1)", True),
        ("p + 1", "[0, 1]", True),
        ("p - p^2", "(0, 1)", True),
        ("p - p^2", "(0, 1]", False),
        ("p - p^2", "[0, 1)", False),
        ("p - 1/2", "(0, 1)", False),
        ("-1", "(0, 1)", False),
        ("0", "(0, 1)", False),
        ("1", "[0, 1]", True),
    ],
)
def test_positive_on_boxes(text: str, ends: str, right: bool) -> None:
    """A polynomial is shown to be positive unless it may be zero at an end that belongs to the box."""
    out = frozenset(("p", side) for side, bracket in enumerate((ends[0], ends[-1])) if bracket in "()")
    goal = Goal(("p", "q"), {}, {"p": (Fraction(0), Fraction(1)), "q": (Fraction(0), Fraction(1))}, (), out)
    assert positive_on(goal, parse(text, goal.names)) == right
    assert not positive_on(goal, times(parse(text, goal.names), parse("q", goal.names)))


def test_parts_of_a_cut() -> None:
    """Each part has the ends of the box that it had, and the cut belongs to both; a new interval has ends."""
    out = frozenset(product("pq", (0, 1)))
    goal = Goal(("p", "q"), {}, {"p": (Fraction(0), Fraction(1)), "q": (Fraction(0), Fraction(1))}, (), out)
    below, above = goal.cut("p", Fraction(1, 3))
    assert below == replace(goal, box={**goal.box, "p": (0, Fraction(1, 3))}, open=out - {("p", 1)})
    assert above == replace(goal, box={**goal.box, "p": (Fraction(1, 3), 1)}, open=out - {("p", 0)})
    new = goal.replaced("p", parse("q", goal.names), (Fraction(2), Fraction(3)))
    assert new == replace(goal, box={**goal.box, "p": (2, 3)}, open=frozenset({("q", 0), ("q", 1)}))
    for place in (-1, 0, 1, 2):
        with pytest.raises(Rejected, match=f"the cut of p at {place} does not lie inside the box"):
            goal.cut("p", Fraction(place))


# --- rules ----------------------------------------------------------------------------------------

FIXED = {"p": "[1/2, 1/2]", "q": UNIT}


def factors(constant: str, *parts: tuple[str, Any, str | None]) -> Json:
    items: list[Json] = [{"factor": f, "multiplicity": m} for f, m, _ in parts]
    for item, (_, _, sign) in zip(items, parts, strict=True):
        if sign:
            item |= {"sign": sign, "proof": PLUS}
    return {"kind": "factors", "constant": constant, "factors": items}


def ends(name: str, **more: Any) -> Json:
    return {"kind": "ends", "variable": name, "lower": PLUS, "upper": PLUS, **more}


def monotone(name: str, end: str, slope: Any = PLUS, rest: Any = PLUS) -> Json:
    return {"kind": "monotone", "variable": name, "end": end, "derivative": slope, "proof": rest}


def quadratic(name: str, **more: Any) -> Json:
    return {
        "kind": "quadratic",
        "variable": name,
        "leading": PLUS,
        "constant": PLUS,
        "discriminant": PLUS,
        **more,
    }


def total(*parts: tuple[str, Any]) -> Json:
    return {"kind": "sum", "parts": [{"polynomial": f, "proof": proof} for f, proof in parts]}


SIMPLE: list[tuple[Json, Any, bool]] = [
    *((claim(text), CONSTANT, True) for text in ("0", "1")),
    (claim("p + 1"), CONSTANT, False),
    (claim("p - 1/2", FIXED), {"kind": "fixed", "variable": "p", "proof": CONSTANT}, True),
    (claim("p - 2/3", FIXED), {"kind": "fixed", "variable": "p", "proof": CONSTANT}, False),
    (claim("q - 1/2", FIXED, [("q - p", ">=")]), {"kind": "fixed", "variable": "p", "proof": use(0)}, True),
    (claim("p - p^2"), factors("1", ("p", 1, "+"), ("1 - p", 1, "+")), True),
    (claim("p - p^2"), factors("-1", ("p", 1, "+"), ("p - 1", 1, "-")), True),
    (claim("p - p^2"), factors("1", ("p", 1, "+"), ("p - 1", 1, "-")), False),
    (claim("p^2 - p"), factors("1", ("p", 1, "+"), ("p - 1", 1, "-")), False),
    (claim("p^2 - p"), factors("1", ("p", 1, "+"), ("p - 1", 1, "+")), False),
    (claim("p - p^2"), factors("-1", ("p", 1, "-"), ("p - 1", 1, "+")), False),
    (claim("2*p - 2*p^2"), factors("-2", ("p", 1, "+"), ("p - 1", 1, "-")), True),
    (claim("1 - 2*p + p^2"), factors("1", ("p - 1", 2, None)), True),
    (claim("p^2 - p + 1/4"), factors("1", ("p - 1/2", 2, None)), True),
    (claim("p^2 - p + 1/4"), factors("1/4", ("2*p - 1", 2, None)), True),
    (claim("p - p^2 - 1/4"), factors("-1", ("p - 1/2", 2, None)), False),
    (claim("p^3"), factors("1", ("p", 3, "+")), True),
    (claim("p^3"), factors("1", ("p", 1, "+"), ("p", 2, None)), True),
    (claim("p^3"), factors("1", ("p", 4, None)), False),
    *((claim("p"), factors("1", ("p", m, "+")), False) for m in (True, 1.0)),
    (claim("p*q"), factors("1", ("p", 1, "+"), ("q", 1, "+")), True),
    (claim("p*q"), factors("1", ("p", 1, "+"), ("p", 1, "+")), False),
    *((claim(text), factors(text), text != "-1") for text in ("1", "-1", "0")),
    (claim("p + q"), total(("p", PLUS), ("q", PLUS)), True),
    (claim("p + q"), total(("p", PLUS)), False),
    (claim("0"), total(), True),
    (claim("p + q"), total(("2*p + q", PLUS), ("-p", PLUS)), False),
    (claim("p + q"), ends("p"), True),
    *((claim(f), ends("p"), False) for f in ("p + q - 1/2", "1/2 + q - p")),
    (claim("1 + q - p"), ends("p"), True),
    (claim("p - p^2"), ends("p", concave=PLUS), True),
    (claim("p - p^2"), ends("p"), False),
    (claim("p^2 - p + 1/5"), ends("p", concave=PLUS), False),
    (claim("p^3 - 3*p^2 + 3*p"), ends("p", concave=PLUS), True),
    (claim("p*q - q*p^2"), ends("p", concave=PLUS), True),
    (claim("1 - 2*p", None, [("1/2 - p", ">=")]), ends("p", upper=use(0, CONSTANT, "2")), False),
    (claim("p - q", None, [("p - q", ">=")]), ends("p", lower=use(0), upper=PLUS), False),
    (claim("p + q - 1/2", None, [("q - 1/2", ">=")]), ends("p", lower=use(0), upper=PLUS), True),
    *((claim("p^2 + q"), monotone("p", end), end == "lower") for end in ("lower", "upper")),
    *((claim("1 - p^2 + q"), monotone("p", end), end == "upper") for end in ("lower", "upper")),
    (claim("p - 1/2 + q"), monotone("p", "lower"), False),
    (claim("1/2 - p"), monotone("p", "upper"), False),
    (claim("p^2 - p + 1"), monotone("p", "lower"), False),
    (claim("1/2 - p", None, [("1/2 - p", ">=")]), monotone("p", "upper", rest=use(0)), False),
    (claim("q - p*q"), monotone("p", "upper"), True),
    (claim("p^2 - p + 1/8", None, [("p - 1/2", ">=")]), monotone("p", "lower", use(0, CONSTANT, "2")), False),
    *((claim(f), quadratic("p"), True) for f in ("p^2 - p + 1/4", "2*p^2 - p + 1/8")),
    *((claim(f), quadratic("p"), False) for f in ("p^2 - p + 1/5", "2*p^2 - p + 1/9")),
    (claim("p^2 - p*q + q^2"), quadratic("p"), True),
    (claim("p^2*q + q"), quadratic("p"), True),
    *((claim(f), quadratic("p"), False) for f in ("1/4 + p - p^2", "p^2 - 1/4")),
    (claim("p*q^2 + p"), quadratic("q"), True),
]
TREES: list[tuple[Json, Any, bool]] = [
    (claim("p + q"), tree("+"), True),
    (claim("p^2 - p + 1/3"), tree("+"), False),
    (claim("p^2 - p + 1/3"), tree(["cut", "p", "1/2"], "+", "+"), True),
    (claim("p^2 - p + 1/3"), tree(["cut", "q", "1/2"], "+", "+"), False),
    *((claim(f), tree(["cut", "p", "1/2"], "+", "+"), False) for f in ("p - 1/2", "1/2 - p")),
    (claim("p^2 - p + 1/3"), tree(["cut", "p", "1/2"], "+"), False),
    (claim("p^2 - p + 1/3"), tree(["cut", "p", "1/2"], "+", "+", "+"), False),
    *((claim("p^2 - p + 1/3"), tree(["cut", "p", at], "+", "+"), False) for at in ("0", "1", "2")),
    (claim("p^2 - p + 1/3"), tree(["cut", "r", "1/2"], "+", "+"), False),
    (claim("p^2 - p + 1/3"), tree(["half", "p", "1/2"], "+", "+"), False),
    (claim("p^2 - p + 1/3"), tree(["cut", "p", "1/2"], quadratic("p"), "+"), True),
    (claim("p^2 - p + 1/5"), tree(["cut", "p", "1/2"], quadratic("p"), "+"), False),
    *((claim("p"), tree(["cut", "p", at], "+", "+"), False) for at in ("0", "1")),
    (claim("p"), tree(), False),
    *((claim("p + q"), tree([end, "p"], "+"), end == "low") for end in ("low", "high")),
    *((claim("1 - p + q"), tree([end, "p"], "+"), end == "high") for end in ("low", "high")),
    (claim("p + q"), tree(["low", "p"], ["low", "q"], "+"), True),
    (claim("2*p^2 - p + 1/9"), tree(["low", "p"], "+"), False),
    (claim("2*p^2 - 3*p + 10/9"), tree(["high", "p"], "+"), False),
    *((claim(f), tree([end, "p"], "+"), True) for f, end in (("p^2 + q", "low"), ("1 - p^2", "high"))),
    *((claim(f), tree([end, "p"], "+"), False) for f, end in (("-p", "low"), ("p - 1", "high"))),
    (claim("p^2 - 5*p + 25/4", {"p": "[1, 3]"}), tree(["cut", "p", "5/2"], "+", "+"), True),
    (claim("p - 1/2 + q"), tree(["low", "p"], "+"), False),
    (claim("p - 1/2", None, [("p - 1/2", ">=")]), tree(["low", "p"], use(0)), False),
    (claim("p + q - 1/2", None, [("q - 1/2", ">=")]), tree(["low", "p"], use(0)), True),
    (claim("-1", None, [("p - 1", ">")]), tree(["outside", 0]), True),
    (claim("-1", None, [("p - 1", ">=")]), tree(["outside", 0]), False),
    (claim("-1", {"p": "[0, 1)", "q": UNIT}, [("p - 1", ">=")]), tree(["outside", 0]), True),
    (claim("-1", None, [("p - 1/2", ">")]), tree(["outside", 0]), False),
    (claim("-1", None, [("p - 2", ">=")]), tree(["outside", 0]), True),
    (claim("-1", None, [("p - 2", ">=")]), tree(["outside", False]), False),
    (claim("p - 1/2", None, [("p - 1/2", ">=")]), use(0), True),
    (claim("p - 1/4", None, [("p - 1/2", ">=")]), use(0), True),
    (claim("2*p - 1", None, [("p - 1/2", ">=")]), use(0, CONSTANT, "2"), True),
    (claim("1/2*p - 1/4", None, [("p - 1/2", ">=")]), use(0, CONSTANT, "1/2"), True),
    (claim("p - 3/4", None, [("p - 1/2", ">=")]), use(0), False),
    (claim("q", None, [("p - 1/2", ">=")]), use(0, PLUS, "0"), True),
]


@pytest.mark.parametrize(("stated", "proof", "right"), SIMPLE)
def test_rules_on_the_box(stated: Json, proof: Any, right: bool) -> None:
    """Each rule accepts what its premises show and nothing else; accepted claims hold on a grid."""
    assert shows(stated, proof) == right
    assert not right or holds_on_grid(stated)


@pytest.mark.parametrize(("stated", "proof", "right"), TREES)
def test_trees_and_constraints(stated: Json, proof: Any, right: bool) -> None:
    """The same is true of cuts of the box and of constraints."""
    test_rules_on_the_box(stated, proof, right)


def holds_on_grid(stated: Json) -> bool:
    """Tells whether a claim without a constant holds at the points of a grid that are in its domain."""
    names = stated["variables"]
    axes = []
    for text in stated["box"].values():
        low, high = (Fraction(t) for t in text[1:-1].split(", "))
        values = [low + (high - low) * k / 12 for k in range(13)]
        axes.append([v for v in values if (v > low or text[0] == "[") and (v < high or text[-1] == "]")])
    for point in product(*axes):
        found = [(evaluate(parse(g, names), point), relation) for g, relation in stated["constraints"]]
        inside = all(v > 0 or (v == 0 and relation == ">=") for v, relation in found)
        if inside and evaluate(parse(stated["polynomial"], names), point) < 0:
            return False
    return True


# --- convex functions -----------------------------------------------------------------------------


def convex(**point: str) -> Json:
    return {"kind": "convex", "point": point}


def algebraic(minimal: str, low: str, high: str, **point: str) -> Json:
    return {"kind": "convex", "minimal": minimal, "interval": [low, high], "point": point}


HALF = {"p": "[1/2, 1]", "q": UNIT}
WELL = "p^4 - p^2 + 1/4"  # (p² − 1/2)², convex on [1/2, 1]
BOTH, WIDE = ({"p": p, "q": "[1/2, 1]"} for p in (UNIT, "[2, 3]"))
ROOT = ("t^2 - 1/2", "7/10", "3/4")
CONVEX: list[tuple[Json, Any, bool]] = [
    (claim("p^2 - p + 1/4"), convex(p="1/2"), True),
    *((claim("p^2 - p + 1/4 + q"), convex(p="1/2", q=q), True) for q in ("0", "1/2")),
    (claim("p^2 - p + 1/4"), convex(p="1/3"), False),
    (claim("p^2 - p + 1/4"), convex(), False),
    (claim("p^2 - p + 6/25"), convex(p="1/2"), False),
    (claim("p^2"), convex(p="0"), True),
    (claim("1 - 2*p + p^2"), convex(p="1"), True),
    *((claim("p^2 + 4*p"), convex(p=p), p == "0") for p in ("-1", "0")),
    *((claim("p^2 - 6*p + 5"), convex(p=p), p == "1") for p in ("1", "2")),
    (claim("1/4 + p - p^2"), convex(p="1/2"), False),
    (claim("p^2 - p*q"), convex(p="0", q="0"), False),
    (claim("p^3 - p^2 + 1/10"), convex(p="0"), False),
    (claim("2/3*p^3 - 1/2*p^2 + 1/30"), convex(p="0"), False),
    (claim("p^3 + p^2 + q^2 - p^2*q"), convex(p="0", q="0"), False),
    (claim("p^3 + 4*p^2 + 4*q^2 - p^2*q"), convex(p="0", q="0"), True),
    (claim("p^3 - 10"), convex(p="-2"), False),  # where the function is not convex any more
    (claim("-9 - 3*p + 3*p^2 - p^3"), convex(p="3"), False),
    (claim("p^2 - 3/2*p + 9/16"), algebraic("t - 3/4", "1/2", "1", p="t"), True),
    (claim("p^2 - 3/2*p + 9/16"), algebraic("t - 3/4", "3/4", "1", p="t"), False),
    (claim("p^2 - 3/2*p + 9/16"), algebraic("t - 3/4", "1/2", "3/4", p="t"), False),
    (claim("p^2 + q^2 - 2*p*q"), convex(p="1/2", q="1/2"), True),
    (claim("p^2 + q^2 - 3*p*q + 1"), convex(p="1/2", q="1/2"), False),
    (claim("p^2 + p", {"p": "[-1/2, 1]"}), convex(p="0"), False),
    (claim("1/4 + p", {"p": "[-1, 0]"}), convex(p="-1"), False),
    (claim(WELL, HALF), algebraic(*ROOT, p="t"), True),
    (claim(WELL, HALF), algebraic("t^2 - 1/2", "1/2", "1", p="t"), True),
    (claim(WELL, HALF), algebraic("2*t^2 - 1", "1/2", "1", p="t"), True),
    (claim(WELL, HALF), algebraic("t^2 - 2", "1", "3/2", p="1/2*t"), True),
    (claim(WELL, HALF), algebraic("t^2 - 1/2", "3/4", "1", p="t"), False),
    (claim(WELL, HALF), algebraic("t^2 - 1/2", "3/4", "7/10", p="t"), False),
    (claim(WELL, HALF), algebraic("t^2 - 9/16", "7/10", "3/4", p="t"), False),
    (claim(WELL, HALF), algebraic("t^2 - 1/3", "1/2", "3/5", p="t"), False),
    (claim("p^4 - p^2 + 6/25", HALF), algebraic(*ROOT, p="t"), False),
    (claim(WELL, {"p": "[3/4, 1]"}), algebraic("t^2 - 1/2", "7/10", "3/4", p="t"), False),
    (claim(WELL, {"p": "[1/2, 7/10]"}), algebraic("t^2 - 1/2", "7/10", "3/4", p="t"), False),
    (claim("p^2 - 1/2", HALF), algebraic(*ROOT, p="t"), False),
    (claim("q^4 - q^2 + 1/4 + p", BOTH), algebraic(*ROOT, p="0", q="t"), True),
    (claim("q^4 - q^2 + 1/4 - p", BOTH), algebraic(*ROOT, p="0", q="t"), False),
    (claim("q^4 - q^2 + 5/4 - p", BOTH), algebraic(*ROOT, p="1", q="t"), True),
    (claim("q^4 - q^2 - 3/4 + p", BOTH), algebraic(*ROOT, p="1", q="t"), False),
    (claim("q^4 - q^2 - 1/4 + p", BOTH), algebraic(*ROOT, p="1/2", q="t"), False),
    (claim("q^4 - q^2 + 3/4 - p", BOTH), algebraic(*ROOT, p="1/2", q="t"), False),
    (claim("q^4 - q^2 + 1/4 + p^2 - p + 1/4", BOTH), algebraic(*ROOT, p="1/2", q="t"), True),
    (claim("p + q^4 - q^2 + 1/4 - 2", WIDE), algebraic(*ROOT, p="2", q="t"), True),
    (claim("3 - p + q^4 - q^2 + 1/4", WIDE), algebraic(*ROOT, p="3", q="t"), True),
]


@pytest.mark.parametrize(("stated", "proof", "right"), CONVEX)
def test_tangent_planes_of_convex_functions(stated: Json, proof: Any, right: bool) -> None:
    """A tangent plane at a point of the box that is nowhere negative shows a convex function."""
    assert shows(stated, proof) == right
    assert not right or holds_on_grid(stated)


def test_tangent_planes_on_faces_and_halves() -> None:
    """After a cut the point is one of the part; on a face, the variables that are left count."""
    stated = claim("p^2 - p + 1/4")
    assert shows(stated, tree(["cut", "p", "2/3"], convex(p="1/2"), "+"))
    assert not shows(stated, tree(["cut", "p", "1/3"], convex(p="1/2"), "+"))
    assert shows(claim("p^2 - p + 1/4 + q"), tree(["low", "q"], convex(p="1/2")))
    assert not shows(claim("p^2 - p + 1/5 + q"), tree(["low", "q"], convex(p="1/2")))


def test_remainders_of_polynomials() -> None:
    """Values at √½ are computed in the field that it generates."""
    minimal = parse("2*t^2 - 1", ("t",))
    point = [parse("t", ("t",)), parse("1 - t", ("t",))]
    for text, expected in (
        ("p^2", "1/2"),
        ("p^3", "1/2*t"),
        ("p^4*q", "1/4 - 1/4*t"),
        ("p*q", "t - 1/2"),
        ("q^2", "3/2 - 2*t"),
        ("p + q", "1"),
        ("2*p^2 - 1", "0"),
        ("3", "3"),
    ):
        assert modular(parse(text, "pq"), point, minimal) == parse(expected, ("t",))


# --- constraints ----------------------------------------------------------------------------------


def contradiction(first: int, second: int) -> Json:
    return {"kind": "contradiction", "constraints": [first, second]}


@pytest.mark.parametrize(
    ("first", "second", "right"),
    [
        (("p - q", ">"), ("q - p", ">="), True),
        (("p - q", ">="), ("q - p", ">"), True),
        (("p - q", ">"), ("2*q - 2*p", ">"), True),
        (("p - q", ">="), ("q - p", ">="), False),
        (("p - q", ">"), ("p - q", ">"), False),
        (("p - q", ">"), ("q - p + 1/2", ">"), False),
        (("p - q", ">"), ("q - 2*p", ">"), False),
    ],
)
def test_contradictions(first: tuple[str, str], second: tuple[str, str], right: bool) -> None:
    """Two constraints contradict each other iff one is the negative of the other, and one is strict."""
    assert shows(claim("-1", None, [first, second]), contradiction(0, 1)) == right
    assert shows(claim("-1", None, [first, second]), contradiction(1, 0)) == right


def divide(cofactor: str, sign: str, index: int, factor: str = "q - 1/2", inner: Any = None) -> Json:
    return {
        "kind": "divide",
        "constraint": 0,
        "factor": factor,
        "cofactor": cofactor,
        "sign": sign,
        "proof": inner or use(index),
    }


@pytest.mark.parametrize(
    ("interval", "constraint", "proof", "right"),
    [
        ("(0, 1]", "p*q - 1/2*p", divide("p", "+", 1), True),
        ("[0, 1]", "p*q - 1/2*p", divide("p", "+", 1), False),
        ("(0, 1]", "p*q - 1/2*p", divide("p", "-", 1), False),
        ("(0, 1]", "1/2*p - p*q", divide("-p", "-", 1, "q - 1/2"), False),
        ("(0, 1]", "p*q - 1/2*p", divide("-p", "-", 1, "1/2 - q"), True),
        ("(0, 1]", "p*q - 1/2*p", divide("p + 1", "+", 1), False),
        ("(0, 1]", "p*q - 1/2*p", divide("p", "+", 2), False),
        ("(0, 1]", "p*q - 1/2*p", divide("p", "+", 0), False),
    ],
)
def test_divided_constraints(interval: str, constraint: str, proof: Json, right: bool) -> None:
    """A factor that is positive on the box is divided out of a constraint, whose other factor is one more."""
    stated = claim("q - 1/2", {"p": interval, "q": UNIT}, [(constraint, ">=")])
    assert shows(stated, proof) == right
    assert not right or holds_on_grid(stated)


@pytest.mark.parametrize("relation", [">", ">="])
def test_divided_constraints_stay_strict(relation: str) -> None:
    """What is left of a strict constraint is strict, of a weak one weak."""
    stated = claim("-1", {"p": "(0, 1]", "q": UNIT}, [("p*q - 1/2*p", relation), ("1/2 - q", ">=")])
    proof = divide("p", "+", 2, inner=contradiction(1, 2))
    assert shows(stated, proof) == (relation == ">")


def stretch(name: str, index: int, proof: Any = PLUS) -> Json:
    return {"kind": "stretch", "variable": name, "constraint": index, "proof": proof}


@pytest.mark.parametrize(
    ("stated", "proof", "right"),
    [
        (claim("q - p", None, [("q - p", ">=")]), stretch("q", 0), True),
        (claim("q - p", None, [("q - p", ">=")]), stretch("p", 0), True),
        (claim("q - p", None, [("q - p", ">=")]), stretch("q", 0, monotone("q", "upper")), True),
        (claim("q - p", None, [("1/2*q - 1/2*p", ">=")]), stretch("q", 0), True),
        (claim("q - p", None, [("2*q - 2*p", ">=")]), stretch("p", 0), True),
        (claim("p - q", None, [("q - p", ">=")]), stretch("p", 0), False),
        (claim("q - p", None, [("q - 1/2*p", ">=")]), stretch("q", 0), False),
        (claim("q - p^2", None, [("q - p^2", ">=")]), stretch("q", 0), True),
        (claim("1 - 2*p", None, [("q - 2*p", ">=")]), stretch("q", 0, use(1)), True),
        (claim("1 - 2*p", None, [("q - 2*p", ">=")]), stretch("q", 0, use(0)), False),
        (claim("2*p - 1", None, [("q - 2*p", ">=")]), stretch("q", 0, use(1)), False),
        (claim("q - 1/3", None, [("q - 1/2", ">="), ("p - q", ">=")]), stretch("q", 0), True),
        (claim("p - 1/2", None, [("q - 1/2", ">="), ("p - 1/2", ">=")]), stretch("q", 0, use(1)), True),
        (claim("p - 1/2", None, [("p - 1/2", ">="), ("q - 1/2", ">=")]), stretch("q", 1, use(0)), True),
        (claim("p - 1/2", None, [("p - 1/2", ">="), ("q - 1/2", ">=")]), stretch("q", 1, use(1)), False),
        (claim("q - p - 2", {"p": UNIT, "q": "[2, 4]"}, [("q - p - 2", ">=")]), stretch("q", 0), True),
        (claim("q - p - 2", {"p": "[1, 3]", "q": "[2, 4]"}, [("q - p - 2", ">=")]), stretch("p", 0), False),
        (claim("q - p", {"p": "[1, 3]", "q": "[2, 4]"}, [("q - p", ">=")]), stretch("p", 0), True),
    ],
)
def test_stretched_variables(stated: Json, proof: Json, right: bool) -> None:
    """A variable that a constraint bounds runs from its end to the bound; that there is room is known too."""
    assert shows(stated, proof) == right
    assert not right or holds_on_grid(stated)


@pytest.mark.parametrize(("relation", "interval"), [*product((">", ">="), ("[0, 1]", "[0, 1)", "(0, 1]"))])
def test_room_is_strict_where_an_end_is_left_out(relation: str, interval: str) -> None:
    """q > 2p and q ≤ 1 leave no room at p = 1/2, nor do q ≥ 2p and q < 1; q ≥ 2p and q ≤ 1 do."""
    constraints = [("q - 2*p", relation), ("2*p - 1", ">=")]
    stated = claim("-1", {"p": UNIT, "q": interval}, constraints)
    right = relation == ">" or interval.endswith(")")
    assert shows(stated, stretch("q", 0, contradiction(1, 2))) == right
    assert not right or holds_on_grid(stated)


@pytest.mark.parametrize(
    ("relation", "first", "second"), [*product((">", ">="), ("[0, 1)", UNIT), ("[0, 1)", UNIT))]
)
def test_ends_of_stretched_variables(relation: str, first: str, second: str) -> None:
    """q − p = (1 − p)·(1 − q') is positive if the constraint is strict; 1 − q = (1 − p)·q' if q < 1."""
    box = {"p": first, "q": second, "r": UNIT}
    above = claim("r - 1/2", box, [("q - p", relation), ("q*r - p*r - 1/2*q + 1/2*p", ">=")])
    step = {**divide("1 - p - q + p*q", "+", 3, "r - 1/2"), "constraint": 1}
    right = relation == ">" and first.endswith(")")
    assert shows(above, stretch("q", 0, step)) == right
    below = claim("r - 1/2", box, [("q - p", relation), ("r - q*r - 1/2 + 1/2*q", ">=")])
    step = {**divide("q - p*q", "+", 3, "r - 1/2"), "constraint": 1}
    right = second.endswith(")") and first.endswith(")")
    assert shows(below, stretch("q", 0, step)) == right


def eliminate(name: str, first: int, second: int, proof: Any) -> Json:
    return {"kind": "eliminate", "variable": name, "constraints": [first, second], "proof": proof}


TWICE = [("p - 2*q", ">="), ("2*q - p", ">=")]
SQUARES = [("p - q^2", ">="), ("q^2 - p", ">=")]
ABOVE = {"p": "[1/2, 1]", "q": UNIT}


@pytest.mark.parametrize(
    ("stated", "proof", "right"),
    [
        (claim("p - 2*q", None, TWICE), eliminate("p", 0, 1, CONSTANT), True),
        (claim("2*q - p", None, TWICE), eliminate("q", 1, 0, CONSTANT), True),
        (claim("p - q", None, TWICE), eliminate("p", 0, 1, PLUS), True),
        (claim("q - p", None, TWICE), eliminate("p", 0, 1, PLUS), False),
        (claim("1/2 - q", None, TWICE), eliminate("p", 0, 1, use(3, CONSTANT, "1/2")), True),
        (claim("1/3 - q", None, TWICE), eliminate("p", 0, 1, use(3, CONSTANT, "1/2")), False),
        (claim("q - 1/4", ABOVE, TWICE), eliminate("p", 0, 1, use(2, CONSTANT, "1/2")), True),
        (claim("q - 1/3", ABOVE, TWICE), eliminate("p", 0, 1, use(2, CONSTANT, "1/2")), False),
        (claim("p - q^2", None, SQUARES), eliminate("q", 0, 1, CONSTANT), False),
        (claim("p - q^2", None, SQUARES), eliminate("p", 0, 1, CONSTANT), True),
        *(
            (claim("-1", box, [*TWICE, (text, sign)]), eliminate("p", 0, 1, contradiction(k, 2)), sign == ">")
            for box, text, k in ((None, "2*q - 1", 4), ({"p": "[1, 2]", "q": UNIT}, "1 - 2*q", 3))
            for sign in (">=", ">")
        ),
    ],
)
def test_eliminated_variables(stated: Json, proof: Json, right: bool) -> None:
    """Two constraints that make an equation replace a variable, whose interval then bounds the others."""
    assert shows(stated, proof) == right
    assert not right or holds_on_grid(stated)


def blowup(corner: dict[str, str], *parts: str) -> Json:
    return {"kind": "blowup", "corner": corner, "parts": dict.fromkeys(parts, PLUS)}


LOW, CUBE = {"p": "lower", "q": "lower"}, dict.fromkeys("pqr", UNIT)
SHIFTED = {"p": "[1, 3]", "q": "[2, 5/2]"}  # with (p − 1)² − 4·(p − 1)·(q − 2) + 16·(q − 2)²


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stated", "proof", "right"),
    [
        (claim("p^2 - p*q + q^2"), blowup(LOW, "p", "q"), True),
        (claim("p^2 - 3*p*q + q^2"), blowup(LOW, "p", "q"), False),
        (claim("q - p^2"), blowup(LOW, "p", "q"), False),
        (claim("p - q^2"), blowup(LOW, "p", "q"), False),
        (claim("p - p*q"), blowup({"p": "lower", "q": "upper"}, "p", "q"), True),
        (claim("2 - p - q"), blowup({"p": "upper", "q": "upper"}, "p", "q"), True),
        (claim("p^2 + q^2 + 1 - p - q - p*q"), blowup({"p": "upper", "q": "upper"}, "p", "q"), True),
        (claim("p^2 + 1 - 2*q + q^2 - p + p*q"), blowup({"p": "lower", "q": "upper"}, "p", "q"), True),
        (claim("p^2 - p*q + 16*q^2", {"p": "[0, 2]", "q": "[0, 1/2]"}), blowup(LOW, "p", "q"), True),
        (claim("p^2 + 6*p + 16*q^2 - 60*q - 4*p*q + 57", SHIFTED), blowup(LOW, "p", "q"), True),
        (claim("p^2 - p*q + q^2 + r", CUBE), blowup({**LOW, "r": "lower"}, "p", "q", "r"), True),
    ],
)
def test_blown_up_corners(stated: Json, proof: Json, right: bool) -> None:
    """Near a corner the box is the union of cones; each of them has to be shown."""
    assert shows(stated, proof) == right
    assert not right or holds_on_grid(stated)


# --- the constant, lemmas and solvers -------------------------------------------------------------

EXPONENTIAL = {"kind": "exponential"}


def enclose(low: str, high: str, proof: Any = PLUS) -> Json:
    return {"kind": "enclose", "interval": [low, high], "proof": proof}


@pytest.mark.parametrize(
    ("stated", "proof", "right"),
    [
        (claim("E - 27/10", exponent="1"), EXPONENTIAL, True),
        (claim("E - 28/10", exponent="1"), EXPONENTIAL, False),
        (claim("28/10 - E", exponent="1"), EXPONENTIAL, True),
        (claim("E^2 - 7", exponent="1"), EXPONENTIAL, True),
        (claim("E^2 - 15/2", exponent="1"), EXPONENTIAL, False),
        (claim("E^2 - 3*E + 1", exponent="1"), EXPONENTIAL, True),
        (claim("E^2 - 3*E + 3/4", exponent="1"), EXPONENTIAL, False),
        (claim("0", exponent="1"), EXPONENTIAL, True),
        (claim("-1", exponent="1"), EXPONENTIAL, False),
        (claim("E - 2 + p", exponent="1"), EXPONENTIAL, False),
        (claim("E - 2 + q", exponent="1"), EXPONENTIAL, False),
        (claim("E - 27/10", {"p": UNIT, "E": "[27/10, 28/10]"}), EXPONENTIAL, False),
        (claim("E + p - 27/10", exponent="1"), enclose("27/10", "28/10"), True),
        (claim("E + p - 27/10", exponent="1"), enclose("26/10", "28/10"), False),
        (claim("E - 3 + p", exponent="1"), enclose("3", "4"), False),
        (claim("E - 1", exponent="1"), enclose("3", "2"), False),
        (claim("E - 1", {"p": UNIT, "E": "[2, 3]"}), enclose("2", "3"), False),
        (claim("E - 27/10", {"p": UNIT, "E": "[27/10, 28/10]"}, exponent="1"), PLUS, True),
    ],
)
def test_the_constant(stated: Json, proof: Any, right: bool) -> None:
    """E = exp(q) is enclosed by intervals that are shown to contain it, or until the sign shows."""
    assert shows(stated, proof) == right


def test_bounds_of_exponentials() -> None:
    """Lower and upper bounds contain exp(q), and come as near as wanted; wrong intervals are refused."""
    for q in ("1/100", "1/2", "1", "2", "5", "11", "12", "30"):
        exact = Fraction(math.exp(Fraction(q)))
        error = exact / 10**12
        widths = []
        for terms in (1, 2, 10, 30, 100):
            low, high = exp_bounds(Fraction(q), terms)
            assert low < exact + error
            assert high > exact - error
            assert low < high
            widths.append(high - low)
        assert widths[-1] < error
        assert widths == sorted(widths, reverse=True)
        assert encloses_exp(Fraction(q), exact - 2 * error, exact + 2 * error)
        for low, high in ((2, 4), (-4, -2), (2, 1)):
            assert not encloses_exp(Fraction(q), exact + low * error, exact + high * error)
    for q in ("-1", "1001"):
        assert not encloses_exp(Fraction(q), Fraction(0), Fraction(10) ** 600)
    small = Fraction(1, 10**9)
    found = [
        encloses_exp(Fraction(0), 1 + low * small, 1 + high * small)
        for low, high in ((0, 0), (-1, 0), (0, 1), (1, 2))
    ]
    assert found == [True, True, True, False]
    assert encloses_exp(Fraction(1000), Fraction(1), Fraction(10) ** 500)
    last = exp_bounds(Fraction(1), 1000)
    assert encloses_exp(Fraction(1), *last)
    middle = (last[0] + last[1]) / 2
    assert not encloses_exp(Fraction(1), Fraction(2), middle)
    assert not encloses_exp(Fraction(1), middle, Fraction(3))
    low, high = exp_bounds(Fraction(1), 2)
    assert (low, high) == (2, Fraction(2) + Fraction(1, 2) / (1 - Fraction(1, 3)))
    near = exp_bounds(Fraction(1), 200)
    assert encloses_exp(Fraction(1), near[0], Fraction(3))
    assert encloses_exp(Fraction(1), Fraction(2), near[1])


def test_signs_in_exponentials() -> None:
    """The sign of a polynomial in exp(q), also where the number is very small, and where there is none."""
    e = [exp_bounds(Fraction(1), terms) for terms in (12, 40, 200)]
    for low, high in e:
        assert sign_in_exp({1: Fraction(1), 0: -low}, Fraction(1)) == 1
        assert sign_in_exp({1: Fraction(1), 0: -high}, Fraction(1)) == -1
        assert sign_in_exp({1: Fraction(-1), 0: low}, Fraction(1)) == -1
        assert sign_in_exp({2: Fraction(-1), 0: high * high}, Fraction(1)) == 1
        for c in (Fraction(1, 2), Fraction(1, 100), Fraction(3)):
            assert sign_in_exp({1: c, 0: -high * c}, Fraction(1)) == -1
            assert sign_in_exp({1: -c, 0: low * c}, Fraction(1)) == -1
    assert [sign_in_exp({0: Fraction(c)}, None) for c in (-2, 0, 2)] == [-1, 0, 1]
    assert sign_in_exp({}, None) == 0
    assert sign_in_exp({3: Fraction(0), 0: Fraction(1)}, None) == 1
    for coefficients, sign in (({1: 2, 0: -2}, 0), ({1: 2, 0: -1}, 1), ({2: -2, 1: 1}, -1), ({3: 1}, 1)):
        assert sign_in_exp({k: Fraction(c) for k, c in coefficients.items()}, Fraction(0)) == sign
    for exponent in (None, Fraction(-1), Fraction(1001)):
        with pytest.raises(Rejected, match="out of range"):
            sign_in_exp({1: Fraction(1)}, exponent)
    assert sign_in_exp({1: Fraction(1)}, Fraction(1000)) == 1


LEAF = "a Bernstein coefficient is negative at a leaf"
EQUATION, NOT_LINEAR = "the constraints are not an equation", "a constraint is not linear in q with a number"
REASONS: list[tuple[Json, Any, str]] = [
    (claim("-1"), CONSTANT, "the polynomial is not a number that is at least zero"),
    (claim("p"), {"kind": "fixed", "variable": "p", "proof": CONSTANT}, "p is not fixed"),
    (claim("p"), {"kind": "fixed", "variable": "r", "proof": CONSTANT}, "there is no variable 'r'"),
    *((claim("1"), factors("1", ("p", m, None)), "a multiplicity must be a positive") for m in (0, -1)),
    (claim("2*p"), factors("1", ("2", 1, "+"), ("p", 1, "+")), "the product of the factors differs"),
    (claim("p", {"p": UNIT}), factors("1", ("p + 1", 10**6, None)), "the product of the factors differs"),
    (claim("-p"), factors("-1", ("p", 1, "+")), "the signs of the factors make the product negative"),
    (claim("p - q"), total(("p", PLUS), ("q", PLUS)), "the sum of the parts differs from the polynomial"),
    *((claim(text), quadratic("p"), "is not quadratic in p") for text in ("p^3", "p + 1", "q^2")),
    (claim("p - 1"), PLUS, LEAF),
    (claim("p - q"), tree(["low", "p"], ["high", "p"], "+"), "the polynomial does not mention 'p'"),
    (claim("p - q"), tree(["low", "q"], "+"), "the polynomial is not shown to be monotone in q"),
    (claim("q - p"), tree(["high", "q"], "+"), "the polynomial is not shown to be monotone in q"),
    (claim("p", None, [("p", ">=")]), tree(["outside", 0]), "a constraint is not shown to fail at a leaf"),
    *((claim("p", None, [("p", ">")]), use(k), f"no constraint number {k}") for k in (-1, 1)),
    (claim("-p", None, [("p", ">=")]), use(0, PLUS, "-1"), "a constraint is used with a negative factor"),
    *((claim("p", None, [(g, ">=")]), stretch("q", 0), NOT_LINEAR) for g in ("p", "q^2", "p*q", "0")),
    *(
        (claim("p", None, [("p - q", ">="), (g, ">=")]), eliminate("q", 0, 1, PLUS), EQUATION)
        for g in ("p - q", "q - 2*p", "0")
    ),
    (claim("1", None, [("0", ">"), ("0", ">")]), contradiction(0, 1), "do not contradict each other"),
    (claim("1", None, [("p - q", ">"), ("q", ">")]), contradiction(0, 1), "do not contradict each other"),
    (claim("p"), blowup({"p": "lower"}, "p"), "a cone is missing"),
    (claim("p"), blowup(LOW, "p"), "a cone is missing"),
    (claim("p", FIXED), blowup(LOW, "p", "q"), "p has one value only"),
    (claim("p"), blowup({"p": "lower", "r": "lower"}, "p", "r"), "there is no variable 'r'"),
    (claim("p"), enclose("2", "3"), "there is no constant to enclose"),
    (claim("E - 1", {"E": "[2, 3]"}, exponent="1"), enclose("2", "3"), "there is no constant to enclose"),
    (claim("E", exponent="1"), enclose("2", "5/2"), "exp(1) is not shown to be in the interval"),
    (claim("p"), EXPONENTIAL, "there is no constant that stands for itself"),
    (claim("E - 1", {"E": "[2, 3]"}, exponent="1"), EXPONENTIAL, "there is no constant that stands"),
    (claim("p*E", exponent="1"), EXPONENTIAL, "another variable than the constant occurs"),
    (claim("2 - E", exponent="1"), EXPONENTIAL, "the number is negative"),
    (claim("p"), {"kind": "solver", "solver": "", "version": "1"}, "a trusted answer must name the solver"),
]


@pytest.mark.parametrize(("stated", "proof", "why"), REASONS)
def test_reasons(stated: Json, proof: Any, why: str) -> None:
    """What a step does not show is said."""
    assert why in reason(stated, proof)


LEMMA = claim("p - 1/2", {"p": "[0, 1]", "q": UNIT}, [("p - 1/2", ">=")])


@pytest.mark.parametrize(
    ("stated", "right"),
    [
        (LEMMA, True),
        (claim("2*p - 1", None, [("p - 1/2", ">=")]), True),
        (claim("2*p - 1", None, [("q", ">="), ("p - 1/2", ">=")]), True),
        (claim("p - 1/2", {"p": "[1/4, 1]", "q": UNIT}, [("p - 1/2", ">=")]), True),
        (claim("p - 1/2", {"p": "[0, 3/4]", "q": "[1/2, 1/2]"}, [("p - 1/2", ">=")]), True),
        (claim("p - 1/2", {"p": "(0, 1)", "q": UNIT}, [("p - 1/2", ">=")]), True),
        (claim("1/2 - p", None, [("p - 1/2", ">=")]), False),
        (claim("p - 1/3", None, [("p - 1/2", ">=")]), False),
        (claim("0", None, [("p - 1/2", ">=")]), False),
        (claim("p - 1/2", None, []), False),
        (claim("p - 1/2", None, [("p - 1/2", ">")]), False),
        *(
            (claim("p - 1/2", {"p": p, "q": q}, [("p - 1/2", ">=")]), False)
            for p, q in (("[-1, 1]", UNIT), ("[0, 2]", UNIT), (UNIT, "[-1, 1]"), (UNIT, "[0, 2]"))
        ),
        *(
            (claim("p - 1/2", dict.fromkeys(names, UNIT), [("p - 1/2", ">=")]), False)
            for names in ("p", "qp", "pqr")
        ),
    ],
)
def test_lemmas(stated: Json, right: bool) -> None:
    """A lemma shows its own statement up to a positive number, on smaller boxes, with more constraints."""
    assert shows(stated, {"kind": "lemma", "name": "a"}, {"b": claim("1"), "a": LEMMA}) == right
    assert "no lemma" in reason(stated, {"kind": "lemma", "name": "c"}, {"a": LEMMA})
    if not right:
        assert "proves something else" in reason(stated, {"kind": "lemma", "name": "a"}, {"a": LEMMA})


@pytest.mark.parametrize("lemma", ["(0, 1)", "(0, 1]", "[0, 1)", "[0, 1]"])
@pytest.mark.parametrize(
    "box", ["(0, 1)", "[0, 1)", "(0, 1]", "[0, 1]", "[1/4, 3/4]", "[0, 3/4]", "[1/4, 1]"]
)
def test_lemmas_and_ends(lemma: str, box: str) -> None:
    """An end that a lemma leaves out is none of the goal's."""
    right = (lemma[0] == "[" or box[:2] != "[0") and (lemma[-1] == "]" or box[-2:] != "1]")
    proof = {"kind": "lemma", "name": "a"}
    assert shows(claim("p", {"p": box}), proof, {"a": claim("p", {"p": lemma})}) == right


def test_lemmas_about_the_constant() -> None:
    """A lemma about exp(1) says nothing about exp(2), nor about an interval that contains it."""
    proof = {"kind": "lemma", "name": "a"}
    one = claim("E - 2", exponent="1")
    assert shows(one, proof, {"a": one})
    assert not shows(claim("E - 2", exponent="2"), proof, {"a": one})
    assert not shows(claim("E - 2", {"p": UNIT, "q": UNIT, "E": "[1, 3]"}, exponent="1"), proof, {"a": one})
    assert not shows(claim("E - 2", {"p": UNIT, "q": UNIT, "E": "[1, 3]"}), proof, {"a": one})
    assert not shows(one, proof, {"a": claim("E - 2", {"p": UNIT, "q": UNIT, "E": "[2, 3]"}, exponent="1")})


@pytest.mark.parametrize("ties", [{}, {"w": ["p", "2"]}, {"w": ["q", "1"]}, {"w": ["p", "1"]}])
def test_lemmas_about_logarithms(ties: Json) -> None:
    """On p <= 1/2 -ln(p) is above 1/2, but neither is half of it, nor -ln(q), nor any number w."""
    box = {"p": "(0, 1/2]", "q": "(0, 1]"}

    def about(ties: Json) -> Json:
        return {"variables": ["p", "q", "w"], "box": box, "constraints": [], "polynomial": "w - 1/2"} | (
            {"ties": ties} if ties else {"constant": "1/2"}
        )

    proof, right = {"kind": "lemma", "name": "a"}, ties == {"w": ["p", "1"]}
    assert shows(about(ties), proof, {"a": about({"w": ["p", "1"]})}) == right


def test_proofs_that_are_none() -> None:
    """Proofs are objects of a known kind, nested not too deeply, and have what their kind needs."""
    for kind in ("none", None, ["constant"], "ends"):
        assert not shows(claim("1"), {"kind": kind})
    for proof in (None, [], "constant", {}):
        assert not shows(claim("1"), proof)
    for levels in (59, 60):
        deep: Any = CONSTANT
        for _ in range(levels):
            deep = total(("1", deep))
        assert shows(claim("1"), deep)
    assert "too deeply" in reason(claim("1"), total(("1", deep)))


# --- claims, witnesses and documents --------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        *({"variables": names} for names in (["p", "p"], ["p", "q", "r"], ["p"])),
        *({"variables": ["p", name], "box": {"p": UNIT, name: UNIT}} for name in ("1q", "q q")),
        {"box": {"p": UNIT}},
        *(
            {"box": {"p": UNIT, "q": text}}
            for text in ("[1, 0]", "(0, 0]", "[0, 0)", "{0, 1}", "[0,1]", "[0, 1] ")
        ),
        {"box": {"p": UNIT, "q": UNIT, "r": UNIT}},
        *({"constraints": [each]} for each in (["p", "<"], ["p", "=="], ["r", ">="])),
        {"constant": "1"},
        {"polynomial": "r"},
        {"polynomial": 1},
    ],
)
def test_claims_that_are_none(change: Json) -> None:
    """Variables, intervals, constraints and constants that are none make no claim."""
    assert shows(claim("1"), CONSTANT)
    assert shows(claim("1", FIXED), CONSTANT)
    assert not shows({**claim("1"), **change}, CONSTANT)
    with pytest.raises(Rejected):
        check_witness({**claim("-1"), **change}, {"p": "1/2", "q": "1/2"})
    assert not shows({**claim("1", exponent="1"), "variables": ["p", "E", "q"]}, CONSTANT)
    assert not shows({**claim("1", exponent="1"), "variables": ["p", "q"]}, CONSTANT)


TIED: Json = {"variables": ["x", "y", "l"], "box": {"x": "(0, 1]", "y": "(0, 1]"}, "constraints": []}
TIED |= {"polynomial": "l - 1", "ties": {"l": ["x", "1"]}}
CALLED_E: Json = {"variables": ["p", "E"], "box": {"p": UNIT, "E": "[2, 3]"}, "constraints": []}
CALLED_E |= {"polynomial": "p - E", "constant": "1"}
TWO = {"l": ["x", "1"], "m": ["y", "2"]}


@pytest.mark.parametrize(
    ("given", "change", "told"),
    [
        (TIED, {"variables": ["x", "x", "y", "l"]}, "must have different names"),
        (TIED, {"ties": TWO}, "m and y are tied in an unknown way"),
        (TIED, {"box": TIED["box"] | {"l": UNIT}}, "l and x are tied in an unknown way"),
        (TIED, {"ties": {"l": ["x", "0"]}}, "l and x are tied in an unknown way"),
        (TIED, {"box": {"x": "[-1, 1]", "y": UNIT}}, "beyond"),
        (TIED, {"variables": ["x", "y", "l", "m"], "ties": TWO | {"m": ["x", "2"]}}, "are tied to one"),
        (TIED, {"variables": ["x", "y", "E"], "ties": {"E": ["x", "1"]}}, "are tied to one"),
        (CALLED_E, {"box": {"p": UNIT, "E": "[271/100, 2718/1000]"}}, r"not shown to contain exp\(1\)"),
        (CALLED_E, {"constant": "0", "box": {"p": UNIT, "E": "[1, 1]"}}, r"not shown to contain exp\(0\)"),
        (CALLED_E, {"variables": ["E", "p"]}, "not shown to contain"),
        (TIED | {"variables": ["x", "y", "l", "E"]}, {"constant": "1"}, "both exp and a logarithm"),
    ],
)
def test_ties_and_constants_that_are_none(given: Json, change: Json, told: str) -> None:
    """A logarithm is one of numbers in (0, 1] and has no interval; that of E contains the constant."""
    point = {"x": "2/3", "y": "1"} if "ties" in given else {"p": "1"}
    if "E" not in given["variables"] or "ties" not in given:
        check_witness(given, point)
    with pytest.raises(Rejected, match=told):
        check_witness(given | change, point)


@pytest.mark.parametrize(
    ("stated", "point", "right"),
    [
        (claim("p - 1/2"), ("1/4", "0"), True),
        (claim("p - 1/2"), ("1/2", "0"), False),
        (claim("p - 1/2"), ("3/4", "0"), False),
        (claim("p - 1/2"), ("0", "1"), True),
        (claim("1/2 - p"), ("1", "1"), True),
        (claim("p - 1/2"), ("-1", "0"), False),
        (claim("1/2 - p"), ("2", "0"), False),
        (claim("p - 1/2", {"p": "(0, 1]", "q": UNIT}), ("0", "0"), False),
        (claim("1/2 - p", {"p": "(0, 1]", "q": UNIT}), ("1", "0"), True),
        (claim("1/2 - p", {"p": "[0, 1)", "q": UNIT}), ("1", "0"), False),
        (claim("p - 1/2", {"p": "[0, 1)", "q": UNIT}), ("0", "0"), True),
        (claim("p - 1/2", None, [("q - p", ">=")]), ("1/4", "1/4"), True),
        (claim("p - 1/2", None, [("q - p", ">")]), ("1/4", "1/4"), False),
        (claim("p - 1/2", None, [("q - p", ">")]), ("1/4", "1/2"), True),
        (claim("p - 1/2", None, [("q - p", ">=")]), ("1/4", "0"), False),
        (claim("p - 1/2", None, [("p", ">="), ("q - p", ">=")]), ("1/4", "0"), False),
        (claim("E + p - 29/10", exponent="1"), ("1/10", "0"), True),
        (claim("E + p - 29/10", exponent="1"), ("2/10", "0"), False),
        (claim("p - 1/2", None, [("E - 27/10", ">")], "1"), ("1/10", "0"), True),
        (claim("p - 1/2", None, [("27/10 - E", ">")], "1"), ("1/10", "0"), False),
    ],
)
def test_witnesses(stated: Json, point: tuple[str, str], right: bool) -> None:
    """A witness is a point of the domain at which the claim fails; E is the number it stands for."""
    values = dict(zip("pq", point, strict=True))
    if right:
        check_witness(stated, values)
    else:
        with pytest.raises(Rejected):
            check_witness(stated, values)
    for missing in "pq":
        with pytest.raises(Rejected):
            check_witness(stated, {n: v for n, v in values.items() if n != missing})


def test_a_parameter_called_like_the_constant() -> None:
    """Without a constant, E is a parameter like any other: a witness has its value, in its interval."""
    stated = claim("E - 1/2", {"E": UNIT})
    check_witness(stated, {"E": "1/4"})
    for point in ({}, {"E": "3/4"}, {"E": "-1"}):
        with pytest.raises(Rejected):
            check_witness(stated, point)


GOOD, OTHER = claim("p + q"), claim("p")
SOLVER = {"kind": "solver", "solver": "z9", "version": "1"}
FAILS = claim("p - 1/2")


def test_documents_are_counted() -> None:
    """The report counts proved, trusted and open claims; origins name them where they are compared."""
    given = document(
        statement(GOOD, PLUS, origins=["a against b", "c", "d"]),
        statement(OTHER, SOLVER, origins=["e"]),
        statement(FAILS, None, origins=["f", "g"]),
        statement(claim("q"), PLUS),
        status="unknown",
    )
    report = check_document(given)
    assert (report.accepted, report.proved, report.trusted, report.open) == (True, 2, 1, 1)
    assert report.lines == (
        "claim 1 (p + q >= 0): proved",
        "claim 2 (p >= 0): trusted to 'z9 1'",
        "claim 3 (p - 1/2 >= 0): open",
        "claim 4 (q >= 0): proved",
    )
    beside = check_document(given, Demanded([full(given, each) for each in given["statements"]]))
    assert beside.lines == (
        "claim 1 (a against b, and other comparisons): proved",
        "claim 2 (e): trusted to 'z9 1'",
        "claim 3 (f, and another comparison): open",
        "claim 4 (q >= 0): proved",
    )


def test_what_holds_has_all_claims() -> None:
    """Evidence that a case holds proves every claim of the case, and there is one."""
    good, other = statement(GOOD, PLUS), statement(OTHER, PLUS)
    both = document(good, other)
    assert check_document(both, Demanded([GOOD, OTHER])).accepted
    assert check_document(both, Demanded([GOOD, OTHER, GOOD])).accepted
    assert not check_document(document(statement(FAILS, PLUS), status="unknown")).accepted


def test_trust_in_lemmas_is_passed_on() -> None:
    """A claim that rests on a lemma that rests on a solver is trusted, and says which solver."""
    by = {"kind": "lemma", "name": "a"}
    first = statement(FAILS, SOLVER, "lemma", name="a")
    second = statement(claim("2*p - 1"), by, "lemma", name="b")
    for proof in (by, {"kind": "lemma", "name": "b"}):
        report = check_document(document(first, second, statement(FAILS, proof)))
        assert (report.accepted, report.proved, report.trusted) == (True, 0, 1)
        assert report.lines == ("claim 1 (p - 1/2 >= 0): trusted to 'z9 1'",)
    early = document(second, first, statement(FAILS, by))
    assert "no lemma" in check_document(early).lines[0]
    proved = document(statement(GOOD, PLUS, "lemma", name="a"), statement(GOOD, by))
    assert check_document(proved).proved == 1
