"""One parameter point: values, signs and membership against fractions, and `E` against its enclosures."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from flint import fmpq_poly
from hypothesis import given
from hypothesis import strategies as st
from strategies import FEW

from paramverify.algebra.constants import ExpConstant
from paramverify.algebra.domains import (
    Constraint,
    Domain,
    contains,
    in_words,
    number_at,
    parse_interval,
    sign_at,
)
from paramverify.algebra.polynomials import Ring, rational
from paramverify.algebra.rationals import at_least, at_most

PQ = Ring(("p", "q"))
PE = Ring(("p",), ExpConstant(Fraction(1, 2)))  # E = 1.6487...
NUMBERS = st.fractions(-3, 3, max_denominator=20)
COEFFICIENTS = st.lists(st.integers(-5, 5), min_size=3, max_size=3)


@FEW
@given(COEFFICIENTS, NUMBERS, NUMBERS)
def test_signs_without_the_constant(given: list[int], p: Fraction, q: Fraction) -> None:
    """The sign and the number are those of the value in fractions, whatever else the point says."""
    a, b, c = given
    polynomial = PQ.parse(f"{a}*p^2+{b}*p*q+{c}")
    value = a * p**2 + b * p * q + c
    point = {"q": q, "r": Fraction(7), "p": p}
    assert sign_at(Domain(PQ, {}), polynomial, point) == (value > 0) - (value < 0)
    assert number_at(polynomial, point) == fmpq_poly([rational(value)])


@FEW
@given(COEFFICIENTS, NUMBERS)
def test_signs_with_the_constant(given: list[int], p: Fraction) -> None:
    """The sign is that of all values in an enclosure of `E`; what a point says of `E` does not count."""
    a, b, c = given
    polynomial = PE.parse(f"{a}*E^2+{b}*p*E+{c}*p")
    low, high = ExpConstant(Fraction(1, 2)).enclosure(256)
    linear, constant = b * p, c * p
    ends = [a * x**2 + linear * y + constant for x in (low, high) for y in (low, high)]
    sign = sign_at(Domain(PE, {}), polynomial, {"p": p, "E": Fraction(-100)})
    if a or linear:
        assert {(end > 0) - (end < 0) for end in ends} == {sign}
    else:
        assert sign == (constant > 0) - (constant < 0)


def domain(ring: Ring, box: dict[str, str], *constraints: tuple[str, bool]) -> Domain:
    limits = tuple(Constraint(ring.parse(text), strict, text) for text, strict in constraints)
    return Domain(ring, {name: parse_interval(text) for name, text in box.items()}, limits)


@pytest.mark.parametrize(
    ("p", "q", "inside"),
    [
        ("1/2", "1/2", True),
        ("0", "1/4", False),  # an open end
        ("1", "1/2", True),  # a closed one
        ("1/2", "1", False),
        ("1/4", "1/2", False),  # a zero of the strict constraint
        ("1/8", "1/2", False),
        ("3/4", "3/4", True),  # a zero of the other one
        ("7/8", "1/4", True),
        ("7/8", "7/8", True),
        ("1/2", "5/8", False),
    ],
)
def test_points_of_a_domain(p: str, q: str, inside: bool) -> None:
    """Open ends and zeros of strict constraints are outside, closed ends and other zeros inside."""
    about = domain(PQ, {"p": "(0, 1]", "q": "[1/4, 1)"}, ("2*p-q", True), ("p-q", False))
    point = {"p": Fraction(p), "q": Fraction(q)}
    assert contains(about, point) == inside
    assert contains(about, {**point, "r": Fraction(9)}) == inside


def test_the_constant_in_constraints() -> None:
    """Constraints compare with the number itself, more closely than the box of `E` does."""
    above = domain(PE, {"p": "(0, 3)", "E": "[1, 2]"}, ("p-E", False))
    assert not contains(above, {"p": Fraction("1.6487212707")})
    assert contains(above, {"p": Fraction("1.6487212708")})
    assert contains(above, {"p": Fraction("1.6487212708"), "E": Fraction(5)})


def test_points_that_say_too_little() -> None:
    """A point without a value for a parameter is in no domain, and has no sign there."""
    for ring in (PQ, PE):
        about = domain(ring, dict.fromkeys(ring.parameters, "(0, 2)"))
        assert not contains(about, {"q": Fraction(1)} if ring is PQ else {})
        with pytest.raises(KeyError):
            sign_at(about, ring.parse("p"), {})


def test_points_in_words() -> None:
    """A point is told parameter by parameter, also with more digits than Python turns into text."""
    assert in_words({"p": Fraction(1, 2), "q": Fraction(-3)}) == "p = 1/2, q = -3"
    assert in_words({}) == ""
    assert in_words({"p": Fraction(1, 10**5_000)}) == f"p = 1/1{'0' * 5_000}"


@pytest.mark.parametrize("digits", [3, 6, 12, 17, 30])
def test_bounds_are_rounded_once_and_outward(digits: int) -> None:
    """A number that is told as a bound is one, of any size, and near the value."""
    random = Random(5)
    values = [Fraction(123456789, 100), Fraction(123456123, 100), Fraction(3, 2), Fraction(0)]
    values += [
        Fraction(random.randrange(1, 10**9), random.randrange(1, 10**9)) * Fraction(10) ** power
        for power in (-400, -20, 0, 3, 7, 20, 400)
        for _ in range(20)
    ]
    for value in values:
        low, high = Fraction(at_least(value, digits)), Fraction(at_most(value, digits))
        assert low <= value <= high
        assert high - low <= value / 10 ** (digits - 1)
