"""Certificates about many sequences at once, as JSON data, which `checker.cones` replays.

Each document holds the model that it is about (`model_document`), so that it can be compared with a case.
This module only writes; it shares no code with the checker.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from paramverify.algebra.polynomials import key
from paramverify.claims import Claim, to_document, without_enclosure
from paramverify.encodings.at_points import at_point
from paramverify.encodings.cone import Levels, matrices, sides
from paramverify.encodings.every_length import EveryLength, combinations_of
from paramverify.encodings.no_budget import Loop
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


def every_length(proof: EveryLength, proofs: Sequence[Proof]) -> dict[str, Any]:
    """Returns the certificate of privacy for every length; `proofs[k]` shows `proof.claims[k]`."""
    document = _document(proof.model, "closed" if proof.exact else "ratios")
    if proof.exact:
        document["rays"] = _vectors(proof.rays)
        document["steps"] = [[_weights(w) for w in row] for row in combinations_of(proof)]
    else:
        document |= {"depth": proof.depth, "states": list(proof.states), "normals": _vectors(proof.normals)}
    return document | {"claims": _claims(proof.claims, proofs)}


def levels(model: Model, claims: Sequence[Claim], proofs: Sequence[Proof]) -> dict[str, Any]:
    """Returns the certificate of privacy for the model's lengths; its claims are those of `cone_claims`.

    The model is one that `lump` returned.
    """
    document = _document(model, "levels")
    numbers: dict[tuple[int, ...], int] = {}

    def number(vector: tuple[int, ...]) -> int:
        return numbers.setdefault(vector, len(numbers))

    left, right = sides(model)
    runs = [(left, right, [0]), (right, left, [1])] if left or right else [(left, right, [0, 1])]
    written = []
    for below, above, turns in runs:
        found = []
        for _, level in zip(
            range(max(model.lengths)), Levels(matrices(model.hmm), below, above), strict=False
        ):
            dropped = [
                [number(v), {str(number(u)): text(w) for u, w in weights.items()}]
                for v, weights in level.dropped
            ]
            found.append({"kept": [number(v) for v in level.kept], "dropped": dropped})
        written.append({"below": sorted(below), "above": sorted(above), "directions": turns, "levels": found})
    document |= {"lengths": list(model.lengths), "runs": written, "vectors": _vectors(numbers)}
    return document | {"claims": _claims(claims, proofs)}


def no_budget(model: Model, loop: Loop) -> dict[str, Any]:
    """Returns the certificate that the ratio is unbounded; the model in it is the one at the loop's point."""
    document = _document(at_point(model, dict(loop.point)), "loop")
    return document | {
        "point": {name: text(value) for name, value in loop.point},
        "secrets": [loop.left, loop.right],
        "prefix": list(loop.prefix),
        "loop": list(loop.loop),
        "suffix": list(loop.suffix),
        "state": loop.state,
        "bounds": {str(s): text(x) for s, x in loop.bounds},
        "rates": [text(rate) for rate in loop.rates],
        "factor": text(loop.factor),
    }


def _document(model: Model, kind: str) -> dict[str, Any]:
    return {"format": FORMAT, "version": VERSION, "kind": kind, "model": model_document(model)}


def _vectors(vectors: Iterable[Sequence[int]]) -> list[list[str]]:
    return [[text(x) for x in vector] for vector in vectors]


def _weights(weights: Mapping[int, Fraction]) -> dict[str, str]:
    return {str(k): text(w) for k, w in weights.items()}


def _claims(claims: Sequence[Claim], proofs: Sequence[Proof]) -> list[dict[str, Any]]:
    pairs = zip(claims, proofs, strict=True)
    return [{"claim": to_document(without_enclosure(claim)), "proof": proof} for claim, proof in pairs]
