"""What comes nearest to a comparison that no scheduler satisfies."""

from __future__ import annotations

from dataclasses import replace

from paramverify.logic.numbers import real
from paramverify.logic.semantics import ProbabilityComparison, Semantics
from paramverify.logic.syntax import Probability


def nearest(semantics: Semantics, denied: Probability, state: int) -> ProbabilityComparison:
    """Returns the opposite comparison for the scheduler that comes nearest to it.

    `denied` holds under every scheduler, so its opposite, such as `Pmax>=1/2`, is false: for the largest
    probability where it is a lower bound, and else for the least one. The model has no parameters.
    """
    ring = semantics.chain.domain.ring
    asked = replace(denied, comparison=denied.comparison.opposite)
    found = [
        replace(comparison, formula=asked, strict=asked.comparison.is_strict)
        for probabilities in semantics.probabilities(denied, [state])
        for comparison in semantics.of(denied, [state], probabilities)
    ]
    best = found[0]
    for other in found[1:]:
        if (real(other.difference(ring), ring) - real(best.difference(ring), ring)).sign() > 0:
            best = other
    return best
