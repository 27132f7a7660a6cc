"""Bounds of divergences over a box of parameters, from above and from below, with proved rounding.

Let P and Q be the probabilities of an output and r = P/Q. As Σ P = Σ Q = 1,

    KL = Σ Q·ψ(r)             with ψ(r) = r·ln r − r + 1,
    Σ P^α·Q^(1−α) − 1 = Σ Q·ψ_α(r)   with ψ_α(r) = r^α − 1 − α·(r − 1).

Both functions are convex and least at r = 1, where they are 0: on an interval they are largest at an end.
All terms are at least 0, so nothing cancels. P, Q and r are products of powers of common factors, whose
ranges on the box are those of their Bernstein coefficients. Where a factor of Q may be zero, P·ln r and
P^α·Q^(1−α) are written in the factors: powers that cancel do so exactly.

α ↦ (α−1)·D_α is convex ([ErvenH14]) and D_α does not fall with α ([ErvenH14] Theorem 3). So
D_α ≤ ρ·α holds for all α in [a, b] if (α−1)·D_α, on the line between its values at a and b, is at most
ρ·α·(α−1) there. At α → 1 and α → ∞, D_α ≤ D_b for α ≤ b, and D_α ≤ D_∞.

The terms of the upper bounds are Q·ψ(r) = P·ψ(r)/r with r = P/Q. Both ψ(r) and ψ(r)/r are at least 0, fall
up to r = 1, and grow from there: with ψ for KL, (ψ(r)/r)' = (1 − 1/r)/r, and of an order α it is
(α−1)·(r^(α−2) − r^(−2)). So on an interval of r that does not have 1 each of them is least at the end that is
nearer to 1; otherwise 0 is a lower bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from flint import arb, fmpq

from paramverify.algebra.bernstein import bernstein_form
from paramverify.algebra.constants import upper_bound, working_precision
from paramverify.algebra.domains import Domain, Interval
from paramverify.algebra.polynomials import Polynomial, is_constant, key
from paramverify.divergences import Average
from paramverify.encodings.output_sums import PairOutcomes
from paramverify.errors import LimitError
from paramverify.evidence.divergence_witnesses import number
from paramverify.simplify.reductions import factorable, factorisation

# --- upper bounds of divergences over a box of parameters, with proved rounding ---------------------

BITS = 128  # of balls over boxes
DEPTH = 40  # times that an interval of orders is halved
MOST = 400  # intervals of orders of one box

Range = tuple[arb, arb | None]  # of numbers that are at least 0; None stands for infinity


@dataclass(frozen=True, eq=False)
class PowerProduct:
    """constant · ∏ |factor|^power, with a positive constant."""

    constant: fmpq
    powers: Mapping[str, int]

    def over(self, other: PowerProduct) -> PowerProduct:
        """Returns the quotient."""
        powers = dict(self.powers)
        for name, power in other.powers.items():
            powers[name] = powers.get(name, 0) - power
        return PowerProduct(self.constant / other.constant, {n: e for n, e in powers.items() if e})


@dataclass(frozen=True, eq=False)
class EnclosedOutput:
    """One output: its probabilities, and their quotient; a probability that is 0 everywhere is None."""

    left: PowerProduct | None
    right: PowerProduct | None
    ratio: PowerProduct | None


@dataclass(eq=False)
class Factors:
    """The irreducible factors of all probabilities, by their texts."""

    known: dict[str, Polynomial] = field(default_factory=dict)
    found: dict[str, tuple[fmpq, Mapping[str, int]]] = field(default_factory=dict)  # by their texts

    def factored(self, polynomial: Polynomial) -> tuple[fmpq, Mapping[str, int]]:
        """Returns the constant of a polynomial that is not zero, and the powers of its factors.

        Raises:
            LimitError: it is too large.
        """
        if is_constant(polynomial):
            return next(iter(polynomial.coeffs())), {}
        text = key(polynomial)
        if text not in self.found:
            if not factorable(polynomial):
                raise LimitError("a probability is too large a polynomial to be factored")
            constant, parts = factorisation(polynomial)
            powers = {}
            for factor, power in parts:
                name = key(factor)
                self.known[name] = factor
                powers[name] = power
            self.found[text] = fmpq(constant.numerator, constant.denominator), powers
        return self.found[text]

    def product(self, polynomial: Polynomial) -> PowerProduct:
        """Returns a polynomial that is nowhere negative as a product."""
        constant, powers = self.factored(polynomial)
        return PowerProduct(abs(constant), powers)

    def outputs(self, found: PairOutcomes) -> list[EnclosedOutput]:
        """Returns the outputs of a direction, with the masses divided out."""
        total = self.product(found.total)
        outputs = []
        for p, q in found.outputs:
            left = self.product(p).over(total) if p else None
            right = self.product(q).over(total) if q else None
            outputs.append(EnclosedOutput(left, right, left.over(right) if left and right else None))
        return outputs


@dataclass(eq=False)
class OnBox:
    """What is known of the outputs of a direction on a box; infinity is None."""

    outputs: Sequence[EnclosedOutput]
    factors: Factors
    box: Mapping[str, Interval]
    ranges: dict[str, tuple[arb, arb]] = field(default_factory=dict)

    def range(self, name: str) -> tuple[arb, arb]:
        """Returns the range of the size of a factor."""
        if name not in self.ranges:
            form = bernstein_form(self.factors.known[name], self.box)
            low, high = (fmpq(e, form.scale) for e in (min(form.entries), max(form.entries)))
            if low < 0 < high:
                low, high = fmpq(0), max(-low, high)
            elif high <= 0:
                low, high = -high, -low
            self.ranges[name] = arb(low).lower(), arb(high).upper()
        return self.ranges[name]

    def of(self, product: PowerProduct, order: arb | None = None, other: PowerProduct | None = None) -> Range:
        """Returns the range of a product; with an order α, that of product^α · other^(1−α)."""
        low, high = arb(product.constant), arb(product.constant)
        powers: dict[str, arb] = {n: arb(e) for n, e in product.powers.items()}
        if order is not None and other is not None:
            low = high = arb(product.constant) ** order * arb(other.constant) ** (1 - order)
            names = product.powers.keys() | other.powers.keys()
            powers = {
                n: order * product.powers.get(n, 0) + (1 - order) * other.powers.get(n, 0) for n in names
            }
        infinite = False
        for name, power in powers.items():
            least, most = self.range(name)
            if power > 0:
                low, high = low * _power(least, power), high * _power(most, power)
            elif power < 0:
                low = low * _power(most, power) if most > 0 else low * 0
                if least > 0:
                    high = high * _power(least, power)
                else:
                    infinite = True
            elif not power.is_zero():  # a ball with 0 in it: least and most are positive only
                if not least > 0:
                    infinite, low = True, low * 0
                    continue
                ends = [least**power, most**power]
                low, high = low * ends[0].min(ends[1]).min(arb(1)), high * ends[0].max(ends[1]).max(arb(1))
        return low.lower(), None if infinite else high.upper()

    @cached_property
    def _shares(self) -> list[tuple[EnclosedOutput, Range | None, Range | None, Range | None]]:
        return [(o, self._maybe(o.left), self._maybe(o.right), self._maybe(o.ratio)) for o in self.outputs]

    def _maybe(self, product: PowerProduct | None) -> Range | None:
        return None if product is None else self.of(product)

    def most_ratio(self) -> arb | None:
        """Returns an upper bound of e^D_∞, the largest ratio."""
        worst = arb(1)
        for output, _, _, ratio in self._shares:
            if output.left is None:
                continue
            if ratio is None or ratio[1] is None:
                return None
            worst = worst.max(ratio[1])
        return worst

    def divergence(self, order: arb | None) -> arb | None:
        """Returns an upper bound of D_α, of Kullback and Leibler's without an order."""
        total = arb(0)
        for output, left, right, ratio in self._shares:
            term = self._term(output, (left, right, ratio), order)
            if term is None:
                return None
            total += term
        if order is None:
            return total.upper()
        return (total.upper().log1p() / (order - 1)).upper()

    def _term(
        self,
        output: EnclosedOutput,
        found: tuple[Range | None, Range | None, Range | None],
        order: arb | None,
    ) -> arb | None:
        """Returns an upper bound of Q·ψ(r)."""
        left, right, ratio = found
        if output.right is None or right is None:
            return None  # the left side is possible somewhere
        if left is None or ratio is None:
            return None if right[1] is None else right[1] * (arb(1) if order is None else order - 1)
        bounds = []
        if right[1] is not None and ratio[1] is not None:
            bounds.append(right[1] * _psi(ratio[0], order).max(_psi(ratio[1], order)))
        if not bounds or not ratio[0] > 0:
            other = self._split(output, left, right, order)
            if other is not None:
                bounds.append(other)
        if not bounds:
            return None
        return bounds[0] if len(bounds) == 1 else bounds[0].min(bounds[1])

    def _split(self, output: EnclosedOutput, left: Range, right: Range, order: arb | None) -> arb | None:
        """Returns an upper bound of P·ln r − P + Q, or of P^α·Q^(1−α) − α·P + (α−1)·Q."""
        assert output.left is not None
        assert output.right is not None
        if right[1] is None or left[1] is None:
            return None
        if order is not None:
            power = self.of(output.left, order, output.right)[1]
            return None if power is None else power - order * left[0] + (order - 1) * right[1]
        logarithm = self._logarithm(output, left)
        return None if logarithm is None else logarithm - left[0] + right[1]

    def _logarithm(self, output: EnclosedOutput, left: Range) -> arb | None:
        """Returns an upper bound of P·ln r, factor by factor."""
        assert output.left is not None
        assert output.ratio is not None
        assert left[1] is not None
        constant = arb(output.ratio.constant).log()
        total = (left[0] * constant).max(left[1] * constant)
        for name, power in output.ratio.powers.items():
            least, most = self.range(name)
            own = output.left.powers.get(name, 0)
            if least > 0:
                ends = [p * g.log() * power for p in (left[0], left[1]) for g in (least, most)]
            elif own <= 0:
                if power < 0 or not most > 0:
                    return None
                ends = [arb(0), left[1] * most.log() * power]
            else:
                others = {n: e for n, e in output.left.powers.items() if n != name}
                around = self.of(PowerProduct(output.left.constant, others))
                if around[1] is None:
                    return None
                ends = [s * h * power for s in (around[0], around[1]) for h in _entropy(most, own)]
            worst = ends[0]
            for end in ends[1:]:
                worst = worst.max(end)
            total += worst
        return total


