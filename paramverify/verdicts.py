"""What can be said in the end: holds, violated, or unknown; and why it ended.

A backend gives an answer about one claim. A `Verdict` is about a case, and is the project's own word: it
carries evidence, or a witness that was evaluated exactly outside every backend.
"""

from __future__ import annotations

from dataclasses import dataclass

from paramverify.answers import Decision, End
from paramverify.evidence.witnesses import AnyWitness


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
