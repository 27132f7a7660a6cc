"""What shells and editors are told: completion of the command line, and `paramverify schema`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from paramverify.cli import main, schema
from paramverify.cli._commands import commands
from paramverify.cli.main import COMPLETION
from paramverify.reports.case_schema import KINDS
from paramverify.reports.case_schema import schema as schema_of

PROGRAM = Path(sys.executable).parent / "paramverify"


def asked(words: str, place: int) -> list[str]:
    """Returns what click answers a shell that completes a word of a line."""
    told = {COMPLETION: "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(place)}
    done = CliRunner().invoke(main.cli, prog_name="paramverify", env=told)
    assert done.exit_code == 0, done.output
    return done.output.splitlines()


@pytest.mark.parametrize(
    ("words", "place", "wanted"),
    [
        ("paramverify verif", 1, ["plain,verify"]),
        ("paramverify s", 1, ["plain,schema", "plain,synthesize", "plain,sample", "plain,show"]),
        ("paramverify --c", 1, ["plain,--config"]),
        ("paramverify verify --ti", 2, ["plain,--timeout"]),
        ("paramverify schema --kind ", 3, [f"plain,{kind}" for kind in KINDS]),
        ("paramverify new pr", 2, ["plain,prior", "plain,program"]),
        ("paramverify cases infection-c", 2, ["plain,infection-chain"]),
        ("paramverify verify cases/noi", 2, ["file,cases/noi"]),
        ("paramverify check evidence", 2, ["file,evidence"]),
        ("paramverify --config co", 2, ["file,co"]),
    ],
)
def test_words_are_completed(words: str, place: int, wanted: list[str]) -> None:
    """Commands, options, words of options and names of files are completed."""
    assert asked(words, place) == wanted


def test_commands_are_completed_without_being_imported() -> None:
    """The list of commands is complete, and imports none of them."""
    assert asked("paramverify ", 1) == [f"plain,{name}" for name in commands()]
    script = (
        "import sys; from paramverify.cli.main import cli; import click; "
        "found = cli.shell_complete(click.Context(cli), 'ver'); print([c.value for c in found], "
        "'paramverify.cli.verify' in sys.modules, 'flint' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "['verify'] False False\n"


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script(shell: str) -> None:
    """The program writes the script of a shell, and then answers in the form that this script reads."""
    environment = {**os.environ, COMPLETION: f"{shell}_source"}
    done = subprocess.run([PROGRAM], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{COMPLETION}={shell}_complete" in done.stdout
    line = {"COMP_WORDS": "paramverify verif", "COMP_CWORD": "verif" if shell == "fish" else "1"}
    environment |= {COMPLETION: f"{shell}_complete", **line}
    done = subprocess.run([PROGRAM], env=environment, capture_output=True, text=True, check=False)
    first = {"bash": "plain,verify", "zsh": "plain\nverify", "fish": "plain,verify\t"}[shell]
    assert done.stdout.startswith(first)


@pytest.mark.slow
def test_bash_completes_by_the_script() -> None:
    """Bash itself reads the script; words come into `COMPREPLY`, and files are left to the shell."""
    script = f"""
        PATH="{PROGRAM.parent}:$PATH"
        eval "$({COMPLETION}=bash_source paramverify)"
        compopt() {{ printf "%s " compopt "$@"; echo; }}
        COMP_WORDS=(paramverify sy) COMP_CWORD=1
        _paramverify_completion paramverify
        echo "${{COMPREPLY[@]}}"
        COMP_WORDS=(paramverify verify ca) COMP_CWORD=2
        _paramverify_completion paramverify
        complete -p paramverify
    """
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "synthesize\n" in done.stdout
    assert "compopt -o default \n" in done.stdout
    assert "_paramverify_completion paramverify" in done.stdout


@pytest.mark.slow
def test_the_schema_is_printed() -> None:
    """`schema` prints what is made of the readers, for all kinds of cases or for one."""
    assert json.loads(CliRunner().invoke(schema.command, []).output) == schema_of()
    assert set(schema.KINDS) == set(KINDS)
    for kind in KINDS:
        printed = CliRunner().invoke(schema.command, ["--kind", kind]).output
        assert json.loads(printed) == schema_of(kind)
    assert json.loads(CliRunner().invoke(schema.command, ["--json"]).output) == schema_of()
