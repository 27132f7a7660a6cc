"""Verification of losses that are no polynomials (`kl`, `zcdp`), by boxes on which they are enclosed.

Private is said where each direction is proved on boxes that cover the domain (`enclosed_losses`); not private
where the divergence at one point, evaluated from the model with proved rounding, is above the bound. A bound
that is reached exactly is neither, and stays open.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from typing import Any

from flint import arb

from paramverify.algebra.constants import GENERATOR, lower_bound, working_precision
from paramverify.algebra.domains import Interval
from paramverify.algebra.points import contains
from paramverify.algebra.polynomials import variables
from paramverify.answers import End
from paramverify.claims import AllOutputs
from paramverify.encodings.at_points import with_numbers
from paramverify.encodings.excesses import Outcomes, outcomes
from paramverify.encodings.together import reduced, statement
from paramverify.errors import InputError, LimitError, TimeLimitError
from paramverify.evidence.losses import BITS, Distributions, LossWitness, bound_of, loss_at, model_at
from paramverify.evidence.moments import MomentWitness
from paramverify.evidence.witnesses import divergence_at, pair_of
from paramverify.models.context import sample_points
from paramverify.models.divergences import Kind, Loss
from paramverify.models.model import Model
from paramverify.portfolio.session import Session
from paramverify.privacy.enclosed_losses import Factors, OnBox, Output, excluded, near_order, within
from paramverify.privacy.every_length_verification import Found
from paramverify.privacy.loss_proofs import Part, Tree, claim, document
from paramverify.verdicts import Holds, Unknown, Violated

POINTS = 12  # simple points of the domain at which all directions are evaluated first
MAX_BOXES = 4_000  # of one direction
ORDERS = [1 + Fraction(2) ** e for e in range(-4, 12)]
CLOSER = 20  # steps towards the order with the largest divergence for it
TOUCHED = "the bound may be reached exactly, which balls cannot tell"


@dataclass(frozen=True, eq=False)
class Direction:
    """Directions of secret pairs that have the same outputs, reduced, and as products."""

    alike: tuple[AllOutputs, ...]
    found: Outcomes
    outputs: tuple[Output, ...]
    factors: Factors

    @property
    def origin(self) -> AllOutputs:
        """The first of them."""
        return self.alike[0]

    @property
    def origins(self) -> list[tuple[str, str, int]]:
        """All of them, as evidence names them; a case may list a pair in both directions."""
        return list(dict.fromkeys((o.left, o.right, o.length) for o in self.alike))

    @property
    def is_equal(self) -> bool:
        """Whether both distributions are the same at every prior."""
        ratios = [output.ratio for output in self.outputs]
        return all(r is not None and not r.powers and r.constant == 1 for r in ratios)

    @property
    def names(self) -> frozenset[str]:
        """The parameters that matter, and `E`."""
        return frozenset(n for f in self.factors.known.values() for n in variables(f))


@dataclass(frozen=True, eq=False)
class Covered:
    """What was found of one direction: a tree of boxes that proves it, or a point, or neither."""

    tree: Tree | None
    witness: LossWitness | None = None
    boxes: int = 0


def directions(model: Model) -> list[Direction]:
    """Returns all directions of a model; those with the same distributions come once.

    Raises:
        LimitError: too many sequences, or too large polynomials.
    """
    model = with_numbers(model)
    factors = Factors()
    found: dict[str, Direction] = {}
    for pair in outcomes(model):
        for each in (pair, pair.turned):
            own = reduced(each)
            text = str(statement(own, ()))
            origin = AllOutputs(each.left, each.right, length=each.length)
            if text in found:
                found[text] = replace(found[text], alike=(*found[text].alike, origin))
            else:
                found[text] = Direction((origin,), own, tuple(factors.outputs(own)), factors)
    return list(found.values())


def verify_losses(session: Session, model: Model) -> Found:
    """Decides a model whose measure is a loss, and whose obligations are proved."""
    measure = model.measure
    assert isinstance(measure, Loss)
    trees: list[tuple[Direction, Tree]] = []
    boxes = 0
    try:
        witness = first_violation(session, model, measure)
        if witness:
            return Found(Violated(witness))
        every = directions(model)
        with working_precision(BITS):
            bound = bound_of(measure)
        for direction in every:
            covered = cover(session, model, direction, measure, bound)
            boxes += covered.boxes
            if covered.witness:
                return Found(Violated(covered.witness))
            if covered.tree is None:
                detail = f"{direction.origin}: not decided with {covered.boxes} boxes; {TOUCHED}"
                return Found(Unknown(End.GAVE_UP, detail), certificate=proofs(model, measure, trees))
            trees.append((direction, covered.tree))
    except LimitError as error:
        end = End.TIMEOUT if isinstance(error, TimeLimitError) else End.GAVE_UP
        return Found(Unknown(end, str(error)), certificate=proofs(model, measure, trees))
    return Found(Holds(()), enclosed=(len(every), boxes), certificate=proofs(model, measure, trees))


def proofs(model: Model, measure: Loss, trees: Sequence[tuple[Direction, Tree]]) -> dict[str, Any]:
    """Returns what is proved of a model as evidence has it, for `checker.losses`."""
    claims = [claim(each.found, each.origins, each.factors, tree) for each, tree in trees]
    return document(model.domain, measure, claims)


def first_violation(session: Session, model: Model, measure: Loss) -> LossWitness | None:
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


def broken(
    model: Model, origin: AllOutputs, measure: Loss, point: Mapping[str, Fraction]
) -> LossWitness | None:
    """Returns the witness at a point of the domain where a loss is above its bound there, for certain."""
    found = evaluated(model, origin, point)
    if found is None:
        return None
    witness = worst_at(found, measure)
    return witness if witness.exceeds else None


def evaluated(model: Model, origin: AllOutputs, point: Mapping[str, Fraction]) -> Distributions | None:
    """Returns the distributions at a point; None outside of the domain, or where a secret is impossible."""
    if not contains(model.domain, point):
        return None
    try:
        return model_at(model, origin, point, pair_of(model, origin.left, origin.right))
    except InputError:
        return None


def far_apart(model: Model, origin: AllOutputs, point: Mapping[str, Fraction]) -> MomentWitness | LossWitness:
    """Returns how far a direction is apart at a point, for the measure of a model.

    Raises:
        InputError: a point outside of the domain, unknown secrets, or one that is impossible there.
    """
    if not isinstance(model.measure, Loss):
        return divergence_at(model, origin, point)
    pair = pair_of(model, origin.left, origin.right)
    if not contains(model.domain, point):
        raise InputError(f"this point is not in the domain {model.domain.describe()}")
    own = AllOutputs(pair.left, pair.right, length=origin.length)
    return worst_at(model_at(model, own, point, pair), model.measure)


def holds_at(model: Model, origin: AllOutputs, point: Mapping[str, Fraction]) -> bool:
    """Tells whether the loss of a direction is proved to be within the bound of a model at a point."""
    measure = model.measure
    assert isinstance(measure, Loss)
    box = dict(model.domain.enclose(96).box)
    box |= {n: Interval(v, v, True, True) for n, v in point.items() if n in box}
    with working_precision(BITS):
        bound = bound_of(measure)
    alike = [d for d in directions(model) if origin in d.alike]
    own = (within(OnBox(d.outputs, d.factors, box), measure.kind, bound) for d in alike)
    return bool(alike) and all(orders is not None for orders in own)


def is_within(model: Model, witness: MomentWitness | LossWitness, point: Mapping[str, Fraction]) -> bool:
    """Tells whether the divergence of a witness is proved to be within the bound of a model at its point."""
    if isinstance(witness, MomentWitness):
        return not witness.exceeds
    return holds_at(model, AllOutputs(witness.left, witness.right, length=witness.length), point)


def worst_at(found: Distributions, measure: Loss) -> LossWitness:
    """Returns the loss at a point; of ZCDP at the order that needs about the largest ρ."""
    if measure.kind is Kind.KL or found.is_infinite:
        order = None if measure.kind is Kind.KL else Fraction(2)
        return loss_at(found, measure, order)
    with working_precision(BITS):
        best = worst_order(found, bound_of(measure))
        short = loss_at(found, measure, near_order(best, 6))
        if short.exceeds:
            return short
        exact = loss_at(found, measure, best)
        return exact if exact.exceeds else short


def worst_order(found: Distributions, rho: arb) -> Fraction:
    """Returns an order at which D_α/α is about largest; near 1 one at which it is above ρ, if it is at 1.

    D_α ≥ D_1 = KL for α > 1. So if KL > ρ, D_α > ρ·α for all α < KL/ρ.
    """

    def need(order: Fraction) -> float:
        return float(found.renyi(order).mid()) / float(order)

    best = max(ORDERS, key=need)
    low, high = 1 + (best - 1) / 2, 1 + (best - 1) * 2
    for _ in range(CLOSER):
        left, right = low + (high - low) * Fraction(3, 8), low + (high - low) * Fraction(5, 8)
        low, high = (low, right) if need(left) >= need(right) else (left, high)
        low, high = near_order(low), near_order(high)
        if high - low < (best - 1) / 2**24:
            break
    best = max(((low + high) / 2, best), key=need)
    kl = found.kl()
    if kl > rho and not need(best) > float(rho.mid()):
        least = lower_bound(kl / rho)
        return near_order((1 + least) / 2) if least > 1 + Fraction(1, 2**40) else 1 + (least - 1) / 2
    return near_order(best)


# --- boxes --------------------------------------------------------------------------------------------


def cover(
    session: Session,
    model: Model,
    direction: Direction,
    measure: Loss,
    bound: arb,
) -> Covered:
    """Proves that a loss is at most a bound on boxes that cover the domain, or finds a point where it is not.

    `bound` is that of the measure.

    Raises:
        TimeLimitError: the time of the session is over.
    """
    domain = model.domain.enclose(96)
    names = [n for n in domain.box if n in direction.names and n != GENERATOR and not domain.box[n].is_point]
    root = Part(domain.box)
    pending = deque([root])
    boxes = 0
    while pending:
        session.in_time()
        part = pending.popleft()
        box = part.box
        boxes += 1
        part.constraint = excluded(domain, box)
        if part.constraint is not None:
            continue
        part.orders = within(OnBox(direction.outputs, direction.factors, box), measure.kind, bound)
        if part.orders is not None:
            continue
        point = {n: (i.lower + i.upper) / 2 for n, i in box.items() if n != GENERATOR}
        if contains(model.domain, point):
            found = broken(model, direction.origin, measure, point)
            if found:
                return Covered(None, found, boxes)
        if not names or boxes + len(pending) > MAX_BOXES:
            return Covered(None, boxes=boxes)
        part.cut(_longest(box, names, domain.box))
        pending.extend(part.halves)
    return Covered(root.tree(), boxes=boxes)


def _longest(box: Mapping[str, Interval], names: list[str], whole: Mapping[str, Interval]) -> str:
    """Returns the side of a box that is longest, compared with the whole."""

    def length(name: str) -> Fraction:
        own, all_ = box[name], whole[name]
        return (own.upper - own.lower) / (all_.upper - all_.lower)

    return max(names, key=length)


def at_bound(measure: Loss, value: Fraction) -> Loss:
    """Returns the measure with a number as its bound."""
    return replace(measure, rational=value, logarithms=())
