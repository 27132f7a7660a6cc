"""What an answer is: one result for every question and every subject."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from paramverify.answers import Standing
from paramverify.bounds import AnyBounds
from paramverify.portfolio.session import Options, Session, unasked
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.runs import AnyRun


class Facts:
    """What an answer to one question has, and others do not."""


@dataclass(frozen=True, eq=False)
class CaseFacts(Facts):
    """Of a case that was decided: the `run` of the program that makes the output of the witness."""

    run: AnyRun | None = None


@dataclass(frozen=True, eq=False)
class FormulaFacts(Facts):
    """Of formulas, or questions of a script, that were decided: the word for each, by its name.

    `remarks` are about those that have no evidence.
    """

    verdicts: Mapping[str, str] = field(default_factory=dict)
    remarks: Callable[[], Sequence[str]] = tuple


@dataclass(frozen=True, eq=False)
class ValueFacts(Facts):
    """Of values that were searched: the case, the `form` of the answer, and whether it is `complete`.

    `stopped` says that the user ended the search.
    """

    case: PrivacyCase | None = None
    form: str = ""
    complete: bool = False
    drawing: Callable[..., Any] | None = None
    stopped: bool = False


@dataclass(frozen=True, eq=False)
class ShowFacts(Facts):
    """Of what is shown: `text` that stands for itself, whether it is `complete`, and other forms of it."""

    text: str | None = None
    complete: bool = True
    latex: Callable[[], str] | None = None
    graph: Callable[[], str] | None = None


F = TypeVar("F", bound=Facts)


@dataclass(frozen=True, eq=False)
class Result:
    """The answer to one question about one file.

    `lines` is the text and `document` the JSON object. `standing` is the verdict, where the question has one.
    `ending` says how it ended: HOLDS where what was asked for is known or true, VIOLATED where it is refuted,
    UNKNOWN where neither was found. `witness` is evaluated exactly outside of every backend. `found` is what
    the engine returned. `facts` are what only this question has.

    `evidence` makes the document for `check`; None where there is none. Then `no_evidence` says of what
    there is none, such as "for a ratio that is not exact", or why, as a sentence of its own.
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
    facts: Facts = field(default_factory=Facts)

    def bound(self, name: str) -> AnyBounds | None:
        """Returns the bounds of that name."""
        return next((each for each in self.bounds if each.name == name), None)

    def of(self, kind: type[F]) -> F:
        """Returns the facts of a question; if this answer has others, those of one that found nothing."""
        return self.facts if isinstance(self.facts, kind) else kind()

    def without_evidence(self) -> str:
        """Returns that there is no evidence, and of what, or why."""
        words = self.no_evidence
        if not words or words.startswith(("for ", "of ")):
            return f"there is no evidence {words}".rstrip()
        return words

    def remarked(self, session: Session, others: bool = True) -> Result:
        """Returns it with a note, if solvers were asked nothing; not `others` if none may answer this."""
        note = unasked(session, others=others)
        if not note:
            return self
        document = {**self.document, "notes": [*self.document.get("notes", ()), note]}
        return replace(self, lines=[*self.lines, f"Note: {note}."], document=document)


def evidence_with(
    options: Options, evidence: Callable[[Session], dict[str, Any]]
) -> Callable[[], dict[str, Any]]:
    """Returns what makes evidence in a session of its own."""

    def made() -> dict[str, Any]:
        with Session(options) as session:
            return evidence(session)

    return made
