"""Algebraic numbers as people write them: closed forms agree with enclosures, and long ones are left out."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy
from flint import fmpz_poly
from hypothesis import given, settings
from hypothesis import strategies as st

from paramverify.algebra.constants import ExpConstant
from paramverify.algebra.polynomials import Ring, substitute
from paramverify.algebra.real_roots import FieldRoot, isolate, isolate_over, number_sign, rational_root
from paramverify.reports.algebraic_numbers import (
    closed_form,
    latex,
    minimal_polynomial,
    root_document,
    root_text,
)

RING = Ring(("alpha",), ExpConstant(Fraction(1, 2)))


def with_exp(text: str) -> FieldRoot:
    found = isolate_over(RING.parse(text), "alpha", Fraction(0), Fraction(1), number_sign(RING.constant))
    assert len(found) == 1
    return found[0]


def value_of(text: str) -> float:
    return float(sympy.N(sympy.sympify(text.replace("^", "**")), 20))


@pytest.mark.slow
@given(st.lists(st.integers(-9, 9), min_size=3, max_size=5))
@settings(max_examples=25)
def test_closed_forms_lie_in_their_enclosures(entries: list[int]) -> None:
    """The closed form of each root of a polynomial of degree at most four is a number in its enclosure."""
    polynomial = fmpz_poly(entries)
    if polynomial.degree() < 1:
        return
    for root in isolate(polynomial, Fraction(-10), Fraction(10)):
        text = closed_form(root)
        if text is not None:
            small = root.refined(Fraction(1, 10**12))
            assert float(small.lower) - 1e-9 <= value_of(text) <= float(small.upper) + 1e-9
            assert len(text) <= 60
        elif polynomial.degree() == 2:
            raise AssertionError(f"{polynomial} has roots in radicals")


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("alpha^2*E-1", "exp(-1/4)"),
        ("alpha*E+alpha-1", "1/(1 + exp(1/2))"),
        ("alpha^2*E+alpha-1", "(-1 + sqrt(1 + 4*exp(1/2)))*exp(-1/2)/2"),
    ],
)
def test_closed_forms_with_exp(text: str, exact: str) -> None:
    """Roots over Q(E) are written with exp, and evaluate to a number in the enclosure."""
    root = with_exp(text)
    found = closed_form(root, RING.constant)
    assert found is not None
    assert abs(value_of(found) - value_of(exact)) < 1e-12
    assert abs(value_of(found) - float(root.refined(Fraction(1, 10**15)).lower)) < 1e-12


def test_texts() -> None:
    """A root is told by its closed form, and by its polynomial where that is long."""
    half, root = rational_root(Fraction(1, 2)), isolate(fmpz_poly([-1, 0, 2]), Fraction(0), Fraction(1))[0]
    assert root_text(half) == root_document(half) == "1/2"
    assert root_text(root) == "sqrt(2)/2 (≈ 0.707107)"
    assert latex(root) == r"\frac{\sqrt{2}}{2}"
    assert closed_form(with_exp("alpha^2*E-1"), RING.constant) == "exp(-1/4)"
    fifth = isolate(fmpz_poly([-1, 1, 0, 0, 0, 3]), Fraction(0), Fraction(1))[0]
    assert latex(fifth) is None
    assert (
        root_text(fifth)
        == f"≈ {float(fifth.refined(Fraction(1, 10**12)).lower):.6g}, a root of {minimal_polynomial(fifth)}"
    )
    assert minimal_polynomial(with_exp("alpha^2*E-1/2")) == "2*x^2*E - 1"


def test_documents() -> None:
    """JSON has the polynomial, what E is, and rationals on both sides of the root."""
    root = with_exp("alpha^3*E-1/2*alpha-1/3")
    document = root_document(root, RING.constant)
    assert isinstance(document, dict)
    assert document["minimal_polynomial"] == "6*x^3*E - 3*x - 2"
    assert document["constant"] == "E = exp(1/2)"
    low, high = Fraction(document["lower"]), Fraction(document["upper"])
    assert 0 < high - low <= Fraction(1, 10**15)
    sign = number_sign(RING.constant)
    values = [sign(substitute(root.polynomial, {"alpha": v})) for v in (low, high)]
    assert values == [-1, 1]
