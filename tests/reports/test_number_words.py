"""Numbers in sentences: decimals first where the exact number is a formula in `E`."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import fmpq, fmpq_poly

from paramverify.algebra.constants import ExpConstant
from paramverify.algebra.reals import Real
from paramverify.evidence import number_words

QUARTER = ExpConstant(Fraction(1, 4))


def real(top: list[fmpq], bottom: list[fmpq]) -> Real:
    """Returns a quotient of polynomials in E = exp(1/4), by their coefficients from the constant one on."""
    return Real.of(fmpq_poly(top), fmpq_poly(bottom), QUARTER)


HALF, FIFTH = fmpq(1, 2), fmpq(1, 5)


@pytest.mark.parametrize(
    ("top", "bottom", "shown"),
    [
        ([-HALF, HALF], [0, 1], "(E - 1)/(2*E)"),
        ([0, 0, fmpq(4, 5)], [-FIFTH, 0, 1], "4*E^2/(5*E^2 - 1)"),
        ([1, HALF], [1], "(E + 2)/2"),
        ([fmpq(1)], [1, fmpq(1, 3)], "3/(E + 3)"),
    ],
)
def test_formulas_have_whole_coefficients(top: list[fmpq], bottom: list[fmpq], shown: str) -> None:
    """The formula is the number: it has the same value at a rational in the place of E."""
    value = real(top, bottom)
    told = number_words.exactly(value)
    assert told.endswith(" with E = exp(1/4)")
    formula = told.removesuffix(" with E = exp(1/4)").replace("^", "**")

    def at(coefficients: list[fmpq], x: Fraction) -> Fraction:
        return sum((Fraction(str(c)) * x**k for k, c in enumerate(coefficients)), start=Fraction(0))

    x = Fraction(7, 3)
    assert eval(formula, {"E": x}) == at(top, x) / at(bottom, x)
    assert formula == shown.replace("^", "**")


def test_decimals_come_first() -> None:
    """A formula stands behind its decimal; a power of e, and a rational number, stand before it."""
    value = real([-HALF, HALF], [0, 1])
    assert number_words.equals(value) == "≈ 0.1106, exactly (E - 1)/(2*E) with E = exp(1/4)"
    assert number_words.number(value) == "≈ 0.1106, exactly (E - 1)/(2*E) with E = exp(1/4)"
    assert number_words.factor(value) == "≈ 0.1106"
    assert number_words.factor(real([0, 1], [1])) == "exp(1/4) (≈ 1.28403)"
    assert number_words.factor(real([HALF], [1])) == "1/2 (0.5)"
