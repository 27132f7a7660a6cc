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

from paramverify.algebra.domains import parse_interval
from paramverify.errors import CaseError
from paramverify.models.parameters import interval_text, is_inside, unbounded_names
from paramverify.models.settings import OPTION, Settings
from paramverify.tables import Table

ORIGIN, KEY = "origin", "origin_digest"
MEND = (
    "adopt the function again, or delete the keys origin and origin_digest: the answers are then about the "
    "program alone"
)


def digest_of(data: Mapping[str, Any]) -> str:
    """Returns a digest of the parameters, the program, its inputs and its origin."""
    made = data["mechanism"]
    keys = ("source", "calls", "inputs", ORIGIN)
    parts = [data.get("parameters", {}), *(made.get(key) for key in keys)]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]


def check(data: Mapping[str, Any], settings: Settings) -> None:
    """Checks that a case with an origin was not changed since, nor set to other parameters.

    Raises:
        CaseError: it was.
    """
    made = data.get("mechanism")
    if not isinstance(made, Mapping):
        return
    _check_parts(made)
    if ORIGIN not in made and KEY not in made:
        return
    if made.get(KEY) != digest_of(data):
        reason = "the parameters, the inputs or the program were changed since the function was adopted"
        raise CaseError(f"{reason}: {MEND}", key=f"mechanism.{KEY if KEY in made else ORIGIN}")
    parameters = data.get("parameters", {})
    for name, text in settings.items():
        if name in parameters and not _inside(text, parameters[name]):
            reason = f"the function was adopted for {name} in {parameters[name]}, and {text} is not inside"
            raise CaseError(f"{reason}: {MEND}", key=f"{OPTION} {name}")


def _check_parts(made: Mapping[str, Any]) -> None:
    """Checks that only the mechanism of a whole case has an origin: other parts decide, too."""
    parts = made.get("parts")
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, Mapping):
            if ORIGIN in part or KEY in part:
                reason = "a part of a mechanism has no origin: delete the keys origin and origin_digest"
                raise CaseError(f"{reason}; the answers are about the program", key="mechanism.parts")
            _check_parts(part)


def _inside(text: str, domain: object) -> bool:
    """Tells whether a number or an interval is inside the domain of a parameter.

    Raises:
        InputError: it is neither.
    """
    unbounded = unbounded_names(Table({"parameters": {"new": text, "old": domain}}))
    if "new" in unbounded:
        return "old" in unbounded
    new = parse_interval(text)
    if "old" in unbounded:
        return new.lower > 0 or (new.lower == 0 and not new.lower_closed)
    return is_inside(new, parse_interval(interval_text(domain)))
