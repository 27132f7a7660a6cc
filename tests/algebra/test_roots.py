"""Exact real roots, against sympy and by construction, and the claims in one variable that they decide."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from math import comb, gcd

import pytest
import sympy
from claim_tools import ask_z3, kinds, make, random_claim, replayed
from flint import fmpz_poly
from hypothesis import given
from hypothesis import strategies as st
from strategies import FEW

from paramverify.algebra.real_roots import (
    RealRoot,
    apart,
    bernstein_coefficients,
    between,
    compare,
    isolate,
    rational_root,
    sign_at,
    univariate,
    variations,
)
from paramverify.answers import Answer, End, Open, Proved, Refuted
from paramverify.backends import backend
from paramverify.errors import DefectError
from paramverify.exact.univariate import IRRATIONAL
from paramverify.formats.refutations import fails_at

ROOTS = backend("roots")

small = st.lists(st.integers(-9, 9), min_size=1, max_size=8).filter(any).map(fmpz_poly)


def decide(text: str, interval: str = "(0, 1)", *constraints: str) -> Answer:
    claim = make(text, {"p": interval}, constraints)
    answer = ROOTS.decide(claim, {})
    if isinstance(answer, Refuted):
        assert fails_at(claim, answer.point)
    if isinstance(answer, Proved):
        assert replayed(answer)
    return answer


def decided(text: str, interval: str = "(0, 1)", *constraints: str) -> bool:
    answer = decide(text, interval, *constraints)
    assert not isinstance(answer, Open), answer
    return isinstance(answer, Proved)


@pytest.mark.slow
@FEW
@given(st.lists(small, min_size=1, max_size=3))
def test_roots_agree_with_sympy(factors: list[fmpz_poly]) -> None:
    """Number, order, multiplicity and rationality of the roots in an interval are those that sympy finds."""
    f = fmpz_poly([1])
    for factor in factors:
        f *= factor
    low, high = Fraction(-2), Fraction(3, 2)
    found = isolate(f, low, high)
    x = sympy.Symbol("x")
    polynomial = sympy.Poly([int(f[i]) for i in range(f.degree(), -1, -1)], x)
    expected = [r for r in sorted(set(sympy.real_roots(polynomial))) if -2 <= r <= sympy.Rational(3, 2)]
    assert len(found) == len(expected)
    for root, other in zip(found, expected, strict=True):
        assert sympy.Rational(root.lower) <= other <= sympy.Rational(root.upper)
        assert root.is_rational == bool(other.is_rational)
        assert root.multiplicity == sympy.roots(polynomial, x, multiple=False).get(other, root.multiplicity)
    for one, two in pairwise(found):
        assert one.upper < two.lower
        assert compare(one, two) == -1
        low_gap, high_gap = between(one, two)
        assert one.lower <= low_gap < high_gap <= two.upper


@FEW
@given(small, st.fractions(-2, 2, max_denominator=5), st.fractions(1, 3, max_denominator=5))
def test_descartes_bounds_the_number_of_roots(f: fmpz_poly, low: Fraction, width: Fraction) -> None:
    """There are never more roots inside than sign variations of the Bernstein coefficients."""
    coefficients = bernstein_coefficients(f, low, low + width)
    signs = [c > 0 for c in coefficients if c]
    count = sum(a != b for a, b in pairwise(signs))
    inside = [r for r in isolate(f, low, low + width) if r.lower != r.upper or low < r.lower < low + width]
    total = sum(r.multiplicity for r in inside)
    assert total <= count
    assert (count - total) % 2 == 0
    assert (coefficients[0] > 0) - (coefficients[0] < 0) == sign_at(f, low)
    assert (coefficients[-1] > 0) - (coefficients[-1] < 0) == sign_at(f, low + width)


def test_close_and_many_roots() -> None:
    """The roots 1..20 of Wilkinson's polynomial, and two roots 10^-20 apart, are told apart."""
    wilkinson = fmpz_poly([1])
    for k in range(1, 21):
        wilkinson *= fmpz_poly([-k, 1])
    assert [r.lower for r in isolate(wilkinson, Fraction(0), Fraction(30))] == list(range(1, 21))
    assert variations(wilkinson) == 0
    nearly = fmpz_poly([-2, 0, 10**20]) * fmpz_poly([-2, 0, 10**20 + 1])
    roots = isolate(nearly, Fraction(0), Fraction(1))
    assert len(roots) == 2
    assert roots[0].upper < roots[1].lower


def test_refinement() -> None:
    """A root is enclosed as closely as wanted, and a rational one is exact at once."""
    (root,) = isolate(fmpz_poly([-2, 0, 1]), Fraction(0), Fraction(2))
    fine = root.refined(Fraction(1, 10**50))
    assert fine.upper - fine.lower <= Fraction(1, 10**50)
    assert fine.lower**2 < 2 < fine.upper**2
    assert compare(root, fine) == 0
    (third,) = isolate(fmpz_poly([-1, 3]), Fraction(0), Fraction(1))
    assert third.is_rational
    assert third.lower == Fraction(1, 3)


