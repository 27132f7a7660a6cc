"""`paramverify show CASE`: the observation probabilities as formulas, or the model as a graph."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import islice

import click

from paramverify import printable
from paramverify.algebra.polynomials import RationalFunction
from paramverify.claims import show_sequence
from paramverify.cli import _output
from paramverify.cli._common import case_argument, json_option, print_json, say, whole_timeout_option
from paramverify.cli._exits import Exit
from paramverify.cli._settings import settings
from paramverify.encodings.sequences import probabilities
from paramverify.models.inequality import Inequality
from paramverify.models.kinds import need_privacy
from paramverify.models.model import Model
from paramverify.portfolio.obligations import require_possible
from paramverify.privacy.cases import Case, load
from paramverify.privacy.runs import control_graph
from paramverify.reports.formulas import Formula, exponent, formula, latex
from paramverify.reports.pictures import programs
from paramverify.reports.pictures.models import dot
from paramverify.reports.tables import columns

LISTED = (70, "Print the observation probabilities as formulas, or the model as a graph.")

MOST_ROWS = 200


@click.command("show")
@case_argument
@click.option("--latex", "as_latex", is_flag=True, help="Print a LaTeX table.")
@click.option(
    "--graph", is_flag=True, help="Print the model, or the control states of a program, as a graph in DOT."
)
@json_option
@whole_timeout_option
def command(case: str, as_latex: bool, graph: bool, as_json: bool) -> int:
    """Print the observation probabilities as formulas, or the model as a graph."""
    loaded = load(case, settings=settings())
    if graph and as_latex:
        raise click.UsageError("give either --latex or --graph")
    require_possible(loaded.model)
    if isinstance(loaded.model, Inequality) and not graph:
        _show_definitions(loaded.title, loaded.model, as_latex, as_json)
        return Exit.HOLDS
    asked = need_privacy(loaded.model, "show --graph")
    model = asked.whole or asked
    if graph:
        program = control_graph(loaded)
        _print_text("graph", programs.dot(*program) if program else dot(model), as_json)
        return Exit.HOLDS
    rows = []
    for word, name, function in islice(probabilities(model), MOST_ROWS + 1):
        rows.append((word, name, function))
        entry = {"secret": name, "observations": list(word), "formula": str(function)}
        _output.add("probabilities", entry, f"{name}  {' '.join(word)}  {function}")
    cut = len(rows) > MOST_ROWS
    power = exponent((function for _, _, function in rows), model.domain)
    if as_latex:
        _print_text("latex", _latex(rows[:MOST_ROWS], model, power, _named(loaded)), as_json)
    elif as_json:
        print_json(
            {
                "title": loaded.title,
                "probabilities": [
                    {"secret": name, "observations": list(word), **_forms(formula(f, model.domain))}
                    for word, name, f in rows[:MOST_ROWS]
                ],
                "complete": not cut,
                **_constant(power),
                "notes": list(asked.notes),
            }
        )
    else:
        say(printable.name(loaded.title))
        shown = [
            (name, show_sequence(word), _text(formula(f, model.domain))) for word, name, f in rows[:MOST_ROWS]
        ]
        for line in columns((_named(loaded), "output", "probability"), shown):
            say(line)
        if power is not None:
            click.echo(f"E = exp({power})")
        for note in asked.notes:
            say(f"Note: {note}.")
    if cut:
        click.echo(f"only the first {MOST_ROWS} probabilities are shown", err=True)
    return Exit.HOLDS


def _named(case: Case) -> str:
    """Returns what the sides of a case are: inputs that are neighbours, or secrets."""
    return "input" if case.neighbours else "secret"


def _print_text(name: str, text: str, as_json: bool) -> None:
    """Prints a text that is a document of its own; with `--json` as a part of an object."""
    if as_json:
        print_json({name: text})
    else:
        click.echo(text, nl=False)


def _show_definitions(title: str, model: Inequality, as_latex: bool, as_json: bool) -> None:
    """Prints the functions that a case defines, and what it claims."""
    functions = model.definitions.items()
    power = exponent(model.definitions.values(), model.domain)
    if as_latex:
        lines = [r"\begin{align*}"]
        lines += [
            rf"\mathit{{{printable.latex(name)}}} &= {latex(f, model.domain)} \\" for name, f in functions
        ]
        lines += [rf"E &= {_power(power)} \\"] if power is not None else []
        _print_text("latex", "\n".join([*lines, r"\end{align*}", ""]), as_json)
        return
    forms = {name: formula(f, model.domain) for name, f in functions}
    if as_json:
        named = [{"name": name, **_forms(shown)} for name, shown in forms.items()]
        print_json({"title": title, "definitions": named, "claim": model.text, **_constant(power)})
        return
    say(printable.name(title))
    rows = [(name, _text(shown)) for name, shown in forms.items()]
    for line in columns(("name", "function"), rows) if rows else []:
        say(line)
    if power is not None:
        click.echo(f"E = exp({power})")
    say(f"claim: {model.text}")


def _constant(power: Fraction | None) -> dict[str, str]:
    """Returns what `E` stands for, where it occurs."""
    return {} if power is None else {"E": f"exp({power})"}


def _power(power: Fraction) -> str:
    return f"e^{{{power}}}"


def _text(shown: Formula) -> str:
    if shown.expanded == shown.factored or " " not in shown.expanded:  # one term: factors add nothing
        return shown.expanded
    return f"{shown.expanded} = {shown.factored}" if len(shown.expanded) <= 60 else shown.factored


def _forms(shown: Formula) -> dict[str, str]:
    return {"formula": shown.expanded, "factored": shown.factored}


def _latex(
    rows: Sequence[tuple[tuple[str, ...], str, RationalFunction]],
    model: Model,
    power: Fraction | None,
    named: str,
) -> str:
    lines = [r"\begin{tabular}{lll}", rf"{named} & output & probability \\ \hline"]
    for word, name, function in rows:
        shown = printable.latex(name), " ".join(printable.latex(show_sequence([o])) for o in word)
        lines.append(rf"{shown[0]} & {shown[1]} & ${latex(function, model.domain)}$ \\")
    if power is not None:
        lines.append(rf"\multicolumn{{3}}{{l}}{{where $E = {_power(power)}$}} \\")
    return "\n".join([*lines, r"\end{tabular}", ""])
