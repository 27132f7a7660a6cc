"""The option `-D` of all commands that read one case file: it sets definitions and parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from paramverify.models.settings import Settings, read_settings

Function = TypeVar("Function", bound=Callable[..., Any])

KEY = "paramverify.settings"  # in the context of a command


def set_option(function: Function) -> Function:
    """Adds `-D`; `settings` returns what it sets."""

    def tell(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> None:
        del parameter
        context.meta[KEY] = read_settings(value)

    return click.option(
        "-D",
        "assigned",
        multiple=True,
        metavar="NAME=VALUE",
        expose_value=False,
        callback=tell,
        help="Set a definition or a parameter of the case to a value or an interval; repeatable.",
    )(function)


def settings() -> Settings:
    """Returns what `-D` sets in the case of the command that runs."""
    context = click.get_current_context(silent=True)
    found: Settings = context.meta.get(KEY, {}) if context else {}
    return found
