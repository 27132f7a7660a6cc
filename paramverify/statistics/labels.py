"""What an output of code is called: its label. Outputs of different types have different ones.

Numbers, truth values, None and bytes are called as Python shows them, whole floats as whole numbers. A text
is called by itself. Where that would be the label of something else (`1`, `nan`, `None`), or looks as if it
were in quotes, it is in quotes: `'1'`.

A case knows its observations as texts, also where they look like numbers. There an output means what a name
in a case file means (`models.names`): a text the observation of exactly this spelling; another value the only
observation that is spelt as it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Number
from typing import Any

from paramverify.errors import InputError
from paramverify.models.names import as_value

# Equal values of one of these types have the same label, and comparing them runs no code of the user.
PLAIN = frozenset({int, float, str, bool, bytes, type(None)})
SHAPE = "an output is a number or a label, or a list of them"

_QUOTED = re.compile(r"[bB]?['\"]")
_NAMES = frozenset({"True", "False", "None"})
_READERS: tuple[Callable[[str], Any], ...] = (complex, Fraction, Decimal)


class ValueLabel(str):
    """The label of a value that is no text."""

    __slots__ = ()


def frozen(value: object) -> object:
    """Returns a value as one of a type in `PLAIN`, or as the label of a number of another type.

    Raises:
        InputError: neither a number, nor a truth value, text or None: other objects have no stable text.
    """
    import numpy as np

    if isinstance(value, np.generic):
        value = value.item()
    if type(value) in PLAIN or type(value) is ValueLabel:
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bytes):
        return bytes(value)
    if not isinstance(value, Number):
        listed = isinstance(value, (list, tuple, np.ndarray))
        other = "and no list in a list" if listed else f"not {type(value).__name__}"
        raise InputError(f"{SHAPE}, {other}", key="--mechanism")
    return ValueLabel(_of_value(value))


def label(value: object) -> str:
    """Returns the label of an output; see the module.

    Raises:
        InputError: it has none, as `frozen` says.
    """
    if type(value) is float and not value.is_integer():
        return repr(value)  # most outputs of continuous mechanisms
    value = frozen(value)
    if isinstance(value, str) and not isinstance(value, ValueLabel):
        shown = _text(value)
        return repr(shown) if _like_another(shown) else shown
    return _of_value(value)


def _of_value(value: object) -> str:
    """Returns the label of a frozen value that is no text."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    return _text(value)


def _text(value: object) -> str:
    try:
        shown = str(value)
    except ValueError:
        raise InputError("an output is a number with too many digits", key="--mechanism") from None
    # Unpaired surrogates cannot be printed.
    return shown.encode(errors="backslashreplace").decode()


def _like_another(text: str) -> bool:
    """Tells whether a text is the label of something else, or could be taken for one in quotes."""
    if text in _NAMES or _QUOTED.match(text):
        return True
    for read in _READERS:
        with suppress(ValueError, ArithmeticError):
            read(text)
            return True
    return False


def spelt(label: str) -> str:
    """Returns a label as messages name it: in quotes where it is that of a text."""
    return label if _like_another(label) else repr(label)


@dataclass(frozen=True)
class KnownObservations:
    """The observations of a case, by which outputs are called where they mean one of them."""

    names: frozenset[str]
    numbers: dict[Fraction | None, tuple[str, ...]]

    @staticmethod
    def of(observations: Sequence[str]) -> KnownObservations:
        """Returns them with the numbers that they are spelt as."""
        numbers: dict[Fraction | None, tuple[str, ...]] = {}
        for name in dict.fromkeys(observations):
            value = as_value(name)
            if isinstance(value, Fraction):
                numbers[value] = (*numbers.get(value, ()), name)
        return KnownObservations(frozenset(observations), numbers)

    def label(self, value: object) -> str:
        """Returns the observation that an output means, or its own label, which is none of the observations.

        Raises:
            InputError: a number that two observations are spelt as; what has no label.
        """
        value = frozen(value)
        is_text = isinstance(value, str) and not isinstance(value, ValueLabel)
        own = label(value)
        exact = _text(value) if is_text else own
        named = () if is_text else self.numbers.get(_number(own), ())
        if len(named) > 1:
            reason = f"the output {own} may be {named[0]!r} or {named[1]!r}: return one of these texts"
            raise InputError(reason, key="--mechanism")
        if named or exact in self.names:
            return named[0] if named else exact
        while own in self.names:
            own = repr(own)
        return own


def _number(shown: str) -> Fraction | None:
    """Returns the number that a label of a value is, decimals as they are written."""
    with suppress(ValueError, ZeroDivisionError):
        return Fraction(shown)
    return None
