"""Ranges of whole numbers, such as `"-1..1"`, and how many values an input or an entry may have."""

from __future__ import annotations

import re
from fractions import Fraction

from paramverify.errors import LimitError, key_that_is_read

MAX_VALUES = 1_000
PATTERN = r"\s*(-?[0-9]{1,1000})\s*\.\.\s*(-?[0-9]{1,1000})\s*"  # longer numbers are no numbers for JSON
_RANGE = re.compile(PATTERN)


def ends_of(text: str) -> tuple[int, int] | None:
    """Returns the two ends of a range; None for any other text."""
    found = _RANGE.fullmatch(text)
    return (int(found[1]), int(found[2])) if found else None


def values_of(text: str) -> tuple[Fraction, ...] | None:
    """Returns the numbers of a range, of which there are none if its ends stand the wrong way round.

    Returns:
        None if the text is no range.

    Raises:
        LimitError: more numbers than may be listed.
    """
    ends = ends_of(text)
    if ends is None:
        return None
    low, high = ends
    check_number(high - low + 1)
    return tuple(Fraction(k) for k in range(low, high + 1))


def check_number(values: int) -> None:
    """Raises a LimitError, with the key that is being read, if so many values are too many."""
    if values > MAX_VALUES:
        place = key_that_is_read()
        told = f"{values:,}" if values < 10**15 else "more than 10**15"
        reason = f"there are {told} values, but at most {MAX_VALUES:,} can be listed; list fewer"
        raise LimitError(f"{place}: {reason}" if place else reason)
