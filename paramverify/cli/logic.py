"""`paramverify logic MODEL`: formulas of dpCTL* on Markov chains and decision processes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from paramverify.answers import Decision, Standing
from paramverify.cli import _output
from paramverify.cli._common import (
    OUTPUT_FILE,
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
from paramverify.cli._logic_budgets import Wanted, find_budgets
from paramverify.cli._pictures import Picture, picture_options
from paramverify.cli._settings import set_option, settings
from paramverify.errors import InputError, LimitError, located
from paramverify.logic.cases import Given, LogicCase, load
from paramverify.logic.comparisons import Choice
from paramverify.logic.families import check_property
from paramverify.logic.questions import Asked, answer
from paramverify.logic.verification import Result, Work
from paramverify.portfolio.session import Session
from paramverify.reports import logic as reports
from paramverify.reports import questions
from paramverify.tables import in_case

LISTED = (80, "Check formulas of dpCTL* on a Markov chain or decision process.")


@click.command("logic")
@click.argument("model", metavar="MODEL", type=click.Path(path_type=Path))
@click.option("--property", "-p", "properties", multiple=True, metavar="TEXT", help="A formula of dpCTL*.")
@click.option("--neighbours", metavar="TEXT", help="A predicate such as \"abs(r - r') <= 1 & t = t'\".")
@click.option("--parameter", "parameters", multiple=True, metavar="NAME=INTERVAL", help="A domain.")
@click.option(
    "--constant",
    "constants",
    multiple=True,
    metavar="NAME=VALUE,...",
    help="Values of constants that a PRISM file leaves open.",
)
@click.option(
    "--constraint",
    "constraints",
    multiple=True,
    metavar="TEXT",
    help='A constraint on parameters, such as "p + q <= 1".',
)
@click.option(
    "--method",
    type=click.Choice([choice.value for choice in Choice]),
    default=Choice.AUTO.value,
    show_default=True,
    help="For D on decision processes: enumerate action sequences, or the sufficient condition.",
)
@click.option("--delta-for", metavar="EPSILON", help="Find the least delta of each D for this epsilon.")
@click.option("--epsilon-for", metavar="DELTA", help="Find the least epsilon of each D for this delta.")
@click.option("--curve", "with_curve", is_flag=True, help="Find delta as a function of epsilon.")
@picture_options("Draw the curve (.svg, .png or .pdf).")
@click.option(
    "--evidence",
    type=OUTPUT_FILE,
    help="Write the evidence to this file, for `paramverify check`.",
)
@set_option
@json_option
@timeout_option
@session_option
def command(
    model: Path,
    properties: tuple[str, ...],
    neighbours: str | None,
    parameters: tuple[str, ...],
    constants: tuple[str, ...],
    constraints: tuple[str, ...],
    method: str,
    delta_for: str | None,
    epsilon_for: str | None,
    with_curve: bool,
    plot: Picture | None,
    evidence: Path | None,
    as_json: bool,
    timeout: float,
    backends: str | None,
    strategy: str | None,
    confirm: int,
) -> int:
    """Check formulas of dpCTL* on a Markov chain or decision process.

    MODEL is a case file, or a PRISM file with --property. A formula holds in every initial state and for
    every parameter point, or a state, a neighbour, and both probabilities are shown.
    """
    options = session_options(timeout, backends, strategy, confirm)
    given = Given(
        properties,
        neighbours,
        parameters=_assigned(parameters, "--parameter"),
        constants=_assigned(constants, "--constant"),
        constraints=constraints,
        epsilons=tuple(text for text in (delta_for,) if text is not None),
        deltas=tuple(text for text in (epsilon_for,) if text is not None),
        settings=settings(),
    )
    budgets = Wanted(delta_for, epsilon_for, with_curve or plot is not None, plot)
    if budgets.any and evidence:
        raise click.UsageError("--evidence is for checking, not for budgets")
    started = time.perf_counter()
    with time_limit(timeout) as lift, progress_bar("formulas") as progress:
        case = load(model, given)
        _refuse(case, budgets, evidence)
        with Session(options) as session, in_case(case.path, case.text):
            work = Work(case, session, Choice(method))
            doubt = work.prepare()
            if doubt:
                raise LimitError(f"the model is in doubt: {doubt.detail}")
            if budgets.any:
                return find_budgets(work, budgets, as_json, lift)
            results, answers = _check(work, progress)
    status = reports.status(results) if results else None
    if evidence and status is not None:
        lift()
        _write_evidence(work, results, status, evidence)
    obligations = [decision for _, decision in work.obligations]
    seconds = time.perf_counter() - started
    if as_json:
        print_json(_document(case, results, answers, seconds, obligations))
    for line in (
        () if as_json else reports.all_lines(case, results, obligations, _answer_lines(case, answers))
    ):
        say(line)
    unanswered = any(found.unknown is not None for found in answers.values())
    if status is Standing.VIOLATED or not unanswered:
        return STATUS_CODES[status or Standing.HOLDS]
    return STATUS_CODES[Standing.UNKNOWN]


def _refuse(case: LogicCase, budgets: Wanted, evidence: Path | None) -> None:
    """Refuses options that questions have no answer to."""
    for name in case.questions:
        with located(key=name):
            if budgets.any:
                raise InputError("a least budget is of D formulas, and this one asks for a probability")
            if evidence:
                raise InputError(
                    "--evidence is about formulas that are true or false; this one asks for a number"
                )


def _document(
    case: LogicCase,
    results: dict[str, Result],
    answers: dict[str, Asked],
    seconds: float,
    obligations: list[Decision],
) -> dict[str, Any]:
    """Returns the JSON answer; without a formula it has no verdict."""
    asked = {
        name: questions.document(case.questions[name], found, case.domain) for name, found in answers.items()
    }
    if not results:
        return {"answers": asked, "seconds": round(seconds, 6)}
    found = reports.document(case, results, reports.status(results), seconds, obligations)
    return found | ({"answers": asked} if asked else {})


def _answer_lines(case: LogicCase, answers: dict[str, Asked]) -> dict[str, list[str]]:
    return {
        name: questions.lines(name, case.questions[name], found, case.domain)
        for name, found in answers.items()
    }


def _check(work: Work, progress: Callable[[int, int], None]) -> tuple[dict[str, Result], dict[str, Asked]]:
    """Checks the formulas of a case one after the other, and answers its questions."""
    results: dict[str, Result] = {}
    answers: dict[str, Asked] = {}
    domain = work.chain.domain
    for name in work.case.order:
        with located(key=name):
            if name in work.case.questions:
                asked = work.case.questions[name]
                answers[name] = answer(work, asked)
                entry = {"property": name, **questions.document(asked, answers[name], domain)}
                _output.add("answers", entry, *questions.lines(name, asked, answers[name], domain))
                continue
            found = work.case.properties[name]
            results[name] = check_property(work, found, progress)
        if results[name].status is Standing.VIOLATED:
            _output.violated()
        lines = reports.lines(name, found, results[name], domain)
        _output.add("properties", reports.entry(name, found, results[name]), *lines)
    return results, answers


def _write_evidence(work: Work, results: dict[str, Result], status: Standing, path: Path) -> None:
    document, remarks = reports.evidence_of(work, results, status)
    for remark in remarks:
        click.echo(remark, err=True)
    write_json(path, document, indent=1)


def _assigned(texts: Iterable[str], option: str) -> dict[str, str]:
    """Reads NAME=VALUE, also several with commas; a comma in brackets belongs to a value."""
    found: dict[str, str] = {}
    for text in (part for given in texts for part in _parts(given)):
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise InputError(f"write NAME=VALUE, not {text!r}", key=option)
        if name.strip() in found:
            raise InputError(f"{name.strip()} is given twice", key=option)
        found[name.strip()] = value.strip()
    return found


def _parts(text: str) -> list[str]:
    found, depth = [""], 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            found.append("")
        else:
            found[-1] += character
    return found
