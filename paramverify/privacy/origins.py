"""Programs that were made of a Python function, for the inputs and parameters of the case.

The last branch of such a program belongs to one of these inputs, and a comparison of parameters in the
function was answered for their domains. So a case whose inputs, domains or program were changed says nothing
about the function, and is not read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from paramverify.algebra.domains import Interval, parse_interval
from paramverify.errors import CaseError, InputError
from paramverify.models.settings import OPTION, Settings

KEY = "origin_digest"
MEND = (
    "adopt the function again, or delete the keys origin and origin_digest: the answers are then about the "
    "program alone"
)


def digest_of(data: Mapping[str, Any]) -> str:
    """Returns a digest of the parameters, the program and the inputs of the data of a case file."""
    made = data["mechanism"]
    parts = [data.get("parameters", {}), made.get("source"), made.get("calls"), made.get("inputs")]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]


def check(data: Mapping[str, Any], settings: Settings) -> None:
    """Checks that a case with a digest of its origin was not changed since, nor set to other parameters.

    Raises:
        CaseError: it was.
    """
    made = data.get("mechanism")
    if not isinstance(made, Mapping) or KEY not in made:
        return
    if made[KEY] != digest_of(data):
        reason = "the parameters, the inputs or the program were changed since the function was adopted"
        raise CaseError(f"{reason}: {MEND}", key=f"mechanism.{KEY}")
    parameters = data.get("parameters", {})
    for name, text in settings.items():
        if name in parameters and not _inside(text, parameters[name]):
            reason = f"the function was adopted for {name} in {parameters[name]}, and {text} is not inside"
            raise CaseError(f"{reason}: {MEND}", key=f"{OPTION} {name}")


def _inside(text: str, domain: object) -> bool:
    """Tells whether a number or an interval is inside a domain; (0, oo) has all positive numbers."""
    try:
        new, old = parse_interval(text), parse_interval(str(domain))
    except InputError:
        try:
            return parse_interval(text).lower > 0
        except InputError:  # a mistake that the reader names
            return True
    return _from(new) >= _from(old) and _up_to(new) <= _up_to(old)


def _from(interval: Interval) -> tuple[Any, bool]:
    return interval.lower, not interval.lower_closed


def _up_to(interval: Interval) -> tuple[Any, bool]:
    return interval.upper, interval.upper_closed
