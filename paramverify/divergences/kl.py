"""The divergence of Kullback and Leibler: the average of the privacy loss ln(P/Q) under P."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from paramverify.divergences.forms import Average
from paramverify.divergences.masses import KL, MassDivergence


@dataclass(frozen=True, eq=False)
class KLDivergence(Average):
    """`Σ_ω P ln(P/Q) ≤ bound`."""

    key = "kl"
    of_orders: ClassVar[bool] = False
    on_masses: ClassVar[MassDivergence] = KL

    @property
    def told(self) -> str:
        """What is bounded, of the outputs ω under secrets s and t."""
        return "the sum of Pr(ω | s) · ln(Pr(ω | s) / Pr(ω | t)) over all outputs ω is within the bound"
