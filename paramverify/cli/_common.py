"""What several commands share: options, points, printing."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

import click

from paramverify import printable
from paramverify.algebra.expressions import constant
from paramverify.errors import InputError, LimitError, located
from paramverify.portfolio.session import Options
from paramverify.portfolio.strategies import parse_strategy, race_of

Function = TypeVar("Function", bound=Callable[..., Any])

GRACE = 0.5  # seconds that a session may need to end its processes
STATUS_CODES = {"holds": 0, "violated": 1, "unknown": 3}


def case_argument(function: Function) -> Function:
    """Adds the argument CASE."""
    return click.argument("case", metavar="CASE", type=click.Path())(function)


def json_option(function: Function) -> Function:
    """Adds `--json`."""
    text = "Print one JSON object with exact numbers as strings."
    return click.option("--json", "as_json", is_flag=True, help=text)(function)


class _Seconds(click.FloatRange):
    """A number of seconds that a timer takes."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if str(value).strip().lower() == "nan":
            self.fail("nan is no number of seconds", param, ctx)
        return super().convert(value, param, ctx)


SECONDS = _Seconds(min=0, min_open=True, max=1e8)


def timeout_option(function: Function) -> Function:
    """Adds `--timeout`."""
    return click.option(
        "--timeout",
        type=SECONDS,
        default=60.0,
        show_default=True,
        metavar="SECONDS",
        help="Wall-clock limit for the whole run.",
    )(function)


def session_option(function: Function) -> Function:
    """Adds `--backends`, `--strategy` and `--confirm`."""
    backends = "Backends that race for what simplification leaves of each claim, comma-separated."
    strategy = "default, built-in, solvers, or rounds such as 'z3,yices:5; z3,cvc5-cov:60/2'."
    confirm = "Let N different backends prove each claim."
    number = click.IntRange(min=1)
    function = click.option("--confirm", type=number, default=1, metavar="N", help=confirm)(function)
    function = click.option("--strategy", metavar="TEXT", help=strategy)(function)
    return click.option("--backends", metavar="NAMES", help=backends)(function)


def session_options(timeout: float, backends: str | None, strategy: str | None, confirm: int) -> Options:
    """Returns the options of a session from what the user typed."""
    if backends is not None and strategy is not None:
        raise click.UsageError("give either --backends or --strategy")
    chosen = parse_strategy(strategy or "default")
    if backends is not None:
        names = tuple(name.strip() for name in backends.split(",") if name.strip())
        if not names:
            raise click.UsageError("--backends needs at least one name")
        chosen = race_of(names)
    return Options(seconds=timeout, strategy=chosen, confirm=confirm)


@contextmanager
def time_limit(seconds: float) -> Iterator[Callable[[], None]]:
    """Ends with a LimitError when the time is over, also while claims are still being derived.

    Gives a function that lifts the limit: what was found is then told and drawn in any case.

    Sessions keep their own limit and end first; this is for what happens before and after them. Without
    POSIX timers, or outside of the main thread, it does nothing.
    """
    usable = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if not usable:
        yield lambda: None
        return

    def over(number: int, frame: object) -> None:
        del number, frame
        raise LimitError(f"the time limit of {seconds:g} s is over")

    def lift() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds + GRACE)
    try:
        yield lift
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def check_writable(path: Path | None) -> None:
    """Checks that a file can be written, before the work for it is done; it is not made yet.

    Raises:
        InputError: its folder does not exist, or may not be written to; or the file itself may not.
    """
    if path is None:
        return
    folder = path.parent
    if not folder.is_dir():
        raise InputError(f"there is no folder {str(folder)!r}", file=str(path))
    if path.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise InputError("it may not be written", file=str(path))


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Gives a function that shows progress on standard error: on a terminal only, and after a second."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    started = time.monotonic()
    bar: list[Any] = []

    def show(done: int, total: int) -> None:
        if not bar and time.monotonic() - started > 1:
            from rich.console import Console
            from rich.progress import Progress

            shown = Progress(console=Console(stderr=True), transient=True)
            shown.start()
            bar.extend((shown, shown.add_task(what, total=total)))
        if bar:
            bar[0].update(bar[1], completed=done, total=total)

    try:
        yield show
    finally:
        if bar:
            bar[0].stop()


def say(line: str, *, err: bool = False) -> None:
    """Prints one line for people: what is no printable character in it is escaped, a long one shortened."""
    click.echo(printable.line(line), err=err)


def print_json(document: object) -> None:
    """Prints one JSON object on standard output."""
    click.echo(json.dumps(document, ensure_ascii=False, indent=2))


def parse_point(assignments: Iterable[str]) -> dict[str, Fraction]:
    """Reads `p=1/2` or `p=1/2,q=0.3`.

    Raises:
        InputError: another form, or a name that is given twice.
    """
    point: dict[str, Fraction] = {}
    for text in ",".join(assignments).split(","):
        if not text.strip():
            continue
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"write parameter=value, for example p=1/2; not {text!r}")
        if name.strip() in point:
            raise InputError(f"{name.strip()} is given twice")
        with located(key=name.strip()):
            point[name.strip()] = constant(value)
    return point
