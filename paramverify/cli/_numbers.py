"""Exact numbers that options have, with what is said where they are none or too large."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from paramverify.algebra.expressions import constant
from paramverify.errors import InputError, located


def number(text: str, option: str, allowed: Callable[[Fraction], bool], needed: str) -> Fraction:
    """Returns the number of an option; `needed` says which numbers are allowed.

    Raises:
        InputError: it is no number, or none that is allowed.
    """
    with located(key=option):
        value = constant(text)
        if not allowed(value):
            raise InputError(f"{needed} is needed")
        return value


def share(text: str, option: str) -> Fraction:
    """Returns a number between 0 and 1, such as a relative distance; see `number`."""
    return number(text, option, lambda value: 0 < value < 1, "a number between 0 and 1")


def positive(text: str, option: str) -> Fraction:
    """Returns a number above 0; see `number`."""
    return number(text, option, lambda value: value > 0, "a number above 0")
