"""What exact evaluation says about candidates of testing, whatever they are: outputs, sets or secrets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paramverify.answers import Standing
from paramverify.evidence.losses import LossWitness
from paramverify.evidence.witnesses import Evaluated, ExactSetWitness
from paramverify.reports import documents, text

AnyWitness = Evaluated | ExactSetWitness | LossWitness


def lines(
    real: int, certified: int, unknown: int, *, code: bool, seen: str, witness: AnyWitness | None
) -> list[str]:
    """Returns the first lines: how many of the candidates are violations, and the witness of one of these.

    `unknown` is how many more there are whose output the model does not have; `code` tells whether the
    candidates come from an implementation, about which the model says nothing; `seen` is what makes one.
    """
    told = []
    if certified:
        head = Standing.VIOLATED.of_case if real else "no violation found, which proves nothing"
        told.append(f"{head}: {real} of {_candidates(certified)} stand exact evaluation.")
    elif not unknown:
        told.append(f"no candidate, which proves nothing: no {seen}")
    if unknown:
        told.append(f"{_candidates(unknown)} with outputs that the model does not have")
    if code:
        told.append("  This is about the model; --audit tells whether the implementation differs from it.")
    return told + [f"  {line}" for line in (text.witness_lines(witness) if witness else ())]


def _candidates(number: int) -> str:
    return f"{number} candidate{'s' * (number != 1)}"


def document(
    candidates: Sequence[dict[str, Any]], unknown: int, witness: AnyWitness | None
) -> dict[str, Any]:
    """Returns the same as JSON data, with an entry for each candidate."""
    standing = Standing.VIOLATED if witness else Standing.UNKNOWN
    found: dict[str, Any] = {"status": standing, "verdict": standing.of_case}
    if witness:
        found["witness"] = documents.witness(witness)
    return {**found, "candidates": list(candidates), "not_in_the_model": unknown}


def entry(witness: AnyWitness, **seen: float) -> dict[str, Any]:
    """Returns one candidate: what was seen of it, and its exact evaluation."""
    return {"spurious": not witness.exceeds, **seen, "witness": documents.witness(witness)}
