"""Answers as JSON documents, for the way from an attempt's process to the runner.

Rationals are strings such as `"24/7"`; they go through flint, which has no bound on the digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from flint import fmpq

from paramverify.algebra.polynomials import fraction, rational
from paramverify.answers import Answer, End, Open, Proved, Refuted


def answer_to_document(answer: Answer) -> dict[str, Any]:
    """Returns an answer as JSON data."""
    if isinstance(answer, Proved):
        certificate = None if answer.certificate is None else dict(answer.certificate)
        return {"answer": "proved", "certificate": certificate, "transcript": answer.transcript}
    if isinstance(answer, Refuted):
        point = {name: str(rational(Fraction(value))) for name, value in answer.point.items()}
        return {"answer": "refuted", "point": point, "transcript": answer.transcript}
    return {
        "answer": "open",
        "end": answer.end.value,
        "detail": answer.detail,
        "transcript": answer.transcript,
    }


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
                return Open(End(document["end"]), _text(document["detail"]), transcript)
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
