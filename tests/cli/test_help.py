"""The help texts: groups of commands, an example for each command, and options that say what they do."""

from __future__ import annotations

import inspect
import re
import shlex
from pathlib import Path

import click
import pytest
from calling_tools import called
from click.testing import CliRunner

from paramverify.cli._commands import GROUPS, commands, groups
from paramverify.cli.main import EXAMPLES, cli

CONTEXT = click.Context(cli, info_name="paramverify")
FIRST = {  # what the files of the examples are made by
    "case.toml": ["new", "program", "-o", "case.toml"],
    "system.toml": ["new", "interactive", "-o", "system.toml"],
    "chain.toml": ["new", "logic", "-o", "chain.toml"],
    "proof.json": ["verify", "case.toml", "--evidence", "proof.json"],
}
OTHERS = ("compare", "adopt")  # need programs that may be missing, or a file of the user
VERBS = re.compile(
    r"(?:Accept|Add|Allow|Answer|Check|Choose|Compare|Compose|Compute|Convert|Decide|Define|Derive|"
    r"Draw|Evaluate|Find|Give|Keep|Learn|Leave|Let|Limit|List|Make|Overwrite|Pass|Plot|Present|"
    r"Print|Prove|Race|Read|Replay|Report|Require|Run|Sample|Save|Say|Search|Set|Share|Show|Simplify|"
    r"State|Stop|Test|Trust|Try|Use|Write) "
)


def command(name: str) -> click.Command:
    """Returns a command as the group has it."""
    found = cli.get_command(CONTEXT, name)
    assert found is not None
    return found


def example(name: str) -> list[str]:
    """Returns the words of the example in the help of a command, without those of the shell."""
    found = re.search(r"^ *Example:\n +(paramverify .*)$", command(name).help or "", re.MULTILINE)
    assert found, name
    program, *words = shlex.split(found[1].partition(" >")[0])
    assert program == "paramverify"
    return words


def test_every_command_is_in_one_group() -> None:
    """The groups stand in their order, none is empty, and the help has their headings and commands."""
    found = groups()
    assert list(found) == list(GROUPS)
    assert [name for listed in found.values() for name in listed] == list(commands())
    shown = CliRunner().invoke(cli, ["--help"], terminal_width=120).output
    for heading, listed in found.items():
        section = shown.partition(f"\n{heading}:\n")[2].partition("\n\n")[0]
        assert re.findall(r"^  (\w+)  ", section, re.MULTILINE) == list(listed)


@pytest.mark.slow
def test_the_examples_of_the_first_help_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines behind the list of commands run one after the other."""
    monkeypatch.chdir(tmp_path)
    shown = " ".join(CliRunner().invoke(cli, ["--help"], terminal_width=120).output.split())
    for line, words in EXAMPLES:
        assert f"{line} {words}" in shown
        assert called(*line.split()[1:]).code == 0
    assert Path("report.html").is_file()


@pytest.mark.parametrize("name", list(commands()))
def test_help_begins_with_a_sentence_and_an_example(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sentence is that of the list of commands; the example is a call that the command takes."""
    monkeypatch.chdir(tmp_path)
    sentence, block, *_ = inspect.cleandoc(command(name).help or "").split("\n\n")
    assert sentence.replace("\n", " ") == commands()[name]
    assert sentence.count(". ") == 0
    assert block.startswith("\b\nExample:\n")
    first, *rest = example(name)
    assert first == name
    Path("case.toml").touch()
    with command(name).make_context(name, rest, parent=CONTEXT) as context:
        assert not context.args


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in commands() if name not in OTHERS])
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example of each command runs on the case that the first example writes."""
    monkeypatch.chdir(tmp_path)
    words = example(name)
    for file, made in FIRST.items():
        if file in words and words != made:
            called(*made)
    assert called(*words).code in ((3,) if name == "sample" else (0,))


@pytest.mark.parametrize("name", list(commands()))
def test_options_begin_with_a_verb(name: str) -> None:
    """The help of an option is a phrase that says what the option does, and ends with a full stop."""
    for option in command(name).params:
        if isinstance(option, click.Option):
            text = re.sub(r"  \[default: .*\]$", "", option.help or "")
            assert VERBS.match(text), (option.name, text)
            assert text.endswith("."), (option.name, text)
