"""`paramverify schema`: what case files may have, for editors."""

from __future__ import annotations

import click

from paramverify.cli._common import json_option, print_json, whole_timeout_option

LISTED = (40, "Print the JSON Schema of case files, for editors.")
KINDS = ("privacy", "claim", "automaton", "interactive", "logic", "composition")


@click.command("schema")
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    help="Print the schema of this kind of case only; all kinds by default.",
)
@json_option
@whole_timeout_option
def command(kind: str | None, as_json: bool) -> int:
    """Print the JSON Schema of case files, for editors.

    \b
    Example:
      paramverify schema > paramverify.schema.json

    Editors use the schema to complete keys and to mark mistakes. Save it to a file, and name the file in the
    first line of a case: `#:schema paramverify.schema.json`.
    """
    from paramverify.reports.case_schema import schema

    del as_json  # it is JSON in any case
    print_json(schema(kind or ""))
    return 0
