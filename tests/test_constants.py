"""The constants exp(q): enclosures and signs against Python's decimals, which round exp correctly."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import pytest
from flint import arb, fmpq, fmpq_poly
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import rationals

from paramverify.algebra.constants import (
    MAX_PRECISION,
    ExpConstant,
    generator,
    lower_bound,
    upper_bound,
)
from paramverify.errors import LimitError

DIGITS = 200  # more than any enclosure below has


def exponentials() -> st.SearchStrategy[ExpConstant]:
    """Constants exp(q) with 0 < q ≤ 20, of any size of the fraction."""
    return rationals(0, 20, 1000).filter(bool).map(ExpConstant)


def exp(q: Fraction) -> Fraction:
    """Returns exp(q) with a relative error below 10**-190."""
    with localcontext(Context(prec=DIGITS)):
        return Fraction((Decimal(q.numerator) / Decimal(q.denominator)).exp())


@given(exponentials(), st.integers(1, 400))
def test_enclosure(constant: ExpConstant, bits: int) -> None:
    """The enclosure contains exp(q) strictly inside, and is at most 2**-bits wide relative to it."""
    low, high = constant.enclosure(bits)
    value = exp(constant.exponent)
    assert low < value < high
    assert high - low <= value / 2**bits


@given(exponentials())
def test_finer_enclosures_lie_inside(constant: ExpConstant) -> None:
    """More bits give a narrower enclosure."""
    widths = [high - low for low, high in map(constant.enclosure, (8, 16, 64, 256))]
    assert widths == sorted(widths, reverse=True)
    assert len(set(widths)) == 4


def test_enclosure_has_small_numbers() -> None:
    """The ends are simple rationals: an enclosure of e within 2**-8 needs two digits."""
    low, high = ExpConstant(Fraction(1)).enclosure(8)
    assert max(low.denominator, high.denominator) < 100


def polynomial(coefficients: Sequence[Fraction]) -> fmpq_poly:
    return fmpq_poly([fmpq(c.numerator, c.denominator) for c in coefficients])


@given(exponentials(), st.lists(rationals(), max_size=6))
def test_sign(constant: ExpConstant, coefficients: list[Fraction]) -> None:
    """The sign of a polynomial at exp(q) is that of its value with 200 digits."""
    value, at = Fraction(0), exp(constant.exponent)
    for coefficient in reversed(coefficients):
        value = value * at + coefficient
    assume(abs(value) > Fraction(1, 10**50) or not any(coefficients))
    assert constant.sign(polynomial(coefficients)) == (value > 0) - (value < 0)


@given(exponentials(), st.integers(1, 400))
def test_sign_close_to_a_root(constant: ExpConstant, bits: int) -> None:
    """The sign is right at a distance of 2**-bits from a root, where floats see zero."""
    low, high = constant.enclosure(bits)
    assert constant.sign(polynomial([-low, Fraction(1)])) == 1
    assert constant.sign(polynomial([-high, Fraction(1)])) == -1
    assert constant.sign(polynomial([low * high, -low - high, Fraction(1)])) == -1


def test_sign_gives_up_at_its_bound() -> None:
    """Closer to a root than the highest precision can tell, the sign is not guessed."""
    constant = ExpConstant(Fraction(1))
    low, _ = constant.enclosure(MAX_PRECISION + 100)
    with pytest.raises(LimitError, match="undecided"):
        constant.sign(polynomial([-low, Fraction(1)]))


@given(st.lists(rationals(-20, 20, 60), max_size=6))
def test_generator(exponents: list[Fraction]) -> None:
    """Every exponent is a whole multiple of the generator's, and these multiples have no common divisor."""
    constant = generator(exponents)
    if constant is None:
        assert not any(exponents)
        return
    assert constant.exponent > 0
    steps = [q / constant.exponent for q in exponents]
    assert all(step.denominator == 1 for step in steps)
    larger = [[step / divisor for step in steps] for divisor in (2, 3, 5, 7, 11)]
    assert all(any(step.denominator > 1 for step in row) for row in larger)
    assert generator(reversed(exponents)) == constant


@given(rationals(-20, 20, 1000))
def test_bounds_of_a_ball(q: Fraction) -> None:
    """The rational bounds of a ball contain its value and do not lose its precision."""
    ball = arb(fmpq(q.numerator, q.denominator)).exp()
    low, high = lower_bound(ball), upper_bound(ball)
    assert low <= exp(q) <= high
    assert high - low < exp(q) / 2**30
