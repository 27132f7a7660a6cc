"""Divergences of two distributions P and Q of an output: enclosed at a point, bounded from above on a box.

All numbers are rounded outwards, with proved rounding. Probabilities are |p|/|total|, with polynomials p and
total.

*At a point*, probabilities are rational and exact. If the constant E = exp(q) occurs, they are enclosed; that
one is 0 is still known exactly, because a polynomial in E with rational coefficients is 0 only if all of its
coefficients are.

*On a box*, each probability is c·∏ |f|^k with a number c > 0; the range of |f| is that of the Bernstein
coefficients of f. Powers that P and Q share cancel in r = P/Q before anything is bounded, so a factor may be
0 in the box. As P and Q both sum to 1 over all outputs,

    KL = Σ Q·ψ(r)                     with ψ(r) = r·ln r − r + 1,
    Σ P^α·Q^(1−α) − 1 = Σ Q·ψ_α(r)    with ψ_α(r) = r^α − 1 − α·(r − 1).

All terms are at least 0. ψ and ψ_α are convex: on an interval they are largest at an end.

*Bounds.* KL ≤ bound is shown directly. For zero-concentrated privacy, D_α ≤ ρ·α for all α > 1, orders
a < b < ... < z are enough:

- D_α ≤ D_a ≤ ρ ≤ ρ·α for 1 < α ≤ a, for D_α does not fall with α [ErvenH14, Theorem 3];
- (α−1)·D_α is convex in α [ErvenH14]: between two orders it is below the line through upper
  bounds at both, and that line is below ρ·α·(α−1);
- D_α ≤ D_∞ ≤ ρ·z ≤ ρ·α for α ≥ z.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, comb, floor, lcm
from typing import Any

from .claim_evidence import left_at
from .evidence_polynomials import Poly, evaluate, number, whole
from .proof_goals import Goal, WrittenClaim, bernstein
from .rounded_constants import BITS, TERMS, UNIT, Ends, exp, exp_bounds, ln, product, sign_in_exp, times, up
from .strict_reading import Misformed, Rejected

# --- at a point -------------------------------------------------------------------------------------

SMALL = Fraction(1, 1 << 200)  # the relative width of what is enclosed
WIDE = Fraction(1, 10**9)  # how much wider a number may be told than it is enclosed
Between = tuple[Fraction, Fraction]
# How likely each output is on the left and on the right, between two numbers; (0, 0) where it is impossible.
Distribution = list[tuple[Between, Between]]


def at_point(
    polynomials: Sequence[Poly], statement: WrittenClaim, values: Mapping[str, Fraction]
) -> Distribution:
    """Returns |p|/|total| and |q|/|total| of all outputs; given are the total, and then p and q of each.

    Raises:
        Rejected: the total is 0, one is negative, they do not sum to 1, or one is not enclosed narrowly.
    """
    sizes = [_size(poly, statement, values) for poly in polynomials]
    (of_total, low, high), *others = sizes
    if not low:
        raise Rejected("the total is 0 at this point")
    if any(sign == -of_total for sign, _, _ in others):
        raise Rejected("a probability is negative at this point")
    rest = [ends for _, *ends in others]
    shares = [(a / high, b / low) for a, b in rest]
    for side in (shares[::2], shares[1::2]):
        if not sum(a for a, _ in side) <= 1 <= sum(b for _, b in side):
            raise Rejected("the probabilities do not sum to 1 at this point")
    return list(zip(shares[::2], shares[1::2], strict=True))


def _size(
    poly: Poly, statement: WrittenClaim, values: Mapping[str, Fraction]
) -> tuple[int, Fraction, Fraction]:
    """Returns the sign of f at a point, and bounds of |f|: both 0, or both above 0."""
    found = {sum(powers): c for powers, c in left_at(statement.goal, poly, values).items()}
    if not found.keys() - {0}:
        value = found.get(0, Fraction(0))
        return (value > 0) - (value < 0), abs(value), abs(value)
    exponent = statement.exponent
    sign = sign_in_exp(found, exponent)
    assert exponent is not None
    for terms in TERMS:
        ends = exp_bounds(exponent, terms)
        low = sum((min(c * sign * end**k for end in ends) for k, c in found.items()), Fraction(0))
        high = sum((max(c * sign * end**k for end in ends) for k, c in found.items()), Fraction(0))
        if low > 0 and high - low <= SMALL * low:
            return sign, low, high
    raise Rejected("a probability is not enclosed narrowly by 1000 terms")


def value_of(found: Distribution, order: Fraction | None) -> Between:
    """Returns bounds of a finite divergence: of an order above 1, without one of KL."""
    total = [0, 0]
    for p, q in found:
        if p[0]:
            ends = _kl_term(p, q) if order is None else _power(p, q, order)
            total = [total[0] + ends[0], total[1] + ends[1]]
    if order is None:
        return Fraction(total[0], UNIT), Fraction(total[1], UNIT)
    if total[0] <= 0:
        raise Rejected("a sum is not shown to be above 0")
    low, high = (ln(Fraction(t, UNIT))[side] for side, t in enumerate(total))
    return Fraction(low, UNIT) / (order - 1), Fraction(high, UNIT) / (order - 1)


def _kl_term(p: Between, q: Between) -> Ends:
    """Returns bounds of p·ln(p/q)."""
    logs = ln(p[0] / q[1])[0], ln(p[1] / q[0])[1]
    sizes = (p[0].numerator * UNIT) // p[0].denominator, -((-p[1].numerator * UNIT) // p[1].denominator)
    low = min(product(a, b, False) for a in sizes for b in logs)
    return low, max(product(a, b, True) for a in sizes for b in logs)


def _power(p: Between, q: Between, order: Fraction) -> Ends:
    """Returns bounds of p^α·q^(1−α) = exp(α·ln p − (α−1)·ln q)."""
    low = floor(order * ln(p[0])[0] - (order - 1) * ln(q[1])[1])
    return exp(low, ceil(order * ln(p[1])[1] - (order - 1) * ln(q[0])[0]))


def check_loss(found: Distribution, witness: Mapping[str, Any], bound: Between) -> None:
    """Checks the numbers of a witness: its divergence is as it says, and above its bound.

    Raises:
        Rejected: something else is true.
    """
    kl = witness["measure"] == "kl"
    if ("order" in witness) == kl:
        raise Misformed("a witness of zcdp needs an order, one of kl must not have it", "witness")
    order = None if kl else number(witness["order"])
    if order is not None and order <= 1:
        raise Misformed("not above 1", "witness", "order")
    infinite = any(p[0] > 0 and not q[1] for p, q in found)
    if (witness["value"] == "infinity") != infinite:
        raise Misformed("the divergence is infinite iff an output is possible on the left only", "witness")
    low, high = (end * (order or 1) for end in bound)
    if not _is_told(witness["bound"], (low, high)):
        raise Misformed("the bound differs from the computed one", "witness", "bound")
    if infinite:
        return
    own = value_of(found, order)
    if not _is_told(witness["value"], own):
        raise Misformed("the divergence at this point differs from the computed one", "witness", "value")
    if own[0] <= high:
        raise Misformed("the divergence is within its bound, so nothing is violated", "witness")


def _is_told(told: Any, around: Between) -> bool:
    """Tells whether a number between two others is told as it is: by one, or two that are not much wider."""
    low, high = map(number, [told] * 2 if isinstance(told, str) else told)
    width = around[1] - around[0] + WIDE
    return low <= high and low <= around[1] and around[0] <= high and high - low <= width


# --- on a box ---------------------------------------------------------------------------------------

NOTHING = -(1 << (BITS + 40))  # at least the logarithm of 0

# Bounds of a logarithm: None below stands for −∞, and above for ∞.
Logs = tuple[int | None, int | None]


@dataclass(frozen=True)
class FactoredProduct:
    """constant·∏ |factor|^power, with a positive constant; factors by their numbers."""

    constant: Fraction
    powers: Mapping[int, int]

    def over(self, other: FactoredProduct) -> FactoredProduct:
        """Returns the quotient."""
        powers = dict(self.powers)
        for k, e in other.powers.items():
            powers[k] = powers.get(k, 0) - e
        return FactoredProduct(self.constant / other.constant, {k: e for k, e in powers.items() if e})


# Both probabilities of an output; one that is 0 everywhere is None.
FactoredOutput = tuple[FactoredProduct | None, FactoredProduct | None]


def range_of(poly: Poly, goal: Goal) -> tuple[Fraction, Fraction]:
    """Returns numbers between which a polynomial is on the box of a goal: its Bernstein coefficients."""
    form = bernstein(goal, poly)
    scale = Fraction(whole(poly)[1])
    for name, d in zip(form.names, form.degrees, strict=True):
        low, high = goal.box[name]
        m = lcm(low.denominator, high.denominator)
        scale *= m**d * lcm(*(comb(d, j) for j in range(d + 1)))
    corner = evaluate(poly, [goal.box[n][0] if n in goal.box else Fraction(0) for n in goal.names])
    if form.entries[0] != scale * corner:
        raise Rejected("a Bernstein form has another scale")
    return min(form.entries) / scale, max(form.entries) / scale


def logs_of(low: Fraction, high: Fraction) -> Logs:
    """Returns bounds of ln|f| for low ≤ f ≤ high."""
    low, high = max(low, -high, Fraction(0)), max(-low, high)
    return ln(low)[0] if low else None, ln(high)[1] if high else NOTHING


class BoxOutputs:
    """Outputs on a box, where `logs` are bounds of the logarithms of the factors."""

    def __init__(self, outputs: Sequence[FactoredOutput], logs: Sequence[Logs]) -> None:
        self.outputs = outputs
        self.logs = logs

    def range(self, constant: Fraction, powers: Mapping[int, int | Fraction]) -> Logs:
        """Returns bounds of the logarithm of a product."""
        return self._plus(ln(constant), powers)

    def _plus(self, start: Ends, powers: Mapping[int, int | Fraction]) -> Logs:
        low: int | None = start[0]
        high: int | None = start[1]
        for k, e in powers.items():
            below, above = self.logs[k] if e > 0 else self.logs[k][::-1]
            if e:
                low = None if low is None or below is None else low + times(e, below, False)
                high = None if high is None or above is None else high + times(e, above, True)
        return low, high

    def largest(self) -> int | None:
        """Returns an upper bound of D_∞, the logarithm of the largest ratio; None: there is none."""
        worst = 0
        for left, right in self.outputs:
            if left is not None:
                highest = None if right is None else self._ratio(left, right)[1]
                if highest is None:
                    return None
                worst = max(worst, highest)
        return worst

    def kl(self) -> int | None:
        """Returns an upper bound of KL; None: there is none."""
        return self._sum(None)

    def height(self, order: Fraction) -> int | None:
        """Returns an upper bound of (α−1)·D_α = ln Σ P^α·Q^(1−α); None: there is none."""
        total = self._sum(order)
        return None if total is None else ln(Fraction(UNIT + total, UNIT))[1]

    def _sum(self, order: Fraction | None) -> int | None:
        total = 0
        for p, q in self.outputs:
            term = self._term(p, q, order)
            if term is None:
                return None
            total += max(term, 0)
        return total

    def _ratio(self, p: FactoredProduct, q: FactoredProduct) -> Logs:
        """Returns bounds of ln r."""
        ratio = p.over(q)
        return self.range(ratio.constant, ratio.powers)

    def _term(
        self, p: FactoredProduct | None, q: FactoredProduct | None, order: Fraction | None
    ) -> int | None:
        """Returns an upper bound of Q·ψ(r)."""
        if q is None:
            return None
        highest = self.range(q.constant, q.powers)[1]
        if highest is None:
            return None
        most = _exp(highest)
        if p is None:
            return most if order is None else times(order - 1, most, True)
        ratio, found = self._ratio(p, q), []
        if ratio[1] is not None:
            found.append(product(most, max(_psi(ratio[0], order), _psi(ratio[1], order), 0), True))
        if not found or ratio[0] is None:
            other = self._split(p, q, most, order)
            if other is not None:
                found.append(other)
        return min(found, default=None)

    def _split(self, p: FactoredProduct, q: FactoredProduct, most: int, order: Fraction | None) -> int | None:
        """Returns an upper bound of P^α·Q^(1−α) − α·P + (α−1)·Q, or of P·ln r − P + Q."""
        low, high = self.range(p.constant, p.powers)
        if high is None:
            return None
        least = 0 if low is None else exp(low, low)[0]
        if order is None:
            logarithm = self._logarithm(p, p.over(q), (least, _exp(high)))
            return None if logarithm is None else logarithm - least + most
        names = p.powers.keys() | q.powers.keys()
        powers = {k: order * p.powers.get(k, 0) + (1 - order) * q.powers.get(k, 0) for k in names}
        start = ceil(order * ln(p.constant)[1] - (order - 1) * ln(q.constant)[0])
        high = self._plus((start, start), powers)[1]
        if high is None:
            return None
        return _exp(high) - times(order, least, False) + times(order - 1, most, True)

    def _logarithm(self, p: FactoredProduct, ratio: FactoredProduct, ends: Ends) -> int | None:
        """Returns an upper bound of P·ln r, as a sum over the factors of r, for P between two ends."""
        total = _most(ends, ln(ratio.constant))
        for k, power in ratio.powers.items():
            low, high = self.logs[k]
            own = p.powers.get(k, 0)
            if high is None or (low is None and own <= 0 and power < 0):
                return None
            if low is not None:
                total += _most(ends, (power * low, power * high))
            elif own <= 0:  # power > 0, and P·power·ln f is at most that at the largest f, or 0
                total += max(0, product(ends[1], power * high, True))
            else:
                others = {n: e for n, e in p.powers.items() if n != k}
                around = self.range(p.constant, others)
                if around[1] is None:
                    return None
                near = 0 if around[0] is None else exp(around[0], around[0])[0]
                least, most = _entropy(high, own)
                total += _most((near, _exp(around[1])), (power * least, power * most))
        return total


def _exp(high: int) -> int:
    """Returns an upper bound of an exponential."""
    return exp(high, high)[1]


def _most(one: Ends, other: Ends) -> int:
    """Returns an upper bound of a product of two numbers in intervals."""
    return max(product(a, b, True) for a in one for b in other)


def _psi(s: int | None, order: Fraction | None) -> int:
    """Returns an upper bound of ψ(e^s), or of ψ_α(e^s); None stands for r = 0."""
    if s is None:
        return UNIT if order is None else up(order - 1)
    low, high = exp(s, s)
    if order is None:
        return UNIT + _most((low, high), (s - UNIT, s - UNIT))
    return _exp(times(order, s, True)) - UNIT - times(order, low - UNIT, False)


def _entropy(high: int, power: int) -> Ends:
    """Returns bounds of x^k·ln x for 0 ≤ x ≤ e^high: it falls to −1/(k·e) at e^(−1/k), and grows after."""
    most = _exp(power * high)
    if power * high < -UNIT:
        return product(most, high, False), 0
    return _exp(-UNIT) // -power, max(0, product(most, high, True))


# --- bounds -----------------------------------------------------------------------------------------


def is_below(found: BoxOutputs, bound: Fraction, orders: Sequence[Fraction] | None) -> bool:
    """Tells whether KL ≤ bound is shown on a box, or with orders D_α ≤ bound·α for all α > 1.

    Raises:
        Rejected: the orders do not grow, or are not above 1.
    """
    if orders is None:
        most = found.kl()
        return most is not None and Fraction(most, UNIT) <= bound
    if any(not a < b for a, b in pairwise((Fraction(1), *orders))):
        raise Rejected("the orders are not above 1, or do not grow")
    largest = found.largest()
    if largest is None or Fraction(largest, UNIT) > bound * (orders[-1] if orders else 1):
        return False
    heights = []
    for order in orders:
        height = found.height(order)
        if height is None:
            return False
        heights.append(Fraction(height, UNIT))
    if orders and heights[0] > bound * (orders[0] - 1):
        return False
    lines = pairwise(zip(orders, heights, strict=True))
    return all(_line_is_below(one, other, bound) for one, other in lines)


def _line_is_below(one: tuple[Fraction, Fraction], other: tuple[Fraction, Fraction], bound: Fraction) -> bool:
    """Tells whether the line through two points is at most bound·α·(α−1) between them, which is convex."""
    (a, bottom), (b, top) = one, other
    if bottom > bound * a * (a - 1) or top > bound * b * (b - 1):
        return False
    slope = (top - bottom) / (b - a)
    turn = (bound + slope) / (2 * bound)  # where the difference is least
    return not a < turn < b or bound * turn * (turn - 1) >= bottom + slope * (turn - a)
