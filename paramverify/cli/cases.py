"""`paramverify cases [NAME]`: the cases that come with the package, one line each, or one of them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import click

import paramverify
from paramverify.answers import Standing
from paramverify.cli._common import json_option, print_json, say, whole_timeout_option
from paramverify.cli._exits import Exit
from paramverify.errors import InputError
from paramverify.models.names import nearest
from paramverify.reports.sentences import columns
from paramverify.verdicts import with_status

LISTED = (20, "List the cases that come with paramverify, or print one of them.")

# A link to `cases/` at the root of the sources; in an installed package, a folder with copies.
SHIPPED = Path(paramverify.__file__).parent / "shipped"


class Shipped(NamedTuple):
    """One case: its name, what decides it, the verdict that it expects, and its title."""

    name: str
    kind: str
    verdict: str
    title: str


def _completed(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Returns the names of shipped cases that begin so, for shells."""
    del context, parameter
    return [name for name in sorted(map(_name, _paths())) if name.startswith(incomplete)]


@click.command("cases")
@click.argument("name", required=False, shell_complete=_completed)
@json_option
@whole_timeout_option
def command(name: str | None, as_json: bool) -> int:
    """List the cases that come with paramverify, or print one of them.

    \b
    Example:
      paramverify cases geometric-independent > case.toml

    Without NAME, the command prints one line for each case: its name, its kind, the verdict that it expects,
    and its title.
    """
    if name is None:
        found = list(shipped())
        if as_json:
            print_json({"cases": [case._asdict() for case in found]})
            return Exit.HOLDS
        for line in columns(Shipped._fields, found):
            say(line)
        return Exit.HOLDS
    path = find(name)
    text = path.read_text(encoding="utf-8")
    if as_json:
        print_json({"name": _name(path), "file": str(path), "text": text})
    else:
        click.echo(text, nl=False)
    return Exit.HOLDS


def find(name: str) -> Path:
    """Returns the file of a case, named with its folder or, where that is clear, without.

    Raises:
        InputError: there is no such case, or several; it names them or the nearest one.
    """
    wanted = name.removesuffix(".toml")
    names = {_name(path): path for path in _paths()}
    fitting = [wanted] if wanted in names else [n for n in names if n.rpartition("/")[2] == wanted]
    if len(fitting) == 1:
        return names[fitting[0]]
    if fitting:
        raise InputError(f"{wanted!r} names several cases: choose one of {', '.join(fitting)}", key="NAME")
    short = {n.rpartition("/")[2]: n for n in names}
    raise InputError(f"no case has the name {name!r}{nearest(wanted, [*names, *short])}", key="NAME")


def shipped() -> Iterator[Shipped]:
    """Yields all cases, by their names."""
    for path in _paths():
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        yield Shipped(_name(path), _kind(data), _verdict(data), str(data.get("title", "")))


def _paths() -> list[Path]:
    folders = [SHIPPED, *sorted(p for p in SHIPPED.rglob("*") if p.is_dir())]
    return [path for folder in folders for path in sorted(folder.glob("*.toml"))]


def _name(path: Path) -> str:
    return path.relative_to(SHIPPED).with_suffix("").as_posix()


def _kind(data: Mapping[str, Any]) -> str:
    if "claim" in data:
        return "inequality"
    if "system" in data:
        return "interactive"
    if "automaton" in data:
        return "automaton"
    return str(data["mechanism"]["kind"]) if "mechanism" in data else "logic"


def _verdict(data: Mapping[str, Any]) -> str:
    """Returns what `[expect]` says in words; of formulas, how many are true and false."""
    expect, claimed = data.get("expect", {}), "claim" in data
    if {"status", "verdict"} & expect.keys():
        standing = Standing(with_status(expect, claimed)["status"])
        return standing.of_claim if claimed else standing.of_case
    formulas = [with_status(entry, True) for entry in expect.values() if isinstance(entry, dict)]
    words = [Standing(entry["status"]).of_claim for entry in formulas if "status" in entry]
    return ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))
