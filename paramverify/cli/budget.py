"""`paramverify budget CASE`: the tight budget, exact where it can be."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from paramverify.algebra.decimals import at_least
from paramverify.claims import AllOutputs
from paramverify.cli import _output
from paramverify.cli._cluster import cluster_option, executor
from paramverify.cli._common import (
    OUTPUT_FILE,
    case_argument,
    json_option,
    print_answer,
    session_option,
    session_options,
    time_limit,
    timeout_option,
    write_json,
)
from paramverify.cli._enclosed import enclosed_budget
from paramverify.cli._exits import Exit
from paramverify.cli._interactive_budget import interactive_budget
from paramverify.cli._numbers import share
from paramverify.cli._pictures import Picture, picture_options
from paramverify.cli._set_budgets import SetTarget, set_budget
from paramverify.cli._settings import settings
from paramverify.cli._streams import about_streams
from paramverify.errors import LimitError
from paramverify.interactive.cases import is_system
from paramverify.models.enclosed import EnclosedModel
from paramverify.portfolio.obligations import discharge
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import PrivacyCase, load
from paramverify.privacy.other_bounds import is_total_variation
from paramverify.privacy.sides import measured
from paramverify.reports import borders, case_budgets, divergence_budgets, documents, text
from paramverify.synthesis.borders import beyond, border_of
from paramverify.synthesis.case_budget import case_budget
from paramverify.synthesis.least_divergence import LeastMoment
from paramverify.synthesis.suprema import TightBudget

LISTED = (20, "Find the tight budget: the largest ratio over all priors, secrets and outputs.")

AUTOMATON = ".dipa"
WRITE = "Write the evidence to this file, for `paramverify check`."


@click.command("budget")
@case_argument
@click.option(
    "--precision",
    default=None,
    show_default="1e-9; with --curve 1e-3",
    help="Relative distance of the bounds where the ratio is not found exactly.",
)
@json_option
@timeout_option
@session_option
@cluster_option
@click.option("--evidence", "evidence", type=OUTPUT_FILE, help=WRITE)
@click.option("--delta-for", metavar="EPSILON", help="Find the least delta for this epsilon instead.")
@click.option("--epsilon-for", metavar="DELTA", help="Find the least epsilon for this delta instead.")
@click.option("--curve", is_flag=True, help="Find the least delta as a function of epsilon instead.")
@click.option("--at", "at", multiple=True, metavar="P=1/2,...", help="With --curve: at this prior only.")
@click.option("--length", metavar="N..M", help="Of streams: also for streams of so many inputs.")
@click.option("--epsilon", metavar="NUMBER", help="Of streams: the numbers for this epsilon.")
@picture_options("With --curve: draw it (.svg, .png or .pdf).")
def command(
    case: str,
    precision: str | None,
    as_json: bool,
    timeout: float,
    backends: str | None,
    strategy: str | None,
    confirm: int,
    evidence: Path | None,
    delta_for: str | None,
    epsilon_for: str | None,
    curve: bool,
    at: tuple[str, ...],
    length: str | None,
    epsilon: str | None,
    plot: Picture | None,
) -> int:
    """Find the tight budget: the largest ratio over all priors, secrets and outputs.

    If the case's own bound has parameters, the largest ratio relative to that bound is found as well. It is
    1 if the bound is tight, and also if the ratio comes near the bound only where both tend to 1: the answer
    says which. For an interactive system it is the largest ratio over all inputs that differ in one
    data point, and all observations. With --delta-for, --epsilon-for or --curve it is about the least
    bounds of (epsilon, delta) privacy, over all sets of outputs, whatever bounds the case has itself. Of a
    case about a divergence it is the least bound of that. Exit code 0 if the budget is exact or within the
    precision, or if there is none at all; 3 if not.

    Of an automaton over streams (.dipa), and of a case about streams with Laplace noise, it is the least
    multiple of epsilon, for streams of every length and of each one of --length.
    """
    if case.endswith(AUTOMATON) or about_streams(case):
        others: dict[str, Any] = {"precision": precision, "backends": backends, "strategy": strategy}
        others |= {"delta-for": delta_for, "epsilon-for": epsilon_for, "curve": curve, "at": at, "plot": plot}
        options = session_options(timeout, None, None, 1)
        others |= {"confirm": confirm > 1, "cluster": not executor().is_here}
        return _of_automaton(case, options, (length, epsilon), as_json, evidence, **others)
    _only_of_automata({"length": length, "epsilon": epsilon})
    width = share(precision or ("1e-3" if curve else "1e-9"), "--precision")
    options = session_options(timeout, backends, strategy, confirm)
    options = replace(options, on_bound=best_bound(), executor=executor())
    wanted = SetTarget(delta_for, epsilon_for, curve=curve, at=at, plot=plot)
    if wanted.check(evidence):
        return set_budget(case, options, width, wanted, as_json=as_json, evidence=evidence)
    if is_system(case):
        return interactive_budget(case, options, width, as_json, evidence)
    return _of_case(case, options, width, wanted, timeout=timeout, as_json=as_json, evidence=evidence)


def _of_automaton(
    case: str,
    options: Options,
    given: tuple[str | None, str | None],
    as_json: bool,
    evidence: Path | None,
    **others: Any,
) -> int:
    for name in (name for name, value in others.items() if value):
        what = "an automaton" if case.endswith(AUTOMATON) else "about streams"
        raise click.UsageError(f"{case} is {what}: leave --{name} out, it is for other cases")
    from paramverify.cli._automata import budget_automaton

    return budget_automaton(case, options, given, as_json, evidence)


def _only_of_automata(given: Mapping[str, str | None]) -> None:
    for name in (name for name, value in given.items() if value is not None):
        reason = f"--{name} takes an automaton, or a case about streams with Laplace noise"
        raise click.UsageError(f"{reason}: paramverify budget FILE.dipa --{name} {given[name]}")


def _of_case(
    case: str,
    options: Options,
    width: Fraction,
    wanted: SetTarget,
    *,
    timeout: float,
    as_json: bool,
    evidence: Path | None,
) -> int:
    started = time.monotonic()
    with time_limit(timeout), Session(options) as session:
        loaded = measured(load(case, settings=settings()))
        if is_total_variation(loaded):
            wanted = replace(wanted, delta_for="0")
            return set_budget(case, options, width, wanted, as_json=as_json, evidence=evidence)
        if isinstance(loaded.model, EnclosedModel):
            return enclosed_budget(loaded, session, width, {}, as_json=as_json, evidence=evidence)
        if divergence_budgets.is_asked(loaded):
            return _divergence(loaded, session, width, as_json=as_json, evidence=evidence)
        model = case_budgets.model_of(loaded)
        doubt, _ = discharge(session, model)
        if doubt:
            raise LimitError(f"the model is in doubt: {doubt.detail}")
        found = case_budget(model, session, width)
        document = case_budgets.evidence(loaded, found, session) if evidence else {}
        other = beyond(loaded, found, options, started)
    if evidence:
        write_json(evidence, document, indent=1)
    told = case_budgets.lines(loaded, found, session.words, other)
    print_answer(session, told, case_budgets.document(loaded, found, session.words, other), as_json)
    return Exit.HOLDS if found.is_within(width) else Exit.UNKNOWN


def _divergence(
    case: PrivacyCase, session: Session, width: Fraction, *, as_json: bool, evidence: Path | None
) -> int:
    """Finds the least bound of a divergence and tells it."""
    started = time.monotonic()
    found = divergence_budgets.find(case, session, width)
    border = border_of(case, found, session.options, started)
    if evidence:
        write_json(evidence, divergence_budgets.evidence(case, found, session), indent=1)
    first, *told = divergence_budgets.lines(case, found, session.words)
    shown = divergence_budgets.document(case, found, session.words) | borders.document(border)
    lines = [first, *borders.lines(border), *told]
    print_answer(session, lines, shown, as_json, isinstance(found, LeastMoment))
    return Exit.HOLDS if found.is_within(width) else Exit.UNKNOWN


def best_bound() -> Callable[[TightBudget], None]:
    """Returns what keeps the largest lower bound on the ratio, in case that a limit ends the run."""
    best: list[TightBudget] = []

    def keep(found: TightBudget) -> None:
        if best and not found.infinite and found.lower <= best[0].lower:
            return
        best[:] = [found]
        if isinstance(found.origin, AllOutputs):
            return
        outcome = text.sequence(found.origin.observations)
        sides = f"under {found.origin.left!r} against {found.origin.right!r}"
        least = "without limit" if found.infinite else f"at least {at_least(found.lower, 12)}"
        document: dict[str, Any] = {} if found.infinite else {"ratio_lower": documents.exact(found.lower)}
        document |= {"secrets": [found.origin.left, found.origin.right]}
        _output.found(
            [f"  the ratio is {least}: {outcome} {sides}"],
            document | {"observations": list(found.origin.observations)},
        )

    return keep
