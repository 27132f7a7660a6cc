"""`paramverify show CASE`: the observation probabilities as formulas, or the model as a graph."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import click

from paramverify.algebra.polynomials import RationalFunction
from paramverify.cases import load
from paramverify.cli._common import case_argument, json_option, print_json, timeout_option
from paramverify.encodings.sequences import probabilities
from paramverify.models.inequality import Inequality
from paramverify.models.kinds import need_privacy
from paramverify.models.model import Model
from paramverify.portfolio.possible import require_possible
from paramverify.reports.formulas import Formula, formula, latex
from paramverify.reports.graphs import dot
from paramverify.reports.tables import columns

MOST_ROWS = 200


@click.command("show")
@case_argument
@click.option("--latex", "as_latex", is_flag=True, help="Print a LaTeX table.")
@click.option("--graph", is_flag=True, help="Print the model as a graph in DOT.")
@json_option
@timeout_option
def command(case: str, as_latex: bool, graph: bool, as_json: bool, timeout: float) -> int:
    """Print the observation probabilities as formulas, or the model as a graph."""
    del timeout  # formulas only, nothing is decided
    loaded = load(case)
    require_possible(loaded.model)
    if isinstance(loaded.model, Inequality) and not graph:
        _show_definitions(loaded.title, loaded.model, as_latex, as_json)
        return 0
    model = need_privacy(loaded.model, "show --graph")
    if graph:
        click.echo(dot(model), nl=False)
        return 0
    rows = list(islice(probabilities(model), MOST_ROWS + 1))
    cut = len(rows) > MOST_ROWS
    if as_latex:
        click.echo(_latex(rows[:MOST_ROWS], model), nl=False)
    elif as_json:
        print_json(
            {
                "title": loaded.title,
                "probabilities": [
                    {"secret": name, "observations": list(word), **_forms(formula(f, model.domain))}
                    for word, name, f in rows[:MOST_ROWS]
                ],
                "complete": not cut,
            }
        )
    else:
        click.echo(loaded.title)
        shown = [
            (name, " ".join(word), _text(formula(f, model.domain))) for word, name, f in rows[:MOST_ROWS]
        ]
        for line in columns(("secret", "output", "probability"), shown):
            click.echo(line)
    if cut:
        click.echo(f"only the first {MOST_ROWS} probabilities are shown", err=True)
    return 0


def _show_definitions(title: str, model: Inequality, as_latex: bool, as_json: bool) -> None:
    """Prints the functions that a case defines, and what it claims."""
    functions = model.definitions.items()
    if as_latex:
        lines = [r"\begin{align*}"]
        lines += [rf"\mathit{{{_escaped(name)}}} &= {latex(f, model.domain)} \\" for name, f in functions]
        click.echo("\n".join([*lines, r"\end{align*}"]))
        return
    forms = {name: formula(f, model.domain) for name, f in functions}
    if as_json:
        named = [{"name": name, **_forms(shown)} for name, shown in forms.items()]
        print_json({"title": title, "definitions": named, "claim": model.text})
        return
    click.echo(title)
    rows = [(name, _text(shown)) for name, shown in forms.items()]
    for line in columns(("name", "function"), rows) if rows else []:
        click.echo(line)
    click.echo(f"claim: {model.text}")


def _text(shown: Formula) -> str:
    if shown.expanded == shown.factored:
        return shown.expanded
    return f"{shown.expanded} = {shown.factored}" if len(shown.expanded) <= 60 else shown.factored


def _forms(shown: Formula) -> dict[str, str]:
    return {"formula": shown.expanded, "factored": shown.factored}


def _latex(rows: Sequence[tuple[tuple[str, ...], str, RationalFunction]], model: Model) -> str:
    lines = [r"\begin{tabular}{lll}", r"secret & output & probability \\ \hline"]
    lines += [
        f"{_escaped(name)} & {_escaped(' '.join(word))} & ${latex(function, model.domain)}$ " + r"\\"
        for word, name, function in rows
    ]
    return "\n".join([*lines, r"\end{tabular}", ""])


def _escaped(words: str) -> str:
    for character in "_%&#$":
        words = words.replace(character, f"\\{character}")
    return words.replace("⊥", r"$\bot$").replace("⊤", r"$\top$")
