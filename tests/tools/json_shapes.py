"""The shapes of the JSON that commands print, as the tables of docs/json.md have them: keys and types.

A line `Common keys:` lists keys of the table of that name that an object has, too; `key or null` allows null.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "json.md").read_text(encoding="utf-8")
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


COMMON = "Common keys"


def sections() -> dict[str, str]:
    """The text below each heading of the page."""
    return dict(re.findall(r"^##+ (.+?)$([\s\S]*?)(?=^##|\Z)", PAGE, re.MULTILINE))


def own_keys(body: str) -> list[tuple[str, str]]:
    """The keys of the table of a section, with their types."""
    rows = re.findall(r"^\| (`.+?`) \| (.+?) \| .+ \|$", body, re.MULTILINE)
    return [(key, kind) for keys, kind in rows for key in re.findall(r"`([\w ]+)`", keys)]


def common_keys(body: str, common: dict[str, str]) -> list[tuple[str, str]]:
    """The common keys that a section lists, with their types. Other words of the line are values of keys."""
    listed = re.findall(rf"^{COMMON}: ([\s\S]*?)\n\n", body, re.MULTILINE)
    line = " ".join(" ".join(listed).split())
    words = re.findall(r"`(\w+)( or null)?`", re.sub(r"\(.*?\)", "", line))
    return [(key, f"{common[key]}{null}") for key, null in words if key in common or null]


def shapes() -> dict[str, dict[str, str]]:
    """The type of each key, for each heading of the page that has a table or common keys."""
    bodies = sections()
    common = dict(own_keys(bodies.pop(COMMON)))
    found = {name: dict([*common_keys(body, common), *own_keys(body)]) for name, body in bodies.items()}
    return {name: shape for name, shape in found.items() if shape}


SHAPES = shapes()


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
