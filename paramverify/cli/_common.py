"""What several commands share: options, points, printing."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from paramverify import printable
from paramverify.cli import _output
from paramverify.cli._files import OUTPUT_FILE as OUTPUT_FILE
from paramverify.cli._files import check_output
from paramverify.cli._settings import set_option
from paramverify.errors import InputError, located
from paramverify.files import replacing
from paramverify.portfolio.session import Options
from paramverify.portfolio.strategies import BUILT_IN, parse_strategy, race_of
from paramverify.processes.attempts import read_size, resolve, split_names
from paramverify.processes.time_limits import Lift, alarm
from paramverify.simplify import step_names

Function = TypeVar("Function", bound=Callable[..., Any])

CLAIMS, MONOLITHIC = "claims", "monolithic"  # what `--encoding` may be
GRACE = 0.25  # seconds that a session may need to end its processes
MEMORY = "paramverify.memory"  # key in the context of a command


Named = TypeVar("Named", str, tuple[str, ...], str | None)


def functions_as_cases(context: click.Context, parameter: click.Parameter, value: Named) -> Named:
    """Lets a command read decorated functions of files of Python where its argument names them."""
    del parameter
    names = (value,) if isinstance(value, str) else value or ()
    if any("::" in name for name in names):
        from paramverify.cli._functions import case_of

        for name in names:
            case_of(context, name)
    return value


def case_argument(function: Function) -> Function:
    """Adds the argument CASE, which may be a decorated function of a file of Python, and `-D`."""
    argument = click.argument("case", metavar="CASE", type=click.Path(), callback=functions_as_cases)
    return set_option(argument(function))


def json_option(function: Function) -> Function:
    """Adds `--json`."""
    text = "Print the answer as one JSON object, in which exact numbers are strings."
    return click.option("--json", "as_json", is_flag=True, help=text)(function)


class _Seconds(click.FloatRange):
    """A number of seconds that a timer takes."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if str(value).strip().lower() == "nan":
            self.fail("'nan' is not a number of seconds.", param, ctx)
        return super().convert(value, param, ctx)


SECONDS = _Seconds(min=0, min_open=True, max=1e8)


def timeout_option(function: Function) -> Function:
    """Adds `--timeout`, which the supervisor hears of, and `--memory`."""

    def tell(context: click.Context, parameter: click.Parameter, value: float) -> float:
        del context, parameter
        _output.limit_time(value)
        return value

    option = click.option(
        "--timeout",
        type=SECONDS,
        default=60.0,
        show_default=True,
        metavar="SECONDS",
        callback=tell,
        help="Stop after this many seconds of wall-clock time, and report what is known by then.",
    )
    return option(memory_option(function))


def whole_timeout_option(function: Function) -> Function:
    """Adds `--timeout` and `--memory` to a command that has no other use for them than to end in time."""

    @wraps(function)
    def limited(*arguments: Any, timeout: float, **options: Any) -> Any:
        with time_limit(timeout):
            return function(*arguments, **options)

    return timeout_option(cast(Function, limited))


def memory_option(function: Function) -> Function:
    """Adds `--memory`, which the supervisor hears of; `memory_limit` returns it."""

    def tell(context: click.Context, parameter: click.Parameter, value: str) -> None:
        del parameter
        try:
            context.meta[MEMORY] = read_size(value)
        except InputError as error:
            raise click.BadParameter(error.reason) from None
        _output.limit_memory(context.meta[MEMORY])

    return click.option(
        "--memory",
        default="4GiB",
        show_default=True,
        metavar="SIZE",
        expose_value=False,
        callback=tell,
        help="Limit the memory of the command, and of each attempt of a backend.",
    )(function)


def memory_limit() -> int:
    """Returns the memory limit of the command that runs, in bytes."""
    context = click.get_current_context(silent=True)
    return int(context.meta[MEMORY]) if context and MEMORY in context.meta else Options().memory


def encoding_option(function: Function) -> Function:
    """Adds `--encoding`."""
    told = "Decide exact claims, or ask Z3 about the formulas of the published Algorithm 1."
    choice = click.Choice([CLAIMS, MONOLITHIC])
    return click.option("--encoding", type=choice, default=CLAIMS, show_default=True, help=told)(function)


