"""What a theorem about a case says."""

from __future__ import annotations

from dataclasses import dataclass

from paramverify.models.settings import Settings, told
from paramverify.reports.theorems.words import comment

TIMES = "at most {times} times as likely"
ALIKE = f"{TIMES} under one secret of a pair as under the other one{{plus}}"
NEAR = f"{TIMES} for an input as for its neighbour{{plus}}"


@dataclass(frozen=True)
class StatedTheorem:
    """Definitions of a file, and what its theorem says.

    `claim` is the conclusion, with `{point}` for the values of the parameters, and with `{ratio}` and
    `{delta}`; `uses` is the theorem of the theories with its arguments. `told` says in words what is stated,
    with `{times}` for the ratio and `{plus}` for what comes besides. `words` says which files of the theories
    define what the file says. `as_model` is the reason why the case is told as a model, if it is.
    """

    definitions: tuple[str, ...]
    claim: str
    uses: str
    told: str
    words: str
    as_model: str = ""


def about_case(digest: str) -> str:
    """Returns the line of a file that says which case it is about."""
    return f"The digest of the case: {digest}"


def case_lines(digest: str, settings: Settings) -> str:
    """Returns the lines of a file that say which case it is about, and what of it is not of the file."""
    lines = [about_case(digest), *(comment(f"{note}.") for note in told(settings))]
    return "\n    ".join([*lines, *["The digest is one of the file and of what was set."] * bool(settings)])
