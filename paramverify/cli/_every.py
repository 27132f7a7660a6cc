"""`paramverify interactive CASE --every`: slots for every t, maxPts, data and K at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from paramverify.answers import Standing
from paramverify.checker.every import FORMAT, VERSION
from paramverify.cli._common import print_json, say, write_json
from paramverify.cli._exits import STATUS_CODES
from paramverify.interactive.every import Every, every, read_program

NAMES = {(1,): "add", (1, -1): "swap"}
ASSUMED = "  Assumed of the environment: no data point ever comes to a full slot."


def every_slots(path: str, as_json: bool, evidence: Path | None) -> int:
    """Proves a budget for every t, maxPts, data and set K of functions with ε, and tells it."""
    program, title, digest = read_program(path)
    found = every(program)
    status = Standing.UNKNOWN if found.reason else Standing.HOLDS
    document: dict[str, Any] = {"program": program.document(), "forms": [list(f) for f in found.forms]}
    if evidence and not found.reason:
        about = {"format": FORMAT, "version": VERSION, "case": {"title": title, "digest": digest}}
        write_json(evidence, {**about, **document, "steps": found.steps})
    if as_json:
        environment = "any" if program.drops else "accepted"
        bound = None if found.reason else _bound(found)
        print_json(
            {"status": status, "verdict": status.of_case, "environment": environment, "bound": bound}
            | {**document, "reason": found.reason}
        )
        return STATUS_CODES[status]
    for line in _lines(found):
        say(line)
    return STATUS_CODES[status]


def _bound(found: Every) -> str:
    return "t*epsilon" if found.steps == 1 else f"{found.steps}*t*epsilon"


def _lines(found: Every) -> list[str]:
    which = "every number t of slots, every maxPts, all data and every set K of functions with epsilon"
    if found.reason:
        return [
            f"{Standing.UNKNOWN.of_case}: no family for {which}.",
            f"  {found.reason[0].upper()}{found.reason[1:]}.",
        ]
    names = ", ".join(NAMES.get(form, str(form)) for form in found.forms)
    return [
        f"{Standing.HOLDS.of_case}: differential noninterference with {_bound(found)} for {which}.",
        f"  Unwinding family by induction: t steps of {found.steps}*epsilon; one slot differs by {names}.",
        *([] if found.program.drops else [ASSUMED]),
    ]