def test_the_zero_polynomial_has_no_isolated_roots() -> None:
    """Every number is a root of it."""
    with pytest.raises(ValueError, match="every number"):
        isolate(fmpz_poly([]), Fraction(0), Fraction(1))
    with pytest.raises(ValueError, match="not univariate"):
        univariate(make("p*q").polynomial)


def test_equal_roots_of_different_polynomials_compare_equal() -> None:
    """The root √½ of two multiples of 2x² − 1 is one number, and differs from -√½."""
    one = isolate(fmpz_poly([-1, 0, 2]) * fmpz_poly([-1, 5]), Fraction(0), Fraction(1))[1]
    two = isolate(fmpz_poly([-1, 0, 2]) * fmpz_poly([-5, 1]), Fraction(0), Fraction(3))[0]
    minus = isolate(fmpz_poly([-1, 0, 2]), Fraction(-1), Fraction(0))[0]
    assert compare(one, two) == 0
    assert compare(minus, one) == -1
    assert isinstance(one, RealRoot)


@pytest.mark.parametrize(
    ("text", "interval", "holds"),
    [
        ("p - 1/2", "[1/2, 1]", True),
        ("p - 1/2", "(1/2, 1)", True),
        ("p - 1/2", "[49/100, 1]", False),
        ("1/2 - p", "(0, 1/2]", True),
        ("-(p - 1)**2", "[1, 1]", True),
        ("-(p - 1)**2", "(0, 1]", False),
        ("-p", "[0, 0]", True),
        ("-p", "(0, 1/1000)", False),
        ("(p**2 - 1/2)**2", "(0, 1)", True),
        ("(p**2 - 1/2)**3", "(0, 1)", False),
        ("(p**2 - 1/2)**3", "[71/100, 1]", True),
        ("(p**2 - 1/2)**2 * (p - 1/3)", "(1/3, 1)", True),
        ("(p**2 - 1/2)**2 - 1/10**12", "(0, 1)", False),
        ("(p**2 - 1/2)**2 + 1/10**12", "(0, 1)", True),
        ("p * (1 - p) * (p**4 - p + 1/2)", "(0, 1)", True),
        ("(p**3 - 2)**2 * (p**2 - 3)**4 * (7 - p)", "(-5, 5)", True),
        ("p**100 - p**99 + 1/300", "(0, 1)", False),
        ("p**100 - p**99 + 1/200", "(0, 1)", True),
    ],
)
def test_closed_and_open_ends_and_touching_zeros(text: str, interval: str, holds: bool) -> None:
    """Zeros at ends, at rational and irrational points, of any multiplicity; near misses on either side."""
    assert decided(text, interval) == holds


@pytest.mark.parametrize(
    ("text", "constraints", "holds"),
    [
        ("p**2 - 1/2", ["p**2 >= 1/2"], True),
        ("p**2 - 1/2", ["p**3 >= 1/3"], False),
        ("p**3 - 1/8", ["p**2 >= 1/4"], True),
        ("(p**2 - 1/2) * (p + 1)", ["(p**2 - 1/2) * (3 - p) >= 0"], True),
        ("(1/2 - p**2) * (p + 1)", ["(p**2 - 1/2) * (p - 3) > 0"], True),
        ("1/2 - p**2", ["(p**2 - 1/2) * (p - 1/4) <= 0"], True),
        ("1/3 - p", ["p**2 * (p - 1/2) <= -1/60"], False),
        ("2/3 - p", ["p**3 * (p - 1/2) <= 0"], True),
        ("-(p**2 - 1/2)**2", ["p**2 <= 1/2", "p**2 >= 1/2"], True),
        ("p**2 - p + 6/25", ["(p - 2/5) * (p - 3/5) >= 0"], True),
        ("p - 1", ["p**2 > 1/2", "p**2 < 1/2"], True),
        ("-1", ["p**2 > 1/2", "p**2 < 1/2"], True),
        ("p**2 + p - 3/4", ["p**2 == 1/4"], True),
    ],
    ids=str,
)
def test_constraints_in_the_same_variable(text: str, constraints: list[str], holds: bool) -> None:
    """Roots that claim and constraints share, strict and weak constraints, and equations."""
    assert decided(text, "(0, 1)", *constraints) == holds


def test_a_claim_that_fails_at_an_irrational_point_only_is_open() -> None:
    """With p² = 1/2 the claim p ≤ 1/2 fails at √½ alone, where no rational point can show it."""
    answer = decide("1/2 - p", "(0, 1)", "p**2 == 1/2")
    assert isinstance(answer, Open)
    assert answer.end is End.GAVE_UP
    assert IRRATIONAL in answer.detail


