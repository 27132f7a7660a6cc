"""Lower bounds of divergences over a box of parameters, with proved rounding.

The terms of `enclosed_losses` are Q·ψ(r) = P·ψ(r)/r with r = P/Q. Both ψ(r) and ψ(r)/r are at least 0, fall
up to r = 1, and grow from there: with ψ for KL, (ψ(r)/r)' = (1 − 1/r)/r, and of an order α it is
(α−1)·(r^(α−2) − r^(−2)). So on an interval of r that does not have 1 each of them is least at the end that is
nearer to 1; otherwise 0 is a lower bound.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from flint import arb

from paramverify.algebra.constants import working_precision
from paramverify.divergences import Average
from paramverify.evidence.divergence_witnesses import number
from paramverify.privacy.enclosed_losses import BITS, EnclosedOutput, OnBox


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
    height = _psi(nearest, order).lower()
    if not height > 0:
        return arb(0)
    one, other = least * height, found.of(output.left)[0] * height / nearest
    return one.lower().max(other.lower())


def _psi(ratio: arb, order: arb | None) -> arb:
    """Returns ψ(r), or ψ_α(r) of an order, for r > 0."""
    if order is None:
        return ratio * ratio.log() - ratio + 1
    return ratio**order - 1 - order * (ratio - 1)
