"""The answers of `paramverify logic`: verdicts about formulas, and numbers that are asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from paramverify.answers import Standing
from paramverify.cli import _output
from paramverify.cli._common import print_json, say
from paramverify.cli._exits import STATUS_CODES
from paramverify.errors import InputError, located
from paramverify.logic.cases import LogicCase
from paramverify.logic.families import check_property
from paramverify.logic.questions import QuestionAnswer, answer
from paramverify.logic.verification import FormulaResult, LogicSession
from paramverify.portfolio.unasked import remarked
from paramverify.reports import logic as reports
from paramverify.reports import questions


@dataclass
class LogicAnswers:
    """What is known of the formulas of a case, and of its questions, by their names."""

    results: dict[str, FormulaResult] = field(default_factory=dict)
    answers: dict[str, QuestionAnswer] = field(default_factory=dict)

    @property
    def standing(self) -> Standing:
        """The word for all formulas; without a formula nothing is violated."""
        return reports.status(self.results) if self.results else Standing.HOLDS

    @property
    def code(self) -> int:
        """The exit code: a question without an answer is undecided."""
        unanswered = any(found.unknown is not None for found in self.answers.values())
        undecided = unanswered and self.standing is Standing.HOLDS
        return STATUS_CODES[Standing.UNKNOWN if undecided else self.standing]


def refuse(case: LogicCase, budgets: bool, evidence: bool) -> None:
    """Refuses options that questions have no answer to."""
    for name in case.questions:
        with located(key=name):
            if budgets:
                raise InputError(
                    "only formulas with D have a least budget, and this one asks for a probability"
                )
            if evidence:
                raise InputError(
                    "--evidence is for formulas that are true or false, and this asks for a number"
                )


def check(work: LogicSession, progress: Callable[[int, int], None]) -> LogicAnswers:
    """Checks the formulas of a case one after the other, and answers its questions."""
    found = LogicAnswers()
    case, domain = work.case, work.chain.domain
    for name in case.order:
        with located(key=name):
            if name in case.questions:
                asked = case.questions[name]
                said = found.answers[name] = answer(work, asked)
                entry = {"property": name, **questions.document(asked, said, domain)}
                _output.add("answers", entry, *questions.lines(name, asked, said, domain))
                continue
            formula = case.properties[name]
            result = found.results[name] = check_property(work, formula, progress)
        if result.status is Standing.VIOLATED:
            _output.violated(Standing.VIOLATED.of_claim)
        _output.add(
            "properties", reports.entry(name, formula, result), *reports.lines(name, formula, result, domain)
        )
    return found


def tell(work: LogicSession, found: LogicAnswers, as_json: bool, seconds: float) -> None:
    """Prints what was found. Without a formula the JSON answer has no verdict."""
    case, domain = work.case, work.chain.domain
    obligations = [decision for _, decision in work.obligations]
    if as_json:
        asked = {n: questions.document(case.questions[n], a, domain) for n, a in found.answers.items()}
        told: dict[str, Any] = {"answers": asked} if asked else {}
        if found.results:
            told = reports.document(case, found.results, found.standing, seconds, obligations) | told
        else:
            told["seconds"] = round(seconds, 6)
        print_json(remarked(work.session, [], told)[1])
        return
    answers = {n: questions.lines(n, case.questions[n], a, domain) for n, a in found.answers.items()}
    lines = reports.all_lines(case, found.results, obligations, answers)
    for line in remarked(work.session, lines, {})[0]:
        say(line)
