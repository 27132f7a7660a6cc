"""Directions of a loss that is no polynomial as tasks: each is proved on boxes of its own.

A worker is told the probabilities of one direction, and the domain. It knows no model: a point that it finds
is evaluated here, from the model.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import key
from paramverify.claims import AllOutputs, Claim, from_document, to_document
from paramverify.encodings.excesses import Outcomes
from paramverify.evidence.losses import LossWitness
from paramverify.models.divergences import Kind, Loss
from paramverify.models.model import Model
from paramverify.portfolio.session import Session
from paramverify.portfolio.spreading import session_of
from paramverify.privacy.enclosed_losses import Factors
from paramverify.privacy.loss_boxes import Direction, Point, cover
from paramverify.privacy.loss_points import broken
from paramverify.privacy.loss_proofs import Tree, bound_document
from paramverify.tasks.tasks import Task


@dataclass(frozen=True, eq=False)
class Shown:
    """What was found of one direction: the boxes that prove it, or the witness of a point, or neither.

    `lost` says why, where every worker that was given the direction died.
    """

    tree: Tree | None = None
    witness: LossWitness | None = None
    boxes: int = 0
    lost: str = ""


def covers(
    session: Session, model: Model, every: Sequence[Direction], measure: Loss
) -> Generator[Shown, None, None]:
    """Yields for each direction whether a loss is at most the bound of a measure on the domain of a model.

    Raises:
        TimeLimitError: the time of the session is over.
    """
    yield from session.each([_task(session, model, direction, measure) for direction in every])


def _task(session: Session, model: Model, direction: Direction, measure: Loss) -> Task[Shown]:
    def at(point: Point) -> LossWitness | None:
        return broken(model, direction.origin, measure, point)

    def here() -> Shown:
        found = cover(direction, model.domain, measure, session.in_time, lambda point: at(point) is not None)
        return Shown(found.tree, None if found.point is None else at(found.point), found.boxes)

    def document() -> dict[str, Any]:
        return {**session.told(), **_told(direction, model.domain, measure)}

    def read(told: Mapping[str, Any]) -> Shown:
        boxes, point = int(told["boxes"]), told["point"]
        if point is None:
            return Shown(told["tree"], boxes=boxes)
        witness = at({name: Fraction(value) for name, value in point.items()})
        return Shown(witness=witness, boxes=boxes) if witness else here()

    return Task("loss", here, document, read, partial(_lost, direction), seconds=session.left)


def _lost(direction: Direction, reason: str) -> Shown:
    return Shown(lost=reason)


def _told(direction: Direction, domain: Domain, measure: Loss) -> dict[str, Any]:
    """Returns a direction, the domain and the measure as JSON data."""
    found = direction.found
    return {
        "domain": to_document(Claim(domain.ring.number(0), domain)),
        "measure": measure.kind.value,
        "bound": bound_document(measure),
        "total": key(found.total),
        "outputs": [[key(p), key(q)] for p, q in found.outputs],
        "names": sorted(direction.names),
    }


def covered(document: Mapping[str, Any]) -> dict[str, Any]:
    """Proves one direction of `covers` on boxes, or finds a point; returns what was found as JSON data."""
    domain = from_document(document["domain"]).domain
    rational, logarithms = document["bound"]
    parts = tuple((Fraction(factor), Fraction(value)) for factor, value in logarithms)
    measure = Loss(Kind(document["measure"]), Fraction(rational), parts)
    read = domain.ring.parse
    outputs = tuple((read(p), read(q)) for p, q in document["outputs"])
    own, factors = Outcomes("", "", length=0, total=read(document["total"]), outputs=outputs), Factors()
    direction = Direction((AllOutputs("", "", length=0),), own, tuple(factors.outputs(own)), factors)
    with session_of(document) as session:
        names = frozenset(document["names"])
        found = cover(direction, domain, measure, session.in_time, lambda point: True, names=names)
    point = None if found.point is None else {name: str(value) for name, value in found.point.items()}
    return {"tree": found.tree, "point": point, "boxes": found.boxes}
