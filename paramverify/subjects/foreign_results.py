"""What an engine of another package answers is checked before anybody relies on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from paramverify import printable
from paramverify.answers import Standing
from paramverify.bounds import Bounds
from paramverify.errors import InputError
from paramverify.plugins import blamed, owner
from paramverify.portfolio.session import Options
from paramverify.subjects.questions import Budget, Question, Synthesize, Verify
from paramverify.subjects.results import Result
from paramverify.subjects.subject import CaseFile, Subject


def checked(found: Any, subject: Subject, asked: Question, options: Options, file: CaseFile) -> Result:
    """Returns an answer that can be told. That to `Verify` ends with its standing, so that exit codes agree.

    Raises:
        InputError: it cannot, with the plugin and the mistake.
    """
    told, path = owner(type(subject).__module__), str(file.path)
    if not isinstance(found, Result):
        kind = type(found).__name__
        raise InputError(f"{told}: the answer to {asked.name} must be a Result, not {kind}", file=path)
    wrong = _mistake(found, asked)
    decides = isinstance(asked, Verify | Budget | Synthesize)
    if not wrong and decides and options.require_certificates and found.evidence is None:
        wrong = "has no evidence, which --require-certificates needs"
    if wrong:
        raise InputError(f"{told}: the Result for {asked.name} {wrong}", file=path)
    ending = (found.standing or found.ending) if isinstance(asked, Verify) else found.ending
    evidence = _checked_evidence(found.evidence, told, path) if found.evidence else None
    return replace(found, ending=ending, evidence=evidence)


def _mistake(found: Any, asked: Question) -> str:
    """Returns what is wrong with a result; "" if nothing is."""
    if isinstance(asked, Verify) and not isinstance(found.standing, Standing):
        return "needs a standing: Standing.HOLDS, VIOLATED or UNKNOWN"
    if not isinstance(found.ending, Standing):
        return "needs an ending: Standing.HOLDS, VIOLATED or UNKNOWN"
    for name in ("lines", "notes", "remarks"):
        texts = getattr(found, name)
        if not _is_list(texts) or not all(isinstance(text, str) for text in texts):
            return f"needs a list of texts as its {name}"
    if not isinstance(found.document, dict):
        return "needs a dict as its document"
    if unwritable := _unwritable(found.document):
        return f"has a document that cannot be written as JSON: {unwritable}"
    if not _is_list(found.bounds) or not all(isinstance(each, Bounds) for each in found.bounds):
        return "needs paramverify.bounds.Bounds as its bounds"
    if found.witness is not None and not hasattr(found.witness, "told"):
        kind = type(found.witness).__name__
        return (
            f"has a witness of the type {kind}, which has no method told(): put it into the document instead"
        )
    return ""


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _unwritable(document: object) -> str:
    try:
        printable.json_text(document)
    except (TypeError, ValueError, RecursionError) as error:
        return str(error)
    return ""


def _checked_evidence(
    made: Callable[[], dict[str, Any]], told: str, path: str
) -> Callable[[], dict[str, Any]]:
    def evidence() -> dict[str, Any]:
        with blamed(path):
            document: object = made()
        if not isinstance(document, dict):
            raise InputError(f"{told}: evidence must be a dict, not {type(document).__name__}", file=path)
        if unwritable := _unwritable(document):
            raise InputError(f"{told}: evidence cannot be written as JSON: {unwritable}", file=path)
        return document

    return evidence
