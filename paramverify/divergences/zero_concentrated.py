"""Zero-concentrated privacy: the Rényi divergence of each order α is at most ρ·α."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from paramverify.divergences.forms import Average
from paramverify.divergences.masses import ZCDP, MassDivergence


@dataclass(frozen=True, eq=False)
class ZeroConcentrated(Average):
    """`D_α(P‖Q) ≤ bound·α` for all real α > 1 ([BunSteinke16] Definition 1.1)."""

    key = "zcdp"
    of_orders: ClassVar[bool] = True
    on_masses: ClassVar[MassDivergence] = ZCDP

    @property
    def told(self) -> str:
        """What is bounded, of the outputs ω under secrets s and t."""
        return "the Rényi divergence of each order α > 1 is at most ρ · α"
