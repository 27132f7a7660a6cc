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
from paramverify.checker.loss_evidence import bound_of, check_tree
from paramverify.checker.strict_reading import Rejected
from paramverify.claims import AllOutputs, Claim, from_document, to_document
from paramverify.divergences import Average, KLDivergence, ZeroConcentrated
from paramverify.encodings.output_sums import PairOutcomes
from paramverify.evidence.divergence_witnesses import LossWitness
from paramverify.models.model import Model
from paramverify.portfolio.session import Session, session_of
from paramverify.privacy.enclosed_losses import Factors
from paramverify.privacy.loss_boxes import LossDirection, Point, cover
from paramverify.privacy.loss_points import broken
from paramverify.privacy.loss_proofs import Tree, bound_document, document
from paramverify.privacy.loss_proofs import claim as proved
from paramverify.tasks.tasks import Task

NO_TREE = (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)


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
    session: Session, model: Model, every: Sequence[LossDirection], measure: Average
) -> Generator[Shown, None, None]:
    """Yields for each direction whether a loss is at most the bound of a measure on the domain of a model.

    Raises:
        TimeLimitError: the time of the session is over.
    """
    yield from session.each([_task(session, model, direction, measure) for direction in every])


def _task(session: Session, model: Model, direction: LossDirection, measure: Average) -> Task[Shown]:
    def at(point: Point) -> LossWitness | None:
        return broken(model, direction.origin, measure, point)

    def here() -> Shown:
        found = cover(direction, model.domain, measure, session.in_time, lambda point: at(point) is not None)
        return Shown(found.tree, None if found.point is None else at(found.point), found.boxes)

    def asked() -> dict[str, Any]:
        return {**session.told(), **_told(direction, model.domain, measure)}

    def read(told: Mapping[str, Any]) -> Shown:
        boxes, point = int(told["boxes"]), told["point"]
        if point is None:
            if told["tree"] is not None:
                _replay(direction, model.domain, measure, told["tree"])
            return Shown(told["tree"], boxes=boxes)
        witness = at({name: Fraction(value) for name, value in point.items()})
        return Shown(witness=witness, boxes=boxes) if witness else here()

    return Task("loss", here, asked, read, partial(_lost, direction), seconds=session.left)


def _replay(direction: LossDirection, domain: Domain, measure: Average, tree: Tree) -> None:
    """Replays a worker's proof by the kernel.

    Raises:
        ValueError: it does not show the direction.
    """
    whole = document(domain, measure, [proved(direction.found, direction.origins, direction.factors, tree)])
    try:
        bound = bound_of(whole["bound"])[0]
        check_tree(whole["domain"], whole["claims"][0], whole["measure"], bound)
    except (Rejected, *NO_TREE) as error:
        raise ValueError(f"the checker rejects its proof: {error}") from None


def _lost(direction: LossDirection, reason: str) -> Shown:
    return Shown(lost=reason)


def _told(direction: LossDirection, domain: Domain, measure: Average) -> dict[str, Any]:
    """Returns a direction, the domain and the measure as JSON data."""
    found = direction.found
    return {
        "domain": to_document(Claim(domain.ring.number(0), domain)),
        "measure": measure.key,
        "bound": bound_document(measure),
        "total": key(found.total),
        "outputs": [[key(p), key(q)] for p, q in found.outputs],
        "names": sorted(direction.names),
    }


def covered(given: Mapping[str, Any]) -> dict[str, Any]:
    """Proves one direction of `covers` on boxes, or finds a point; returns what was found as JSON data."""
    domain = from_document(given["domain"]).domain
    rational, logarithms = given["bound"]
    parts = tuple((Fraction(factor), Fraction(value)) for factor, value in logarithms)
    kind = KLDivergence if given["measure"] == KLDivergence.key else ZeroConcentrated
    measure = kind(Fraction(rational), parts)
    read = domain.ring.parse
    outputs = tuple((read(p), read(q)) for p, q in given["outputs"])
    own, factors = PairOutcomes("", "", length=0, total=read(given["total"]), outputs=outputs), Factors()
    direction = LossDirection((AllOutputs("", "", length=0),), own, tuple(factors.outputs(own)), factors)
    with session_of(given) as session:
        names = frozenset(given["names"])
        found = cover(direction, domain, measure, session.in_time, lambda point: True, names=names)
    point = None if found.point is None else {name: str(value) for name, value in found.point.items()}
    return {"tree": found.tree, "point": point, "boxes": found.boxes}
