"""The shapes of the JSON that commands print, as docs/json.toml has them: keys and types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import json_formats

PLAIN: dict[str, tuple[type, ...]] = {
    "text": (str,),
    "flag": (bool,),
    "whole": (int,),
    "float": (float, int),
    "any": (object,),
    "exact": (str, dict),
    "null": (type(None),),
    "unknown": (str,),
}

SHAPES = json_formats.shapes()


def mistakes(value: Any, kind: str, place: str) -> Iterator[str]:
    """The places at which a value has a key that its shape does not have, or another type."""
    if " or " in kind:
        parts = [list(mistakes(value, part, place)) for part in kind.split(" or ")]
        if all(parts):
            yield f"{place}: {value!r} is no {kind}"
    elif kind.startswith(("list of ", "map of ")):
        wanted, inner = kind.split(" of ", 1)
        if not isinstance(value, list if wanted == "list" else dict):
            yield f"{place}: {value!r} is no {wanted}"
            return
        for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
            yield from mistakes(entry, inner, f"{place}[{key}]")
    elif kind in SHAPES:
        if not isinstance(value, dict):
            yield f"{place}: {value!r} is no {kind}"
            return
        for key, entry in value.items():
            if key in SHAPES[kind]:
                yield from mistakes(entry, SHAPES[kind][key], f"{place}.{key}")
            else:
                yield f"{place}: {kind} has no key {key}"
    elif not is_plain(value, kind):
        yield f"{place}: {value!r} is no {kind}"


def is_plain(value: Any, kind: str) -> bool:
    """Whether a value is of one of the types that have no table."""
    if isinstance(value, bool) and kind in ("whole", "float"):
        return False
    if kind in ("exact", "unknown") and isinstance(value, str):
        return (value == "unknown") == (kind == "unknown")
    if kind == "exact" and isinstance(value, dict) and set(value) | {"exact"} != {"exact", "lower", "upper"}:
        return False
    return isinstance(value, PLAIN[kind])
