"""The witness of a refuted claim: of one output, of a set of outputs, or of a comparison of the case."""

from __future__ import annotations

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.polynomials import Point
from paramverify.claims import Claim, Direction
from paramverify.errors import DefectError
from paramverify.evidence.sets import worst_set
from paramverify.evidence.witnesses import AnyWitness, find_witness, simplest_violation
from paramverify.formats.refutations import fails_at
from paramverify.models.kinds import AnyModel
from paramverify.models.model import Model


def find_violation(model: AnyModel, claim: Claim, point: Point) -> AnyWitness | None:
    """Returns the witness at the simplest point found near a refutation, or None if it is spurious.

    Where the claim is about a set of outputs, the set that is the worst one there is the witness: it is at
    least as far beyond the bounds. See `find_witness` for the others.
    """
    direction = claim.origins[0] if claim.origins else None
    if not isinstance(model, Model) or not isinstance(direction, Direction):
        return find_witness(model, claim, point)
    parameters = {name: value for name, value in point.items() if name != GENERATOR}
    if not fails_at(claim, parameters):
        return None
    simple = simplest_violation(claim, parameters)
    witness = worst_set(model, direction.left, direction.right, direction.length, simple)
    if not witness.exceeds:
        raise DefectError("a claim is violated at a point where the model is within its bound")
    return witness
