"""What can be said in the end: holds, violated, or unknown; and why it ended.

A backend gives an `Answer` about one claim. A `Verdict` is about a case, and is the project's own word: it
carries evidence, or a witness that was evaluated exactly outside every backend.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paramverify.evidence.witnesses import AnyWitness


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


@dataclass(frozen=True)
class Proved:
    """A backend's answer: the claim holds at every point of the domain.

    `certificate` is a JSON document that the checker replays; None for a solver that is trusted, whose
    `transcript` is kept instead.
    """

    certificate: Mapping[str, Any] | None = None
    transcript: str = ""


@dataclass(frozen=True)
class Refuted:
    """A backend's answer: the claim fails near the given rational point, which is still to be checked."""

    point: Mapping[str, Fraction]
    transcript: str = ""


@dataclass(frozen=True)
class Open:
    """A backend's answer: undecided, with the reason."""

    end: End
    detail: str = ""
    transcript: str = ""


Answer = Proved | Refuted | Open


@dataclass(frozen=True)
class Decision:
    """How one claim was settled: the answer, by which backend, with its options, and the seconds it took."""

    answer: Answer
    backend: str
    version: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True)
class Holds:
    """Private for every prior of the domain; one decision for each claim is the evidence."""

    evidence: tuple[Decision, ...]


@dataclass(frozen=True)
class Violated:
    """Not private; the witness names prior, secrets and output, evaluated exactly."""

    witness: AnyWitness


@dataclass(frozen=True)
class Unknown:
    """Undecided: why it ended, and what is missing."""

    end: End
    detail: str


Verdict = Holds | Violated | Unknown
