"""The number exp(q) in the checker: bounds term by term, and signs at the places where bounds change."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import factorial

import pytest

from paramverify.kernel.rounded_constants import TERMS, encloses_exp, exp_bounds, sign_in_exp
from paramverify.kernel.strict_reading import Rejected

ONE = Fraction(1)


@pytest.mark.parametrize("q", ["1/3", "1", "3/2", "2", "5/2", "3", "7", "15/2"])
def test_bounds_are_those_of_the_series(q: str) -> None:
    """The sum has the wanted number of terms, and only as many more as its remainder needs."""
    at = Fraction(q)
    for terms in range(10):
        n = max(terms, int(at))
        low = sum((at**i / factorial(i) for i in range(n)), Fraction(0))
        rest = at**n / factorial(n) / (1 - at / (n + 1))
        assert exp_bounds(at, terms) == (low, low + rest)


def test_intervals_that_contain_the_number() -> None:
    """Around tight bounds, an interval is accepted iff it contains them."""
    low, high = exp_bounds(ONE, 40)
    ends = (low - 1, low, high, high + 1)
    for left, right in product(ends, ends):
        assert encloses_exp(ONE, left, right) == (left <= low and high <= right)


@pytest.mark.slow
@pytest.mark.parametrize("terms", TERMS[:-1])
@pytest.mark.parametrize("scale", ["1", "1/7", "5"])
def test_signs_at_the_bounds_of_each_number_of_terms(terms: int, scale: str) -> None:
    """A difference from a bound that is tried is not zero there, and its sign is found with more terms."""
    c = Fraction(scale)
    for end, sign in zip(exp_bounds(ONE, terms), (1, -1), strict=True):
        assert sign_in_exp({1: c, 0: -c * end}, ONE) == sign
        assert sign_in_exp({1: -c, 0: c * end}, ONE) == -sign
        assert sign_in_exp({2: c, 1: -c * end}, ONE) == sign
        assert sign_in_exp({2: -c, 0: c * end**2}, ONE) == -sign


def test_signs_that_no_number_of_terms_decides() -> None:
    """What is as near as the last bounds has no sign, on either side; nor has what has no such exponent."""
    ends = product(exp_bounds(ONE, TERMS[-1]), (1, -1))
    near = [({1: Fraction(c), 0: -c * end}, ONE, "not decided") for end, c in ends]
    far = [({1: ONE}, exponent, "out of range") for exponent in (None, -ONE, Fraction(1001))]
    assert (sign_in_exp({1: ONE, 0: -9 * ONE}, Fraction(1000)), sign_in_exp({}, None)) == (1, 0)
    for poly, exponent, told in (*near, *far):
        with pytest.raises(Rejected, match=told):
            sign_in_exp(poly, exponent)
