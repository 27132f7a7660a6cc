"""`paramverify verify CASE`: holds, violated with a witness, or unknown."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from paramverify.answers import Decision, Proved
from paramverify.claims import Claim
from paramverify.cli import _output
from paramverify.cli._cluster import cluster_option, executor
from paramverify.cli._common import (
    MONOLITHIC,
    OUTPUT_FILE,
    case_argument,
    encoding_option,
    json_option,
    print_json,
    progress_bar,
    say,
    session_option,
    session_options,
    time_limit,
    timeout_option,
    write_json,
)
from paramverify.cli._exits import STATUS_CODES
from paramverify.cli._settings import settings
from paramverify.cli._streams import about_streams
from paramverify.portfolio.session import Options
from paramverify.privacy.cases import PrivacyCase, load
from paramverify.privacy.sides import deciding
from paramverify.privacy.verification import PrivacyReport, Progress
from paramverify.reports import documents, verdicts
from paramverify.synthesis.borders import verify_beyond

LISTED = (10, "Prove a case private for every prior, or show how it leaks.")

SCRIPT, AUTOMATON = ".smt2", ".dipa"
FOR_EVIDENCE = 2.0  # seconds in which a certificate of a claim may follow a solver's word
REQUIRED = "require-certificates"
BUDGETS = "Verify for each of these bounds instead of the case's own, such as 1,ln(2),2."
WRITE = "Write the evidence to this file, for `paramverify check`."


@click.command("verify")
@case_argument
@json_option
@timeout_option
@session_option
@cluster_option
@click.option("--evidence", "evidence", type=OUTPUT_FILE, help=WRITE)
@encoding_option
@click.option("--budgets", metavar="BOUNDS", help=BUDGETS)
def command(
    case: str,
    as_json: bool,
    timeout: float,
    backends: str | None,
    strategy: str | None,
    confirm: int,
    evidence: Path | None,
    encoding: str,
    budgets: str | None,
) -> int:
    """Prove a case private for every prior, or show how it leaks.

    A case with a [claim] of its own is proved for every point of its parameters, or refuted at one.
    With --budgets the exit code is that of the worst: 1, else 3, else 0.

    An SMT-LIB script (.smt2) is answered by sat, unsat or unknown. Then the exit code is 0 for both answers,
    1 if the script states another :status, and 3 for unknown.

    An automaton over streams (.dipa) is private if some multiple of epsilon is enough for every epsilon and
    streams of every length. A case with such an automaton, or a program over a stream, has its own budget.
    """
    options = replace(session_options(timeout, backends, strategy, confirm), executor=executor())
    chosen: dict[str, Any] = {"backends": backends, "strategy": strategy, "confirm": confirm > 1}
    others = {"encoding": encoding == MONOLITHIC, "budgets": budgets, "cluster": not options.executor.is_here}
    if case.endswith(AUTOMATON):
        return _of_automaton(case, options, as_json, evidence, **chosen, **others)
    if about_streams(case):
        return _of_stream(case, options, as_json, evidence, **chosen, **others)
    if case.endswith(SCRIPT):
        return _of_script(case, timeout, options, as_json, evidence=evidence, **others)
    if encoding == MONOLITHIC:
        chosen |= {"evidence": evidence, "budgets": budgets, REQUIRED: options.require_certificates}
        return _of_formulas(case, timeout, options, as_json, **chosen)
    if budgets is not None:
        if evidence:
            raise click.UsageError("--evidence is for one budget: leave --budgets out")
        from paramverify.cli._budgets import verify_budgets

        return verify_budgets(case, budgets, timeout=timeout, options=options, as_json=as_json)
    with time_limit(timeout) as lift, progress_bar("claims") as progress:
        until = time.monotonic() + options.seconds
        loaded = load(case, settings=settings())
        if evidence:
            _check_has_evidence(loaded)
            options = replace(options, evidence=FOR_EVIDENCE)
        options, settled = _kept(options, progress, as_json)
        loaded = deciding(loaded, options)
        report = verify_beyond(loaded, options, settled, near=not evidence)
        condition = _condition(loaded, max(0.01, until - time.monotonic()))
    if evidence:
        lift()
        _write_evidence(evidence, loaded, report)
    if as_json:
        print_json(verdicts.document(report, loaded) | documents.side_condition(loaded.model) | condition)
        return STATUS_CODES[report.status]
    told = [f"  {name.capitalize()}: {text}" for name, text in condition.items()]
    for line in (*verdicts.lines(report, loaded), *told, *verdicts.notes(report, loaded)):
        say(line)
    return STATUS_CODES[report.status]


def _of_formulas(case: str, timeout: float, options: Options, as_json: bool, **others: Any) -> int:
    for name in (name for name, given in others.items() if given):
        raise click.UsageError(f"--encoding {MONOLITHIC} asks Z3, and has no claims: leave --{name} out")
    from paramverify.cli._formulas import verify_formulas

    return verify_formulas(case, timeout, options, as_json)


def _of_script(case: str, timeout: float, options: Options, as_json: bool, **others: Any) -> int:
    from paramverify.cli._scripts import verify_script

    if others["evidence"]:
        options = replace(options, evidence=FOR_EVIDENCE)
    return verify_script(case, timeout, options, as_json, **others)


def _of_stream(case: str, options: Options, as_json: bool, evidence: Path | None, **others: Any) -> int:
    from paramverify.cli._automata import verify_stream

    return verify_stream(case, options, as_json, evidence, **others)


def _of_automaton(case: str, options: Options, as_json: bool, evidence: Path | None, **others: Any) -> int:
    from paramverify.cli._automata import verify_automaton

    return verify_automaton(case, options, as_json, evidence, **others)


def _check_has_evidence(case: PrivacyCase) -> None:
    from paramverify.reports.evidence import check_has_evidence

    check_has_evidence(case)


def _write_evidence(path: Path, case: PrivacyCase, report: PrivacyReport) -> None:
    from paramverify.reports.evidence import evidence_document

    write_json(path, evidence_document(case, report), indent=1)


def _condition(case: PrivacyCase, seconds: float) -> dict[str, str]:
    """Returns what is said besides the verdict; what that needs is imported only where there is something."""
    if not (case.free or case.design):
        return {}
    from paramverify.reports import conditions

    return conditions.told(case, seconds)


def _kept(options: Options, progress: Progress, as_json: bool) -> tuple[Options, Progress]:
    """Returns both so that what is settled is kept, in case that a limit ends the run."""
    proved = 0

    def decided(claim: Claim, decision: Decision) -> None:
        nonlocal proved
        if claim.origins:
            proved += isinstance(decision.answer, Proved)
            if as_json:
                _output.add("claims", documents.origin(claim.origins[0]) | documents.decision(decision))

    def settled(done: int, total: int) -> None:
        if not as_json:
            _output.found([f"  {proved} of {total} claims were proved until then, {done} were tried."], {})
        progress(done, total)

    return replace(options, on_decision=decided), settled
