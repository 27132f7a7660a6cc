"""From a case to the claims and parameters of a synthesis, and from what it finds to witnesses."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from heapq import nlargest

from paramverify.algebra.domains import Domain, Interval
from paramverify.algebra.polynomials import variables
from paramverify.algebra.rationals import simplest_between
from paramverify.answers import Proved
from paramverify.claims import Claim
from paramverify.encodings.choice import chosen, claims_of
from paramverify.errors import InputError, UnsupportedError
from paramverify.evidence.witness import AnyWitness
from paramverify.models.model import AnyModel, refuse_wider
from paramverify.portfolio.session import Session
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.verification import decide_with_witness
from paramverify.synthesis.intervals import Partition, StatusInterval
from paramverify.synthesis.maps import RegionMap, Status, on_cell
from paramverify.synthesis.violating import free_parameters

TRIED_CELLS, TRIED_POINTS, ASKED_CELLS = 16, 6, 4  # where a witness is looked for in a map


def region_claims(model: AnyModel) -> tuple[Claim, ...]:
    """Returns the claims of a model, all of them about its own domain.

    Raises:
        InputError: the model is about every length.
        UnsupportedError: a comparison is strict, so that it is no claim on the whole domain.
    """
    if model.every_length:
        raise InputError(
            'intervals and maps do not support length = "all": write, for example, privacy.length = "1..5"'
        )
    refuse_wider(model, "`synthesize`")
    claims = claims_of(model)
    if chosen(model).zeros:  # `vanishing` is about the others
        claims = tuple(c for c in claims if len(c.domain.constraints) == len(model.domain.constraints))
    for claim in claims:
        if len(claim.domain.constraints) != len(model.domain.constraints):
            raise UnsupportedError(
                f"intervals and maps require <= or >= instead of < or >: {claim.origins[0]}"
            )
    return claims


def axes_of(case: PrivacyCase, claims: Sequence[Claim], chosen: Sequence[str] = ()) -> tuple[str, ...]:
    """Returns the parameters whose safe values are asked for; all others are quantified.

    They are the chosen ones; otherwise the design parameters; otherwise those that `[quantify]` leaves free;
    otherwise all that matter.

    Raises:
        InputError: a chosen parameter does not exist, or has one value only; or no parameter matters.
    """
    domain = case.model.domain
    for name in chosen:
        known = [n for n in domain.ring.parameters if n not in domain.ring.outputs]
        if name not in known:
            raise InputError(f"there is no parameter {name!r}; choose from {', '.join(known)}")
        if domain.box[name].is_point:
            raise InputError(f"the parameter {name} has only one value: choose another parameter")
    design = case.design.parameters if case.design else ()
    axes = tuple(dict.fromkeys(chosen)) or design or case.free or free_parameters(domain, claims)
    names = [n for n in domain.ring.parameters if n not in domain.ring.outputs]
    if not axes and names and all(domain.box[name].is_point for name in names):
        raise InputError(
            f"every parameter has only one value ({', '.join(names)}): use `verify` to decide the case"
        )
    if not axes:
        raise InputError("the claims of this case contain no parameter: use `verify` to decide them")
    return axes


def flat_constraint(domain: Domain, axes: Sequence[str], session: Session) -> str | None:
    """Returns a constraint c ≥ 0 on the given parameters with c ≤ 0 on the whole box; None if none is found.

    With it the domain lies in c = 0 and has no interior: no cell of a map is inside, and none is decided.
    """
    for constraint in domain.constraints:
        names = variables(constraint.polynomial)
        if not names or not set(names) <= set(axes):
            continue
        others = tuple(c for c in domain.constraints if c is not constraint)
        claim = Claim(-constraint.polynomial, replace(domain, constraints=others))
        if isinstance(session.decide(claim).answer, Proved):
            return constraint.text
    return None


def witness_of(
    model: AnyModel, session: Session, found: Partition, part: StatusInterval
) -> AnyWitness | None:
    """Returns a witness at the sample of a violating part, evaluated exactly; None if none was found."""
    if part.sample is None:
        return None
    claims = found.claims if part.claim is None else [found.claims[part.claim]]
    for claim in claims:
        witness = _witness_where(model, session, claim, {found.parameter: part.sample})
        if witness:
            return witness
    return None


def witness_in_map(model: AnyModel, session: Session, found: RegionMap) -> AnyWitness | None:
    """Returns a witness in a large violating cell of a map, evaluated exactly; None if none was found.

    Constraints may exclude some points of a cell, and so do secrets that are impossible there: several points
    of several cells are tried, the simplest ones first; then the session is asked for one in a cell.
    """
    violating = (c for c in found.cells if c.status is Status.VIOLATING and c.claim is not None)
    cells = nlargest(TRIED_CELLS, violating, key=lambda c: c.volume)
    for depth in range(TRIED_POINTS):
        for cell in cells:
            assert cell.claim is not None
            sides = zip(found.parameters, cell.box, strict=True)
            values = {name: _within(low, high, depth) for name, (low, high) in sides}
            if not all(value in model.domain.box[name] for name, value in values.items()):
                continue
            witness = _witness_where(model, session, found.claims[cell.claim], values)
            if witness:
                return witness
            if time.monotonic() > session.deadline:
                return None
    for cell in cells[:ASKED_CELLS]:
        assert cell.claim is not None
        claim = on_cell(found.claims[cell.claim], model.domain, found.parameters, cell.box)
        witness = decide_with_witness(session, model, claim)[1]
        if witness or time.monotonic() > session.deadline:
            return witness
    return None


def _within(low: Fraction, high: Fraction, number: int) -> Fraction:
    """Returns one rational after the other of an interval: the simplest one, the middle, then nearer ends."""
    if low == high or number == 0:
        return low if low == high else simplest_between(low, high)
    share = Fraction(1, 2 ** ((number + 2) // 2))
    return low + (high - low) * (share if number % 2 else 1 - share)


def _witness_where(
    model: AnyModel, session: Session, claim: Claim, values: Mapping[str, Fraction]
) -> AnyWitness | None:
    """Returns a witness against a claim at given values of some parameters, evaluated exactly."""
    fixed = {name: Interval(value, value, True, True) for name, value in values.items()}
    domain = replace(model.domain, box={**model.domain.box, **fixed})
    return decide_with_witness(session, model, replace(claim, domain=domain))[1]
