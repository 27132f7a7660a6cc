"""Which known word was meant by one that is not known."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

LIKE = 0.6  # how alike words are at least of which one may be meant by the other
TYPED = 0.85  # how alike words are at least that differ by slips, and mean the same distribution

_DIGITS = re.compile("[0-9]+")


def one_off(word: str, known: Iterable[str]) -> str | None:
    """Returns the known word from which one differs in case only, or in one letter that is no digit.

    Of two letters both are needed.
    """
    if len(word) < 2:
        return None
    return next((other for other in known if _is_off(word, other)), None)


def _is_off(one: str, other: str) -> bool:
    if _DIGITS.sub("", one) == _DIGITS.sub("", other):
        return False  # q2 and q3 are two names
    if one.casefold() == other.casefold():
        return True
    short, long = sorted((one, other), key=len)
    same = next((k for k, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) == len(long):
        return len(one) > 2 and short[same + 1 :] == long[same + 1 :]
    return len(long) - len(short) == 1 and short[same:] == long[same + 1 :]


def nearest(word: str, known: Iterable[str], alike: float = LIKE) -> str | None:
    """Returns the known word that looks most like one that is not: first those that differ in case only."""
    words = list(known)
    same = [other for other in words if other.casefold() == word.casefold()]
    return next(iter(same or get_close_matches(word, words, n=1, cutoff=alike)), None)
