"""`paramverify verify FILE`: is it private, or true, for every point of the domain?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from paramverify.answers import Decision
from paramverify.claims import Claim
from paramverify.cli import _output
from paramverify.cli._answers import Files, Typed, answered, printed
from paramverify.cli._cluster import cluster_option, executor
from paramverify.cli._common import (
    MONOLITHIC,
    OUTPUT_FILE,
    case_argument,
    encoding_option,
    json_option,
    session_option,
    timeout_option,
)
from paramverify.reports.attempt_reports import Race, attempt_line, attempt_lines, attempt_rows
from paramverify.subjects.questions import Verify

LISTED = (10, "Prove a case private for every prior, or show how it leaks.")

BUDGETS = "Verify for each of these bounds instead of the case's own, such as 1,ln(2),2."
ATTEMPTS = "List who was asked about each claim, what they answered, and who was stopped and why."
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
@click.option("--show-attempts", "show_attempts", is_flag=True, help=ATTEMPTS)
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
    show_attempts: bool,
) -> int:
    """Prove a case private for every prior, or show how it leaks.

    A case with a [claim] of its own is proved for every point of its parameters, or refuted at one.
    With --budgets the exit code is that of the worst: 1, else 3, else 0.

    Interactive systems and chains with formulas are decided, too; the commands `interactive` and `logic` have
    more options for them.

    An SMT-LIB script (.smt2) is answered by sat, unsat or unknown. Then the exit code is 0 for both answers,
    1 if the script states another :status, and 3 for unknown.

    An automaton over streams (.dipa) is private if some multiple of epsilon is enough for every epsilon and
    streams of every length. A case with such an automaton, or a program over a stream, has its own budget.
    """
    typed = Typed(as_json, timeout, backends, strategy, confirm)
    options = replace(typed.options(), executor=executor())
    if encoding == MONOLITHIC:
        own = {"evidence": evidence, "budgets": budgets, "show-attempts": show_attempts}
        given = typed.given() | {name for name, value in own.items() if value}
        if options.require_certificates:
            given.add("require-certificates")
        if options.steps is not None:
            given.add("simplify" if options.steps else "no-simplify")
        for name in sorted(given):
            raise click.UsageError(f"--encoding {MONOLITHIC} asks Z3, and has no claims: leave --{name} out")
    if evidence and budgets is not None:
        raise click.UsageError("--evidence is for one budget: leave --budgets out")
    question = Verify(evidence=evidence is not None, budgets=budgets, encoding=encoding)
    races: list[Race] = []
    if show_attempts:
        if not options.executor.is_here:
            raise click.UsageError("--show-attempts is about races on this machine: leave --cluster out")

        def heard(claim: Claim | str, decisions: Sequence[Decision]) -> None:
            races.append((claim, decisions))
            for row in attempt_rows(races[-1:], len(races)):
                _output.add("attempts", row, attempt_line(row))

        options = replace(options, on_race=heard)
    result = answered(case, question, typed, Files(evidence), options=options)
    if show_attempts:
        told = {**result.document, "attempts": attempt_rows(races)}
        result = replace(result, document=told, lines=[*result.lines, *attempt_lines(races)])
    return printed(result, as_json)
