"""Solvers that the user adds by a few lines of TOML, each a program that reads SMT-LIB 2.

    [solvers.dreal]
    command = ["dreal", "--in"]       # found on PATH; the script comes on standard input
    version = "4.21"                  # recorded with its answers
    models = false                    # it has no (get-value ...)
    # logic = "QF_NRA"                # what (set-logic ...) says
    # interactive = true              # it answers each command at once, so one run gives a model too
    # options = { seed = 1 }          # become (set-option :seed 1)
    # description = "...", install = "how to get it"

They are read from the file that `--config` or the environment variable PARAMVERIFY_CONFIG names, otherwise
from `paramverify/config.toml` in the user's folder for configuration ($XDG_CONFIG_HOME, or ~/.config).
Nothing is read from the working folder: commands from there would be commands of whoever wrote its files. A
program that is given with a folder is looked for from the folder of the configuration. No program is run
before a claim is given to it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from paramverify.backends import ours
from paramverify.backends.smtlib_process import SmtLibProcess, check_options
from paramverify.errors import InputError, located
from paramverify.tables import Table, in_case, read_document

VARIABLE = "PARAMVERIFY_CONFIG"
NAME = re.compile(r"[a-z][a-z0-9_-]*\Z")
LOGIC = re.compile(r"[A-Z_]+\Z")


def config_file() -> Path | None:
    """Returns the file that configures solvers, or None if there is none; never one of the working folder.

    Raises:
        InputError: the environment variable names a file that does not exist.
    """
    named = os.environ.get(VARIABLE)
    if named:
        if not Path(named).is_file():
            raise InputError(f"no such file; --config or the variable {VARIABLE} names it", file=named)
        return Path(named)
    home = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    if not home.is_absolute():  # the XDG specification says that such a path is to be ignored
        home = Path(os.path.expanduser("~")) / ".config"
    path = home / "paramverify" / "config.toml"
    return path if path.is_absolute() and path.is_file() else None


def configured() -> tuple[SmtLibProcess, ...]:
    """Returns the solvers that the user has configured.

    Raises:
        InputError: a mistake in the file, with its place.
    """
    path = config_file()
    if path is None:
        return ()
    read = read_document(path)
    with in_case(str(path), read.text):
        document = Table(read.data)
        if "solvers" not in document:
            document.close()
            return ()
        solvers = document.table("solvers")
        document.close()
        with located(key="solvers"):
            folder = path.absolute().parent
            return tuple(_solver(name, solvers.table(name), folder) for name in solvers)


def _solver(name: str, table: Table, folder: Path) -> SmtLibProcess:
    with located(key=name):
        if not NAME.match(name):
            raise InputError("a name has small letters, digits, - and _, and starts with a letter")
        if name in ours() or name == "built-in":
            raise InputError(f"there is a backend {name!r} already: choose another name")
        command = table.texts("command")
        if not all(command) or not command:
            raise InputError(
                "this names no program: write a program, and its options if it needs some", key="command"
            )
        if any("\0" in word for word in command):
            raise InputError("a program and its options have no null character", key="command")
        if os.sep in command[0]:  # otherwise its meaning would depend on the working folder
            command[0] = str(folder / command[0])
        logic = table.text("logic", "QF_NRA")
        if not LOGIC.match(logic):
            raise InputError(f"not the name of a logic: {logic!r}", key="logic")
        solver = SmtLibProcess(
            name=name,
            command=tuple(command),
            description=table.text("description", f"{command[0]}, an SMT-LIB process"),
            install=table.text("install", _where(command[0])),
            logic=logic,
            models=_flag(table, "models", True),
            interactive=_flag(table, "interactive", False),
            settings=_options(table),
            stated_version=table.text("version", "unknown version"),
        )
        table.close()
        return solver


def _where(program: str) -> str:
    """Returns how to get a program that is missing."""
    if os.sep in program:
        return f"write in `command` where it is, for {program} is not a program that can be run"
    return f"put {program} on PATH"


def _options(table: Table) -> dict[str, str]:
    if "options" not in table:
        return {}
    given = table.table("options").data
    options = {k: str(v).lower() if isinstance(v, bool) else str(v) for k, v in given.items()}
    with located(key="options"):
        check_options(options)
    return options


def _flag(table: Table, name: str, default: bool) -> bool:
    value = table.get(name)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise InputError(f"must be true or false, not {value!r}", key=name)
    return value


BACKENDS = configured
