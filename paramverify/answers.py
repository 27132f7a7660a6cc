"""What is said about one claim: proved, refuted or open; by whom; and why an attempt or a run ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from paramverify.errors import DefectError

if TYPE_CHECKING:
    from paramverify.algebra.number_fields import AlgebraicPoint


class End(Enum):
    """Why an attempt or a whole run ended; a limit is never a verdict."""

    DECIDED = "decided"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    GAVE_UP = "gave up"
    CRASHED = "crashed"
    UNAVAILABLE = "unavailable"
    INTERRUPTED = "interrupted"
    DISAGREEMENT = "disagreement"


class Standing(StrEnum):
    """How a question stands, in the word that stands for `status` in JSON; people read the other two."""

    HOLDS = "holds"
    VIOLATED = "violated"
    UNKNOWN = "unknown"

    @property
    def of_case(self) -> str:
        """The word for a case or an interactive system: private, not private, undecided."""
        return {Standing.HOLDS: "private", Standing.VIOLATED: "not private"}.get(self, "undecided")

    @property
    def of_claim(self) -> str:
        """The word for a claim or a formula: true, false, undecided."""
        return {Standing.HOLDS: "true", Standing.VIOLATED: "false"}.get(self, "undecided")

    @property
    def of_script(self) -> str:
        """The word of SMT-LIB for a script, which asks whether there is a violation: unsat, sat, unknown."""
        return {Standing.HOLDS: "unsat", Standing.VIOLATED: "sat"}.get(self, "unknown")


DECIDED = (Standing.HOLDS, Standing.VIOLATED)
WORST = (Standing.VIOLATED, Standing.UNKNOWN, Standing.HOLDS)  # of several: the first that is among them


@dataclass(frozen=True)
class Proved:
    """A backend's answer: the claim holds at every point of the domain.

    `certificate` is a JSON document that the checker replays; None for a solver that is trusted, whose
    `transcript` is kept instead. `detail` says how, if no backend was asked about this very claim.
    """

    certificate: Mapping[str, Any] | None = None
    transcript: str = ""
    detail: str = ""


@dataclass(frozen=True)
class Refuted:
    """A backend's answer: the claim fails near the given rational point, which is still to be checked."""

    point: Mapping[str, Fraction]
    transcript: str = ""


@dataclass(frozen=True)
class Open:
    """A backend's answer: undecided, with the reason.

    `denies` is true where a solver says of this very claim that it fails, and no point shows it.
    """

    end: End
    detail: str = ""
    transcript: str = ""
    denies: bool = False


@dataclass(frozen=True)
class FailsAt(Open):
    """An answer about a claim that fails at an algebraic point, while no rational point is known.

    It was verified exactly that it does. To whoever asks for rational points the claim is open.
    """

    at: AlgebraicPoint = field(kw_only=True)


Answer = Proved | Refuted | Open


@dataclass(frozen=True)
class Decision:
    """How one claim was settled: the answer, by which backend, with its options, and the seconds it took."""

    answer: Answer
    backend: str
    version: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def by(self) -> str:
        """The backends, each with its version, such as `cvc5 1.3.1 and z3 5.4.0`.

        Of several, `backend` has the names and `version` the versions, with a comma and a space between them.
        """
        names, versions = self.backend.split(", "), self.version.split(", ")
        if len(names) != len(versions):
            return f"{self.backend} {self.version}".strip()
        return " and ".join(" ".join(pair).strip() for pair in zip(names, versions, strict=True))

    @property
    def proof(self) -> Mapping[str, Any]:
        """The proof of a claim that was proved, as `checker` reads it: a certificate's, or a solver's word.

        Raises:
            DefectError: the claim was not proved.
        """
        if not isinstance(self.answer, Proved):
            raise DefectError("a claim that was not proved has no proof")
        if self.answer.certificate is not None:
            proof: Mapping[str, Any] = self.answer.certificate["proof"]
            return proof
        return {
            "kind": "solver",
            "solver": self.backend,
            "version": self.version,
            "options": dict(self.options),
            "transcript": self.answer.transcript,
        }
