"""Exact numbers that users write beside a file, with what is said if they are not allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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


def multiple(text: str) -> Fraction:
    """Returns a multiple of ε, such as 3/2; see `number`."""
    return number(text, "--budgets", lambda value: value >= 0, "a multiple of epsilon such as 3/2")


def split(text: str) -> list[str]:
    """Returns the bounds in a list such as `1,ln(2),min(2, eps)`: a comma in brackets parts nothing.

    Raises:
        InputError: an empty one.
    """
    found, depth = [""], 0
    for char in text:
        depth += (char in "([") - (char in ")]")
        if char == "," and depth == 0:
            found.append("")
        else:
            found[-1] += char
    parts = [part.strip() for part in found]
    if not all(parts):
        raise InputError("write bounds with commas between them, such as 1,ln(2),2", key="--budgets")
    return parts


def read_point(assignments: Iterable[str]) -> dict[str, Fraction]:
    """Reads `p=1/2` or `p=1/2,q=0.3`.

    Raises:
        InputError: another form, or a name that is given twice.
    """
    point: dict[str, Fraction] = {}
    for text in ",".join(assignments).split(","):
        if not text.strip():
            continue
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"write parameter=value, for example p=1/2; not {text!r}")
        if name.strip() in point:
            raise InputError(f"{name.strip()} is given twice")
        with located(key=name.strip()):
            point[name.strip()] = constant(value)
    return point
