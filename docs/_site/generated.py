"""The parts of pages that are made from the program, from tables, or from recorded results."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import click
import constructs
import json_formats
import papers
import results

import paramverify
from paramverify import language
from paramverify.cli._commands import commands, groups
from paramverify.cli.main import cli
from paramverify.logic.formula_grammar import GRAMMAR

if TYPE_CHECKING:
    from paramverify.reports.case_schema import ReferenceKey, ReferenceTable

SHARED = ("--json", "--timeout", "--memory", "--config", "--debug", "--help")  # listed once for all commands


def command_pages() -> str:
    """Returns the list of commands by groups, and then each with its arguments, its help and its options."""
    context = click.Context(cli, info_name="paramverify")
    lines: list[str] = []
    shared: dict[str, str] = {}
    for name in commands():
        command = cli.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context)
        own: list[str] = []
        for option in command.get_params(inner):
            if isinstance(option, click.Option) and not option.hidden:
                row = option_row(option, inner)
                # An option that means something else here has a row here, as an option of its own.
                if not (set(option.opts) & set(SHARED) and shared.setdefault(option.opts[-1], row) == row):
                    own.append(row)
        usage = " ".join([inner.command_path, *command.collect_usage_pieces(inner)])
        lines += [f"## {name}", "", "```text", usage, "```", "", words(command.help or ""), ""]
        lines += [*table(own), ""] if own else ["It has only the options of every command.", ""]
    every = ["## Options of every command", "", *table([shared[n] for n in sorted(shared)]), ""]
    return "\n".join([*overview(), *every, *lines])


def overview() -> list[str]:
    """Returns the list of commands as `paramverify --help` groups it, with a link to each."""
    lines: list[str] = []
    for heading, listed in groups().items():
        lines += [f"**{heading}**", ""]
        lines += [
            f"- [{name}](#{name}): {escaped(said)}".replace("*", r"\*") for name, said in listed.items()
        ]
        lines += [""]
    return lines


def option_row(option: click.Option, context: click.Context) -> str:
    """Returns the row of one option: how it is written, its default, and what it does."""
    record = option.get_help_record(context)
    assert record is not None
    written, _ = record
    default = "" if option.is_flag or option.default is None else str(option.default)
    if "UNSET" in default or "Sentinel" in default or option.multiple:
        default = ""
    meaning = (option.help or "") + (" Required." if option.required else "")
    shown = f"`{default}`" if default else ""
    return f"| `{escaped(written)}` | {shown} | {escaped(meaning)} |"


def table(rows: list[str]) -> list[str]:
    """Returns a table of options."""
    return ["| option | default | meaning |", "| --- | --- | --- |", *rows]


def escaped(text: str) -> str:
    """Returns a text for a cell of a table."""
    return text.replace("|", "\\|").replace("\n", " ")


def words(text: str) -> str:
    """Returns the help of a command as paragraphs; names in capitals are code, and stars are stars."""
    return "\n\n".join(map(_paragraph, inspect.cleandoc(text).split("\n\n")))


def _paragraph(text: str) -> str:
    """Returns a paragraph of a help text; what click shall not wrap is an example, shown as a block."""
    if text.startswith("\b\n"):
        head, _, example = text.removeprefix("\b\n").partition("\n")
        return f"{head}\n\n```sh\n{inspect.cleandoc(example)}\n```"
    line = " ".join(text.split())
    marked = re.sub(r"(?<!`)(--[a-z][\w-]*|(?<=\s)-[A-Z]\b|\[\w+\])(?!`)", r"`\1`", line)
    return marked.replace("*", r"\*")


def function_pages() -> str:
    """Returns a mark of mkdocstrings for every public name: functions, classes, words of programs."""
    words = [name for name in paramverify.__all__ if hasattr(language, name)]
    classes = [name for name in paramverify.__all__ if name[0].isupper()]
    functions = [name for name in paramverify.__all__ if name not in (*words, *classes)]
    told = {
        "Functions": functions,
        "Reports, cases and numbers": classes,
        "Words of programs": words,
    }
    lines: list[str] = []
    for heading, names in told.items():
        lines += [f"## {heading}", ""]
        for name in names:
            lines += [f"::: paramverify.{name}", ""]
    return "\n".join(lines)


KINDS = {
    "privacy": "Cases about the privacy of a mechanism",
    "claim": "Cases of an inequality",
    "automaton": "Automata over streams",
    "interactive": "Interactive systems",
    "composition": "Releases that are composed",
    "logic": r"Formulas of dpCTL\*",
}


def every_key() -> str:
    """Returns the tables of a case file with all their keys, as the readers declare them."""
    from paramverify.reports.case_schema import reference

    lines: list[str] = []
    told: set[tuple[str, ...]] = set()
    for part in reference():
        rows = tuple(key_row(row) for row in part.rows)
        if (part.kind, part.name, *rows) in told:
            continue
        if not any(kind == part.kind for kind, *_ in told):
            lines += [f"## {KINDS[part.kind]}", ""]
        told.add((part.kind, part.name, *rows))
        lines += [f"### {heading(part)}", ""]
        lines += [part.text, ""]
        lines += ["| key | value | meaning |", "| --- | --- | --- |", *rows, ""]
        lines += [*(f"- {rule}" for rule in part.rules), ""] if part.rules else []
    return "\n".join(lines)


def heading(part: ReferenceTable) -> str:
    """Returns the heading of a table: its name as in TOML, or the kind of a mechanism."""
    if part.name == part.kind:
        return "The top of the file"
    if re.fullmatch(r"\w+", part.name):
        return f'`[mechanism]` with `kind = "{part.name}"`'
    return f"`{part.name}`"


def key_row(row: ReferenceKey) -> str:
    """Returns the row of one key; a key in capitals stands for names of the user."""
    name = f"*{row.name}*" if row.name.isupper() else f"`{row.name}`"
    kinds = escaped(", or ".join(dict.fromkeys(row.type.split(", or "))))
    value = ", ".join(f'`"{word}"`' for word in row.words) or kinds
    more = " Required." if row.needed else f" By default `{row.default}`." if row.default else ""
    return f"| {name} | {value} | {escaped(row.text)}{more} |"


def logic_grammar() -> str:
    """Returns the grammar by which formulas of dpCTL* are read."""
    return f"```lark\n{GRAMMAR.strip()}\n```"


PARTS: dict[str, Callable[[], str]] = {
    "commands": command_pages,
    "keys": every_key,
    "functions": function_pages,
    "json": json_formats.tables,
    "logic-grammar": logic_grammar,
    "construct-examples": constructs.examples,
}
TABLES: dict[str, Callable[[], str]] = {
    "constructs": constructs.tables,
    **{f"papers-{section}": partial(papers.rendered, section) for section in papers.sections()},
    **{f"results-{name}": partial(results.rendered, name) for name in (*results.names(), "others")},
}
PARTS |= TABLES
