"""`paramverify explain CASE`: what was understood of a case, before anything is decided."""

from __future__ import annotations

from pathlib import Path

import click

from paramverify.cli._common import case_argument, json_option, print_json, say, whole_timeout_option
from paramverify.cli._exits import Exit
from paramverify.cli._settings import settings
from paramverify.cli._streams import about_streams
from paramverify.models.settings import with_settings
from paramverify.reports.understood import Understood, case_understood, lines
from paramverify.tables import read_toml

LISTED = (5, "Say what was understood of a case, before anything is decided.")


@click.command("explain")
@case_argument
@json_option
@whole_timeout_option
def command(case: str, as_json: bool) -> int:
    """Say what was understood of a case, before anything is decided.

    It takes every kind of case file: cases about privacy, inequalities, interactive systems, and chains with
    formulas. It warns of what the case has and nothing reads.
    """
    found = _understood(case)
    if as_json:
        print_json(found.document())
        return Exit.HOLDS
    for line in lines(found):
        say(line)
    return Exit.HOLDS


def _understood(path: str) -> Understood:
    data, given = read_toml(Path(path))[0], settings()
    if "system" in data:
        from paramverify.interactive.cases import load as load_system
        from paramverify.reports.understood_systems import system_understood

        return system_understood(load_system(path, bounded=False, settings=given), with_settings(data, given))
    if ("states" in data or "model" in data) and "mechanism" not in data:
        from paramverify.logic.cases import LogicOptions
        from paramverify.logic.cases import load as load_logic
        from paramverify.reports.understood_systems import logic_understood

        return logic_understood(
            load_logic(Path(path), LogicOptions(settings=given)), with_settings(data, given)
        )
    if about_streams(path):
        from paramverify.automata.cases import load as load_stream
        from paramverify.reports.understood_streams import stream_understood

        if settings():
            raise click.UsageError(f"{path}: the answer is for every value of the parameter: leave -D out")
        return stream_understood(load_stream(Path(path)), data)
    from paramverify.privacy.cases import load

    return case_understood(load(path, settings=given), with_settings(data, given))
