"""What is said of a script, in words and as JSON data."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from paramverify import printable
from paramverify.answers import Standing
from paramverify.checker.strict import counted
from paramverify.formats.script_reading import Check
from paramverify.reports import documents, roots, text
from paramverify.scripts.answers import Answered, ScriptReport
from paramverify.scripts.evaluation import Number


def lines(report: ScriptReport) -> list[str]:
    """Returns each answer on a line of its own, as solvers print it, with what it rests on below."""
    found: list[str] = []
    for check, answer in zip(report.script.checks, report.answers, strict=True):
        found.append(answer.standing.of_script)
        if len(report.answers) > 1:
            found.append(f"  Question {check.number}, line {check.line}.")
        found += [f"  {line}" for line in _told(answer, check)]
        if check.number in report.wrong:
            found.append(f"  WRONG STATUS: the script states {check.expected}.")
    return found


def _told(answer: Answered, check: Check) -> list[str]:
    took = f"in {answer.seconds:.2g} s"
    who = f": {', '.join(answer.found_by)}" if answer.found_by else ""
    resting = [f"On the word of {', '.join(answer.solvers)}, {took}."] if answer.solvers else []
    many = counted(len(answer.settled), "claim")
    proofs = text.backends_used([decision for _, decision in answer.settled])
    if answer.standing is Standing.VIOLATED:
        shown = _shown(answer, check)
        told = [f"{printable.name(symbol)} = {value}" for symbol, value in shown]
        told.append(f"All assertions are true there, evaluated exactly, {took}{who}.")
        return told + [f"{many} proved for it: {proofs}."] * bool(answer.settled) + resting
    if answer.standing is Standing.UNKNOWN:
        return [f"{answer.end.value}: {answer.reason}"]
    told = (
        [f"{answer.reason[:1].upper()}{answer.reason[1:]}, evaluated exactly{who}."] if answer.reason else []
    )
    if answer.settled:
        told.append(f"{many} proved {took}: {proofs}.")
    elif not answer.solvers and not answer.reason:
        told.append(f"No claim was left to prove, {took}.")
    return told + resting


def _shown(answer: Answered, check: Check) -> list[tuple[str, str]]:
    """Returns the values of the constants that the script declares, in its order."""
    assert answer.point is not None
    numbers, truths = answer.point.numbers, answer.point.truths
    found = [(name, _number(numbers[name])) for name in check.reals if name in numbers]
    return found + [(name, str(truths[name]).lower()) for name in check.booleans if name in truths]


def _number(value: Number) -> str:
    return documents.exact(value) if isinstance(value, Fraction) else roots.root_text(value)


def document(report: ScriptReport) -> dict[str, Any]:
    """Returns the answers as JSON data."""
    pairs = zip(report.script.checks, report.answers, strict=True)
    return {
        **_standing(report.standing),
        "logic": report.script.logic or "ALL",
        "checks": [check_document(check, answer) for check, answer in pairs],
        "wrong": list(report.wrong),
        "seconds": round(report.seconds, 6),
    }


def _standing(standing: Standing) -> dict[str, str]:
    return {"status": standing.value, "verdict": standing.of_script}


def check_document(check: Check, answer: Answered) -> dict[str, Any]:
    """Returns the answer to one question as JSON data."""
    told: dict[str, Any] = {
        "number": check.number,
        "line": check.line,
        **_standing(answer.standing),
        "stated": check.expected,
        "found_by": list(answer.found_by),
        "on_the_word_of": list(answer.solvers),
        "claims": [documents.decision(decision) for _, decision in answer.settled],
        "seconds": round(answer.seconds, 6),
    }
    if answer.standing is Standing.VIOLATED and answer.point is not None:
        numbers, truths = answer.point.numbers, answer.point.truths
        told["model"] = {n: _document(numbers[n]) for n in check.reals if n in numbers}
        told["model"] |= {n: truths[n] for n in check.booleans if n in truths}
    if answer.standing is Standing.UNKNOWN:
        told["end"] = answer.end.value
    if answer.reason:
        told["reason"] = answer.reason
    return told


def _document(value: Number) -> str | dict[str, Any]:
    return documents.exact(value) if isinstance(value, Fraction) else roots.root_document(value)
