"""What is set from outside of a case file: another value of a definition or parameter, or its interval."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from paramverify.algebra.expressions import constant
from paramverify.errors import CaseError, InputError
from paramverify.models.names import nearest
from paramverify.tables import TomlDocument

Settings = Mapping[str, str]

NONE: Settings = MappingProxyType({})
OPTION = "-D"

_INTERVAL = re.compile(r"([\[(])([^,]*),([^,]*)([\])])")


def read_settings(assignments: Iterable[str]) -> dict[str, str]:
    """Reads `name=value`; a number is written in lowest terms, so that one value has one spelling.

    Raises:
        InputError: another form, or a name that is given twice.
    """
    found: dict[str, str] = {}
    for text in assignments:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise InputError(f"{OPTION} needs name=value, for example {OPTION} c=1/10, not {text!r}")
        if name in found:
            raise InputError(f"{OPTION} {name} is given twice")
        interval = _INTERVAL.fullmatch(value)
        if interval:
            found[name] = "{}{}, {}{}".format(interval[1], *map(_plain, interval.group(2, 3)), interval[4])
        else:
            found[name] = _plain(value)
    return found


def _plain(text: str) -> str:
    """Returns a number in lowest terms, and any other text as it is: blanks may be those of a label."""
    try:
        return str(constant(text))
    except InputError:
        return text.strip()


def with_settings(data: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Returns the data of a case file in which definitions and parameters have these values or intervals.

    A parameter that gets an interval is still to be chosen where it was; with a number it is chosen, and
    `[design]` says nothing more of it.

    Raises:
        CaseError: a name that is neither of both.
    """
    data, before = dict(data), designed(data)
    for name, text in settings.items():
        table = _table_of(name, data)
        entry = data[table][name]
        chosen = isinstance(entry, dict) and table == "parameters" and text[:1] in "[("
        data[table] = {**data[table], name: {**entry, "in": text} if chosen else text}
    return without_chosen(data, before)


def designed(data: Mapping[str, Any]) -> frozenset[str]:
    """Returns the parameters that the data of a case file marks as to be chosen."""
    table = data.get("parameters")
    listed = table.items() if isinstance(table, dict) else ()
    return frozenset(name for name, e in listed if isinstance(e, dict) and e.get("design") is True)


def without_chosen(data: dict[str, Any], before: frozenset[str]) -> dict[str, Any]:
    """Returns the data without what `[design]` says of parameters that are chosen now, and were not `before`.

    Without a parameter to be chosen, there is no `[design]`.
    """
    left, table = designed(data), data.get("design")
    if left == before or not isinstance(table, dict):
        return data
    kept = {key: v for key, v in table.items() if not (isinstance(v, str) and v in before - left)}
    return {**{k: v for k, v in data.items() if k != "design"}, **({"design": kept} if kept or left else {})}


def _table_of(name: str, data: Mapping[str, Any]) -> str:
    """Returns the table that has a name: `define` or `parameters`."""
    tables = {key: data[key] for key in ("define", "parameters") if isinstance(data.get(key), dict)}
    for key, table in tables.items():
        if name in table and name != "constraints":
            return key
    known = [other for table in tables.values() for other in table if other != "constraints"]
    hint = nearest(name, known) if known else "; the file has no definitions or parameters"
    raise CaseError(f"{name!r} is neither a definition nor a parameter of the file{hint}", key=OPTION)


@contextmanager
def set_outside(settings: Settings) -> Iterator[None]:
    """Names the option in mistakes in what was set: the file has other values there."""
    try:
        yield
    except InputError as error:
        for part in error.parts:
            table, _, rest = part.key.partition(".")
            for name in settings:
                if table in ("define", "parameters") and (rest == name or rest.startswith(f"{name}.")):
                    part.key = f"{OPTION} {name}"
        raise


def settled_digest(digest: str, settings: Settings) -> str:
    """Returns the digest of a case file with what was set: that of the file only if nothing was."""
    if not settings:
        return digest
    return hashlib.sha256(json.dumps([digest, OPTION, sorted(settings.items())]).encode()).hexdigest()


def settled(document: TomlDocument, settings: Settings) -> TomlDocument:
    """Returns a file with what was set in the place of what it says, and the digest of both.

    Raises:
        CaseError: a name that it does not define.
    """
    digest = settled_digest(document.digest, settings)
    return replace(document, data=with_settings(document.data, settings), digest=digest)


def told(settings: Settings) -> tuple[str, ...]:
    """Returns what was set in words: one note, if anything was."""
    if not settings:
        return ()
    shown = ", ".join(f"{name} = {text}" for name, text in settings.items())
    return (f"set by {OPTION}, not by the file: {shown}",)


def case_entry(title: str, digest: str, settings: Settings) -> dict[str, Any]:
    """Returns what evidence says of its case: the title, the digest, and what was set."""
    return {"title": title, "digest": digest, **({"set": dict(settings)} if settings else {})}


def differently_set(document: Mapping[str, Any], settings: Settings) -> str:
    """Returns why evidence is not about a case with these settings, in words; nothing if it is."""
    own = document.get("case", {}).get("set", {})
    if own == dict(settings):
        return ""
    wanted = " ".join(f"{OPTION} {name}={text}" for name, text in own.items())
    if not own:
        return f"evidence refers to the file as it is written: remove {OPTION}"
    return f"the evidence was made with {wanted}: pass the same options to check"
