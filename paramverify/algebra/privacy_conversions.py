"""Conversions between measures of privacy: what one guarantee implies of another, by published theorems.

Every number is an upper bound. It is `exact` where the formula gives a rational number; else it is computed
with balls and rounded up. Where a theorem has a free order, each order is valid, so one that floating
point numbers find is as good as the best one up to the last digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import exp, inf, log, log1p

from flint import arb, fmpq

from paramverify.algebra.constants import upper_bound, working_precision
from paramverify.algebra.rationals import nearest
from paramverify.errors import LimitError

BITS = 4_096  # an order may be near 1, and a delta near 0 or 1
STEPS = 200  # of the search for an order
LEAST = Fraction(1, 10**1000)  # in the place of positive numbers below it, whose digits nobody can write
SHARES = ("delta", "distance")  # differences of probabilities


@dataclass(frozen=True)
class Amount:
    """A number ε = `value` + ln(`ratio`) ≥ 0; the ratio is positive."""

    value: Fraction = Fraction(0)
    ratio: Fraction = Fraction(1)

    @property
    def rational(self) -> Fraction | None:
        """The number, where it is known to be rational."""
        return self.value if self.ratio == 1 else None

    def ball(self) -> arb:
        """Returns ε as a ball."""
        return _ball(self.value) + _ball(self.ratio).log()

    def exponential(self) -> tuple[arb, Fraction | None]:
        """Returns e^ε, and as a rational number where it is one."""
        return _ball(self.value).exp() * _ball(self.ratio), None if self.value else self.ratio


@dataclass(frozen=True)
class Implied:
    """A guarantee of a measure (`kind`): its number `name` is at most `upper`, by a theorem in `source`."""

    kind: str
    name: str
    exact: Fraction | None
    upper: Fraction
    source: str


def of_pure(epsilon: Amount) -> Iterator[Implied]:
    """Yields what pure privacy implies: ρ = ε²/2, and the total variation distance (e^ε − 1)/(e^ε + 1)."""
    with working_precision(BITS):
        own = epsilon.rational
        exact = None if own is None else own**2 / 2
        yield _implied("zcdp", "rho", epsilon.ball() ** 2 / 2, exact, "[BunSteinke16] Proposition 1.4")
        yield total_variation(epsilon, Fraction(0))


def pure_to_delta(epsilon: Amount, other: Amount) -> Implied:
    """Returns δ for a smaller ε': max(0, (e^ε − e^ε')/(1 + e^ε)).

    A set S with P = Pr(S | left) and Q = Pr(S | right) has P ≤ rQ and 1 − Q ≤ r(1 − P) with r = e^ε. So
    P − cQ is largest where both are equations, at Q = 1/(1 + r). Randomised response has it ([KairouzOV15]).
    """
    with working_precision(BITS):
        (r, exact), (c, sought) = epsilon.exponential(), other.exponential()
        number = None
        if exact is not None and sought is not None:
            number = max(Fraction(0), (exact - sought) / (1 + exact))
        return _implied("approximate", "delta", (r - c) / (1 + r), number, "[KairouzOV15]")


def pure_to_renyi(epsilon: Amount, order: Fraction) -> Implied:
    """Returns the Rényi bound of an order: min(ε, α·ε²/2)."""
    with working_precision(BITS):
        ball, own = epsilon.ball(), epsilon.rational
        exact = None if own is None else min(own, order * own**2 / 2)
        return _implied(
            "renyi",
            "epsilon",
            ball.min(_ball(order) * ball**2 / 2),
            exact,
            "[BunSteinke16] Proposition 1.4",
        )


def total_variation(epsilon: Amount, delta: Fraction) -> Implied:
    """Returns the largest Pr(S | left) − Pr(S | right) under (ε, δ): (e^ε − 1 + 2δ)/(e^ε + 1), at most 1."""
    with working_precision(BITS):
        r, exact = epsilon.exponential()
        number = None if exact is None else min(Fraction(1), (exact - 1 + 2 * delta) / (exact + 1))
        ball = ((r - 1 + 2 * _ball(delta)) / (r + 1)).min(arb(1))
        return _implied("total_variation", "distance", ball, number, "[KairouzOV15]")


def renyi_to_delta(order: Fraction, bound: Amount, epsilon: Amount) -> Implied:
    """Returns δ for an ε: e^((α−1)(r − ε))/(α − 1)·(1 − 1/α)^α."""
    with working_precision(BITS):
        a = _ball(order)
        ball = ((a - 1) * (bound.ball() - epsilon.ball())).exp() / (a - 1) * (1 - 1 / a) ** a
        return _implied("approximate", "delta", ball.min(arb(1)), None, "[CanonneKS20] Proposition 12")


def renyi_to_epsilon(order: Fraction, bound: Amount, delta: Fraction) -> tuple[Implied, Implied]:
    """Returns ε for a δ: r + ln(1/δ)/(α − 1), and by the tighter theorem."""
    with working_precision(BITS):
        plain = bound.ball() - _ball(delta).log() / (_ball(order) - 1)
        return (
            _implied("approximate", "epsilon", plain, None, "[Mironov17] Proposition 3"),
            _implied(
                "approximate",
                "epsilon",
                _epsilon(order, bound.ball(), delta),
                None,
                "[CanonneKS20] Proposition 12",
            ),
        )


def zcdp_to_renyi(rho: Fraction, order: Fraction) -> Implied:
    """Returns the Rényi bound of an order: α·ρ."""
    return _implied("renyi", "epsilon", _ball(rho * order), rho * order, "[BunSteinke16] Definition 1.1")


def zcdp_to_delta(rho: Fraction, epsilon: Amount) -> Implied:
    """Returns δ for an ε: the smallest over orders α of that for the Rényi bound α·ρ."""
    with working_precision(BITS):
        r, near = nearest(rho), float(epsilon.ball())

        def cost(a: float) -> float:
            return (a - 1) * (a * r - near) - log(a - 1) + a * log1p(-1 / a)

        a = _ball(_best(cost))
        ball = ((a - 1) * (a * _ball(rho) - epsilon.ball())).exp() / (a - 1) * (1 - 1 / a) ** a
        return _implied("approximate", "delta", ball.min(arb(1)), None, "[CanonneKS20] Proposition 12")


def zcdp_to_epsilon(rho: Fraction, delta: Fraction) -> tuple[Implied, Implied]:
    """Returns ε for a δ: ρ + 2·√(ρ·ln(1/δ)), and the smallest over orders of that for the Rényi bound α·ρ."""
    with working_precision(BITS):
        plain = _ball(rho) + 2 * (-_ball(rho) * _ball(delta).log()).sqrt()
        r, rare = nearest(rho), -float(_ball(delta).log())

        def cost(a: float) -> float:
            return a * r + (rare + a * log1p(-1 / a) - log(a - 1)) / (a - 1)

        order = _best(cost)
        tight = _epsilon(order, _ball(rho * order), delta)
        return (
            _implied("approximate", "epsilon", plain, None, "[BunSteinke16] Proposition 1.3"),
            _implied("approximate", "epsilon", tight, None, "[CanonneKS20] Proposition 12"),
        )


def _epsilon(order: Fraction, bound: arb, delta: Fraction) -> arb:
    a = _ball(order)
    return (bound + (-_ball(delta).log() + a * (1 - 1 / a).log() - (a - 1).log()) / (a - 1)).max(arb(0))


def _best(cost: Callable[[float], float]) -> Fraction:
    """Returns an order above 1 at which a function is small: the best of a grid, then golden sections."""
    grid = [1 + exp(k / 8) for k in range(-120, 401)]
    middle = min(range(len(grid)), key=lambda k: cost(grid[k]))
    low, high = grid[max(middle - 1, 0)], grid[min(middle + 1, len(grid) - 1)]
    best, value = grid[middle], inf
    for _ in range(STEPS):
        first, second = low + (high - low) * 0.381966, low + (high - low) * 0.618034
        low, high = (low, second) if cost(first) < cost(second) else (first, high)
        here = (low + high) / 2
        if cost(here) < value:
            best, value = here, cost(here)
    return Fraction(best)


def _implied(kind: str, name: str, ball: arb, exact: Fraction | None, source: str) -> Implied:
    """Returns a bound, rounded up where it is not exact: at least 0, and for a share at most 1."""
    if exact is not None:
        return Implied(kind, name, exact, exact, source)
    top = ball.upper()
    if name in SHARES and not top < 1:
        return Implied(kind, name, None, Fraction(1), source)
    if not top.is_finite():
        raise LimitError(
            f"the numbers are too large, or too close to 0 or 1, to find the {name} with {BITS:,} bits"
        )
    upper = Fraction(0) if top <= 0 else LEAST if top < _ball(LEAST) else upper_bound(ball)
    return Implied(kind, name, None, upper, source)


def _ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))
