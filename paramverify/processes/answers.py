"""Answers as JSON documents, for the way from an attempt's process to the runner.

Rationals are strings such as `"24/7"`; they go through flint, which has no bound on the digits.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from numbers import Rational
from typing import Any

from flint import fmpq

from paramverify.algebra.number_fields import point_document, read_point
from paramverify.algebra.polynomials import fraction, rational
from paramverify.answers import Answer, Decision, End, FailsAt, Open, Proved, Refuted
from paramverify.claims import Claim


def answer_to_document(answer: Answer) -> dict[str, Any]:
    """Returns an answer as JSON data."""
    if isinstance(answer, Proved):
        certificate = None if answer.certificate is None else dict(answer.certificate)
        return {"answer": "proved", "certificate": certificate, "transcript": answer.transcript}
    if isinstance(answer, Refuted):
        point = {name: str(rational(Fraction(value))) for name, value in answer.point.items()}
        return {"answer": "refuted", "point": point, "transcript": answer.transcript}
    place = {"at": point_document(answer.at)} if isinstance(answer, FailsAt) else {}
    return {
        "answer": "open",
        **place,
        "end": answer.end.value,
        "detail": answer.detail,
        "transcript": answer.transcript,
        "denies": answer.denies,
    }


def decision_to_document(decision: Decision) -> dict[str, Any]:
    """Returns a decision as JSON data."""
    return {
        "answer": answer_to_document(decision.answer),
        "backend": decision.backend,
        "version": decision.version,
        "options": dict(decision.options),
        "seconds": decision.seconds,
    }


def decision_from_document(document: Mapping[str, Any]) -> Decision:
    """Returns the decision that `decision_to_document` wrote.

    Raises:
        ValueError: the document is something else.
    """
    try:
        options = {_text(name): _text(value) for name, value in document["options"].items()}
        return Decision(
            answer_from_document(document["answer"]),
            _text(document["backend"]),
            _text(document["version"]),
            options,
            float(document["seconds"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a decision: {error!r}") from error


def formed(said: object, claim: Claim) -> Answer:
    """Returns what `decide` gave if it is an answer about the claim; else `Open` with the mistake."""
    if isinstance(said, Open):
        mistake = _no_end(said)
    elif isinstance(said, Proved):
        mistake = _no_json(said.certificate)
    elif isinstance(said, Refuted):
        mistake = _no_point(said.point, claim.domain.ring.names)
    else:
        mistake = f"`decide` gave {said!r:.80}, and an answer is Proved, Refuted or Open"
    if isinstance(said, Proved | Refuted | Open):
        mistake = mistake or _no_transcript(said.transcript)
        if not mistake:
            return said
    return Open(End.CRASHED, f"a mistake in this backend: {mistake}")


def _no_transcript(text: object) -> str:
    return "" if isinstance(text, str) else f"the transcript of an answer is a text, not {text!r:.80}"


def _no_end(said: Open) -> str:
    right = isinstance(said.end, End) and isinstance(said.detail, str)
    return "" if right else "`Open` needs an `End`, such as End.GAVE_UP, and a text"


def _no_json(certificate: object) -> str:
    if certificate is None:
        return ""
    if not isinstance(certificate, Mapping):
        return f"a certificate is a mapping, not {certificate!r:.80}"
    try:
        json.dumps(dict(certificate))
    except (TypeError, ValueError, RecursionError) as error:
        return f"its certificate cannot be written as JSON: {error}"
    return ""


def _no_point(point: object, names: Sequence[str]) -> str:
    if not isinstance(point, Mapping):
        return f"the point of a refutation is a mapping from names to fractions, not {point!r:.80}"
    for name, value in point.items():
        if name not in names:
            known = ", ".join(names)
            return f"the point of a refutation has {name!r:.80}, which is no variable of the claim: {known}"
        if not isinstance(value, Rational):
            return f"the value of {name} is {value!r:.80}, and a fraction is needed"
    return ""


def answer_from_document(document: Mapping[str, Any]) -> Answer:
    """Returns the answer that `answer_to_document` wrote.

    Raises:
        ValueError: the document is something else.
    """
    try:
        transcript = _text(document["transcript"])
        match document["answer"]:
            case "proved":
                certificate = document["certificate"]
                if not (certificate is None or isinstance(certificate, dict)):
                    raise ValueError("the certificate is not an object")
                return Proved(certificate, transcript)
            case "refuted":
                point = {_text(k): _rational(_text(v)) for k, v in document["point"].items()}
                return Refuted(point, transcript)
            case "open":
                end, detail = End(document["end"]), _text(document["detail"])
                if "at" in document:
                    return FailsAt(end, detail, transcript, at=read_point(document["at"]))
                return Open(end, detail, transcript, document["denies"] is True)
            case other:
                raise ValueError(f"unknown kind of answer: {other!r}")
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not an answer: {error!r}") from error


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"not a string: {value!r}")
    return value


def _rational(text: str) -> Fraction:
    try:
        return fraction(fmpq(text))
    except ZeroDivisionError as error:
        raise ValueError(f"not a rational: {text!r}") from error
