"""The command `paramverify`: finds the command's module, and turns errors into messages and exit codes."""

from __future__ import annotations

import errno
import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from importlib import import_module
from io import StringIO, TextIOWrapper
from typing import Any

import click
from click.shell_completion import CompletionItem

from paramverify import __version__, printable
from paramverify.answers import Standing
from paramverify.cli import _output
from paramverify.cli._commands import commands, groups
from paramverify.cli._exits import CODES, Exit, told
from paramverify.cli._supervisor import supervise
from paramverify.errors import DefectError, DisagreementError, InputError, TimeLimitError
from paramverify.spelling import nearest


def _use_config(context: click.Context, option: click.Parameter, path: str | None) -> None:
    """Lets the file configure the solvers, also in the processes that attempts run in, for one command."""
    del option
    if path is None:
        return
    from paramverify.backends.configured import VARIABLE

    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = os.path.abspath(path)

    def restore() -> None:
        os.environ.pop(VARIABLE)
        if before is not None:
            os.environ[VARIABLE] = before

    context.call_on_close(restore)


def _shared_options() -> list[click.Parameter]:
    """Returns the options that may stand before the command and after it."""
    config = "Read the configuration of solvers from this file."
    debug = "Print the traceback if an error occurs."
    file = click.Path(exists=True, dir_okay=False)
    return [
        click.Option(["--config"], type=file, expose_value=False, callback=_use_config, help=config),
        click.Option(["--debug"], is_flag=True, expose_value=False, help=debug),
    ]


COMPLETION = "_PARAMVERIFY_COMPLETE"  # by which click hears of a shell
MAX_READ = 1_000_000  # characters of a file in which tables are looked for


def _meant(word: str) -> str:
    """Returns the command that is meant by a word that is none: one that looks like it, or one for a file."""
    ending = os.path.splitext(word)[1]
    readers = {
        ".toml": "verify",
        ".smt2": "verify",
        ".dipa": "verify",
        ".prism": "logic",
        ".pm": "logic",
        ".json": "check",
    }
    reader = readers.get(ending)
    if ending == ".toml":
        with suppress(OSError), open(word, encoding="utf-8", errors="replace") as file:
            tables = re.findall(r"^\[+\s*(system|formulas)\b", file.read(MAX_READ), re.MULTILINE)
            reader = {"system": "interactive", "formulas": "logic"}[tables[0]] if tables else reader
    if reader or os.path.isfile(word):
        return f"{reader or 'verify'} {word}"
    return nearest(word, commands()) or ""


HELP = f"""Prove or refute privacy of discrete mechanisms for every prior of a parametric family.

Exit codes: {CODES}.
"""
EXAMPLES = (  # what a first user may type, line after line
    ("paramverify new program -o case.toml", "Write a commented first case."),
    ("paramverify verify case.toml", "Decide whether it is private."),
    ("paramverify report case.toml -o report.html", "Write a web page about it."),
)


def _keeping_inputs(name: str, callback: Callable[..., Any] | None) -> Callable[..., Any]:
    """Returns a command that does not begin where it would write over a file that it reads."""
    from paramverify.cli._files import keep_inputs

    def checked(*given: Any, **options: Any) -> Any:
        keep_inputs(click.get_current_context())
        with _as_cases(name, options):
            return callback(*given, **options) if callback else None

    return checked


def _as_cases(command: str, options: Mapping[str, Any]) -> AbstractContextManager[Any]:
    """Lets a command find the text of cases under the paths of files that plugins write as cases."""
    from paramverify.plugins import plugins

    if not plugins("paramverify.subjects"):
        return nullcontext()
    from paramverify.subjects.foreign_files import as_cases

    return as_cases(command, options)


