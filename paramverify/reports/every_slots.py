"""What is said about slots for every number of them, all data and all functions at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paramverify.answers import Standing
from paramverify.interactive.pinq_induction import Every

NAMES = {(1,): "add", (1, -1): "swap"}
ASSUMED = "  Assumed of the environment: no data point ever comes to a full slot."


def document(found: Every, status: Standing, about: Mapping[str, Any]) -> dict[str, Any]:
    """Returns it as JSON data; `about` is the program and its forms."""
    return {
        "status": status,
        "verdict": status.of_case,
        "environment": "any" if found.program.drops else "accepted",
        "bound": None if found.reason else _bound(found),
        **about,
        "reason": found.reason,
    }


def _bound(found: Every) -> str:
    return "t*epsilon" if found.steps == 1 else f"{found.steps}*t*epsilon"


def lines(found: Every) -> list[str]:
    """Returns it in words."""
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