def _power(base: arb, exponent: arb) -> arb:
    if base.is_zero():
        return arb(0)
    return base**exponent


def _psi(ratio: arb, order: arb | None) -> arb:
    """Returns ψ(r), or ψ_α(r) of an order; r is at least 0."""
    if not ratio > 0:
        return arb(1) if order is None else order - 1  # at 0, and near it at most that
    if order is None:
        return ratio * ratio.log() - ratio + 1
    return ratio**order - 1 - order * (ratio - 1)


def _entropy(most: arb, power: int) -> list[arb]:
    """Returns the ends of x^k·ln x on [0, most]: it falls to −1/(k·e) at e^(−1/k), and grows after that."""
    end = most**power * most.log() if most > 0 else arb(0)
    turn = (arb(-1) / power).exp()
    low = end if most < turn else -(arb(-1).exp()) / power
    return [low, arb(0).max(end)]


def within(found: OnBox, measure: Average, bound: arb) -> tuple[Fraction, ...] | None:
    """Returns the orders that show a loss to be at most its bound on a box, none for KL; None: not shown."""
    with working_precision(BITS):
        if not measure.of_orders:
            most = found.divergence(None)
            return () if most is not None and most <= bound else None
        return _concentrated(found, bound)


def _concentrated(found: OnBox, rho: arb) -> tuple[Fraction, ...] | None:
    """Returns orders that show D_α ≤ ρ·α for all α > 1 on a box, if it is shown; see the module."""
    ratio = found.most_ratio()
    if ratio is None:
        return None
    needed = upper_bound(ratio.log() / rho)  # from here on D_∞ is enough
    if needed <= 1:
        return ()
    last = max(Fraction(math.ceil(needed * 2**10), 2**10), Fraction(11, 10))
    values: dict[Fraction, arb | None] = {}

    def height(order: Fraction) -> arb | None:
        """Returns an upper bound of (α−1)·D_α."""
        if order not in values:
            own = found.divergence(_ball(order))
            values[order] = None if own is None else own * _ball(order - 1)
        return values[order]

    pending = [(Fraction(1), last, 0)]
    count = 0
    while pending:
        low, high, depth = pending.pop()
        count += 1
        top = height(high)
        bottom = arb(0) if low == 1 else height(low)
        if top is None or bottom is None or count > MOST or depth > DEPTH:
            return None
        if low == 1:
            if top <= rho * _ball(high - 1):  # D_high ≤ ρ
                continue
        elif _below((_ball(low), bottom), (_ball(high), top), rho):
            continue
        elif top > rho * _ball(high * (high - 1)):
            return None  # nothing smaller helps at this end
        middle = _between(low, high)
        pending += [(low, middle, depth + 1), (middle, high, depth + 1)]
    return tuple(sorted(values))


