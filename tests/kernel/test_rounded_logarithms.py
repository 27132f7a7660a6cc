"""Logarithms, exponentials and divergences of the kernel, against decimals of 80 digits."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise, product
from math import exp as exponential
from math import log, prod
from random import Random
from types import SimpleNamespace
from typing import Any

import mpmath
import pytest

from paramverify.kernel import loss_enclosures, noise_probabilities
from paramverify.kernel.evidence_polynomials import parse, plus
from paramverify.kernel.loss_enclosures import (
    BoxOutputs,
    FactoredOutput,
    FactoredProduct,
    at_point,
    check_loss,
    is_below,
    logs_of,
    range_of,
    value_of,
)
from paramverify.kernel.proof_goals import Goal, WrittenClaim
from paramverify.kernel.rounded_constants import BITS, LN2, UNIT, encloses_log, exp, ln, log_bounds
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
        low, high = (end * UNIT for end in log_bounds(value, BITS))
        assert decimal(low) <= decimal(value).ln() * UNIT <= decimal(high)
        assert high - low < 2**20
        at = random.choice((random.randint(-40 * UNIT, 40 * UNIT), -random.randint(1, 40) * LN2[1]))
        below, above = exp(at, at)
        true = (Decimal(at) / UNIT).exp() * UNIT
        assert below <= true <= above
        assert above - below <= 2 + true / 2 ** (BITS - 20)


def test_ends_of_logarithms_and_exponentials() -> None:
    """1 and 0 are exact, very small powers are between 0 and the smallest number, and others are refused."""
    assert (ln(Fraction(1)), encloses_log(Fraction(1), Fraction(0), Fraction(0))) == ((0, 0), True)
    assert exp(0, 0) == (UNIT, UNIT)
    for at in (end + k for end in LN2 for k in (-1, 0, 1)):  # where the power of 2 changes
        below, above = exp(at, at)
        assert below <= (Decimal(at) / UNIT).exp() * UNIT <= above
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
    assert is_below(found, Fraction(7, 10), [])
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


@pytest.mark.parametrize("wide", ["ROOT", "exp"])
def test_what_the_normal_distribution_rests_on_is_rounded_outwards(
    wide: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With wide bounds of √(π/2), or of e^(x²/2), the mass is that for all numbers between them."""
    root, shares = noise_probabilities.ROOT, (Fraction(9, 10), Fraction(8, 7))
    around = lambda low, high: (int(shares[0] * low), int(shares[1] * high) + 1)  # noqa: E731
    told = around(*root) if wide == "ROOT" else lambda low, high: around(*exp(low, high))
    monkeypatch.setattr(noise_probabilities, wide, told)
    with mpmath.workprec(300):
        for x in (Fraction(0), Fraction(1, 10**9), Fraction(1, 3), Fraction(1), Fraction(3, 2), Fraction(6)):
            inner = mpmath.erf(mpmath.mpf(x.numerator) / x.denominator / mpmath.sqrt(2)) / 2
            ends = [max(0, mpmath.mpf(1) / 2 - inner * s.denominator / s.numerator) * UNIT for s in shares]
            low, high = noise_probabilities.above_normal.__wrapped__(x)
            assert low <= ends[0] <= ends[1] <= high
            assert ends[0] - low < 2**20 > high - ends[1]


@pytest.mark.parametrize("bits", range(3, 9))
def test_logarithms_of_few_bits_are_enclosed(bits: int) -> None:
    """Where a unit is much all that is left out of a series counts, also just below the first unit."""
    small = Fraction(1, 2**bits) - Fraction(1, 10**12)
    for value in ((1 + small) / (1 - small), *(Fraction(n, 97) for n in range(1, 300, 7))):
        for own in (value, 1 / value):
            low, high = log_bounds(own, bits)
            assert decimal(low) <= decimal(own).ln() <= decimal(high)


# --- one term after the other --------------------------------------------------------------------

SLACK, SMALL = Decimal(2) ** (60 - BITS), Fraction(1, 2**150)
ORDERS = [None, Fraction(9, 8), Fraction(2), Fraction(7)]


def psi(p: Decimal, q: Decimal, order: Fraction | None) -> Decimal:
    """Q·ψ(P/Q), from which divergences are summed, also where P is 0."""
    if order is None:
        return (p * (p / q).ln() if p else Decimal(0)) - p + q
    a = decimal(order)
    return (q * (a * (p / q).ln()).exp() if p else Decimal(0)) - q - a * (p - q)