def test_claims_in_two_variables_are_left_to_others() -> None:
    """What does not come down to one variable each is open, with the reason."""
    answer = ROOTS.decide(make("p**2 + q**2 - p*q - p**3*q/2 + 1/20 - q/5"), {})
    assert isinstance(answer, Open)
    assert "more than one variable" in answer.detail
    assert replayed(ROOTS.decide(make("(p**2 - p + 1/3) * (q**2 - q + 1/3)"), {}))


@pytest.mark.slow
def test_high_degrees() -> None:
    """Degree 400 with a minimum of 10^-6 is decided, with a certificate."""
    text = "(p**200 - p**3 + 1/3)**2"
    assert decided(f"{text} + 1/10**6")
    answer = decide(text, "[99/100, 1]")
    assert isinstance(answer, Proved)
    assert answer.certificate is not None
    assert "factors" in kinds(answer.certificate["proof"])


@pytest.mark.slow
def test_random_claims_agree_with_z3() -> None:
    """Claims in one variable, with and without constraints, are all decided, as z3 decides them."""
    for seed in range(60):
        claim = random_claim(seed, 1)
        answer = ROOTS.decide(claim, {})
        other = ask_z3(claim, 2000)
        if replayed(answer):
            assert other != "sat", seed
        else:
            assert isinstance(answer, Refuted), (seed, answer)
            assert fails_at(claim, answer.point)
            assert other != "unsat", seed


def test_roots_that_are_close_or_wide() -> None:
    """Roots compare as numbers, however wide their intervals; ends between them are not close together."""
    square = fmpz_poly([-2, 0, 1])
    low = RealRoot(square, 1, Fraction(-2), Fraction(0))
    high = RealRoot(square, 1, Fraction(-1), Fraction(2))
    assert (compare(low, high), compare(high, low), compare(high, high)) == (-1, 1, 0)
    half, same = (
        rational_root(Fraction(1, 2)),
        RealRoot(fmpz_poly([-2, 4]), 1, Fraction(1, 2), Fraction(1, 2)),
    )
    assert compare(half, same) == 0
    zero, wide = rational_root(Fraction(0)), RealRoot(square, 1, Fraction(1, 100), Fraction(2))
    for left, right in ((zero, wide), (low, zero), (low, high)):
        a, b = between(left, right)
        assert a < b
        distance = Fraction(14, 10) if zero in (left, right) else Fraction(28, 10)
        assert b - a >= distance / 2
    with pytest.raises(DefectError):
        between(half, half)


@FEW
@given(st.lists(st.fractions(-9, 9, max_denominator=6), min_size=1, max_size=6), st.sampled_from("pq"))
def test_polynomials_in_one_variable(coefficients: list[Fraction], name: str) -> None:
    """The whole numbers have no common factor, and are one positive multiple of the coefficients."""
    text = " + ".join(f"({c})*{name}**{k}" for k, c in enumerate(coefficients))
    found = univariate(make(text, {"p": "(0, 1)", "q": "(0, 1)"}).polynomial)
    numbers = [int(found[k]) for k in range(len(coefficients))]
    assert found.degree() < len(coefficients)
    if not any(coefficients):
        assert not any(numbers)
        return
    assert gcd(*numbers) == 1
    scale = next(n / c for n, c in zip(numbers, coefficients, strict=True) if c)
    assert scale > 0
    assert numbers == [scale * c for c in coefficients]


@FEW
@given(small, st.fractions(-2, 2, max_denominator=5), st.fractions(1, 3, max_denominator=5))
def test_bernstein_coefficients_by_definition(f: fmpz_poly, low: Fraction, width: Fraction) -> None:
    """They are one positive multiple of b_i = Σ_j C(i,j)/C(d,j)·a_j; their sign changes are counted."""
    degree = f.degree()
    powers = [Fraction(0)] * (degree + 1)  # of f(low + width·t)
    for k in range(degree + 1):
        for j in range(k + 1):
            powers[j] += int(f[k]) * comb(k, j) * low ** (k - j) * width**j
    expected = by_definition(powers)
    found = bernstein_coefficients(f, low, low + width)
    scale = next(n / c for n, c in zip(found, expected, strict=True) if c)
    assert scale > 0
    assert found == [scale * c for c in expected]
    signs = [c > 0 for c in by_definition([Fraction(int(f[k])) for k in range(degree + 1)]) if c]
    assert variations(f) == sum(a != b for a, b in pairwise(signs))


