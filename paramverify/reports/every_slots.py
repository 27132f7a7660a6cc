"""What is said about slots for every number of them, all data and all functions at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paramverify.answers import Standing
from paramverify.interactive.pinq_induction import Every

NAMES = {(1,): "add", (1, -1): "swap"}
NOT_OF_CASE = "  The noise and the bound of this case are not checked; to check them, leave out --every."
ASSUMED = "  Assumed of the environment: no data point ever comes to a full slot."


def document(found: Every, status: Standing, about: Mapping[str, Any]) -> dict[str, Any]:
    """Returns it as JSON data; `about` is the program and its forms."""
    return {
        "status": status,
        "verdict": status.of_claim,
        "environment": "any" if found.program.drops else "accepted",
        "bound": None if found.reason else _bound(found),
        **about,
        "reason": found.reason,
    }


def _bound(found: Every) -> str:
    return "t*epsilon" if found.steps == 1 else f"{found.steps}*t*epsilon"


def _shown(found: Every) -> str:
    return f"if each answer is private with an epsilon for one data point, t slots have {_bound(found)}"


def lines(found: Every) -> list[str]:
    """Returns it in words."""
    which = "every number t of slots, every maxPts, all data and every set K of functions"
    if found.reason:
        return [
            f"{Standing.UNKNOWN.of_claim}: no family for {which}.",
            f"  {found.reason[0].upper()}{found.reason[1:]}.",
        ]
    names = ", ".join(NAMES.get(form, str(form)) for form in found.forms)
    return [
        f"{Standing.HOLDS.of_claim} for {which}: {_shown(found)}.",
        f"  Unwinding family by induction: t steps of {found.steps}*epsilon; one slot differs by {names}.",
        *([] if found.program.drops else [ASSUMED]),
        NOT_OF_CASE,
    ]
