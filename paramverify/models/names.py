"""Names and numbers: what a key, a list entry or a label of a case file means. Only this module decides it.

A text is a number only where it is spelt as one: an optional minus, digits without a leading zero, then
perhaps `.digits` or `/digits`, all ASCII. Every other text is a label and means nothing but itself: "00",
"+1", "1_0", "1e3" and " 1" are labels. Two spellings of one number in one set ("1.0" and "1") are an error
that names both, so no name is ever taken for another one because they are equal as numbers.

The states and observations of a model that is written out are labels, also where they look like numbers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from fractions import Fraction

from paramverify.algebra.expressions import Value, exact_decimal
from paramverify.errors import CaseError
from paramverify.tables import is_decimal

NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+|/[1-9][0-9]*)?")
MAX_DIGITS = 1_000


def literal(given: object) -> Value:
    """Returns a TOML number as a rational, and a text as it stands.

    Raises:
        CaseError: neither of both, or a number that is infinite or has too many digits.
    """
    if isinstance(given, str) and not is_decimal(given):
        return given
    if isinstance(given, bool) or not isinstance(given, (int, str)):
        raise CaseError("a number or a label is needed here")
    if isinstance(given, int) and abs(given) >= 10**MAX_DIGITS:
        raise CaseError("a number with too many digits")
    try:
        return Fraction(given) if isinstance(given, int) else exact_decimal(given)
    except ValueError as error:
        raise CaseError(str(error)) from None


def as_value(given: object) -> Value:
    """Returns the value that a key or list entry names: a rational where it is spelt as one, else a label.

    Raises:
        CaseError: neither a number nor a text.
    """
    value = literal(given)
    if not isinstance(value, str) or not NUMBER.fullmatch(value):
        return value
    if len(value) > MAX_DIGITS:
        raise CaseError("a number with too many digits")
    return Fraction(value)


def distinct(listed: Iterable[object]) -> dict[Value, object]:
    """Returns the values that entries name, in their order, each with its spelling.

    Raises:
        CaseError: two entries name the same value; the message has both as they are spelt.
    """
    found: dict[Value, object] = {}
    for given in listed:
        value = as_value(given)
        if value in found:
            raise CaseError(same(found[value], given))
        found[value] = given
    return found


def same(first: object, second: object) -> str:
    """Returns the message for two entries that name the same value."""
    if spelt(first) == spelt(second):
        return f"{spelt(first)} occurs twice"
    return f"{spelt(first)} and {spelt(second)} are the same value; write it once"


def find(value: Value, known: Sequence[Value]) -> Value:
    """Returns the one of the known values that a value names.

    A text names the label of exactly this spelling, else the number that it is spelt as. A number names this
    number, else the only label that is spelt as it.

    Raises:
        CaseError: none of them, with the nearest; or a number that two labels are spelt as, with both.
    """
    if value in known:
        return value
    if isinstance(value, str):
        number = as_value(value)
        if isinstance(number, Fraction) and number in (v for v in known if not isinstance(v, str)):
            return number
        raise CaseError(f"{value!r} is not known here{nearest(value, known)}")
    named = [v for v in known if isinstance(v, str) and as_value(v) == value]
    if len(named) > 1:
        raise CaseError(f"{value} may be {named[0]!r} or {named[1]!r}: rename one of them")
    if not named:
        raise CaseError(f"{value} is not known here{nearest(str(value), known)}")
    return named[0]


def nearest(name: str, known: Collection[Value]) -> str:
    """Returns words about the known value that looks most like a name, or about all if none does."""
    shown = {str(v): repr(v) if isinstance(v, str) else str(v) for v in known}
    near = get_close_matches(name, list(shown), n=1)
    if near:
        return f"; did you mean {shown[near[0]]}?"
    few = list(shown.values())
    return f"; known: {', '.join(few if len(few) <= 8 else [*few[:7], '...'])}"


def spelt(given: object) -> str:
    """Returns an entry as the user wrote it: a text in quotes, a number without."""
    return repr(given) if isinstance(given, str) and not is_decimal(given) else str(given)
