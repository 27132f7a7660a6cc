"""Random points at which functions are compared, and how many of them a comparison needs.

Two functions that differ agree at few points. Let h be a polynomial, not zero, of total degree at most D. At
a point whose coordinates are drawn from 2^BITS numbers each, h is zero with a chance of at most D/2^BITS
([Schwartz80]). So n points miss a difference with a chance of at most (D/2^BITS)^n. Here h is the difference
of two products that have to be equal, such as claim·probability, and D is the sum of their degrees.

The degree of what evidence says is that of its polynomials. That of the case's own side is not known without
reading the case as polynomials, so it is estimated by the length of its values: at such a point a quotient of
polynomials of degree d has about d·BITS binary digits, unless numerator and denominator share nearly all
factors there. A degree that is k times as large makes the chance at most k^n times as large. So a comparison
is a test, and the kernel's proofs do not rest on it.

The points follow from a digest of what the evidence says without its proofs. This is a test against mistakes
of the first reader: whoever makes evidence on purpose may change it until its points miss a difference.
Standard library only.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from fractions import Fraction
from hashlib import sha256
from random import Random
from typing import Any

from .second_definitions import Interval

BITS = 28  # each coordinate is one of so many (2^BITS) numbers
CHANCE = 40  # a difference is to be missed with a chance below 2^−CHANCE
MOST_DRAWS = 2_000  # points that are drawn for one that a domain has
PROOFS = ("proof", "proofs", "tree")
MISSED = f" (estimated chance of missing a difference: below 2^-{CHANCE})"


def draws(document: Mapping[str, Any]) -> Random:
    """Returns what draws the points for a document: the same whatever the proofs are."""
    said = [{k: v for k, v in one.items() if k not in PROOFS} for one in document["statements"]]
    kept = {**document, "statements": said}
    text = json.dumps(kept, sort_keys=True).encode("utf-8", "surrogatepass")
    return Random(int.from_bytes(sha256(text).digest(), "big"))


def point_in(box: Mapping[str, Interval], draw: Random) -> dict[str, Fraction]:
    """Returns a random point inside of a box; an interval that is a number has that."""
    return {
        name: low + (high - low) * Fraction(draw.randrange(1, 1 << BITS), 1 << BITS)
        for name, (low, high, _, _) in box.items()
    }


def length_of(values: Iterable[Fraction]) -> int:
    """Returns about which degree has values of such length."""
    digits = max((max(v.numerator.bit_length(), v.denominator.bit_length()) for v in values), default=0)
    return digits // BITS + 1


def needed(degree: int, unknown: int = 0, choices: int = 1, lost: int = 0) -> int:
    """Returns how many points are needed for a difference of such a degree.

    Where constraints leave a share of the box, points are drawn until one is in the domain. There the chance
    may be 1/share times as large, and `lost` is the logarithm of that to the base 2.

    `unknown` positive factors, one for each pair of functions, are found from points that show nothing else.
    Of many functions each is compared with up to `choices` others, and none of them may agree by chance.
    """
    each = max(1, BITS - lost - degree.bit_length())
    return unknown - -(CHANCE + choices.bit_length()) // each
