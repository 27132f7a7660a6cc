"""SMT-LIB 2 scripts as they are: what a comparison must know of one, and the backends that can run it.

A script asks whether its formula is satisfiable. Those that `export` writes say that a violation exists:
`unsat` means that the claim holds, `sat` that it is violated, and other scripts are told in the same words.
The commands are those of the SMT-LIB standard, version 2.6 ([Barrett17]).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from paramverify.answers import Open, Standing
from paramverify.backends import Backend, script_runner
from paramverify.errors import InputError, located
from paramverify.files import read_file

MAX_BYTES = 100_000_000
LOGIC = "QF_NRA"
STATUS = {"sat": Standing.VIOLATED, "unsat": Standing.HOLDS}

# Comments, strings and quoted symbols, in which brackets mean nothing, and brackets.
TOKEN = re.compile(r';[^\n]*|"[^"]*"|\|[^|]*\||[()]')
STATUS_LINE = re.compile(r"\(\s*set-info\s+:status\s+\w+\s*\)")


@dataclass(frozen=True)
class Script:
    """A script: its text and digest, and what it says about its status in the words of claims, or None."""

    text: str
    digest: str
    known: str | None


def read_script(path: Path) -> Script:
    """Reads what a comparison must know of a script.

    Raises:
        InputError: not a readable script of the logic QF_NRA with exactly one `(check-sat)`.
    """
    with located(file=str(path)):
        try:
            content = read_file(path, MAX_BYTES, "a script")
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise InputError("not UTF-8 text") from None
        logic, known, checks = "", None, 0
        for command in commands(text):
            match command:
                case ["set-logic", name]:
                    logic = name
                case ["set-info", ":status", status]:
                    known = STATUS.get(status)
                case ["check-sat"]:
                    checks += 1
                case [("check-sat-assuming" | "push" | "pop" | "reset" | "reset-assertions") as other, *_]:
                    raise InputError(f"({other} ...) is not taken here: one formula, checked once")
        if logic != LOGIC:
            raise InputError(f"the logic is {logic or 'not set'}; only {LOGIC} is compared")
        if checks != 1:
            raise InputError(f"exactly one (check-sat) is needed, not {checks}")
        return Script(text, hashlib.sha256(content).hexdigest(), known)


def commands(text: str) -> Iterator[list[str]]:
    """Yields the commands of a script, each as its words up to the first bracket inside.

    Raises:
        InputError: brackets that do not match.
    """
    depth, start = 0, 0
    for token in TOKEN.finditer(text):
        if token[0] == "(":
            if depth == 0:
                start = token.end()
            depth += 1
        elif token[0] == ")":
            depth -= 1
            if depth == 0:
                yield re.sub(TOKEN, " ", text[start : token.start()].partition("(")[0]).split()
        if depth < 0:
            break
    if depth:
        raise InputError("the brackets do not match")


def why_not(backend: Backend) -> str | None:
    """Returns why a backend cannot run scripts, or None where it can."""
    if script_runner(backend):
        return None
    if backend.builtin:
        return "the exact procedures of this package read claims, not SMT-LIB scripts"
    return "it has no way of reading an SMT-LIB script as it is"


def run_script(backend: Backend, text: str, options: Mapping[str, str]) -> str | Open:
    """Returns what a backend prints about a script, or why that does not count.

    The script is given to it as it is, but for the status that it states: some solvers complain where
    they find another one, and that is for the comparison to say.

    Raises:
        InputError: the backend cannot run scripts.
    """
    runner = script_runner(backend)
    if runner is None:
        raise InputError(f"{backend.name}: {why_not(backend)}")
    given = "".join(f"(set-option :{name} {value})\n" for name, value in options.items())
    return runner(given + STATUS_LINE.sub(" ", text))
