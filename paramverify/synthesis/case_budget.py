"""The budget of a case: for its lengths or every length, and beside it the one relative to its own bound."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from paramverify.errors import ModelError
from paramverify.models.model import Model, refuse_tied, refuse_wider
from paramverify.portfolio.session import Session
from paramverify.synthesis.beside import beside, is_one
from paramverify.synthesis.budget import tight_budget
from paramverify.synthesis.by_outputs import by_outputs
from paramverify.synthesis.distance_budget import DistanceBudget, distance_budget
from paramverify.synthesis.every_length_budget import tight_budget_of_every_length
from paramverify.synthesis.proofs import RatioBounds
from paramverify.synthesis.tied_budget import tied_budget


@dataclass(frozen=True, eq=False)
class CaseBudget:
    """The largest ratio, and if the bound of the case has parameters, the largest ratio divided by it.

    Where the bound depends on distances, `ratio` is that at the distance whose root is the largest.
    """

    ratio: RatioBounds
    relative: RatioBounds | None
    distances: DistanceBudget | None = None

    def is_within(self, precision: Fraction) -> bool:
        """Tells whether both are exact, or bounds whose relative distance is at most the precision."""
        found = [self.ratio, *([self.relative] if self.relative else [])]
        found += [part.found for part in self.distances.parts] if self.distances else []
        return all(each.is_within(precision) for each in found)


def case_budget(model: Model, session: Session, precision: Fraction) -> CaseBudget:
    """Returns the tight budget of a model, see `tight_budget` and `tight_budget_of_every_length`.

    Raises:
        LimitError: too many sequences.
        ModelError: no prior gives both secrets of a pair a positive probability, or nothing is compared.
    """
    found = _by_parameters(model, session, precision)
    relative = found.relative and replace(by_outputs(model, found.relative), name="relative")
    return replace(found, ratio=by_outputs(model, found.ratio), relative=relative)


def _by_parameters(model: Model, session: Session, precision: Fraction) -> CaseBudget:
    """Returns the tight budget, which is attained if a point has it, be it as a limit for outputs."""
    if model.nothing_compared:
        raise ModelError(f"{model.nothing_compared}, and there is no ratio")
    if model.measure.distances:
        refuse_tied(model, "a budget for each distance")
        refuse_wider(model, "a budget for each distance")
        apart = distance_budget(model, session, precision).each(lambda found: by_outputs(model, found))
        own = tight_budget(model, session, precision, True) if has_parametric_bound(model) else None
        return CaseBudget(apart.largest.found, own, apart)
    if model.domain.ring.tied:
        found = tied_budget(model, session, precision)
        own = tied_budget(model, session, precision, True) if has_parametric_bound(model) else None
        return CaseBudget(found, own and _beside(model, replace(own, beside=None)))
    find = tight_budget if model.lengths else tight_budget_of_every_length
    found = find(model, session, precision)
    relative = find(model, session, precision, relative=True) if has_parametric_bound(model) else None
    return CaseBudget(found, relative and _beside(model, relative))


def _beside(model: Model, found: RatioBounds) -> RatioBounds:
    """Returns a largest relative ratio of 1 with what the bound is there."""
    if found.beside or not is_one(found.value):
        return found
    near = beside(model, found.origin, found.place)
    return replace(found, tight=near.tight, beside=near)


def has_parametric_bound(model: Model) -> bool:
    """Tells whether the bound of a model has parameters in it."""
    return not model.measure.variables.isdisjoint(model.domain.ring.parameters)
