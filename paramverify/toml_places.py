"""Where each key of a TOML text stands, which `tomllib` does not say.

The text is one that `tomllib` has read already: what it means is decided there. This module goes through it
once more, for the places only, and is asked only when a mistake is to be told. Tests compare the keys and
values that it finds with those of `tomllib`.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

Path = tuple[str | int, ...]  # names of keys, and numbers of entries of lists

_BLANK = re.compile(r"(?:[ \t\n]|#[^\n]*)*+")
_SPACE = re.compile(r"[ \t]*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BASIC = re.compile(r'"(?:[^"\\\n]|\\.)*+"')
_LITERAL = re.compile(r"'[^'\n]*+'")
_LONG_BASIC = re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*+"{3,5}', re.DOTALL)
_LONG_LITERAL = re.compile(r"'''(?:[^']|'(?!''))*+'{3,5}")
_OTHER = re.compile(r"[^,\]}#\n]*")
_ESCAPE = re.compile(r"\\(?:([ \t]*\n[ \t\n]*)|(n|u000[aA]|U0000000[aA])|.)")


@dataclass(frozen=True)
class TomlPlace:
    """Where a key or an entry begins, and its value from `start` to `end`, as numbers of characters before.

    A table that has its own header, or is named in the key of another one only, has no value.
    """

    key: int
    start: int = -1
    end: int = -1


@dataclass
class TomlPlaces:
    """The places of all keys of a text."""

    text: str
    found: dict[Path, TomlPlace] = field(default_factory=dict)
    _names: dict[str, TomlPlace] = field(default_factory=dict)
    _starts: Sequence[int] = ()

    @staticmethod
    def of(text: str) -> TomlPlaces:
        """Returns the places of a text that `tomllib` has read."""
        text = text.replace("\r\n", "\n")
        starts = [0, *(match.end() for match in re.finditer("\n", text))]
        places = TomlPlaces(text, _Scanner(text).places(), _starts=starts)
        for path, place in places.found.items():
            places._names.setdefault(written(path), place)
        return places

    def line(self, offset: int) -> int:
        """Returns the line, from 1, of the character with this number."""
        return bisect_right(self._starts, offset)

    def line_of(self, key: str, below: int = 0) -> int:
        """Returns the line of the longest part of a key, such as `secrets.pairs[0]`, that the text has.

        Of a text that is its value, it is the line in which line number `below` (from 0) of the text stands.
        """
        ends = (end for end in range(len(key), 0, -1) if end == len(key) or key[end] in ".[ ")
        place = next((self._names[key[:end]] for end in ends if key[:end] in self._names), None)
        if place is None:
            return 1
        lines = self._text_lines(place) if below else []
        return lines[min(below, len(lines) - 1)] if lines else self.line(place.key)

    def _text_lines(self, place: TomlPlace) -> list[int]:
        """Returns for each line of a text the line of the file in which it begins."""
        raw = self.text[place.start : place.end]
        if raw[:1] not in ("'", '"'):
            return []
        quotes = 3 if raw[:3] in ("'''", '"""') else 1
        at = quotes + (raw[quotes : quotes + 1] == "\n")
        lines = [self.line(place.start + at)]
        while at < len(raw) - quotes:
            escape = _ESCAPE.match(raw, at) if raw[0] == '"' else None
            if escape:
                at = escape.end()
                lines += [self.line(place.start + at)] if escape[2] else []
                continue
            at += 1
            if raw[at - 1] == "\n":
                lines.append(self.line(place.start + at))
        return lines


def written(path: Path) -> str:
    """Returns a path as errors write it: `secrets.pairs[0]`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f"{'.' * bool(text)}{part}"
    return text


class _Scanner:
    """Goes through a text once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found: dict[Path, TomlPlace] = {}
        self.counts: dict[Path, int] = {}  # tables in each array of tables

    def places(self) -> dict[Path, TomlPlace]:
        table: Path = ()
        self.skip(_BLANK)
        while self.at < len(self.text):
            brackets = 2 if self.text.startswith("[[", self.at) else 1
            if self.text[self.at] != "[":
                self.pair(table)
            else:
                start = self.at
                self.at += brackets
                self.skip(_SPACE)
                keys = self.key()
                self.at += brackets
                table = self.header(keys, start, brackets == 2)
            self.skip(_BLANK)
        return self.found

    def skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        if match is None:
            raise ValueError(f"no TOML at {self.at}")
        self.at = match.end()
        return match.group()

    def key(self) -> list[str]:
        """Reads a dotted key and the blanks after it."""
        names = []
        while True:
            self.skip(_SPACE)
            quote = self.text[self.at]
            if quote in "'\"":
                text = self.skip(_LITERAL if quote == "'" else _BASIC)
                names.append(tomllib.loads(f"key = {text}")["key"])
            else:
                names.append(self.skip(_BARE))
            self.skip(_SPACE)
            if self.text[self.at] != ".":
                return names
            self.at += 1

    def header(self, keys: list[str], start: int, is_array: bool) -> Path:
        path: Path = ()
        for name in keys[:-1]:
            path = self.entered((*path, name), start)
        path = (*path, keys[-1])
        if not is_array:
            self.found[path] = TomlPlace(start)
            return path
        number = self.counts.get(path, 0)
        self.counts[path] = number + 1
        self.found.setdefault(path, TomlPlace(start))
        self.found[(*path, number)] = TomlPlace(start)
        return (*path, number)

    def entered(self, path: Path, start: int) -> Path:
        """Returns the path of a table that a key passes through: of an array, the last table."""
        self.found.setdefault(path, TomlPlace(start))
        return (*path, self.counts[path] - 1) if path in self.counts else path

    def pair(self, table: Path) -> None:
        start = self.at
        path = table
        keys = self.key()
        for name in keys[:-1]:
            path = self.entered((*path, name), start)
        self.at += 1  # the sign =
        self.skip(_SPACE)
        self.value((*path, keys[-1]), start)

    def value(self, path: Path, key: int) -> None:
        start = self.at
        self.found[path] = TomlPlace(key)  # before those of its entries
        match self.text[start : start + 1]:
            case "[":
                self.entries(path)
            case "{":
                self.inline(path)
            case '"':
                self.skip(_LONG_BASIC if self.text.startswith('"""', start) else _BASIC)
            case "'":
                self.skip(_LONG_LITERAL if self.text.startswith("'''", start) else _LITERAL)
            case _:
                self.skip(_OTHER)
        self.found[path] = TomlPlace(key, start, self.at)

    def entries(self, path: Path) -> None:
        self.at += 1
        number = 0
        while True:
            self.skip(_BLANK)
            if self.text[self.at] == "]":
                break
            if self.text[self.at] == ",":
                self.at += 1
                continue
            self.value((*path, number), self.at)
            number += 1
        self.at += 1

    def inline(self, path: Path) -> None:
        self.at += 1
        while True:
            self.skip(_BLANK)
            if self.text[self.at] == "}":
                break
            if self.text[self.at] == ",":
                self.at += 1
                continue
            self.pair(path)
        self.at += 1
