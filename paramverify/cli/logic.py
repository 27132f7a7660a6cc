"""`paramverify logic MODEL`: formulas of dpCTL* on Markov chains and decision processes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from paramverify.cli._answers import Files, Typed, answered, printed
from paramverify.cli._common import (
    OUTPUT_FILE,
    json_option,
    memory_limit,
    session_option,
    timeout_option,
)
from paramverify.cli._pictures import Picture, picture_options
from paramverify.cli._settings import set_option, settings
from paramverify.errors import InputError
from paramverify.logic.logic_cases import LogicOptions
from paramverify.logic.probability_comparisons import SchedulerChoice
from paramverify.subjects.kinds import LogicSubject
from paramverify.subjects.questions import Budget, Question, Verify
from paramverify.subjects.results import FormulaFacts

LISTED = (140, "Check formulas of dpCTL* on a Markov chain or Markov decision process.")


@click.command("logic")
@click.argument("model", metavar="MODEL", type=click.Path(path_type=Path))
@click.option(
    "--property", "-p", "properties", multiple=True, metavar="TEXT", help="Check this formula of dpCTL*."
)
@click.option(
    "--neighbours",
    metavar="TEXT",
    help='Define neighbouring states by this predicate, such as "abs(r - r\') <= 1".',
)
@click.option(
    "--parameter", "parameters", multiple=True, metavar="NAME=INTERVAL", help="Set the domain of a parameter."
)
@click.option(
    "--constant",
    "constants",
    multiple=True,
    metavar="NAME=VALUE,...",
    help="Set constants that a PRISM file leaves open.",
)
@click.option(
    "--constraint",
    "constraints",
    multiple=True,
    metavar="TEXT",
    help='Add a constraint on parameters, such as "p + q <= 1".',
)
@click.option(
    "--method",
    type=click.Choice([choice.value for choice in SchedulerChoice]),
    default=SchedulerChoice.AUTO.value,
    show_default=True,
    help="Check D on decision processes by enumerating action sequences, or by the sufficient condition.",
)
@click.option("--delta-for", metavar="EPSILON", help="Find the least delta of each D for this epsilon.")
@click.option("--epsilon-for", metavar="DELTA", help="Find the least epsilon of each D for this delta.")
@click.option("--curve", "with_curve", is_flag=True, help="Find delta as a function of epsilon.")
@picture_options("Draw the curve to this file (.svg, .png or .pdf).")
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
    """Check formulas of dpCTL* on a Markov chain or Markov decision process.

    \b
    Example:
      paramverify logic chain.toml

    MODEL is a case file, or a PRISM file with --property. A formula is true if it is true in every initial
    state, for every value of the parameters. Otherwise the command shows a state, a neighbour of it, and both
    probabilities.
    """
    typed = Typed(as_json, timeout, backends, strategy, confirm)
    given = LogicOptions(
        properties,
        neighbours,
        parameters=_assigned(parameters, "--parameter"),
        constants=_assigned(constants, "--constant"),
        constraints=constraints,
        epsilons=tuple(text for text in (delta_for,) if text is not None),
        deltas=tuple(text for text in (epsilon_for,) if text is not None),
        settings=settings(),
        memory=memory_limit(),
    )
    least = Budget(
        delta_for=delta_for, epsilon_for=epsilon_for, curve=with_curve, plot=plot is not None, method=method
    )
    budgets = least.of_sets or least.plot
    if budgets and evidence:
        raise click.UsageError("there is no evidence of budgets and curves: leave --evidence out")
    question: Question = least if budgets else Verify(evidence=evidence is not None, method=method)
    files = Files(evidence, plot)
    result = answered(str(model), question, typed, files, more=given, subject=LogicSubject())
    for remark in result.of(FormulaFacts).remarks() if evidence else ():
        click.echo(remark, err=True)
    return printed(result, as_json)


def _assigned(texts: Iterable[str], option: str) -> dict[str, str]:
    """Reads NAME=VALUE, also several with commas; a comma in brackets belongs to a value."""
    found: dict[str, str] = {}
    for text in (part for given in texts for part in _parts(given)):
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise InputError(f"{text!r} is not an assignment: write NAME=VALUE", key=option)
        if name.strip() in found:
            raise InputError(f"{name.strip()} has two values: give it once", key=option)
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