@pytest.mark.parametrize("order", ORDERS)
def test_terms_at_one_ratio(order: Fraction | None) -> None:
    """ψ at a number is bounded to nearly the last bit; a ratio of 0 is known."""
    assert loss_enclosures._psi(None, order) == psi(Decimal(0), Decimal(1), order) * UNIT
    for s in (-40 * UNIT, -3 * UNIT, -UNIT // 3, -1, 0, 1, UNIT // 7, UNIT - 5, UNIT, UNIT + 5, 5 * UNIT):
        ratio = (Decimal(s) / UNIT).exp()
        true = psi(ratio, Decimal(1), order)
        found = Decimal(loss_enclosures._psi(s, order)) / UNIT
        assert true - Decimal("1e-70") <= found <= true + SLACK * max(1, ratio ** int(order or 1) * 40)


@pytest.mark.parametrize("power", [1, 2, 5])
def test_the_range_of_entropies(power: int) -> None:
    """Bounds of x^k·ln x from 0 to e^high are those of its ends, and of the place where it turns."""
    for high in (-3 * UNIT, -UNIT, -UNIT // 2, -UNIT // 5, -UNIT // 9, 0, UNIT // 3, 2 * UNIT):
        top = Decimal(high) / UNIT
        places = [top, *([Decimal(-1) / power] if top * power > -1 else [])]
        values = [Decimal(0), *((x * power).exp() * x for x in places)]
        low, most = (Decimal(end) / UNIT for end in loss_enclosures._entropy(high, power))
        assert min(values) - SLACK <= low <= min(values)
        assert max(values) - Decimal("1e-70") <= most <= max(values) + SLACK * 2**20


def factor_points(logs: tuple[int | None, int]) -> list[float]:
    """Returns values of a factor between bounds of its logarithm, with both ends."""
    top, bottom = exponential(logs[1] / UNIT), 0.0 if logs[0] is None else exponential(logs[0] / UNIT)
    return [bottom + (top - bottom) * k / 8 for k in range(9)]


HIGHS = [-2 * UNIT, -UNIT // 3, 0, UNIT // 4]


def test_terms_of_products_are_above_all_values() -> None:
    """Of outputs with two factors, in all ways of powers and ends: no value is above the bound of a term.

    Where both factors are known, the bound is near.
    """
    random, seen, near = Random(3), [0, 0], 0
    for row in range(250):
        powers = [{k: e for k in (0, 1) if (e := random.choice((-1, 0, 0, 1, 2)))} for _ in range(2)]
        constants = [random.choice((Fraction(1), Fraction(2, 3), Fraction(3))) for _ in range(2)]
        p, q = (FactoredProduct(c, own) for c, own in zip(constants, powers, strict=True))
        highs = [random.choice(HIGHS) for _ in range(2)]
        logs = [
            (high if row % 4 == 0 else random.choice((None, high, high - UNIT // 2)), high) for high in highs
        ]
        found, values = BoxOutputs([(p, q)], logs), list[list[float]]()
        for at in product(*map(factor_points, logs)):
            if all(at[k] or e > 0 for own in powers for k, e in own.items()):
                values.append(
                    [float(s.constant) * prod(at[k] ** e for k, e in s.powers.items()) for s in (p, q)]
                )
        for order in ORDERS:
            term, split, pure = found._term(p, q, order), found._split(p, q, 0, order), found._ratio(p, q)[1]
            seen[term is None] += 1
            a = float(order or 1)
            for left, right in values:
                assert right or not left or term is None
                if right:
                    true = left * log(left / right) if left and order is None else 0.0
                    true += left**a * right ** (1 - a) - a * left if order else -left
                    assert term is None or true + (a - 1 if order else 1) * right <= term / UNIT + 1e-6
                    assert split is None or true <= split / UNIT + 1e-6, (p, q, logs, order)
                    assert pure is None or not left or log(left / right) <= pure / UNIT + 1e-9
            if row % 4 == 0:
                near += 1
                sides = [decimal(s.constant) * _grown(s, highs) for s in (p, q)]
                precise = psi(sides[0], sides[1], order)
                own = loss_enclosures._exp(found.range(q.constant, q.powers)[1] or 0)
                for told in (term, found._split(p, q, own, order)):
                    assert told is not None
                    far = Decimal(told) / UNIT - precise
                    assert -Decimal("1e-65") * (1 + precise) <= far <= SLACK * 2**20 * (1 + precise)
    assert min(seen) > 100
    assert near > 200


def _grown(side: FactoredProduct, logs: list[int]) -> Decimal:
    """Returns a product of powers of factors whose logarithms are known."""
    return (Decimal(sum(logs[k] * e for k, e in side.powers.items())) / UNIT).exp()


def test_outputs_that_one_side_does_not_have() -> None:
    """Only on the left: no bound; only on the right: Q, or (α − 1)·Q."""
    half = FactoredProduct(Fraction(1, 2), {0: 1})
    for low, high in ((None, 0), (-UNIT, UNIT // 3)):
        found = BoxOutputs([], [(low, high)])
        for order in ORDERS:
            assert found._term(half, None, order) is None
            own = found._term(None, half, order)
            true = (Decimal(high) / UNIT).exp() / 2 * (1 if order is None else decimal(order - 1))
            assert own is not None
            assert true <= Decimal(own) / UNIT <= true + SLACK * 2**10
    endless = BoxOutputs([], [(0, None)])
    near = BoxOutputs(
        [], [(None, 0)]
    )  # f beside f^2: the ratio has no end, and P^α·Q^(1−α) has one for α ≤ 2
    terms = [near._term(half, FactoredProduct(Fraction(1, 2), {0: 2}), order) for order in ORDERS]
    assert [term is None for term in terms] == [False, False, False, True]
    assert [endless._term(None, half, order) for order in ORDERS] == [None] * 4


def test_ranges_of_sizes() -> None:
    """Bounds of ln|f| from bounds of f, which may have both signs."""
    for ends, least in (((3, 5), 3), ((-5, -3), 3), ((-5, 3), 0), ((-3, 5), 0), ((0, 5), 0), ((-5, 0), 0)):
        found = logs_of(*map(Fraction, ends))
        assert found == (ln(Fraction(least))[0] if least else None, ln(Fraction(5))[1])
    assert logs_of(Fraction(0), Fraction(0)) == (None, loss_enclosures.NOTHING)


def test_sums_of_logarithms_are_rounded_outwards() -> None:
    """Of small numbers, of which a unit is much; without an end there is none."""
    found = BoxOutputs([], [(-7, 5), (2, 10), (None, 4), (3, None)])
    third, half = Fraction(1, 3), Fraction(1, 2)
    for powers, ends in (
        ({0: third}, (10 - 3, 20 + 2)),
        ({0: -third}, (10 - 2, 20 + 3)),
        ({0: half, 1: half}, (10 - 4 + 1, 20 + 3 + 5)),
        ({0: -half, 1: 2}, (10 - 3 + 4, 20 + 4 + 20)),
        ({0: 1, 1: 0}, (3, 25)),
        ({2: 1}, (None, 24)),
        ({2: -half}, (8, None)),
        ({3: third, 0: 1}, (4, None)),
        ({3: -1}, (None, 17)),
        ({2: 1, 1: 1}, (None, 34)),
        ({1: 1, 2: 1, 0: 1}, (None, 39)),
        ({2: 0, 3: 0}, (10, 20)),
    ):
        assert found._plus((10, 20), powers) == ends, powers


def test_logarithms_times_probabilities() -> None:
    """P·ln r is at most the bound, for one factor and another one; near it where nothing is left out."""
    random, near = Random(2), 0
    for _ in range(300):
        own, power = random.choice((-1, 0, 1, 2)), random.choice((-2, -1, 1, 2))
        highs = [random.choice(HIGHS), random.choice(HIGHS)]
        logs = [(random.choice((None, None, highs[0] - UNIT)), highs[0]), (highs[1] - UNIT // 2, highs[1])]
        c, ratio = Fraction(random.choice((1, 3)), 2), Fraction(random.choice((3, 3, 1, 6)), 3)
        p, r = FactoredProduct(c, {0: own, 1: 1}), FactoredProduct(ratio, {0: power})
        if logs[0][0] is None and own < 0:
            continue
        (a, b), ys = (factor_points(ends)[::8] for ends in logs)
        xs = [a + (b - a) * k / 300 for k in range(301)]
        pairs = [(float(c) * x**own * y, x) for x in xs for y in ys if x]
        most = max(q * (log(float(ratio)) + power * log(x)) for q, x in pairs)
        far, least = max(q for q, _ in pairs), 0.0 if logs[0][0] is None else min(q for q, _ in pairs)
        ends = int(least * UNIT), int(far * (1 + 1e-12) * UNIT)
        found = BoxOutputs([], logs)._logarithm(p, r, ends)
        if found is None:
            assert logs[0][0] is None
            assert (own, power < 0) == (0, True)
            continue
        assert (own, power < 0, logs[0][0]) != (0, True, None)
        assert most <= found / UNIT + 1e-9
        if logs[0][0] is None and ratio == 1:
            near += 1
            assert found / UNIT <= max(0, most) + 1e-3
    assert near > 30
    one, endless = FactoredProduct(Fraction(1), {}), BoxOutputs([], [(0, None)])
    assert endless._logarithm(one, FactoredProduct(Fraction(1), {0: 1}), (0, 1)) is None


def test_terms_of_wide_and_of_small_probabilities() -> None:
    """Whatever p and q are between their ends: p·ln(p/q) and p^α·q^(1−α) are between theirs."""
    random = Random(11)
    for row in range(60):
        size = Fraction(1, random.choice((1, 1, 2**170, 2**183)))
        p, q = (size * Fraction(random.randint(2000, 2010), random.choice((2011, 4001))) for _ in range(2))
        wide = Fraction(random.choice((0, 1, 30)), 1000)
        both = [(x, x * (1 + wide)) for x in (p, q)]
        for order in (None, Fraction(9, 8), Fraction(2), Fraction(501)):
            if order == 501 and (wide or row % 2):
                both = [(p, p), (p * Fraction(999, 1000), p * Fraction(999, 1000))]
            ends = loss_enclosures._power(*both, order) if order else loss_enclosures._kl_term(*both)
            values = []
            for x, y in product(*both):
                a, b = decimal(x), decimal(y)
                values.append(a * (a / b).ln() if not order else b * (decimal(order) * (a / b).ln()).exp())
            assert ends[0] <= min(values) * UNIT + Decimal("1e-12")
            assert max(values) * UNIT - Decimal("1e-12") <= ends[1]
            assert order == 501 or ends[1] - ends[0] <= UNIT * size * (20 * wide + SMALL) + 2
            total = value_of([(both[0], both[1])] * 2, order) if size == 1 and order != 501 else None
            if total and not order:
                assert total == (Fraction(2 * ends[0], UNIT), Fraction(2 * ends[1], UNIT))
            elif total and order:
                told = [((2 * v).ln() / decimal(order - 1)) for v in (min(values), max(values))]
                assert decimal(total[0]) <= told[0]
                assert told[1] <= decimal(total[1])


def test_heights_are_the_logarithms_of_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are rounded upwards, and hardly more."""
    for total in (0, 1, UNIT // 9, UNIT, 6 * UNIT + 5):
        monkeypatch.setattr(BoxOutputs, "_sum", lambda *_, total=total: total)
        height, true = BoxOutputs([], []).height(Fraction(2)), (1 + Decimal(total) / UNIT).ln() * UNIT
        assert height is not None
        assert true <= height <= true + 2**20


class Known(BoxOutputs):
    """Outputs whose divergences are told: (α − 1)·D_α = (slope + bend·(α − 1))·(α − 1), and D_∞."""

    def __init__(self, slope: Fraction, bend: Fraction, most: Fraction) -> None:
        self.known = slope, bend, most

    def height(self, order: Fraction) -> int:
        """Returns what is told, and nothing is rounded: the numbers are multiples of 1/1024."""
        slope, bend, _ = self.known
        return int((slope * (order - 1) + bend * (order - 1) ** 2) * UNIT)

    def largest(self) -> int:
        """Returns what is told."""
        return int(self.known[2] * UNIT)

    kl = largest


def test_lines_between_orders() -> None:
    """Every order is looked at here: on the lines, below the least one and above the largest one."""
    random, seen = Random(4), [0, 0]
    for _ in range(100):
        bound = Fraction(random.randint(1, 24), 16)
        found = Known(
            Fraction(random.randint(0, 24), 16),
            Fraction(random.randint(0, 24), 16),
            Fraction(random.randint(0, 60), 16),
        )
        orders = sorted({1 + Fraction(random.randint(1, 40), 16) for _ in range(random.randint(1, 4))})
        height = lambda a, found=found: Fraction(found.height(a), UNIT)  # noqa: E731
        right = height(orders[0]) <= bound * (orders[0] - 1) and found.known[2] <= bound * orders[-1]
        for a, b in pairwise(orders):
            for k in range(33):
                at = a + (b - a) * Fraction(k, 32)
                line = height(a) + (height(b) - height(a)) * Fraction(k, 32)
                right = right and line <= bound * at * (at - 1)
        seen[right] += 1
        assert is_below(found, bound, orders) == right, (found.known, bound, orders)
        assert is_below(found, bound, None) == (found.known[2] <= bound) == is_below(found, bound, [])
    assert min(seen) > 8
    for one, other, right in (
        ((3, 2), (6, 12), True),
        ((3, 2), (6, 20), True),  # it touches the parabola 4·α·(α − 1)/4 at 2
        ((3, 2), (6, 21), False),
        ((3, 3), (6, 20), False),
        ((2, 0), (6, 8), True),
        ((2, 0), (6, 9), False),
        ((2, 1), (3, 2), False),
        ((4, 8), (6, 25), False),
        ((4, 9), (6, 15), False),
        ((3, 0), (4, 8), True),
        ((3, 0), (4, 9), False),
    ):
        lines = [(Fraction(a, 2), Fraction(h, 4)) for a, h in (one, other)]
        assert loss_enclosures._line_is_below(lines[0], lines[1], Fraction(1)) == right, (one, other)
    # Where one order has no bound, nothing is shown of all orders.
    endless: Any = SimpleNamespace(largest=lambda: 0, height=lambda order: None if order > 2 else 0)
    assert is_below(endless, Fraction(1), [Fraction(2)])
    assert not is_below(endless, Fraction(1), [Fraction(2), Fraction(3)])


def test_numbers_that_are_told() -> None:
    """One between the ends, or two that meet them, and are hardly farther apart."""
    around, wider = (Fraction(1), Fraction(2)), "1000000001/1000000000"
    for told, right in (
        *(("1", True), ("2", True), ("1/2", False), ("5/2", False), (["1/2", "1"], True)),
        *((["2", "5/2"], True), (["1/2", "99/100"], False), (["3/2", "1"], False)),
        *((["1", "2"], True), (["3/4", f"{Fraction(3, 4) + Fraction(wider)}"], True)),
        (["3/4", f"{Fraction(3, 4) + Fraction(wider) + SMALL}"], False),
    ):
        assert loss_enclosures._is_told(told, around) == right, told
    unit = Fraction(1, UNIT)
    low, high = value_of([((unit * 3 / 2,) * 2,) * 2], Fraction(2))  # between one unit and two
    assert decimal(low) <= decimal(unit * 3 / 2).ln() <= decimal(high)
    with pytest.raises(Rejected, match="a sum is not shown to be above 0"):
        value_of([((unit / 2,) * 2,) * 2], Fraction(2))


def test_numbers_of_a_witness() -> None:
    """Divergences are told as they are, by one number or two, and are above their bound."""
    sides = [Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]
    found = [((p, p), (q, q)) for p, q in zip(*sides, strict=True)]
    tenth, tiny = (Fraction(1, 10),) * 2, Fraction(1, 10**12)
    for order in (None, "2", "3/2"):
        at = None if order is None else Fraction(order)
        low, high = value_of(found, at)
        true = kl(*sides) if at is None else height(*sides, at) / decimal(at - 1)
        assert_between((low, high), true)
        own = str(Fraction(1, 10) * (at or 1))
        head = {"measure": "kl"} if order is None else {"measure": "zcdp", "order": order}
        for value, right in (
            (str((low + high) / 2), True),
            ([str(low - tiny), str(high + tiny)], True),
            (str(high + tiny), False),
            ("infinity", False),
        ):
            assert tells(found, {**head, "value": value, "bound": own}, tenth) == right, (order, value)
        value = str((low + high) / 2)
        assert not tells(found, {**head, "value": value, "bound": str(2 * Fraction(own))}, tenth)
        large = (Fraction(value) / (at or 1),) * 2
        assert not tells(found, {**head, "value": value, "bound": value}, large)
        less = (large[0] - tiny,) * 2
        assert tells(found, {**head, "value": value, "bound": str(less[0] * (at or 1))}, less)
        other = {"measure": "kl", "order": "2"} if order is None else {"measure": "zcdp"}
        assert not tells(found, {**other, "value": value, "bound": own}, tenth)
    nothing = [*found, ((Fraction(0),) * 2, (Fraction(0),) * 2)]
    assert tells(nothing, {"measure": "zcdp", "order": order, "value": value, "bound": own}, tenth)
    endless = [((Fraction(1, 2),) * 2, (Fraction(0),) * 2), ((Fraction(1, 2),) * 2, (Fraction(1),) * 2)]
    unlike = [(q, p) for p, q in endless]
    zcdp = {"measure": "zcdp", "bound": "1/5", "order": "2"}
    assert tells(endless, {**zcdp, "value": "infinity"}, tenth)
    assert not tells(endless, {**zcdp, "value": "infinity", "bound": "1/10"}, tenth)
    assert not tells(endless, {**zcdp, "value": "1"}, tenth)
    assert not tells(unlike, {**zcdp, "value": "infinity"}, tenth)
    for order in ("1", "1/2", "-2"):
        assert not tells(
            endless, {**zcdp, "value": "infinity", "order": order, "bound": str(Fraction(order) / 10)}, tenth
        )


def tells(found: Any, witness: Any, bound: Any) -> bool:
    """Tells whether the numbers of a witness are accepted."""
    try:
        check_loss(found, witness, bound)
    except Rejected:
        return False
    return True


@pytest.mark.parametrize("exponent", [None, "1/3", "2"])
def test_probabilities_at_a_point(exponent: str | None) -> None:
    """They are those of the polynomials, of every sign, also in E; they sum to 1, and none is negative."""
    e = Fraction(exponent) if exponent else None
    names, box = (("x", "E") if e else ("x",)), {"x": (Fraction(0), Fraction(2))}
    claim = WrittenClaim(Goal(names, {}, box, ()), e)
    x, grown = Fraction(1, 3), decimal(e).exp() if e else Decimal(0)
    first, rest = ("x*E", "x*E^2 - 2*x*E + 1") if e else ("x", "-x + 1/2")
    for sign in ("", "-"):
        texts = [first, rest, first, "0"]
        polys = [parse(text, names) for text in texts]
        total = plus(polys[0], polys[1])
        polys[3] = plus(total, polys[2], Fraction(-1))
        if sign:
            total, *polys = (plus({}, poly, Fraction(-1)) for poly in (total, *polys))
        given = [total, polys[0], polys[2], polys[1], polys[3], {}, {}]
        (p, q), (r, s), never = at_point(given, claim, {"x": x})
        assert never == ((0, 0), (0, 0))
        one = decimal(x) * grown if e else decimal(x)
        other = decimal(x) * (grown**2 - 2 * grown) + 1 if e else decimal(Fraction(1, 2) - x)
        for ends, true in ((p, one), (q, one), (r, other), (s, other)):
            assert_between(ends, true / (one + other))
        for wrong in (
            [total, polys[0], polys[2]],
            [total, polys[0], polys[2], polys[1], {}],
            [total, polys[0], polys[2], {}, polys[3]],
            [total, polys[0], polys[2], plus({}, polys[1], Fraction(-1)), polys[3]],
            [total, polys[0], polys[2], polys[1], plus({}, polys[3], Fraction(-1))],
            [{}, polys[0], polys[2], polys[1], polys[3]],
            [total, polys[0], total, polys[1], {}, {}, polys[0]],
            [total, plus(total, polys[0]), polys[0], plus({}, polys[0], Fraction(-1)), polys[1]],
        ):
            with pytest.raises(Rejected):
                at_point(wrong, claim, {"x": x})
    grown = [parse(text, ("x", "E")) for text in ("E", "E - 1", "E", "1", "0")]
    with pytest.raises(Rejected, match="not enclosed narrowly"):
        at_point(grown, WrittenClaim(Goal(("x", "E"), {}, box, ()), Fraction(0)), {"x": x})


def test_rounding_where_a_unit_is_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """For an order of 4/3, numbers of single units are rounded to the side that is safe, by less than two."""
    one, order, third = FactoredProduct(Fraction(1), {}), Fraction(4, 3), Fraction(1, 3)
    for most in range(7):
        assert 0 <= (BoxOutputs([], [])._split(one, one, most, order) or 0) + third * (UNIT - most) < 2
    assert 0 <= loss_enclosures._psi(-(10**5) * UNIT, order) - third * UNIT - 1 < 1  # e^s is at most one unit
    for own, end, most in ({}, UNIT // 2, 2), ({0: 1, 1: 1}, 0, 0):  # 3/2, and x·y·ln x of numbers up to 1
        p, r = FactoredProduct(Fraction(1), own), FactoredProduct(Fraction(1), {0: 1})
        assert BoxOutputs([], [(None, end)] * 2)._logarithm(p, r, (0, 3)) == most
    monkeypatch.setattr(loss_enclosures, "exp", lambda low, high: (low + UNIT, high + UNIT))  # not rounded
    assert [loss_enclosures._psi(s, order) for s in range(-3, 4)] == [0, 1, 1, 0, 1, 1, 0]
