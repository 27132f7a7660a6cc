"""Outputs of programs in words, and the outputs that are meant by words and by values of Python."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite

from paramverify.models.programs.runs import Outputs, Put, holds

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_ .-]*[A-Za-z0-9_.-]|[A-Za-z_]")
_PLACE = re.compile(r"(o[\do -]* )?((at|just (below|above)) -?\d+|far (below|above))")  # see `OutputInterval`


def shown_output(outputs: Sequence[Put]) -> str:
    """Returns an output in words; different outputs have different words."""
    return ", ".join(_shown(v) for v in outputs) if outputs else "(no output)"


def in_range(ranges: Mapping[str, Outputs], outputs: Outputs) -> str:
    """Returns the observation that is a set of outputs with these; "" if there is none."""
    return next((name for name, observation in ranges.items() if holds(observation, outputs)), "")


def _value_of_python(value: object) -> Put:
    """Returns a value of an implementation as an output has it."""
    if isinstance(value, (list, tuple)):
        return tuple(map(_value_of_python, value))
    if isinstance(value, (int, float, Fraction)) and not isinstance(value, bool) and isfinite(value):
        return Fraction(value)
    return value if isinstance(value, bool) else str(value)


def _of_python(value: object) -> str:
    """Returns a value of an implementation as an output is shown; floats that are whole are whole numbers."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return _shown(value) if type(value) is str else str(value)


def _shown(value: Put) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, str):
        plain = _WORD.fullmatch(value) and value not in ("True", "False") and not _PLACE.fullmatch(value)
        return value if plain else json.dumps(value)
    return str(value)


def natural(name: str) -> tuple[tuple[int, Fraction, str], ...]:
    """Returns a key by which numbers stand in their order."""
    parts = re.split(r"(-?\d+)", name)
    return tuple((1, Fraction(p), "") if re.fullmatch(r"-?\d+", p) else (0, Fraction(0), p) for p in parts)


@dataclass(frozen=True)
class OutputWords:
    """What an implementation means by its values; `ranges` are the observations that are sets of outputs."""

    ranges: Mapping[str, Outputs]

    def __call__(self, values: Sequence[object], known: Collection[str]) -> str:
        """Returns the output in the words of the model, one of the known ones if it can be.

        Several values are several outputs, or one list; one text may be the words themselves.
        """
        told = tuple(v for v in values if v is not None)
        shown = ", ".join(map(_of_python, told)) or shown_output(())
        readings = [shown, f"[{shown}]", *(v for v in told if isinstance(v, str) and len(told) == 1)]
        if found := next((word for word in readings if word in known), None):
            return found
        plain = tuple(map(_value_of_python, told))
        return in_range(self.ranges, plain) or in_range(self.ranges, (plain,)) or shown
