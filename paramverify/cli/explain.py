"""`paramverify explain FILE`: what was understood of a file, before anything is decided."""

from __future__ import annotations

import click

from paramverify.cli._answers import Typed, answered, printed
from paramverify.cli._common import case_argument, json_option, timeout_option
from paramverify.subjects.questions import Explain

LISTED = (30, "Show how paramverify understands a case, without deciding it.")


@click.command("explain")
@case_argument
@json_option
@timeout_option
def command(case: str, as_json: bool, timeout: float) -> int:
    """Show how paramverify understands a case, without deciding it.

    \b
    Example:
      paramverify explain case.toml

    The command supports every kind of case file: cases about privacy, inequalities, interactive systems, and
    chains with formulas. It warns about parts of the case that have no effect.
    """
    return printed(answered(case, Explain(), Typed(as_json, timeout)), as_json)
