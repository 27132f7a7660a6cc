"""From a case to the claims and parameters of a synthesis, and from what it finds to witnesses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from paramverify.algebra.domains import Interval
from paramverify.algebra.simplest import simplest_between
from paramverify.cases import Case
from paramverify.claims import Claim
from paramverify.encodings.choice import claims_of
from paramverify.errors import InputError, UnsupportedError
from paramverify.evidence.witnesses import AnyWitness
from paramverify.models.kinds import AnyModel
from paramverify.models.model import Model
from paramverify.portfolio.session import Session
from paramverify.synthesis.intervals import Part, Partition
from paramverify.synthesis.maps import RegionMap, Status
from paramverify.synthesis.violating import free_parameters
from paramverify.verification import settle


def region_claims(model: AnyModel) -> tuple[Claim, ...]:
    """Returns the claims of a model, all of them about its own domain.

    Raises:
        InputError: the model is about every length.
        UnsupportedError: a comparison is strict, so that it is no claim on the whole domain.
    """
    if isinstance(model, Model) and not model.lengths:
        raise InputError('regions for every length are not known: give privacy.length as "1..5", say')
    claims = claims_of(model)
    for claim in claims:
        if len(claim.domain.constraints) != len(model.domain.constraints):
            raise UnsupportedError(f"regions need <= or >= instead of < or >: {claim.origins[0]}")
    return claims


def axes_of(case: Case, claims: Sequence[Claim], chosen: Sequence[str] = ()) -> tuple[str, ...]:
    """Returns the parameters whose safe values are asked for; all others are quantified.

    They are the chosen ones; otherwise the design parameters; otherwise those that `[quantify]` leaves free;
    otherwise all that matter.

    Raises:
        InputError: a chosen parameter does not exist, or has one value only; or no parameter matters.
    """
    domain = case.model.domain
    for name in chosen:
        if name not in domain.ring.parameters:
            raise InputError(
                f"there is no parameter {name!r}; there are: {', '.join(domain.ring.parameters)}"
            )
        if domain.box[name].is_point:
            raise InputError(f"{name} has one value only")
    design = case.design.parameters if case.design else ()
    axes = tuple(dict.fromkeys(chosen)) or design or case.free or free_parameters(domain, claims)
    if not axes:
        raise InputError("the claims of this case mention no parameter; `verify` decides them")
    return axes


def witness_of(model: AnyModel, session: Session, found: Partition, part: Part) -> AnyWitness | None:
    """Returns a witness at the sample of a violating part, evaluated exactly; None if none was found."""
    if part.sample is None or part.claim is None:
        return None
    return _witness_where(model, session, found.claims[part.claim], {found.parameter: part.sample})


def witness_in_map(model: AnyModel, session: Session, found: RegionMap) -> AnyWitness | None:
    """Returns a witness in the largest violating cell of a map, evaluated exactly; None if none was found."""
    cells = [c for c in found.cells if c.status is Status.VIOLATING and c.claim is not None]
    if not cells:
        return None
    cell = max(cells, key=lambda c: c.volume)
    assert cell.claim is not None
    values = {
        name: simplest_between(low, high) if low < high else low
        for name, (low, high) in zip(found.parameters, cell.box, strict=True)
    }
    return _witness_where(model, session, found.claims[cell.claim], values)


def _witness_where(
    model: AnyModel, session: Session, claim: Claim, values: Mapping[str, Fraction]
) -> AnyWitness | None:
    """Returns a witness against a claim at given values of some parameters, evaluated exactly."""
    fixed = {name: Interval(value, value, True, True) for name, value in values.items()}
    domain = replace(model.domain, box={**model.domain.box, **fixed})
    return settle(session, model, replace(claim, domain=domain))[1]
