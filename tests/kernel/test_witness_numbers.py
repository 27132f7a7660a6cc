"""Numbers of witnesses that are written as formulas, beside floating point."""

from __future__ import annotations

from fractions import Fraction
from math import e, log

import pytest

from paramverify.kernel.strict_reading import Misformed
from paramverify.kernel.witness_numbers import Exponential, rational, read_value

HALF = Fraction(1, 2)
FORMULAS: list[tuple[str, Fraction | None, float]] = [
    ("exp(1/2)", HALF, e**0.5),
    ("-3/2*exp(1)", HALF, -1.5 * e),
    ("2*exp(-3/2)", HALF, 2 * e**-1.5),
    ("(2*E^2 - 1)/(E + 3) with E = exp(1/2)", HALF, (2 * e - 1) / (e**0.5 + 3)),
    ("((-1)*E + 1)/(E) with E = exp(1/2)", HALF, (1 - e**0.5) / e**0.5),
    ("E - 2 with E = exp(1/2)", HALF, e**0.5 - 2),
    ("3*ln(2) - 1", None, 3 * log(2) - 1),
    ("(1)/(ln(3/2)^2)", None, 1 / log(1.5) ** 2),
    ("ln(5)", HALF, log(5)),
]


@pytest.mark.parametrize(("text", "exponent", "value"), FORMULAS)
def test_values(text: str, exponent: Fraction | None, value: float) -> None:
    """A formula has the value that it has, with its sign, and this is between its bounds."""
    tiny, of = Fraction(1, 10**9), exponent and Exponential(exponent)
    near = Fraction(value)
    told = {"exact": text, "lower": str(near - tiny), "upper": str(near + tiny)}
    found = read_value(told, of, "bound")
    assert found.sign() == (1 if value > 0 else -1)
    assert found.minus(rational(near - tiny)).sign() == 1 == -found.minus(rational(near + tiny)).sign()
    square = found.by(found).minus(rational(Fraction(value * value)))
    assert square.minus(rational(tiny)).sign() < 0 < square.minus(rational(-tiny)).sign()
    for wrong in ({"lower": str(near + tiny)}, {"upper": str(near - tiny)}):
        with pytest.raises(Misformed, match="not between its bounds"):
            read_value({**told, **wrong}, of, "bound")


NONE: list[tuple[str, Fraction | None, str]] = [
    ("(1)/((-1)*E) with E = exp(1/2)", HALF, "denominator is not positive"),
    ("(1)/(E - 2) with E = exp(1/2)", HALF, "denominator is not positive"),
    ("(1)/(-ln(2))", None, "denominator is not positive"),
    ("(1)/(0) with E = exp(1/2)", HALF, "denominator is not positive"),
    ("ln(1/2)", None, "not above 1"),
    ("ln(1)", None, "not above 1"),
    ("ln(2) + ln(3)", None, "two logarithms"),
    ("exp(1/2)", None, "no constant"),
    ("exp(1/3)", HALF, "no multiple"),
    ("exp(100000)", HALF, "no multiple"),
    ("E with E = exp(1)", HALF, "not a formula"),
    ("E with E = exp(1/2", HALF, "not a formula"),
]


@pytest.mark.parametrize(("text", "exponent", "words"), NONE)
def test_what_is_no_number(text: str, exponent: Fraction | None, words: str) -> None:
    """A denominator is positive, a logarithm is one of a number above 1, and exp that of the claim."""
    with pytest.raises(Misformed, match=words):
        read_value(
            {"exact": text, "lower": "-100", "upper": "100"}, exponent and Exponential(exponent), "bound"
        )
