"""How everything that users read is written: the rules in `.vale`, on pages, cases and texts of the program.

Vale itself reads pages only. Its rules are patterns, which are applied here as Vale applies them.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import click
import generated
import json_formats
import pytest
import yaml
from conftest import ROOT
from record import documents

import paramverify
from paramverify.cli.main import cli

STYLE = ROOT / ".vale" / "paramverify"
HISTORY = {"CHANGELOG.md"}


class Text(NamedTuple):
    """A text that users read, and where it is."""

    place: str
    text: str


class Rule(NamedTuple):
    """A pattern that no text matches, and what to write."""

    name: str
    pattern: re.Pattern[str]
    message: str


def rules() -> Iterator[Rule]:
    """Reads the rules: a pattern for each token, or for each word that has a better one."""
    for path in sorted(STYLE.glob("*.yml")):
        rule = yaml.safe_load(path.read_text(encoding="utf-8"))
        words = rule["swap"] if rule["extends"] == "substitution" else dict.fromkeys(rule["tokens"], "")
        flags = re.MULTILINE | (re.IGNORECASE if rule.get("ignorecase") else 0)
        for word, better in words.items():
            edge = "" if rule.get("nonword") else r"\b"
            yield Rule(
                path.stem,
                re.compile(f"{edge}(?:{word})(?:{edge})", flags),
                f"{rule['message']} {better}".strip(),
            )


RULES = list(rules())


def faults(texts: Iterator[Text]) -> list[str]:
    """Returns where texts break a rule, each with the words that do."""
    return sorted(
        {
            f"{found.place}: {rule.name}: {match.group().strip()!r}"
            for found in texts
            for rule in RULES
            for match in rule.pattern.finditer(found.text)
        }
    )


def prose_of(path: Path) -> Iterator[Text]:
    """Yields the paragraphs, items and rows of a page, without code, comments and targets of links."""
    text = path.read_text(encoding="utf-8")
    for code in (
        r"^( *)(```|~~~)[\s\S]*?^\1\2[ \t]*$",
        r"<!--[\s\S]*?-->",
        r"^<(style|script)[\s\S]*?^</\1>",
    ):
        text = re.sub(code, lambda found: "\n" * found.group().count("\n"), text, flags=re.MULTILINE)
    text = re.sub(r"`+[^`\n]*(?:\n[^`\n]+)?`+", "`code`", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    name, start, lines, is_title = path.relative_to(ROOT), 1, list[str](), False
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        begins = not line.strip() or re.match(r"\s*([-*|#>]|\d+\. |!!!)", line)
        if lines and (begins or is_title):
            yield Text(f"{name}:{start}", " ".join(lines))
            lines = []
        is_title = line.startswith("#")
        if line.strip():
            start = number if not lines else start
            lines.append(line.strip("-*#>| "))


def texts_in(path: Path) -> Iterator[Text]:
    """Yields the texts of a module that have at least three words, without its docstrings."""
    kinds = (ast.JoinedStr, ast.Constant, ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [n for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, kinds)]
    within = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    within |= {
        id(node.body[0].value)
        for node in nodes
        if isinstance(node, kinds[2:]) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in nodes:
        text = ""
        if isinstance(node, ast.JoinedStr):
            text = "".join(p.value if isinstance(p, ast.Constant) else "{}" for p in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in within:
            text = node.value
        if len(text.split()) >= 3:
            text = " ".join(re.sub(r"\{\w+\}", "{}", text).split())
            yield Text(f"{path.relative_to(ROOT)}:{node.lineno}", text)


def texts_of_program() -> Iterator[Text]:
    """Yields every text of the package: messages, notes, sentences, help."""
    for path in sorted((ROOT / "paramverify").rglob("*.py")):
        yield from texts_in(path)


def helps(command: click.Command, name: str) -> Iterator[Text]:
    """Yields the help of a command and of those below it; that of options are texts of the program."""
    yield Text(name, " ".join((command.help or "").split()))
    if isinstance(command, click.Group):
        context = click.Context(command)
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            assert found
            yield from helps(found, f"{name} {below}")


def docstrings() -> Iterator[Text]:
    """Yields the help of all commands, and the docstrings of what the package offers."""
    yield from helps(cli, "paramverify")
    for name in paramverify.__all__:
        found = getattr(paramverify, name)
        yield Text(f"paramverify.{name}", " ".join((inspect.getdoc(found) or "").split()))


def comments_of_cases() -> Iterator[Text]:
    """Yields the comments of the shipped cases."""
    for path in sorted((ROOT / "cases").rglob("*.toml")):
        said = re.findall(r"^#+ ?(.*)|\s# (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        yield Text(str(path.relative_to(ROOT)), " ".join(a or b for a, b in said))


def pages() -> Iterator[Text]:
    """Yields the prose of all pages, the meanings of keys of JSON, and the tables of recorded results."""
    for path in documents():
        if path.name not in HISTORY:
            yield from prose_of(path)
    for name, table in generated.TABLES.items():
        cells = re.sub(r"`[^`]+`", "`code`", re.sub(r"\]\([^)]*\)", "]", table()))
        yield from (Text(name, cell.strip()) for cell in re.split(r"[|\n]", cells) if cell.strip())
    for part in json_formats.objects():
        yield Text(f"docs/json.toml:{part.name}", part.text)
        for group in part.groups:
            for listed in group.common:
                yield Text(f"docs/json.toml:{part.name}.{listed.key}", listed.remark)
            for field in group.fields:
                yield Text(
                    f"docs/json.toml:{part.name}.{field.keys[0]}", re.sub(r"`[^`]*`", "code", field.meaning)
                )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("An output tells the secret.", ["Verbs: 'tells'"]),
        ("It is private. Where `p` is 0, it is not.", ["Conditions: '. Where `p` is 0,'"]),
        ("Files are where you put them, and `where` is a function.", []),
        ("A proof that a stranger can check", ["Clipped: 'a stranger'"]),
        ("The verdict is that the case is violated.", ["Verdicts: 'case is violated'"]),
        ("The case is not private, and outputs distinguish the inputs.", []),
    ],
)
def test_what_breaks_a_rule(text: str, found: list[str]) -> None:
    """The rules find what they are about, and nothing else."""
    assert faults(iter([Text("here", text)])) == [f"here: {fault}" for fault in found]


def test_where_prose_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Code, comments and targets of links are skipped; a paragraph is one text, at its first line."""
    monkeypatch.setattr("test_prose.ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "# A title\nOne line\nand `told`\n<!-- tells -->\n\n```\ntold\n```\n- [item](told.md)\n  of two\n"
    )
    assert list(prose_of(page)) == [
        ("page.md:1", "A title"),
        ("page.md:2", "One line and `code`"),
        ("page.md:9", "[item] of two"),
    ]


@pytest.mark.parametrize("texts", [pages, texts_of_program, docstrings, comments_of_cases])
def test_texts_keep_the_rules(texts: Callable[[], Iterator[Text]]) -> None:
    """No text that users read breaks a rule of the style."""
    found = list(texts())
    assert len(found) > 20
    assert faults(iter(found)) == []
