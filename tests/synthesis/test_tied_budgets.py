"""Budgets of answers in which eps stands beside its exponential, against limits known by calculus."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from case_texts import program_case
from flint import fmpq_poly

import paramverify
from paramverify.algebra.constants import LogConstant
from paramverify.algebra.reals import Real

CASE = program_case(
    """if x == 0:
    return flip({})
return flip({})""",
    'x = {{ values = "0..1" }}',
    "{}",
    parameters='eps = "(0, oo)"',
    near='differ = "one"',
    title="An answer that says yes with one of two probabilities",
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("left", "right", "largest", "bound"),
    [
        (
            "1/3 + 5/9/(1 + eps) + exp(-eps)/9",
            "1/4 + 3/4/(1 + eps)",
            Fraction(4, 3),
            'ratio = "3"',
        ),  # eps → oo
        ("1/2 + eps*exp(-eps)/4", "1/2 - eps*exp(-eps)/4", None, 'epsilon = "1"'),  # inside, at eps = 1
        ("1/2 + exp(-eps)/4", "1/2 + 1/(4*(1 + eps))", None, 'epsilon = "1"'),  # inside
    ],
)
def test_the_budget_does_not_depend_on_how_the_bound_is_written(
    left: str, right: str, largest: Fraction | None, bound: str
) -> None:
    """A bound with exp(1) leaves eps tied to its exponential when it is taken away."""
    found = paramverify.loads(CASE.format(left, right, bound)).budget(precision="1e-3", timeout=30)
    ratios = []
    for k in range(-400, 401):
        values = {"eps": mpmath.mpf(10) ** (mpmath.mpf(k) / 100), "exp": mpmath.exp}
        p, q = (eval(text, {}, values) for text in (left, right))
        ratios.append(max(p / q, q / p, (1 - p) / (1 - q), (1 - q) / (1 - p)))
    oracle = float(max(ratios))
    assert float(found.lower) == pytest.approx(oracle, rel=2e-3)
    assert oracle * (1 - 1e-12) <= float(found.upper) <= oracle * (1 + 2e-3)
    if largest is not None:
        assert found.ratio == largest


def test_a_ratio_that_grows_where_eps_tends_to_zero() -> None:
    """Where one side vanishes in the limit and the other does not, no number is a budget."""
    case = paramverify.loads(
        CASE.format("eps/(1 + eps)", "(1 + exp(-eps))/2 - eps*exp(-eps)/4", 'ratio = "3"')
    )
    found = case.budget(timeout=30)
    assert found.document["ratio"] == "infinity"
    assert found.document["witness"]["meaning"] == {"eps": "0"}
    assert found.document["attained"] is None


@pytest.mark.parametrize("power", [40, 400])
def test_a_quotient_of_small_differences_is_enclosed(power: int) -> None:
    """A denominator that 64 bits do not tell from zero is enclosed with more; so is a small numerator."""
    constant = LogConstant(1 + Fraction(1, 2**power))
    small = fmpq_poly([0, 1])  # about 2**-power
    tiny = small - fmpq_poly([Fraction(1, 2**power).numerator, 0]) / 2**power  # about −2**(−2·power − 1)
    for top, bottom in ((small, -tiny), (tiny, small), (small, -tiny * small)):
        number = Real.of(top, bottom, constant)
        low, high = number.enclosure()
        with mpmath.workprec(6 * power + 600):
            at = mpmath.log1p(mpmath.mpf(2) ** -power)
            values = [
                sum(mpmath.mpf(int(c.p)) / int(c.q) * at**k for k, c in enumerate(f.coeffs()))
                for f in (top, bottom)
            ]
            exact = values[0] / values[1]
            assert (
                mpmath.mpf(low.numerator) / low.denominator
                <= exact
                <= mpmath.mpf(high.numerator) / high.denominator
            )
        assert high - low <= min(abs(low), abs(high)) / 2**31
        assert low * high > 0
