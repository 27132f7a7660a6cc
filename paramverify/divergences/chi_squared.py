"""The chi-squared divergence: Σ_ω (P(ω) − Q(ω))²/Q(ω) = Σ_ω P(ω)²/Q(ω) − 1, so exp(Rényi of order 2) − 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from paramverify.algebra.polynomials import RationalFunction
from paramverify.algebra.reals import Real
from paramverify.divergences.masses import CHI_SQUARED, MassDivergence
from paramverify.divergences.renyi import Renyi
from paramverify.divergences.sums import N, SumDivergence


@dataclass(frozen=True, eq=False, repr=False)
class ChiSquared(Renyi):
    """`Σ_ω Pr(ω|left)²/Pr(ω|right) ≤ bound` at every θ: the divergence plus 1 is at most `bound`."""

    key = "chi_squared"
    title: ClassVar[str] = "chi-squared divergence"
    less: ClassVar[int] = 1
    included: ClassVar[bool] = True
    exact: ClassVar[bool] = True
    of_sum = SumDivergence.of_sum
    written = SumDivergence.written

    def value(self, masses: Sequence[tuple[N, N]]) -> Any:
        """Returns the divergence of two finite distributions."""
        return self.largest(masses) - 1

    def rounded(self, masses: Sequence[tuple[float, float]]) -> float:
        """Returns the divergence of two distributions that are floats."""
        return CHI_SQUARED.of(masses)

    @property
    def on_masses(self) -> MassDivergence:
        """The divergence as a function of floats; see `limit`."""
        return CHI_SQUARED

    def limit(self, function: Callable[[RationalFunction], Real]) -> float:
        """Returns what `on_masses` may be at a point, where `function` evaluates, rounded."""
        return float(function(self.bound)) - 1
