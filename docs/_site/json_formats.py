"""The objects of JSON that commands print, as docs/json.toml has them, and the tables of docs/json.md."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[1] / "json.toml"
COMMON = "Common keys"
KEY = re.compile(r"\w[\w ]*")
LISTED = re.compile(r"(?P<key>\w+)(?P<null> or null)?(?: \((?P<remark>.+)\))?")


@dataclass(frozen=True)
class Field:
    """Keys that have one type and one meaning."""

    keys: tuple[str, ...]
    type: str
    meaning: str


@dataclass(frozen=True)
class Listed:
    """A common key that an object has, too; `remark` says what it means there, if that needs saying."""

    key: str
    or_null: bool
    remark: str


@dataclass(frozen=True)
class Group:
    """The keys that an object has in one situation; `when` is empty for those of every situation."""

    when: str
    common: tuple[Listed, ...]
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class JsonObject:
    """An object of JSON: its name, whether it has a heading, what it is, and its keys."""

    name: str
    heading: bool
    text: str
    groups: tuple[Group, ...]

    @property
    def common(self) -> list[Listed]:
        """The common keys that it has."""
        return [listed for group in self.groups for listed in group.common]

    @property
    def fields(self) -> list[Field]:
        """The fields that only it has."""
        return [field for group in self.groups for field in group.fields]


def objects() -> list[JsonObject]:
    """Returns all objects in the order of the page.

    Raises:
        ValueError: an entry has an unknown name, or a key is not written as the first lines of the file say.
    """
    return [_object(entry) for entry in tomllib.loads(DATA.read_text(encoding="utf-8"))["object"]]


def _object(entry: Mapping[str, Any]) -> JsonObject:
    _only(entry, "name", "heading", "text", "common", "fields", "group")
    always = {name: entry[name] for name in ("common", "fields") if name in entry}
    groups = tuple(_group(part) for part in (always, *entry.get("group", ())))
    return JsonObject(entry["name"], entry.get("heading", False), entry.get("text", "").strip(), groups)


def _group(part: Mapping[str, Any]) -> Group:
    _only(part, "when", "common", "fields")
    common = []
    for written in part.get("common", ()):
        found = LISTED.fullmatch(written)
        if not found:
            raise ValueError(f"{written!r} is not a common key")
        common.append(Listed(found["key"], bool(found["null"]), found["remark"] or ""))
    fields = []
    for entry in part.get("fields", ()):
        _only(entry, "key", "type", "meaning")
        keys = tuple(entry["key"].split(", "))
        if not all(map(KEY.fullmatch, keys)):
            raise ValueError(f"{entry['key']!r} is not a list of keys")
        fields.append(Field(keys, entry["type"], entry["meaning"]))
    return Group(part.get("when", ""), tuple(common), tuple(fields))


def _only(entry: Mapping[str, Any], *names: str) -> None:
    if unknown := set(entry) - set(names):
        raise ValueError(f"{entry} has unknown names: {sorted(unknown)}")


def shapes() -> dict[str, dict[str, str]]:
    """Returns the type of each key, for each object that has keys."""
    made = objects()
    (common,) = (_types(part.fields) for part in made if part.name == COMMON)
    found = {
        part.name: {
            **{listed.key: common[listed.key] + " or null" * listed.or_null for listed in part.common},
            **_types(part.fields),
        }
        for part in made
        if part.name != COMMON
    }
    return {name: shape for name, shape in found.items() if shape}


def _types(fields: Sequence[Field]) -> dict[str, str]:
    return {key: field.type for field in fields for key in field.keys}


# --- the page -----------------------------------------------------------------------------------------


def tables() -> str:
    """Returns a heading and a table for each object that has a heading; the others are parts of these."""
    made = objects()
    names = {part.name for part in made} - {COMMON}
    lines: list[str] = []
    head = False
    for part in made:
        if part.heading:
            lines += ["", f"## {part.name}", "", *([part.text, ""] if part.text else [])]
            head = True
        rows = list(_rows(part, names))
        if rows and head:
            lines += ["| key | type | meaning |", "| --- | --- | --- |"]
            head = False
        lines += rows
    return "\n".join([*lines, ""])


def _rows(part: JsonObject, names: set[str]) -> Iterator[str]:
    for group in part.groups:
        first = f"*{group.when}*" if group.when else "" if part.heading else _anchor(part.name)
        text = "" if part.heading or group.when else part.text
        more = " ".join(filter(None, (text, ", ".join(map(_listed, group.common)))))
        if first or more:
            yield f"| {first} | | {more} |"
        for field in group.fields:
            keys = ", ".join(f"`{key}`" for key in field.keys)
            yield f"| {keys} | {short(field.type, names)} | {field.meaning} |"


def _anchor(name: str) -> str:
    return f"**{name}**{{ #{slug(name)} }}"


def slug(name: str) -> str:
    """Returns the part of a link after `#` that leads to an object."""
    return name.lower().replace(" ", "-")


def _listed(listed: Listed) -> str:
    remark = f" ({listed.remark})" if listed.remark else ""
    return f"`{listed.key}`{'?' * listed.or_null}{remark}"


def short(kind: str, names: set[str]) -> str:
    """Returns a type with links, as the page writes it: `x[]` for lists, `x{}` for maps, `x?` with null."""
    if kind.endswith(" or null"):
        return f"{short(kind.removesuffix(' or null'), names)}?"
    if " or " in kind:
        return " or ".join(short(part, names) for part in kind.split(" or "))
    if kind.startswith("list of "):
        return f"{short(kind.removeprefix('list of '), names)}\\[\\]"
    if kind.startswith("map of "):
        return f"{short(kind.removeprefix('map of '), names)}{{}}"
    return f"[{kind}](#{slug(kind)})" if kind in names else kind
