"""Sizes of memory as people write them: `4GiB`, `500MB`."""

from __future__ import annotations

import re
from fractions import Fraction

from paramverify.errors import InputError

LEAST_MEMORY, MOST_MEMORY = 10**8, 10**15


def read_size(text: str) -> int:
    """Returns a number of bytes, written like `4GiB`, `1.5GB` or `500MB`.

    Raises:
        InputError: another form, or no sensible limit of memory.
    """
    match = re.fullmatch(r"\s*(\d{1,9}(?:\.\d{1,9})?)\s*([KMGT])(i?)B?\s*", text, re.IGNORECASE)
    if not match:
        raise InputError(f"{text!r} is no size; write for example 4GB or 500MB")
    unit = (1024 if match[3] else 1000) ** (1 + "KMGT".index(match[2].upper()))
    size = int(Fraction(match[1]) * unit)
    if not LEAST_MEMORY <= size <= MOST_MEMORY:
        raise InputError(f"{text!r} is not between 100MB and 1000TB")
    return size
