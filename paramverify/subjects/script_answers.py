"""The answers to the questions of an SMT-LIB script, in the words of solvers."""

from __future__ import annotations

import time
from dataclasses import replace

from paramverify.answers import Standing
from paramverify.formats.smtlib_scripts import Check, Script
from paramverify.portfolio.session import Options
from paramverify.reports import script_reports
from paramverify.reports.script_reports import check_has_evidence, evidence_document
from paramverify.scripts.script_decisions import decide_script
from paramverify.scripts.script_evaluation import Answered
from paramverify.subjects.questions import FOR_EVIDENCE, Verify
from paramverify.subjects.results import FormulaFacts, Result
from paramverify.subjects.subject import CaseFile, Watch


def verify(file: CaseFile, asked: Verify, options: Options, watch: Watch) -> Result:
    """Answers each question by sat, unsat or unknown.

    It ends well if all is answered, as solvers do; it does not if the script states another answer.
    """
    until = time.monotonic() + options.seconds
    script: Script = file.content()
    if asked.evidence:
        check_has_evidence(script)
        options = replace(options, evidence=FOR_EVIDENCE)

    def keep(check: Check, answer: Answered) -> None:
        """Keeps an answer, in case that a limit ends the run."""
        word = f"  Question {check.number}, line {check.line}: {answer.standing.of_script}"
        watch.entry("checks", script_reports.check_document(check, answer), word)

    left = max(0.01, until - time.monotonic())  # reading took a part of it
    report = decide_script(script, replace(options, seconds=left), keep)
    ending = Standing.UNKNOWN if report.standing is Standing.UNKNOWN else Standing.HOLDS
    return Result(
        list(script_reports.lines(report)),
        script_reports.document(report),
        standing=report.standing,
        ending=Standing.VIOLATED if report.wrong else ending,
        found=report,
        evidence=lambda: evidence_document(report),
        facts=FormulaFacts(
            {
                f"question {check.number}": answer.standing.of_script
                for check, answer in zip(script.checks, report.answers, strict=True)
            }
        ),
    )
