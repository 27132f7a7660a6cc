"""The options of pictures, the same wherever `--plot` is taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from paramverify.cli._common import OUTPUT_FILE

if TYPE_CHECKING:
    from paramverify.reports.pictures.plot_style import Page

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Picture:
    """A picture that the user wants: its file, and the page it is for."""

    path: Path
    page: Page


def picture_options(told: str) -> Callable[[Function], Function]:
    """Adds `--plot`, with that help, `--width`, `--font`, `--font-size` and `--no-title`.

    The command gets `plot`: a `Picture` or None.
    """

    def add(function: Function) -> Function:
        @wraps(function)
        def command(
            *arguments: Any,
            plot: Path | None,
            width: str | None,
            font: str | None,
            font_size: float | None,
            no_title: bool,
            **options: Any,
        ) -> Any:
            given = {"--width": width, "--font": font, "--font-size": font_size, "--no-title": no_title}
            for name, value in given.items():
                if value and not plot:
                    raise click.UsageError(f"{name} needs a picture: add --plot FILE")
            picture = None
            if plot:
                from paramverify.reports.pictures.plot_style import Page, check_plot, inches

                check_plot(plot)
                page = Page(inches(width) if width else None, font or "", font_size, not no_title)
                page.style()
                picture = Picture(plot, page)
            return function(*arguments, plot=picture, **options)

        size = click.FloatRange(4, 40)
        made: Any = command
        for option in reversed(
            [
                click.option("--plot", type=OUTPUT_FILE, metavar="FILE", help=told),
                click.option(
                    "--width",
                    metavar="W",
                    help="Set the width of the picture, such as 8cm, 84mm, 3.3in or 240pt.",
                ),
                click.option(
                    "--font",
                    metavar="NAME",
                    help="Set the font of the picture: serif, sans, or the name of a font.",
                ),
                click.option(
                    "--font-size",
                    type=size,
                    metavar="PT",
                    help="Set the size of the letters in the picture, in points.",
                ),
                click.option("--no-title", is_flag=True, help="Draw the picture without a heading."),
            ]
        ):
            made = option(made)
        return cast(Function, made)

    return add
