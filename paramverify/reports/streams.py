"""What is said of a case about streams, in words and as JSON data."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from paramverify.answers import Standing
from paramverify.automata import evidence
from paramverify.automata.cases import StreamCase
from paramverify.automata.examples import Example
from paramverify.automata.one_place import OneReport
from paramverify.automata.stream_verdicts import StreamVerdict
from paramverify.automata.verification import AutomatonReport, never_taken
from paramverify.evidence.witnesses import ExactWitness
from paramverify.reports import automata, documents

_NUMBER = re.compile(r"-?[0-9]+(?:/[0-9]+)?")


def budget(verdict: StreamVerdict, multiple: Fraction | None = None) -> str:
    """Returns a multiple of the parameter, or the budget of the case."""
    return budget_of(verdict.case) if multiple is None else automata.times(multiple, verdict.case.parameter)


def budget_of(case: StreamCase) -> str:
    """Returns the budget of a case: `5/4*eps`, `eps + 1`."""
    told, plus = automata.times(case.budget.multiple, case.parameter), case.budget.plus
    if not plus:
        return told
    return f"{told} + {plus}" if case.budget.multiple else str(plus)


def whom(verdict: StreamVerdict) -> str:
    """Returns for which streams a verdict is."""
    case = verdict.case
    by = f" by at most {case.by}" if case.by is not None else ""
    who = f"differ in one entry{',' * bool(by)}{by}" if case.one else f"differ{by or ' by anything'} each"
    if not case.reach:
        who = "are neighbours"
    return f"for every {case.parameter} > 0, and streams of every length that {who}"


def lines(verdict: StreamVerdict) -> list[str]:
    """Returns the verdict and what it rests on, line by line; of a file also what is odd in it."""
    case = verdict.case
    notes = automata.notes(case.automaton, verdict.report.graph) if case.in_file else []
    return [*_verdict(verdict), *notes]


def _verdict(verdict: StreamVerdict) -> list[str]:
    standing, told = verdict.standing, f"epsilon = {budget(verdict)}"
    if standing is Standing.HOLDS:
        return [f"{standing.of_case}: {told}, {whom(verdict)}.", *_bounds(verdict), _size(verdict)]
    if standing is Standing.UNKNOWN:
        reason = verdict.reason or _open(verdict)
        left_out = [f"  Note: {automata.TOO_LARGE}."] if verdict.looked and verdict.looked.too_large else []
        found = [f"{standing.of_case}: {told}.", f"  {reason}.", *left_out]
        return [*found, *_bounds(verdict), _size(verdict)]
    found = [f"{standing.of_case}: {told}."]
    example = verdict.example
    if isinstance(verdict.report, AutomatonReport) and verdict.report.family is not None:
        numbers = " of any numbers" if verdict.case.values is not None else ""
        none = f"No multiple of {verdict.case.parameter} is enough for streams of every length"
        found += [f"  {none}{numbers}."]
        named = verdict.case.parameter, verdict.case.reach, verdict.case.values is not None
        found += automata.family_lines(verdict.case.automaton, verdict.report.family, *named)
    if example is not None:
        found += automata.example_lines(verdict.case.automaton, example)
    else:
        known = "A way that costs more is known"
        if not verdict.case.budget.multiple:
            known = f"Whatever the number is, it is exceeded for large {verdict.case.parameter}"
        missing = automata.sentence(automata.no_example(verdict.looked))
        found += [*_gap(verdict), f"  {known}.", f"  {missing}"]
    return [*found, *_bounds(verdict), _size(verdict)]


def _gap(verdict: StreamVerdict) -> list[str]:
    """Returns streams of few values between which there is a gap."""
    gap = verdict.gap
    if gap is None:
        return []
    return [
        f"  Way: {automata.way_text(verdict.case.automaton, gap.steps)}",
        f"  Streams: {automata.stream(gap.streams.first)}",
        f"      and: {automata.stream(gap.streams.second)}",
    ]


def _open(verdict: StreamVerdict) -> str:
    if isinstance(verdict.report, AutomatonReport) and verdict.report.reason:
        return verdict.report.reason
    return "whether this budget is enough is not known"


def _bounds(verdict: StreamVerdict) -> list[str]:
    """Returns which multiples are known to be enough, and which not."""
    known, least, told = verdict.known, verdict.least, []
    few = verdict.case.values is not None
    if not verdict.case.reach:
        return ["  The least budget is 0: no two values of an entry are so near that streams are neighbours."]
    if known is not None and known == least:
        return [f"  The least budget{' for these values' * few} is {budget(verdict, known)}."]
    if known is not None:
        told.append(f"  {budget(verdict, known)} is enough.")
    if least:
        told.append(f"  Less than {budget(verdict, least)} is not enough{' for these values' * few}.")
    if few and verdict.least_of_any > least:
        of_any = budget(verdict, verdict.least_of_any)
        any_ = f"streams of any numbers that differ by at most {verdict.case.reach} each"
        told.append(f"  Less than {of_any} is not enough for {any_}.")
    if verdict.by_all:
        told.append("  All ways are finitely many. Each was decided for all streams of these values.")
    if verdict.report.confused:
        told += _confused(verdict)
    return told


def _confused(verdict: StreamVerdict) -> list[str]:
    """Returns that outputs do not tell the way, and what to do about it."""
    report = verdict.report
    assert report.confused is not None
    if verdict.case.in_file:
        return automata.confused_lines(verdict.case.automaton, report.graph, report.confused)
    return [
        "  Note: outputs do not tell the way, so no lower bound is known.",
        "  Put out a word for every entry, and different words in different branches,",
        "  if an observer can tell them apart.",
    ]


def _size(verdict: StreamVerdict) -> str:
    return f"  Decided by an automaton {automata.size(verdict.case.automaton, verdict.seconds)}"


def document(verdict: StreamVerdict) -> dict[str, Any]:
    """Returns the verdict as JSON data."""
    standing, automaton = verdict.standing, verdict.case.automaton
    told: dict[str, Any] = {
        "status": standing.value,
        "verdict": standing.of_case,
        "budget": budget(verdict),
        "multiple": str(verdict.case.budget.multiple),
        "plus": str(verdict.case.budget.plus),
        "differ": "one" if verdict.case.one else "each",
        "by": "any" if verdict.case.by is None else str(verdict.case.by),
        "states": len(automaton.states),
        "variables": len(automaton.variables),
        "transitions": len(automaton.transitions),
        "enough": None if verdict.known is None else str(verdict.known),
        "least": str(verdict.least),
        "least_of_any": str(verdict.least_of_any),
        "seconds": round(verdict.seconds, 6),
    }
    if standing is Standing.UNKNOWN:
        told["reason"] = verdict.reason or _open(verdict)
    if standing is Standing.VIOLATED and verdict.example is None:
        told["reason"] = automata.no_example(verdict.looked)
    if (
        standing is Standing.VIOLATED
        and isinstance(verdict.report, AutomatonReport)
        and verdict.report.family
    ):
        found = verdict.report.family
        told["family"] = evidence.family(found) | {"gain": str(found.gain * verdict.case.reach)}
    if verdict.case.values is not None:
        told["values"] = list(map(str, verdict.case.values))
    if verdict.by_all:
        told["all_ways"] = True
    if verdict.gap is not None and verdict.example is None:
        both = verdict.gap.streams.first, verdict.gap.streams.second
        told["gap"] = {"way": list(verdict.gap.steps), "streams": [list(map(str, side)) for side in both]}
    if verdict.case.in_file:
        told["ends"] = [state.name for state in verdict.report.graph.ends]
        if never := never_taken(automaton, verdict.report.graph):
            told["never"] = list(never)
        if automata.reads_nothing(automaton):
            told["notes"] = [automata.READS_NOTHING]
    if verdict.example is not None:
        told["example"] = automata.example_document(automaton, verdict.example)
    return told


def _example(case: StreamCase, found: Example) -> dict[str, Any]:
    """Returns an example as evidence has it: the checker computes its probabilities again."""
    shown, (unbounded, *_) = documents.witness(found.witness), found.case.model.domain.ring.unbounded
    numbers = [_number(told) for told in shown["probabilities"]]
    streams = [list(map(str, stream)) for stream in (found.streams.first, found.streams.second)]
    if _NUMBER.findall(shown["secrets"][0]) != streams[0]:  # the witness has them the other way round
        streams.reverse()
    told: dict[str, Any] = {
        "steps": list(found.way.steps),
        "streams": streams,
        "at": shown["parameters"][unbounded.variable],
        "step": str(unbounded.step),
        "output": shown["observations"][0],
        "probabilities": numbers,
    }
    return told | automata.put_out(case.automaton, found.way.steps)


def _number(told: Any) -> dict[str, str]:
    """Returns an exact number, or between which two numbers a logarithm lies."""
    return {k: told[k] for k in ("lower", "upper")} if isinstance(told, dict) else {"exact": str(told)}


def evidence_document(verdict: StreamVerdict) -> dict[str, Any] | None:
    """Returns the evidence for `paramverify check`; None if there is none.

    There is none for a case that is undecided, nor for one of few values that is decided by single streams,
    or by all of them: then there is neither a proof for any numbers nor a gap.
    """
    case, report, standing = verdict.case, verdict.report, verdict.standing
    few = case.values is not None
    without = few and standing is Standing.VIOLATED and verdict.least <= case.budget.multiple
    if standing is Standing.UNKNOWN or verdict.by_all or without:
        return None
    told = evidence.frame(case.automaton, standing.value, case.title, case.digest)
    told["claim"] = evidence.claim(case)
    if verdict.example is not None and isinstance(verdict.example.witness, ExactWitness):
        told["example"] = _example(case, verdict.example)
    if few and standing is Standing.VIOLATED and verdict.gap is not None:
        return told | {"gap": evidence.gap(verdict.gap)}
    if not case.reach:
        return told
    if isinstance(report, OneReport):
        if standing is Standing.VIOLATED and report.way is not None:
            told["least"] = evidence.least(report.way)
        return told
    return told | automata.proof_parts(report, standing)
