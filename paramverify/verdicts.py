"""What can be said in the end, of every subject: holds, violated, or unknown; and why it ended.

A backend gives an answer about one claim. A verdict is about a case, a formula or a system, and is the
project's own word: it carries evidence, or a witness that was evaluated exactly outside every backend. There
is no other verdict; `Standing` has the words for each, in texts, in JSON and in `[expect]`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from paramverify.answers import Answer, Decision, End, FailsAt, Open, Proved, Refuted, Standing
from paramverify.errors import CaseError
from paramverify.evidence.witness import AnyWitness
from paramverify.evidence.witnesses import ExactWitness

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


def violating_output(verdict: Verdict) -> ExactWitness | None:
    """Returns the output that is too likely at a rational point, where that is what a verdict says."""
    witness = verdict.witness if isinstance(verdict, Violated) else None
    return witness if isinstance(witness, ExactWitness) else None


def status_of(said: Holds | Violated[object] | Unknown | Answer) -> Standing:
    """Returns the word for a verdict, or for the answer about one claim."""
    match said:
        case Holds() | Proved():
            return Standing.HOLDS
        case Violated() | Refuted() | FailsAt():
            return Standing.VIOLATED
        case Unknown() | Open():
            return Standing.UNKNOWN


def with_status(expected: Mapping[str, Any], claimed: bool) -> dict[str, Any]:
    """Returns what is expected of a case, or of a claim or formula (`claimed`), with both words for it.

    Raises:
        CaseError: a word that is none of these, or two that contradict each other.
    """
    found = dict(expected)
    said = {
        "status": {standing.value: standing for standing in Standing},
        "verdict": {s.of_claim if claimed else s.of_case: s for s in Standing},
    }
    standings: dict[str, Standing] = {}
    for name, words in said.items():
        if name in found:
            if not isinstance(found[name], str) or found[name] not in words:
                known = ", ".join(f'"{word}"' for word in words)
                raise CaseError(f"{found[name]!r} is not one of {known}", key=name)
            standings[name] = words[found[name]]
    if len(set(standings.values())) > 1:
        reason = f'it contradicts status = "{found["status"]}": give one of both'
        raise CaseError(reason, key="verdict")
    for standing in standings.values():
        found["status"] = standing.value
    return found
