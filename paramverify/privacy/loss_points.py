"""Losses that are no polynomials, at points: the order that counts, and whether the bound fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from flint import arb

from paramverify.algebra.constants import lower_bound, working_precision
from paramverify.algebra.domains import contains
from paramverify.claims import AllOutputs
from paramverify.divergences import Average
from paramverify.errors import InputError
from paramverify.evidence.divergence_witnesses import (
    BITS,
    Balls,
    Distributions,
    LossWitness,
    bound_of,
    compared,
    loss_at,
    model_at,
    pair_of,
)
from paramverify.models.model import Model
from paramverify.privacy.enclosed_losses import near_order

ORDERS = [1 + Fraction(2) ** e for e in range(-4, 12)]
CLOSER = 20  # steps towards the order with the largest divergence for it


def broken(
    model: Model, origin: AllOutputs, measure: Average, point: Mapping[str, Fraction]
) -> LossWitness | None:
    """Returns the witness at a point of the domain where a loss is above its bound there, for certain."""
    found = evaluated(model, origin, point)
    if found is None:
        return None
    witness = worst_at(found, measure)
    return witness if witness.exceeds else None


def evaluated(model: Model, origin: AllOutputs, point: Mapping[str, Fraction]) -> Distributions | None:
    """Returns the distributions at a point; None outside of the domain, or where a secret is impossible."""
    if not contains(model.domain, point):
        return None
    try:
        return model_at(model, origin, point, pair_of(model, origin.left, origin.right))
    except InputError:
        return None


def worst_at(found: Distributions, measure: Average) -> LossWitness:
    """Returns the loss at a point; of ZCDP at the order that needs about the largest ρ."""
    for order in _orders(found, measure):
        witness = loss_at(found, measure, order)
        if witness.exceeds:
            break
    return witness


def is_beyond(found: Balls, measure: Average) -> bool:
    """Tells whether the loss of these probabilities is above its bound, for certain."""
    return any(compared(found, measure, order).exceeds for order in _orders(found, measure))


def _orders(found: Balls, measure: Average) -> Iterator[Fraction | None]:
    """Yields the orders at which a loss is compared with its bound; None is for KL, which has none."""
    if not measure.of_orders:
        yield None
    elif found.is_infinite:
        yield Fraction(2)
    else:
        with working_precision(BITS):
            best = worst_order(found, bound_of(measure))
        yield near_order(best, 6)
        yield best


def worst_order(found: Balls, rho: arb) -> Fraction:
    """Returns an order at which D_α/α is about largest; near 1 one at which it is above ρ, if it is at 1.

    D_α ≥ D_1 = KL for α > 1. So if KL > ρ, D_α > ρ·α for all α < KL/ρ.
    """

    def need(order: Fraction) -> float:
        return float(found.renyi(order).mid()) / float(order)

    best = max(ORDERS, key=need)
    low, high = 1 + (best - 1) / 2, 1 + (best - 1) * 2
    for _ in range(CLOSER):
        left, right = low + (high - low) * Fraction(3, 8), low + (high - low) * Fraction(5, 8)
        low, high = (low, right) if need(left) >= need(right) else (left, high)
        low, high = near_order(low), near_order(high)
        if high - low < (best - 1) / 2**24:
            break
    best = max(((low + high) / 2, best), key=need)
    kl = found.kl()
    if kl > rho and not need(best) > float(rho.mid()):
        least = lower_bound(kl / rho)
        return near_order((1 + least) / 2) if least > 1 + Fraction(1, 2**40) else 1 + (least - 1) / 2
    return near_order(best)
