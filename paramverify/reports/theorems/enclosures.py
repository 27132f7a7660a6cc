"""Proofs with wider enclosures of logarithms: Coq computes exponentials slowly, and few bits are enough."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil, floor
from typing import Any

from paramverify.checker.claims import Rejected, check_claim

Json = Mapping[str, Any]

BITS = 24  # behind the point, in the ends of an enclosure


def with_wider_logarithms(claim: Json, proof: Json) -> Json:
    """Returns a proof with wider enclosures where it shows the claim too, else the proof itself."""
    wider: Json = _wider(proof)
    if wider == proof:
        return proof
    try:
        check_claim(claim, wider)
    except Rejected:
        return proof
    return wider


def _wider(value: Any) -> Any:
    if isinstance(value, list):
        return [_wider(part) for part in value]
    if not isinstance(value, Mapping):
        return value
    found = {key: _wider(part) for key, part in value.items()}
    if "terms" in found and "enclosure" in found:
        low, high = (Fraction(end) * 2**BITS for end in found["enclosure"])
        found["enclosure"] = [str(Fraction(end, 2**BITS)) for end in (floor(low), ceil(high))]
    return found
