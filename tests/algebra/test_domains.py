"""Parameter domains: intervals, boxes and constraints, and which points belong to them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import FEW, NAMES, RING, boxes, intervals, points, rationals

from paramverify.algebra.constants import ExpConstant
from paramverify.algebra.domains import Domain, Interval, box_domain, parse_interval
from paramverify.algebra.expressions import Value, evaluate, parse
from paramverify.algebra.polynomials import Ring, to_rational_function, value_at
from paramverify.algebra.signs import comparison_polynomials, parse_constraint
from paramverify.errors import DomainError, ExpressionError, InputError

UNIT = Interval(Fraction(0), Fraction(1))
CUBE = box_domain(RING, dict.fromkeys(NAMES, UNIT))


@pytest.mark.parametrize(
    ("text", "interval"),
    [
        ("(0, 1)", Interval(Fraction(0), Fraction(1), False, False)),
        ("[1/10, 0.4]", Interval(Fraction(1, 10), Fraction(2, 5), True, True)),
        (" (0,1] ", Interval(Fraction(0), Fraction(1), False, True)),
        ("[-1, 1e-3)", Interval(Fraction(-1), Fraction(1, 1000), True, False)),
        ("[1 - 2**-3, (1 + 1)/2]", Interval(Fraction(7, 8), Fraction(1), True, True)),
        ("[1/2, 0.5]", Interval(Fraction(1, 2), Fraction(1, 2), True, True)),
        ("0.3", Interval(Fraction(3, 10), Fraction(3, 10), True, True)),
        ("(1/2)", Interval(Fraction(1, 2), Fraction(1, 2), True, True)),
    ],
)
def test_interval(text: str, interval: Interval) -> None:
    """Open, closed and half-open intervals with exact ends; one number is a fixed parameter."""
    assert parse_interval(text) == interval


@FEW
@given(intervals())
def test_the_text_of_an_interval_is_read_back(interval: Interval) -> None:
    """An interval's text determines it."""
    assert parse_interval(str(interval)) == interval


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(1, 0)", "the interval (1, 0) is empty"),
        ("[1/2, 1/3]", "the interval [1/2, 1/3] is empty"),
        ("(1, 1)", "the interval (1, 1) is empty"),
        ("[1, 1)", "the interval [1, 1) is empty"),
        ("(0.5, 1/2]", "the interval (1/2, 1/2] is empty"),
        (
            "(0, oo)",
            "a parameter needs an interval with finite ends: for an unbounded parameter p, substitute p = "
            "t/(1-t)",
        ),
        (
            "[-Infinity, 1)",
            "a parameter needs an interval with finite ends: for an unbounded parameter p, substitute p = "
            "t/(1-t)",
        ),
        (
            "(-oo, oo)",
            "a parameter needs an interval with finite ends: for all real numbers, verify an SMT-LIB "
            "script, or substitute "
            "p = t/(1-t**2) with t in (-1, 1)",
        ),
        ("(0, 1", "not an interval: '(0, 1'; write \"(0, 1)\""),
        ("0, 1", "not an interval: '0, 1'; write \"[0, 1]\""),
        ("(0, 1, 2)", "not an interval: '(0, 1, 2)'; write for example (0, 1) or [1/10, 0.4]"),
        ("[1/2]", "not an interval: '[1/2]'; write for example (0, 1) or [1/10, 0.4]"),
    ],
)
def test_not_an_interval(text: str, message: str) -> None:
    """Empty, unbounded and malformed intervals are refused with the reason."""
    with pytest.raises(DomainError) as caught:
        parse_interval(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty expression"),
        ("(0, p)", "unknown name 'p'; no names are known here"),
        ("(0, 1/0)", "division by zero"),
        ("[0, exp(1)]", "exp is not allowed here, because its value is not rational"),
        ("(0, 1 < 2)", "a number is needed here"),
        ("(0, __import__('os'))", "not a function of the case format (these are: exp, ln, abs, min, max)"),
    ],
)
def test_ends_are_constants(text: str, reason: str) -> None:
    """The ends are rational constants, and nothing else."""
    with pytest.raises(ExpressionError) as caught:
        parse_interval(text)
    assert caught.value.reason == reason


@FEW
@given(intervals(), rationals())
def test_membership(interval: Interval, value: Fraction) -> None:
    """An end belongs to the interval iff it is closed there."""
    low, high = interval.lower, interval.upper
    above = low <= value if interval.lower_closed else low < value
    below = value <= high if interval.upper_closed else value < high
    assert (value in interval) == (above and below)
    assert "p" not in interval


@FEW
@given(intervals())
def test_simplest_point(interval: Interval) -> None:
    """The simplest point belongs to the interval, and lies inside unless the interval is a point."""
    point = interval.simplest()
    assert point in interval
    assert interval.is_point or interval.lower < point < interval.upper


@pytest.mark.slow
@FEW
@given(boxes())
def test_corners(box: dict[str, Interval]) -> None:
    """The corners are all combinations of ends, each once."""
    corners = [tuple(corner.values()) for corner in Domain(RING, box).corners()]
    expected = 1
    for interval in box.values():
        expected *= 1 if interval.is_point else 2
    assert len(corners) == len(set(corners)) == expected
    for corner in corners:
        assert all(value in (i.lower, i.upper) for value, i in zip(corner, box.values(), strict=True))


CONSTRAINTS = [
    "p + q <= 1",
    "p + q < 1",
    "0.3 < p <= q < r",
    "p == q",
    "p >= 2*q and q*r > 1/8",
    "p + q > 1 > 2*r",
    "p/(1 - p) <= 2*q",
    "1/(p*q) >= r/(q - 2) + 5",
    "(1 - p)/(1 - 2*p + 2*p**2) < 1",
    "p/2 == q == r**2",
]


