"""What certificates about many sequences at once have in common, as JSON data, which `checker.cones` replays.

Each document holds the model that it is about (`model_document`), so that it can be compared with a case.
This module only writes; it shares no code with the checker.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from paramverify.algebra.polynomials import key
from paramverify.claims import Claim, to_document, without_enclosure
from paramverify.evidence.certificates import Proof, text
from paramverify.models.model import Model
from paramverify.models.priors import InitialDistribution

FORMAT, VERSION = "paramverify-cone", 1


def model_document(model: Model) -> dict[str, Any]:
    """Returns all that privacy of the model depends on, but the lengths."""

    def start(given: InitialDistribution) -> dict[str, Any]:
        return {"weights": {str(s): key(w) for s, w in given.weights.items()}, "mass": key(given.mass)}

    claim = to_document(without_enclosure(Claim(model.domain.ring.number(0), model.domain)))
    del claim["polynomial"]
    return {
        "domain": claim,
        "states": len(model.hmm.states),
        "observations": list(model.hmm.observations),
        "steps": [
            [state, step.observation, step.successor, key(step.weight)]
            for state, row in enumerate(model.hmm.steps)
            for step in row
        ],
        "pairs": [[p.left, p.right, start(p.pi), start(p.tau)] for p in model.pairs],
        **model.measure.document(),
    }


def document(model: Model, kind: str) -> dict[str, Any]:
    """Returns the beginning of a certificate of a kind."""
    return {"format": FORMAT, "version": VERSION, "kind": kind, "model": model_document(model)}


def vectors_document(vectors: Iterable[Sequence[int]]) -> list[list[str]]:
    """Returns vectors of whole numbers."""
    return [[text(x) for x in vector] for vector in vectors]


def weights_document(weights: Mapping[int, Fraction]) -> dict[str, str]:
    """Returns weights by the numbers of vectors."""
    return {str(k): text(w) for k, w in weights.items()}


def claims_document(claims: Sequence[Claim], proofs: Sequence[Proof]) -> list[dict[str, Any]]:
    """Returns claims, each with its proof."""
    pairs = zip(claims, proofs, strict=True)
    return [{"claim": to_document(without_enclosure(claim)), "proof": proof} for claim, proof in pairs]
