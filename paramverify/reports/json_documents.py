"""JSON documents: exact numbers as strings such as `"24/7"`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paramverify.answers import Decision, FailsAt, Open, Standing
from paramverify.claims import AllOutputs, Direction, Origin, Stated
from paramverify.models.model import AnyModel
from paramverify.privacy.larger_ranges import Larger
from paramverify.reports import sentences
from paramverify.verdicts import status_of

if TYPE_CHECKING:
    from paramverify.privacy.cases import PrivacyCase


def origin(found: Origin | Stated | Direction) -> dict[str, Any]:
    """Returns where a claim comes from: secrets and observations, or the comparison of the case."""
    if isinstance(found, Stated):
        return {"statement": found.text}
    if isinstance(found, AllOutputs):
        return {"secrets": [found.left, found.right], "length": found.length, "about": "all outputs"}
    if isinstance(found, Direction):
        return {"secrets": [found.left, found.right], "length": found.length, "about": "sets of outputs"}
    return {"secrets": [found.left, found.right], "observations": list(found.observations)}


def side_condition(model: AnyModel) -> dict[str, str]:
    """Returns what a verdict about the model is about besides, in words, if there is anything."""
    return {"side_condition": model.side_condition} if model.side_condition else {}


def inputs(case: PrivacyCase) -> dict[str, str]:
    """Returns the inputs that an answer is about, such as `q in {0..4}^2`, if the case lists any."""
    return {"inputs": case.over} if case.over else {}


def standing(status: Standing, model: AnyModel | None = None) -> dict[str, str]:
    """Returns a verdict about a model, or about one claim if there is no model: both of its words."""
    return {"status": status, "verdict": sentences.verdict(status, model) if model else status.of_claim}


def decision(made: Decision) -> dict[str, Any]:
    """Returns how a claim was settled."""
    answer = made.answer
    document: dict[str, Any] = {"backend": made.backend, "seconds": round(made.seconds, 6)}
    if made.version:
        document["version"] = made.version
    if made.options:
        document["options"] = dict(made.options)
    document |= standing(status_of(answer))
    if isinstance(answer, FailsAt):
        document["detail"] = answer.detail
    elif isinstance(answer, Open):
        document |= {"end": answer.end.value, "detail": answer.detail}
    return document


def larger(found: Larger | None) -> dict[str, Any]:
    """Returns a violation among larger inputs than those of a case as JSON data, if one is known."""
    return {"larger": {"inputs": found.over, "witness": found.witness.answer()}} if found else {}