def _ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def near_order(order: Fraction, bits: int = 40) -> Fraction:
    """Returns a number near an order, above 1, with few digits."""
    scale = Fraction(2) ** (bits - math.floor(math.log2(float(order - 1))))
    return 1 + Fraction(max(1, round((order - 1) * scale))) / scale


def _between(low: Fraction, high: Fraction) -> Fraction:
    """Returns an order between two: the middle on a logarithmic scale of α − 1, about."""
    if low == 1:
        return 1 + (high - 1) / 8
    middle = near_order(1 + Fraction(math.sqrt((low - 1) * (high - 1))), 12)
    return middle if low < middle < high else (low + high) / 2


def _below(one: tuple[arb, arb], other: tuple[arb, arb], rho: arb) -> bool:
    """Tells whether the line through two heights is at most ρ·α·(α−1), which is convex, between them."""
    (low, bottom), (high, top) = one, other
    if not (bottom <= rho * low * (low - 1) and top <= rho * high * (high - 1)):
        return False
    slope = (top - bottom) / (high - low)
    turn = (rho + slope) / (2 * rho)  # where ρ·α·(α−1) − line is least
    if turn < low or turn > high:
        return True
    gap = rho * turn * (turn - 1) - bottom - slope * (turn - low)
    return bool(gap >= 0)


