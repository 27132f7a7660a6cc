"""Errors as plain data, so that what a worker raises is raised here as the same kind of error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paramverify import errors
from paramverify.errors import DefectError, DisagreementError, ParamverifyError, TimeLimitError

# Those that are made of one text. A kind that is not here arrives as its nearest ancestor that is.
KINDS: dict[str, type[ParamverifyError]] = {
    kind.__name__: kind
    for kind in (
        errors.InputError,
        errors.DomainError,
        errors.ModelError,
        errors.UnsupportedError,
        errors.LimitError,
        errors.SizeError,
        errors.DefectError,
    )
}


def error_to_document(error: Exception) -> dict[str, Any]:
    """Returns an error as JSON data; one that is not ours is a defect."""
    if isinstance(error, DisagreementError):
        return {"kind": "DisagreementError", "claim": error.claim, "answers": error.answers}
    if isinstance(error, TimeLimitError):
        what = str(error).removeprefix(str(TimeLimitError(error.seconds)))
        return {"kind": "TimeLimitError", "seconds": error.seconds, "what": what}
    if isinstance(error, MemoryError):
        return {"kind": "LimitError", "reason": "a worker has no more memory"}
    names = (kind.__name__ for kind in type(error).__mro__)
    kind = next((name for name in names if name in KINDS), "")
    if not kind:
        return {"kind": "DefectError", "reason": f"{type(error).__name__}: {error}"}
    return {"kind": kind, "reason": str(error)}


def error_from_document(document: Mapping[str, Any]) -> ParamverifyError:
    """Returns the error that `error_to_document` wrote."""
    kind = document.get("kind")
    if kind == "DisagreementError":
        answers = tuple((str(a), str(b), str(c)) for a, b, c in document["answers"])
        return DisagreementError(str(document["claim"]), answers)
    if kind == "TimeLimitError":
        return TimeLimitError(float(document["seconds"]), str(document["what"]))
    return KINDS.get(str(kind), DefectError)(str(document.get("reason")))
