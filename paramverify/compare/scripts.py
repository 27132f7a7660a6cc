"""SMT-LIB 2 scripts in a comparison: one subject for each question, and why a script is left out.

A question asks whether a formula is satisfiable. Scripts that `export` writes say that a violation exists:
`unsat` means that the claim holds, `sat` that it is violated. What only prints is left away before a solver
gets the script, and so is the status that it states, which is for the comparison to know.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from paramverify.answers import Standing
from paramverify.formats.script_reading import read_script

STATUS = {"sat": Standing.VIOLATED, "unsat": Standing.HOLDS}


@dataclass(frozen=True)
class ComparedScript:
    """A question as a script: its text and digest, and its status in the words of claims, or None."""

    text: str
    digest: str
    known: str | None


def read_questions(path: Path) -> list[ComparedScript]:
    """Returns the questions of a script, in their order.

    Raises:
        InputError, LimitError: it is not taken, with the reason and the line.
    """
    checks = read_script(path).checks
    return [ComparedScript(check.script, check.digest, STATUS.get(check.expected or "")) for check in checks]