def test_zero_coefficients_change_no_sign() -> None:
    """Of all signs of five Bernstein coefficients, those that are zero are passed over."""
    t, rest = fmpz_poly([0, 1]), fmpz_poly([1, -1])
    for signs in product((-1, 0, 1), repeat=5):
        f = fmpz_poly([0])
        for i, sign in enumerate(signs):
            f += sign * comb(4, i) * t**i * rest ** (4 - i)
        if f.degree() == 4:
            assert variations(f) == sum(a != b for a, b in pairwise(s for s in signs if s))


def by_definition(powers: list[Fraction]) -> list[Fraction]:
    """Returns the Bernstein coefficients on the unit interval from the coefficients of powers."""
    degree = len(powers) - 1
    return [
        sum((Fraction(comb(i, j), comb(degree, j)) * powers[j] for j in range(i + 1)), Fraction(0))
        for i in range(degree + 1)
    ]


@pytest.mark.parametrize("value", ["0", "3", "-5/7"])
def test_rational_roots_and_ends(value: str) -> None:
    """A rational number is a simple root, also where the interval begins or ends, or has no other point."""
    at = Fraction(value)
    root = rational_root(at)
    assert (root.lower, root.upper, root.multiplicity, root.is_rational) == (at, at, 1, True)
    assert sign_at(root.factor, at) == 0
    assert sign_at(root.factor, at + 1) == 1
    assert root.halved() == root
    double = root.factor**2 * fmpz_poly([-2, 0, 1])
    for low, high, count in ((at, at + 5, 1), (at - 5, at, 1), (at, at, 1), (at + 1, at + 1, 0)):
        found = [r for r in isolate(double, low, high) if r.is_rational]
        assert [(r.lower, r.multiplicity) for r in found] == [(at, 2)] * count
    assert all(not r.is_rational for r in isolate(double, at + Fraction(1, 9), at + 5))


def test_intervals_are_halved_as_often_as_needed() -> None:
    """An interval that is as narrow as wanted stays; otherwise one of its halves is taken."""
    square = fmpz_poly([-2, 0, 1])
    root = RealRoot(square, 1, Fraction(1), Fraction(2))
    assert root.refined(Fraction(1)) == root
    for halvings in range(1, 8):
        width = Fraction(1, 2**halvings)
        for fine in (root.refined(width), root.refined(width * Fraction(3, 2))):
            assert fine.upper - fine.lower == width
            assert fine.lower**2 < 2 < fine.upper**2
            assert (fine.lower / width).denominator == 1


def test_roots_in_touching_intervals() -> None:
    """Intervals that meet in a point, or overlap, belong to different roots, and are taken apart."""
    square, other = fmpz_poly([-2, 0, 1]), fmpz_poly([-3, 0, 1])
    minus, plus = (
        RealRoot(square, 1, Fraction(-2), Fraction(0)),
        RealRoot(square, 1, Fraction(0), Fraction(2)),
    )
    root = RealRoot(other, 1, Fraction(0), Fraction(2))
    near = RealRoot(other, 1, Fraction(3, 2), Fraction(2))
    zero, two = rational_root(Fraction(0)), rational_root(Fraction(2))
    ordered = [
        (minus, zero),
        (minus, plus),
        (zero, plus),
        (plus, root),
        (plus, near),
        (root, two),
        (plus, two),
    ]
    for left, right in ordered:
        assert (compare(left, right), compare(right, left)) == (-1, 1)
        for given_ in ([left, right], [right, left]):
            one, more = apart(given_)
            assert one.upper < more.lower
            assert (one.factor, more.factor) == (left.factor, right.factor)
            assert (compare(one, left), compare(more, right)) == (0, 0)
        low, high = between(left, right)
        distance = [r.refined(Fraction(1, 10**6)) for r in (left, right)]
        assert distance[0].upper < high
        assert low < distance[1].lower
        assert 2 * (high - low) > distance[1].lower - distance[0].upper - Fraction(1, 10**5)
    assert apart([two, plus, zero, minus]) == apart([minus, zero, plus, two])
    assert [r.is_rational for r in apart([two, root, plus, zero, minus])] == [False, True, False, False, True]


def test_ends_between_roots_are_the_first_that_do() -> None:
    """Intervals are not halved where the gap is as wide as both of them together."""
    root = RealRoot(fmpz_poly([-2, 0, 1]), 1, Fraction(1), Fraction(2))
    for value, ends in ((3, (2, 3)), (4, (2, 4)), (Fraction(29, 10), (Fraction(3, 2), Fraction(29, 10)))):
        assert between(root, rational_root(Fraction(value))) == ends
    other = RealRoot(fmpz_poly([-20, 0, 1]), 1, Fraction(4), Fraction(5))
    assert between(root, other) == (2, 4)
    assert between(rational_root(Fraction(-1)), rational_root(Fraction(1))) == (-1, 1)
    with pytest.raises(DefectError):
        between(rational_root(Fraction(1)), rational_root(Fraction(-1)))
