"""Divergences of two finite distributions that are given as floats, for tests by sampling.

The masses are pairs (p, q). 0/0 is 0; where p > 0 = q for one of them, every divergence is infinite
([ErvenH14] section II).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

Masses = Sequence[tuple[float, float]]

ORDERS = tuple(1 + 2.0**k for k in range(-4, 11))
CLOSER = 12  # steps towards the order with the largest divergence for it


def renyi(masses: Masses, order: float) -> float:
    """Returns the Rényi divergence `ln(Σ p^α·q^(1−α)) / (α−1)` of an order α above 1."""
    if any(p > 0 >= q for p, q in masses):
        return math.inf
    terms = [order * math.log(p) - (order - 1) * math.log(q) for p, q in masses if p > 0]
    most = max(terms)
    return (most + math.log(sum(math.exp(term - most) for term in terms))) / (order - 1)


def chi_squared(masses: Masses) -> float:
    """Returns `Σ (p − q)²/q`."""
    if any(p > 0 >= q for p, q in masses):
        return math.inf
    return sum((p - q) ** 2 / q for p, q in masses if q > 0)


def kl(masses: Masses) -> float:
    """Returns the divergence of Kullback and Leibler, `Σ p·ln(p/q)`."""
    if any(p > 0 >= q for p, q in masses):
        return math.inf
    return sum(p * math.log(p / q) for p, q in masses if p > 0)


def zcdp(masses: Masses) -> float:
    """Returns about the largest `D_α/α` over all α > 1, and never more: the least rho that is enough.

    It is one of these at some order, or the divergence of Kullback and Leibler, which no `D_α` is below
    ([ErvenH14] Theorem 3), and so neither is the limit of `D_α/α` for α → 1.
    """
    if any(p > 0 >= q for p, q in masses):
        return math.inf

    def need(order: float) -> float:
        return renyi(masses, order) / order

    found = [need(order) for order in ORDERS]
    best = max(range(len(ORDERS)), key=found.__getitem__)
    low, high = 1 + (ORDERS[best] - 1) / 2, 1 + (ORDERS[best] - 1) * 2
    for _ in range(CLOSER):
        left, right = low + (high - low) * 0.375, low + (high - low) * 0.625
        low, high = (low, right) if need(left) >= need(right) else (left, high)
    return max(found[best], need((low + high) / 2), kl(masses))


@dataclass(frozen=True)
class MassDivergence:
    """A divergence as a function of masses; `key` is that of a case file, and `renyi` has an order."""

    key: str
    of: Callable[[Masses], float]
    order: int | None = None

    @property
    def name(self) -> str:
        """What a bound of it is called: `zcdp`; of `renyi` it is `epsilon`."""
        return self.key if self.order is None else "epsilon"

    @property
    def words(self) -> str:
        """The same where it stands alone, such as `renyi of order 4, epsilon`."""
        return self.key if self.order is None else f"{self.key} of order {self.order}, epsilon"

    def document(self, bound: float) -> dict[str, Any]:
        """Returns a bound as a case file has it."""
        return {self.key: bound if self.order is None else {"order": self.order, "epsilon": bound}}


CHI_SQUARED = MassDivergence("chi_squared", chi_squared)
KL = MassDivergence("kl", kl)
ZCDP = MassDivergence("zcdp", zcdp)
BY_KEY = {found.key: found for found in (CHI_SQUARED, KL, ZCDP)}


def of_order(order: int) -> MassDivergence:
    """Returns the Rényi divergence of an order."""
    return MassDivergence("renyi", partial(renyi, order=order), order)
