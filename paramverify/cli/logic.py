"""`paramverify logic MODEL`: formulas of dpCTL* on Markov chains and decision processes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

import click

from paramverify.answers import Standing
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
from paramverify.logic.cases import Given, load
from paramverify.logic.comparisons import Choice
from paramverify.logic.families import check_property
from paramverify.logic.verification import Result, Work
from paramverify.portfolio.session import Session
from paramverify.reports import logic as reports
from paramverify.tables import in_case

LISTED = (80, "Check formulas of dpCTL* on a Markov chain or decision process.")


@click.command("logic")
@click.argument("model", metavar="MODEL", type=click.Path(path_type=Path))
@click.option("--property", "-p", "properties", multiple=True, metavar="TEXT", help="A formula of dpCTL*.")
@click.option("--neighbours", metavar="TEXT", help="A predicate such as \"abs(r - r') <= 1 & t = t'\".")
@click.option("--parameter", "parameters", multiple=True, metavar="NAME=INTERVAL", help="A domain.")
@click.option("--constant", "constants", multiple=True, metavar="NAME=VALUE", help="For PRISM files.")
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
        with Session(options) as session, in_case(case.path, case.text):
            work = Work(case, session, Choice(method))
            doubt = work.prepare()
            if doubt:
                raise LimitError(f"the model is in doubt: {doubt.detail}")
            if budgets.any:
                return find_budgets(work, budgets, as_json, lift)
            results = _check(work, progress)
    status = reports.status(results)
    if evidence:
        lift()
        _write_evidence(work, results, status, evidence)
    obligations = [decision for _, decision in work.obligations]
    seconds = time.perf_counter() - started
    if as_json:
        print_json(reports.document(case, results, status, seconds, obligations))
    for line in () if as_json else reports.all_lines(case, results, obligations):
        say(line)
    return STATUS_CODES[status]


def _check(work: Work, progress: Callable[[int, int], None]) -> dict[str, Result]:
    """Checks the formulas of a case one after the other."""
    results: dict[str, Result] = {}
    for name, found in work.case.properties.items():
        with located(key=name):
            results[name] = check_property(work, found, progress)
        if results[name].status is Standing.VIOLATED:
            _output.violated()
        lines = reports.lines(name, found, results[name], work.chain.domain)
        _output.add("properties", reports.entry(name, found, results[name]), *lines)
    return results


def _write_evidence(work: Work, results: dict[str, Result], status: Standing, path: Path) -> None:
    document, remarks = reports.evidence_of(work, results, status)
    for remark in remarks:
        click.echo(remark, err=True)
    write_json(path, document, indent=1)


def _assigned(texts: Iterable[str], option: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"write NAME=VALUE, not {text!r}", key=option)
        found[name.strip()] = value.strip()
    return found
