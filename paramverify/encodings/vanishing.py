"""Where probabilities of a Rényi model may vanish, so that its claims may say something else than its sums.

A claim f ≥ 0 of `moments` is L·total times `bound − sum`, with fractions in lowest terms. Let g run through
the irreducible factors of L and of what was cancelled. Where none of them is 0, f ≥ 0 says what it should.
"""

from __future__ import annotations

from dataclasses import dataclass

from paramverify.algebra.polynomials import Polynomial, key
from paramverify.encodings.at_points import with_numbers
from paramverify.encodings.factors import vanishing
from paramverify.encodings.moments import moments
from paramverify.models.model import Model


@dataclass(frozen=True, eq=False)
class PossibleZeros:
    """Irreducible polynomials that are not known to be without zeros on the domain.

    `denominators` divide common multiples of denominators, `cancelled` what fractions lost in lowest terms.
    """

    denominators: tuple[Polynomial, ...]
    cancelled: tuple[Polynomial, ...]

    @property
    def all(self) -> tuple[Polynomial, ...]:
        """Both, each once."""
        return tuple({key(f): f for f in (*self.denominators, *self.cancelled)}.values())


def zeros_of(model: Model) -> PossibleZeros:
    """Returns where the claims of a Rényi model and its sums may differ.

    Raises:
        LimitError: too many sequences, or too large polynomials.
    """
    model = with_numbers(model)
    multiples: list[Polynomial] = []
    cancelled: list[Polynomial] = []
    for moment in moments(model):
        multiples.append(moment.multiple)
        cancelled += moment.cancelled
    return PossibleZeros(vanishing(multiples, model.domain), vanishing(cancelled, model.domain))
