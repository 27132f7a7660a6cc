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

LISTED = (120, "Find the tight budget: the largest likelihood ratio over all priors, secrets and outputs.")

WRITE = "Write the evidence to this file, for `paramverify check`."


@click.command("budget")
@case_argument
@click.option(
    "--precision",
    default=None,
    show_default="1e-9; with --curve 1e-3",
    help="Stop when the relative distance between the bounds is at most this, if no exact ratio is found.",
)
@json_option
@timeout_option
@session_option
@cluster_option
@click.option("--evidence", "evidence", type=OUTPUT_FILE, help=WRITE)
@click.option(
    "--delta-for", metavar="EPSILON", help="Find the least delta for this epsilon instead of the ratio."
)
@click.option(
    "--epsilon-for", metavar="DELTA", help="Find the least epsilon for this delta instead of the ratio."
)
@click.option("--curve", is_flag=True, help="Find the least delta as a function of epsilon.")
@click.option("--at", "at", multiple=True, metavar="P=1/2,...", help="Compute the curve at this prior only.")
@click.option("--length", metavar="N..M", help="Report the budget also for each of these stream lengths.")
@click.option("--epsilon", metavar="NUMBER", help="Report the budget of streams at this epsilon.")
@picture_options("Draw the curve of --curve to this file (.svg, .png or .pdf).")
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
    """Find the tight budget: the largest likelihood ratio over all priors, secrets and outputs.

    \b
    Example:
      paramverify budget case.toml

    If the bound of the case has parameters, the command also finds the largest ratio relative to that bound.
    This relative ratio is 1 if the bound is tight, but also if the ratio approaches the bound only as both
    tend to 1; the answer says which of these it is. With --delta-for, --epsilon-for or --curve the command
    finds the least bounds of (epsilon, delta) privacy over all sets of outputs, whatever the bounds of the
    case are.

    Some cases have a budget of another kind. For a case with a bound on a divergence, it is the least bound
    on that divergence. For an interactive system, it is the largest ratio over all inputs that differ in one
    data point, and over all observations. For an automaton over streams (.dipa) and for a case about streams
    with Laplace noise, it is the least multiple of epsilon, for streams of every length, and for each length
    of --length. A chain with formulas needs --delta-for, --epsilon-for or --curve, as with `logic`.

    Exit codes: 0 if the budget is exact or within the precision, or if no budget exists; 3 otherwise.
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
        raise click.UsageError("--delta-for, --epsilon-for and --curve exclude each other: give one of them")
    if (at or plot) and not curve:
        raise click.UsageError("--at and --plot are only for a curve: add --curve")
    if curve and evidence is not None:
        raise click.UsageError(
            "--evidence cannot prove a whole curve: ask for one point of it with --delta-for"
        )
    options = replace(typed.options(), executor=executor())
    return printed(answered(case, question, typed, Files(evidence, plot), options=options), as_json)