def session_option(function: Function) -> Function:
    """Adds `--backends`, `--strategy` and `--confirm`."""
    backends = "Race these backends, comma-separated, on what simplification leaves of each claim."
    strategy = (
        "Choose which backends run and for how long: default, built-in, solvers, or rounds such as "
        "'z3,yices:5; z3,cvc5-cov:60/2'. If a round halves the domain (/2: twice), its seconds are for each "
        "part."
    )
    confirm = "Require that N different backends prove each claim."
    number = click.IntRange(min=1)
    function = click.option("--confirm", type=number, default=1, metavar="N", help=confirm)(function)
    function = click.option("--strategy", metavar="TEXT", help=strategy)(function)
    plain = "Pass claims to backends unsimplified; the built-in procedures still simplify on their own."
    flag: dict[str, Any] = {"is_flag": True, "expose_value": False, "callback": _keep}
    function = click.option("--no-simplify", "as_they_are", **flag, help=plain)(function)
    kept: dict[str, Any] = {"expose_value": False, "callback": _keep}
    function = click.option("--simplify", "steps", metavar="STEPS", **kept, help=STEPS)(function)
    word = "Leave a claim undecided if its only proof is the word of a solver or worker."
    function = click.option("--require-certificates", "certified", **flag, help=word)(function)
    return click.option("--backends", metavar="NAMES", help=backends)(function)


STEPS = (
    "Simplify each claim by these steps, comma-separated and in this order, before backends get it: "
    f"{', '.join((*step_names.BUILT_IN, *step_names.ASKED_FOR))}; "
    f"{step_names.DEFAULT} stands for all of them except sympy, so 'sympy,{step_names.DEFAULT}' starts with "
    f"sympy; {step_names.NONE} alone leaves claims as they are."
)


def _keep(context: click.Context, parameter: click.Parameter, value: bool | str | None) -> None:
    context.meta[f"paramverify.{parameter.name}"] = value


def session_options(timeout: float, backends: str | None, strategy: str | None, confirm: int) -> Options:
    """Returns the options of a session from what the user typed."""
    if backends is not None and strategy is not None:
        raise click.UsageError("--backends and --strategy exclude each other: leave one of them out")
    chosen = parse_strategy(strategy or "default")
    if backends is not None:
        names = tuple(split_names(backends))
        if not names:
            raise click.UsageError("--backends names no backend: give at least one, such as --backends z3")
        chosen = race_of(names)
    if backends is not None or strategy is not None:  # a wrong name is no mistake of the case
        with located(key="--strategy" if backends is None else "--backends"):
            for name in (name for stage in chosen for name in stage.names() if name != BUILT_IN):
                resolve(name)
    seconds = _output.remaining(timeout)
    limit = memory_limit()
    context = click.get_current_context(silent=True)
    given = context.meta if context else {}
    plain, named = given.get("paramverify.as_they_are"), given.get("paramverify.steps")
    if plain and named is not None:
        raise click.UsageError("--simplify and --no-simplify exclude each other: leave one of them out")
    steps = None if named is None else step_names.parse_steps(named)
    return Options(
        *(seconds, limit, chosen, confirm),
        limit=timeout,
        steps=() if plain else steps,
        require_certificates=bool(given.get("paramverify.certified")),
    )


@contextmanager
def time_limit(seconds: float, left: float | None = None) -> Iterator[Lift]:
    """Ends with a TimeLimitError when the time is over, also while claims are still being derived.

    Gives a function that lifts the limit: what was found is then told and drawn in any case. The limit counts
    from the start of the program, or ends when `left` seconds from now are over.

    Sessions keep their own limit and end first; this is for what happens before and after them, see `alarm`.
    """
    left = _output.remaining(seconds) if left is None else left
    with alarm(seconds, left + GRACE, lambda: bool(_writing.files)) as lift:

        def lifted() -> None:
            lift()
            _output.lift()

        yield lifted


class _Writing:
    """How many files are being written: the time limit waits for them, because half a file is none."""

    files = 0


_writing = _Writing()


@contextmanager
def whole() -> Iterator[None]:
    """Holds the time limit back while a file is written or drawn; it may end the run right after that."""
    if not _writing.files:
        _output.hold()
    _writing.files += 1
    try:
        yield
    finally:
        _writing.files -= 1
        if not _writing.files:
            _output.resume()


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
    text = printable.json_text(document, indent=2)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:  # another encoding than UTF-8: JSON has escapes of its own
        text = json.dumps(document, indent=2)
    click.echo(text)


def write_evidence(path: Path, document: Mapping[str, Any]) -> None:
    """Writes evidence into a file.

    Raises:
        OSError: with the name of the file.
    """
    write_text(path, printable.json_lines(document) + "\n")
    _output.evidence_written()


def write_text(path: Path, text: str) -> None:
    """Writes a text into a file; what is no text in UTF-8, such as bytes of a path, is escaped.

    Raises:
        OSError: with the name of the file. InputError: the command reads it.
    """
    write_texts({path: text})


def write_texts(texts: Mapping[Path, str]) -> None:
    """Writes texts into files, all of them or none; see `write_text`."""
    for path in texts:
        check_output(path)
    with whole(), ExitStack() as stack:
        for path, text in texts.items():
            new = stack.enter_context(replacing(path))
            try:
                new.write_text(text, encoding="utf-8", errors="backslashreplace")
            except OSError as error:
                error.filename = str(path)
                raise
