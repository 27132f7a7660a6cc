"""What is said of a case about streams, in words and as JSON data."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from paramverify.answers import Standing
from paramverify.automata import evidence
from paramverify.automata.one_place import OneReport
from paramverify.automata.stream_verdicts import StreamVerdict
from paramverify.automata.verification import Report
from paramverify.reports import automata

WHO = {False: "differ by at most 1 each", True: "differ in one entry, by at most 1"}


def budget(verdict: StreamVerdict, multiple: Fraction | None = None) -> str:
    """Returns a multiple of the parameter, or the budget of the case: `5/4*eps`."""
    return automata.times(verdict.case.multiple if multiple is None else multiple, verdict.case.parameter)


def whom(verdict: StreamVerdict) -> str:
    """Returns for which streams a verdict is."""
    return f"for every {verdict.case.parameter} > 0, and streams of every length that {WHO[verdict.case.one]}"


def lines(verdict: StreamVerdict) -> list[str]:
    """Returns the verdict and what it rests on, line by line."""
    standing, told = verdict.standing, f"epsilon = {budget(verdict)}"
    if standing is Standing.HOLDS:
        return [f"{standing.of_case}: {told}, {whom(verdict)}.", *_bounds(verdict), _size(verdict)]
    if standing is Standing.UNKNOWN:
        reason = verdict.reason or _open(verdict)
        return [f"{standing.of_case}: {told}.", f"  {reason}.", *_bounds(verdict), _size(verdict)]
    found = [f"{standing.of_case}: {told}."]
    example = verdict.example
    if isinstance(verdict.report, Report) and verdict.report.family is not None:
        found += [f"  No multiple of {verdict.case.parameter} is enough for streams of every length."]
        found += automata.family_lines(verdict.case.automaton, verdict.report.family, verdict.case.parameter)
    if isinstance(verdict.report, Report):
        found += automata.multiple_lines(verdict.report, verdict.case.multiple, example)[1:]
    elif example is not None:
        found += automata.example_lines(verdict.case.automaton, example)
    return [*found, *_bounds(verdict), _size(verdict)]


def _open(verdict: StreamVerdict) -> str:
    if isinstance(verdict.report, Report) and verdict.report.reason:
        return verdict.report.reason
    return "whether this budget is enough is not known"


def _bounds(verdict: StreamVerdict) -> list[str]:
    """Returns which multiples are known to be enough, and which not."""
    known, least, told = verdict.known, verdict.least, []
    numbers = " of any numbers" if verdict.case.values is not None else ""
    if known is not None and known == least:
        least_one = f"The least budget{' for streams' * bool(numbers)}{numbers} is {budget(verdict, known)}"
        return [f"  {least_one}{': it is enough for these values too' * bool(numbers)}."]
    if known is not None:
        told.append(f"  {budget(verdict, known)} is enough.")
    if least:
        told.append(f"  Less than {budget(verdict, least)} is not enough for streams{numbers}.")
    if verdict.report.confused:
        told.append("  Note: outputs do not tell the way, so no lower bound is known.")
    return told


def _size(verdict: StreamVerdict) -> str:
    return f"  Decided by an automaton {automata.size(verdict.case.automaton, verdict.seconds)}"


def document(verdict: StreamVerdict) -> dict[str, Any]:
    """Returns the verdict as JSON data."""
    standing, automaton = verdict.standing, verdict.case.automaton
    told: dict[str, Any] = {
        "status": standing.value,
        "verdict": standing.of_case,
        "budget": budget(verdict),
        "multiple": str(verdict.case.multiple),
        "differ": "one" if verdict.case.one else "each",
        "states": len(automaton.states),
        "variables": len(automaton.variables),
        "transitions": len(automaton.transitions),
        "enough": None if verdict.known is None else str(verdict.known),
        "least": str(verdict.least),
        "seconds": round(verdict.seconds, 6),
    }
    if standing is Standing.UNKNOWN:
        told["reason"] = verdict.reason or _open(verdict)
    if standing is Standing.VIOLATED and isinstance(verdict.report, Report) and verdict.report.family:
        told["family"] = evidence.family(verdict.report.family)
    if verdict.example is not None:
        told["example"] = automata.example_document(automaton, verdict.example)
    return told


def evidence_document(verdict: StreamVerdict) -> dict[str, Any] | None:
    """Returns the evidence for `paramverify check`; None if there is none.

    There is none for a case that is undecided, nor for a violation by streams whose entries have few values.
    """
    case, report, standing = verdict.case, verdict.report, verdict.standing
    if standing is Standing.UNKNOWN or (standing is Standing.VIOLATED and case.values is not None):
        return None
    told = evidence.frame(case.automaton, standing.value, case.title, case.digest)
    told["claim"] = {"multiple": str(case.multiple), "differ": "one" if case.one else "each"}
    if isinstance(report, OneReport):
        if standing is Standing.VIOLATED and report.way is not None:
            told["least"] = evidence.least(report.way)
        return told
    return told | automata.proof_parts(report, standing)
