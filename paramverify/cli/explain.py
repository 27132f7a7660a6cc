"""`paramverify explain FILE`: what was understood of a file, before anything is decided."""

from __future__ import annotations

import click

from paramverify.cli._answers import Typed, answered, printed
from paramverify.cli._common import case_argument, json_option, timeout_option
from paramverify.subjects.questions import Explain

LISTED = (5, "Say what was understood of a case, before anything is decided.")


@click.command("explain")
@case_argument
@json_option
@timeout_option
def command(case: str, as_json: bool, timeout: float) -> int:
    """Say what was understood of a case, before anything is decided.

    It takes every kind of case file: cases about privacy, inequalities, interactive systems, and chains with
    formulas. It warns of what the case has and nothing reads.
    """
    return printed(answered(case, Explain(), Typed(as_json, timeout)), as_json)
