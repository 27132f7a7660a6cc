"""Whether outputs reach a largest ratio, or only come near to it: the ratio of densities may be a limit."""

from __future__ import annotations

from dataclasses import replace

from paramverify.algebra.domains import contains
from paramverify.evidence.witnesses import ExactWitness, evaluate
from paramverify.models.model import Model
from paramverify.synthesis.proofs import RatioBounds


def by_outputs(model: Model, found: RatioBounds) -> RatioBounds:
    """Returns a budget that is attained only if a set of outputs that are possible has its ratio."""
    if not found.attained or not model.hmm.densities:
        return found
    witness = found.witness
    if not isinstance(witness, ExactWitness):
        point = {name: root.lower for name, root in found.place.items() if root.is_rational}
        if len(point) < len(model.domain.ring.parameters) or not contains(model.domain, point):
            return replace(found, attained=None)
        witness = evaluate(model, found.origin, point)
    reached = _reached(model, found, witness)
    if reached:
        return found
    near = replace(found.beside, reached=False) if found.beside else None
    return replace(found, attained=reached, outputs=reached is not False, beside=near)


def _reached(model: Model, found: RatioBounds, witness: ExactWitness) -> bool | None:
    """Tells whether the ratio of a witness, or the same one of another output, is that of a set."""
    answers = [witness.reached]
    if answers[0] is False and len(witness.observations) == 1:
        for name in model.hmm.observations:
            if name in model.hmm.spreads:  # where the ratio may be the same for many outputs
                answers.append(None)
                continue
            other = evaluate(model, replace(found.origin, observations=(name,)), witness.parameters)
            left, right = other.probabilities
            same = right if witness.ratio is None else left - witness.ratio * right
            if left.sign() > 0 and same.sign() == 0:
                answers.append(other.reached)
    return True if True in answers else None if None in answers else False