@pytest.mark.slow
@FEW
@given(st.sampled_from(CONSTRAINTS), st.data())
def test_constraints_mean_what_they_say(text: str, data: st.DataObject) -> None:
    """A point satisfies the polynomial constraints iff the text is true there, denominators included."""
    inside = st.fractions(0, 1, max_denominator=8).filter(lambda v: v in UNIT)
    point = data.draw(st.fixed_dictionaries(dict.fromkeys(NAMES, inside)))
    domain = Domain(RING, CUBE.box, parse_constraint(text, CUBE))
    values: dict[str, Value] = dict(point)
    assert (point in domain) == evaluate(parse(text), values)


@FEW
@given(boxes(), points())
def test_points_of_a_domain(box: dict[str, Interval], point: dict[str, Fraction]) -> None:
    """A point belongs to a domain iff it belongs to the box and satisfies the constraints."""
    constraints = parse_constraint("p <= q*r", CUBE)
    expected = all(point[name] in box[name] for name in NAMES) and point["p"] <= point["q"] * point["r"]
    assert (point in Domain(RING, box, constraints)) == expected
    assert "p" not in Domain(RING, box)


@pytest.mark.parametrize(
    ("text", "reason", "column"),
    [
        ("1/(p - q) > 0", "the denominator p - q may vanish in the domain", 0),
        ("p < q and p/(p + q - 1) < 1", "the denominator p + q - 1 may vanish in the domain", 10),
        ("p", "a comparison with <, <=, >, >= or == is needed here", 0),
        ("p != q", "a comparison with <, <=, >, >= or == is needed here", 0),
        ("p < q or q < p", "a comparison with <, <=, >, >= or == is needed here", 0),
        ("p < q and not q < r", "a comparison with <, <=, >, >= or == is needed here", 10),
        ("p == 'flu'", "a label is not a number", 5),
        ("p < s", "unknown name 's'; known here: p, q, r", 4),
        ("abs(p) < 1", "abs is not allowed here: expressions of parameters support + - * / ** only", 0),
        ("p <", "syntax error", 3),
    ],
)
def test_not_a_constraint(text: str, reason: str, column: int) -> None:
    """Denominators of unknown sign, and what is no conjunction of comparisons, are refused."""
    with pytest.raises(InputError) as caught:
        parse_constraint(text, CUBE)
    assert isinstance(caught.value, ExpressionError)
    assert (caught.value.reason, caught.value.column) == (reason, column)


def test_denominators_depend_on_the_domain() -> None:
    """1/p is fine where p > 0 and is refused where the end p = 0 belongs to the domain."""
    closed = box_domain(RING, {**CUBE.box, "p": Interval(Fraction(0), Fraction(1), True, True)})
    assert len(parse_constraint("1/p >= q", CUBE)) == 1
    with pytest.raises(InputError, match="the denominator p may vanish"):
        parse_constraint("1/p >= q", closed)


def test_a_negative_denominator_turns_the_comparison() -> None:
    """Multiplying by the negative p - 2 turns ≤ into ≥."""
    (constraint,) = parse_constraint("q/(p - 2) <= r", CUBE)
    assert constraint.polynomial == to_rational_function(parse("q - r*(p - 2)"), RING).numerator
    assert not constraint.strict


def test_points_on_the_border_of_a_constraint() -> None:
    """A weak constraint holds where its polynomial is zero, a strict one does not; only points belong."""
    border = dict.fromkeys(NAMES, Fraction(1, 2))
    for text, inside in (("p + q <= 1", True), ("p + q < 1", False), ("p + q >= 1", True), ("p > q", False)):
        domain = Domain(RING, CUBE.box, parse_constraint(text, CUBE))
        assert (border in domain) == inside
    assert "p" not in CUBE
    assert Fraction(1, 2) not in CUBE


def test_comparison_with_definitions() -> None:
    """Comparisons may use names that were defined before."""
    half = to_rational_function(parse("q/2"), RING)
    ((polynomial, strict),) = comparison_polynomials(parse("f < p"), CUBE, {"f": half})
    assert strict
    assert value_at(polynomial, {"p": Fraction(1), "q": Fraction(1), "r": Fraction(0)}) > 0


def test_description() -> None:
    """A domain describes itself in the user's words, without the generator of constants."""
    ring = Ring(("p", "q"), ExpConstant(Fraction(1, 2)))
    half = Interval(Fraction(1, 2), Fraction(1, 2), True, True)
    domain = box_domain(ring, {"p": parse_interval("(0, 1]"), "q": half})
    with_constraint = Domain(ring, domain.box, parse_constraint("p + q <= exp(1/2)", domain))
    assert with_constraint.describe() == "p in (0, 1], q = 1/2, p + q <= exp(1/2)"


@FEW
@given(st.integers(1, 200))
def test_enclosing_the_constant(bits: int) -> None:
    """`enclose` gives the generator an interval that contains exp(1/2) and leaves everything else alone."""
    constant = ExpConstant(Fraction(1, 2))
    domain = box_domain(Ring(("p",), constant), {"p": UNIT}).enclose(bits)
    assert list(domain.box) == ["p", "E"]
    assert domain.box["E"] == Interval(*constant.enclosure(bits), True, True)
    assert domain.box["p"] == UNIT
    assert domain.constant == constant
    assert CUBE.enclose(bits) is CUBE
