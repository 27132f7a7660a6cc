"""`verify` of all kinds of cases."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.answers import Standing
from paramverify.api.clock import clock
from paramverify.api.options import Limits, options_of
from paramverify.api.reading import Kind, Read
from paramverify.api.results import VerifyReport
from paramverify.api.streams import verify_file
from paramverify.api.witnesses import Witness, told_witness
from paramverify.automata.cases import StreamCase
from paramverify.automata.stream_verdicts import StreamVerdict
from paramverify.automata.stream_verdicts import decide as decide_stream
from paramverify.errors import InputError, LimitError, TimeLimitError, located
from paramverify.interactive import certificates
from paramverify.interactive.cases import InteractiveCase
from paramverify.interactive.cases import load as load_system
from paramverify.interactive.verification import Noninterference
from paramverify.interactive.verification import verify as verify_system
from paramverify.logic.cases import LogicCase
from paramverify.logic.comparisons import SchedulerChoice
from paramverify.logic.families import check_property
from paramverify.logic.verification import FormulaResult, LogicSession
from paramverify.portfolio.session import Options, Session
from paramverify.portfolio.unasked import remarked
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.runs import told_run
from paramverify.privacy.sides import deciding
from paramverify.privacy.verification import verify as verify_case
from paramverify.reports import conditions, documents, interactive, logic, streams, verdicts
from paramverify.reports.evidence import evidence_document
from paramverify.reports.logic_evidence import evidence_of
from paramverify.reports.systems import exact
from paramverify.synthesis.borders import verify_beyond
from paramverify.verdicts import Unknown, Violated


def verify_read(reading: Callable[[], Read], limits: Limits) -> VerifyReport:
    """Reads a case and decides it; see `paramverify.verify`."""
    options = options_of(limits)
    decide: dict[Kind, Callable[[Read, Options], VerifyReport]] = {
        Kind.PRIVACY: _case,
        Kind.CLAIM: _case,
        Kind.INTERACTIVE: _system,
        Kind.LOGIC: _formulas,
        Kind.STREAM: _stream,
        Kind.AUTOMATON: verify_file,
    }
    started = time.perf_counter()
    kind: Kind | None = None
    try:
        with clock(options) as left:
            read = reading()
            kind = read.kind
            return decide[kind](read, left())
    except LimitError as error:
        if kind is None and not isinstance(error, TimeLimitError):
            raise
        return _open(kind or Kind.PRIVACY, error, time.perf_counter() - started)


def _open(kind: Kind, error: LimitError, seconds: float) -> VerifyReport:
    """Returns the report of a limit that was met before anything was decided."""
    claimed = kind in (Kind.CLAIM, Kind.LOGIC)
    word = Standing.UNKNOWN.of_claim if claimed else Standing.UNKNOWN.of_case
    document: dict[str, Any] = {"status": Standing.UNKNOWN, "verdict": word, "reason": str(error)}
    if isinstance(error, TimeLimitError):
        document["end"] = "timeout"
    return VerifyReport(kind, (f"{word}: {error}",), document, seconds, reason=str(error))


def _case(read: Read, options: Options) -> VerifyReport:
    case = read.content
    assert isinstance(case, PrivacyCase)
    until = time.monotonic() + options.seconds
    case = deciding(case, options)
    found = verify_beyond(case, options, near=True)
    condition = conditions.told(case, max(0.01, until - time.monotonic()))
    violated = isinstance(found.verdict, Violated)
    return VerifyReport(
        kind=read.kind,
        lines=(
            *verdicts.lines(found, case),
            *(f"  {name.capitalize()}: {told}" for name, told in condition.items()),
            *verdicts.notes(found, case),
        ),
        document=verdicts.document(found, case) | documents.side_condition(case.model) | condition,
        seconds=found.seconds,
        notes=tuple(found.notes),
        status=found.status,
        witness=told_witness(found.verdict.witness) if isinstance(found.verdict, Violated) else None,
        run=told_run(case, found.verdict.witness) if isinstance(found.verdict, Violated) else None,
        reason=_reason(found.verdict) if not violated else "",
        result=found,
        _evidence=lambda: evidence_document(case, verify_case(case, options) if found.bound else found),
    )


def _reason(verdict: object) -> str:
    return f"{verdict.end.value}: {verdict.detail}" if isinstance(verdict, Unknown) else ""


def _system(read: Read, options: Options) -> VerifyReport:
    case = read.content
    assert isinstance(case, InteractiveCase)
    if not case.bounded:
        with read.as_file():
            load_system(read.path)  # says what is missing
    found = verify_system(case, options)
    return VerifyReport(
        kind=read.kind,
        lines=tuple(interactive.all_lines(case, found)),
        document=interactive.document(case, found),
        seconds=found.seconds,
        notes=tuple(interactive.remarks(case, found)),
        status=found.status,
        witness=_leak(case, found),
        reason=_reason(found.verdict),
        result=found,
        _evidence=lambda: certificates.evidence_document(case, found, options),
    )


def _stream(read: Read, options: Options) -> VerifyReport:
    case = read.content
    assert isinstance(case, StreamCase)
    found = decide_stream(case, options)
    document, example = streams.document(found), found.example
    return VerifyReport(
        kind=read.kind,
        lines=tuple(streams.lines(found)),
        document=document,
        seconds=found.seconds,
        status=found.standing,
        witness=None if example is None else told_witness(example.witness),
        reason=str(document.get("reason", "")),
        result=found,
        _evidence=lambda: _stream_evidence(found),
    )


def _stream_evidence(found: StreamVerdict) -> dict[str, Any]:
    document = streams.evidence_document(found)
    if document is None:
        raise InputError("there is no evidence for this verdict about streams")
    return document


def _leak(case: InteractiveCase, found: Noninterference) -> Witness | None:
    """Returns a violation of an interactive system, where its numbers are numbers."""
    leak, names = found.refutation, case.system.actions.names
    if leak is None:
        return None
    numbers = [exact(case, weight) for weight in (*leak.probabilities, found.bound)]
    left, right, bound = (None if n is None else ExactNumber(n) for n in numbers)
    if left is None or right is None or bound is None:
        return None
    return Witness(
        parameters=dict(found.parameters),
        left=tuple(names[a] for a in leak.left),
        right=tuple(names[a] for a in leak.right),
        observations=tuple(names[a] for a in leak.event.trace),
        probabilities=(left, right),
        ratio=left / right if right else ExactNumber(None),
        bound=bound,
    )


def _formulas(read: Read, options: Options) -> VerifyReport:
    case = read.content
    assert isinstance(case, LogicCase)
    for name in case.questions:
        raise InputError("P=? asks for a number and claims nothing: use `paramverify logic`", key=name)
    started = time.perf_counter()
    with Session(options) as session, located(file=case.path):
        work = LogicSession(case, session, SchedulerChoice.AUTO)
        doubt = work.prepare()
        if doubt:
            raise LimitError(f"the model is in doubt: {doubt.detail}")
        results: dict[str, FormulaResult] = {}
        for name, asked in case.properties.items():
            with located(key=name):
                results[name] = check_property(work, asked, lambda done, total: None)
    status = logic.status(results)
    seconds = time.perf_counter() - started
    obligations = [decision for _, decision in work.obligations]
    first = next((name for name, r in results.items() if r.reason), "")
    lines, document = remarked(
        session,
        logic.all_lines(case, results, obligations, {}),
        logic.document(case, results, status, seconds, obligations),
    )
    return VerifyReport(
        kind=read.kind,
        lines=tuple(lines),
        document=document,
        seconds=seconds,
        notes=tuple(logic.notes(case)),
        status=status,
        reason=f"{first}: {results[first].reason}" if first else "",
        formulas={name: result.status.of_claim for name, result in results.items()},
        result=results,
        _evidence=lambda: _formula_evidence(work, results, options),
    )


def _formula_evidence(
    work: LogicSession, results: Mapping[str, FormulaResult], options: Options
) -> dict[str, Any]:
    with Session(options) as session:
        return evidence_of(replace(work, session=session), results)[0]


def no_meaning(read: Read, what: str, why: Mapping[Kind, str]) -> InputError:
    """Returns the error for a question that a kind of case has no meaning for."""
    error = InputError(f"{what} has no meaning for this case: {why[read.kind]}")
    error.file = str(read.path)
    return error
