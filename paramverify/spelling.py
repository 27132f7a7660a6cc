"""Which known word was meant by one that is not known."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Returns the known word that looks most like one that is not: first those that differ in case only."""
    words = list(known)
    same = [other for other in words if other.casefold() == word.casefold()]
    return next(iter(same or get_close_matches(word, words, n=1)), None)
