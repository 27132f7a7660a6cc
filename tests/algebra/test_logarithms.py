"""Budgets and decimals of numbers far from 1 and near to it, against mpmath at many digits."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from flint import fmpq_poly, fmpz_poly
from mpmath import mp, mpf

from paramverify.algebra.budgets import Epsilon
from paramverify.algebra.constants import ExpConstant
from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.algebra.real_roots import RealRoot, isolate
from paramverify.algebra.reals import Real
from paramverify.reports.budgets import epsilon_document

DIGITS = 420
SMALL = (1, 6, 16, 17, 30, 75, 400)


def exponential(power: Fraction) -> Real:
    """Returns exp(power)."""
    return Real(fmpq_poly([0, 1]), fmpq_poly([1]), ExpConstant(power))


def above_one(size: int) -> RealRoot:
    """Returns 1 + √2/10^size: (10^size·(x − 1))² = 2."""
    scale = 10 ** (2 * size)
    both = isolate(fmpz_poly([scale - 2, -2 * scale, scale]), Fraction(1, 2), Fraction(4))
    return max(both, key=lambda root: root.precise(8 * size).lower)


def logarithm_of(size: int) -> dict[str, tuple[Fraction | RealRoot | Real, mpf]]:
    """Returns numbers near to 1 with their logarithms."""
    mp.dps = 2 * DIGITS + 50
    part = mpf(10) ** -size
    power = Fraction(1, 10**size)
    shifted = Real.of(fmpq_poly([1, 1]), fmpq_poly([2]), ExpConstant(power))
    return {
        "fraction": (1 + power, mp.log(1 + part)),
        "below": (1 - power, mp.log(1 - part)),
        "root": (above_one(size), mp.log(1 + mp.sqrt(2) * part)),
        "exponential": (exponential(power), part),
        "sum": (shifted, mp.log((1 + mp.exp(part)) / 2)),
    }


def same_digits(told: str, value: mpf, digits: int) -> bool:
    """Tells whether a decimal is the number rounded to so many digits."""
    return abs(mpf(told) - value) <= abs(value) * mpf(10) ** (1 - digits) * mpf("0.50001")


def is_just_above(told: str, value: mpf, digits: int) -> bool:
    """Tells whether a decimal is the number rounded up to so many digits."""
    slack = abs(value) * mpf(10) ** (1 - digits)
    return value - slack * mpf(10) ** -9 <= mpf(told) <= value + slack * mpf("1.0001")


@pytest.mark.parametrize("size", SMALL)
def test_budgets_near_zero_have_all_their_digits(size: int) -> None:
    """Text and JSON have the right digits, and `=` stands where the number is exact only."""
    for kind, (ratio, value) in logarithm_of(size).items():
        found = Epsilon.of(ratio)
        sign, told = found.told().split()
        assert is_just_above(told, value, 9), (kind, told)
        assert (sign == "=") == (kind == "exponential"), kind
        number = epsilon_document(found)["epsilon"]
        assert number, (kind, "only 0 is 0")
        assert is_just_above(str(number), value, 15), (kind, number)
        assert isinstance(number, str) == (size == 400)
        assert found.low is not None
        assert found.high is not None
        low, high = (mpf(end.numerator) / end.denominator for end in (found.low, found.high))
        assert low <= value * (1 + mpf(10) ** -DIGITS) or kind == "below"
        assert abs(high - low) <= abs(value) * mpf(2) ** -80


def test_only_one_has_the_logarithm_zero() -> None:
    assert Epsilon.of(Fraction(1)).told() == "= 0"
    assert epsilon_document(Epsilon.of(Fraction(1))) == {"epsilon": 0.0}


@pytest.mark.parametrize("size", SMALL[1:-1])
def test_bounds_of_a_ratio_are_bounds_of_the_budget(size: int) -> None:
    """An interval is never told as one number, and its ends are rounded outward."""
    mp.dps = DIGITS
    upper = 1 + Fraction(1, 10**size)
    found = Epsilon.between(Fraction(1), upper)
    word, least, _, most = found.told().split()
    exact = mp.log(mpf(upper.numerator) / upper.denominator)
    assert (word, least) == ("between", "0")
    assert exact <= mpf(most) <= exact * (1 + mpf(10) ** -8)
    document = epsilon_document(found)
    assert document["epsilon"] == document["epsilon_bounds"][1]
    low, high = document["epsilon_bounds"]
    assert low == 0
    assert exact <= mpf(high) <= exact * (1 + mpf(10) ** -15)
    assert Epsilon.between(Fraction(2), None).told() == "at least 0.69314718"
    assert Epsilon.between(Fraction(0), Fraction(3)).told() == "at most 1.09861229"
    assert Epsilon.between(Fraction(0), None).told() == "unknown"


def tiny_root(size: int) -> ExactNumber:
    """Returns √2/10^size."""
    return ExactNumber(isolate(fmpz_poly([-2, 0, 10 ** (2 * size)]), Fraction(0), Fraction(10**6))[0])


TINY: dict[str, tuple[Callable[[int], ExactNumber], Callable[[mpf], mpf]]] = {
    "root": (tiny_root, lambda part: mp.sqrt(2) * part),
    "negative root": (lambda size: -tiny_root(size), lambda part: -mp.sqrt(2) * part),
    "difference": (lambda size: ExactNumber(exponential(Fraction(1, 10**size))) - 1, mp.expm1),
    "negative": (lambda size: 1 - ExactNumber(exponential(Fraction(1, 10**size))), lambda p: -mp.expm1(p)),
    "logarithm": (lambda size: ExactNumber.ln(ExactNumber(1 + Fraction(1, 10**size))), mp.log1p),
}


@pytest.mark.parametrize("kind", TINY)
def test_twelve_digits_of_a_repr_are_right(kind: str) -> None:
    """The decimal of a `repr` is rounded relative to the number, with its sign."""
    number, expected = TINY[kind]
    for size in (1, 5, 20, 30, 60, 150):
        mp.dps = DIGITS
        exact, value = number(size), expected(mpf(10) ** -size)
        told = repr(exact).rpartition("≈ ")[2].rstrip(")")
        assert same_digits(told, value, 12), (size, told)
        assert math.isclose(float(exact), float(value), rel_tol=1e-15)


@pytest.mark.parametrize(
    ("number", "told"),
    [(Fraction(1, 10), "1/10 = 0.1"), (Fraction(1, 3), "1/3 ≈ 0.333333333333"), (Fraction(7), "7")],
)
def test_a_repr_has_a_rounding_sign_only_where_it_rounds(number: Fraction, told: str) -> None:
    assert repr(ExactNumber(number)) == f"ExactNumber({told})"


def test_the_middle_of_a_number_is_near_it_by_its_size() -> None:
    """(E − 1)/(E + 1) with E = exp(10^−75) is about 5e-76, not what 64 bits of the unit leave of it."""
    mp.dps = DIGITS
    for size in (20, 75, 300):
        value = Real.of(fmpq_poly([-1, 1]), fmpq_poly([1, 1]), ExpConstant(Fraction(1, 10**size)))
        exact = mp.tanh(mpf(10) ** -size / 2)
        middle = value.middle()
        assert abs(mpf(middle.numerator) / middle.denominator - exact) <= exact * mpf(2) ** -55
