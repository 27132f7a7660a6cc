"""`paramverify verify FILE`: is it private, or true, for every point of the domain?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from paramverify.answers import Decision, Standing
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
    write_text,
)
from paramverify.cli._folders import verify_all
from paramverify.cli._functions import FOUND, way
from paramverify.errors import InputError
from paramverify.reports.attempt_reports import Race, attempt_line, attempt_lines, attempt_rows
from paramverify.subjects.questions import Verify
from paramverify.subjects.results import Result

LISTED = (110, "Prove that a case is private for every prior, or show a counterexample.")

BUDGETS = "Decide the case for each of these bounds instead of its own, such as 1,ln(2),2."
ATTEMPTS = "List which backends tried each claim, what they answered, and why others were stopped."
LEAK_TEST = "Write a test for pytest that shows, by sampling, that FILE.py::FUNCTION is not private."
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
@click.option("--leak-test", "leak_test", type=OUTPUT_FILE, help=LEAK_TEST)
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
    leak_test: Path | None,
    show_attempts: bool,
) -> int:
    """Prove that a case is private for every prior, or show a counterexample.

    \b
    Example:
      paramverify verify case.toml --evidence proof.json

    If CASE is a folder, the command decides all case files in it, each within the time limit, and prints a
    line for each.

    A case with a [claim] is proved for all values of its parameters, or refuted at one point. The command
    also decides interactive systems and chains with formulas, for which the commands `interactive` and
    `logic` have more options. An automaton over streams (.dipa) is private if some multiple of epsilon is
    enough for every epsilon and for streams of every length; a case with such an automaton, or with a program
    over a stream, states its own budget.

    Exit codes: 0 if private or true, 1 if not private or false, 3 if undecided. With --budgets, the exit code
    is 1 if it is 1 for some bound, otherwise 3 if it is 3 for some bound, otherwise 0. For an SMT-LIB script
    (.smt2), the exit code is 0 for sat and for unsat, 1 if the script states the other :status, and 3 for
    unknown. For a folder, the exit code is that of the worst answer: 2 if a file has a mistake, otherwise 1,
    3 or 0, in this order.
    """
    typed = Typed(as_json, timeout, backends, strategy, confirm)
    options = replace(typed.options(), executor=executor())
    if encoding == MONOLITHIC:
        own: dict[str, object] = {"evidence": evidence, "budgets": budgets, "show-attempts": show_attempts}
        own["leak-test"] = leak_test
        given = typed.given() | {name for name, value in own.items() if value}
        if options.require_certificates:
            given.add("require-certificates")
        if options.steps is not None:
            given.add("simplify" if options.steps else "no-simplify")
        for name in sorted(given):
            raise click.UsageError(
                f"--encoding {MONOLITHIC} asks Z3 about whole formulas: leave --{name} out"
            )
    if evidence and budgets is not None:
        raise click.UsageError("--evidence is about one bound: leave --budgets out")
    if leak_test and FOUND not in click.get_current_context().meta:
        raise click.UsageError("--leak-test is about a function: write FILE.py::FUNCTION, or leave it out")
    if Path(case).is_dir():
        if evidence or budgets is not None or show_attempts or encoding == MONOLITHIC:
            raise click.UsageError(
                "a folder has several cases: leave --evidence, --budgets, --show-attempts and --encoding out"
            )
        return verify_all(Path(case), typed, options)
    question = Verify(evidence=evidence is not None, budgets=budgets, encoding=encoding)
    races: list[Race] = []
    if show_attempts:
        if not options.executor.is_here:
            raise click.UsageError("--show-attempts lists races on this machine only: leave --cluster out")

        def heard(claim: Claim | str, decisions: Sequence[Decision]) -> None:
            races.append((claim, decisions))
            for row in attempt_rows(races[-1:], len(races)):
                _output.add("attempts", row, attempt_line(row))

        options = replace(options, on_race=heard)
    result = answered(case, question, typed, Files(evidence), options=options)
    if show_attempts:
        told = {**result.document, "attempts": attempt_rows(races)}
        result = replace(result, document=told, lines=[*result.lines, *attempt_lines(races)])
    if leak_test:
        _write_test(leak_test, result)
    return printed(result, as_json)


def _write_test(path: Path, result: Result) -> None:
    """Writes a test that shows a violation by sampling the function, or says why there is none."""
    file, function = click.get_current_context().meta[FOUND]
    if result.ending is not Standing.VIOLATED or result.witness is None:
        click.echo("No test was written: no violation is known.", err=True)
        return
    _output.runs_users_code(True)
    try:
        write_text(path, function.test_of(result.witness.told(), path=way(path, file)))
    except InputError as error:
        click.echo(f"No test was written: {error.reason}.", err=True)
    finally:
        _output.runs_users_code(False)
