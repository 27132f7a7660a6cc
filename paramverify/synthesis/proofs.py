"""The proof of a budget: a case with its bound replaced by a number, decided like any other case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from paramverify.answers import Decision
from paramverify.claims import Claim
from paramverify.divergences import Quotients
from paramverify.models.model import Model, divergence_of
from paramverify.synthesis.quotients import Bound, as_polynomials


@dataclass(frozen=True, eq=False)
class BoundProof:
    """All claims of a model with one bound, each proved: no ratio at any prior exceeds the bound.

    `certificate` is a document for `checker.cone_evidence` where the model is about every length.
    """

    bound: Bound
    model: Model
    claims: tuple[Claim, ...]
    decisions: tuple[Decision, ...]
    certificate: Mapping[str, Any] | None = None


def rebound(model: Model, bound: Bound) -> Model:
    """Returns the model with its ratio bound multiplied by a number."""
    top, bottom = as_polynomials(bound, model)
    return replace(model, measure=divergence_of(model, Quotients).scaled(top, bottom))
