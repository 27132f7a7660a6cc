"""Parameters beside their exponentials, for the second reader: rationals near their values at a point.

Claims and probabilities are polynomials in x_eps and eps. Equal ones have equal values whatever number is put
in for eps. One that is near its value shows on which side of a bound a probability is.

Standard library only, and no code of the first reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from .polynomials import number
from .strict import Rejected
from .ties import log_bounds

DIGITS = 20  # of a number near a logarithm; its error is far below every difference that matters


def near_log(value: Fraction) -> Fraction:
    """Returns a rational near ln(value) for value > 1, so that ln(b^k) is k times ln(b)."""
    for k in range(value.numerator.bit_length(), 1, -1):
        top, bottom = _root(value.numerator, k), _root(value.denominator, k)
        if top and bottom:
            return k * near_log(Fraction(top, bottom))
    low, _ = log_bounds(value, 128)
    return Fraction(round(low * 10**DIGITS), 10**DIGITS)


def _root(value: int, k: int) -> int:
    """Returns the k-th root of a positive whole number, 0 if that is not whole."""
    low, high = 1, 1 << (value.bit_length() // k + 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**k <= value else (low, middle - 1)
    return low if low**k == value else 0


def steps_of_ties(document: Mapping[str, Any]) -> dict[str, tuple[str, Fraction]]:
    """Returns the parameters beside their exponentials in some claim, each with its variable and step."""
    found: dict[str, tuple[str, Fraction]] = {}
    for claim in _claims(document):
        for name, (variable, step) in claim.get("ties", {}).items():
            if found.setdefault(name, (variable, number(step))) != (variable, number(step)):
                raise Rejected(f"{name} is tied in two ways")
    return found


def _claims(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    entries = [e for e in document.get("claims", []) if isinstance(e, dict)]
    for entry in [*entries, document.get("witness", {})]:
        if "claim" in entry:
            yield entry["claim"]


def without_logarithms(formula: str) -> str:
    """Returns a formula with a number near it in the place of each `ln(b)`."""
    return re.sub(r"ln\(([0-9]+(?:/[0-9]+)?)\)", lambda m: f"({near_log(Fraction(m[1]))})", formula)
