"""`paramverify logic MODEL`: formulas of dpCTL* on Markov chains and decision processes."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

import click

from paramverify.algebra.budgets import read_epsilon
from paramverify.algebra.expressions import parse
from paramverify.algebra.polynomials import RationalFunction, to_rational_function
from paramverify.answers import Decision
from paramverify.cli import _output
from paramverify.cli._common import (
    OUTPUT_FILE,
    STATUS_CODES,
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
from paramverify.cli._exits import Exit
from paramverify.errors import InputError, LimitError, located
from paramverify.logic.budgets import curve, least_delta, least_ratio
from paramverify.logic.cases import Given, LogicCase, load
from paramverify.logic.comparisons import Choice
from paramverify.logic.families import check_property
from paramverify.logic.syntax import Property
from paramverify.logic.verification import Result, Work
from paramverify.portfolio.session import Session
from paramverify.reports import logic as reports

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
@click.option("--plot", type=OUTPUT_FILE, help="Draw the curve (.svg, .png).")
@click.option(
    "--evidence",
    type=OUTPUT_FILE,
    help="Write the evidence to this file, for `paramverify check`.",
)
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
    plot: Path | None,
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
        epsilons=(delta_for,) if delta_for is not None else (),
        deltas=(epsilon_for,) if epsilon_for is not None else (),
    )
    asked = delta_for is not None or epsilon_for is not None
    if (asked or with_curve or plot) and evidence:
        raise click.UsageError("--evidence is for checking, not for budgets")
    started = time.perf_counter()
    with time_limit(timeout) as lift, progress_bar("formulas") as progress:
        case = load(model, given)
        with Session(options) as session, located(file=case.path):
            work = Work(case, session, Choice(method))
            doubt = work.prepare()
            if doubt:
                raise LimitError(f"the model is in doubt: {doubt.detail}")
            if asked or with_curve or plot:
                return _budgets(
                    work,
                    delta_for,
                    epsilon_for=epsilon_for,
                    with_curve=with_curve or plot is not None,
                    plot=plot,
                    as_json=as_json,
                )
            results: dict[str, Result] = {}
            for name, found in case.properties.items():
                with located(key=name):
                    results[name] = check_property(work, found, progress)
                lines = reports.lines(name, found, results[name], case.chain.domain)
                _output.add("properties", reports.entry(name, found, results[name]), *lines)
    status = _status(results)
    obligations = [decision for _, decision in work.obligations]
    if evidence:
        lift()
        whole = status != "holds" or all(result.complete for result in results.values())
        document = reports.evidence(case, work.obligations, results, status if whole else "unknown")
        if not whole:
            click.echo("the evidence has claims only: no certificate says why they are enough here", err=True)
        write_json(evidence, document, indent=1)
    if as_json:
        seconds = time.perf_counter() - started
        print_json(reports.document(case, results, status, seconds, obligations))
        return STATUS_CODES[status]
    for line in _lines(case, results, obligations):
        say(line)
    return STATUS_CODES[status]


def _assigned(texts: Iterable[str], option: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"write NAME=VALUE, not {text!r}", key=option)
        found[name.strip()] = value.strip()
    return found


def _status(results: dict[str, Result]) -> str:
    found = {result.status for result in results.values()}
    return next(status for status in ("violated", "unknown", "holds") if status in found)


def _lines(case: LogicCase, results: dict[str, Result], obligations: list[Decision]) -> list[str]:
    lines: list[str] = []
    for name, result in results.items():
        lines += reports.lines(name, case.properties[name], result, case.chain.domain, obligations)
    return [*lines, *(f"  Note: {note}." for note in case.relation.notes)]


def _budgets(
    work: Work,
    delta_for: str | None,
    epsilon_for: str | None,
    with_curve: bool,
    plot: Path | None,
    as_json: bool,
) -> int:
    documents: dict[str, dict[str, object]] = {}
    ring = work.chain.domain.ring
    known = True

    def number(text: str) -> RationalFunction:
        return to_rational_function(parse(text), ring)

    for name, found in work.case.properties.items():
        entry: dict[str, object] = {"formula": found.text}
        with located(key=name):
            if delta_for is not None:
                ratio = read_epsilon(parse(delta_for)).ratio(ring, lambda e: to_rational_function(e, ring))
                least = least_delta(work, found, ratio)
                known &= least.infinite or least.upper is not None
                entry |= {"epsilon_given": delta_for, "delta": reports.least(least)}
                _say(as_json, reports.least_line(name, found, least, f"epsilon = {delta_for}", "delta"))
            if epsilon_for is not None:
                least = least_ratio(work, found, number(epsilon_for))
                known &= least.infinite or least.upper is not None
                entry |= {"delta_given": epsilon_for, "ratio": reports.least(least)}
                entry["epsilon"] = reports.epsilon(least)
                _say(as_json, reports.least_line(name, found, least, f"delta = {epsilon_for}", "ratio"))
            if with_curve:
                entry |= _curve(work, name, found, plot, as_json)
        documents[name] = entry
        _output.add("budgets", {"property": name, **entry})
    if as_json:
        print_json({"budgets": documents, "notes": list(work.case.relation.notes)})
    return Exit.HOLDS if known else Exit.UNKNOWN


def _curve(work: Work, name: str, found: Property, plot: Path | None, as_json: bool) -> dict[str, object]:
    corners = curve(work, found)
    if not as_json:
        linear = work.chain.numeric and not work.chain.domain.ring.parameters
        between = "is linear in the ratio e^epsilon between these corners"
        say(f"{name}: delta {between if linear else 'is convex in the ratio e^epsilon; some points'}")
        for corner in corners:
            at = f"(ratio {corner.ratio}): delta =" if linear else "delta <="
            delta = corner.delta if linear else f"{float(corner.delta):.6g}"
            click.echo(f"  epsilon ≈ {corner.epsilon:.6g} {at} {delta}")
    if plot:
        from paramverify.reports.pictures.deltas import write_curve

        several = len(work.case.properties) > 1
        path = plot.with_name(f"{plot.stem}-{name}{plot.suffix}") if several else plot
        write_curve(corners, found.text, path)
    shown = [
        {"ratio": str(c.ratio), "epsilon": c.epsilon, "delta": str(c.delta), "exact": c.exact}
        for c in corners
    ]
    return {"curve": shown}


def _say(as_json: bool, line: str) -> None:
    if not as_json:
        say(line)
        _output.found([*_output.known.lines, line], {})
