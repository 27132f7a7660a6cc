"""`paramverify show FILE`: the observation probabilities as formulas, or the model as a graph."""

from __future__ import annotations

import click

from paramverify.cli._answers import Typed, answered, printed
from paramverify.cli._common import case_argument, json_option, timeout_option
from paramverify.subjects.questions import MOST_ROWS, Show

LISTED = (240, "Print the output probabilities as formulas, or the model as a graph.")


@click.command("show")
@case_argument
@click.option("--latex", "as_latex", is_flag=True, help="Print the formulas as a LaTeX table.")
@click.option(
    "--graph", is_flag=True, help="Print the model, or the control states of a program, as a graph in DOT."
)
@click.option(
    "--length", type=click.IntRange(min=1), metavar="N", help="Print only sequences of this length."
)
@click.option("--observations", multiple=True, metavar="A,B,...", help="Print only this output sequence.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=MOST_ROWS,
    show_default=True,
    metavar="N",
    help="Print at most N probabilities, and the number of the remaining ones.",
)
@json_option
@timeout_option
def command(
    case: str,
    as_latex: bool,
    graph: bool,
    length: int | None,
    observations: tuple[str, ...],
    limit: int,
    as_json: bool,
    timeout: float,
) -> int:
    """Print the output probabilities as formulas, or the model as a graph.

    \b
    Example:
      paramverify show case.toml
    """
    if length and observations:
        raise click.UsageError("--length and --observations exclude each other: leave one of them out")
    if graph and as_latex:
        raise click.UsageError("--latex and --graph exclude each other: leave one of them out")
    if graph and (length or observations):
        raise click.UsageError("--graph shows the whole model: leave --length and --observations out")
    question = Show(latex=as_latex, graph=graph, length=length, observations=observations, limit=limit)
    return printed(answered(case, question, Typed(as_json, timeout)), as_json)
