"""The least bound of a Rényi divergence over all priors: the largest sum of P^α/Q^(α−1).

The sum is a quotient of two polynomials, whose supremum is found and proved as that of a ratio (`budget`).
Only where denominators vanish it is another question whether a prior reaches it: there the quotient is 0/0,
and the sum is not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from paramverify.algebra.budgets import Epsilon
from paramverify.divergences import SumDivergence
from paramverify.encodings.moments import may_vanish
from paramverify.models.model import Model, divergence_of
from paramverify.portfolio.session import Session
from paramverify.synthesis.budget import tight_budget
from paramverify.synthesis.suprema import TightBudget


@dataclass(frozen=True, eq=False)
class LeastMoment:
    """The largest sum of an order, or bounds on it: its logarithm over order − 1 is the least ε."""

    measure: SumDivergence
    sum: TightBudget

    @property
    def order(self) -> int | None:
        """The order of a Rényi divergence."""
        return self.measure.renyi_order

    @property
    def epsilon(self) -> Epsilon | None:
        """The least bound of a Rényi divergence, enclosed."""
        return self.sum.epsilon.per(Fraction(self.order - 1)) if self.order else None

    def is_within(self, precision: Fraction) -> bool:
        """Tells whether it is exact, or has bounds whose relative distance is at most the precision."""
        found = self.sum
        return found.infinite or (
            found.upper is not None and found.upper - found.lower <= precision * found.lower
        )


def least_moment(model: Model, session: Session, precision: Fraction) -> LeastMoment:
    """Returns the least bound of a Rényi model, whatever its own bound is; see `tight_budget`.

    Raises:
        LimitError: too many sequences, or a denominator that may vanish where constraints hold with equality.
        ModelError: no prior gives both secrets of a pair a positive probability.
    """
    measure = divergence_of(model, SumDivergence)
    found = tight_budget(model, session, precision)
    if found.attained is False and may_vanish(model):
        found = replace(found, attained=None)
    return LeastMoment(measure, found)
