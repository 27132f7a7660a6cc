"""Logarithms, exponentials and divergences of the kernel, against decimals of 80 digits."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from paramverify.kernel import loss_enclosures
from paramverify.kernel.evidence_polynomials import parse
from paramverify.kernel.loss_enclosures import (
    BoxOutputs,
    FactoredOutput,
    FactoredProduct,
    is_below,
    logs_of,
    range_of,
    value_of,
)
from paramverify.kernel.proof_goals import Goal
from paramverify.kernel.rounded_constants import BITS, UNIT, exp, ln
from paramverify.kernel.strict_reading import Rejected


@pytest.fixture(autouse=True)
def eighty_digits() -> Iterator[None]:
    """Decimals have 80 digits."""
    with localcontext() as context:
        context.prec = 80
        yield


def decimal(value: Fraction) -> Decimal:
    """A fraction as a decimal."""
    return Decimal(value.numerator) / Decimal(value.denominator)


def test_logarithms_and_exponentials_are_enclosed() -> None:
    """Both ends are on their sides of the number, and near each other."""
    random = Random(1)
    for _ in range(300):
        value = Fraction(random.randint(1, 10 ** random.randint(1, 30)), random.randint(1, 10**20))
        low, high = ln(value)
        assert low <= decimal(value).ln() * UNIT <= high
        assert high - low < 2**20
        at = random.randint(-40 * UNIT, 40 * UNIT)
        below, above = exp(at, at)
        true = (Decimal(at) / UNIT).exp() * UNIT
        assert below <= true <= above
        assert above - below <= 2 + true / 2 ** (BITS - 20)


def test_ends_of_logarithms_and_exponentials() -> None:
    """1 and 0 are exact, very small powers are between 0 and the smallest number, and others are refused."""
    assert ln(Fraction(1)) == (0, 0)
    assert exp(0, 0) == (UNIT, UNIT)
    assert exp(-(10**5) * UNIT, -(10**5) * UNIT) == (0, 1)
    with pytest.raises(Rejected, match="too large"):
        exp(10**5 * UNIT, 10**5 * UNIT)
    with pytest.raises(Rejected, match="not positive"):
        ln(Fraction(0))


def kl(one: list[Fraction], other: list[Fraction]) -> Decimal:
    """Σ p·ln(p/q), by its definition."""
    pairs = zip(map(decimal, one), map(decimal, other), strict=True)
    return sum((p * (p / q).ln() for p, q in pairs if p), Decimal(0))


def height(one: list[Fraction], other: list[Fraction], order: Fraction) -> Decimal:
    """ln Σ p^α·q^(1−α), by its definition."""
    pairs = zip(map(decimal, one), map(decimal, other), strict=True)
    return sum(q * (decimal(order) * (p / q).ln()).exp() for p, q in pairs if p).ln()  # type: ignore[union-attr]


# The probabilities of outputs on both sides, as products of powers of the factors x, 1 − x and 2 − x.
FACTORS = ["x", "-x + 1", "-x + 2"]
DISTRIBUTIONS = [
    [(("1", {0: 1}), ("1", {1: 1})), (("1", {1: 1}), ("1", {0: 1}))],
    [(("1", {0: 2}), ("1", {0: 1})), (("1", {1: 1}), ("1", {1: 1})), (("1", {0: 1, 1: 1}), None)],
    [(("1", {0: 1}), ("1/2", {0: 1})), (("1", {1: 1}), ("1/2", {2: 1}))],
    [(("1/2", {0: 1}), ("1", {0: 1})), (("1/2", {2: 1}), ("1", {1: 1}))],
    [(("1", {0: 1}), ("1", {0: 2})), (("1", {1: 1}), ("1", {1: 1})), (None, ("1", {0: 1, 1: 1}))],
]
BOXES = [(0, Fraction(1, 4)), (0, Fraction(1, 1000)), (Fraction(1, 3), Fraction(1, 2)), (Fraction(3, 4), 1)]


def factored(pair: Any) -> FactoredOutput:
    """Returns both probabilities of an output."""
    left, right = (s and FactoredProduct(Fraction(s[0]), s[1]) for s in pair)
    return left, right


@pytest.mark.parametrize("given", DISTRIBUTIONS)
@pytest.mark.parametrize("ends", BOXES)
def test_bounds_on_boxes_are_above_the_values_at_points(given: list, ends: tuple) -> None:  # type: ignore[type-arg]
    """At no point of a box is a divergence above its bound there, also where a factor may be zero."""
    low, high = map(Fraction, ends)
    goal = Goal(("x",), {}, {"x": (low, high)}, ())
    outputs = [factored(pair) for pair in given]
    found = BoxOutputs(outputs, [logs_of(*range_of(parse(text, ("x",)), goal)) for text in FACTORS])
    orders = [Fraction(9, 8), Fraction(2), Fraction(7)]
    most, heights, pure = found.kl(), [found.height(order) for order in orders], found.largest()
    assert low == 0 or high == 1 or given == DISTRIBUTIONS[1] or None not in (most, pure, *heights)
    for k in range(1, 8):
        x = low + (high - low) * Fraction(k, 8)
        values = [x, 1 - x, 2 - x]
        sides = [[_value(pair[side], values) for pair in given] for side in (0, 1)]
        if any(p and not q for p, q in zip(*sides, strict=True)):
            assert most is None
            assert heights == [None] * 3
            continue
        sides = [[v for v, q in zip(side, sides[1], strict=True) if q] for side in sides]
        assert sum(sides[0]) == sum(sides[1]) == 1
        assert most is None or kl(*sides) <= Decimal(most) / UNIT
        ratio = max(p / q for p, q in zip(*sides, strict=True))
        assert pure is None or decimal(ratio).ln() <= Decimal(pure) / UNIT
        for order, own in zip(orders, heights, strict=True):
            assert own is None or height(*sides, order) <= Decimal(own) / UNIT
        both = [((p, p), (q, q)) for p, q in zip(*sides, strict=True)]
        assert_between(value_of(both, None), kl(*sides))
        for order in orders:
            assert_between(value_of(both, order), height(*sides, order) / decimal(order - 1))


def assert_between(ends: tuple[Fraction, Fraction], value: Decimal) -> None:
    """A number is between two that are near each other, but for the rounding of decimals."""
    slack = Decimal("1e-50")
    assert decimal(ends[0]) - slack <= value <= decimal(ends[1]) + slack
    assert ends[1] - ends[0] < Fraction(1, 10**40)


def _value(product: tuple[str, dict[int, int]] | None, values: list[Fraction]) -> Fraction:
    if product is None:
        return Fraction(0)
    found = Fraction(product[0])
    for k, power in product[1].items():
        found *= values[k] ** power
    return found


def test_a_factor_that_tends_to_zero_is_no_obstacle() -> None:
    """KL of (x, 1 − x) from (x/2, 1 − x/2) is near 0 for small x, and so is its bound."""
    goal = Goal(("x",), {}, {"x": (Fraction(0), Fraction(1, 1000))}, ())
    outputs = [factored(pair) for pair in DISTRIBUTIONS[2]]
    found = BoxOutputs(outputs, [logs_of(*range_of(parse(text, ("x",)), goal)) for text in FACTORS])
    assert is_below(found, Fraction(1, 500), None)
    assert not is_below(found, Fraction(1, 10**6), None)


def test_orders_have_to_cover_all_orders_above_one() -> None:
    """A bound for all orders needs the tails: the least order near 1, and D_∞ beyond the largest one."""
    third = Fraction(1, 3)
    outputs = [
        (FactoredProduct(1 - third, {}), FactoredProduct(third, {})),
        (FactoredProduct(third, {}), FactoredProduct(1 - third, {})),
    ]
    found = BoxOutputs(outputs, [])
    bound = Fraction(2, 5)  # KL = ln(2)/3, ρ is about 0.24, D_∞ = ln(2)
    assert is_below(found, bound, [Fraction(9, 8), Fraction(5, 4), Fraction(3, 2), Fraction(2)])
    assert is_below(found, Fraction(7, 10), [])
    assert not is_below(found, bound, [])
    assert not is_below(found, bound, [Fraction(9, 8), Fraction(5, 4), Fraction(3, 2)])  # ln(2) > 3/2·2/5
    assert not is_below(found, Fraction(1, 4), [Fraction(2), Fraction(3)])  # D_2 > 1/4
    assert not is_below(found, Fraction(1, 4), [Fraction(33, 32), Fraction(3)])  # too far apart
    for orders in ([Fraction(1)], [Fraction(2), Fraction(2)], [Fraction(3), Fraction(2)], [Fraction(-1)]):
        with pytest.raises(Rejected, match="orders"):
            is_below(found, bound, orders)


def test_the_scale_of_bernstein_forms() -> None:
    """Ranges of polynomials contain their values, and are exact for linear ones."""
    box = {"x": (Fraction(1, 3), Fraction(5, 7)), "y": (Fraction(-1), Fraction(2))}
    goal = Goal(("x", "y"), {}, box, ())
    assert range_of(parse("2/5*x - 3*y", ("x", "y")), goal) == (Fraction(2, 15) - 6, Fraction(2, 7) + 3)
    low, high = loss_enclosures.range_of(parse("x^2*y - y^3 + 1/2", ("x", "y")), goal)
    for k in range(9):
        x, y = (a + (b - a) * Fraction(k, 8) for a, b in box.values())
        assert low <= x * x * y - y**3 + Fraction(1, 2) <= high


def test_the_normal_distribution_is_enclosed() -> None:
    """The mass above x is that of the complementary error function in ball arithmetic."""
    from flint import arb, ctx, fmpq

    from paramverify.kernel.noise_probabilities import above_normal

    random, before = Random(2), ctx.prec
    ctx.prec = 400
    try:
        for _ in range(60):
            x = Fraction(random.randint(-20 * 10**9, 20 * 10**9), 10**9)
            low, high = above_normal(x)
            true = (arb(fmpq(x.numerator, x.denominator)) / arb(2).sqrt()).erfc() / 2 * arb(2) ** BITS
            assert low <= true <= high
            assert high - low < 2**20
    finally:
        ctx.prec = before
    assert above_normal(Fraction(50)) == (0, 1)
