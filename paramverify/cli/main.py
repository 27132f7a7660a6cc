"""The command `paramverify`: finds the command's module, and turns errors into messages and exit codes."""

from __future__ import annotations

import sys
from importlib import import_module

import click

from paramverify import __version__, printable
from paramverify.errors import DefectError, DisagreementError, InputError, LimitError

INPUT, UNKNOWN, INTERRUPTED = 2, 3, 130

COMMANDS = {
    "verify": "Prove a case private for every prior, or show how it leaks.",
    "budget": "Find the tight budget: the largest ratio over all priors, secrets and outputs.",
    "synthesize": "Find violating priors, safe regions, and design parameters that make a case private.",
    "interactive": "Prove differential noninterference of an interactive system, or show how it leaks.",
    "check": "Re-check evidence without any solver.",
    "certify": "Evaluate one counterexample candidate exactly, in both directions.",
    "show": "Print the observation probabilities as formulas, or the model as a graph.",
    "logic": "Check formulas of dpCTL* on a Markov chain or decision process.",
    "compare": "Compare backends and encodings on many cases.",
    "sample": "Test a case by sampling, and certify or prove what is found.",
    "export": "Write the claims of a case for another solver.",
    "backends": "List the backends: installed, version, how to get what is missing.",
}


class _Commands(click.Group):
    """Imports a command's module only when it is called, so that help is instant."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"paramverify.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="paramverify")
def cli() -> None:
    """Prove or refute privacy of discrete mechanisms for every prior of a parametric family.

    Exit codes: 0 holds, 1 violated, 2 bad input or usage, 3 unknown, 130 interrupted.
    """


def main() -> None:
    """Runs the command line and exits with its code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Runs one command and returns its exit code; user mistakes become one message on standard error."""
    try:
        code = cli.main(arguments, prog_name="paramverify", standalone_mode=False)
        return int(code or 0)
    except click.ClickException as error:
        error.show()
        if "--json" in arguments:
            _print_reason("error", error.format_message())
        return INPUT
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except InputError as error:
        return _fail("error", str(error), INPUT, arguments)
    except LimitError as error:
        return _fail("unknown", str(error), UNKNOWN, arguments)
    except DisagreementError as error:
        transcripts = "\n".join(f"--- {name}: {said}\n{text}" for name, said, text in error.answers)
        return _fail("DISAGREEMENT", f"{error}\n{transcripts}", UNKNOWN, arguments)
    except BrokenPipeError:
        sys.stderr.close()  # the reader went away; Python would complain about the lost output
        return INPUT
    except OSError as error:
        return _fail("error", f"{error.filename or 'output'}: {error.strerror}", INPUT, arguments)
    except DefectError as error:
        click.echo(f"internal error: {error}\nThis is a defect of paramverify; please report it.", err=True)
        raise


def _fail(kind: str, message: str, code: int, arguments: list[str]) -> int:
    click.echo(f"{kind}: {printable.message(message)}", err=True)
    if "--json" in arguments:
        _print_reason("unknown" if code == UNKNOWN else "error", message)
    return code


def _print_reason(status: str, message: str) -> None:
    import json

    click.echo(json.dumps({"status": status, "reason": message}, ensure_ascii=False))
