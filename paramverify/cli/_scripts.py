"""`verify FILE.smt2`: the questions of an SMT-LIB script, in the words of solvers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from paramverify.answers import Standing
from paramverify.cli import _output
from paramverify.cli._common import print_json, say, time_limit, write_json
from paramverify.cli._exits import Exit
from paramverify.cli._settings import settings
from paramverify.formats.script_reading import Check, read_script
from paramverify.portfolio.session import Options
from paramverify.reports import scripts
from paramverify.scripts.answers import Answered, ScriptReport
from paramverify.scripts.deciding import decide_script


def verify_script(
    path: str, timeout: float, options: Options, as_json: bool, evidence: Path | None, **others: Any
) -> int:
    """Answers the questions of a script, prints the answers, and returns the exit code."""
    for name in (name for name, given in others.items() if given):
        reason = WHY.get(name, "it is for cases")
        raise click.UsageError(f"{path} is an SMT-LIB script: leave --{name} out, {reason}")
    if settings():
        raise click.UsageError(f"{path} is an SMT-LIB script, and has no definitions for -D")
    with time_limit(timeout) as lift:
        script = read_script(Path(path))
        if evidence:
            from paramverify.reports.script_evidence import check_has_evidence, evidence_document

            check_has_evidence(script)
        report = decide_script(script, options, _keep)
    if evidence:
        lift()
        write_json(evidence, evidence_document(report), indent=1)
    if as_json:
        print_json(scripts.document(report))
    else:
        for line in scripts.lines(report):
            say(line)
    return exit_code(report)


def _keep(check: Check, answer: Answered) -> None:
    """Keeps an answer, in case that a limit ends the run."""
    word = f"  Question {check.number}, line {check.line}: {answer.standing.of_script}"
    _output.add("checks", scripts.check_document(check, answer), word)


WHY = {
    "budgets": "a script has no privacy budget",
    "encoding": "its formula is there already",
    "cluster": "its questions are decided here",
}


def exit_code(report: ScriptReport) -> Exit:
    """Returns 0 where all is answered, as solvers do; 1 if the script states otherwise; 3 for unknown."""
    if report.wrong:
        return Exit.VIOLATED
    return Exit.UNKNOWN if report.standing is Standing.UNKNOWN else Exit.HOLDS
