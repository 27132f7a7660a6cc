"""Who was asked about which claim, what they answered and after which time, in words and as JSON data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paramverify.algebra.polynomials import constant_value, is_constant
from paramverify.answers import Decision, End, Open, Refuted
from paramverify.claims import Claim
from paramverify.kernel.strict_reading import counted
from paramverify.reports.sentences import columns

SHOWN = 60  # attempts in words
WIDTH = 60  # characters of a claim, and of a reason

Race = tuple[Claim | str, Sequence[Decision]]


def attempt_rows(races: Sequence[Race], first: int = 1) -> list[dict[str, Any]]:
    """Returns one entry for each attempt of each race, as JSON data; the first race has this number."""
    return [_entry(number, claim, made) for number, (claim, race) in enumerate(races, first) for made in race]


def attempt_line(row: Mapping[str, Any]) -> str:
    """Returns one attempt as a line, for a run that ends before there is a table."""
    why = f": {_short(row['reason'])}" if "reason" in row else ""
    about = f"race {row['race']}, {_short(row['claim'])}"
    return f"  {about}: {row['backend']} {row['answer']} after {row['seconds']:.2g} s{why}"


def _subject(claim: Claim | str) -> str:
    """Returns where a claim comes from, or the question itself."""
    if isinstance(claim, str):
        return claim
    if claim.origins:
        return str(claim.origins[0])
    empty = is_constant(claim.polynomial) and constant_value(claim.polynomial) < 0
    return "the domain is empty" if empty else f"{claim.polynomial} >= 0"


def _entry(number: int, claim: Claim | str, made: Decision) -> dict[str, Any]:
    said = made.answer
    answer = "refuted" if isinstance(said, Refuted) else "proved"
    if isinstance(said, Open):
        stopped = "stopped" if made.seconds else "not started"
        answer = stopped if said.end is End.INTERRUPTED else said.end.value
    return {
        "race": number,
        "claim": _subject(claim),
        "backend": made.backend,
        "version": made.version,
        "answer": answer,
        "seconds": round(made.seconds, 6),
        **({"reason": said.detail} if not isinstance(said, Refuted) and said.detail else {}),
    }


def attempt_lines(races: Sequence[Race]) -> list[str]:
    """Returns a table of all attempts; of many the first ones."""
    found = attempt_rows(races)
    if not found:
        return ["attempts: none"]
    rows = [
        (
            str(each["race"]),
            _short(each["claim"]),
            each["backend"],
            each["answer"],
            f"{each['seconds']:.2g}",
            _short(each.get("reason", "")),
        )
        for each in found[:SHOWN]
    ]
    more = len(found) - len(rows)
    told = [f"attempts: {len(found):,} in {counted(len(races), 'race')}"]
    told += columns(("race", "claim", "backend", "answer", "seconds", "why"), rows)
    return [*told, f"... and {counted(more, 'attempt')} more; --json lists all"] if more else told


def _short(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 3]}..."
