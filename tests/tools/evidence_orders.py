"""Evidence that is written by hand: the envelope around its statements, and documents that differ from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Json = dict[str, Any]


def evidence(
    status: str, domains: Sequence[Mapping[str, Any]], *statements: Mapping[str, Any], **more: Any
) -> Json:
    """Returns a document with these domains and statements."""
    envelope = {"format": "paramverify-evidence", "version": 2, "status": status}
    return {**envelope, "domains": [*domains], "statements": [*statements], **more}


def alone(status: str, statement: Mapping[str, Any]) -> Json:
    """Returns a document with one statement, which has its domain written out."""
    return evidence(status, [statement["domain"]], {**statement, "domain": 0})


def with_first(document: Json, **changes: Any) -> Json:
    """Returns a document whose first statement has other keys."""
    first, *others = document["statements"]
    return {**document, "statements": [{**first, **changes}, *others]}
