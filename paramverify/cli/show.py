"""`paramverify show CASE`: the observation probabilities as formulas, or the model as a graph."""

from __future__ import annotations

import click

from paramverify.cli import _output
from paramverify.cli._common import case_argument, json_option, print_json, say, whole_timeout_option
from paramverify.cli._exits import Exit
from paramverify.cli._settings import settings
from paramverify.cli._streams import about_streams
from paramverify.cli.certify import read_observations
from paramverify.models.mechanisms import Worded
from paramverify.models.model import Model
from paramverify.privacy.cases import load
from paramverify.reports.showing import MOST_ROWS, Row, RowSelection, ShownFunctions, formulas_of
from paramverify.reports.showing import graph as graph_of

AUTOMATON = ".dipa"

LISTED = (70, "Print the observation probabilities as formulas, or the model as a graph.")


@click.command("show")
@case_argument
@click.option("--latex", "as_latex", is_flag=True, help="Print a LaTeX table.")
@click.option(
    "--graph", is_flag=True, help="Print the model, or the control states of a program, as a graph in DOT."
)
@click.option("--length", type=click.IntRange(min=1), metavar="N", help="Only sequences of this length.")
@click.option("--observations", multiple=True, metavar="A,B,...", help="Only this output sequence.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=MOST_ROWS,
    show_default=True,
    metavar="N",
    help="Print so many probabilities at most, and how many more there are.",
)
@json_option
@whole_timeout_option
def command(
    case: str,
    as_latex: bool,
    graph: bool,
    length: int | None,
    observations: tuple[str, ...],
    limit: int,
    as_json: bool,
) -> int:
    """Print the observation probabilities as formulas, or the model as a graph."""
    if length and observations:
        raise click.UsageError("give either --length or --observations")
    if case.endswith(AUTOMATON) or about_streams(case):
        if as_latex or length or observations:
            raise click.UsageError(
                f"{case} is about streams: --latex, --length and --observations are for other cases; "
                "give --graph"
            )
        from paramverify.cli._automata import show_automaton

        return show_automaton(case, graph, as_json)
    if graph and (length or observations):
        raise click.UsageError("--length and --observations are for formulas, not for --graph")
    loaded = load(case, settings=settings())
    if graph and as_latex:
        raise click.UsageError("give either --latex or --graph")
    if graph:
        _print_text("graph", graph_of(loaded), as_json)
        return Exit.HOLDS
    word: tuple[str, ...] = ()
    if observations and isinstance(loaded.model, Model):
        whole = loaded.model.whole or loaded.model
        word = read_observations(
            observations, whole.hmm.observations, alone=isinstance(loaded.mechanism, Worded)
        )
    shown = formulas_of(loaded, _keep, RowSelection(length, word or observations, limit))
    if as_latex:
        _print_text("latex", shown.latex(), as_json)
    elif as_json:
        print_json(shown.document())
    else:
        for line in shown.lines():
            say(line)
    if not isinstance(shown, ShownFunctions) and shown.more():
        click.echo(f"{shown.more()}: see --limit, --length and --observations", err=True)
    return Exit.HOLDS


def _keep(row: Row) -> None:
    """Keeps what is known so far, in case that a limit ends the run."""
    word, name, function = row
    entry = {"secret": name, "observations": list(word), "formula": str(function)}
    _output.add("probabilities", entry, f"{name}  {' '.join(word)}  {function}")


def _print_text(name: str, text: str, as_json: bool) -> None:
    """Prints a text that is a document of its own; with `--json` as a part of an object."""
    if as_json:
        print_json({name: text})
    else:
        click.echo(text, nl=False)
