"""Verification of losses that are no polynomials (`kl`, `zcdp`), by boxes on which they are enclosed.

Private is said where each direction is proved on boxes that cover the domain (`enclosed_losses`); not private
where the divergence at one point, evaluated from the model with proved rounding, is above the bound. A bound
that is reached exactly is neither, and stays open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import Any

from paramverify.algebra.constants import working_precision
from paramverify.algebra.domains import Interval, contains
from paramverify.answers import End
from paramverify.claims import AllOutputs
from paramverify.divergences import Average
from paramverify.errors import InputError, LimitError, TimeLimitError
from paramverify.evidence.divergence_witnesses import (
    BITS,
    LossWitness,
    MomentWitness,
    bound_of,
    model_at,
    pair_of,
)
from paramverify.evidence.witnesses import divergence_at
from paramverify.models.context import sample_points
from paramverify.models.model import Model, divergence_of, of_form
from paramverify.portfolio.session import Session
from paramverify.privacy.enclosed_losses import OnBox, within
from paramverify.privacy.every_length_verification import EveryLengthOutcome
from paramverify.privacy.loss_boxes import LossDirection, directions
from paramverify.privacy.loss_points import broken, worst_at
from paramverify.privacy.loss_proofs import Tree, claim, document
from paramverify.privacy.loss_spreading import covers
from paramverify.verdicts import Holds, Unknown, Violated

POINTS = 12  # simple points of the domain at which all directions are evaluated first
TOUCHED = "the bound may be reached exactly, which balls cannot tell"


def verify_losses(session: Session, model: Model) -> EveryLengthOutcome:
    """Decides a model whose measure is a loss, and whose obligations are proved."""
    measure = divergence_of(model, Average)
    trees: list[tuple[LossDirection, Tree]] = []
    boxes = 0
    try:
        witness = first_violation(session, model, measure)
        if witness:
            return EveryLengthOutcome(Violated(witness))
        every = directions(model)
        with closing(covers(session, model, every, measure)) as made:
            for direction, found in zip(every, made, strict=True):
                boxes += found.boxes
                if found.witness:
                    return EveryLengthOutcome(Violated(found.witness))
                if found.tree is None:
                    why = found.lost or f"not decided with {found.boxes} boxes; {TOUCHED}"
                    verdict = Unknown(
                        End.CRASHED if found.lost else End.GAVE_UP, f"{direction.origin}: {why}"
                    )
                    return EveryLengthOutcome(verdict, certificate=proofs(model, measure, trees))
                trees.append((direction, found.tree))
    except LimitError as error:
        end = End.TIMEOUT if isinstance(error, TimeLimitError) else End.GAVE_UP
        return EveryLengthOutcome(Unknown(end, str(error)), certificate=proofs(model, measure, trees))
    return EveryLengthOutcome(
        Holds(()), enclosed=(len(every), boxes), certificate=proofs(model, measure, trees)
    )


def proofs(model: Model, measure: Average, trees: Sequence[tuple[LossDirection, Tree]]) -> dict[str, Any]:
    """Returns what is proved of a model as evidence has it, for `checker.loss_evidence`."""
    claims = [claim(each.found, each.origins, each.factors, tree) for each, tree in trees]
    return document(model.domain, measure, claims)


def first_violation(session: Session, model: Model, measure: Average) -> LossWitness | None:
    """Returns a simple point of the domain at which a loss is above its bound, if one is found."""
    for point in islice(sample_points(model.domain), POINTS):
        for origin in origins(model):
            session.in_time()
            found = broken(model, origin, measure, point)
            if found:
                return found
    return None


def origins(model: Model) -> Iterator[AllOutputs]:
    """Yields all directions and lengths of a model."""
    for length in model.lengths:
        for pair in model.pairs:
            yield AllOutputs(pair.left, pair.right, length=length)
            yield AllOutputs(pair.right, pair.left, length=length)


def far_apart(model: Model, origin: AllOutputs, point: Mapping[str, Fraction]) -> MomentWitness | LossWitness:
    """Returns how far a direction is apart at a point, for the measure of a model.

    Raises:
        InputError: a point outside of the domain, unknown secrets, or one that is impossible there.
    """
    measure = of_form(model, Average)
    if measure is None:
        return divergence_at(model, origin, point)
    pair = pair_of(model, origin.left, origin.right)
    if not contains(model.domain, point):
        raise InputError(f"this point is not in the domain {model.domain.describe()}")
    own = AllOutputs(pair.left, pair.right, length=origin.length)
    return worst_at(model_at(model, own, point, pair), measure)


def holds_at(model: Model, origin: AllOutputs, point: Mapping[str, Fraction]) -> bool:
    """Tells whether the loss of a direction is proved to be within the bound of a model at a point."""
    measure = divergence_of(model, Average)
    box = dict(model.domain.enclose(96).box)
    box |= {n: Interval(v, v, True, True) for n, v in point.items() if n in box}
    with working_precision(BITS):
        bound = bound_of(measure)
    alike = [d for d in directions(model) if origin in d.alike]
    own = (within(OnBox(d.outputs, d.factors, box), measure, bound) for d in alike)
    return bool(alike) and all(orders is not None for orders in own)


def is_within(model: Model, witness: MomentWitness | LossWitness, point: Mapping[str, Fraction]) -> bool:
    """Tells whether the divergence of a witness is proved to be within the bound of a model at its point."""
    if isinstance(witness, MomentWitness):
        return not witness.exceeds
    return holds_at(model, AllOutputs(witness.left, witness.right, length=witness.length), point)


def at_bound(measure: Average, value: Fraction) -> Average:
    """Returns the measure with a number as its bound."""
    return replace(measure, rational=value, logarithms=())
