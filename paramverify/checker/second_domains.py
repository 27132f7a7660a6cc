"""Parameters of a case and points of their domain, for the second reader: standard library only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice, product
from typing import Any

STEPS = ("3/7", "5/11", "8/13", "4/17", "14/19", "9/23", "20/29", "6/31")


def endless(given: Any) -> bool:
    """Tells whether a parameter is written as `(0, oo)`."""
    if not isinstance(given, str) or given.strip()[:1] != "(" or given.strip()[-1:] != ")":
        return False
    low, _, high = given.strip()[1:-1].partition(",")
    return low.strip() == "0" and high.strip().removeprefix("+").strip().lower() in ("oo", "inf", "infinity")


def candidates(box: Mapping[str, tuple[Fraction, Fraction, bool, bool]]) -> Iterator[dict[str, Fraction]]:
    """Yields points of a box: each coordinate another share of its interval first, then alike, then many."""
    shares = [Fraction(step) for step in STEPS]

    def at(chosen: Sequence[Fraction]) -> dict[str, Fraction]:
        return {
            name: low + (high - low) * share
            for (name, (low, high, _, _)), share in zip(box.items(), chosen, strict=True)
        }

    if all(low == high for low, high, _, _ in box.values()):
        yield at([Fraction(0)] * len(box))
        return
    size = len(shares)
    for shift in range(size):
        yield at([shares[(shift + 3 * k + k // size) % size] for k in range(len(box))])
    for share in shares:
        yield at([share] * len(box))
    for step in (Fraction(1), Fraction(1, 3), Fraction(1, 20)):
        yield from islice(
            (at([s * step for s in chosen]) for chosen in product(shares, repeat=len(box))), 500
        )
