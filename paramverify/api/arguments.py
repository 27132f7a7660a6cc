"""The arguments of the methods of a mechanism: each is checked once, and named in the error."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from operator import index
from typing import Any

from paramverify.algebra.domains import Interval, parse_interval
from paramverify.api.values import fraction
from paramverify.errors import InputError, located
from paramverify.models.parameters import interval_text, unbounded_names
from paramverify.tables import Table


def whole(name: str, value: Any, least: int) -> int:
    """Returns a whole number that is not below `least`.

    Raises:
        InputError: another value, with the name of the argument.
    """
    try:
        found = index(value)
    except TypeError:
        found = least - 1
    if found < least or isinstance(value, bool):
        raise InputError(f"a whole number that is at least {least} is needed here, not {value!r}", key=name)
    return found


def between(name: str, value: Any, upper: int | None = None) -> Fraction:
    """Returns a number above 0, and below `upper` if it is given.

    Raises:
        InputError: another value, with the name of the argument.
    """
    try:
        found = fraction(value)
    except InputError as error:
        error.key = name
        raise
    if found <= 0 or (upper is not None and found >= upper):
        wanted = "above 0" if upper is None else f"between 0 and {upper}"
        raise InputError(f"a number {wanted} is needed here, not {value!r}", key=name)
    return found


def table(name: str, value: Any) -> Mapping[str, Any]:
    """Returns a dict whose keys are names.

    Raises:
        InputError: another value, with the name of the argument.
    """
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise InputError(f"a dict with names is needed here, not {value!r}", key=name)
    return value


def intervals_of(top: Table) -> dict[str, Interval | None]:
    """Returns the interval of each parameter of a case, in its order; None is (0, ∞)."""
    listed = top.table("parameters").data if "parameters" in top else {}
    found: dict[str, Interval | None] = {}
    for name in listed:
        if name == "constraints":
            continue
        with located(key=name):
            free = name in unbounded_names(top)
            found[name] = None if free else parse_interval(interval_text(listed[name]))
    return found
