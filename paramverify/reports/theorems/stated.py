"""What a theorem about a case says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Statement:
    """Definitions of a file, and what its theorem says.

    `claim` is the conclusion, with `{point}` for the values of the parameters, and with `{ratio}` and
    `{delta}`; `uses` is the theorem of the theories with its arguments. `told` says in words what is stated.
    """

    definitions: tuple[str, ...]
    claim: str
    uses: str
    told: str
