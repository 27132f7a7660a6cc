"""Witnesses at algebraic points, for the second reader: rational points that are very near to them.

Probabilities are rational functions of the parameters: they are nearly the same there. This is a comparison
and no proof: the kernel has checked already that the point is in the domain and that the claim fails there.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from .algebraic import read_place
from .polynomials import evaluate, number, parse

BITS = 400
NEAR = Fraction(1, 10**30)


def near_root(data: Mapping[str, Any]) -> Fraction:
    """Returns a rational that is very near to the root of an algebraic point."""
    place = read_place(data)
    low, high = place.ends
    below = evaluate(place.minimal, [low]) > 0
    while high - low > Fraction(1, 1 << BITS):
        middle = (low + high) / 2
        at = evaluate(place.minimal, [middle])
        if not at:
            return middle
        low, high = (middle, high) if (at > 0) == below else (low, middle)
    return low


def near_point(data: Mapping[str, Any]) -> dict[str, Fraction]:
    """Returns a rational point that is very near to an algebraic point."""
    root = near_root(data)
    return {name: evaluate(parse(text, ("t",)), [root]) for name, text in data["coordinates"].items()}


def near_number(told: Any, data: Mapping[str, Any]) -> Fraction:
    """Returns a rational that is very near to a number of a witness at an algebraic point."""
    return (
        number(told) if isinstance(told, str) else evaluate(parse(told["exact"], ("t",)), [near_root(data)])
    )


def is_near(own: Fraction, told: Fraction) -> bool:
    """Tells whether two numbers agree to thirty digits."""
    return abs(own - told) <= NEAR * (1 + abs(own))
