"""The Rényi divergence of a whole order α > 1: D_α(P‖Q) = ln(Σ_ω P(ω)^α / Q(ω)^(α−1)) / (α − 1).

Here 0/0 = 0, and it is infinite where P(ω) > 0 = Q(ω) ([ErvenH14]). For α → 1 it is that of Kullback
and Leibler, for α → ∞ the logarithm of the largest ratio.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import Any, ClassVar

from flint import fmpq_mpoly

from paramverify.algebra.budgets import Epsilon
from paramverify.algebra.polynomials import RationalFunction
from paramverify.algebra.rationals import logarithm
from paramverify.algebra.reals import Real
from paramverify.divergences.masses import MassDivergence, of_order, renyi
from paramverify.divergences.sums import N, SumDivergence


@dataclass(frozen=True, eq=False, repr=False)
class Renyi(SumDivergence):
    """Rényi privacy of a whole order α ≥ 2: `Σ_ω Pr(ω|left)^α / Pr(ω|right)^(α−1) ≤ bound` at every θ.

    `bound` is e^((α−1)·ε) ([Mironov17] Definition 4; for priors [PierquinBTB24]).
    """

    order: int = 2
    key = "renyi"
    title: ClassVar[str] = "Renyi divergence"
    exact: ClassVar[bool] = False
    stratified: ClassVar[bool] = True
    merged: ClassVar[bool] = True
    processed: ClassVar[bool] = True

    @property
    def renyi_order(self) -> int:
        """The order."""
        return self.order

    def sums(self, outputs: Sequence[tuple[N, N]]) -> Iterator[Iterator[tuple[N, N]]]:
        """Yields the one sum; an output that is impossible on the right is the quotient p/0."""
        yield (self._quotient(p, q) for p, q in outputs)

    def _quotient(self, p: Any, q: Any) -> tuple[Any, Any]:
        if not q:
            return p, q
        if not isinstance(p, fmpq_mpoly):
            return p**self.order, q ** (self.order - 1)
        common = p.gcd(q)
        return common * (p / common) ** self.order, (q / common) ** (self.order - 1)

    def value(self, masses: Sequence[tuple[N, N]]) -> Any:
        """Returns the divergence of two finite distributions, rounded: it is a logarithm."""
        return log(self.largest(masses)) / (self.order - 1)

    def rounded(self, masses: Sequence[tuple[float, float]]) -> float:
        """Returns the divergence of two distributions that are floats."""
        return renyi(masses, self.order)

    @property
    def on_masses(self) -> MassDivergence:
        """The divergence as a function of floats; see `limit`."""
        return of_order(self.order)

    def limit(self, function: Callable[[RationalFunction], Real]) -> float:
        """Returns what `on_masses` may be at a point, where `function` evaluates, rounded."""
        return logarithm(function(self.bound).middle()) / (self.order - 1)

    def epsilon(self, total: Real | None) -> Epsilon | None:
        """Returns the divergence, enclosed, where the sum is `total`; None stands for infinity."""
        return None if total is None else Epsilon.of(total).per(Fraction(self.order - 1))

    @property
    def told(self) -> str:
        """What is bounded, of the outputs ω under secrets s and t."""
        power = "" if self.order == 2 else f"^{self.order - 1}"
        told = f"the sum of Pr(ω | s)^{self.order} / Pr(ω | t){power} over all outputs ω"
        return f"{told} is within the bound"

    @property
    def plus(self) -> str:
        """What the bound of the sum is, behind "the bound"."""
        return f" e^({self.order - 1}*epsilon)" if self.order > 2 else " e^epsilon"

    def sum_told(self, left: str, right: str, length: int) -> str:
        """Returns in words which sum it is; the names are printable."""
        power = f"^{self.order - 1}" if self.order > 2 else ""
        outputs = "all outputs o" if length == 1 else f"all sequences o of length {length}"
        return f"the sum of Pr(o | {left})^{self.order} / Pr(o | {right}){power} over {outputs}"

    def value_told(self, total: Real | None) -> str:
        """Returns the divergence in words."""
        epsilon = self.epsilon(total)
        return (
            f"Renyi divergence of order {self.order} {epsilon.told(up=False) if epsilon else 'is infinite'}"
        )

    def value_near(self, total: Real | None) -> float | str:
        """Returns the divergence, rounded, as JSON data."""
        epsilon = self.epsilon(total)
        return "infinity" if epsilon is None else epsilon.number()

    def document(self) -> dict[str, Any]:
        """Returns what a witness says of its divergence."""
        return {"order": self.order}

    def of_sum(self, total: Fraction) -> Fraction:
        """Returns e^ε next to what it is, where the sum is `total`.

        Raises:
            OverflowError: no float is so large.
        """
        return Fraction(float(total) ** (1 / (self.order - 1)))

    def written(self, bound: str) -> object:
        """Returns a bound as it is written in `[privacy]`."""
        return {"order": self.order, "ratio": bound}
