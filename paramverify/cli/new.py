"""`paramverify new [KIND]`: a commented case file to begin with."""

from __future__ import annotations

from pathlib import Path

import click

import paramverify
from paramverify.cli._common import (
    OUTPUT_FILE,
    json_option,
    print_json,
    say,
    whole_timeout_option,
    write_text,
)
from paramverify.cli._exits import Exit
from paramverify.errors import InputError
from paramverify.models.names import nearest
from paramverify.reports.sentences import columns

LISTED = (10, "Write a commented case file to start from.")

TEMPLATES = Path(paramverify.__file__).parent / "templates"


def _completed(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Returns the kinds that begin so, for shells."""
    del context, parameter
    return [kind for kind in kinds() if kind.startswith(incomplete)]


@click.command("new")
@click.argument("kind", required=False, shell_complete=_completed)
@click.option("-o", "--output", type=OUTPUT_FILE, help="Write the case to this new file.")
@click.option("--force", is_flag=True, help="Overwrite the file if it exists.")
@json_option
@whole_timeout_option
def command(kind: str | None, output: Path | None, force: bool, as_json: bool) -> int:
    """Write a commented case file to start from.

    \b
    Example:
      paramverify new program -o case.toml

    Without KIND, the command lists the kinds. The case can be verified as it is, and its comments show the
    alternatives. Without -o, the command prints the case.
    """
    known = kinds()
    if kind is None:
        if output:
            raise click.UsageError(f"-o needs a KIND: add one of {', '.join(known)}")
        if as_json:
            print_json({"kinds": [{"kind": name, "about": about(text)} for name, text in known.items()]})
            return Exit.HOLDS
        for line in columns(
            ("kind", "what it is for"), [(name, about(text)) for name, text in known.items()]
        ):
            say(line)
        return Exit.HOLDS
    if kind not in known:
        raise InputError(f"no kind has the name {kind!r}{nearest(kind, list(known))}", key="KIND")
    text = known[kind]
    if output:
        text = text.replace(" FILE\n", f" {output}\n", 1)
        _write(output, text, force)
    if as_json:
        print_json({"kind": kind, "file": str(output) if output else None, "text": text})
    elif output:
        say(f"written: {output}; {_check(text)}")
    else:
        click.echo(text, nl=False)
    return Exit.HOLDS


def kinds() -> dict[str, str]:
    """Returns the text of each kind of case."""
    paths = sorted(TEMPLATES.glob("*.toml"))
    return {path.stem: path.read_text(encoding="utf-8") for path in paths}


def about(text: str) -> str:
    """Returns the first line of a template in words."""
    return text.splitlines()[0].removeprefix("# ")


def _check(text: str) -> str:
    line = next(line for line in text.splitlines() if "paramverify" in line)
    return f"check it with `{line[line.index('paramverify') :]}`"


def _write(path: Path, text: str, force: bool) -> None:
    if not force and path.exists():
        raise InputError("this file exists already; choose another name, or add --force", file=str(path))
    write_text(path, text)
