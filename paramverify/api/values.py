"""Values between Python, case files and the exact numbers of a case; each argument is checked once."""

from __future__ import annotations

import json
import math
import numbers
import re
from collections.abc import Mapping
from fractions import Fraction
from operator import index
from typing import TYPE_CHECKING, Any

from paramverify.algebra.domains import Interval, parse_interval
from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.errors import InputError, located
from paramverify.models.model import Model
from paramverify.models.parameters import interval_text, unbounded_names
from paramverify.models.programs.run_states import Plain
from paramverify.tables import Table, is_decimal

if TYPE_CHECKING:
    import numpy as np

# --- python values as TOML: the text of a case file, from tables as dictionaries --------------------

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def document(top: Mapping[str, object]) -> str:
    """Returns a TOML file: what is no dictionary first, then a table for each dictionary.

    A text with several lines is written so. Exact numbers are texts, such as "1/3". The `range` of an
    input's values is a range of the file, such as "0..2"; other ranges are lists.

    Raises:
        InputError: a value of another type, with its key.
    """
    plain = {name: value for name, value in top.items() if not isinstance(value, Mapping)}
    lines = [f"{_key(name)} = {_value(value, name)}" for name, value in plain.items()]
    for name, table in top.items():
        if isinstance(table, Mapping):
            lines += ["", *_table(name, table)]
    return "\n".join(lines).lstrip("\n") + "\n"


def _table(name: str, table: Mapping[str, object]) -> list[str]:
    apart = {"inputs", "calls"} if name == "mechanism" else {*table} if name == "mechanism.calls" else ()
    inner = {key: value for key, value in table.items() if key in apart and isinstance(value, Mapping)}
    with located(key=name.rpartition(".")[2]):
        lines = [f"{_key(k)} = {_value(v, str(k))}" for k, v in table.items() if k not in inner]
        for key, value in inner.items():
            lines += ["", *_table(f"{name}.{key}", value)]
    return lines[1:] if inner and len(inner) == len(table) else [f"[{name}]", *lines]


def _key(name: object) -> str:
    text = str(name)
    return text if _BARE.fullmatch(text) else _quoted(text)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: object, key: str) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str() if is_decimal(value):
            return str(value)
        case str() if "\n" in value:
            lines = [_quoted(line)[1:-1].replace('\\"', '"') for line in value.split("\n")]
            lines = [line.replace('"""', '""\\"') for line in lines]
            return '"""\n{}"""'.format("\n".join(lines))
        case str():
            return _quoted(value)
        case int():
            return str(value)
        case float() if math.isfinite(value):
            return repr(float(value))
        case Fraction() | ExactNumber():
            return _quoted(str(value))
        case numbers.Real() if math.isfinite(value):  # of another library, such as numpy
            return _value(fraction(value), key)
        case Mapping():
            inside = ", ".join(f"{_key(k)} = {_value(v, f'{key}.{k}')}" for k, v in value.items())
            return f"{{ {inside} }}"
        case range() if value and value.step == 1 and key.endswith(".values"):  # of an input, as in a file
            return _quoted(f"{value[0]}..{value[-1]}")
        case list() | tuple() | range():
            return f"[{', '.join(_value(v, f'{key}[{k}]') for k, v in enumerate(value))}]"
    raise InputError(
        f"{value!r} cannot be a value in a case: give a text, a number, a list or a dictionary", key=key
    )


# --- values between Python and the exact numbers of a case ------------------------------------------

Number = int | float | str | Fraction | ExactNumber


def fraction(value: Any) -> Fraction:
    """Returns a number as it is written: 0.1 is 1/10."""
    try:
        if isinstance(value, ExactNumber):
            return value.fraction
        if isinstance(value, (int, str, Fraction)):
            return Fraction(value)
        return Fraction(repr(float(value)))
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        raise InputError(f"{value!r} is not a number: give a number, or a text such as '1/3'") from None


def point_at(at: Mapping[str, Number] | None) -> dict[str, Fraction]:
    """Returns the numbers that `at` gives to parameters; one that is none is named in the error."""
    found = {}
    for name, value in (at or {}).items():
        with located(key=name):
            found[name] = fraction(value)
    return found


def complete(model: Model, point: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """Returns the point with the parameters that are one number."""
    found = {n: i.lower for n, i in model.domain.box.items() if i.is_point} | dict(point)
    ring = model.domain.ring
    named = {u.variable: u.name for u in ring.unbounded}
    missing = [named.get(n, n) for n in ring.parameters if n not in found]
    if missing:
        raise InputError(f"no value for {', '.join(missing)}: add it to at")
    return found


def generator(seed: int | None, rng: Any) -> np.random.Generator:
    """Returns the generator that a call is given, or one from its seed."""
    try:
        import numpy as np
    except ImportError:
        raise InputError("sampling needs numpy: pip install 'paramverify[stats]'") from None
    if rng is not None and seed is not None:
        raise InputError("seed and rng exclude each other: leave one of them out")
    if seed is not None and (not isinstance(seed, (int, np.integer)) or seed < 0):
        raise InputError(f"{seed!r} is not a whole number of at least 0", key="seed")
    if rng is not None and not isinstance(rng, np.random.Generator):
        raise InputError(f"{rng!r} is not a numpy.random.Generator: use numpy.random.default_rng", key="rng")
    return np.random.default_rng(seed if rng is None else rng)


def python(value: Plain) -> Any:
    """Returns a value as Python has it: whole numbers as `int`, lists as lists."""
    if isinstance(value, tuple):
        return [python(v) for v in value]
    whole = isinstance(value, Fraction) and value.denominator == 1
    return int(value) if whole else value


# --- the arguments of the methods of a mechanism: each is checked once, and named in the error ------


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
        raise InputError(f"{value!r} is not a whole number of at least {least}", key=name)
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
        raise InputError(f"{value!r} is not a number {wanted}", key=name)
    return found


def table(name: str, value: Any) -> Mapping[str, Any]:
    """Returns a dict whose keys are names.

    Raises:
        InputError: another value, with the name of the argument.
    """
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise InputError(f"{value!r} is not a dictionary: give a dict whose keys are names", key=name)
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