class _Commands(click.Group):
    """Imports a command's module only when it is called, so that help is instant."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in commands():
            return None
        command: click.Command = import_module(f"paramverify.cli.{cmd_name}").command
        if not any(option.name == "debug" for option in command.params):
            command.params += _shared_options()
            if any(isinstance(option.type, click.Path) for option in command.params):
                command.callback = _keeping_inputs(cmd_name, command.callback)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Returns the commands and options that begin so; no command is imported for it."""
        found = [CompletionItem(name, help=words) for name, words in commands().items()]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [item for item in found if item.value.startswith(incomplete)] + options

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            meant = _meant(args[0])
            if not meant:
                raise
            reason = f"{error.message.rstrip('.')}: did you mean `paramverify {meant}`?"
            raise click.UsageError(reason, ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the commands under the headings of their groups, in one column, and then the examples."""
        width = max(map(len, commands()))
        for heading, listed in groups().items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), words) for name, words in listed.items()])
        with formatter.section("Examples"):
            formatter.write_dl(list(EXAMPLES), col_max=50)
        formatter.write_paragraph()
        formatter.write_text("`paramverify COMMAND --help` describes a command and its options.")


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]}, help=HELP)
@click.version_option(__version__, prog_name="paramverify")
def cli() -> None:
    """The group of all commands."""


cli.params += _shared_options()


def main() -> None:
    """Runs the command line and exits with its code."""
    _prepare_streams()
    if COMPLETION in os.environ:  # a shell asks what may come next
        cli.main(prog_name="paramverify")
    arguments = sys.argv[1:]
    try:
        code = supervise(arguments, run) if _is_known(_command(arguments)) else run(arguments)
    except KeyboardInterrupt:  # before the work began, or after it
        _say("interrupted")
        code = Exit.INTERRUPTED
        _output.ended(code)
    sys.exit(code)


def _is_known(name: str) -> bool:
    """Tells whether there is a command of that name; what is wrong with the list is told where errors are."""
    try:
        return name in commands()
    except DefectError:
        return False


def _command(arguments: list[str]) -> str:
    """Returns the command that is asked for; options of the group may stand before it."""
    before = ""
    for argument in arguments:
        if not argument.startswith("-") and before != "--config":
            return argument
        before = argument
    return ""


def run(arguments: list[str]) -> int:
    """Runs one command and returns its exit code; an error becomes a message on standard error."""
    with _output.held():
        streams = sys.stdout, sys.stderr
        try:
            code = int(cli.main(arguments, prog_name="paramverify", standalone_mode=False) or 0)
            _output.release()
            return code
        except (KeyboardInterrupt, click.Abort):
            _output.discard()
            _say("interrupted")
            return Exit.INTERRUPTED
        # A broad catch, on purpose. An error that nobody catches makes Python end with code 1, which
        # says "not private" to a script; so whatever was not foreseen gets a code of its own here.
        # `SystemExit` comes from modules of the user, whose code would be taken for ours.
        except (Exception, SystemExit) as error:
            closed = (sys.stdout, sys.stderr) != streams  # click replaces them when a pipe is closed
            sys.stdout, sys.stderr = streams
            return _failed(BrokenPipeError(errno.EPIPE, "closed") if closed else error, arguments)


def _failed(error: Exception | SystemExit, arguments: list[str]) -> int:
    """Tells an error, and what was found until then; returns the exit code."""
    code, kind, reason = told(error)
    refuted = "" if isinstance(error, DisagreementError) else _output.known.violated
    if code == Exit.UNKNOWN and refuted:
        code = Exit.VIOLATED
    _output.discard()
    _output.tell()  # a limit that is met from here on is not told a second time
    if "--debug" in arguments:
        _say("".join(traceback.format_exception(error)).rstrip())
    if isinstance(error, click.ClickException):
        shown = StringIO()
        error.show(shown)
        _say(printable.message(shown.getvalue().rstrip("\n")))
    elif not isinstance(error, BrokenPipeError):  # there the reader has gone away on purpose
        mistakes = error.lines if isinstance(error, InputError) else [reason]
        lines = (printable.message(mistake) for mistake in mistakes)
        known = code == Exit.VIOLATED
        _say("\n".join(_output.stopped(one, refuted) if known else f"{kind}: {one}" for one in lines))
    if code == Exit.OUTPUT:
        return code
    without = "" if _output.known.evidence else _output.without_evidence(arguments)
    if without and code in (Exit.UNKNOWN, Exit.VIOLATED):
        _say(printable.line(without))
    if "--json" in arguments:
        standing = {Exit.UNKNOWN: Standing.UNKNOWN, Exit.VIOLATED: Standing.VIOLATED}.get(code)
        status, verdict = (standing.value, refuted or standing.of_claim) if standing else ("error", "")
        end = {TimeLimitError: "timeout", MemoryError: "memory"}.get(type(error), "")
        document = _output.known.answer(status, reason, end, verdict)
        if code == Exit.INPUT:
            error = error if isinstance(error, InputError) else InputError(reason)
            document["errors"] = [part.to_dict() for part in error.parts]
        if code == Exit.DEFECT:
            document["error"] = type(error).__name__
        click.echo(json.dumps(document))
    elif code in (Exit.UNKNOWN, Exit.VIOLATED):
        for line in _output.known.lines:
            click.echo(printable.line(line))
    return code


def _say(message: str) -> None:
    """Prints on standard error, where that is possible."""
    try:
        click.echo(message, err=True)
    except OSError:
        _output.silence(sys.stderr)


def _prepare_streams() -> None:
    """Makes both streams take every text: closed ones go nowhere, and what they cannot encode is escaped."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, StringIO())
        elif isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
