"""What an answer is: one result for every question and every subject."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paramverify.answers import Standing
from paramverify.bounds import AnyBounds


@dataclass(frozen=True, eq=False)
class Result:
    """The answer to one question about one file.

    `lines` is the text and `document` the JSON object. `standing` is the verdict, where the question has one.
    `ending` says how it ended: HOLDS where what was asked for is known or true, VIOLATED where it is refuted,
    UNKNOWN where neither was found. `witness` is evaluated exactly outside of every backend. `found` is what
    the engine returned. `facts` are what only this question and subject has: `run`, `formulas`, `form`.

    `evidence` makes the document for `check`; None where there is none, for which `no_evidence` says of what.
    """

    lines: Sequence[str]
    document: dict[str, Any]
    seconds: float = 0.0
    standing: Standing | None = None
    ending: Standing = Standing.HOLDS
    notes: tuple[str, ...] = ()
    reason: str = ""
    bounds: tuple[AnyBounds, ...] = ()
    witness: Any = None
    found: Any = None
    evidence: Callable[[], dict[str, Any]] | None = None
    no_evidence: str = ""
    remarks: tuple[str, ...] = ()  # for people beside the answer: on standard error
    facts: Mapping[str, Any] = field(default_factory=dict)

    def bound(self, name: str) -> AnyBounds | None:
        """Returns the bounds of that name."""
        return next((each for each in self.bounds if each.name == name), None)
