"""Checks that tables are probabilities: signs that are shown, mistakes, and what is left to prove."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from claim_tools import make

from paramverify.algebra.constants import ExpConstant
from paramverify.algebra.domains import Domain, box_domain, parse_interval
from paramverify.algebra.expressions import parse
from paramverify.algebra.polynomials import Polynomial, Ring, to_rational_function, value_at
from paramverify.algebra.signs import parse_constraint
from paramverify.errors import ModelError
from paramverify.models.context import (
    Checks,
    check_domain,
    is_somewhere_positive,
    sample_points,
    show_point,
)

HIDDEN = "p**2 - p + 1/3"  # positive, with a negative Bernstein coefficient on the unit interval
NARROW = ["p > 97/100", "p < 98/100"]  # leaves no point that is tried


def domain_of(box: dict[str, str], constraints: list[str], exponent: Fraction | None = None) -> Domain:
    """Returns a domain from texts."""
    ring = Ring(tuple(box), ExpConstant(exponent) if exponent else None)
    domain = box_domain(ring, {name: parse_interval(text) for name, text in box.items()})
    limits = tuple(c for text in constraints for c in parse_constraint(text, domain))
    return Domain(domain.ring, domain.box, limits)


def on_line(text: str, interval: str = "(0, 1)", *constraints: str) -> tuple[Checks, Polynomial]:
    """Returns the checks of a domain in p, and a polynomial."""
    claim = make(text, {"p": interval}, constraints)
    return Checks(claim.domain), claim.polynomial


@pytest.mark.parametrize(
    ("text", "interval", "sign"),
    [
        ("p + 1", "[0, 1]", 1),
        ("-p - 1", "[0, 1]", -1),
        ("p*(1 - p)", "(0, 1)", 1),
        ("p**131", "(0, 1)", 1),
        ("-3*p**131", "(0, 1)", -1),
        ("p**131*(p - 2)", "(0, 1)", -1),
        ("p**131*(p - 2)*(p - 3)*(p - 4)", "(0, 1)", -1),
        ("p**131*(p + 1)/3", "(0, 1)", 1),
        ("(p - 2)**131", "[0, 1]", -1),
    ],
)
def test_a_sign_that_is_shown(text: str, interval: str, sign: int) -> None:
    """Polynomials of one sign are oriented at once, also those of a degree that only their factors show."""
    checks, f = on_line(text, interval)
    assert checks.positive(f, "f") == f * sign
    assert checks.obligations == []


@pytest.mark.parametrize(
    ("text", "interval", "message"),
    [
        ("2*p - 1", "(0, 1)", "f is zero at p = 1/2"),
        ("p**131", "[0, 1]", "f is zero at p = 0"),
        ("p**131*(1 - 2*p)", "(0, 1)", "f is zero at p = 1/2"),
        (
            "7*p - 1",
            "(0, 1)",
            (
                "f changes its sign on the domain: restrict [parameters] so that it is always "
                "positive or always negative"
            ),
        ),
    ],
)
def test_denominators_that_may_be_zero(text: str, interval: str, message: str) -> None:
    """A zero at a point, and a change of sign, are told."""
    checks, f = on_line(text, interval)
    with pytest.raises(ModelError) as caught:
        checks.positive(f, "f")
    assert str(caught.value) == message


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("limits", [[], ["p >= 1/4"], NARROW])
def test_what_is_left_to_prove_of_a_denominator(sign: int, limits: list[str]) -> None:
    """The claim says that nowhere on the domain the oriented polynomial is zero or negative."""
    checks, f = on_line(HIDDEN, "(0, 1)", *limits)
    given = f * sign
    oriented = checks.positive(given, "f")
    assert oriented == (given if limits is NARROW else f)
    (obligation,) = checks.obligations
    assert obligation.message == "f may be zero or negative"
    assert obligation.claim.polynomial == -1
    *kept, added = obligation.claim.domain.constraints
    assert tuple(kept) == checks.domain.constraints
    assert (added.polynomial, added.strict, added.text) == (-oriented, False, "f <= 0")


def test_only_small_polynomials_are_factored() -> None:
    """A polynomial of more than 2,000 terms is left to prove: its coefficients are not computed."""
    checks, f = on_line("((p + 1)**1000 + 1)*((p + 2)**1000 + 1)*(p + 3)", "[0, 1]")
    assert len(f) == 2002
    assert checks.positive(f, "f") == f
    assert len(checks.obligations) == 1


def test_denominators_of_functions() -> None:
    """The denominator of an expression is checked, and a common one is positive on the domain."""
    checks, _ = on_line("p")
    value = checks.function(parse("p/(1 + p)"))
    assert value == to_rational_function(parse("p/(1 + p)"), checks.ring)
    with pytest.raises(ModelError, match=r"^the denominator of 1/\(1 - 2\*p\) is zero at p = 1/2$"):
        checks.function(parse("1/(1 - 2*p)"))
    parts = [checks.function(parse(text)) for text in ("1/(p - 2)", "1/(p - 3)", "p")]
    common = checks.common_denominator(parts)
    for p in (Fraction(1, 7), Fraction(5, 6)):
        assert value_at(common, {"p": p}) > 0
        for n, d in ((1, p - 2), (1, p - 3)):
            assert (value_at(common, {"p": p}) * n / d).denominator <= 7**3 * 6**3


def test_numbers_that_are_not_negative() -> None:
    """Zeros are no mistake, a negative value is one, and what no argument shows is left to prove."""
    for text, interval in (("p", "[0, 1]"), ("p + 1", "[0, 1]"), ("0*p", "(0, 1)")):
        checks, f = on_line(text, interval)
        checks.nonnegative(f, "f")
        assert checks.obligations == []
    checks, f = on_line("(p - 1/2)**2")
    checks.nonnegative(f, "f")
    (obligation,) = checks.obligations
    assert (obligation.claim.polynomial, obligation.message) == (f, "f is negative")
    assert obligation.claim.domain is checks.domain
    for text, place in (("1/2 - p", "3/4"), ("-p", "1/2"), ("p - 1/2", "1/4")):
        checks, f = on_line(text)
        with pytest.raises(ModelError, match=f"^f is negative at p = {place}$"):
            checks.nonnegative(f, "f")


def test_distributions() -> None:
    """Entries sum to one, and none is negative, whatever the sign of its denominator."""

    def check(*texts: str) -> None:
        checks, _ = on_line("p")
        entries = {str(k): to_rational_function(parse(t), checks.ring) for k, t in enumerate(texts)}
        checks.distribution(entries, "row")
        assert checks.obligations == []

    check("p", "1 - p")
    check("p/(1 + p)", "1/(1 + p)")
    check("p/(p - 2) + 1", "-p/(p - 2)")
    with pytest.raises(ModelError, match=r"^row: the probability of 0 is negative at p = 3/4$"):
        check("(1 - 2*p)/(p + 2)", "(1 + 3*p)/(p + 2)")
    with pytest.raises(ModelError, match=r"^row: the probabilities sum to .* instead of 1$"):
        check("p", "p")


def test_signs_of_constants() -> None:
    """Numbers with exp(1/2) are compared exactly: 1.6487212707001281… lies between the two."""
    domain = domain_of({"p": "(0, 1)"}, [], Fraction(1, 2))
    number = to_rational_function(parse("exp(1/2)"), domain.ring).numerator
    checks = Checks(domain)
    for bound, sign in (("1.6487212707001281", 1), ("1.6487212707001282", -1)):
        f = number - domain.ring.number(Fraction(bound))
        assert checks.positive(f, "f") == f * sign
        assert checks.positive(-f, "f") == f * sign
    both = number + domain.ring.variable("p")
    assert checks.positive(-both, "f") == both
    with pytest.raises(ModelError, match=r"^f changes its sign on the domain"):
        checks.positive(number * domain.ring.variable("p") - 1, "f")
    assert checks.obligations == []


def test_points_that_are_tried() -> None:
    """The simplest point comes first, then quarters, closed ends, and points near the ends."""

    def tried(box: dict[str, str], *constraints: str) -> list[tuple[Fraction, ...]]:
        return [tuple(p.values()) for p in sample_points(domain_of(box, list(constraints)))]

    def numbers(text: str) -> list[Fraction]:
        return [Fraction(part) for part in text.split()]

    line = numbers("1/2 1/4 3/4 1/16 15/16")
    assert tried({"p": "(0, 1)"}) == [(x,) for x in line]
    assert tried({"p": "[2, 4)"}) == [(x,) for x in numbers("3 5/2 7/2 2 17/8 31/8")]
    assert tried({"p": "(0, 7]"}) == [(x,) for x in numbers("1 7/2 7/4 21/4 7 7/16 105/16")]
    assert tried({"p": "(0, 1)", "q": "1/3"}) == [(x, Fraction(1, 3)) for x in line]
    pairs = [(x, y) for x, y in product(line, line) if x + y < 1]
    assert tried({"p": "(0, 1)", "q": "(0, 1)"}, "p + q < 1") == pairs
    square = domain_of({"p": "(0, 1)", "q": "(0, 1)"}, [])
    assert [tuple(p.values()) for p in sample_points(square, 3)] == [*product(line, line)][:3]
    domain = domain_of({"p": "(0, 1)"}, [], Fraction(1, 2))
    low, high = domain.box["E"].lower, domain.box["E"].upper
    assert {p["E"] for p in sample_points(domain)} == {domain.box["E"].simplest(), (low + high) / 2}


def test_how_points_read() -> None:
    """Points are told by their parameters, without the generator of constants."""
    assert show_point({"p": Fraction(1, 2), "q": Fraction(0), "E": Fraction(2)}) == "p = 1/2, q = 0"
    assert show_point({"E": Fraction(2)}) == "every point"


def test_domains_that_may_be_empty() -> None:
    """A domain is asked about unless it is a box, or one of the points that are tried belongs to it."""
    assert check_domain(domain_of({"p": "(0, 1)"}, [])) is None
    assert check_domain(domain_of({"p": "(0, 1)"}, ["p > 15/17"])) is None
    for limits in (NARROW, ["p > 1"]):
        domain = domain_of({"p": "(0, 1)"}, limits)
        obligation = check_domain(domain)
        assert obligation is not None
        assert obligation.claim.polynomial == -1
        assert obligation.claim.domain is domain
        assert obligation.message == ("the parameter domain is empty")


@pytest.mark.parametrize(
    ("text", "box", "limits", "positive"),
    [
        ("p", {"p": "(0, 1)"}, [], True),
        ("0*p", {"p": "(0, 1)"}, [], False),
        ("(p - q)**2", {"p": "(0, 1)", "q": "(0, 1)"}, ["p == q"], False),
        ("(p - q)**2", {"p": "(0, 1)", "q": "(0, 1)"}, ["p == 2*q"], True),
        ("p", {"p": "(0, 1)"}, NARROW, True),
        ("p", {"p": "(0, 1)"}, ["p**2 == 1/2"], None),
        ("exp(1/2)*p", {"p": "(0, 1)", "q": "(0, 1)"}, ["(p - q)*(p**2 + q**2 - 1/2) == 0"], True),
        ("p*(exp(1/2) - 1)", {"p": "(0, 1)"}, [], True),
        ("(exp(1/2) - 1)*0*p", {"p": "(0, 1)"}, [], False),
        ("p*(exp(1/2) - 1)", {"p": "(0, 1)", "q": "(0, 1)"}, ["p + q < 1/2"], None),
    ],
)
def test_what_is_somewhere_positive(
    text: str, box: dict[str, str], limits: list[str], positive: bool | None
) -> None:
    """A point or a box with an inside shows it; the zero polynomial is not; the rest is not known."""
    domain = domain_of(box, limits, Fraction(1, 2) if "exp" in text else None)
    f = to_rational_function(parse(text), domain.ring).numerator
    assert is_somewhere_positive(f, domain) is positive


def test_denominators_where_one_point_is_tried() -> None:
    """Of a domain with one point that is tried, its sign decides which way a denominator is taken."""
    for text, turned in (("p - 1/3", False), ("1/3 - p", True), ("2/3 - p", False), ("p - 2/3", True)):
        checks, polynomial = on_line(text, "[0, 1]", "p <= 1/2", "p >= 1/2")
        assert len(list(sample_points(checks.domain))) == 1
        assert checks.positive(polynomial, "a denominator") == (-polynomial if turned else polynomial)
        (obligation,) = checks.obligations
        assert obligation.claim.polynomial == -1


def test_a_parameter_called_like_the_constant() -> None:
    """Without a constant, E is a parameter like any other, and has the signs of its interval."""
    for interval, text, turned in (
        ("[1, 2]", "E", False),
        ("[-2, -1]", "E", True),
        ("[0, 3]", "2*E - 7", True),
    ):
        claim = make(text, {"E": interval})
        checks = Checks(claim.domain)
        assert checks.positive(claim.polynomial, "it") == (-claim.polynomial if turned else claim.polynomial)
        assert checks.obligations == []


def test_positive_points_of_parts_of_a_domain() -> None:
    """A part that is a box shows a positive point only if the polynomial is not zero on all of it."""
    box = {"p": "[0, 1]", "q": "[0, 1]"}
    for text, found in (("p**2", None), ("q**2", True), ("(p + q)**2", True), ("p*0", False)):
        claim = make(text, box, ["p*(p**2 + q**2 - 1/3) == 0"])
        assert is_somewhere_positive(claim.polynomial, claim.domain) is found
