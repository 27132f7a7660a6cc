"""Documents of evidence with the statement of an engine, written by hand or changed."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from paramverify.kernel.documents import RULES

Json = dict[str, Any]
NO_PARAMETERS: Json = {"variables": [], "box": {}, "constraints": []}


def engine_document(
    kind: str, status: str = "holds", domain: Json | None = None, beside: Sequence[Json] = (), **own: Any
) -> Json:
    """A document with the statement of an engine, on a domain if there is one, after those beside it."""
    about = {} if domain is None else {"domain": 0}
    found = {
        "format": "paramverify-evidence",
        "version": 2,
        "status": status,
        "domains": [] if domain is None else [domain],
        "statements": [*beside, {"kind": kind, **about, **own}],
    }
    return copy.deepcopy(found)


def own(document: Json) -> Json:
    """The statement of the engine, which is the last one."""
    found: Json = document["statements"][-1]
    return found


def told(document: Json) -> Json:
    """What the statement of the engine says, with its domain written out, and the status of the document."""
    found = next(each for each in document["statements"] if each["kind"] in RULES)
    about = {"domain": document["domains"][found["domain"]]} if "domain" in found else {}
    return {**found, **about, "status": document["status"]}


def with_own(document: Json, **changes: Any) -> Json:
    """The document with other parts of the statement of its engine; None leaves one out."""
    found = copy.deepcopy(document)
    for name, value in changes.items():
        if value is None:
            own(found).pop(name, None)
        else:
            own(found)[name] = copy.deepcopy(value)
    return found


def comparison(polynomial: str, proof: Json, strict: bool = False, **more: Any) -> Json:
    """The statement that a polynomial is not negative, or is positive, on the first domain."""
    about = {"kind": "comparison", "domain": 0, "polynomial": polynomial, "strict": strict}
    return {**about, "proof": proof, **more}
