"""Calling the command line inside of this process, and what must be true of every call."""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

from paramverify.cli.main import run

CODES = {0, 1, 2, 3}  # those that say something about the input; 70 is a defect, and 74 the system's


LIBRARIES = ("cvc5", "matplotlib.figure", "scipy.stats", "sklearn.linear_model", "stormpy", "sympy", "z3")


@cache
def import_libraries() -> None:
    """Imports what commands may import: a time limit in the middle of that would leave half a module."""
    for module in LIBRARIES:
        import_module(module)


class Called(NamedTuple):
    """How a call ended, and what it printed."""

    code: int
    out: str
    err: str


class _Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def called(*arguments: str, terminal: bool = False) -> Called:
    """Runs a command and checks its exit code, that nothing looks like a crash, and its JSON."""
    kind = _Terminal if terminal else io.StringIO
    out, err = kind(), kind()
    code = _run_into(out, err, arguments)
    shown = f"{arguments} ended with {code}: {err.getvalue()[-2000:]}"
    assert code in CODES, shown
    for word in ("Traceback", "internal error", "<paramverify", "object at 0x"):
        assert word not in err.getvalue() + out.getvalue(), shown
    if "--json" in arguments and out.getvalue():
        assert isinstance(strict_json(out.getvalue()), dict), shown
    if code == 2:
        assert err.getvalue().strip(), shown
    return Called(code, out.getvalue(), err.getvalue())


def printed(*arguments: str) -> Called:
    """Runs a command with both outputs in one, as a shell shows them, and checks its exit code."""
    both = io.StringIO()
    code = _run_into(both, both, arguments)
    assert code in CODES, both.getvalue()
    return Called(code, both.getvalue(), "")


def _run_into(out: io.StringIO, err: io.StringIO, arguments: tuple[str, ...]) -> int:
    import_libraries()
    with redirect_stdout(out), redirect_stderr(err):
        return run(list(arguments))


def strict_json(text: str) -> Any:
    """Reads JSON as the standard has it, without NaN and Infinity."""

    def refuse(word: str) -> NoReturn:
        raise ValueError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


assert sys.getrecursionlimit() <= 1000, "deep nesting would go unseen"
