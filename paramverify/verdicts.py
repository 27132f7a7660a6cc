"""What can be said in the end, of every subject: holds, violated, or unknown; and why it ended.

A backend gives an answer about one claim. A verdict is about a case, a formula or a system, and is the
project's own word: it carries evidence, or a witness that was evaluated exactly outside every backend. There
is no other verdict; `Standing` is the word for each in texts, in JSON and in `[expect]`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from paramverify.answers import Answer, Decision, End, Open, Proved, Refuted, Standing
from paramverify.evidence.witnesses import AnyWitness

W = TypeVar("W", covariant=True)


@dataclass(frozen=True)
class Holds:
    """True for every point of the domain; the decisions of its claims are the evidence."""

    evidence: tuple[Decision, ...]


@dataclass(frozen=True)
class Violated(Generic[W]):
    """False at a point of the domain; the witness says where, and what is too large there, exactly."""

    witness: W


@dataclass(frozen=True)
class Unknown:
    """Undecided: why it ended, and what is missing."""

    end: End
    detail: str


Verdict = Holds | Violated[AnyWitness] | Unknown


def status_of(said: Holds | Violated[object] | Unknown | Answer) -> Standing:
    """Returns the word for a verdict, or for the answer about one claim."""
    match said:
        case Holds() | Proved():
            return Standing.HOLDS
        case Violated() | Refuted():
            return Standing.VIOLATED
        case Unknown() | Open():
            return Standing.UNKNOWN
