"""Python values as TOML: the text of a case file, from tables as dictionaries."""

from __future__ import annotations

import json
import math
import numbers
import re
from collections.abc import Mapping
from fractions import Fraction

from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.api.values import fraction
from paramverify.errors import InputError, located
from paramverify.tables import is_decimal

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def document(top: Mapping[str, object]) -> str:
    """Returns a TOML file: what is no dictionary first, then a table for each dictionary.

    A text with several lines is written so. Exact numbers are texts, such as "1/3", and ranges are lists.

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
        case list() | tuple() | range():
            return f"[{', '.join(_value(v, f'{key}[{k}]') for k, v in enumerate(value))}]"
    raise InputError(f"{value!r} is no value of a case: texts, numbers, lists and tables are", key=key)
