"""The least bound of a Rényi divergence over all priors: the largest sum of P^α/Q^(α−1).

The sum is a quotient of two polynomials, whose supremum is found and proved as that of a ratio (`budget`).
Only where denominators vanish it is another question whether a prior reaches it: there the quotient is 0/0,
and the sum is not.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from paramverify.encodings.moments import may_vanish
from paramverify.models.model import Model
from paramverify.portfolio.session import Session
from paramverify.synthesis.budget import tight_budget
from paramverify.synthesis.proofs import RatioBounds


def least_moment(model: Model, session: Session, precision: Fraction) -> RatioBounds:
    """Returns the largest sum of a Rényi model, whatever its own bound is; see `tight_budget`.

    The least bound is `of_sum` of it: the logarithm over order − 1, or the sum less what it has more.

    Raises:
        LimitError: too many sequences, or a denominator that may vanish where constraints hold with equality.
        ModelError: no prior gives both secrets of a pair a positive probability.
    """
    found = tight_budget(model, session, precision)
    if found.attained is False and may_vanish(model):
        found = replace(found, attained=None)
    return replace(found, name="divergence")
