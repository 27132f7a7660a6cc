"""What an answer is: one result for every question and every subject, and one kind of bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.answers import Standing


@dataclass(frozen=True, eq=False)
class Bounds:
    """lower ≤ the least bound ≤ upper, both proved; the least bound is known where they are equal.

    `name` says what is bounded: `ratio` (e^ε), `delta`, `relative` (the largest ratio divided by the bound of
    the file), `multiple` (of ε), `length N` (the same for streams of N inputs). An end that nothing is known
    of, or that is a function of parameters, is None; an infinite one is infinite. `attained` tells whether
    the least bound is reached; None if that is not known. `tight` is True where the bound of the file is
    shown to be the least one.
    """

    name: str
    lower: ExactNumber | None = None
    upper: ExactNumber | None = None
    attained: bool | None = None
    tight: bool | None = None

    @property
    def known(self) -> ExactNumber | None:
        """The least bound, where it is known exactly."""
        same = self.lower is not None and self.upper is not None and self.lower == self.upper
        return self.lower if same else None


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
    bounds: tuple[Bounds, ...] = ()
    witness: Any = None
    found: Any = None
    evidence: Callable[[], dict[str, Any]] | None = None
    no_evidence: str = ""
    remarks: tuple[str, ...] = ()  # for people beside the answer: on standard error
    facts: Mapping[str, Any] = field(default_factory=dict)

    def bound(self, name: str) -> Bounds | None:
        """Returns the bounds of that name."""
        return next((each for each in self.bounds if each.name == name), None)
