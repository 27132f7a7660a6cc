"""What case files may have, as a JSON Schema for editors and as sections for the reference.

Both are made of the declarations by which the readers read (`keys`).

JSON Schema is that of draft 7, the newest that editors with Taplo know; they complete keys from `properties`,
`anyOf` and `additionalProperties`, and never from `if` and `then`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from paramverify.automata.stream_cases import STREAM
from paramverify.composition.written_releases import COMPOSITION
from paramverify.interactive.system_cases import INTERACTIVE
from paramverify.logic.logic_cases import LOGIC
from paramverify.privacy.keys import CLAIMED, PRIVATE
from paramverify.tables import Either, Json, Key, Leaf, Listed, Section, Shape, Variants

DRAFT = "http://json-schema.org/draft-07/schema#"
KINDS = {section.name: section for section in (PRIVATE, CLAIMED, STREAM, INTERACTIVE, LOGIC, COMPOSITION)}

# Which tables say what kind of case it is; a case with none of them is about privacy.
_TOLD_BY: dict[str, tuple[Json, ...]] = {
    "composition": ({"required": ["component"]},),
    "automaton": ({"required": ["automaton"]},),
    "interactive": ({"required": ["system"]},),
    "logic": tuple({"required": [table]} for table in ("model", "states", "formulas")),
    "claim": (
        {"required": ["claim"]},
        {"required": ["define"], "not": {"required": ["mechanism"]}},
    ),
}


def schema(kind: str = "") -> dict[str, Any]:
    """Returns the JSON Schema of the case files of a kind, one of `KINDS`; "" is for all of them."""
    title = "A case file of paramverify"
    if kind:
        return _shared({"$schema": DRAFT, **KINDS[kind].schema(), "title": title})
    known = {name: section.schema() for name, section in KINDS.items()}
    chain = known[PRIVATE.name]
    for name, tables in reversed(_TOLD_BY.items()):
        chain = {"if": {"anyOf": list(tables)}, "then": known[name], "else": chain}
    completed = [{}, *known.values()]  # the first is always true; see `keys.Variants`
    return _shared({"$schema": DRAFT, "title": title, "type": "object", "anyOf": completed, **chain})


def _shared(schema: dict[str, Any]) -> dict[str, Any]:
    """Returns the same schema with tables that stand in it several times as definitions."""
    definitions: dict[str, Any] = {}
    names: dict[str, str] = {}
    counts = Counter(_tables(schema))

    def shared(node: Any) -> Any:
        if isinstance(node, list):
            return [shared(inner) for inner in node]
        if not isinstance(node, dict):
            return node
        text = _text(node) if _is_table(node) else ""
        if counts[text] < 2:
            return {key: shared(inner) for key, inner in node.items()}
        if text not in names:
            slug = re.sub(r"\W+", "-", node["title"]).strip("-").lower() or "table"
            names[text] = slug if slug not in definitions else f"{slug}-{len(names)}"
            definitions[names[text]] = None  # its place
            definitions[names[text]] = {key: shared(inner) for key, inner in node.items()}
        return {"$ref": f"#/definitions/{names[text]}"}

    return {**shared(schema), "definitions": definitions}


def _tables(node: Any) -> Iterator[str]:
    """Yields the text of each table of a schema, at every place where it stands."""
    if isinstance(node, dict):
        if _is_table(node):
            yield _text(node)
        for inner in node.values():
            yield from _tables(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from _tables(inner)


def _is_table(node: dict[str, Any]) -> bool:
    return isinstance(node.get("title"), str)


def _text(node: dict[str, Any]) -> str:
    return json.dumps(node, sort_keys=True)


@dataclass(frozen=True)
class ReferenceKey:
    """A key in the reference: its name, type, default, words and sentence."""

    name: str
    type: str
    text: str
    needed: bool
    default: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class ReferenceTable:
    """A table in the reference: its name as it is written, its sentence, its keys and the rules between them.

    `kind` is that of the case: one of `KINDS`.
    """

    kind: str
    name: str
    text: str
    rows: tuple[ReferenceKey, ...]
    rules: tuple[str, ...]


def reference() -> tuple[ReferenceTable, ...]:
    """Returns all tables of case files with all their keys, in the order in which they are nested."""
    return tuple(part for kind, section in KINDS.items() for part in _parts(kind, section, set()))


def _parts(kind: str, section: Section, seen: set[tuple[str, ...]]) -> Iterator[ReferenceTable]:
    keys = (*section.keys, *([section.others] if section.others else []))
    same = (section.name, section.about, *(key.name for key in keys))
    if same in seen:
        return
    seen.add(same)
    rules = tuple(rule.told for rule in section.rules)
    yield ReferenceTable(kind, section.name, section.about, tuple(map(_row, keys)), rules)
    for key in keys:
        for inner in _inside(key.shape):
            yield from _parts(kind, inner, seen)


def _inside(shape: Shape) -> Iterator[Section]:
    """Yields the declarations of the tables that may stand in a value, not those inside of them."""
    match shape:
        case Section():
            yield shape
        case Variants():
            yield from (section for section in shape.all().values() if section)
        case Either():
            for one in shape.shapes:
                yield from _inside(one)
        case Listed():
            for one in shape.items if isinstance(shape.items, tuple) else (shape.items,):
                yield from _inside(one)


def _row(key: Key) -> ReferenceKey:
    words = key.shape.words if isinstance(key.shape, Leaf) else ()
    default = "" if key.default is None else _toml(key.default)
    return ReferenceKey(
        name=key.name,
        type=key.shape.told,
        text=key.about,
        needed=key.needed,
        default=default,
        words=words,
    )


def _toml(value: object) -> str:
    """Returns a default as it is written in a case file."""
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)
