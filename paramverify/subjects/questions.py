"""The questions that may be asked about a file, each with what it takes besides the file.

A field that is not given has its default. Its name is that of the option (`--delta-for`) and of the argument
in Python (`delta_for`), so that a subject can name what it does not take.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

PRECISION = Fraction(1, 10**9)  # of bounds
TOLERANCE = Fraction(1, 10**6)  # of the largest ratio and of the distance, for a violating prior
MOST_ROWS = 200  # of a table of probabilities
CLAIMS, MONOLITHIC = "claims", "monolithic"  # encodings
FOR_EVIDENCE = 2.0  # seconds in which a certificate of a claim may follow a solver's word


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """What all questions have in common."""

    name: ClassVar[str]

    def given(self) -> set[str]:
        """Returns the names of the fields without their default, with hyphens as options have them."""
        return {
            each.name.replace("_", "-")
            for each in fields(self)
            if each.metadata.get("option", True) and getattr(self, each.name) != each.default
        }


def _unnamed(default: Any) -> Any:
    """Returns a field that is no option of its own."""
    return field(default=default, metadata={"option": False})


@dataclass(frozen=True, kw_only=True)
class Verify(_Asked):
    """Is it true, for every point of the domain?

    With `evidence` the answer is to have evidence. `budgets` are several bounds in the place of the file's
    own, `encoding` says whether claims or the published formulas are decided. `points` and `every` are about
    interactive systems, `method` about formulas of logic. Without `numbers`, questions for probabilities are
    refused.
    """

    name: ClassVar[str] = "verify"
    evidence: bool = False
    budgets: str | None = None
    encoding: str = CLAIMS
    points: int | None = None
    every: bool = False
    method: str | None = None
    numbers: bool = _unnamed(True)


@dataclass(frozen=True, kw_only=True)
class Budget(_Asked):
    """What is the least bound?

    `delta_for` an ε asks for the least δ, `epsilon_for` a δ for the least ε, `curve` for δ as a function of
    ε, at the prior `at` only if that is given. `length` and `epsilon` are about streams, `method` about
    formulas. `plot` tells that the curve is to be drawn.
    """

    name: ClassVar[str] = "budget"
    evidence: bool = _unnamed(False)
    precision: Fraction | None = None
    delta_for: str | None = None
    epsilon_for: str | None = None
    curve: bool = False
    at: tuple[str, ...] = ()
    length: str | None = None
    epsilon: str | None = None
    plot: bool = False
    method: str | None = None
    options: tuple[str, str] = _unnamed(("--delta-for", "--epsilon-for"))  # as the user knows them

    @property
    def of_sets(self) -> bool:
        """Whether it is about ε and δ, over all sets of outputs."""
        return self.delta_for is not None or self.epsilon_for is not None or self.curve


@dataclass(frozen=True, kw_only=True)
class Explain(_Asked):
    """What was understood of the file?"""

    name: ClassVar[str] = "explain"


@dataclass(frozen=True, kw_only=True)
class Show(_Asked):
    """Which probabilities has the model, as formulas; or, with `graph`, what does it look like?"""

    name: ClassVar[str] = "show"
    latex: bool = False
    graph: bool = False
    length: int | None = None
    observations: tuple[str, ...] = ()
    limit: int = MOST_ROWS


@dataclass(frozen=True, kw_only=True)
class Synthesize(_Asked):
    """Where is it true?

    `form` is `witness`, `region` or `exact`, or None for what suits the file; see `paramverify.synthesize`.
    `state` is the file in which a map is kept. `plot` tells that there is to be a picture, `written` that
    files are written of the answer, for which the time limit does not count.
    """

    name: ClassVar[str] = "synthesize"
    form: str | None = None
    parameters: Sequence[str] = ()
    coverage: Fraction | None = None
    objective: str | None = None
    near: Mapping[str, Fraction] | None = None
    precision: Fraction = TOLERANCE
    state: Path | None = None
    plot: bool = False
    evidence: bool = _unnamed(False)
    written: bool = _unnamed(False)


@dataclass(frozen=True, kw_only=True)
class Sample(_Asked):
    """What do tests by sampling find? It has a plan of its own, in `statistics.case_testing`."""

    name: ClassVar[str] = "sample"


@dataclass(frozen=True, kw_only=True)
class Prove(_Asked):
    """Which theorem says that it is true?"""

    name: ClassVar[str] = "prove"


@dataclass(frozen=True, kw_only=True)
class Hand(_Asked):
    """What does a page about it say, which can be handed over?"""

    name: ClassVar[str] = "report"


Question = Verify | Budget | Explain | Show | Synthesize | Sample | Prove | Hand
