"""Answers to questions about probabilities as sentences and as JSON data."""

from __future__ import annotations

from typing import Any

from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import constant_value, is_constant, rational
from paramverify.algebra.reals import Real
from paramverify.logic.numbers import in_ring, real
from paramverify.logic.questions import QuestionAnswer
from paramverify.logic.syntax import Extreme, ProbabilityQuestion
from paramverify.models.chains.chain import Value
from paramverify.reports import documents, text
from paramverify.verdicts import status_of

SHOWN = 20  # initial states of which the answer is told in words


def lines(name: str, question: ProbabilityQuestion, found: QuestionAnswer, domain: Domain) -> list[str]:
    """Returns the sentences that tell the answer to a question."""
    if found.unknown is not None:
        reason = found.unknown.detail
        return [f"{status_of(found.unknown).of_claim}: {name}: {question.text}", f"  {_capital(reason)}."]
    where = domain.told()
    every = f" for every {where}" if where else ""
    several = len(found.values) > 1
    told = []
    for state, values in found.values[:SHOWN]:
        at = f" in state {state}" if several else ""
        told.append(f"{name}: {question.text}{at}: {_told(question, values, domain)}{every}")
    if len(found.values) > SHOWN:
        told.append(f"  {len(found.values) - SHOWN:,} more initial states: `--json` has all of them.")
    return [*told, f"  {_capital('; '.join(m.value for m in found.methods))}."]


def document(question: ProbabilityQuestion, found: QuestionAnswer, domain: Domain) -> dict[str, Any]:
    """Returns the answer to a question as JSON data."""
    entry: dict[str, Any] = {"formula": question.text}
    if found.unknown is not None:
        return entry | {"reason": found.unknown.detail, "end": found.unknown.end.value}
    entry["values"] = [
        {"state": state, **_document(question, values, domain)} for state, values in found.values
    ]
    return entry | {"methods": [m.value for m in found.methods]}


def _told(question: ProbabilityQuestion, values: tuple[Value, ...], domain: Domain) -> str:
    shown = [_number(value, domain) for value in values]
    if len(shown) == 1:
        return shown[0]
    return f"at each point the {_which(question)} of {', '.join(shown)}"


def _number(value: Value, domain: Domain) -> str:
    found = _real(value, domain)
    return str(value).replace("^", "**") if found is None else text.number(found)


def _document(question: ProbabilityQuestion, values: tuple[Value, ...], domain: Domain) -> dict[str, Any]:
    if len(values) > 1:
        return {_which(question): [str(value).replace("^", "**") for value in values]}
    (value,) = values
    number = _real(value, domain)
    if number is None:
        return {"function": str(value).replace("^", "**")}
    return {"value": documents.real(number)}


def _real(value: Value, domain: Domain) -> Real | None:
    """Returns a value that does not depend on the parameters as a number."""
    if domain.ring.parameters:
        function = in_ring(value, domain.ring)
        if not (is_constant(function.numerator) and is_constant(function.denominator)):
            return None
        value = rational(constant_value(function.numerator) / constant_value(function.denominator))
    return real(value, domain.ring)


def _which(question: ProbabilityQuestion) -> str:
    return "least" if question.extreme is Extreme.LEAST else "largest"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
