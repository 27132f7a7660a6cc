"""`paramverify budget FILE`: the tight budget, exact where it can be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from paramverify.cli._answers import Files, Typed, answered, printed
from paramverify.cli._cluster import cluster_option, executor
from paramverify.cli._common import OUTPUT_FILE, case_argument, json_option, session_option, timeout_option
from paramverify.cli._pictures import Picture, picture_options
from paramverify.subjects.questions import Budget
from paramverify.subjects.written_numbers import share

LISTED = (20, "Find the tight budget: the largest ratio over all priors, secrets and outputs.")

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
    multiple of epsilon, for streams of every length and of each one of --length. Of a chain with formulas it
    takes --delta-for, --epsilon-for or --curve, as `logic` does.
    """
    typed = Typed(as_json, timeout, backends, strategy, confirm)
    question = Budget(
        evidence=evidence is not None,
        precision=None if precision is None else share(precision, "--precision"),
        delta_for=delta_for,
        epsilon_for=epsilon_for,
        curve=curve,
        at=at,
        length=length,
        epsilon=epsilon,
        plot=plot is not None,
    )
    if (delta_for is not None) + (epsilon_for is not None) + curve > 1:
        raise click.UsageError("give either --delta-for, --epsilon-for or --curve")
    if (at or plot) and not curve:
        raise click.UsageError("--at and --plot belong to --curve")
    if curve and evidence is not None:
        raise click.UsageError("there is no evidence of a curve: ask for a point of it with --delta-for")
    options = replace(typed.options(), executor=executor())
    return printed(answered(case, question, typed, Files(evidence, plot), options=options), as_json)