def excluded(domain: Domain, box: Mapping[str, Interval]) -> int | None:
    """Returns the number of a constraint that no point of a box satisfies, if one is proved to be so."""
    for place, constraint in enumerate(domain.constraints):
        most = max(bernstein_form(constraint.polynomial, box).entries)
        if most < 0 or (most == 0 and constraint.strict):
            return place
    return None


# --- lower bounds of divergences over a box of parameters, with proved rounding ---------------------


def beyond(found: OnBox, measure: Average, bound: arb, orders: Iterable[Fraction] = ()) -> bool:
    """Tells whether a loss is proved to be above its bound at each point of a box with both secrets possible.

    ZCDP is above ρ if D_α > ρ·α for one of the orders, or if KL > ρ: D_α ≥ KL for all α, also near 1.
    """
    with working_precision(BITS):
        if divergence(found, None) > bound:
            return True
        if not measure.of_orders:
            return False
        return any(divergence(found, number(order)) > bound * number(order) for order in orders)


def divergence(found: OnBox, order: arb | None) -> arb:
    """Returns a lower bound of D_α, of Kullback and Leibler's without an order."""
    total = arb(0)
    for output in found.outputs:
        total += _term(found, output, order)
    total = total.lower()
    if not total > 0:
        return arb(0)
    return total if order is None else (total.log1p() / (order - 1)).lower()


def _term(found: OnBox, output: EnclosedOutput, order: arb | None) -> arb:
    """Returns a lower bound of Q·ψ(r)."""
    if output.right is None:  # infinite where P > 0, and nothing where P = 0
        possible = output.left is not None and found.of(output.left)[0] > 0
        return arb("inf") if possible else arb(0)
    least = found.of(output.right)[0]
    if output.left is None or output.ratio is None:
        return least if order is None else least * (order - 1)
    low, high = found.of(output.ratio)
    if low > 1:
        nearest = low
    elif high is not None and high < 1:
        nearest = high
    else:
        return arb(0)
    if not nearest > 0:  # r is 0 throughout
        return least if order is None else least * (order - 1)
    height = _psi_of_positive(nearest, order).lower()
    if not height > 0:
        return arb(0)
    one, other = least * height, found.of(output.left)[0] * height / nearest
    return one.lower().max(other.lower())


def _psi_of_positive(ratio: arb, order: arb | None) -> arb:
    """Returns ψ(r), or ψ_α(r) of an order, for r > 0; unlike `_psi` it is no upper bound near 0."""
    if order is None:
        return ratio * ratio.log() - ratio + 1
    return ratio**order - 1 - order * (ratio - 1)
